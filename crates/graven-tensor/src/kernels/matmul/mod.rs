//! Matrix products.

mod einsum;
mod gemm;
mod products;

use graven_ir::DType;
use rayon::prelude::*;

use super::pointwise::{Arithmetic, compute};
use crate::array::{Array, Fresh};
use crate::element::Element;
use crate::error::Problem;
use crate::geometry::{self, Dims};
use crate::scalar::Scalar;

pub(super) use products::linear;

pub(super) const FAMILIES: [super::Table; 2] = [einsum::KERNELS, products::KERNELS];

/// A matrix as a product reads it: elements, and the steps to the next row and column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix<'a, T> {
    pub(super) elements: &'a [T],
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) row_step: usize,
    pub(super) column_step: usize,
}

impl<'a, T: Element> Matrix<'a, T> {
    /// A contiguous matrix.
    pub(super) fn contiguous(elements: &'a [T], rows: usize, columns: usize) -> Self {
        Self {
            elements,
            rows,
            columns,
            row_step: columns,
            column_step: 1,
        }
    }

    /// Rows as columns.
    pub(super) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_step: self.column_step,
            column_step: self.row_step,
            ..self
        }
    }

    /// How many elements it reaches.
    fn reach(&self) -> usize {
        match self.rows == 0 || self.columns == 0 {
            true => 0,
            false => (self.rows - 1) * self.row_step + (self.columns - 1) * self.column_step + 1,
        }
    }
}

/// Where a product goes: rows of as many elements as it has columns, `row_step` apart.
#[derive(Debug)]
pub(super) struct Target<'a, T> {
    elements: &'a mut [T],
    row_step: usize,
    /// Whether the product is added to what is there.
    adds: bool,
}

impl<'a, T: Element> Target<'a, T> {
    /// Elements that are written, whatever they were.
    pub(super) fn new(elements: &'a mut [T], row_step: usize) -> Self {
        Self {
            elements,
            row_step,
            adds: false,
        }
    }

    /// Elements that the product is added to.
    pub(super) fn added(elements: &'a mut [T], row_step: usize) -> Self {
        Self {
            elements,
            row_step,
            adds: true,
        }
    }

    /// How many elements a product of these sizes reaches.
    fn reach(&self, rows: usize, columns: usize) -> usize {
        match rows == 0 || columns == 0 {
            true => 0,
            false => (rows - 1) * self.row_step + columns,
        }
    }

    /// Writes the product of matrices that have nothing to sum.
    fn clear(&mut self, rows: usize, columns: usize) {
        if !self.adds && columns > 0 {
            for row in self.elements.chunks_mut(self.row_step.max(1)).take(rows) {
                row[..columns].fill(T::default());
            }
        }
    }
}

/// Types that matrices are multiplied in.
pub(super) trait Product: Arithmetic {
    /// The product of two matrices.
    fn multiply(
        target: Target<'_, Self>,
        left: Matrix<'_, Self>,
        right: Matrix<'_, Self>,
        is_parallel: bool,
    );
}

/// Up to so many multiplications a loop is faster than a call of the library.
const SMALL: usize = 16 * 16 * 16;

/// The product by loops, rows of `right` at a time.
fn by_loops<T: Arithmetic>(mut target: Target<'_, T>, left: Matrix<'_, T>, right: Matrix<'_, T>) {
    let columns = right.columns;
    target.clear(left.rows, columns);
    let rows = target.elements.chunks_mut(target.row_step.max(1));
    for (row, out) in rows.enumerate().take(left.rows) {
        let out = &mut out[..columns];
        for inner in 0..left.columns {
            let factor = left.elements[row * left.row_step + inner * left.column_step];
            let start = inner * right.row_step;
            if right.column_step == 1 {
                let line = &right.elements[start..start + columns];
                for (out, value) in out.iter_mut().zip(line) {
                    *out = out.plus(factor.times(*value));
                }
            } else {
                for (column, out) in out.iter_mut().enumerate() {
                    let value = right.elements[start + column * right.column_step];
                    *out = out.plus(factor.times(value));
                }
            }
        }
    }
}

macro_rules! product {
    (loops: $($ty:ty),*) => {$(
        impl Product for $ty {
            fn multiply(
                target: Target<'_, Self>,
                left: Matrix<'_, Self>,
                right: Matrix<'_, Self>,
                _is_parallel: bool,
            ) {
                by_loops(target, left, right);
            }
        }
    )*};
    (library: $($ty:ty),*) => {$(
        impl Product for $ty {
            fn multiply(
                target: Target<'_, Self>,
                left: Matrix<'_, Self>,
                right: Matrix<'_, Self>,
                is_parallel: bool,
            ) {
                match left.rows * left.columns * right.columns <= SMALL {
                    true => by_loops(target, left, right),
                    false => gemm::multiply(target, left, right, is_parallel),
                }
            }
        }
    )*};
}

