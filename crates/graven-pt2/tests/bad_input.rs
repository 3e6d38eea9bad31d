//! What bad archives get: an error that says what is wrong.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write as _;

use common::{SMALL, case, changed, nodes, pack, with_entry, with_json};
use graven_pt2::{Pt2Error, read_bytes};
use serde_json::{Value, json};

/// The bytes are refused with an error of that kind, whose message has these words.
macro_rules! refused {
    ($bytes:expr, $pattern:pat, $($word:expr),*) => {
        let error = read_bytes($bytes).expect_err("the archive is bad");
        let message = error.to_string();
        assert!(matches!(error, $pattern), "{error:?}");
        $(assert!(message.contains($word), "`{}` is not in `{message}`", $word);)*
    };
}

// ---- the zip archive ----

#[test]
fn not_a_zip() {
    refused!(
        b"safetensors".to_vec(),
        Pt2Error::NotAnArchive { .. },
        "not a zip archive"
    );
    refused!(
        Vec::new(),
        Pt2Error::NotAnArchive { .. },
        "not a zip archive"
    );
}

#[test]
fn cut_short_anywhere() {
    let whole = case(SMALL);
    for length in (0..whole.len()).step_by(7) {
        assert!(
            read_bytes(whole[..length].to_vec()).is_err(),
            "{length} bytes"
        );
    }
    // The front is missing, the directory is there.
    for start in [1, 64, 5000] {
        assert!(read_bytes(whole[start..].to_vec()).is_err(), "from {start}");
    }
}

#[test]
fn one_changed_byte_is_noticed_or_harmless() {
    let whole = case(SMALL);
    for place in (0..whole.len()).step_by(11) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x55;
        // Weights are not read, so a change there passes; nothing panics.
        let _ = read_bytes(bytes);
    }
}

#[test]
fn a_program_that_was_changed() {
    let mut bytes = case(SMALL);
    let target = b"aten.mul.Tensor";
    let place = bytes
        .windows(target.len())
        .position(|window| window == target)
        .unwrap();
    bytes[place] = b'x';
    refused!(
        bytes,
        Pt2Error::Checksum { .. },
        "models/model.json",
        "checksum"
    );
}

#[test]
fn paths_that_leave_the_archive() {
    for path in [
        "../evil",
        "/etc/evil",
        "model/../../evil",
        "model\\evil",
        "model/\0",
    ] {
        let bytes = changed(SMALL, |entries| {
            entries.push((path.to_owned(), b"x".to_vec()));
        });
        refused!(
            bytes,
            Pt2Error::PathLeavesArchive { .. },
            "does not stay inside"
        );
    }
}

#[test]
fn payload_paths_that_leave_the_archive() {
    let bytes = with_entry(SMALL, "data/weights/model_weights_config.json", |text| {
        let changed = String::from_utf8(text.clone()).unwrap();
        *text = changed
            .replace("weight_0", "../../../etc/passwd")
            .into_bytes();
    });
    refused!(bytes, Pt2Error::MissingEntry { .. }, "etc/passwd");
}

#[test]
fn two_entries_with_one_name() {
    let bytes = changed(SMALL, |entries| entries.push(entries[0].clone()));
    refused!(
        bytes,
        Pt2Error::DuplicateEntry { .. },
        "data/weights/weight_0"
    );
}

#[test]
fn an_entry_beside_the_folder() {
    let bytes = changed(SMALL, |entries| {
        entries.push(("other/file".to_owned(), b"x".to_vec()));
    });
    refused!(bytes, Pt2Error::OutsideFolder { .. }, "other/file");
}

#[test]
fn entries_that_share_bytes() {
    // The directory says that the second entry stands where the first does.
    let mut bytes = pack([
        ("m/archive_format", &b"pt2"[..]),
        ("m/archive_formax", b"pt2"),
    ]);
    let directory = bytes
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    let second = directory + 46 + "m/archive_format".len();
    bytes[second + 42..second + 46].fill(0);
    refused!(bytes, Pt2Error::OverlappingEntries { .. }, "overlaps");
}

