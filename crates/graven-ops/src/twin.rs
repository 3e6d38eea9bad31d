//! Functional twins of writing operators.
//!
//! `add_` writes what `add` returns; `max.dim_max` writes what `max.dim` returns. Nothing names
//! the twin: it is the operator of the same packet (without the mark of an in-place operator)
//! whose schema is the same once annotations, overload, defaults and `out` arguments are left
//! aside. Where an operator both writes and returns something of its own, the twin's packet ends
//! in `_functional`, and its results are the own ones followed by the new values.
//!
//! Composites that only lend another name (`absolute_`, `divide_`, `special_erf.out`) have the
//! twin of the operator that they name, as torch takes them apart before it records anything.

use std::ops::Range;

use graven_ir::schema::{DefaultValue, Schema, SchemaArgument, SchemaType};
use smallvec::SmallVec;

use crate::operator::{Composite, Operator};
use crate::registry::{OperatorId, Registry};

/// The functional twin of a writing operator.
#[derive(Clone, PartialEq, Debug)]
pub struct Twin {
    /// The twin. It writes nothing; the twin of an operator that only changes metadata
    /// (`transpose_`) is a view (`transpose`).
    pub operator: OperatorId,
    /// For each argument of the twin, where it comes from.
    pub arguments: Box<[TwinArgument]>,
    /// Arguments of the twin that it must be given where the call leaves them out, because their
    /// default is another or none: `bernoulli_(x)` is `bernoulli.p(x, 0.5)`.
    pub defaults: Box<[(usize, DefaultValue)]>,
    /// For each result of the twin, what it is to the writing operator.
    pub results: Box<[TwinResult]>,
}

/// Where an argument of a twin comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TwinArgument {
    /// The writing operator's argument of this index.
    Argument(usize),
    /// The writing operator has no such argument: it has `out` instead, and the twin makes a
    /// tensor like it.
    OptionOfOut(TensorOption),
}

/// What the twin of a factory's `out` overload must be told about `out`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorOption {
    /// `dtype`
    DType,
    /// `layout`
    Layout,
    /// `device`
    Device,
    /// `pin_memory`; torch leaves it out.
    PinMemory,
}

/// What a result of a twin is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TwinResult {
    /// The new value of the writing operator's argument of this index.
    NewValueOf(usize),
    /// The writing operator's own result of this index.
    Own(usize),
}

/// Looks for the twin among the overloads of the packets that may hold it.
pub(crate) fn find(registry: &Registry, id: OperatorId) -> Option<Twin> {
    let writing = registry.operator(id);
    if !writing.is_mutable() || *writing.name().namespace != *"aten" {
        return None;
    }
    let packet = functional_packet(writing);
    let with_suffix = format!("{packet}_functional");
    let candidates: SmallVec<[OperatorId; 8]> = [packet.as_str(), &with_suffix]
        .into_iter()
        .flat_map(|packet| registry.overloads("aten", packet))
        .filter(|candidate| !registry.operator(*candidate).is_mutable())
        .collect();
    let schema = writing.schema();
    [match_arguments, match_arguments_in_order]
        .into_iter()
        .find_map(|match_arguments| {
            candidates.iter().find_map(|candidate| {
                let twin = registry.operator(*candidate).schema();
                let arguments = match_arguments(schema, twin)?;
                Some(Twin {
                    operator: *candidate,
                    defaults: differing_defaults(schema, twin, &arguments),
                    arguments,
                    results: match_results(schema, twin)?,
                })
            })
        })
}

/// The packet that holds the twin: that of the operator without the mark of an in-place one
/// (`add_`, `__iand__`), or the one for which a composite is another name.
fn functional_packet(writing: &Operator) -> String {
    let packet = &*writing.name().packet;
    let is_out_form = writing.schema().arguments.iter().any(is_out);
    let plain = if is_out_form {
        packet.to_owned()
    } else {
        match packet.strip_prefix("__i") {
            Some(rest) if rest.ends_with("__") => format!("__{rest}"),
            _ => packet.strip_suffix('_').unwrap_or(packet).to_owned(),
        }
    };
    if writing.composite() != Composite::Implicit {
        return plain;
    }
    OTHER_NAMES
        .iter()
        .find(|(other, _)| *other == plain)
        .map_or(plain, |(_, name)| (*name).to_owned())
}

