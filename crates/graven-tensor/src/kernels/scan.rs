//! Operators along one dimension: cumulative ones, softmax, differences.

use graven_ir::DType;
use num_traits::Float as _;
use rayon::prelude::*;

use super::Table;
use super::lanes;
use super::pointwise::{Arithmetic as _, Math, compute, floating};
use super::reduce::{Summed, sum_dtype};
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::{Element, Real, dispatch};
use crate::error::Problem;
use crate::geometry::{Dims, wrap_dim};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_log_softmax", |call| softmax(call, None, true)),
    ("aten::_softmax", |call| softmax(call, None, false)),
    ("aten::cummax", |call| cumulative_extreme(call, true)),
    ("aten::cummin", |call| cumulative_extreme(call, false)),
    ("aten::cumprod", |call| cumulative(call, true)),
    ("aten::cumsum", |call| cumulative(call, false)),
    ("aten::diff", diff),
    ("aten::log_softmax.int", |call| {
        softmax(call, call.optional_dtype(2)?, true)
    }),
    ("aten::logcumsumexp", logcumsumexp),
    ("aten::softmax.int", |call| {
        softmax(call, call.optional_dtype(2)?, false)
    }),
    ("aten::special_log_softmax", |call| {
        softmax(call, call.optional_dtype(2)?, true)
    }),
    ("aten::special_softmax", |call| {
        softmax(call, call.optional_dtype(2)?, false)
    }),
];

/// Maps each line along a dimension to a line of the same length. `lines` gets the input's line
/// and a slice for each result.
pub(super) fn along<C: Element, const N: usize>(
    array: &Array,
    dim: usize,
    lines: impl Fn(&[C], [&mut [C]; N]) + Sync,
) -> Result<[Array; N], Problem> {
    let length = array.size(dim);
    let mut order: Dims = (0..array.rank()).filter(|other| *other != dim).collect();
    if array.rank() > 0 {
        order.push(dim);
    }
    let moved = super::view::permuted(array, &order)?
        .converted(C::DTYPE)?
        .contiguous()?;
    let data = moved.data::<C>()?;
    let elements = &data.elements()[..moved.numel()];
    let mut results = Vec::with_capacity(N);
    for _ in 0..N {
        results.push(Fresh::<C>::to_be_written(elements.len())?);
    }
    if length > 0 {
        run_lines(elements, length, &mut results, &lines);
    }
    let mut inverse = Dims::from_elem(0, order.len());
    for (place, dim) in order.iter().enumerate() {
        inverse[*dim] = place;
    }
    let arrays = results.into_iter().map(|fresh| {
        let array = fresh.into_array(moved.sizes())?;
        super::view::permuted(&array, &inverse)?.contiguous()
    });
    let arrays: Vec<Array> = arrays.collect::<Result<_, _>>()?;
    arrays
        .try_into()
        .map_err(|_| Problem::invalid("a line has another number of results"))
}

fn run_lines<C: Element, const N: usize>(
    elements: &[C],
    length: usize,
    results: &mut [Fresh<C>],
    lines: &(impl Fn(&[C], [&mut [C]; N]) + Sync),
) {
    if N == 1 && elements.len() >= 1 << 15 {
        let Some(result) = results.first_mut() else {
            return;
        };
        let out = result.elements().par_chunks_mut(length);
        let input = elements.par_chunks(length);
        out.zip(input)
            .with_min_len((1 << 13) / length + 1)
            .for_each(|(out, line)| {
                let mut out = Some(out);
                lines(line, std::array::from_fn(|_| out.take().unwrap_or(&mut [])));
            });
        return;
    }
    let mut outs: Vec<_> = results
        .iter_mut()
        .map(|fresh| fresh.elements().chunks_mut(length))
        .collect();
    for line in elements.chunks(length) {
        let slices: [&mut [C]; N] =
            std::array::from_fn(|index| outs[index].next().unwrap_or(&mut []));
        lines(line, slices);
    }
}

fn softmax(call: &Call<'_>, dtype: Option<DType>, is_log: bool) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dim = wrap_dim(call.int(1)?, array.rank())?;
    Ok(softmax_of(&array, dim, dtype, is_log)?.into())
}

pub(super) fn softmax_of(
    array: &Array,
    dim: usize,
    dtype: Option<DType>,
    is_log: bool,
) -> Result<Array, Problem> {
    let dtype = dtype.unwrap_or(array.dtype());
    compute!(float, dtype, C, O => {
        let [result] = along(array, dim, |line: &[C], [out]| match is_log {
            true => log_softmax_line(line, out),
            false => softmax_line(line, out),
        })?;
        result.converted(O::DTYPE)
    })
}

/// A line of which all are minus infinity has no softmax: it is not a number.
pub(super) fn softmax_line<M: Math + Summed>(line: &[M], out: &mut [M]) {
    lanes::exponentials(line, lanes::greatest(line), out);
    let scale = M::of(1.0) / M::sum_of(out);
    lanes::multiply(out, scale);
}

fn log_softmax_line<M: Math + Summed>(line: &[M], out: &mut [M]) {
    let top = lanes::greatest(line);
    lanes::exponentials(line, top, out);
    let shift = M::sum_of(out).logarithm() + top;
    for (out, value) in out.iter_mut().zip(line) {
        *out = *value - shift;
    }
}

