//! Products of two tensors, and products that are added to a third.

use super::super::Table;
use super::super::pointwise::Operand;
use super::super::view::{transpose, unsqueezed};
use super::{batched, combined, matmul, product, product_added, reshape};
use crate::array::Array;
use crate::call::Call;
use crate::error::Problem;
use crate::geometry::{self, Dims, wrap_dim};
use crate::scalar::Scalar;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::addbmm", |call| {
        // The sum of all products is one product of longer rows.
        let (left, right) = (call.array(1)?, call.array(2)?);
        let products = batched(&left, &right)?;
        let sum = super::super::reduce::sum(&products, Some(&[0]), false)?;
        let sum = sum.converted(products.dtype())?;
        Ok(combined(&call.array(0)?, &sum, call.scalar(3)?, call.scalar(4)?)?.into())
    }),
    ("aten::addmm", |call| {
        let (added, left, right) = (call.array(0)?, call.array(1)?, call.array(2)?);
        let (beta, alpha) = (call.scalar(3)?, call.scalar(4)?);
        if beta.to_f64() == 1.0 && alpha.to_f64() == 1.0 {
            return Ok(product_added(&added, &left, &right)?.into());
        }
        Ok(combined(&added, &product(&left, &right)?, beta, alpha)?.into())
    }),
    ("aten::addmv", |call| {
        let product = matmul(&call.array(1)?, &call.array(2)?)?;
        Ok(combined(&call.array(0)?, &product, call.scalar(3)?, call.scalar(4)?)?.into())
    }),
    ("aten::addr", |call| {
        let (base, left, right) = (call.array(0)?, call.array(1)?, call.array(2)?);
        let outer = outer(&left, &right)?;
        let result = combined(&base, &outer, call.scalar(3)?, call.scalar(4)?)?;
        // Strides are those of an element-wise operator of the three.
        let sizes = result.sizes();
        let strides = geometry::expanded_strides(base.sizes(), base.strides(), sizes)?;
        let rows = [left.strides().first().copied().unwrap_or(0), 0];
        let columns = [0, right.strides().first().copied().unwrap_or(0)];
        let strides = geometry::elementwise_strides(sizes, &[&strides, &rows, &columns]);
        Ok(result.copied(strides)?.into())
    }),
    ("aten::baddbmm", |call| {
        let product = batched(&call.array(1)?, &call.array(2)?)?;
        Ok(combined(&call.array(0)?, &product, call.scalar(3)?, call.scalar(4)?)?.into())
    }),
    ("aten::bilinear", bilinear),
    ("aten::bmm", |call| {
        Ok(batched(&call.array(0)?, &call.array(1)?)?.into())
    }),
    ("aten::chain_matmul", |call| {
        let matrices = call.arrays(0)?;
        let (first, rest) = matrices
            .split_first()
            .ok_or_else(|| Problem::invalid("a chain of no matrices has no product"))?;
        let chained = rest
            .iter()
            .try_fold(first.clone(), |left, right| product(&left, right));
        Ok(chained?.into())
    }),
    ("aten::cross", cross),
    ("aten::dot", dot),
    ("aten::ger", |call| {
        Ok(outer(&call.array(0)?, &call.array(1)?)?.into())
    }),
    ("aten::inner", |call| {
        let (left, right) = (call.array(0)?, call.array(1)?);
        match left.rank() == 0 || right.rank() == 0 {
            true => multiply(&left, &right).map(Value::from),
            false => tensordot(
                &left,
                &right,
                &[left.rank() as i64 - 1],
                &[right.rank() as i64 - 1],
            )
            .map(Value::from),
        }
    }),
    ("aten::kron", kron),
    ("aten::linalg_cross", cross),
    ("aten::linalg_matmul", |call| {
        Ok(matmul(&call.array(0)?, &call.array(1)?)?.into())
    }),
    ("aten::linear", |call| {
        let bias = call.optional_array(2)?;
        Ok(linear(&call.array(0)?, &call.array(1)?, bias.as_ref())?.into())
    }),
    ("aten::matmul", |call| {
        Ok(matmul(&call.array(0)?, &call.array(1)?)?.into())
    }),
    ("aten::mm", |call| {
        Ok(product(&call.array(0)?, &call.array(1)?)?.into())
    }),
    ("aten::mv", |call| {
        Ok(matmul(&call.array(0)?, &call.array(1)?)?.into())
    }),
    ("aten::outer", |call| {
        Ok(outer(&call.array(0)?, &call.array(1)?)?.into())
    }),
    ("aten::tensordot", |call| {
        Ok(tensordot(
            &call.array(0)?,
            &call.array(1)?,
            &call.ints(2)?,
            &call.ints(3)?,
        )?
        .into())
    }),
    ("aten::vdot", |call| {
        let left = call.unresolved(0)?.conjugated().resolved()?;
        Ok(matmul(&left, &call.array(1)?)?.into())
    }),
];

