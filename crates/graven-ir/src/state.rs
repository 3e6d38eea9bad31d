//! The tensors and objects that a program holds: parameters, buffers, constants.
//!
//! graven-ir never looks at their bytes. A [`ByteSource`] hands them on: a mapped archive, or
//! memory.

use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;

use crate::names::NameId;
use crate::value::TensorMetaId;

/// Bytes that someone else keeps.
pub trait ByteSource: Send + Sync + fmt::Debug {
    /// All of them.
    fn bytes(&self) -> &[u8];

    /// Their CRC-32, when it is known without reading them.
    fn known_crc32(&self) -> Option<u32> {
        None
    }

    /// Appends them to a file. Who keeps them in a file can let the operating system copy.
    fn copy_to(&self, file: &mut File) -> io::Result<()> {
        file.write_all(self.bytes())
    }
}

impl ByteSource for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// What an entry of the state is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StateKind {
    /// A parameter: listed with the weights.
    Parameter,
    /// A buffer: listed with the weights when persistent, with the constants when not.
    Buffer,
    /// A tensor constant, or any other entry of the constants.
    Constant,
}

/// A storage of [`State`]: its position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StorageId(pub u32);

/// One entry: a name, and where its bytes are. Entries that name one storage share it.
#[derive(Clone, Debug)]
pub struct StateEntry {
    /// The dotted name.
    pub name: NameId,
    /// What it is.
    pub kind: StateKind,
    /// Its geometry in the storage; `None` for a pickled object.
    pub meta: Option<TensorMetaId>,
    /// Whether the bytes are a pickle rather than the plain elements.
    pub use_pickle: bool,
    /// The bytes.
    pub storage: StorageId,
}

/// All entries, in the archive's order.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Parameters, buffers and constants.
    pub entries: Vec<StateEntry>,
    /// What they hold.
    pub storages: Vec<Arc<dyn ByteSource>>,
}

impl State {
    /// The entry called `name`.
    pub fn find(&self, name: NameId) -> Option<&StateEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

/// A file of the archive that is no part of the program and is carried through unchanged:
/// sample inputs, extra files, serialization id.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// Its path in the archive, without the archive's top folder.
    pub path: String,
    /// Its content.
    pub content: Arc<dyn ByteSource>,
}