/// `cumsum(self, dim, *, dtype)`, `cumprod`
fn cumulative(call: &Call<'_>, multiplies: bool) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dim = wrap_dim(call.int(1)?, array.rank())?;
    let dtype = sum_dtype(array.dtype(), call.optional_dtype(2)?);
    compute!(any, dtype, C, O => {
        let [result] = along(&array, dim, |line: &[C], [out]| {
            let mut total = if multiplies { C::unit() } else { C::default() };
            for (out, value) in out.iter_mut().zip(line) {
                total = if multiplies { total.times(*value) } else { total.plus(*value) };
                *out = total;
            }
        })?;
        Ok(result.converted(O::DTYPE)?.into())
    })
}

fn logcumsumexp(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dim = wrap_dim(call.int(1)?, array.rank())?;
    compute!(float, floating(array.dtype()), C, O => {
        let [result] = along(&array, dim, |line: &[C], [out]| {
            let mut total = C::neg_infinity();
            for (out, value) in out.iter_mut().zip(line) {
                let (high, low) = if *value > total { (*value, total) } else { (total, *value) };
                total = match high.is_infinite() {
                    true => high,
                    false => high + (low - high).exponential().ln_1p(),
                };
                *out = total;
            }
        })?;
        Ok(result.converted(O::DTYPE)?.into())
    })
}

/// `cummax(self, dim)`: values and indices; the last of equal values counts.
fn cumulative_extreme(call: &Call<'_>, greatest: bool) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dim = wrap_dim(call.int(1)?, array.rank())?;
    dispatch!(real, array.dtype(), T => {
        let better = |new: T, old: T| {
            Real::is_not_a_number(new) || (!Real::is_not_a_number(old) && if greatest { new >= old } else { new <= old })
        };
        let [values] = along(&array, dim, |line: &[T], [out]| {
            let mut best = None;
            for (out, value) in out.iter_mut().zip(line) {
                if best.is_none_or(|best| better(*value, best)) {
                    best = Some(*value);
                }
                *out = best.unwrap_or(*value);
            }
        })?;
        // Indices by the same walk, on the positions of each line.
        let positions = positions_along(&array, dim)?;
        let indices = pick_positions::<T>(&array, &positions, dim, &better)?;
        Ok([values, indices].into())
    })
}

/// For each element its place along the dimension.
fn positions_along(array: &Array, dim: usize) -> Result<Array, Problem> {
    let length = array.size(dim);
    let positions: Vec<i64> = (0..length as i64).collect();
    let line = Array::from_elements(&positions, &[length])?;
    let mut sizes = Dims::from_elem(1, array.rank());
    let mut strides = Dims::from_elem(0, array.rank());
    if array.rank() > 0 {
        sizes[dim] = length;
        strides[dim] = 1;
    }
    line.view(&sizes, strides, 0)?.expand(array.sizes())
}

fn pick_positions<T: Real>(
    array: &Array,
    positions: &Array,
    dim: usize,
    better: &(impl Fn(T, T) -> bool + Sync),
) -> Result<Array, Problem> {
    let length = array.size(dim).max(1);
    let mut order: Dims = (0..array.rank()).filter(|other| *other != dim).collect();
    if array.rank() > 0 {
        order.push(dim);
    }
    let values = super::view::permuted(array, &order)?.to_vec::<T>()?;
    let moved = super::view::permuted(positions, &order)?;
    let mut indices = moved.to_vec::<i64>()?;
    for (line, indices) in values.chunks(length).zip(indices.chunks_mut(length)) {
        let mut best = 0;
        for index in 0..line.len() {
            if better(line[index], line[best]) {
                best = index;
            }
            indices[index] = best as i64;
        }
    }
    let mut inverse = Dims::from_elem(0, order.len());
    for (place, dim) in order.iter().enumerate() {
        inverse[*dim] = place;
    }
    let result = Array::from_elements(&indices, moved.sizes())?;
    super::view::permuted(&result, &inverse)?.contiguous()
}

/// `diff(self, n=1, dim=-1, prepend=None, append=None)`
fn diff(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    if call.int(1)? < 0 {
        return Err(Problem::invalid(
            "the order of differences must not be negative",
        ));
    }
    let dim = wrap_dim(call.int(2)?, array.rank())? as i64;
    let mut parts: Vec<Value> = Vec::new();
    parts.extend(call.optional_array(3)?.map(Value::from));
    parts.push(array.into());
    parts.extend(call.optional_array(4)?.map(Value::from));
    let eager = call.eager();
    let mut value = match parts.len() {
        1 => parts.remove(0),
        _ => eager.invoke("aten::cat", &[Value::List(parts), Value::Int(dim)], &[])?,
    };
    for _ in 0..call.int(1)? {
        let slice = |start: i64, end: i64| {
            let args = [
                value.clone(),
                Value::Int(dim),
                Value::Int(start),
                Value::Int(end),
            ];
            eager.invoke("aten::slice.Tensor", &args, &[])
        };
        let is_bool = value
            .as_tensor()
            .is_some_and(|tensor| tensor.array().dtype() == DType::Bool);
        let operator = if is_bool {
            "aten::logical_xor"
        } else {
            "aten::sub.Tensor"
        };
        value = eager.invoke(operator, &[slice(1, i64::MAX)?, slice(0, -1)?], &[])?;
    }
    Ok(value)
}
