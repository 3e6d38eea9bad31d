//! graven turns PyTorch programs that mutate and alias into pure graphs.
//!
//! ```no_run
//! let mut program = graven::load("model.pt2")?;
//! graven::functionalize(&mut program, &graven::Registry::aten())?;
//! graven::save(&program, "functional.pt2")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program can be run, with its state:
//!
//! ```no_run
//! use graven::Program as _;
//!
//! let program = graven::ExportedProgram::load("model.pt2")?;
//! let module = program.module()?;
//! let x = graven::Array::from_elements(&[1.0_f32, 2.0], &[2])?;
//! let outputs = module.call(&[x.into()])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The program type is [`ExportedProgram`]; [`text`] prints it as torch does, [`verify`] checks
//! it, [`effects`](effects()) says what it does to its inputs and its state.

pub mod compare;
pub mod evaluate;
mod program;
pub mod tensor_file;

pub use program::Program;

pub use graven_ir as ir;
pub use graven_ir::text;
pub use graven_ir::verify;
pub use graven_ir::{ExportedProgram, GraphSignature, InputKind, OutputKind};
pub use graven_ops::Registry;
pub use graven_ops::registry::RegistryError;
pub use graven_passes::effects::{Carrier, InputEffects, Write, effects};
pub use graven_passes::functionalize::{FunctionalizeError, Place, Problem, Stats, functionalize};
pub use graven_pt2::{
    Pt2Error, model_json as to_json, read as load, read_with_schemas as load_with_schemas,
    write as save,
};
pub use graven_runtime::{Module, Observer, RuntimeError, RuntimeProblem, StateTensor};
pub use graven_tensor as tensor;
pub use graven_tensor::{Array, Eager, Tensor, Value};
