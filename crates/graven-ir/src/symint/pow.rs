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
        if let Some(value) = self.as_integer(base) {
            return self.constant_power(value, exponent);
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

    /// `base ** exponent` of integers; a fraction when the exponent is negative.
    fn constant_power(&mut self, base: i64, exponent: i64) -> Result<SymExprId, SymError> {
        let overflow = SymError::Overflow { operation: "**" };
        let power = match base {
            1 => 1,
            -1 => 1 - 2 * (exponent & 1),
            0 if exponent < 0 => return Err(SymError::DivisionByZero { operation: "**" }),
            _ => {
                let magnitude = u32::try_from(exponent.unsigned_abs());
                magnitude
                    .ok()
                    .and_then(|magnitude| base.checked_pow(magnitude))
                    .ok_or(overflow.clone())?
            }
        };
        if exponent > 0 || power.unsigned_abs() == 1 {
            return self.integer(power);
        }
        let denominator = power.checked_abs().ok_or(overflow)?;
        self.intern(SymExpr::Rational(power.signum(), denominator))
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
