//! Tensors put together: `cat`, `stack`, `repeat`; and pieces written into copies.

use super::Table;
use super::copy::with_gaps;
use super::pointwise::Arithmetic as _;
use super::view::{diagonal_of, narrowed, select, sliced, unsqueezed};
use crate::array::Array;
use crate::call::Call;
use crate::element::dispatch;
use crate::error::Problem;
use crate::geometry::{self, Dims, Walk, wrap_dim};
use crate::promote::Promotion;
use crate::storage::Storage;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::as_strided_scatter", as_strided_scatter),
    ("aten::broadcast_tensors", broadcast_tensors),
    ("aten::cat", |call| {
        let arrays = call.arrays(0)?;
        Ok(cat(&arrays, call.int(1)?)?.into())
    }),
    ("aten::concat", |call| {
        Ok(cat(&call.arrays(0)?, call.int(1)?)?.into())
    }),
    ("aten::concatenate", |call| {
        Ok(cat(&call.arrays(0)?, call.int(1)?)?.into())
    }),
    ("aten::diagonal_scatter", |call| {
        with_piece(call, |copy| {
            diagonal_of(copy, call.int(2)?, call.int(3)?, call.int(4)?)
        })
    }),
    ("aten::meshgrid", |call| meshgrid(call, "ij")),
    ("aten::meshgrid.indexing", |call| {
        meshgrid(call, call.optional_str(1)?.unwrap_or("ij"))
    }),
    ("aten::repeat", repeat),
    ("aten::select_scatter", |call| {
        with_piece(call, |copy| select(copy, call.int(2)?, call.int(3)?))
    }),
    ("aten::slice_scatter", |call| {
        with_piece(call, |copy| {
            let (start, end) = (call.optional_int(3)?, call.optional_int(4)?);
            sliced(copy, call.int(2)?, start, end, call.int(5)?)
        })
    }),
    ("aten::stack", |call| {
        let arrays = call.arrays(0)?;
        let rank = arrays.first().map_or(0, Array::rank);
        let dim = wrap_dim(call.int(1)?, rank + 1)?;
        let sizes = arrays.first().map(|array| array.sizes().to_vec());
        if arrays
            .iter()
            .any(|array| Some(array.sizes()) != sizes.as_deref())
        {
            return Err(Problem::invalid(
                "tensors of several sizes cannot be stacked",
            ));
        }
        let arrays: Vec<Array> = arrays
            .iter()
            .map(|array| unsqueezed(array, dim))
            .collect::<Result<_, _>>()?;
        Ok(cat(&arrays, dim as i64)?.into())
    }),
    ("aten::unfold_backward", unfold_backward),
];

pub(super) fn cat(arrays: &[Array], dim: i64) -> Result<Array, Problem> {
    let first = arrays
        .first()
        .ok_or_else(|| Problem::invalid("a list of no tensors has nothing to put together"))?;
    let promotion = arrays
        .iter()
        .fold(Promotion::default(), |promotion, array| {
            promotion.array(array)
        });
    let dtype = promotion.result().unwrap_or(first.dtype());
    // Tensors of one dimension and no elements fit everything, by tradition.
    let is_empty = |array: &&Array| array.sizes() != [0];
    let parts: Vec<&Array> = arrays.iter().filter(is_empty).collect();
    let Some(first) = parts.first() else {
        return Array::zeros(dtype, &[0]);
    };
    if first.rank() == 0 {
        return Err(Problem::invalid(
            "tensors without dimensions cannot be put together; use stack",
        ));
    }
    let dim = wrap_dim(dim, first.rank())?;
    let mut sizes = Dims::from_slice(first.sizes());
    sizes[dim] = 0;
    for part in &parts {
        let fits = part.rank() == first.rank()
            && (0..first.rank()).all(|other| other == dim || part.size(other) == first.size(other));
        if !fits {
            return Err(Problem::invalid(format!(
                "tensors of sizes {:?} and {:?} cannot be put together along dimension {dim}",
                first.sizes(),
                part.sizes()
            )));
        }
        sizes[dim] += part.size(dim);
    }
    let is_last = |part: &&Array| geometry::is_channels_last(part.sizes(), part.strides());
    let strides = match parts.iter().all(is_last) && !parts.iter().all(|part| part.is_contiguous())
    {
        true => geometry::channels_last_strides(&sizes),
        false => geometry::contiguous_strides(&sizes),
    };
    let result = Array::zeros_strided(dtype, &sizes, strides)?;
    let mut start = 0;
    for part in parts {
        narrowed(&result, dim, start, part.size(dim))?.assign(part)?;
        start += part.size(dim);
    }
    Ok(result)
}

/// A copy of argument 0 in which a piece is replaced by argument 1.
fn with_piece(
    call: &Call<'_>,
    piece: impl FnOnce(&Array) -> Result<Array, Problem>,
) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let copy = with_gaps(&array)?;
    let piece = piece(&copy)?;
    let source = call.unresolved(1)?;
    if piece.sizes() != source.sizes() {
        return Err(Problem::Broadcast {
            left: piece.sizes().to_vec(),
            right: source.sizes().to_vec(),
        });
    }
    piece.assign(&source)?;
    Ok(copy.into())
}

