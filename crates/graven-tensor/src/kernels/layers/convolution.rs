//! Convolution, by columns of windows and products of matrices; with one channel a group, by loops.

use graven_ir::DType;
use rayon::prelude::*;

use super::super::Table;
use super::super::matmul::{Matrix, Product, Target};
use super::super::pointwise::{Arithmetic as _, compute};
use super::super::rearrange::pad_constant;
use super::super::view::unsqueezed;
use super::in_format_of;
use super::window::{Three, Window, sizes_three, three};
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::Element as _;
use crate::error::Problem;
use crate::geometry::{self, Dims};
use crate::scalar::Scalar;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_convolution", |call| {
        general(call, call.bool(6)?, call.ints(7)?.to_vec(), call.int(8)?)
    }),
    ("aten::conv1d", |call| plain(call, 1)),
    ("aten::conv1d.padding", |call| padded(call, 1)),
    ("aten::conv2d", |call| plain(call, 2)),
    ("aten::conv2d.padding", |call| padded(call, 2)),
    ("aten::conv3d", |call| plain(call, 3)),
    ("aten::conv3d.padding", |call| padded(call, 3)),
    ("aten::conv_transpose1d", |call| transposed(call, 1)),
    ("aten::conv_transpose2d.input", |call| transposed(call, 2)),
    ("aten::conv_transpose3d.input", |call| transposed(call, 3)),
    ("aten::convolution", |call| {
        general(call, call.bool(6)?, call.ints(7)?.to_vec(), call.int(8)?)
    }),
];

/// What a convolution is besides its tensors.
pub(super) struct Options {
    pub(super) stride: Three,
    pub(super) padding: Three,
    pub(super) dilation: Three,
    pub(super) output_padding: Three,
    pub(super) groups: usize,
}

fn weight_of(call: &Call<'_>) -> Result<Array, Problem> {
    call.array(1)
}

fn bias_at(call: &Call<'_>) -> Result<Option<Array>, Problem> {
    call.optional_array(2)
}

pub(super) fn groups(value: i64) -> Result<usize, Problem> {
    usize::try_from(value)
        .ok()
        .filter(|groups| *groups > 0)
        .ok_or_else(|| Problem::invalid("the number of groups must be positive"))
}

/// `conv2d(input, weight, bias, stride, padding, dilation, groups)`
fn plain(call: &Call<'_>, dims: usize) -> Result<Value, Problem> {
    let options = Options {
        stride: three(&call.ints_of(3, dims)?, 1)?,
        padding: three(&call.ints_of(4, dims)?, 0)?,
        dilation: three(&call.ints_of(5, dims)?, 1)?,
        output_padding: [0; 3],
        groups: groups(call.int(6)?)?,
    };
    with_batch(call, dims, |input| {
        convolve(input, &weight_of(call)?, &bias_at(call)?, &options)
    })
}

/// The same with padding `same` or `valid`.
fn padded(call: &Call<'_>, dims: usize) -> Result<Value, Problem> {
    let stride = call.ints_of(3, dims)?;
    let dilation = call.ints_of(5, dims)?;
    let mut options = Options {
        stride: three(&stride, 1)?,
        padding: [0; 3],
        dilation: three(&dilation, 1)?,
        output_padding: [0; 3],
        groups: groups(call.int(6)?)?,
    };
    let weight = call.array(1)?;
    match call.optional_str(4)?.unwrap_or("valid") {
        "valid" => with_batch(call, dims, |input| {
            convolve(input, &weight_of(call)?, &bias_at(call)?, &options)
        }),
        "same" => {
            if stride.iter().any(|stride| *stride != 1) {
                return Err(Problem::invalid("padding `same` needs strides of 1"));
            }
            let kernel = sizes_three(weight.sizes().get(2..).unwrap_or(&[]));
            let total: Three = std::array::from_fn(|dim| options.dilation[dim] * (kernel[dim] - 1));
            options.padding = total.map(|total| total / 2);
            // What is left over goes behind the last element.
            let mut extra = Vec::new();
            for dim in 0..dims {
                extra.extend([0, (total[2 - dim] % 2) as i64]);
            }
            with_batch(call, dims, |input| {
                let input = match extra.iter().any(|extra| *extra > 0) {
                    true => pad_constant(input, &extra, Scalar::Int(0))?,
                    false => input.clone(),
                };
                convolve(&input, &weight_of(call)?, &bias_at(call)?, &options)
            })
        }
        other => Err(Problem::invalid(format!(
            "padding must be `same` or `valid`, found `{other}`"
        ))),
    }
}

