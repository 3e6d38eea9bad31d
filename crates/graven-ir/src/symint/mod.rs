//! Symbolic integers: sizes that are only known when the program runs.
//!
//! [`SymExprs`] holds the expressions of one program, each once, so that equal expressions have
//! equal ids. Archives spell expressions in sympy's `srepr` form, printed programs in sympy's
//! `str` form; both are read ([`SymExprs::parse_srepr`], [`SymExprs::parse_str`]) and written
//! ([`SymExprs::srepr`], [`SymExprs::display`]).
//!
//! Arithmetic keeps sympy's canonical form, so that an expression that a pass computes prints as
//! the one that torch would have computed: sums and products are flat, like terms are collected,
//! a numeric factor is multiplied into a sum, and arguments stand in the order in which sympy
//! prints them. A number beyond 64 bits is an error, never a wrapped value.
//!
//! Two things differ on purpose. What a symbol's assumptions imply is computed with ranges, which
//! decides a little more than sympy does: `s77*(s27 + 10) == 4` is false at once. And of sympy's
//! `simplify`, which torch calls on the two sides of a division after cancelling, only putting
//! common factors outside a sum is done.
//!
//! Expressions can come from hostile files. Every node records the depth and the size of its tree,
//! and [`SymExprs`] refuses trees beyond [`MAX_DEPTH`] and [`MAX_TREE_SIZE`]; the recursive walks
//! of this module rely on that bound.

mod apply;
mod arena;
mod arithmetic;
mod bound;
mod build;
mod divide;
mod error;
mod evaluate;
mod function;
mod minmax;
mod order;
mod parse_srepr;
mod parse_str;
mod polynomial;
mod pow;
mod print;
mod range;
mod ratio;
mod relation;
mod srepr;
mod substitute;
mod token;

pub use arena::{Constant, SymExpr, SymExprs, Symbol, SymbolId};
pub use error::SymError;
pub use evaluate::Hint;
pub use function::{FunctionNameId, SymFunction};
pub use range::{Bound, ValueRange};
pub use relation::Relation;

/// The deepest nesting that an expression may have.
pub const MAX_DEPTH: u16 = 200;

/// The most nodes that an expression, written out as a tree, may have.
pub const MAX_TREE_SIZE: u32 = 10_000;

/// The longest text of one expression that is read, in bytes.
pub const MAX_TEXT: usize = 1 << 20;

/// An expression of one [`SymExprs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SymExprId(pub(crate) u32);

impl SymExprId {
    /// The position in the table, for dense side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A size: a constant or an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymInt {
    /// A constant.
    Int(i64),
    /// An expression.
    Expr(SymExprId),
}

impl SymInt {
    /// The value, when it is a constant.
    pub fn as_int(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            Self::Expr(_) => None,
        }
    }

    /// The expression, when it is not a constant.
    pub fn as_expr(self) -> Option<SymExprId> {
        match self {
            Self::Int(_) => None,
            Self::Expr(id) => Some(id),
        }
    }
}

impl From<i64> for SymInt {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

/// A condition on sizes: decided or an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymBool {
    /// Decided.
    Bool(bool),
    /// A relation or a combination of relations.
    Expr(SymExprId),
}

impl SymBool {
    /// The truth, when it is decided.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(value),
            Self::Expr(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
