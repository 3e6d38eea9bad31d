//! Dead code: nodes whose value no one uses and whose call has no effect.
//!
//! In: a graph, and which nodes must stay. Out: the same graph without the others, ids
//! renumbered. One walk from the last node to the first finds what lives, as uses come after
//! definitions; one walk forward compacts. Linear in nodes and arguments.

use graven_ir::{Argument, Graph, NodeId, Op};

/// Removes the nodes that are dead. Placeholders stay; `has_effect` says which calls stay
/// without users. Returns for each old id the new one.
pub fn remove_dead_nodes(
    graph: &mut Graph,
    has_effect: &dyn Fn(&Graph, NodeId) -> bool,
) -> Vec<Option<NodeId>> {
    let live = live_nodes(graph, has_effect);
    let mut new_ids: Vec<Option<NodeId>> = Vec::with_capacity(graph.nodes.len());
    let mut next = 0;
    for &is_live in &live {
        new_ids.push(is_live.then_some(NodeId(next)));
        next += u32::from(is_live);
    }
    let mut index = 0;
    graph.nodes.retain(|_| {
        index += 1;
        live[index - 1]
    });
    // A live node uses live nodes only, so every id that is looked up here is present.
    let mut renumber = |id: NodeId| Argument::Node(new_ids[id.index()].unwrap_or(id));
    for node in &mut graph.nodes {
        for input in &mut node.inputs {
            renumber_argument(&mut input.argument, &mut renumber);
        }
    }
    for output in &mut graph.outputs {
        renumber_argument(output, &mut renumber);
    }
    new_ids
}

fn live_nodes(graph: &Graph, has_effect: &dyn Fn(&Graph, NodeId) -> bool) -> Vec<bool> {
    let mut live = vec![false; graph.nodes.len()];
    let mark = |live: &mut Vec<bool>, argument: &Argument| {
        argument.for_each_node(&mut |node| live[node.index()] = true);
    };
    graph
        .outputs
        .iter()
        .for_each(|output| mark(&mut live, output));
    for (id, node) in graph.iter().rev() {
        let index = id.index();
        live[index] |= node.op == Op::Placeholder || has_effect(graph, id);
        if live[index] {
            node.inputs
                .iter()
                .for_each(|input| mark(&mut live, &input.argument));
        }
    }
    live
}

fn renumber_argument(argument: &mut Argument, renumber: &mut impl FnMut(NodeId) -> Argument) {
    match argument {
        Argument::Node(node) => *argument = renumber(*node),
        Argument::List(_, items) => items
            .iter_mut()
            .for_each(|item| renumber_argument(item, renumber)),
        Argument::Dict(items) => items
            .iter_mut()
            .for_each(|(_, item)| renumber_argument(item, renumber)),
        _ => {}
    }
}
