//! Archives of `torch.export.save` (`.pt2`), read and written.
//!
//! [`read`] maps an archive and gives the program in it; [`read_bytes`] does so from memory.
//! Weights are never decoded: the program refers to their bytes in the map.
//!
//! An archive is hostile until it is read. Sizes are checked before memory is taken, names
//! cannot lead out of the archive, nothing is executed, and whatever is wrong is a
//! [`Pt2Error`].

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod archive;
mod error;
mod json;
mod layout;
mod model;
mod payload;
mod read;
mod state;

pub use error::Pt2Error;
pub use read::{read, read_bytes};
