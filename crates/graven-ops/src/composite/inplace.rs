//! Writing composites that are more than another operator's name.

use graven_ir::value::Dims;
use graven_ir::{DType, MemoryFormat, SymInt};

use super::{Formula, Outcome, Taken, one, sized, tensor, trim, value};
use crate::call::Call;
use crate::emit::{Arg, Emit};
use crate::shape;

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    Some(match operator {
        "aten::fill_diagonal_" => fill_diagonal_,
        "aten::float_power.Scalar_out" => float_power_of_scalar_out,
        "aten::float_power.Tensor_Scalar_out" => float_power_by_scalar_out,
        "aten::float_power.Tensor_Tensor_out" => float_power_out,
        "aten::float_power_.Scalar" => float_power_scalar_,
        "aten::float_power_.Tensor" => float_power_tensor_,
        "aten::relu6_" => relu6_,
        "aten::rrelu_" => rrelu_,
        "aten::selu_" => selu_,
        "aten::square.out" => square_out,
        "aten::square_" => square_,
        _ => return None,
    })
}

fn square_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let args = [tensor(call.tensor("self")?), Arg::int(2)];
    Ok(value(one(emit, "aten::pow_.Scalar", &args, &[])?))
}

fn square_out<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let args = [tensor(call.tensor("self")?), Arg::int(2)];
    let kwargs = [("out", tensor(call.tensor("out")?))];
    Ok(value(one(
        emit,
        "aten::pow.Tensor_Scalar_out",
        &args,
        &kwargs,
    )?))
}

fn relu6_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let args = [tensor(call.tensor("self")?), Arg::int(0), Arg::int(6)];
    Ok(value(one(emit, "aten::hardtanh_", &args, &[])?))
}

fn selu_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    const SCALE: f64 = 1.050_700_987_355_480_5;
    let args = [
        tensor(call.tensor("self")?),
        Arg::Float(ALPHA),
        Arg::Float(SCALE),
    ];
    Ok(value(one(emit, "aten::elu_", &args, &[])?))
}

fn rrelu_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let dense = Arg::MemoryFormat(MemoryFormat::Contiguous);
    let noise = one(
        emit,
        "aten::empty_like",
        &[tensor(this)],
        &[("memory_format", dense)],
    )?;
    let mut args = vec![
        tensor(this),
        Arg::Value(noise),
        Arg::Float(call.float("lower")?),
        Arg::Float(call.float("upper")?),
        Arg::Bool(call.bool("training")?),
    ];
    trim("aten::rrelu_with_noise_", &mut args);
    Ok(value(one(emit, "aten::rrelu_with_noise_", &args, &[])?))
}

fn float_power_scalar_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let exponent = scalar(call, "exponent");
    let dtype = shape::float_power_dtype(&[emit.meta(this).dtype], &exponent);
    if emit.meta(this).dtype != dtype {
        return Err(call.unfit(format!("computes in {}", dtype.name())).into());
    }
    let exponent = shape::scalar_in(dtype, exponent);
    Ok(value(one(
        emit,
        "aten::pow_.Scalar",
        &[tensor(this), exponent],
        &[],
    )?))
}

fn float_power_tensor_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let (this, exponent) = (call.tensor("self")?, call.tensor("exponent")?);
    let dtypes = [emit.meta(this).dtype, emit.meta(exponent).dtype];
    let dtype = shape::float_power_dtype(&dtypes, &Arg::<E::Value>::None);
    if dtypes[0] != dtype {
        return Err(call.unfit(format!("computes in {}", dtype.name())).into());
    }
    let exponent = in_dtype(emit, exponent, dtype)?;
    let args = [tensor(this), Arg::Value(exponent)];
    Ok(value(one(emit, "aten::pow_.Tensor", &args, &[])?))
}

fn float_power_by_scalar_out<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let (this, exponent) = (call.tensor("self")?, scalar(call, "exponent"));
    let dtype = shape::float_power_dtype(&[emit.meta(this).dtype], &exponent);
    let this = in_dtype(emit, this, dtype)?;
    let args = [Arg::Value(this), shape::scalar_in(dtype, exponent)];
    power_out(emit, call, "aten::pow.Tensor_Scalar_out", &args)
}

