//! Functions of floats. Those of `f32` are polynomials without branches, so that loops of them
//! vectorize; those of `f64` are the standard library's and `libm`'s.

use crate::element::{Element, Real};

/// A float, with the functions that operators need of it.
pub(crate) trait Math: Real + num_traits::Float + std::ops::AddAssign {
    /// `e^x`
    fn exponential(self) -> Self;
    /// The natural logarithm.
    fn logarithm(self) -> Self;
    /// The hyperbolic tangent.
    fn hyperbolic_tangent(self) -> Self;
    /// The error function.
    fn error_function(self) -> Self;
    /// The complement of the error function.
    fn error_complement(self) -> Self;
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
    fn hyperbolic_tangent(self) -> Self {
        self.tanh()
    }
    fn error_function(self) -> Self {
        libm::erf(self)
    }
    fn error_complement(self) -> Self {
        libm::erfc(self)
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
        exp(self)
    }
    fn logarithm(self) -> Self {
        log(self)
    }
    fn hyperbolic_tangent(self) -> Self {
        tanh(self)
    }
    fn error_function(self) -> Self {
        erf(self)
    }
    fn error_complement(self) -> Self {
        libm::erfc(f64::from(self)) as f32
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

/// 1.5 · 2^23: added to a float, it leaves the nearest integer in the low bits of the mantissa.
const SHIFTER: f32 = 12_582_912.0;

/// `e^x`: x is n·ln 2 + r with |r| at most half of ln 2; e^r by its series, and 2^n by the exponent
/// bits, in two halves so that results below the normal range come out right.
#[inline]
fn exp(x: f32) -> f32 {
    let clamped = x.clamp(-104.0, 89.0);
    let shifted = clamped * std::f32::consts::LOG2_E + SHIFTER;
    let n = shifted - SHIFTER;
    // ln 2 in two parts, so that the difference is exact.
    let r = clamped - n * 0.693_359_4;
    let r = r - n * -2.121_944_4e-4;
    let series =
        ((((1.987_569_1e-4 * r + 1.398_199_9e-3) * r + 8.333_452e-3) * r + 4.166_579_6e-2) * r
            + 1.666_666_5e-1)
            * r
            + 5e-1;
    let power = series * r * r + r + 1.0;
    let n = n as i32;
    let half = n >> 1;
    let scale = |n: i32| f32::from_bits(((n + 127) << 23) as u32);
    let result = power * scale(half) * scale(n - half);
    // What is not a number stays so.
    if x.is_nan() { x } else { result }
}

/// The natural logarithm: x is 2^n · m with m in [√½, √2); log m by a polynomial in m − 1.
#[inline]
fn log(x: f32) -> f32 {
    // Numbers below the normal range are scaled up first.
    let is_small = x < f32::MIN_POSITIVE;
    let scaled = if is_small { x * 8_388_608.0 } else { x };
    let bits = scaled.to_bits();
    let above = bits.wrapping_sub(0x3f35_04f3);
    let n = (above as i32) >> 23;
    let m = f32::from_bits((above & 0x007f_ffff).wrapping_add(0x3f35_04f3));
    let n = n as f32 - if is_small { 23.0 } else { 0.0 };
    let f = m - 1.0;
    let square = f * f;
    let polynomial = ((((((((7.037_683_6e-2 * f - 1.151_461e-1) * f + 1.167_699_9e-1) * f
        - 1.242_014_1e-1)
        * f
        + 1.424_932_3e-1)
        * f
        - 1.666_805_7e-1)
        * f
        + 2.000_071_5e-1)
        * f
        - 2.499_999_4e-1)
        * f
        + 3.333_333e-1)
        * f
        * square;
    let low = polynomial + n * -2.121_944_4e-4 - 0.5 * square;
    let result = f + low + n * 0.693_359_4;
    if x > 0.0 && x < f32::INFINITY {
        result
    } else if x == 0.0 {
        f32::NEG_INFINITY
    } else if x > 0.0 {
        x
    } else {
        f32::NAN
    }
}

/// The hyperbolic tangent: a rational function near 0, by `e^2x` elsewhere.
#[inline]
fn tanh(x: f32) -> f32 {
    let a = x.abs();
    let square = x * x;
    let near = ((((-5.704_988_7e-3 * square + 2.063_909_5e-2) * square - 5.373_971e-2) * square
        + 1.333_144_2e-1)
        * square
        - 3.333_328e-1)
        * square
        * x
        + x;
    let far = 1.0 - 2.0 / (exp(2.0 * a.min(10.0)) + 1.0);
    let far = far.copysign(x);
    // What is not a number stays so, and the sign of 0 too.
    if x.is_nan() || x == 0.0 {
        x
    } else if a < 0.625 {
        near
    } else {
        far
    }
}

/// The error function: a polynomial near 0, `1 − e^(−x²)·p(t)` elsewhere, in f64 for the last bits.
#[inline]
fn erf(x: f32) -> f32 {
    libm::erff(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The greatest distance from `exact` in units of the last place.
    fn worst(range: (f32, f32), ours: fn(f32) -> f32, exact: fn(f64) -> f64) -> f64 {
        let mut worst = 0.0_f64;
        for step in 0..200_000 {
            let x = range.0 + (range.1 - range.0) * step as f32 / 200_000.0;
            let expected = exact(f64::from(x));
            let near = (expected as f32).abs().max(f32::MIN_POSITIVE);
            let unit = f64::from(f32::from_bits(near.to_bits() + 1) - near);
            worst = worst.max((f64::from(ours(x)) - expected).abs() / unit);
        }
        worst
    }

    #[test]
    fn functions_are_near_in_the_last_place() {
        assert!(worst((-87.0, 88.0), exp, f64::exp) < 2.0);
        assert!(worst((1e-6, 50.0), log, f64::ln) < 2.0);
        assert!(worst((-12.0, 12.0), tanh, f64::tanh) < 2.5);
    }

    #[test]
    fn ends_and_what_is_no_number() {
        assert_eq!(exp(200.0), f32::INFINITY);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f32::NAN).is_nan());
        assert!((exp(-100.0) - 3.8e-44).abs() < 3e-45);
        assert_eq!(log(0.0), f32::NEG_INFINITY);
        assert_eq!(log(f32::INFINITY), f32::INFINITY);
        assert!(log(-1.0).is_nan() && log(f32::NAN).is_nan());
        assert!((log(1e-40) - -92.103_4).abs() < 1e-3);
        assert_eq!(tanh(f32::INFINITY), 1.0);
        assert_eq!(tanh(-0.0).to_bits(), (-0.0_f32).to_bits());
    }
}
