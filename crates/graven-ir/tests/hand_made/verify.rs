//! Each rule of the verifier is broken by one small program.

use crate::support::{at_line, call, f32, input, meta, output, positional, push};
use graven_ir::graph::{GraphId, NestedGraph};
use graven_ir::verify::{Finding, verify, verify_all, verify_functional};
use graven_ir::{
    Argument, ArgumentKind, DType, ExportedProgram, Graph, InputKind, MetadataMutation, NodeId, Op,
    OutputKind, Value,
};

const ADD: &str = "torch.ops.aten.add.Tensor";

/// `b` is replaced by `b + p`, and `x + p` is returned.
///
/// | node | is |
/// | --- | --- |
/// | 0 `p_w` | parameter `w` |
/// | 1 `b_n` | buffer `n` |
/// | 2 `x` | user input |
/// | 3 `add`, 4 `add_1` | the sums |
fn program() -> ExportedProgram {
    let mut program = ExportedProgram::default();
    let value = f32(&mut program.context, &[3]);
    let p = input(
        &mut program,
        "p_w",
        InputKind::Parameter,
        Some("w"),
        value.clone(),
    );
    let b = input(
        &mut program,
        "b_n",
        InputKind::Buffer,
        Some("n"),
        value.clone(),
    );
    let x = input(&mut program, "x", InputKind::UserInput, None, value.clone());
    let ExportedProgram { context, graph, .. } = &mut program;
    let sum = |left, right| vec![Argument::Node(left), Argument::Node(right)];
    let new_b = call(context, graph, "add", ADD, sum(b, p), value.clone());
    let y = call(context, graph, "add_1", ADD, sum(x, p), value);
    let (new_b, y) = (Argument::Node(new_b), Argument::Node(y));
    output(&mut program, new_b, OutputKind::BufferMutation, Some("n"));
    output(&mut program, y, OutputKind::UserOutput, None);
    program
}

/// A `cond` on the user input; its branches return what they are given.
fn program_with_cond() -> ExportedProgram {
    let mut program = program();
    let ExportedProgram { context, graph, .. } = &mut program;
    let value = f32(context, &[3]);
    let mut graphs = Vec::new();
    for name in ["true_graph_0", "false_graph_0"] {
        let mut branch = Graph::default();
        let x = push(
            context,
            &mut branch,
            "x",
            Op::Placeholder,
            vec![],
            value.clone(),
        );
        branch.outputs.push(Argument::Node(x));
        let id = GraphId(graph.graphs.len() as u32);
        let name_id = context.names.intern(name);
        graph.graphs.push(NestedGraph {
            name: name_id,
            graph: branch,
        });
        graphs.push(push(
            context,
            graph,
            name,
            Op::GetAttr(id),
            vec![],
            Value::None,
        ));
    }
    let arguments = vec![
        Argument::Bool(true),
        Argument::Node(graphs[0]),
        Argument::Node(graphs[1]),
        Argument::tensors([NodeId(2)]),
    ];
    let results = Value::Tuple(Box::new([value.clone()]));
    let cond = call(
        context,
        graph,
        "cond",
        "torch.ops.higher_order.cond",
        arguments,
        results,
    );
    push(
        context,
        graph,
        "getitem",
        Op::GetItem(0),
        vec![Argument::Node(cond)],
        value,
    );
    program
}

/// Positions of the nodes that [`program_with_cond`] adds.
const TRUE_GRAPH: usize = 5;
const GETITEM: usize = 8;

fn codes(findings: &[Finding]) -> Vec<(&'static str, Option<&str>)> {
    findings
        .iter()
        .map(|finding| (finding.violation.code(), finding.node.as_deref()))
        .collect()
}

