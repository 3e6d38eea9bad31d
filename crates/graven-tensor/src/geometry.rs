//! Sizes and strides, in elements.

use smallvec::SmallVec;

use crate::error::Problem;

/// Sizes or strides.
pub type Dims = SmallVec<[usize; 6]>;

/// How many elements there are; `None` when the number has no room in a machine word.
pub fn checked_numel(sizes: &[usize]) -> Option<usize> {
    if sizes.contains(&0) {
        return Some(0);
    }
    sizes
        .iter()
        .try_fold(1_usize, |count, size| count.checked_mul(*size))
}

/// How many elements a tensor that exists has.
pub fn numel(sizes: &[usize]) -> usize {
    sizes.iter().product()
}

/// Strides of a contiguous tensor. Dimensions without elements count as one, as torch has it.
pub fn contiguous_strides(sizes: &[usize]) -> Dims {
    strides_in_order(sizes, (0..sizes.len()).rev())
}

/// Strides of a tensor without gaps whose dimensions stand in this order, the densest first.
pub fn strides_in_order(sizes: &[usize], order: impl Iterator<Item = usize>) -> Dims {
    let mut strides = Dims::from_elem(0, sizes.len());
    let mut stride = 1_usize;
    for dim in order {
        strides[dim] = stride;
        stride = stride.saturating_mul(sizes[dim].max(1));
    }
    strides
}

/// Strides of a channels-last tensor of 4 or 5 dimensions; contiguous ones for other ranks.
pub fn channels_last_strides(sizes: &[usize]) -> Dims {
    match sizes.len() {
        4 => strides_in_order(sizes, [1, 3, 2, 0].into_iter()),
        5 => strides_in_order(sizes, [1, 4, 3, 2, 0].into_iter()),
        _ => contiguous_strides(sizes),
    }
}

/// Whether elements stand in order and without gaps. Strides of dimensions of one element do not
/// count, and a tensor without elements is contiguous.
pub fn is_contiguous(sizes: &[usize], strides: &[usize]) -> bool {
    is_in_order(sizes, strides, (0..sizes.len()).rev())
}

/// Whether a tensor of 4 or 5 dimensions has its channels last, and no gaps.
pub fn is_channels_last(sizes: &[usize], strides: &[usize]) -> bool {
    match sizes.len() {
        4 => is_in_order(sizes, strides, [1, 3, 2, 0].into_iter()),
        5 => is_in_order(sizes, strides, [1, 4, 3, 2, 0].into_iter()),
        _ => false,
    }
}

/// Whether a tensor of 4 or 5 dimensions has its channels last, gaps or not: the memory format
/// that torch suggests for what is computed from it. One channel in the order of a contiguous
/// tensor does not count.
pub fn suggests_channels_last(sizes: &[usize], strides: &[usize]) -> bool {
    let order: &[usize] = match sizes.len() {
        4 => &[1, 3, 2, 0],
        5 => &[1, 4, 3, 2, 0],
        _ => return false,
    };
    if strides[1] == 0 {
        return false;
    }
    let mut least = 0;
    for dim in order {
        let is_ambiguous = *dim == 0 && least == strides[1];
        if sizes[*dim] == 0 || strides[*dim] < least || is_ambiguous {
            return false;
        }
        least = strides[*dim];
        if sizes[*dim] > 1 {
            least = least.saturating_mul(sizes[*dim]);
        }
    }
    true
}

fn is_in_order(sizes: &[usize], strides: &[usize], order: impl Iterator<Item = usize>) -> bool {
    let mut expected = 1_usize;
    for dim in order {
        match sizes[dim] {
            0 => return true,
            1 => {}
            size => {
                if strides[dim] != expected {
                    return sizes.contains(&0);
                }
                expected = expected.saturating_mul(size);
            }
        }
    }
    true
}

/// The number of elements of a storage that a view of it reaches, from the view's first on; 0 for
/// a view without elements. `None` when it is beyond a machine word.
pub fn reach(sizes: &[usize], strides: &[usize]) -> Option<usize> {
    if sizes.contains(&0) {
        return Some(0);
    }
    let mut last = 0_usize;
    for (size, stride) in sizes.iter().zip(strides) {
        last = last.checked_add((size - 1).checked_mul(*stride)?)?;
    }
    last.checked_add(1)
}

