//! Reductions: many elements to one.
//!
//! The dimensions that are reduced are brought together at the end, so that each result is a
//! function of a slice.

use graven_ir::DType;
use rayon::prelude::*;

use super::Table;
use super::lanes;
use super::pointwise::{Arithmetic, Math, compute, floating};
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::{Bool, Complex, Element, Real, dispatch};
use crate::error::Problem;
use crate::geometry::{self, Dims, wrap_dim, wrap_dims};
use crate::scalar::Scalar;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::all", |call| truth(call, None, false, true)),
    ("aten::all.dim", |call| {
        truth(call, Some(dims_at(call, 1)?), call.bool(2)?, true)
    }),
    ("aten::all.dims", |call| {
        truth(call, plain_dims(call, 1)?, call.bool(2)?, true)
    }),
    ("aten::amax", |call| extreme(call, true)),
    ("aten::amin", |call| extreme(call, false)),
    ("aten::aminmax", aminmax),
    ("aten::any", |call| truth(call, None, false, false)),
    ("aten::any.dim", |call| {
        truth(call, Some(dims_at(call, 1)?), call.bool(2)?, false)
    }),
    ("aten::any.dims", |call| {
        truth(call, plain_dims(call, 1)?, call.bool(2)?, false)
    }),
    ("aten::argmax", |call| arg_extreme(call, true)),
    ("aten::argmin", |call| arg_extreme(call, false)),
    ("aten::cosine_similarity", cosine_similarity),
    ("aten::count_nonzero", |call| count_nonzero(call)),
    ("aten::count_nonzero.dim_IntList", |call| {
        count_nonzero(call)
    }),
    ("aten::linalg_vector_norm", |call| {
        let found = call.array(0)?.dtype();
        if !found.is_floating_point() && !found.is_complex() {
            return Err(Problem::DType { found });
        }
        norm(
            call,
            call.float(1)?,
            optional_dims(call, 2)?,
            call.bool(3)?,
            call.optional_dtype(4)?,
        )
    }),
    ("aten::logsumexp", logsumexp),
    ("aten::max", |call| full_extreme(call, true)),
    ("aten::max.dim", |call| extreme_with_index(call, true)),
    ("aten::mean", |call| {
        mean(call, None, false, call.optional_dtype(1)?)
    }),
    ("aten::mean.dim", |call| {
        mean(
            call,
            optional_dims(call, 1)?,
            call.bool(2)?,
            call.optional_dtype(3)?,
        )
    }),
    ("aten::min", |call| full_extreme(call, false)),
    ("aten::min.dim", |call| extreme_with_index(call, false)),
    ("aten::nansum", |call| {
        sum_where(
            call,
            optional_dims(call, 1)?,
            call.bool(2)?,
            call.optional_dtype(3)?,
            true,
        )
    }),
    ("aten::norm.Scalar", |call| {
        norm(call, call.float(1)?, None, false, None)
    }),
    ("aten::norm.ScalarOpt_dim", |call| {
        let order = call.optional_float(1)?.unwrap_or(2.0);
        norm(call, order, optional_dims(call, 2)?, call.bool(3)?, None)
    }),
    ("aten::prod", |call| {
        product(call, None, false, call.optional_dtype(1)?)
    }),
    ("aten::prod.dim_int", |call| {
        product(
            call,
            Some(dims_at(call, 1)?),
            call.bool(2)?,
            call.optional_dtype(3)?,
        )
    }),
    ("aten::std", |call| {
        deviation(call, &Spread::plain(call, true)?)
    }),
    ("aten::std.correction", |call| {
        deviation(call, &Spread::corrected(call, true)?)
    }),
    ("aten::std.dim", |call| {
        deviation(call, &Spread::along(call, true)?)
    }),
    ("aten::std_mean", |call| {
        with_mean(call, &Spread::plain(call, true)?)
    }),
    ("aten::std_mean.correction", |call| {
        with_mean(call, &Spread::corrected(call, true)?)
    }),
    ("aten::std_mean.dim", |call| {
        with_mean(call, &Spread::along(call, true)?)
    }),
    ("aten::sum", |call| {
        sum_where(call, None, false, call.optional_dtype(1)?, false)
    }),
    ("aten::sum.dim_IntList", |call| {
        sum_where(
            call,
            optional_dims(call, 1)?,
            call.bool(2)?,
            call.optional_dtype(3)?,
            false,
        )
    }),
    ("aten::trace", trace),
    ("aten::var", |call| {
        deviation(call, &Spread::plain(call, false)?)
    }),
    ("aten::var.correction", |call| {
        deviation(call, &Spread::corrected(call, false)?)
    }),
    ("aten::var.dim", |call| {
        deviation(call, &Spread::along(call, false)?)
    }),
    ("aten::var_mean", |call| {
        with_mean(call, &Spread::plain(call, false)?)
    }),
    ("aten::var_mean.correction", |call| {
        with_mean(call, &Spread::corrected(call, false)?)
    }),
    ("aten::var_mean.dim", |call| {
        with_mean(call, &Spread::along(call, false)?)
    }),
];

