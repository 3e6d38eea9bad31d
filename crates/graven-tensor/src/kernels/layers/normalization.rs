//! Normalization: over channels, groups, last dimensions.

use rayon::prelude::*;

use super::super::Table;
use super::super::lanes;
use super::super::pointwise::{Math, Operand, compute, multiply};
use super::super::reduce::Summed;
use super::in_format_of;
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::Element as _;
use crate::error::Problem;
use crate::geometry::{self, Dims};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_native_batch_norm_legit", |call| {
        let (mean, var) = (call.tensor(3)?, call.tensor(4)?);
        let batch = BatchNorm {
            running: Some((call.array(3)?, call.array(4)?)),
            is_training: call.bool(5)?,
            momentum: call.float(6)?,
            epsilon: call.float(7)?,
        };
        let [out, save_mean, save_invstd, new_mean, new_var] = batch.run(call)?;
        if batch.is_training {
            mean.array().assign(&new_mean)?;
            var.array().assign(&new_var)?;
        }
        Ok([out, save_mean, save_invstd].into())
    }),
    ("aten::_native_batch_norm_legit.no_stats", |call| {
        let batch = BatchNorm {
            running: None,
            is_training: true,
            momentum: call.float(4)?,
            epsilon: call.float(5)?,
        };
        let [out, mean, invstd, ..] = batch.run(call)?;
        Ok([out, mean, invstd].into())
    }),
    ("aten::_native_batch_norm_legit_functional", |call| {
        let batch = BatchNorm {
            running: Some((call.array(3)?, call.array(4)?)),
            is_training: call.bool(5)?,
            momentum: call.float(6)?,
            epsilon: call.float(7)?,
        };
        Ok(batch.run(call)?.into())
    }),
    ("aten::_native_batch_norm_legit_no_training", |call| {
        let batch = BatchNorm {
            running: Some((call.array(3)?, call.array(4)?)),
            is_training: false,
            momentum: call.float(5)?,
            epsilon: call.float(6)?,
        };
        let [out, mean, invstd, ..] = batch.run(call)?;
        Ok([out, mean, invstd].into())
    }),
    ("aten::_weight_norm", weight_norm),
    ("aten::group_norm", |call| {
        let input = call.array(0)?;
        let groups = count(call.int(1)?)?;
        let [out, ..] = group_norm(
            &input,
            [call.optional_array(2)?, call.optional_array(3)?],
            groups,
            call.float(4)?,
        )?;
        Ok(in_format_of(out, &input)?.into())
    }),
    ("aten::instance_norm", instance_norm),
    ("aten::layer_norm", |call| {
        layer_norm(call).map(|[out, ..]| out.into())
    }),
    ("aten::native_group_norm", |call| {
        let input = call.array(0)?;
        let groups = count(call.int(6)?)?;
        let affine = [call.optional_array(1)?, call.optional_array(2)?];
        Ok(group_norm(&input, affine, groups, call.float(7)?)?.into())
    }),
    ("aten::native_layer_norm", |call| {
        layer_norm(call).map(Value::from)
    }),
    ("aten::rms_norm", rms_norm),
];

fn count(value: i64) -> Result<usize, Problem> {
    usize::try_from(value)
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| Problem::invalid("the number of groups must be positive"))
}

/// Mean and reciprocal standard deviation.
fn moments<M: Math + Summed>(row: &[M], epsilon: f64) -> (M, M, M) {
    let count = M::of(row.len() as f64);
    let mean = M::sum_of(row) / count;
    let total = lanes::squares(row, mean);
    let variance = total / count;
    (
        mean,
        variance,
        M::of(1.0) / (variance + M::of(epsilon)).sqrt(),
    )
}