#[test]
fn sizes_beyond_the_file() {
    let mut bytes = case(SMALL);
    let directory = bytes
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    // The sample inputs hold a directory of their own; ours is the last.
    let directory = bytes[directory..]
        .windows(4)
        .rposition(|four| four == b"PK\x01\x02")
        .map(|place| directory + place)
        .unwrap();
    bytes[directory + 20..directory + 28].fill(0x7f);
    refused!(
        bytes,
        Pt2Error::EntryOutsideFile { .. },
        "beyond the end of the file"
    );
}

#[test]
fn a_zip_bomb() {
    // A gigabyte of zeros, a megabyte at a time.
    let mut encoder = flate2::Compress::new(flate2::Compression::best(), false);
    let mut block = Vec::with_capacity(1 << 20);
    let zeros = vec![0; 1 << 20];
    encoder
        .compress_vec(&zeros, &mut block, flate2::FlushCompress::Full)
        .unwrap();
    let mut writer = rawzip::ZipArchiveWriter::new(Vec::new());
    let (mut entry, _) = writer
        .new_file("model/data/weights/weight_9")
        .compression_method(rawzip::CompressionMethod::DEFLATE)
        .start()
        .unwrap();
    for _ in 0..1024 {
        entry.write_all(&block).unwrap();
    }
    let descriptor = rawzip::DataDescriptorOutput::new(0, 1 << 30);
    entry.finish(descriptor).unwrap();
    let bytes = writer.finish().unwrap();
    assert!(bytes.len() < 2 << 20);
    refused!(
        bytes,
        Pt2Error::ZipBomb { .. },
        "data/weights/weight_9",
        "zip -0"
    );
}

#[test]
fn a_deflated_entry_that_lies_about_its_size() {
    let entries = common::entries(&case(SMALL));
    for lie in [u32::MAX - 1, 100_000, 1] {
        let mut bytes = common::pack_deflated(&entries);
        let directory = bytes
            .windows(4)
            .rposition(|four| four == b"PK\x01\x02")
            .unwrap();
        bytes[directory + 24..directory + 28].copy_from_slice(&lie.to_le_bytes());
        refused!(
            bytes,
            Pt2Error::ZipBomb { .. } | Pt2Error::CorruptEntry { .. },
            ".data/serialization_id"
        );
    }
}

// ---- the layout ----

#[test]
fn another_zip_archive() {
    refused!(
        pack([("word/document.xml", &b"<x/>"[..])]),
        Pt2Error::NotAProgram,
        "not one of torch.export.save"
    );
}

#[test]
fn another_archive_format() {
    let bytes = with_entry(SMALL, "archive_format", |text| *text = b"pt3".to_vec());
    refused!(bytes, Pt2Error::ArchiveFormat { .. }, "`pt3`", "`pt2`");
}

#[test]
fn the_other_byte_order() {
    let bytes = with_entry(SMALL, "byteorder", |text| *text = b"big".to_vec());
    refused!(bytes, Pt2Error::ByteOrder { .. }, "big-endian");
}

#[test]
fn a_part_is_missing() {
    for path in [
        "models/model.json",
        "data/weights/weight_1",
        "data/weights/model_weights_config.json",
        "data/constants/model_constants_config.json",
    ] {
        let bytes = changed(SMALL, |entries| {
            entries.retain(|entry| !entry.0.ends_with(path))
        });
        let error = read_bytes(bytes).expect_err(path);
        assert!(
            matches!(error, Pt2Error::MissingEntry { .. } | Pt2Error::NoModel),
            "{path}: {error:?}"
        );
    }
}

// ---- state ----

#[test]
fn weights_shorter_than_their_metadata() {
    let bytes = with_entry(SMALL, "data/weights/weight_1", |weight| weight.truncate(3));
    refused!(
        bytes,
        Pt2Error::ShortTensor { .. },
        "4 bytes",
        "holds 3",
        "weight_1"
    );
    let bytes = with_entry(SMALL, "data/weights/weight_1", Vec::clear);
    refused!(bytes, Pt2Error::ShortTensor { .. }, "holds 0");
}

#[test]
fn weights_that_were_never_there() {
    // A program that was exported with fake weights: torch reads it, with zeros.
    let bytes = changed(SMALL, |entries| {
        for (path, content) in entries {
            if path.contains("weights/weight_") {
                content.clear();
            }
        }
    });
    assert!(read_bytes(bytes).is_ok());
}

