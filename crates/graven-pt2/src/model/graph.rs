//! Reading a `Graph`: its parts as they stand in the text, names not yet resolved.

use graven_ir::{
    Argument, ArgumentKind, Context, Metadata, MetadataId, NameId, Names, SymInt, TargetId, Value,
};
use serde::de::{MapAccess, SeqAccess};
use smallvec::SmallVec;

use super::argument::{Reference, Scope};
use super::progress::Progress;
use super::tensor::{SymBoolReader, SymFloatReader, SymIntReader};
use crate::json::{
    Counted, Element, Fields, Interned, List, Object, OptionalSeed, Tagged, Text, elements,
    missing, unknown_field,
};

/// A graph as the archive holds it.
#[derive(Debug, Default)]
pub(super) struct GraphParts {
    pub(super) inputs: Vec<Argument>,
    pub(super) outputs: Vec<Argument>,
    pub(super) nodes: Vec<NodeParts>,
    /// The inputs of all nodes, one after the other: each node would need a vector of its own.
    pub(super) node_inputs: Vec<ArchiveInput>,
    /// The results of all nodes, one after the other.
    pub(super) node_outputs: Vec<Argument>,
    /// What the arguments above refer to.
    pub(super) references: Vec<Reference>,
    /// Nested graphs and the names of their attributes.
    pub(super) graphs: Vec<(NameId, GraphParts)>,
    pub(super) values: Vec<(NameId, Value)>,
    pub(super) returns_bare_value: bool,
    pub(super) unknown_fields: Vec<(NameId, NameId)>,
}

/// A node as the archive holds it.
#[derive(Debug)]
pub(super) struct NodeParts {
    pub(super) name: Option<NameId>,
    pub(super) target: TargetId,
    pub(super) input_count: usize,
    pub(super) output_count: usize,
    pub(super) metadata: MetadataId,
    pub(super) is_hop_single_tensor_return: Option<bool>,
}

/// An argument of a node, and whether it says how it is given: archives before torch 2.7 do not.
#[derive(Debug)]
pub(super) struct ArchiveInput {
    pub(super) name: NameId,
    pub(super) argument: Argument,
    pub(super) kind: Option<ArgumentKind>,
}

/// Reads a `Graph`.
pub(super) struct GraphReader<'a> {
    scope: Scope<'a>,
    parts: GraphParts,
    seen_nodes: bool,
}

impl<'a> GraphReader<'a> {
    pub(super) fn new(context: &'a mut Context, progress: Option<&'a Progress<'a>>) -> Self {
        Self {
            scope: Scope::new(context, progress),
            parts: GraphParts::default(),
            seen_nodes: false,
        }
    }
}

impl<'de> Fields<'de> for GraphReader<'_> {
    type Output = GraphParts;
    const WHAT: &'static str = "a graph";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let parts = &mut self.parts;
        match key {
            "inputs" => {
                parts.inputs = map.next_value_seed(elements(&mut self.scope, ArgumentItem))?;
            }
            "outputs" => {
                parts.outputs = map.next_value_seed(elements(&mut self.scope, ArgumentItem))?;
            }
            "nodes" => {
                parts.nodes = map.next_value_seed(elements(&mut self.scope, NodeItem))?;
                self.seen_nodes = true;
            }
            "tensor_values" | "sym_int_values" | "sym_float_values" | "sym_bool_values"
            | "custom_obj_values" => map.next_value_seed(Object(ValuesReader {
                table: key,
                expected: Expected::new(&self.scope, &parts.inputs),
                scope: &mut self.scope,
                values: &mut parts.values,
            }))?,
            "is_single_tensor_return" => parts.returns_bare_value = map.next_value()?,
            _ => {
                let field = unknown_field(&mut self.scope.context.names, key, map)?;
                parts.unknown_fields.push(field);
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<GraphParts, E> {
        missing(self.seen_nodes.then_some(()), "nodes")?;
        Ok(GraphParts {
            node_inputs: self.scope.node_inputs,
            node_outputs: self.scope.node_outputs,
            references: self.scope.references,
            graphs: self.scope.graphs,
            ..self.parts
        })
    }
}

/// Reads an `Argument` of a list of them.
struct ArgumentItem;

impl Element<Scope<'_>, Argument> for ArgumentItem {
    fn next<'de, A: SeqAccess<'de>>(
        &self,
        scope: &mut Scope<'_>,
        seq: &mut A,
    ) -> Result<Option<Argument>, A::Error> {
        seq.next_element_seed(scope.argument())
    }
}

