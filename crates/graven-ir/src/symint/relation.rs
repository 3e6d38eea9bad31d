//! Conditions on sizes: relations and their combinations.

use super::arena::{SymExprs, SymbolId};
use super::function::SymFunction;
use super::range::{Bound, ValueRange};
use super::{SymBool, SymError, SymExprId, SymInt};

/// How two sizes compare.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Relation {
    fn function(self) -> SymFunction {
        match self {
            Self::Eq => SymFunction::Eq,
            Self::Ne => SymFunction::Ne,
            Self::Lt => SymFunction::Lt,
            Self::Le => SymFunction::Le,
            Self::Gt => SymFunction::Gt,
            Self::Ge => SymFunction::Ge,
        }
    }

    pub(super) fn of_function(function: SymFunction) -> Option<Self> {
        match function {
            SymFunction::Eq => Some(Self::Eq),
            SymFunction::Ne => Some(Self::Ne),
            SymFunction::Lt => Some(Self::Lt),
            SymFunction::Le => Some(Self::Le),
            SymFunction::Gt => Some(Self::Gt),
            SymFunction::Ge => Some(Self::Ge),
            _ => None,
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
        }
    }

    /// Whether it holds of every, or of no, pair whose difference is in `difference`.
    fn decided_by(self, difference: ValueRange) -> Option<bool> {
        let zero = Bound::Int(0);
        let ValueRange { lower, upper } = difference;
        let (certain, impossible) = match self {
            Self::Eq => (difference.single() == Some(0), !difference.contains(0)),
            Self::Ne => return Self::Eq.decided_by(difference).map(|equal| !equal),
            Self::Lt => (upper < zero, lower >= zero),
            Self::Le => (upper <= zero, lower > zero),
            Self::Gt => (lower > zero, upper <= zero),
            Self::Ge => (lower >= zero, upper < zero),
        };
        match (certain, impossible) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            // Both at once: no value is possible, so nothing is known.
            _ => None,
        }
    }
}

impl SymExprs {
    /// `a == b`.
    pub fn eq(&mut self, a: SymInt, b: SymInt) -> Result<SymBool, SymError> {
        self.relate(Relation::Eq, a, b)
    }

    /// `a != b`.
    pub fn ne(&mut self, a: SymInt, b: SymInt) -> Result<SymBool, SymError> {
        self.relate(Relation::Ne, a, b)
    }

    /// `a < b`.
    pub fn lt(&mut self, a: SymInt, b: SymInt) -> Result<SymBool, SymError> {
        self.relate(Relation::Lt, a, b)
    }

    /// `a <= b`.
    pub fn le(&mut self, a: SymInt, b: SymInt) -> Result<SymBool, SymError> {
        self.relate(Relation::Le, a, b)
    }

    /// `a > b`.
    pub fn gt(&mut self, a: SymInt, b: SymInt) -> Result<SymBool, SymError> {
        self.relate(Relation::Gt, a, b)
    }

    /// `a >= b`.
    pub fn ge(&mut self, a: SymInt, b: SymInt) -> Result<SymBool, SymError> {
        self.relate(Relation::Ge, a, b)
    }

    /// `a relation b`, decided where the symbols' assumptions decide it.
    pub fn relate(
        &mut self,
        relation: Relation,
        a: SymInt,
        b: SymInt,
    ) -> Result<SymBool, SymError> {
        let (a, b) = (self.to_expr(a)?, self.to_expr(b)?);
        let id = self.relate_exprs(relation, a, b)?;
        Ok(self.to_sym_bool(id))
    }

    pub(super) fn relate_exprs(
        &mut self,
        relation: Relation,
        a: SymExprId,
        b: SymExprId,
    ) -> Result<SymExprId, SymError> {
        match self.decide_exprs(relation, a, b, &|_| ValueRange::ALL)? {
            Some(truth) => self.boolean(truth),
            None => self.call(relation.function(), [a, b]),
        }
    }

    /// Whether `a relation b` holds for all values of the symbols within the given ranges
    /// (`Some(true)`), for none (`Some(false)`), or cannot be told.
    pub fn statically_known(
        &mut self,
        relation: Relation,
        a: SymInt,
        b: SymInt,
        range_of: &dyn Fn(SymbolId) -> ValueRange,
    ) -> Option<bool> {
        // A difference that cannot be formed decides nothing.
        let (a, b) = (self.to_expr(a).ok()?, self.to_expr(b).ok()?);
        self.decide_exprs(relation, a, b, range_of).ok().flatten()
    }

    fn decide_exprs(
        &mut self,
        relation: Relation,
        a: SymExprId,
        b: SymExprId,
        range_of: &dyn Fn(SymbolId) -> ValueRange,
    ) -> Result<Option<bool>, SymError> {
        if !self.is_integer(a) || !self.is_integer(b) {
            return Ok(None);
        }
        let minus_one = self.integer(-1)?;
        let negated = self.product(&[minus_one, b])?;
        let difference = self.sum(&[a, negated])?;
        let decided = relation.decided_by(self.bound(difference, range_of));
        let by_parity = match relation {
            Relation::Eq if self.parity(difference) == Some(1) => Some(false),
            Relation::Ne if self.parity(difference) == Some(1) => Some(true),
            _ => None,
        };
        // Both sides by themselves can say more than the difference, where terms cancelled.
        Ok(decided.or(by_parity).or_else(|| {
            let negated = self.bound(b, range_of).negated();
            relation.decided_by(self.bound(a, range_of).plus(negated))
        }))
    }

