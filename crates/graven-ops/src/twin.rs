//! Functional twins of writing operators.
//!
//! `add_` writes what `add` returns; `max.dim_max` writes what `max.dim` returns. Nothing names
//! the twin: it is the operator of the same packet (without the mark of an in-place operator)
//! whose schema is the same once annotations, overload, defaults and `out` arguments are left
//! aside. Where an operator both writes and returns something of its own, the twin's packet ends
//! in `_functional`, and its results are the own ones followed by the new values.

use std::ops::Range;

use graven_ir::schema::{Schema, SchemaArgument, SchemaType};
use smallvec::SmallVec;

use crate::registry::{OperatorId, Registry};

/// The functional twin of a writing operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Twin {
    /// The twin. It writes nothing; the twin of an operator that only changes metadata
    /// (`transpose_`) is a view (`transpose`).
    pub operator: OperatorId,
    /// For each argument of the twin, where it comes from.
    pub arguments: Box<[TwinArgument]>,
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
    /// `pin_memory`
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
    let schema = writing.schema();
    let packet = functional_packet(schema);
    let with_suffix = format!("{packet}_functional");
    let candidates: SmallVec<[OperatorId; 8]> = [packet.as_str(), &with_suffix]
        .into_iter()
        .flat_map(|packet| registry.overloads("aten", packet))
        .filter(|candidate| !registry.operator(*candidate).is_mutable())
        .collect();
    [match_arguments, match_arguments_in_order]
        .into_iter()
        .find_map(|match_arguments| {
            candidates.iter().find_map(|candidate| {
                let twin = registry.operator(*candidate).schema();
                Some(Twin {
                    operator: *candidate,
                    arguments: match_arguments(schema, twin)?,
                    results: match_results(schema, twin)?,
                })
            })
        })
}

/// The packet without the mark of an in-place operator: `add_`, `__iand__`.
fn functional_packet(writing: &Schema) -> String {
    let packet = &*writing.name.packet;
    if writing.arguments.iter().any(is_out) {
        return packet.to_owned();
    }
    if let Some(rest) = packet
        .strip_prefix("__i")
        .filter(|rest| rest.ends_with("__"))
    {
        return format!("__{rest}");
    }
    packet.strip_suffix('_').unwrap_or(packet).to_owned()
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
