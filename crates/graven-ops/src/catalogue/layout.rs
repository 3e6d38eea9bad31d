//! Strides of results that no shape rule tells: which operators give their result those of their
//! first argument, and what attention returns.

use graven_ir::TensorMeta;
use graven_ir::value::Dims;

use crate::operator::Operator;
use crate::tags::Tag;

/// Functional operators that begin with a copy of their first argument, strides kept, and write
/// to it. Their schemas look like those of `index_add` and `cumsum`, which return contiguous
/// tensors.
const COPY_THEN_WRITE: &[&str] = &[
    "cauchy",
    "copy",
    "exponential",
    "fill",
    "geometric",
    "index_fill",
    "index_put",
    "log_normal",
    "normal_functional",
    "put",
    "random",
    "uniform",
    "zero",
];

/// Functional operators that look like those above and return contiguous tensors.
const CONTIGUOUS: &[&str] = &["masked_fill", "masked_scatter"];

/// Whether the result has the strides of the first argument, where those are dense: element by
/// element operators, and those that write to a copy.
pub fn keeps_strides(operator: &Operator) -> bool {
    let packet = &*operator.name().packet;
    !CONTIGUOUS.contains(&packet)
        && (operator.has_tag(Tag::Pointwise)
            || packet.ends_with("_scatter")
            || COPY_THEN_WRITE.contains(&packet))
}

/// Whether the result has the strides of the first argument even where those leave gaps: torch
/// copies the memory as it lies before it writes.
pub fn keeps_gaps(operator: &Operator) -> bool {
    let packet = &*operator.name().packet;
    packet == "copy" || packet.ends_with("_scatter")
}

/// Whether an element-wise operator returns truth values, whatever it is given.
pub fn returns_bool(packet: &str) -> bool {
    const COMPARISONS: &[&str] = &[
        "eq",
        "ge",
        "greater",
        "greater_equal",
        "gt",
        "isfinite",
        "isinf",
        "isnan",
        "le",
        "less",
        "less_equal",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "lt",
        "ne",
        "not_equal",
        "signbit",
    ];
    COMPARISONS
        .binary_search(&packet.trim_end_matches('_'))
        .is_ok()
}

/// The strides with which `scaled_dot_product_attention` returns its result when nothing requires
/// gradients: the fused kernel gives it those of the query. A raw program may have recorded those
/// of the unfused one, which torch takes when the mask requires gradients.
///
/// `tensors` are query, key, value and perhaps a mask. `None` where the fused kernel does not
/// apply, or gives what was recorded.
pub fn fused_attention_strides(tensors: &[&TensorMeta], result: &TensorMeta) -> Option<Dims> {
    let [query, key, value, mask @ ..] = tensors else {
        return None;
    };
    let features = |meta: &TensorMeta| meta.sizes.last().copied();
    let heads = |meta: &TensorMeta| meta.sizes.get(1).copied();
    let has_four = [query, key, value].iter().all(|meta| meta.sizes.len() == 4);
    let agree = features(query) == features(key)
        && features(key) == features(value)
        && heads(query) == heads(key)
        && heads(key) == heads(value);
    let mask_fits = mask.iter().all(|mask| matches!(mask.sizes.len(), 2 | 4));
    let applies = has_four && agree && mask_fits && query.dtype.is_floating_point();
    let differs = query.sizes == result.sizes
        && query.strides != result.strides
        && is_plain(result)
        && is_dense(query);
    (applies && differs).then(|| query.strides.clone())
}

/// Whether strides are those of a contiguous tensor of constant sizes.
fn is_plain(meta: &TensorMeta) -> bool {
    tiles(meta, (0..meta.sizes.len()).rev())
}

/// Whether a tensor of constant sizes has neither gaps nor overlaps.
fn is_dense(meta: &TensorMeta) -> bool {
    let mut order: Vec<usize> = (0..meta.sizes.len()).collect();
    order.sort_by_key(|dim| (meta.strides[*dim].as_int(), std::cmp::Reverse(*dim)));
    tiles(meta, order.into_iter())
}

/// Whether each dimension, in this order, begins where the ones before it end.
fn tiles(meta: &TensorMeta, dims: impl Iterator<Item = usize>) -> bool {
    let mut expected = 1_i64;
    for dim in dims {
        let (Some(size), Some(stride)) = (meta.sizes[dim].as_int(), meta.strides[dim].as_int())
        else {
            return false;
        };
        if size != 1 && stride != expected {
            return false;
        }
        expected = expected.saturating_mul(size.max(1));
    }
    true
}
