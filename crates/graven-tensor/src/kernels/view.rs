//! Views: other geometries over the same storage. Nothing is computed.

use graven_ir::DType;

use super::Table;
use crate::array::Array;
use crate::call::Call;
use crate::element::Element;
use crate::error::Problem;
use crate::geometry::{self, Dims, wrap_dim, wrap_dims};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_conj", |call| {
        Ok(call.unresolved(0)?.conjugated().into())
    }),
    ("aten::_neg_view", |call| {
        Ok(call.unresolved(0)?.negated().into())
    }),
    ("aten::_reshape_alias", |call| {
        let array = call.unresolved(0)?;
        let offset = array.offset();
        Ok(array.view(&call.sizes(1)?, call.sizes(2)?, offset)?.into())
    }),
    ("aten::_unsafe_view", view),
    ("aten::alias", |call| Ok(call.unresolved(0)?.into())),
    ("aten::as_strided", as_strided),
    ("aten::detach", |call| Ok(call.unresolved(0)?.into())),
    ("aten::diagonal", diagonal),
    ("aten::expand", expand),
    ("aten::imag", |call| part(call, 1)),
    ("aten::permute", permute),
    ("aten::real", |call| part(call, 0)),
    ("aten::resize_", resize_),
    ("aten::select.int", |call| {
        Ok(select(&call.unresolved(0)?, call.int(1)?, call.int(2)?)?.into())
    }),
    ("aten::slice.Tensor", slice),
    ("aten::split.Tensor", split),
    ("aten::split_with_sizes", split_with_sizes),
    ("aten::squeeze", |call| {
        let array = call.unresolved(0)?;
        Ok(squeeze(&array, |_| true)?.into())
    }),
    ("aten::squeeze.dim", |call| {
        let array = call.unresolved(0)?;
        let dim = wrap_dim(call.int(1)?, array.rank())?;
        Ok(squeeze(&array, |other| other == dim)?.into())
    }),
    ("aten::squeeze.dims", |call| {
        let array = call.unresolved(0)?;
        let dims = wrap_dims(&call.ints(1)?, array.rank())?;
        Ok(squeeze(&array, |dim| dims.contains(&dim))?.into())
    }),
    ("aten::t", |call| {
        let array = call.unresolved(0)?;
        match array.rank() {
            0 | 1 => Ok(array.into()),
            2 => Ok(transpose(&array, 0, 1)?.into()),
            rank => Err(Problem::invalid(format!(
                "a tensor of at most 2 dimensions is needed, this one has {rank}"
            ))),
        }
    }),
    ("aten::transpose.int", |call| {
        Ok(transpose(&call.unresolved(0)?, call.int(1)?, call.int(2)?)?.into())
    }),
    ("aten::unbind.int", unbind),
    ("aten::unfold", unfold),
    ("aten::unsqueeze", unsqueeze),
    ("aten::view", view),
    ("aten::view.dtype", view_dtype),
    ("aten::view_as_complex", view_as_complex),
    ("aten::view_as_real", view_as_real),
];

fn view(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let sizes = open_sizes(&call.ints(1)?, array.numel())?;
    Ok(reshaped(&array, &sizes)?
        .ok_or_else(|| {
            Problem::invalid(format!(
                "no view of sizes {:?} and strides {:?} has sizes {sizes:?}; use reshape",
                array.sizes(),
                array.strides()
            ))
        })?
        .into())
}

/// A view under other sizes with as many elements; `None` when no strides give it.
pub(super) fn reshaped(array: &Array, sizes: &[usize]) -> Result<Option<Array>, Problem> {
    let strides = geometry::view_strides(array.sizes(), array.strides(), sizes);
    strides
        .map(|strides| array.view(sizes, strides, array.offset()))
        .transpose()
}

