//! Losses, and distances.

use super::super::Table;
use super::super::pointwise::{Math, Operand, compute, map, one, two};
use super::super::reduce::{self, Summed};
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::Element as _;
use crate::error::Problem;
use crate::geometry;
use crate::value::Value;

/// A loss of two operands: the function of each pair, then the reduction at `$position`.
macro_rules! pairwise {
    ($call:expr, $position:expr, $x:ident, $y:ident => $body:expr) => {{
        let operands = [Operand::at($call, 0)?, Operand::at($call, 1)?];
        let dtype = super::super::pointwise::promoted(&operands)?;
        let losses = compute!(float, dtype, C, O => {
            map::<C, C, O>(&operands, &two(|$x: C, $y: C| -> C { $body }))
        })?;
        reduced(losses, $call.int($position)?)
    }};
}

pub(super) const KERNELS: Table = &[
    ("aten::_cdist_forward", cdist),
    ("aten::_pdist_forward", pdist),
    ("aten::binary_cross_entropy", binary_cross_entropy),
    ("aten::binary_cross_entropy_with_logits", with_logits),
    ("aten::cdist", cdist),
    ("aten::cross_entropy_loss", cross_entropy),
    ("aten::huber_loss", |call| {
        let delta = call.float(3)?;
        pairwise!(call, 2, x, y => {
            let (distance, delta) = ((x - y).abs(), C::of(delta));
            match distance <= delta {
                true => C::of(0.5) * distance * distance,
                false => delta * (distance - C::of(0.5) * delta),
            }
        })
    }),
    ("aten::kl_div", |call| {
        let is_log = call.bool(3)?;
        pairwise!(call, 2, x, y => match is_log {
            true => y.exponential() * (y - x),
            false if y > C::of(0.0) => y * (y.logarithm() - x),
            false => C::of(0.0),
        })
    }),
    (
        "aten::l1_loss",
        |call| pairwise!(call, 2, x, y => (x - y).abs()),
    ),
    (
        "aten::mse_loss",
        |call| pairwise!(call, 2, x, y => (x - y) * (x - y)),
    ),
    ("aten::nll_loss", |call| {
        nll(call).map(|[loss, _]| loss.into())
    }),
    ("aten::nll_loss2d", |call| {
        nll(call).map(|[loss, _]| loss.into())
    }),
    ("aten::nll_loss2d_forward", |call| {
        nll(call).map(Value::from)
    }),
    ("aten::nll_loss_forward", |call| nll(call).map(Value::from)),
    ("aten::nll_loss_nd", |call| {
        nll(call).map(|[loss, _]| loss.into())
    }),
    ("aten::smooth_l1_loss", |call| {
        let beta = call.float(3)?;
        pairwise!(call, 2, x, y => {
            let (distance, beta) = ((x - y).abs(), C::of(beta));
            match distance < beta {
                true => C::of(0.5) * distance * distance / beta,
                false => distance - C::of(0.5) * beta,
            }
        })
    }),
    (
        "aten::soft_margin_loss",
        |call| pairwise!(call, 2, x, y => (-x * y).exponential().ln_1p()),
    ),
    ("aten::type_as", |call| {
        let dtype = call.array(1)?.dtype();
        match call.array(0)?.dtype() == dtype {
            true => Ok(call.tensor(0)?.clone().into()),
            false => Ok(call.array(0)?.converted(dtype)?.into()),
        }
    }),
];

/// Reduction 0: none, 1: the mean, 2: the sum.
fn reduced(losses: Array, reduction: i64) -> Result<Value, Problem> {
    Ok(match reduction {
        0 => losses,
        1 => {
            let count = losses.numel() as f64;
            reduce::divided(&reduce::sum(&losses, None, false)?, count)?
        }
        _ => reduce::sum(&losses, None, false)?,
    }
    .into())
}

