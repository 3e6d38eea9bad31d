//! From FX's graph to the archive's: the reverse of what the reader does.
//!
//! `getitem` nodes go away; their names become the names of the results. A result that no node
//! reads is called `<node>_unused_<index>`, as torch calls it.

use std::cell::OnceCell;
use std::fmt::Write as _;

use graven_ir::{
    Argument, ArgumentKind, Context, Graph, MetadataId, NameId, Node, NodeId, Op, TensorMetaId,
    Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::argument::custom_object;
use super::value::{TOKEN_META, sym_bool, sym_float, sym_int, tensor_meta};
use crate::error::Pt2Error;
use crate::json_out::JsonOut;
use crate::model::call_form::CallForm;

/// Writes one graph.
pub(super) struct GraphWriter<'a> {
    pub(super) out: JsonOut<'a>,
    pub(super) context: &'a Context,
    pub(super) graph: &'a Graph,
    /// For each placeholder, the constant that it stands for.
    constants: Vec<Option<&'a Argument>>,
    items: Items,
    /// The names of all nodes, gathered when they are first asked for.
    node_names: OnceCell<FxHashSet<NameId>>,
    archive_names: FxHashMap<NameId, NameId>,
    /// What the tables at the end of the graph will say.
    values: Values<'a>,
    /// The tensor metadata that was written last time, by id: deep networks share few.
    metas: FxHashMap<TensorMetaId, String>,
    /// Names of attributes that nested graphs were given.
    graph_names: FxHashMap<String, &'a Graph>,
}

