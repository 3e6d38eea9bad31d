//! Composites that give the parts of a tensor: `chunk`, `tensor_split` and their kin.

use graven_ir::SymInt;

use super::{Formula, Outcome, Taken, one, sized, tensor, trim};
use crate::call::Call;
use crate::emit::{Arg, Emit, EmitError};
use crate::shape::{MOST_PARTS, wrap_dim};

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    Some(match operator {
        "aten::chunk" => chunk,
        "aten::dsplit.array" | "aten::dsplit.int" => dsplit,
        "aten::hsplit.array" | "aten::hsplit.int" => hsplit,
        "aten::split.sizes" => split_sizes,
        "aten::tensor_split.indices" => tensor_split_indices,
        "aten::tensor_split.sections" => tensor_split_sections,
        "aten::unsafe_chunk" => unsafe_chunk,
        "aten::vsplit.array" | "aten::vsplit.int" => vsplit,
        _ => return None,
    })
}

/// The size of a dimension, and that there is one.
fn size_of<E: Emit>(
    emit: &E,
    call: &Call<'_, E::Value>,
    this: &E::Value,
    dim: i64,
) -> Result<SymInt, EmitError> {
    let sizes = &emit.meta(this).sizes;
    let wrapped = wrap_dim(call, dim, sizes.len())?;
    let size = sizes.get(wrapped).copied();
    size.ok_or_else(|| call.unfit("a tensor without dimensions has no parts"))
}

fn checked_count(call: &Call<'_, impl Sized>, name: &str, count: i64) -> Result<i64, EmitError> {
    if !(1..=MOST_PARTS).contains(&count) {
        return Err(call.problem(name, "is not a number of parts"));
    }
    Ok(count)
}

fn chunk<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    chunked(emit, call, "aten::split.Tensor", "aten::split_with_sizes")
}

fn unsafe_chunk<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    chunked(
        emit,
        call,
        "aten::unsafe_split.Tensor",
        "aten::unsafe_split_with_sizes",
    )
}

fn chunked<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    split: &str,
    split_with_sizes: &str,
) -> Taken<E> {
    let this = call.tensor("self")?;
    let dim = call.const_int("dim")?;
    let chunks = checked_count(call, "chunks", call.const_int("chunks")?)?;
    let size = size_of(emit, call, this, dim)?;
    // An empty dimension still gives as many parts as were asked for.
    let (operator, length) = if size == SymInt::Int(0) {
        let lengths = Arg::const_ints((0..chunks).map(|_| 0));
        (split_with_sizes, lengths)
    } else {
        let exprs = &mut emit.context().exprs;
        let raised = sized(call, exprs.add(size, SymInt::Int(chunks - 1)))?;
        let length = sized(call, exprs.floordiv(raised, SymInt::Int(chunks)))?;
        (split, Arg::Int(length))
    };
    let mut args = vec![tensor(this), length, Arg::int(dim)];
    trim(operator, &mut args);
    emit.call(operator, &args, &[]).map(Outcome::Values)
}

fn split_sizes<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let mut args = vec![
        tensor(call.tensor("self")?),
        Arg::ints(call.ints("split_size")?),
        Arg::int(call.const_int("dim")?),
    ];
    trim("aten::split_with_sizes", &mut args);
    let parts = emit.call("aten::split_with_sizes", &args, &[])?;
    Ok(Outcome::Values(parts))
}

fn tensor_split_sections<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let sections = call.const_int("sections")?;
    sections_of(emit, call, this, sections, call.const_int("dim")?)
}

fn tensor_split_indices<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    let indices = call.ints("indices")?;
    parts_at(emit, call, this, &indices, call.const_int("dim")?)
}

/// `sections` parts, the first ones greater by one where they cannot be equal.
fn sections_of<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    this: &E::Value,
    sections: i64,
    dim: i64,
) -> Taken<E> {
    let sections = checked_count(call, "sections", sections)?;
    let size = size_of(emit, call, this, dim)?;
    let Some(size) = size.as_int() else {
        return Err(call
            .unfit("parts of a symbolic size depend on its value")
            .into());
    };
    let (length, greater) = (size / sections, size % sections);
    let mut ends = Vec::new();
    let mut end = 0;
    for section in 0..sections {
        end += length + i64::from(section < greater);
        ends.push(SymInt::Int(end));
    }
    ends.pop();
    parts_at(emit, call, this, &ends, dim)
}

/// The parts between `ends`: slices, the last one up to the dimension's size.
fn parts_at<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    this: &E::Value,
    ends: &[SymInt],
    dim: i64,
) -> Taken<E> {
    let size = size_of(emit, call, this, dim)?;
    let dim = wrap_dim(call, dim, emit.meta(this).sizes.len())? as i64;
    let mut parts = Vec::with_capacity(ends.len() + 1);
    let mut start = SymInt::Int(0);
    for end in ends.iter().copied().chain([size]) {
        let args = [tensor(this), Arg::int(dim), Arg::Int(start), Arg::Int(end)];
        parts.push(one(emit, "aten::slice.Tensor", &args, &[])?);
        start = end;
    }
    Ok(Outcome::Values(parts))
}

/// Splits a tensor of at least `rank` dimensions along one of them.
fn split_along<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    dim: i64,
    rank: usize,
) -> Taken<E> {
    let this = call.tensor("self")?;
    if emit.meta(this).sizes.len() < rank {
        return Err(call
            .unfit(format!("takes a tensor of at least {rank} dimensions"))
            .into());
    }
    if call.schema.argument("indices").is_some() {
        return parts_at(emit, call, this, &call.ints("indices")?, dim);
    }
    let sections = call.const_int("sections")?;
    if let SymInt::Int(size) = size_of(emit, call, this, dim)?
        && (sections <= 0 || size % sections != 0)
    {
        return Err(call
            .unfit(format!("{size} is not a multiple of {sections}"))
            .into());
    }
    sections_of(emit, call, this, sections, dim)
}

/// Along the columns; a vector along its only dimension.
fn hsplit<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let rank = emit.meta(call.tensor("self")?).sizes.len();
    split_along(emit, call, if rank == 1 { 0 } else { 1 }, 1)
}

fn vsplit<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    split_along(emit, call, 0, 2)
}

fn dsplit<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    split_along(emit, call, 2, 3)
}
