//! Python's functions on numbers, as graphs call them on sizes.

use graven_ops::SymbolicFunction as Function;
use graven_tensor::{Scalar, Value};

use crate::error::RuntimeProblem;

/// Computes a function of numbers.
pub(crate) fn compute(function: Function, args: &[Value]) -> Result<Value, RuntimeProblem> {
    if let (Function::Sum, [Value::List(items)]) = (function, args) {
        let zero = Value::Int(0);
        return items.iter().try_fold(zero, |sum, item| {
            compute(Function::Add, &[sum, item.clone()])
        });
    }
    if let (Function::IfThenElse, [condition, then, otherwise]) = (function, args) {
        return Ok(match number(condition)?.to_f64() != 0.0 {
            true => then.clone(),
            false => otherwise.clone(),
        });
    }
    match args {
        [only] => unary(function, number(only)?),
        [left, right] => binary(function, number(left)?, number(right)?),
        _ => Err(unfit(function)),
    }
}

fn unfit(function: Function) -> RuntimeProblem {
    RuntimeProblem::malformed(format!(
        "{function:?} cannot be computed of these arguments"
    ))
}

/// The number that a value is; a tensor of one element counts as one.
fn number(value: &Value) -> Result<Scalar, RuntimeProblem> {
    match value {
        Value::Tensor(tensor) => Ok(tensor.array().item()?),
        value => value.as_scalar().ok_or_else(|| {
            RuntimeProblem::malformed(format!("expected a number, found {}", value.kind()))
        }),
    }
}

fn unary(function: Function, value: Scalar) -> Result<Value, RuntimeProblem> {
    let float = value.to_f64();
    let is_float = matches!(value, Scalar::Float(_));
    let whole = |value: f64| Value::Int(value as i64);
    Ok(match function {
        Function::Neg if is_float => Value::Float(-float),
        Function::Neg => Value::Int(value.to_i64().wrapping_neg()),
        Function::Pos => value.into(),
        Function::Not => Value::Bool(float == 0.0),
        Function::Floor if is_float => whole(float.floor()),
        Function::Ceil if is_float => whole(float.ceil()),
        Function::Trunc | Function::Int if is_float => whole(float.trunc()),
        Function::Round if is_float => whole(float.round_ties_even()),
        Function::Floor | Function::Ceil | Function::Trunc | Function::Int | Function::Round => {
            Value::Int(value.to_i64())
        }
        Function::Float => Value::Float(float),
        Function::Sqrt => Value::Float(float.sqrt()),
        _ => return Err(unfit(function)),
    })
}

fn binary(function: Function, left: Scalar, right: Scalar) -> Result<Value, RuntimeProblem> {
    use std::cmp::Ordering;
    let order = match (left, right) {
        (Scalar::Float(_), _) | (_, Scalar::Float(_)) => left.to_f64().partial_cmp(&right.to_f64()),
        _ => Some(left.to_i64().cmp(&right.to_i64())),
    };
    Ok(match function {
        Function::Eq => Value::Bool(order == Some(Ordering::Equal)),
        Function::Ne => Value::Bool(order != Some(Ordering::Equal)),
        Function::Lt => Value::Bool(order == Some(Ordering::Less)),
        Function::Le => Value::Bool(order.is_some_and(Ordering::is_le)),
        Function::Gt => Value::Bool(order == Some(Ordering::Greater)),
        Function::Ge => Value::Bool(order.is_some_and(Ordering::is_ge)),
        Function::Max => (if order == Some(Ordering::Less) {
            right
        } else {
            left
        })
        .into(),
        Function::Min => (if order == Some(Ordering::Greater) {
            right
        } else {
            left
        })
        .into(),
        Function::And | Function::Or => logical(function, left, right),
        Function::TrueDiv => Value::Float(left.to_f64() / right.to_f64()),
        _ => match (left, right) {
            (Scalar::Float(_), _) | (_, Scalar::Float(_)) => {
                on_floats(function, left.to_f64(), right.to_f64())?
            }
            _ => on_integers(function, left.to_i64(), right.to_i64())?,
        },
    })
}

fn logical(function: Function, left: Scalar, right: Scalar) -> Value {
    match (function, left, right) {
        (Function::And, Scalar::Bool(left), Scalar::Bool(right)) => Value::Bool(left & right),
        (_, Scalar::Bool(left), Scalar::Bool(right)) => Value::Bool(left | right),
        (Function::And, left, right) => Value::Int(left.to_i64() & right.to_i64()),
        (_, left, right) => Value::Int(left.to_i64() | right.to_i64()),
    }
}

fn on_floats(function: Function, left: f64, right: f64) -> Result<Value, RuntimeProblem> {
    Ok(Value::Float(match function {
        Function::Add => left + right,
        Function::Sub => left - right,
        Function::Mul => left * right,
        Function::FloorDiv => (left / right).floor(),
        Function::Mod => left - right * (left / right).floor(),
        Function::Pow => left.powf(right),
        _ => return Err(unfit(function)),
    }))
}

fn on_integers(function: Function, left: i64, right: i64) -> Result<Value, RuntimeProblem> {
    let overflow = || RuntimeProblem::malformed("a size has no room in 64 bits");
    let value = match function {
        Function::Add => left.checked_add(right),
        Function::Sub => left.checked_sub(right),
        Function::Mul => left.checked_mul(right),
        Function::FloorDiv | Function::Mod if right == 0 => {
            return Err(RuntimeProblem::malformed("a size is divided by 0"));
        }
        Function::FloorDiv => left
            .checked_div(right)
            .map(|quotient| quotient - i64::from(left % right != 0 && (left < 0) != (right < 0))),
        Function::Mod => left.checked_rem(right).map(|rest| {
            if rest != 0 && (rest < 0) != (right < 0) {
                rest + right
            } else {
                rest
            }
        }),
        Function::Pow => match u32::try_from(right) {
            Ok(exponent) => left.checked_pow(exponent),
            Err(_) => return Ok(Value::Float((left as f64).powf(right as f64))),
        },
        Function::LeftShift => u32::try_from(right)
            .ok()
            .and_then(|by| left.checked_shl(by)),
        Function::RightShift => u32::try_from(right).ok().map(|by| left >> by.min(63)),
        _ => return Err(unfit(function)),
    };
    Ok(Value::Int(value.ok_or_else(overflow)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn division_rounds_down() {
        let int =
            |function, left, right| match compute(function, &[Value::Int(left), Value::Int(right)])
            {
                Ok(Value::Int(value)) => value,
                other => panic!("{other:?}"),
            };
        assert_eq!(int(Function::FloorDiv, -7, 2), -4);
        assert_eq!(int(Function::Mod, -7, 2), 1);
        assert_eq!(int(Function::Mod, 7, -2), -1);
        assert_eq!(int(Function::FloorDiv, 7, -2), -4);
        assert_eq!(int(Function::Max, 3, 5), 5);
        assert!(compute(Function::Mod, &[Value::Int(1), Value::Int(0)]).is_err());
        assert!(compute(Function::Mul, &[Value::Int(i64::MAX), Value::Int(2)]).is_err());
    }
}
