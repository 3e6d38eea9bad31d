//! Loops over one slice that the compiler vectorizes: values go to lanes by turns, and the lanes
//! are put together at the end. Many lanes keep several vectors busy, and little is lost by
//! rounding: no lane sums more than a few dozen values.

use super::pointwise::{Arithmetic, Math, for_each_processor};

const LANES: usize = 64;

/// Slices shorter than this are summed in few lanes.
const SHORT: usize = 4 * LANES;

/// From so many values on, a sum is made of two halves.
const HALVED: usize = 64 * LANES;

/// The sum of a slice.
pub(super) fn sum<T: Arithmetic>(values: &[T]) -> T {
    if values.len() > HALVED {
        let (left, right) = values.split_at(values.len() / 2 / LANES * LANES);
        return sum(left).plus(sum(right));
    }
    match values.len() < SHORT {
        true => short_sum(values),
        false => long_sum(values),
    }
}

fn short_sum<T: Arithmetic>(values: &[T]) -> T {
    let mut lanes = [T::default(); 8];
    let chunks = values.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = lane.plus(*value);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane = lane.plus(*value);
    }
    lanes.into_iter().reduce(T::plus).unwrap_or_default()
}

for_each_processor! {
    fn long_sum<T: Arithmetic>(values: &[T]) -> T {
        let mut lanes = [T::default(); LANES];
        let chunks = values.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane = lane.plus(*value);
            }
        }
        for (lane, value) in lanes.iter_mut().zip(rest) {
            *lane = lane.plus(*value);
        }
        together(lanes, T::plus)
    }
}

for_each_processor! {
    /// The greatest value; minus infinity where there is none. What is not a number does not count.
    pub(super) fn greatest<M: Math>(values: &[M]) -> M {
        let greater = |a: M, b: M| if b > a { b } else { a };
        let mut lanes = [M::neg_infinity(); LANES];
        let chunks = values.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane = greater(*lane, *value);
            }
        }
        let top = rest.iter().fold(M::neg_infinity(), |top, value| greater(top, *value));
        match values.len() < LANES {
            true => top,
            false => greater(together(lanes, greater), top),
        }
    }
}

for_each_processor! {
    /// The sum of squares of the differences from a value.
    pub(super) fn squares<M: Math>(values: &[M], from: M) -> M {
        let zero = M::of(0.0);
        let mut lanes = [zero; LANES];
        let chunks = values.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane += (*value - from) * (*value - from);
            }
        }
        let mut total = zero;
        for value in rest {
            total += (*value - from) * (*value - from);
        }
        match values.len() < LANES {
            true => total,
            false => total + together(lanes, |a, b| a + b),
        }
    }
}

for_each_processor! {
    /// `e` to the power of the differences from a value.
    pub(super) fn exponentials<M: Math>(values: &[M], from: M, out: &mut [M]) {
        for (out, value) in out.iter_mut().zip(values) {
            *out = (*value - from).exponential();
        }
    }
}

for_each_processor! {
    /// `value · factor + shift`
    pub(super) fn scale<M: Math>(values: &[M], factor: M, shift: M, out: &mut [M]) {
        for (out, value) in out.iter_mut().zip(values) {
            *out = *value * factor + shift;
        }
    }
}

for_each_processor! {
    /// Products with a factor, in place.
    pub(super) fn multiply<M: Math>(values: &mut [M], factor: M) {
        for value in values {
            *value = *value * factor;
        }
    }
}

for_each_processor! {
    /// `(value − mean) · scale · weight + bias`
    pub(super) fn normalize<M: Math>(
        values: &[M],
        [mean, scale]: [M; 2],
        [weights, biases]: [&[M]; 2],
        out: &mut [M],
    ) {
        for (((out, value), weight), bias) in out.iter_mut().zip(values).zip(weights).zip(biases) {
            *out = (*value - mean) * scale * *weight + *bias;
        }
    }
}

/// Lanes put together by halves.
#[inline]
fn together<T: Copy>(mut lanes: [T; LANES], join: impl Fn(T, T) -> T) -> T {
    let mut half = LANES / 2;
    while half > 0 {
        for index in 0..half {
            lanes[index] = join(lanes[index], lanes[index + half]);
        }
        half /= 2;
    }
    lanes[0]
}
