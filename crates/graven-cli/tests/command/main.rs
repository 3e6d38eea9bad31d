//! The command as a process: what it prints where, its exit codes, and what it leaves behind.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

#[path = "../../../graven-pt2/tests/common/mod.rs"]
mod archive;
mod bad_input;
mod effects;
mod functionalize;
mod help;
mod run;
mod show;
mod streams;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output};

/// What a command did.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// It succeeded and complained of nothing; what it printed.
    #[track_caller]
    fn success(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        assert_eq!(self.stderr, "");
        self.stdout
    }

    /// It failed with this code and printed nothing to standard output; what it complained of.
    #[track_caller]
    fn failure(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        assert_eq!(self.stdout, "");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        assert!(!self.stderr.contains('\u{1b}'), "colour: {}", self.stderr);
        self.stderr
    }
}

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_graven"))
}

/// Runs `graven` with these arguments.
fn graven<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Ran {
    command().args(arguments).output().unwrap().into()
}

/// The folder of a case of the corpus.
fn case(name: &str) -> PathBuf {
    archive::cases().join(name)
}

/// The archive of a case of the corpus.
fn model(name: &str) -> String {
    case(name).join("model.pt2").to_str().unwrap().to_owned()
}

/// A folder that is gone after the test, and paths in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// What is in it, sorted.
    fn entries(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}