/// Breaks a program with `change` and expects one finding, with this code and at this node.
#[track_caller]
fn check(
    mut program: ExportedProgram,
    change: impl FnOnce(&mut ExportedProgram),
    code: &'static str,
    node: Option<&str>,
) {
    assert_eq!(
        verify(&program),
        Ok(()),
        "the program must be right at first"
    );
    change(&mut program);
    assert_eq!(codes(&verify_all(&program)), [(code, node)]);
    assert_eq!(
        verify(&program).map_err(|error| codes(&error.findings).len()),
        Err(1)
    );
}

#[test]
fn names_are_unique() {
    check(
        program(),
        |p| p.graph.nodes[4].name = p.graph.nodes[3].name,
        "V101",
        Some("add"),
    );
}

#[test]
fn arguments_refer_to_earlier_nodes() {
    let with = |node| {
        move |p: &mut ExportedProgram| {
            p.graph.nodes[3].inputs[0].argument = Argument::tensors([NodeId(node)]);
        }
    };
    check(program(), with(3), "V102", Some("add"));
    check(program(), with(4), "V102", Some("add"));
    check(program(), with(99), "V102", Some("add"));
}

#[test]
fn placeholders_come_first() {
    let late = |p: &mut ExportedProgram| {
        let ExportedProgram { context, graph, .. } = p;
        push(context, graph, "late", Op::Placeholder, vec![], Value::None);
    };
    check(program(), late, "V103", Some("late"));
}

#[test]
fn placeholders_take_no_arguments_and_getitems_one() {
    let add = |node: usize, argument: Argument| {
        move |p: &mut ExportedProgram| {
            p.graph.nodes[node].inputs = positional(&mut p.context, vec![argument]);
        }
    };
    check(program(), add(1, Argument::Int(1)), "V104", Some("b_n"));
    let cond = program_with_cond;
    check(
        cond(),
        add(TRUE_GRAPH, Argument::None),
        "V104",
        Some("true_graph_0"),
    );
    check(
        cond(),
        add(GETITEM, Argument::Int(0)),
        "V104",
        Some("getitem"),
    );
}

#[test]
fn positional_arguments_come_first_and_keywords_have_a_name_each() {
    let name = |first: &'static str, second: &'static str| {
        move |p: &mut ExportedProgram| {
            for (input, name) in p.graph.nodes[3].inputs.iter_mut().zip([first, second]) {
                input.name = p.context.names.intern(name);
                input.kind = match name {
                    "positional" => ArgumentKind::Positional,
                    _ => ArgumentKind::Keyword,
                };
            }
        }
    };
    check(program(), name("alpha", "positional"), "V105", Some("add"));
    check(program(), name("positional", ""), "V105", Some("add"));
    check(program(), name("alpha", "alpha"), "V105", Some("add"));
    let mut right = program();
    name("alpha", "beta")(&mut right);
    assert_eq!(verify(&right), Ok(()));
}

#[test]
fn a_getitem_reads_a_result_that_there_is() {
    let beyond = |p: &mut ExportedProgram| p.graph.nodes[GETITEM].op = Op::GetItem(1);
    check(program_with_cond(), beyond, "V106", Some("getitem"));
    let of_one_tensor = |p: &mut ExportedProgram| {
        p.graph.nodes[GETITEM].inputs[0].argument = Argument::Node(NodeId(3));
    };
    check(program_with_cond(), of_one_tensor, "V106", Some("getitem"));
}

#[test]
fn a_getitem_has_the_value_that_its_source_records() {
    let reshape =
        |p: &mut ExportedProgram| p.graph.nodes[GETITEM].value = f32(&mut p.context, &[4]);
    check(program_with_cond(), reshape, "V107", Some("getitem"));
}

#[test]
fn nested_graphs_exist() {
    let point_beyond = |p: &mut ExportedProgram| {
        p.graph.nodes[TRUE_GRAPH].op = Op::GetAttr(GraphId(2));
    };
    check(
        program_with_cond(),
        point_beyond,
        "V108",
        Some("true_graph_0"),
    );
}

