//! The state report: what programs do to their parameters, buffers and inputs.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use graven::{Carrier, InputEffects, InputKind, OutputKind, Registry, Write};

/// The report on a program of the repository's `tests`.
fn report(folder: &str) -> Vec<InputEffects> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let program = graven::load(tests.join(folder).join("model.pt2")).unwrap();
    graven::effects(&program, &Registry::aten()).unwrap()
}

/// An input that is read and not written.
fn read(name: &str, kind: InputKind, target: Option<&str>) -> InputEffects {
    InputEffects {
        name: name.to_owned(),
        kind,
        target: target.map(str::to_owned),
        is_read: true,
        writes: Vec::new(),
        shares_storage_with: Vec::new(),
        carried_by: None,
    }
}

/// The same, written: the new value is this node.
fn written(input: InputEffects, value: &str, writes: Vec<Write>) -> InputEffects {
    let kind = match input.kind {
        InputKind::Parameter => OutputKind::ParameterMutation,
        InputKind::Buffer => OutputKind::BufferMutation,
        _ => OutputKind::UserInputMutation,
    };
    let target = input.target.clone().unwrap_or_else(|| input.name.clone());
    InputEffects {
        writes,
        carried_by: Some(Carrier {
            value: value.to_owned(),
            kind,
            target,
        }),
        ..input
    }
}

fn sharing(input: InputEffects, others: &[&str]) -> InputEffects {
    InputEffects {
        shares_storage_with: others.iter().map(|&other| other.to_owned()).collect(),
        ..input
    }
}

/// A write of data: the node, its operator, and the views on the way to what it writes.
fn write(node: &str, operator: &str, views: &[&str], line: Option<&str>) -> Write {
    let target = |name: &str| format!("torch.ops.aten.{name}");
    Write {
        node: node.to_owned(),
        operator: target(operator),
        view_chain: views.iter().map(|&view| target(view)).collect(),
        source_line: line.map(str::to_owned),
        changes_metadata: false,
    }
}

#[test]
fn the_documentations_example() {
    let line = "File: export_cases.py:334 in forward, code: self.my_buffer2.add_(1.0)";
    let expected = [
        read("p_my_parameter", InputKind::Parameter, Some("my_parameter")),
        read("b_my_buffer1", InputKind::Buffer, Some("my_buffer1")),
        written(
            read("b_my_buffer2", InputKind::Buffer, Some("my_buffer2")),
            "add_2",
            vec![write("add_", "add_.Tensor", &[], Some(line))],
        ),
        read("x1", InputKind::UserInput, None),
        read("x2", InputKind::UserInput, None),
    ];
    assert_eq!(report("cases/doc_buffer_mutation"), expected);
}

#[test]
fn each_half_of_a_cache_is_written_once() {
    let report = report("cases/gpt_kv_cache");
    let buffer = |layer: u32, half: &str| {
        read(
            &format!("b_layers_{layer}_{half}"),
            InputKind::Buffer,
            Some(&format!("layers.{layer}.{half}")),
        )
    };
    let line =
        |line: u32, code: &str| format!("File: export_cases.py:{line} in forward, code: {code}");
    let copy = |node: &str, line: &str| vec![write(node, "index_copy_.default", &[], Some(line))];
    let put = |node: &str, line: &str| vec![write(node, "index_put_.default", &[], Some(line))];
    let expected = [
        written(
            buffer(0, "k"),
            "index_copy",
            copy(
                "index_copy_",
                &line(1255, "self.k.index_copy_(2, position, k)"),
            ),
        ),
        written(
            buffer(0, "v"),
            "index_copy_1",
            copy(
                "index_copy__1",
                &line(1256, "self.v.index_copy_(2, position, v)"),
            ),
        ),
        written(
            buffer(1, "k"),
            "index_put",
            put("index_put_", &line(1252, "self.k[:, :, position] = k")),
        ),
        written(
            buffer(1, "v"),
            "index_put_1",
            put("index_put__1", &line(1253, "self.v[:, :, position] = v")),
        ),
    ];
    let found: Vec<_> = report
        .iter()
        .filter(|input| !input.writes.is_empty())
        .cloned()
        .collect();
    assert_eq!(found, expected);
    let mask = read("b_causal", InputKind::Buffer, Some("causal"));
    assert!(report.contains(&mask));
}

#[test]
fn a_write_tells_the_views_that_it_goes_through() {
    let line =
        |line: u32, code: &str| format!("File: export_cases.py:{line} in forward, code: {code}");
    let through_views = [
        write(
            "mul_",
            "mul_.Tensor",
            &[],
            Some(&line(652, "self.state.mul_(2)")),
        ),
        write(
            "fill_",
            "fill_.Scalar",
            &["select.int", "slice.Tensor"],
            Some(&line(654, "cell.fill_(50)")),
        ),
        write(
            "copy_",
            "copy_.default",
            &["t.default", "select.int"],
            Some(&line(656, "self.state.t()[0].copy_(x)")),
        ),
    ];
    let expected = [
        written(
            read("b_state", InputKind::Buffer, Some("state")),
            "t_4",
            through_views.to_vec(),
        ),
        read("x", InputKind::UserInput, None),
    ];
    assert_eq!(report("cases/base_and_view_interleaved"), expected);
}

#[test]
fn two_names_of_one_tensor_are_both_written() {
    let line = "File: edge.py:470 in forward, code: ...";
    let add = || vec![write("add_", "add_.Tensor", &[], Some(line))];
    let buffer = |name: &str| read(&format!("b_{name}"), InputKind::Buffer, Some(name));
    // One node cannot be the new value of two buffers: the second has a copy.
    let expected = [
        sharing(written(buffer("a"), "add", add()), &["b_z"]),
        sharing(written(buffer("z"), "clone", add()), &["b_a"]),
        read("x", InputKind::UserInput, None),
    ];
    assert_eq!(report("edge/buffers_two_names"), expected);
}

#[test]
fn a_table_is_written_through_its_row() {
    let line = "File: edge.py:483 in forward, code: ...";
    let scale = || {
        vec![write(
            "mul_",
            "mul_.Tensor",
            &["as_strided.default"],
            Some(line),
        )]
    };
    let buffer = |name: &str| read(&format!("b_{name}"), InputKind::Buffer, Some(name));
    let expected = [
        sharing(
            written(buffer("table"), "as_strided_scatter", scale()),
            &["b_row"],
        ),
        sharing(written(buffer("row"), "as_strided", scale()), &["b_table"]),
        read("x", InputKind::UserInput, None),
    ];
    assert_eq!(report("edge/buffers_row_written"), expected);
}

#[test]
fn a_change_of_shape_is_told_apart_from_a_write_of_data() {
    let expected = [written(
        read("x", InputKind::UserInput, None),
        "transpose_1",
        vec![
            Write {
                changes_metadata: true,
                ..write("transpose_", "transpose_.default", &[], None)
            },
            write("mul_", "mul_.Tensor", &["transpose.int"], None),
        ],
    )];
    assert_eq!(report("edge/meta_input_write"), expected);
}
