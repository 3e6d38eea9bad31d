//! The signature: one line for each input and output.

use std::fmt::{self, Write};

use super::{ArgumentNames, python};
use crate::argument::Argument;
use crate::context::Context;
use crate::names::NameId;
use crate::program::ExportedProgram;
use crate::signature::{InputKind, OutputKind};

/// Writes `str(ep.graph_signature)`: it begins with an empty line and ends with a newline.
pub fn write_signature(out: &mut dyn Write, program: &ExportedProgram) -> fmt::Result {
    write_signature_indented(out, program, "")
}

/// Writes the signature with `indent` after each newline, the last one included.
pub(super) fn write_signature_indented(
    out: &mut dyn Write,
    program: &ExportedProgram,
    indent: &str,
) -> fmt::Result {
    write!(out, "\n{indent}# inputs")?;
    write_inputs(out, program, indent)?;
    write!(out, "\n{indent}\n{indent}# outputs")?;
    write_outputs(out, program, indent)?;
    write!(out, "\n{indent}")
}

fn write_inputs(out: &mut dyn Write, program: &ExportedProgram, indent: &str) -> fmt::Result {
    let names = ArgumentNames::of(&program.context, &program.graph);
    let specs = &program.signature.inputs;
    let mut placeholders = program.graph.placeholders();
    for spec in specs {
        let name = placeholders.next().map_or("", |(_, node)| names.get(node));
        write!(out, "\n{indent}{name}: {}", spec.kind.torch_name())?;
        write_target(out, &program.context, spec.target)?;
        if let Some(persistent) = spec.persistent {
            out.write_str(" persistent=")?;
            python::write_bool(out, persistent)?;
        }
    }
    write_gap_if_empty(out, specs.len(), indent)
}

fn write_outputs(out: &mut dyn Write, program: &ExportedProgram, indent: &str) -> fmt::Result {
    let names = &program.context.names;
    let specs = &program.signature.outputs;
    let mut outputs = program.graph.outputs.iter();
    for spec in specs {
        // An output that is no node's value has no name.
        let name = outputs
            .next()
            .and_then(Argument::as_node)
            .and_then(|node| program.graph.nodes.get(node.index()))
            .map_or("", |node| names.get(node.name));
        write!(out, "\n{indent}{name}: {}", spec.kind.torch_name())?;
        write_target(out, &program.context, spec.target)?;
    }
    write_gap_if_empty(out, specs.len(), indent)
}

/// torch joins the lines and puts the result on lines of its own: of nothing, an empty line.
fn write_gap_if_empty(out: &mut dyn Write, lines: usize, indent: &str) -> fmt::Result {
    if lines == 0 {
        write!(out, "\n{indent}")?;
    }
    Ok(())
}

fn write_target(out: &mut dyn Write, context: &Context, target: Option<NameId>) -> fmt::Result {
    match target {
        Some(target) => write!(out, " target='{}'", context.names.get(target)),
        None => Ok(()),
    }
}

impl InputKind {
    /// torch's name: `USER_INPUT`.
    pub fn torch_name(self) -> &'static str {
        match self {
            Self::UserInput => "USER_INPUT",
            Self::Parameter => "PARAMETER",
            Self::Buffer => "BUFFER",
            Self::ConstantTensor => "CONSTANT_TENSOR",
            Self::CustomObj => "CUSTOM_OBJ",
            Self::Token => "TOKEN",
        }
    }
}

impl OutputKind {
    /// torch's name: `USER_OUTPUT`.
    pub fn torch_name(self) -> &'static str {
        match self {
            Self::UserOutput => "USER_OUTPUT",
            Self::LossOutput => "LOSS_OUTPUT",
            Self::BufferMutation => "BUFFER_MUTATION",
            Self::ParameterMutation => "PARAMETER_MUTATION",
            Self::UserInputMutation => "USER_INPUT_MUTATION",
            Self::GradientToParameter => "GRADIENT_TO_PARAMETER",
            Self::GradientToUserInput => "GRADIENT_TO_USER_INPUT",
            Self::Token => "TOKEN",
        }
    }
}
