//! Element types: which Rust type stands for which dtype, and torch's conversions between them.

use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};
use graven_ir::DType;
use half::{bf16, f16};

/// A complex number.
pub type Complex<T> = num_complex::Complex<T>;

/// A truth value as it stands in memory: any byte but 0 is true, so that no archive can hold a
/// byte that is none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Bool(u8);

impl Bool {
    /// The truth value.
    pub fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool {
    fn from(value: bool) -> Self {
        Self(u8::from(value))
    }
}

/// A type that elements of tensors have.
///
/// Conversions are torch's on x86: a float that an integer type cannot hold becomes what the
/// processor's conversion gives (the smallest 64-bit integer, cut to the type's bits).
pub trait Element:
    Copy + Send + Sync + PartialEq + Default + std::fmt::Debug + AnyBitPattern + NoUninit
{
    /// Its dtype.
    const DTYPE: DType;
    /// Its real part.
    fn to_f64(self) -> f64;
    /// Its integer value; a complex number's real part.
    fn to_i64(self) -> i64;
    /// The number.
    fn to_complex(self) -> Complex<f64>;
    /// From a float.
    fn from_f64(value: f64) -> Self;
    /// From an integer; the bits that the type has no room for are lost.
    fn from_i64(value: i64) -> Self;
    /// From a complex number, whose imaginary part is lost by types that have none.
    fn from_complex(value: Complex<f64>) -> Self;
    /// Whether it is not 0.
    fn is_true(self) -> bool;
    /// From a truth value.
    fn from_bool(value: bool) -> Self {
        Self::from_i64(i64::from(value))
    }
    /// 1.
    fn unit() -> Self {
        Self::from_i64(1)
    }
}

/// An element type with an order: all but the complex ones.
pub trait Real: Element + PartialOrd {
    /// Whether it is not a number.
    fn is_not_a_number(self) -> bool {
        false
    }
    /// The smallest value: minus infinity where there is one.
    fn lowest() -> Self;
    /// The greatest value: infinity where there is one.
    fn highest() -> Self;
}

/// A floating-point type, and the type that its arithmetic is done in.
pub trait Float: Real {
    /// `f32` for the half types and `f32`, `f64` for `f64`.
    type Math: num_traits::Float + Real + Float<Math = Self::Math> + std::iter::Sum;
    /// To the type of its arithmetic.
    fn to_math(self) -> Self::Math;
    /// Rounded from the type of its arithmetic.
    fn from_math(value: Self::Math) -> Self;
}

/// The 64-bit integer that x86 converts a float to.
fn truncated(value: f64) -> i64 {
    // 2^63 is the first float that is too large.
    if (-9.223_372_036_854_776e18..9.223_372_036_854_776e18).contains(&value) {
        value as i64
    } else {
        i64::MIN
    }
}

macro_rules! integer {
    ($($ty:ty => $dtype:ident),*) => {$(
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn to_f64(self) -> f64 { self as f64 }
            fn to_i64(self) -> i64 { self as i64 }
            fn to_complex(self) -> Complex<f64> { Complex::new(self as f64, 0.0) }
            fn from_f64(value: f64) -> Self { truncated(value) as $ty }
            fn from_i64(value: i64) -> Self { value as $ty }
            fn from_complex(value: Complex<f64>) -> Self { Self::from_f64(value.re) }
            fn is_true(self) -> bool { self != 0 }
        }

        impl Real for $ty {
            fn lowest() -> Self { <$ty>::MIN }
            fn highest() -> Self { <$ty>::MAX }
        }
    )*};
}

integer!(u8 => UInt8, i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64);

macro_rules! float {
    ($($ty:ty => $dtype:ident, $math:ty, $to:expr, $from:expr);*) => {$(
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn to_f64(self) -> f64 { f64::from(self) }
            fn to_i64(self) -> i64 { truncated(f64::from(self)) }
            fn to_complex(self) -> Complex<f64> { Complex::new(f64::from(self), 0.0) }
            fn from_f64(value: f64) -> Self { $from(value as $math) }
            fn from_i64(value: i64) -> Self { $from(value as $math) }
            fn from_complex(value: Complex<f64>) -> Self { Self::from_f64(value.re) }
            fn is_true(self) -> bool { f64::from(self) != 0.0 }
        }

        impl Real for $ty {
            fn is_not_a_number(self) -> bool { self != self }
            fn lowest() -> Self { Self::from_f64(f64::NEG_INFINITY) }
            fn highest() -> Self { Self::from_f64(f64::INFINITY) }
        }

        impl Float for $ty {
            type Math = $math;
            fn to_math(self) -> $math { $to(self) }
            fn from_math(value: $math) -> Self { $from(value) }
        }
    )*};
}

