//! `model.json`: the program as JSON, read and written.

mod argument;
mod bare_floats;
mod call_form;
mod calls;
mod graph;
mod program;
mod progress;
mod read;
mod resolve;
mod signature;
mod slots;

mod tensor;
mod write;

pub(crate) use call_form::CallForm;
pub(crate) use read::read_program;
pub(crate) use tensor::MetaCache;
pub(crate) use write::{tensor_meta, write_program};
