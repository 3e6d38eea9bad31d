//! Which operators give their result the strides of their first argument.

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
