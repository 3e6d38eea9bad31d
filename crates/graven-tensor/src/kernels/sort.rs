//! Order: sorting, the greatest k, medians, search.

use std::cmp::Ordering;

use graven_ir::DType;

use super::Table;
use super::scan::along;
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::{Real, dispatch};
use crate::error::Problem;
use crate::geometry::{Dims, wrap_dim};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::argsort", |call| {
        sorted(call, 1, 2).map(|[_, indices]| indices.into())
    }),
    ("aten::argsort.stable", |call| {
        sorted(call, 2, 3).map(|[_, indices]| indices.into())
    }),
    ("aten::bucketize.Tensor", |call| {
        let right = call.bool(3)?;
        search(call, &call.array(1)?, &call.array(0)?, call.bool(2)?, right)
    }),
    ("aten::kthvalue", kthvalue),
    ("aten::median", |call| full_median(call, false)),
    ("aten::median.dim", |call| median(call, false)),
    ("aten::msort", |call| {
        sort_along(&call.array(0)?, 0, false).map(|[values, _]| values.into())
    }),
    ("aten::nanmedian", |call| full_median(call, true)),
    ("aten::nanmedian.dim", |call| median(call, true)),
    ("aten::searchsorted.Tensor", |call| {
        let right = call.bool(3)? || call.optional_str(4)? == Some("right");
        search(call, &call.array(0)?, &call.array(1)?, call.bool(2)?, right)
    }),
    ("aten::sort", |call| sorted(call, 1, 2).map(Value::from)),
    ("aten::sort.stable", |call| {
        sorted(call, 2, 3).map(Value::from)
    }),
    ("aten::topk", topk),
];

/// Numbers in order; what is no number stands behind all.
fn compare<T: Real>(left: &T, right: &T) -> Ordering {
    left.partial_cmp(right)
        .unwrap_or_else(|| Real::is_not_a_number(*left).cmp(&Real::is_not_a_number(*right)))
}

fn sorted(call: &Call<'_>, dim: usize, descending: usize) -> Result<[Array; 2], Problem> {
    let array = call.array(0)?;
    let dim = wrap_dim(call.int(dim)?, array.rank())?;
    sort_along(&array, dim, call.bool(descending)?)
}

/// Values and indices along a dimension, equal values in their order.
fn sort_along(array: &Array, dim: usize, descending: bool) -> Result<[Array; 2], Problem> {
    dispatch!(real, array.dtype(), T => {
        let order = |line: &[T]| {
            let mut order: Vec<i64> = (0..line.len() as i64).collect();
            let at = |index: &i64| &line[*index as usize];
            match descending {
                true => order.sort_by(|a, b| compare(at(b), at(a))),
                false => order.sort_by(|a, b| compare(at(a), at(b))),
            }
            order
        };
        let [values] = along(array, dim, |line: &[T], [out]| {
            for (out, index) in out.iter_mut().zip(order(line)) {
                *out = line[index as usize];
            }
        })?;
        let indices = indices_along(array, dim, array.size(dim), |line: &[T], out: &mut [i64]| {
            out.copy_from_slice(&order(line));
        })?;
        let strides = super::copy::preserved(array);
        Ok([values.copied(strides.clone())?, indices.copied(strides)?])
    })
}

/// For each line along a dimension `count` integers.
fn indices_along<T: Real>(
    array: &Array,
    dim: usize,
    count: usize,
    indices: impl Fn(&[T], &mut [i64]),
) -> Result<Array, Problem> {
    select_along(array, dim, count, |line: &[T], out: &mut [i64]| {
        indices(line, out)
    })
}

/// For each line along a dimension a line of `count` elements.
fn select_along<T: Real, D: crate::element::Element>(
    array: &Array,
    dim: usize,
    count: usize,
    select: impl Fn(&[T], &mut [D]),
) -> Result<Array, Problem> {
    let length = array.size(dim);
    let mut order: Dims = (0..array.rank()).filter(|other| *other != dim).collect();
    let mut sizes: Dims = order.iter().map(|dim| array.sizes()[*dim]).collect();
    if array.rank() > 0 {
        order.push(dim);
        sizes.push(count);
    }
    let lines = super::view::permuted(array, &order)?.to_vec::<T>()?;
    let rows = lines.len() / length.max(1);
    let mut fresh = Fresh::<D>::new(crate::geometry::numel(&sizes))?;
    if count > 0 && length > 0 {
        let out = fresh.elements().chunks_mut(count);
        lines
            .chunks(length)
            .zip(out)
            .take(rows)
            .for_each(|(line, out)| select(line, out));
    }
    let mut inverse = Dims::from_elem(0, order.len());
    for (place, dim) in order.iter().enumerate() {
        inverse[*dim] = place;
    }
    super::view::permuted(&fresh.into_array(&sizes)?, &inverse)?.contiguous()
}

/// `topk(self, k, dim=-1, largest=True, sorted=True)`
fn topk(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dim = wrap_dim(call.int(2)?, array.rank())?;
    let largest = call.bool(3)?;
    let length = array.size(dim);
    let count = usize::try_from(call.int(1)?)
        .ok()
        .filter(|count| *count <= length);
    let count = count.ok_or_else(|| {
        Problem::invalid(format!(
            "dimension {dim} has only {length} elements to choose from"
        ))
    })?;
    dispatch!(number, array.dtype(), T => {
        let best = |line: &[T]| {
            let mut order: Vec<i64> = (0..line.len() as i64).collect();
            let at = |index: &i64| &line[*index as usize];
            order.sort_by(|a, b| match largest {
                true => compare(at(b), at(a)),
                false => compare(at(a), at(b)),
            });
            order.truncate(count);
            order
        };
        let values = select_along(&array, dim, count, |line: &[T], out: &mut [T]| {
            for (out, index) in out.iter_mut().zip(best(line)) {
                *out = line[index as usize];
            }
        })?;
        let indices = select_along(&array, dim, count, |line: &[T], out: &mut [i64]| {
            out.copy_from_slice(&best(line));
        })?;
        Ok([values, indices].into())
    })
}

