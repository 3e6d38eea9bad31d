//! Reading the arguments of nodes: the archive's `Argument` union.

use graven_ir::{Argument, Context, DType, Device, Layout, ListKind, MemoryFormat, NameId, NodeId};
use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess};

use super::graph::{ArchiveInput, GraphParts, GraphReader};
use super::progress::Progress;
use super::tensor::MetaCache;
use crate::json::{
    Element, Fields, Float, Interned, Object, Tagged, Text, Union, elements, missing, unknown_form,
};

/// What an argument refers to. The table of a graph's values stands behind its nodes, so names
/// are kept until all of the graph is read: meanwhile `Argument::Node(n)` is the `n`-th
/// reference.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reference {
    /// The value of that name.
    Value(NameId),
    /// The value of that name, if there is one; otherwise the constant, of that class.
    CustomObject(NameId, NameId),
    /// A nested graph of the scope, by its position.
    Graph(u32),
}

/// What the nodes and arguments of one graph are read with, and into.
pub(super) struct Scope<'a> {
    pub(super) context: &'a mut Context,
    pub(super) progress: Option<&'a Progress<'a>>,
    pub(super) references: Vec<Reference>,
    /// Nested graphs and the names of their attributes.
    pub(super) graphs: Vec<(NameId, GraphParts)>,
    pub(super) node_inputs: Vec<ArchiveInput>,
    pub(super) node_outputs: Vec<Argument>,
    pub(super) metas: MetaCache,
}

impl<'a> Scope<'a> {
    pub(super) fn new(context: &'a mut Context, progress: Option<&'a Progress<'a>>) -> Self {
        Self {
            context,
            progress,
            references: Vec::new(),
            graphs: Vec::new(),
            node_inputs: Vec::new(),
            node_outputs: Vec::new(),
            metas: MetaCache::default(),
        }
    }

    /// The reader has come to `part` of the text.
    pub(super) fn reached(&self, part: &str) {
        if let Some(progress) = self.progress {
            progress.reached(part);
        }
    }

    fn refer(&mut self, reference: Reference) -> Argument {
        let index = u32::try_from(self.references.len()).unwrap_or(u32::MAX);
        self.references.push(reference);
        Argument::Node(NodeId(index))
    }

    /// An `Argument`.
    pub(super) fn argument(&mut self) -> Tagged<ArgumentReader<'_, 'a>> {
        Tagged(ArgumentReader(self))
    }

    /// Any object of which only the name counts, as `TensorArgument`.
    pub(super) fn named(&mut self) -> Object<Named<'_>> {
        Object(Named {
            context: self.context,
            name: None,
            class: None,
        })
    }
}

/// Reads an `Argument`.
pub(super) struct ArgumentReader<'s, 'a>(&'s mut Scope<'a>);

impl<'de> Union<'de> for ArgumentReader<'_, '_> {
    type Output = Argument;
    const WHAT: &'static str = "an argument";

    fn value<A: MapAccess<'de>>(self, tag: &str, map: &mut A) -> Result<Argument, A::Error> {
        let scope = self.0;
        Ok(match tag {
            // `true`, and `[]` before torch 2.6.
            "as_none" => {
                map.next_value::<IgnoredAny>()?;
                Argument::None
            }
            "as_tensor" => {
                let (name, _) = map.next_value_seed(scope.named())?;
                scope.refer(Reference::Value(name))
            }
            "as_int" => Argument::Int(map.next_value()?),
            "as_float" => Argument::Float(map.next_value::<Float>()?.0),
            "as_bool" => Argument::Bool(map.next_value()?),
            "as_string" => {
                Argument::String(map.next_value_seed(Interned(&mut scope.context.names))?)
            }
            "as_sym_int" | "as_sym_float" | "as_sym_bool" => {
                map.next_value_seed(Tagged(SymReader(scope)))?
            }
            "as_optional_tensor" => map.next_value_seed(Tagged(OptionalTensorReader(scope)))?,
            "as_complex" => {
                let (real, imag) = map.next_value_seed(Object(ComplexReader::default()))?;
                Argument::Complex(real, imag)
            }
            "as_scalar_type" => Argument::DType(number(map, "dtype", DType::from_archive)?),
            "as_memory_format" => {
                Argument::MemoryFormat(number(map, "memory format", MemoryFormat::from_archive)?)
            }
            "as_layout" => Argument::Layout(number(map, "layout", Layout::from_archive)?),
            "as_device" => {
                Argument::Device(map.next_value_seed(Object(DeviceReader::new(scope.context)))?)
            }
            "as_operator" => {
                let Text(target) = map.next_value()?;
                Argument::Operator(scope.context.target(&target))
            }
            "as_custom_obj" => {
                let (name, class) = map.next_value_seed(scope.named())?;
                let class = missing(class, "class_fqn")?;
                scope.refer(Reference::CustomObject(name, class))
            }
            "as_graph" => map.next_value_seed(Object(GraphArgumentReader {
                scope,
                name: None,
                graph: None,
            }))?,
            "as_string_to_argument" => map.next_value_seed(Object(DictReader {
                scope,
                items: Vec::new(),
            }))?,
            _ => return list(scope, tag, map),
        })
    }
}