/// The dimension that `dim`, which may count from the end, is.
///
/// # Errors
/// [`Problem::Dimension`]. A tensor without dimensions takes 0 and -1, as torch has it.
pub fn wrap_dim(dim: i64, rank: usize) -> Result<usize, Problem> {
    let wrong = || Problem::Dimension { dim, rank };
    let bound = rank.max(1) as i64;
    let wrapped = if dim < 0 { dim + bound } else { dim };
    if !(0..bound).contains(&wrapped) {
        return Err(wrong());
    }
    usize::try_from(wrapped).map_err(|_| wrong())
}

/// Dimensions, wrapped; each may be given once.
///
/// # Errors
/// [`Problem::Dimension`], or one given twice.
pub fn wrap_dims(dims: &[i64], rank: usize) -> Result<SmallVec<[usize; 6]>, Problem> {
    let mut wrapped = SmallVec::new();
    for dim in dims {
        let dim = wrap_dim(*dim, rank)?;
        if wrapped.contains(&dim) {
            return Err(Problem::invalid(format!(
                "dimension {dim} appears twice in the list of dimensions"
            )));
        }
        wrapped.push(dim);
    }
    Ok(wrapped)
}

/// The sizes that tensors of these sizes are broadcast to.
///
/// # Errors
/// [`Problem::Broadcast`].
pub fn broadcast(left: &[usize], right: &[usize]) -> Result<Dims, Problem> {
    let rank = left.len().max(right.len());
    let at = |sizes: &[usize], dim: usize| {
        let missing = rank - sizes.len();
        if dim < missing {
            1
        } else {
            sizes[dim - missing]
        }
    };
    (0..rank)
        .map(|dim| match (at(left, dim), at(right, dim)) {
            (left, right) if left == right => Ok(left),
            (1, right) => Ok(right),
            (left, 1) => Ok(left),
            _ => Err(Problem::Broadcast {
                left: left.to_vec(),
                right: right.to_vec(),
            }),
        })
        .collect()
}

/// Strides that read a tensor as if it had the greater sizes: 0 where it is broadcast.
///
/// # Errors
/// [`Problem::Broadcast`].
pub fn expanded_strides(
    sizes: &[usize],
    strides: &[usize],
    target: &[usize],
) -> Result<Dims, Problem> {
    let wrong = || Problem::Broadcast {
        left: sizes.to_vec(),
        right: target.to_vec(),
    };
    let missing = target.len().checked_sub(sizes.len()).ok_or_else(wrong)?;
    let mut expanded = Dims::from_elem(0, target.len());
    for (dim, (size, stride)) in sizes.iter().zip(strides).enumerate() {
        expanded[missing + dim] = match (*size, target[missing + dim]) {
            (size, target) if size == target => *stride,
            (1, _) => 0,
            _ => return Err(wrong()),
        };
    }
    Ok(expanded)
}

/// Strides of the view of a tensor under other sizes; `None` when no strides give it.
/// `sizes` of both have the same product.
pub fn view_strides(sizes: &[usize], strides: &[usize], target: &[usize]) -> Option<Dims> {
    if numel(sizes) == 0 {
        return Some(match sizes == target {
            true => Dims::from_slice(strides),
            false => contiguous_strides(target),
        });
    }
    let mut result = Dims::from_elem(0, target.len());
    let mut target_dim = target.len();
    // Dimensions that are one run in memory are taken together, from the last on.
    let mut run_stride = strides.last().copied().unwrap_or(1);
    let mut run = 1_usize;
    let mut taken = 1_usize;
    for dim in (0..sizes.len()).rev() {
        run *= sizes[dim];
        let ends = dim == 0 || (sizes[dim - 1] != 1 && strides[dim - 1] != run * run_stride);
        if !ends {
            continue;
        }
        while target_dim > 0 && (taken < run || target[target_dim - 1] == 1) {
            target_dim -= 1;
            result[target_dim] = taken * run_stride;
            taken *= target[target_dim];
        }
        if taken != run {
            return None;
        }
        if dim > 0 {
            run_stride = strides[dim - 1];
            run = 1;
            taken = 1;
        }
    }
    // A tensor of one element has target dimensions of size 1 only.
    while target_dim > 0 {
        target_dim -= 1;
        result[target_dim] = run_stride;
    }
    Some(result)
}

/// Strides of the result of an element-wise operator, as torch's `TensorIterator` chooses them:
/// those of the operands where they agree, contiguous ones where they do not.
///
/// Each operand's strides are given for the result's sizes, 0 where it is broadcast.
pub fn elementwise_strides(sizes: &[usize], operands: &[&[usize]]) -> Dims {
    let all =
        |test: fn(&[usize], &[usize]) -> bool| operands.iter().all(|strides| test(sizes, strides));
    if operands.is_empty() || all(is_contiguous) {
        return contiguous_strides(sizes);
    }
    if sizes.len() == 4 && all(is_channels_last) {
        return channels_last_strides(sizes);
    }
    let first = operands[0];
    if operands.iter().all(|strides| *strides == first) && is_dense(sizes, first) {
        return Dims::from_slice(first);
    }
    ordered_strides(sizes, operands)
}

