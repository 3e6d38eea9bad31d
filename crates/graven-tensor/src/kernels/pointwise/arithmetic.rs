//! Arithmetic on two operands: sums, products, quotients, remainders, powers, extremes, bits.

use graven_ir::DType;

use super::super::Table;
use super::{Math, Operand, compute, float_binary, floating, map, promoted, two};
use crate::array::Array;
use crate::call::Call;
use crate::element::{Bool, Complex, Element, Real, dispatch};
use crate::error::Problem;
use crate::scalar::Scalar;
use crate::value::Value;

/// A function of two operands, for floats alone.
macro_rules! floats_binary {
    ($call:expr, $x:ident, $y:ident => $body:expr) => {{
        let operands = pair($call)?;
        compute!(float, promoted(&operands)?, C, O => {
            Ok(map::<C, C, O>(&operands, &two(|$x: C, $y: C| -> C { $body }))?.into())
        })
    }};
}

pub(super) const KERNELS: Table = &[
    ("aten::__and__.Scalar", |call| bitwise(call, |a, b| a & b)),
    ("aten::__and__.Tensor", |call| bitwise(call, |a, b| a & b)),
    ("aten::__lshift__.Scalar", shift_left),
    ("aten::__lshift__.Tensor", shift_left),
    ("aten::__or__.Scalar", |call| bitwise(call, |a, b| a | b)),
    ("aten::__or__.Tensor", |call| bitwise(call, |a, b| a | b)),
    ("aten::__rshift__.Scalar", shift_right),
    ("aten::__rshift__.Tensor", shift_right),
    ("aten::__xor__.Scalar", |call| bitwise(call, |a, b| a ^ b)),
    ("aten::__xor__.Tensor", |call| bitwise(call, |a, b| a ^ b)),
    ("aten::add.Scalar", |call| sum(call, 0, 1, 2, false)),
    ("aten::add.Tensor", |call| sum(call, 0, 1, 2, false)),
    (
        "aten::atan2",
        |call| float_binary!(pair(call)?, x, y => x.atan2(y)),
    ),
    ("aten::bitwise_and.Scalar", |call| {
        bitwise(call, |a, b| a & b)
    }),
    ("aten::bitwise_and.Scalar_Tensor", |call| {
        bitwise(call, |a, b| a & b)
    }),
    ("aten::bitwise_and.Tensor", |call| {
        bitwise(call, |a, b| a & b)
    }),
    ("aten::bitwise_left_shift.Scalar_Tensor", shift_left),
    ("aten::bitwise_left_shift.Tensor", shift_left),
    ("aten::bitwise_left_shift.Tensor_Scalar", shift_left),
    ("aten::bitwise_or.Scalar", |call| {
        bitwise(call, |a, b| a | b)
    }),
    ("aten::bitwise_or.Scalar_Tensor", |call| {
        bitwise(call, |a, b| a | b)
    }),
    ("aten::bitwise_or.Tensor", |call| {
        bitwise(call, |a, b| a | b)
    }),
    ("aten::bitwise_right_shift.Scalar_Tensor", shift_right),
    ("aten::bitwise_right_shift.Tensor", shift_right),
    ("aten::bitwise_right_shift.Tensor_Scalar", shift_right),
    ("aten::bitwise_xor.Scalar", |call| {
        bitwise(call, |a, b| a ^ b)
    }),
    ("aten::bitwise_xor.Scalar_Tensor", |call| {
        bitwise(call, |a, b| a ^ b)
    }),
    ("aten::bitwise_xor.Tensor", |call| {
        bitwise(call, |a, b| a ^ b)
    }),
    (
        "aten::copysign.Scalar",
        |call| float_binary!(pair(call)?, x, y => x.copysign(y)),
    ),
    (
        "aten::copysign.Tensor",
        |call| float_binary!(pair(call)?, x, y => x.copysign(y)),
    ),
    ("aten::div.Scalar", |call| quotient(&pair(call)?)),
    ("aten::div.Scalar_mode", |call| {
        rounded_quotient(call, call.optional_str(2)?)
    }),
    ("aten::div.Tensor", |call| quotient(&pair(call)?)),
    ("aten::div.Tensor_mode", |call| {
        rounded_quotient(call, call.optional_str(2)?)
    }),
    ("aten::floor_divide", |call| {
        rounded_quotient(call, Some("floor"))
    }),
    ("aten::floor_divide.Scalar", |call| {
        rounded_quotient(call, Some("floor"))
    }),
    ("aten::fmax", |call| extreme(call, Extreme::MaxNumber)),
    ("aten::fmin", |call| extreme(call, Extreme::MinNumber)),
    ("aten::fmod.Scalar", |call| remainder(call, Rest::Dividend)),
    ("aten::fmod.Tensor", |call| remainder(call, Rest::Dividend)),
    ("aten::gcd", |call| gcd(call, false)),
    ("aten::heaviside", heaviside),
    (
        "aten::hypot",
        |call| floats_binary!(call, x, y => x.hypot(y)),
    ),
    ("aten::lcm", |call| gcd(call, true)),
    ("aten::ldexp.Tensor", ldexp),
    (
        "aten::logaddexp",
        |call| floats_binary!(call, x, y => log_add_exp(x, y)),
    ),
    (
        "aten::logaddexp2",
        |call| floats_binary!(call, x, y => log_add_exp2(x, y)),
    ),
    ("aten::max.other", |call| extreme(call, Extreme::Max)),
    ("aten::maximum", |call| extreme(call, Extreme::Max)),
    ("aten::min.other", |call| extreme(call, Extreme::Min)),
    ("aten::minimum", |call| extreme(call, Extreme::Min)),
    (
        "aten::mul.Scalar",
        |call| Ok(multiply(&pair(call)?)?.into()),
    ),
    (
        "aten::mul.Tensor",
        |call| Ok(multiply(&pair(call)?)?.into()),
    ),
    ("aten::multiply.Scalar", |call| {
        Ok(multiply(&pair(call)?)?.into())
    }),
    ("aten::multiply.Tensor", |call| {
        Ok(multiply(&pair(call)?)?.into())
    }),
    ("aten::nextafter", nextafter),
    ("aten::pow.Scalar", |call| {
        // The result is contiguous, whatever the exponents are.
        let [base, exponent] = pair(call)?;
        let dtype = promoted(&[base.clone(), exponent.clone()])?;
        let exponent = match exponent {
            Operand::Array(exponent) => Operand::Array(exponent.contiguous()?),
            exponent => exponent,
        };
        let base = match base {
            Operand::Number(base) => Operand::Parameter(base),
            base => base,
        };
        Ok(power_of(&[base, exponent], dtype)?.into())
    }),
    ("aten::pow.Tensor_Scalar", power),
    ("aten::pow.Tensor_Tensor", power),
    ("aten::float_power.Tensor_Scalar", float_power),
    ("aten::float_power.Tensor_Tensor", float_power),
    ("aten::remainder.Scalar", |call| {
        remainder(call, Rest::Divisor)
    }),
    ("aten::remainder.Scalar_Tensor", |call| {
        remainder(call, Rest::Divisor)
    }),
    ("aten::remainder.Tensor", |call| {
        remainder(call, Rest::Divisor)
    }),
    ("aten::rsub.Scalar", |call| sum(call, 1, 0, 2, true)),
    ("aten::rsub.Tensor", |call| sum(call, 1, 0, 2, true)),
    ("aten::special_xlogy", xlogy),
    ("aten::sub.Scalar", |call| sum(call, 0, 1, 2, true)),
    ("aten::sub.Tensor", |call| sum(call, 0, 1, 2, true)),
    ("aten::true_divide.Scalar", |call| quotient(&pair(call)?)),
    ("aten::true_divide.Tensor", |call| quotient(&pair(call)?)),
    ("aten::xlogy.Scalar_Other", xlogy),
    ("aten::xlogy.Scalar_Self", xlogy),
    ("aten::xlogy.Tensor", xlogy),
];