float!(
    f16 => Float16, f32, f16::to_f32, f16::from_f32;
    bf16 => BFloat16, f32, bf16::to_f32, bf16::from_f32;
    f32 => Float32, f32, std::convert::identity, std::convert::identity;
    f64 => Float64, f64, std::convert::identity, std::convert::identity
);

macro_rules! complex {
    ($($ty:ty => $dtype:ident),*) => {$(
        impl Element for Complex<$ty> {
            const DTYPE: DType = DType::$dtype;
            fn to_f64(self) -> f64 { f64::from(self.re) }
            fn to_i64(self) -> i64 { truncated(f64::from(self.re)) }
            fn to_complex(self) -> Complex<f64> {
                Complex::new(f64::from(self.re), f64::from(self.im))
            }
            fn from_f64(value: f64) -> Self { Self::new(value as $ty, 0.0) }
            fn from_i64(value: i64) -> Self { Self::new(value as $ty, 0.0) }
            fn from_complex(value: Complex<f64>) -> Self {
                Self::new(value.re as $ty, value.im as $ty)
            }
            fn is_true(self) -> bool { self.re != 0.0 || self.im != 0.0 }
        }
    )*};
}

complex!(f32 => Complex64, f64 => Complex128);

impl Element for Bool {
    const DTYPE: DType = DType::Bool;
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self.get()))
    }
    fn to_i64(self) -> i64 {
        i64::from(self.get())
    }
    fn to_complex(self) -> Complex<f64> {
        Complex::new(self.to_f64(), 0.0)
    }
    fn from_f64(value: f64) -> Self {
        // NaN is true.
        Self::from(value != 0.0)
    }
    fn from_i64(value: i64) -> Self {
        Self::from(value != 0)
    }
    fn from_complex(value: Complex<f64>) -> Self {
        Self::from(value.is_true())
    }
    fn is_true(self) -> bool {
        self.get()
    }
}

impl Real for Bool {
    fn lowest() -> Self {
        Self(0)
    }
    fn highest() -> Self {
        Self(1)
    }
}

/// Runs an expression with `$T` as the element type of a dtype: `dispatch!(any, dtype, T => …)`.
/// The first word says which dtypes the expression is made for: `any`; `real` (no complex one);
/// `number` (no bool, no complex); `float`; `integral` (bool too); `math` (what [`Float::Math`]
/// and complex numbers are). For others the result is `Err(Problem::DType)`.
macro_rules! dispatch {
    (any, $dtype:expr, $T:ident => $body:expr) => {
        $crate::element::dispatch!(@ $dtype, $T, $body,
            Bool Bool, UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float16 half::f16,
            BFloat16 half::bf16, Float32 f32, Float64 f64, Complex64 Complex<f32>,
            Complex128 Complex<f64>)
    };
    (real, $dtype:expr, $T:ident => $body:expr) => {
        $crate::element::dispatch!(@ $dtype, $T, $body,
            Bool Bool, UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float16 half::f16,
            BFloat16 half::bf16, Float32 f32, Float64 f64)
    };
    (number, $dtype:expr, $T:ident => $body:expr) => {
        $crate::element::dispatch!(@ $dtype, $T, $body,
            UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float16 half::f16,
            BFloat16 half::bf16, Float32 f32, Float64 f64)
    };
    (float, $dtype:expr, $T:ident => $body:expr) => {
        $crate::element::dispatch!(@ $dtype, $T, $body,
            Float16 half::f16, BFloat16 half::bf16, Float32 f32, Float64 f64)
    };
    (integral, $dtype:expr, $T:ident => $body:expr) => {
        $crate::element::dispatch!(@ $dtype, $T, $body,
            Bool Bool, UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64)
    };
    (math, $dtype:expr, $T:ident => $body:expr) => {
        $crate::element::dispatch!(@ $dtype, $T, $body,
            Float32 f32, Float64 f64, Complex64 Complex<f32>, Complex128 Complex<f64>)
    };
    (@ $dtype:expr, $T:ident, $body:expr, $($name:ident $ty:ty),*) => {{
        // The macro is used where these are not in scope as well.
        #[allow(unused_imports)]
        use $crate::element::{Bool, Complex};
        match $dtype {
            $(graven_ir::DType::$name => {
                type $T = $ty;
                $body
            })*
            other => Err($crate::error::Problem::DType { found: other }),
        }
    }};
}

pub(crate) use dispatch;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_that_integers_cannot_hold() {
        assert_eq!(i64::from_f64(f64::NAN), i64::MIN);
        assert_eq!(i64::from_f64(-1.9), -1);
        assert_eq!(u8::from_f64(-1.0), 255);
        assert_eq!(u8::from_f64(257.0), 1);
        assert_eq!(i32::from_i64(1 << 40), 0);
        assert!(Bool::from_f64(f64::NAN).get());
    }
}
