//! `model.json`: the program as JSON, read and written.

mod argument;
mod graph;
mod program;
mod read;
mod resolve;
mod signature;
mod target;
mod tensor;
mod write;

pub(crate) use read::read_program;
pub(crate) use tensor::TensorMetaReader;
pub(crate) use write::{tensor_meta, write_program};
