//! Computing an expression from values of its symbols, and the values seen at export.

use super::arena::{Constant, SymExpr, SymExprs, SymbolId};
use super::function::SymFunction;
use super::{SymError, SymExprId, SymInt};

/// The value of an expression: of its size when the program was exported, or with given symbols.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Hint {
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

impl Hint {
    /// The integer, if it is one.
    pub fn as_int(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            Self::Float(_) | Self::Bool(_) => None,
        }
    }

    fn as_float(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
            Self::Bool(value) => f64::from(u8::from(value)),
        }
    }
}

impl SymExprs {
    /// The value that `id` had at export: recorded, or computed from its symbols' values.
    pub fn hint(&self, id: SymExprId) -> Option<Hint> {
        let recorded = self.recorded_hint(id);
        recorded.or_else(|| {
            self.evaluate_hint(id, &|symbol| self.symbol_hint(symbol))
                .ok()
        })
    }

    /// The value that a size had at export.
    pub fn size_hint(&self, size: SymInt) -> Option<i64> {
        match size {
            SymInt::Int(value) => Some(value),
            SymInt::Expr(id) => self.hint(id)?.as_int(),
        }
    }

    fn symbol_hint(&self, symbol: SymbolId) -> Option<Hint> {
        self.recorded_hint(self.symbol_expr(symbol)?)
    }

    /// The integer that `id` is when each symbol has the value that `value_of` gives.
    pub fn evaluate(
        &self,
        id: SymExprId,
        value_of: impl Fn(SymbolId) -> Option<i64>,
    ) -> Result<i64, SymError> {
        match self.evaluate_hint(id, &|symbol| value_of(symbol).map(Hint::Int))? {
            Hint::Int(value) => Ok(value),
            Hint::Float(_) | Hint::Bool(_) => Err(self.wrong_kind(id, "an integer")),
        }
    }

    /// The value of `id`, of whatever kind, when each symbol has the value that `value_of` gives.
    pub fn evaluate_hint(
        &self,
        id: SymExprId,
        value_of: &dyn Fn(SymbolId) -> Option<Hint>,
    ) -> Result<Hint, SymError> {
        match self.get(id) {
            SymExpr::Integer(value) => Ok(Hint::Int(*value)),
            SymExpr::Symbol(symbol) => value_of(*symbol).ok_or_else(|| SymError::UnboundSymbol {
                symbol: self.symbol_name(*symbol).to_owned(),
            }),
            SymExpr::Constant(Constant::True) => Ok(Hint::Bool(true)),
            SymExpr::Constant(Constant::False) => Ok(Hint::Bool(false)),
            SymExpr::Constant(Constant::Infinity) => Ok(Hint::Float(f64::INFINITY)),
            SymExpr::Constant(Constant::NegativeInfinity) => Ok(Hint::Float(f64::NEG_INFINITY)),
            SymExpr::Constant(Constant::NaN) => Ok(Hint::Float(f64::NAN)),
            SymExpr::Float { .. } | SymExpr::Rational(..) => {
                let value = self.number_value(id);
                Ok(Hint::Float(value.ok_or_else(|| self.cannot_evaluate(id))?))
            }
            SymExpr::BigInteger(_) | SymExpr::Constant(_) => Err(self.cannot_evaluate(id)),
            SymExpr::Call(function, args) => self.evaluate_call(id, *function, args, value_of),
        }
    }

