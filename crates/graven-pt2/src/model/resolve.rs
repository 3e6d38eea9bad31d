//! From the archive's graph to FX's: names become nodes.
//!
//! The archive lists operator calls with named results. FX has a node for each placeholder,
//! each call, each attribute that holds a nested graph, and a `getitem` for each of several
//! results. The nodes, their order and their names here are those that torch's loader makes.

use graven_ir::argument::ArgumentKind;
use graven_ir::fx_names::snake_case;
use graven_ir::graph::NestedGraph;
use graven_ir::{
    Argument, Context, FxNames, Graph, GraphId, Input, MetadataId, NameId, Node, NodeId, Op,
    SymInt, TargetId, Value,
};
use graven_ops::Registry;
use smallvec::SmallVec;

use super::argument::Reference;
use super::call_form::{CallForm, function_name};
use super::graph::{ArchiveInput, GraphParts, NodeParts};
use super::slots::{NameTable, Slots, Undefinable};
use crate::error::Pt2Error;
use crate::kinds::{in_order, kind};

/// Which graph is built: where constants among the inputs are kept differs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The program's own, whose signature holds them.
    Top,
    /// One inside another.
    Nested,
}

/// What a graph is built with.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    /// The operators' schemas.
    pub(super) registry: &'a Registry,
    /// For an input that is a constant: the name that the signature has at its position. torch
    /// looks there for nested graphs too.
    pub(super) constant_names: &'a [Option<NameId>],
    /// Which graph it is.
    pub(super) place: Place,
}

/// Builds one graph.
struct Resolver<'a> {
    context: &'a mut Context,
    setting: Setting<'a>,
    names: FxNames,
    slots: Slots<'a>,
    references: Vec<Reference>,
    /// The nested graphs, until they are given to a node.
    nested: Vec<Option<NestedGraph>>,
    graph: Graph,
    no_name: NameId,
}

/// The results of one call.
type Results = SmallVec<[Argument; 2]>;

/// A name that nothing before its reader defines.
struct Unresolved(NameId);

/// Builds the graph of `parts`.
pub(super) fn resolve(
    context: &mut Context,
    parts: GraphParts,
    setting: Setting<'_>,
    table: &mut NameTable,
) -> Result<Graph, Pt2Error> {
    // Nested graphs first, as they use the table too. The recursion is bounded: JSON nests at
    // most 128 deep.
    let inside = Setting {
        place: Place::Nested,
        ..setting
    };
    let mut nested = Vec::with_capacity(parts.graphs.len());
    for (name, parts) in parts.graphs {
        let graph = resolve(context, parts, inside, table)?;
        nested.push(Some(NestedGraph { name, graph }));
    }
    let no_name = context.names.intern("");
    let mut resolver = Resolver {
        context,
        setting,
        names: FxNames::default(),
        slots: Slots::new(table, parts.values.len()),
        references: parts.references,
        nested,
        graph: Graph {
            returns_bare_value: parts.returns_bare_value,
            unknown_fields: parts.unknown_fields,
            ..Graph::default()
        },
        no_name,
    };
    resolver.add_values(parts.values)?;
    resolver.graph.nodes.reserve(parts.nodes.len());
    for (position, input) in parts.inputs.into_iter().enumerate() {
        resolver.add_placeholder(position, input)?;
    }
    let mut inputs = parts.node_inputs.into_iter();
    let mut outputs = parts.node_outputs.into_iter();
    for node in parts.nodes {
        let own = outputs.by_ref().take(node.output_count).collect();
        resolver.add_node(&node, &mut inputs, own, outputs.as_slice())?;
    }
    for mut output in parts.outputs {
        if let Err(missing) = resolver.resolve(&mut output, MetadataId::EMPTY)? {
            return Err(resolver.missing_value("the output".to_owned(), &missing, []));
        }
        resolver.graph.outputs.push(output);
    }
    Ok(resolver.graph)
}

