//! Strides: which a fresh tensor has, and what those of a view allow.

use std::cmp::Ordering;

use graven_ir::symint::{SymError, SymExprs};
use graven_ir::value::Dims;
use graven_ir::{MemoryFormat, SymInt, TensorMeta};
use smallvec::smallvec;

const ONE: SymInt = SymInt::Int(1);
const ZERO: SymInt = SymInt::Int(0);

/// Whether `a < b`: decided, or as it was at export; `None` when nothing is known.
pub(crate) fn less(exprs: &SymExprs, a: SymInt, b: SymInt) -> Option<bool> {
    if a == b {
        return Some(false);
    }
    Some(exprs.size_hint(a)? < exprs.size_hint(b)?)
}

/// The strides of a contiguous tensor.
pub fn contiguous_strides(exprs: &mut SymExprs, sizes: &[SymInt]) -> Result<Dims, SymError> {
    strides_in_order(exprs, sizes, 0..sizes.len())
}

/// Strides without gaps, `order` naming the dimensions from the outermost to the innermost.
fn strides_in_order(
    exprs: &mut SymExprs,
    sizes: &[SymInt],
    order: impl DoubleEndedIterator<Item = usize>,
) -> Result<Dims, SymError> {
    let mut strides: Dims = smallvec![ONE; sizes.len()];
    let mut step = ONE;
    for dim in order.rev() {
        strides[dim] = step;
        // A dimension of size 0 counts as one of size 1.
        if sizes[dim] != ZERO {
            step = exprs.mul(step, sizes[dim])?;
        }
    }
    Ok(strides)
}

/// The dimensions of a channels-last tensor, from the outermost to the innermost.
fn channels_last_order(rank: usize) -> impl DoubleEndedIterator<Item = usize> {
    std::iter::once(0).chain(2..rank).chain(std::iter::once(1))
}

/// The rank that a memory format is for; `None` for any.
pub(crate) fn rank_of(format: MemoryFormat) -> Option<usize> {
    match format {
        MemoryFormat::ChannelsLast => Some(4),
        MemoryFormat::ChannelsLast3d => Some(5),
        MemoryFormat::Contiguous | MemoryFormat::Preserve => None,
    }
}

/// The strides of a fresh tensor in `format`. A format of another rank, and `preserve_format`,
/// give contiguous ones.
pub fn strides_in_format(
    exprs: &mut SymExprs,
    sizes: &[SymInt],
    format: MemoryFormat,
) -> Result<Dims, SymError> {
    match rank_of(format) {
        Some(rank) if rank == sizes.len() => {
            strides_in_order(exprs, sizes, channels_last_order(rank))
        }
        _ => contiguous_strides(exprs, sizes),
    }
}

/// Whether the tensor has no elements.
fn is_empty(meta: &TensorMeta) -> bool {
    meta.sizes.contains(&ZERO)
}

/// Whether the tensor lies in memory in `format`, without gaps. Strides of dimensions of size 1
/// do not count.
///
/// # Errors
/// When a product of sizes overflows.
pub fn is_contiguous(
    exprs: &mut SymExprs,
    meta: &TensorMeta,
    format: MemoryFormat,
) -> Result<bool, SymError> {
    let rank = meta.sizes.len();
    match rank_of(format) {
        Some(wanted) if wanted != rank => Ok(false),
        Some(_) => lies_in_order(exprs, meta, channels_last_order(rank)),
        None if is_empty(meta) => Ok(true),
        None => lies_in_order(exprs, meta, 0..rank),
    }
}

fn lies_in_order(
    exprs: &mut SymExprs,
    meta: &TensorMeta,
    order: impl DoubleEndedIterator<Item = usize>,
) -> Result<bool, SymError> {
    let mut step = ONE;
    for dim in order.rev() {
        if meta.sizes[dim] == ONE {
            continue;
        }
        if meta.strides[dim] != step {
            return Ok(false);
        }
        step = exprs.mul(step, meta.sizes[dim])?;
    }
    Ok(true)
}

/// Whether the elements lie side by side in memory, in whatever order, each once.
///
/// # Errors
/// When a product of sizes overflows.
pub fn is_dense(exprs: &mut SymExprs, meta: &TensorMeta) -> Result<bool, SymError> {
    if is_empty(meta) {
        return Ok(true);
    }
    let mut dims: Vec<usize> = (0..meta.sizes.len())
        .filter(|&dim| meta.sizes[dim] != ONE)
        .collect();
    // Dimensions from the innermost: each has the product of the sizes before as its stride.
    let mut step = ONE;
    while let Some(position) = dims.iter().position(|&dim| meta.strides[dim] == step) {
        let dim = dims.swap_remove(position);
        step = exprs.mul(step, meta.sizes[dim])?;
    }
    Ok(dims.is_empty())
}

/// The strides of a copy in `preserve_format`: those of the tensor where it is dense, otherwise
/// dense ones in the same order.
///
/// # Errors
/// When a product of sizes overflows.
pub fn preserved_strides(exprs: &mut SymExprs, meta: &TensorMeta) -> Result<Dims, SymError> {
    if is_dense(exprs, meta)? {
        return Ok(meta.strides.clone());
    }
    elementwise_strides(exprs, &meta.sizes, std::slice::from_ref(&meta.strides))
}

