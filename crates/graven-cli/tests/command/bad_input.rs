//! Input that cannot be used: exit code 1, a message that says why, nothing written.

use std::fs;

use serde_json::json;

use super::archive::{SMALL, case as bytes_of, changed, nodes, with_entry, with_json};
use super::{Folder, graven, model};

/// Both commands refuse the archive with these words, and leave no file behind.
#[track_caller]
fn refused(bytes: &[u8], words: &[&str]) {
    let folder = Folder::new();
    let input = folder.file("model.pt2", bytes);
    let output = folder.file("kept.pt2", "what was there");
    let new = folder.path("new.pt2");
    for target in [&output, &new] {
        let complaint = graven(["functionalize", &input, "-o", target]).failure(1);
        assert!(complaint.contains("model.pt2"), "{complaint}");
        for word in words {
            assert!(complaint.contains(word), "`{word}` is not in `{complaint}`");
        }
    }
    assert_eq!(fs::read(&output).unwrap(), b"what was there");
    assert_eq!(folder.entries(), ["kept.pt2", "model.pt2"]);
}

#[test]
fn archives_that_are_none() {
    refused(b"PK but not for long", &["not a zip archive"]);
    let whole = bytes_of(SMALL);
    refused(&whole[..whole.len() / 2], &["archive"]);
    refused(b"", &["not a zip archive"]);
}

#[test]
fn archives_of_another_kind() {
    let format = with_entry(SMALL, "archive_format", |text| *text = b"pt3".to_vec());
    refused(&format, &["`pt3`", "`pt2`"]);
    let newer = with_json(SMALL, |json| {
        json["schema_version"] = json!({"major": 9, "minor": 1});
    });
    refused(&newer, &["9.1", "8."]);
}

#[test]
fn archives_that_lie() {
    let short = with_entry(SMALL, "data/weights/weight_1", |weight| weight.truncate(3));
    refused(&short, &["4 bytes", "holds 3"]);
    let missing = with_json(SMALL, |json| {
        nodes(json)[1]["inputs"][0]["arg"] = json!({"as_tensor": {"name": "nowhere"}});
    });
    refused(&missing, &["`nowhere`"]);
    let cyclic = with_json(SMALL, |json| {
        nodes(json)[0]["inputs"][0]["arg"] = json!({"as_tensor": {"name": "add"}});
    });
    refused(&cyclic, &["`add`"]);
    let doubled = with_json(SMALL, |json| {
        let outputs = nodes(json)[0]["outputs"].clone();
        nodes(json)[1]["outputs"] = outputs;
    });
    refused(&doubled, &["`add`"]);
    let leaving = changed(SMALL, |entries| {
        entries.push(("../evil".to_owned(), b"x".to_vec()));
    });
    refused(&leaving, &["../evil"]);
}

#[test]
fn json_without_end() {
    let deep = with_entry(SMALL, "models/model.json", |text| {
        *text = "[".repeat(1_000_000).into_bytes();
    });
    refused(&deep, &["models/model.json"]);
}

#[test]
fn calls_that_no_schema_allows() {
    let unknown = with_json(SMALL, |json| {
        nodes(json)[0]["target"] = json!("torch.ops.mylib.secret.default");
    });
    refused(
        &unknown,
        &["mylib::secret", "--schema", "at node `add`", "File: "],
    );
    let disagreeing = with_json(SMALL, |json| {
        let extra = nodes(json)[0]["inputs"][0].clone();
        let inputs = nodes(json)[0]["inputs"].as_array_mut().unwrap();
        for _ in 0..5 {
            inputs.push(extra.clone());
        }
    });
    refused(
        &disagreeing,
        &["aten::add.Tensor(", "at node `add`", "File: "],
    );
}

#[test]
fn a_changed_geometry_of_an_input_cannot_be_written() {
    let edge = super::archive::cases().join("../edge/meta_input_write/model.pt2");
    let folder = Folder::new();
    let output = folder.path("out.pt2");
    let complaint = graven(["functionalize", edge.to_str().unwrap(), "-o", &output]).failure(1);
    for word in ["`x`", "transpose_"] {
        assert!(complaint.contains(word), "`{word}` is not in `{complaint}`");
    }
    assert!(folder.entries().is_empty());
    // Printed, it can be seen.
    graven(["functionalize", edge.to_str().unwrap()]).success();
}

#[test]
fn files_that_are_not_there() {
    let folder = Folder::new();
    let missing = folder.path("missing.pt2");
    for command in ["show", "functionalize", "effects"] {
        let complaint = graven([command, &missing]).failure(1);
        assert!(complaint.contains("missing.pt2"), "{complaint}");
        let here = folder.path("");
        assert!(graven([command, &here]).failure(1).contains("cannot read"));
    }
    let nowhere = folder.path("no/such/folder/out.pt2");
    let complaint = graven(["functionalize", &model(SMALL), "-o", &nowhere]).failure(1);
    assert!(complaint.contains("out.pt2"), "{complaint}");
    let folder_as_output = folder.path("");
    let ran = graven(["functionalize", &model(SMALL), "-o", &folder_as_output]);
    ran.failure(1);
    assert!(folder.entries().is_empty());
}
