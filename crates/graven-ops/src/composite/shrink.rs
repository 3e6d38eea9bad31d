//! Element-wise operators that torch takes apart although they are no composites: it registers
//! formulas for them under autograd.

use graven_ir::DType;

use super::{Formula, Taken, one, tensor, value};
use crate::call::Call;
use crate::emit::{Arg, Emit};

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    Some(match operator {
        "aten::hardshrink" => hardshrink,
        "aten::softshrink" => softshrink,
        _ => return None,
    })
}

/// `hardshrink(Tensor self, Scalar lambd=0.5)`: zero where `|self| <= lambd`.
fn hardshrink<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let input = call.tensor("self")?;
    let lambd = lambd(call);
    let magnitude = one(emit, "aten::abs", &[tensor(input)], &[])?;
    let small = one(emit, "aten::le.Scalar", &[tensor(&magnitude), lambd], &[])?;
    let args = [tensor(&small), Arg::int(0), tensor(input)];
    Ok(value(one(emit, "aten::where.ScalarSelf", &args, &[])?))
}

/// `softshrink(Tensor self, Scalar lambd=0.5)`: `self` moved by `lambd` towards zero, and
/// `self * 0` where it is nearer than that, so that NaN stays.
fn softshrink<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let input = call.tensor("self")?;
    let mut lambd = lambd(call);
    let mut greater = "aten::gt.Scalar";
    let (dtype, device) = (emit.meta(input).dtype, emit.meta(input).device);
    // In half precision the bound is rounded first.
    if matches!(dtype, DType::BFloat16 | DType::Float16) {
        let kwargs = [
            ("dtype", Arg::DType(dtype)),
            ("device", Arg::Device(device)),
            ("pin_memory", Arg::Bool(false)),
        ];
        lambd = Arg::Value(one(emit, "aten::scalar_tensor", &[lambd], &kwargs)?);
        greater = "aten::gt.Tensor";
    }
    let magnitude = one(emit, "aten::abs", &[tensor(input)], &[])?;
    let large = one(emit, greater, &[tensor(&magnitude), lambd.clone()], &[])?;
    let sign = one(emit, "aten::sign", &[tensor(input)], &[])?;
    let step = one(emit, "aten::mul.Tensor", &[tensor(&sign), lambd], &[])?;
    let moved = one(
        emit,
        "aten::sub.Tensor",
        &[tensor(input), tensor(&step)],
        &[],
    )?;
    let zero = one(emit, "aten::mul.Tensor", &[tensor(input), Arg::int(0)], &[])?;
    let args = [tensor(&large), tensor(&moved), tensor(&zero)];
    Ok(value(one(emit, "aten::where.self", &args, &[])?))
}

fn lambd<V: Clone>(call: &Call<'_, V>) -> Arg<V> {
    call.given("lambd").cloned().unwrap_or(Arg::Float(0.5))
}
