//! `gather` and `scatter`: an index for each element.

use super::super::Table;
use super::super::copy::preserved;
use super::super::pointwise::Arithmetic;
use super::slots::mean_of;
use super::{indices_of, place};
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::{Element, Real, dispatch};
use crate::error::Problem;
use crate::geometry::{self, Dims, wrap_dim};
use crate::scalar::Scalar;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::gather", |call| {
        let array = call.array(0)?;
        let dim = wrap_dim(call.int(1)?, array.rank())?;
        Ok(gather(&array, dim, &call.array(2)?)?.into())
    }),
    ("aten::masked_scatter", masked_scatter),
    ("aten::put", put),
    ("aten::scatter.reduce", |call| {
        let reduce = Reduce::from_name(call.optional_str(4)?.unwrap_or_default())?;
        scatter(call, Source::Array(call.array(3)?), Some(reduce), true)
    }),
    ("aten::scatter.src", |call| {
        scatter(call, Source::Array(call.array(3)?), None, true)
    }),
    ("aten::scatter.value", |call| {
        scatter(call, Source::Number(call.scalar(3)?), None, true)
    }),
    ("aten::scatter.value_reduce", |call| {
        let reduce = Reduce::from_name(call.optional_str(4)?.unwrap_or_default())?;
        scatter(call, Source::Number(call.scalar(3)?), Some(reduce), true)
    }),
    ("aten::scatter_add", |call| {
        scatter(call, Source::Array(call.array(3)?), Some(Reduce::Sum), true)
    }),
    ("aten::scatter_reduce.two", |call| {
        let reduce = Reduce::from_name(call.optional_str(4)?.unwrap_or_default())?;
        scatter(
            call,
            Source::Array(call.array(3)?),
            Some(reduce),
            call.bool(5)?,
        )
    }),
    ("aten::take_along_dim", take_along_dim),
];

/// How values that meet at one place are put together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reduce {
    Sum,
    Product,
    Mean,
    Max,
    Min,
}

impl Reduce {
    pub(super) fn from_name(name: &str) -> Result<Self, Problem> {
        Ok(match name {
            "sum" | "add" => Self::Sum,
            "prod" | "multiply" => Self::Product,
            "mean" => Self::Mean,
            "amax" => Self::Max,
            "amin" => Self::Min,
            other => {
                return Err(Problem::invalid(format!(
                    "reduce must be `sum`, `prod`, `mean`, `amax` or `amin`, found `{other}`"
                )));
            }
        })
    }

    pub(super) fn combine<T: Arithmetic + Real>(self, old: T, new: T) -> T {
        let nan = |value: T| Real::is_not_a_number(value);
        match self {
            Self::Sum | Self::Mean => old.plus(new),
            Self::Product => old.times(new),
            Self::Max if nan(old) || (!nan(new) && old >= new) => old,
            Self::Min if nan(old) || (!nan(new) && old <= new) => old,
            Self::Max | Self::Min => new,
        }
    }
}

/// Visits each element of an index of these sizes: its number, and its place among the others'
/// dimensions, counted by `strides` with the dimension `dim` left out.
fn for_each_element(
    sizes: &[usize],
    strides: [&[usize]; 2],
    dim: usize,
    mut visit: impl FnMut(usize, [usize; 2]) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let count = geometry::numel(sizes);
    let mut index = Dims::from_elem(0, sizes.len());
    for number in 0..count {
        let at = |which: usize, all: bool| -> usize {
            let dims = index.iter().zip(strides[which]).enumerate();
            dims.filter(|(other, _)| all || *other != dim)
                .map(|(_, (index, stride))| index * stride)
                .sum()
        };
        visit(number, [at(0, false), at(1, true)])?;
        for dim in (0..sizes.len()).rev() {
            index[dim] += 1;
            if index[dim] < sizes[dim] {
                break;
            }
            index[dim] = 0;
        }
    }
    Ok(())
}