/// `binary_cross_entropy(self, target, weight=None, reduction)`: logarithms are bounded.
fn binary_cross_entropy(call: &Call<'_>) -> Result<Value, Problem> {
    let operands = [Operand::at(call, 0)?, Operand::at(call, 1)?];
    let losses = compute!(float, operands[0].dtype(), C, O => {
        let bound = C::of(-100.0);
        let apply = two(|x: C, y: C| {
            let log = |value: C| value.logarithm().max(bound);
            -(y * log(x) + (C::of(1.0) - y) * log(C::of(1.0) - x))
        });
        map::<C, C, O>(&operands, &apply)
    })?;
    reduced(weighted(call, losses, 2)?, call.int(3)?)
}

fn weighted(call: &Call<'_>, losses: Array, position: usize) -> Result<Array, Problem> {
    match call.optional_array(position)? {
        None => Ok(losses),
        Some(weight) => {
            super::super::pointwise::multiply(&[Operand::Array(losses), Operand::Array(weight)])
        }
    }
}

/// `binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction)`
fn with_logits(call: &Call<'_>) -> Result<Value, Problem> {
    let (input, target) = (Operand::at(call, 0)?, Operand::at(call, 1)?);
    let factor = match call.optional_array(3)? {
        Some(weight) => Operand::Array(weight),
        None => Operand::Number(crate::scalar::Scalar::Int(1)),
    };
    let losses = compute!(float, input.dtype(), C, O => {
        let apply = super::super::pointwise::three(|x: C, y: C, positive: C| {
            let log_weight = (positive - C::of(1.0)) * y + C::of(1.0);
            let softened = (-x.abs()).exponential().ln_1p() + (-x).max(C::of(0.0));
            (C::of(1.0) - y) * x + log_weight * softened
        });
        map::<C, C, O>(&[input, target, factor], &apply)
    })?;
    reduced(weighted(call, losses, 2)?, call.int(4)?)
}

/// `nll_loss(self, target, weight=None, reduction, ignore_index=-100)`: the loss, and the weights'
/// sum.
fn nll(call: &Call<'_>) -> Result<[Array; 2], Problem> {
    let (input, target) = (call.array(0)?, call.array(1)?);
    let weight = call.optional_array(2)?;
    nll_of(&input, &target, weight.as_ref(), call.int(3)?, call.int(4)?)
}

fn nll_of(
    input: &Array,
    target: &Array,
    weight: Option<&Array>,
    reduction: i64,
    ignored: i64,
) -> Result<[Array; 2], Problem> {
    // Classes are dimension 1, or the only one.
    let class_dim = usize::from(input.rank() > 1);
    let classes = input.size(class_dim);
    let outer = geometry::numel(&input.sizes()[..class_dim]);
    let inner = geometry::numel(&input.sizes()[class_dim + 1..]);
    if target.numel() != outer * inner {
        return Err(Problem::invalid(format!(
            "targets of sizes {:?} do not fit an input of sizes {:?}",
            target.sizes(),
            input.sizes()
        )));
    }
    let targets = target.converted(graven_ir::DType::Int64)?.to_vec::<i64>()?;
    compute!(float, input.dtype(), C, O => {
        let values = input.converted(C::DTYPE)?.to_vec::<C>()?;
        let weights = match weight {
            Some(weight) => weight.converted(C::DTYPE)?.to_vec::<C>()?,
            None => vec![C::of(1.0); classes],
        };
        let mut losses = Fresh::<C>::new(targets.len())?;
        let mut total = C::of(0.0);
        for (number, (loss, class)) in losses.elements().iter_mut().zip(&targets).enumerate() {
            if *class == ignored {
                continue;
            }
            let class = usize::try_from(*class).ok().filter(|class| *class < classes).ok_or(
                Problem::Index { index: *class, dim: class_dim, size: classes },
            )?;
            let at = (number / inner.max(1) * classes + class) * inner + number % inner.max(1);
            let weight = weights.get(class).copied().unwrap_or(C::of(1.0));
            *loss = -values[at] * weight;
            total += weight;
        }
        let sum = C::sum_of(losses.elements());
        let scalar = |value: C| Array::from_elements(&[value], &[])?.converted(O::DTYPE);
        let loss = match reduction {
            0 => losses.into_array(target.sizes())?.converted(O::DTYPE)?,
            1 => scalar(sum / total)?,
            _ => scalar(sum)?,
        };
        Ok([loss, scalar(total)?])
    })
}

