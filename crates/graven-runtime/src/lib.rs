//! Running programs on the CPU.
//!
//! A [`Module`] is a program that can be called: its state as tensors, its graph as a plan. The
//! reference executor runs the plan node by node. A raw program runs with true aliasing, so that
//! its writes reach what they alias; of a functional program, what its signature names is written
//! back when all of it is computed.

mod autocast;
mod error;
mod execute;
mod higher_order;
mod inputs;
mod module;
mod plan;
mod symbolic;
mod write_back;

pub use error::{RuntimeError, RuntimeProblem};
pub use execute::Observer;
pub use module::{Module, StateTensor};