/// Strides of a copy that keeps the layout: the same where there are no gaps and no overlaps, in
/// the same order elsewhere.
pub fn preserved_strides(sizes: &[usize], strides: &[usize]) -> Dims {
    match is_dense(sizes, strides) {
        true => Dims::from_slice(strides),
        false => elementwise_strides(sizes, &[strides]),
    }
}

/// Whether elements stand without gaps and overlaps, in any order of the dimensions.
pub fn is_dense(sizes: &[usize], strides: &[usize]) -> bool {
    let mut order: Dims = (0..sizes.len()).filter(|dim| sizes[*dim] != 1).collect();
    order.sort_by_key(|dim| strides[*dim]);
    is_in_order(sizes, strides, order.into_iter())
}

/// Strides of the result where operands do not all have its sizes, or some are numbers: even
/// contiguous ones are put in order then, which shows where dimensions have 1 element or none.
pub fn ordered_strides(sizes: &[usize], operands: &[&[usize]]) -> Dims {
    let mut strides = Dims::from_elem(0, sizes.len());
    let mut stride = 1_usize;
    for dim in iteration_order(sizes, operands) {
        strides[dim] = stride;
        stride = stride.saturating_mul(sizes[dim]);
    }
    strides
}

/// The order in which `TensorIterator` walks the dimensions, the innermost first: by stride, where
/// no operand objects.
fn iteration_order(sizes: &[usize], operands: &[&[usize]]) -> Dims {
    let mut order: Dims = (0..sizes.len()).rev().collect();
    // -1: the first belongs inside, 1: outside, 0: no operand can tell.
    let compare = |first: usize, second: usize| {
        for strides in operands {
            let (one, other) = (strides[first], strides[second]);
            if one == 0 || other == 0 {
                continue;
            }
            if one < other {
                return -1;
            }
            if one > other {
                return 1;
            }
            if sizes[first] > sizes[second] {
                return 1;
            }
        }
        0
    };
    for start in 1..order.len() {
        let mut place = start;
        for candidate in (0..start).rev() {
            match compare(order[candidate], order[place]) {
                1 => {
                    order.swap(candidate, place);
                    place = candidate;
                }
                -1 => break,
                _ => {}
            }
        }
    }
    order
}

/// A walk over several operands of common sizes, row by row.
///
/// Dimensions are put in the order of the first operand's strides, and joined where every operand
/// allows it, so that rows are as long as can be.
#[derive(Debug)]
pub struct Walk<const N: usize> {
    /// Sizes, the innermost first.
    sizes: Dims,
    /// For each operand its strides in the same order.
    strides: [Dims; N],
}

impl<const N: usize> Walk<N> {
    /// A walk over operands with these strides.
    pub fn new(sizes: &[usize], operands: [&[usize]; N]) -> Self {
        let mut order: Dims = (0..sizes.len())
            .rev()
            .filter(|dim| sizes[*dim] != 1)
            .collect();
        if let Some(first) = operands.first() {
            order.sort_by_key(|dim| first[*dim]);
        }
        let mut walk = Self {
            sizes: Dims::new(),
            strides: std::array::from_fn(|_| Dims::new()),
        };
        for dim in order {
            let size = sizes[dim];
            let joins = walk.sizes.last().copied().is_some_and(|inner| {
                (0..N).all(|operand| {
                    let inner_stride = walk.strides[operand].last().copied().unwrap_or(0);
                    operands[operand][dim] == inner_stride * inner
                })
            });
            match walk.sizes.last_mut() {
                Some(inner) if joins => *inner *= size,
                _ => {
                    walk.sizes.push(size);
                    for (strides, operand) in walk.strides.iter_mut().zip(&operands) {
                        strides.push(operand[dim]);
                    }
                }
            }
        }
        walk
    }

    /// The length of a row.
    pub fn row(&self) -> usize {
        self.sizes.first().copied().unwrap_or(1)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.sizes.iter().skip(1).product()
    }

    /// The step of each operand from one element of a row to the next.
    pub fn steps(&self) -> [usize; N] {
        std::array::from_fn(|operand| self.strides[operand].first().copied().unwrap_or(0))
    }