/// `cross_entropy_loss(self, target, weight=None, reduction, ignore_index=-100,
/// label_smoothing=0.0)`
fn cross_entropy(call: &Call<'_>) -> Result<Value, Problem> {
    let (input, target) = (call.array(0)?, call.array(1)?);
    let weight = call.optional_array(2)?;
    let (reduction, ignored, smoothing) = (call.int(3)?, call.int(4)?, call.float(5)?);
    let class_dim = usize::from(input.rank() > 1);
    let logs = super::super::scan::softmax_of(&input, class_dim, None, true)?;
    if target.dtype().is_floating_point() {
        return probable(call, &logs, &target, class_dim);
    }
    let [loss, total] = nll_of(&logs, &target, weight.as_ref(), reduction, ignored)?;
    if smoothing == 0.0 {
        return Ok(loss.into());
    }
    // The smoothed part: the mean over all classes, where the target counts.
    let classes = input.size(class_dim);
    let eager = call.eager();
    let tensor = |value: Value| -> Result<Array, Problem> {
        let array = value.as_tensor().map(|tensor| tensor.array());
        array.ok_or_else(|| Problem::invalid("a loss is no tensor"))
    };
    let mut weighed = logs.clone();
    if let Some(weight) = &weight {
        let mut sizes = geometry::Dims::from_elem(1, logs.rank());
        sizes[class_dim] = classes;
        let weight = super::super::matmul::reshape(weight, &sizes)?;
        weighed =
            super::super::pointwise::multiply(&[Operand::Array(logs), Operand::Array(weight)])?;
    }
    let sums = reduce::sum(&weighed, Some(&[class_dim as i64]), false)?;
    let negative = tensor(eager.invoke("aten::neg", &[sums.into()], &[])?)?;
    let args = [target.into(), Value::Int(ignored)];
    let skipped = eager.invoke("aten::eq.Scalar", &args, &[])?;
    let args = [negative.into(), skipped, Value::Int(0)];
    let smooth = tensor(eager.invoke("aten::masked_fill.Scalar", &args, &[])?)?;
    let smooth = match reduction {
        0 => smooth,
        1 => {
            let sum = reduce::sum(&smooth, None, false)?;
            tensor(eager.invoke("aten::div.Tensor", &[sum.into(), total.into()], &[])?)?
        }
        _ => reduce::sum(&smooth, None, false)?,
    };
    let share = smoothing / classes as f64;
    let kept = eager.invoke(
        "aten::mul.Scalar",
        &[loss.into(), Value::Float(1.0 - smoothing)],
        &[],
    )?;
    let kwargs = [("alpha", Value::Float(share))];
    Ok(eager.invoke("aten::add.Tensor", &[kept, smooth.into()], &kwargs)?)
}

