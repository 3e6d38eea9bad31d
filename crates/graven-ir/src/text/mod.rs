//! The text forms, byte for byte as torch prints them.
//!
//! | function | torch |
//! | --- | --- |
//! | [`fx`] | `str(ep.graph)`, an empty line, `str(ep.graph_signature)` |
//! | [`fx_graph`] | `str(graph)` |
//! | [`signature`] | `str(ep.graph_signature)` |
//! | [`readable`] | `str(ep)` |
//!
//! Each has a `write_…` form that writes to any [`fmt::Write`] and builds no text of its own.
//! Time and memory are linear in the program; nested graphs are walked with a list of what is
//! left to do, not by recursion.

mod annotation;
mod argument;
mod namespace;
mod print_fx;
mod print_readable;
mod print_signature;
mod python;
mod source_line;

use std::fmt;

use crate::context::Context;
use crate::graph::Graph;
use crate::program::ExportedProgram;

pub use print_fx::write_fx_graph;
pub use print_readable::write_readable;
pub use print_signature::write_signature;
pub use source_line::SourceLine;

/// The FX listing and the signature: what `str(ep.graph) + "\n\n" + str(ep.graph_signature)`
/// gives in torch.
pub fn fx(program: &ExportedProgram) -> String {
    to_string(|out| write_fx(out, program))
}

/// Writes what [`fx`] returns.
pub fn write_fx(out: &mut dyn fmt::Write, program: &ExportedProgram) -> fmt::Result {
    write_fx_graph(out, &program.context, &program.graph)?;
    out.write_str("\n\n")?;
    write_signature(out, program)
}

/// The FX listing of one graph: `str(graph)`. Nested graphs appear by name only.
pub fn fx_graph(context: &Context, graph: &Graph) -> String {
    to_string(|out| write_fx_graph(out, context, graph))
}

/// The signature: `str(ep.graph_signature)`.
pub fn signature(program: &ExportedProgram) -> String {
    to_string(|out| write_signature(out, program))
}

/// The program as Python source with its signature and ranges: `str(ep)`.
pub fn readable(program: &ExportedProgram) -> String {
    to_string(|out| write_readable(out, program))
}

fn to_string(write: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail, and the writers raise no error of their own.
    let _infallible = write(&mut text);
    text
}
