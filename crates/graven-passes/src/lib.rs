//! Passes from program to program.

pub mod dce;
pub mod effects;
pub mod functionalize;

pub use functionalize::{FunctionalizeError, functionalize};
