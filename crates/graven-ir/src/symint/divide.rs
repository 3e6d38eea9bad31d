//! Division and remainder of integers, simplified as torch's `FloorDiv` and `Mod` are.

use super::apply::{floor_div, floor_mod};
use super::arena::SymExprs;
use super::function::SymFunction;
use super::polynomial::Polynomial;
use super::ratio::Ratio;
use super::{SymError, SymExprId, SymInt};

impl SymExprs {
    /// `a // b`, rounded down.
    pub fn floordiv(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, SymError> {
        if let (SymInt::Int(a), SymInt::Int(b)) = (a, b) {
            return Ok(SymInt::Int(floor_div(a, b)?));
        }
        let (a, b) = (self.to_expr(a)?, self.to_expr(b)?);
        let quotient = self.floor_div_exprs(a, b)?;
        Ok(self.to_sym_int(quotient))
    }

    /// `-(-a // b)`: `a / b`, rounded up.
    pub fn ceildiv(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, SymError> {
        let less = self.sub(b, SymInt::Int(1))?;
        let raised = self.add(a, less)?;
        self.floordiv(raised, b)
    }

    /// `a % b`, with the sign of `b`.
    pub fn modulo(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, SymError> {
        if let (SymInt::Int(a), SymInt::Int(b)) = (a, b) {
            return Ok(SymInt::Int(floor_mod(a, b)?));
        }
        let (a, b) = (self.to_expr(a)?, self.to_expr(b)?);
        let remainder = self.remainder(a, b)?;
        Ok(self.to_sym_int(remainder))
    }

    /// `a % b`: `Mod` where neither can be negative, else `PythonMod`.
    pub(super) fn remainder(&mut self, a: SymExprId, b: SymExprId) -> Result<SymExprId, SymError> {
        let natural =
            self.assumed_bound(a).is_nonnegative() && self.assumed_bound(b).is_nonnegative();
        let function = if natural {
            SymFunction::Mod
        } else {
            SymFunction::PythonMod
        };
        self.mod_exprs(function, a, b)
    }

    /// `FloorDiv(base, divisor)`.
    pub(super) fn floor_div_exprs(
        &mut self,
        base: SymExprId,
        divisor: SymExprId,
    ) -> Result<SymExprId, SymError> {
        match (self.as_integer(base), self.as_integer(divisor)) {
            (_, Some(0)) => return Err(SymError::DivisionByZero { operation: "//" }),
            (Some(a), Some(b)) => return self.integer(floor_div(a, b)?),
            (Some(0), None) => return Ok(base),
            (None, Some(1)) => return Ok(base),
            (None, Some(-1)) => return self.scaled_product(-1, base),
            _ if base == divisor => return self.integer(1),
            _ => {}
        }
        if let Some([inner, inner_divisor]) = self.args_of(base, SymFunction::FloorDiv) {
            let (inner, inner_divisor) = (*inner, *inner_divisor);
            let divisor = self.product(&[inner_divisor, divisor])?;
            return self.floor_div_exprs(inner, divisor);
        }
        if let Some(divisor) = self.as_integer(divisor)
            && let Some(quotient) = self.take_whole_terms(base, divisor)?
        {
            return Ok(quotient);
        }
        let Some((base, divisor)) = self.cancel(base, divisor)? else {
            return self.call(SymFunction::FloorDiv, [base, divisor]);
        };
        self.floor_div_exprs(base, divisor)
    }

    /// `(x + y) // d` is `x // d + y / d` where `d` divides `y`.
    fn take_whole_terms(
        &mut self,
        base: SymExprId,
        divisor: i64,
    ) -> Result<Option<SymExprId>, SymError> {
        let terms = self.terms_of(base);
        let mut whole = Vec::new();
        let mut rest = Vec::new();
        for term in terms {
            match self.exact_quotient(term, divisor)? {
                Some(quotient) => whole.push(quotient),
                None => rest.push(term),
            }
        }
        if whole.is_empty() {
            return Ok(None);
        }
        let rest = self.sum(&rest)?;
        let divisor = self.integer(divisor)?;
        whole.push(self.floor_div_exprs(rest, divisor)?);
        self.sum(&whole).map(Some)
    }

    /// `term / divisor`, where its coefficient is a multiple of the divisor.
    pub(super) fn exact_quotient(
        &mut self,
        term: SymExprId,
        divisor: i64,
    ) -> Result<Option<SymExprId>, SymError> {
        let whole = |value: i64| {
            let exact = value.checked_rem(divisor) == Some(0);
            value.checked_div(divisor).filter(|_| exact)
        };
        if let Some(value) = self.as_integer(term) {
            return whole(value).map(|value| self.integer(value)).transpose();
        }
        let (coefficient, rest) = self.split_coefficient(term)?;
        match coefficient.as_integer().and_then(whole) {
            Some(coefficient) if self.is_integer(rest) => {
                self.scaled(Ratio::integer(coefficient), rest).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Numerator and denominator without their common factor; `None` if there is none.
    fn cancel(
        &mut self,
        base: SymExprId,
        divisor: SymExprId,
    ) -> Result<Option<(SymExprId, SymExprId)>, SymError> {
        let common = self.common_factors(base, divisor)?;
        if common.is_empty() && self.args_of(divisor, SymFunction::Add).is_some() {
            return self.divide_by_sum(base, divisor);
        }
        if common.is_empty() {
            return Ok(None);
        }
        let (mut base, mut divisor) = (base, divisor);
        for factor in common {
            let quotients = (
                self.without_factor(base, factor)?,
                self.without_factor(divisor, factor)?,
            );
            let (Some(smaller_base), Some(smaller_divisor)) = quotients else {
                return Ok(None);
            };
            (base, divisor) = (smaller_base, smaller_divisor);
        }
        Ok(Some((self.factored(base)?, self.factored(divisor)?)))
    }

    /// If the sum `divisor` divides `base`: the quotient and 1.
    fn divide_by_sum(
        &mut self,
        base: SymExprId,
        divisor: SymExprId,
    ) -> Result<Option<(SymExprId, SymExprId)>, SymError> {
        let (Some(numerator), Some(denominator)) = (
            Polynomial::expand(self, base),
            Polynomial::expand(self, divisor),
        ) else {
            return Ok(None);
        };
        let Some(quotient) = numerator.divide_exactly(&denominator) else {
            return Ok(None);
        };
        let quotient = quotient.to_expr(self)?;
        Ok(Some((self.factored(quotient)?, self.integer(1)?)))
    }

    /// The integer and the factors that stand in every term of `base` and in `divisor`.
    fn common_factors(
        &mut self,
        base: SymExprId,
        divisor: SymExprId,
    ) -> Result<Vec<SymExprId>, SymError> {
        let terms = self.terms_of(base);
        let number = gcd(self.content(base), self.content(divisor));
        // Beyond 63 bits: `i64::MIN // i64::MIN`, which is decided before this.
        let mut number =
            i64::try_from(number).map_err(|_| SymError::Overflow { operation: "//" })?;
        let is_negative_of = |exprs: &mut Self, term: SymExprId, number: i64| {
            let (coefficient, rest) = match exprs.as_ratio(term) {
                Some(value) => (value, None),
                None => exprs
                    .split_coefficient(term)
                    .map(|split| (split.0, Some(split.1)))?,
            };
            Ok(coefficient == Ratio::integer(-number) && rest != Some(term))
        };
        let mut all_negative = is_negative_of(self, divisor, number)?;
        for term in &terms {
            all_negative = all_negative && is_negative_of(self, *term, number)?;
        }
        if all_negative {
            number = -number;
        }
        let mut common = Vec::new();
        if number != 1 {
            common.push(self.integer(number)?);
        }
        for factor in self.factors_of(divisor) {
            let divides = |term: &SymExprId| self.factors_of(*term).contains(&factor);
            if self.as_integer(factor).is_none() && terms.iter().all(divides) {
                common.push(factor);
            }
        }
        Ok(common)
    }

    /// The greatest integer that divides the coefficients of all terms.
    fn content(&self, id: SymExprId) -> u64 {
        let coefficient = |term: &SymExprId| -> u64 {
            let factors = self.factors_of(*term);
            let integers = factors.iter().filter_map(|factor| self.as_integer(*factor));
            integers.fold(1, |product: u64, value| {
                product.saturating_mul(value.unsigned_abs())
            })
        };
        self.terms_of(id).iter().map(coefficient).fold(0, gcd)
    }

    pub(super) fn terms_of(&self, id: SymExprId) -> Vec<SymExprId> {
        match self.args_of(id, SymFunction::Add) {
            Some(terms) => terms.to_vec(),
            None => vec![id],
        }
    }

    pub(super) fn factors_of(&self, id: SymExprId) -> Vec<SymExprId> {
        match self.args_of(id, SymFunction::Mul) {
            Some(factors) => factors.to_vec(),
            None => vec![id],
        }
    }

    /// `id` divided by `factor`; `None` if one of its terms is not a plain multiple.
    fn without_factor(
        &mut self,
        id: SymExprId,
        factor: SymExprId,
    ) -> Result<Option<SymExprId>, SymError> {
        let mut terms = self.terms_of(id);
        for term in &mut terms {
            let quotient = match self.as_integer(factor) {
                Some(number) => self.exact_quotient(*term, number)?,
                None => {
                    let mut factors = self.factors_of(*term);
                    match factors.iter().position(|other| *other == factor) {
                        Some(position) => {
                            factors.remove(position);
                            Some(self.product(&factors)?)
                        }
                        None => None,
                    }
                }
            };
            let Some(quotient) = quotient else {
                return Ok(None);
            };
            *term = quotient;
        }
        self.sum(&terms).map(Some)
    }

    /// A sum with the factors that all its terms share put outside, as sympy's `simplify`
    /// leaves it; a number alone is not put outside.
    fn factored(&mut self, id: SymExprId) -> Result<SymExprId, SymError> {
        let terms = self.terms_of(id);
        let [first, rest @ ..] = terms.as_slice() else {
            return Ok(id);
        };
        if rest.is_empty() {
            return Ok(id);
        }
        let mut shared = self.factors_of(*first);
        shared.retain(|factor| {
            self.as_integer(*factor).is_none()
                && rest
                    .iter()
                    .all(|term| self.factors_of(*term).contains(factor))
        });
        if shared.is_empty() {
            return Ok(id);
        }
        let mut inner = id;
        for factor in &shared {
            let Some(quotient) = self.without_factor(inner, *factor)? else {
                return Ok(id);
            };
            inner = quotient;
        }
        if let Ok(number) = i64::try_from(self.content(inner))
            && number > 1
        {
            let number = self.integer(number)?;
            if let Some(quotient) = self.without_factor(inner, number)? {
                inner = quotient;
                shared.push(number);
            }
        }
        shared.push(inner);
        self.product(&shared)
    }

    /// `coefficient * id`.
    fn scaled_product(&mut self, coefficient: i64, id: SymExprId) -> Result<SymExprId, SymError> {
        let coefficient = self.integer(coefficient)?;
        self.product(&[coefficient, id])
    }

    /// `Mod(a, b)` or `PythonMod(a, b)`.
    pub(super) fn mod_exprs(
        &mut self,
        function: SymFunction,
        a: SymExprId,
        b: SymExprId,
    ) -> Result<SymExprId, SymError> {
        match (self.as_integer(a), self.as_integer(b)) {
            (_, Some(0)) => return Err(SymError::DivisionByZero { operation: "%" }),
            (Some(operand), Some(_)) if function == SymFunction::Mod && operand < 0 => {
                let operation = "Mod";
                return Err(SymError::NegativeOperand { operation, operand });
            }
            (Some(a), Some(b)) => return self.integer(floor_mod(a, b)?),
            (None, Some(2)) => {
                if let Some(parity) = self.parity(a) {
                    return self.integer(parity);
                }
            }
            _ => {}
        }
        if self.is_multiple(a, b)? {
            return self.integer(0);
        }
        let difference = {
            let negated = self.scaled_product(-1, b)?;
            self.sum(&[a, negated])?
        };
        let less = self.assumed_bound(difference).negated().is_positive();
        if less && self.assumed_bound(a).is_positive() && self.assumed_bound(b).is_positive() {
            return Ok(a);
        }
        self.call(function, [a, b])
    }

    /// Whether `a / b` is plainly an integer.
    fn is_multiple(&mut self, a: SymExprId, b: SymExprId) -> Result<bool, SymError> {
        if let Some(1 | -1) = self.as_integer(b) {
            return Ok(self.is_integer(a));
        }
        if self.as_integer(a) == Some(0) || a == b {
            return Ok(true);
        }
        if let Some(divisor) = self.as_integer(b) {
            for term in self.terms_of(a) {
                if self.exact_quotient(term, divisor)?.is_none() {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        let reciprocal = self.integer_power(b, -1)?;
        let quotient = self.product(&[a, reciprocal])?;
        Ok(self.is_integer(quotient))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