/// Dimensions of a reduction; `None` for all.
type ReducedDims = Option<Vec<i64>>;

fn dims_at(call: &Call<'_>, position: usize) -> Result<Vec<i64>, Problem> {
    Ok(call.ints(position)?.to_vec())
}

/// No dimensions are all.
/// Dimensions of which an empty list stands for none, not for all.
fn plain_dims(call: &Call<'_>, position: usize) -> Result<ReducedDims, Problem> {
    Ok(call.optional_ints(position)?.map(|dims| dims.to_vec()))
}

fn optional_dims(call: &Call<'_>, position: usize) -> Result<ReducedDims, Problem> {
    let dims = call.optional_ints(position)?;
    Ok(dims
        .filter(|dims| !dims.is_empty())
        .map(|dims| dims.to_vec()))
}

/// An array whose reduced dimensions are brought together at the end, contiguous.
pub(super) struct Rows {
    array: Array,
    /// How many rows there are.
    pub(super) count: usize,
    /// Elements of a row.
    pub(super) length: usize,
    /// Sizes of the result.
    pub(super) sizes: Dims,
}

impl Rows {
    pub(super) fn new(
        array: &Array,
        dims: Option<&[i64]>,
        keeps: bool,
        dtype: DType,
    ) -> Result<Self, Problem> {
        let rank = array.rank();
        let reduced: Dims = match dims {
            Some(dims) => wrap_dims(dims, rank)?
                .into_iter()
                .filter(|dim| *dim < rank)
                .collect(),
            None => (0..rank).collect(),
        };
        let is_reduced = |dim: &usize| reduced.contains(dim);
        let mut order: Dims = (0..rank).filter(|dim| !is_reduced(dim)).collect();
        let kept = order.len();
        order.extend((0..rank).filter(is_reduced));
        let sizes = (0..rank)
            .filter(|dim| keeps || !is_reduced(dim))
            .map(|dim| {
                if is_reduced(&dim) {
                    1
                } else {
                    array.sizes()[dim]
                }
            })
            .collect();
        let permuted = super::view::permuted(array, &order)?;
        let length = geometry::numel(&permuted.sizes()[kept..]);
        let count = geometry::numel(&permuted.sizes()[..kept]);
        Ok(Self {
            array: permuted.converted(dtype)?.contiguous()?,
            count,
            length,
            sizes,
        })
    }

    /// Each row's results, `N` of them: one array for each.
    pub(super) fn map<C: Element, D: Element>(
        &self,
        function: impl Fn(&[C]) -> D + Sync,
    ) -> Result<Array, Problem> {
        let data = self.array.data::<C>()?;
        let elements = data.elements();
        let mut fresh = Fresh::<D>::to_be_written(self.count)?;
        let row = |index: usize| &elements[index * self.length..(index + 1) * self.length];
        let out = fresh.elements();
        if self.count * self.length < 1 << 15 {
            out.iter_mut()
                .enumerate()
                .for_each(|(index, out)| *out = function(row(index)));
        } else {
            let out = out
                .par_iter_mut()
                .enumerate()
                .with_min_len((1 << 13) / self.length.max(1) + 1);
            out.for_each(|(index, out)| *out = function(row(index)));
        }
        fresh.into_array(&self.sizes)
    }
}

/// The dtype of a sum: integers are summed in 64 bits.
pub(super) fn sum_dtype(dtype: DType, given: Option<DType>) -> DType {
    let is_integral = !dtype.is_floating_point() && !dtype.is_complex();
    given.unwrap_or(if is_integral { DType::Int64 } else { dtype })
}

