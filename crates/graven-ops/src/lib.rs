//! The operator catalogue: for each operator what its schema says, and what a schema cannot say.

pub mod catalogue;
pub mod emit;

pub use emit::{Arg, Emit};