    fn evaluate_call(
        &self,
        id: SymExprId,
        function: SymFunction,
        args: &[SymExprId],
        value_of: &dyn Fn(SymbolId) -> Option<Hint>,
    ) -> Result<Hint, SymError> {
        if let (SymFunction::Where, [condition, then, otherwise]) = (function, args) {
            // Only the chosen side need have a value.
            let chosen = match self.evaluate_hint(*condition, value_of)? {
                Hint::Bool(true) => *then,
                Hint::Bool(false) => *otherwise,
                _ => return Err(self.wrong_kind(*condition, "a condition")),
            };
            return self.evaluate_hint(chosen, value_of);
        }
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.evaluate_hint(*arg, value_of)?);
        }
        let name = self.function_name(function);
        let value = match apply(function, name, &values) {
            Ok(value) => value,
            Err(Failure::Kind) => return Err(self.wrong_kind(id, "a computation on numbers")),
            Err(Failure::Unknown) => return Err(self.cannot_evaluate(id)),
            Err(Failure::Typed(error)) => return Err(error),
        };
        Ok(value)
    }

    pub(super) fn wrong_kind(&self, id: SymExprId, expected: &'static str) -> SymError {
        SymError::WrongKind {
            expr: self.display(id),
            expected,
        }
    }

    fn cannot_evaluate(&self, id: SymExprId) -> SymError {
        SymError::CannotEvaluate {
            what: self.display(id),
        }
    }
}

/// Why a function of values has none.
enum Failure {
    /// An argument has the wrong kind.
    Kind,
    /// The function is not known.
    Unknown,
    Typed(SymError),
}

impl From<SymError> for Failure {
    fn from(error: SymError) -> Self {
        Self::Typed(error)
    }
}

fn apply(function: SymFunction, name: &str, values: &[Hint]) -> Result<Hint, Failure> {
    if function.is_boolean() {
        return apply_boolean(function, values);
    }
    match (function, values) {
        (SymFunction::Add, _) => fold(values, |a, b| a.checked_add(b), |a, b| a + b, "+"),
        (SymFunction::Mul, _) => fold(values, |a, b| a.checked_mul(b), |a, b| a * b, "*"),
        (SymFunction::Max, _) => fold(values, |a, b| Some(a.max(b)), f64::max, "Max"),
        (SymFunction::Min, _) => fold(values, |a, b| Some(a.min(b)), f64::min, "Min"),
        (SymFunction::Identity, [value]) => Ok(*value),
        (SymFunction::Pow, [Hint::Int(base), Hint::Int(exponent)]) if *exponent >= 0 => {
            Ok(Hint::Int(integer_power(*base, *exponent)?))
        }
        (SymFunction::Pow | SymFunction::FloatPow, [a, b]) => {
            Ok(Hint::Float(a.as_float().powf(b.as_float())))
        }
        (SymFunction::FloatTrueDiv | SymFunction::IntTrueDiv, [a, b]) => {
            if b.as_float() == 0.0 {
                return Err(SymError::DivisionByZero { operation: "/" }.into());
            }
            Ok(Hint::Float(a.as_float() / b.as_float()))
        }
        (SymFunction::ToFloat, [value]) => Ok(Hint::Float(value.as_float())),
        (SymFunction::TruncToFloat, [value]) => Ok(Hint::Float(value.as_float().trunc())),
        (SymFunction::TruncToInt, [value]) => to_integer(*value, f64::trunc),
        (SymFunction::FloorToInt, [value]) => to_integer(*value, f64::floor),
        (SymFunction::CeilToInt, [value]) => to_integer(*value, f64::ceil),
        (SymFunction::RoundToInt, [value]) => to_integer(*value, f64::round_ties_even),
        (SymFunction::RoundDecimal, [value, Hint::Int(digits)]) => {
            round_decimal(value.as_float(), *digits).ok_or(Failure::Unknown)
        }
        (SymFunction::Other(_), [value]) => {
            apply_unary(name, value.as_float()).ok_or(Failure::Unknown)
        }
        (SymFunction::Other(_), _) => Err(Failure::Unknown),
        _ => {
            let ints: Option<Vec<i64>> = values.iter().map(|value| value.as_int()).collect();
            let ints = ints.ok_or(Failure::Kind)?;
            Ok(Hint::Int(apply_integer(function, &ints)?))
        }
    }
}

fn fold(
    values: &[Hint],
    of_ints: fn(i64, i64) -> Option<i64>,
    of_floats: fn(f64, f64) -> f64,
    operation: &'static str,
) -> Result<Hint, Failure> {
    let mut values = values.iter().copied();
    let mut total = values.next().ok_or(Failure::Kind)?;
    for value in values {
        total = match (total, value) {
            (Hint::Int(a), Hint::Int(b)) => {
                let value = of_ints(a, b);
                Hint::Int(value.ok_or(SymError::Overflow { operation })?)
            }
            (Hint::Bool(_), _) | (_, Hint::Bool(_)) => return Err(Failure::Kind),
            (a, b) => Hint::Float(of_floats(a.as_float(), b.as_float())),
        };
    }
    Ok(total)
}