/// Sizes of which one may be -1: what the others leave.
pub(super) fn open_sizes(sizes: &[i64], numel: usize) -> Result<Dims, Problem> {
    let wrong = || Problem::invalid(format!("{numel} elements cannot have the sizes {sizes:?}"));
    let known = sizes.iter().filter(|size| **size != -1);
    let known: Dims = known
        .map(|size| usize::try_from(*size).map_err(|_| wrong()))
        .collect::<Result<_, _>>()?;
    let product = geometry::checked_numel(&known).ok_or_else(wrong)?;
    let open = match (sizes.len() - known.len(), product) {
        (0, product) if product == numel => 0,
        (1, 0) | (0, _) => return Err(wrong()),
        (1, product) if numel.is_multiple_of(product) => numel / product,
        _ => return Err(wrong()),
    };
    let size = |size: &i64| usize::try_from(*size).unwrap_or(open);
    Ok(sizes.iter().map(size).collect())
}

fn as_strided(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let offset = match call.optional_int(3)? {
        None => array.offset(),
        Some(offset) => usize::try_from(offset)
            .map_err(|_| Problem::invalid("the storage offset must not be negative"))?,
    };
    Ok(array.view(&call.sizes(1)?, call.sizes(2)?, offset)?.into())
}

/// `diagonal(self, offset=0, dim1=0, dim2=1)`
fn diagonal(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    Ok(diagonal_of(&array, call.int(1)?, call.int(2)?, call.int(3)?)?.into())
}

pub(super) fn diagonal_of(
    array: &Array,
    offset: i64,
    dim1: i64,
    dim2: i64,
) -> Result<Array, Problem> {
    let (dim1, dim2) = (wrap_dim(dim1, array.rank())?, wrap_dim(dim2, array.rank())?);
    if dim1 == dim2 {
        return Err(Problem::invalid(
            "the two dimensions of a diagonal must differ",
        ));
    }
    let skipped = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
    let (rows, columns) = match offset >= 0 {
        true => (array.size(dim1), array.size(dim2).saturating_sub(skipped)),
        false => (array.size(dim1).saturating_sub(skipped), array.size(dim2)),
    };
    let count = rows.min(columns);
    let start = match (count, offset >= 0) {
        (0, _) => 0,
        (_, true) => skipped * array.strides()[dim2],
        (_, false) => skipped * array.strides()[dim1],
    };
    let others = (0..array.rank()).filter(|dim| *dim != dim1 && *dim != dim2);
    let mut sizes: Dims = others.clone().map(|dim| array.sizes()[dim]).collect();
    let mut strides: Dims = others.map(|dim| array.strides()[dim]).collect();
    sizes.push(count);
    strides.push(array.strides()[dim1] + array.strides()[dim2]);
    array.view(&sizes, strides, array.offset() + start)
}

fn expand(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let given = call.ints(1)?;
    let missing = given.len().checked_sub(array.rank()).ok_or_else(|| {
        Problem::invalid(format!(
            "{} sizes are too few for a tensor of {} dimensions",
            given.len(),
            array.rank()
        ))
    })?;
    let size = |(dim, size): (usize, &i64)| match *size {
        -1 if dim >= missing => Ok(array.sizes()[dim - missing]),
        size => usize::try_from(size)
            .map_err(|_| Problem::invalid(format!("{size} is no size to expand to"))),
    };
    let sizes: Dims = given
        .iter()
        .enumerate()
        .map(size)
        .collect::<Result<_, _>>()?;
    Ok(array.expand(&sizes)?.into())
}

fn permute(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let order = wrap_dims(&call.ints(1)?, array.rank())?;
    if order.len() != array.rank() {
        return Err(Problem::invalid(format!(
            "an order of {} dimensions is no order of {}",
            order.len(),
            array.rank()
        )));
    }
    Ok(permuted(&array, &order)?.into())
}

/// The dimensions in another order. `order` names each once.
pub(super) fn permuted(array: &Array, order: &[usize]) -> Result<Array, Problem> {
    let sizes: Dims = order.iter().map(|dim| array.sizes()[*dim]).collect();
    let strides: Dims = order.iter().map(|dim| array.strides()[*dim]).collect();
    array.view(&sizes, strides, array.offset())
}

