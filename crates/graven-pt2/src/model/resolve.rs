//! From the archive's graph to FX's: names become nodes.
//!
//! The archive lists operator calls with named results. FX has a node for each placeholder,
//! each call, each attribute that holds a nested graph, and a `getitem` for each of several
//! results. The nodes, their order and their names here are those that torch's loader makes.

use graven_ir::graph::NestedGraph;
use graven_ir::{
    Argument, Context, FxNames, Graph, GraphId, Input, MetadataId, NameId, Node, NodeId, Op,
    SymInt, Value,
};
use graven_ops::Registry;

use super::argument::Reference;
use super::graph::GraphParts;
use super::slots::{NameTable, Slots, Undefinable};
use crate::error::Pt2Error;

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
pub(super) struct Resolver<'a> {
    pub(super) context: &'a mut Context,
    pub(super) setting: Setting<'a>,
    names: FxNames,
    slots: Slots<'a>,
    pub(super) references: Vec<Reference>,
    /// The nested graphs, until they are given to a node.
    nested: Vec<Option<NestedGraph>>,
    pub(super) graph: Graph,
    pub(super) no_name: NameId,
}

/// A name that nothing before its reader defines.
pub(super) struct Unresolved(NameId);

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
    pub(super) fn text(&self, name: NameId) -> String {
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

    pub(super) fn push(
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
    pub(super) fn create_name(&mut self, candidate: &str) -> NameId {
        loop {
            let name = self.names.create(&mut self.context.names, candidate);
            if !self.slots.contains(name) {
                return name;
            }
        }
    }

    pub(super) fn create_name_from(&mut self, candidate: NameId) -> NameId {
        loop {
            let name = self.names.create_from(&mut self.context.names, candidate);
            if !self.slots.contains(name) {
                return name;
            }
        }
    }

    /// FX's request for a name that is then overwritten with the archive's: it counts all the
    /// same.
    pub(super) fn claim_name(&mut self, candidate: NameId) {
        self.names.create_from(&mut self.context.names, candidate);
    }

    /// Makes `name` stand for `node`, and gives its value.
    pub(super) fn define(&mut self, name: NameId, node: NodeId) -> Result<Value, Pt2Error> {
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
    pub(super) fn next_node(&self) -> NodeId {
        NodeId(u32::try_from(self.graph.nodes.len()).unwrap_or(u32::MAX))
    }

    pub(super) fn push_named(
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
    pub(super) fn keep_archive_name(&mut self, name: NameId, archive: Option<NameId>) {
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

    // ---- references ----

    /// Puts nodes in the place of references. Nested graphs become attributes before the node
    /// that is given them, with its metadata.
    ///
    /// The recursion is bounded: JSON nests at most 128 deep.
    pub(super) fn resolve(
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
    pub(super) fn missing_value<'r>(
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