fn apply_integer(function: SymFunction, args: &[i64]) -> Result<i64, Failure> {
    let value = match (function, args) {
        (SymFunction::FloorDiv | SymFunction::CleanDiv, [a, b]) => floor_div(*a, *b)?,
        (SymFunction::CeilDiv, [a, b]) => {
            let down = floor_div(*a, *b)?;
            let exact = floor_mod(*a, *b)? == 0;
            down + i64::from(!exact)
        }
        (SymFunction::PythonMod, [a, b]) => floor_mod(*a, *b)?,
        (SymFunction::Mod, [a, b]) => {
            let operand = if *a < 0 { *a } else { *b };
            if operand < 0 {
                let operation = "Mod";
                return Err(SymError::NegativeOperand { operation, operand }.into());
            }
            floor_mod(*a, *b)?
        }
        (SymFunction::ModularIndexing, [a, b, c]) => floor_mod(floor_div(*a, *b)?, *c)?,
        (SymFunction::PowByNatural, [a, b]) => integer_power(*a, *b)?,
        (SymFunction::LShift, [a, b]) => {
            let factor = integer_power(2, *b)?;
            let product = a.checked_mul(factor);
            product.ok_or(SymError::Overflow { operation: "<<" })?
        }
        (SymFunction::RShift, [a, b]) => floor_div(*a, integer_power(2, *b)?)?,
        (SymFunction::BitwiseAnd, [a, b]) => a & b,
        (SymFunction::BitwiseOr, [a, b]) => a | b,
        (SymFunction::BitwiseXor, [a, b]) => a ^ b,
        (SymFunction::IsNonOverlappingAndDenseIndicator, args) if args.len() % 2 == 0 => {
            let (sizes, strides) = args.split_at(args.len() / 2);
            i64::from(is_dense(sizes, strides))
        }
        _ => return Err(Failure::Unknown),
    };
    Ok(value)
}

/// Whether strides that ascend from 1 by the sizes describe the tensor, up to the order of
/// dimensions.
fn is_dense(sizes: &[i64], strides: &[i64]) -> bool {
    let mut dims: Vec<(i64, i64)> = strides.iter().copied().zip(sizes.iter().copied()).collect();
    if let [(stride, size)] = dims[..] {
        return stride == 1 || size < 2;
    }
    dims.sort_by_key(|dim| dim.0);
    let mut expected = 1_i64;
    for (stride, size) in dims {
        if size == 1 {
            continue;
        }
        if stride != expected {
            return false;
        }
        expected = expected.saturating_mul(size);
    }
    true
}

/// `a // b` as in Python: rounded down.
pub(super) fn floor_div(a: i64, b: i64) -> Result<i64, SymError> {
    let operation = "//";
    if b == 0 {
        return Err(SymError::DivisionByZero { operation });
    }
    let quotient = a.checked_div(b).ok_or(SymError::Overflow { operation })?;
    let rounded_up = a % b != 0 && (a < 0) != (b < 0);
    Ok(quotient - i64::from(rounded_up))
}

/// `a % b` as in Python: with the sign of `b`.
pub(super) fn floor_mod(a: i64, b: i64) -> Result<i64, SymError> {
    if b == 0 {
        return Err(SymError::DivisionByZero { operation: "%" });
    }
    let remainder = a.wrapping_rem(b);
    if remainder != 0 && (remainder < 0) != (b < 0) {
        Ok(remainder + b)
    } else {
        Ok(remainder)
    }
}

