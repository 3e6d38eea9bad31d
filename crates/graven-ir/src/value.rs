//! What is known of a node's value: torch's `meta["val"]`.

use indexmap::IndexSet;
use smallvec::SmallVec;

use crate::dtype::{DType, Device, Layout};
use crate::names::NameId;
use crate::symint::{SymExprId, SymInt};

/// Sizes or strides.
pub type Dims = SmallVec<[SymInt; 4]>;

/// Shape, strides and type of a tensor, as the archive's `TensorMeta`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorMeta {
    /// Element type.
    pub dtype: DType,
    /// Elements per dimension.
    pub sizes: Dims,
    /// Elements to step over per dimension.
    pub strides: Dims,
    /// The first element's place in the storage, in elements.
    pub storage_offset: SymInt,
    /// `torch.strided` or a sparse layout.
    pub layout: Layout,
    /// Where it lives.
    pub device: Device,
    /// Whether autograd follows it.
    pub requires_grad: bool,
}

/// An interned [`TensorMeta`]: equal ids, equal metadata.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TensorMetaId(u32);

/// The tensor metadata of one program, each stored once: the values of a deep network share
/// few shapes.
#[derive(Clone, Debug, Default)]
pub struct TensorMetas {
    set: IndexSet<TensorMeta>,
}

impl TensorMetas {
    /// The id of `meta`, added when it is new.
    pub fn intern(&mut self, meta: TensorMeta) -> TensorMetaId {
        let (index, _) = self.set.insert_full(meta);
        TensorMetaId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The metadata of `id`.
    pub fn get(&self, id: TensorMetaId) -> &TensorMeta {
        &self.set[id.0 as usize]
    }

    /// How many different ones there are.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}

/// What is known of a node's value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Nothing, or nothing needed: `get_attr` of a graph, a call without a result.
    None,
    /// A tensor.
    Tensor(TensorMetaId),
    /// A symbolic integer, or one that turned out to be constant.
    SymInt(SymInt),
    /// A symbolic float: its expression.
    SymFloat(SymExprId),
    /// A symbolic float that turned out to be constant.
    Float(f64),
    /// A symbolic truth value: its expression.
    SymBool(SymExprId),
    /// A symbolic truth value that turned out to be constant.
    Bool(bool),
    /// An effect token.
    Token,
    /// A script object: its class.
    CustomObject(NameId),
    /// A placeholder for an input that is not a tensor; the signature holds its value.
    Constant,
    /// Several results, read by `getitem`: a tuple, by schema.
    Tuple(Box<[Value]>),
    /// A list result, read by `getitem`.
    List(Box<[Value]>),
}

impl Value {
    /// The tensor metadata, if this is a tensor.
    pub fn as_tensor(&self) -> Option<TensorMetaId> {
        match self {
            Self::Tensor(id) => Some(*id),
            _ => None,
        }
    }

    /// The results, if there are several.
    pub fn elements(&self) -> Option<&[Value]> {
        match self {
            Self::Tuple(items) | Self::List(items) => Some(items),
            _ => None,
        }
    }
}
