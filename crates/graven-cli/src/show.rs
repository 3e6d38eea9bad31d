//! `graven show`: prints a program.

use graven::{ExportedProgram, text};

use crate::arguments::{Format, Show};
use crate::output::{self, Failure};

pub(crate) fn run(arguments: &Show) -> Result<(), Failure> {
    let program = output::load(&arguments.file, &graven::Registry::aten())?;
    print(&program, arguments.format, &arguments.file)
}

/// Prints a program in one of the formats, with a newline at the end.
pub(crate) fn print(
    program: &ExportedProgram,
    format: Format,
    path: &std::path::Path,
) -> Result<(), Failure> {
    let mut text = match format {
        Format::Fx => text::fx(program),
        Format::Readable => text::readable(program),
        Format::Signature => text::signature(program),
        Format::Json => graven::to_json(program).map_err(|source| Failure::Write {
            path: path.to_owned(),
            source,
        })?,
    };
    text.push('\n');
    output::print(&text)
}