/// Numbers that are summed: in parts, so that little is lost.
pub(super) trait Summed: Arithmetic {
    /// The sum of a slice.
    fn sum_of(values: &[Self]) -> Self;
}

macro_rules! summed {
    ($($ty:ty),*) => {$(
        impl Summed for $ty {
            fn sum_of(values: &[Self]) -> Self {
                lanes::sum(values)
            }
        }
    )*};
}

summed!(
    u8,
    i8,
    i16,
    i32,
    i64,
    f32,
    f64,
    Complex<f32>,
    Complex<f64>,
    Bool
);

fn sum_where(
    call: &Call<'_>,
    dims: ReducedDims,
    keeps: bool,
    dtype: Option<DType>,
    skips_nan: bool,
) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dtype = sum_dtype(array.dtype(), dtype);
    compute!(any, dtype, C, O => {
        let rows = Rows::new(&array, dims.as_deref(), keeps, C::DTYPE)?;
        let sum = match skips_nan {
            false => rows.map(|row: &[C]| C::sum_of(row))?,
            true => rows.map(|row: &[C]| {
                let number = |value: C| if value.to_f64().is_nan() { C::default() } else { value };
                let numbers: Vec<C> = row.iter().map(|value| number(*value)).collect();
                C::sum_of(&numbers)
            })?,
        };
        Ok(sum.converted(O::DTYPE)?.into())
    })
}

fn mean(
    call: &Call<'_>,
    dims: ReducedDims,
    keeps: bool,
    dtype: Option<DType>,
) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dtype = dtype.unwrap_or(array.dtype());
    if !dtype.is_floating_point() && !dtype.is_complex() {
        return Err(Problem::invalid(format!(
            "a mean is a float or complex number, and cannot be {}",
            dtype.name()
        )));
    }
    compute!(math, dtype, C, O => {
        let rows = Rows::new(&array, dims.as_deref(), keeps, C::DTYPE)?;
        let count = C::from_f64(rows.length as f64);
        let mean = rows.map(|row: &[C]| C::sum_of(row) / count)?;
        Ok(mean.converted(O::DTYPE)?.into())
    })
}

fn product(
    call: &Call<'_>,
    dims: ReducedDims,
    keeps: bool,
    dtype: Option<DType>,
) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dtype = sum_dtype(array.dtype(), dtype);
    compute!(any, dtype, C, O => {
        let rows = Rows::new(&array, dims.as_deref(), keeps, C::DTYPE)?;
        let product = rows.map(|row: &[C]| row.iter().copied().fold(C::unit(), C::times))?;
        Ok(product.converted(O::DTYPE)?.into())
    })
}

/// `any` and `all`.
fn truth(call: &Call<'_>, dims: ReducedDims, keeps: bool, all: bool) -> Result<Value, Problem> {
    let array = call.array(0)?;
    // Truth values of bytes are bytes.
    let dtype = match array.dtype() {
        DType::UInt8 => DType::UInt8,
        _ => DType::Bool,
    };
    let rows = Rows::new(&array, dims.as_deref(), keeps, DType::Bool)?;
    let result = rows.map(|row: &[Bool]| {
        let mut row = row.iter();
        Bool::from(match all {
            true => row.all(|value| value.get()),
            false => row.any(|value| value.get()),
        })
    })?;
    Ok(result.converted(dtype)?.into())
}

fn no_elements() -> Problem {
    Problem::invalid("a dimension without elements has no extreme value")
}

/// Whether `new` takes the place of `old`: the first of equal values stays, and the first that is
/// no number is it.
fn beats<T: Real>(new: T, old: T, greatest: bool) -> bool {
    if Real::is_not_a_number(old) {
        return false;
    }
    Real::is_not_a_number(new) || if greatest { new > old } else { new < old }
}

fn index_of_extreme<T: Real>(row: &[T], greatest: bool) -> usize {
    let mut best = 0;
    for (index, value) in row.iter().enumerate().skip(1) {
        if beats(*value, row[best], greatest) {
            best = index;
        }
    }
    best
}

