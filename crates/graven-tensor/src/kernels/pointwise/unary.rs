//! Functions of one operand.

use graven_ir::DType;

use super::super::Table;
use super::arithmetic::divide;
use super::{Math, Operand, compute, float_unary, floating, map, map_into, one};
use crate::array::Array;
use crate::call::Call;
use crate::element::{Complex, Element, Real, dispatch};
use crate::error::Problem;
use crate::value::Value;

/// A function of complex numbers.
macro_rules! of_complex {
    ($operand:expr, $z:ident => $complex:expr) => {{
        let operand: Operand = $operand;
        match operand.dtype() {
            DType::Complex64 => Ok(map::<Complex<f32>, _, Complex<f32>>(
                &[operand],
                &one(|$z: Complex<f32>| -> Complex<f32> { $complex }),
            )?
            .into()),
            _ => Ok(map::<Complex<f64>, _, Complex<f64>>(
                &[operand],
                &one(|$z: Complex<f64>| -> Complex<f64> { $complex }),
            )?
            .into()),
        }
    }};
}

/// A function of floats and of complex numbers.
macro_rules! of_floats_and_complex {
    ($call:expr, $x:ident => $body:expr, $z:ident => $complex:expr) => {{
        let operand = Operand::at($call, 0)?;
        match floating(operand.dtype()) {
            dtype if dtype.is_complex() => of_complex!(operand, $z => $complex),
            dtype => compute!(float, dtype, C, O => {
                Ok(map::<C, C, O>(&[operand], &one(|$x: C| -> C { $body }))?.into())
            }),
        }
    }};
}

pub(super) const KERNELS: Table = &[
    ("aten::abs", abs),
    (
        "aten::acos",
        |call| of_floats_and_complex!(call, x => x.acos(), z => z.acos()),
    ),
    ("aten::acosh", |call| {
        of_floats_and_complex!(call, x => C::of(area_cosine(x.to_f64())), z => {
            let result = z.acosh();
            // Conjugates have conjugate results, on the branch cut too.
            Complex::new(result.re, result.im.abs().copysign(z.im))
        })
    }),
    ("aten::angle", angle),
    (
        "aten::asin",
        |call| of_floats_and_complex!(call, x => x.asin(), z => z.asin()),
    ),
    (
        "aten::asinh",
        |call| of_floats_and_complex!(call, x => C::of(libm::asinh(x.to_f64())), z => z.asinh()),
    ),
    (
        "aten::atan",
        |call| of_floats_and_complex!(call, x => x.atan(), z => z.atan()),
    ),
    (
        "aten::atanh",
        |call| of_floats_and_complex!(call, x => x.atanh(), z => z.atanh()),
    ),
    ("aten::bitwise_not", bitwise_not),
    ("aten::ceil", |call| rounded(call, f32::ceil, f64::ceil)),
    ("aten::conj_physical", conj_physical),
    ("aten::cos", cosine),
    (
        "aten::cosh",
        |call| of_floats_and_complex!(call, x => x.cosh(), z => z.cosh()),
    ),
    (
        "aten::deg2rad",
        |call| float_unary!(call, x => x * C::of(std::f64::consts::PI / 180.0)),
    ),
    (
        "aten::digamma",
        |call| float_unary!(call, x => C::of(digamma(x.to_f64()))),
    ),
    (
        "aten::erf",
        |call| float_unary!(call, x => x.error_function()),
    ),
    (
        "aten::erfc",
        |call| float_unary!(call, x => x.error_complement()),
    ),
    (
        "aten::erfinv",
        |call| float_unary!(call, x => C::of(inverse_error_function(x.to_f64()))),
    ),
    (
        "aten::exp",
        |call| of_floats_and_complex!(call, x => x.exponential(), z => z.exp()),
    ),
    (
        "aten::exp2",
        |call| of_floats_and_complex!(call, x => x.power_of_two(), z => z.exp2()),
    ),
    ("aten::expm1", exp_minus_one),
    ("aten::floor", |call| rounded(call, f32::floor, f64::floor)),
    ("aten::frac", frac),
    (
        "aten::lgamma",
        |call| float_unary!(call, x => x.log_gamma()),
    ),
    (
        "aten::log",
        |call| of_floats_and_complex!(call, x => x.logarithm(), z => z.ln()),
    ),
    (
        "aten::log10",
        |call| of_floats_and_complex!(call, x => x.log10(), z => z.log10()),
    ),
    ("aten::log1p", log_one_plus),
    (
        "aten::log2",
        |call| of_floats_and_complex!(call, x => x.log2(), z => z.log2()),
    ),
    ("aten::nan_to_num", nan_to_num),
    ("aten::neg", neg),
    ("aten::negative", neg),
    ("aten::positive", |call| {
        match call.tensor(0)?.array().dtype() {
            found @ DType::Bool => Err(Problem::DType { found }),
            _ => Ok(call.tensor(0)?.clone().into()),
        }
    }),
    (
        "aten::rad2deg",
        |call| float_unary!(call, x => x * C::of(180.0 / std::f64::consts::PI)),
    ),
    (
        "aten::reciprocal",
        |call| of_floats_and_complex!(call, x => C::of(1.0) / x, z => inverse(z)),
    ),
    ("aten::round", |call| {
        rounded(call, f32::round_ties_even, f64::round_ties_even)
    }),
    ("aten::round.decimals", round_decimals),
    (
        "aten::rsqrt",
        |call| of_floats_and_complex!(call, x => C::of(1.0) / x.sqrt(), z => inverse(z.sqrt())),
    ),
    ("aten::sgn", sign),
    (
        "aten::sigmoid",
        |call| of_floats_and_complex!(call, x => x.logistic(), z => logistic(z)),
    ),
    ("aten::sign", sign),
    ("aten::sin", sine),
    ("aten::sinc", |call| {
        float_unary!(call, x => {
            let product = x * C::of(std::f64::consts::PI);
            if x == C::of(0.0) { C::of(1.0) } else { product.sin() / product }
        })
    }),
    (
        "aten::sinh",
        |call| of_floats_and_complex!(call, x => x.sinh(), z => z.sinh()),
    ),
    (
        "aten::special_entr",
        |call| float_unary!(call, x => entropy(x)),
    ),
    (
        "aten::special_expit",
        |call| of_floats_and_complex!(call, x => x.logistic(), z => logistic(z)),
    ),
    ("aten::special_expm1", exp_minus_one),
    ("aten::special_log1p", log_one_plus),
    (
        "aten::sqrt",
        |call| of_floats_and_complex!(call, x => x.sqrt(), z => z.sqrt()),
    ),
    ("aten::square", square),
    (
        "aten::tan",
        |call| of_floats_and_complex!(call, x => x.tan(), z => z.tan()),
    ),
    (
        "aten::tanh",
        |call| of_floats_and_complex!(call, x => x.hyperbolic_tangent(), z => z.tanh()),
    ),
    ("aten::trunc", |call| rounded(call, f32::trunc, f64::trunc)),
    ("aten::fix", |call| rounded(call, f32::trunc, f64::trunc)),
];