#[test]
fn nested_graphs_have_different_names() {
    let rename = |p: &mut ExportedProgram| p.graph.graphs[1].name = p.graph.graphs[0].name;
    check(program_with_cond(), rename, "V109", None);
}

#[test]
fn outputs_exist() {
    let dangle = |p: &mut ExportedProgram| p.graph.outputs[1] = Argument::Node(NodeId(99));
    check(program(), dangle, "V110", None);
}

#[test]
fn only_a_single_output_is_returned_bare() {
    check(
        program(),
        |p| p.graph.returns_bare_value = true,
        "V111",
        None,
    );
}

#[test]
fn a_nested_graph_is_passed_as_many_values_as_it_takes() {
    let pass_two = |p: &mut ExportedProgram| {
        p.graph.graphs[0].graph = branch_with_two_inputs(p);
    };
    check(program_with_cond(), pass_two, "V201", Some("cond"));
}

fn branch_with_two_inputs(program: &mut ExportedProgram) -> Graph {
    let value = f32(&mut program.context, &[3]);
    let mut branch = Graph::default();
    for name in ["x", "y"] {
        let context = &mut program.context;
        push(
            context,
            &mut branch,
            name,
            Op::Placeholder,
            vec![],
            value.clone(),
        );
    }
    branch.outputs.push(Argument::Node(NodeId(0)));
    branch
}

#[test]
fn a_call_has_as_many_results_as_its_graph_returns() {
    let return_two = |p: &mut ExportedProgram| {
        p.graph.graphs[0]
            .graph
            .outputs
            .push(Argument::Node(NodeId(0)));
    };
    check(program_with_cond(), return_two, "V202", Some("cond"));
}

#[test]
fn rules_hold_in_nested_graphs_and_findings_say_where() {
    let mut program = program_with_cond();
    let branch = &mut program.graph.graphs[1].graph;
    let value = branch.nodes[0].value.clone();
    let context = &mut program.context;
    let use_itself = vec![Argument::Node(NodeId(1))];
    call(
        context,
        branch,
        "sin",
        "torch.ops.aten.sin.default",
        use_itself,
        value,
    );
    branch.nodes[1].metadata = at_line(context, "model.py", 14, "lambda v: v.sin()");
    let error = verify(&program).unwrap_err();
    assert_eq!(
        error.to_string(),
        "V102: argument refers to `sin`, which is not defined before it, at node `sin` \
         of graph `false_graph_0` (model.py:14 in forward)"
    );
}

#[test]
fn the_signature_describes_each_placeholder() {
    check(program(), |p| p.signature.inputs.truncate(2), "V301", None);
}

#[test]
fn the_signature_describes_each_output() {
    check(program(), |p| p.signature.outputs.truncate(1), "V302", None);
}

#[test]
fn placeholders_are_of_the_kind_that_the_signature_says() {
    let make = |node: usize, value: Value| {
        move |p: &mut ExportedProgram| {
            p.graph.nodes[node].value = value;
        }
    };
    check(program(), make(0, Value::Token), "V303", Some("p_w"));
    check(program(), make(2, Value::Constant), "V303", Some("x"));
    let give_constant = |p: &mut ExportedProgram| {
        p.signature.inputs[2].constant = Some(Argument::Int(3));
    };
    check(program(), give_constant, "V303", Some("x"));
}

#[test]
fn inputs_and_outputs_name_what_they_stand_for() {
    check(
        program(),
        |p| p.signature.inputs[0].target = None,
        "V304",
        Some("p_w"),
    );
    let name_input = |p: &mut ExportedProgram| {
        p.signature.inputs[2].target = p.signature.inputs[0].target;
    };
    check(program(), name_input, "V304", Some("x"));
    check(
        program(),
        |p| p.signature.outputs[0].target = None,
        "V304",
        Some("add"),
    );
    let name_output = |p: &mut ExportedProgram| {
        p.signature.outputs[1].target = p.signature.outputs[0].target;
    };
    check(program(), name_output, "V304", Some("add_1"));
}

