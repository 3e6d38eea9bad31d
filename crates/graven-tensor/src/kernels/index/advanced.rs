//! `x[i, j]` with tensors of indices, and along one dimension.

use graven_ir::DType;

use super::super::Table;
use super::super::copy::preserved;
use super::super::pointwise::Arithmetic as _;
use super::super::view::{permuted, wrap_index};
use super::{indices_of, place};
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::{Bool, dispatch};
use crate::error::Problem;
use crate::geometry::{self, Dims, Walk, wrap_dim};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_unsafe_index.Tensor", index),
    ("aten::_unsafe_index_put", index_put),
    ("aten::index.Tensor", index),
    ("aten::index_put", index_put),
    ("aten::index_select", |call| {
        let array = call.array(0)?;
        let dim = wrap_dim(call.int(1)?, array.rank())?;
        let index = call.array(2)?;
        if index.rank() > 1 {
            return Err(Problem::invalid("the index must have one dimension"));
        }
        let size = array.size(dim);
        let places = indices_of(&index)?;
        let places: Vec<usize> = places
            .iter()
            .map(|index| place(*index, dim, size))
            .collect::<Result<_, _>>()?;
        Ok(selected(&array, dim, &places)?.into())
    }),
    ("aten::masked_select", |call| {
        let (array, mask) = (call.array(0)?, call.array(1)?);
        let mut sizes = geometry::broadcast(array.sizes(), mask.sizes())?;
        if sizes.is_empty() {
            sizes.push(1);
        }
        let lookup = Lookup::new(&array.expand(&sizes)?, &[Some(mask.expand(&sizes)?)])?;
        Ok(lookup.read(&array.expand(&sizes)?)?.into())
    }),
    ("aten::nonzero", |call| Ok(nonzero(&call.array(0)?)?.into())),
    ("aten::take", |call| {
        let (array, index) = (call.array(0)?, call.array(1)?);
        let flat = array.contiguous()?;
        let flat = flat.view(&[flat.numel()], Dims::from_slice(&[1]), flat.offset())?;
        Ok(Lookup::new(&flat, &[Some(index)])?.read(&flat)?.into())
    }),
];

/// The slices of a dimension at these places.
pub(in super::super) fn selected(
    array: &Array,
    dim: usize,
    places: &[usize],
) -> Result<Array, Problem> {
    let mut sizes = Dims::from_slice(array.sizes());
    if array.rank() > 0 {
        sizes[dim] = places.len();
    }
    let array = array.contiguous()?;
    let size = array.size(dim);
    let inner = geometry::numel(array.sizes().get(dim + 1..).unwrap_or(&[]));
    let outer = geometry::numel(&array.sizes()[..dim.min(array.rank())]);
    dispatch!(any, array.dtype(), T => {
        let data = array.data::<T>()?;
        let elements = data.elements();
        let mut fresh = Fresh::<T>::new(outer * places.len() * inner)?;
        let mut out = fresh.elements();
        for block in 0..outer {
            for place in places {
                let start = (block * size + place) * inner;
                let (slice, rest) = std::mem::take(&mut out).split_at_mut(inner);
                slice.copy_from_slice(&elements[start..start + inner]);
                out = rest;
            }
        }
        fresh.into_array(&sizes)
    })
}

/// The indices of elements that are not 0: one row for each, one column for each dimension.
pub(super) fn nonzero(array: &Array) -> Result<Array, Problem> {
    let rank = array.rank();
    let truths = array.converted(DType::Bool)?.to_vec::<Bool>()?;
    let mut rows: Vec<i64> = Vec::new();
    let mut index = vec![0_usize; rank];
    for truth in truths {
        if truth.get() {
            rows.extend(index.iter().map(|index| *index as i64));
        }
        for dim in (0..rank).rev() {
            index[dim] += 1;
            if index[dim] < array.sizes()[dim] {
                break;
            }
            index[dim] = 0;
        }
    }
    let count = match rank {
        0 => usize::from(array.item()?.to_f64() != 0.0),
        rank => rows.len() / rank,
    };
    // Column after column, as torch has it.
    let rows = Array::from_elements(&rows, &[count, rank])?;
    match (rank, count) {
        (0, 1..) => Ok(rows),
        _ => rows.copied(Dims::from_slice(&[1, count])),
    }
}

/// Places of a tensor that tensors of indices name.
struct Lookup {
    /// Sizes of what is read.
    sizes: Dims,
    /// The order of the result's dimensions that brings those of the indices to the front.
    order: Dims,
    /// For each element of the broadcast indices the place of its slice.
    starts: Vec<usize>,
    /// Sizes and strides of the dimensions without index.
    rest_sizes: Dims,
    rest_strides: Dims,
}

