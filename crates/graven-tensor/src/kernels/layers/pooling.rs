//! Pooling: the greatest element or the mean of each window.

use graven_ir::DType;
use rayon::prelude::*;

use super::super::Table;
use super::super::pointwise::compute;
use super::super::view::{squeeze, unsqueezed};
use super::in_format_of;
use super::window::{Three, Window, sizes_three, three};
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::{Element, Real, dispatch};
use crate::error::Problem;
use crate::geometry::{self, Dims};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_adaptive_avg_pool2d", |call| adaptive_mean(call, 2)),
    ("aten::_adaptive_avg_pool3d", |call| adaptive_mean(call, 3)),
    ("aten::adaptive_avg_pool1d", |call| adaptive_mean(call, 1)),
    ("aten::adaptive_avg_pool2d", |call| adaptive_mean(call, 2)),
    ("aten::adaptive_avg_pool3d", |call| adaptive_mean(call, 3)),
    ("aten::adaptive_max_pool1d", |call| adaptive_max(call, 1)),
    ("aten::adaptive_max_pool2d", |call| adaptive_max(call, 2)),
    ("aten::adaptive_max_pool3d", |call| adaptive_max(call, 3)),
    ("aten::avg_pool1d", |call| mean(call, 1)),
    ("aten::avg_pool2d", |call| mean(call, 2)),
    ("aten::avg_pool3d", |call| mean(call, 3)),
    ("aten::max_pool1d", |call| {
        max(call, 1).map(|[values, _]| values.into())
    }),
    ("aten::max_pool1d_with_indices", |call| {
        max(call, 1).map(Value::from)
    }),
    ("aten::max_pool2d", |call| {
        max(call, 2).map(|[values, _]| values.into())
    }),
    ("aten::max_pool2d_with_indices", |call| {
        max(call, 2).map(Value::from)
    }),
    ("aten::max_pool3d", |call| {
        max(call, 3).map(|[values, _]| values.into())
    }),
    ("aten::max_pool3d_with_indices", |call| {
        max(call, 3).map(Value::from)
    }),
    ("aten::max_unpool2d", |call| max_unpool(call, 2)),
    ("aten::max_unpool3d", |call| max_unpool(call, 3)),
];

/// The last dimensions of an input, which windows slide over.
pub(super) fn planes(input: &Array, dims: usize) -> Result<Three, Problem> {
    match input.rank() == dims + 1 || input.rank() == dims + 2 {
        true => Ok(sizes_three(&input.sizes()[input.rank() - dims..])),
        false => Err(Problem::invalid(format!(
            "expected a tensor of {} or {} dimensions, found sizes {:?}",
            dims + 1,
            dims + 2,
            input.sizes()
        ))),
    }
}

/// Sizes of a result whose last dimensions are these.
fn result_sizes(input: &Array, dims: usize, output: Three) -> Dims {
    let mut sizes = Dims::from_slice(&input.sizes()[..input.rank() - dims]);
    sizes.extend_from_slice(&output[3 - dims..]);
    sizes
}

/// The stride of windows is their size where none is given.
pub(super) fn stride_of(
    call: &Call<'_>,
    position: usize,
    dims: usize,
    kernel: Three,
) -> Result<Three, Problem> {
    match call.optional_ints(position)? {
        Some(stride) if !stride.is_empty() => three(&call.ints_of(position, dims)?, 1),
        _ => Ok(kernel),
    }
}

/// Computes each plane of the output from one of the input.
fn map_planes<T: Element, D: Element>(
    input: &Array,
    dims: usize,
    sizes: [usize; 2],
    result: &[usize],
    plane: impl Fn(&[T], &mut [D]) + Sync,
) -> Result<Array, Problem> {
    let _ = dims;
    let input = input.contiguous()?;
    let data = input.data::<T>()?;
    let [from, to] = sizes;
    let mut fresh = Fresh::<D>::new(geometry::numel(result))?;
    if to > 0 && from > 0 {
        let planes = data.elements()[..input.numel()].par_chunks(from);
        let out = fresh.elements().par_chunks_mut(to);
        let least = (1 << 14) / from.max(to) + 1;
        out.zip(planes)
            .with_min_len(least)
            .for_each(|(out, input)| plane(input, out));
    }
    fresh.into_array(result)
}