    /// Calls `visit` with the place of each operand's first element of each row in `rows`,
    /// counted from the operands' own first elements.
    pub fn for_each_row(&self, rows: std::ops::Range<usize>, mut visit: impl FnMut([usize; N])) {
        if self.row() == 0 {
            return;
        }
        let outer = self.sizes.get(1..).unwrap_or(&[]);
        let mut index = Dims::from_elem(0, outer.len());
        let mut rest = rows.start;
        let mut places = [0_usize; N];
        for (dim, size) in outer.iter().enumerate() {
            index[dim] = rest % (*size).max(1);
            rest /= (*size).max(1);
            for (place, strides) in places.iter_mut().zip(&self.strides) {
                *place += index[dim] * strides[dim + 1];
            }
        }
        for _ in rows {
            visit(places);
            for (dim, size) in outer.iter().enumerate() {
                index[dim] += 1;
                for (place, strides) in places.iter_mut().zip(&self.strides) {
                    *place += strides[dim + 1];
                }
                if index[dim] < *size {
                    break;
                }
                index[dim] = 0;
                for (place, strides) in places.iter_mut().zip(&self.strides) {
                    *place -= size * strides[dim + 1];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn views_of_strided_tensors() {
        let view = |sizes: &[usize], strides: &[usize], target: &[usize]| {
            view_strides(sizes, strides, target).map(|strides| strides.to_vec())
        };
        assert_eq!(view(&[2, 3, 4], &[12, 4, 1], &[6, 4]), Some(vec![4, 1]));
        assert_eq!(view(&[2, 3, 4], &[12, 4, 1], &[2, 12]), Some(vec![12, 1]));
        assert_eq!(view(&[4, 3], &[1, 4], &[12]), None);
        assert_eq!(view(&[4, 3], &[1, 4], &[2, 2, 3]), Some(vec![2, 1, 4]));
        assert_eq!(view(&[], &[], &[1, 1]), Some(vec![1, 1]));
        assert_eq!(view(&[4, 1, 3], &[3, 7, 1], &[12]), Some(vec![1]));
        assert_eq!(view(&[3, 0], &[1, 1], &[0, 5]), Some(vec![5, 1]));
    }

    #[test]
    fn strides_of_results() {
        let sizes = [2, 3, 4];
        let transposed: &[usize] = &[1, 2, 6];
        assert_eq!(
            elementwise_strides(&sizes, &[transposed]).to_vec(),
            [1, 2, 6]
        );
        assert_eq!(
            elementwise_strides(&sizes, &[&[12, 4, 1], transposed]).to_vec(),
            [12, 4, 1]
        );
        assert_eq!(
            elementwise_strides(&sizes, &[&[0, 0, 0], transposed]).to_vec(),
            [1, 2, 6]
        );
        assert_eq!(
            elementwise_strides(&sizes, &[&[24, 8, 2]]).to_vec(),
            [12, 4, 1]
        );
    }

    #[test]
    fn memory_formats() {
        assert!(is_dense(&[2, 1, 3], &[1, 9, 2]));
        assert!(!is_dense(&[2, 3], &[1, 4]));
        assert!(suggests_channels_last(&[1, 1, 5, 5], &[25, 1, 5, 1]));
        assert!(!suggests_channels_last(&[1, 1, 5, 5], &[25, 25, 5, 1]));
        assert!(!suggests_channels_last(&[2, 3, 1, 1], &[3, 1, 1, 1]));
    }

    #[test]
    fn rows_cover_every_element_once() {
        let sizes = [2, 3, 4];
        for strides in [[12, 4, 1], [1, 2, 6], [24, 8, 2], [4, 8, 1]] {
            let walk = Walk::new(&sizes, [&strides, &[12, 4, 1]]);
            let mut seen = Vec::new();
            let steps = walk.steps();
            for half in [0..walk.rows() / 2, walk.rows() / 2..walk.rows()] {
                walk.for_each_row(half, |[one, other]| {
                    for index in 0..walk.row() {
                        seen.push((one + index * steps[0], other + index * steps[1]));
                    }
                });
            }
            let mut expected = Vec::new();
            for i in 0..2 {
                for j in 0..3 {
                    for k in 0..4 {
                        let place = i * strides[0] + j * strides[1] + k * strides[2];
                        expected.push((place, i * 12 + j * 4 + k));
                    }
                }
            }
            seen.sort_unstable();
            expected.sort_unstable();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn dimensions_wrap() {
        assert_eq!(wrap_dim(-1, 3), Ok(2));
        assert_eq!(wrap_dim(-1, 0), Ok(0));
        assert!(wrap_dim(3, 3).is_err());
        assert!(wrap_dims(&[0, -2], 2).is_err());
    }
}