pub(super) fn transpose(array: &Array, dim1: i64, dim2: i64) -> Result<Array, Problem> {
    let (dim1, dim2) = (wrap_dim(dim1, array.rank())?, wrap_dim(dim2, array.rank())?);
    let mut order: Dims = (0..array.rank()).collect();
    if !order.is_empty() {
        order.swap(dim1, dim2);
    }
    permuted(array, &order)
}

/// `resize_(self, size, memory_format)`: the same storage under other sizes, grown if need be.
fn resize_(call: &Call<'_>) -> Result<Value, Problem> {
    let tensor = call.tensor(0)?;
    let array = tensor.array();
    let sizes = call.sizes(1)?;
    if array.sizes() != &*sizes {
        let strides = geometry::contiguous_strides(&sizes);
        tensor.set(crate::eager::resized(&array, &sizes, strides)?);
    }
    Ok(tensor.clone().into())
}

pub(super) fn select(array: &Array, dim: i64, index: i64) -> Result<Array, Problem> {
    if array.rank() == 0 {
        return Err(Problem::invalid(
            "a tensor without dimensions has nothing to select from",
        ));
    }
    let dim = wrap_dim(dim, array.rank())?;
    let size = array.sizes()[dim];
    let place = wrap_index(index, dim, size)?;
    let (mut sizes, mut strides) = (
        Dims::from_slice(array.sizes()),
        Dims::from_slice(array.strides()),
    );
    sizes.remove(dim);
    let stride = strides.remove(dim);
    array.view(&sizes, strides, array.offset() + place * stride)
}

/// The place that an index, which may count from the end, is.
pub(super) fn wrap_index(index: i64, dim: usize, size: usize) -> Result<usize, Problem> {
    let wrapped = if index < 0 {
        index + size as i64
    } else {
        index
    };
    usize::try_from(wrapped)
        .ok()
        .filter(|index| *index < size)
        .ok_or(Problem::Index { index, dim, size })
}

/// `slice(self, dim=0, start=None, end=None, step=1)`
fn slice(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let (start, end) = (call.optional_int(2)?, call.optional_int(3)?);
    Ok(sliced(&array, call.int(1)?, start, end, call.int(4)?)?.into())
}

