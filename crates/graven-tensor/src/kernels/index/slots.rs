//! Writing slices along one dimension, by an index of one dimension.

use super::super::Table;
use super::super::copy::preserved;
use super::super::pointwise::Arithmetic as _;
use super::super::view::{select, wrap_index};
use super::indices_of;
use super::scatter::Reduce;
use crate::array::Array;
use crate::call::Call;
use crate::element::{Element, dispatch};
use crate::error::Problem;
use crate::geometry::{contiguous_strides, wrap_dim};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::index_add", |call| {
        let alpha = call.scalar(4)?;
        let copy = call.array(0)?;
        let copy = copy.copied(contiguous_strides(copy.sizes()))?;
        for_each_slice(call, &copy, |to, from| {
            let sum = dispatch!(any, to.dtype(), T => {
                let alpha = alpha.to::<T>();
                let (old, new) = (to.to_vec::<T>()?, from.converted(to.dtype())?.to_vec::<T>()?);
                let sum = old.into_iter().zip(new).map(|(old, new)| old.plus(alpha.times(new)));
                Array::from_elements(&sum.collect::<Vec<T>>(), to.sizes())
            })?;
            to.assign(&sum)
        })?;
        Ok(copy.into())
    }),
    ("aten::index_copy", |call| {
        let copy = call.array(0)?;
        let copy = copy.copied(contiguous_strides(copy.sizes()))?;
        for_each_slice(call, &copy, |to, from| to.assign(from))?;
        Ok(copy.into())
    }),
    ("aten::index_fill.int_Scalar", index_fill),
    ("aten::index_fill.int_Tensor", index_fill),
    ("aten::index_reduce", index_reduce),
];

/// The places that the index at argument 2 names along the dimension at argument 1.
fn places(call: &Call<'_>, array: &Array) -> Result<(usize, Vec<usize>), Problem> {
    let dim = wrap_dim(call.int(1)?, array.rank())?;
    let size = array.size(dim);
    let index = call.array(2)?;
    if index.rank() > 1 {
        return Err(Problem::invalid(
            "the index must have one dimension at most",
        ));
    }
    let indices = indices_of(&index)?;
    let places = indices
        .into_iter()
        .map(|index| wrap_index(index, dim, size));
    Ok((dim, places.collect::<Result<_, _>>()?))
}

/// A slice; a tensor without dimensions is its own.
fn slice(array: &Array, dim: usize, place: usize) -> Result<Array, Problem> {
    match array.rank() {
        0 => Ok(array.clone()),
        _ => select(array, dim as i64, place as i64),
    }
}

/// Visits the slices of `array` that the index names, each with its slice of the source, which is
/// argument 3.
fn for_each_slice(
    call: &Call<'_>,
    array: &Array,
    mut visit: impl FnMut(&Array, &Array) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let source = call.array(3)?;
    if source.dtype() != array.dtype() {
        return Err(Problem::OtherDType {
            expected: array.dtype(),
            found: source.dtype(),
        });
    }
    let (dim, places) = places(call, array)?;
    if source.rank() > 0 && source.size(dim) != places.len() {
        return Err(Problem::invalid(format!(
            "the source has {} slices, the index {}",
            source.size(dim),
            places.len()
        )));
    }
    for (number, place) in places.into_iter().enumerate() {
        let from = slice(&source, dim, number)?;
        let to = slice(array, dim, place)?;
        if to.sizes() != from.sizes() && from.numel() != 1 {
            return Err(Problem::Broadcast {
                left: to.sizes().to_vec(),
                right: from.sizes().to_vec(),
            });
        }
        visit(&to, &from)?;
    }
    Ok(())
}

fn index_fill(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let copy = array.copied(preserved(&array))?;
    let value = Array::scalar(array.dtype(), call.scalar(3)?)?;
    let (dim, places) = places(call, &copy)?;
    for place in places {
        slice(&copy, dim, place)?.assign(&value)?;
    }
    Ok(copy.into())
}

/// `index_reduce(self, dim, index, source, reduce, *, include_self=True)`
fn index_reduce(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let copy = array.copied(contiguous_strides(array.sizes()))?;
    let reduce = Reduce::from_name(call.optional_str(4)?.unwrap_or_default())?;
    let includes_self = call.bool(5)?;
    let (dim, places) = places(call, &copy)?;
    let mut counts = vec![usize::from(includes_self); copy.size(dim)];
    let mut order = places.iter();
    for_each_slice(call, &copy, |to, from| {
        let Some(place) = order.next() else {
            return Ok(());
        };
        let is_first = counts[*place] == 0;
        counts[*place] += 1;
        let combined = dispatch!(number, to.dtype(), T => {
            let (old, new) = (to.to_vec::<T>()?, from.to_vec::<T>()?);
            let pairs = old.into_iter().zip(new);
            let values = pairs.map(|(old, new)| if is_first { new } else { reduce.combine(old, new) });
            Array::from_elements(&values.collect::<Vec<T>>(), to.sizes())
        })?;
        to.assign(&combined)
    })?;
    if reduce == Reduce::Mean {
        for (place, count) in counts
            .into_iter()
            .enumerate()
            .filter(|(_, count)| *count > 1)
        {
            let to = slice(&copy, dim, place)?;
            let mean = dispatch!(number, to.dtype(), T => {
                let values = to.to_vec::<T>()?.into_iter().map(|value| mean_of(value, count));
                Array::from_elements(&values.collect::<Vec<T>>(), to.sizes())
            })?;
            to.assign(&mean)?;
        }
    }
    Ok(copy.into())
}

/// A sum divided by how many were added; integers are rounded down.
pub(super) fn mean_of<T: Element>(sum: T, count: usize) -> T {
    match T::DTYPE.is_floating_point() {
        true => T::from_f64(sum.to_f64() / count as f64),
        false => T::from_i64(sum.to_i64().div_euclid(count as i64)),
    }
}