/// `layer_norm(input, normalized_shape, weight, bias, eps)`: result, means, reciprocal deviations.
fn layer_norm(call: &Call<'_>) -> Result<[Array; 3], Problem> {
    let input = call.array(0)?;
    let shape = call.sizes(1)?;
    let start = last_dims(&input, &shape)?;
    let affine = [call.optional_array(2)?, call.optional_array(3)?];
    let length = geometry::numel(&shape);
    let epsilon = call.float(4)?;
    let mut rows = Dims::from_slice(&input.sizes()[..start]);
    compute!(float, input.dtype(), C, O => {
        let [weight, bias] = affine_values::<C>(&affine, length)?;
        let values = input.converted(C::DTYPE)?.contiguous()?;
        let data = values.data::<C>()?;
        let elements = &data.elements()[..input.numel()];
        let count = geometry::numel(&rows);
        let mut out = Fresh::<C>::to_be_written(elements.len())?;
        let mut means = Fresh::<C>::new(count)?;
        let mut deviations = Fresh::<C>::new(count)?;
        let step = length.max(1);
        let each = out
            .elements()
            .par_chunks_mut(step)
            .zip(elements.par_chunks(step))
            .zip(means.elements().par_iter_mut().zip(deviations.elements().par_iter_mut()))
            .with_min_len((1 << 13) / step + 1);
        each.for_each(|((out, row), (mean_out, deviation_out))| {
            let (mean, _, scale) = moments(row, epsilon);
            (*mean_out, *deviation_out) = (mean, scale);
            lanes::normalize(row, [mean, scale], [&weight, &bias], out);
        });
        rows.extend(std::iter::repeat_n(1, shape.len()));
        let dtype = if is_mixed(&input, &affine) { C::DTYPE } else { O::DTYPE };
        let statistics = |fresh: Fresh<C>| fresh.into_array(&rows)?.converted(dtype);
        Ok([
            out.into_array(input.sizes())?.converted(O::DTYPE)?,
            statistics(means)?,
            statistics(deviations)?,
        ])
    })
}

/// Where the normalized dimensions begin, which must be the last ones.
fn last_dims(input: &Array, shape: &[usize]) -> Result<usize, Problem> {
    let start = input.rank().checked_sub(shape.len());
    start
        .filter(|start| !shape.is_empty() && input.sizes()[*start..] == *shape)
        .ok_or_else(|| {
            Problem::invalid(format!(
                "a tensor of sizes {:?} does not end in the normalized sizes {shape:?}",
                input.sizes()
            ))
        })
}

/// Whether the parameters are more exact than the input, so that statistics are too.
fn is_mixed(input: &Array, affine: &[Option<Array>; 2]) -> bool {
    let mut given = affine.iter().flatten();
    given.any(|array| array.dtype() != input.dtype())
}

/// Weight and bias, 1 and 0 where there are none.
fn affine_values<C: Math>(
    affine: &[Option<Array>; 2],
    length: usize,
) -> Result<[Vec<C>; 2], Problem> {
    let values = |array: &Option<Array>, default: f64| match array {
        None => Ok(vec![C::of(default); length]),
        Some(array) if array.numel() == length => array.converted(C::DTYPE)?.to_vec(),
        Some(array) => Err(Problem::invalid(format!(
            "a weight or bias of sizes {:?} does not fit {length} elements",
            array.sizes()
        ))),
    };
    Ok([values(&affine[0], 1.0)?, values(&affine[1], 0.0)?])
}

/// `rms_norm(input, normalized_shape, weight=None, eps=None)`
fn rms_norm(call: &Call<'_>) -> Result<Value, Problem> {
    let input = call.array(0)?;
    let shape = call.sizes(1)?;
    last_dims(&input, &shape)?;
    let length = geometry::numel(&shape);
    let weight = [call.optional_array(2)?, None];
    let epsilon = call.optional_float(3)?.unwrap_or(match input.dtype() {
        graven_ir::DType::Float64 => f64::EPSILON,
        // Half types are normalized in float32.
        _ => f64::from(f32::EPSILON),
    });
    compute!(float, input.dtype(), C, O => {
        let [weight, _] = affine_values::<C>(&weight, length)?;
        let mut values = input.converted(C::DTYPE)?.to_vec::<C>()?;
        for row in values.chunks_mut(length.max(1)) {
            let squares: Vec<C> = row.iter().map(|value| *value * *value).collect();
            let mean = C::sum_of(&squares) / C::of(length as f64);
            let scale = C::of(1.0) / (mean + C::of(epsilon)).sqrt();
            for (value, weight) in row.iter_mut().zip(&weight) {
                *value = *value * scale * *weight;
            }
        }
        let result = Array::from_elements(&values, input.sizes())?;
        Ok(result.converted(O::DTYPE)?.into())
    })
}

