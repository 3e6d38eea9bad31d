//! The names under which a graph's values are printed.
//!
//! The listing prints each node under its own name. In Python source a value may not be called
//! like a keyword, a builtin or another value: a placeholder called `input` is `input_1` there.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::context::{Context, TargetId};
use crate::fx_names::{FxNames, is_identifier, is_reserved};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::names::{NameId, Names};

/// The names of one graph's values and of the functions that it calls.
pub(super) struct ValueNames<'a> {
    context: &'a Context,
    graph: &'a Graph,
    /// `None` when each has its own name.
    given: Option<GivenNames>,
}

/// Names that are not the nodes' own.
#[derive(Default)]
struct GivenNames {
    names: Names,
    nodes: Vec<NameId>,
    functions: FxHashMap<TargetId, NameId>,
}

impl<'a> ValueNames<'a> {
    /// The nodes' own names.
    pub(super) fn own(context: &'a Context, graph: &'a Graph) -> Self {
        Self {
            context,
            graph,
            given: None,
        }
    }

    /// The names that the nodes have in Python source.
    pub(super) fn in_source(context: &'a Context, graph: &'a Graph) -> Self {
        let given = (!can_keep_names(context, graph)).then(|| GivenNames::of(context, graph));
        Self {
            context,
            graph,
            given,
        }
    }

    /// The name of a node.
    pub(super) fn value(&self, id: NodeId) -> &str {
        match &self.given {
            Some(given) => match given.nodes.get(id.index()) {
                Some(name) => given.names.get(*name),
                None => "",
            },
            None => match self.graph.nodes.get(id.index()) {
                Some(node) => self.context.names.get(node.name),
                None => "",
            },
        }
    }

    /// The name by which a function is called.
    pub(super) fn function(&self, target: TargetId) -> &str {
        let given = self.given.as_ref();
        let name = given.and_then(|given| Some(given.names.get(*given.functions.get(&target)?)));
        name.unwrap_or_else(|| {
            let name = self.context.target_name(target);
            name.strip_prefix("builtins.").unwrap_or(name)
        })
    }
}

/// Whether each node can be called in source as it is in the graph. That is the rule.
fn can_keep_names(context: &Context, graph: &Graph) -> bool {
    let mut seen = FxHashSet::default();
    graph.nodes.iter().all(|node| {
        let name = context.names.get(node.name);
        is_identifier(name)
            && !is_reserved(name)
            && seen.insert(node.name)
            && outside_function(context, node).is_none()
    })
}

impl GivenNames {
    /// Gives names in the order in which torch comes to them.
    fn of(context: &Context, graph: &Graph) -> Self {
        let mut fx = FxNames::default();
        let mut given = Self::default();
        for node in &graph.nodes {
            let names = &mut given.names;
            if let Some(target) = outside_function(context, node) {
                let name = context.target_name(target);
                let functions = given.functions.entry(target);
                functions.or_insert_with(|| fx.create(names, name));
            }
            let name = fx.create(names, context.names.get(node.name));
            given.nodes.push(name);
        }
        given
    }
}

/// The function that a node calls, when it is one of a module outside torch, such as
/// `math.trunc`. Source refers to it by a name of its own.
fn outside_function(context: &Context, node: &Node) -> Option<TargetId> {
    let Op::Call(target) = node.op else {
        return None;
    };
    let name = context.target_name(target);
    let is_plain = is_of_torch(name) || name.starts_with("_operator.") || !name.contains('.');
    let is_builtin = name.starts_with("builtins.");
    (!is_plain && !is_builtin).then_some(target)
}

/// Whether source refers to a function by its full name.
fn is_of_torch(target: &str) -> bool {
    let outside = ["torch._dynamo.", "torch._inductor."];
    let is_nested_in = |module: &str| {
        let rest = target.strip_prefix(module);
        rest.is_some_and(|rest| rest.contains('.'))
    };
    target.starts_with("torch.") && !outside.into_iter().any(is_nested_in)
}
