//! Functions of floats: those of `f32` are made for loops (see `single`), those of `f64` are the
//! standard library's and `libm`'s.

use super::{each, single};
use crate::element::{Element, Real};

/// A float, with the functions that operators need of it.
pub(crate) trait Math: Real + num_traits::Float + std::ops::AddAssign {
    /// `e^x`
    fn exponential(self) -> Self;
    /// The natural logarithm.
    fn logarithm(self) -> Self;
    /// `e^x − 1`
    fn exp_minus_one(self) -> Self;
    /// `log(1 + x)`
    fn log_one_plus(self) -> Self;
    /// `2^x`
    fn power_of_two(self) -> Self;
    /// The sines of a slice.
    fn sines(angles: &[Self], out: &mut [Self]);
    /// The cosines of a slice.
    fn cosines(angles: &[Self], out: &mut [Self]);
    /// The hyperbolic tangent.
    fn hyperbolic_tangent(self) -> Self;
    /// The error function.
    fn error_function(self) -> Self;
    /// The complement of the error function.
    fn error_complement(self) -> Self;
    /// The share of a normal distribution below the number.
    fn normal_distribution(self) -> Self;
    /// The logarithm of the gamma function's absolute value.
    fn log_gamma(self) -> Self;
    /// The logistic function.
    fn logistic(self) -> Self {
        Self::of(1.0) / (Self::of(1.0) + (-self).exponential())
    }
    /// `self · factor + summand`, rounded once.
    fn fused(self, factor: Self, summand: Self) -> Self;
    /// Rounded from a constant.
    fn of(value: f64) -> Self {
        <Self as Element>::from_f64(value)
    }
    /// To the nearest integer, halves to the even one.
    fn round_half_even(self) -> Self;
}

impl Math for f64 {
    fn exponential(self) -> Self {
        self.exp()
    }
    fn logarithm(self) -> Self {
        self.ln()
    }
    fn exp_minus_one(self) -> Self {
        self.exp_m1()
    }
    fn log_one_plus(self) -> Self {
        self.ln_1p()
    }
    fn power_of_two(self) -> Self {
        self.exp2()
    }
    fn sines(angles: &[Self], out: &mut [Self]) {
        each(&Self::sin, angles, out);
    }
    fn cosines(angles: &[Self], out: &mut [Self]) {
        each(&Self::cos, angles, out);
    }
    fn hyperbolic_tangent(self) -> Self {
        self.tanh()
    }
    fn error_function(self) -> Self {
        libm::erf(self)
    }
    fn error_complement(self) -> Self {
        libm::erfc(self)
    }
    fn normal_distribution(self) -> Self {
        0.5 * libm::erfc(-self * std::f64::consts::FRAC_1_SQRT_2)
    }
    fn log_gamma(self) -> Self {
        libm::lgamma(self)
    }
    fn fused(self, factor: Self, summand: Self) -> Self {
        self.mul_add(factor, summand)
    }
    fn round_half_even(self) -> Self {
        self.round_ties_even()
    }
}

impl Math for f32 {
    fn exponential(self) -> Self {
        single::exp(self)
    }
    fn logarithm(self) -> Self {
        single::log(self)
    }
    fn exp_minus_one(self) -> Self {
        single::exp_minus_one(self)
    }
    fn log_one_plus(self) -> Self {
        single::log_one_plus(self)
    }
    fn power_of_two(self) -> Self {
        single::exp2(self)
    }
    fn sines(angles: &[Self], out: &mut [Self]) {
        each(&single::sin, angles, out);
        many_turns(angles, out, Self::sin);
    }
    fn cosines(angles: &[Self], out: &mut [Self]) {
        each(&single::cos, angles, out);
        many_turns(angles, out, Self::cos);
    }
    fn hyperbolic_tangent(self) -> Self {
        single::tanh(self)
    }
    fn error_function(self) -> Self {
        single::erf(self)
    }
    fn error_complement(self) -> Self {
        libm::erfc(f64::from(self)) as f32
    }
    fn normal_distribution(self) -> Self {
        single::normal_distribution(self)
    }
    fn log_gamma(self) -> Self {
        libm::lgamma(f64::from(self)) as f32
    }
    fn fused(self, factor: Self, summand: Self) -> Self {
        // The product is exact in f64.
        (f64::from(self) * f64::from(factor) + f64::from(summand)) as f32
    }
    fn round_half_even(self) -> Self {
        self.round_ties_even()
    }
}

/// Computes anew what [`single::sin`] and [`single::cos`] are not made for.
fn many_turns(angles: &[f32], out: &mut [f32], function: fn(f32) -> f32) {
    let is_far = |angle: f32| angle.is_nan() || angle.abs() > single::TURNS_END;
    if !angles.iter().fold(false, |any, angle| any | is_far(*angle)) {
        return;
    }
    for (out, angle) in out.iter_mut().zip(angles) {
        if is_far(*angle) {
            *out = function(*angle);
        }
    }
}
