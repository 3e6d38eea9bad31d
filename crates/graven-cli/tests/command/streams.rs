//! Standard output and standard error.

use std::io::Read as _;
use std::process::Stdio;

use super::{Folder, command, graven, model};

#[test]
fn a_reader_that_stops_early_is_no_fault() {
    let mut child = command()
        .args(["show", &model("bert")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0_u8; 16];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut some).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = command()
        .args(["show", &model("bert")])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
}

#[test]
fn errors_have_no_colour_when_no_one_asks_for_it() {
    let folder = Folder::new();
    let complaint = graven(["show", &folder.path("missing.pt2")]).failure(1);
    assert!(complaint.starts_with("error: "), "{complaint}");
}
