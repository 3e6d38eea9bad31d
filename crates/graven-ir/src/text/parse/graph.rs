//! Building a graph from its lines.

use std::collections::HashMap;

use super::error::ParseProblem;
use crate::argument::{Argument, ArgumentKind, Input};
use crate::context::{Context, MetadataId};
use crate::graph::{Graph, GraphId, NestedGraph, Node, NodeId, Op};
use crate::value::Value;

/// How many results that no `getitem` reads may stand before those that are read, in all of a
/// program. Such results cost memory that the text does not pay for.
const MAX_UNREAD_RESULTS: usize = 1 << 20;

/// A graph that is being read.
#[derive(Debug, Default)]
pub(super) struct GraphBuilder<'t> {
    graph: Graph,
    /// The tables are hashed with a seed: names come from a text that may be hostile.
    values: HashMap<&'t str, NodeId>,
    attributes: HashMap<&'t str, GraphId>,
    /// Of the nodes that follow.
    pub(super) metadata: MetadataId,
}

impl<'t> GraphBuilder<'t> {
    /// Appends a node that is called `name`.
    pub(super) fn define(
        &mut self,
        context: &mut Context,
        name: &'t str,
        op: Op,
        inputs: Box<[Input]>,
        value: Value,
    ) -> Result<NodeId, ParseProblem> {
        let metadata = match op {
            Op::Placeholder if !self.ends_with_placeholder() => {
                let rule = "placeholders stand before all other nodes";
                return Err(ParseProblem::Order { rule });
            }
            Op::Placeholder => MetadataId::EMPTY,
            _ => self.metadata,
        };
        if self.graph.nodes.len() >= u32::MAX as usize {
            let (what, limit) = ("nodes in a graph", u32::MAX as usize);
            return Err(ParseProblem::TooMany { what, limit });
        }
        let node = self.graph.push(Node {
            name: context.names.intern(name),
            op,
            inputs,
            value,
            metadata,
        });
        self.bind(name, node)?;
        Ok(node)
    }

    fn ends_with_placeholder(&self) -> bool {
        let last = self.graph.nodes.last();
        last.is_none_or(|node| node.op == Op::Placeholder)
    }

    /// Makes `name` another name of a node.
    pub(super) fn bind(&mut self, name: &'t str, node: NodeId) -> Result<(), ParseProblem> {
        match self.values.insert(name, node) {
            None => Ok(()),
            Some(_) => Err(ParseProblem::DefinedTwice {
                name: name.to_owned(),
            }),
        }
    }

    /// Says by which name the placeholder `name` is an argument of the call.
    pub(super) fn set_argument_name(&mut self, context: &mut Context, name: &str, argument: &str) {
        if name != argument {
            let names = (context.names.intern(name), context.names.intern(argument));
            self.graph.archive_names.push(names);
        }
    }

    /// The node that is called `name`.
    pub(super) fn find(&self, name: &str) -> Result<NodeId, ParseProblem> {
        self.values
            .get(name)
            .copied()
            .ok_or_else(|| ParseProblem::UndefinedValue {
                name: name.to_owned(),
            })
    }

    /// What is known of a node's value so far.
    pub(super) fn value(&self, node: NodeId) -> &Value {
        self.graph
            .nodes
            .get(node.index())
            .map_or(&Value::None, |node| &node.value)
    }

    /// The nested graph that attribute `name` holds; its own text is read later.
    pub(super) fn attribute(&mut self, context: &mut Context, name: &'t str) -> GraphId {
        let graphs = &mut self.graph.graphs;
        *self.attributes.entry(name).or_insert_with(|| {
            graphs.push(NestedGraph {
                name: context.names.intern(name),
                graph: Graph::default(),
            });
            GraphId(u32::try_from(graphs.len() - 1).unwrap_or(u32::MAX))
        })
    }

    /// The `getitem` inputs that read a result of `node`.
    pub(super) fn getitem_inputs(
        &self,
        context: &mut Context,
        node: NodeId,
    ) -> Result<Box<[Input]>, ParseProblem> {
        let is_several = matches!(self.value(node), Value::None);
        if is_several {
            return Ok(positional(context, vec![Argument::Node(node)]));
        }
        let name = self.graph.nodes.get(node.index());
        let name = name.map_or("", |node| context.names.get(node.name));
        Err(ParseProblem::NotSeveral {
            name: name.to_owned(),
        })
    }

