//! The rules of one graph by itself.

use rustc_hash::FxHashSet;

use super::{Report, Violation};
use crate::argument::{Argument, ArgumentKind, Input};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::names::NameId;
use crate::value::Value;

pub(super) fn check(report: &mut Report<'_>, graph: &Graph) {
    let mut names = FxHashSet::default();
    let mut may_be_placeholder = true;
    for (id, node) in graph.iter() {
        if !names.insert(node.name) {
            report.at_node(graph, id, Violation::DuplicateName);
        }
        if node.op != Op::Placeholder {
            may_be_placeholder = false;
        } else if !may_be_placeholder {
            report.at_node(graph, id, Violation::LatePlaceholder);
        }
        check_node(report, graph, id, node);
    }
    check_outputs(report, graph);
    check_nested_names(report, graph);
}

fn check_node(report: &mut Report<'_>, graph: &Graph, id: NodeId, node: &Node) {
    check_definitions(report, graph, id, node);
    match node.op {
        Op::Placeholder => check_no_arguments(report, graph, id, node),
        Op::GetAttr(nested) => {
            check_no_arguments(report, graph, id, node);
            let count = graph.graphs.len();
            if nested.0 as usize >= count {
                let index = nested.0;
                report.at_node(graph, id, Violation::MissingGraph { index, count });
            }
        }
        Op::GetItem(index) => {
            check_getitem(report, graph, id, node, index);
        }
        Op::Call(_) => check_argument_order(report, graph, id, &node.inputs),
    }
}

fn check_definitions(report: &mut Report<'_>, graph: &Graph, id: NodeId, node: &Node) {
    for input in &node.inputs {
        input.argument.for_each_node(&mut |used| {
            if used >= id {
                let value = report.node_name(graph, used);
                report.at_node(graph, id, Violation::Undefined { value });
            }
        });
    }
}

fn check_no_arguments(report: &mut Report<'_>, graph: &Graph, id: NodeId, node: &Node) {
    let found = node.inputs.len();
    if found != 0 {
        let expected = "none";
        report.at_node(graph, id, Violation::ArgumentCount { expected, found });
    }
}

fn check_argument_order(report: &mut Report<'_>, graph: &Graph, id: NodeId, inputs: &[Input]) {
    let is_keyword = |input: &&Input| input.kind == ArgumentKind::Keyword;
    let keywords = inputs.iter().filter(is_keyword).count();
    if keywords == 0 {
        return;
    }
    let mut names = FxHashSet::with_capacity_and_hasher(keywords, Default::default());
    for (position, input) in inputs.iter().enumerate() {
        let problem = match input.kind {
            ArgumentKind::Positional if !names.is_empty() => {
                "is positional and stands behind one that has a name"
            }
            ArgumentKind::Positional => continue,
            ArgumentKind::Keyword if report.context.names.get(input.name).is_empty() => {
                "is a keyword argument without a name"
            }
            ArgumentKind::Keyword if !names.insert(input.name) => "has the name of another",
            ArgumentKind::Keyword => continue,
        };
        report.at_node(graph, id, Violation::ArgumentOrder { position, problem });
    }
}

fn check_getitem(report: &mut Report<'_>, graph: &Graph, id: NodeId, node: &Node, index: u32) {
    let source = match &node.inputs[..] {
        [input] => input.argument.as_node(),
        _ => None,
    };
    let Some(source) = source else {
        let (expected, found) = ("one node", node.inputs.len());
        report.at_node(graph, id, Violation::ArgumentCount { expected, found });
        return;
    };
    let Some(source_value) = graph.nodes.get(source.index()).map(|node| &node.value) else {
        // Already reported as undefined.
        return;
    };
    let element = match source_value {
        // Nothing is known of it.
        Value::None => return,
        value => value.elements().and_then(|items| items.get(index as usize)),
    };
    let source_node = report.node_name(graph, source);
    let violation = match element {
        Some(element) if is_same_value(element, &node.value) => return,
        Some(_) => Violation::GetItemValue { index, source_node },
        None => Violation::GetItemIndex {
            index,
            source_node,
            results: source_value.elements().map(<[Value]>::len),
        },
    };
    report.at_node(graph, id, violation);
}

/// Equality, except that any two NaNs are equal.
fn is_same_value(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => left.to_bits() == right.to_bits(),
        (left, right) => left == right,
    }
}

fn check_outputs(report: &mut Report<'_>, graph: &Graph) {
    for (position, output) in graph.outputs.iter().enumerate() {
        output.for_each_node(&mut |used| {
            if used.index() >= graph.nodes.len() {
                report.at_graph(Violation::UndefinedOutput { position });
            }
        });
    }
    let outputs = graph.outputs.len();
    if graph.returns_bare_value && outputs != 1 {
        report.at_graph(Violation::BareOutputs { outputs });
    }
}

fn check_nested_names(report: &mut Report<'_>, graph: &Graph) {
    let mut names: FxHashSet<NameId> = FxHashSet::default();
    for nested in &graph.graphs {
        if !names.insert(nested.name) {
            let name = report.name(nested.name);
            report.at_graph(Violation::DuplicateGraph { name });
        }
    }
}

/// The dtype or the shape, whichever of the two differs first.
pub(super) fn differing_property(
    left: &crate::value::TensorMeta,
    right: &crate::value::TensorMeta,
) -> Option<&'static str> {
    if left.dtype != right.dtype {
        return Some("dtype");
    }
    (left.sizes != right.sizes).then_some("shape")
}

/// The value that an output returns; `None` for a constant.
pub(super) fn returned<'g>(graph: &'g Graph, output: &Argument) -> Option<&'g Node> {
    graph.nodes.get(output.as_node()?.index())
}
