//! Reading the text forms that torch and this crate print.
//!
//! | function | text |
//! | --- | --- |
//! | [`parse_readable`] | `str(ep)`, or a class or function of it alone |
//! | [`parse_fx`] | `str(ep.graph)`, and behind it `str(ep.graph_signature)` |
//! | [`parse`] | either |
//!
//! Text may come from a log, with the logger's prefixes and colours. Comments that name a source
//! line become the nodes' metadata; deletions are not needed and not kept.
//!
//! A text holds less than an archive, and nothing is made up for what it lacks:
//! - a value whose annotation gives no strides is contiguous; one without a device is on the CPU;
//!   none requires a gradient; a value without an annotation is unknown;
//! - an input that the signature does not name is a user input;
//! - a positional argument has an empty name, and a list the kind that its elements tell: the
//!   schemas, of which this crate knows none, tell the rest;
//! - the listing tells strings from devices and numbers only by their looks, and holds no nested
//!   graphs: those are empty, which the verifier reports;
//! - there is no state.
//!
//! The text is hostile until it is read. Time and memory are linear in it, and what is nested is
//! bounded.

mod annotation;
mod argument;
mod comment;
mod cursor;
mod error;
mod fx;
mod graph;
mod literal;
mod log;
mod readable;
mod signature;
mod statement;

use crate::program::ExportedProgram;
use cursor::Cursor;

pub(super) use annotation::contiguous_strides;
pub use error::{ParseError, ParseProblem};

/// How a program begins, in each form.
const READABLE: [&str; 3] = ["ExportedProgram:", "class ", "def forward("];
const LISTING: &str = "graph():";

/// Reads a program in either form. Lines before it are skipped.
///
/// # Errors
/// When the text is not a program; the error says where and what was expected.
pub fn parse(text: &str) -> Result<ExportedProgram, ParseError> {
    let text = log::without_decoration(text);
    let mut cursor = Cursor::new(&text);
    loop {
        let line = cursor.rest().trim_start_matches([' ', '\t']);
        if line.starts_with(LISTING) {
            return fx::read(&mut cursor);
        }
        if READABLE.iter().any(|start| line.starts_with(start)) {
            return readable::read(&mut cursor);
        }
        if cursor.is_at_end() {
            return Err(Cursor::new(&text).expected(
                "a program: `ExportedProgram:`, `class ...:`, `def forward(...):` or `graph():`",
            ));
        }
        cursor.take_line();
    }
}

/// Reads a program in the readable form: what [`readable`](super::readable) prints.
///
/// # Errors
/// As [`parse`].
pub fn parse_readable(text: &str) -> Result<ExportedProgram, ParseError> {
    let text = log::without_decoration(text);
    readable::read(&mut Cursor::new(&text))
}

/// Reads a listing and its signature: what [`fx`](super::fx) prints.
///
/// # Errors
/// As [`parse`].
pub fn parse_fx(text: &str) -> Result<ExportedProgram, ParseError> {
    let text = log::without_decoration(text);
    fx::read(&mut Cursor::new(&text))
}
