//! Functional operators on lists: the operator of one tensor, for each.

use super::super::Table;
use crate::call::Call;
use crate::error::Problem;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_foreach_abs", each),
    ("aten::_foreach_add.List", each),
    ("aten::_foreach_add.Scalar", each),
    ("aten::_foreach_add.ScalarList", each),
    ("aten::_foreach_add.Tensor", each),
    ("aten::_foreach_addcdiv.Scalar", each),
    ("aten::_foreach_addcdiv.ScalarList", each),
    ("aten::_foreach_addcmul.Scalar", each),
    ("aten::_foreach_addcmul.ScalarList", each),
    ("aten::_foreach_ceil", each),
    ("aten::_foreach_clamp_max.List", each),
    ("aten::_foreach_clamp_max.Scalar", each),
    ("aten::_foreach_clamp_min.List", each),
    ("aten::_foreach_clamp_min.Scalar", each),
    ("aten::_foreach_copy", each),
    ("aten::_foreach_cos", each),
    ("aten::_foreach_div.List", each),
    ("aten::_foreach_div.Scalar", each),
    ("aten::_foreach_div.ScalarList", each),
    ("aten::_foreach_div.Tensor", each),
    ("aten::_foreach_erf", each),
    ("aten::_foreach_exp", each),
    ("aten::_foreach_expm1", each),
    ("aten::_foreach_floor", each),
    ("aten::_foreach_frac", each),
    ("aten::_foreach_lerp.List", each),
    ("aten::_foreach_lerp.Scalar", each),
    ("aten::_foreach_log", each),
    ("aten::_foreach_log1p", each),
    ("aten::_foreach_maximum.List", each),
    ("aten::_foreach_maximum.Scalar", each),
    ("aten::_foreach_minimum.List", each),
    ("aten::_foreach_minimum.Scalar", each),
    ("aten::_foreach_mul.List", each),
    ("aten::_foreach_mul.Scalar", each),
    ("aten::_foreach_mul.ScalarList", each),
    ("aten::_foreach_mul.Tensor", each),
    ("aten::_foreach_neg", each),
    ("aten::_foreach_pow.List", each),
    ("aten::_foreach_pow.Scalar", each),
    ("aten::_foreach_reciprocal", each),
    ("aten::_foreach_round", each),
    ("aten::_foreach_rsqrt", each),
    ("aten::_foreach_sigmoid", each),
    ("aten::_foreach_sign", each),
    ("aten::_foreach_sin", each),
    ("aten::_foreach_sqrt", each),
    ("aten::_foreach_sub.List", each),
    ("aten::_foreach_sub.Scalar", each),
    ("aten::_foreach_sub.ScalarList", each),
    ("aten::_foreach_tan", each),
    ("aten::_foreach_tanh", each),
    ("aten::_foreach_trunc", each),
    ("aten::_foreach_zero", each),
];

/// Overloads of the operator of one tensor, the likeliest first.
const OVERLOADS: [&str; 8] = [
    "",
    ".Tensor",
    ".Scalar",
    ".Tensor_Tensor",
    ".Tensor_Scalar",
    ".self",
    ".other",
    ".default",
];

/// Calls the operator of one tensor with the elements of the lists, and with what is no list as it
/// is.
fn each(call: &Call<'_>) -> Result<Value, Problem> {
    let schema = call.operator().schema();
    let packet = schema.name.packet.trim_start_matches("_foreach_");
    // `maximum` of a tensor and a number is a bound.
    let packet = match (packet, &*schema.name.overload) {
        ("maximum", "Scalar") => "clamp_min",
        ("minimum", "Scalar") => "clamp_max",
        (packet, _) => packet,
    };
    let first = call.value(0).as_list();
    let count = first
        .ok_or_else(|| Problem::invalid("the first argument must be a list of tensors"))?
        .len();
    let item = |index: usize, value: &Value| match value {
        Value::List(items) => items.get(index).cloned().unwrap_or(Value::None),
        value => value.clone(),
    };
    let mut results = Vec::with_capacity(count);
    for index in 0..count {
        let args: Vec<Value> = call.args().iter().map(|value| item(index, value)).collect();
        results.push(overload(call, packet, &args)?);
    }
    Ok(Value::List(results))
}

/// Calls the overload of a packet whose arguments these are.
fn overload(call: &Call<'_>, packet: &str, args: &[Value]) -> Result<Value, Problem> {
    let registry = call.eager().registry();
    let takes_tensor = matches!(args.get(1), Some(Value::Tensor(_)));
    let mut overloads = OVERLOADS;
    if !takes_tensor {
        // A number goes to the overload that takes numbers.
        overloads.sort_by_key(|overload| !overload.ends_with("Scalar"));
    }
    for overload in overloads {
        let name = format!("aten::{packet}{overload}");
        let Some(id) = registry.find(&name) else {
            continue;
        };
        let schema = registry.operator(id).schema();
        let positional = schema
            .arguments
            .iter()
            .take_while(|argument| !argument.keyword_only)
            .count()
            .min(args.len());
        let keywords: Vec<(&str, Value)> = schema.arguments[positional..]
            .iter()
            .zip(&args[positional..])
            .map(|(argument, value)| (&*argument.name, value.clone()))
            .collect();
        return Ok(call.eager().invoke(&name, &args[..positional], &keywords)?);
    }
    Err(Problem::NoKernel)
}