#[test]
fn metadata_that_no_memory_could_hold() {
    for (field, value) in [
        ("sizes", json!([{"as_int": i64::MAX}, {"as_int": i64::MAX}])),
        ("sizes", json!([{"as_int": -1}, {"as_int": 1}])),
        ("storage_offset", json!({"as_int": i64::MAX})),
    ] {
        let bytes = with_entry(SMALL, "data/weights/model_weights_config.json", |text| {
            let mut config: Value = serde_json::from_slice(text).unwrap();
            let meta = &mut config["config"]["my_buffer1"]["tensor_meta"];
            meta["sizes"] = json!([{"as_int": 1}, {"as_int": 1}]);
            meta["strides"] = json!([{"as_int": 2}, {"as_int": 2}]);
            meta[field] = value;
            *text = serde_json::to_vec(&config).unwrap();
        });
        refused!(
            bytes,
            Pt2Error::StateMeta { .. } | Pt2Error::ShortTensor { .. },
            "my_buffer1"
        );
    }
}

#[test]
fn a_buffer_that_the_archive_does_not_hold() {
    let bytes = with_json(SMALL, |json| {
        let specs = json
            .pointer_mut("/graph_module/signature/input_specs")
            .unwrap();
        specs[1]["buffer"]["buffer_name"] = json!("lost");
    });
    refused!(
        bytes,
        Pt2Error::MissingState { .. },
        "`lost`",
        "b_my_buffer1"
    );
}

// ---- the program ----

#[test]
fn json_that_is_none() {
    let bytes = with_entry(SMALL, "models/model.json", |text| text.truncate(1000));
    refused!(bytes, Pt2Error::Json { .. }, "models/model.json", "line 1");
    let bytes = with_entry(SMALL, "models/model.json", |text| {
        text.extend_from_slice(b"}")
    });
    refused!(bytes, Pt2Error::Json { .. }, "line 1");
}

#[test]
fn deeply_nested_json() {
    for place in [
        "\"torch_version\": ",
        "\"module_call_graph\": ",
        "\"as_int\": ",
        "\"new\": ",
    ] {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let bytes = with_entry(SMALL, "models/model.json", |text| {
            *text = format!("{{\"graph_module\": {{{place}{deep}}}}}").into_bytes();
        });
        refused!(bytes, Pt2Error::Json { .. }, "models/model.json");
    }
    let mut argument = json!({"as_int": 1});
    for _ in 0..60 {
        argument = json!({"as_string_to_argument": {"a": argument}});
    }
    let bytes = with_json(SMALL, |json| nodes(json)[0]["inputs"][1]["arg"] = argument);
    refused!(bytes, Pt2Error::Json { .. }, "models/model.json");
}

#[test]
fn a_newer_schema() {
    let bytes = with_json(SMALL, |json| {
        json["schema_version"] = json!({"major": 9, "minor": 1});
        json["torch_version"] = json!("3.0.0");
    });
    refused!(
        bytes,
        Pt2Error::NewerSchema { .. },
        "9.1",
        "8.x",
        "torch 3.0.0"
    );
    // It is said first even if nothing else can be understood.
    let bytes = with_json(SMALL, |json| {
        *json = json!({"schema_version": {"major": 12, "minor": 0}, "graph_module": []});
    });
    refused!(bytes, Pt2Error::NewerSchema { .. }, "12.0", "8.x");
}

#[test]
fn an_older_schema() {
    let bytes = with_json(SMALL, |json| {
        json["schema_version"] = json!({"major": 5, "minor": 3});
        json["torch_version"] = json!("2.4.0");
    });
    refused!(bytes, Pt2Error::OlderSchema { .. }, "5.3", "torch 2.4.0");
}

#[test]
fn a_node_that_names_a_missing_value() {
    let bytes = with_json(SMALL, |json| {
        nodes(json)[1]["inputs"][0]["arg"] = json!({"as_tensor": {"name": "nowhere"}});
    });
    refused!(
        bytes,
        Pt2Error::MissingValue {
            defined_later: false,
            ..
        },
        "`mul`",
        "`nowhere`"
    );
    let bytes = with_json(SMALL, |json| {
        json["graph_module"]["graph"]["outputs"][0] = json!({"as_tensor": {"name": "nowhere"}});
    });
    refused!(
        bytes,
        Pt2Error::MissingValue { .. },
        "the output",
        "`nowhere`"
    );
}

