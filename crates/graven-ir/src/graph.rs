//! Graphs: nodes in program order, as FX has them.
//!
//! A node is what `torch.fx` calls a node: a placeholder, the attribute of a nested graph, an
//! operator call, or the `getitem` that reads one of several results. Nodes stand in one vector
//! in program order, an id is a position, and a node refers only to nodes before it. Passes
//! build new vectors; nothing is linked.

use crate::argument::{Argument, Input};
use crate::context::{MetadataId, TargetId};
use crate::names::NameId;
use crate::value::Value;

/// A node of one [`Graph`]: its position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The position.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A nested graph of one [`Graph`]: its position in [`Graph::graphs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct GraphId(pub u32);

/// What a node does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// An input of the graph.
    Placeholder,
    /// A nested graph, to be given to a higher-order operator.
    GetAttr(GraphId),
    /// A call of an operator or of a function on symbolic numbers.
    Call(TargetId),
    /// One of the results of the node that is the only input.
    GetItem(u32),
}

/// One node.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Its name, unique in its graph.
    pub name: NameId,
    /// What it does.
    pub op: Op,
    /// Arguments; positional ones first.
    pub inputs: Box<[Input]>,
    /// What is known of its value.
    pub value: Value,
    /// Stack trace, module stack and the like.
    pub metadata: MetadataId,
}

/// A nested graph and the name of the attribute that holds it.
#[derive(Clone, PartialEq, Debug)]
pub struct NestedGraph {
    /// The attribute: `true_graph_0`.
    pub name: NameId,
    /// The graph.
    pub graph: Graph,
}

/// A graph.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    /// Nodes in program order, placeholders first.
    pub nodes: Vec<Node>,
    /// What it returns.
    pub outputs: Vec<Argument>,
    /// Whether it returns its one output bare instead of in a tuple, as the condition of a
    /// `while_loop` does.
    pub returns_bare_value: bool,
    /// Graphs that its nodes refer to.
    pub graphs: Vec<NestedGraph>,
    /// Metadata of FX's output node, where a stack trace was recorded for it.
    pub output_metadata: Option<MetadataId>,
    /// Fields of the archive's graph object that graven does not know: name and JSON text.
    pub unknown_fields: Vec<(NameId, NameId)>,
    /// Nodes that have another name in the archive than torch's loader gives them: the loader's
    /// name and the archive's. Only nodes that no argument names in the archive: calls without
    /// a result and calls with several.
    pub archive_names: Vec<(NameId, NameId)>,
}

impl Graph {
    /// The node.
    ///
    /// # Panics
    /// When `id` is not of this graph.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Appends a node.
    pub fn push(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    /// All nodes with their ids, in program order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> + ExactSizeIterator {
        self.nodes
            .iter()
            .enumerate()
            .map(|(index, node)| (NodeId(index as u32), node))
    }

    /// The placeholders, in order.
    pub fn placeholders(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.iter()
            .take_while(|(_, node)| node.op == Op::Placeholder)
    }

    /// How many distinct nodes use each node, as FX's `num_users`; the output counts as one.
    pub fn user_counts(&self) -> Vec<u32> {
        let mut counts = vec![0_u32; self.nodes.len()];
        let mut last_user = vec![u32::MAX; self.nodes.len()];
        let mut visit = |user: u32, argument: &Argument| {
            argument.for_each_node(&mut |node| {
                // A node that does not exist has no count; the verifier tells of it.
                if let Some(last) = last_user.get_mut(node.index())
                    && *last != user
                {
                    *last = user;
                    counts[node.index()] += 1;
                }
            });
        };
        for (id, node) in self.iter() {
            node.inputs
                .iter()
                .for_each(|input| visit(id.0, &input.argument));
        }
        self.outputs
            .iter()
            .for_each(|output| visit(u32::MAX - 1, output));
        counts
    }
}