/// `base ** exponent` for a non-negative exponent.
pub(super) fn integer_power(base: i64, exponent: i64) -> Result<i64, SymError> {
    let operation = "**";
    if exponent < 0 {
        let operand = exponent;
        return Err(SymError::NegativeOperand { operation, operand });
    }
    match (base, u32::try_from(exponent)) {
        (0 | 1, _) if exponent > 0 => Ok(base),
        (-1, _) => Ok(1 - 2 * (exponent & 1)),
        (_, Ok(exponent)) => base
            .checked_pow(exponent)
            .ok_or(SymError::Overflow { operation }),
        (_, Err(_)) => Err(SymError::Overflow { operation }),
    }
}

fn apply_boolean(function: SymFunction, values: &[Hint]) -> Result<Hint, Failure> {
    let truths = || -> Result<Vec<bool>, Failure> {
        let truth = |value: &Hint| match value {
            Hint::Bool(value) => Ok(*value),
            Hint::Int(_) | Hint::Float(_) => Err(Failure::Kind),
        };
        values.iter().map(truth).collect()
    };
    let value = match (function, values) {
        (SymFunction::And, _) => truths()?.into_iter().all(|value| value),
        (SymFunction::Or, _) => truths()?.into_iter().any(|value| value),
        (SymFunction::Not, _) => !truths()?.into_iter().all(|value| value),
        (relation, [a, b]) => relates(relation, *a, *b),
        _ => return Err(Failure::Kind),
    };
    Ok(Hint::Bool(value))
}

fn relates(relation: SymFunction, a: Hint, b: Hint) -> bool {
    let order = match (a, b) {
        (Hint::Int(a), Hint::Int(b)) => Some(a.cmp(&b)),
        _ => a.as_float().partial_cmp(&b.as_float()),
    };
    match (relation, order) {
        (SymFunction::Ne, None) => true,
        (_, None) => false,
        (SymFunction::Eq, Some(order)) => order.is_eq(),
        (SymFunction::Ne, Some(order)) => order.is_ne(),
        (SymFunction::Lt, Some(order)) => order.is_lt(),
        (SymFunction::Le, Some(order)) => order.is_le(),
        (SymFunction::Gt, Some(order)) => order.is_gt(),
        (_, Some(order)) => order.is_ge(),
    }
}

fn to_integer(value: Hint, round: fn(f64) -> f64) -> Result<Hint, Failure> {
    // 2^63 and beyond do not fit; -2^63 does.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Hint::Int(value) => Ok(Hint::Int(value)),
        Hint::Bool(_) => Err(Failure::Kind),
        Hint::Float(value) => {
            let rounded = round(value);
            if rounded >= -LIMIT && rounded < LIMIT {
                Ok(Hint::Int(rounded as i64))
            } else {
                let operation = "conversion to an integer";
                Err(SymError::Overflow { operation }.into())
            }
        }
    }
}

/// `round(value, digits)` as in Python: correctly rounded in decimal, halves to even.
fn round_decimal(value: f64, digits: i64) -> Option<Hint> {
    // A double has no decimals beyond these.
    const MOST_DIGITS: i64 = 1100;
    let rounded = match usize::try_from(digits.min(MOST_DIGITS)) {
        Ok(digits) => format!("{value:.digits$}").parse().ok()?,
        Err(_) => {
            let unit = 10_f64.powi(i32::try_from(-digits).ok()?);
            (value / unit).round_ties_even() * unit
        }
    };
    Some(Hint::Float(rounded))
}

/// The functions of one float that torch keeps opaque, and sympy's roundings.
fn apply_unary(name: &str, value: f64) -> Option<Hint> {
    let result = match name.strip_prefix("OpaqueUnaryFn_").unwrap_or(name) {
        "sqrt" => value.sqrt(),
        "cos" => value.cos(),
        "cosh" => value.cosh(),
        "sin" => value.sin(),
        "sinh" => value.sinh(),
        "tan" => value.tan(),
        "tanh" => value.tanh(),
        "asin" => value.asin(),
        "acos" => value.acos(),
        "atan" => value.atan(),
        "exp" => value.exp(),
        "log" => value.ln(),
        "asinh" => value.asinh(),
        "log2" => value.log2(),
        _ => return None,
    };
    Some(Hint::Float(result))
}
