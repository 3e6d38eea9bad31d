//! Archives of torch 2.5 to 2.8 whose layouts differ from today's.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;

use graven_ir::state::StateKind;
use graven_ir::text;

fn old(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old");
    folder.join(name)
}

/// The graph is the one that the torch that wrote the archive loads; and it is again after it
/// was written in today's layout.
#[track_caller]
fn check(name: &str) {
    let folder = old(name);
    let expected = fs::read_to_string(folder.join("fx.txt")).unwrap();
    let program = graven_pt2::read(folder.join("model.pt2")).unwrap();
    let graph = text::fx_graph(&program.context, &program.graph);
    assert_eq!(graph.trim_end(), expected.trim_end());
    let written = graven_pt2::write_bytes(&program).unwrap();
    let version = &common::json(&written)["schema_version"];
    assert_eq!(version["major"], 8);
    let again = graven_pt2::read_bytes(written).unwrap();
    let names_changed = graph.contains("as_none") || name.starts_with("custom_op");
    if !names_changed {
        let graph = text::fx_graph(&again.context, &again.graph);
        assert_eq!(graph.trim_end(), expected.trim_end());
    }
    let state = |program: &graven_ir::ExportedProgram| -> Vec<_> {
        let names = &program.context.names;
        let entries = program.state.entries.iter();
        let mut state: Vec<_> = entries
            .map(|entry| {
                let meta = entry
                    .meta
                    .map(|meta| program.context.meta(meta).sizes.len());
                let bytes = program.state.storages[entry.storage.0 as usize].bytes();
                let name = names.get(entry.name).to_owned();
                (
                    name,
                    entry.kind == StateKind::Parameter,
                    meta,
                    bytes.to_vec(),
                )
            })
            .collect();
        state.sort();
        state
    };
    assert_eq!(state(&program), state(&again));
}

#[test]
fn torch_2_5_functional() {
    check("doc_example_2_5_1");
}

#[test]
fn torch_2_6_training() {
    check("doc_example_training_2_6_0");
}

#[test]
fn several_results_without_names() {
    check("batchnorm_train_2_5_1");
}

#[test]
fn lifted_constants_and_bare_infinities() {
    check("constants_2_5_1");
}

#[test]
fn sizes_as_python_text() {
    check("dynamic_derived_2_5_1");
}

#[test]
fn sizes_found_at_run_time() {
    check("unbacked_2_5_1");
}

#[test]
fn nested_graphs() {
    check("cond_subgraphs_2_6_0");
}

#[test]
fn nested_and_constant_inputs() {
    check("nested_inputs_2_5_1");
}

#[test]
fn element_types_and_strides() {
    check("dtypes_and_layouts_2_6_0");
}

#[test]
fn custom_operators() {
    check("custom_op_2_5_1");
}

#[test]
fn buffers_that_are_not_in_the_state_dict() {
    check("nonpersistent_2_6_0");
}

#[test]
fn sizes_without_an_upper_end() {
    check("dynamic_unbounded_2_5_1");
    let program = graven_pt2::read(old("dynamic_unbounded_2_5_1").join("model.pt2")).unwrap();
    assert!(
        program
            .range_constraints
            .iter()
            .all(|range| range.max.is_none())
    );
}

#[test]
fn all_kinds_of_arguments_of_torch_2_6() {
    check("argument_kinds_2_6_0");
}

#[test]
fn infinities_of_torch_2_6() {
    check("nonfinite_2_6_0");
}

#[test]
fn higher_order_operators_of_torch_2_6_and_2_9() {
    check("higher_order_2_6_0");
    check("higher_order_2_9_1");
}

#[test]
fn pickled_constants_of_torch_2_8() {
    check("constants_2_8_0");
}

#[test]
fn custom_operators_of_torch_2_8() {
    check("custom_op_2_8_0");
}

#[test]
fn shared_storage() {
    check("shared_storage_2_5_1");
    let program = graven_pt2::read(old("shared_storage_2_5_1").join("model.pt2")).unwrap();
    assert!(program.state.storages.len() < program.state.entries.len());
}

#[test]
fn pickled_weights_in_the_new_layout() {
    let folder = old("doc_example_2_5_1").join("model.pt2");
    let packed = fs::read(folder).unwrap();
    let zip = rawzip::ZipArchive::from_slice(&packed).unwrap();
    let pickled: Vec<u8> = zip
        .entries()
        .map(|record| record.unwrap())
        .filter(|record| record.file_path().as_bytes() == b"serialized_state_dict.pt")
        .map(|record| zip.get_entry(record.wayfinder()).unwrap().data().to_vec())
        .next()
        .unwrap();
    let archive = common::changed(common::SMALL, |entries| {
        entries.retain(|(path, _)| !path.contains("data/weights"));
        entries.push(("model/data/weights/model.pt".to_owned(), pickled));
    });
    let program = graven_pt2::read_bytes(archive).unwrap();
    let expected = graven_pt2::read_bytes(common::case(common::SMALL)).unwrap();
    let bytes = |program: &graven_ir::ExportedProgram| -> Vec<_> {
        let storages = program.state.storages.iter();
        storages.map(|storage| storage.bytes().to_vec()).collect()
    };
    assert_eq!(bytes(&program), bytes(&expected));
    assert!(
        program
            .attachments
            .iter()
            .all(|file| !file.path.contains("weights"))
    );
}