/// Packets whose writing overloads are composites of nothing but another packet's.
const OTHER_NAMES: [(&str, &str); 50] = [
    ("__and__", "bitwise_and"),
    ("__or__", "bitwise_or"),
    ("__xor__", "bitwise_xor"),
    ("absolute", "abs"),
    ("arccos", "acos"),
    ("arccosh", "acosh"),
    ("arcsin", "asin"),
    ("arcsinh", "asinh"),
    ("arctan", "atan"),
    ("arctan2", "atan2"),
    ("arctanh", "atanh"),
    ("clip", "clamp"),
    ("concat", "cat"),
    ("concatenate", "cat"),
    ("divide", "div"),
    ("fix", "trunc"),
    ("greater", "gt"),
    ("greater_equal", "ge"),
    ("less", "lt"),
    ("less_equal", "le"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("multiply", "mul"),
    ("negative", "neg"),
    ("not_equal", "ne"),
    ("orgqr", "linalg_householder_product"),
    ("special_digamma", "digamma"),
    ("special_erf", "erf"),
    ("special_erfc", "erfc"),
    ("special_erfinv", "erfinv"),
    ("special_exp2", "exp2"),
    ("special_expit", "sigmoid"),
    ("special_expm1", "expm1"),
    ("special_gammainc", "igamma"),
    ("special_gammaincc", "igammac"),
    ("special_gammaln", "lgamma"),
    ("special_i0", "i0"),
    ("special_log1p", "log1p"),
    ("special_logit", "logit"),
    ("special_logsumexp", "logsumexp"),
    ("special_multigammaln", "mvlgamma"),
    ("special_polygamma", "polygamma"),
    ("special_psi", "digamma"),
    ("special_round", "round"),
    ("special_sinc", "sinc"),
    ("special_xlogy", "xlogy"),
    ("subtract", "sub"),
    ("swapaxes", "transpose"),
    ("swapdims", "transpose"),
    ("true_divide", "div"),
];

/// The defaults of the writing operator that the twin does not have.
fn differing_defaults(
    writing: &Schema,
    twin: &Schema,
    arguments: &[TwinArgument],
) -> Box<[(usize, DefaultValue)]> {
    let pairs = twin.arguments.iter().zip(arguments).enumerate();
    pairs
        .filter_map(|(index, (argument, source))| {
            let TwinArgument::Argument(source) = *source else {
                return None;
            };
            let default = writing.arguments[source].default.as_ref()?;
            (argument.default.as_ref() != Some(default)).then(|| (index, default.clone()))
        })
        .collect()
}

/// Whether an argument is only there to be written.
fn is_out(argument: &SchemaArgument) -> bool {
    argument.keyword_only && argument.is_written()
}

/// Pairs the arguments by name and type, in any order: `polygamma_(self, n)` and
/// `polygamma(n, self)`.
fn match_arguments(writing: &Schema, twin: &Schema) -> Option<Box<[TwinArgument]>> {
    let options = options_of_out(writing, twin);
    let mut paired = vec![false; writing.arguments.len()];
    let sources = twin.arguments.iter().enumerate().map(|(index, argument)| {
        if let Some(option) = index
            .checked_sub(options.start)
            .filter(|_| index < options.end)
        {
            return Some(TwinArgument::OptionOfOut(OPTIONS[option].1));
        }
        let found = writing.argument(&argument.name)?;
        let fits = !paired[found] && pairs_with(&writing.arguments[found], argument);
        paired[found] = true;
        fits.then_some(TwinArgument::Argument(found))
    });
    let sources: Box<[TwinArgument]> = sources.collect::<Option<_>>()?;
    let all_paired = paired
        .iter()
        .zip(&writing.arguments)
        .all(|(paired, argument)| *paired || is_out(argument));
    all_paired.then_some(sources)
}

/// Pairs the arguments by their order and types, whatever their names: `dropout_(self, ...)` and
/// `dropout(input, ...)`.
fn match_arguments_in_order(writing: &Schema, twin: &Schema) -> Option<Box<[TwinArgument]>> {
    let read = (0..writing.arguments.len()).filter(|index| !is_out(&writing.arguments[*index]));
    let fits = read.clone().count() == twin.arguments.len()
        && read
            .clone()
            .zip(&twin.arguments)
            .all(|(index, argument)| pairs_with(&writing.arguments[index], argument));
    fits.then(|| read.map(TwinArgument::Argument).collect())
}

fn pairs_with(writing: &SchemaArgument, twin: &SchemaArgument) -> bool {
    !is_out(writing) && writing.ty == twin.ty
}

/// Where the twin's options stand that the writing operator has `out` for.
fn options_of_out(writing: &Schema, twin: &Schema) -> Range<usize> {
    if writing.arguments.iter().any(is_out) && tensor_options(writing).is_empty() {
        tensor_options(twin)
    } else {
        0..0
    }
}

const OPTIONS: [(&str, TensorOption); 4] = [
    ("dtype", TensorOption::DType),
    ("layout", TensorOption::Layout),
    ("device", TensorOption::Device),
    ("pin_memory", TensorOption::PinMemory),
];

/// Where `dtype, layout, device, pin_memory` stand among a schema's arguments: all four in that
/// order, or nowhere.
fn tensor_options(schema: &Schema) -> Range<usize> {
    let arguments = &schema.arguments;
    let start = arguments.windows(OPTIONS.len()).position(|window| {
        window
            .iter()
            .zip(OPTIONS)
            .all(|(argument, (name, _))| *argument.name == *name)
    });
    start.map_or(0..0, |start| start..start + OPTIONS.len())
}

/// Pairs the results: the writing operator's results in order, those that are a written
/// argument standing for its new value; then the new values of written arguments that it does
/// not return, `out` before the others.
fn match_results(writing: &Schema, twin: &Schema) -> Option<Box<[TwinResult]>> {
    let mut results: SmallVec<[TwinResult; 4]> = (0..writing.returns.len())
        .map(|index| match writing.return_alias(index) {
            Some(alias) if alias.is_write => TwinResult::NewValueOf(alias.argument),
            _ => TwinResult::Own(index),
        })
        .collect();
    let mut unreturned: SmallVec<[usize; 4]> = writing
        .written_arguments()
        .filter(|index| !results.contains(&TwinResult::NewValueOf(*index)))
        .collect();
    unreturned.sort_by_key(|index| !is_out(&writing.arguments[*index]));
    results.extend(unreturned.into_iter().map(TwinResult::NewValueOf));
    let type_of = |result: &TwinResult| -> &SchemaType {
        match *result {
            TwinResult::NewValueOf(index) => &writing.arguments[index].ty,
            TwinResult::Own(index) => &writing.returns[index].ty,
        }
    };
    let fits = results.len() == twin.returns.len()
        && results
            .iter()
            .zip(&twin.returns)
            .all(|(result, returned)| *type_of(result) == returned.ty);
    fits.then(|| results.into_vec().into())
}
