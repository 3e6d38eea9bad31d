//! What can be done with a program, as methods of it.

use std::path::Path;
use std::sync::Arc;

use graven_ir::ExportedProgram;
use graven_ops::Registry;
use graven_passes::functionalize::{FunctionalizeError, Stats};
use graven_pt2::Pt2Error;
use graven_runtime::{Module, RuntimeError};
use graven_tensor::Eager;

/// Loading, functionalizing, saving and running, as methods of [`ExportedProgram`], for programs
/// of ATen's operators.
pub trait Program: Sized {
    /// Reads an archive.
    ///
    /// # Errors
    /// As [`graven_pt2::read`].
    fn load(path: impl AsRef<Path>) -> Result<Self, Pt2Error>;

    /// Writes an archive.
    ///
    /// # Errors
    /// As [`graven_pt2::write`].
    fn save(&self, path: impl AsRef<Path>) -> Result<(), Pt2Error>;

    /// Turns the program into its functional form.
    ///
    /// # Errors
    /// As [`graven_passes::functionalize()`].
    fn functionalize(&mut self) -> Result<Stats, FunctionalizeError>;

    /// Makes the program ready to be called, with a state of its own.
    ///
    /// # Errors
    /// As [`Module::new`].
    fn module(&self) -> Result<Module, RuntimeError>;
}

impl Program for ExportedProgram {
    fn load(path: impl AsRef<Path>) -> Result<Self, Pt2Error> {
        graven_pt2::read(path.as_ref())
    }

    fn save(&self, path: impl AsRef<Path>) -> Result<(), Pt2Error> {
        graven_pt2::write(self, path.as_ref())
    }

    fn functionalize(&mut self) -> Result<Stats, FunctionalizeError> {
        graven_passes::functionalize(self, &Registry::aten())
    }

    fn module(&self) -> Result<Module, RuntimeError> {
        Module::new(self, Arc::new(Eager::default()))
    }
}