/// The strides of what an element-wise operator returns, given those of its operands, broadcast
/// to `sizes`: dense, dimensions in the order that the first operand asks for that has one.
pub(crate) fn elementwise_strides(
    exprs: &mut SymExprs,
    sizes: &[SymInt],
    operands: &[Dims],
) -> Result<Dims, SymError> {
    let rank = sizes.len();
    // From the innermost dimension; an insertion sort, because the comparison is not a total
    // order.
    let mut order: Vec<usize> = (0..rank).rev().collect();
    for start in 1..rank {
        let mut moving = start;
        for other in (0..start).rev() {
            match inner_to_outer(exprs, sizes, operands, order[other], order[moving]) {
                Ordering::Greater => {
                    order.swap(other, moving);
                    moving = other;
                }
                Ordering::Less => break,
                Ordering::Equal => {}
            }
        }
    }
    strides_in_order(exprs, sizes, order.into_iter().rev())
}

fn inner_to_outer(
    exprs: &SymExprs,
    sizes: &[SymInt],
    operands: &[Dims],
    a: usize,
    b: usize,
) -> Ordering {
    for strides in operands {
        let (of_a, of_b) = (strides[a], strides[b]);
        if of_a == ZERO || of_b == ZERO {
            continue;
        }
        if of_a == of_b {
            if less(exprs, sizes[b], sizes[a]) == Some(true) {
                return Ordering::Greater;
            }
            continue;
        }
        match less(exprs, of_a, of_b) {
            Some(true) => return Ordering::Less,
            Some(false) => return Ordering::Greater,
            None => {}
        }
    }
    Ordering::Equal
}

/// The strides with which the tensor can be seen in other `sizes` (as many elements) without a
/// copy; `None` when it cannot.
///
/// # Errors
/// When a product of sizes overflows.
pub fn view_strides(
    exprs: &mut SymExprs,
    meta: &TensorMeta,
    sizes: &[SymInt],
) -> Result<Option<Dims>, SymError> {
    if is_empty(meta) {
        return if meta.sizes[..] == *sizes {
            Ok(Some(meta.strides.clone()))
        } else {
            contiguous_strides(exprs, sizes).map(Some)
        };
    }
    if meta.sizes.is_empty() {
        return Ok(Some(smallvec![ONE; sizes.len()]));
    }
    // Runs of dimensions that lie side by side are matched with runs of new dimensions of the
    // same number of elements, from the innermost.
    let mut strides: Dims = smallvec![ZERO; sizes.len()];
    let mut open = sizes.len();
    let rank = meta.sizes.len();
    let mut step = meta.strides[rank - 1];
    let (mut elements, mut covered) = (ONE, ONE);
    for dim in (0..rank).rev() {
        elements = exprs.mul(elements, meta.sizes[dim])?;
        if dim > 0 {
            let end = exprs.mul(elements, step)?;
            if meta.sizes[dim - 1] == ONE || meta.strides[dim - 1] == end {
                continue;
            }
        }
        while open > 0 && (sizes[open - 1] == ONE || is_fewer(exprs, covered, elements)) {
            strides[open - 1] = exprs.mul(covered, step)?;
            covered = exprs.mul(covered, sizes[open - 1])?;
            open -= 1;
        }
        if covered != elements {
            return Ok(None);
        }
        if dim > 0 {
            step = meta.strides[dim - 1];
            (elements, covered) = (ONE, ONE);
        }
    }
    Ok((open == 0).then_some(strides))
}

/// Whether a run of `covered` elements is still short of `elements`. Where nothing is known of
/// the symbols, unequal counts are taken to be so: the run grows until it fits.
fn is_fewer(exprs: &SymExprs, covered: SymInt, elements: SymInt) -> bool {
    covered != elements && less(exprs, covered, elements) != Some(false)
}

/// Whether the tensor can be seen in other `sizes` without a copy.
///
/// # Errors
/// When a product of sizes overflows.
pub fn is_viewable(
    exprs: &mut SymExprs,
    meta: &TensorMeta,
    sizes: &[SymInt],
) -> Result<bool, SymError> {
    Ok(view_strides(exprs, meta, sizes)?.is_some())
}

/// Works out the -1 among `sizes`, the new sizes of a tensor of `old` ones. More than one -1, or
/// one beside a 0, stays.
///
/// # Errors
/// When a product of sizes overflows.
pub fn resolve_open_size(
    exprs: &mut SymExprs,
    old: &[SymInt],
    sizes: &mut [SymInt],
) -> Result<(), SymError> {
    let mut open = (0..sizes.len()).filter(|&dim| sizes[dim] == SymInt::Int(-1));
    let (Some(dim), None) = (open.next(), open.next()) else {
        return Ok(());
    };
    sizes[dim] = ONE;
    let given = exprs.product_of(sizes)?;
    let elements = exprs.product_of(old)?;
    sizes[dim] = match given {
        ZERO => SymInt::Int(-1),
        given => exprs.floordiv(elements, given)?,
    };
    Ok(())
}

/// The layout that the strides suggest: channels-last where they are so without doubt,
/// otherwise contiguous.
///
/// # Errors
/// When a product of sizes overflows.
pub fn suggested_format(exprs: &mut SymExprs, meta: &TensorMeta) -> Result<MemoryFormat, SymError> {
    let format = match meta.sizes.len() {
        4 => MemoryFormat::ChannelsLast,
        5 => MemoryFormat::ChannelsLast3d,
        _ => return Ok(MemoryFormat::Contiguous),
    };
    if meta.strides[1] == ZERO || is_empty(meta) {
        return Ok(MemoryFormat::Contiguous);
    }
    let mut least = ZERO;
    for dim in channels_last_order(meta.sizes.len()).rev() {
        let stride = meta.strides[dim];
        // Where all sizes but that of the batch are 1, both layouts fit.
        let is_ambiguous = dim == 0 && least == meta.strides[1];
        if is_ambiguous || less(exprs, stride, least) == Some(true) {
            return Ok(MemoryFormat::Contiguous);
        }
        least = if meta.sizes[dim] == ONE {
            stride
        } else {
            exprs.mul(stride, meta.sizes[dim])?
        };
    }
    Ok(format)
}