/// Reads one of the tables of values.
struct ValuesReader<'r, 's, 'a> {
    table: &'r str,
    scope: &'s mut Scope<'a>,
    values: &'s mut Vec<(NameId, Value)>,
    expected: Expected,
}

/// The names that the nodes before the tables define, in order. The tables of torch have the
/// same order, so that most names are found without a search.
struct Expected {
    names: Vec<NameId>,
    next: usize,
}

impl Expected {
    /// How many names of other tables may stand between two of one.
    const LOOK_AHEAD: usize = 4;

    fn new(scope: &Scope<'_>, inputs: &[Argument]) -> Self {
        let mut names = Vec::with_capacity(inputs.len() + scope.node_outputs.len());
        for argument in inputs.iter().chain(&scope.node_outputs) {
            argument.for_each_node(&mut |reference| {
                if let Some(Reference::Value(name)) = scope.references.get(reference.index()) {
                    names.push(*name);
                }
            });
        }
        Self { names, next: 0 }
    }

    /// The id of `text`.
    fn intern(&mut self, names: &mut Names, text: &str) -> NameId {
        let ahead = self.names.iter().enumerate().skip(self.next);
        for (position, name) in ahead.take(Self::LOOK_AHEAD) {
            if names.get(*name) == text {
                self.next = position + 1;
                return *name;
            }
        }
        names.intern(text)
    }
}

impl<'de> Fields<'de> for ValuesReader<'_, '_, '_> {
    type Output = ();
    const WHAT: &'static str = "a table of values";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        self.scope.reached(key);
        let context = &mut *self.scope.context;
        let name = self.expected.intern(&mut context.names, key);
        let value = match self.table {
            "tensor_values" => Value::Tensor(self.scope.metas.next_value(context, map)?),
            "sym_int_values" => {
                let size: SymInt = map.next_value_seed(Tagged(SymIntReader(context)))?;
                Value::SymInt(size)
            }
            "sym_float_values" => map.next_value_seed(Tagged(SymFloatReader(context)))?,
            "sym_bool_values" => map.next_value_seed(Tagged(SymBoolReader(context)))?,
            _ => {
                let (_, class) = map.next_value_seed(self.scope.named())?;
                Value::CustomObject(missing(class, "class_fqn")?)
            }
        };
        self.values.push((name, value));
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Reads a `Node` of the list of them.
struct NodeItem;

impl Element<Scope<'_>, NodeParts> for NodeItem {
    fn next<'de, A: SeqAccess<'de>>(
        &self,
        scope: &mut Scope<'_>,
        seq: &mut A,
    ) -> Result<Option<NodeParts>, A::Error> {
        seq.next_element_seed(Object(NodeReader {
            scope,
            name: None,
            target: None,
            input_count: None,
            output_count: None,
            metadata: Metadata::default(),
            unknown_fields: Vec::new(),
            is_hop_single_tensor_return: None,
        }))
    }
}

/// Reads a `Node`.
struct NodeReader<'s, 'a> {
    scope: &'s mut Scope<'a>,
    name: Option<NameId>,
    target: Option<TargetId>,
    input_count: Option<usize>,
    output_count: Option<usize>,
    metadata: Metadata,
    unknown_fields: Vec<(NameId, NameId)>,
    is_hop_single_tensor_return: Option<bool>,
}

