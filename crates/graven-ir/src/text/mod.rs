//! The text forms, byte for byte as torch prints them.
//!
//! | function | torch |
//! | --- | --- |
//! | [`fx`] | `str(ep.graph)`, an empty line, `str(ep.graph_signature)` |
//! | [`fx_graph`] | `str(graph)` |
//! | [`signature`] | `str(ep.graph_signature)` |
//! | [`readable`] | `str(ep)` |
//!
//! [`parse`] reads them back: [`parse_readable`], [`parse_fx`].
//!
//! Each has a `write_…` form that writes to any [`fmt::Write`] and builds no text of its own.
//! Time and memory are linear in the program; nested graphs are walked with a list of what is
//! left to do, not by recursion.

mod annotation;
mod argument;
mod comments;
mod notation;
mod parse;
mod print_fx;
mod print_ranges;
mod print_readable;
mod print_signature;
mod python;
mod readable_options;
mod source_line;
mod value_names;

use std::fmt;

use rustc_hash::FxHashMap;

use crate::context::Context;
use crate::graph::{Graph, Node};
use crate::names::NameId;
use crate::program::ExportedProgram;

pub use parse::{ParseError, ParseProblem, parse, parse_fx, parse_readable};
pub use print_fx::write_fx_graph;
pub use print_readable::{write_readable, write_readable_with};
pub use print_signature::write_signature;
pub use readable_options::{Comments, Deletions, ReadableOptions, Strides};
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

/// The readable form as the options say.
pub fn readable_with(program: &ExportedProgram, options: ReadableOptions) -> String {
    to_string(|out| write_readable_with(out, program, options))
}

/// The names that placeholders have as arguments of the call and in the signature. torch's
/// loader gives a constant argument that is called like a builtin another name in the graph.
struct ArgumentNames<'a> {
    context: &'a Context,
    renamed: FxHashMap<NameId, NameId>,
}

impl<'a> ArgumentNames<'a> {
    fn of(context: &'a Context, graph: &Graph) -> Self {
        Self {
            context,
            renamed: graph.archive_names.iter().copied().collect(),
        }
    }

    fn get(&self, placeholder: &Node) -> &'a str {
        let own = placeholder.name;
        let name = self.renamed.get(&own).copied().unwrap_or(own);
        self.context.names.get(name)
    }
}

fn to_string(write: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail, and the writers raise no error of their own.
    let _infallible = write(&mut text);
    text
}
