//! Elements in another order or frame: `flip`, `roll`, `pad`, triangles.

use super::Table;
use super::factory::constant;
use super::index::selected;
use super::view::narrowed;
use crate::array::Array;
use crate::call::Call;
use crate::element::dispatch;
use crate::error::Problem;
use crate::geometry::{self, Dims, wrap_dim, wrap_dims};
use crate::scalar::Scalar;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_pad_circular", |call| pad_by(call, Frame::Circular)),
    ("aten::constant_pad_nd", |call| {
        let value = call.scalar(2)?;
        Ok(pad_constant(&call.array(0)?, &call.ints(1)?, value)?.into())
    }),
    ("aten::flip", flip),
    ("aten::fliplr", |call| flipped(call, &[1])),
    ("aten::flipud", |call| flipped(call, &[0])),
    ("aten::pad", pad),
    ("aten::reflection_pad1d", |call| {
        pad_by(call, Frame::Reflection)
    }),
    ("aten::reflection_pad2d", |call| {
        pad_by(call, Frame::Reflection)
    }),
    ("aten::reflection_pad3d", |call| {
        pad_by(call, Frame::Reflection)
    }),
    ("aten::repeat_interleave.self_int", repeat_interleave),
    ("aten::replication_pad1d", |call| {
        pad_by(call, Frame::Replication)
    }),
    ("aten::replication_pad2d", |call| {
        pad_by(call, Frame::Replication)
    }),
    ("aten::replication_pad3d", |call| {
        pad_by(call, Frame::Replication)
    }),
    ("aten::roll", roll),
    ("aten::rot90", rot90),
    ("aten::tril", |call| triangle(call, false)),
    ("aten::triu", |call| triangle(call, true)),
];

fn flip(call: &Call<'_>) -> Result<Value, Problem> {
    let dims = call.ints(1)?;
    flipped(call, &dims)
}

fn flipped(call: &Call<'_>, dims: &[i64]) -> Result<Value, Problem> {
    let array = call.array(0)?;
    Ok(flip_dims(&array, dims)?.into())
}

fn flip_dims(array: &Array, dims: &[i64]) -> Result<Array, Problem> {
    let mut result = array.copied(super::copy::preserved(array))?;
    let strides = Dims::from_slice(result.strides());
    for dim in wrap_dims(dims, array.rank())? {
        if dim < array.rank() {
            let places: Vec<usize> = (0..array.size(dim)).rev().collect();
            result = selected(&result, dim, &places)?;
        }
    }
    match result.strides() == &*strides {
        true => Ok(result),
        false => result.copied(strides),
    }
}

/// `roll(self, shifts, dims=[])`: without dimensions the whole tensor as one line.
fn roll(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let (shifts, dims) = (call.ints(1)?, call.ints(2)?);
    let places = |size: usize, shift: i64| -> Vec<usize> {
        let size = size as i64;
        (0..size)
            .map(|index| (index - shift).rem_euclid(size.max(1)) as usize)
            .collect()
    };
    if dims.is_empty() && shifts.len() == 1 {
        let line = array.contiguous()?;
        let line = line.view(&[line.numel()], Dims::from_slice(&[1]), line.offset())?;
        let rolled = selected(&line, 0, &places(line.numel(), shifts[0]))?;
        let strides = geometry::contiguous_strides(array.sizes());
        return Ok(rolled.view(array.sizes(), strides, 0)?.into());
    }
    if dims.len() != shifts.len() {
        return Err(Problem::invalid(
            "there must be as many shifts as dimensions",
        ));
    }
    let mut result = array.contiguous()?;
    for (dim, shift) in dims.iter().zip(&shifts) {
        let dim = wrap_dim(*dim, array.rank())?;
        result = selected(&result, dim, &places(array.size(dim), *shift))?;
    }
    Ok(result.into())
}

/// `rot90(self, k=1, dims=[0,1])`
fn rot90(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dims = wrap_dims(&call.ints(2)?, array.rank())?;
    let [first, second] = *dims else {
        return Err(Problem::invalid(
            "a rotation is in a plane of two dimensions",
        ));
    };
    let (first, second) = (first as i64, second as i64);
    let transposed = |array: &Array| super::view::transpose(array, first, second);
    Ok(match call.int(1)?.rem_euclid(4) {
        1 => transposed(&flip_dims(&array, &[second])?)?,
        2 => flip_dims(&array, &[first, second])?,
        3 => flip_dims(&transposed(&array)?, &[second])?,
        _ => array.copied(super::copy::preserved(&array))?,
    }
    .into())
}

/// `repeat_interleave.self_int(self, repeats, dim=None, *, output_size=None)`
fn repeat_interleave(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let repeats = usize::try_from(call.int(1)?)
        .map_err(|_| Problem::invalid("repeats must not be negative"))?;
    let (array, dim) = match call.optional_int(2)? {
        Some(dim) => (array.clone(), wrap_dim(dim, array.rank())?),
        None => {
            let line = array.contiguous()?;
            (
                line.view(&[line.numel()], Dims::from_slice(&[1]), line.offset())?,
                0,
            )
        }
    };
    let places: Vec<usize> = (0..array.size(dim))
        .flat_map(|place| std::iter::repeat_n(place, repeats))
        .collect();
    Ok(selected(&array, dim, &places)?.into())
}

