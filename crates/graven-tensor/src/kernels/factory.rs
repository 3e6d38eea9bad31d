//! Tensors made from nothing but numbers: `zeros`, `full`, `arange`, `empty_like`.

use graven_ir::{DType, MemoryFormat};

use super::Table;
use super::copy::strides_in;
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::{Element, dispatch};
use crate::error::Problem;
use crate::geometry::Dims;
use crate::scalar::Scalar;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::arange", |call| arange(call, None, 0, None, 1)),
    ("aten::arange.start", |call| {
        arange(call, Some(0), 1, None, 2)
    }),
    ("aten::arange.start_step", |call| {
        arange(call, Some(0), 1, Some(2), 3)
    }),
    ("aten::empty.memory_format", empty),
    ("aten::empty_like", |call| {
        filled_like(call, Scalar::Int(0), 1)
    }),
    ("aten::empty_permuted", empty_permuted),
    ("aten::empty_strided", empty_strided),
    ("aten::eye", |call| eye(call, 0, 0, 1)),
    ("aten::eye.m", |call| eye(call, 0, 1, 2)),
    ("aten::fill.Scalar", fill_scalar),
    ("aten::fill.Tensor", fill_scalar),
    ("aten::full", full),
    ("aten::full_like", |call| {
        filled_like(call, call.scalar(1)?, 2)
    }),
    ("aten::linspace", linspace),
    ("aten::new_empty", |call| {
        new_filled(call, Scalar::Int(0), 2)
    }),
    ("aten::new_empty_strided", new_empty_strided),
    ("aten::new_full", |call| {
        new_filled(call, call.scalar(2)?, 3)
    }),
    ("aten::new_ones", |call| new_filled(call, Scalar::Int(1), 2)),
    ("aten::new_zeros", |call| {
        new_filled(call, Scalar::Int(0), 2)
    }),
    ("aten::ones", |call| filled(call, 0, Scalar::Int(1), 1)),
    ("aten::ones_like", |call| {
        filled_like(call, Scalar::Int(1), 1)
    }),
    ("aten::scalar_tensor", scalar_tensor),
    ("aten::zero", |call| {
        let array = call.array(0)?;
        let strides = super::copy::preserved(&array);
        Ok(Array::zeros_strided(array.dtype(), array.sizes(), strides)?.into())
    }),
    ("aten::zeros", |call| filled(call, 0, Scalar::Int(0), 1)),
    ("aten::zeros_like", |call| {
        filled_like(call, Scalar::Int(0), 1)
    }),
];

/// The dtype of a factory that is given none: that of its value.
fn dtype_at(call: &Call<'_>, position: usize, default: DType) -> Result<DType, Problem> {
    Ok(call.optional_dtype(position)?.unwrap_or(default))
}

/// An array with one value everywhere.
pub(super) fn constant(
    dtype: DType,
    sizes: &[usize],
    strides: Dims,
    value: Scalar,
) -> Result<Array, Problem> {
    let array = Array::zeros_strided(dtype, sizes, strides)?;
    dispatch!(any, dtype, T => {
        let value = value.to::<T>();
        match value.is_true() {
            true => array.write(|elements: &mut [T]| elements.fill(value)),
            // Memory comes as zeros. (`-0.0` is not true, and not all zeros.)
            false if value.to_f64().is_sign_positive() => Ok(()),
            false => array.write(|elements: &mut [T]| elements.fill(value)),
        }
    })?;
    Ok(array)
}

fn contiguous(dtype: DType, sizes: &[usize], value: Scalar) -> Result<Value, Problem> {
    let strides = crate::geometry::contiguous_strides(sizes);
    Ok(constant(dtype, sizes, strides, value)?.into())
}

/// `zeros(size, *, dtype, ...)`: sizes at `sizes`, dtype at `dtype`.
fn filled(call: &Call<'_>, sizes: usize, value: Scalar, dtype: usize) -> Result<Value, Problem> {
    let sizes = call.sizes(sizes)?;
    contiguous(dtype_at(call, dtype, DType::Float32)?, &sizes, value)
}

