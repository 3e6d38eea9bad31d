//! Dropout and its relatives.

use graven_ir::{Layout, SymInt};

use super::{Formula, Outcome, Taken, one, tensor, value};
use crate::call::Call;
use crate::emit::{Arg, Emit};

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    Some(match operator {
        "aten::alpha_dropout" => alpha_dropout,
        "aten::alpha_dropout_" => alpha_dropout_,
        "aten::dropout" => dropout,
        "aten::dropout_" => dropout_,
        "aten::feature_alpha_dropout" => feature_alpha_dropout,
        "aten::feature_alpha_dropout_" => feature_alpha_dropout_,
        "aten::feature_dropout" => feature_dropout,
        "aten::feature_dropout_" => feature_dropout_,
        _ => return None,
    })
}

fn dropout<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let input = call.tensor("input")?;
    let probability = call.float("p")?;
    if probability == 0.0 || !call.bool("train")? {
        return Ok(Outcome::Input(input.clone()));
    }
    let args = [tensor(input), Arg::Float(probability), Arg::Bool(true)];
    Ok(value(one(emit, "aten::native_dropout", &args, &[])?))
}

/// What is drawn once: each element, or each channel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Element,
    Channel,
}

/// What dropped values become: 0, or the value that keeps mean and variance of what `selu`
/// returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Filler {
    Zero,
    Alpha,
}

/// Where the result goes: to a new tensor, or to the argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Fresh,
    InPlace,
}

/// The limit of `selu` at minus infinity, negated.
const ALPHA: f64 = 1.758_099_340_847_376_6;

fn dropout_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    dropped(emit, call, Unit::Element, Filler::Zero, Target::InPlace)
}

fn feature_dropout<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    dropped(emit, call, Unit::Channel, Filler::Zero, Target::Fresh)
}

fn feature_dropout_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    dropped(emit, call, Unit::Channel, Filler::Zero, Target::InPlace)
}

fn alpha_dropout<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    dropped(emit, call, Unit::Element, Filler::Alpha, Target::Fresh)
}

fn alpha_dropout_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    dropped(emit, call, Unit::Element, Filler::Alpha, Target::InPlace)
}

fn feature_alpha_dropout<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    dropped(emit, call, Unit::Channel, Filler::Alpha, Target::Fresh)
}

fn feature_alpha_dropout_<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    dropped(emit, call, Unit::Channel, Filler::Alpha, Target::InPlace)
}

fn dropped<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    unit: Unit,
    filler: Filler,
    target: Target,
) -> Taken<E> {
    let argument = match target {
        Target::Fresh => "input",
        Target::InPlace => "self",
    };
    let input = call.tensor(argument)?;
    let probability = call.float("p")?;
    if !(0.0..=1.0).contains(&probability) {
        return Err(call.problem("p", "is not a probability").into());
    }
    let is_empty = emit.meta(input).sizes.contains(&SymInt::Int(0));
    if probability == 0.0 || !call.bool("train")? || is_empty {
        return Ok(Outcome::Input(input.clone()));
    }
    let multiply = match target {
        Target::Fresh => "aten::mul.Tensor",
        Target::InPlace => "aten::mul_.Tensor",
    };
    if probability == 1.0 {
        let zero = zero_like(emit, input)?;
        return Ok(value(one(
            emit,
            multiply,
            &[tensor(input), Arg::Value(zero)],
            &[],
        )?));
    }
    let noise = noise(emit, call, input, unit)?;
    let noise = scalar_call(emit, "aten::bernoulli_.float", noise, 1.0 - probability)?;
    if filler == Filler::Zero {
        let noise = scalar_call(emit, "aten::div_.Scalar", noise, 1.0 - probability)?;
        return Ok(value(one(
            emit,
            multiply,
            &[tensor(input), Arg::Value(noise)],
            &[],
        )?));
    }
    let scale = 1.0 / ((ALPHA * ALPHA * probability + 1.0) * (1.0 - probability)).sqrt();
    let shift = one(
        emit,
        "aten::add.Scalar",
        &[tensor(&noise), Arg::int(-1)],
        &[],
    )?;
    let shift = scalar_call(emit, "aten::mul_.Scalar", shift, ALPHA * scale)?;
    let shift = scalar_call(
        emit,
        "aten::add_.Scalar",
        shift,
        ALPHA * scale * probability,
    )?;
    let noise = scalar_call(emit, "aten::mul_.Scalar", noise, scale)?;
    let kept = one(emit, multiply, &[tensor(input), Arg::Value(noise)], &[])?;
    Ok(value(one(
        emit,
        "aten::add_.Tensor",
        &[Arg::Value(kept), Arg::Value(shift)],
        &[],
    )?))
}

fn scalar_call<E: Emit>(
    emit: &mut E,
    operator: &str,
    this: E::Value,
    scalar: f64,
) -> Result<E::Value, E::Error> {
    one(emit, operator, &[Arg::Value(this), Arg::Float(scalar)], &[])
}

fn zero_like<E: Emit>(emit: &mut E, input: &E::Value) -> Result<E::Value, E::Error> {
    let meta = emit.meta(input);
    let kwargs = [
        ("dtype", Arg::DType(meta.dtype)),
        ("layout", Arg::Layout(Layout::Strided)),
        ("device", Arg::Device(meta.device)),
    ];
    one(emit, "aten::zeros", &[Arg::List(Vec::new())], &kwargs)
}

/// The tensor that the draws are written to.
fn noise<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
    input: &E::Value,
    unit: Unit,
) -> Result<E::Value, E::Error> {
    if unit == Unit::Element {
        return one(emit, "aten::empty_like", &[tensor(input)], &[]);
    }
    let mut sizes = emit.meta(input).sizes.clone();
    if sizes.len() < 2 {
        return Err(call.unfit("takes a tensor of at least 2 dimensions").into());
    }
    sizes[2..].fill(SymInt::Int(1));
    one(
        emit,
        "aten::new_empty",
        &[tensor(input), Arg::ints(sizes)],
        &[],
    )
}
