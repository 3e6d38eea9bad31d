//! What the tests of archives share.

// Each test uses a part of this.
#![allow(dead_code)]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use rawzip::{CompressionMethod, ZipArchive, ZipArchiveWriter};
use serde_json::Value;

/// The corpus of programs.
pub(crate) fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases")
}

/// A small program: three scalars and one buffer that is written.
pub(crate) const SMALL: &str = "doc_buffer_mutation";

/// The archive of a case.
pub(crate) fn case(name: &str) -> Vec<u8> {
    std::fs::read(cases().join(name).join("model.pt2")).unwrap()
}

/// An entry of an archive, by its path without the top folder.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) content: Vec<u8>,
    /// Where its data begins.
    pub(crate) place: u64,
    pub(crate) flags: u16,
}

/// What an archive holds; each checksum is compared.
pub(crate) fn entries(bytes: &[u8]) -> Vec<Entry> {
    let zip = ZipArchive::from_slice(bytes).unwrap();
    let mut entries = Vec::new();
    for record in zip.entries() {
        let record = record.unwrap();
        let entry = zip.get_entry(record.wayfinder()).unwrap();
        let path = std::str::from_utf8(record.file_path().as_bytes()).unwrap();
        let content = entry.data().to_vec();
        assert_eq!(crc32fast::hash(&content), record.crc32(), "{path}");
        entries.push(Entry {
            path: path.split_once('/').unwrap().1.to_owned(),
            content,
            place: entry.compressed_data_range().0,
            flags: record.flags().bits(),
        });
    }
    entries
}

/// An archive of these entries, stored, with their paths as they are.
pub(crate) fn pack<'a>(entries: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut writer = ZipArchiveWriter::new(Vec::new());
    for (path, content) in entries {
        let path = rawzip::path::EntryPath::verbatim(path.as_bytes());
        let (mut entry, config) = writer.new_file(path).start().unwrap();
        let mut data = config.wrap(&mut entry);
        data.write_all(content).unwrap();
        let (_, descriptor) = data.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    writer.finish().unwrap()
}

/// An archive of these entries, deflated, in the folder `model`.
pub(crate) fn pack_deflated(entries: &[Entry]) -> Vec<u8> {
    let mut writer = ZipArchiveWriter::new(Vec::new());
    for Entry { path, content, .. } in entries {
        let (mut entry, config) = writer
            .new_file(format!("model/{path}").as_str())
            .compression_method(CompressionMethod::DEFLATE)
            .start()
            .unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::new(6));
        let mut data = config.wrap(encoder);
        data.write_all(content).unwrap();
        let (encoder, descriptor) = data.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    writer.finish().unwrap()
}

/// The archive of a case with its entries changed.
pub(crate) fn changed(name: &str, change: impl FnOnce(&mut Vec<(String, Vec<u8>)>)) -> Vec<u8> {
    let mut list: Vec<_> = entries(&case(name))
        .into_iter()
        .map(|entry| (format!("model/{}", entry.path), entry.content))
        .collect();
    change(&mut list);
    pack(
        list.iter()
            .map(|(path, content)| (path.as_str(), content.as_slice())),
    )
}

/// The archive of a case with one entry changed.
pub(crate) fn with_entry(name: &str, path: &str, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    changed(name, |entries| {
        let path = format!("model/{path}");
        let entry = entries.iter_mut().find(|entry| entry.0 == path).unwrap();
        change(&mut entry.1);
    })
}

/// The archive of a case with its `model.json` changed.
pub(crate) fn with_json(name: &str, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    with_entry(name, "models/model.json", |text| {
        let mut json = serde_json::from_slice(text).unwrap();
        change(&mut json);
        *text = serde_json::to_vec(&json).unwrap();
    })
}

/// The `model.json` of an archive.
pub(crate) fn json(bytes: &[u8]) -> Value {
    let entries = entries(bytes);
    let entry = entries
        .iter()
        .find(|entry| entry.path == "models/model.json")
        .unwrap();
    serde_json::from_slice(&entry.content).unwrap()
}

/// The nodes in a `model.json`.
pub(crate) fn nodes(json: &mut Value) -> &mut Vec<Value> {
    json.pointer_mut("/graph_module/graph/nodes")
        .unwrap()
        .as_array_mut()
        .unwrap()
}
