//! Operators of three operands, and those that choose between operands.

use graven_ir::DType;

use super::super::Table;
use super::arithmetic::{Arithmetic as _, Quotient as _};
use super::{Math as _, Operand, compute, map, promoted, three, two};
use crate::array::Array;
use crate::call::Call;
use crate::element::{Element as _, Real, dispatch};
use crate::error::Problem;
use crate::geometry;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::addcdiv", |call| addc(call, true)),
    ("aten::addcmul", |call| addc(call, false)),
    ("aten::clamp", |call| clamp(call, Some(1), Some(2))),
    ("aten::clamp.Tensor", |call| clamp(call, Some(1), Some(2))),
    ("aten::clamp_max", |call| clamp(call, None, Some(1))),
    ("aten::clamp_max.Tensor", |call| clamp(call, None, Some(1))),
    ("aten::clamp_min", |call| clamp(call, Some(1), None)),
    ("aten::clamp_min.Tensor", |call| clamp(call, Some(1), None)),
    ("aten::clip", |call| clamp(call, Some(1), Some(2))),
    ("aten::clip.Tensor", |call| clamp(call, Some(1), Some(2))),
    ("aten::lerp.Scalar", lerp),
    ("aten::lerp.Tensor", lerp),
    ("aten::masked_fill.Scalar", masked_fill),
    ("aten::masked_fill.Tensor", masked_fill),
    ("aten::where.Scalar", where_),
    ("aten::where.ScalarOther", where_),
    ("aten::where.ScalarSelf", where_),
    ("aten::where.self", where_),
];

/// `addcmul(self, tensor1, tensor2, *, value=1)`
fn addc(call: &Call<'_>, divides: bool) -> Result<Value, Problem> {
    let operands = [
        Operand::at(call, 0)?,
        Operand::at(call, 1)?,
        Operand::at(call, 2)?,
    ];
    let value = call.scalar(3)?;
    let dtype = promoted(&operands)?;
    if !divides {
        return compute!(product, dtype, C, O => {
            let value = value.to::<C>();
            let apply = three(|a: C, b: C, c: C| a.plus(value.times(b).times(c)));
            Ok(map::<C, C, O>(&operands, &apply)?.into())
        });
    }
    compute!(math, dtype, C, O => {
        let value = value.to::<C>();
        let apply = three(|a: C, b: C, c: C| a + (value * b).over(c));
        Ok(map::<C, C, O>(&operands, &apply)?.into())
    })
}

/// `lerp(self, end, weight)`
fn lerp(call: &Call<'_>) -> Result<Value, Problem> {
    let operands = [
        Operand::at(call, 0)?,
        Operand::at(call, 1)?,
        Operand::parameter_at(call, 2)?,
    ];
    let dtype = operands[0].dtype();
    for other in &operands[1..] {
        if matches!(other, Operand::Array(_)) && other.dtype() != dtype {
            return Err(Problem::OtherDType {
                expected: dtype,
                found: other.dtype(),
            });
        }
    }
    if dtype.is_complex() {
        return dispatch!(math, dtype, C => {
            let apply = three(|start: C, end: C, weight: C| {
                let is_small = weight.to_complex().norm_sqr() < 0.25;
                let near = start + weight * (end - start);
                let far = end - (end - start) * (C::unit() - weight);
                if is_small { near } else { far }
            });
            Ok(map::<C, C, C>(&operands, &apply)?.into())
        });
    }
    compute!(float, dtype, C, O => {
        let (half, one) = (<C as super::Math>::of(0.5), <C as super::Math>::of(1.0));
        // From the nearer end, in one rounding.
        let apply = three(|start: C, end: C, weight: C| match weight.abs() < half {
            true => weight.fused(end - start, start),
            false => (weight - one).fused(end - start, end),
        });
        Ok(map::<C, C, O>(&operands, &apply)?.into())
    })
}

/// `clamp(self, min, max)`: bounds that are not given do not bound; what is not a number stays so.
fn clamp(call: &Call<'_>, low: Option<usize>, high: Option<usize>) -> Result<Value, Problem> {
    let bound = |position: Option<usize>| match position {
        Some(position) if !matches!(call.value(position), Value::None) => {
            Operand::parameter_at(call, position).map(Some)
        }
        _ => Ok(None),
    };
    let (low, high) = (bound(low)?, bound(high)?);
    let mut operands = vec![Operand::at(call, 0)?];
    operands.extend(low.iter().chain(&high).cloned());
    if operands.len() == 1 {
        return Err(Problem::invalid("at least one bound must be given"));
    }
    compute!(number, promoted(&operands)?, C, O => {
        let at_least = |x: C, low: C| {
            if x < low || (Real::is_not_a_number(low) && !Real::is_not_a_number(x)) { low } else { x }
        };
        let at_most = |x: C, high: C| {
            if x > high || (Real::is_not_a_number(high) && !Real::is_not_a_number(x)) { high } else { x }
        };
        Ok(match (&low, &high) {
            (Some(_), None) => map::<C, C, O>(&operands, &two(at_least))?,
            (None, _) => map::<C, C, O>(&operands, &two(at_most))?,
            (Some(_), Some(_)) => map::<C, C, O>(&operands, &three(|x, low, high| {
                at_most(at_least(x, low), high)
            }))?,
        }.into())
    })
}

/// `where(condition, self, other)`
fn where_(call: &Call<'_>) -> Result<Value, Problem> {
    let condition = call.array(0)?;
    if !matches!(condition.dtype(), DType::Bool | DType::UInt8) {
        return Err(Problem::invalid(format!(
            "the condition must be a tensor of bool, found {}",
            condition.dtype().name()
        )));
    }
    let operands = [Operand::at(call, 1)?, Operand::at(call, 2)?];
    let dtype = promoted(&operands)?;
    let [yes, no] = operands;
    Ok(choose(condition, yes, no, dtype)?.into())
}

/// `masked_fill(self, mask, value)`: the result has `self`'s dtype.
fn masked_fill(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let mask = call.array(1)?;
    if mask.dtype() != DType::Bool {
        return Err(Problem::OtherDType {
            expected: DType::Bool,
            found: mask.dtype(),
        });
    }
    let value = Operand::at(call, 2)?;
    if let Operand::Array(value) = &value
        && value.rank() > 0
    {
        return Err(Problem::invalid(
            "the value to fill with must be a tensor without dimensions",
        ));
    }
    let dtype = array.dtype();
    // torch fills a contiguous copy of both expanded to one another.
    let sizes = geometry::broadcast(array.sizes(), mask.sizes())?;
    let array = array.expand(&sizes)?.contiguous()?;
    let value = match value {
        Operand::Array(value) => Operand::Parameter(value.item()?),
        Operand::Number(value) | Operand::Parameter(value) => Operand::Parameter(value),
    };
    Ok(choose(mask, value, Operand::Array(array), dtype)?.into())
}

/// `yes` where the condition holds, `no` elsewhere. The condition is read as numbers of the
/// result's type, 1 where it holds.
pub(in super::super) fn choose(
    condition: Array,
    yes: Operand,
    no: Operand,
    dtype: DType,
) -> Result<Array, Problem> {
    // Strides of the result follow the values, then the condition.
    let operands = [Operand::Array(condition), yes, no];
    compute!(any, dtype, C, O => {
        let apply = three(|condition: C, yes: C, no: C| {
            if condition != C::default() { yes } else { no }
        });
        map::<C, C, O>(&operands, &apply)
    })
}