impl Lookup {
    /// `indices` has at most one for each dimension; those of truth values stand for as many
    /// dimensions as they have.
    fn new(array: &Array, indices: &[Option<Array>]) -> Result<Self, Problem> {
        let indices = without_masks(array, indices)?;
        let is_indexed = |dim: &usize| indices.get(*dim).is_some_and(Option::is_some);
        let indexed: Dims = (0..array.rank()).filter(is_indexed).collect();
        let mut shape = Dims::new();
        for index in indices.iter().flatten() {
            shape = geometry::broadcast(&shape, index.sizes())?;
        }
        let mut starts = vec![0_usize; geometry::numel(&shape)];
        for dim in &indexed {
            let Some(index) = &indices[*dim] else {
                continue;
            };
            let (size, stride) = (array.sizes()[*dim], array.strides()[*dim]);
            let index = indices_of(&index.expand(&shape)?)?;
            for (start, index) in starts.iter_mut().zip(index) {
                *start += wrap_index(index, *dim, size)? * stride;
            }
        }
        let rest: Dims = (0..array.rank()).filter(|dim| !is_indexed(dim)).collect();
        let rest_sizes: Dims = rest.iter().map(|dim| array.sizes()[*dim]).collect();
        let rest_strides: Dims = rest.iter().map(|dim| array.strides()[*dim]).collect();
        // Indices side by side keep their place; those apart go to the front.
        let are_adjacent = indexed.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let before = match (are_adjacent, indexed.first()) {
            (true, Some(first)) => *first,
            _ => 0,
        };
        let mut sizes = Dims::from_slice(&rest_sizes[..before]);
        sizes.extend_from_slice(&shape);
        sizes.extend_from_slice(&rest_sizes[before..]);
        let mut order: Dims = (before..before + shape.len()).collect();
        order.extend(0..before);
        order.extend(before + shape.len()..sizes.len());
        Ok(Self {
            sizes,
            order,
            starts,
            rest_sizes,
            rest_strides,
        })
    }

    /// Visits each element: its place in the tensor that is looked up in, and in `values`, which
    /// has the sizes of what is read.
    fn for_each(&self, values: &Array, mut visit: impl FnMut(usize, usize)) -> Result<(), Problem> {
        let values = permuted(values, &self.order)?;
        let front = values.rank() - self.rest_sizes.len();
        let slices = Walk::new(
            &values.sizes()[..front],
            [
                &geometry::contiguous_strides(&values.sizes()[..front]),
                &values.strides()[..front],
            ],
        );
        let within = Walk::new(
            &self.rest_sizes,
            [&values.strides()[front..], &self.rest_strides],
        );
        let mut pairs = Vec::with_capacity(self.starts.len());
        let [number_step, value_step] = slices.steps();
        slices.for_each_row(0..slices.rows(), |[number, value]| {
            for index in 0..slices.row() {
                pairs.push((number + index * number_step, value + index * value_step));
            }
        });
        pairs.sort_unstable();
        let [value_step, place_step] = within.steps();
        for (number, value) in pairs {
            let start = self.starts[number];
            within.for_each_row(0..within.rows(), |[value_row, place_row]| {
                for index in 0..within.row() {
                    visit(
                        start + place_row + index * place_step,
                        value + value_row + index * value_step,
                    );
                }
            });
        }
        Ok(())
    }

    fn read(&self, array: &Array) -> Result<Array, Problem> {
        let result = Array::zeros(array.dtype(), &self.sizes)?;
        dispatch!(any, array.dtype(), T => {
            let data = array.data::<T>()?;
            let elements = data.elements();
            result.write(|out: &mut [T]| {
                self.for_each(&result, |place, value| out[value] = elements[place])
            })?
        })?;
        Ok(result)
    }
}

/// Masks as the indices of their elements that hold; every dimension its own index.
fn without_masks(array: &Array, indices: &[Option<Array>]) -> Result<Vec<Option<Array>>, Problem> {
    let mut plain: Vec<Option<Array>> = Vec::new();
    for index in indices {
        match index {
            Some(mask) if matches!(mask.dtype(), DType::Bool | DType::UInt8) => {
                let first = plain.len();
                let fits = array.sizes().get(first..first + mask.rank()) == Some(mask.sizes());
                if !fits {
                    return Err(Problem::invalid(format!(
                        "a mask of sizes {:?} does not fit a tensor of sizes {:?} at dimension {first}",
                        mask.sizes(),
                        array.sizes()
                    )));
                }
                let found = nonzero(mask)?;
                for column in 0..mask.rank() {
                    let column = super::super::view::select(&found, 1, column as i64)?;
                    plain.push(Some(column));
                }
            }
            index => plain.push(index.clone()),
        }
    }
    if plain.len() > array.rank() {
        return Err(Problem::invalid(format!(
            "{} indices are too many for a tensor of {} dimensions",
            plain.len(),
            array.rank()
        )));
    }
    Ok(plain)
}

/// `index.Tensor(self, Tensor?[] indices)`
fn index(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    Ok(Lookup::new(&array, &call.optional_arrays(1)?)?
        .read(&array)?
        .into())
}

/// `index_put(self, indices, values, accumulate=False)`
fn index_put(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let values = call.array(2)?;
    if values.dtype() != array.dtype() {
        return Err(Problem::OtherDType {
            expected: array.dtype(),
            found: values.dtype(),
        });
    }
    let copy = array.copied(preserved(&array))?;
    let accumulates = call.bool(3)?;
    let lookup = Lookup::new(&copy, &call.optional_arrays(1)?)?;
    let values = values.expand(&lookup.sizes)?;
    dispatch!(any, array.dtype(), T => {
        let data = values.data::<T>()?;
        let from = data.elements();
        copy.write(|to: &mut [T]| {
            lookup.for_each(&values, |place, value| {
                to[place] = match accumulates {
                    true => to[place].plus(from[value]),
                    false => from[value],
                };
            })
        })?
    })?;
    Ok(copy.into())
}
