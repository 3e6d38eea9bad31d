//! The zip archive as such: entries and their bytes, both ways. Knows nothing of programs.

mod inflate;
mod map;
mod path;
mod reader;
mod writer;

pub(crate) use path::check_path;
pub(crate) use reader::{Archive, Bytes, Entry};
pub(crate) use writer::{Sink, Writer, archive_name, write_file};