/// The two operands.
pub(super) fn pair(call: &Call<'_>) -> Result<[Operand; 2], Problem> {
    Ok([Operand::at(call, 0)?, Operand::at(call, 1)?])
}

/// Numbers that can be added and multiplied; integers wrap around, truth values are sets.
pub(crate) trait Arithmetic: Element {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! arithmetic {
    (wrapping: $($ty:ty),*) => {$(
        impl Arithmetic for $ty {
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
        }
    )*};
    (exact: $($ty:ty),*) => {$(
        impl Arithmetic for $ty {
            fn plus(self, other: Self) -> Self { self + other }
            fn minus(self, other: Self) -> Self { self - other }
            fn times(self, other: Self) -> Self { self * other }
        }
    )*};
}

arithmetic!(wrapping: u8, i8, i16, i32, i64);
arithmetic!(exact: f32, f64, Complex<f32>, Complex<f64>, half::f16, half::bf16);

impl Arithmetic for Bool {
    fn plus(self, other: Self) -> Self {
        Self::from(self.get() | other.get())
    }
    fn minus(self, other: Self) -> Self {
        Self::from(self.get() ^ other.get())
    }
    fn times(self, other: Self) -> Self {
        Self::from(self.get() & other.get())
    }
}

/// `left ± alpha · right`
fn sum(
    call: &Call<'_>,
    left: usize,
    right: usize,
    alpha: usize,
    subtracts: bool,
) -> Result<Value, Problem> {
    let operands = [Operand::at(call, left)?, Operand::at(call, right)?];
    let alpha = call.optional_scalar(alpha)?.unwrap_or(Scalar::Int(1));
    let is_bool = |operand: &Operand| operand.dtype() == DType::Bool;
    if subtracts && operands.iter().any(is_bool) {
        return Err(Problem::invalid(
            "truth values cannot be subtracted; use `logical_xor` or `logical_not`",
        ));
    }
    Ok(add_scaled(&operands, alpha, subtracts)?.into())
}

fn add_scaled(operands: &[Operand; 2], alpha: Scalar, subtracts: bool) -> Result<Array, Problem> {
    let dtype = promoted(operands)?;
    let is_float = dtype.is_floating_point() || dtype.is_complex();
    if matches!(alpha, Scalar::Float(_)) && !is_float {
        return Err(Problem::invalid("for integers, alpha must not be a float"));
    }
    compute!(any, dtype, C, O => {
        let alpha = alpha.to::<C>();
        match (alpha == C::unit(), subtracts) {
            (true, false) => map::<C, C, O>(operands, &two(|a: C, b| a.plus(b))),
            (true, true) => map::<C, C, O>(operands, &two(|a: C, b| a.minus(b))),
            (false, false) => map::<C, C, O>(operands, &two(|a: C, b: C| a.plus(alpha.times(b)))),
            (false, true) => map::<C, C, O>(operands, &two(|a: C, b: C| a.minus(alpha.times(b)))),
        }
    })
}

/// The product of two operands.
pub(crate) fn multiply(operands: &[Operand; 2]) -> Result<Array, Problem> {
    compute!(any, promoted(operands)?, C, O => {
        map::<C, C, O>(operands, &two(|a: C, b| a.times(b)))
    })
}

fn quotient(operands: &[Operand; 2]) -> Result<Value, Problem> {
    let dtype = floating(promoted(operands)?);
    compute!(math, dtype, C, O => {
        Ok(map::<C, C, O>(operands, &two(|a: C, b: C| a.over(b)))?.into())
    })
}

fn rounded_quotient(call: &Call<'_>, mode: Option<&str>) -> Result<Value, Problem> {
    let operands = pair(call)?;
    let rounds_down = match mode {
        None => return quotient(&operands),
        Some("floor") => true,
        Some("trunc") => false,
        Some(other) => {
            return Err(Problem::invalid(format!(
                "rounding mode must be `floor` or `trunc`, found `{other}`"
            )));
        }
    };
    let dtype = promoted(&operands)?;
    if dtype.is_floating_point() {
        return compute!(float, dtype, C, O => Ok(match rounds_down {
            true => map::<C, C, O>(&operands, &two(floor_divide::<C>))?,
            false => map::<C, C, O>(&operands, &two(|a: C, b: C| (a / b).trunc()))?,
        }.into()));
    }
    no_zero_divisor(&operands[1], dtype)?;
    dispatch!(number, dtype, T => {
        let apply = two(|a: T, b: T| {
            let (a, b) = (a.to_i64(), b.to_i64());
            let quotient = a.wrapping_div(b);
            let is_inexact = a.wrapping_rem(b) != 0;
            let down = rounds_down && is_inexact && (a < 0) != (b < 0);
            T::from_i64(quotient.wrapping_sub(i64::from(down)))
        });
        Ok(map::<T, T, T>(&operands, &apply)?.into())
    })
}

/// Division rounded down, as Python has it: by the remainder, so that it agrees with it.
fn floor_divide<M: Math>(a: M, b: M) -> M {
    let zero = M::of(0.0);
    if b == zero {
        return a / b;
    }
    let rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != zero && (b < zero) != (rest < zero) {
        quotient = quotient - M::of(1.0);
    }
    if quotient == zero {
        return zero.copysign(a / b);
    }
    let floor = quotient.floor();
    match quotient - floor > M::of(0.5) {
        true => floor + M::of(1.0),
        false => floor,
    }
}

/// Integers have no quotient by 0.
fn no_zero_divisor(operand: &Operand, dtype: DType) -> Result<(), Problem> {
    let has_zero = match operand {
        Operand::Number(scalar) | Operand::Parameter(scalar) => scalar.to_i64() == 0,
        Operand::Array(array) if array.numel() == 0 => false,
        Operand::Array(array) => {
            let array = array.converted(dtype)?;
            dispatch!(any, dtype, T => {
                Ok::<_, Problem>(array.to_vec::<T>()?.into_iter().any(|value| !value.is_true()))
            })?
        }
    };
    match has_zero {
        true => Err(Problem::invalid("integer division by zero")),
        false => Ok(()),
    }
}

/// Whose sign a remainder has.
#[derive(Clone, Copy, PartialEq)]
enum Rest {
    Dividend,
    Divisor,
}

fn remainder(call: &Call<'_>, rest: Rest) -> Result<Value, Problem> {
    let operands = pair(call)?;
    let dtype = promoted(&operands)?;
    if dtype.is_floating_point() {
        return compute!(float, dtype, C, O => {
            let apply = two(|a: C, b: C| {
                let value = a % b;
                let zero = C::of(0.0);
                let differs = value != zero && (value < zero) != (b < zero);
                if rest == Rest::Divisor && differs { value + b } else { value }
            });
            Ok(map::<C, C, O>(&operands, &apply)?.into())
        });
    }
    no_zero_divisor(&operands[1], dtype)?;
    dispatch!(number, dtype, T => {
        let apply = two(|a: T, b: T| {
            let (a, b) = (a.to_i64(), b.to_i64());
            let value = a.wrapping_rem(b);
            let differs = value != 0 && (value < 0) != (b < 0);
            T::from_i64(if rest == Rest::Divisor && differs { value + b } else { value })
        });
        Ok(map::<T, T, T>(&operands, &apply)?.into())
    })
}

fn power(call: &Call<'_>) -> Result<Value, Problem> {
    let operands = [Operand::at(call, 0)?, Operand::parameter_at(call, 1)?];
    let dtype = promoted(&operands)?;
    Ok(power_of(&operands, dtype)?.into())
}

fn float_power(call: &Call<'_>) -> Result<Value, Problem> {
    let operands = [Operand::at(call, 0)?, Operand::parameter_at(call, 1)?];
    let dtype = match promoted(&operands)?.is_complex() {
        true => DType::Complex128,
        false => DType::Float64,
    };
    Ok(power_of(&operands, dtype)?.into())
}

fn power_of(operands: &[Operand; 2], dtype: DType) -> Result<Array, Problem> {
    if dtype.is_complex() {
        let is_number = matches!(operands[1], Operand::Parameter(_));
        return match dtype {
            DType::Complex64 => map::<Complex<f32>, _, Complex<f32>>(
                operands,
                &two(move |a: Complex<f32>, b: Complex<f32>| complex_power(a, b, is_number)),
            ),
            _ => map::<Complex<f64>, _, Complex<f64>>(
                operands,
                &two(move |a: Complex<f64>, b: Complex<f64>| complex_power(a, b, is_number)),
            ),
        };
    }
    if dtype.is_floating_point() {
        let exponent = match &operands[1] {
            Operand::Number(exponent) | Operand::Parameter(exponent) => Some(exponent.to_f64()),
            Operand::Array(_) => None,
        };
        return compute!(float, dtype, C, O => match exponent {
            Some(0.5) => map::<C, C, O>(operands, &two(|a: C, _| a.sqrt())),
            Some(2.0) => map::<C, C, O>(operands, &two(|a: C, _| a * a)),
            Some(3.0) => map::<C, C, O>(operands, &two(|a: C, _| a * a * a)),
            Some(-0.5) => map::<C, C, O>(operands, &two(|a: C, _| C::of(1.0) / a.sqrt())),
            Some(-1.0) => map::<C, C, O>(operands, &two(|a: C, _| C::of(1.0) / a)),
            Some(-2.0) => map::<C, C, O>(operands, &two(|a: C, _| C::of(1.0) / (a * a))),
            _ => map::<C, C, O>(operands, &two(|a: C, b: C| a.powf(b))),
        });
    }
    if let Operand::Parameter(exponent) = &operands[1]
        && exponent.to_i64() < 0
    {
        return Err(Problem::invalid(
            "integers to negative integer powers are not allowed",
        ));
    }
    dispatch!(number, dtype, T => {
        map::<T, T, T>(operands, &two(|a: T, b: T| {
            T::from_i64(integer_power(a.to_i64(), b.to_i64()))
        }))
    })
}

/// `e^(exponent · log base)`, which has no value for 0; a whole exponent that is one number for
/// all bases is a product.
fn complex_power<T: num_traits::Float>(
    base: num_complex::Complex<T>,
    exponent: num_complex::Complex<T>,
    is_number: bool,
) -> num_complex::Complex<T> {
    let one = num_complex::Complex::new(T::one(), T::zero());
    if is_number && exponent.im.is_zero() {
        let whole = exponent.re.to_i32().filter(|whole| whole.abs() <= 3);
        match whole.filter(|whole| T::from(*whole) == Some(exponent.re)) {
            Some(0) => return one,
            Some(whole) => {
                let factors = 1..whole.unsigned_abs();
                let product = factors.fold(base, |product, _| product * base);
                return if whole < 0 {
                    divide(one, product)
                } else {
                    product
                };
            }
            None => {}
        }
    }
    (base.ln() * exponent).exp()
}

/// The quotient of complex numbers by Smith's method; by 0 each part is divided for itself.
pub(super) fn divide<T: num_traits::Float>(
    left: num_complex::Complex<T>,
    right: num_complex::Complex<T>,
) -> num_complex::Complex<T> {
    let (a, b, c, d) = (left.re, left.im, right.re, right.im);
    if c.abs() >= d.abs() {
        if c.is_zero() && d.is_zero() {
            return num_complex::Complex::new(a / c.abs(), b / c.abs());
        }
        let ratio = d / c;
        let scale = T::one() / (c + d * ratio);
        return num_complex::Complex::new((a + b * ratio) * scale, (b - a * ratio) * scale);
    }
    let ratio = c / d;
    let scale = T::one() / (c * ratio + d);
    num_complex::Complex::new((a * ratio + b) * scale, (b * ratio - a) * scale)
}

/// Numbers that can be divided as floats are.
pub(super) trait Quotient: Element {
    fn over(self, other: Self) -> Self;
}

impl Quotient for f32 {
    fn over(self, other: Self) -> Self {
        self / other
    }
}

impl Quotient for f64 {
    fn over(self, other: Self) -> Self {
        self / other
    }
}

impl Quotient for Complex<f32> {
    fn over(self, other: Self) -> Self {
        divide(self, other)
    }
}

impl Quotient for Complex<f64> {
    fn over(self, other: Self) -> Self {
        divide(self, other)
    }
}

/// By squaring, wrapping around; a negative exponent leaves only 1 and -1.
fn integer_power(mut base: i64, mut exponent: i64) -> i64 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    let mut result = 1_i64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

/// Which of two values.
#[derive(Clone, Copy, PartialEq)]
enum Extreme {
    /// The greater, or what is not a number.
    Max,
    Min,
    /// The greater of those that are numbers.
    MaxNumber,
    MinNumber,
}

fn extreme(call: &Call<'_>, which: Extreme) -> Result<Value, Problem> {
    let operands = pair(call)?;
    compute!(real, promoted(&operands)?, C, O => {
        let result = match which {
            Extreme::Max => map::<C, C, O>(&operands, &two(|a: C, b: C| {
                if a > b || Real::is_not_a_number(a) { a } else { b }
            })),
            Extreme::Min => map::<C, C, O>(&operands, &two(|a: C, b: C| {
                if a < b || Real::is_not_a_number(a) { a } else { b }
            })),
            Extreme::MaxNumber => map::<C, C, O>(&operands, &two(|a: C, b: C| {
                if a > b || Real::is_not_a_number(b) { a } else { b }
            })),
            Extreme::MinNumber => map::<C, C, O>(&operands, &two(|a: C, b: C| {
                if a < b || Real::is_not_a_number(b) { a } else { b }
            })),
        };
        Ok(result?.into())
    })
}

fn bitwise(call: &Call<'_>, function: fn(i64, i64) -> i64) -> Result<Value, Problem> {
    let operands = pair(call)?;
    dispatch!(integral, promoted(&operands)?, T => {
        let apply = two(|a: T, b: T| T::from_i64(function(a.to_i64(), b.to_i64())));
        Ok(map::<T, T, T>(&operands, &apply)?.into())
    })
}

fn shift_left(call: &Call<'_>) -> Result<Value, Problem> {
    let operands = pair(call)?;
    let dtype = promoted(&operands)?;
    let bits = 8 * dtype.bytes() as i64;
    dispatch!(number, dtype, T => {
        let apply = two(|a: T, b: T| {
            let by = b.to_i64();
            T::from_i64(match (0..bits).contains(&by) {
                true => a.to_i64().wrapping_shl(by as u32),
                false => 0,
            })
        });
        Ok(map::<T, T, T>(&operands, &apply)?.into())
    })
}

fn shift_right(call: &Call<'_>) -> Result<Value, Problem> {
    let operands = pair(call)?;
    let dtype = promoted(&operands)?;
    let bits = 8 * dtype.bytes() as i64;
    dispatch!(number, dtype, T => {
        let apply = two(|a: T, b: T| {
            let by = b.to_i64();
            let by = if (0..bits).contains(&by) { by } else { bits - 1 };
            let is_unsigned_out = T::DTYPE == DType::UInt8 && !(0..bits).contains(&b.to_i64());
            T::from_i64(if is_unsigned_out { 0 } else { a.to_i64() >> by })
        });
        Ok(map::<T, T, T>(&operands, &apply)?.into())
    })
}

/// The greatest common divisor, or the least common multiple.
fn gcd(call: &Call<'_>, is_multiple: bool) -> Result<Value, Problem> {
    let operands = pair(call)?;
    let dtype = promoted(&operands)?;
    if dtype.is_floating_point() {
        return Err(Problem::DType { found: dtype });
    }
    dispatch!(number, dtype, T => {
        let apply = two(|a: T, b: T| {
            let (left, right) = (a.to_i64().unsigned_abs(), b.to_i64().unsigned_abs());
            let (mut divisor, mut rest) = (left, right);
            while rest != 0 {
                (divisor, rest) = (rest, divisor % rest);
            }
            let result = match (is_multiple, divisor) {
                (false, divisor) => divisor,
                (true, 0) => 0,
                (true, divisor) => (left / divisor).wrapping_mul(right),
            };
            T::from_i64(result as i64)
        });
        Ok(map::<T, T, T>(&operands, &apply)?.into())
    })
}

/// `self · 2^other`
fn ldexp(call: &Call<'_>) -> Result<Value, Problem> {
    let [left, right] = pair(call)?;
    let powers = power_of(
        &[Operand::Number(Scalar::Float(2.0)), right],
        DType::Float32,
    )?;
    Ok(multiply(&[left, Operand::Array(powers)])?.into())
}

/// The float next to `self` towards `other`.
fn nextafter(call: &Call<'_>) -> Result<Value, Problem> {
    let operands = pair(call)?;
    match promoted(&operands)? {
        DType::Float32 => {
            let apply = two(|a: f32, b: f32| libm::nextafterf(a, b));
            Ok(map::<f32, f32, f32>(&operands, &apply)?.into())
        }
        DType::Float64 => {
            let apply = two(|a: f64, b: f64| libm::nextafter(a, b));
            Ok(map::<f64, f64, f64>(&operands, &apply)?.into())
        }
        DType::BFloat16 => {
            let apply = two(next_bfloat16);
            Ok(map::<half::bf16, half::bf16, half::bf16>(&operands, &apply)?.into())
        }
        found => Err(Problem::DType { found }),
    }
}

fn next_bfloat16(from: half::bf16, to: half::bf16) -> half::bf16 {
    if from.is_nan() || to.is_nan() {
        return half::bf16::NAN;
    }
    if from == to {
        return to;
    }
    if from == half::bf16::ZERO {
        let least = half::bf16::from_bits(1);
        return if to < from { -least } else { least };
    }
    // Magnitudes grow with the bits.
    let grows = (from < to) == (from > half::bf16::ZERO);
    let bits = from.to_bits();
    half::bf16::from_bits(if grows { bits + 1 } else { bits - 1 })
}

/// `heaviside(self, values)`: 0, 1, or `values` where `self` is 0.
fn heaviside(call: &Call<'_>) -> Result<Value, Problem> {
    let operands = pair(call)?;
    if operands[0].dtype() != operands[1].dtype() {
        return Err(Problem::OtherDType {
            expected: operands[0].dtype(),
            found: operands[1].dtype(),
        });
    }
    compute!(real, operands[0].dtype(), C, O => {
        let zero = C::default();
        let apply = two(|a: C, b: C| if a == zero { b } else { C::from_bool(a > zero) });
        Ok(map::<C, C, O>(&operands, &apply)?.into())
    })
}

fn xlogy(call: &Call<'_>) -> Result<Value, Problem> {
    float_binary!(pair(call)?, x, y => {
        let zero = C::of(0.0);
        if y.is_nan() { y } else if x == zero { zero } else { x * y.logarithm() }
    })
}

fn log_add_exp<M: Math>(x: M, y: M) -> M {
    if x == y && x.is_infinite() {
        return x;
    }
    let top = if x > y || x.is_nan() { x } else { y };
    top + (-(x - y).abs()).exponential().log_one_plus()
}

fn log_add_exp2<M: Math>(x: M, y: M) -> M {
    if x == y && x.is_infinite() {
        return x;
    }
    let top = if x > y || x.is_nan() { x } else { y };
    top + (-(x - y).abs()).power_of_two().log_one_plus() * M::of(std::f64::consts::LOG2_E)
}
