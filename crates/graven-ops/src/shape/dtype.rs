//! Which dtype a computation has: torch's type promotion.

use graven_ir::{DType, SymInt};

use crate::emit::Arg;

/// The kinds of numbers, from the least to the most general.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Category {
    Bool,
    Integral,
    Floating,
    Complex,
}

fn category(dtype: DType) -> Category {
    if dtype.is_complex() {
        Category::Complex
    } else if dtype.is_floating_point() {
        Category::Floating
    } else if dtype == DType::Bool {
        Category::Bool
    } else {
        Category::Integral
    }
}

/// The dtype of `float_power`: always the widest of its kind.
pub(crate) fn float_power_dtype<V>(tensors: &[DType], scalar: &Arg<V>) -> DType {
    let is_complex =
        matches!(scalar, Arg::Complex(..)) || tensors.iter().any(|dtype| dtype.is_complex());
    if is_complex {
        DType::Complex128
    } else {
        DType::Float64
    }
}

/// A scalar as one of a floating-point or complex dtype.
pub(crate) fn scalar_in<V>(dtype: DType, scalar: Arg<V>) -> Arg<V> {
    let real = match scalar {
        Arg::Int(SymInt::Int(value)) => value as f64,
        Arg::Float(value) => value,
        Arg::Bool(value) => f64::from(u8::from(value)),
        other => return other,
    };
    match category(dtype) {
        Category::Complex => Arg::Complex(real, 0.0),
        _ => Arg::Float(real),
    }
}

/// The dtype of two dtypes' results.
pub(crate) fn promote(a: DType, b: DType) -> DType {
    if a == b {
        return a;
    }
    let (low, high) = if category(a) <= category(b) {
        (a, b)
    } else {
        (b, a)
    };
    match category(high) {
        Category::Bool => DType::Bool,
        Category::Integral if category(low) == Category::Bool => high,
        Category::Integral => promote_integers(low, high),
        Category::Floating if category(low) == Category::Floating => promote_floats(low, high),
        Category::Floating => high,
        Category::Complex => match category(low) {
            Category::Floating | Category::Complex => {
                let real = promote(low.to_real(), high.to_real());
                real.to_complex().unwrap_or(DType::Complex64)
            }
            _ => high,
        },
    }
}

fn is_unsigned(dtype: DType) -> bool {
    matches!(
        dtype,
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64
    )
}

fn promote_integers(a: DType, b: DType) -> DType {
    let (narrow, wide) = if a.bytes() <= b.bytes() {
        (a, b)
    } else {
        (b, a)
    };
    if is_unsigned(narrow) == is_unsigned(wide)
        || !is_unsigned(wide) && wide.bytes() > narrow.bytes()
    {
        return wide;
    }
    // A signed type that holds both.
    match narrow.bytes().max(wide.bytes()) {
        1 => DType::Int16,
        2 => DType::Int32,
        _ => DType::Int64,
    }
}

fn promote_floats(a: DType, b: DType) -> DType {
    match a.bytes().cmp(&b.bytes()) {
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Greater => a,
        // `float16` and `bfloat16`: neither holds the other.
        std::cmp::Ordering::Equal => DType::Float32,
    }
}

/// What the operands of a computation say of its dtype. Tensors with dimensions decide; those
/// without, and then scalars, count only where they are of a more general kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Promotion {
    with_dims: Option<DType>,
    without_dims: Option<DType>,
    scalars: Option<DType>,
}

impl Promotion {
    pub(crate) fn add_tensor(&mut self, dtype: DType, rank: usize) {
        let known = if rank > 0 {
            &mut self.with_dims
        } else {
            &mut self.without_dims
        };
        *known = Some(known.map_or(dtype, |known| promote(known, dtype)));
    }

    pub(crate) fn add_scalar<V>(&mut self, scalar: &Arg<V>) {
        let dtype = match scalar {
            Arg::Int(_) => DType::Int64,
            Arg::Float(_) => DType::Float32,
            Arg::Bool(_) => DType::Bool,
            Arg::Complex(..) => DType::Complex64,
            _ => return,
        };
        self.scalars = Some(self.scalars.map_or(dtype, |known| promote(known, dtype)));
    }

    /// The dtype; `None` without operands.
    pub(crate) fn result(self) -> Option<DType> {
        combine(combine(self.with_dims, self.without_dims), self.scalars)
    }
}

/// The dtype of operands that decide and others that count less.
fn combine(decides: Option<DType>, other: Option<DType>) -> Option<DType> {
    let (Some(decides), Some(other)) = (decides, other) else {
        return decides.or(other);
    };
    if category(other) <= category(decides) {
        return Some(decides);
    }
    Some(match (category(decides), category(other)) {
        (Category::Floating, Category::Complex) => decides.to_complex().unwrap_or(other),
        _ => other,
    })
}

/// Whether these are integers or truth values.
pub(crate) fn is_integral(dtype: DType) -> bool {
    matches!(category(dtype), Category::Bool | Category::Integral)
}

/// The dtype of a computation that is done in floating-point numbers.
pub(crate) fn to_floating(dtype: DType) -> DType {
    if is_integral(dtype) {
        DType::Float32
    } else {
        dtype
    }
}
