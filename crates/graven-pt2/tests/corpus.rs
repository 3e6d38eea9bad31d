//! Each case of the corpus is read, and written without a change.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The archives of the corpus.
fn archives() -> Vec<PathBuf> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut archives: Vec<_> = fs::read_dir(cases)
        .unwrap()
        .map(|case| case.unwrap().path().join("model.pt2"))
        .filter(|archive| archive.exists())
        .collect();
    archives.sort();
    assert_eq!(archives.len(), 90);
    archives
}

/// What an archive holds, by path without the top folder, and where each entry's data begins.
fn entries(bytes: &[u8]) -> BTreeMap<String, (u64, Vec<u8>)> {
    let zip = rawzip::ZipArchive::from_slice(bytes).unwrap();
    let mut entries = BTreeMap::new();
    for record in zip.entries() {
        let record = record.unwrap();
        let entry = zip.get_entry(record.wayfinder()).unwrap();
        let path = std::str::from_utf8(record.file_path().as_bytes())
            .unwrap()
            .to_owned();
        let (_, path) = path.split_once('/').unwrap();
        let content = entry.data().to_vec();
        let flags = if content.is_empty() { 0x0800 } else { 0x0808 };
        assert_eq!(record.flags().bits(), flags, "{path}");
        assert_eq!(crc32fast::hash(&content), record.crc32(), "{path}");
        entries.insert(path.to_owned(), (entry.compressed_data_range().0, content));
    }
    entries
}

/// Compares values, numbers by value: torch writes `1e-05` where graven writes `1e-5`.
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

#[test]
fn written_without_a_change_nothing_changes() {
    for archive in archives() {
        let before = entries(&fs::read(&archive).unwrap());
        let program = graven_pt2::read(&archive)
            .unwrap_or_else(|error| panic!("{}: {error:?}", archive.display()));
        let after = entries(&graven_pt2::write_bytes(&program).unwrap());
        let paths = |entries: &BTreeMap<String, _>| entries.keys().cloned().collect::<Vec<_>>();
        assert_eq!(paths(&before), paths(&after), "{}", archive.display());
        for (path, (_, expected)) in &before {
            let (place, actual) = &after[path];
            assert_eq!(place % 64, 0, "{path}");
            if path.ends_with(".json") {
                let expected = serde_json::from_slice(expected).unwrap();
                let actual = serde_json::from_slice(actual).unwrap();
                let mut place = vec![archive.display().to_string(), path.clone()];
                assert_same_json(&expected, &actual, &mut place);
            } else {
                assert_eq!(expected, actual, "{path}");
            }
        }
    }
}