/// Cross entropy with a target of probabilities.
fn probable(
    call: &Call<'_>,
    logs: &Array,
    target: &Array,
    class_dim: usize,
) -> Result<Value, Problem> {
    let (reduction, smoothing) = (call.int(3)?, call.float(5)?);
    let classes = logs.size(class_dim) as f64;
    let smoothed = compute!(float, target.dtype(), C, O => {
        let apply = one(|value: C| value * C::of(1.0 - smoothing) + C::of(smoothing / classes));
        map::<C, C, O>(&[Operand::Array(target.clone())], &apply)
    })?;
    let mut product = super::super::pointwise::multiply(&[
        Operand::Array(logs.clone()),
        Operand::Array(smoothed),
    ])?;
    if let Some(weight) = call.optional_array(2)? {
        let mut sizes = geometry::Dims::from_elem(1, logs.rank());
        sizes[class_dim] = logs.size(class_dim);
        let weight = super::super::matmul::reshape(&weight, &sizes)?;
        product =
            super::super::pointwise::multiply(&[Operand::Array(product), Operand::Array(weight)])?;
    }
    let sums = reduce::sum(&product, Some(&[class_dim as i64]), false)?;
    let count = sums.numel() as f64;
    Ok(match reduction {
        0 => reduce::divided(&sums, -1.0)?,
        1 => reduce::divided(&reduce::sum(&sums, None, false)?, -count)?,
        _ => reduce::divided(&reduce::sum(&sums, None, false)?, -1.0)?,
    }
    .into())
}

/// `_pdist_forward(self, p=2)`: distances between all pairs of rows.
fn pdist(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let order = call.float(1)?;
    let &[rows, width] = array.sizes() else {
        return Err(Problem::invalid("a matrix is needed"));
    };
    compute!(float, array.dtype(), C, O => {
        let values = array.converted(C::DTYPE)?.to_vec::<C>()?;
        let row = |index: usize| &values[index * width..(index + 1) * width];
        let mut distances = Vec::new();
        for first in 0..rows {
            for second in first + 1..rows {
                let pairs = row(first).iter().zip(row(second));
                let differences: Vec<C> = pairs.map(|(left, right)| *left - *right).collect();
                distances.push(reduce::norm_of(&differences, order));
            }
        }
        let result = Array::from_elements(&distances, &[distances.len()])?;
        Ok(result.converted(O::DTYPE)?.into())
    })
}

/// `cdist(x1, x2, p=2, compute_mode=None)`: distances between all rows of both.
fn cdist(call: &Call<'_>) -> Result<Value, Problem> {
    let (left, right) = (call.array(0)?, call.array(1)?);
    let order = call.float(2)?;
    if order < 0.0 {
        return Err(Problem::invalid(
            "the order of a distance must not be negative",
        ));
    }
    let (left_rank, right_rank) = (left.rank(), right.rank());
    if left_rank < 2 || right_rank < 2 || left.size(left_rank - 1) != right.size(right_rank - 1) {
        return Err(Problem::invalid(format!(
            "rows of sizes {:?} and {:?} have no distances",
            left.sizes(),
            right.sizes()
        )));
    }
    let batch = geometry::broadcast(
        &left.sizes()[..left_rank - 2],
        &right.sizes()[..right_rank - 2],
    )?;
    let width = left.size(left_rank - 1);
    let (rows, columns) = (left.size(left_rank - 2), right.size(right_rank - 2));
    let expanded = |array: &Array, rows: usize| {
        let mut sizes = batch.clone();
        sizes.extend([rows, width]);
        array.expand(&sizes)
    };
    let mut sizes = batch.clone();
    sizes.extend([rows, columns]);
    compute!(float, left.dtype(), C, O => {
        let left = expanded(&left, rows)?.converted(C::DTYPE)?.to_vec::<C>()?;
        let right = expanded(&right, columns)?.converted(C::DTYPE)?.to_vec::<C>()?;
        let mut fresh = Fresh::<C>::new(geometry::numel(&sizes))?;
        let mut differences = vec![C::of(0.0); width];
        for (number, out) in fresh.elements().iter_mut().enumerate() {
            let (image, pair) = (number / (rows * columns), number % (rows * columns));
            let one = (image * rows + pair / columns) * width;
            let other = (image * columns + pair % columns) * width;
            for (index, difference) in differences.iter_mut().enumerate() {
                *difference = left[one + index] - right[other + index];
            }
            *out = reduce::norm_of(&differences, order);
        }
        Ok(fresh.into_array(&sizes)?.converted(O::DTYPE)?.into())
    })
}