fn float_power_of_scalar_out<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let (base, exponent) = (scalar(call, "self"), call.tensor("exponent")?);
    let dtype = shape::float_power_dtype(&[emit.meta(exponent).dtype], &base);
    let exponent = in_dtype(emit, exponent, dtype)?;
    let args = [shape::scalar_in(dtype, base), Arg::Value(exponent)];
    power_out(emit, call, "aten::pow.Scalar_out", &args)
}

fn float_power_out<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let (this, exponent) = (call.tensor("self")?, call.tensor("exponent")?);
    let dtypes = [emit.meta(this).dtype, emit.meta(exponent).dtype];
    let dtype = shape::float_power_dtype(&dtypes, &Arg::<E::Value>::None);
    // The exponent is converted first.
    let exponent = in_dtype(emit, exponent, dtype)?;
    let this = in_dtype(emit, this, dtype)?;
    let args = [Arg::Value(this), Arg::Value(exponent)];
    power_out(emit, call, "aten::pow.Tensor_Tensor_out", &args)
}

fn power_out<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    operator: &str,
    args: &[Arg<E::Value>],
) -> Taken<E> {
    let kwargs = [("out", tensor(call.tensor("out")?))];
    Ok(value(one(emit, operator, args, &kwargs)?))
}

fn scalar<V: Clone>(call: &Call<'_, V>, name: &str) -> Arg<V> {
    call.given(name).cloned().unwrap_or(Arg::None)
}

fn in_dtype<E: Emit>(emit: &mut E, of: &E::Value, dtype: DType) -> Result<E::Value, E::Error> {
    if emit.meta(of).dtype == dtype {
        return Ok(of.clone());
    }
    one(
        emit,
        "aten::_to_copy",
        &[tensor(of)],
        &[("dtype", Arg::DType(dtype))],
    )
}

/// The diagonal is one strided view; a tall matrix may have more of them, one below another.
fn fill_diagonal_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let meta = emit.meta(this).clone();
    let rank = meta.sizes.len();
    if rank < 2 || (rank > 2 && meta.sizes.iter().any(|size| *size != meta.sizes[0])) {
        return Err(call
            .unfit("takes a matrix, or a tensor of equal sizes")
            .into());
    }
    let exprs = &mut emit.context().exprs;
    let (height, width) = (meta.sizes[0], meta.sizes[1]);
    let length = if shape::less(exprs, width, height) == Some(true) {
        width
    } else {
        height
    };
    let stride = sized(call, exprs.sum_of(&meta.strides))?;
    fill_along(emit, call, this, length, stride, SymInt::Int(0))?;
    let wrap = call.bool("wrap")? && rank == 2;
    let (SymInt::Int(height), SymInt::Int(width), SymInt::Int(step)) =
        (height, width, meta.strides[0])
    else {
        return if wrap {
            Err(call.unfit("wraps matrices of known sizes only").into())
        } else {
            Ok(Outcome::Input(this.clone()))
        };
    };
    if wrap && height > width.saturating_add(1) {
        let wrapped = fill_wrapped(height, width, step);
        let (length, offset) = wrapped.ok_or_else(|| call.unfit("is too large"))?;
        fill_along(
            emit,
            call,
            this,
            SymInt::Int(length),
            stride,
            SymInt::Int(offset),
        )?;
    }
    Ok(Outcome::Input(this.clone()))
}

/// Length and offset of what follows the main diagonal of a tall matrix, one row further down.
fn fill_wrapped(height: i64, width: i64, step: i64) -> Option<(i64, i64)> {
    let period = width.checked_add(1)?;
    let length = width.min(height.checked_sub(period)?);
    Some((length, step.checked_mul(period)?))
}

fn fill_along<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    this: &E::Value,
    length: SymInt,
    stride: SymInt,
    start: SymInt,
) -> Result<(), E::Error> {
    let own = emit.meta(this).storage_offset;
    let offset = sized(call, emit.context().exprs.add(own, start))?;
    let list = |size: SymInt| Arg::ints(Dims::from_slice(&[size]));
    let args = [tensor(this), list(length), list(stride), Arg::Int(offset)];
    let diagonal = one(emit, "aten::as_strided", &args, &[])?;
    let fill = scalar(call, "fill_value");
    emit.call("aten::fill_.Scalar", &[Arg::Value(diagonal), fill], &[])?;
    Ok(())
}