/// Result, means and reciprocal deviations of each image's groups of channels.
fn group_norm(
    input: &Array,
    affine: [Option<Array>; 2],
    groups: usize,
    epsilon: f64,
) -> Result<[Array; 3], Problem> {
    let [batch, channels, rest @ ..] = input.sizes() else {
        return Err(Problem::invalid("at least two dimensions are needed"));
    };
    let (batch, channels) = (*batch, *channels);
    if channels % groups != 0 {
        return Err(Problem::invalid(format!(
            "{channels} channels cannot be parted into {groups} groups"
        )));
    }
    let plane = geometry::numel(rest);
    let per_group = channels / groups;
    compute!(float, input.dtype(), C, O => {
        let [weight, bias] = affine_values::<C>(&affine, channels)?;
        let values = input.converted(C::DTYPE)?.contiguous()?;
        let data = values.data::<C>()?;
        let elements = &data.elements()[..input.numel()];
        let mut out = Fresh::<C>::to_be_written(elements.len())?;
        let mut means = vec![C::of(0.0); batch * groups];
        let mut deviations = means.clone();
        let size = (per_group * plane).max(1);
        let parts = out.elements().par_chunks_mut(size).zip(elements.par_chunks(size));
        let statistics = means.par_iter_mut().zip(&mut deviations);
        let parts = parts.zip(statistics).enumerate().with_min_len((1 << 13) / size + 1);
        parts.for_each(|(number, ((out, part), (mean_out, deviation_out)))| {
            let (mean, _, scale) = moments(part, epsilon);
            (*mean_out, *deviation_out) = (mean, scale);
            let lines = out.chunks_mut(plane.max(1)).zip(part.chunks(plane.max(1)));
            for (index, (out, line)) in lines.enumerate() {
                let channel = number % groups * per_group + index;
                let factor = scale * weight[channel];
                lanes::scale(line, factor, bias[channel] - mean * factor, out);
            }
        });
        let dtype = if is_mixed(input, &affine) { C::DTYPE } else { O::DTYPE };
        Ok([
            out.into_array(input.sizes())?.converted(O::DTYPE)?,
            Array::from_elements(&means, &[batch, groups])?.converted(dtype)?,
            Array::from_elements(&deviations, &[batch, groups])?.converted(dtype)?,
        ])
    })
}

/// Batch normalization: of each channel over all images.
struct BatchNorm {
    running: Option<(Array, Array)>,
    is_training: bool,
    momentum: f64,
    epsilon: f64,
}

impl BatchNorm {
    /// The result, what is saved for the backward formula, and new running statistics.
    fn run(&self, call: &Call<'_>) -> Result<[Array; 5], Problem> {
        let input = call.array(0)?;
        let affine = [call.optional_array(1)?, call.optional_array(2)?];
        let [out, mean, invstd, statistics] = self.normalize(&input, &affine)?;
        let [new_mean, new_var] = self.updated(&input, &statistics)?;
        Ok([out, mean, invstd, new_mean, new_var])
    }

