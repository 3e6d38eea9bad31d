//! Numbers as arguments: torch's `Scalar`.

use graven_ir::DType;

use crate::element::{Complex, Element};

/// A number as an argument.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
}

impl Scalar {
    /// As an element of a tensor.
    pub fn to<T: Element>(self) -> T {
        match self {
            Self::Bool(value) => T::from_bool(value),
            Self::Int(value) => T::from_i64(value),
            Self::Float(value) => T::from_f64(value),
            Self::Complex(value) => T::from_complex(value),
        }
    }

    /// Its real part.
    pub fn to_f64(self) -> f64 {
        self.to()
    }

    /// Its integer value.
    pub fn to_i64(self) -> i64 {
        self.to()
    }

    /// The dtype that a tensor made of it has: `int64`, the default float, `bool`, ...
    pub fn dtype(self) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::Int(_) => DType::Int64,
            Self::Float(_) => DType::Float32,
            Self::Complex(_) => DType::Complex64,
        }
    }

    /// An element of a tensor as a scalar.
    pub fn from_element<T: Element>(value: T) -> Self {
        match T::DTYPE {
            DType::Bool => Self::Bool(value.is_true()),
            dtype if dtype.is_complex() => Self::Complex(value.to_complex()),
            dtype if dtype.is_floating_point() => Self::Float(value.to_f64()),
            _ => Self::Int(value.to_i64()),
        }
    }
}