pub(super) fn multiply(left: &Array, right: &Array) -> Result<Array, Problem> {
    let operands = [Operand::Array(left.clone()), Operand::Array(right.clone())];
    super::super::pointwise::multiply(&operands)
}

fn dot(call: &Call<'_>) -> Result<Value, Problem> {
    let (left, right) = (call.array(0)?, call.array(1)?);
    if left.rank() != 1 || right.rank() != 1 {
        return Err(Problem::invalid("both must be vectors"));
    }
    Ok(matmul(&left, &right)?.into())
}

fn outer(left: &Array, right: &Array) -> Result<Array, Problem> {
    if left.rank() != 1 || right.rank() != 1 {
        return Err(Problem::invalid("both must be vectors"));
    }
    multiply(&unsqueezed(left, 1)?, right)
}

/// `input · weightᵀ + bias`
pub(in super::super) fn linear(
    input: &Array,
    weight: &Array,
    bias: Option<&Array>,
) -> Result<Array, Problem> {
    let transposed = match weight.rank() {
        2 => transpose(weight, 0, 1)?,
        _ => weight.clone(),
    };
    let Some(bias) = bias else {
        return matmul(input, &transposed);
    };
    if input.rank() < 2 || transposed.rank() != 2 || bias.rank() > 1 {
        let product = matmul(input, &transposed)?;
        return combined(bias, &product, Scalar::Int(1), Scalar::Int(1));
    }
    // All rows at once.
    let (inner, batch) = (
        input.size(input.rank() - 1),
        &input.sizes()[..input.rank() - 1],
    );
    let flat = reshape(input, &[geometry::numel(batch), inner])?;
    let result = product_added(bias, &flat, &transposed)?;
    let mut sizes = Dims::from_slice(batch);
    sizes.push(transposed.size(1));
    reshape(&result, &sizes)
}

/// `bilinear(input1, input2, weight, bias=None)`: for each output a matrix between both inputs.
fn bilinear(call: &Call<'_>) -> Result<Value, Problem> {
    let (left, right, weight) = (call.array(0)?, call.array(1)?, call.array(2)?);
    let [outputs, ..] = *weight.sizes() else {
        return Err(Problem::invalid("the weight must have three dimensions"));
    };
    let mut columns = Vec::with_capacity(outputs);
    for output in 0..outputs {
        let matrix = super::super::view::select(&weight, 0, output as i64)?;
        let products = multiply(&matmul(&left, &matrix)?, &right)?;
        columns.push(super::super::reduce::sum(&products, Some(&[-1]), true)?);
    }
    let result = super::super::join::cat(&columns, -1)?;
    match call.optional_array(3)? {
        None => Ok(result.into()),
        Some(bias) => Ok(combined(&bias, &result, Scalar::Int(1), Scalar::Int(1))?.into()),
    }
}

