//! Functions of `f32` without branches, so that loops of them vectorize: within two or three units
//! in the last place.

/// 1.5 · 2^23: added to a float, it leaves the nearest integer in the low bits of the mantissa.
const SHIFTER: f32 = 12_582_912.0;

/// `e^x`: x is n·ln 2 + r with |r| at most half of ln 2; e^r by its series, and 2^n by the exponent
/// bits, in two halves so that results below the normal range come out right.
#[inline]
pub(super) fn exp(x: f32) -> f32 {
    let clamped = x.clamp(-104.0, 89.0);
    let shifted = clamped * std::f32::consts::LOG2_E + SHIFTER;
    let n = shifted - SHIFTER;
    // ln 2 in two parts, so that the difference is exact.
    let r = clamped - n * 0.693_359_4;
    let r = r - n * -2.121_944_4e-4;
    scaled_exp(r, n)
}

/// `e^r · 2^n` for small r and whole n.
#[inline]
fn scaled_exp(r: f32, n: f32) -> f32 {
    let series =
        ((((1.987_569_1e-4 * r + 1.398_199_9e-3) * r + 8.333_452e-3) * r + 4.166_579_6e-2) * r
            + 1.666_666_5e-1)
            * r
            + 5e-1;
    let power = series * r * r + r + 1.0;
    // n stands in the low bits again.
    let n = (n + SHIFTER).to_bits().wrapping_sub(SHIFTER.to_bits()) as i32;
    let half = n >> 1;
    let scale = |n: i32| f32::from_bits((n.wrapping_add(127) as u32) << 23);
    power * scale(half) * scale(n - half)
}

/// The natural logarithm: x is 2^n · m with m in [√½, √2); log m by a polynomial in m − 1.
#[inline]
pub(super) fn log(x: f32) -> f32 {
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
    let result = if x < f32::INFINITY { result } else { x };
    let result = if x == 0.0 { f32::NEG_INFINITY } else { result };
    if x < 0.0 { f32::NAN } else { result }
}

