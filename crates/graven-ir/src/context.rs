//! The tables that one program's graphs share: names, targets, metadata, expressions.

use indexmap::IndexSet;

use crate::names::{NameId, Names};
use crate::symint::SymExprs;
use crate::value::{TensorMeta, TensorMetaId, TensorMetas};

/// An interned call target, such as `torch.ops.aten.add.Tensor` or `_operator.mul`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TargetId(pub(crate) u32);

impl TargetId {
    /// The position in the table, for dense side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An interned [`Metadata`]; by default [`MetadataId::EMPTY`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct MetadataId(u32);

impl MetadataId {
    /// No metadata at all.
    pub const EMPTY: Self = Self(0);
}

/// What a node carries besides its value, in the file's order: `stack_trace`,
/// `nn_module_stack`, `torch_fn`, and whatever else stood there.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Metadata {
    /// Keys and values.
    pub entries: Box<[(NameId, NameId)]>,
    /// Fields of the archive's node object that graven does not know: name and JSON text.
    pub unknown_fields: Box<[(NameId, NameId)]>,
}

impl Metadata {
    /// The value of `key`.
    pub fn get(&self, key: NameId) -> Option<NameId> {
        self.entries
            .iter()
            .find(|entry| entry.0 == key)
            .map(|entry| entry.1)
    }
}

/// The tables that a program's graphs refer to by id.
#[derive(Clone, Debug)]
pub struct Context {
    /// Strings.
    pub names: Names,
    /// Symbolic expressions.
    pub exprs: SymExprs,
    /// Tensor metadata.
    pub metas: TensorMetas,
    targets: IndexSet<NameId>,
    metadata: IndexSet<Metadata>,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            names: Names::default(),
            exprs: SymExprs::default(),
            metas: TensorMetas::default(),
            targets: IndexSet::default(),
            metadata: IndexSet::from([Metadata::default()]),
        }
    }
}

impl Context {
    /// The id of the target called `name` in full: `torch.ops.aten.add.Tensor`.
    pub fn target(&mut self, name: &str) -> TargetId {
        let name = self.names.intern(name);
        let (index, _) = self.targets.insert_full(name);
        TargetId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The id of the target called `name`, if there is one.
    pub fn find_target(&self, name: &str) -> Option<TargetId> {
        let name = self.names.find(name)?;
        self.targets
            .get_index_of(&name)
            .map(|index| TargetId(index as u32))
    }

    /// The full name of a target.
    pub fn target_name(&self, id: TargetId) -> &str {
        self.targets
            .get_index(id.index())
            .map_or("", |name| self.names.get(*name))
    }

    /// The full name of a target, interned.
    pub fn target_name_id(&self, id: TargetId) -> Option<NameId> {
        self.targets.get_index(id.index()).copied()
    }

    /// How many targets there are; ids are dense below it.
    pub fn target_count(&self) -> usize {
        self.targets.len()
    }

    /// The id of `metadata`, added when it is new.
    pub fn intern_metadata(&mut self, metadata: Metadata) -> MetadataId {
        let (index, _) = self.metadata.insert_full(metadata);
        MetadataId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The metadata of `id`.
    pub fn metadata(&self, id: MetadataId) -> &Metadata {
        &self.metadata[id.0 as usize]
    }

    /// The text of one metadata entry.
    pub fn metadata_text(&self, id: MetadataId, key: &str) -> Option<&str> {
        let key = self.names.find(key)?;
        self.metadata(id)
            .get(key)
            .map(|value| self.names.get(value))
    }

    /// The tensor metadata of `id`.
    pub fn meta(&self, id: TensorMetaId) -> &TensorMeta {
        self.metas.get(id)
    }
}
