//! Help, version, and command lines that are wrong.

use super::{graven, model};

#[test]
fn help_of_each_command_has_examples() {
    for arguments in [
        &["--help"][..],
        &["show", "--help"],
        &["functionalize", "--help"],
        &["effects", "--help"],
        &["run", "--help"],
        &["check", "--help"],
    ] {
        let help = graven(arguments).success();
        assert!(help.contains("Examples:"), "{arguments:?}: {help}");
        assert!(help.contains("graven "), "{help}");
    }
    assert!(graven(["--help"]).success().contains("Exit codes"));
}

#[test]
fn version() {
    let version = graven(["--version"]).success();
    assert_eq!(
        version.trim(),
        concat!("graven ", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn a_wrong_command_line_is_exit_code_2() {
    let model = model("doc_buffer_mutation");
    for (arguments, word) in [
        (&["melt"][..], "melt"),
        (&["show"], "FILE"),
        (&["show", &model, "--format", "xml"], "xml"),
        (&["functionalize", &model, "--colour"], "--colour"),
        (
            &["functionalize", &model, "-o", "x.pt2", "--format", "fx"],
            "--format",
        ),
        (&["functionalize", &model, "--schema"], "--schema"),
    ] {
        let complaint = graven(arguments).failure(2);
        assert!(complaint.contains(word), "{arguments:?}: {complaint}");
    }
    // Without a command it tells how it is used.
    let ran = graven::<&str>([]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("Usage"));
}