/// The hyperbolic tangent: a rational function near 0, by `e^2x` elsewhere.
#[inline]
pub(super) fn tanh(x: f32) -> f32 {
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

/// `e^x − 1`: the series near 0, where the difference would lose digits.
#[inline]
pub(super) fn exp_minus_one(x: f32) -> f32 {
    let near =
        ((((((2.480_158_7e-5 * x + 1.984_127e-4) * x + 1.388_888_9e-3) * x + 8.333_333e-3) * x
            + 4.166_666_8e-2)
            * x
            + 1.666_666_7e-1)
            * x
            + 5e-1)
            * x
            * x
            + x;
    let far = exp(x) - 1.0;
    // What is not a number takes the far way, the sign of 0 the near one.
    if x.abs() < 0.5 && x != 0.0 {
        near
    } else if x == 0.0 {
        x
    } else {
        far
    }
}

/// `log(1 + x)`: the logarithm of the rounded sum, and what rounding took from it.
#[inline]
pub(super) fn log_one_plus(x: f32) -> f32 {
    let sum = 1.0 + x;
    let lost = x - (sum - 1.0);
    // Nothing is lost where the logarithm is infinite.
    let is_finite = sum > 0.0 && sum < f32::INFINITY;
    let correction = if is_finite { lost / sum } else { 0.0 };
    let result = log(sum) + correction;
    if x == 0.0 { x } else { result }
}

/// `2^x`
#[inline]
pub(super) fn exp2(x: f32) -> f32 {
    let clamped = x.clamp(-151.0, 129.0);
    let n = (clamped + SHIFTER) - SHIFTER;
    scaled_exp((clamped - n) * std::f32::consts::LN_2, n)
}

/// Beyond it the error function is 1 in `f32`.
const ERF_END: f32 = 3.92;

/// The error function: x times a rational function of x², fitted for the least relative error.
#[inline]
pub(super) fn erf(x: f32) -> f32 {
    // The last bits of f32 need a longer type.
    let inside = f64::from(x.clamp(-ERF_END, ERF_END));
    let t = inside * inside;
    let above = (((((-1.2799055865268101e-08 * t + 4.6090734965878265e-06) * t
        + 0.0003767542595923359)
        * t
        + 0.0038386608663756585)
        * t
        + 0.05424402848967195)
        * t
        + 0.18513663003471412)
        * t
        + 1.1283791691343896;
    let below = ((((6.23976736508785e-05 * t + 0.0013015264935786087) * t + 0.015430107011317331)
        * t
        + 0.1138741970509107)
        * t
        + 0.49740647252526693)
        * t
        + 1.0;
    let result = (inside * above / below) as f32;
    if x.abs() >= ERF_END {
        1.0_f32.copysign(x)
    } else {
        result
    }
}

/// The share of a normal distribution below x: half of `erfc(−x / √2)`, whose tail is
/// `e^(−x²/2)` times a polynomial in `1 / (1 + c·|x|)`, fitted for the least relative error.
#[inline]
pub(super) fn normal_distribution(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * std::f32::consts::FRAC_1_SQRT_2 * x.abs());
    let polynomial =
        (((((((-0.140_647_23 * t + 0.494_509_86) * t - 0.401_777_8) * t + 0.449_024_16) * t
            + 0.027_929_402)
            * t
            + 0.205_034_82)
            * t
            + 0.180_885_97)
            * t
            + 0.185_041_24)
            * t;
    let tail = 0.5 * polynomial * exp(-0.5 * x * x);
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// Up to it [`sin`] and [`cos`] are exact enough; beyond it the standard library's are.
pub(super) const TURNS_END: f32 = 1.5e6;

/// What is left of x after n right angles, and n, which only counts modulo 4.
#[inline]
fn right_angles(x: f32) -> (f64, u64) {
    /// 1.5 · 2^52: added to a float, it leaves the nearest integer in the low bits.
    const SHIFTER: f64 = 6_755_399_441_055_744.0;
    let x = f64::from(x);
    let shifted = x * std::f64::consts::FRAC_2_PI + SHIFTER;
    let n = shifted - SHIFTER;
    // π / 2 in two parts: the first has so few bits that its product with n is exact.
    let rest = x - n * 1.570_796_326_734_125_6 - n * 6.077_100_506_506_192e-11;
    (rest, shifted.to_bits())
}

/// The sine of x plus so many right angles.
#[inline]
fn sine_of(rest: f64, angles: u64) -> f32 {
    let t = rest * rest;
    // Series to the ninth and the eighth power, fitted on a quarter of π.
    let sine = (((2.718_311_493_989_822e-6 * t - 1.983_933_483_609_663_2e-4) * t
        + 8.333_329_385_889_463e-3)
        * t
        - 1.666_666_664_162_652_4e-1)
        * t
        * rest
        + rest;
    let cosine = (((2.439_044_879_627_741e-5 * t - 1.388_676_377_460_993e-3) * t
        + 0.041_666_623_323_739_06)
        * t
        - 4.999_999_972_510_31e-1)
        * t
        + 1.0;
    let value = if angles & 1 == 1 { cosine } else { sine };
    let value = if angles & 2 == 2 { -value } else { value };
    value as f32
}

/// The sine, up to [`TURNS_END`].
#[inline]
pub(super) fn sin(x: f32) -> f32 {
    let (rest, angles) = right_angles(x);
    let result = sine_of(rest, angles);
    // Keeps the sign of 0.
    if x == 0.0 { x } else { result }
}

/// The cosine, up to [`TURNS_END`].
#[inline]
pub(super) fn cos(x: f32) -> f32 {
    let (rest, angles) = right_angles(x);
    sine_of(rest, angles.wrapping_add(1))
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
        assert!(worst((-20.0, 20.0), exp_minus_one, f64::exp_m1) < 3.0);
        assert!(worst((-0.999, 30.0), log_one_plus, f64::ln_1p) < 3.0);
        assert!(worst((-125.0, 127.0), exp2, f64::exp2) < 2.0);
        assert!(worst((-4.5, 4.5), erf, libm::erf) < 1.0);
        let normal = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        assert!(worst((0.0, 5.0), normal_distribution, normal) < 8.0);
        assert!(worst((-4.0, 0.0), normal_distribution, normal) < 16.0);
        assert!(worst((-6.0, -4.0), normal_distribution, normal) < 32.0);
        assert!(worst((-1000.0, 1000.0), sin, f64::sin) < 1.0);
        assert!(worst((-1.5e6, 1.5e6), cos, f64::cos) < 1.0);
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
        for odd in [tanh, exp_minus_one, log_one_plus, erf, sin] {
            assert_eq!(odd(-0.0).to_bits(), (-0.0_f32).to_bits());
            assert!(odd(f32::NAN).is_nan());
        }
        assert_eq!(exp_minus_one(f32::NEG_INFINITY), -1.0);
        assert_eq!(exp_minus_one(f32::INFINITY), f32::INFINITY);
        assert_eq!(log_one_plus(-1.0), f32::NEG_INFINITY);
        assert_eq!(log_one_plus(f32::INFINITY), f32::INFINITY);
        assert!(log_one_plus(-2.0).is_nan());
        assert_eq!(exp2(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp2(-149.0), f32::from_bits(1));
        assert_eq!(exp2(10.0), 1024.0);
        assert_eq!(erf(f32::INFINITY), 1.0);
        assert_eq!(cos(0.0), 1.0);
    }
}