/// The index may be smaller than the tensor in every dimension but `dim`.
fn check_index(array: &Array, dim: usize, index: &Array, writes: bool) -> Result<(), Problem> {
    let rank = |array: &Array| array.rank().max(1);
    let fits = index.numel() == 0
        || (rank(array) == rank(index)
            && (0..index.rank())
                .all(|other| other == dim || index.size(other) <= array.size(other)));
    match fits {
        true => Ok(()),
        false => Err(Problem::invalid(format!(
            "an index of sizes {:?} does not fit a tensor of sizes {:?} that is {} along dimension {dim}",
            index.sizes(),
            array.sizes(),
            if writes { "written" } else { "read" },
        ))),
    }
}

pub(in super::super) fn gather(array: &Array, dim: usize, index: &Array) -> Result<Array, Problem> {
    check_index(array, dim, index, false)?;
    let indices = indices_of(index)?;
    let size = array.size(dim);
    let stride = array.strides().get(dim).copied().unwrap_or(0);
    dispatch!(any, array.dtype(), T => {
        let data = array.data::<T>()?;
        let elements = data.elements();
        let mut fresh = Fresh::<T>::new(indices.len())?;
        let out = fresh.elements();
        let strides = [array.strides(), array.strides()];
        for_each_element(index.sizes(), strides, dim, |number, [start, _]| {
            out[number] = elements[start + place(indices[number], dim, size)? * stride];
            Ok(())
        })?;
        fresh.into_array(index.sizes())
    })
}

/// What is scattered.
enum Source {
    Array(Array),
    Number(Scalar),
}

fn scatter(
    call: &Call<'_>,
    source: Source,
    reduce: Option<Reduce>,
    includes_self: bool,
) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let dim = wrap_dim(call.int(1)?, array.rank())?;
    let index = call.array(2)?;
    check_index(&array, dim, &index, true)?;
    let source = match source {
        Source::Array(source) => {
            if source.dtype() != array.dtype() {
                return Err(Problem::OtherDType {
                    expected: array.dtype(),
                    found: source.dtype(),
                });
            }
            let fits = index.numel() == 0
                || (0..index.rank()).all(|dim| index.size(dim) <= source.size(dim));
            if !fits {
                return Err(Problem::invalid(format!(
                    "an index of sizes {:?} is greater than the source, {:?}",
                    index.sizes(),
                    source.sizes()
                )));
            }
            source
        }
        Source::Number(number) => Array::scalar(array.dtype(), number)?.expand(index.sizes())?,
    };
    let copy = array.copied(geometry::contiguous_strides(array.sizes()))?;
    let indices = indices_of(&index)?;
    match reduce {
        None => dispatch!(any, array.dtype(), T => {
            write_elements::<T>(&copy, dim, &index, &indices, &source, |_, _, new| new)
        })?,
        Some(Reduce::Sum) if includes_self => dispatch!(any, array.dtype(), T => {
            write_elements::<T>(&copy, dim, &index, &indices, &source, |_, old, new| old.plus(new))
        })?,
        Some(reduce) => {
            let mut counts = vec![usize::from(includes_self); copy.storage().len() + 1];
            dispatch!(real, array.dtype(), T => {
                write_elements::<T>(&copy, dim, &index, &indices, &source, |place, old, new| {
                    counts[place] += 1;
                    if counts[place] == 1 { new } else { reduce.combine(old, new) }
                })
            })?;
            if reduce == Reduce::Mean {
                dispatch!(real, array.dtype(), T => copy.write(|elements: &mut [T]| {
                    for (element, count) in elements.iter_mut().zip(&counts) {
                        if *count > 1 {
                            *element = mean_of(*element, *count);
                        }
                    }
                }))?;
            }
        }
    }
    Ok(copy.into())
}