/// `max_pool2d(self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False)`: values, and
/// their places in the planes.
fn max(call: &Call<'_>, dims: usize) -> Result<[Array; 2], Problem> {
    let input = call.array(0)?;
    let kernel = three(&call.ints_of(1, dims)?, 1)?;
    let stride = stride_of(call, 2, dims, kernel)?;
    let padding = three(&call.ints_of(3, dims)?, 0)?;
    let dilation = three(&call.ints_of(4, dims)?, 1)?;
    check_padding(kernel, padding)?;
    let window = Window::new(
        planes(&input, dims)?,
        kernel,
        stride,
        padding,
        dilation,
        call.bool(5)?,
    )?;
    let result = result_sizes(&input, dims, window.output);
    let sizes = [window.input_plane(), window.output_plane()];
    dispatch!(number, input.dtype(), T => {
        let best = |plane: &[T], output: usize| {
            let mut best: Option<usize> = None;
            window.for_each_in_window(output, |place| {
                let is_better = best.is_none_or(|best| {
                    plane[place] > plane[best] || Real::is_not_a_number(plane[place])
                });
                if is_better {
                    best = Some(place);
                }
            });
            best
        };
        let values = map_planes(&input, dims, sizes, &result, |plane: &[T], out: &mut [T]| {
            for (output, out) in out.iter_mut().enumerate() {
                *out = best(plane, output).map_or(T::lowest(), |place| plane[place]);
            }
        })?;
        let indices = map_planes(&input, dims, sizes, &result, |plane: &[T], out: &mut [i64]| {
            for (output, out) in out.iter_mut().enumerate() {
                *out = best(plane, output).unwrap_or(0) as i64;
            }
        })?;
        Ok([in_format_of(values, &input)?, in_format_of(indices, &input)?])
    })
}

fn check_padding(kernel: Three, padding: Three) -> Result<(), Problem> {
    match kernel
        .iter()
        .zip(&padding)
        .all(|(kernel, padding)| *padding <= kernel / 2)
    {
        true => Ok(()),
        false => Err(Problem::invalid(
            "padding must be at most half of the kernel",
        )),
    }
}

/// `avg_pool2d(self, kernel_size, stride=[], padding=0, ceil_mode=False, count_include_pad=True,
/// divisor_override=None)`
fn mean(call: &Call<'_>, dims: usize) -> Result<Value, Problem> {
    let input = call.array(0)?;
    let kernel = three(&call.ints_of(1, dims)?, 1)?;
    let stride = stride_of(call, 2, dims, kernel)?;
    let padding = three(&call.ints_of(3, dims)?, 0)?;
    check_padding(kernel, padding)?;
    let counts_padding = call.bool(5)?;
    let divisor = match dims {
        1 => None,
        _ => call.optional_int(6)?,
    };
    let window = Window::new(
        planes(&input, dims)?,
        kernel,
        stride,
        padding,
        [1; 3],
        call.bool(4)?,
    )?;
    let result = result_sizes(&input, dims, window.output);
    let sizes = [window.input_plane(), window.output_plane()];
    let counts: Vec<f64> = (0..window.output_plane())
        .map(|output| match (divisor, counts_padding) {
            (Some(divisor), _) => divisor as f64,
            (None, true) => padded_count(&window, output),
            (None, false) => {
                let mut count = 0.0;
                window.for_each_in_window(output, |_| count += 1.0);
                count
            }
        })
        .collect();
    compute!(float, input.dtype(), C, O => {
        let wide = input.converted(C::DTYPE)?;
        let means = map_planes(&wide, dims, sizes, &result, |plane: &[C], out: &mut [C]| {
            for (output, out) in out.iter_mut().enumerate() {
                let mut sum = <C as Element>::from_f64(0.0);
                window.for_each_in_window(output, |place| sum += plane[place]);
                *out = sum / <C as Element>::from_f64(counts[output]);
            }
        })?;
        Ok(mean_in_format(means.converted(O::DTYPE)?, &input, dims)?.into())
    })
}

/// Elements of a window, padding included, but not what lies behind it.
pub(super) fn padded_count(window: &Window, output: usize) -> f64 {
    let at = [
        output / window.output[2] / window.output[1],
        output / window.output[2] % window.output[1],
        output % window.output[2],
    ];
    let mut count = 1;
    for (dim, at) in at.into_iter().enumerate() {
        let start = at * window.stride[dim];
        let end = (start + window.kernel[dim]).min(window.input[dim] + 2 * window.padding[dim]);
        count *= end - start;
    }
    count as f64
}

/// The output sizes of adaptive pooling; `None` keeps the input's.
fn adaptive_sizes(call: &Call<'_>, input: Three, dims: usize) -> Result<Three, Problem> {
    let given = match call.value(1) {
        Value::List(items) => items.clone(),
        value => vec![value.clone(); dims],
    };
    let mut output = input;
    for (dim, item) in given.iter().enumerate() {
        if let Value::Int(size) = item {
            output[3 - dims + dim] = usize::try_from(*size)
                .map_err(|_| Problem::invalid("output sizes must not be negative"))?;
        }
    }
    Ok(output)
}

/// The part of an input dimension that an output element covers.
fn adaptive_range(output: usize, outputs: usize, inputs: usize) -> (usize, usize) {
    let start = output * inputs / outputs;
    (start, ((output + 1) * inputs).div_ceil(outputs))
}