/// `1 / z`
fn inverse<T: num_traits::Float>(z: Complex<T>) -> Complex<T> {
    divide(Complex::new(T::one(), T::zero()), z)
}

/// The logistic function of complex numbers.
pub(super) fn logistic<T: num_traits::Float>(z: Complex<T>) -> Complex<T> {
    inverse((-z).exp() + T::one())
}

fn sine(call: &Call<'_>) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    match floating(operand.dtype()) {
        dtype if dtype.is_complex() => of_complex!(operand, z => z.sin()),
        dtype => compute!(float, dtype, C, O => {
            Ok(map::<C, C, O>(&[operand], &|angles, out| C::sines(angles[0], out))?.into())
        }),
    }
}

fn cosine(call: &Call<'_>) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    match floating(operand.dtype()) {
        dtype if dtype.is_complex() => of_complex!(operand, z => z.cos()),
        dtype => compute!(float, dtype, C, O => {
            Ok(map::<C, C, O>(&[operand], &|angles, out| C::cosines(angles[0], out))?.into())
        }),
    }
}

/// `e^x − 1`
fn exp_minus_one(call: &Call<'_>) -> Result<Value, Problem> {
    of_floats_and_complex!(call, x => x.exp_minus_one(), z => complex_exp_minus_one(z))
}

fn complex_exp_minus_one<T: num_traits::Float>(z: Complex<T>) -> Complex<T> {
    let two = T::one() + T::one();
    let half = (z.im / two).sin();
    let real = z.re.exp_m1() * z.im.cos() - two * half * half;
    Complex::new(real, z.re.exp() * z.im.sin())
}

/// `log(1 + x)`
fn log_one_plus(call: &Call<'_>) -> Result<Value, Problem> {
    of_floats_and_complex!(call, x => x.log_one_plus(), z => complex_log_one_plus(z))
}