/// Writes the source's elements where the index says, in order. `combine` gets the place, what
/// stands there and what comes.
fn write_elements<T: Element>(
    array: &Array,
    dim: usize,
    index: &Array,
    indices: &[i64],
    source: &Array,
    mut combine: impl FnMut(usize, T, T) -> T,
) -> Result<(), Problem> {
    let size = array.size(dim);
    let stride = array.strides().get(dim).copied().unwrap_or(0);
    let data = source.data::<T>()?;
    let from = data.elements();
    let strides = [array.strides(), source.strides()];
    array.write(|to: &mut [T]| {
        for_each_element(index.sizes(), strides, dim, |number, [start, source]| {
            let place = start + place(indices[number], dim, size)? * stride;
            to[place] = combine(place, to[place], from[source]);
            Ok(())
        })
    })?
}

/// `take_along_dim(self, indices, dim=None)`
fn take_along_dim(call: &Call<'_>) -> Result<Value, Problem> {
    let (array, index) = (call.array(0)?, call.array(1)?);
    let Some(dim) = call.optional_int(2)? else {
        let flat = array.contiguous()?;
        let flat = flat.view(&[flat.numel()], Dims::from_slice(&[1]), flat.offset())?;
        let index = index.contiguous()?;
        let index = index.view(&[index.numel()], Dims::from_slice(&[1]), index.offset())?;
        return Ok(gather(&flat, 0, &index)?.into());
    };
    let dim = wrap_dim(dim, array.rank())?;
    // All other dimensions are broadcast.
    let without = |array: &Array| {
        let mut sizes = Dims::from_slice(array.sizes());
        sizes[dim] = 1;
        sizes
    };
    let mut sizes = geometry::broadcast(&without(&array), &without(&index))?;
    sizes[dim] = array.size(dim);
    let array = array.expand(&sizes)?;
    sizes[dim] = index.size(dim);
    Ok(gather(&array, dim, &index.expand(&sizes)?)?.into())
}

/// `put(self, index, source, accumulate=False)`: places count through the whole tensor.
fn put(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let copy = array.copied(geometry::contiguous_strides(array.sizes()))?;
    let (index, source) = (indices_of(&call.array(1)?)?, call.array(2)?);
    let accumulates = call.bool(3)?;
    if source.numel() != index.len() {
        return Err(Problem::invalid(
            "index and source must have equally many elements",
        ));
    }
    let size = copy.numel();
    dispatch!(any, array.dtype(), T => {
        let values = source.to_vec::<T>()?;
        copy.write(|to: &mut [T]| -> Result<(), Problem> {
            for (index, value) in index.iter().zip(values) {
                let place = super::super::view::wrap_index(*index, 0, size)?;
                to[place] = if accumulates { to[place].plus(value) } else { value };
            }
            Ok(())
        })?
    })?;
    Ok(copy.copied(preserved(&array))?.into())
}

/// `masked_scatter(self, mask, source)`: the source's elements in order where the mask holds.
fn masked_scatter(call: &Call<'_>) -> Result<Value, Problem> {
    let (array, mask, source) = (call.array(0)?, call.array(1)?, call.array(2)?);
    let sizes = geometry::broadcast(array.sizes(), mask.sizes())?;
    let (array, mask) = (array.expand(&sizes)?, mask.expand(&sizes)?);
    if mask.dtype() != graven_ir::DType::Bool {
        return Err(Problem::OtherDType {
            expected: graven_ir::DType::Bool,
            found: mask.dtype(),
        });
    }
    if source.dtype() != array.dtype() {
        return Err(Problem::OtherDType {
            expected: array.dtype(),
            found: source.dtype(),
        });
    }
    let holds = mask
        .converted(graven_ir::DType::Bool)?
        .to_vec::<crate::element::Bool>()?;
    dispatch!(any, array.dtype(), T => {
        let mut values = source.to_vec::<T>()?.into_iter();
        let mut result = array.to_vec::<T>()?;
        for (element, holds) in result.iter_mut().zip(holds) {
            if holds.get() {
                *element = values
                    .next()
                    .ok_or_else(|| Problem::invalid("the source has fewer elements than the mask"))?;
            }
        }
        Ok(Array::from_elements(&result, &sizes)?.into())
    })
}