product!(loops: u8, i8, i16, i32, i64);
product!(library: f32, f64, crate::element::Complex<f32>, crate::element::Complex<f64>);

/// Runs an expression with the type `$C` in which matrices of a dtype are multiplied, and its own.
macro_rules! compute_product {
    ($dtype:expr, $C:ident, $O:ident => $body:expr) => {
        $crate::kernels::pointwise::compute!(product, $dtype, $C, $O => $body)
    };
}

/// From so many multiplications on, one product is shared among threads.
const PARALLEL: usize = 1 << 19;

/// Two matrices, or as many pairs of them: the last two dimensions are the matrix's, the one
/// before counts them.
pub(super) fn batched(left: &Array, right: &Array) -> Result<Array, Problem> {
    batched_onto(None, left, right)
}

/// The same, added to another tensor, which is broadcast and has the dtype that is computed in.
fn batched_onto(added: Option<&Array>, left: &Array, right: &Array) -> Result<Array, Problem> {
    let ([count, rows, inner], [other_count, other_inner, columns]) =
        (three_sizes(left)?, three_sizes(right)?);
    if left.dtype() != right.dtype() {
        return Err(Problem::OtherDType {
            expected: left.dtype(),
            found: right.dtype(),
        });
    }
    if count != other_count || inner != other_inner {
        return Err(Problem::invalid(format!(
            "matrices of sizes {:?} and {:?} have no product",
            left.sizes(),
            right.sizes()
        )));
    }
    compute_product!(left.dtype(), C, O => {
        let (left, right) = (left.converted(C::DTYPE)?, right.converted(C::DTYPE)?);
        let (left_data, right_data) = (left.data::<C>()?, right.data::<C>()?);
        let sizes = [count, rows, columns];
        let result = match added {
            Some(added) => added.expand(&sizes)?.copied(geometry::contiguous_strides(&sizes))?,
            None => Fresh::<C>::to_be_written(count * rows * columns)?.into_array(&sizes)?,
        };
        let of = |array: &Array, number: usize| number * array.strides()[0];
        let left_matrix = |number| Matrix {
            elements: left_data.elements().get(of(&left, number)..).unwrap_or(&[]),
            rows,
            columns: inner,
            row_step: left.strides()[1],
            column_step: left.strides()[2],
        };
        let right_matrix = |number| Matrix {
            elements: right_data.elements().get(of(&right, number)..).unwrap_or(&[]),
            rows: inner,
            columns,
            row_step: right.strides()[1],
            column_step: right.strides()[2],
        };
        let work = rows * inner * columns;
        let size = (rows * columns).max(1);
        result.write(|out: &mut [C]| {
            let one = |(number, out), is_parallel| {
                let target = match added {
                    Some(_) => Target::added(out, columns),
                    None => Target::new(out, columns),
                };
                C::multiply(target, left_matrix(number), right_matrix(number), is_parallel);
            };
            if count > 1 && count * work >= PARALLEL {
                out.par_chunks_mut(size).enumerate().for_each(|pair| one(pair, false));
            } else {
                let pairs = out.chunks_mut(size).enumerate();
                pairs.for_each(|pair| one(pair, work >= PARALLEL));
            }
        })?;
        result.converted(O::DTYPE)
    })
}

fn three_sizes(array: &Array) -> Result<[usize; 3], Problem> {
    <[usize; 3]>::try_from(array.sizes()).map_err(|_| {
        Problem::invalid(format!(
            "a batch of matrices has three dimensions, found sizes {:?}",
            array.sizes()
        ))
    })
}

/// The product of two matrices.
pub(super) fn product(left: &Array, right: &Array) -> Result<Array, Problem> {
    product_onto(None, left, right)
}

/// The same, added to another tensor: see [`batched_onto`].
fn product_onto(added: Option<&Array>, left: &Array, right: &Array) -> Result<Array, Problem> {
    let ([rows, _], [_, columns]) = (two_sizes(left)?, two_sizes(right)?);
    let batch = |array: &Array| super::view::unsqueezed(array, 0);
    let result = batched_onto(added, &batch(left)?, &batch(right)?)?;
    reshape(&result, &[rows, columns])
}

fn two_sizes(array: &Array) -> Result<[usize; 2], Problem> {
    <[usize; 2]>::try_from(array.sizes()).map_err(|_| {
        Problem::invalid(format!(
            "a matrix has two dimensions, found sizes {:?}",
            array.sizes()
        ))
    })
}