fn complex_log_one_plus<T: num_traits::Float>(z: Complex<T>) -> Complex<T> {
    let two = T::one() + T::one();
    // The square of the absolute value of 1 + z, less 1.
    let excess = z.re * (z.re + two) + z.im * z.im;
    Complex::new(excess.ln_1p() / two, z.im.atan2(z.re + T::one()))
}

/// The inverse hyperbolic cosine.
fn area_cosine(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// What is behind the point.
fn frac(call: &Call<'_>) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    compute!(float, operand.dtype(), C, O => {
        Ok(map::<C, C, O>(&[operand], &one(|x: C| x - x.trunc()))?.into())
    })
}

/// `−x · log x`
fn entropy<M: Math>(x: M) -> M {
    let zero = M::of(0.0);
    if x > zero {
        -x * x.logarithm()
    } else if x < zero {
        M::of(f64::NEG_INFINITY)
    } else {
        // 0, or what is not a number.
        x.abs()
    }
}

/// Rounding: integers stay what they are.
fn rounded(
    call: &Call<'_>,
    single: fn(f32) -> f32,
    double: fn(f64) -> f64,
) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    Ok(match operand.dtype() {
        DType::Float64 => map::<f64, f64, f64>(&[operand], &one(double))?,
        DType::Float16 => map::<f32, f32, half::f16>(&[operand], &one(single))?,
        DType::BFloat16 => map::<f32, f32, half::bf16>(&[operand], &one(single))?,
        DType::Float32 => map::<f32, f32, f32>(&[operand], &one(single))?,
        dtype => dispatch!(number, dtype, T => map::<T, T, T>(&[operand], &one(|x: T| x)))?,
    }
    .into())
}

/// `round.decimals(self, *, decimals)`
fn round_decimals(call: &Call<'_>) -> Result<Value, Problem> {
    let decimals = call.int(1)?;
    let decimals = i32::try_from(decimals).unwrap_or(if decimals < 0 { -400 } else { 400 });
    let operand = Operand::at(call, 0)?;
    compute!(float, operand.dtype(), C, O => Ok(map::<C, C, O>(&[operand], &one(|x: C| {
        let power = C::of(10_f64.powi(decimals.abs()));
        match decimals >= 0 {
            true => (x * power).round_half_even() / power,
            false => (x / power).round_half_even() * power,
        }
    }))?.into()))
}

fn abs(call: &Call<'_>) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    Ok(match operand.dtype() {
        DType::Complex64 => {
            map::<Complex<f32>, f32, f32>(&[operand], &one(|z: Complex<f32>| z.norm()))?
        }
        DType::Complex128 => {
            map::<Complex<f64>, f64, f64>(&[operand], &one(|z: Complex<f64>| z.norm()))?
        }
        dtype if dtype.is_floating_point() => {
            compute!(float, dtype, C, O => map::<C, C, O>(&[operand], &one(|x: C| x.abs())))?
        }
        dtype => dispatch!(number, dtype, T => {
            map::<T, T, T>(&[operand], &one(|x: T| T::from_i64(x.to_i64().wrapping_abs())))
        })?,
    }
    .into())
}

fn angle(call: &Call<'_>) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    Ok(match operand.dtype() {
        DType::Complex64 => {
            map::<Complex<f32>, f32, f32>(&[operand], &one(|z: Complex<f32>| z.arg()))?
        }
        DType::Complex128 => {
            map::<Complex<f64>, f64, f64>(&[operand], &one(|z: Complex<f64>| z.arg()))?
        }
        _ => {
            return float_unary!(call, x => {
                let zero = C::of(0.0);
                let pi = C::of(std::f64::consts::PI);
                if x.is_nan() { x } else if x < zero { pi } else { zero }
            });
        }
    }
    .into())
}

fn conj_physical(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    if !array.dtype().is_complex() {
        return Ok(call.tensor(0)?.clone().into());
    }
    let strides = super::super::copy::preserved(&array);
    Ok(array.conjugated().copied(strides)?.into())
}

fn neg(call: &Call<'_>) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    let dtype = operand.dtype();
    if dtype == DType::Bool {
        return Err(Problem::invalid(
            "truth values have no negative; use `logical_not`",
        ));
    }
    if dtype.is_floating_point() {
        return compute!(float, dtype, C, O => {
            Ok(map::<C, C, O>(&[operand], &one(|x: C| -x))?.into())
        });
    }
    dispatch!(any, dtype, T => {
        let apply = one(|x: T| match T::DTYPE.is_complex() {
            true => T::from_complex(-x.to_complex()),
            false => T::from_i64(x.to_i64().wrapping_neg()),
        });
        Ok(map::<T, T, T>(&[operand], &apply)?.into())
    })
}

