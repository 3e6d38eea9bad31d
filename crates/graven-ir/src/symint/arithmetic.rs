//! Sums and products in sympy's canonical form.

use super::arena::{SymExpr, SymExprs};
use super::function::SymFunction;
use super::order::ExprMap;
use super::ratio::Ratio;
use super::{SymError, SymExprId, SymInt};

impl SymExprs {
    /// `a + b`.
    pub fn add(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, SymError> {
        if let (SymInt::Int(a), SymInt::Int(b)) = (a, b) {
            let sum = a.checked_add(b);
            return Ok(SymInt::Int(
                sum.ok_or(SymError::Overflow { operation: "+" })?,
            ));
        }
        let (a, b) = (self.to_expr(a)?, self.to_expr(b)?);
        let sum = self.sum(&[a, b])?;
        Ok(self.to_sym_int(sum))
    }

    /// `a - b`.
    pub fn sub(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, SymError> {
        let negated = self.neg(b)?;
        self.add(a, negated)
    }

    /// `-a`.
    pub fn neg(&mut self, a: SymInt) -> Result<SymInt, SymError> {
        self.mul(SymInt::Int(-1), a)
    }

    /// `a * b`.
    pub fn mul(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, SymError> {
        if let (SymInt::Int(a), SymInt::Int(b)) = (a, b) {
            let product = a.checked_mul(b);
            let product = product.ok_or(SymError::Overflow { operation: "*" })?;
            return Ok(SymInt::Int(product));
        }
        let (a, b) = (self.to_expr(a)?, self.to_expr(b)?);
        let product = self.product(&[a, b])?;
        Ok(self.to_sym_int(product))
    }

    /// The sum of `sizes`; 0 for none.
    pub fn sum_of(&mut self, sizes: &[SymInt]) -> Result<SymInt, SymError> {
        let mut terms = Vec::with_capacity(sizes.len());
        for size in sizes {
            terms.push(self.to_expr(*size)?);
        }
        let sum = self.sum(&terms)?;
        Ok(self.to_sym_int(sum))
    }

    /// The product of `sizes`, as of a shape; 1 for none. As in torch they are multiplied one by
    /// one, which decides whether a number is multiplied into a sum.
    pub fn product_of(&mut self, sizes: &[SymInt]) -> Result<SymInt, SymError> {
        sizes
            .iter()
            .try_fold(SymInt::Int(1), |total, size| self.mul(total, *size))
    }

    /// The sum of `args`, with like terms collected.
    pub(super) fn sum(&mut self, args: &[SymExprId]) -> Result<SymExprId, SymError> {
        let overflow = || SymError::Overflow { operation: "+" };
        let mut constant = Ratio::integer(0);
        let mut multiples: ExprMap<Ratio> = ExprMap::default();
        // Nested sums are taken apart after all that stands beside them, as sympy does.
        let mut pending: Vec<SymExprId> = args.to_vec();
        let mut position = 0;
        while let Some(term) = pending.get(position).copied() {
            position += 1;
            if let Some(terms) = self.args_of(term, SymFunction::Add) {
                pending.extend_from_slice(terms);
            } else if let Some(value) = self.as_ratio(term) {
                constant = constant.checked_add(value).ok_or_else(overflow)?;
            } else {
                let (coefficient, rest) = self.split_coefficient(term)?;
                let slot = multiples.entry(rest).or_insert(Ratio::integer(0));
                *slot = slot.checked_add(coefficient).ok_or_else(overflow)?;
            }
        }
        let mut terms = Vec::with_capacity(multiples.len() + 1);
        for (rest, coefficient) in multiples {
            if !coefficient.is_zero() {
                terms.push(self.scaled(coefficient, rest)?);
            }
        }
        if !constant.is_zero() || terms.is_empty() {
            terms.push(self.ratio(constant)?);
        }
        if let [only] = terms[..] {
            return Ok(only);
        }
        self.sort_terms(&mut terms);
        self.call(SymFunction::Add, terms)
    }

    /// The number that `id` is, if it is an integer or a fraction.
    pub(super) fn as_ratio(&self, id: SymExprId) -> Option<Ratio> {
        match self.get(id) {
            SymExpr::Integer(value) => Some(Ratio::integer(*value)),
            SymExpr::Rational(numerator, denominator) => Ratio::new(*numerator, *denominator),
            _ => None,
        }
    }

    /// The expression of a number.
    pub(super) fn ratio(&mut self, value: Ratio) -> Result<SymExprId, SymError> {
        match value.as_integer() {
            Some(value) => self.integer(value),
            None => self.intern(SymExpr::Rational(value.numerator(), value.denominator())),
        }
    }

    /// `term` as a coefficient and the rest.
    pub(super) fn split_coefficient(
        &mut self,
        term: SymExprId,
    ) -> Result<(Ratio, SymExprId), SymError> {
        let Some([first, rest @ ..]) = self.args_of(term, SymFunction::Mul) else {
            return Ok((Ratio::integer(1), term));
        };
        let Some(coefficient) = self.as_ratio(*first) else {
            return Ok((Ratio::integer(1), term));
        };
        let rest: Box<[SymExprId]> = rest.into();
        match rest[..] {
            [only] => Ok((coefficient, only)),
            _ => Ok((coefficient, self.call(SymFunction::Mul, rest)?)),
        }
    }

    /// `coefficient * rest` with nothing multiplied out.
    pub(super) fn scaled(
        &mut self,
        coefficient: Ratio,
        rest: SymExprId,
    ) -> Result<SymExprId, SymError> {
        if coefficient == Ratio::integer(1) {
            return Ok(rest);
        }
        let mut factors = vec![self.ratio(coefficient)?];
        match self.args_of(rest, SymFunction::Mul) {
            Some(args) => factors.extend_from_slice(args),
            None => factors.push(rest),
        }
        self.call(SymFunction::Mul, factors)
    }

    /// The product of `args`, with equal bases collected.
    pub(super) fn product(&mut self, args: &[SymExprId]) -> Result<SymExprId, SymError> {
        let mut args = args.to_vec();
        args.retain(|arg| self.as_integer(*arg) != Some(1));
        match args[..] {
            [] => return self.integer(1),
            [only] => return Ok(only),
            [a, b] => {
                if let Some(product) = self.number_times_sum(a, b)? {
                    return Ok(product);
                }
            }
            _ => {}
        }
        let (coefficient, powers) = self.collect_powers(args)?;
        let overflow = SymError::Overflow { operation: "*" };
        if coefficient.is_zero() {
            return self.integer(0);
        }
        let mut factors = Vec::with_capacity(powers.len() + 1);
        for (base, exponent) in powers {
            if exponent != 0 {
                let exponent = i64::try_from(exponent).map_err(|_| overflow.clone())?;
                factors.push(self.integer_power(base, exponent)?);
            }
        }
        self.sort_factors(&mut factors);
        match factors[..] {
            [] => self.ratio(coefficient),
            [only] if self.args_of(only, SymFunction::Add).is_some() => {
                self.distribute(coefficient, only)
            }
            [only] => self.scaled(coefficient, only),
            _ => {
                if coefficient != Ratio::integer(1) {
                    factors.insert(0, self.ratio(coefficient)?);
                }
                self.call(SymFunction::Mul, factors)
            }
        }
    }

    /// A product of two of which one is an integer and the other a sum, or a multiple of a sum:
    /// the first is multiplied out, the second is not.
    fn number_times_sum(
        &mut self,
        a: SymExprId,
        b: SymExprId,
    ) -> Result<Option<SymExprId>, SymError> {
        let (number, other) = match (self.as_ratio(a), self.as_ratio(b)) {
            (_, Some(number)) => (number, a),
            (Some(number), None) => (number, b),
            (None, None) => return Ok(None),
        };
        if number.is_zero() {
            return Ok(None);
        }
        let (coefficient, rest) = self.split_coefficient(other)?;
        if self.args_of(rest, SymFunction::Add).is_none() {
            return Ok(None);
        }
        if coefficient == Ratio::integer(1) {
            return self.distribute(number, rest).map(Some);
        }
        let coefficient = number
            .checked_mul(coefficient)
            .ok_or(SymError::Overflow { operation: "*" })?;
        self.scaled(coefficient, rest).map(Some)
    }

    /// `coefficient * sum`, multiplied out.
    fn distribute(&mut self, coefficient: Ratio, sum: SymExprId) -> Result<SymExprId, SymError> {
        if coefficient == Ratio::integer(1) {
            return Ok(sum);
        }
        let mut terms: Vec<SymExprId> = match self.args_of(sum, SymFunction::Add) {
            Some(terms) => terms.to_vec(),
            None => return self.scaled(coefficient, sum),
        };
        for term in &mut terms {
            *term = match self.as_ratio(*term) {
                Some(value) => {
                    let value = value.checked_mul(coefficient);
                    self.ratio(value.ok_or(SymError::Overflow { operation: "*" })?)?
                }
                None => {
                    let (inner, rest) = self.split_coefficient(*term)?;
                    let coefficient = inner.checked_mul(coefficient);
                    let coefficient = coefficient.ok_or(SymError::Overflow { operation: "*" })?;
                    self.scaled(coefficient, rest)?
                }
            };
        }
        self.sum(&terms)
    }

    /// Takes nested products apart: the product of the integers, and each base with the sum of
    /// its integer exponents.
    fn collect_powers(
        &self,
        mut pending: Vec<SymExprId>,
    ) -> Result<(Ratio, ExprMap<i128>), SymError> {
        let overflow = || SymError::Overflow { operation: "*" };
        let mut coefficient = Ratio::integer(1);
        let mut powers: ExprMap<i128> = ExprMap::default();
        let mut position = 0;
        while let Some(factor) = pending.get(position).copied() {
            position += 1;
            let (base, exponent) = match self.get(factor) {
                SymExpr::Call(SymFunction::Mul, factors) => {
                    pending.extend_from_slice(factors);
                    continue;
                }
                SymExpr::Integer(_) | SymExpr::Rational(..) => {
                    let value = self.as_ratio(factor).ok_or_else(overflow)?;
                    coefficient = coefficient.checked_mul(value).ok_or_else(overflow)?;
                    continue;
                }
                SymExpr::Call(SymFunction::Pow, args) => match args[..] {
                    [base, exponent] => match self.as_integer(exponent) {
                        Some(exponent) => (base, exponent),
                        None => (factor, 1),
                    },
                    _ => (factor, 1),
                },
                _ => (factor, 1),
            };
            let slot = powers.entry(base).or_insert(0);
            *slot = slot.checked_add(exponent.into()).ok_or_else(overflow)?;
        }
        Ok((coefficient, powers))
    }
}
