//! Composites that are views under another name, and those that may be nothing at all.

use graven_ir::value::Dims;
use graven_ir::{DType, SymInt};
use smallvec::smallvec;

use super::{Formula, Outcome, Taken, one, one_trimmed, sized, tensor, value};
use crate::call::Call;
use crate::emit::{Arg, Emit};
use crate::shape::{self, wrap_dim};

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    Some(match operator {
        "aten::adjoint" | "aten::mH" => adjoint,
        "aten::matrix_H" => matrix_adjoint,
        "aten::atleast_1d" => atleast_1d,
        "aten::atleast_2d" => atleast_2d,
        "aten::atleast_3d" => atleast_3d,
        "aten::broadcast_to" => broadcast_to,
        "aten::conj" => conj,
        "aten::conj_physical" => conj_physical,
        "aten::expand_as" => expand_as,
        "aten::imag" => imag,
        "aten::linalg_diagonal" => linalg_diagonal,
        "aten::mT" => matrix_transpose,
        "aten::moveaxis.int"
        | "aten::moveaxis.intlist"
        | "aten::movedim.int"
        | "aten::movedim.intlist" => movedim,
        "aten::narrow" => narrow,
        "aten::numpy_T" => numpy_t,
        "aten::positive" => positive,
        "aten::real" => real,
        "aten::requires_grad_" => itself,
        "aten::resolve_conj" => resolve_conj,
        "aten::resolve_neg" => resolve_neg,
        "aten::retain_grad" => nothing,
        "aten::swapaxes" => swapaxes,
        "aten::swapaxes_" => swapaxes_,
        "aten::swapdims" => swapdims,
        "aten::swapdims_" => swapdims_,
        _ => return None,
    })
}

/// `resolve_conj(Tensor(a) self)`: the tensor itself, or a copy without the conjugate bit.
fn resolve_conj<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let input = call.tensor("self")?;
    let is_set = emit.is_conjugate(input);
    resolved(emit, input, is_set)
}

/// `resolve_neg(Tensor(a) self)`: the tensor itself, or a copy without the negative bit.
fn resolve_neg<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let input = call.tensor("self")?;
    let is_set = emit.is_negative(input);
    resolved(emit, input, is_set)
}

fn resolved<E: Emit>(emit: &mut E, input: &E::Value, is_set: bool) -> Taken<E> {
    if !is_set {
        return Ok(Outcome::Input(input.clone()));
    }
    Ok(value(one(emit, "aten::clone", &[tensor(input)], &[])?))
}

/// A single tensor that comes back as it is.
fn itself<E: Emit>(_: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    Ok(Outcome::Input(call.tensor("self")?.clone()))
}

fn nothing<E: Emit>(_: &mut E, _: &Call<'_, E::Value>) -> Taken<E> {
    Ok(Outcome::Values(Vec::new()))
}

fn positive<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    if emit.meta(call.tensor("self")?).dtype == DType::Bool {
        return Err(call.unfit("takes no truth values").into());
    }
    itself(emit, call)
}

fn expand_as<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let sizes = emit.meta(call.tensor("other")?).sizes.clone();
    expand(emit, call.tensor("self")?, sizes)
}

fn broadcast_to<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    expand(emit, call.tensor("self")?, call.ints("size")?)
}

fn expand<E: Emit>(emit: &mut E, this: &E::Value, sizes: Dims) -> Taken<E> {
    let args = [tensor(this), Arg::ints(sizes)];
    Ok(value(one(emit, "aten::expand", &args, &[])?))
}

fn transposed<E: Emit>(
    emit: &mut E,
    this: &E::Value,
    first: i64,
    second: i64,
) -> Result<E::Value, E::Error> {
    let args = [tensor(this), Arg::int(first), Arg::int(second)];
    one(emit, "aten::transpose.int", &args, &[])
}