/// Visits the places that an element of adaptive pooling's output covers.
pub(super) fn for_each_covered(
    input: Three,
    output: Three,
    number: usize,
    mut visit: impl FnMut(usize),
) {
    let at = [
        number / output[2] / output[1],
        number / output[2] % output[1],
        number % output[2],
    ];
    let [depth, height, width] =
        std::array::from_fn(|dim| adaptive_range(at[dim], output[dim], input[dim]));
    for d in depth.0..depth.1 {
        for h in height.0..height.1 {
            for w in width.0..width.1 {
                visit((d * input[1] + h) * input[2] + w);
            }
        }
    }
}

/// Means of one dimension are those of two, the first of size 1; those of three are contiguous.
fn mean_in_format(means: Array, input: &Array, dims: usize) -> Result<Array, Problem> {
    match (dims, input.rank()) {
        (3, _) => Ok(means),
        (1, 3) => {
            let (means, input) = (unsqueezed(&means, 2)?, unsqueezed(input, 2)?);
            squeeze(&in_format_of(means, &input)?, |dim| dim == 2)
        }
        _ => in_format_of(means, input),
    }
}

/// `adaptive_avg_pool2d(self, output_size)`
fn adaptive_mean(call: &Call<'_>, dims: usize) -> Result<Value, Problem> {
    let input = call.array(0)?;
    let from = planes(&input, dims)?;
    let to = adaptive_sizes(call, from, dims)?;
    let result = result_sizes(&input, dims, to);
    let sizes = [from.iter().product(), to.iter().product()];
    compute!(float, input.dtype(), C, O => {
        let wide = input.converted(C::DTYPE)?;
        let means = map_planes(&wide, dims, sizes, &result, |plane: &[C], out: &mut [C]| {
            for (number, out) in out.iter_mut().enumerate() {
                let (mut sum, mut count) = (<C as Element>::from_f64(0.0), 0_u32);
                for_each_covered(from, to, number, |place| {
                    sum += plane[place];
                    count += 1;
                });
                *out = sum / <C as Element>::from_f64(f64::from(count));
            }
        })?;
        Ok(mean_in_format(means.converted(O::DTYPE)?, &input, dims)?.into())
    })
}

/// `adaptive_max_pool2d(self, output_size)`: values and places.
fn adaptive_max(call: &Call<'_>, dims: usize) -> Result<Value, Problem> {
    let input = call.array(0)?;
    let from = planes(&input, dims)?;
    let to = adaptive_sizes(call, from, dims)?;
    let result = result_sizes(&input, dims, to);
    let sizes = [from.iter().product(), to.iter().product()];
    dispatch!(number, input.dtype(), T => {
        let best = |plane: &[T], number: usize| {
            let mut best: Option<usize> = None;
            for_each_covered(from, to, number, |place| {
                let is_better = best.is_none_or(|best| {
                    plane[place] > plane[best] || Real::is_not_a_number(plane[place])
                });
                if is_better {
                    best = Some(place);
                }
            });
            best.unwrap_or(0)
        };
        let values = map_planes(&input, dims, sizes, &result, |plane: &[T], out: &mut [T]| {
            for (number, out) in out.iter_mut().enumerate() {
                *out = plane[best(plane, number)];
            }
        })?;
        let indices = map_planes(&input, dims, sizes, &result, |plane: &[T], out: &mut [i64]| {
            for (number, out) in out.iter_mut().enumerate() {
                *out = best(plane, number) as i64;
            }
        })?;
        Ok([in_format_of(values, &input)?, in_format_of(indices, &input)?].into())
    })
}

/// `max_unpool2d(self, indices, output_size)`: values back at their places, 0 elsewhere.
fn max_unpool(call: &Call<'_>, dims: usize) -> Result<Value, Problem> {
    let (input, indices) = (call.array(0)?, call.array(1)?);
    if indices.dtype() != DType::Int64 || indices.sizes() != input.sizes() {
        return Err(Problem::invalid(
            "there must be an int64 index for each element",
        ));
    }
    let from = planes(&input, dims)?;
    let sizes = call.sizes(2)?;
    let to = sizes_three(&sizes);
    let result = result_sizes(&input, dims, to);
    let (from, to): (usize, usize) = (from.iter().product(), to.iter().product());
    let indices = indices.to_vec::<i64>()?;
    dispatch!(number, input.dtype(), T => {
        let values = input.to_vec::<T>()?;
        let mut fresh = Fresh::<T>::new(geometry::numel(&result))?;
        let planes = values.chunks(from.max(1)).zip(indices.chunks(from.max(1)));
        for ((values, indices), out) in planes.zip(fresh.elements().chunks_mut(to.max(1))) {
            for (value, index) in values.iter().zip(indices) {
                let place = usize::try_from(*index).ok().filter(|place| *place < out.len());
                let place = place.ok_or(Problem::Index { index: *index, dim: 0, size: out.len() })?;
                out[place] = *value;
            }
        }
        Ok(in_format_of(fresh.into_array(&result)?, &input)?.into())
    })
}
