//! The sample inputs that an archive holds: what the program was exported with.

use std::sync::Arc;

use graven_ir::state::ByteSource;
use graven_ir::{DType, ExportedProgram};

use crate::archive::{Archive, Bytes};
use crate::error::Pt2Error;
use crate::layout::{DEFAULT_MODEL, sample_inputs_path};
use crate::pickle::{self, Pickle, Value, ValueId};
use crate::torch_save::find_pickle;

/// Containers of inputs nest no deeper: they are walked by recursion.
const MAX_DEPTH: usize = 64;

/// One input, as the program's placeholders take them.
#[derive(Clone, Debug)]
pub enum SampleInput {
    /// A tensor.
    Tensor {
        /// Its element type.
        dtype: DType,
        /// Elements per dimension.
        sizes: Vec<i64>,
        /// Elements to step over per dimension.
        strides: Vec<i64>,
        /// The first element's place in its storage, in elements.
        storage_offset: i64,
        /// The storage's bytes; inputs that share a storage have the same.
        bytes: Arc<dyn ByteSource>,
    },
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// `None`
    None,
    /// A string, or another value that no node reads.
    Other,
}

/// The sample inputs of a program that was read from an archive, flattened as its user inputs are:
/// positional arguments, then keyword arguments in the order in which they were given. `None` when
/// the archive holds none.
///
/// # Errors
/// When what it holds cannot be read.
pub fn sample_inputs(program: &ExportedProgram) -> Result<Option<Vec<SampleInput>>, Pt2Error> {
    let model = program
        .model_name
        .map_or(DEFAULT_MODEL, |name| program.context.names.get(name));
    let path = sample_inputs_path(model);
    let attachment = program.attachments.iter().find(|held| held.path == path);
    let Some(attachment) = attachment.filter(|held| !held.content.bytes().is_empty()) else {
        return Ok(None);
    };
    let bytes = Bytes::new(attachment.content.bytes().to_vec());
    let archive = Archive::open(&bytes)?;
    let (folder, text) = find_pickle(&archive, &path)?;
    let pickle = pickle::run(text).map_err(|source| Pt2Error::Pickle {
        path: path.clone(),
        source,
    })?;
    let mut reader = Reader {
        archive: &archive,
        pickle: &pickle,
        folder,
        path: &path,
        storages: Vec::new(),
        inputs: Vec::new(),
    };
    // `(args, kwargs)`
    let root = pickle.root().clone();
    reader.flatten(&root, 0)?;
    Ok(Some(reader.inputs))
}

struct Reader<'a> {
    archive: &'a Archive,
    pickle: &'a Pickle,
    folder: &'a str,
    path: &'a str,
    storages: Vec<(ValueId, Arc<dyn ByteSource>)>,
    inputs: Vec<SampleInput>,
}

impl Reader<'_> {
    fn flatten(&mut self, value: &Value, depth: usize) -> Result<(), Pt2Error> {
        if depth > MAX_DEPTH {
            return Err(Pt2Error::NotTensors {
                path: self.path.to_owned(),
            });
        }
        let input = match value {
            Value::Tuple(items) | Value::List(items) => {
                for item in items {
                    self.flatten(self.pickle.get(*item), depth + 1)?;
                }
                return Ok(());
            }
            Value::Dict(items) => {
                for (_, item) in items {
                    self.flatten(self.pickle.get(*item), depth + 1)?;
                }
                return Ok(());
            }
            Value::Tensor(tensor) => SampleInput::Tensor {
                dtype: tensor.dtype,
                sizes: tensor.sizes.to_vec(),
                strides: tensor.strides.to_vec(),
                storage_offset: tensor.storage_offset,
                bytes: self.storage(tensor.storage.key)?,
            },
            Value::Int(value) => SampleInput::Int(*value),
            Value::Float(value) => SampleInput::Float(*value),
            Value::Bool(value) => SampleInput::Bool(*value),
            Value::None => SampleInput::None,
            _ => SampleInput::Other,
        };
        self.inputs.push(input);
        Ok(())
    }

    fn storage(&mut self, key: ValueId) -> Result<Arc<dyn ByteSource>, Pt2Error> {
        if let Some((_, bytes)) = self.storages.iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(bytes));
        }
        let name = self.pickle.text(key).unwrap_or_default();
        let entry_path = format!("{}data/{name}", self.folder);
        let shown = format!("{}:{entry_path}", self.path);
        let entry = self.archive.get(&entry_path);
        let entry = entry.ok_or_else(|| Pt2Error::MissingEntry {
            path: shown.clone(),
        })?;
        let bytes: Arc<dyn ByteSource> = Arc::new(entry.verified(&shown)?.to_vec());
        self.storages.push((key, Arc::clone(&bytes)));
        Ok(bytes)
    }
}
