//! Writing sympy's `str` form, as torch prints sizes: `2*s77 + s86`, `(s77//2)`, `Max(1, s0)`.
//!
//! The expression is taken to be in canonical form, as all that arithmetic gives is.

use super::arena::{Constant, SymExpr, SymExprs};
use super::function::SymFunction;
use super::{SymBool, SymExprId, SymInt};

/// How tightly an expression holds together, on sympy's scale.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Precedence(u16);

impl Precedence {
    const IDENTITY: Self = Self(10);
    const OR: Self = Self(20);
    const AND: Self = Self(30);
    /// Relations, and torch's own functions that are written with an operator.
    const RELATIONAL: Self = Self(35);
    const BITWISE_OR: Self = Self(36);
    const BITWISE_XOR: Self = Self(37);
    const BITWISE_AND: Self = Self(38);
    const ADD: Self = Self(40);
    const MUL: Self = Self(50);
    const POW: Self = Self(60);
    const FUNCTION: Self = Self(70);
    const NOT: Self = Self(100);
    /// Everything but an atom is put in parentheses.
    const BELOW_ATOM: Self = Self(999);
    const ATOM: Self = Self(1000);
}

impl SymExprs {
    /// The `str` form of `id`.
    pub fn display(&self, id: SymExprId) -> String {
        match self.get(id) {
            // A float by itself is written with all its digits.
            SymExpr::Float { digits, precision } => {
                float_text(digits, *precision, TrailingZeros::Keep)
            }
            _ => self.text(id),
        }
    }

    /// The `str` form of a size.
    pub fn display_size(&self, size: SymInt) -> String {
        match size {
            SymInt::Int(value) => value.to_string(),
            SymInt::Expr(id) => self.display(id),
        }
    }

    /// The `str` form of a condition.
    pub fn display_condition(&self, condition: SymBool) -> String {
        match condition {
            SymBool::Bool(true) => "True".to_owned(),
            SymBool::Bool(false) => "False".to_owned(),
            SymBool::Expr(id) => self.display(id),
        }
    }

    fn text(&self, id: SymExprId) -> String {
        match self.get(id) {
            SymExpr::Integer(value) => value.to_string(),
            SymExpr::BigInteger(digits) => digits.to_string(),
            SymExpr::Rational(numerator, denominator) => format!("{numerator}/{denominator}"),
            SymExpr::Float { digits, precision } => {
                float_text(digits, *precision, TrailingZeros::Strip)
            }
            SymExpr::Constant(Constant::True) => "True".to_owned(),
            SymExpr::Constant(Constant::False) => "False".to_owned(),
            SymExpr::Constant(constant) => constant.text().to_owned(),
            SymExpr::Symbol(symbol) => self.symbol_name(*symbol).to_owned(),
            SymExpr::Call(function, args) => self.call_text(id, *function, args),
        }
    }

    fn call_text(&self, id: SymExprId, function: SymFunction, args: &[SymExprId]) -> String {
        match (function, args) {
            (SymFunction::Add, terms) => self.sum_text(terms),
            (SymFunction::Mul, _) => self.product_text(id),
            (SymFunction::Pow, [base, exponent]) => self.power_text(*base, *exponent),
            (SymFunction::FloorDiv | SymFunction::CleanDiv, [base, divisor]) => {
                let level = Precedence::BELOW_ATOM;
                let (base, divisor) = (self.within(*base, level), self.within(*divisor, level));
                format!("({base}//{divisor})")
            }
            (SymFunction::Identity, [arg]) => format!("({})", self.text(*arg)),
            (SymFunction::Not, [arg]) => format!("~{}", self.within(*arg, Precedence::NOT)),
            (SymFunction::And, args) => self.joined(args, " & ", Precedence::BITWISE_AND),
            (SymFunction::Or, args) => self.joined(args, " | ", Precedence::BITWISE_OR),
            (SymFunction::Eq, args) => format!("Eq({})", self.listed(args)),
            (SymFunction::Ne, args) => format!("Ne({})", self.listed(args)),
            (SymFunction::Max | SymFunction::Min, args) => {
                let mut args = args.to_vec();
                self.sort_factors(&mut args);
                format!("{}({})", self.function_name(function), self.listed(&args))
            }
            (relation, [left, right]) if relation.is_relation() => {
                let operator = relation.relation_operator().unwrap_or("");
                let level = Precedence::RELATIONAL;
                let (left, right) = (self.within(*left, level), self.within(*right, level));
                format!("{left} {operator} {right}")
            }
            _ => format!("{}({})", self.function_name(function), self.listed(args)),
        }
    }