/// The list forms.
fn list<'de, A: MapAccess<'de>>(
    scope: &mut Scope<'_>,
    tag: &str,
    map: &mut A,
) -> Result<Argument, A::Error> {
    let (kind, items) = match tag {
        "as_tensors" => (
            ListKind::Tensors,
            map.next_value_seed(elements(scope, TensorItem))?,
        ),
        "as_optional_tensors" => (
            ListKind::OptionalTensors,
            map.next_value_seed(elements(scope, OptionalTensorItem))?,
        ),
        "as_nested_tensors" => (
            ListKind::NestedTensors,
            map.next_value_seed(elements(scope, TensorsItem))?,
        ),
        "as_ints" => (
            ListKind::Ints,
            map.next_value_seed(elements(scope, IntItem))?,
        ),
        "as_floats" => (
            ListKind::Floats,
            map.next_value_seed(elements(scope, FloatItem))?,
        ),
        "as_bools" => (
            ListKind::Bools,
            map.next_value_seed(elements(scope, BoolItem))?,
        ),
        "as_strings" => (
            ListKind::Strings,
            map.next_value_seed(elements(scope, StringItem))?,
        ),
        "as_int_lists" => (
            ListKind::IntLists,
            map.next_value_seed(elements(scope, IntsItem))?,
        ),
        "as_float_lists" => (
            ListKind::FloatLists,
            map.next_value_seed(elements(scope, FloatsItem))?,
        ),
        "as_sym_ints" => (
            ListKind::SymInts,
            map.next_value_seed(elements(scope, SymItem))?,
        ),
        "as_sym_floats" => (
            ListKind::SymFloats,
            map.next_value_seed(elements(scope, SymItem))?,
        ),
        "as_sym_bools" => (
            ListKind::SymBools,
            map.next_value_seed(elements(scope, SymItem))?,
        ),
        _ => return Err(unknown_form("an argument", tag)),
    };
    Ok(Argument::List(kind, items.into_boxed_slice()))
}

/// A number that stands for a constant of torch.
fn number<'de, T, A: MapAccess<'de>>(
    map: &mut A,
    what: &str,
    find: impl Fn(u64) -> Option<T>,
) -> Result<T, A::Error> {
    let number = map.next_value()?;
    find(number).ok_or_else(|| A::Error::custom(format_args!("unknown {what} {number}")))
}

macro_rules! item {
    ($(#[$doc:meta])* $name:ident, |$scope:ident, $seq:ident| $read:expr) => {
        $(#[$doc])*
        struct $name;

        impl Element<Scope<'_>, Argument> for $name {
            fn next<'de, A: SeqAccess<'de>>(
                &self,
                $scope: &mut Scope<'_>,
                $seq: &mut A,
            ) -> Result<Option<Argument>, A::Error> {
                $read
            }
        }
    };
}

item!(TensorItem, |scope, seq| {
    let named = seq.next_element_seed(scope.named())?;
    Ok(named.map(|(name, _)| scope.refer(Reference::Value(name))))
});
item!(OptionalTensorItem, |scope, seq| {
    seq.next_element_seed(Tagged(OptionalTensorReader(scope)))
});
item!(TensorsItem, |scope, seq| {
    let inner = seq.next_element_seed(elements(scope, TensorItem))?;
    Ok(inner.map(|items| Argument::List(ListKind::Tensors, items.into_boxed_slice())))
});
item!(IntItem, |_scope, seq| Ok(seq
    .next_element()?
    .map(Argument::Int)));
item!(FloatItem, |_scope, seq| Ok(seq
    .next_element()?
    .map(|Float(value)| Argument::Float(value))));
item!(BoolItem, |_scope, seq| Ok(seq
    .next_element()?
    .map(Argument::Bool)));
item!(StringItem, |scope, seq| Ok(seq
    .next_element_seed(Interned(&mut scope.context.names))?
    .map(Argument::String)));
item!(IntsItem, |scope, seq| {
    let inner = seq.next_element_seed(elements(scope, IntItem))?;
    Ok(inner.map(|items| Argument::List(ListKind::Ints, items.into_boxed_slice())))
});
item!(FloatsItem, |scope, seq| {
    let inner = seq.next_element_seed(elements(scope, FloatItem))?;
    Ok(inner.map(|items| Argument::List(ListKind::Floats, items.into_boxed_slice())))
});
item!(SymItem, |scope, seq| seq
    .next_element_seed(Tagged(SymReader(scope))));

/// Reads a symbolic argument: a value's name or a plain number.
struct SymReader<'s, 'a>(&'s mut Scope<'a>);

impl<'de> Union<'de> for SymReader<'_, '_> {
    type Output = Argument;
    const WHAT: &'static str = "a symbolic argument";

    fn value<A: MapAccess<'de>>(self, tag: &str, map: &mut A) -> Result<Argument, A::Error> {
        Ok(match tag {
            "as_name" => {
                let name = map.next_value_seed(Interned(&mut self.0.context.names))?;
                self.0.refer(Reference::Value(name))
            }
            "as_int" => Argument::Int(map.next_value()?),
            "as_float" => Argument::Float(map.next_value::<Float>()?.0),
            "as_bool" => Argument::Bool(map.next_value()?),
            _ => return Err(unknown_form(Self::WHAT, tag)),
        })
    }
}

