//! Comparisons and logic: what gives truth values.

use graven_ir::DType;

use super::super::Table;
use super::arithmetic::pair;
use super::{Operand, compute, map, one, promoted, two};
use crate::call::Call;
use crate::element::{Bool, Element, Real, dispatch};
use crate::error::Problem;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::eq.Scalar", |call| equal(call, true)),
    ("aten::eq.Tensor", |call| equal(call, true)),
    ("aten::ge.Scalar", |call| ordered(call, Order::Ge)),
    ("aten::ge.Tensor", |call| ordered(call, Order::Ge)),
    ("aten::gt.Scalar", |call| ordered(call, Order::Gt)),
    ("aten::gt.Tensor", |call| ordered(call, Order::Gt)),
    ("aten::isclose", isclose),
    ("aten::isfinite", |call| {
        classify(call, true, |value| value.is_finite())
    }),
    ("aten::isinf", |call| {
        classify(call, false, |value| value.is_infinite())
    }),
    ("aten::isnan", |call| {
        classify(call, false, |value| value.is_nan())
    }),
    ("aten::isneginf", |call| {
        classify(call, false, |value| value == f64::NEG_INFINITY)
    }),
    ("aten::isposinf", |call| {
        classify(call, false, |value| value == f64::INFINITY)
    }),
    ("aten::le.Scalar", |call| ordered(call, Order::Le)),
    ("aten::le.Tensor", |call| ordered(call, Order::Le)),
    ("aten::logical_and", |call| logical(call, |a, b| a & b)),
    ("aten::logical_not", logical_not),
    ("aten::logical_or", |call| logical(call, |a, b| a | b)),
    ("aten::logical_xor", |call| logical(call, |a, b| a ^ b)),
    ("aten::lt.Scalar", |call| ordered(call, Order::Lt)),
    ("aten::lt.Tensor", |call| ordered(call, Order::Lt)),
    ("aten::ne.Scalar", |call| equal(call, false)),
    ("aten::ne.Tensor", |call| equal(call, false)),
    ("aten::signbit", signbit),
];

fn equal(call: &Call<'_>, expected: bool) -> Result<Value, Problem> {
    let operands = pair(call)?;
    let dtype = match promoted(&operands)? {
        // No tensor has it, but half types have it with complex numbers.
        DType::Complex32 => DType::Complex64,
        dtype => dtype,
    };
    compute!(any, dtype, C, _O => {
        let apply = two(|a: C, b: C| Bool::from((a == b) == expected));
        Ok(map::<C, Bool, Bool>(&operands, &apply)?.into())
    })
}

#[derive(Clone, Copy)]
enum Order {
    Lt,
    Le,
    Gt,
    Ge,
}

fn ordered(call: &Call<'_>, order: Order) -> Result<Value, Problem> {
    let operands = pair(call)?;
    compute!(real, promoted(&operands)?, C, _O => {
        let result = match order {
            Order::Lt => map::<C, Bool, Bool>(&operands, &two(|a: C, b: C| Bool::from(a < b))),
            Order::Le => map::<C, Bool, Bool>(&operands, &two(|a: C, b: C| Bool::from(a <= b))),
            Order::Gt => map::<C, Bool, Bool>(&operands, &two(|a: C, b: C| Bool::from(a > b))),
            Order::Ge => map::<C, Bool, Bool>(&operands, &two(|a: C, b: C| Bool::from(a >= b))),
        };
        Ok(result?.into())
    })
}

fn logical(call: &Call<'_>, function: fn(bool, bool) -> bool) -> Result<Value, Problem> {
    let operands = pair(call)?;
    // Each as a truth value: no type of both is needed.
    let apply = two(|a: Bool, b: Bool| Bool::from(function(a.get(), b.get())));
    Ok(map::<Bool, Bool, Bool>(&operands, &apply)?.into())
}

fn logical_not(call: &Call<'_>) -> Result<Value, Problem> {
    let apply = one(|a: Bool| Bool::from(!a.get()));
    Ok(map::<Bool, Bool, Bool>(&[Operand::at(call, 0)?], &apply)?.into())
}

/// A test of floats; integers all give the same. Complex numbers are finite when both parts are,
/// and infinite or no number when either is.
fn classify(call: &Call<'_>, of_all: bool, test: fn(f64) -> bool) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    dispatch!(any, operand.dtype(), T => {
        let apply = one(|a: T| {
            if !T::DTYPE.is_complex() {
                return Bool::from(test(a.to_f64()));
            }
            let value = a.to_complex();
            Bool::from(match of_all {
                true => test(value.re) && test(value.im),
                false => test(value.re) || test(value.im),
            })
        });
        Ok(map::<T, Bool, Bool>(&[operand], &apply)?.into())
    })
}

fn signbit(call: &Call<'_>) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    dispatch!(real, operand.dtype(), T => {
        let apply = one(|a: T| Bool::from(match T::DTYPE.is_floating_point() {
            true => a.to_f64().is_sign_negative(),
            false => a < T::default(),
        }));
        Ok(map::<T, Bool, Bool>(&[operand], &apply)?.into())
    })
}

/// `isclose(self, other, rtol, atol, equal_nan)`
fn isclose(call: &Call<'_>) -> Result<Value, Problem> {
    let operands = pair(call)?;
    if operands[0].dtype() != operands[1].dtype() {
        return Err(Problem::OtherDType {
            expected: operands[0].dtype(),
            found: operands[1].dtype(),
        });
    }
    let (relative, absolute) = (call.float(2)?, call.float(3)?);
    let equal_nan = call.bool(4)?;
    dispatch!(real, operands[0].dtype(), T => {
        let apply = two(|a: T, b: T| {
            let both_nan = equal_nan && Real::is_not_a_number(a) && Real::is_not_a_number(b);
            let (x, y) = (a.to_f64(), b.to_f64());
            let near = x.is_finite() && y.is_finite()
                && (x - y).abs() <= absolute + (relative * y).abs();
            Bool::from(a == b || both_nan || near)
        });
        Ok(map::<T, Bool, Bool>(&operands, &apply)?.into())
    })
}