/// The tables of a graph's values.
#[derive(Default)]
struct Values<'a> {
    tensors: Vec<(ResultName, &'a Value)>,
    ints: Vec<(ResultName, &'a Value)>,
    floats: Vec<(ResultName, &'a Value)>,
    bools: Vec<(ResultName, &'a Value)>,
    objects: Vec<(ResultName, &'a Value)>,
}

/// The name of a value: a node's, or one made up for a result that nobody reads.
#[derive(Clone)]
enum ResultName {
    Node(NameId),
    Unused(String),
}

impl ResultName {
    fn get<'n>(&'n self, context: &'n Context) -> &'n str {
        match self {
            Self::Node(name) => context.names.get(*name),
            Self::Unused(name) => name,
        }
    }
}

/// Which `getitem` reads which result.
#[derive(Default)]
struct Items {
    first: FxHashMap<(NodeId, u32), NodeId>,
    /// A second `getitem` of the same result, and the first.
    repeated: FxHashMap<NodeId, NodeId>,
}

impl Items {
    fn of(graph: &Graph) -> Self {
        let mut items = Self::default();
        for (id, node) in graph.iter() {
            let (Op::GetItem(index), Some(owner)) = (&node.op, owner(node)) else {
                continue;
            };
            // The results of a repeated `getitem` of a list are those of the first.
            let owner = items.repeated.get(&owner).copied().unwrap_or(owner);
            let first = *items.first.entry((owner, *index)).or_insert(id);
            if first != id {
                items.repeated.insert(id, first);
            }
        }
        items
    }
}

/// The node whose result a `getitem` reads.
fn owner(node: &Node) -> Option<NodeId> {
    node.inputs
        .first()
        .and_then(|input| input.argument.as_node())
}

impl<'a> GraphWriter<'a> {
    /// A writer that adds to `out`. `constants` has the constant of each placeholder.
    pub(super) fn new(
        out: JsonOut<'a>,
        context: &'a Context,
        graph: &'a Graph,
        constants: Vec<Option<&'a Argument>>,
    ) -> Self {
        Self {
            out,
            context,
            graph,
            constants,
            items: Items::of(graph),
            node_names: OnceCell::new(),
            archive_names: graph.archive_names.iter().copied().collect(),
            values: Values::default(),
            metas: FxHashMap::default(),
            graph_names: FxHashMap::default(),
        }
    }

    /// Writes the graph.
    pub(super) fn write(&mut self) -> Result<(), Pt2Error> {
        self.out.open_object();
        self.out.key("inputs");
        self.out.open_list();
        for (position, (id, node)) in self.graph.placeholders().enumerate() {
            self.placeholder(position, id, node)?;
        }
        self.out.close_list();
        self.out.key("outputs");
        self.out.open_list();
        for output in &self.graph.outputs {
            self.argument(output, |_| "the output".to_owned())?;
        }
        self.out.close_list();
        self.out.key("nodes");
        self.out.open_list();
        for (id, node) in self.graph.iter() {
            match node.op {
                Op::Call(target) => self.call(id, node, self.context.target_name(target))?,
                Op::GetItem(index) => self.check_item(id, node, index)?,
                Op::Placeholder | Op::GetAttr(_) => {}
            }
        }
        self.out.close_list();
        self.write_values();
        for (key, text) in &self.graph.unknown_fields {
            self.out.key(self.context.names.get(*key));
            self.out.raw(self.context.names.get(*text));
        }
        self.out.close_object();
        Ok(())
    }

    // ---- what others ask ----

    /// The name under which the archive knows the value of `node`.
    pub(super) fn name(&self, node: NodeId) -> NameId {
        let node = self.items.repeated.get(&node).copied().unwrap_or(node);
        self.graph.node(node).name
    }

    pub(super) fn value(&self, node: NodeId) -> Option<&'a Value> {
        self.graph.nodes.get(node.index()).map(|node| &node.value)
    }

    /// The constant that a placeholder stands for.
    pub(super) fn constant(&self, node: NodeId) -> Option<&'a Argument> {
        self.constants.get(node.index()).copied().flatten()
    }

    /// Writes a nested graph as an argument.
    pub(super) fn graph_argument(&mut self, node: NodeId) -> Result<(), Pt2Error> {
        let Op::GetAttr(id) = self.graph.node(node).op else {
            return Ok(());
        };
        let Some(nested) = self.graph.graphs.get(id.0 as usize) else {
            return Err(self.value_form(node, "it is an attribute that the graph does not have"));
        };
        // torch keeps one attribute per name: different graphs need different ones.
        let name = self.context.names.get(nested.name);
        let mut unique = name.to_owned();
        let mut number = 0;
        while let Some(other) = self.graph_names.get(&unique)
            && **other != nested.graph
        {
            number += 1;
            unique = format!("{name}_{number}");
        }
        self.out.open_object();
        self.out.key("as_graph");
        self.out.open_object();
        self.out.string_field("name", &unique);
        self.out.key("graph");
        self.graph_names.insert(unique, &nested.graph);
        let out = std::mem::take(&mut self.out);
        let mut inner = GraphWriter::new(out, self.context, &nested.graph, Vec::new());
        let result = inner.write();
        self.out = inner.out;
        result?;
        self.out.close_object();
        self.out.close_object();
        Ok(())
    }

    fn value_form(&self, node: NodeId, reason: &'static str) -> Pt2Error {
        let name = self.graph.nodes.get(node.index()).map(|node| node.name);
        Pt2Error::ValueForm {
            node: name
                .map_or("", |name| self.context.names.get(name))
                .to_owned(),
            reason,
        }
    }

    /// The name that the archive had for a node that no argument names.
    pub(super) fn archive_name(&self, name: NameId) -> NameId {
        self.archive_names.get(&name).copied().unwrap_or(name)
    }

    // ---- nodes ----

    fn placeholder(&mut self, position: usize, id: NodeId, node: &'a Node) -> Result<(), Pt2Error> {
        match node.value {
            Value::Constant => {
                let Some(constant) = self.constant(id) else {
                    return Err(self.value_form(id, "the signature has no constant for it"));
                };
                self.argument(constant, |_| format!("input {position}"))
            }
            _ => self.result(id, ResultName::Node(node.name), &node.value),
        }
    }

    fn call(&mut self, id: NodeId, node: &'a Node, target: &str) -> Result<(), Pt2Error> {
        let kind = CallForm::of(target);
        self.out.open_object();
        self.out.string_field("target", target);
        self.out.key("inputs");
        self.out.open_list();
        for input in &node.inputs {
            self.out.open_object();
            self.out
                .string_field("name", self.context.names.get(input.name));
            self.out.key("arg");
            self.argument(&input.argument, |writer| {
                format!("the node `{}`", writer.context.names.get(node.name))
            })?;
            self.out.int_field(
                "kind",
                match input.kind {
                    ArgumentKind::Positional => 1,
                    ArgumentKind::Keyword => 2,
                },
            );
            self.out.close_object();
        }
        self.out.close_list();
        self.out.key("outputs");
        self.out.open_list();
        self.results(id, node, kind)?;
        self.out.close_list();
        self.metadata(node.metadata);
        self.out.key("is_hop_single_tensor_return");
        match kind {
            CallForm::HigherOrder => self.out.bool(is_tensor(&node.value)),
            _ => self.out.null(),
        }
        let name = self.archive_name(node.name);
        self.out.string_field("name", self.context.names.get(name));
        for (key, text) in &self.context.metadata(node.metadata).unknown_fields {
            self.out.key(self.context.names.get(*key));
            self.out.raw(self.context.names.get(*text));
        }
        self.out.close_object();
        Ok(())
    }

    /// A `getitem` is not written; the result that it reads has to be.
    fn check_item(&self, id: NodeId, node: &Node, index: u32) -> Result<(), Pt2Error> {
        let results = owner(node)
            .and_then(|owner| self.value(owner))
            .and_then(Value::elements)
            .map_or(0, <[Value]>::len);
        if index as usize >= results {
            return Err(self.value_form(id, "it reads a result that its node does not have"));
        }
        Ok(())
    }

    fn metadata(&mut self, metadata: MetadataId) {
        self.out.key("metadata");
        self.out.open_object();
        for (key, text) in &self.context.metadata(metadata).entries {
            self.out
                .string_field(self.context.names.get(*key), self.context.names.get(*text));
        }
        self.out.close_object();
    }

    // ---- results ----

    fn results(&mut self, id: NodeId, node: &'a Node, kind: CallForm) -> Result<(), Pt2Error> {
        match &node.value {
            Value::None => match kind {
                kind if kind.has_no_schema() => {
                    self.none();
                    Ok(())
                }
                CallForm::Scalar => Err(self.value_form(id, "it is a number, but has no value")),
                _ => Ok(()),
            },
            Value::Tuple(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.tuple_item(id, index, item)?;
                }
                Ok(())
            }
            Value::List(items) => self.list_results(id, items, None),
            value => self.result(id, ResultName::Node(node.name), value),
        }
    }

    fn tuple_item(&mut self, owner: NodeId, index: usize, item: &'a Value) -> Result<(), Pt2Error> {
        match item {
            Value::None => {
                self.none();
                Ok(())
            }
            Value::List(items) => {
                let key = (owner, u32::try_from(index).unwrap_or(u32::MAX));
                match self.items.first.get(&key) {
                    Some(list) => self.list_results(*list, items, None),
                    None => self.list_results(owner, items, Some(index)),
                }
            }
            item => {
                let name = self.result_name(owner, None, index);
                self.result(owner, name, item)
            }
        }
    }

    /// Results that are a list: of `owner` itself, or of its `inside`-th result.
    fn list_results(
        &mut self,
        owner: NodeId,
        items: &'a [Value],
        inside: Option<usize>,
    ) -> Result<(), Pt2Error> {
        let tag = match items.first() {
            Some(Value::SymInt(_)) => "as_sym_ints",
            Some(Value::SymFloat(_) | Value::Float(_)) => "as_sym_floats",
            Some(Value::SymBool(_) | Value::Bool(_)) => "as_sym_bools",
            _ => "as_tensors",
        };
        self.out.open_object();
        self.out.key(tag);
        self.out.open_list();
        for (index, item) in items.iter().enumerate() {
            let name = self.result_name(owner, inside, index);
            let (item_tag, inner) = self
                .record(name.clone(), item)
                .ok_or_else(|| self.value_form(owner, "a list among its results holds a list"))?;
            if tag.strip_suffix('s') != Some(item_tag) {
                return Err(
                    self.value_form(owner, "a list among its results holds different things")
                );
            }
            self.out.open_object();
            self.out.string_field(inner, name.get(self.context));
            self.out.close_object();
        }
        self.out.close_list();
        self.out.close_object();
        Ok(())
    }

    fn none(&mut self) {
        self.out.open_object();
        self.out.bool_field("as_none", true);
        self.out.close_object();
    }

    /// The name of one of several results.
    fn result_name(&self, owner: NodeId, inside: Option<usize>, index: usize) -> ResultName {
        let position = u32::try_from(index).unwrap_or(u32::MAX);
        if inside.is_none()
            && let Some(item) = self.items.first.get(&(owner, position))
        {
            return ResultName::Node(self.graph.node(*item).name);
        }
        let mut name = format!(
            "{}_unused",
            self.context.names.get(self.graph.node(owner).name)
        );
        for index in inside.into_iter().chain([index]) {
            // Writing to a string cannot fail.
            let _ = write!(name, "_{index}");
        }
        while self.is_taken(&name) {
            name.push_str("_0");
        }
        ResultName::Unused(name)
    }

    /// Whether a node of the graph is called `name`.
    fn is_taken(&self, name: &str) -> bool {
        let Some(name) = self.context.names.find(name) else {
            return false;
        };
        self.node_names
            .get_or_init(|| self.graph.nodes.iter().map(|node| node.name).collect())
            .contains(&name)
    }

    /// Writes one result as an `Argument` and remembers its value for the tables.
    fn result(&mut self, node: NodeId, name: ResultName, value: &'a Value) -> Result<(), Pt2Error> {
        if *value == Value::None {
            self.none();
            return Ok(());
        }
        let Some((tag, inner)) = self.record(name.clone(), value) else {
            return Err(self.value_form(node, "the archive has no such result"));
        };
        self.out.open_object();
        self.out.key(tag);
        if let Value::CustomObject(class) = value {
            custom_object(
                &mut self.out,
                name.get(self.context),
                self.context.names.get(*class),
            );
        } else {
            self.out.open_object();
            self.out.string_field(inner, name.get(self.context));
            self.out.close_object();
        }
        self.out.close_object();
        Ok(())
    }

    /// Puts a value into its table. Gives the tag of its `Argument` and the field of its name.
    fn record(
        &mut self,
        name: ResultName,
        value: &'a Value,
    ) -> Option<(&'static str, &'static str)> {
        let (table, tag, inner) = match value {
            Value::Tensor(_) | Value::Token => (&mut self.values.tensors, "as_tensor", "name"),
            Value::SymInt(_) => (&mut self.values.ints, "as_sym_int", "as_name"),
            Value::SymFloat(_) | Value::Float(_) => {
                (&mut self.values.floats, "as_sym_float", "as_name")
            }
            Value::SymBool(_) | Value::Bool(_) => {
                (&mut self.values.bools, "as_sym_bool", "as_name")
            }
            Value::CustomObject(_) => (&mut self.values.objects, "as_custom_obj", "name"),
            Value::None | Value::Constant | Value::Tuple(_) | Value::List(_) => return None,
        };
        table.push((name, value));
        Some((tag, inner))
    }

    // ---- tables ----

    fn write_values(&mut self) {
        let values = std::mem::take(&mut self.values);
        self.table("tensor_values", &values.tensors);
        self.table("sym_int_values", &values.ints);
        self.table("sym_bool_values", &values.bools);
        self.out
            .bool_field("is_single_tensor_return", self.graph.returns_bare_value);
        self.table("custom_obj_values", &values.objects);
        self.table("sym_float_values", &values.floats);
    }

    fn table(&mut self, table: &str, values: &[(ResultName, &Value)]) {
        self.out.key(table);
        self.out.open_object();
        for (name, value) in values {
            let name = name.get(self.context);
            self.out.key(name);
            self.write_value(name, value);
        }
        self.out.close_object();
    }

    fn write_value(&mut self, name: &str, value: &Value) {
        let (out, context) = (&mut self.out, self.context);
        match value {
            Value::Tensor(meta) => {
                let text = self.metas.entry(*meta).or_insert_with(|| {
                    let mut out = JsonOut::default();
                    tensor_meta(&mut out, context, context.meta(*meta));
                    // Memory takes all, and what was written came from strings.
                    String::from_utf8(out.finish().unwrap_or_default()).unwrap_or_default()
                });
                out.raw(text);
            }
            Value::Token => out.raw(TOKEN_META),
            Value::SymInt(size) => sym_int(out, context, *size),
            Value::SymFloat(id) => sym_float(out, context, *id),
            Value::SymBool(id) => sym_bool(out, context, *id),
            Value::Float(value) => {
                out.open_object();
                out.key("as_float");
                out.float(*value);
                out.close_object();
            }
            Value::Bool(value) => {
                out.open_object();
                out.bool_field("as_bool", *value);
                out.close_object();
            }
            Value::CustomObject(class) => custom_object(out, name, context.names.get(*class)),
            // `record` lets none of these into a table.
            Value::None | Value::Constant | Value::Tuple(_) | Value::List(_) => out.null(),
        }
    }
}

fn is_tensor(value: &Value) -> bool {
    matches!(value, Value::Tensor(_) | Value::Token)
}
