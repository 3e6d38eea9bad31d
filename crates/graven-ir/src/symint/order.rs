//! The orders in which sympy writes arguments.
//!
//! Factors of a product stand in the order of their *sort keys*: numbers, then symbols by name,
//! then sums and powers, then functions by name; see [`SymExprs::compare`]. Terms of a sum are
//! ordered as monomials over all bases that occur in the sum, highest powers of the first base
//! first. Arguments of `Max` and `Min` are ordered by size, then by sort key.

use std::cmp::Ordering;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::SymExprId;
use super::arena::{Constant, SymExpr, SymExprs};
use super::function::SymFunction;

/// A map from expressions, in the order in which they were added.
pub(super) type ExprMap<V> = IndexMap<SymExprId, V, FxBuildHasher>;

/// An expression taken apart for comparison: `coefficient * base ** exponent`.
struct SortKey<'a> {
    class: (u8, u32, &'a str),
    args: KeyArgs<'a>,
    /// `None` for 1.
    exponent: Option<SymExprId>,
    /// `None` for 1.
    coefficient: Option<SymExprId>,
}

enum KeyArgs<'a> {
    /// A number by itself.
    None,
    /// A leaf: its text.
    Text(&'a str),
    /// A number that is the base of a power.
    Number(SymExprId),
    Exprs(&'a [SymExprId]),
}

impl KeyArgs<'_> {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Text(_) | Self::Number(_) => 1,
            Self::Exprs(args) => args.len(),
        }
    }
}

/// A term of a sum as a monomial over the bases of the sum.
struct Monomial {
    term: SymExprId,
    coefficient: f64,
    /// Base and exponent; once the bases are numbered, number and exponent, ascending.
    powers: Vec<(SymExprId, i64)>,
    ranks: Vec<(usize, i64)>,
}

impl SymExprs {
    /// Whether `id` is a number, infinities included.
    pub(super) fn is_number(&self, id: SymExprId) -> bool {
        match self.get(id) {
            SymExpr::Symbol(_) | SymExpr::Call(..) => false,
            SymExpr::Constant(constant) => !matches!(constant, Constant::True | Constant::False),
            _ => true,
        }
    }

    /// The value of a number, as near as a float comes; `None` for what is no real number.
    pub(super) fn number_value(&self, id: SymExprId) -> Option<f64> {
        match self.get(id) {
            SymExpr::Integer(value) => Some(*value as f64),
            SymExpr::BigInteger(digits) | SymExpr::Float { digits, .. } => digits.parse().ok(),
            SymExpr::Rational(numerator, denominator) => {
                Some(*numerator as f64 / *denominator as f64)
            }
            SymExpr::Constant(Constant::IntInfinity | Constant::Infinity) => Some(f64::INFINITY),
            SymExpr::Constant(Constant::NegativeIntInfinity | Constant::NegativeInfinity) => {
                Some(f64::NEG_INFINITY)
            }
            SymExpr::Constant(_) | SymExpr::Symbol(_) | SymExpr::Call(..) => None,
        }
    }

    pub(super) fn compare_numbers(&self, a: SymExprId, b: SymExprId) -> Ordering {
        if let (Some(a), Some(b)) = (self.as_integer(a), self.as_integer(b)) {
            return a.cmp(&b);
        }
        let a = self.number_value(a).unwrap_or(f64::INFINITY);
        let b = self.number_value(b).unwrap_or(f64::INFINITY);
        a.total_cmp(&b)
    }