/// `conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)`
fn transposed(call: &Call<'_>, dims: usize) -> Result<Value, Problem> {
    let options = Options {
        stride: three(&call.ints_of(3, dims)?, 1)?,
        padding: three(&call.ints_of(4, dims)?, 0)?,
        output_padding: three(&call.ints_of(5, dims)?, 0)?,
        groups: groups(call.int(6)?)?,
        dilation: three(&call.ints_of(7, dims)?, 1)?,
    };
    with_batch(call, dims, |input| {
        spread(input, &weight_of(call)?, &bias_at(call)?, &options)
    })
}

/// `convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)`
fn general(
    call: &Call<'_>,
    is_transposed: bool,
    output_padding: Vec<i64>,
    group_count: i64,
) -> Result<Value, Problem> {
    let dims = call.array(1)?.rank().saturating_sub(2);
    let output_padding = match *output_padding {
        [one] => vec![one; dims],
        _ => output_padding,
    };
    let options = Options {
        stride: three(&call.ints_of(3, dims)?, 1)?,
        padding: three(&call.ints_of(4, dims)?, 0)?,
        dilation: three(&call.ints_of(5, dims)?, 1)?,
        output_padding: three(&output_padding, 0)?,
        groups: groups(group_count)?,
    };
    with_batch(call, dims, |input| match is_transposed {
        true => spread(input, &weight_of(call)?, &bias_at(call)?, &options),
        false => convolve(input, &weight_of(call)?, &bias_at(call)?, &options),
    })
}

/// Channels last where input or weight have them last, and torch's way of computing keeps it. One
/// dimension is two, the first of size 1.
fn in_format(
    call: &Call<'_>,
    result: Array,
    input: &Array,
    weight: &Array,
) -> Result<Array, Problem> {
    let is_half = matches!(input.dtype(), DType::Float16 | DType::BFloat16);
    let is_simple = weight.size(1) == input.size(1)
        && call
            .ints(5)
            .is_ok_and(|dilation| dilation.iter().all(|step| *step == 1));
    let name = call.operator().name().to_string();
    let is_transposed = name.contains("transpose") || matches!(call.value(6), Value::Bool(true));
    let keeps = match result.rank() {
        3 if is_transposed => false,
        3 => is_simple || (name == "aten::conv1d" && input.dtype() == DType::Float32),
        5 => is_half,
        _ => true,
    };
    if !keeps || result.numel() == 0 {
        return Ok(result);
    }
    if result.rank() == 3 {
        let flat = [&result, input, weight].map(|array| unsqueezed(array, 2));
        let [result, input, weight] = flat;
        let result = in_format(call, result?, &input?, &weight?)?;
        return super::super::view::squeeze(&result, |dim| dim == 2);
    }
    let is_last = geometry::suggests_channels_last(weight.sizes(), weight.strides());
    in_format_of(result, if is_last { weight } else { input })
}

/// An input without a batch is a batch of one.
fn with_batch(
    call: &Call<'_>,
    dims: usize,
    convolve: impl FnOnce(&Array) -> Result<Array, Problem>,
) -> Result<Value, Problem> {
    let input = call.array(0)?;
    let (weight, bias) = (call.array(1)?, call.optional_array(2)?);
    let wrong = |expected: usize, found: &Array| {
        Problem::invalid(format!(
            "expected a tensor of {expected} dimensions, found sizes {:?}",
            found.sizes()
        ))
    };
    if weight.rank() != dims + 2 {
        return Err(wrong(dims + 2, &weight));
    }
    if weight.dtype() != input.dtype() {
        return Err(Problem::OtherDType {
            expected: input.dtype(),
            found: weight.dtype(),
        });
    }
    if let Some(bias) = bias
        && bias.dtype() != input.dtype()
    {
        return Err(Problem::OtherDType {
            expected: input.dtype(),
            found: bias.dtype(),
        });
    }
    match input.rank() {
        rank if rank == dims + 2 => {
            let result = convolve(&input)?;
            Ok(in_format(call, result, &input, &weight)?.into())
        }
        rank if rank == dims + 1 => {
            let input = unsqueezed(&input, 0)?;
            let result = in_format(call, convolve(&input)?, &input, &weight)?;
            Ok(super::super::view::squeeze(&result, |dim| dim == 0)?.into())
        }
        _ => Err(wrong(dims + 2, &input)),
    }
}

