//! What is known of an expression's value: its range, whether it is an integer, its parity.

use super::arena::{Constant, SymExpr, SymExprs, SymbolId};
use super::function::SymFunction;
use super::range::{Bound, ValueRange};
use super::{SymExprId, SymInt};

impl SymExprs {
    /// The values that `id` can have when each symbol is in the range that `range_of` gives.
    /// What a symbol's assumptions say is taken into account.
    pub fn bound(&self, id: SymExprId, range_of: &dyn Fn(SymbolId) -> ValueRange) -> ValueRange {
        match self.get(id) {
            SymExpr::Integer(value) => ValueRange::exactly(*value),
            SymExpr::BigInteger(digits) if digits.starts_with('-') => ValueRange {
                lower: Bound::NegativeInfinity,
                upper: Bound::Int(i64::MIN),
            },
            SymExpr::BigInteger(_) => ValueRange::new(Some(i64::MAX), None),
            SymExpr::Symbol(symbol) => range_of(*symbol).intersect(self.assumed_range(*symbol)),
            SymExpr::Constant(Constant::True) => ValueRange::exactly(1),
            SymExpr::Constant(Constant::False) => ValueRange::exactly(0),
            SymExpr::Call(function, args) => self.bound_call(*function, args, range_of),
            SymExpr::Rational(..) | SymExpr::Float { .. } | SymExpr::Constant(_) => ValueRange::ALL,
        }
    }

    /// The values that a size can have.
    pub fn bound_size(
        &self,
        size: SymInt,
        range_of: &dyn Fn(SymbolId) -> ValueRange,
    ) -> ValueRange {
        match size {
            SymInt::Int(value) => ValueRange::exactly(value),
            SymInt::Expr(id) => self.bound(id, range_of),
        }
    }

    /// What a symbol's assumptions say of its value.
    pub fn assumed_range(&self, symbol: SymbolId) -> ValueRange {
        let Some(symbol) = self.symbol_info(symbol) else {
            return ValueRange::ALL;
        };
        let holds = |fact| symbol.assumption(fact) == Some(true);
        // Between 0 and 1 there are real numbers that are positive.
        let least_positive = i64::from(holds("integer"));
        let lower = if holds("positive") {
            Some(least_positive)
        } else if holds("nonnegative") {
            Some(0)
        } else {
            None
        };
        let upper = if holds("negative") {
            Some(-least_positive)
        } else if holds("nonpositive") {
            Some(0)
        } else {
            None
        };
        ValueRange::new(lower, upper)
    }

    /// The range that follows from assumptions alone.
    pub(super) fn assumed_bound(&self, id: SymExprId) -> ValueRange {
        self.bound(id, &|_| ValueRange::ALL)
    }

    fn bound_call(
        &self,
        function: SymFunction,
        args: &[SymExprId],
        range_of: &dyn Fn(SymbolId) -> ValueRange,
    ) -> ValueRange {
        let bound = |id: &SymExprId| self.bound(*id, range_of);
        let fold = |start, operation: fn(ValueRange, ValueRange) -> ValueRange| {
            args.iter().map(bound).fold(start, operation)
        };
        match (function, args) {
            (function, _) if function.is_boolean() => ValueRange::new(Some(0), Some(1)),
            (SymFunction::Add, _) => fold(ValueRange::exactly(0), ValueRange::plus),
            (SymFunction::Mul, _) if args.iter().all(|arg| self.is_integer(*arg)) => {
                fold(ValueRange::exactly(1), ValueRange::times)
            }
            (SymFunction::Max, [first, rest @ ..]) => rest
                .iter()
                .map(bound)
                .fold(bound(first), ValueRange::maximum),
            (SymFunction::Min, [first, rest @ ..]) => rest
                .iter()
                .map(bound)
                .fold(bound(first), ValueRange::minimum),
            (SymFunction::Pow | SymFunction::PowByNatural, [base, exponent]) => {
                match self.as_integer(*exponent).map(u32::try_from) {
                    Some(Ok(exponent)) => bound(base).power(exponent),
                    _ if bound(base).is_positive() && self.is_integer(*exponent) => {
                        ValueRange::new(Some(0), None)
                    }
                    _ => ValueRange::ALL,
                }
            }
            (SymFunction::FloorDiv | SymFunction::CleanDiv, [a, b]) => bound(a).floor_div(bound(b)),
            (SymFunction::CeilDiv, [a, b]) => bound(a).negated().floor_div(bound(b)).negated(),
            (SymFunction::Mod | SymFunction::PythonMod, [a, b]) => bound(a).modulo(bound(b)),
            (SymFunction::ModularIndexing, [a, b, c]) => {
                bound(a).floor_div(bound(b)).modulo(bound(c))
            }
            (SymFunction::Where, [_, a, b]) => bound(a).union(bound(b)),
            (SymFunction::Identity | SymFunction::ToFloat, [a]) => bound(a),
            (SymFunction::IsNonOverlappingAndDenseIndicator, _) => {
                ValueRange::new(Some(0), Some(1))
            }
            _ => ValueRange::ALL,
        }
    }

    /// Whether `id` is known to be an integer.
    pub(crate) fn is_integer(&self, id: SymExprId) -> bool {
        match self.get(id) {
            SymExpr::Integer(_) | SymExpr::BigInteger(_) => true,
            SymExpr::Rational(..) | SymExpr::Float { .. } => false,
            SymExpr::Constant(constant) => matches!(
                constant,
                Constant::IntInfinity | Constant::NegativeIntInfinity
            ),
            SymExpr::Symbol(symbol) => self
                .symbol_info(*symbol)
                .is_some_and(|symbol| symbol.assumption("integer") == Some(true)),
            SymExpr::Call(function, args) => match function {
                SymFunction::Add
                | SymFunction::Mul
                | SymFunction::Max
                | SymFunction::Min
                | SymFunction::Identity => args.iter().all(|arg| self.is_integer(*arg)),
                SymFunction::Where => args[1..].iter().all(|arg| self.is_integer(*arg)),
                SymFunction::Pow => {
                    self.is_integer(args[0])
                        && self.is_integer(args[1])
                        && self.assumed_bound(args[1]).is_nonnegative()
                }
                SymFunction::FloatPow
                | SymFunction::FloatTrueDiv
                | SymFunction::IntTrueDiv
                | SymFunction::ToFloat
                | SymFunction::TruncToFloat
                | SymFunction::RoundDecimal
                | SymFunction::Other(_) => false,
                function => !function.is_boolean(),
            },
        }
    }

    /// The remainder of `id` by 2, if it is known.
    pub(super) fn parity(&self, id: SymExprId) -> Option<i64> {
        if let Some(value) = self.as_integer(id) {
            return Some(value.rem_euclid(2));
        }
        if let Some(terms) = self.args_of(id, SymFunction::Add) {
            let mut total = 0;
            for term in terms {
                total += self.parity(*term)?;
            }
            return Some(total % 2);
        }
        let factors = self.args_of(id, SymFunction::Mul)?;
        if !factors.iter().all(|factor| self.is_integer(*factor)) {
            return None;
        }
        let even = factors.iter().any(|factor| self.parity(*factor) == Some(0));
        even.then_some(0)
    }
}
