//! Operator schemas: ATen's declaration language, parsed.
//!
//! `aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)` says what
//! an operator is called, what it takes, what it returns, and which arguments it writes or
//! aliases. Every fact that functionalization needs of an operator comes from here first.

mod error;
mod facts;
mod name;
mod parse;
mod print;

pub use error::{CallError, SchemaError};
pub use facts::ReturnAlias;
pub use name::{OperatorName, OperatorRef};

/// A type of an argument or result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SchemaType {
    /// `Tensor`
    Tensor,
    /// `int`
    Int,
    /// `SymInt`
    SymInt,
    /// `float`
    Float,
    /// `SymFloat`
    SymFloat,
    /// `bool`
    Bool,
    /// `SymBool`
    SymBool,
    /// `complex`
    Complex,
    /// `Scalar`
    Scalar,
    /// `str`
    Str,
    /// `ScalarType`
    ScalarType,
    /// `Layout`
    Layout,
    /// `Device`
    Device,
    /// `MemoryFormat`
    MemoryFormat,
    /// Any other: `Generator`, `Storage`, `Stream`, `Dimname`, a class, a type variable.
    Named(Box<str>),
    /// `T?`
    Optional(Box<SchemaType>),
    /// `T[]`, or `T[n]`: a single value then stands for n of it.
    List(Box<SchemaType>, Option<u32>),
    /// `(T, U)`
    Tuple(Box<[SchemaType]>),
    /// `Dict(K, V)`
    Dict(Box<SchemaType>, Box<SchemaType>),
}

/// An alias annotation: `(a)`, `(a!)`, `(a -> *)`, `(a|b)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Alias {
    /// The sets it is in before the call; empty stands for the wildcard `*`.
    pub before: Box<[Box<str>]>,
    /// The sets it is in after the call, where that differs: empty stands for `*`.
    pub after: Option<Box<[Box<str>]>>,
    /// Whether the call writes to it.
    pub is_write: bool,
}

/// A default value.
#[derive(Clone, PartialEq, Debug)]
pub enum DefaultValue {
    /// `None`
    None,
    /// `True`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1e-05`
    Float(f64),
    /// `"mean"`
    String(Box<str>),
    /// `[0, 1]`
    List(Box<[DefaultValue]>),
    /// An enumerator by name: `contiguous_format`, `Mean`, `long`.
    Named(Box<str>),
}

/// An argument.
#[derive(Clone, PartialEq, Debug)]
pub struct SchemaArgument {
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub ty: SchemaType,
    /// Its alias annotation; inside a list, that of the elements.
    pub alias: Option<Alias>,
    /// Its default.
    pub default: Option<DefaultValue>,
    /// Whether it can only be given by name.
    pub keyword_only: bool,
}

/// A result.
#[derive(Clone, PartialEq, Debug)]
pub struct SchemaReturn {
    /// Its name, where it has one.
    pub name: Option<Box<str>>,
    /// Its type.
    pub ty: SchemaType,
    /// Its alias annotation.
    pub alias: Option<Alias>,
}

/// A schema.
#[derive(Clone, PartialEq, Debug)]
pub struct Schema {
    /// The operator.
    pub name: OperatorName,
    /// What it takes, in order.
    pub arguments: Box<[SchemaArgument]>,
    /// What it returns.
    pub returns: Box<[SchemaReturn]>,
}