/// `as_strided_scatter(self, src, size, stride, storage_offset=None)`: in a copy of the storage, as
/// the piece may reach elements that `self` does not.
fn as_strided_scatter(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let storage = Storage::from_bytes(&array.storage().to_bytes())?;
    let copy = Array::new(
        storage,
        array.dtype(),
        array.sizes(),
        Dims::from_slice(array.strides()),
        array.offset(),
    )?;
    let offset = match call.optional_int(4)? {
        None => array.offset(),
        Some(offset) => usize::try_from(offset)
            .map_err(|_| Problem::invalid("the storage offset must not be negative"))?,
    };
    let piece = copy.view(&call.sizes(2)?, call.sizes(3)?, offset)?;
    let source = call.array(1)?;
    if piece.sizes() != source.sizes() {
        return Err(Problem::Broadcast {
            left: piece.sizes().to_vec(),
            right: source.sizes().to_vec(),
        });
    }
    assign_in_order(&piece, &source)?;
    Ok(copy.into())
}

/// Writes element after element; where elements overlap the last one stays.
fn assign_in_order(piece: &Array, source: &Array) -> Result<(), Problem> {
    let order = geometry::contiguous_strides(piece.sizes());
    let walk = Walk::new(piece.sizes(), [&*order, piece.strides()]);
    let [from_step, to_step] = walk.steps();
    dispatch!(any, piece.dtype(), T => {
        let values = source.converted(piece.dtype())?.to_vec::<T>()?;
        piece.write(|to: &mut [T]| walk.for_each_row(0..walk.rows(), |[from, place]| {
            for index in 0..walk.row() {
                to[place + index * to_step] = values[from + index * from_step];
            }
        }))
    })
}

fn broadcast_tensors(call: &Call<'_>) -> Result<Value, Problem> {
    let arrays = call.arrays(0)?;
    let mut sizes = Dims::new();
    for array in &arrays {
        sizes = geometry::broadcast(&sizes, array.sizes())?;
    }
    let expanded = arrays.iter().map(|array| array.expand(&sizes));
    Ok(expanded.collect::<Result<Vec<_>, _>>()?.into())
}

fn meshgrid(call: &Call<'_>, indexing: &str) -> Result<Value, Problem> {
    let mut arrays = call.arrays(0)?;
    let swaps = indexing == "xy" && arrays.len() >= 2;
    if swaps {
        arrays.swap(0, 1);
    }
    let sizes: Dims = arrays.iter().map(Array::numel).collect();
    let grid = |(dim, array): (usize, &Array)| {
        let mut own = Dims::from_elem(1, sizes.len());
        own[dim] = array.numel();
        let view = super::view::reshaped(array, &own)?;
        let view = view.ok_or_else(|| Problem::invalid("a tensor of at most one dimension"))?;
        view.expand(&sizes)
    };
    let mut grids: Vec<Array> = arrays
        .iter()
        .enumerate()
        .map(grid)
        .collect::<Result<_, _>>()?;
    if swaps {
        grids.swap(0, 1);
    }
    Ok(grids.into())
}

/// `repeat(self, repeats)`
fn repeat(call: &Call<'_>) -> Result<Value, Problem> {
    let mut array = call.array(0)?;
    let repeats = call.sizes(1)?;
    if repeats.len() < array.rank() {
        return Err(Problem::invalid(format!(
            "{} repeats are too few for a tensor of {} dimensions",
            repeats.len(),
            array.rank()
        )));
    }
    while array.rank() < repeats.len() {
        array = unsqueezed(&array, 0)?;
    }
    let too_large = || Problem::OutOfMemory { bytes: usize::MAX };
    let sizes: Dims = array
        .sizes()
        .iter()
        .zip(&repeats)
        .map(|(size, repeat)| size.checked_mul(*repeat).ok_or_else(too_large))
        .collect::<Result<_, _>>()?;
    let result = Array::zeros(array.dtype(), &sizes)?;
    if result.numel() == 0 {
        return Ok(result.into());
    }
    // The result seen as blocks: each dimension as repeats of the tensor's.
    let (mut block_sizes, mut block_strides) = (Dims::new(), Dims::new());
    let mut sizes_of_array = Dims::new();
    for (dim, repeat) in repeats.iter().enumerate() {
        let (size, stride) = (array.sizes()[dim], result.strides()[dim]);
        block_sizes.extend([*repeat, size]);
        block_strides.extend([size * stride, stride]);
        sizes_of_array.extend([1, size]);
    }
    let strides = array
        .strides()
        .iter()
        .flat_map(|stride| [0, *stride])
        .collect();
    let source = array.view(&sizes_of_array, strides, array.offset())?;
    result
        .view(&block_sizes, block_strides, 0)?
        .assign(&source)?;
    Ok(result.into())
}

/// `unfold_backward(grad_in, input_sizes, dim, size, step)`: windows added back.
fn unfold_backward(call: &Call<'_>) -> Result<Value, Problem> {
    let grad = call.array(0)?;
    let sizes = call.sizes(1)?;
    let dim = wrap_dim(call.int(2)?, sizes.len())?;
    let step = usize::try_from(call.int(4)?).unwrap_or(0);
    let result = Array::zeros(grad.dtype(), &sizes)?;
    let window = grad.sizes().last().copied().unwrap_or(0);
    let count = grad.size(dim);
    if count > 0 && (count - 1) * step + window > result.size(dim) {
        return Err(Problem::invalid(
            "the windows do not fit the sizes that they came from",
        ));
    }
    for number in 0..count {
        let windows = select(&grad, dim as i64, number as i64)?;
        let last = windows.rank() - 1;
        let mut order: Dims = (0..last).collect();
        order.insert(dim.min(last), last);
        let from = super::view::permuted(&windows, &order)?;
        let to = narrowed(&result, dim, number * step, window)?;
        let sum = dispatch!(any, grad.dtype(), T => {
            let pairs = to.to_vec::<T>()?.into_iter().zip(from.to_vec::<T>()?);
            Array::from_elements(&pairs.map(|(a, b)| a.plus(b)).collect::<Vec<T>>(), to.sizes())
        })?;
        to.assign(&sum)?;
    }
    Ok(result.into())
}
