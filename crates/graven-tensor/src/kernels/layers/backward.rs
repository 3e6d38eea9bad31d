//! Gradients of layers, as operators of their own: those that torch's core set has.

use super::super::Table;
use super::super::matmul::{Matrix, Product as _, Target};
use super::super::pointwise::{Arithmetic as _, compute};
use super::convolution::{Options, convolve, groups, spread};
use super::in_format_of;
use super::pooling::{for_each_covered, padded_count, planes, stride_of};
use super::window::{Three, Window, sizes_three, three};
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::{Element, dispatch};
use crate::error::Problem;
use crate::geometry;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    (
        "aten::_adaptive_avg_pool2d_backward",
        adaptive_mean_backward,
    ),
    ("aten::avg_pool2d_backward", mean_backward),
    ("aten::convolution_backward", convolution_backward),
    ("aten::max_pool2d_with_indices_backward", max_backward),
    ("aten::native_group_norm_backward", group_norm_backward),
    ("aten::native_layer_norm_backward", layer_norm_backward),
];

/// Which gradients are asked for; the others are `None`.
fn mask_at(call: &Call<'_>, position: usize) -> Result<[bool; 3], Problem> {
    let items = call.value(position).as_list().unwrap_or(&[]);
    let is_true = |item: &Value| matches!(item, Value::Bool(true) | Value::Int(1));
    match items {
        [input, weight, bias] => Ok([input, weight, bias].map(is_true)),
        _ => Err(Problem::invalid("the mask must have three truth values")),
    }
}

fn masked(mask: [bool; 3], gradients: [Option<Array>; 3]) -> Value {
    let pairs = mask.into_iter().zip(gradients);
    let values = pairs.map(|(is_wanted, gradient)| match gradient {
        Some(gradient) if is_wanted => Value::from(gradient),
        _ => Value::None,
    });
    Value::List(values.collect())
}

/// Adds to each plane of a gradient of `input`'s sizes what `add` says of the gradient's planes.
fn add_planes<C: super::super::pointwise::Math>(
    gradient: &Array,
    input: &Array,
    dims: usize,
    add: impl Fn(&[C], &mut [C]),
) -> Result<Array, Problem> {
    let count = |array: &Array| geometry::numel(&array.sizes()[array.rank() - dims..]).max(1);
    let from = gradient.converted(C::DTYPE)?.to_vec::<C>()?;
    let mut fresh = Fresh::<C>::new(input.numel())?;
    let planes = fresh.elements().chunks_mut(count(input));
    planes
        .zip(from.chunks(count(gradient)))
        .for_each(|(plane, gradient)| add(gradient, plane));
    fresh.into_array(input.sizes())
}

/// `_adaptive_avg_pool2d_backward(grad_output, self)`
fn adaptive_mean_backward(call: &Call<'_>) -> Result<Value, Problem> {
    let (gradient, input) = (call.array(0)?, call.array(1)?);
    let (from, to) = (planes(&input, 2)?, planes(&gradient, 2)?);
    compute!(float, gradient.dtype(), C, O => {
        let result = add_planes::<C>(&gradient, &input, 2, |gradient, plane| {
            for (number, value) in gradient.iter().enumerate() {
                let mut count = 0_u32;
                for_each_covered(from, to, number, |_| count += 1);
                let share = *value / C::from_f64(f64::from(count));
                for_each_covered(from, to, number, |place| plane[place] += share);
            }
        })?;
        Ok(in_format_of(result.converted(O::DTYPE)?, &input)?.into())
    })
}

