//! The one door through which formulas make operator calls.
//!
//! A decomposition, a view inverse or a derivative is written once against [`Emit`]. What a
//! call does is up to the implementor: functionalization records nodes, an evaluator computes.

use graven_ir::{Context, DType, Device, Layout, MemoryFormat, SymInt, TensorMeta};

/// An argument of an emitted call.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg<V> {
    /// `None`
    None,
    /// A tensor, or another value that the implementor made.
    Value(V),
    /// An integer, symbolic or not.
    Int(SymInt),
    /// A float.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A complex number.
    Complex(f64, f64),
    /// A string.
    Str(Box<str>),
    /// A dtype.
    DType(DType),
    /// A layout.
    Layout(Layout),
    /// A device.
    Device(Device),
    /// A memory format.
    MemoryFormat(MemoryFormat),
    /// A list of tensors, optional tensors, integers, floats or booleans.
    List(Vec<Arg<V>>),
}

impl<V> Arg<V> {
    /// A constant integer.
    pub fn int(value: i64) -> Self {
        Self::Int(SymInt::Int(value))
    }

    /// A list of sizes or dimensions.
    pub fn ints(values: impl IntoIterator<Item = SymInt>) -> Self {
        Self::List(values.into_iter().map(Self::Int).collect())
    }

    /// A list of constant integers.
    pub fn const_ints(values: impl IntoIterator<Item = i64>) -> Self {
        Self::List(values.into_iter().map(Self::int).collect())
    }
}

/// Makes operator calls.
pub trait Emit {
    /// A tensor of the implementor.
    type Value: Clone;
    /// What can go wrong.
    type Error: From<crate::emit::EmitError>;

    /// Calls the operator with this full name (`aten::add.Tensor`) and returns its results, one
    /// for each tensor that it returns; elements of a returned list stand in order.
    ///
    /// Writing operators may be called too: an implementor that records pure graphs turns them
    /// into their functional twins.
    fn call(
        &mut self,
        operator: &str,
        args: &[Arg<Self::Value>],
        kwargs: &[(&str, Arg<Self::Value>)],
    ) -> Result<Vec<Self::Value>, Self::Error>;

    /// The metadata of a tensor.
    fn meta<'a>(&'a self, value: &'a Self::Value) -> &'a TensorMeta;

    /// Whether a tensor has its conjugate bit set.
    fn is_conjugate(&self, _value: &Self::Value) -> bool {
        false
    }

    /// Whether a tensor has its negative bit set.
    fn is_negative(&self, _value: &Self::Value) -> bool {
        false
    }

    /// The tables, for arithmetic on symbolic sizes.
    fn context(&mut self) -> &mut Context;
}

/// What a formula itself can find wrong with a call.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum EmitError {
    /// An argument is missing or of a type that the formula cannot use.
    #[error("{operator}: argument `{argument}` {problem}")]
    Argument {
        /// The operator.
        operator: String,
        /// The argument's name in the schema.
        argument: String,
        /// What is wrong, as the end of a sentence.
        problem: String,
    },
    /// The operator has no shape rule, and the formula needs one.
    #[error("{operator} has no shape rule; add one to its catalogue entry")]
    NoShapeRule {
        /// The operator.
        operator: String,
    },
    /// The metadata does not fit the operator.
    #[error("{operator}: {problem}")]
    Shape {
        /// The operator.
        operator: String,
        /// What does not fit.
        problem: String,
    },
}
