//! What the command can fail with, and how it says so.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use graven::{ExportedProgram, FunctionalizeError, Pt2Error, Registry, RegistryError};

use crate::arguments::Operators;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// An archive cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: Pt2Error },
    /// An archive cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: Pt2Error },
    /// A file of schemas cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    SchemaFile { path: PathBuf, source: io::Error },
    /// A schema is wrong.
    #[error("{}: {source}", path.display())]
    Schema {
        path: PathBuf,
        source: RegistryError,
    },
    /// A name given with `--assume-functional` is wrong.
    #[error("--assume-functional: {0}")]
    Assumed(RegistryError),
    /// The program cannot be functionalized.
    #[error("cannot functionalize {}: {source}", path.display())]
    Functionalize {
        path: PathBuf,
        source: FunctionalizeError,
    },
    /// A file of tensors cannot be used.
    #[error("{0}")]
    Tensors(graven::tensor_file::TensorFileError),
    /// The inputs cannot be used.
    #[error("cannot run {}: {source}", path.display())]
    Inputs {
        path: PathBuf,
        source: graven::evaluate::InputError,
    },
    /// The program cannot be run.
    #[error("cannot run {}: {source}", path.display())]
    Run {
        path: PathBuf,
        source: graven::RuntimeError,
    },
    /// A pass changed what the program computes.
    #[error("{}: {pass} changes the values on {inputs}: {place}: {what}", path.display())]
    Differs {
        path: PathBuf,
        pass: &'static str,
        inputs: String,
        place: String,
        what: String,
    },
    /// Standard output is closed or full.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

/// Prints a failure to standard error.
pub(crate) fn report(failure: &Failure) {
    let style = clap::builder::styling::AnsiColor::Red.on_default().bold();
    let mut out = anstream::stderr().lock();
    // Nothing is left to do when standard error is closed.
    let mut text = failure.to_string();
    // Causes that the message does not tell already.
    let mut cause = std::error::Error::source(failure);
    while let Some(error) = cause {
        let told = error.to_string();
        if !text.contains(&told) {
            text = format!("{text}\n  because {told}");
        }
        cause = error.source();
    }
    let _ = writeln!(out, "{style}error{style:#}: {text}");
}

/// Prints a note to standard error.
pub(crate) fn note(text: &str) {
    let style = clap::builder::styling::AnsiColor::Yellow.on_default();
    let mut out = anstream::stderr().lock();
    // Nothing is left to do when standard error is closed.
    let _ = writeln!(out, "{style}note{style:#}: {text}");
}

/// Prints a result to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Reads an archive.
pub(crate) fn load(path: &Path, registry: &Registry) -> Result<ExportedProgram, Failure> {
    graven::load_with_schemas(path, registry).map_err(|source| Failure::Read {
        path: path.to_owned(),
        source,
    })
}

/// The operators of ATen, and those that the command line declares.
pub(crate) fn registry(operators: &Operators) -> Result<Registry, Failure> {
    let mut registry = Registry::aten();
    for path in &operators.schemas {
        let text = std::fs::read_to_string(path).map_err(|source| Failure::SchemaFile {
            path: path.clone(),
            source,
        })?;
        registry.extend(&text).map_err(|source| Failure::Schema {
            path: path.clone(),
            source,
        })?;
    }
    for name in &operators.assumed_functional {
        registry.assume_functional(name).map_err(Failure::Assumed)?;
    }
    Ok(registry)
}
