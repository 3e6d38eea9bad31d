//! Calls built from their arguments with everything simplified that torch simplifies.

use super::arena::{SymExpr, SymExprs};
use super::function::SymFunction;
use super::relation::Relation;
use super::{SymError, SymExprId};

impl SymExprs {
    /// `function(args)` in canonical form.
    pub fn build(
        &mut self,
        function: SymFunction,
        args: &[SymExprId],
    ) -> Result<SymExprId, SymError> {
        if !function.arity().allows(args.len()) {
            return Err(SymError::ArgumentCount {
                function: self.function_name(function).to_owned(),
                found: args.len(),
            });
        }
        match (function, args) {
            (SymFunction::Add, _) => self.sum(args),
            (SymFunction::Mul, _) => self.product(args),
            (SymFunction::Pow, [base, exponent]) => self.expr_pow(*base, *exponent),
            (SymFunction::FloorDiv | SymFunction::CleanDiv, [a, b]) => self.floor_div_exprs(*a, *b),
            (SymFunction::CeilDiv, [a, b]) => {
                let minus_one = self.integer(-1)?;
                let raised = self.sum(&[*a, *b, minus_one])?;
                self.floor_div_exprs(raised, *b)
            }
            (SymFunction::Mod | SymFunction::PythonMod, [a, b]) => self.mod_exprs(function, *a, *b),
            (SymFunction::Max | SymFunction::Min, _) => self.extreme_of(function, args),
            (SymFunction::And | SymFunction::Or, _) => self.connective(function, args),
            (SymFunction::Not, [arg]) => self.negation(*arg),
            (SymFunction::PowByNatural, [base, exponent])
                if self.as_integer(*exponent).is_some() =>
            {
                self.expr_pow(*base, *exponent)
            }
            (SymFunction::LShift | SymFunction::RShift, [base, shift]) => {
                let two = self.integer(2)?;
                let factor = self.build(SymFunction::PowByNatural, &[two, *shift])?;
                if function == SymFunction::LShift {
                    self.product(&[*base, factor])
                } else {
                    self.floor_div_exprs(*base, factor)
                }
            }
            (SymFunction::Where, [condition, then, otherwise]) => {
                match self.as_boolean(*condition) {
                    Some(true) => Ok(*then),
                    Some(false) => Ok(*otherwise),
                    None => self.call(function, args),
                }
            }
            (SymFunction::TruncToInt, [arg]) if self.is_integer(*arg) => Ok(*arg),
            (relation, [a, b]) if Relation::of_function(relation).is_some() => {
                match Relation::of_function(relation) {
                    Some(relation) => self.relate_exprs(relation, *a, *b),
                    None => self.call(function, args),
                }
            }
            _ => self.call(function, args),
        }
    }

    /// `id` rebuilt from its leaves in canonical form, as torch does when it loads an archive.
    pub fn canonical(&mut self, id: SymExprId) -> Result<SymExprId, SymError> {
        self.rebuild(id, &mut |_, leaf| Ok(leaf))
    }

    /// `id` rebuilt in canonical form, each leaf replaced by what `leaf` gives for it.
    pub(super) fn rebuild(
        &mut self,
        id: SymExprId,
        leaf: &mut dyn FnMut(&mut Self, SymExprId) -> Result<SymExprId, SymError>,
    ) -> Result<SymExprId, SymError> {
        let SymExpr::Call(function, args) = self.get(id).clone() else {
            return leaf(self, id);
        };
        let mut args = args.into_vec();
        for arg in &mut args {
            *arg = self.rebuild(*arg, leaf)?;
        }
        self.build(function, &args)
    }
}