/// The place of the k-th smallest element of a line.
fn place_of<T: Real>(line: &[T], rank: usize) -> usize {
    let mut order: Vec<usize> = (0..line.len()).collect();
    order.sort_by(|a, b| compare(&line[*a], &line[*b]));
    order.get(rank).copied().unwrap_or(0)
}

/// The place of the lower median; what is no number is it, unless it is left out.
fn place_of_median<T: Real>(line: &[T], skips_nan: bool) -> usize {
    let first_nan = line.iter().position(|value| Real::is_not_a_number(*value));
    match (first_nan, skips_nan) {
        (Some(place), false) => place,
        _ => {
            let count = line
                .iter()
                .filter(|value| !Real::is_not_a_number(**value))
                .count();
            place_of(line, count.saturating_sub(1) / 2)
        }
    }
}

fn full_median(call: &Call<'_>, skips_nan: bool) -> Result<Value, Problem> {
    let array = call.array(0)?;
    dispatch!(number, array.dtype(), T => {
        let values = array.to_vec::<T>()?;
        let value = match values.is_empty() {
            // Of nothing it is no number.
            true => <T as crate::element::Element>::from_f64(f64::NAN),
            false => values[place_of_median(&values, skips_nan)],
        };
        Ok(Array::from_elements(&[value], &[])?.into())
    })
}

/// `median.dim(self, dim, keepdim)`: values and indices.
fn median(call: &Call<'_>, skips_nan: bool) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dim = wrap_dim(call.int(1)?, array.rank())?;
    let keeps = call.bool(2)?;
    dispatch!(number, array.dtype(), T => {
        pick(&array, dim, keeps, |line: &[T]| place_of_median(line, skips_nan))
    })
}

/// `kthvalue(self, k, dim=-1, keepdim=False)`
fn kthvalue(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dim = wrap_dim(call.int(2)?, array.rank())?;
    let length = array.size(dim);
    let rank = usize::try_from(call.int(1)?)
        .ok()
        .filter(|rank| (1..=length).contains(rank));
    let rank = rank.ok_or_else(|| {
        Problem::invalid(format!(
            "k must be between 1 and {length}, the size of dimension {dim}"
        ))
    })?;
    let keeps = call.bool(3)?;
    dispatch!(number, array.dtype(), T => {
        pick(&array, dim, keeps, |line: &[T]| place_of(line, rank - 1))
    })
}

/// Of each line the value at a place, and the place.
fn pick<T: Real>(
    array: &Array,
    dim: usize,
    keeps: bool,
    place: impl Fn(&[T]) -> usize,
) -> Result<Value, Problem> {
    if array.size(dim) == 0 {
        return Err(Problem::invalid(
            "a dimension without elements has no such value",
        ));
    }
    let values = select_along(array, dim, 1, |line: &[T], out: &mut [T]| {
        out[0] = line[place(line)]
    })?;
    let indices = select_along(array, dim, 1, |line: &[T], out: &mut [i64]| {
        out[0] = place(line) as i64;
    })?;
    let finish = |array: Array| match keeps {
        true => Ok(array),
        false => super::view::squeeze(&array, |other| other == dim)?.contiguous(),
    };
    Ok([finish(values)?, finish(indices)?].into())
}

/// For each value the place in the sorted sequence before which it belongs.
fn search(
    call: &Call<'_>,
    sequence: &Array,
    values: &Array,
    is_int32: bool,
    right: bool,
) -> Result<Value, Problem> {
    let sorter = match call.operator().schema().argument("sorter") {
        Some(position) => call.optional_array(position)?,
        None => None,
    };
    let sequence = match sorter {
        Some(sorter) => {
            let args = [sequence.clone().into(), Value::Int(-1), sorter.into()];
            let gathered = call.eager().invoke("aten::gather", &args, &[])?;
            gathered
                .as_tensor()
                .map_or_else(|| sequence.clone(), |tensor| tensor.array())
        }
        None => sequence.clone(),
    };
    let dtype = crate::promote::promote_types(sequence.dtype(), values.dtype());
    let length = sequence.sizes().last().copied().unwrap_or(1);
    let per_line = values.sizes().last().copied().unwrap_or(1);
    let places: Vec<i64> = dispatch!(real, dtype, T => {
        let sequence_values = sequence.converted(dtype)?.to_vec::<T>()?;
        let values = values.converted(dtype)?.to_vec::<T>()?;
        let place = |(index, value): (usize, &T)| {
            // One line for all, or one for each line of values.
            let line = if sequence.rank() <= 1 { 0 } else { index / per_line.max(1) };
            let line = &sequence_values[line * length..(line + 1) * length];
            line.partition_point(|element| match compare(element, value) {
                Ordering::Less => true,
                Ordering::Equal => right,
                Ordering::Greater => false,
            }) as i64
        };
        Ok::<_, Problem>(values.iter().enumerate().map(place).collect())
    })?;
    let result = Array::from_elements(&places, values.sizes())?;
    let dtype = if is_int32 { DType::Int32 } else { DType::Int64 };
    Ok(result.converted(dtype)?.into())
}