    /// Sets what the graph returns: a tuple or list of values, or one bare value.
    pub(super) fn set_outputs(&mut self, returned: Argument) {
        match returned {
            Argument::List(_, items) => self.graph.outputs = items.into_vec(),
            bare => {
                self.graph.outputs = vec![bare];
                self.graph.returns_bare_value = true;
            }
        }
    }

    /// The graph, and the attributes whose graphs are still to be put in.
    pub(super) fn finish(
        mut self,
        unread: &mut UnreadResults,
    ) -> Result<(Graph, HashMap<&'t str, GraphId>), ParseProblem> {
        rebuild_results(&mut self.graph, unread)?;
        Ok((self.graph, self.attributes))
    }
}

/// Positional inputs. Their names are the schema's, which is not known here.
pub(super) fn positional(context: &mut Context, arguments: Vec<Argument>) -> Box<[Input]> {
    let name = context.names.intern("");
    let input = |argument| Input {
        name,
        kind: ArgumentKind::Positional,
        argument,
    };
    arguments.into_iter().map(input).collect()
}

/// Counts results that are not read, over all graphs of a program.
#[derive(Debug, Default)]
pub(super) struct UnreadResults(usize);

impl UnreadResults {
    fn add(&mut self, count: usize) -> Result<(), ParseProblem> {
        self.0 = self.0.saturating_add(count);
        if self.0 <= MAX_UNREAD_RESULTS {
            return Ok(());
        }
        Err(ParseProblem::TooMany {
            what: "results before the one that is read",
            limit: MAX_UNREAD_RESULTS,
        })
    }
}

/// Gives each node with several results their values: those of the `getitem` nodes that read
/// them. A result that is not read has none.
fn rebuild_results(graph: &mut Graph, unread: &mut UnreadResults) -> Result<(), ParseProblem> {
    let mut results: HashMap<NodeId, Vec<(u32, Value)>> = HashMap::new();
    // Backwards, so that the results of a result are known before it.
    for index in (0..graph.nodes.len()).rev() {
        let Some(node) = graph.nodes.get_mut(index) else {
            continue;
        };
        let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
        if let Some(items) = results.remove(&id) {
            node.value = tuple(items, unread)?;
        }
        if let (Op::GetItem(item), [input]) = (node.op, &*node.inputs)
            && let Some(of) = input.argument.as_node()
        {
            let item = (item, node.value.clone());
            results.entry(of).or_default().push(item);
        }
    }
    Ok(())
}

fn tuple(items: Vec<(u32, Value)>, unread: &mut UnreadResults) -> Result<Value, ParseProblem> {
    let last = items.iter().map(|item| item.0).max().unwrap_or(0);
    let length = usize::try_from(last)
        .unwrap_or(usize::MAX)
        .saturating_add(1);
    unread.add(length.saturating_sub(items.len()))?;
    let mut values = vec![Value::None; length];
    for (index, value) in items {
        if let Some(slot) = values.get_mut(index as usize) {
            *slot = value;
        }
    }
    Ok(Value::Tuple(values.into_boxed_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_rebuilt_from_the_inside_out() {
        let mut context = Context::default();
        let mut builder = GraphBuilder::default();
        let target = Op::Call(context.target("torch.ops.my.f.default"));
        let call = builder.define(&mut context, "f", target, Box::default(), Value::None);
        let call = call.unwrap();
        let inputs = builder.getitem_inputs(&mut context, call).unwrap();
        let outer = builder.define(&mut context, "a", Op::GetItem(1), inputs, Value::None);
        let inputs = builder
            .getitem_inputs(&mut context, outer.unwrap())
            .unwrap();
        let inner = Value::Bool(true);
        builder
            .define(&mut context, "b", Op::GetItem(0), inputs, inner.clone())
            .unwrap();
        let (graph, _) = builder.finish(&mut UnreadResults::default()).unwrap();
        let list = Value::Tuple(Box::new([inner]));
        assert_eq!(
            graph.node(call).value,
            Value::Tuple(Box::new([Value::None, list]))
        );
    }

    #[test]
    fn a_far_result_takes_no_memory() {
        let far = vec![(u32::MAX, Value::None)];
        let error = tuple(far, &mut UnreadResults::default()).unwrap_err();
        assert!(matches!(error, ParseProblem::TooMany { .. }));
    }
}