    /// The result, saved mean and reciprocal deviation, and the batch's mean and variance.
    fn normalize(&self, input: &Array, affine: &[Option<Array>; 2]) -> Result<[Array; 4], Problem> {
        if input.rank() < 2 {
            return Err(Problem::invalid("at least two dimensions are needed"));
        }
        let (batch, channels) = (input.size(0), input.size(1));
        let plane = geometry::numel(&input.sizes()[2..]);
        compute!(float, input.dtype(), C, O => {
            let [weight, bias] = affine_values::<C>(affine, channels)?;
            let values = input.converted(C::DTYPE)?.contiguous()?;
            let data = values.data::<C>()?;
            let elements = &data.elements()[..input.numel()];
            let mut means = vec![C::of(0.0); channels];
            let mut scales = vec![C::of(0.0); channels];
            let mut variances = vec![C::of(0.0); channels];
            if self.is_training {
                let mut line = Vec::with_capacity(batch * plane);
                for channel in 0..channels {
                    line.clear();
                    for image in 0..batch {
                        let start = (image * channels + channel) * plane;
                        line.extend_from_slice(&elements[start..start + plane]);
                    }
                    let (mean, variance, scale) = moments(&line, self.epsilon);
                    (means[channel], variances[channel], scales[channel]) = (mean, variance, scale);
                }
            } else {
                let (mean, var) = self.running.as_ref().ok_or_else(|| {
                    Problem::invalid("running statistics are needed outside of training")
                })?;
                means = mean.converted(C::DTYPE)?.to_vec()?;
                let running = var.converted(C::DTYPE)?.to_vec::<C>()?;
                if means.len() != channels || running.len() != channels {
                    return Err(Problem::invalid(format!(
                        "running statistics do not fit {channels} channels"
                    )));
                }
                for (scale, variance) in scales.iter_mut().zip(running) {
                    *scale = C::of(1.0) / (variance + C::of(self.epsilon)).sqrt();
                }
            }
            let mut out = Fresh::<C>::to_be_written(elements.len())?;
            let size = plane.max(1);
            let lines = out.elements().par_chunks_mut(size).zip(elements.par_chunks(size));
            let lines = lines.enumerate().with_min_len((1 << 13) / size + 1);
            lines.for_each(|(number, (out, line))| {
                let channel = number % channels.max(1);
                let factor = scales[channel] * weight[channel];
                lanes::scale(line, factor, bias[channel] - means[channel] * factor, out);
            });
            let result = out.into_array(input.sizes())?.converted(O::DTYPE)?;
            let running = self.running.iter().flat_map(|(mean, var)| [mean, var]);
            let is_mixed = is_mixed(input, affine)
                || running.clone().any(|array| array.dtype() != input.dtype());
            let saved = |values: &[C]| {
                let array = match self.is_training {
                    true => Array::from_elements(values, &[channels]),
                    false => Array::from_elements::<C>(&[], &[0]),
                }?;
                array.converted(if is_mixed { C::DTYPE } else { O::DTYPE })
            };
            let both: Vec<C> = means.iter().chain(&variances).copied().collect();
            Ok([
                in_format_of(result, input)?,
                saved(&means)?,
                saved(&scales)?,
                Array::from_elements(&both, &[2, channels])?,
            ])
        })
    }

    /// Running statistics moved towards the batch's; its variance is the unbiased one.
    fn updated(&self, input: &Array, statistics: &Array) -> Result<[Array; 2], Problem> {
        let Some((mean, var)) = &self.running else {
            let nothing = Array::zeros(input.dtype(), &[0])?;
            return Ok([nothing.clone(), nothing]);
        };
        if !self.is_training {
            return Ok([mean.contiguous()?, var.contiguous()?]);
        }
        let count = input.numel() as f64 / input.size(1).max(1) as f64;
        let unbiased = count / (count - 1.0);
        let blend = |running: &Array, row: i64, factor: f64| {
            let batch = super::super::view::select(statistics, 0, row)?;
            compute!(float, running.dtype(), C, O => {
                let new = batch.converted(C::DTYPE)?.to_vec::<C>()?;
                let old = running.converted(C::DTYPE)?.to_vec::<C>()?;
                let momentum = C::of(self.momentum);
                let values: Vec<C> = old
                    .into_iter()
                    .zip(new)
                    .map(|(old, new)| {
                        (C::of(1.0) - momentum) * old + momentum * (new * C::of(factor))
                    })
                    .collect();
                Array::from_elements(&values, running.sizes())?.converted(O::DTYPE)
            })
        };
        Ok([blend(mean, 0, 1.0)?, blend(var, 1, unbiased)?])
    }
}