/// `tril(self, diagonal=0)`, `triu`: the other elements are 0.
fn triangle(call: &Call<'_>, upper: bool) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let diagonal = call.int(1)?;
    let [.., rows, columns] = *array.sizes() else {
        return Err(Problem::invalid("at least two dimensions are needed"));
    };
    let result = array.copied(geometry::contiguous_strides(array.sizes()))?;
    let keeps = |row: usize, column: usize| {
        let offset = column as i64 - row as i64;
        if upper {
            offset >= diagonal
        } else {
            offset <= diagonal
        }
    };
    dispatch!(any, array.dtype(), T => result.write(|elements: &mut [T]| {
        for (index, element) in elements.iter_mut().enumerate() {
            let (row, column) = (index / columns.max(1) % rows.max(1), index % columns.max(1));
            if !keeps(row, column) {
                *element = T::default();
            }
        }
    }))?;
    Ok(result.into())
}

/// What stands around a tensor that is padded with its own elements.
#[derive(Clone, Copy, PartialEq)]
enum Frame {
    Reflection,
    Replication,
    Circular,
}

/// Padding as pairs, the last dimension's first: for each padded dimension what goes before and
/// behind it.
fn pairs(array: &Array, padding: &[i64]) -> Result<Vec<(usize, i64, i64)>, Problem> {
    let count = padding.len() / 2;
    if !padding.len().is_multiple_of(2) || count > array.rank() {
        return Err(Problem::invalid(format!(
            "{} numbers of padding do not fit a tensor of {} dimensions",
            padding.len(),
            array.rank()
        )));
    }
    let last = array.rank();
    let pair = |index: usize| (last - 1 - index, padding[2 * index], padding[2 * index + 1]);
    Ok((0..count).map(pair).collect())
}

fn padded_size(size: usize, before: i64, behind: i64) -> Result<usize, Problem> {
    let size = i64::try_from(size)
        .ok()
        .and_then(|size| size.checked_add(before)?.checked_add(behind));
    size.and_then(|size| usize::try_from(size).ok())
        .ok_or_else(|| Problem::invalid("padding leaves a negative size"))
}

pub(super) fn pad_constant(
    array: &Array,
    padding: &[i64],
    value: Scalar,
) -> Result<Array, Problem> {
    let pairs = pairs(array, padding)?;
    if padding.iter().all(|amount| *amount == 0) {
        return array.copied(super::copy::preserved(array));
    }
    let mut sizes = Dims::from_slice(array.sizes());
    for (dim, before, behind) in &pairs {
        sizes[*dim] = padded_size(sizes[*dim], *before, *behind)?;
    }
    let strides = match geometry::suggests_channels_last(array.sizes(), array.strides()) {
        true => geometry::channels_last_strides(&sizes),
        false => geometry::contiguous_strides(&sizes),
    };
    let result = constant(array.dtype(), &sizes, strides, value)?;
    let (mut from, mut to) = (array.clone(), result.clone());
    for (dim, before, behind) in pairs {
        let cut = |amount: i64| usize::try_from(-amount).unwrap_or(0);
        let added = |amount: i64| usize::try_from(amount).unwrap_or(0);
        let length = from.size(dim).saturating_sub(cut(before) + cut(behind));
        from = narrowed(&from, dim, cut(before), length)?;
        to = narrowed(&to, dim, added(before), length)?;
    }
    to.assign(&from)?;
    Ok(result)
}

/// `pad(self, pad, mode='constant', value=None)`
fn pad(call: &Call<'_>) -> Result<Value, Problem> {
    let frame = match call.optional_str(2)?.unwrap_or("constant") {
        "constant" => {
            let value = call.optional_scalar(3)?.unwrap_or(Scalar::Int(0));
            return Ok(pad_constant(&call.array(0)?, &call.ints(1)?, value)?.into());
        }
        "reflect" => Frame::Reflection,
        "replicate" => Frame::Replication,
        "circular" => Frame::Circular,
        other => {
            return Err(Problem::invalid(format!(
                "the mode must be `constant`, `reflect`, `replicate` or `circular`, found `{other}`"
            )));
        }
    };
    pad_by(call, frame)
}

fn pad_by(call: &Call<'_>, frame: Frame) -> Result<Value, Problem> {
    let array = call.array(0)?;
    if frame != Frame::Circular && array.rank() < call.ints(1)?.len() / 2 + 1 {
        return Err(Problem::invalid("a dimension of channels is needed"));
    }
    let mut result = array.clone();
    for (dim, before, behind) in pairs(&array, &call.ints(1)?)? {
        let size = array.size(dim) as i64;
        let most = match frame {
            Frame::Reflection => size - 1,
            Frame::Circular => size,
            Frame::Replication => i64::MAX,
        };
        if size == 0 || before > most || behind > most {
            return Err(Problem::invalid(format!(
                "padding of {before} and {behind} is too wide for dimension {dim} of {size} elements"
            )));
        }
        let count = padded_size(array.size(dim), before, behind)?;
        let places: Vec<usize> = (0..count as i64)
            .map(|index| frame.source(index - before, size) as usize)
            .collect();
        result = selected(&result, dim, &places)?;
    }
    match geometry::suggests_channels_last(array.sizes(), array.strides()) {
        true => {
            let strides = geometry::channels_last_strides(result.sizes());
            Ok(result.copied(strides)?.into())
        }
        false => Ok(result.contiguous()?.into()),
    }
}

impl Frame {
    /// Where the element at a place comes from; places before the first are negative.
    fn source(self, place: i64, size: i64) -> i64 {
        match self {
            Self::Replication => place.clamp(0, size - 1),
            Self::Circular => place.rem_euclid(size),
            Self::Reflection if place < 0 => -place,
            Self::Reflection if place >= size => 2 * (size - 1) - place,
            Self::Reflection => place,
        }
    }
}
