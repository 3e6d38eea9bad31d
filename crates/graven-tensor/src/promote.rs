//! Type promotion: which dtype an operator computes in when its arguments have several.

use graven_ir::DType;

use crate::array::Array;
use crate::error::Problem;
use crate::scalar::Scalar;
use crate::value::Value;

/// Where a dtype stands among those of its category; for promotion within it.
pub(crate) fn category(dtype: DType) -> u8 {
    match dtype {
        DType::Bool => 0,
        dtype if dtype.is_complex() => 3,
        dtype if dtype.is_floating_point() => 2,
        _ => 1,
    }
}

/// The dtype that holds values of both: `torch.promote_types`.
pub fn promote_types(left: DType, right: DType) -> DType {
    if left == right {
        return left;
    }
    let (low, high) = match category(left) <= category(right) {
        true => (left, right),
        false => (right, left),
    };
    match (category(low), category(high)) {
        (0, _) | (1, 2 | 3) => high,
        (1, 1) => promote_integers(low, high),
        (2, 2) => promote_floats(low, high),
        // A complex type whose parts hold both.
        _ => promote_floats(low.to_real(), high.to_real())
            .to_complex()
            .unwrap_or(high),
    }
}

fn promote_integers(left: DType, right: DType) -> DType {
    let (small, large) = match left.bytes() <= right.bytes() {
        true => (left, right),
        false => (right, left),
    };
    match (small, large) {
        (DType::UInt8, DType::Int8) | (DType::Int8, DType::UInt8) => DType::Int16,
        _ => large,
    }
}

fn promote_floats(left: DType, right: DType) -> DType {
    if left == right {
        return left;
    }
    match left.bytes().cmp(&right.bytes()) {
        std::cmp::Ordering::Less => right,
        std::cmp::Ordering::Greater => left,
        // float16 and bfloat16.
        std::cmp::Ordering::Equal => DType::Float32,
    }
}

/// What takes part in a promotion. Tensors with dimensions count before those without, and those
/// before numbers: a lesser one decides only where its category is higher.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Promotion {
    dimensioned: Option<DType>,
    zero_dimensional: Option<DType>,
    number: Option<DType>,
}

impl Promotion {
    pub(crate) fn array(mut self, array: &Array) -> Self {
        let slot = match array.rank() {
            0 => &mut self.zero_dimensional,
            _ => &mut self.dimensioned,
        };
        *slot = promoted(*slot, array.dtype());
        self
    }

    pub(crate) fn scalar(mut self, scalar: Scalar) -> Self {
        self.number = promoted(self.number, scalar.dtype());
        self
    }

    /// The dtype; `None` when nothing took part.
    pub(crate) fn result(self) -> Option<DType> {
        combine(
            self.dimensioned,
            combine(self.zero_dimensional, self.number),
        )
    }
}

fn promoted(known: Option<DType>, dtype: DType) -> Option<DType> {
    Some(known.map_or(dtype, |known| promote_types(known, dtype)))
}

fn combine(higher: Option<DType>, lower: Option<DType>) -> Option<DType> {
    let (Some(high), Some(low)) = (higher, lower) else {
        return higher.or(lower);
    };
    Some(match (category(high), category(low)) {
        (3, _) => high,
        (2, 3) => high.to_complex().unwrap_or(low),
        (2, _) => high,
        (0, _) | (_, 2 | 3) => promote_types(high, low),
        _ => high,
    })
}

/// The dtype that tensors and numbers have together: `torch.result_type`.
///
/// # Errors
/// When there is neither.
pub fn result_type(values: &[Value]) -> Result<DType, Problem> {
    let mut promotion = Promotion::default();
    for value in values {
        promotion = match (value, value.as_scalar()) {
            (Value::Tensor(tensor), _) => promotion.array(&tensor.array()),
            (_, Some(scalar)) => promotion.scalar(scalar),
            _ => promotion,
        };
    }
    promotion
        .result()
        .ok_or_else(|| Problem::invalid("no argument has a dtype"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs() {
        use DType::*;
        for (left, right, both) in [
            (UInt8, Int8, Int16),
            (UInt8, Int64, Int64),
            (Int64, Float16, Float16),
            (Float16, BFloat16, Float32),
            (Float64, Complex64, Complex128),
            (Int64, Complex64, Complex64),
            (BFloat16, Complex64, Complex64),
            (Bool, UInt8, UInt8),
        ] {
            assert_eq!(promote_types(left, right), both);
            assert_eq!(promote_types(right, left), both);
        }
    }

    #[test]
    fn numbers_decide_only_by_a_higher_category() {
        let decide =
            |dimensioned, number| combine(Some(dimensioned), Some(number)).unwrap_or(DType::Bool);
        assert_eq!(decide(DType::Float16, DType::Float32), DType::Float16);
        assert_eq!(decide(DType::Int32, DType::Float32), DType::Float32);
        assert_eq!(decide(DType::UInt8, DType::Int64), DType::UInt8);
        assert_eq!(decide(DType::Bool, DType::Int64), DType::Int64);
        assert_eq!(decide(DType::Float64, DType::Complex64), DType::Complex128);
    }
}