pub(super) fn sliced(
    array: &Array,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Array, Problem> {
    if array.rank() == 0 {
        return Err(Problem::invalid(
            "a tensor without dimensions cannot be sliced",
        ));
    }
    let dim = wrap_dim(dim, array.rank())?;
    let step = usize::try_from(step).unwrap_or(0);
    if step == 0 {
        return Err(Problem::invalid("the step of a slice must be positive"));
    }
    let size = array.sizes()[dim];
    let clamp = |bound: i64| {
        let bound = if bound < 0 {
            bound.saturating_add(size as i64)
        } else {
            bound
        };
        usize::try_from(bound).unwrap_or(0).min(size)
    };
    let start = clamp(start.unwrap_or(0));
    let end = clamp(end.unwrap_or(i64::MAX)).max(start);
    let (mut sizes, mut strides) = (
        Dims::from_slice(array.sizes()),
        Dims::from_slice(array.strides()),
    );
    sizes[dim] = (end - start).div_ceil(step);
    let offset = array.offset() + start * strides[dim];
    strides[dim] = strides[dim].saturating_mul(step);
    array.view(&sizes, strides, offset)
}

/// A part of one dimension.
pub(super) fn narrowed(
    array: &Array,
    dim: usize,
    start: usize,
    length: usize,
) -> Result<Array, Problem> {
    let mut sizes = Dims::from_slice(array.sizes());
    sizes[dim] = length;
    let strides = Dims::from_slice(array.strides());
    let offset = array.offset() + start * strides[dim];
    array.view(&sizes, strides, offset)
}

/// `split.Tensor(self, split_size, dim=0)`
fn split(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let dim = wrap_dim(call.int(2)?, array.rank())?;
    let size = array.size(dim);
    let wrong = || Problem::invalid("the size of the parts must be positive");
    let part = usize::try_from(call.int(1)?).map_err(|_| wrong())?;
    if array.rank() == 0 || (part == 0 && size != 0) {
        return Err(wrong());
    }
    let count = if part == 0 {
        1
    } else {
        size.div_ceil(part).max(1)
    };
    let parts = (0..count).map(|index| {
        let start = index * part;
        narrowed(&array, dim, start, part.min(size - start))
    });
    Ok(parts.collect::<Result<Vec<_>, _>>()?.into())
}

/// `split_with_sizes(self, split_sizes, dim=0)`
fn split_with_sizes(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let dim = wrap_dim(call.int(2)?, array.rank())?;
    let sizes = call.sizes(1)?;
    if array.rank() == 0 || sizes.iter().sum::<usize>() != array.size(dim) {
        return Err(Problem::invalid(format!(
            "parts of {sizes:?} do not make up dimension {dim} of {} elements",
            array.size(dim)
        )));
    }
    let mut start = 0;
    let parts = sizes.iter().map(|size| {
        start += size;
        narrowed(&array, dim, start - size, *size)
    });
    Ok(parts.collect::<Result<Vec<_>, _>>()?.into())
}

/// Drops dimensions of one element.
pub(super) fn squeeze(array: &Array, drops: impl Fn(usize) -> bool) -> Result<Array, Problem> {
    let kept: Dims = (0..array.rank())
        .filter(|dim| array.sizes()[*dim] != 1 || !drops(*dim))
        .collect();
    permuted(array, &kept)
}

fn unbind(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let dim = wrap_dim(call.int(1)?, array.rank())?;
    if array.rank() == 0 {
        return Err(Problem::invalid(
            "a tensor without dimensions cannot be unbound",
        ));
    }
    let parts = (0..array.size(dim)).map(|index| select(&array, dim as i64, index as i64));
    Ok(parts.collect::<Result<Vec<_>, _>>()?.into())
}

/// `unfold(self, dimension, size, step)`
fn unfold(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let dim = wrap_dim(call.int(1)?, array.rank())?;
    let (size, step) = (call.int(2)?, call.int(3)?);
    let window = usize::try_from(size)
        .ok()
        .filter(|size| *size <= array.size(dim));
    let step = usize::try_from(step).ok().filter(|step| *step > 0);
    let (Some(window), Some(step)) = (window, step) else {
        return Err(Problem::invalid(format!(
            "windows of {size} by steps of {} do not fit dimension {dim} of {} elements",
            call.int(3)?,
            array.size(dim)
        )));
    };
    let (mut sizes, mut strides) = (
        Dims::from_slice(array.sizes()),
        Dims::from_slice(array.strides()),
    );
    if array.rank() == 0 {
        return array
            .view(&[window], Dims::from_slice(&[1]), array.offset())
            .map(Value::from);
    }
    strides.push(strides[dim]);
    sizes[dim] = (sizes[dim] - window) / step + 1;
    strides[dim] = strides[dim].saturating_mul(step);
    sizes.push(window);
    Ok(array.view(&sizes, strides, array.offset())?.into())
}

fn unsqueeze(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let dim = wrap_dim(call.int(1)?, array.rank() + 1)?;
    Ok(unsqueezed(&array, dim)?.into())
}

/// A dimension of one element before `dim`.
pub(super) fn unsqueezed(array: &Array, dim: usize) -> Result<Array, Problem> {
    let (mut sizes, mut strides) = (
        Dims::from_slice(array.sizes()),
        Dims::from_slice(array.strides()),
    );
    let stride = match sizes.get(dim) {
        Some(size) => size.saturating_mul(strides[dim]),
        None => 1,
    };
    sizes.insert(dim, 1);
    strides.insert(dim, stride);
    array.view(&sizes, strides, array.offset())
}

fn view_dtype(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dtype = call
        .optional_dtype(1)?
        .ok_or_else(|| Problem::invalid("needs a dtype"))?;
    let (old, new) = (array.dtype().bytes(), dtype.bytes());
    let (mut sizes, mut strides) = (
        Dims::from_slice(array.sizes()),
        Dims::from_slice(array.strides()),
    );
    if old == new {
        return Ok(array
            .reinterpreted(dtype, &sizes, strides, array.offset())?
            .into());
    }
    let unfit = || {
        Problem::invalid(format!(
            "sizes {:?} and strides {:?} of {} cannot be viewed as {}",
            array.sizes(),
            array.strides(),
            array.dtype().name(),
            dtype.name()
        ))
    };
    let last = sizes.len().checked_sub(1).ok_or_else(unfit)?;
    if strides[last] != 1 {
        return Err(unfit());
    }
    let offset = if old > new {
        let factor = old / new;
        sizes[last] *= factor;
        strides[..last]
            .iter_mut()
            .for_each(|stride| *stride *= factor);
        array.offset() * factor
    } else {
        let factor = new / old;
        let divides = |value: &usize| value.is_multiple_of(factor);
        let fits = divides(&sizes[last])
            && divides(&array.offset())
            && strides[..last].iter().all(divides);
        if !fits {
            return Err(unfit());
        }
        sizes[last] /= factor;
        strides[..last]
            .iter_mut()
            .for_each(|stride| *stride /= factor);
        array.offset() / factor
    };
    Ok(array.reinterpreted(dtype, &sizes, strides, offset)?.into())
}

fn view_as_real(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    if array.is_conjugate() {
        return Err(Problem::invalid(
            "a conjugate view has no real view; resolve it first",
        ));
    }
    Ok(pairs(&array)?.into())
}

/// `real(self)`, `imag(self)`: the parts of conjugate numbers are those of the stored ones, the
/// imaginary one negative.
fn part(call: &Call<'_>, index: i64) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    if index == 0 && !array.dtype().is_complex() {
        return Ok(array.into());
    }
    let is_conjugate = array.is_conjugate();
    let stored = if is_conjugate {
        array.conjugated()
    } else {
        array
    };
    let part = select(&pairs(&stored)?, -1, index)?;
    Ok(match is_conjugate && index == 1 {
        true => part.negated().into(),
        false => part.into(),
    })
}