#[test]
fn buffers_and_nothing_else_are_persistent_or_not() {
    check(
        program(),
        |p| p.signature.inputs[1].persistent = None,
        "V305",
        Some("b_n"),
    );
    check(
        program(),
        |p| p.signature.inputs[2].persistent = Some(false),
        "V305",
        Some("x"),
    );
}

#[test]
fn inputs_with_one_target_agree_on_it() {
    let add_twin = |p: &mut ExportedProgram| {
        p.signature.inputs[2] = p.signature.inputs[0].clone();
    };
    let mut shared = program();
    add_twin(&mut shared);
    assert_eq!(verify(&shared), Ok(()));
    let change_kind = |p: &mut ExportedProgram| {
        p.signature.inputs[2].kind = InputKind::ConstantTensor;
    };
    check(shared.clone(), change_kind, "V306", Some("x"));
    shared.state.entries.clear();
    let reshape = |p: &mut ExportedProgram| p.graph.nodes[2].value = f32(&mut p.context, &[4]);
    check(shared, reshape, "V306", Some("x"));
}

#[test]
fn parameters_and_buffers_are_in_the_state() {
    let forget = |p: &mut ExportedProgram| {
        p.state.entries.pop();
    };
    check(program(), forget, "V307", Some("b_n"));
    let swap_kinds = |p: &mut ExportedProgram| p.state.entries[0].kind = p.state.entries[1].kind;
    check(program(), swap_kinds, "V307", Some("p_w"));
    let mut without_state = program();
    without_state.state.entries.clear();
    assert_eq!(verify(&without_state), Ok(()));
}

#[test]
fn the_state_has_the_shape_that_the_placeholder_says() {
    let reshape = |p: &mut ExportedProgram| {
        p.state.entries[0].meta = Some(meta(&mut p.context, DType::Float32, &[4]));
    };
    check(program(), reshape, "V308", Some("p_w"));
}

#[test]
fn a_mutation_changes_an_input_of_its_kind() {
    let rename = |p: &mut ExportedProgram| {
        p.signature.outputs[0].target = p.signature.inputs[0].target;
    };
    check(program(), rename, "V309", Some("add"));
    let change_kind = |p: &mut ExportedProgram| {
        p.signature.outputs[0].kind = OutputKind::UserInputMutation;
    };
    check(program(), change_kind, "V309", Some("add"));
}

#[test]
fn an_input_has_one_mutation_at_most() {
    let repeat = |p: &mut ExportedProgram| p.signature.outputs[1] = p.signature.outputs[0].clone();
    check(program(), repeat, "V310", Some("add_1"));
}

#[test]
fn user_outputs_follow_the_mutations() {
    let swap = |p: &mut ExportedProgram| {
        p.signature.outputs.swap(0, 1);
        p.graph.outputs.swap(0, 1);
    };
    check(program(), swap, "V311", Some("add"));
}

#[test]
fn mutations_stand_in_the_order_of_the_inputs() {
    let x = |p: &mut ExportedProgram| Some(p.context.names.intern("x"));
    let mut right = program();
    right.signature.outputs[1].kind = OutputKind::UserInputMutation;
    right.signature.outputs[1].target = x(&mut right);
    let swap = |p: &mut ExportedProgram| {
        p.signature.outputs.swap(0, 1);
        p.graph.outputs.swap(0, 1);
    };
    check(right, swap, "V311", Some("add"));
}

#[test]
fn a_mutation_returns_a_nodes_value() {
    check(
        program(),
        |p| p.graph.outputs[0] = Argument::Int(1),
        "V312",
        None,
    );
}

