//! Autocast regions of raw programs: the dispatcher casts the arguments of the calls in them.

use graven_ir::DType;
use graven_ops::Operator;
use graven_ops::catalogue::autocast::{self, Policy};
use graven_tensor::{Eager, Value};

use crate::error::{RuntimeError, RuntimeProblem};

/// Casts the arguments of a call in a region of `region_dtype`.
pub(crate) fn cast(
    eager: &Eager,
    operator: &Operator,
    region_dtype: DType,
    args: &mut [Value],
) -> Result<(), RuntimeError> {
    let dtype = match autocast::policy(&operator.name().to_string()) {
        None => return Ok(()),
        Some(Policy::LowerPrecision) => region_dtype,
        Some(Policy::Float32) => DType::Float32,
        Some(Policy::Promote) => {
            let mut dtypes = Vec::new();
            args.iter().for_each(|arg| collect_dtypes(arg, &mut dtypes));
            if !dtypes.iter().any(|dtype| dtype.is_floating_point()) {
                return Ok(());
            }
            match dtypes.contains(&DType::Float32) {
                true => DType::Float32,
                false => region_dtype,
            }
        }
    };
    args.iter_mut()
        .try_for_each(|arg| cast_value(eager, arg, dtype))
}

fn collect_dtypes(value: &Value, dtypes: &mut Vec<DType>) {
    match value {
        Value::Tensor(tensor) => dtypes.push(tensor.array().dtype()),
        Value::List(items) => items.iter().for_each(|item| collect_dtypes(item, dtypes)),
        _ => {}
    }
}

/// Only floating-point tensors below float64 are cast.
fn cast_value(eager: &Eager, value: &mut Value, dtype: DType) -> Result<(), RuntimeError> {
    match value {
        Value::Tensor(tensor) => {
            let own = tensor.array().dtype();
            if own.is_floating_point() && own != DType::Float64 && own != dtype {
                let kwargs = [("dtype", Value::DType(dtype))];
                let cast = eager.invoke("aten::_to_copy", std::slice::from_ref(value), &kwargs);
                *value = cast.map_err(RuntimeProblem::from)?;
            }
            Ok(())
        }
        Value::List(items) => items
            .iter_mut()
            .try_for_each(|item| cast_value(eager, item, dtype)),
        _ => Ok(()),
    }
}