impl<'de> Fields<'de> for NodeReader<'_, '_> {
    type Output = NodeParts;
    const WHAT: &'static str = "a node";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "target" => {
                let Text(target) = map.next_value()?;
                self.scope.reached(&target);
                self.target = Some(self.scope.context.target(&target));
            }
            "inputs" => self.input_count = Some(map.next_value_seed(Counted(Inputs(self.scope)))?),
            "outputs" => {
                self.output_count = Some(map.next_value_seed(Counted(Outputs(self.scope)))?)
            }
            "metadata" => {
                self.metadata.entries = map.next_value_seed(Object(MetadataReader {
                    context: self.scope.context,
                    entries: SmallVec::new(),
                }))?;
            }
            "is_hop_single_tensor_return" => self.is_hop_single_tensor_return = map.next_value()?,
            "name" => {
                let seed = OptionalSeed(Interned(&mut self.scope.context.names));
                self.name = map.next_value_seed(seed)?;
            }
            _ => {
                let field = unknown_field(&mut self.scope.context.names, key, map)?;
                self.unknown_fields.push(field);
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<NodeParts, E> {
        let metadata = Metadata {
            unknown_fields: self.unknown_fields.into_boxed_slice(),
            ..self.metadata
        };
        Ok(NodeParts {
            name: self.name,
            target: missing(self.target, "target")?,
            input_count: missing(self.input_count, "inputs")?,
            output_count: missing(self.output_count, "outputs")?,
            metadata: self.scope.context.intern_metadata(metadata),
            is_hop_single_tensor_return: self.is_hop_single_tensor_return,
        })
    }
}

/// Reads a node's `metadata`. What the texts mean does not matter here: they are kept.
struct MetadataReader<'a> {
    context: &'a mut Context,
    entries: SmallVec<[(NameId, NameId); 4]>,
}

impl<'de> Fields<'de> for MetadataReader<'_> {
    type Output = Box<[(NameId, NameId)]>;
    const WHAT: &'static str = "metadata";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let names = &mut self.context.names;
        let key = names.intern(key);
        let value = map.next_value_seed(Interned(names))?;
        self.entries.push((key, value));
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<Self::Output, E> {
        Ok(self.entries.as_slice().into())
    }
}

/// Reads a node's inputs into the scope; gives their count.
struct Inputs<'s, 'a>(&'s mut Scope<'a>);

impl<'de> List<'de> for Inputs<'_, '_> {
    fn item<A: SeqAccess<'de>>(&mut self, seq: &mut A) -> Result<bool, A::Error> {
        let input = seq.next_element_seed(Object(InputReader {
            scope: self.0,
            name: None,
            argument: None,
            kind: None,
        }))?;
        let found = input.is_some();
        self.0.node_inputs.extend(input);
        Ok(found)
    }
}

/// Reads a node's results into the scope; gives their count.
struct Outputs<'s, 'a>(&'s mut Scope<'a>);

impl<'de> List<'de> for Outputs<'_, '_> {
    fn item<A: SeqAccess<'de>>(&mut self, seq: &mut A) -> Result<bool, A::Error> {
        let output = seq.next_element_seed(self.0.argument())?;
        let found = output.is_some();
        self.0.node_outputs.extend(output);
        Ok(found)
    }
}

/// Reads a `NamedArgument`.
struct InputReader<'s, 'a> {
    scope: &'s mut Scope<'a>,
    name: Option<NameId>,
    argument: Option<Argument>,
    kind: Option<ArgumentKind>,
}

impl<'de> Fields<'de> for InputReader<'_, '_> {
    type Output = ArchiveInput;
    const WHAT: &'static str = "a named argument";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "name" => {
                let seed = Interned(&mut self.scope.context.names);
                self.name = Some(map.next_value_seed(seed)?);
            }
            "arg" => self.argument = Some(map.next_value_seed(self.scope.argument())?),
            "kind" => {
                self.kind = match map.next_value::<Option<u8>>()? {
                    Some(1) => Some(ArgumentKind::Positional),
                    Some(2) => Some(ArgumentKind::Keyword),
                    _ => None,
                };
            }
            _ => {
                map.next_value::<serde::de::IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<ArchiveInput, E> {
        Ok(ArchiveInput {
            name: missing(self.name, "name")?,
            argument: missing(self.argument, "arg")?,
            kind: self.kind,
        })
    }
}
