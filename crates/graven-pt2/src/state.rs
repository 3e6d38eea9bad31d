//! From the archive's configs to the program's state.

use std::collections::HashMap;
use std::sync::Arc;

use graven_ir::state::{State, StateEntry, StateKind, StorageId};
use graven_ir::{Context, ExportedProgram, GraphSignature, InputKind, NameId, SymInt, TensorMeta};
use rustc_hash::FxHashSet;

use crate::archive::Bytes;
use crate::error::Pt2Error;
use crate::payload::Payload;

/// Where payloads stand: this decides what an entry is that the signature does not mention.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Section {
    /// The state dict.
    Weights,
    /// Everything else that is held.
    Constants,
}

/// Gathers a program's state.
pub(crate) struct StateBuilder {
    state: State,
    names: FxHashSet<NameId>,
    storages: HashMap<(Section, String), StorageId>,
    /// The paths of the storages, for errors.
    paths: Vec<String>,
}

impl StateBuilder {
    pub(crate) fn new() -> Self {
        Self {
            state: State::default(),
            names: FxHashSet::default(),
            storages: HashMap::new(),
            paths: Vec::new(),
        }
    }

    /// Adds a payload whose bytes `find` finds by their path.
    pub(crate) fn add(
        &mut self,
        context: &Context,
        signature: &GraphSignature,
        section: Section,
        payload: Payload,
        find: impl FnOnce(&str) -> Result<(String, Bytes), Pt2Error>,
    ) -> Result<(), Pt2Error> {
        if !self.names.insert(payload.name) {
            return Err(Pt2Error::DuplicateState {
                name: context.names.get(payload.name).to_owned(),
            });
        }
        let key = (section, payload.path_name);
        let storage = match self.storages.get(&key) {
            Some(storage) => *storage,
            None => {
                let (path, bytes) = find(&key.1)?;
                let id =
                    u32::try_from(self.state.storages.len()).map_err(|_| Pt2Error::TooManyNodes)?;
                self.state.storages.push(Arc::new(bytes));
                self.paths.push(path);
                self.storages.insert(key, StorageId(id));
                StorageId(id)
            }
        };
        let kind = match section {
            _ if payload.is_parameter => StateKind::Parameter,
            Section::Weights => StateKind::Buffer,
            Section::Constants if is_buffer(signature, payload.name) => StateKind::Buffer,
            Section::Constants => StateKind::Constant,
        };
        self.state.entries.push(StateEntry {
            name: payload.name,
            kind,
            meta: payload.meta,
            use_pickle: payload.use_pickle,
            storage,
        });
        Ok(())
    }

    /// Checks that the bytes suffice and that the signature finds what it names, and gives the
    /// state to `program`.
    pub(crate) fn finish(self, program: &mut ExportedProgram) -> Result<(), Pt2Error> {
        self.check_extents(&program.context)?;
        self.check_targets(program)?;
        program.state = self.state;
        Ok(())
    }

    fn check_extents(&self, context: &Context) -> Result<(), Pt2Error> {
        let mut short = None;
        let mut any_bytes = false;
        for entry in &self.state.entries {
            let (Some(meta), false) = (entry.meta, entry.use_pickle) else {
                continue;
            };
            let name = || context.names.get(entry.name).to_owned();
            let needed = extent(context.meta(meta)).map_err(|reason| Pt2Error::StateMeta {
                name: name(),
                reason,
            })?;
            let index = entry.storage.0 as usize;
            let actual = self
                .state
                .storages
                .get(index)
                .map_or(0, |storage| storage.bytes().len() as u64);
            any_bytes |= actual > 0;
            if needed > actual {
                let error = Pt2Error::ShortTensor {
                    name: name(),
                    path: self.paths.get(index).cloned().unwrap_or_default(),
                    needed,
                    actual,
                };
                if actual > 0 {
                    return Err(error);
                }
                short.get_or_insert(error);
            }
        }
        // A program exported with fake weights has no byte of any: that is no damage.
        match short {
            Some(error) if any_bytes => Err(error),
            _ => Ok(()),
        }
    }

    fn check_targets(&self, program: &ExportedProgram) -> Result<(), Pt2Error> {
        let names = &program.context.names;
        let placeholders = program.graph.placeholders();
        for ((_, node), spec) in placeholders.zip(&program.signature.inputs) {
            let held = match (spec.kind, spec.target) {
                (InputKind::UserInput | InputKind::Token, _) | (_, None) => continue,
                (_, Some(target)) => target,
            };
            if !self.names.contains(&held) {
                return Err(Pt2Error::MissingState {
                    input: names.get(node.name).to_owned(),
                    target: names.get(held).to_owned(),
                });
            }
        }
        Ok(())
    }
}

fn is_buffer(signature: &GraphSignature, name: NameId) -> bool {
    signature
        .inputs
        .iter()
        .any(|spec| spec.kind == InputKind::Buffer && spec.target == Some(name))
}

/// How many bytes of its storage a tensor reaches to, or what is wrong with its geometry.
fn extent(meta: &TensorMeta) -> Result<u64, &'static str> {
    const TOO_LARGE: &str = "its sizes and strides reach beyond any memory";
    let constant = |size: &SymInt| match size {
        SymInt::Int(value) => {
            u64::try_from(*value).map_err(|_| "a size, stride or offset is negative")
        }
        SymInt::Expr(_) => Err("a size, stride or offset is symbolic"),
    };
    let mut last = constant(&meta.storage_offset)?;
    let mut empty = false;
    for (size, stride) in meta.sizes.iter().zip(&meta.strides) {
        let (size, stride) = (constant(size)?, constant(stride)?);
        match size.checked_sub(1) {
            None => empty = true,
            Some(steps) => {
                last = steps
                    .checked_mul(stride)
                    .and_then(|reach| last.checked_add(reach))
                    .ok_or(TOO_LARGE)?;
            }
        }
    }
    if empty {
        return Ok(0);
    }
    last.checked_add(1)
        .and_then(|elements| elements.checked_mul(meta.dtype.bytes() as u64))
        .ok_or(TOO_LARGE)
}
