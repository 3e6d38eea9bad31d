//! `graven functionalize`.

use std::fs;

use super::{Folder, case, graven, model};

/// A program that calls a custom operator, and what its schema is.
const CUSTOM: &str = "../reported/d03_rows_custom/model.pt2";
const CUSTOM_SCHEMAS: &str = "../reported/d03_rows_custom/schemas.txt";

fn custom(path: &str) -> String {
    super::archive::cases()
        .join(path)
        .to_str()
        .unwrap()
        .to_owned()
}

#[test]
fn prints_torchs_functional_program() {
    for name in ["doc_buffer_mutation", "cond_branches", "lstm"] {
        let expected = fs::read_to_string(case(name).join("functional.txt")).unwrap();
        let printed = graven(["functionalize", &model(name)]).success();
        assert_eq!(printed.trim_end(), expected.trim_end(), "{name}");
    }
}

#[test]
fn writes_an_archive_that_reads_as_the_printed_program() {
    let folder = Folder::new();
    let written = folder.path("functional.pt2");
    let printed = graven(["functionalize", &model("input_inplace")]).success();
    let nothing = graven(["functionalize", &model("input_inplace"), "-o", &written]).success();
    assert_eq!(nothing, "");
    assert_eq!(graven(["show", &written]).success(), printed);
    assert_eq!(folder.entries(), ["functional.pt2"]);
}

#[test]
fn every_format_is_of_the_functional_program() {
    let model = model("doc_buffer_mutation");
    for format in ["fx", "readable", "signature", "json"] {
        let printed = graven(["functionalize", &model, "--format", format]).success();
        let mutation = match format {
            "json" => "buffer_mutation",
            _ => "BUFFER_MUTATION",
        };
        assert!(printed.contains(mutation), "{format}: {printed}");
        assert!(!printed.contains("add_.Tensor"), "{format}");
    }
}

#[test]
fn an_archive_can_be_written_over_itself() {
    let folder = Folder::new();
    let path = folder.file("model.pt2", fs::read(model("lstm")).unwrap());
    let printed = graven(["functionalize", &path]).success();
    graven(["functionalize", &path, "-o", &path]).success();
    assert_eq!(graven(["show", &path]).success(), printed);
    assert_eq!(folder.entries(), ["model.pt2"]);
}

#[test]
fn an_older_file_is_replaced() {
    let folder = Folder::new();
    let path = folder.file("out.pt2", "something else");
    graven(["functionalize", &model("doc_buffer_mutation"), "-o", &path]).success();
    assert!(
        graven(["show", &path])
            .success()
            .contains("BUFFER_MUTATION")
    );
}

#[test]
fn custom_operators_need_a_schema() {
    let complaint = graven(["functionalize", &custom(CUSTOM)]).failure(1);
    assert!(complaint.contains("unknown operator"), "{complaint}");
    assert!(complaint.contains("--schema"), "{complaint}");
    assert!(complaint.contains("at node"), "{complaint}");
    let schemas = custom(CUSTOM_SCHEMAS);
    let printed = graven(["functionalize", &custom(CUSTOM), "--schema", &schemas]).success();
    assert!(printed.contains("auto_functionalized_v2"), "{printed}");
}

#[test]
fn an_operator_may_be_assumed_functional() {
    let complaint = graven(["functionalize", &custom(CUSTOM)]).failure(1);
    let name = complaint.split('`').nth(1).unwrap().to_owned();
    let mut arguments = vec!["functionalize".to_owned(), custom(CUSTOM)];
    // The program calls two operators; each is named by the message about it.
    arguments.extend(["--assume-functional".to_owned(), name.clone()]);
    let ran = graven(&arguments);
    if ran.code == Some(1) {
        let other = ran.stderr.split('`').nth(1).unwrap().to_owned();
        assert_ne!(other, name);
        arguments.extend(["--assume-functional".to_owned(), other]);
        assert!(!graven(&arguments).success().contains("auto_functionalized"));
    }
}

#[test]
fn a_schema_file_that_is_wrong_names_its_line() {
    let folder = Folder::new();
    let schemas = folder.file("bad.schemas", "# mine\nmylib::f(Tensor x -> Tensor\n");
    let model = model("doc_buffer_mutation");
    let complaint = graven(["functionalize", &model, "--schema", &schemas]).failure(1);
    assert!(complaint.contains("bad.schemas"), "{complaint}");
    assert!(complaint.contains("line 2"), "{complaint}");
    let conflict = folder.file(
        "conflict.schemas",
        "aten::relu(Tensor(a!) self) -> Tensor\n",
    );
    let complaint = graven(["functionalize", &model, "--schema", &conflict]).failure(1);
    assert!(complaint.contains("aten::relu"), "{complaint}");
    let missing = folder.path("missing.schemas");
    let complaint = graven(["functionalize", &model, "--schema", &missing]).failure(1);
    assert!(complaint.contains("missing.schemas"), "{complaint}");
    let name = ["functionalize", &model, "--assume-functional", "not a name"];
    assert!(graven(name).failure(1).contains("not a name"));
    let known = [
        "functionalize",
        &model,
        "--assume-functional",
        "aten::add_.Tensor",
    ];
    assert!(graven(known).failure(1).contains("aten::add_.Tensor"));
}