/// `full(size, fill_value, *, dtype, ...)`
fn full(call: &Call<'_>) -> Result<Value, Problem> {
    let value = call.scalar(1)?;
    contiguous(dtype_at(call, 2, value.dtype())?, &call.sizes(0)?, value)
}

/// `zeros_like(self, *, dtype, layout, device, pin_memory, memory_format)`
fn filled_like(call: &Call<'_>, value: Scalar, dtype: usize) -> Result<Value, Problem> {
    let like = call.array(0)?;
    let dtype_given = dtype_at(call, dtype, like.dtype())?;
    let format = call.optional_memory_format(dtype + 4)?;
    let strides = strides_in(&like, format.unwrap_or(MemoryFormat::Preserve))?;
    Ok(constant(dtype_given, like.sizes(), strides, value)?.into())
}

/// `new_zeros(self, size, *, dtype, ...)`
fn new_filled(call: &Call<'_>, value: Scalar, dtype: usize) -> Result<Value, Problem> {
    let dtype = dtype_at(call, dtype, call.array(0)?.dtype())?;
    contiguous(dtype, &call.sizes(1)?, value)
}

fn empty_strided(call: &Call<'_>) -> Result<Value, Problem> {
    let dtype = dtype_at(call, 2, DType::Float32)?;
    Ok(Array::zeros_strided(dtype, &call.sizes(0)?, call.sizes(1)?)?.into())
}

fn new_empty_strided(call: &Call<'_>) -> Result<Value, Problem> {
    let dtype = dtype_at(call, 3, call.array(0)?.dtype())?;
    Ok(Array::zeros_strided(dtype, &call.sizes(1)?, call.sizes(2)?)?.into())
}

/// `empty_permuted(size, physical_layout, *, dtype, ...)`
fn empty_permuted(call: &Call<'_>) -> Result<Value, Problem> {
    let sizes = call.sizes(0)?;
    let order = crate::geometry::wrap_dims(&call.ints(1)?, sizes.len())?;
    if order.len() != sizes.len() {
        return Err(Problem::invalid("the order must name every dimension"));
    }
    let strides = crate::geometry::strides_in_order(&sizes, order.into_iter().rev());
    Ok(Array::zeros_strided(dtype_at(call, 2, DType::Float32)?, &sizes, strides)?.into())
}

/// `empty.memory_format(size, *, dtype, layout, device, pin_memory, memory_format)`
fn empty(call: &Call<'_>) -> Result<Value, Problem> {
    let sizes = call.sizes(0)?;
    let line = Array::zeros(DType::Bool, &[])?.expand(&sizes)?;
    let format = call.optional_memory_format(5)?;
    let strides = strides_in(&line, format.unwrap_or(MemoryFormat::Contiguous))?;
    Ok(Array::zeros_strided(dtype_at(call, 1, DType::Float32)?, &sizes, strides)?.into())
}

fn scalar_tensor(call: &Call<'_>) -> Result<Value, Problem> {
    let value = call.scalar(0)?;
    let dtype = dtype_at(call, 1, DType::Float32)?;
    Ok(Array::scalar(dtype, value)?.into())
}

/// `fill.Scalar(self, value)`, `fill.Tensor(self, value)`
fn fill_scalar(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    if let Value::Tensor(value) = call.value(1)
        && value.array().rank() > 0
    {
        return Err(Problem::invalid(
            "the value to fill with must be a tensor without dimensions",
        ));
    }
    let strides = super::copy::preserved(&array);
    Ok(constant(array.dtype(), array.sizes(), strides, call.scalar(1)?)?.into())
}

fn is_integral(scalar: &Scalar) -> bool {
    matches!(scalar, Scalar::Int(_) | Scalar::Bool(_))
}