impl Resolver<'_> {
    fn text(&self, name: NameId) -> String {
        self.context.names.get(name).to_owned()
    }

    fn add_values(&mut self, values: Vec<(NameId, Value)>) -> Result<(), Pt2Error> {
        for (name, value) in values {
            if !self.slots.add(name, value) {
                return Err(Pt2Error::ValueEntries {
                    name: self.text(name),
                    count: 2,
                });
            }
        }
        Ok(())
    }

    // ---- nodes ----

    fn push(
        &mut self,
        name: NameId,
        op: Op,
        inputs: Box<[Input]>,
        value: Value,
        metadata: MetadataId,
    ) -> Result<NodeId, Pt2Error> {
        if self.graph.nodes.len() >= u32::MAX as usize {
            return Err(Pt2Error::TooManyNodes);
        }
        Ok(self.graph.push(Node {
            name,
            op,
            inputs,
            value,
            metadata,
        }))
    }

    /// A name for a node that is not known by it: the first that FX has free, and that no value
    /// of the archive has.
    fn create_name(&mut self, candidate: &str) -> NameId {
        loop {
            let name = self.names.create(&mut self.context.names, candidate);
            if self.slots.node(name).is_none() {
                return name;
            }
        }
    }

    fn create_name_from(&mut self, candidate: NameId) -> NameId {
        loop {
            let name = self.names.create_from(&mut self.context.names, candidate);
            if self.slots.node(name).is_none() {
                return name;
            }
        }
    }

    /// FX's request for a name that is then overwritten with the archive's: it counts all the
    /// same.
    fn claim_name(&mut self, candidate: NameId) {
        self.names.create_from(&mut self.context.names, candidate);
    }

    /// Makes `name` stand for `node`, and gives its value.
    fn define(&mut self, name: NameId, node: NodeId) -> Result<Value, Pt2Error> {
        self.slots.define(name, node).map_err(|error| match error {
            Undefinable::Unknown => Pt2Error::ValueEntries {
                name: self.text(name),
                count: 0,
            },
            Undefinable::Taken => Pt2Error::DuplicateName {
                name: self.text(name),
            },
        })
    }

    /// The id that the next node will have.
    fn next_node(&self) -> NodeId {
        NodeId(u32::try_from(self.graph.nodes.len()).unwrap_or(u32::MAX))
    }

    fn push_named(
        &mut self,
        name: NameId,
        op: Op,
        inputs: Box<[Input]>,
        metadata: MetadataId,
    ) -> Result<NodeId, Pt2Error> {
        let value = self.define(name, self.next_node())?;
        self.push(name, op, inputs, value, metadata)
    }

    /// Remembers that the archive has another name for a node.
    fn keep_archive_name(&mut self, name: NameId, archive: Option<NameId>) {
        if let Some(archive) = archive.filter(|archive| *archive != name) {
            self.graph.archive_names.push((name, archive));
        }
    }

    // ---- inputs ----

    fn add_placeholder(&mut self, position: usize, input: Argument) -> Result<(), Pt2Error> {
        let no_inputs = Box::default();
        match input {
            Argument::Node(reference) => {
                let name = match self.references.get(reference.index()) {
                    Some(Reference::Value(name)) => *name,
                    Some(&Reference::CustomObject(name, class)) => {
                        // The table of objects may say so too.
                        self.slots.add(name, Value::CustomObject(class));
                        name
                    }
                    _ => return Err(Pt2Error::InputForm { position }),
                };
                self.claim_name(name);
                self.push_named(name, Op::Placeholder, no_inputs, MetadataId::EMPTY)?;
            }
            constant => {
                let value = constant_value(&constant, self.setting.place)
                    .ok_or(Pt2Error::InputForm { position })?;
                let archive = self.setting.constant_names.get(position).copied().flatten();
                let name = match archive {
                    Some(archive) => self.create_name_from(archive),
                    None => self.create_name(&format!("arg{position}")),
                };
                self.keep_archive_name(name, archive);
                self.push(name, Op::Placeholder, no_inputs, value, MetadataId::EMPTY)?;
            }
        }
        Ok(())
    }

    // ---- calls ----

    /// Adds a call. `inputs` has its inputs next, `later` the results of the calls after it.
    fn add_node(
        &mut self,
        node: &NodeParts,
        all_inputs: &mut std::vec::IntoIter<ArchiveInput>,
        mut outputs: Results,
        later: &[Argument],
    ) -> Result<(), Pt2Error> {
        let mut inputs = Vec::with_capacity(node.input_count);
        for input in all_inputs.take(node.input_count) {
            let mut input = Input {
                kind: input
                    .kind
                    .unwrap_or_else(|| self.kind_of(node.target, input.name)),
                name: input.name,
                argument: input.argument,
            };
            if let Err(missing) = self.resolve(&mut input.argument, node.metadata)? {
                let user = match node.name.or_else(|| self.result_name(outputs.first())) {
                    Some(name) => format!("the node `{}`", self.text(name)),
                    None => format!("a call of `{}`", self.context.target_name(node.target)),
                };
                let rest = outputs.iter().chain(later);
                return Err(self.missing_value(user, &missing, rest));
            }
            inputs.push(input);
        }
        let call = Call {
            name: node.name,
            op: Op::Call(node.target),
            form: CallForm::of(self.context.target_name(node.target)),
            inputs: in_order(inputs),
            metadata: node.metadata,
        };
        let bare = node.is_hop_single_tensor_return.unwrap_or(true);
        match (outputs.len(), outputs.pop()) {
            (_, None) => self.call_without_result(call),
            (1, Some(Argument::None)) => self.call_that_returns_none(call),
            (1, Some(output)) if call.form == CallForm::HigherOrder && !bare => match output {
                Argument::List(_, items) => self.call_with_list(call, items),
                output => self.call_with_tuple(call, [output]),
            },
            // Before archives said what a higher-order operator returns, its results were a list
            // and not a tuple.
            (1, Some(Argument::List(_, items))) if call.form == CallForm::HigherOrder => {
                self.call_with_tuple(call, items)
            }
            (1, Some(Argument::List(_, items))) => self.call_with_list(call, items),
            (1, Some(output)) => self.call_with_value(call, &output),
            (_, Some(last)) => {
                outputs.push(last);
                self.call_with_tuple(call, outputs)
            }
        }
    }

    /// How an argument is given when the archive does not say it.
    fn kind_of(&self, target: TargetId, name: NameId) -> ArgumentKind {
        let target = self.context.target_name(target);
        let name = self.context.names.get(name);
        kind(self.setting.registry, target, CallForm::of(target), name)
    }

    fn call_without_result(&mut self, call: Call) -> Result<(), Pt2Error> {
        let value = match call.form.has_no_schema() {
            true => Value::Tuple(Box::default()),
            false => Value::None,
        };
        let name = self.create_call_name(&call);
        self.keep_archive_name(name, call.name);
        self.push(name, call.op, call.inputs, value, call.metadata)?;
        Ok(())
    }

    /// torch's loader gives such a node a name of its own.
    fn call_that_returns_none(&mut self, call: Call) -> Result<(), Pt2Error> {
        let first = self.create_call_name(&call);
        let unused = format!("{}_unused", self.candidate(&call));
        let name = if self.context.names.get(first) == unused {
            first
        } else {
            self.create_name(&unused)
        };
        self.keep_archive_name(name, call.name);
        self.push(name, call.op, call.inputs, Value::None, call.metadata)?;
        Ok(())
    }

    fn call_with_value(&mut self, call: Call, output: &Argument) -> Result<(), Pt2Error> {
        let name = self
            .result_name(Some(output))
            .ok_or_else(|| self.result_form(&call))?;
        self.claim_name(call.name.unwrap_or(name));
        self.keep_archive_name(name, call.name);
        self.push_named(name, call.op, call.inputs, call.metadata)?;
        Ok(())
    }

    fn call_with_tuple(
        &mut self,
        call: Call,
        outputs: impl IntoIterator<Item = Argument>,
    ) -> Result<(), Pt2Error> {
        // Before archives had names of nodes, the loader had no name for this either.
        let unnamed_item = if call.name.is_some() {
            "as_none"
        } else {
            "getitem"
        };
        let (node, metadata) = self.push_several(call)?;
        let mut values = Vec::new();
        for (index, output) in outputs.into_iter().enumerate() {
            let value = match output {
                Argument::None => {
                    let name = self.create_name(unnamed_item);
                    self.push_item(node, index, name, Value::None, metadata)?;
                    Value::None
                }
                Argument::List(_, items) => {
                    let name = self.create_name("getitem");
                    let list = self.push_item(node, index, name, Value::None, metadata)?;
                    let items = Value::List(self.push_items(list, &items, metadata)?);
                    self.set_value(list, items.clone());
                    items
                }
                output => self.push_result(node, index, &output, metadata)?,
            };
            values.push(value);
        }
        self.set_value(node, Value::Tuple(values.into_boxed_slice()));
        Ok(())
    }

    fn call_with_list(&mut self, call: Call, items: Box<[Argument]>) -> Result<(), Pt2Error> {
        let (node, metadata) = self.push_several(call)?;
        let values = self.push_items(node, &items, metadata)?;
        self.set_value(node, Value::List(values));
        Ok(())
    }

    /// The node of a call with several results; its value is set when they are known.
    fn push_several(&mut self, call: Call) -> Result<(NodeId, MetadataId), Pt2Error> {
        let name = self.create_call_name(&call);
        self.keep_archive_name(name, call.name);
        let node = self.push(name, call.op, call.inputs, Value::None, call.metadata)?;
        Ok((node, call.metadata))
    }

    fn set_value(&mut self, node: NodeId, value: Value) {
        if let Some(node) = self.graph.nodes.get_mut(node.index()) {
            node.value = value;
        }
    }

    fn push_items(
        &mut self,
        node: NodeId,
        items: &[Argument],
        metadata: MetadataId,
    ) -> Result<Box<[Value]>, Pt2Error> {
        items
            .iter()
            .enumerate()
            .map(|(index, item)| self.push_result(node, index, item, metadata))
            .collect()
    }

    /// The `getitem` of one result, called as the archive calls the result.
    fn push_result(
        &mut self,
        node: NodeId,
        index: usize,
        output: &Argument,
        metadata: MetadataId,
    ) -> Result<Value, Pt2Error> {
        let Some(name) = self.result_name(Some(output)) else {
            let owner = self.graph.nodes.get(node.index()).map(|node| node.name);
            return Err(Pt2Error::ResultForm {
                node: owner.map(|name| self.text(name)).unwrap_or_default(),
            });
        };
        self.claim_name(name);
        let value = self.define(name, self.next_node())?;
        self.push_item(node, index, name, value.clone(), metadata)?;
        Ok(value)
    }

    fn push_item(
        &mut self,
        node: NodeId,
        index: usize,
        name: NameId,
        value: Value,
        metadata: MetadataId,
    ) -> Result<NodeId, Pt2Error> {
        let input = Input {
            name: self.no_name,
            kind: ArgumentKind::Positional,
            argument: Argument::Node(node),
        };
        let index = u32::try_from(index).map_err(|_| Pt2Error::TooManyNodes)?;
        self.push(name, Op::GetItem(index), Box::new([input]), value, metadata)
    }

    // ---- names of calls and results ----

    /// What FX makes of the called function when a node is given no name.
    fn candidate(&self, call: &Call) -> String {
        match call.op {
            Op::Call(target) => snake_case(function_name(self.context.target_name(target))),
            _ => String::new(),
        }
    }

    fn create_call_name(&mut self, call: &Call) -> NameId {
        match call.name {
            Some(name) => self.create_name_from(name),
            None => self.create_name(&self.candidate(call)),
        }
    }

    /// The name that a result has, if it is one value.
    fn result_name(&self, output: Option<&Argument>) -> Option<NameId> {
        match self.references.get(output?.as_node()?.index())? {
            Reference::Value(name) | Reference::CustomObject(name, _) => Some(*name),
            Reference::Graph(_) => None,
        }
    }

    fn result_form(&self, call: &Call) -> Pt2Error {
        Pt2Error::ResultForm {
            node: match call.name {
                Some(name) => self.text(name),
                None => self.candidate(call),
            },
        }
    }

    /// Whether `output` is, or holds, the value called `name`.
    fn defines(&self, output: &Argument, name: NameId) -> bool {
        match output {
            Argument::List(_, items) => items
                .iter()
                .any(|item| self.result_name(Some(item)) == Some(name)),
            output => self.result_name(Some(output)) == Some(name),
        }
    }

    // ---- references ----

    /// Puts nodes in the place of references. Nested graphs become attributes before the node
    /// that is given them, with its metadata.
    ///
    /// The recursion is bounded: JSON nests at most 128 deep.
    fn resolve(
        &mut self,
        argument: &mut Argument,
        metadata: MetadataId,
    ) -> Result<Result<(), Unresolved>, Pt2Error> {
        match argument {
            Argument::Node(reference) => match self.dereference(*reference, metadata)? {
                Ok(resolved) => *argument = resolved,
                Err(missing) => return Ok(Err(missing)),
            },
            Argument::List(_, items) => {
                for item in items {
                    if let Err(missing) = self.resolve(item, metadata)? {
                        return Ok(Err(missing));
                    }
                }
            }
            Argument::Dict(items) => {
                for (_, item) in items {
                    if let Err(missing) = self.resolve(item, metadata)? {
                        return Ok(Err(missing));
                    }
                }
            }
            _ => {}
        }
        Ok(Ok(()))
    }

    fn dereference(
        &mut self,
        reference: NodeId,
        metadata: MetadataId,
    ) -> Result<Result<Argument, Unresolved>, Pt2Error> {
        let nested = match self.references.get(reference.index()) {
            None => return Ok(Err(Unresolved(self.no_name))),
            Some(&Reference::Value(name)) => {
                let node = self.slots.node(name);
                return Ok(node.map(Argument::Node).ok_or(Unresolved(name)));
            }
            Some(&Reference::CustomObject(name, class)) => {
                let constant = Argument::CustomObject(name, class);
                return Ok(Ok(self.slots.node(name).map_or(constant, Argument::Node)));
            }
            Some(&Reference::Graph(index)) => self.nested.get_mut(index as usize),
        };
        let Some(nested) = nested.and_then(Option::take) else {
            return Ok(Err(Unresolved(self.no_name)));
        };
        let name = nested.name;
        let id = GraphId(u32::try_from(self.graph.graphs.len()).unwrap_or(u32::MAX));
        self.graph.graphs.push(nested);
        let node_name = self.create_name_from(name);
        let node = self.push(
            node_name,
            Op::GetAttr(id),
            Box::default(),
            Value::None,
            metadata,
        )?;
        Ok(Ok(Argument::Node(node)))
    }

    /// `rest` are the results that are not defined yet.
    fn missing_value<'r>(
        &self,
        user: String,
        missing: &Unresolved,
        rest: impl IntoIterator<Item = &'r Argument>,
    ) -> Pt2Error {
        Pt2Error::MissingValue {
            user,
            value: self.text(missing.0),
            defined_later: rest
                .into_iter()
                .any(|output| self.defines(output, missing.0)),
        }
    }
}

/// A call whose results are not yet there.
struct Call {
    name: Option<NameId>,
    op: Op,
    form: CallForm,
    inputs: Box<[Input]>,
    metadata: MetadataId,
}

/// The value of a placeholder for a constant.
fn constant_value(constant: &Argument, place: Place) -> Option<Value> {
    Some(match (constant, place) {
        (
            Argument::None
            | Argument::Int(_)
            | Argument::Float(_)
            | Argument::Bool(_)
            | Argument::String(_),
            Place::Top,
        ) => Value::Constant,
        (Argument::None, Place::Nested) => Value::None,
        (Argument::Int(value), Place::Nested) => Value::SymInt(SymInt::Int(*value)),
        (Argument::Float(value), Place::Nested) => Value::Float(*value),
        (Argument::Bool(value), Place::Nested) => Value::Bool(*value),
        _ => return None,
    })
}
