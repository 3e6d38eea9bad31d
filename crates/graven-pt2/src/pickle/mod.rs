//! Pickles that torch wrote, read as data.
//!
//! A pickle is a program for a small stack machine that can call any Python function. This
//! reader runs that program but calls nothing: it knows the handful of functions that
//! `torch.save` uses to describe tensors, builds their descriptions, and refuses every other.
//! Values stand in a vector and name each other by position, so nothing recurses, and each
//! instruction adds at most one of them: memory is bounded by the length of the pickle.

mod error;
mod machine;
mod reader;
mod value;

pub use error::PickleError;
pub(crate) use machine::run;
pub(crate) use value::{Pickle, TensorRef, Value, ValueId};

#[cfg(test)]
mod tests;