/// `arange(start, end, step, *, dtype, ...)`: positions of what is given.
fn arange(
    call: &Call<'_>,
    start: Option<usize>,
    end: usize,
    step: Option<usize>,
    dtype: usize,
) -> Result<Value, Problem> {
    let start = start.map_or(Ok(Scalar::Int(0)), |start| call.scalar(start))?;
    let step = step.map_or(Ok(Scalar::Int(1)), |step| call.scalar(step))?;
    let end = call.scalar(end)?;
    let default = match [start, end, step].iter().all(is_integral) {
        true => DType::Int64,
        false => DType::Float32,
    };
    let dtype = dtype_at(call, dtype, default)?;
    let count = arange_count(start, end, step, dtype)?;
    dispatch!(number, dtype, T => {
        let mut fresh = Fresh::<T>::new(count)?;
        for (index, element) in fresh.elements().iter_mut().enumerate() {
            *element = match dtype.is_floating_point() {
                true => T::from_f64(start.to_f64() + index as f64 * step.to_f64()),
                false => {
                    let offset = step.to_i64().wrapping_mul(index as i64);
                    T::from_i64(start.to_i64().wrapping_add(offset))
                }
            };
        }
        Ok(fresh.into_array(&[count])?.into())
    })
}

fn arange_count(start: Scalar, end: Scalar, step: Scalar, dtype: DType) -> Result<usize, Problem> {
    let wrong = || Problem::invalid("the end is not to be reached from the start by this step");
    let count = match dtype {
        // Differences of large integers have no room in a float.
        DType::Int64 if [start, end, step].iter().all(is_integral) => {
            let (start, end, step) = (start.to_i64(), end.to_i64(), step.to_i64());
            let span = i128::from(end) - i128::from(start);
            let step = i128::from(step);
            if step == 0 || (span != 0 && (span > 0) != (step > 0)) {
                return Err(wrong());
            }
            ((span + step - step.signum()) / step) as f64
        }
        _ => ((end.to_f64() - start.to_f64()) / step.to_f64()).ceil(),
    };
    if step.to_f64() == 0.0 || count.is_nan() || count < 0.0 {
        return Err(wrong());
    }
    Ok(count as usize)
}

/// `linspace(start, end, steps, *, dtype, ...)`: from both ends towards the middle, so that both
/// ends are met exactly.
fn linspace(call: &Call<'_>) -> Result<Value, Problem> {
    let (start, end) = (call.float(0)?, call.float(1)?);
    let steps = usize::try_from(call.int(2)?)
        .map_err(|_| Problem::invalid("the number of steps must not be negative"))?;
    let dtype = dtype_at(call, 3, DType::Float32)?;
    dispatch!(number, dtype, T => {
        let mut fresh = Fresh::<T>::new(steps)?;
        let step = (end - start) / (steps.max(2) - 1) as f64;
        for (index, element) in fresh.elements().iter_mut().enumerate() {
            let value = match index < steps / 2 || steps == 1 {
                true => start + step * index as f64,
                false => end - step * (steps - index - 1) as f64,
            };
            *element = T::from_f64(value);
        }
        Ok(fresh.into_array(&[steps])?.into())
    })
}

/// `eye(n, *, dtype, ...)`, `eye.m(n, m, *, dtype, ...)`
fn eye(call: &Call<'_>, rows: usize, columns: usize, dtype: usize) -> Result<Value, Problem> {
    let count = |position| {
        usize::try_from(call.int(position)?)
            .map_err(|_| Problem::invalid("a size must not be negative"))
    };
    let (rows, columns) = (count(rows)?, count(columns)?);
    let array = Array::zeros(dtype_at(call, dtype, DType::Float32)?, &[rows, columns])?;
    dispatch!(any, array.dtype(), T => array.write(|elements: &mut [T]| {
        for index in 0..rows.min(columns) {
            elements[index * columns + index] = T::unit();
        }
    }))?;
    Ok(array.into())
}