#[test]
fn a_cycle() {
    let bytes = with_json(SMALL, |json| {
        nodes(json)[0]["inputs"][0]["arg"] = json!({"as_tensor": {"name": "add"}});
    });
    refused!(
        bytes,
        Pt2Error::MissingValue {
            defined_later: true,
            ..
        },
        "`add`",
        "cycle"
    );
    let bytes = with_json(SMALL, |json| {
        nodes(json)[0]["inputs"][0]["arg"] = json!({"as_tensor": {"name": "add_1"}});
    });
    refused!(
        bytes,
        Pt2Error::MissingValue {
            defined_later: true,
            ..
        },
        "`add_1`",
        "cycle"
    );
}

#[test]
fn a_name_given_twice() {
    let bytes = with_json(SMALL, |json| {
        let outputs = nodes(json)[0]["outputs"].clone();
        nodes(json)[1]["outputs"] = outputs;
    });
    refused!(bytes, Pt2Error::DuplicateName { .. }, "`add`");
}

#[test]
fn a_value_that_the_tables_do_not_have() {
    let bytes = with_json(SMALL, |json| {
        let values = &mut json["graph_module"]["graph"]["tensor_values"];
        values.as_object_mut().unwrap().remove("mul");
    });
    refused!(bytes, Pt2Error::ValueEntries { count: 0, .. }, "`mul`");
}

#[test]
fn an_argument_of_an_unknown_form() {
    let bytes = with_json(SMALL, |json| {
        nodes(json)[0]["inputs"][0]["arg"] = json!({"as_quaternion": [0, 0, 0, 1]});
    });
    let error = read_bytes(bytes).expect_err("the form is unknown");
    let Pt2Error::Json { source, .. } = error else {
        panic!("{error:?}");
    };
    assert!(source.to_string().contains("as_quaternion"), "{source}");
}

#[test]
fn a_signature_that_does_not_fit_the_graph() {
    let bytes = with_json(SMALL, |json| {
        let specs = json
            .pointer_mut("/graph_module/signature/input_specs")
            .unwrap();
        specs.as_array_mut().unwrap().pop();
    });
    refused!(bytes, Pt2Error::SignatureLength { .. }, "4 inputs", "5");
    let bytes = with_json(SMALL, |json| {
        let specs = json
            .pointer_mut("/graph_module/signature/input_specs")
            .unwrap();
        specs.as_array_mut().unwrap().swap(3, 4);
    });
    refused!(bytes, Pt2Error::SignatureName { .. }, "`x1`", "`x2`");
}

#[test]
fn unknown_numbers() {
    for (path, value) in [
        ("/graph_module/graph/tensor_values/add/dtype", json!(99)),
        ("/graph_module/graph/tensor_values/add/layout", json!(0)),
        (
            "/graph_module/graph/tensor_values/add/sizes",
            json!([{"as_int": 1.5}]),
        ),
        (
            "/graph_module/graph/tensor_values/add/sizes",
            json!([{"as_int": 1}, {"as_int": 2}, {"as_int": 3}]),
        ),
        (
            "/graph_module/graph/tensor_values/add/storage_offset",
            json!({"as_expr": {"expr_str": "Add(Symbol(", "hint": null}}),
        ),
    ] {
        let bytes = with_json(SMALL, |json| *json.pointer_mut(path).unwrap() = value);
        refused!(bytes, Pt2Error::Json { .. }, "models/model.json");
    }
}

// ---- pickles ----

#[test]
fn a_pickle_that_would_run_code() {
    let inner = pack([(
        "archive/data.pkl",
        &b"\x80\x02cposix\nsystem\nX\x02\x00\x00\x00ls\x85R."[..],
    )]);
    let bytes = changed(SMALL, |entries| {
        entries.push(("model/data/weights/model.pt".to_owned(), inner));
    });
    let error = read_bytes(bytes).expect_err("it calls a function");
    let Pt2Error::Pickle { path, source } = error else {
        panic!("{error:?}");
    };
    assert_eq!(path, "data/weights/model.pt");
    assert!(source.to_string().contains("posix.system"), "{source}");
}