    /// `id`, in parentheses unless it binds tighter than `level`.
    fn within(&self, id: SymExprId, level: Precedence) -> String {
        let text = self.text(id);
        if self.precedence(id) <= level {
            format!("({text})")
        } else {
            text
        }
    }

    fn joined(&self, args: &[SymExprId], separator: &str, level: Precedence) -> String {
        let args: Vec<String> = args.iter().map(|arg| self.within(*arg, level)).collect();
        args.join(separator)
    }

    fn listed(&self, args: &[SymExprId]) -> String {
        let args: Vec<String> = args.iter().map(|arg| self.text(*arg)).collect();
        args.join(", ")
    }

    fn sum_text(&self, terms: &[SymExprId]) -> String {
        let mut out = String::new();
        for (position, term) in terms.iter().enumerate() {
            let text = self.text(*term);
            let is_sum = self.args_of(*term, SymFunction::Add).is_some();
            let (sign, magnitude) = match text.strip_prefix('-') {
                Some(magnitude) if !is_sum => ("-", magnitude),
                _ => ("+", text.as_str()),
            };
            match (position, sign) {
                (0, "-") => out.push('-'),
                (0, _) => {}
                (_, sign) => {
                    out.push(' ');
                    out.push_str(sign);
                }
            }
            if position > 0 {
                out.push(' ');
            }
            if self.precedence(*term) < Precedence::ADD || is_sum {
                out.push('(');
                out.push_str(magnitude);
                out.push(')');
            } else {
                out.push_str(magnitude);
            }
        }
        out
    }

    fn product_text(&self, id: SymExprId) -> String {
        let level = self.precedence(id);
        let (coefficient, factors) = self.coefficient_and_factors(&id);
        let mut fraction = Fraction::default();
        if let Some(coefficient) = coefficient {
            self.put_coefficient(coefficient, &mut fraction);
        }
        for factor in factors {
            match self.reciprocal(*factor) {
                Some((base, 1)) => {
                    fraction
                        .below
                        .push(match self.args_of(base, SymFunction::Pow) {
                            Some(_) => format!("({})", self.text(base)),
                            None => self.within(base, level),
                        })
                }
                Some((base, exponent)) => {
                    let base = self.within(base, Precedence::POW);
                    fraction.below.push(format!("{base}**{exponent}"));
                }
                None => fraction.above.push(self.within(*factor, level)),
            }
        }
        fraction.text()
    }

    fn put_coefficient(&self, coefficient: SymExprId, fraction: &mut Fraction) {
        match self.get(coefficient) {
            SymExpr::Rational(numerator, denominator) => {
                fraction.negative = *numerator < 0;
                if numerator.unsigned_abs() != 1 {
                    fraction.above.push(numerator.unsigned_abs().to_string());
                }
                fraction.below.push(denominator.to_string());
            }
            _ => {
                let text = self.text(coefficient);
                let magnitude = text.strip_prefix('-');
                fraction.negative = magnitude.is_some();
                match magnitude.unwrap_or(&text) {
                    "1" => {}
                    magnitude => fraction.above.push(magnitude.to_owned()),
                }
            }
        }
    }

    /// Base and exponent of a divisor: (x, 2) for `x**(-2)`.
    fn reciprocal(&self, factor: SymExprId) -> Option<(SymExprId, u64)> {
        match self.args_of(factor, SymFunction::Pow) {
            Some([base, exponent]) => {
                let exponent = self.as_integer(*exponent)?;
                (exponent < 0).then_some((*base, exponent.unsigned_abs()))
            }
            _ => None,
        }
    }

    fn power_text(&self, base: SymExprId, exponent: SymExprId) -> String {
        match self.get(exponent) {
            SymExpr::Rational(1, 2) => format!("sqrt({})", self.text(base)),
            SymExpr::Rational(-1, 2) => format!("1/sqrt({})", self.text(base)),
            SymExpr::Integer(-1) => format!("1/{}", self.within(base, Precedence::POW)),
            _ => {
                let base = self.within(base, Precedence::POW);
                format!("{base}**{}", self.within(exponent, Precedence::POW))
            }
        }
    }

    fn precedence(&self, id: SymExprId) -> Precedence {
        match self.get(id) {
            SymExpr::Symbol(_) => Precedence::ATOM,
            SymExpr::Constant(Constant::NegativeInfinity) => Precedence::ADD,
            SymExpr::Constant(_) => Precedence::ATOM,
            SymExpr::Call(SymFunction::Mul, args) => self.product_precedence(args),
            SymExpr::Call(function, _) => function_precedence(*function),
            number => {
                let negative = self.number_value(id).is_some_and(|value| value < 0.0);
                match (negative, number) {
                    (true, _) => Precedence::ADD,
                    (false, SymExpr::Rational(..)) => Precedence::MUL,
                    (false, _) => Precedence::ATOM,
                }
            }
        }
    }

