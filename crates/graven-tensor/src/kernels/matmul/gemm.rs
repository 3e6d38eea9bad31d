//! Calls of the library. The one place of this crate that is `unsafe`: the library takes pointers,
//! and reaches are checked before it is called.
#![allow(unsafe_code)]

use gemm::Parallelism;

use super::{Matrix, Product, Target};

/// The product of two matrices.
///
/// Nothing is done where a matrix reaches beyond its elements: the callers' sizes are those of
/// arrays, which never do.
pub(super) fn multiply<T: Product + num_traits::One>(
    mut target: Target<'_, T>,
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
    is_parallel: bool,
) {
    let (rows, inner, columns) = (left.rows, left.columns, right.columns);
    let fits = target.elements.len() >= target.reach(rows, columns)
        && target.row_step >= columns
        && left.elements.len() >= left.reach()
        && right.elements.len() >= right.reach()
        && right.rows == inner;
    if !fits || rows == 0 || columns == 0 {
        return;
    }
    if inner == 0 {
        return target.clear(rows, columns);
    }
    let parallelism = match is_parallel {
        true => Parallelism::Rayon(0),
        false => Parallelism::None,
    };
    let step = |step: usize| step.cast_signed();
    // SAFETY: each matrix's reach lies in its slice (checked above), the slices live through the
    // call, and `target` is borrowed alone. `T` is one of the library's types.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            inner,
            target.elements.as_mut_ptr(),
            1,
            step(target.row_step),
            target.adds,
            left.elements.as_ptr(),
            step(left.column_step),
            step(left.row_step),
            right.elements.as_ptr(),
            step(right.column_step),
            step(right.row_step),
            T::one(),
            T::one(),
            false,
            false,
            false,
            parallelism,
        );
    }
}
