//! Computing an expression from values of its symbols, and the values seen at export.

use super::apply::{Failure, Value, apply};
use super::arena::{Constant, SymExpr, SymExprs, SymbolId};
use super::function::SymFunction;
use super::ratio::Ratio;
use super::{SymError, SymExprId, SymInt};

/// The value of an expression: of its size when the program was exported, or with given symbols.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Hint {
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

impl Hint {
    /// The integer, if it is one.
    pub fn as_int(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            Self::Float(_) | Self::Bool(_) => None,
        }
    }
}

impl SymExprs {
    /// The value that `id` had at export: recorded, or computed from its symbols' values.
    pub fn hint(&self, id: SymExprId) -> Option<Hint> {
        let recorded = self.recorded_hint(id);
        recorded.or_else(|| {
            self.evaluate_hint(id, &|symbol| self.symbol_hint(symbol))
                .ok()
        })
    }

    /// The value that a size had at export.
    pub fn size_hint(&self, size: SymInt) -> Option<i64> {
        match size {
            SymInt::Int(value) => Some(value),
            SymInt::Expr(id) => self.hint(id)?.as_int(),
        }
    }

    fn symbol_hint(&self, symbol: SymbolId) -> Option<Hint> {
        self.recorded_hint(self.symbol_expr(symbol)?)
    }

    /// The integer that `id` is when each symbol has the value that `value_of` gives.
    pub fn evaluate(
        &self,
        id: SymExprId,
        value_of: impl Fn(SymbolId) -> Option<i64>,
    ) -> Result<i64, SymError> {
        match self.evaluate_hint(id, &|symbol| value_of(symbol).map(Hint::Int))? {
            Hint::Int(value) => Ok(value),
            Hint::Float(_) | Hint::Bool(_) => Err(self.wrong_kind(id, "an integer")),
        }
    }

    /// The value of `id`, of whatever kind, when each symbol has the value that `value_of` gives.
    pub fn evaluate_hint(
        &self,
        id: SymExprId,
        value_of: &dyn Fn(SymbolId) -> Option<Hint>,
    ) -> Result<Hint, SymError> {
        self.evaluate_value(id, value_of).map(Hint::from)
    }

    fn evaluate_value(
        &self,
        id: SymExprId,
        value_of: &dyn Fn(SymbolId) -> Option<Hint>,
    ) -> Result<Value, SymError> {
        match self.get(id) {
            SymExpr::Integer(value) => Ok(Value::int(*value)),
            SymExpr::Symbol(symbol) => {
                let value = value_of(*symbol).map(Value::from);
                value.ok_or_else(|| SymError::UnboundSymbol {
                    symbol: self.symbol_name(*symbol).to_owned(),
                })
            }
            SymExpr::Rational(numerator, denominator) => Ratio::new(*numerator, *denominator)
                .map(Value::Exact)
                .ok_or_else(|| self.cannot_evaluate(id)),
            SymExpr::Constant(Constant::True) => Ok(Value::Bool(true)),
            SymExpr::Constant(Constant::False) => Ok(Value::Bool(false)),
            SymExpr::Constant(Constant::Infinity) => Ok(Value::Float(f64::INFINITY)),
            SymExpr::Constant(Constant::NegativeInfinity) => Ok(Value::Float(f64::NEG_INFINITY)),
            SymExpr::Constant(Constant::NaN) => Ok(Value::Float(f64::NAN)),
            SymExpr::Float { .. } => {
                let value = self.number_value(id);
                Ok(Value::Float(value.ok_or_else(|| self.cannot_evaluate(id))?))
            }
            SymExpr::BigInteger(_) | SymExpr::Constant(_) => Err(self.cannot_evaluate(id)),
            SymExpr::Call(function, args) => self.evaluate_call(id, *function, args, value_of),
        }
    }

    fn evaluate_call(
        &self,
        id: SymExprId,
        function: SymFunction,
        args: &[SymExprId],
        value_of: &dyn Fn(SymbolId) -> Option<Hint>,
    ) -> Result<Value, SymError> {
        if let (SymFunction::Where, [condition, then, otherwise]) = (function, args) {
            // Only the chosen side need have a value.
            let chosen = match self.evaluate_value(*condition, value_of)? {
                Value::Bool(true) => *then,
                Value::Bool(false) => *otherwise,
                _ => return Err(self.wrong_kind(*condition, "a condition")),
            };
            return self.evaluate_value(chosen, value_of);
        }
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.evaluate_value(*arg, value_of)?);
        }
        let name = self.function_name(function);
        let value = match apply(function, name, &values) {
            Ok(value) => value,
            Err(Failure::Kind) => return Err(self.wrong_kind(id, "a computation on numbers")),
            Err(Failure::Unknown) => return Err(self.cannot_evaluate(id)),
            Err(Failure::Typed(error)) => return Err(error),
        };
        Ok(value)
    }

    pub(super) fn wrong_kind(&self, id: SymExprId, expected: &'static str) -> SymError {
        SymError::WrongKind {
            expr: self.display(id),
            expected,
        }
    }

    fn cannot_evaluate(&self, id: SymExprId) -> SymError {
        SymError::CannotEvaluate {
            what: self.display(id),
        }
    }
}