fn extreme_of<T: Real>(row: &[T], greatest: bool) -> T {
    let start = if greatest { T::lowest() } else { T::highest() };
    row.iter().fold(start, |best, value| {
        let value = *value;
        if beats(value, best, greatest) {
            value
        } else {
            best
        }
    })
}

fn extremes(
    array: &Array,
    dims: ReducedDims,
    keeps: bool,
    greatest: bool,
) -> Result<Array, Problem> {
    dispatch!(real, array.dtype(), T => {
        let rows = Rows::new(array, dims.as_deref(), keeps, T::DTYPE)?;
        if rows.length == 0 && rows.count > 0 {
            return Err(no_elements());
        }
        rows.map(|row: &[T]| extreme_of(row, greatest))
    })
}

fn extreme(call: &Call<'_>, greatest: bool) -> Result<Value, Problem> {
    let array = call.array(0)?;
    Ok(extremes(&array, optional_dims(call, 1)?, call.bool(2)?, greatest)?.into())
}

fn full_extreme(call: &Call<'_>, greatest: bool) -> Result<Value, Problem> {
    Ok(extremes(&call.array(0)?, None, false, greatest)?.into())
}

fn aminmax(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let (dims, keeps) = (optional_dims(call, 1)?, call.bool(2)?);
    let least = extremes(&array, dims.clone(), keeps, false)?;
    Ok([least, extremes(&array, dims, keeps, true)?].into())
}

fn arg_extreme(call: &Call<'_>, greatest: bool) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dim = call.optional_int(1)?.map(|dim| vec![dim]);
    let keeps = call.bool(2)?;
    dispatch!(number, array.dtype(), T => {
        let rows = Rows::new(&array, dim.as_deref(), keeps, T::DTYPE)?;
        if rows.length == 0 {
            return Err(no_elements());
        }
        Ok(rows.map(|row: &[T]| index_of_extreme(row, greatest) as i64)?.into())
    })
}

/// `max.dim(self, dim, keepdim)`: values and indices.
fn extreme_with_index(call: &Call<'_>, greatest: bool) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let (dims, keeps) = (dims_at(call, 1)?, call.bool(2)?);
    dispatch!(real, array.dtype(), T => {
        let rows = Rows::new(&array, Some(&dims), keeps, T::DTYPE)?;
        if rows.length == 0 {
            return Err(no_elements());
        }
        let values = rows.map(|row: &[T]| row[index_of_extreme(row, greatest)])?;
        Ok([values, rows.map(|row: &[T]| index_of_extreme(row, greatest) as i64)?].into())
    })
}

fn count_nonzero(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dims = optional_dims(call, 1)?;
    let rows = Rows::new(&array, dims.as_deref(), false, DType::Bool)?;
    let count = |row: &[Bool]| row.iter().filter(|value| value.get()).count() as i64;
    Ok(rows.map(count)?.into())
}

fn trace(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    if array.rank() != 2 {
        return Err(Problem::invalid("only a matrix has a trace"));
    }
    let diagonal = super::view::diagonal_of(&array, 0, 0, 1)?;
    compute!(any, sum_dtype(array.dtype(), None), C, O => {
        let rows = Rows::new(&diagonal, None, false, C::DTYPE)?;
        Ok(rows.map(|row: &[C]| C::sum_of(row))?.converted(O::DTYPE)?.into())
    })
}

fn norm(
    call: &Call<'_>,
    order: f64,
    dims: ReducedDims,
    keeps: bool,
    dtype: Option<DType>,
) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let magnitudes = match array.dtype().is_complex() {
        true => call
            .eager()
            .invoke("aten::abs", &[array.clone().into()], &[])?,
        false => array.clone().into(),
    };
    let magnitudes = magnitudes
        .as_tensor()
        .map_or(array, |tensor| tensor.array());
    let dtype = floating(dtype.map_or(magnitudes.dtype(), DType::to_real));
    compute!(float, dtype, C, O => {
        let rows = Rows::new(&magnitudes, dims.as_deref(), keeps, C::DTYPE)?;
        let result = rows.map(|row: &[C]| norm_of(row, order))?;
        Ok(result.converted(O::DTYPE)?.into())
    })
}