    /// `id` as a numeric coefficient (`None` for 1) and the other factors; a lone factor is
    /// given as a slice of one.
    pub(super) fn coefficient_and_factors<'a>(
        &'a self,
        id: &'a SymExprId,
    ) -> (Option<SymExprId>, &'a [SymExprId]) {
        match self.args_of(*id, SymFunction::Mul) {
            Some([first, rest @ ..]) if !rest.is_empty() && self.is_number(*first) => {
                (Some(*first), rest)
            }
            Some(factors) => (None, factors),
            None => (None, std::slice::from_ref(id)),
        }
    }

    /// sympy's order of factors, and of most argument lists.
    pub fn compare(&self, a: SymExprId, b: SymExprId) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        if self.is_number(a) && self.is_number(b) {
            return self.compare_numbers(a, b);
        }
        let (left, right) = (self.sort_key(&a), self.sort_key(&b));
        left.class
            .cmp(&right.class)
            .then_with(|| left.args.len().cmp(&right.args.len()))
            .then_with(|| self.compare_key_args(&left.args, &right.args))
            .then_with(|| self.compare_optional(left.exponent, right.exponent))
            .then_with(|| self.compare_optional(left.coefficient, right.coefficient))
    }

    fn compare_key_args(&self, a: &KeyArgs<'_>, b: &KeyArgs<'_>) -> Ordering {
        match (a, b) {
            (KeyArgs::Text(a), KeyArgs::Text(b)) => a.cmp(b),
            // sympy compares the digits here, not the values.
            (KeyArgs::Number(a), KeyArgs::Number(b)) => self.display(*a).cmp(&self.display(*b)),
            (KeyArgs::Exprs(a), KeyArgs::Exprs(b)) => a
                .iter()
                .zip(b.iter())
                .map(|(a, b)| self.compare(*a, *b))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        }
    }

    /// Compares exponents or coefficients, where absence stands for 1.
    fn compare_optional(&self, a: Option<SymExprId>, b: Option<SymExprId>) -> Ordering {
        let against_one = |id: SymExprId| {
            if self.is_number(id) {
                let value = self.number_value(id).unwrap_or(f64::INFINITY);
                value.total_cmp(&1.0)
            } else {
                // A number sorts before everything else.
                Ordering::Greater
            }
        };
        match (a, b) {
            (None, None) => Ordering::Equal,
            (Some(a), None) => against_one(a),
            (None, Some(b)) => against_one(b).reverse(),
            (Some(a), Some(b)) => self.compare(a, b),
        }
    }

    fn sort_key<'a>(&'a self, id: &'a SymExprId) -> SortKey<'a> {
        if self.is_number(*id) {
            return SortKey {
                class: (1, 0, "Number"),
                args: KeyArgs::None,
                exponent: None,
                coefficient: Some(*id),
            };
        }
        let (coefficient, factors) = self.coefficient_and_factors(id);
        let [base] = factors else {
            return SortKey {
                class: (3, 0, "Mul"),
                args: KeyArgs::Exprs(factors),
                exponent: None,
                coefficient,
            };
        };
        let (base, exponent) = match self.args_of(*base, SymFunction::Pow) {
            Some([base, exponent]) => (*base, Some(*exponent)),
            _ => (*base, None),
        };
        let (class, args) = self.base_key(base);
        SortKey {
            class,
            args,
            exponent,
            coefficient,
        }
    }

    fn base_key(&self, base: SymExprId) -> ((u8, u32, &str), KeyArgs<'_>) {
        match self.get(base) {
            SymExpr::Symbol(symbol) => {
                let name = self.symbol_name(*symbol);
                ((2, 0, "Symbol"), KeyArgs::Text(name))
            }
            SymExpr::Constant(Constant::True) => ((5, 0, "BooleanTrue"), KeyArgs::Exprs(&[])),
            SymExpr::Constant(Constant::False) => ((5, 0, "BooleanFalse"), KeyArgs::Exprs(&[])),
            SymExpr::Call(function, args) => (self.class_key(*function), KeyArgs::Exprs(args)),
            _ => ((1, 0, "Number"), KeyArgs::Number(base)),
        }
    }

    /// The rank of a function among all kinds of expression.
    fn class_key(&self, function: SymFunction) -> (u8, u32, &str) {
        let name = self.function_name(function);
        match function {
            SymFunction::Mul => (3, 0, name),
            SymFunction::Add => (3, 1, name),
            SymFunction::Pow => (3, 2, name),
            SymFunction::Max | SymFunction::Min => (5, 0, name),
            function if function.is_boolean() => (5, 0, name),
            // Functions of any number of arguments stand before those of a fixed number.
            SymFunction::IsNonOverlappingAndDenseIndicator => (4, 0, name),
            _ => (4, 10_000, name),
        }
    }

    /// Puts the arguments of `Max`, `Min`, `And` and `Or` in order.
    pub(super) fn sort_lattice_args(&self, args: &mut [SymExprId]) {
        args.sort_by(|a, b| {
            self.lattice_size(*a)
                .cmp(&self.lattice_size(*b))
                .then_with(|| self.compare(*a, *b))
        });
    }

    /// Twice the size that sympy orders by: a float counts half.
    fn lattice_size(&self, id: SymExprId) -> u32 {
        match self.get(id) {
            SymExpr::Float { .. } => 1,
            _ => self.tree_size(id).saturating_mul(2),
        }
    }

    /// Puts the factors of a product in order.
    pub(super) fn sort_factors(&self, factors: &mut [SymExprId]) {
        factors.sort_by(|a, b| self.compare(*a, *b));
    }

    /// Puts the terms of a sum in order.
    pub(super) fn sort_terms(&self, terms: &mut Vec<SymExprId>) {
        if self.put_positive_number_first(terms) {
            return;
        }
        let mut monomials: Vec<Monomial> = terms.iter().map(|term| self.monomial(*term)).collect();
        let mut bases: ExprMap<usize> = monomials
            .iter()
            .flat_map(|monomial| monomial.powers.iter().map(|power| (power.0, 0)))
            .collect();
        bases.sort_by(|a, _, b, _| self.compare(*a, *b));
        for (rank, (_, slot)) in bases.iter_mut().enumerate() {
            *slot = rank;
        }
        for monomial in &mut monomials {
            let powers = monomial.powers.iter();
            monomial.ranks = powers
                .filter_map(|(base, exponent)| Some((*bases.get(base)?, *exponent)))
                .collect();
            monomial.ranks.sort_unstable();
        }
        monomials.sort_by(|a, b| {
            compare_ranks(&a.ranks, &b.ranks).then(a.coefficient.total_cmp(&b.coefficient))
        });
        terms.clear();
        terms.extend(monomials.iter().map(|monomial| monomial.term));
    }

    /// `1 - s0` is not written `-s0 + 1`: of a positive number and a negative multiple of one
    /// factor, the number comes first.
    fn put_positive_number_first(&self, terms: &mut [SymExprId]) -> bool {
        let [a, b] = *terms else { return false };
        let (number, product) = if self.is_number(a) { (a, b) } else { (b, a) };
        let positive = self.number_value(number).is_some_and(|value| value > 0.0);
        let negative = match self.args_of(product, SymFunction::Mul) {
            Some([coefficient, _]) => self
                .number_value(*coefficient)
                .is_some_and(|value| value < 0.0),
            _ => false,
        };
        if positive && negative {
            terms.copy_from_slice(&[number, product]);
        }
        positive && negative
    }

    fn monomial(&self, term: SymExprId) -> Monomial {
        let mut monomial = Monomial {
            term,
            coefficient: 1.0,
            powers: Vec::new(),
            ranks: Vec::new(),
        };
        let (coefficient, factors) = self.coefficient_and_factors(&term);
        for factor in coefficient.iter().chain(factors) {
            if let Some(value) = self.number_value(*factor) {
                monomial.coefficient *= value;
                continue;
            }
            let power = match self.args_of(*factor, SymFunction::Pow) {
                Some([base, exponent]) => self.as_integer(*exponent).map(|e| (*base, e)),
                _ => None,
            };
            monomial.powers.push(power.unwrap_or((*factor, 1)));
        }
        monomial
    }
}

/// Orders monomials: at the first base whose exponents differ, the higher exponent comes first.
fn compare_ranks(a: &[(usize, i64)], b: &[(usize, i64)]) -> Ordering {
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let (from_left, from_right) = match (left.peek(), right.peek()) {
            (None, None) => return Ordering::Equal,
            (Some((_, exponent)), None) => (*exponent, 0),
            (None, Some((_, exponent))) => (0, *exponent),
            (Some((i, exponent)), Some((j, _))) if i < j => (*exponent, 0),
            (Some((i, _)), Some((j, exponent))) if i > j => (0, *exponent),
            (Some((_, a)), Some((_, b))) => {
                let both = (*a, *b);
                left.next();
                right.next();
                both
            }
        };
        if from_left != from_right {
            return from_right.cmp(&from_left);
        }
        // Only equal bases can have equal exponents here, as an exponent is never zero; were it
        // zero, skip it.
        if from_left == 0 {
            left.next_if(|power| power.1 == 0);
            right.next_if(|power| power.1 == 0);
        }
    }
}
