//! Arguments of operator calls.

use crate::context::TargetId;
use crate::dtype::{DType, Device, Layout, MemoryFormat};
use crate::graph::NodeId;
use crate::names::NameId;

/// A value given to an operator, or returned by a graph.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    /// Python's `None`.
    None,
    /// The value of another node: a tensor, a symbolic number, a graph, a token.
    Node(NodeId),
    /// An integer.
    Int(i64),
    /// A floating-point number; infinities and NaN are allowed.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
    /// A string.
    String(NameId),
    /// A dtype: `torch.float32`.
    DType(DType),
    /// A memory format: `torch.contiguous_format`.
    MemoryFormat(MemoryFormat),
    /// A layout: `torch.strided`.
    Layout(Layout),
    /// A device: `cpu`.
    Device(Device),
    /// An operator given as data, as to `auto_functionalized_v2`.
    Operator(TargetId),
    /// A script object that is not a node's value: name and class.
    CustomObject(NameId, NameId),
    /// A list. The kind says which of the archive's list forms it has.
    List(ListKind, Box<[Argument]>),
    /// A mapping from strings, in order.
    Dict(Box<[(NameId, Argument)]>),
}

// Two machine words and a tag: graphs hold millions of these.
const _: () = assert!(size_of::<Argument>() <= 24);

/// Which list form of the archive's `Argument` a list has; what it may hold follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ListKind {
    /// `as_tensors`: tensors only.
    Tensors,
    /// `as_optional_tensors`: tensors and `None`.
    OptionalTensors,
    /// `as_ints`: integers only.
    Ints,
    /// `as_sym_ints`: integers and nodes that are symbolic integers.
    SymInts,
    /// `as_floats`
    Floats,
    /// `as_sym_floats`
    SymFloats,
    /// `as_bools`
    Bools,
    /// `as_sym_bools`
    SymBools,
    /// `as_strings`
    Strings,
    /// `as_nested_tensors`: lists of tensors.
    NestedTensors,
    /// `as_int_lists`: lists of integers.
    IntLists,
    /// `as_float_lists`: lists of floats.
    FloatLists,
    /// Anything else that a pass may build and the text forms may print.
    Mixed,
    /// A Python tuple, printed with round brackets; the archive has no form of its own for it.
    Tuple,
}

/// Whether an argument is given by position or by name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgumentKind {
    /// One of FX's `args`.
    Positional,
    /// One of FX's `kwargs`.
    Keyword,
}

/// One argument of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    /// The schema's name of the argument; empty where a higher-order operator has none.
    pub name: NameId,
    /// By position or by name. Positional inputs come first.
    pub kind: ArgumentKind,
    /// The value.
    pub argument: Argument,
}

impl Argument {
    /// An `as_ints` list.
    pub fn ints(values: impl IntoIterator<Item = i64>) -> Self {
        Self::List(ListKind::Ints, values.into_iter().map(Self::Int).collect())
    }

    /// An `as_tensors` list.
    pub fn tensors(values: impl IntoIterator<Item = NodeId>) -> Self {
        Self::List(
            ListKind::Tensors,
            values.into_iter().map(Self::Node).collect(),
        )
    }

    /// The node, if this is one.
    pub fn as_node(&self) -> Option<NodeId> {
        match self {
            Self::Node(node) => Some(*node),
            _ => None,
        }
    }

    /// The integer, if this is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements, if this is a list or a tuple.
    pub fn as_list(&self) -> Option<&[Argument]> {
        match self {
            Self::List(_, items) => Some(items),
            _ => None,
        }
    }

    /// The elements as constants, if this is a list of plain integers.
    pub fn as_ints(&self) -> Option<Vec<i64>> {
        self.as_list()?.iter().map(Self::as_int).collect()
    }

    /// Calls `visit` with each node that this argument names, in order, repeats included.
    pub fn for_each_node(&self, visit: &mut impl FnMut(NodeId)) {
        match self {
            Self::Node(node) => visit(*node),
            // Lists nest two deep at most (`NestedTensors`): readers refuse deeper ones.
            Self::List(_, items) => items.iter().for_each(|item| item.for_each_node(visit)),
            Self::Dict(items) => items.iter().for_each(|(_, item)| item.for_each_node(visit)),
            _ => {}
        }
    }

    /// The same argument with each node replaced.
    pub fn map_nodes(&self, map: &mut impl FnMut(NodeId) -> Argument) -> Argument {
        match self {
            Self::Node(node) => map(*node),
            Self::List(kind, items) => Self::List(
                *kind,
                items.iter().map(|item| item.map_nodes(map)).collect(),
            ),
            Self::Dict(items) => Self::Dict(
                items
                    .iter()
                    .map(|(name, item)| (*name, item.map_nodes(map)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }
}