/// The dimensions of `left` and `right` that are summed are brought together, and the rest is a
/// product of matrices.
pub(super) fn tensordot(
    left: &Array,
    right: &Array,
    left_dims: &[i64],
    right_dims: &[i64],
) -> Result<Array, Problem> {
    let left_dims = geometry::wrap_dims(left_dims, left.rank())?;
    let right_dims = geometry::wrap_dims(right_dims, right.rank())?;
    let others = |array: &Array, dims: &[usize]| -> Dims {
        (0..array.rank())
            .filter(|dim| !dims.contains(dim))
            .collect()
    };
    let (left_rest, right_rest) = (others(left, &left_dims), others(right, &right_dims));
    let size_of = |array: &Array, dims: &[usize]| -> usize {
        dims.iter().map(|dim| array.sizes()[*dim]).product()
    };
    let inner = size_of(left, &left_dims);
    if left_dims.len() != right_dims.len() || inner != size_of(right, &right_dims) {
        return Err(Problem::invalid(format!(
            "dimensions {left_dims:?} of sizes {:?} and {right_dims:?} of sizes {:?} do not match",
            left.sizes(),
            right.sizes()
        )));
    }
    let order: Dims = left_rest.iter().chain(&left_dims).copied().collect();
    let left_matrix = reshape(
        &super::super::view::permuted(left, &order)?,
        &[size_of(left, &left_rest), inner],
    )?;
    let order: Dims = right_dims.iter().chain(&right_rest).copied().collect();
    let right_matrix = reshape(
        &super::super::view::permuted(right, &order)?,
        &[inner, size_of(right, &right_rest)],
    )?;
    let sizes: Dims = left_rest
        .iter()
        .map(|dim| left.sizes()[*dim])
        .chain(right_rest.iter().map(|dim| right.sizes()[*dim]))
        .collect();
    reshape(&product(&left_matrix, &right_matrix)?, &sizes)
}

/// `kron(self, other)`: each element of `self` times all of `other`.
fn kron(call: &Call<'_>) -> Result<Value, Problem> {
    let (mut left, mut right) = (call.array(0)?, call.array(1)?);
    while left.rank() < right.rank() {
        left = unsqueezed(&left, 0)?;
    }
    while right.rank() < left.rank() {
        right = unsqueezed(&right, 0)?;
    }
    let spread = |array: &Array, is_left: bool| {
        let (mut sizes, mut strides) = (Dims::new(), Dims::new());
        for (size, stride) in array.sizes().iter().zip(array.strides()) {
            let pair = [(*size, *stride), (1, 0)];
            for (size, stride) in if is_left { pair } else { [pair[1], pair[0]] } {
                sizes.push(size);
                strides.push(stride);
            }
        }
        array.view(&sizes, strides, array.offset())
    };
    let sizes: Dims = left
        .sizes()
        .iter()
        .zip(right.sizes())
        .map(|(a, b)| a * b)
        .collect();
    let product = multiply(&spread(&left, true)?, &spread(&right, false)?)?;
    Ok(reshape(&product, &sizes)?.into())
}

/// `linalg_cross(self, other, *, dim=-1)`
fn cross(call: &Call<'_>) -> Result<Value, Problem> {
    let (left, right) = (call.array(0)?, call.array(1)?);
    let sizes = geometry::broadcast(left.sizes(), right.sizes())?;
    let dim = match call.optional_int(2)? {
        Some(dim) => wrap_dim(dim, sizes.len())?,
        // The first dimension of three elements.
        None => sizes
            .iter()
            .position(|size| *size == 3)
            .ok_or_else(|| Problem::invalid("no dimension has three elements"))?,
    };
    if sizes.get(dim) != Some(&3) {
        return Err(Problem::invalid(format!(
            "dimension {dim} must have three elements"
        )));
    }
    let (left, right) = (left.expand(&sizes)?, right.expand(&sizes)?);
    let turned = |array: &Array, by: usize| {
        let places = [by % 3, (by + 1) % 3, (by + 2) % 3];
        super::super::index::selected(array, dim, &places)
    };
    let first = multiply(&turned(&left, 1)?, &turned(&right, 2)?)?;
    let second = multiply(&turned(&left, 2)?, &turned(&right, 1)?)?;
    Ok(combined(&second, &first, Scalar::Int(-1), Scalar::Int(1))?.into())
}
