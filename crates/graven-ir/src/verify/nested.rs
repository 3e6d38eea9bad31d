//! What higher-order operators pass to their nested graphs, and what they get back.
//!
//! A nested graph sees no value of the graph around it: whatever it uses is a placeholder of its
//! own, and the call passes the value. Higher-order operators have no schema that would say how,
//! so the calling conventions of those that export makes are written down here.

use super::{Report, Violation};
use crate::argument::Argument;
use crate::graph::{Graph, NestedGraph, Node, Op};

/// How an operator calls nested graphs.
struct Convention {
    operator: &'static str,
    /// The arguments that are graphs.
    graphs: &'static [usize],
    operands: Operands,
    /// The argument that is the graph whose outputs are the call's results.
    results_of: usize,
}

/// Which arguments a call passes to its graphs.
enum Operands {
    /// The elements of these lists, one list after the other.
    Lists(&'static [usize]),
    /// All arguments from this one on.
    From(usize),
}

const CONVENTIONS: &[Convention] = &[
    Convention {
        operator: "torch.ops.higher_order.cond",
        graphs: &[1, 2],
        operands: Operands::Lists(&[3]),
        results_of: 1,
    },
    Convention {
        operator: "torch.ops.higher_order.while_loop",
        graphs: &[0, 1],
        operands: Operands::Lists(&[2, 3]),
        results_of: 1,
    },
    Convention {
        operator: "torch.ops.higher_order.map_impl",
        graphs: &[0],
        operands: Operands::Lists(&[1, 2]),
        results_of: 0,
    },
    Convention {
        operator: "torch.ops.higher_order.wrap_with_set_grad_enabled",
        graphs: &[1],
        operands: Operands::From(2),
        results_of: 1,
    },
    Convention {
        operator: "torch.ops.higher_order.wrap_with_autocast",
        graphs: &[4],
        operands: Operands::From(5),
        results_of: 4,
    },
];

pub(super) fn check(report: &mut Report<'_>, graph: &Graph) {
    if graph.graphs.is_empty() {
        return;
    }
    for (id, node) in graph.iter() {
        let Op::Call(target) = node.op else { continue };
        let operator = report.context.target_name(target);
        let convention = CONVENTIONS.iter().find(|known| known.operator == operator);
        if let Some(convention) = convention {
            for violation in violations(report, graph, node, convention) {
                report.at_node(graph, id, violation);
            }
        }
    }
}

fn violations(
    report: &Report<'_>,
    graph: &Graph,
    node: &Node,
    convention: &Convention,
) -> Vec<Violation> {
    let mut found = Vec::new();
    let operands = convention.operands.count(node);
    for &position in convention.graphs {
        let Some(nested) = nested_argument(graph, node, position) else {
            continue;
        };
        let placeholders = nested.graph.placeholders().count();
        if let Some(operands) = operands
            && operands != placeholders
        {
            found.push(Violation::OperandCount {
                graph: report.name(nested.name),
                operands,
                placeholders,
            });
        }
    }
    if let Some(nested) = nested_argument(graph, node, convention.results_of)
        && let Some(results) = node.value.elements().map(<[_]>::len)
        && results != nested.graph.outputs.len()
    {
        found.push(Violation::ResultCount {
            graph: report.name(nested.name),
            results,
            outputs: nested.graph.outputs.len(),
        });
    }
    found
}

/// The nested graph that is the argument at `position`.
fn nested_argument<'g>(graph: &'g Graph, node: &Node, position: usize) -> Option<&'g NestedGraph> {
    let id = node.inputs.get(position)?.argument.as_node()?;
    match graph.nodes.get(id.index())?.op {
        Op::GetAttr(nested) => graph.graphs.get(nested.0 as usize),
        _ => None,
    }
}

impl Operands {
    /// How many values a call passes; `None` when it is not written in the usual way.
    fn count(&self, node: &Node) -> Option<usize> {
        match self {
            Self::From(first) => node.inputs.len().checked_sub(*first),
            Self::Lists(positions) => positions
                .iter()
                .map(|&position| {
                    let argument = &node.inputs.get(position)?.argument;
                    argument.as_list().map(<[Argument]>::len)
                })
                .sum(),
        }
    }
}
