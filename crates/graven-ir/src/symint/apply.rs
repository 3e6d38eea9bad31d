//! The functions of an expression, applied to values.

use super::function::SymFunction;
use super::ratio::Ratio;
use super::{Hint, SymError};

/// A value on the way: fractions are exact until a float is needed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    Exact(Ratio),
    Float(f64),
    Bool(bool),
}

impl Value {
    pub(super) fn int(value: i64) -> Self {
        Self::Exact(Ratio::integer(value))
    }

    fn as_int(self) -> Option<i64> {
        match self {
            Self::Exact(value) => value.as_integer(),
            Self::Float(_) | Self::Bool(_) => None,
        }
    }

    fn as_float(self) -> f64 {
        match self {
            Self::Exact(value) => value.to_f64(),
            Self::Float(value) => value,
            Self::Bool(value) => f64::from(u8::from(value)),
        }
    }
}

impl From<Hint> for Value {
    fn from(hint: Hint) -> Self {
        match hint {
            Hint::Int(value) => Self::int(value),
            Hint::Float(value) => Self::Float(value),
            Hint::Bool(value) => Self::Bool(value),
        }
    }
}

impl From<Value> for Hint {
    fn from(value: Value) -> Self {
        match value {
            Value::Exact(ratio) => match ratio.as_integer() {
                Some(value) => Self::Int(value),
                None => Self::Float(ratio.to_f64()),
            },
            Value::Float(value) => Self::Float(value),
            Value::Bool(value) => Self::Bool(value),
        }
    }
}

/// Why a function of values has none.
pub(super) enum Failure {
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

pub(super) fn apply(function: SymFunction, name: &str, values: &[Value]) -> Result<Value, Failure> {
    if function.is_boolean() {
        return apply_boolean(function, values);
    }
    match (function, values) {
        (SymFunction::Add, _) => fold(values, Ratio::checked_add, |a, b| a + b, "+"),
        (SymFunction::Mul, _) => fold(values, Ratio::checked_mul, |a, b| a * b, "*"),
        (SymFunction::Max, _) => fold(values, |a, b| Some(a.max(b)), f64::max, "Max"),
        (SymFunction::Min, _) => fold(values, |a, b| Some(a.min(b)), f64::min, "Min"),
        (SymFunction::Identity, [value]) => Ok(*value),
        (SymFunction::Pow, [base, exponent]) => power(*base, *exponent),
        (SymFunction::FloatPow, [a, b]) => Ok(Value::Float(a.as_float().powf(b.as_float()))),
        (SymFunction::FloatTrueDiv | SymFunction::IntTrueDiv, [a, b]) => {
            if b.as_float() == 0.0 {
                return Err(SymError::DivisionByZero { operation: "/" }.into());
            }
            Ok(Value::Float(a.as_float() / b.as_float()))
        }
        (SymFunction::ToFloat, [value]) => Ok(Value::Float(value.as_float())),
        (SymFunction::TruncToFloat, [value]) => Ok(Value::Float(value.as_float().trunc())),
        (SymFunction::TruncToInt, [value]) => to_integer(*value, f64::trunc),
        (SymFunction::FloorToInt, [value]) => to_integer(*value, f64::floor),
        (SymFunction::CeilToInt, [value]) => to_integer(*value, f64::ceil),
        (SymFunction::RoundToInt, [value]) => to_integer(*value, f64::round_ties_even),
        (SymFunction::RoundDecimal, [value, digits]) => {
            let digits = digits.as_int().ok_or(Failure::Kind)?;
            round_decimal(value.as_float(), digits).ok_or(Failure::Unknown)
        }
        (SymFunction::Other(_), [value]) => {
            apply_unary(name, value.as_float()).ok_or(Failure::Unknown)
        }
        (SymFunction::Other(_), _) => Err(Failure::Unknown),
        _ => {
            let ints: Option<Vec<i64>> = values.iter().map(|value| value.as_int()).collect();
            let ints = ints.ok_or(Failure::Kind)?;
            Ok(Value::int(apply_integer(function, &ints)?))
        }
    }
}

fn fold(
    values: &[Value],
    of_exact: fn(Ratio, Ratio) -> Option<Ratio>,
    of_floats: fn(f64, f64) -> f64,
    operation: &'static str,
) -> Result<Value, Failure> {
    let mut values = values.iter().copied();
    let mut total = values.next().ok_or(Failure::Kind)?;
    for value in values {
        total = match (total, value) {
            (Value::Exact(a), Value::Exact(b)) => {
                let value = of_exact(a, b);
                Value::Exact(value.ok_or(SymError::Overflow { operation })?)
            }
            (Value::Bool(_), _) | (_, Value::Bool(_)) => return Err(Failure::Kind),
            (a, b) => Value::Float(of_floats(a.as_float(), b.as_float())),
        };
    }
    Ok(total)
}

/// `base ** exponent`, exact where the exponent is an integer.
fn power(base: Value, exponent: Value) -> Result<Value, Failure> {
    match (base, exponent.as_int()) {
        (Value::Exact(base), Some(exponent)) => {
            if base == Ratio::integer(0) && exponent < 0 {
                return Err(SymError::DivisionByZero { operation: "**" }.into());
            }
            let power = base.checked_pow(exponent);
            Ok(Value::Exact(
                power.ok_or(SymError::Overflow { operation: "**" })?,
            ))
        }
        (base, _) => Ok(Value::Float(base.as_float().powf(exponent.as_float()))),
    }
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

fn apply_boolean(function: SymFunction, values: &[Value]) -> Result<Value, Failure> {
    let truths = || -> Result<Vec<bool>, Failure> {
        let truth = |value: &Value| match value {
            Value::Bool(value) => Ok(*value),
            Value::Exact(_) | Value::Float(_) => Err(Failure::Kind),
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
    Ok(Value::Bool(value))
}

fn relates(relation: SymFunction, a: Value, b: Value) -> bool {
    let order = match (a, b) {
        (Value::Exact(a), Value::Exact(b)) => Some(a.cmp(&b)),
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

fn to_integer(value: Value, round: fn(f64) -> f64) -> Result<Value, Failure> {
    // 2^63 and beyond do not fit; -2^63 does.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Value::Exact(value) if value.as_integer().is_some() => Ok(Value::Exact(value)),
        Value::Bool(_) => Err(Failure::Kind),
        value => {
            let rounded = round(value.as_float());
            if (-LIMIT..LIMIT).contains(&rounded) {
                Ok(Value::int(rounded as i64))
            } else {
                let operation = "conversion to an integer";
                Err(SymError::Overflow { operation }.into())
            }
        }
    }
}

/// `round(value, digits)` as in Python: correctly rounded in decimal, halves to even.
fn round_decimal(value: f64, digits: i64) -> Option<Value> {
    // A double has no decimals beyond these.
    const MOST_DIGITS: i64 = 1100;
    let rounded = match usize::try_from(digits.min(MOST_DIGITS)) {
        Ok(digits) => format!("{value:.digits$}").parse().ok()?,
        Err(_) => {
            let unit = 10_f64.powi(i32::try_from(-digits).ok()?);
            (value / unit).round_ties_even() * unit
        }
    };
    Some(Value::Float(rounded))
}

/// The functions of one float that torch keeps opaque, and sympy's roundings.
fn apply_unary(name: &str, value: f64) -> Option<Value> {
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
    Some(Value::Float(result))
}
