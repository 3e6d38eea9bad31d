//! Writing `model.json`.

mod argument;
mod graph;
mod program;
mod value;

pub(crate) use program::write_program;
pub(crate) use value::tensor_meta;
