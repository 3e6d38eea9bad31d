//! What is written of programs that passes made, and what is kept of programs that were read.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

mod common;

use common::{SMALL, case, json, nodes, with_json};
use graven_ir::graph::NestedGraph;
use graven_ir::{
    Argument, ArgumentKind, ExportedProgram, Input, ListKind, Metadata, MetadataMutation, NodeId,
    Op, Value as NodeValue,
};
use graven_pt2::{Pt2Error, read_bytes, write, write_bytes};
use serde_json::{Value, json};

fn program(name: &str) -> ExportedProgram {
    read_bytes(case(name)).unwrap()
}

fn written(program: &ExportedProgram) -> Value {
    json(&write_bytes(program).unwrap())
}

/// The node called `name`.
#[track_caller]
fn node(program: &ExportedProgram, name: &str) -> NodeId {
    let name = program.context.names.find(name).unwrap();
    let found = program.graph.iter().find(|(_, node)| node.name == name);
    found.map(|(id, _)| id).unwrap()
}

/// Removes the nodes that nobody uses and that `remove` wants, as a pass would.
fn remove_unused(program: &mut ExportedProgram, remove: impl Fn(&Op) -> bool) -> usize {
    let counts = program.graph.user_counts();
    let mut moved = Vec::new();
    let mut kept = Vec::new();
    for (mut node, count) in program.graph.nodes.drain(..).zip(counts) {
        moved.push(NodeId(kept.len() as u32));
        if count == 0 && remove(&node.op) {
            continue;
        }
        for input in &mut node.inputs {
            let new = |id: NodeId| Argument::Node(moved[id.index()]);
            input.argument = input.argument.map_nodes(&mut { new });
        }
        kept.push(node);
    }
    let removed = moved.len() - kept.len();
    program.graph.nodes = kept;
    for output in &mut program.graph.outputs {
        *output = output.map_nodes(&mut |id| Argument::Node(moved[id.index()]));
    }
    removed
}

// ---- several results ----

#[test]
fn results_that_nobody_reads_are_called_unused() {
    let mut program = program("gru_bidirectional");
    let before = nodes(&mut written(&program)).clone();
    let removed = remove_unused(&mut program, |op| matches!(op, Op::GetItem(_)));
    assert!(removed > 0, "the case has results that nobody reads");
    let mut after = written(&program);
    let mut unused = 0;
    for (call, after) in before.iter().zip(nodes(&mut after)) {
        let results = |node: &Value| node["outputs"].as_array().unwrap().clone();
        for (index, (before, after)) in results(call).iter().zip(results(after)).enumerate() {
            if *before != after {
                let name = call["name"].as_str().unwrap();
                assert_eq!(after["as_tensor"]["name"], format!("{name}_unused_{index}"));
                unused += 1;
            }
        }
    }
    assert_eq!(unused, removed);
    assert!(read_bytes(write_bytes(&program).unwrap()).is_ok());
}