fn swapaxes<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let (first, second) = (call.const_int("axis0")?, call.const_int("axis1")?);
    Ok(value(transposed(
        emit,
        call.tensor("self")?,
        first,
        second,
    )?))
}

fn swapdims<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let (first, second) = (call.const_int("dim0")?, call.const_int("dim1")?);
    Ok(value(transposed(
        emit,
        call.tensor("self")?,
        first,
        second,
    )?))
}

fn swapaxes_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    transpose_(emit, call, "axis0", "axis1")
}

fn swapdims_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    transpose_(emit, call, "dim0", "dim1")
}

fn transpose_<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    first: &str,
    second: &str,
) -> Taken<E> {
    let dims = [call.const_int(first)?, call.const_int(second)?];
    let args = [
        tensor(call.tensor("self")?),
        Arg::int(dims[0]),
        Arg::int(dims[1]),
    ];
    emit.call("aten::transpose_", &args, &[])
        .map(Outcome::Values)
}

/// The last two dimensions exchanged; a tensor without dimensions comes back as it is.
fn matrix_transpose<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    match emit.meta(this).sizes.len() {
        0 => Ok(Outcome::Input(this.clone())),
        1 => Err(call.unfit("takes a matrix or a batch of matrices").into()),
        _ => Ok(value(transposed(emit, this, -2, -1)?)),
    }
}

fn adjoint<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let is_complex = emit.meta(call.tensor("self")?).dtype.is_complex();
    match matrix_transpose(emit, call)? {
        Outcome::Input(this) if is_complex => conjugate(emit, &this),
        Outcome::Values(results) if is_complex => match &results[..] {
            [transposed] => conjugate(emit, transposed),
            _ => Ok(Outcome::Values(results)),
        },
        outcome => Ok(outcome),
    }
}

/// The same of a single matrix.
fn matrix_adjoint<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    match emit.meta(call.tensor("self")?).sizes.len() {
        0 | 2 => adjoint(emit, call),
        _ => Err(call.unfit("takes a matrix").into()),
    }
}

fn conjugate<E: Emit>(emit: &mut E, this: &E::Value) -> Taken<E> {
    Ok(value(one(emit, "aten::_conj", &[tensor(this)], &[])?))
}

fn conj<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    if emit.meta(this).dtype.is_complex() {
        return conjugate(emit, this);
    }
    itself(emit, call)
}

fn conj_physical<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    if emit.meta(this).dtype.is_complex() {
        return Ok(value(one(
            emit,
            "aten::_conj_physical",
            &[tensor(this)],
            &[],
        )?));
    }
    itself(emit, call)
}

fn real<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    if emit.meta(this).dtype.is_complex() {
        return part(emit, this, 0);
    }
    itself(emit, call)
}

fn imag<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    if !emit.meta(this).dtype.is_complex() {
        return Err(call.unfit("takes a complex tensor").into());
    }
    part(emit, this, 1)
}

/// The real (0) or imaginary (1) parts of complex numbers.
fn part<E: Emit>(emit: &mut E, this: &E::Value, index: i64) -> Taken<E> {
    let dim = emit.meta(this).sizes.len() as i64;
    let pairs = one(emit, "aten::view_as_real", &[tensor(this)], &[])?;
    let args = [Arg::Value(pairs), Arg::int(dim), Arg::int(index)];
    Ok(value(one(emit, "aten::select.int", &args, &[])?))
}

fn numpy_t<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let rank = emit.meta(this).sizes.len() as i64;
    permuted(emit, this, (0..rank).rev())
}

fn permuted<E: Emit>(
    emit: &mut E,
    this: &E::Value,
    order: impl IntoIterator<Item = i64>,
) -> Taken<E> {
    let args = [tensor(this), Arg::const_ints(order)];
    Ok(value(one(emit, "aten::permute", &args, &[])?))
}

