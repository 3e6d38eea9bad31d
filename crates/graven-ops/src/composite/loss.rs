//! Losses that torch takes apart although they are no composites: it registers formulas for
//! them under autograd.

use graven_ir::SymInt;
use graven_ir::value::Dims;

use super::{Formula, Taken, one, tensor, value};
use crate::call::Call;
use crate::emit::{Arg, Emit};

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    Some(match operator {
        "aten::multi_margin_loss" => multi_margin_loss,
        _ => return None,
    })
}

/// `multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1,
/// Tensor? weight=None, int reduction=1)`: by how much each class comes closer to the target
/// class than the margin.
fn multi_margin_loss<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let (scores, target) = batched(emit, call)?;
    let column = Arg::Value(unsqueezed(emit, &target)?);
    let own = one(
        emit,
        "aten::gather",
        &[tensor(&scores), Arg::int(1), column.clone()],
        &[],
    )?;
    let margin = call.given("margin").cloned().unwrap_or(Arg::int(1));
    let slack = one(emit, "aten::rsub.Scalar", &[Arg::Value(own), margin], &[])?;
    let excess = one(
        emit,
        "aten::add.Tensor",
        &[Arg::Value(slack), tensor(&scores)],
        &[],
    )?;
    let mut excess = one(
        emit,
        "aten::clamp_min",
        &[Arg::Value(excess), Arg::int(0)],
        &[],
    )?;
    match call.float("p")? {
        1.0 => {}
        2.0 => {
            excess = one(
                emit,
                "aten::mul.Tensor",
                &[tensor(&excess), tensor(&excess)],
                &[],
            )?
        }
        _ => return Err(call.problem("p", "must be 1 or 2").into()),
    }
    if let Some(weight) = call.optional_tensor("weight")? {
        let index = Arg::List(vec![tensor(&target)]);
        let weights = one(emit, "aten::index.Tensor", &[tensor(weight), index], &[])?;
        let weights = unsqueezed(emit, &weights)?;
        excess = one(
            emit,
            "aten::mul.Tensor",
            &[Arg::Value(excess), Arg::Value(weights)],
            &[],
        )?;
    }
    let classes = classes(emit, call, &scores)?;
    let device = Arg::Device(emit.meta(&scores).device);
    let kwargs = [("device", device), ("pin_memory", Arg::Bool(false))];
    let numbers = one(emit, "aten::arange", &[Arg::Int(classes)], &kwargs)?;
    let others = one(emit, "aten::ne.Tensor", &[Arg::Value(numbers), column], &[])?;
    let args = [Arg::Value(others), Arg::Value(excess), Arg::int(0)];
    let losses = one(emit, "aten::where.ScalarOther", &args, &[])?;
    reduced(emit, call, losses, classes)
}

/// Scores with a batch dimension, and a vector of targets.
fn batched<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
) -> Result<(E::Value, E::Value), E::Error> {
    let (mut scores, mut target) = (call.tensor("self")?.clone(), call.tensor("target")?.clone());
    if emit.meta(&scores).sizes.len() == 1 {
        scores = one(
            emit,
            "aten::unsqueeze",
            &[tensor(&scores), Arg::int(0)],
            &[],
        )?;
    }
    if emit.meta(&target).sizes.is_empty() {
        let sizes = Arg::ints(Dims::from_slice(&[SymInt::Int(1)]));
        target = one(emit, "aten::view", &[tensor(&target), sizes], &[])?;
    }
    let ranks = (
        emit.meta(&scores).sizes.len(),
        emit.meta(&target).sizes.len(),
    );
    if ranks != (2, 1) {
        return Err(call
            .unfit("takes scores of one or two dimensions and one target each")
            .into());
    }
    Ok((scores, target))
}

fn classes<E: Emit>(
    emit: &E,
    call: &Call<'_, E::Value>,
    scores: &E::Value,
) -> Result<SymInt, E::Error> {
    let classes = emit.meta(scores).sizes.get(1).copied();
    classes.ok_or_else(|| call.unfit("takes scores for classes").into())
}

fn unsqueezed<E: Emit>(emit: &mut E, this: &E::Value) -> Result<E::Value, E::Error> {
    one(emit, "aten::unsqueeze", &[tensor(this), Arg::int(1)], &[])
}

/// The reduction that the call asks for; without one, the mean over classes alone.
fn reduced<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    losses: E::Value,
    classes: SymInt,
) -> Taken<E> {
    const MEAN: i64 = 1;
    const SUM: i64 = 2;
    let losses = Arg::Value(losses);
    Ok(value(match reduction(call)? {
        MEAN => one(emit, "aten::mean", &[losses], &[])?,
        SUM => {
            let sum = one(emit, "aten::sum", &[losses], &[])?;
            one(
                emit,
                "aten::div.Tensor",
                &[Arg::Value(sum), Arg::Int(classes)],
                &[],
            )?
        }
        _ => one(emit, "aten::mean.dim", &[losses, Arg::const_ints([1])], &[])?,
    }))
}

/// The schema spells the default as `Mean`.
fn reduction<V>(call: &Call<'_, V>) -> Result<i64, crate::emit::EmitError> {
    match call.given("reduction") {
        None => Ok(1),
        Some(_) => call.const_int("reduction"),
    }
}
