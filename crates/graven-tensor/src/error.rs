//! What can be wrong with a call of an operator.

use graven_ir::DType;
use graven_ops::emit::EmitError;

/// A call that could not be carried out.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{operator}: {problem}")]
pub struct OperatorError {
    /// The operator's full name.
    pub operator: Box<str>,
    /// What is wrong.
    pub problem: Problem,
}

/// The kinds of problems.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// No operator of this name is known.
    #[error("no such operator; give its schema to the registry")]
    UnknownOperator,
    /// The operator is known, but cannot be computed.
    #[error("has no kernel, and no decomposition into operators that have one")]
    NoKernel,
    /// An argument is of a kind that the operator cannot use.
    #[error("argument `{argument}` must be {expected}, found {found}")]
    Argument {
        /// Its name in the schema.
        argument: Box<str>,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: Box<str>,
    },
    /// The operator is not defined for this dtype.
    #[error("is not implemented for {}", found.name())]
    DType {
        /// The dtype.
        found: DType,
    },
    /// Two dtypes that must be equal are not.
    #[error("expected a tensor of {}, found {}", expected.name(), found.name())]
    OtherDType {
        /// What it must be.
        expected: DType,
        /// What it is.
        found: DType,
    },
    /// Sizes that do not go together.
    #[error("sizes {left:?} and {right:?} cannot be broadcast to one another")]
    Broadcast {
        /// Sizes of one tensor.
        left: Vec<usize>,
        /// Sizes of the other.
        right: Vec<usize>,
    },
    /// A dimension that the tensor does not have.
    #[error("dimension {dim} is out of range for a tensor of {rank} dimensions")]
    Dimension {
        /// The dimension.
        dim: i64,
        /// How many there are.
        rank: usize,
    },
    /// An index that the dimension does not have.
    #[error("index {index} is out of range for dimension {dim}, which has {size} elements")]
    Index {
        /// The index.
        index: i64,
        /// The dimension.
        dim: usize,
        /// Its size.
        size: usize,
    },
    /// Memory that is not there.
    #[error("{bytes} bytes of memory cannot be had")]
    OutOfMemory {
        /// How many were asked for.
        bytes: usize,
    },
    /// A geometry that reaches beyond its storage.
    #[error(
        "a view of sizes {sizes:?} and strides {strides:?} at offset {offset} does not fit a storage of {bytes} bytes"
    )]
    OutsideStorage {
        /// Its sizes.
        sizes: Vec<usize>,
        /// Its strides.
        strides: Vec<usize>,
        /// Where it begins.
        offset: usize,
        /// Bytes of the storage.
        bytes: usize,
    },
    /// A formula found its arguments wrong.
    #[error(transparent)]
    Formula(#[from] EmitError),
    /// An operator that this one is made of failed.
    #[error(transparent)]
    Inner(Box<OperatorError>),
    /// What else there is: the message says it.
    #[error("{0}")]
    Invalid(String),
}

impl Problem {
    /// A problem that has no kind of its own.
    pub fn invalid(text: impl Into<String>) -> Self {
        Self::Invalid(text.into())
    }
}

impl From<OperatorError> for Problem {
    fn from(error: OperatorError) -> Self {
        Self::Inner(Box::new(error))
    }
}
