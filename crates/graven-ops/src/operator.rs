//! One operator: its schema, its tags, and the facts that passes ask for, worked out once.

use graven_ir::schema::{CallError, OperatorName, ReturnAlias, Schema};

use crate::tags::{Tag, Tags};

/// Whether an operator is a composition of others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Composite {
    /// Not composite: each backend has its kernel.
    None,
    /// One kernel for all backends, differentiated as a whole.
    Explicit,
    /// Defined by other operators; autograd sees those.
    Implicit,
}

/// An operator.
#[derive(Clone, Debug)]
pub struct Operator {
    schema: Schema,
    signature_is_known: bool,
    composite: Composite,
    tags: Tags,
    writes: Box<[usize]>,
    return_aliases: Box<[Option<ReturnAlias>]>,
    is_view: bool,
    is_kept_whole: bool,
}

/// Packets of functional composites that torch does not keep: it answers the first from a
/// tensor's metadata instead of recording them, although nothing in their schemas tells them
/// from the likes of `is_floating_point`, which it records; the last updates its running
/// statistics against what its schema says.
const NOT_KEPT: [&str; 7] = [
    "dim",
    "is_contiguous",
    "numel",
    "storage_offset",
    "sym_numel",
    "sym_storage_offset",
    "native_batch_norm",
];

impl Operator {
    pub(crate) fn new(schema: Schema, composite: Composite, tags: Tags) -> Self {
        let is_kept_whole = composite == Composite::Implicit
            && !schema.is_mutable()
            && !tags.contains(Tag::MaybeAliasingOrMutating)
            && schema
                .arguments
                .iter()
                .all(|argument| argument.alias.is_none())
            && !NOT_KEPT.contains(&&*schema.name.packet);
        Self {
            writes: schema.written_arguments().collect(),
            return_aliases: (0..schema.returns.len())
                .map(|result| schema.return_alias(result))
                .collect(),
            is_view: schema.is_view(),
            signature_is_known: true,
            schema,
            composite,
            tags,
            is_kept_whole,
        }
    }

    /// An operator of which only the name is known, and that it returns fresh values.
    pub(crate) fn assumed_functional(name: OperatorName) -> Self {
        let schema = Schema {
            name,
            arguments: Box::default(),
            returns: Box::default(),
        };
        Self {
            signature_is_known: false,
            ..Self::new(schema, Composite::None, Tags::default())
        }
    }

    /// Its name.
    pub fn name(&self) -> &OperatorName {
        &self.schema.name
    }

    /// Its schema; without arguments and results where the signature is not known.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether the schema was given. It was not for an operator that is only assumed to return
    /// fresh values: its arguments are what a node says.
    pub fn signature_is_known(&self) -> bool {
        self.signature_is_known
    }

    /// Whether it is a composition of others.
    pub fn composite(&self) -> Composite {
        self.composite
    }

    /// Its tags.
    pub fn tags(&self) -> Tags {
        self.tags
    }

    /// Whether it carries `tag`.
    pub fn has_tag(&self, tag: Tag) -> bool {
        self.tags.contains(tag)
    }

    /// Whether it writes to an argument.
    pub fn is_mutable(&self) -> bool {
        !self.writes.is_empty()
    }

    /// The indices of the arguments that it writes to, in order.
    pub fn writes(&self) -> &[usize] {
        &self.writes
    }

    /// For each result, which argument it aliases.
    pub fn return_aliases(&self) -> &[Option<ReturnAlias>] {
        &self.return_aliases
    }

    /// Whether a result aliases an argument that is not written. `reshape`, `to` and the like
    /// are views by their schemas, and at times return something fresh.
    pub fn is_view(&self) -> bool {
        self.is_view
    }

    /// Whether it changes the shape, strides or storage of its argument rather than its data:
    /// `transpose_`, `resize_`, `set_`, `detach_`.
    pub fn is_inplace_view(&self) -> bool {
        self.tags.contains(Tag::InplaceView)
    }

    /// Whether it is composite-implicit and nevertheless stays in the functional graph as it is.
    /// A composite-implicit operator for which this is false is taken apart.
    pub fn is_kept_whole(&self) -> bool {
        self.is_kept_whole
    }

    /// Checks that a call fits the schema: `positional` arguments by position, the others by
    /// name. Where the signature is not known, every call fits.
    ///
    /// # Errors
    /// When the call does not fit.
    pub fn check_call<'a>(
        &self,
        positional: usize,
        keywords: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<(), CallError> {
        if self.signature_is_known {
            self.schema.check_call(positional, keywords)
        } else {
            Ok(())
        }
    }
}