/// Channels of the output by those of a group of the input, and what a result's sizes are.
struct Shape {
    batch: usize,
    in_channels: usize,
    out_channels: usize,
    groups: usize,
    sizes: Dims,
}

impl Shape {
    fn new(
        input: &Array,
        weight: &Array,
        groups: usize,
        output: Three,
        is_transposed: bool,
    ) -> Result<Self, Problem> {
        let (batch, in_channels) = (input.size(0), input.size(1));
        let wrong = || {
            Problem::invalid(format!(
                "an input of sizes {:?} and a weight of sizes {:?} do not go together in {groups} groups",
                input.sizes(),
                weight.sizes()
            ))
        };
        let (out_channels, fits) = match is_transposed {
            false => (weight.size(0), weight.size(1) * groups == in_channels),
            true => (weight.size(1) * groups, weight.size(0) == in_channels),
        };
        if !fits || out_channels % groups != 0 || in_channels % groups != 0 {
            return Err(wrong());
        }
        let mut sizes = Dims::from_slice(&[batch, out_channels]);
        sizes.extend_from_slice(&output[5 - input.rank()..]);
        Ok(Self {
            batch,
            in_channels,
            out_channels,
            groups,
            sizes,
        })
    }
}

/// The bias of a channel, or 0.
fn bias_of<C: Product>(bias: &Option<Array>, channels: usize) -> Result<Vec<C>, Problem> {
    let Some(bias) = bias else {
        return Ok(vec![C::default(); channels]);
    };
    if bias.numel() != channels {
        return Err(Problem::invalid(format!(
            "{} biases do not fit {channels} channels",
            bias.numel()
        )));
    }
    bias.converted(C::DTYPE)?.to_vec()
}

pub(super) fn convolve(
    input: &Array,
    weight: &Array,
    bias: &Option<Array>,
    options: &Options,
) -> Result<Array, Problem> {
    let window = Window::new(
        sizes_three(&input.sizes()[2..]),
        sizes_three(&weight.sizes()[2..]),
        options.stride,
        options.padding,
        options.dilation,
        false,
    )?;
    let shape = Shape::new(input, weight, options.groups, window.output, false)?;
    compute!(product, input.dtype(), C, O => {
        let bias = bias_of::<C>(bias, shape.out_channels)?;
        let input = input.converted(C::DTYPE)?.contiguous()?;
        let weight = weight.converted(C::DTYPE)?.contiguous()?;
        let (input_data, weight_data) = (input.data::<C>()?, weight.data::<C>()?);
        let plane = window.output_plane();
        let mut fresh = Fresh::<C>::to_be_written(shape.batch * shape.out_channels * plane)?;
        let per_group = shape.out_channels / shape.groups;
        // One part of the output for each image and group.
        let part = (per_group * plane).max(1);
        let work = part * window.volume() * shape.in_channels / shape.groups;
        let parts = fresh.elements().par_chunks_mut(part).enumerate();
        let one = |(number, out): (usize, &mut [C]), is_parallel: bool| {
            let (image, group) = (number / shape.groups, number % shape.groups);
            for (channel, out) in out.chunks_mut(plane.max(1)).enumerate() {
                out.fill(bias[group * per_group + channel]);
            }
            let channels = shape.in_channels / shape.groups;
            let size = channels * window.input_plane();
            let start = (image * shape.groups + group) * size;
            let weights = per_group * channels * window.volume();
            convolve_group(
                out,
                &input_data.elements()[start..start + size],
                &weight_data.elements()[group * weights..(group + 1) * weights],
                &window,
                [per_group, channels],
                is_parallel,
            );
        };
        if shape.batch * shape.groups > 1 && work >= 1 << 12 {
            parts.for_each(|part| one(part, false));
        } else {
            let out = fresh.elements().chunks_mut(part).enumerate();
            out.for_each(|part| one(part, work >= 1 << 19));
        }
        fresh.into_array(&shape.sizes)?.converted(O::DTYPE)
    })
}

/// Elements of windows that are gathered at a time, so that they stay in the processor's cache.
const GATHERED: usize = 1 << 16;

