//! `graven functionalize`: a pure graph, written or printed.

use crate::arguments::Functionalize;
use crate::output::{self, Failure};
use crate::show;

pub(crate) fn run(arguments: &Functionalize) -> Result<(), Failure> {
    let registry = output::registry(&arguments.operators)?;
    let mut program = output::load(&arguments.file, &registry)?;
    graven::functionalize(&mut program, &registry).map_err(|source| Failure::Functionalize {
        path: arguments.file.clone(),
        source,
    })?;
    match &arguments.output {
        Some(path) => graven::save(&program, path).map_err(|source| Failure::Write {
            path: path.clone(),
            source,
        }),
        None => show::print(&program, arguments.format, &arguments.file),
    }
}