pub(in crate::kernels) fn norm_of<M: Math + Summed>(row: &[M], order: f64) -> M {
    let sum_by = |function: &dyn Fn(M) -> M| {
        let values: Vec<M> = row.iter().map(|value| function(value.abs())).collect();
        M::sum_of(&values)
    };
    if order == f64::INFINITY {
        return row.iter().fold(M::of(0.0), |best, value| {
            if beats(value.abs(), best, true) {
                value.abs()
            } else {
                best
            }
        });
    }
    if order == f64::NEG_INFINITY {
        return row.iter().fold(M::highest(), |best, value| {
            if beats(value.abs(), best, false) {
                value.abs()
            } else {
                best
            }
        });
    }
    if order == 0.0 {
        return sum_by(&|value| {
            if value == M::of(0.0) {
                value
            } else {
                M::of(1.0)
            }
        });
    }
    if order == 1.0 {
        return sum_by(&|value| value);
    }
    if order == 2.0 {
        return sum_by(&|value| value * value).sqrt();
    }
    let power = M::of(order);
    sum_by(&|value| value.powf(power)).powf(M::of(1.0) / power)
}

fn logsumexp(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let (dims, keeps) = (optional_dims(call, 1)?, call.bool(2)?);
    compute!(float, floating(array.dtype()), C, O => {
        let rows = Rows::new(&array, dims.as_deref(), keeps, C::DTYPE)?;
        let result = rows.map(|row: &[C]| {
            let top = extreme_of(row, true);
            // Infinities are left out of the differences, where they would be no numbers.
            let top = if num_traits::Float::is_infinite(top) { C::of(0.0) } else { top };
            let powers: Vec<C> = row.iter().map(|value| (*value - top).exponential()).collect();
            C::sum_of(&powers).logarithm() + top
        })?;
        Ok(result.converted(O::DTYPE)?.into())
    })
}

/// What a variance or deviation is taken of.
struct Spread {
    dims: ReducedDims,
    keeps: bool,
    /// What is subtracted from the number of elements.
    correction: f64,
    /// Whether the square root is taken.
    is_root: bool,
}

impl Spread {
    /// `var(self, unbiased=True)`
    fn plain(call: &Call<'_>, is_root: bool) -> Result<Self, Problem> {
        Ok(Self {
            dims: None,
            keeps: false,
            correction: f64::from(u8::from(call.bool(1)?)),
            is_root,
        })
    }

    /// `var.dim(self, dim, unbiased=True, keepdim=False)`
    fn along(call: &Call<'_>, is_root: bool) -> Result<Self, Problem> {
        Ok(Self {
            dims: optional_dims(call, 1)?,
            keeps: call.bool(3)?,
            correction: f64::from(u8::from(call.bool(2)?)),
            is_root,
        })
    }

    /// `var.correction(self, dim=None, *, correction=None, keepdim=False)`
    fn corrected(call: &Call<'_>, is_root: bool) -> Result<Self, Problem> {
        Ok(Self {
            dims: optional_dims(call, 1)?,
            keeps: call.bool(3)?,
            correction: call.optional_float(2)?.unwrap_or(1.0),
            is_root,
        })
    }

    /// Of complex numbers the variances of both parts are added.
    fn of_complex(&self, array: &Array) -> Result<[Array; 2], Problem> {
        let values = array
            .converted(DType::Complex128)?
            .to_vec::<Complex<f64>>()?;
        let real = Self {
            dims: self.dims.clone(),
            is_root: false,
            ..*self
        };
        let part = |part: fn(&Complex<f64>) -> f64| {
            let values: Vec<f64> = values.iter().map(part).collect();
            let [spread, mean] = real.results(&Array::from_elements(&values, array.sizes())?)?;
            Ok::<_, Problem>((spread.to_vec::<f64>()?, mean.to_vec::<f64>()?, spread))
        };
        let (re, im) = (part(|value| value.re)?, part(|value| value.im)?);
        let sums = re.0.iter().zip(&im.0).map(|(re, im)| match self.is_root {
            true => (re + im).sqrt(),
            false => re + im,
        });
        let means =
            re.1.iter()
                .zip(&im.1)
                .map(|(re, im)| Complex::new(*re, *im));
        let (sums, means): (Vec<f64>, Vec<Complex<f64>>) = (sums.collect(), means.collect());
        let sizes = re.2.sizes();
        Ok([
            Array::from_elements(&sums, sizes)?.converted(array.dtype().to_real())?,
            Array::from_elements(&means, sizes)?.converted(array.dtype())?,
        ])
    }

