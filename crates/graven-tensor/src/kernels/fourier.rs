//! Fourier transforms.

use graven_ir::DType;
use rustfft::{FftNum, FftPlanner};

use super::Table;
use super::view::{narrowed, permuted};
use crate::array::Array;
use crate::call::Call;
use crate::element::{Complex, Element};
use crate::error::Problem;
use crate::geometry::{Dims, wrap_dim};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_fft_c2c", |call| {
        let dims = dims(call, call.array(0)?.rank())?;
        Ok(transform(&call.array(0)?, &dims, call.int(2)?, call.bool(3)?)?.into())
    }),
    ("aten::_fft_c2r", complex_to_real),
    ("aten::_fft_r2c", real_to_complex),
];

fn dims(call: &Call<'_>, rank: usize) -> Result<Dims, Problem> {
    let dims = call.ints(1)?;
    dims.iter().map(|dim| wrap_dim(*dim, rank)).collect()
}

/// Normalization 0: none, 1: by the root of the number of elements, 2: by the number.
fn scale(normalization: i64, count: usize) -> f64 {
    match normalization {
        0 => 1.0,
        1 => 1.0 / (count as f64).sqrt(),
        _ => 1.0 / count as f64,
    }
}

/// Transforms complex numbers along dimensions.
fn transform(
    array: &Array,
    dims: &[usize],
    normalization: i64,
    is_forward: bool,
) -> Result<Array, Problem> {
    match array.dtype() {
        DType::Complex64 => transform_as::<f32>(array, dims, normalization, is_forward),
        DType::Complex128 => transform_as::<f64>(array, dims, normalization, is_forward),
        found => Err(Problem::DType { found }),
    }
}

fn transform_as<T: FftNum>(
    array: &Array,
    dims: &[usize],
    normalization: i64,
    is_forward: bool,
) -> Result<Array, Problem>
where
    Complex<T>: Element,
{
    let mut planner = FftPlanner::<T>::new();
    let mut result = array.clone();
    let count = dims.iter().map(|dim| array.size(*dim)).product();
    for dim in dims {
        let length = array.size(*dim);
        if length == 0 {
            return Err(Problem::invalid(
                "a dimension without elements has no transform",
            ));
        }
        let mut order: Dims = (0..array.rank()).filter(|other| other != dim).collect();
        order.push(*dim);
        let moved = permuted(&result, &order)?;
        let mut values = moved.to_vec::<Complex<T>>()?;
        let plan = match is_forward {
            true => planner.plan_fft_forward(length),
            false => planner.plan_fft_inverse(length),
        };
        if !values.is_empty() {
            plan.process(&mut values);
        }
        let mut inverse = Dims::from_elem(0, order.len());
        for (place, dim) in order.iter().enumerate() {
            inverse[*dim] = place;
        }
        let moved = Array::from_elements(&values, moved.sizes())?;
        result = permuted(&moved, &inverse)?;
    }
    let factor = scale(normalization, count);
    let mut values = result.to_vec::<Complex<T>>()?;
    if factor != 1.0 {
        for value in &mut values {
            *value = Element::from_complex(value.to_complex() * factor);
        }
    }
    Array::from_elements(&values, array.sizes())
}

/// `_fft_r2c(self, dim, normalization, onesided)`
fn real_to_complex(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dims = dims(call, array.rank())?;
    let dtype = array
        .dtype()
        .to_complex()
        .filter(|_| array.dtype().is_floating_point());
    let dtype = dtype.ok_or(Problem::DType {
        found: array.dtype(),
    })?;
    let result = transform(&array.converted(dtype)?, &dims, call.int(2)?, true)?;
    let Some(last) = dims.last().filter(|_| call.bool(3).unwrap_or(false)) else {
        return Ok(result.into());
    };
    let half = array.size(*last) / 2 + 1;
    Ok(narrowed(&result, *last, 0, half)?.contiguous()?.into())
}

/// `_fft_c2r(self, dim, normalization, last_dim_size)`: the other half of the last dimension is
/// the conjugate of the first.
fn complex_to_real(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dims = dims(call, array.rank())?;
    let size = usize::try_from(call.int(3)?).unwrap_or(0);
    let (last, others) = dims
        .split_last()
        .ok_or_else(|| Problem::invalid("at least one dimension is needed"))?;
    if size == 0 || array.size(*last) < size / 2 + 1 {
        return Err(Problem::invalid(format!(
            "{} elements are not half of {size}",
            array.size(*last)
        )));
    }
    // The other dimensions first, then the last from the half that is given.
    let array = transform(&array, others, 0, false)?;
    let places: Vec<usize> = (0..size).map(|index| index.min(size - index)).collect();
    let mirrored = super::index::selected(&array, *last, &places)?;
    let behind = size / 2 + 1;
    let tail = narrowed(&mirrored, *last, behind, size - behind)?;
    let conjugate = tail.clone().conjugated().resolved()?;
    tail.assign(&conjugate)?;
    let whole = transform(&mirrored, &[*last], 0, false)?;
    let count: usize = others.iter().map(|dim| array.size(*dim)).product::<usize>() * size;
    let factor = scale(call.int(2)?, count);
    let real = whole.converted(whole.dtype().to_real())?;
    let args = [real.into(), Value::Float(factor)];
    Ok(call.eager().invoke("aten::mul.Scalar", &args, &[])?)
}