/// `avg_pool2d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode,
/// count_include_pad, divisor_override)`
fn mean_backward(call: &Call<'_>) -> Result<Value, Problem> {
    let (gradient, input) = (call.array(0)?, call.array(1)?);
    let kernel = three(&call.ints_of(2, 2)?, 1)?;
    let stride = stride_of(call, 3, 2, kernel)?;
    let padding = three(&call.ints_of(4, 2)?, 0)?;
    let (counts_padding, divisor) = (call.bool(6)?, call.optional_int(7)?);
    let window = Window::new(
        planes(&input, 2)?,
        kernel,
        stride,
        padding,
        [1; 3],
        call.bool(5)?,
    )?;
    check_windows(&gradient, &window)?;
    compute!(float, gradient.dtype(), C, O => {
        let result = add_planes::<C>(&gradient, &input, 2, |gradient, plane| {
            for (number, value) in gradient.iter().enumerate() {
                let count = match (divisor, counts_padding) {
                    (Some(divisor), _) => divisor as f64,
                    (None, true) => padded_count(&window, number),
                    (None, false) => {
                        let mut count = 0.0;
                        window.for_each_in_window(number, |_| count += 1.0);
                        count
                    }
                };
                let share = *value / C::from_f64(count);
                window.for_each_in_window(number, |place| plane[place] += share);
            }
        })?;
        Ok(in_format_of(result.converted(O::DTYPE)?, &input)?.into())
    })
}

fn check_windows(gradient: &Array, window: &Window) -> Result<(), Problem> {
    let found = sizes_three(&gradient.sizes()[gradient.rank().saturating_sub(2)..]);
    match found == window.output {
        true => Ok(()),
        false => Err(Problem::invalid(format!(
            "a gradient of sizes {:?} is not one of this pooling",
            gradient.sizes()
        ))),
    }
}

/// `max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation,
/// ceil_mode, indices)`
fn max_backward(call: &Call<'_>) -> Result<Value, Problem> {
    let (gradient, input, indices) = (call.array(0)?, call.array(1)?, call.array(7)?);
    if indices.sizes() != gradient.sizes() {
        return Err(Problem::invalid(
            "there must be an index for each element of the gradient",
        ));
    }
    planes(&input, 2)?;
    let plane = geometry::numel(&input.sizes()[input.rank() - 2..]);
    let part = geometry::numel(&gradient.sizes()[gradient.rank() - 2..]).max(1);
    let indices = indices.to_vec::<i64>()?;
    dispatch!(float, gradient.dtype(), T => {
        let values = gradient.to_vec::<T>()?;
        let mut fresh = Fresh::<T>::new(input.numel())?;
        let out = fresh.elements();
        for (number, (value, index)) in values.iter().zip(&indices).enumerate() {
            let place = usize::try_from(*index).ok().filter(|place| *place < plane);
            let place = place.ok_or(Problem::Index { index: *index, dim: 0, size: plane })?;
            let out = &mut out[number / part * plane + place];
            *out = out.plus(*value);
        }
        Ok(in_format_of(fresh.into_array(input.sizes())?, &input)?.into())
    })
}

/// `native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias,
/// output_mask)`
fn layer_norm_backward(call: &Call<'_>) -> Result<Value, Problem> {
    let (gradient, input) = (call.array(0)?, call.array(1)?);
    let shape = call.sizes(2)?;
    let (mean, rstd) = (call.array(3)?, call.array(4)?);
    let (weight, mask) = (call.optional_array(5)?, mask_at(call, 7)?);
    let length = geometry::numel(&shape).max(1);
    compute!(float, input.dtype(), C, O => {
        let read = |array: &Array| array.converted(C::DTYPE)?.to_vec::<C>();
        let (gradient, values) = (read(&gradient)?, read(&input)?);
        let (means, scales) = (read(&mean)?, read(&rstd)?);
        let weights = match &weight {
            Some(weight) => read(weight)?,
            None => vec![C::unit(); length],
        };
        let mut result = Fresh::<C>::new(values.len())?;
        let (mut by_weight, mut by_bias) = (Fresh::<C>::new(length)?, Fresh::<C>::new(length)?);
        let rows = values.chunks(length).zip(gradient.chunks(length));
        for (number, (row, gradient)) in rows.enumerate() {
            let (mean, scale) = (means[number], scales[number]);
            let (mut sum, mut product) = (C::default(), C::default());
            for (index, (value, gradient)) in row.iter().zip(gradient).enumerate() {
                let normal = (*value - mean) * scale;
                sum += *gradient * weights[index];
                product += *gradient * weights[index] * normal;
                by_weight.elements()[index] += *gradient * normal;
                by_bias.elements()[index] += *gradient;
            }
            let count = C::from_f64(length as f64);
            let out = &mut result.elements()[number * length..(number + 1) * length];
            for (index, (out, value)) in out.iter_mut().zip(row).enumerate() {
                let normal = (*value - mean) * scale;
                let own = gradient[index] * weights[index];
                *out = scale * (own - (sum + normal * product) / count);
            }
        }
        let finish = |fresh: Fresh<C>, sizes: &[usize]| fresh.into_array(sizes)?.converted(O::DTYPE);
        Ok(masked(mask, [
            Some(finish(result, input.sizes())?),
            weight.is_some().then(|| finish(by_weight, &shape)).transpose()?,
            call.optional_array(6)?.is_some().then(|| finish(by_bias, &shape)).transpose()?,
        ]))
    })
}