/// Adds one group's convolution of one image to `out`.
fn convolve_group<C: Product>(
    out: &mut [C],
    input: &[C],
    weight: &[C],
    window: &Window,
    [out_channels, in_channels]: [usize; 2],
    is_parallel: bool,
) {
    let (plane, volume) = (window.output_plane(), window.volume());
    let weights = Matrix::contiguous(weight, out_channels, in_channels * volume);
    if window.is_identity() {
        let pixels = Matrix::contiguous(input, in_channels, plane);
        return C::multiply(Target::added(out, plane), weights, pixels, is_parallel);
    }
    let (rows, width) = (window.output_rows(), window.output[2]);
    let threads = if is_parallel {
        rayon::current_num_threads()
    } else {
        1
    };
    let of_a_row = (in_channels * volume * width).max(1);
    let at_a_time = (GATHERED * threads / of_a_row).clamp(1, rows.max(1));
    let mut columns = vec![C::default(); of_a_row * at_a_time];
    for start in (0..rows).step_by(at_a_time) {
        let rows = start..rows.min(start + at_a_time);
        let count = rows.len() * width;
        let columns = &mut columns[..in_channels * volume * count];
        let part = (volume * count).max(1);
        let gather =
            |(columns, plane): (&mut [C], &[C])| window.gather(plane, rows.clone(), columns);
        let size = window.input_plane().max(1);
        match is_parallel {
            true => columns
                .par_chunks_mut(part)
                .zip(input.par_chunks(size))
                .for_each(gather),
            false => columns
                .chunks_mut(part)
                .zip(input.chunks(size))
                .for_each(gather),
        }
        let columns = Matrix::contiguous(columns, in_channels * volume, count);
        let target = Target::added(&mut out[start * width..], plane);
        C::multiply(target, weights, columns, is_parallel);
    }
}

/// The transposed convolution: each input element spreads over a window of the output.
pub(super) fn spread(
    input: &Array,
    weight: &Array,
    bias: &Option<Array>,
    options: &Options,
) -> Result<Array, Problem> {
    let pixels = sizes_three(&input.sizes()[2..]);
    let kernel = sizes_three(&weight.sizes()[2..]);
    let mut output = [1; 3];
    for dim in 0..3 {
        let size = (pixels[dim].max(1) - 1) * options.stride[dim]
            + options.dilation[dim] * (kernel[dim] - 1)
            + options.output_padding[dim]
            + 1;
        output[dim] = size
            .checked_sub(2 * options.padding[dim])
            .filter(|size| *size > 0)
            .ok_or_else(|| Problem::invalid("padding leaves nothing of the output"))?;
    }
    // Seen from the output, a window of it is each input element.
    let window = Window {
        input: output,
        output: pixels,
        kernel,
        stride: options.stride,
        padding: options.padding,
        dilation: options.dilation,
    };
    let shape = Shape::new(input, weight, options.groups, output, true)?;
    compute!(product, input.dtype(), C, O => {
        let bias = bias_of::<C>(bias, shape.out_channels)?;
        let input = input.converted(C::DTYPE)?.contiguous()?;
        let weight = weight.converted(C::DTYPE)?.contiguous()?;
        let (input_data, weight_data) = (input.data::<C>()?, weight.data::<C>()?);
        let (plane, pixels) = (window.input_plane(), window.output_plane());
        let per_group = shape.out_channels / shape.groups;
        let channels = shape.in_channels / shape.groups;
        let mut fresh = Fresh::<C>::to_be_written(shape.batch * shape.out_channels * plane)?;
        let parts = fresh.elements().par_chunks_mut((per_group * plane).max(1)).enumerate();
        parts.for_each(|(number, out)| {
            let group = number % shape.groups;
            let start = number * channels * pixels;
            let images = &input_data.elements()[start..start + channels * pixels];
            let weights = channels * per_group * window.volume();
            let weights = &weight_data.elements()[group * weights..(group + 1) * weights];
            let mut columns = vec![C::default(); per_group * window.volume() * pixels];
            C::multiply(
                Target::new(&mut columns, pixels),
                Matrix::contiguous(weights, channels, per_group * window.volume()).transposed(),
                Matrix::contiguous(images, channels, pixels),
                false,
            );
            let columns = columns.chunks((window.volume() * pixels).max(1));
            for (channel, (out, columns)) in out.chunks_mut(plane.max(1)).zip(columns).enumerate() {
                out.fill(bias[group * per_group + channel]);
                window.scatter(columns, out, C::plus);
            }
        });
        fresh.into_array(&shape.sizes)?.converted(O::DTYPE)
    })
}
