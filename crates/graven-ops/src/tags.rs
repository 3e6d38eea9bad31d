//! The tags that ATen puts on operators.

/// A tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tag {
    /// In the core ATen set.
    Core,
    /// The result's values decide what the program does: `item`.
    DataDependentOutput,
    /// The result's sizes depend on values: `nonzero`.
    DynamicOutputShape,
    /// Written by torchgen, not by hand.
    Generated,
    /// Writes to its `self`.
    Inplace,
    /// Changes its `self`'s shape, strides or storage.
    InplaceView,
    /// May return an alias of its argument, or write to it, against what its schema says.
    MaybeAliasingOrMutating,
    /// Its compiled form must get exactly the strides that it was traced with.
    NeedsExactStrides,
    /// Its compiled form must get the stride order that it was traced with.
    NeedsFixedStrideOrder,
    /// Draws random numbers.
    NondeterministicSeeded,
    /// Writes its results to arguments.
    Out,
    /// Element by element.
    Pointwise,
    /// Follows the rules of compiled graphs.
    Pt2CompliantTag,
    /// Reduces over dimensions.
    Reduction,
    /// The copying form of a view.
    ViewCopy,
}

impl Tag {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 15] = [
        Self::Core,
        Self::DataDependentOutput,
        Self::DynamicOutputShape,
        Self::Generated,
        Self::Inplace,
        Self::InplaceView,
        Self::MaybeAliasingOrMutating,
        Self::NeedsExactStrides,
        Self::NeedsFixedStrideOrder,
        Self::NondeterministicSeeded,
        Self::Out,
        Self::Pointwise,
        Self::Pt2CompliantTag,
        Self::Reduction,
        Self::ViewCopy,
    ];

    /// ATen's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::DataDependentOutput => "data_dependent_output",
            Self::DynamicOutputShape => "dynamic_output_shape",
            Self::Generated => "generated",
            Self::Inplace => "inplace",
            Self::InplaceView => "inplace_view",
            Self::MaybeAliasingOrMutating => "maybe_aliasing_or_mutating",
            Self::NeedsExactStrides => "needs_exact_strides",
            Self::NeedsFixedStrideOrder => "needs_fixed_stride_order",
            Self::NondeterministicSeeded => "nondeterministic_seeded",
            Self::Out => "out",
            Self::Pointwise => "pointwise",
            Self::Pt2CompliantTag => "pt2_compliant_tag",
            Self::Reduction => "reduction",
            Self::ViewCopy => "view_copy",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tag| tag.name() == name)
    }
}

/// A set of tags.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tags(u16);

impl Tags {
    /// Whether `tag` is in it.
    pub fn contains(self, tag: Tag) -> bool {
        self.0 & (1 << tag as u16) != 0
    }

    /// The tags in it.
    pub fn iter(self) -> impl Iterator<Item = Tag> {
        Tag::ALL.into_iter().filter(move |tag| self.contains(*tag))
    }

    /// The set that the table writes as `core,pointwise`, or `-` when empty.
    pub(crate) fn from_names(names: &str) -> Option<Self> {
        if names == "-" {
            return Some(Self::default());
        }
        names.split(',').try_fold(Self::default(), |tags, name| {
            Tag::from_name(name).map(|tag| Self(tags.0 | 1 << tag as u16))
        })
    }
}