/// `native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group,
/// output_mask)`
fn group_norm_backward(call: &Call<'_>) -> Result<Value, Problem> {
    let (gradient, input) = (call.array(0)?, call.array(1)?);
    let (mean, rstd, weight) = (call.array(2)?, call.array(3)?, call.optional_array(4)?);
    let channels = input.size(1);
    let group_count = groups(call.int(8)?)?;
    let mask = mask_at(call, 9)?;
    let plane = geometry::numel(&input.sizes()[2.min(input.rank())..]).max(1);
    let per_group = channels / group_count;
    compute!(float, input.dtype(), C, O => {
        let read = |array: &Array| array.converted(C::DTYPE)?.to_vec::<C>();
        let (gradients, values) = (read(&gradient)?, read(&input)?);
        let (means, scales) = (read(&mean)?, read(&rstd)?);
        let weights = match &weight {
            Some(weight) => read(weight)?,
            None => vec![C::unit(); channels],
        };
        let mut result = Fresh::<C>::new(values.len())?;
        let mut by_weight = Fresh::<C>::new(channels)?;
        let mut by_bias = Fresh::<C>::new(channels)?;
        let size = (per_group * plane).max(1);
        let parts = values.chunks(size).zip(gradients.chunks(size)).enumerate();
        for (number, (part, gradient)) in parts {
            let (mean, scale) = (means[number], scales[number]);
            let channel_of = |index: usize| number % group_count * per_group + index / plane;
            let (mut sum, mut product) = (C::default(), C::default());
            for (index, (value, gradient)) in part.iter().zip(gradient).enumerate() {
                let channel = channel_of(index);
                let normal = (*value - mean) * scale;
                sum += *gradient * weights[channel];
                product += *gradient * weights[channel] * normal;
                by_weight.elements()[channel] += *gradient * normal;
                by_bias.elements()[channel] += *gradient;
            }
            let count = C::from_f64(size as f64);
            let out = &mut result.elements()[number * size..(number + 1) * size];
            for (index, (out, value)) in out.iter_mut().zip(part).enumerate() {
                let normal = (*value - mean) * scale;
                let own = gradient[index] * weights[channel_of(index)];
                *out = scale * (own - (sum + normal * product) / count);
            }
        }
        let finish = |fresh: Fresh<C>, sizes: &[usize]| fresh.into_array(sizes)?.converted(O::DTYPE);
        Ok(masked(mask, [
            Some(finish(result, input.sizes())?),
            Some(finish(by_weight, &[channels])?),
            Some(finish(by_bias, &[channels])?),
        ]))
    })
}