    /// Whether `a == b` for all values within the ranges; see [`SymExprs::statically_known`].
    pub fn statically_known_eq(
        &mut self,
        a: SymInt,
        b: SymInt,
        range_of: &dyn Fn(SymbolId) -> ValueRange,
    ) -> Option<bool> {
        self.statically_known(Relation::Eq, a, b, range_of)
    }

    /// Whether `a < b` for all values within the ranges; see [`SymExprs::statically_known`].
    pub fn statically_known_lt(
        &mut self,
        a: SymInt,
        b: SymInt,
        range_of: &dyn Fn(SymbolId) -> ValueRange,
    ) -> Option<bool> {
        self.statically_known(Relation::Lt, a, b, range_of)
    }

    /// Whether `a <= b` for all values within the ranges; see [`SymExprs::statically_known`].
    pub fn statically_known_le(
        &mut self,
        a: SymInt,
        b: SymInt,
        range_of: &dyn Fn(SymbolId) -> ValueRange,
    ) -> Option<bool> {
        self.statically_known(Relation::Le, a, b, range_of)
    }

    /// Whether `a != b` for all values within the ranges; see [`SymExprs::statically_known`].
    pub fn statically_known_ne(
        &mut self,
        a: SymInt,
        b: SymInt,
        range_of: &dyn Fn(SymbolId) -> ValueRange,
    ) -> Option<bool> {
        self.statically_known(Relation::Ne, a, b, range_of)
    }

    /// Whether `a > b` for all values within the ranges; see [`SymExprs::statically_known`].
    pub fn statically_known_gt(
        &mut self,
        a: SymInt,
        b: SymInt,
        range_of: &dyn Fn(SymbolId) -> ValueRange,
    ) -> Option<bool> {
        self.statically_known(Relation::Gt, a, b, range_of)
    }

    /// Whether `a >= b` for all values within the ranges; see [`SymExprs::statically_known`].
    pub fn statically_known_ge(
        &mut self,
        a: SymInt,
        b: SymInt,
        range_of: &dyn Fn(SymbolId) -> ValueRange,
    ) -> Option<bool> {
        self.statically_known(Relation::Ge, a, b, range_of)
    }

    /// `!a`.
    pub fn not(&mut self, a: SymBool) -> Result<SymBool, SymError> {
        let a = self.condition_to_expr(a)?;
        let id = self.negation(a)?;
        Ok(self.to_sym_bool(id))
    }

    /// `a && b`.
    pub fn and(&mut self, a: SymBool, b: SymBool) -> Result<SymBool, SymError> {
        let args = [self.condition_to_expr(a)?, self.condition_to_expr(b)?];
        let id = self.connective(SymFunction::And, &args)?;
        Ok(self.to_sym_bool(id))
    }

    /// `a || b`.
    pub fn or(&mut self, a: SymBool, b: SymBool) -> Result<SymBool, SymError> {
        let args = [self.condition_to_expr(a)?, self.condition_to_expr(b)?];
        let id = self.connective(SymFunction::Or, &args)?;
        Ok(self.to_sym_bool(id))
    }

    /// `id` as a condition: decided where it is a truth value.
    pub fn to_sym_bool(&self, id: SymExprId) -> SymBool {
        match self.as_boolean(id) {
            Some(truth) => SymBool::Bool(truth),
            None => SymBool::Expr(id),
        }
    }

    /// The expression of a condition.
    pub fn condition_to_expr(&mut self, condition: SymBool) -> Result<SymExprId, SymError> {
        match condition {
            SymBool::Bool(truth) => self.boolean(truth),
            SymBool::Expr(id) => Ok(id),
        }
    }

    pub(super) fn negation(&mut self, a: SymExprId) -> Result<SymExprId, SymError> {
        if let Some(truth) = self.as_boolean(a) {
            return self.boolean(!truth);
        }
        if let Some([inner]) = self.args_of(a, SymFunction::Not) {
            return Ok(*inner);
        }
        if let Some((relation, left, right)) = self.as_relation(a) {
            return self.call(relation.negated().function(), [left, right]);
        }
        self.call(SymFunction::Not, [a])
    }

    fn as_relation(&self, id: SymExprId) -> Option<(Relation, SymExprId, SymExprId)> {
        match self.get(id) {
            super::SymExpr::Call(function, args) => {
                let relation = Relation::of_function(*function)?;
                Some((relation, *args.first()?, *args.get(1)?))
            }
            _ => None,
        }
    }

    /// `And(args)` or `Or(args)`.
    pub(super) fn connective(
        &mut self,
        function: SymFunction,
        args: &[SymExprId],
    ) -> Result<SymExprId, SymError> {
        let absorbing = function == SymFunction::Or;
        let mut flat = Vec::with_capacity(args.len());
        for arg in args {
            match (self.as_boolean(*arg), self.args_of(*arg, function)) {
                (Some(truth), _) if truth == absorbing => return Ok(*arg),
                (Some(_), _) => {}
                (None, Some(inner)) => flat.extend_from_slice(inner),
                (None, None) => flat.push(*arg),
            }
        }
        self.sort_lattice_args(&mut flat);
        flat.dedup();
        for arg in &flat {
            let negated = self.negation(*arg)?;
            if flat.contains(&negated) {
                return self.boolean(absorbing);
            }
        }
        match flat[..] {
            [] => self.boolean(!absorbing),
            [only] => Ok(only),
            _ => self.call(function, flat),
        }
    }
}
