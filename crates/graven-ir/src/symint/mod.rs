//! Symbolic integers.

/// An expression of one [`SymExprs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SymExprId(pub(crate) u32);

/// A size: a constant or an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymInt {
    /// A constant.
    Int(i64),
    /// An expression.
    Expr(SymExprId),
}

/// The expressions of one program.
#[derive(Clone, Debug, Default)]
pub struct SymExprs {}
