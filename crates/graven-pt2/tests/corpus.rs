//! Each case of the corpus is read, and written without a change.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::PathBuf;

use common::{case, cases, entries, pack_deflated};
use serde_json::Value;

/// The archives of the corpus.
fn archives() -> Vec<PathBuf> {
    let mut archives: Vec<_> = fs::read_dir(cases())
        .unwrap()
        .map(|case| case.unwrap().path().join("model.pt2"))
        .filter(|archive| archive.exists())
        .collect();
    archives.sort();
    assert_eq!(archives.len(), 90);
    archives
}

/// Compares values, numbers by value: torch writes `1e-05` where graven writes `0.00001`.
#[track_caller]
fn assert_same_json(expected: &Value, actual: &Value, place: &mut Vec<String>) {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            let keys = |object: &serde_json::Map<_, _>| object.keys().cloned().collect::<Vec<_>>();
            assert_eq!(keys(expected), keys(actual), "at {place:?}");
            for (key, value) in expected {
                place.push(key.clone());
                assert_same_json(value, &actual[key], place);
                place.pop();
            }
        }
        (Value::Array(expected), Value::Array(actual)) => {
            assert_eq!(expected.len(), actual.len(), "at {place:?}");
            for (index, (expected, actual)) in expected.iter().zip(actual).enumerate() {
                place.push(index.to_string());
                assert_same_json(expected, actual, place);
                place.pop();
            }
        }
        _ => assert_eq!(expected, actual, "at {place:?}"),
    }
}

/// Entries of the same paths in the same order, JSON equal by value, all else byte for byte.
#[track_caller]
fn assert_same_archive(before: &[u8], after: &[u8], name: &str) {
    let (before, after) = (entries(before), entries(after));
    let paths = |entries: &[common::Entry]| -> Vec<String> {
        entries.iter().map(|entry| entry.path.clone()).collect()
    };
    assert_eq!(paths(&before), paths(&after), "{name}");
    for (expected, actual) in before.iter().zip(&after) {
        if expected.path.ends_with(".json") {
            let parse = |entry: &common::Entry| serde_json::from_slice(&entry.content).unwrap();
            let mut place = vec![name.to_owned(), expected.path.clone()];
            assert_same_json(&parse(expected), &parse(actual), &mut place);
        } else {
            assert_eq!(
                expected.content, actual.content,
                "{name}: {}",
                expected.path
            );
        }
    }
}

#[test]
fn written_without_a_change_nothing_changes() {
    for archive in archives() {
        let name = archive.display().to_string();
        let program =
            graven_pt2::read(&archive).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let written = graven_pt2::write_bytes(&program).unwrap();
        assert_same_archive(&fs::read(&archive).unwrap(), &written, &name);
    }
}

#[test]
fn entries_lie_where_torch_puts_them() {
    let program = graven_pt2::read_bytes(case("empty_tensors")).unwrap();
    for entry in entries(&graven_pt2::write_bytes(&program).unwrap()) {
        assert_eq!(entry.place % 64, 0, "{}", entry.path);
        let flags = if entry.content.is_empty() {
            0x0800
        } else {
            0x0808
        };
        assert_eq!(entry.flags, flags, "{}", entry.path);
    }
}

#[test]
fn what_another_tool_compressed_is_read() {
    let original = case("vit");
    let compressed = pack_deflated(&entries(&original));
    assert!(compressed.len() < original.len());
    let program = graven_pt2::read_bytes(compressed).unwrap();
    let written = graven_pt2::write_bytes(&program).unwrap();
    assert_same_archive(&original, &written, "vit");
}

#[test]
fn a_file_is_replaced_by_a_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counter.pt2");
    fs::write(&path, case(common::SMALL)).unwrap();
    // The program is read from the file that it is written over.
    let program = graven_pt2::read(&path).unwrap();
    graven_pt2::write(&program, &path).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let written = fs::read(&path).unwrap();
    assert_same_archive(&case(common::SMALL), &written, "counter");
    let top = b"counter/archive_format";
    assert!(written.windows(top.len()).any(|window| window == top));
}