/// `instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
/// cudnn_enabled)`: each image's channels on their own. Running statistics are updated by the mean
/// of all images', although the schema does not say so.
fn instance_norm(call: &Call<'_>) -> Result<Value, Problem> {
    let input = call.array(0)?;
    if input.rank() < 3 {
        return Err(Problem::invalid("at least three dimensions are needed"));
    }
    let (batch, channels) = (input.size(0), input.size(1));
    let uses_input = call.bool(5)?;
    let running = match (call.optional_array(3)?, call.optional_array(4)?) {
        (Some(mean), Some(var)) => Some((mean, var)),
        _ => None,
    };
    let repeated = |array: Option<Array>| -> Result<Option<Array>, Problem> {
        let Some(array) = array else { return Ok(None) };
        let expanded = array.expand(&[batch, channels])?.contiguous()?;
        Ok(Some(super::super::matmul::reshape(
            &expanded,
            &[batch * channels],
        )?))
    };
    let batch_norm = BatchNorm {
        running: match &running {
            Some((mean, var)) => {
                let (mean, var) = (repeated(Some(mean.clone()))?, repeated(Some(var.clone()))?);
                mean.zip(var)
            }
            None => None,
        },
        is_training: uses_input,
        momentum: call.float(6)?,
        epsilon: call.float(7)?,
    };
    let mut sizes = Dims::from_slice(&[1, batch * channels]);
    sizes.extend_from_slice(&input.sizes()[2..]);
    let flat = super::super::matmul::reshape(&input.contiguous()?, &sizes)?;
    let affine = [
        repeated(call.optional_array(1)?)?,
        repeated(call.optional_array(2)?)?,
    ];
    let [out, _, _, statistics] = batch_norm.normalize(&flat, &affine)?;
    if uses_input && running.is_some() {
        let [mean, var] = batch_norm.updated(&flat, &statistics)?;
        for (position, new) in [(3, mean), (4, var)] {
            let by_image = super::super::matmul::reshape(&new, &[batch, channels])?;
            let sum = super::super::reduce::sum(&by_image, Some(&[0]), false)?;
            let mean = super::super::reduce::divided(&sum, batch as f64)?;
            call.tensor(position)?.array().assign(&mean)?;
        }
    }
    let result = super::super::matmul::reshape(&out.contiguous()?, input.sizes())?;
    Ok(result.into())
}

/// `_weight_norm(v, g, dim=0)`: `g · v / |v|`, norms over all other dimensions.
fn weight_norm(call: &Call<'_>) -> Result<Value, Problem> {
    let (direction, magnitude) = (call.array(0)?, call.array(1)?);
    let dim = call.int(2)?;
    let dims: Vec<Value> = (0..direction.rank() as i64)
        .filter(|other| *other != dim)
        .map(Value::Int)
        .collect();
    let args = [
        direction.clone().into(),
        Value::Int(2),
        Value::List(dims),
        Value::Bool(true),
    ];
    let norm = call
        .eager()
        .invoke("aten::linalg_vector_norm", &args, &[])?;
    let scale = call
        .eager()
        .invoke("aten::div.Tensor", &[magnitude.into(), norm], &[])?;
    let scale = scale.as_tensor().map(|tensor| tensor.array());
    let scale = scale.ok_or_else(|| Problem::invalid("the norm is no tensor"))?;
    Ok(multiply(&[Operand::Array(direction), Operand::Array(scale)])?.into())
}
