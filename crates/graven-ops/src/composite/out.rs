//! `out` overloads that are defined by other operators' `out` overloads.
//!
//! An `out` overload that is not here is its functional twin, written to `out`.

use graven_ir::SymInt;
use graven_ir::value::Dims;

use super::layout::reshaped;
use super::{Formula, Outcome, Taken, one, tensor, trim, value};
use crate::call::Call;
use crate::emit::{Arg, Emit};

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    Some(match operator {
        "aten::column_stack.out" => column_stack,
        "aten::cross.out" => cross,
        "aten::dstack.out" => dstack,
        "aten::ger.out" | "aten::outer.out" => outer,
        "aten::hstack.out" => hstack,
        "aten::linalg_matmul.out" | "aten::matmul.out" => matmul,
        "aten::log_sigmoid.out" => log_sigmoid,
        "aten::row_stack.out" | "aten::vstack.out" => vstack,
        "aten::std.out" => std,
        "aten::var.out" => var,
        _ => return None,
    })
}

/// Calls an `out` overload with the call's own `out`.
fn to_out<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    operator: &str,
    args: &[Arg<E::Value>],
    mut kwargs: Vec<(&str, Arg<E::Value>)>,
) -> Taken<E> {
    kwargs.push(("out", tensor(call.tensor("out")?)));
    Ok(value(one(emit, operator, args, &kwargs)?))
}

fn std<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    corrected(emit, call, "aten::std.correction_out")
}

fn var<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    corrected(emit, call, "aten::var.correction_out")
}

/// The unbiased estimate divides by one less than the count.
fn corrected<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>, operator: &str) -> Taken<E> {
    let dims = call.optional_ints("dim")?.map_or(Arg::None, Arg::ints);
    let mut args = vec![tensor(call.tensor("self")?), dims];
    trim(operator, &mut args);
    let correction = i64::from(call.bool("unbiased")?);
    let mut kwargs = vec![("correction", Arg::int(correction))];
    if call.bool("keepdim")? {
        kwargs.push(("keepdim", Arg::Bool(true)));
    }
    to_out(emit, call, operator, &args, kwargs)
}

fn outer<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let (this, other) = (call.tensor("self")?, call.tensor("vec2")?);
    let (size, others) = (emit.meta(this).sizes.clone(), emit.meta(other).sizes.len());
    let ([size], 1) = (&size[..], others) else {
        return Err(call.unfit("takes two vectors").into());
    };
    let column = column(emit, call, this, *size)?;
    to_out(
        emit,
        call,
        "aten::mul.out",
        &[Arg::Value(column), tensor(other)],
        Vec::new(),
    )
}

/// The tensor seen as one column.
fn column<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    this: &E::Value,
    size: SymInt,
) -> Result<E::Value, E::Error> {
    let sizes = Dims::from_slice(&[size, SymInt::Int(1)]);
    match reshaped(emit, call, this, sizes)? {
        Outcome::Input(column) => Ok(column),
        Outcome::Values(columns) => {
            let column = columns.into_iter().next();
            column.ok_or_else(|| call.unfit("has no column").into())
        }
    }
}

/// Vectors and matrices by the operator for their ranks, batches as a whole; then a copy.
fn matmul<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let (this, other) = (call.tensor("self")?, call.tensor("other")?);
    let ranks = (emit.meta(this).sizes.len(), emit.meta(other).sizes.len());
    let operator = match ranks {
        (1, 1) => "aten::dot",
        (2, 1) => "aten::mv",
        (2, 2) => "aten::mm",
        _ => "aten::matmul",
    };
    let product = one(emit, operator, &[tensor(this), tensor(other)], &[])?;
    let args = [tensor(call.tensor("out")?), Arg::Value(product)];
    Ok(value(one(emit, "aten::copy_", &args, &[])?))
}

fn hstack<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let tensors = call.tensors("tensors")?.into_iter().cloned().collect();
    hstacked(emit, call, tensors)
}

fn hstacked<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>, tensors: Vec<E::Value>) -> Taken<E> {
    // Vectors are put end to end, anything else side by side.
    let is_vector = tensors
        .first()
        .is_some_and(|first| emit.meta(first).sizes.len() <= 1);
    stacked(
        emit,
        call,
        tensors,
        "aten::atleast_1d.Sequence",
        i64::from(!is_vector),
    )
}

fn vstack<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let tensors = call.tensors("tensors")?.into_iter().cloned().collect();
    stacked(emit, call, tensors, "aten::atleast_2d.Sequence", 0)
}

fn dstack<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let tensors = call.tensors("tensors")?.into_iter().cloned().collect();
    stacked(emit, call, tensors, "aten::atleast_3d.Sequence", 2)
}

fn column_stack<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let mut columns = Vec::new();
    for this in call.tensors("tensors")? {
        let sizes = emit.meta(this).sizes.clone();
        columns.push(match sizes[..] {
            [] => column(emit, call, this, SymInt::Int(1))?,
            [size] => column(emit, call, this, size)?,
            _ => this.clone(),
        });
    }
    hstacked(emit, call, columns)
}

fn stacked<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    tensors: Vec<E::Value>,
    at_least: &str,
    dim: i64,
) -> Taken<E> {
    let tensors = Arg::List(tensors.into_iter().map(Arg::Value).collect());
    let raised = emit.call(at_least, &[tensors], &[])?;
    let raised = Arg::List(raised.into_iter().map(Arg::Value).collect());
    let mut args = vec![raised, Arg::int(dim)];
    trim("aten::cat.out", &mut args);
    to_out(emit, call, "aten::cat.out", &args, Vec::new())
}

/// Along the given dimension, or the first of size 3.
fn cross<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let (this, other) = (call.tensor("self")?, call.tensor("other")?);
    let dim = match call.optional_int("dim")? {
        Some(dim) => Arg::Int(dim),
        None => {
            let sizes = &emit.meta(this).sizes;
            let dim = sizes.iter().position(|size| *size == SymInt::Int(3));
            let dim = dim.ok_or_else(|| call.unfit("has no dimension of size 3"))?;
            Arg::int(dim as i64)
        }
    };
    let args = [tensor(this), tensor(other)];
    let mut kwargs = Vec::new();
    if !matches!(dim, Arg::Int(SymInt::Int(-1))) {
        kwargs.push(("dim", dim));
    }
    to_out(emit, call, "aten::linalg_cross.out", &args, kwargs)
}

/// The forward pass needs a buffer, which no one reads.
fn log_sigmoid<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let dtype = emit.meta(this).dtype;
    let buffer = super::norm::empty(emit, this, &[SymInt::Int(0)], dtype)?;
    let kwargs = [
        ("output", tensor(call.tensor("out")?)),
        ("buffer", Arg::Value(buffer)),
    ];
    let results = emit.call("aten::log_sigmoid_forward.output", &[tensor(this)], &kwargs)?;
    Ok(Outcome::Values(results.into_iter().take(1).collect()))
}