#[test]
fn a_made_up_name_gives_way_to_a_real_one() {
    let mut program = program("split_chunk_unbind");
    let calls = |program: &ExportedProgram| -> Vec<NodeId> {
        let nodes = program.graph.iter();
        nodes
            .filter(|(_, node)| matches!(node.value, NodeValue::List(_)))
            .map(|(id, _)| id)
            .collect()
    };
    let owner = calls(&program)[0];
    let name = program.graph.node(owner).name;
    let clash = format!("{}_unused_0", program.context.names.get(name));
    // The placeholder has the name that an unread result would get; the result loses its node.
    program.graph.nodes[0].name = program.context.names.intern(&clash);
    let item = program
        .graph
        .iter()
        .find(|(_, node)| {
            node.op == Op::GetItem(0) && node.inputs[0].argument.as_node() == Some(owner)
        })
        .map(|(id, _)| id)
        .unwrap();
    program.graph.nodes[item.index()].op = Op::GetItem(1);
    let mut text = written(&program);
    let names: Vec<String> = nodes(&mut text)
        .iter()
        .find(|node| node["name"] == program.context.names.get(name))
        .and_then(|node| node["outputs"][0]["as_tensors"].as_array())
        .unwrap()
        .iter()
        .map(|tensor| tensor["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names[0], format!("{clash}_0"));
}

#[test]
fn two_readers_of_one_result_are_one() {
    let mut program = program("split_chunk_unbind");
    let (first, getitem) = program
        .graph
        .iter()
        .find(|(_, node)| matches!(node.op, Op::GetItem(_)))
        .map(|(id, node)| (id, node.clone()))
        .unwrap();
    let copy = graven_ir::Node {
        name: program.context.names.intern("second_reader"),
        ..getitem.clone()
    };
    let copy = program.graph.push(copy);
    program.graph.outputs[0] = Argument::Node(copy);
    let name = program.context.names.get(program.graph.node(first).name);
    let text = written(&program);
    let outputs = &text["graph_module"]["graph"]["outputs"];
    assert_eq!(outputs[0]["as_tensor"]["name"], name);
    let spec = &text["graph_module"]["signature"]["output_specs"][0];
    assert_eq!(spec["user_output"]["arg"]["as_tensor"]["name"], name);
}

#[test]
fn a_result_that_the_node_does_not_have() {
    let mut program = program("split_chunk_unbind");
    let nodes = &mut program.graph.nodes;
    let item = nodes
        .iter_mut()
        .find(|node| matches!(node.op, Op::GetItem(_)))
        .unwrap();
    item.op = Op::GetItem(99);
    assert!(matches!(
        write_bytes(&program),
        Err(Pt2Error::ValueForm { .. })
    ));
}

// ---- arguments ----

/// The program with its first call's first argument replaced.
fn with_argument(argument: impl FnOnce(&mut ExportedProgram) -> Argument) -> ExportedProgram {
    let mut program = program(SMALL);
    let argument = argument(&mut program);
    let call = program
        .graph
        .nodes
        .iter_mut()
        .find(|node| matches!(node.op, Op::Call(_)))
        .unwrap();
    call.inputs[0].argument = argument;
    program
}

#[track_caller]
fn check_argument(argument: impl FnOnce(&mut ExportedProgram) -> Argument, expected: Value) {
    let program = with_argument(argument);
    let mut text = written(&program);
    assert_eq!(nodes(&mut text)[0]["inputs"][0]["arg"], expected);
    // What is written is read.
    assert!(read_bytes(write_bytes(&program).unwrap()).is_ok());
}

fn list(kind: ListKind, items: impl IntoIterator<Item = Argument>) -> Argument {
    Argument::List(kind, items.into_iter().collect())
}

#[test]
fn numbers_that_json_does_not_have() {
    check_argument(
        |_| Argument::Float(f64::INFINITY),
        json!({"as_float": "Infinity"}),
    );
    check_argument(
        |_| Argument::Float(f64::NEG_INFINITY),
        json!({"as_float": "-Infinity"}),
    );
    check_argument(|_| Argument::Float(f64::NAN), json!({"as_float": "NaN"}));
    check_argument(
        |_| Argument::Complex(f64::NAN, 2.0),
        json!({"as_complex": {"real": "NaN", "imag": 2.0}}),
    );
    check_argument(|_| Argument::Float(1e-5), json!({"as_float": 1e-05}));
    check_argument(
        |_| Argument::Float(0.1 + 0.2),
        json!({"as_float": 0.1 + 0.2}),
    );
}

#[test]
fn infinities_are_read() {
    let bytes = with_json(SMALL, |json| {
        nodes(json)[0]["inputs"][0]["arg"] = json!({"as_floats": ["-Infinity", 1.5, "NaN"]});
    });
    let program = read_bytes(bytes).unwrap();
    let call = program.graph.node(node(&program, "add"));
    let floats = call.inputs[0].argument.as_list().unwrap();
    assert_eq!(floats[0], Argument::Float(f64::NEG_INFINITY));
    assert_eq!(floats[1], Argument::Float(1.5));
    assert!(matches!(floats[2], Argument::Float(value) if value.is_nan()));
}

#[test]
fn empty_lists_keep_their_kind() {
    for (kind, tag) in [
        (ListKind::Tensors, "as_tensors"),
        (ListKind::OptionalTensors, "as_optional_tensors"),
        (ListKind::Ints, "as_ints"),
        (ListKind::SymInts, "as_sym_ints"),
        (ListKind::Floats, "as_floats"),
        (ListKind::Bools, "as_bools"),
        (ListKind::Strings, "as_strings"),
        (ListKind::IntLists, "as_int_lists"),
        (ListKind::FloatLists, "as_float_lists"),
        (ListKind::NestedTensors, "as_nested_tensors"),
        // torch cannot know either, and takes tensors.
        (ListKind::Mixed, "as_tensors"),
        (ListKind::Tuple, "as_tensors"),
    ] {
        check_argument(|_| list(kind, []), json!({tag: []}));
    }
}

#[test]
fn lists_take_the_form_of_what_they_hold() {
    let tensor = |program: &mut ExportedProgram| Argument::Node(node(program, "x1"));
    // The kind says integers, but a pass put a tensor there.
    check_argument(
        |program| list(ListKind::Ints, [tensor(program)]),
        json!({"as_tensors": [{"name": "x1"}]}),
    );
    check_argument(
        |program| list(ListKind::Tensors, [tensor(program), Argument::None]),
        json!({"as_optional_tensors": [{"as_tensor": {"name": "x1"}}, {"as_none": true}]}),
    );
    check_argument(
        |_| list(ListKind::Tuple, [Argument::Int(1), Argument::Int(2)]),
        json!({"as_ints": [1, 2]}),
    );
    check_argument(
        |_| list(ListKind::Mixed, [Argument::ints([1]), Argument::ints([])]),
        json!({"as_int_lists": [[1], []]}),
    );
}

#[test]
fn a_list_of_different_things_is_refused() {
    let program = with_argument(|program| {
        let tensor = Argument::Node(node(program, "x1"));
        list(ListKind::Mixed, [tensor, Argument::Bool(true)])
    });
    let error = write_bytes(&program).unwrap_err();
    assert!(matches!(error, Pt2Error::ArgumentForm { .. }), "{error:?}");
    assert!(error.to_string().contains("the node `add`"), "{error}");
}

#[test]
fn all_results_of_a_node_are_no_argument() {
    let mut program = program("split_chunk_unbind");
    let several = program
        .graph
        .iter()
        .find(|(_, node)| matches!(node.value, NodeValue::List(_)))
        .map(|(id, _)| id)
        .unwrap();
    program.graph.outputs[0] = Argument::Node(several);
    let error = write_bytes(&program).unwrap_err();
    assert!(matches!(error, Pt2Error::ArgumentForm { .. }), "{error:?}");
}

#[test]
fn a_mapping_of_arguments() {
    check_argument(
        |program| {
            let key = program.context.names.intern("scale");
            Argument::Dict([(key, Argument::ints([4]))].into())
        },
        json!({"as_string_to_argument": {"scale": {"as_ints": [4]}}}),
    );
}

// ---- values ----

#[test]
fn a_token_is_an_empty_tensor() {
    let mut program = program(SMALL);
    let add = node(&program, "add");
    program.graph.nodes[add.index()].value = NodeValue::Token;
    let text = written(&program);
    let meta = &text["graph_module"]["graph"]["tensor_values"]["add"];
    assert_eq!(meta["sizes"], json!([{"as_int": 0}]));
    assert_eq!(meta["dtype"], 7);
    assert!(read_bytes(write_bytes(&program).unwrap()).is_ok());
}

#[test]
fn different_graphs_of_one_name_get_different_names() {
    let mut program = program("cond_branches");
    let graphs = &mut program.graph.graphs;
    assert_ne!(graphs[0].graph, graphs[1].graph);
    let name = graphs[0].name;
    graphs[1].name = name;
    let mut text = written(&program);
    let call = nodes(&mut text)
        .iter()
        .find(|node| node["target"] == "torch.ops.higher_order.cond")
        .unwrap();
    let name = |index: usize| &call["inputs"][index]["arg"]["as_graph"]["name"];
    assert_ne!(name(1), name(2));
    // One graph under one name twice is not split.
    let graph = program.graph.graphs[0].graph.clone();
    let name = program.graph.graphs[0].name;
    program.graph.graphs[1] = NestedGraph { name, graph };
    let mut text = written(&program);
    let call = nodes(&mut text)
        .iter()
        .find(|node| node["target"] == "torch.ops.higher_order.cond")
        .unwrap();
    assert_eq!(
        call["inputs"][1]["arg"]["as_graph"],
        call["inputs"][2]["arg"]["as_graph"]
    );
}

// ---- what has no form ----

#[test]
fn a_change_of_an_inputs_shape_is_refused() {
    let mut program = program(SMALL);
    let names = &mut program.context.names;
    let entry = (
        names.intern("stack_trace"),
        names.intern("File \"model.py\", line 41, in forward\n    x.t_()"),
    );
    let operator = names.intern("torch.ops.aten.t_.default");
    let metadata = program.context.intern_metadata(Metadata {
        entries: [entry].into(),
        ..Metadata::default()
    });
    let input = node(&program, "x1");
    let meta = program.graph.node(input).value.as_tensor().unwrap();
    program.metadata_mutations.push(MetadataMutation {
        input,
        meta,
        operator,
        metadata,
    });
    let folder = tempfile::tempdir().unwrap();
    let error = write(&program, folder.path().join("out.pt2")).unwrap_err();
    assert!(
        matches!(error, Pt2Error::MetadataMutation { .. }),
        "{error:?}"
    );
    let message = error.to_string();
    for word in ["`x1`", "torch.ops.aten.t_.default", "model.py:41"] {
        assert!(message.contains(word), "`{word}` is not in `{message}`");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn nothing_is_written_when_the_last_node_has_no_form() {
    let mut program = program(SMALL);
    let last = program.graph.nodes.last_mut().unwrap();
    last.inputs[0].argument = Argument::Node(NodeId(999));
    let folder = tempfile::tempdir().unwrap();
    assert!(write(&program, folder.path().join("out.pt2")).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_attachment_in_the_way() {
    let mut program = program(SMALL);
    program.attachments[0].path = "models/model.json".to_owned();
    let error = write_bytes(&program).unwrap_err();
    assert!(
        matches!(error, Pt2Error::AttachmentInTheWay { .. }),
        "{error:?}"
    );
}

// ---- what is kept ----

#[test]
fn fields_of_a_later_minor_version_survive() {
    let future = json!({"nested": [1, {"deep": null}], "text": "\u{e9}\n"});
    let bytes = with_json(SMALL, |json| {
        json["schema_version"] = json!({"major": 8, "minor": 99});
        json["of_program"] = future.clone();
        json["graph_module"]["of_module"] = future.clone();
        json["graph_module"]["graph"]["of_graph"] = future.clone();
        nodes(json)[2]["of_node"] = future.clone();
    });
    let expected = json(&bytes);
    let program = read_bytes(bytes).unwrap();
    assert_eq!(written(&program), expected);
}

#[test]
fn odd_metadata_is_data() {
    // A comma in a name: one field more than torch's own reader expects.
    let stack = "L__self__,,M;L__self___layers[0, 1],layers[0, 1],torch.nn.Linear[in=1, out=2]";
    let bytes = with_json(SMALL, |json| {
        nodes(json)[0]["metadata"]["nn_module_stack"] = json!(stack);
        nodes(json)[0]["metadata"]["from_node"] = json!("[{\"name\": \"add\"}]");
        nodes(json)[1]["metadata"] = json!({});
    });
    let expected = json(&bytes);
    assert_eq!(written(&read_bytes(bytes).unwrap()), expected);
}

#[test]
fn ranges_are_kept_as_they_are() {
    let bytes = with_json("dyn_item_slice", |json| {
        json["range_constraints"] = json!({
            "u0": {"min_val": 0, "max_val": null},
            "s0": {"min_val": null, "max_val": 40},
        });
    });
    let program = read_bytes(bytes).unwrap();
    assert_eq!(program.range_constraints.len(), 2);
    let u0 = program.context.names.find("u0").unwrap();
    let range = program
        .range_constraints
        .iter()
        .find(|range| range.symbol == u0);
    assert_eq!(
        range.map(|range| (range.min, range.max)),
        Some((Some(0), None))
    );
    let ranges = &written(&program)["range_constraints"];
    assert_eq!(ranges["u0"], json!({"min_val": 0, "max_val": null}));
    assert_eq!(ranges["s0"], json!({"min_val": null, "max_val": 40}));
}

#[test]
fn both_forms_of_output_specs() {
    // A bare object with a name in a mutation, a tagged argument in a user output.
    let specs = json!([
        {"buffer_mutation": {"arg": {"name": "add_"}, "buffer_name": "my_buffer2"}},
        {"parameter_mutation": {"arg": {"name": "mul"}, "parameter_name": "my_parameter"}},
        {"user_input_mutation": {"arg": {"name": "mul_1"}, "user_input_name": "x1"}},
        {"user_output": {"arg": {"as_tensor": {"name": "add_1"}}}},
        {"user_output": {"arg": {"as_int": 3}}},
        {"user_output": {"arg": {"as_none": true}}},
    ]);
    let bytes = with_json(SMALL, |json| {
        json["graph_module"]["signature"]["output_specs"] = specs.clone();
        json["graph_module"]["graph"]["outputs"] = json!([
            {"as_tensor": {"name": "add_"}},
            {"as_tensor": {"name": "mul"}},
            {"as_tensor": {"name": "mul_1"}},
            {"as_tensor": {"name": "add_1"}},
            {"as_int": 3},
            {"as_none": true},
        ]);
    });
    let program = read_bytes(bytes).unwrap();
    let text = written(&program);
    assert_eq!(text["graph_module"]["signature"]["output_specs"], specs);
}

#[test]
fn extra_files_and_other_programs_are_carried_through() {
    let bytes = common::changed(SMALL, |entries| {
        for (path, content) in [
            ("model/extra/notes.txt", "hello"),
            ("model/data/aotinductor/model/code.so", "\x7fELF"),
            ("model/models/other.json", "{}"),
            ("model/data/weights/weight_3", "abcd"),
            (
                "model/data/weights/other_weights_config.json",
                r#"{"config": {"w": {"path_name": "weight_0", "is_param": false, "use_pickle": true, "tensor_meta": null}}}"#,
            ),
        ] {
            entries.push((path.to_owned(), content.as_bytes().to_vec()));
        }
    });
    let program = read_bytes(bytes).unwrap();
    let paths: Vec<_> = program
        .attachments
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    assert!(paths.contains(&"extra/notes.txt"));
    assert!(paths.contains(&"models/other.json"));
    // The other program's weights stay where its config says.
    assert!(paths.contains(&"data/weights/weight_0"));
    let entries = common::entries(&write_bytes(&program).unwrap());
    let again = |path: &str| entries.iter().find(|entry| entry.path == path).unwrap();
    assert_eq!(again("data/weights/weight_3").content, b"abcd");
    assert_eq!(again("extra/notes.txt").content, b"hello");
    let config: Value =
        serde_json::from_slice(&again("data/weights/model_weights_config.json").content).unwrap();
    for (_, payload) in config["config"].as_object().unwrap() {
        let path = payload["path_name"].as_str().unwrap();
        assert!(!["weight_0", "weight_3"].contains(&path), "{path} is taken");
    }
}

#[test]
fn an_input_that_no_one_could_name() {
    // A constant input called as a builtin: torch's loader calls its node otherwise.
    let bytes = with_json(SMALL, |json| {
        let inputs = json.pointer_mut("/graph_module/graph/inputs").unwrap();
        inputs.as_array_mut().unwrap().push(json!({"as_int": 3}));
        let specs = json
            .pointer_mut("/graph_module/signature/input_specs")
            .unwrap();
        let spec = json!({"constant_input": {"name": "len", "value": {"as_int": 3}}});
        specs.as_array_mut().unwrap().push(spec);
    });
    let expected = json(&bytes);
    let program = read_bytes(bytes).unwrap();
    let id = node(&program, "len_1");
    assert_eq!(program.graph.node(id).op, Op::Placeholder);
    assert_eq!(written(&program), expected);
    // Where a pass uses such an input, its value is written.
    let mut program = program;
    let input = Input {
        name: program.context.names.intern("other"),
        kind: ArgumentKind::Positional,
        argument: Argument::Node(id),
    };
    let add = node(&program, "add").index();
    program.graph.nodes[add].inputs[1] = input;
    let mut text = written(&program);
    assert_eq!(
        nodes(&mut text)[0]["inputs"][1]["arg"],
        json!({"as_int": 3})
    );
}