    fn product_precedence(&self, factors: &[SymExprId]) -> Precedence {
        let loose = factors.iter().any(|factor| match self.get(*factor) {
            SymExpr::Call(function, _) => {
                is_torch_function(*function) && function_precedence(*function) < Precedence::MUL
            }
            _ => false,
        });
        let negative = factors
            .first()
            .and_then(|first| self.number_value(*first))
            .is_some_and(|value| value < 0.0);
        if negative && !loose {
            Precedence::ADD
        } else {
            Precedence::MUL
        }
    }
}

/// A product as it is written.
#[derive(Default)]
struct Fraction {
    negative: bool,
    above: Vec<String>,
    below: Vec<String>,
}

impl Fraction {
    fn text(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let above = match self.above.as_slice() {
            [] => "1".to_owned(),
            factors => factors.join("*"),
        };
        match self.below.as_slice() {
            [] => format!("{sign}{above}"),
            [only] => format!("{sign}{above}/{only}"),
            several => format!("{sign}{above}/({})", several.join("*")),
        }
    }
}

/// Whether torch, not sympy, defines the function and its precedence.
fn is_torch_function(function: SymFunction) -> bool {
    !matches!(
        function,
        SymFunction::Add
            | SymFunction::Mul
            | SymFunction::Pow
            | SymFunction::And
            | SymFunction::Or
            | SymFunction::Not
    ) && !function.is_relation()
}

fn function_precedence(function: SymFunction) -> Precedence {
    match function {
        SymFunction::Add => Precedence::ADD,
        SymFunction::Mul | SymFunction::PowByNatural => Precedence::MUL,
        SymFunction::Pow | SymFunction::FloatPow => Precedence::POW,
        SymFunction::FloorDiv
        | SymFunction::CleanDiv
        | SymFunction::ModularIndexing
        | SymFunction::Where
        | SymFunction::PythonMod
        | SymFunction::Mod
        | SymFunction::FloatTrueDiv
        | SymFunction::IntTrueDiv => Precedence::RELATIONAL,
        SymFunction::Identity => Precedence::IDENTITY,
        SymFunction::BitwiseAnd => Precedence::BITWISE_AND,
        SymFunction::BitwiseOr => Precedence::BITWISE_OR,
        SymFunction::BitwiseXor => Precedence::BITWISE_XOR,
        SymFunction::Eq | SymFunction::Ne => Precedence::MUL,
        SymFunction::Lt | SymFunction::Le | SymFunction::Gt | SymFunction::Ge => {
            Precedence::RELATIONAL
        }
        SymFunction::And => Precedence::AND,
        SymFunction::Or => Precedence::OR,
        SymFunction::Not => Precedence::NOT,
        SymFunction::Max | SymFunction::Min => Precedence::ATOM,
        _ => Precedence::FUNCTION,
    }
}

/// What becomes of zeros at the end of a float.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TrailingZeros {
    Keep,
    Strip,
}

/// A float as sympy prints it: 15 significant digits for a double.
fn float_text(digits: &str, precision: u32, zeros: TrailingZeros) -> String {
    match digits.parse::<f64>() {
        Ok(value) if precision == 53 => significant_digits(value, 15, zeros),
        _ => digits.to_owned(),
    }
}

/// `value` in `count` significant digits, as sympy writes them: fixed notation unless the
/// exponent is far from zero.
pub(super) fn significant_digits(value: f64, count: usize, zeros: TrailingZeros) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let scientific = format!("{:.*e}", count - 1, value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let mut exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits = mantissa.replace('.', "");
    let limit = i32::try_from(count).unwrap_or(i32::MAX);
    let least = (-(limit + 2) / 3).min(-5);
    let mut point = 1;
    if least < exponent && exponent < limit {
        if exponent < 0 {
            let zeros = "0".repeat(usize::try_from(-exponent).unwrap_or(0));
            digits.insert_str(0, &zeros);
        } else {
            point = usize::try_from(exponent).unwrap_or(0) + 1;
        }
        exponent = 0;
    }
    digits.insert(point.min(digits.len()), '.');
    if zeros == TrailingZeros::Strip {
        digits.truncate(digits.trim_end_matches('0').len());
    }
    if digits.ends_with('.') && zeros == TrailingZeros::Strip {
        digits.push('0');
    }
    let sign = if value < 0.0 { "-" } else { "" };
    match exponent {
        0 => format!("{sign}{digits}"),
        _ => format!("{sign}{digits}e{exponent:+}"),
    }
}
