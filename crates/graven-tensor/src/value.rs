//! What operators take and return.

use std::sync::Arc;

use graven_ir::{DType, Layout, MemoryFormat};

use crate::array::Array;
use crate::element::Complex;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// An argument or a result of an operator.
#[derive(Clone, Debug)]
pub enum Value {
    /// `None`
    None,
    /// A tensor.
    Tensor(Tensor),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A complex number.
    Complex(Complex<f64>),
    /// A string.
    Str(Arc<str>),
    /// A dtype.
    DType(DType),
    /// A layout.
    Layout(Layout),
    /// A device, as torch writes it.
    Device(Arc<str>),
    /// A memory format.
    MemoryFormat(MemoryFormat),
    /// A list, or the results of an operator that has several.
    List(Vec<Value>),
}

impl Value {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Tensor(_) => "a tensor",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Bool(_) => "a truth value",
            Self::Complex(_) => "a complex number",
            Self::Str(_) => "a string",
            Self::DType(_) => "a dtype",
            Self::Layout(_) => "a layout",
            Self::Device(_) => "a device",
            Self::MemoryFormat(_) => "a memory format",
            Self::List(_) => "a list",
        }
    }

    /// The tensor.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The number.
    pub fn as_scalar(&self) -> Option<Scalar> {
        match self {
            Self::Int(value) => Some(Scalar::Int(*value)),
            Self::Float(value) => Some(Scalar::Float(*value)),
            Self::Bool(value) => Some(Scalar::Bool(*value)),
            Self::Complex(value) => Some(Scalar::Complex(*value)),
            _ => None,
        }
    }

    /// The list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        Self::Tensor(Tensor::new(array))
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl From<Vec<Array>> for Value {
    fn from(arrays: Vec<Array>) -> Self {
        Self::List(arrays.into_iter().map(Self::from).collect())
    }
}

impl<const N: usize> From<[Array; N]> for Value {
    fn from(arrays: [Array; N]) -> Self {
        Self::List(arrays.into_iter().map(Self::from).collect())
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Int(value) => Self::Int(value),
            Scalar::Float(value) => Self::Float(value),
            Scalar::Complex(value) => Self::Complex(value),
        }
    }
}