/// Reads an `OptionalTensorArgument`.
struct OptionalTensorReader<'s, 'a>(&'s mut Scope<'a>);

impl<'de> Union<'de> for OptionalTensorReader<'_, '_> {
    type Output = Argument;
    const WHAT: &'static str = "an optional tensor";

    fn value<A: MapAccess<'de>>(self, tag: &str, map: &mut A) -> Result<Argument, A::Error> {
        Ok(match tag {
            "as_tensor" => {
                let (name, _) = map.next_value_seed(self.0.named())?;
                self.0.refer(Reference::Value(name))
            }
            "as_none" => {
                map.next_value::<IgnoredAny>()?;
                Argument::None
            }
            _ => return Err(unknown_form(Self::WHAT, tag)),
        })
    }
}

/// Reads an object with a name and maybe a class.
pub(super) struct Named<'a> {
    context: &'a mut Context,
    name: Option<NameId>,
    class: Option<NameId>,
}

impl<'de> Fields<'de> for Named<'_> {
    type Output = (NameId, Option<NameId>);
    const WHAT: &'static str = "an object with a name";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let names = &mut self.context.names;
        match key {
            "name" => self.name = Some(map.next_value_seed(Interned(names))?),
            "class_fqn" => self.class = Some(map.next_value_seed(Interned(names))?),
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<Self::Output, E> {
        Ok((missing(self.name, "name")?, self.class))
    }
}

/// Reads a `ComplexValue`.
#[derive(Default)]
struct ComplexReader {
    real: Option<f64>,
    imag: Option<f64>,
}

impl<'de> Fields<'de> for ComplexReader {
    type Output = (f64, f64);
    const WHAT: &'static str = "a complex number";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "real" => self.real = Some(map.next_value::<Float>()?.0),
            "imag" => self.imag = Some(map.next_value::<Float>()?.0),
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<(f64, f64), E> {
        Ok((missing(self.real, "real")?, missing(self.imag, "imag")?))
    }
}

/// Reads a `Device`.
pub(super) struct DeviceReader<'a> {
    context: &'a mut Context,
    kind: Option<NameId>,
    index: Option<i32>,
}

impl<'a> DeviceReader<'a> {
    pub(super) fn new(context: &'a mut Context) -> Self {
        Self {
            context,
            kind: None,
            index: None,
        }
    }
}

impl<'de> Fields<'de> for DeviceReader<'_> {
    type Output = Device;
    const WHAT: &'static str = "a device";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "type" => {
                self.kind = Some(map.next_value_seed(Interned(&mut self.context.names))?);
            }
            "index" => self.index = map.next_value()?,
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<Device, E> {
        Ok(Device {
            kind: missing(self.kind, "type")?,
            index: self.index,
        })
    }
}

/// Reads a `GraphArgument`.
struct GraphArgumentReader<'s, 'a> {
    scope: &'s mut Scope<'a>,
    name: Option<NameId>,
    graph: Option<GraphParts>,
}

impl<'de> Fields<'de> for GraphArgumentReader<'_, '_> {
    type Output = Argument;
    const WHAT: &'static str = "a nested graph";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "name" => {
                self.name = Some(map.next_value_seed(Interned(&mut self.scope.context.names))?);
            }
            "graph" => {
                let reader = GraphReader::new(self.scope.context, self.scope.progress);
                self.graph = Some(map.next_value_seed(Object(reader))?);
            }
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<Argument, E> {
        let name = missing(self.name, "name")?;
        let graph = missing(self.graph, "graph")?;
        let position = u32::try_from(self.scope.graphs.len()).unwrap_or(u32::MAX);
        self.scope.graphs.push((name, graph));
        Ok(self.scope.refer(Reference::Graph(position)))
    }
}

/// Reads a mapping from strings to arguments.
struct DictReader<'s, 'a> {
    scope: &'s mut Scope<'a>,
    items: Vec<(NameId, Argument)>,
}

impl<'de> Fields<'de> for DictReader<'_, '_> {
    type Output = Argument;
    const WHAT: &'static str = "a mapping of arguments";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let name = self.scope.context.names.intern(key);
        let argument = map.next_value_seed(self.scope.argument())?;
        self.items.push((name, argument));
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<Argument, E> {
        Ok(Argument::Dict(self.items.into_boxed_slice()))
    }
}
