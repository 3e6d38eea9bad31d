//! Copies: clones, conversions, and what in-place `copy_` is functionally.

use graven_ir::MemoryFormat;

use super::Table;
use crate::array::Array;
use crate::call::Call;
use crate::error::Problem;
use crate::geometry::{self, Dims};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_to_copy", to_copy),
    ("aten::clone", clone),
    ("aten::copy", copy),
    ("aten::copy_", copy_),
    ("aten::lift_fresh", |call| {
        Ok(call.tensor(0)?.clone().into())
    }),
    ("aten::lift_fresh_copy", |call| {
        let array = call.array(0)?;
        Ok(array
            .copied(geometry::contiguous_strides(array.sizes()))?
            .into())
    }),
];

/// Strides of a copy of an array in a memory format; `Preserve` keeps those of an array without
/// gaps and overlaps, and takes the order of the dimensions of any other.
pub(super) fn strides_in(array: &Array, format: MemoryFormat) -> Result<Dims, Problem> {
    let sizes = array.sizes();
    match (format, array.rank()) {
        (MemoryFormat::Preserve, _) => Ok(preserved(array)),
        (MemoryFormat::Contiguous, _) => Ok(geometry::contiguous_strides(sizes)),
        (MemoryFormat::ChannelsLast, 4) | (MemoryFormat::ChannelsLast3d, 5) => {
            Ok(geometry::channels_last_strides(sizes))
        }
        (format, rank) => Err(Problem::invalid(format!(
            "a tensor of {rank} dimensions cannot be in {}",
            format.name()
        ))),
    }
}

/// Strides of a copy: those of an array without gaps and overlaps, and of any other ones that keep
/// the order of its dimensions.
pub(super) fn preserved(array: &Array) -> Dims {
    geometry::preserved_strides(array.sizes(), array.strides())
}

/// A copy with the same strides and offset, gaps and all: what a functional operator writes to
/// that stands for one that writes a view. An array that is expanded is copied plainly.
pub(super) fn with_gaps(array: &Array) -> Result<Array, Problem> {
    let mut dims = array.sizes().iter().zip(array.strides());
    let is_expanded = dims.any(|(size, stride)| *size > 1 && *stride == 0);
    if is_expanded || array.is_conjugate() || array.is_negative() {
        return array.copied(preserved(array));
    }
    let count = array.storage().len() / array.dtype().bytes();
    let one = Dims::from_slice(&[1]);
    let line = Array::new(
        array.storage().clone(),
        array.dtype(),
        &[count],
        one.clone(),
        0,
    )?;
    let strides = Dims::from_slice(array.strides());
    line.copied(one)?
        .view(array.sizes(), strides, array.offset())
}

fn clone(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let format = call.optional_memory_format(1)?;
    let strides = strides_in(&array, format.unwrap_or(MemoryFormat::Preserve))?;
    Ok(array.copied(strides)?.into())
}

/// `_to_copy(self, *, dtype, layout, device, pin_memory, non_blocking, memory_format)`
fn to_copy(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let dtype = call.optional_dtype(1)?.unwrap_or(array.dtype());
    let format = call.optional_memory_format(6)?;
    let strides = strides_in(&array, format.unwrap_or(MemoryFormat::Preserve))?;
    let copy = Array::zeros_strided(dtype, array.sizes(), strides)?;
    copy.assign(&array)?;
    Ok(copy.into())
}

/// `copy(self, src, non_blocking)`: `src` in the shape and type of `self`.
fn copy(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let copy = with_gaps(&array)?;
    copy.assign(&call.unresolved(1)?)?;
    Ok(copy.into())
}

fn copy_(call: &Call<'_>) -> Result<Value, Problem> {
    let tensor = call.tensor(0)?;
    tensor.array().assign(&call.unresolved(1)?)?;
    Ok(tensor.clone().into())
}
