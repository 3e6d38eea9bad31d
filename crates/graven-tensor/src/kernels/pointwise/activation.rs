//! Activation functions.

use graven_ir::DType;

use super::super::Table;
use super::unary::logistic;
use super::{Math, Operand, compute, float_unary, map, map_into, one, two};
use crate::array::Array;
use crate::call::Call;
use crate::element::Complex;
use crate::error::Problem;
use crate::geometry::Dims;
use crate::scalar::Scalar;
use crate::value::Value;

/// Functions of floats alone: integers are refused, as torch does.
macro_rules! activation {
    ($call:expr, $x:ident => $body:expr) => {{
        let operand = Operand::at($call, 0)?;
        compute!(float, operand.dtype(), C, O => {
            Ok(map::<C, C, O>(&[operand], &one(|$x: C| -> C { $body }))?.into())
        })
    }};
}

pub(super) const KERNELS: Table = &[
    ("aten::celu", |call| {
        let alpha = call.float(1)?;
        activation!(call, x => {
            let alpha = C::of(alpha);
            if x > C::of(0.0) { x } else { alpha * (x / alpha).exp_minus_one() }
        })
    }),
    ("aten::elu", elu),
    ("aten::gelu", gelu),
    ("aten::glu", glu),
    ("aten::hardshrink", |call| {
        let bound = call.float(1)?;
        activation!(call, x => {
            let bound: C = C::of(bound);
            if x >= -bound && x <= bound { C::of(0.0) } else { x }
        })
    }),
    (
        "aten::hardsigmoid",
        |call| activation!(call, x => hard_sigmoid(x)),
    ),
    ("aten::hardswish", |call| {
        activation!(call, x => {
            x * between(x + C::of(3.0), C::of(0.0), C::of(6.0)) / C::of(6.0)
        })
    }),
    ("aten::hardtanh", |call| {
        clamped(call, call.scalar(1)?, call.scalar(2)?)
    }),
    ("aten::leaky_relu", |call| {
        let slope = call.float(1)?;
        activation!(call, x => if x > C::of(0.0) { x } else { x * C::of(slope) })
    }),
    ("aten::log_sigmoid", |call| {
        let [result, _] = log_sigmoid_forward(call)?;
        Ok(result.into())
    }),
    ("aten::log_sigmoid_forward", |call| {
        Ok(log_sigmoid_forward(call)?.into())
    }),
    ("aten::logit", logit),
    ("aten::special_logit", logit),
    ("aten::mish", |call| {
        activation!(call, x => {
            x * x.exponential().log_one_plus().hyperbolic_tangent()
        })
    }),
    ("aten::prelu", prelu),
    ("aten::_prelu_kernel", prelu),
    ("aten::relu", relu),
    ("aten::relu6", |call| {
        clamped(call, Scalar::Int(0), Scalar::Int(6))
    }),
    ("aten::selu", |call| {
        const ALPHA: f64 = 1.673_263_242_354_377_2;
        const SCALE: f64 = 1.050_700_987_355_480_5;
        activation!(call, x => match x > C::of(0.0) {
            true => x * C::of(SCALE),
            false => x.exp_minus_one() * C::of(ALPHA * SCALE),
        })
    }),
    ("aten::silu", silu),
    ("aten::softplus", |call| {
        let (beta, threshold) = (call.float(1)?, call.float(2)?);
        activation!(call, x => {
            let beta: C = C::of(beta);
            match x * beta > C::of(threshold) {
                true => x,
                false => (x * beta).exponential().log_one_plus() / beta,
            }
        })
    }),
    ("aten::softshrink", soft_shrink),
    ("aten::threshold", threshold),
];

fn hard_sigmoid<M: Math>(x: M) -> M {
    between(x + M::of(3.0), M::of(0.0), M::of(6.0)) / M::of(6.0)
}

/// Within bounds; what is not a number stays so.
fn between<T: PartialOrd>(x: T, low: T, high: T) -> T {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

/// `log(x / (1 − x))`, x within `bound` of 0 and 1.
fn logit(call: &Call<'_>) -> Result<Value, Problem> {
    let bound = call.optional_float(1)?;
    float_unary!(call, x => {
        let x = match bound {
            Some(bound) => between(x, C::of(bound), C::of(1.0 - bound)),
            None => x,
        };
        (x / (C::of(1.0) - x)).logarithm()
    })
}

/// The result is contiguous, and so is the buffer of what the backward pass needs.
fn log_sigmoid_forward(call: &Call<'_>) -> Result<[Array; 2], Problem> {
    let array = call.array(0)?.contiguous()?;
    let operands = [Operand::Array(array)];
    compute!(float, operands[0].dtype(), C, O => {
        let buffer = one(|x: C| (-x.abs()).exponential());
        let buffer = map::<C, C, O>(&operands, &buffer)?;
        let result = map::<C, C, O>(&operands, &one(log_sigmoid::<C>))?;
        Ok([result, buffer])
    })
}

/// `softshrink(self, lambd=0.5)`
fn soft_shrink(call: &Call<'_>) -> Result<Value, Problem> {
    let bound = call.float(1)?;
    if bound < 0.0 {
        return Err(Problem::invalid(format!(
            "lambd must not be negative, found {bound}"
        )));
    }
    activation!(call, x => {
        let bound: C = C::of(bound);
        if x > bound { x - bound } else if x < -bound { x + bound }
        else if x.is_nan() { x } else { C::of(0.0) }
    })
}

/// `x · σ(x)`
fn silu(call: &Call<'_>) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    match operand.dtype() {
        DType::Complex64 => Ok(map::<Complex<f32>, _, Complex<f32>>(
            &[operand],
            &one(|z: Complex<f32>| z * logistic(z)),
        )?
        .into()),
        DType::Complex128 => Ok(map::<Complex<f64>, _, Complex<f64>>(
            &[operand],
            &one(|z: Complex<f64>| z * logistic(z)),
        )?
        .into()),
        dtype => compute!(float, dtype, C, O => {
            let apply = one(|x: C| x / (C::of(1.0) + (-x).exponential()));
            Ok(map::<C, C, O>(&[operand], &apply)?.into())
        }),
    }
}

