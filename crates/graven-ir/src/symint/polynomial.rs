//! Polynomials with integer coefficients, for exact division by a sum.

use std::collections::BTreeMap;

use super::arena::{SymExpr, SymExprs};
use super::function::SymFunction;
use super::{SymError, SymExprId};

/// Beyond this many terms an expression is not multiplied out.
const MAX_TERMS: usize = 64;

/// Powers of bases: base and exponent, by base, no exponent zero.
type Monomial = Vec<(SymExprId, u32)>;

/// A sum of monomials, each with its coefficient; none is zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Polynomial {
    terms: BTreeMap<Monomial, i64>,
}

impl Polynomial {
    fn constant(value: i64) -> Self {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Monomial::new(), value);
        }
        Self { terms }
    }

    /// `id` multiplied out; `None` if it is no polynomial of its bases, or too large a one.
    pub(super) fn expand(exprs: &SymExprs, id: SymExprId) -> Option<Self> {
        match exprs.get(id) {
            SymExpr::Integer(value) => Some(Self::constant(*value)),
            SymExpr::Call(SymFunction::Add, args) => {
                let mut total = Self::constant(0);
                for arg in args {
                    let other = Self::expand(exprs, *arg)?;
                    for (monomial, coefficient) in other.terms {
                        total.add_term(monomial, coefficient)?;
                    }
                }
                Some(total)
            }
            SymExpr::Call(SymFunction::Mul, args) => {
                let mut total = Self::constant(1);
                for arg in args {
                    total = total.times(&Self::expand(exprs, *arg)?)?;
                }
                Some(total)
            }
            SymExpr::Call(SymFunction::Pow, args) => {
                let exponent = u32::try_from(exprs.as_integer(args[1])?).ok()?;
                let base = Self::expand(exprs, args[0])?;
                if base.terms.len() > 1 && exponent > 8 {
                    return None;
                }
                if let [(monomial, 1)] = base.only_terms()[..] {
                    let monomial = monomial
                        .iter()
                        .map(|(base, power)| Some((*base, power.checked_mul(exponent)?)));
                    let terms = BTreeMap::from([(monomial.collect::<Option<_>>()?, 1)]);
                    return Some(Self { terms });
                }
                let mut total = Self::constant(1);
                for _ in 0..exponent.min(64) {
                    total = total.times(&base)?;
                }
                (exponent <= 64).then_some(total)
            }
            SymExpr::Symbol(_) | SymExpr::Call(..) if exprs.is_integer(id) => Some(Self {
                terms: BTreeMap::from([(vec![(id, 1)], 1)]),
            }),
            _ => None,
        }
    }

    fn only_terms(&self) -> Vec<(&Monomial, i64)> {
        self.terms.iter().take(2).map(|(m, c)| (m, *c)).collect()
    }

    fn add_term(&mut self, monomial: Monomial, coefficient: i64) -> Option<()> {
        let slot = self.terms.entry(monomial.clone()).or_insert(0);
        *slot = slot.checked_add(coefficient)?;
        if *slot == 0 {
            self.terms.remove(&monomial);
        }
        (self.terms.len() <= MAX_TERMS).then_some(())
    }

    fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::constant(0);
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                product.add_term(multiply(a, b)?, x.checked_mul(*y)?)?;
            }
        }
        Some(product)
    }

    /// The leading term in a fixed monomial order: lexicographic by base.
    fn leading(&self) -> Option<(Monomial, i64)> {
        let leading = self
            .terms
            .iter()
            .max_by(|a, b| compare_lexicographically(a.0, b.0))?;
        Some((leading.0.clone(), *leading.1))
    }

    /// The quotient, if `divisor` divides without a remainder.
    pub(super) fn divide_exactly(&self, divisor: &Self) -> Option<Self> {
        let (lead, lead_coefficient) = divisor.leading()?;
        let mut rest = self.clone();
        let mut quotient = Self::constant(0);
        // Each step removes the leading monomial for good, so the quotient's size bounds them.
        while let Some((monomial, coefficient)) = rest.leading() {
            if coefficient.checked_rem(lead_coefficient)? != 0 {
                return None;
            }
            let monomial = divide(&monomial, &lead)?;
            let coefficient = coefficient.checked_div(lead_coefficient)?;
            for (factor, value) in &divisor.terms {
                let value = value.checked_mul(coefficient)?.checked_neg()?;
                rest.add_term(multiply(factor, &monomial)?, value)?;
            }
            quotient.add_term(monomial, coefficient)?;
        }
        Some(quotient)
    }

    /// The polynomial as a sum of products.
    pub(super) fn to_expr(&self, exprs: &mut SymExprs) -> Result<SymExprId, SymError> {
        let mut terms = Vec::with_capacity(self.terms.len());
        for (monomial, coefficient) in &self.terms {
            let mut factors = vec![exprs.integer(*coefficient)?];
            for (base, exponent) in monomial {
                factors.push(exprs.integer_power(*base, i64::from(*exponent))?);
            }
            terms.push(exprs.product(&factors)?);
        }
        exprs.sum(&terms)
    }
}

fn multiply(a: &Monomial, b: &Monomial) -> Option<Monomial> {
    let mut powers: BTreeMap<SymExprId, u32> = a.iter().copied().collect();
    for (base, exponent) in b {
        let slot = powers.entry(*base).or_insert(0);
        *slot = slot.checked_add(*exponent)?;
    }
    Some(powers.into_iter().collect())
}

fn divide(a: &Monomial, b: &Monomial) -> Option<Monomial> {
    let mut powers: BTreeMap<SymExprId, u32> = a.iter().copied().collect();
    for (base, exponent) in b {
        let slot = powers.get_mut(base)?;
        *slot = slot.checked_sub(*exponent)?;
    }
    Some(powers.into_iter().filter(|power| power.1 > 0).collect())
}

/// Lexicographic order of monomials over the bases in the order of their ids.
fn compare_lexicographically(a: &Monomial, b: &Monomial) -> std::cmp::Ordering {
    use std::cmp::Ordering;
    for (left, right) in a.iter().zip(b) {
        let order = match left.0.cmp(&right.0) {
            // The earlier base is missing on the other side: its power is higher here.
            Ordering::Less => Ordering::Greater,
            Ordering::Greater => Ordering::Less,
            Ordering::Equal => left.1.cmp(&right.1),
        };
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}
