//! Tensors whose elements share memory locations with one another, as the windows of an `unfold`
//! with a step shorter than its size, and what may be written to them.
//!
//! A kernel visits such a tensor's elements in an order that no one promises, so a write has a
//! meaning only when every visit leaves the same value.

use graven_ir::SymInt;
use rustc_hash::FxHashSet;

/// How many elements are looked at one by one before a tensor is taken to overlap.
const MOST_ELEMENTS: i64 = 1 << 16;

/// Whether two elements of a tensor stand at one place. Dimensions of stride 0 are left out: what
/// `expand` made is told apart by its own rule. Sizes and strides that are not constant are taken
/// to be apart.
pub fn overlaps(sizes: &[SymInt], strides: &[SymInt]) -> bool {
    let mut dims: Vec<(i64, i64)> = Vec::with_capacity(sizes.len());
    for (size, stride) in sizes.iter().zip(strides) {
        match (size, stride) {
            (SymInt::Int(0), _) => return false,
            (SymInt::Int(1), _) | (_, SymInt::Int(0)) => {}
            (SymInt::Int(size), SymInt::Int(stride)) => dims.push((*stride, *size)),
            _ => return false,
        }
    }
    dims.sort_unstable();
    let mut reach = 0_i64;
    for (stride, size) in &dims {
        if *stride <= reach {
            return two_at_one_place(&dims);
        }
        reach = reach.saturating_add(stride.saturating_mul(size - 1));
    }
    false
}

/// The same, by looking at each element; too many to look at are taken to overlap.
fn two_at_one_place(dims: &[(i64, i64)]) -> bool {
    let count = dims
        .iter()
        .fold(1_i64, |count, (_, size)| count.saturating_mul(*size));
    if count > MOST_ELEMENTS {
        return true;
    }
    let mut places = vec![0_i64];
    for (stride, size) in dims {
        let along = |place: &i64| {
            let place = *place;
            (0..*size).map(move |index| place.wrapping_add(index.wrapping_mul(*stride)))
        };
        places = places.iter().flat_map(along).collect();
    }
    let mut seen = FxHashSet::default();
    !places.into_iter().all(|place| seen.insert(place))
}

/// Whether an operator, by its functional form's name, gives an element the same value however
/// often it is applied to it, as long as its other arguments are the same for every element.
pub fn is_idempotent(packet: &str) -> bool {
    matches!(
        packet,
        "abs"
            | "ceil"
            | "clamp"
            | "clamp_max"
            | "clamp_min"
            | "clip"
            | "copy"
            | "fill"
            | "fix"
            | "floor"
            | "hardtanh"
            | "nan_to_num"
            | "relu"
            | "relu6"
            | "sgn"
            | "sign"
            | "trunc"
            | "zero"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(sizes: &[i64], strides: &[i64]) -> bool {
        let ints = |values: &[i64]| -> Vec<SymInt> {
            values.iter().map(|value| SymInt::Int(*value)).collect()
        };
        overlaps(&ints(sizes), &ints(strides))
    }

    #[test]
    fn which_overlap() {
        assert!(!strided(&[3, 4], &[4, 1]));
        assert!(!strided(&[4, 3], &[1, 4]));
        assert!(!strided(&[2, 2], &[3, 1]));
        assert!(strided(&[3, 3], &[1, 1]));
        assert!(strided(&[3, 3], &[2, 1]));
        // Interleaved, and still apart: 0, 2, 4 and 3, 5, 7.
        assert!(!strided(&[2, 3], &[3, 2]));
        assert!(!strided(&[5, 3], &[0, 1]));
        assert!(!strided(&[0, 3, 3], &[1, 1, 1]));
        assert!(strided(&[1 << 40, 1 << 40], &[1, 1]));
    }
}
