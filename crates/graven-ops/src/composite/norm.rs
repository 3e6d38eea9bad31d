//! Batch normalization.

use graven_ir::value::Dims;
use graven_ir::{DType, Layout, SymInt};

use super::{Formula, Outcome, Taken, one, tensor, value};
use crate::call::Call;
use crate::emit::{Arg, Emit, EmitError};

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    Some(match operator {
        "aten::batch_norm" => batch_norm,
        "aten::native_batch_norm" => native_batch_norm,
        _ => return None,
    })
}

fn batch_norm<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let input = call.tensor("input")?;
    // torch reserves space for the backends that need it.
    empty(emit, input, &[SymInt::Int(0)], DType::UInt8)?;
    if emit.meta(input).sizes.contains(&SymInt::Int(0)) {
        return of_empty_input(emit, call);
    }
    let results = normalize(emit, call)?;
    Ok(Outcome::Values(results.into_iter().take(1).collect()))
}

fn native_batch_norm<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let results = normalize(emit, call)?;
    Ok(Outcome::Values(results.into_iter().take(3).collect()))
}

pub(super) fn empty<E: Emit>(
    emit: &mut E,
    like: &E::Value,
    sizes: &[SymInt],
    dtype: DType,
) -> Result<E::Value, E::Error> {
    let device = emit.meta(like).device;
    let kwargs = [
        ("dtype", Arg::DType(dtype)),
        ("layout", Arg::Layout(Layout::Strided)),
        ("device", Arg::Device(device)),
    ];
    let sizes = Arg::ints(sizes.iter().copied());
    one(emit, "aten::empty.memory_format", &[sizes], &kwargs)
}

/// The operator that this mode of batch normalization is: with the batch's statistics, and
/// with or without running ones to update, or with the running statistics.
fn normalize<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Result<Vec<E::Value>, E::Error> {
    let argument = |name: &str| -> Result<Arg<E::Value>, EmitError> {
        Ok(call.optional_tensor(name)?.map_or(Arg::None, tensor))
    };
    let mut args = vec![
        tensor(call.tensor("input")?),
        argument("weight")?,
        argument("bias")?,
    ];
    let statistics = [argument("running_mean")?, argument("running_var")?];
    let has_statistics = statistics
        .iter()
        .all(|statistic| matches!(statistic, Arg::Value(_)));
    let training = call.bool("training")?;
    let operator = match (training, has_statistics) {
        (true, true) => "aten::_native_batch_norm_legit",
        (true, false) => "aten::_native_batch_norm_legit.no_stats",
        (false, true) => "aten::_native_batch_norm_legit_no_training",
        (false, false) => {
            return Err(call
                .problem("running_mean", "must be given outside of training")
                .into());
        }
    };
    if has_statistics {
        args.extend(statistics);
    }
    if training {
        args.push(Arg::Bool(true));
    }
    args.push(Arg::Float(call.float("momentum")?));
    args.push(Arg::Float(call.float("eps")?));
    emit.call(operator, &args, &[])
}

/// Without elements there is nothing to normalize; torch keeps the gradient's path to weight
/// and bias.
fn of_empty_input<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let input = call.tensor("input")?;
    let meta = emit.meta(input).clone();
    let channels: Dims = meta.sizes.get(1).copied().into_iter().collect();
    let statistics_dtype = match meta.dtype {
        DType::Float16 | DType::BFloat16 => DType::Float32,
        _ => DType::Float64,
    };
    for _ in ["save_mean", "save_invstd"] {
        empty(emit, input, &channels, statistics_dtype)?;
    }
    let mut result = one(emit, "aten::clone", &[tensor(input)], &[])?;
    for (name, operator) in [("weight", "aten::mul.Tensor"), ("bias", "aten::add.Tensor")] {
        let Some(parameter) = call.optional_tensor(name)? else {
            continue;
        };
        let args = [tensor(parameter), Arg::int(0), Arg::int(0)];
        let first = one(emit, "aten::select.int", &args, &[])?;
        result = one(
            emit,
            operator,
            &[Arg::Value(result), Arg::Value(first)],
            &[],
        )?;
    }
    Ok(value(result))
}