fn log_sigmoid<M: Math>(x: M) -> M {
    x.min(M::of(0.0)) - (-x.abs()).exponential().log_one_plus()
}

/// `elu(self, alpha=1, scale=1, input_scale=1)`
fn elu(call: &Call<'_>) -> Result<Value, Problem> {
    let (alpha, scale, input_scale) = (call.float(1)?, call.float(2)?, call.float(3)?);
    activation!(call, x => match x > C::of(0.0) {
        true => x * C::of(scale),
        false => (x * C::of(input_scale)).exp_minus_one() * C::of(alpha * scale),
    })
}

/// `gelu(self, *, approximate='none')`
fn gelu(call: &Call<'_>) -> Result<Value, Problem> {
    match call.optional_str(1)? {
        Some("tanh") => {
            let root = (2.0 / std::f64::consts::PI).sqrt();
            activation!(call, x => {
                let inner = (x + x * x * x * C::of(0.044_715)) * C::of(root);
                x * C::of(0.5) * (inner.hyperbolic_tangent() + C::of(1.0))
            })
        }
        None | Some("none") => activation!(call, x => x * x.normal_distribution()),
        Some(other) => Err(Problem::invalid(format!(
            "approximate must be `none` or `tanh`, found `{other}`"
        ))),
    }
}

/// `glu(self, dim=-1)`: the first half times the logistic function of the second.
fn glu(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dim = crate::geometry::wrap_dim(call.int(1)?, array.rank())?;
    let size = array.size(dim);
    if array.rank() == 0 || size % 2 != 0 {
        return Err(Problem::invalid(format!(
            "dimension {dim} must have an even number of elements, it has {size}"
        )));
    }
    let half = |start| super::super::view::narrowed(&array, dim, start, size / 2);
    let operands = [Operand::Array(half(0)?), Operand::Array(half(size / 2)?)];
    compute!(float, array.dtype(), C, O => {
        let apply = two(|a: C, b: C| a * b.logistic());
        Ok(map::<C, C, O>(&operands, &apply)?.into())
    })
}

fn relu(call: &Call<'_>) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    compute!(number, operand.dtype(), C, O => {
        let zero = C::default();
        // What is not a number stays so.
        Ok(map::<C, C, O>(&[operand], &one(|x: C| if x < zero { zero } else { x }))?.into())
    })
}

/// `hardtanh(self, min_val=-1, max_val=1)`: the result has the dtype and the strides of `self`.
fn clamped(call: &Call<'_>, low: Scalar, high: Scalar) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let layout = |_: &[usize]| super::super::copy::preserved(&array);
    let operands = [Operand::Array(array.clone())];
    compute!(number, array.dtype(), C, O => {
        let (low, high) = (low.to::<C>(), high.to::<C>());
        let apply = one(|x: C| between(x, low, high));
        Ok(map_into::<C, C, O>(&operands, Some(&layout), &apply)?.into())
    })
}

/// `threshold(self, threshold, value)`
fn threshold(call: &Call<'_>) -> Result<Value, Problem> {
    let (bound, value) = (call.scalar(1)?, call.scalar(2)?);
    let operand = Operand::at(call, 0)?;
    compute!(number, operand.dtype(), C, O => {
        let (bound, value) = (bound.to::<C>(), value.to::<C>());
        Ok(map::<C, C, O>(&[operand], &one(|x: C| if x <= bound { value } else { x }))?.into())
    })
}

/// `prelu(self, weight)`: one weight for each channel, which is dimension 1.
fn prelu(call: &Call<'_>) -> Result<Value, Problem> {
    let (array, weight) = (call.array(0)?, call.array(1)?);
    if array.dtype() != weight.dtype() {
        return Err(Problem::OtherDType {
            expected: array.dtype(),
            found: weight.dtype(),
        });
    }
    let weight = match (weight.numel(), array.rank()) {
        (1, _) => weight.view(&[], Dims::new(), weight.offset())?,
        (_, 0 | 1) => weight,
        (count, rank) if weight.rank() == 1 => {
            let mut sizes = Dims::from_elem(1, rank);
            sizes[1] = count;
            let mut strides = Dims::from_elem(0, rank);
            strides[1] = weight.strides()[0];
            weight.view(&sizes, strides, weight.offset())?
        }
        _ => weight,
    };
    compute!(float, array.dtype(), C, O => {
        let zero = C::of(0.0);
        let apply = two(|x: C, weight: C| if x > zero { x } else { x * weight });
        let operands = [Operand::Array(array), Operand::Array(weight)];
        Ok(map::<C, C, O>(&operands, &apply)?.into())
    })
}