fn sign(call: &Call<'_>) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    let dtype = operand.dtype();
    if dtype.is_complex() {
        return dispatch!(math, dtype, T => {
            let apply = one(|z: T| {
                let value = z.to_complex();
                let norm = value.norm();
                T::from_complex(if norm == 0.0 { value } else { value / norm })
            });
            Ok(map::<T, T, T>(&[operand], &apply)?.into())
        });
    }
    compute!(real, dtype, C, O => {
        let zero = C::default();
        let apply = one(|x: C| {
            if x > zero {
                C::unit()
            } else if x < zero {
                C::from_i64(-1)
            } else {
                // 0, and what is not a number: torch has 0 for it.
                zero
            }
        });
        Ok(map::<C, C, O>(&[operand], &apply)?.into())
    })
}

fn bitwise_not(call: &Call<'_>) -> Result<Value, Problem> {
    let operand = Operand::at(call, 0)?;
    dispatch!(integral, operand.dtype(), T => {
        let apply = one(|x: T| match T::DTYPE {
            DType::Bool => T::from_bool(!x.is_true()),
            _ => T::from_i64(!x.to_i64()),
        });
        Ok(map::<T, T, T>(&[operand], &apply)?.into())
    })
}

/// The square is the product with itself.
fn square(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let array = match array.dtype() {
        DType::Bool => array.converted(DType::Int64)?,
        _ => array,
    };
    let operand = Operand::Array(array);
    Ok(super::multiply(&[operand.clone(), operand])?.into())
}

/// `nan_to_num(self, nan=None, posinf=None, neginf=None)`
fn nan_to_num(call: &Call<'_>) -> Result<Value, Problem> {
    let array: Array = call.array(0)?;
    let dtype = array.dtype();
    if !dtype.is_floating_point() {
        return Ok(array.copied(super::super::copy::preserved(&array))?.into());
    }
    let greatest = match dtype {
        DType::Float16 => 65504.0,
        DType::BFloat16 => f64::from(half::bf16::MAX),
        DType::Float32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let nan = call.optional_float(1)?.unwrap_or(0.0);
    let top = call.optional_float(2)?.unwrap_or(greatest);
    let bottom = call.optional_float(3)?.unwrap_or(-greatest);
    compute!(float, dtype, C, O => {
        let (nan, top, bottom) = (C::of(nan), C::of(top), C::of(bottom));
        let apply = one(|x: C| {
            if Real::is_not_a_number(x) {
                nan
            } else if x == <C as Real>::highest() {
                top
            } else if x == <C as Real>::lowest() {
                bottom
            } else {
                x
            }
        });
        let layout = |_: &[usize]| super::super::copy::preserved(&array);
        let operands = [Operand::Array(array.clone())];
        Ok(map_into::<C, C, O>(&operands, Some(&layout), &apply)?.into())
    })
}

/// The logarithmic derivative of the gamma function: recurrence up to 10, then its asymptotic
/// series (Abramowitz and Stegun, 6.3.18).
fn digamma(mut x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        let fraction = x - x.trunc();
        return digamma(1.0 - x) - std::f64::consts::PI / (std::f64::consts::PI * fraction).tan();
    }
    let mut result = 0.0;
    while x < 10.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 12.0
            - square
                * (1.0 / 120.0
                    - square
                        * (1.0 / 252.0
                            - square
                                * (1.0 / 240.0
                                    - square * (5.0 / 660.0 - square * 691.0 / 32760.0)))));
    result + x.ln() - 0.5 / x - series
}

/// The inverse of the error function: a first guess (Giles, 2010), and two steps of Newton's.
fn inverse_error_function(y: f64) -> f64 {
    if y.is_nan() || y.abs() > 1.0 {
        return f64::NAN;
    }
    if y.abs() == 1.0 {
        return f64::INFINITY.copysign(y);
    }
    let a = 0.147;
    let log = (1.0 - y * y).ln();
    let middle = 2.0 / (std::f64::consts::PI * a) + log / 2.0;
    let mut x = ((middle * middle - log / a).sqrt() - middle)
        .sqrt()
        .copysign(y);
    for _ in 0..4 {
        let error = libm::erf(x) - y;
        x -= error / (2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp());
    }
    x
}
