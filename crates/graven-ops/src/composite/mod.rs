//! Operators that are taken apart: composites that torch does not keep whole.
//!
//! Each formula says by which calls an operator is defined, as torch's own definition makes
//! them: the same operators, arguments and order, calls whose results no one uses included,
//! because these take names too. `tests/data/composites.txt` holds what torch records for each.

mod convert;
mod dropout;
mod inplace;
mod layout;
mod loss;
mod norm;
mod out;
mod quantize;
mod shrink;
mod split;
mod view;

use graven_ir::SymInt;
use graven_ir::schema::{DefaultValue, OperatorRef};
use graven_ir::symint::SymError;

use crate::call::Call;
use crate::emit::{Arg, Emit, EmitError};
use crate::table;

/// What a composite came to.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome<V> {
    /// Its results, in order: fresh tensors or views, made by calls. For an operator that
    /// writes, the tensor that it wrote.
    Values(Vec<V>),
    /// The tensor that it was given, this very one: nothing was called, and a later write to
    /// the result reaches the argument.
    Input(V),
}

/// How an operator is taken apart.
pub type Formula<E> = fn(
    &mut E,
    &Call<'_, <E as Emit>::Value>,
) -> Result<Outcome<<E as Emit>::Value>, <E as Emit>::Error>;

/// The result of a formula.
type Taken<E> = Result<Outcome<<E as Emit>::Value>, <E as Emit>::Error>;

/// The formula of the operator with this full name (`aten::reshape`); `None` for an operator
/// that is not taken apart.
///
/// A writing operator without a formula is its functional twin, whose result it writes.
pub fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    view::formula(operator)
        .or_else(|| layout::formula(operator))
        .or_else(|| convert::formula(operator))
        .or_else(|| split::formula(operator))
        .or_else(|| norm::formula(operator))
        .or_else(|| dropout::formula(operator))
        .or_else(|| inplace::formula(operator))
        .or_else(|| out::formula(operator))
        .or_else(|| loss::formula(operator))
        .or_else(|| quantize::formula(operator))
        .or_else(|| shrink::formula(operator))
}

/// Calls an operator that returns one tensor.
fn one<E: Emit>(
    emit: &mut E,
    operator: &str,
    args: &[Arg<E::Value>],
    kwargs: &[(&str, Arg<E::Value>)],
) -> Result<E::Value, E::Error> {
    let results = emit.call(operator, args, kwargs)?;
    results.into_iter().next().ok_or_else(|| {
        EmitError::Shape {
            operator: operator.to_owned(),
            problem: "returned nothing".to_owned(),
        }
        .into()
    })
}

/// The same with arguments at the end left out that are the schema's defaults, as torch's
/// dispatcher leaves them out when it records a call.
fn one_trimmed<E: Emit>(
    emit: &mut E,
    operator: &str,
    mut args: Vec<Arg<E::Value>>,
    kwargs: &[(&str, Arg<E::Value>)],
) -> Result<E::Value, E::Error> {
    trim(operator, &mut args);
    one(emit, operator, &args, kwargs)
}

/// Drops arguments at the end that are the schema's defaults.
fn trim<V>(operator: &str, args: &mut Vec<Arg<V>>) {
    let position = OperatorRef::from_qualified(operator).and_then(|name| table::aten().find(name));
    let Some(position) = position else { return };
    let schema = table::aten().operator(position).schema();
    while let Some(last) = args.len().checked_sub(1) {
        let default = schema
            .arguments
            .get(last)
            .and_then(|declared| declared.default.as_ref());
        if !default.is_some_and(|default| is_default(&args[last], default)) {
            return;
        }
        args.truncate(last);
    }
}

fn is_default<V>(arg: &Arg<V>, default: &DefaultValue) -> bool {
    match (arg, default) {
        (Arg::None, DefaultValue::None) => true,
        (Arg::Bool(arg), DefaultValue::Bool(default)) => arg == default,
        (Arg::Int(SymInt::Int(arg)), DefaultValue::Int(default)) => arg == default,
        (Arg::Float(arg), DefaultValue::Float(default)) => arg == default,
        _ => false,
    }
}

/// An outcome of one value.
fn value<V>(value: V) -> Outcome<V> {
    Outcome::Values(vec![value])
}

/// A tensor as an argument.
fn tensor<V: Clone>(value: &V) -> Arg<V> {
    Arg::Value(value.clone())
}

/// What arithmetic on sizes came to, its error made the formula's.
fn sized<T, V>(call: &Call<'_, V>, result: Result<T, SymError>) -> Result<T, EmitError> {
    result.map_err(|error| call.unfit(error.to_string()))
}