/// `convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation,
/// transposed, output_padding, groups, output_mask)`
fn convolution_backward(call: &Call<'_>) -> Result<Value, Problem> {
    let (gradient, input, weight) = (call.array(0)?, call.array(1)?, call.array(2)?);
    let dims = weight.rank().saturating_sub(2);
    if input.rank() != dims + 2 || gradient.rank() != dims + 2 {
        return Err(Problem::invalid(
            "gradient, input and weight must have equally many dimensions",
        ));
    }
    let is_transposed = call.bool(7)?;
    let mut options = Options {
        stride: three(&call.ints_of(4, dims)?, 1)?,
        padding: three(&call.ints_of(5, dims)?, 0)?,
        dilation: three(&call.ints_of(6, dims)?, 1)?,
        output_padding: [0; 3],
        groups: groups(call.int(9)?)?,
    };
    let mask = mask_at(call, 10)?;
    let kernel = sizes_three(&weight.sizes()[2..]);
    // The side with many elements, and the one with one for each window.
    let (wide, narrow) = if is_transposed {
        (&gradient, &input)
    } else {
        (&input, &gradient)
    };
    let window = Window {
        input: sizes_three(&wide.sizes()[2..]),
        output: sizes_three(&narrow.sizes()[2..]),
        kernel,
        stride: options.stride,
        padding: options.padding,
        dilation: options.dilation,
    };
    let by_input = match (mask[0], is_transposed) {
        (false, _) => None,
        (true, true) => Some(convolve(&gradient, &weight, &None, &options)?),
        (true, false) => {
            options.output_padding = left_over(&window)?;
            Some(spread(&gradient, &weight, &None, &options)?)
        }
    };
    let by_weight = match mask[1] {
        true => Some(weight_gradient(
            narrow,
            wide,
            &weight,
            &window,
            options.groups,
        )?),
        false => None,
    };
    let by_bias = match mask[2] {
        true => {
            let dims: Vec<i64> = (0..gradient.rank() as i64)
                .filter(|dim| *dim != 1)
                .collect();
            Some(super::super::reduce::sum(&gradient, Some(&dims), false)?)
        }
        false => None,
    };
    let by_input = by_input
        .map(|gradient| in_format_of(gradient, &input))
        .transpose()?;
    Ok(masked(mask, [by_input, by_weight, by_bias]))
}

/// Elements at the end that no window reached.
fn left_over(window: &Window) -> Result<Three, Problem> {
    let mut rest = [0; 3];
    for (dim, rest) in rest.iter_mut().enumerate() {
        let reached = (window.output[dim].max(1) - 1) * window.stride[dim]
            + window.dilation[dim] * (window.kernel[dim] - 1)
            + 1;
        *rest = (window.input[dim] + 2 * window.padding[dim])
            .checked_sub(reached)
            .ok_or_else(|| Problem::invalid("the gradient has more windows than the input"))?;
    }
    Ok(rest)
}

/// For each group the products of `narrow`'s planes and the windows of `wide`, summed over all
/// images.
fn weight_gradient(
    narrow: &Array,
    wide: &Array,
    weight: &Array,
    window: &Window,
    groups: usize,
) -> Result<Array, Problem> {
    let (rows, columns) = (narrow.size(1) / groups, wide.size(1) / groups);
    let (pixels, plane, volume) = (window.output_plane(), window.input_plane(), window.volume());
    compute!(float, weight.dtype(), C, O => {
        let from = narrow.converted(C::DTYPE)?.to_vec::<C>()?;
        let to = wide.converted(C::DTYPE)?.to_vec::<C>()?;
        let mut fresh = Fresh::<C>::new(groups * rows * columns * volume)?;
        let mut windows = vec![C::default(); columns * volume * pixels];
        for image in 0..narrow.size(0) {
            for group in 0..groups {

                let start = (image * groups + group) * columns * plane;
                let planes = to[start..start + columns * plane].chunks(plane.max(1));
                let parts = windows.chunks_mut((volume * pixels).max(1));
                parts.zip(planes).for_each(|(windows, plane)| window.gather(plane, 0..window.output_rows(), windows));
                let start = (image * groups + group) * rows * pixels;
                let size = rows * columns * volume;
                C::multiply(
                    Target::added(&mut fresh.elements()[group * size..(group + 1) * size], columns * volume),
                    Matrix::contiguous(&from[start..start + rows * pixels], rows, pixels),
                    Matrix::contiguous(&windows, columns * volume, pixels).transposed(),
                    true,
                );
            }
        }
        fresh.into_array(weight.sizes())?.converted(O::DTYPE)
    })
}
