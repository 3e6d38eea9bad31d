//! Powers in sympy's canonical form.

use super::arena::{SymExpr, SymExprs};
use super::function::SymFunction;
use super::{SymError, SymExprId};

impl SymExprs {
    /// `base ** exponent` for an integer exponent.
    pub(super) fn integer_power(
        &mut self,
        base: SymExprId,
        exponent: i64,
    ) -> Result<SymExprId, SymError> {
        match exponent {
            0 => return self.integer(1),
            1 => return Ok(base),
            _ => {}
        }
        if let Some(value) = self.as_ratio(base) {
            if value.is_zero() && exponent < 0 {
                return Err(SymError::DivisionByZero { operation: "**" });
            }
            let power = value.checked_pow(exponent);
            return self.ratio(power.ok_or(SymError::Overflow { operation: "**" })?);
        }
        match self.get(base) {
            SymExpr::Call(SymFunction::Mul, factors) => {
                let mut powers = factors.to_vec();
                for factor in &mut powers {
                    *factor = self.integer_power(*factor, exponent)?;
                }
                return self.product(&powers);
            }
            SymExpr::Call(SymFunction::Pow, args) => {
                if let [inner, inner_exponent] = args[..]
                    && let Some(inner_exponent) = self.as_integer(inner_exponent)
                {
                    let exponent = inner_exponent
                        .checked_mul(exponent)
                        .ok_or(SymError::Overflow { operation: "**" })?;
                    return self.integer_power(inner, exponent);
                }
            }
            _ => {}
        }
        let exponent = self.integer(exponent)?;
        self.call(SymFunction::Pow, [base, exponent])
    }

    /// `base ** exponent`.
    pub fn expr_pow(
        &mut self,
        base: SymExprId,
        exponent: SymExprId,
    ) -> Result<SymExprId, SymError> {
        match self.as_integer(exponent) {
            Some(exponent) => self.integer_power(base, exponent),
            None => self.call(SymFunction::Pow, [base, exponent]),
        }
    }
}