/// The same elements in order under other sizes: a view where there is one, else a copy.
pub(super) fn reshape(array: &Array, sizes: &[usize]) -> Result<Array, Problem> {
    if let Some(view) = super::view::reshaped(array, sizes)? {
        return Ok(view);
    }
    let copy = array.contiguous()?;
    copy.view(sizes, geometry::contiguous_strides(sizes), copy.offset())
}

/// The product by torch's rules for all ranks: vectors, matrices, broadcast batches.
pub(super) fn matmul(left: &Array, right: &Array) -> Result<Array, Problem> {
    let wrong = || {
        Problem::invalid(format!(
            "tensors of sizes {:?} and {:?} have no product",
            left.sizes(),
            right.sizes()
        ))
    };
    let (left_rank, right_rank) = (left.rank(), right.rank());
    if left_rank == 0 || right_rank == 0 {
        return Err(wrong());
    }
    // A vector on the left is a row, one on the right a column.
    let left_matrix = match left_rank {
        1 => super::view::unsqueezed(left, 0)?,
        _ => left.clone(),
    };
    let right_matrix = match right_rank {
        1 => super::view::unsqueezed(right, 1)?,
        _ => right.clone(),
    };
    let split = |array: &Array| array.rank() - 2;
    let (left_batch, right_batch) = (split(&left_matrix), split(&right_matrix));
    let [rows, inner] = [
        left_matrix.size(left_batch),
        left_matrix.size(left_batch + 1),
    ];
    let [other_inner, columns] = [
        right_matrix.size(right_batch),
        right_matrix.size(right_batch + 1),
    ];
    if inner != other_inner {
        return Err(wrong());
    }
    let (batch, result) = if right_batch == 0 {
        // All rows of the left at once.
        let batch = Dims::from_slice(&left_matrix.sizes()[..left_batch]);
        let all_rows = geometry::numel(&batch) * rows;
        let flat = reshape(&left_matrix, &[all_rows, inner])?;
        (batch, product(&flat, &right_matrix)?)
    } else {
        let batch = geometry::broadcast(
            &left_matrix.sizes()[..left_batch],
            &right_matrix.sizes()[..right_batch],
        )?;
        let flat = |array: &Array, one: usize, other: usize| {
            let mut sizes = batch.clone();
            sizes.extend([one, other]);
            reshape(
                &array.expand(&sizes)?,
                &[geometry::numel(&batch), one, other],
            )
        };
        let left = flat(&left_matrix, rows, inner)?;
        (
            batch.clone(),
            batched(&left, &flat(&right_matrix, inner, columns)?)?,
        )
    };
    let mut sizes = batch;
    if left_rank > 1 {
        sizes.push(rows);
    }
    if right_rank > 1 {
        sizes.push(columns);
    }
    reshape(&result, &sizes)
}

/// The sum of a tensor, which is broadcast, and a product of matrices.
pub(super) fn product_added(added: &Array, left: &Array, right: &Array) -> Result<Array, Problem> {
    // Half types round the product first, and integers gain nothing.
    let is_exact = matches!(left.dtype(), DType::Float32 | DType::Float64);
    match is_exact && added.dtype() == left.dtype() {
        true => product_onto(Some(added), left, right),
        false => {
            let product = product(left, right)?;
            combined(added, &product, Scalar::Int(1), Scalar::Int(1))
        }
    }
}

/// `beta · input + alpha · product`; `input` is broadcast, and not read when beta is 0.
pub(super) fn combined(
    input: &Array,
    product: &Array,
    beta: Scalar,
    alpha: Scalar,
) -> Result<Array, Problem> {
    let input = input.expand(product.sizes())?;
    if input.dtype() != product.dtype() {
        return Err(Problem::OtherDType {
            expected: product.dtype(),
            found: input.dtype(),
        });
    }
    compute!(any, product.dtype(), C, O => {
        let (alpha, beta) = (alpha.to::<C>(), beta.to::<C>());
        let values = product.converted(C::DTYPE)?.to_vec::<C>()?;
        let mut fresh = Fresh::<C>::to_be_written(values.len())?;
        let out = fresh.elements();
        if beta == C::default() {
            out.iter_mut().zip(values).for_each(|(out, value)| *out = alpha.times(value));
        } else {
            let added = input.converted(C::DTYPE)?.to_vec::<C>()?;
            for ((out, value), added) in out.iter_mut().zip(values).zip(added) {
                *out = beta.times(added).plus(alpha.times(value));
            }
        }
        fresh.into_array(product.sizes())?.converted(O::DTYPE)
    })
}