fn movedim<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let rank = emit.meta(this).sizes.len();
    let from = call.const_ints("source")?;
    let to = call.const_ints("destination")?;
    if from.len() != to.len() {
        return Err(call.unfit("takes as many destinations as sources").into());
    }
    let mut order: Vec<Option<usize>> = vec![None; rank.max(1)];
    let mut moved = vec![false; rank.max(1)];
    for (from, to) in from.into_iter().zip(to) {
        let (from, to) = (wrap_dim(call, from, rank)?, wrap_dim(call, to, rank)?);
        if std::mem::replace(&mut moved[from], true) || order[to].replace(from).is_some() {
            return Err(call.unfit("takes each dimension once").into());
        }
    }
    if rank == 0 {
        return Ok(value(one(emit, "aten::alias", &[tensor(this)], &[])?));
    }
    // Dimensions that are not moved keep their order.
    let mut kept = (0..rank).filter(|&dim| !moved[dim]);
    let order: Vec<i64> = order
        .into_iter()
        .filter_map(|dim| dim.or_else(|| kept.next()))
        .map(|dim| dim as i64)
        .collect();
    permuted(emit, this, order)
}

fn linalg_diagonal<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let mut args = vec![tensor(call.tensor("A")?)];
    for name in ["offset", "dim1", "dim2"] {
        args.push(Arg::int(call.const_int(name)?));
    }
    Ok(value(one_trimmed(emit, "aten::diagonal", args, &[])?))
}

/// A slice with both ends counted from the front.
fn narrow<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let sizes = emit.meta(this).sizes.clone();
    let given = call.const_int("dim")?;
    let dim = wrap_dim(call, given, sizes.len())?;
    let Some(size) = sizes.get(dim) else {
        return Err(call
            .unfit("a tensor without dimensions cannot be narrowed")
            .into());
    };
    let (mut start, length) = (call.int("start")?, call.int("length")?);
    let exprs = &mut emit.context().exprs;
    let zero = SymInt::Int(0);
    if shape::less(exprs, start, zero) == Some(true) {
        start = sized(call, exprs.add(start, *size))?;
    }
    for (name, value) in [("start", start), ("length", length)] {
        if shape::less(exprs, value, zero) == Some(true) {
            return Err(call.problem(name, "is out of range").into());
        }
    }
    let end = sized(call, exprs.add(start, length))?;
    if shape::less(exprs, *size, end) == Some(true) {
        return Err(call.unfit("reaches beyond the end of the dimension").into());
    }
    let args = [
        tensor(this),
        Arg::int(given),
        Arg::Int(start),
        Arg::Int(end),
    ];
    Ok(value(one(emit, "aten::slice.Tensor", &args, &[])?))
}

fn unsqueezed<E: Emit>(emit: &mut E, this: &E::Value, dim: i64) -> Result<E::Value, E::Error> {
    one(emit, "aten::unsqueeze", &[tensor(this), Arg::int(dim)], &[])
}

/// A tensor without dimensions, seen with `rank` of size 1.
fn with_rank<E: Emit>(emit: &mut E, this: &E::Value, rank: usize) -> Taken<E> {
    let sizes: Dims = smallvec![SymInt::Int(1); rank];
    Ok(value(one(
        emit,
        "aten::view",
        &[tensor(this), Arg::ints(sizes)],
        &[],
    )?))
}

fn atleast_1d<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    match emit.meta(this).sizes.len() {
        0 => with_rank(emit, this, 1),
        _ => itself(emit, call),
    }
}

fn atleast_2d<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    match emit.meta(this).sizes.len() {
        0 => with_rank(emit, this, 2),
        1 => Ok(value(unsqueezed(emit, this, 0)?)),
        _ => itself(emit, call),
    }
}

fn atleast_3d<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    match emit.meta(this).sizes.len() {
        0 => with_rank(emit, this, 3),
        1 => {
            let row = unsqueezed(emit, this, 0)?;
            Ok(value(unsqueezed(emit, &row, -1)?))
        }
        2 => Ok(value(unsqueezed(emit, this, -1)?)),
        _ => itself(emit, call),
    }
}