#[test]
fn a_new_value_has_dtype_and_shape_of_the_old_one() {
    for (dtype, sizes) in [(DType::Float64, [3]), (DType::Float32, [4])] {
        let change = |p: &mut ExportedProgram| {
            p.graph.nodes[3].value = Value::Tensor(meta(&mut p.context, dtype, &sizes));
        };
        check(program(), change, "V313", Some("add"));
    }
}

#[test]
fn the_new_value_of_a_resized_input_has_its_new_size() {
    let mut resized = program();
    let six = meta(&mut resized.context, DType::Float32, &[6]);
    resized.graph.nodes[3].value = Value::Tensor(six);
    let operator = resized
        .context
        .names
        .intern("torch.ops.aten.resize_.default");
    resized.metadata_mutations.push(MetadataMutation {
        input: NodeId(1),
        meta: six,
        operator,
        metadata: resized.graph.nodes[1].metadata,
    });
    assert_eq!(verify(&resized), Ok(()));
    let other_input = |p: &mut ExportedProgram| p.metadata_mutations[0].input = NodeId(2);
    check(resized, other_input, "V313", Some("add"));
}

#[test]
fn two_buffers_do_not_share_a_new_value() {
    let mut program = program();
    program.signature.inputs[2].kind = InputKind::Buffer;
    program.signature.inputs[2].target = Some(program.context.names.intern("m"));
    program.signature.inputs[2].persistent = Some(true);
    program.state.entries.clear();
    program.signature.outputs[1].kind = OutputKind::BufferMutation;
    program.signature.outputs[1].target = program.signature.inputs[2].target;
    let share = |p: &mut ExportedProgram| p.graph.outputs[1] = p.graph.outputs[0].clone();
    check(program, share, "V316", Some("add"));
}

#[test]
fn as_many_tokens_come_out_as_go_in() {
    let add_token = |p: &mut ExportedProgram| {
        p.signature.inputs[2].kind = InputKind::Token;
        p.graph.nodes[2].value = Value::Token;
    };
    check(program(), add_token, "V314", None);
}

#[test]
fn metadata_mutations_are_of_tensor_inputs() {
    let mutate = |node: u32| {
        move |p: &mut ExportedProgram| {
            let operator = p.context.names.intern("torch.ops.aten.t_.default");
            p.metadata_mutations.push(MetadataMutation {
                input: NodeId(node),
                meta: meta(&mut p.context, DType::Float32, &[3]),
                operator,
                metadata: p.graph.nodes[0].metadata,
            });
        }
    };
    check(program(), mutate(3), "V315", Some("add"));
    let mut right = program();
    mutate(1)(&mut right);
    assert_eq!(verify(&right), Ok(()));
}

#[test]
fn a_functional_program_writes_nowhere() {
    let mut program = program_with_cond();
    let branch = &mut program.graph.graphs[0].graph;
    let value = branch.nodes[0].value.clone();
    let arguments = vec![Argument::Node(NodeId(0))];
    let context = &mut program.context;
    call(
        context,
        branch,
        "sin_",
        "torch.ops.aten.sin_.default",
        arguments,
        value,
    );
    assert_eq!(verify(&program), Ok(()));
    let sin_ = program.context.target("torch.ops.aten.sin_.default");
    let error = verify_functional(&program, &|target| target == sin_).unwrap_err();
    assert_eq!(
        error.to_string(),
        "V401: `torch.ops.aten.sin_.default` writes to an argument, at node `sin_` \
         of graph `true_graph_0`"
    );
    assert_eq!(verify_functional(&program, &|_| false), Ok(()));
}

#[test]
fn errors_count_what_they_do_not_show() {
    let mut program = program();
    program.signature.outputs[0].target = None;
    program.signature.inputs[0].target = None;
    let text = verify(&program).unwrap_err().to_string();
    assert!(
        text.starts_with("V304: PARAMETER has no target, at node `p_w`"),
        "{text}"
    );
    assert!(text.ends_with("(and 1 more finding)"), "{text}");
}