/// Complex numbers as pairs of floats.
fn pairs(array: &Array) -> Result<Array, Problem> {
    if !array.dtype().is_complex() {
        return Err(Problem::DType {
            found: array.dtype(),
        });
    }
    let mut sizes = Dims::from_slice(array.sizes());
    let mut strides: Dims = array.strides().iter().map(|stride| stride * 2).collect();
    sizes.push(2);
    strides.push(1);
    let dtype = array.dtype().to_real();
    let real = array.reinterpreted(dtype, &sizes, strides, array.offset() * 2)?;
    Ok(match array.is_negative() {
        true => real.negated(),
        false => real,
    })
}

fn view_as_complex(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let found = array.dtype();
    let dtype = match found {
        f if f == <f32 as Element>::DTYPE => DType::Complex64,
        f if f == <f64 as Element>::DTYPE => DType::Complex128,
        _ => return Err(Problem::DType { found }),
    };
    let (mut sizes, mut strides) = (
        Dims::from_slice(array.sizes()),
        Dims::from_slice(array.strides()),
    );
    let is_pair = sizes.pop() == Some(2) && strides.pop() == Some(1);
    let is_even = |value: &usize| value.is_multiple_of(2);
    if !is_pair || !strides.iter().all(is_even) || !is_even(&array.offset()) {
        return Err(Problem::invalid(
            "the last dimension must hold pairs that stand side by side",
        ));
    }
    strides.iter_mut().for_each(|stride| *stride /= 2);
    Ok(array
        .reinterpreted(dtype, &sizes, strides, array.offset() / 2)?
        .into())
}