    fn results(&self, array: &Array) -> Result<[Array; 2], Problem> {
        if array.dtype().is_complex() {
            return self.of_complex(array);
        }
        compute!(float, array.dtype(), C, O => {
            let rows = Rows::new(array, self.dims.as_deref(), self.keeps, C::DTYPE)?;
            let mean_of = |row: &[C]| C::sum_of(row) / C::of(row.len() as f64);
            let divisor = C::of((rows.length as f64 - self.correction).max(0.0));
            let spread = rows.map(|row: &[C]| {
                let mean = mean_of(row);
                let squares: Vec<C> = row
                    .iter()
                    .map(|value| (*value - mean) * (*value - mean))
                    .collect();
                let variance = C::sum_of(&squares) / divisor;
                if self.is_root { variance.sqrt() } else { variance }
            })?;
            Ok([spread.converted(O::DTYPE)?, rows.map(mean_of)?.converted(O::DTYPE)?])
        })
    }
}

fn deviation(call: &Call<'_>, spread: &Spread) -> Result<Value, Problem> {
    let [spread, _] = spread.results(&call.array(0)?)?;
    Ok(spread.into())
}

fn with_mean(call: &Call<'_>, spread: &Spread) -> Result<Value, Problem> {
    Ok(spread.results(&call.array(0)?)?.into())
}

/// `cosine_similarity(x1, x2, dim=1, eps=1e-08)`
fn cosine_similarity(call: &Call<'_>) -> Result<Value, Problem> {
    let (left, right) = (call.array(0)?, call.array(1)?);
    let dtype = crate::promote::promote_types(left.dtype(), right.dtype());
    let sizes = geometry::broadcast(left.sizes(), right.sizes())?;
    let dim = wrap_dim(call.int(2)?, sizes.len())? as i64;
    let bound = call.float(3)?;
    compute!(float, dtype, C, O => {
        let rows = |array: &Array| Rows::new(&array.expand(&sizes)?, Some(&[dim]), false, C::DTYPE);
        let (left, right) = (rows(&left)?, rows(&right)?);
        let norm = |rows: &Rows| rows.map(|row: &[C]| {
            let norm = norm_of(row, 2.0);
            if norm < C::of(bound) { C::of(bound) } else { norm }
        });
        let (left_norm, right_norm) = (norm(&left)?.to_vec::<C>()?, norm(&right)?.to_vec::<C>()?);
        let (left_data, right_data) = (left.array.data::<C>()?, right.array.data::<C>()?);
        let mut fresh = Fresh::<C>::new(left.count)?;
        for (index, out) in fresh.elements().iter_mut().enumerate() {
            let range = index * left.length..(index + 1) * left.length;
            let products: Vec<C> = left_data.elements()[range.clone()]
                .iter()
                .zip(&right_data.elements()[range])
                .map(|(left, right)| (*left / left_norm[index]) * (*right / right_norm[index]))
                .collect();
            *out = C::sum_of(&products);
        }
        Ok(fresh.into_array(&left.sizes)?.converted(O::DTYPE)?.into())
    })
}

/// The sum of all elements or of some dimensions, for other kernels.
pub(super) fn sum(array: &Array, dims: Option<&[i64]>, keeps: bool) -> Result<Array, Problem> {
    compute!(any, sum_dtype(array.dtype(), None), C, O => {
        let rows = Rows::new(array, dims, keeps, C::DTYPE)?;
        rows.map(|row: &[C]| C::sum_of(row))?.converted(O::DTYPE)
    })
}

/// Divides all elements by a number, for other kernels.
pub(super) fn divided(array: &Array, by: f64) -> Result<Array, Problem> {
    compute!(math, array.dtype(), C, O => {
        let wide = array.converted(C::DTYPE)?;
        let mut copy = Fresh::<C>::new(array.numel())?;
        let by = Scalar::Float(by).to::<C>();
        let values = wide.to_vec::<C>()?;
        copy.elements().iter_mut().zip(values).for_each(|(to, value)| *to = value / by);
        copy.into_array(array.sizes())?.converted(O::DTYPE)
    })
}
