//! Composites that ask for a layout or other sizes: `reshape`, `flatten`, `contiguous`.
//!
//! Whether they return a view or a copy hangs on the strides that were recorded.

use graven_ir::value::Dims;
use graven_ir::{MemoryFormat, SymInt, TensorMeta};

use super::{Formula, Outcome, Taken, one, sized, tensor, value};
use crate::call::Call;
use crate::emit::{Arg, Emit, EmitError};
use crate::shape::{self, wrap_dim};

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    Some(match operator {
        "aten::cartesian_prod" => cartesian_prod,
        "aten::contiguous" => contiguous,
        "aten::flatten.using_ints" => flatten,
        "aten::ravel" => ravel,
        "aten::reshape" => reshape,
        "aten::reshape_as" => reshape_as,
        "aten::unflatten.int" => unflatten,
        "aten::view_as" => view_as,
        _ => return None,
    })
}

const CONTIGUOUS: MemoryFormat = MemoryFormat::Contiguous;

fn is_contiguous<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    of: &E::Value,
    format: MemoryFormat,
) -> Result<bool, EmitError> {
    let meta = emit.meta(of).clone();
    sized(
        call,
        shape::is_contiguous(&mut emit.context().exprs, &meta, format),
    )
}

fn clone_in<E: Emit>(
    emit: &mut E,
    of: &E::Value,
    format: MemoryFormat,
) -> Result<E::Value, E::Error> {
    let format = Arg::MemoryFormat(format);
    one(
        emit,
        "aten::clone",
        &[tensor(of)],
        &[("memory_format", format)],
    )
}

fn view<E: Emit>(emit: &mut E, of: &E::Value, sizes: Dims) -> Result<E::Value, E::Error> {
    one(emit, "aten::view", &[tensor(of), Arg::ints(sizes)], &[])
}

fn contiguous<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let format = call.memory_format("memory_format")?.unwrap_or(CONTIGUOUS);
    if is_contiguous(emit, call, this, format)? {
        return Ok(Outcome::Input(this.clone()));
    }
    let rank = emit.meta(this).sizes.len();
    if shape::rank_of(format).is_some_and(|wanted| wanted != rank) {
        return Err(call
            .problem("memory_format", "is for another number of dimensions")
            .into());
    }
    Ok(value(clone_in(emit, this, format)?))
}

fn reshape<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    reshaped(emit, call, this, call.ints("shape")?)
}

/// A view where the strides allow one, otherwise a copy. Only of a contiguous tensor does -1
/// stay as written.
pub(super) fn reshaped<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    this: &E::Value,
    sizes: Dims,
) -> Taken<E> {
    if is_contiguous(emit, call, this, CONTIGUOUS)? {
        return Ok(value(view(emit, this, sizes)?));
    }
    let meta = emit.meta(this).clone();
    let sizes = resolved(emit, call, &meta, sizes)?;
    let viewable = shape::is_viewable(&mut emit.context().exprs, &meta, &sizes);
    if sized(call, viewable)? {
        return Ok(value(view(emit, this, sizes)?));
    }
    let dense = clone_in(emit, this, CONTIGUOUS)?;
    let args = [Arg::Value(dense), Arg::ints(sizes)];
    Ok(value(one(emit, "aten::_unsafe_view", &args, &[])?))
}

/// Sizes with the -1 among them worked out.
fn resolved<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    meta: &TensorMeta,
    mut sizes: Dims,
) -> Result<Dims, EmitError> {
    let exprs = &mut emit.context().exprs;
    sized(
        call,
        shape::resolve_open_size(exprs, &meta.sizes, &mut sizes),
    )?;
    Ok(sizes)
}

fn reshape_as<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let sizes = emit.meta(call.tensor("other")?).sizes.clone();
    reshaped(emit, call, call.tensor("self")?, sizes)
}

fn view_as<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let sizes = emit.meta(call.tensor("other")?).sizes.clone();
    Ok(value(view(emit, call.tensor("self")?, sizes)?))
}

fn flatten<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    flattened(
        emit,
        call,
        this,
        call.const_int("start_dim")?,
        call.const_int("end_dim")?,
    )
}

/// One dimension in the place of those from `start` to `end`.
fn flattened<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    this: &E::Value,
    start: i64,
    end: i64,
) -> Taken<E> {
    let sizes = emit.meta(this).sizes.clone();
    let rank = sizes.len();
    let (start, end) = (wrap_dim(call, start, rank)?, wrap_dim(call, end, rank)?);
    if start > end {
        return Err(call.unfit("start_dim comes after end_dim").into());
    }
    if rank == 0 {
        return reshaped(emit, call, this, Dims::from_slice(&[SymInt::Int(1)]));
    }
    if start == end {
        return Ok(Outcome::Input(this.clone()));
    }
    let flat = sized(call, emit.context().exprs.product_of(&sizes[start..=end]))?;
    let mut new_sizes = Dims::from_slice(&sizes[..start]);
    new_sizes.push(flat);
    new_sizes.extend_from_slice(&sizes[end + 1..]);
    reshaped(emit, call, this, new_sizes)
}

fn ravel<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let open = Dims::from_slice(&[SymInt::Int(-1)]);
    if is_contiguous(emit, call, this, CONTIGUOUS)? {
        return Ok(value(view(emit, this, open)?));
    }
    let dense = clone_in(emit, this, CONTIGUOUS)?;
    Ok(value(view(emit, &dense, open)?))
}

fn unflatten<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let sizes = emit.meta(this).sizes.clone();
    let dim = wrap_dim(call, call.const_int("dim")?, sizes.len())?;
    let Some(size) = sizes.get(dim) else {
        return Err(call
            .unfit("a tensor without dimensions cannot be unflattened")
            .into());
    };
    let mut parts = call.ints("sizes")?;
    let exprs = &mut emit.context().exprs;
    sized(call, shape::resolve_open_size(exprs, &[*size], &mut parts))?;
    let mut unflattened = Dims::from_slice(&sizes[..dim]);
    unflattened.extend(parts);
    unflattened.extend_from_slice(&sizes[dim + 1..]);
    Ok(value(view(emit, this, unflattened)?))
}

/// The rows of a table of all combinations: the flattened grids side by side.
fn cartesian_prod<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let tensors = call.tensors("tensors")?;
    if tensors.iter().any(|this| emit.meta(this).sizes.len() != 1) {
        return Err(call.problem("tensors", "must be vectors").into());
    }
    if let [only] = tensors[..] {
        return Ok(Outcome::Input(only.clone()));
    }
    let vectors = Arg::List(tensors.into_iter().map(tensor).collect());
    let indexing = [("indexing", Arg::Str("ij".into()))];
    let grids = emit.call("aten::meshgrid.indexing", &[vectors], &indexing)?;
    let mut columns = Vec::with_capacity(grids.len());
    for grid in grids {
        match flattened(emit, call, &grid, 0, -1)? {
            Outcome::Input(column) => columns.push(Arg::Value(column)),
            Outcome::Values(made) => columns.extend(made.into_iter().map(Arg::Value)),
        }
    }
    Ok(value(one(
        emit,
        "aten::stack",
        &[Arg::List(columns), Arg::int(1)],
        &[],
    )?))
}
