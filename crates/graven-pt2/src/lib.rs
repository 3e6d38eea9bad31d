//! Archives of `torch.export.save` (`.pt2`), read and written.
//!
//! [`read`] maps an archive and gives the program in it; [`read_bytes`] does so from memory.
//! [`write()`] writes a program so that torch opens it, [`write_bytes`] into memory. Weights are
//! never decoded: the program refers to their bytes in the map, and they are copied as they are.
//!
//! An archive is hostile until it is read. Sizes are checked before memory is taken, names
//! cannot lead out of the archive, nothing is executed, and whatever is wrong is a
//! [`Pt2Error`].

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod archive;
mod error;
mod json;
mod json_out;
mod kinds;
mod layout;
mod model;
mod old_layout;
mod payload;
mod pickle;
mod read;
mod sample;
mod state;
mod torch_save;
mod write;

pub use error::{PickleError, Pt2Error};
pub use read::{read, read_bytes, read_model_json, read_with_schemas};
pub use sample::{SampleInput, sample_inputs};
pub use write::{model_json, write, write_bytes};
