//! What functionalization can find wrong with a program.

use std::fmt;

pub use graven_ir::Place;
use graven_ops::emit::EmitError;

use super::machine::Machine;

/// A program that cannot be functionalized, and where.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{problem}{}", Shown(place))]
pub struct FunctionalizeError {
    /// What is wrong.
    pub problem: Box<Problem>,
    /// The node that it was found at.
    pub place: Option<Box<Place>>,
}

/// The kinds of problems.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Problem {
    /// The operator's schema is not known.
    #[error(
        "unknown operator `{0}`: give its schema with `--schema FILE` (`mylib::op(Tensor(a!) x) -> Tensor`), or, \
         if it only returns fresh values, name it with `--assume-functional {0}`"
    )]
    UnknownOperator(String),
    /// The arguments do not fit the schema.
    #[error("the arguments do not fit the schema `{schema}`: {reason}")]
    Arguments {
        /// The schema.
        schema: String,
        /// What does not fit.
        reason: String,
    },
    /// The operator writes, and has no functional twin.
    #[error(
        "`{0}` writes to an argument and has no functional twin; decompose it first, or report it"
    )]
    NoFunctionalTwin(String),
    /// A write through a view that cannot be undone.
    #[error("cannot write through a view made by `{0}`: it has no inverse")]
    NoInverse(String),
    /// A write that visits an element of a storage more than once.
    #[error(
        "`{0}` writes to a tensor whose elements overlap: what it leaves depends on the order in which a kernel visits them; write to a `clone()` or to windows that do not overlap"
    )]
    OverlappingWrite(String),
    /// A higher-order operator that is not supported here.
    #[error("higher-order operator `{0}` is not supported{1}")]
    HigherOrder(String, &'static str),
    /// A nested graph writes to a value that it captures where the operator has no way to
    /// return it.
    #[error("a graph of `{0}` writes to a value from outside; return the new value instead")]
    CapturedWrite(String),
    /// A tensor that was taken before its storage was resized is read afterwards.
    #[error(
        "a view that was taken before its storage was resized is used afterwards; take the view again"
    )]
    ReadAfterResize,
    /// A view reaches elements of a storage that the program does not see.
    #[error(
        "`as_strided` reaches elements outside the tensor that it is taken of; give the whole tensor to the program"
    )]
    OutsideOfBase,
    /// An input or buffer is made to use another storage.
    #[error("`{0}` gives an input or buffer another storage, which no signature can express")]
    StorageReplaced(String),
    /// A constant of the program is written.
    #[error("the constant `{0}` is written: register it as a buffer (`self.register_buffer`)")]
    ConstantWritten(String),
    /// The program has no metadata where it is needed.
    #[error("the metadata of `{0}` is missing; export the program with torch 2.5 or later")]
    MissingMetadata(String),
    /// The program is not well formed.
    #[error("{0}")]
    Malformed(String),
    /// A formula found its arguments wrong.
    #[error(transparent)]
    Formula(#[from] EmitError),
}

/// The end of the message: node, operator, source line.
struct Shown<'a>(&'a Option<Box<Place>>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |place| place.fmt(out))
    }
}

impl From<EmitError> for FunctionalizeError {
    fn from(error: EmitError) -> Self {
        Problem::Formula(error).into()
    }
}

impl From<Problem> for FunctionalizeError {
    fn from(problem: Problem) -> Self {
        Self {
            problem: Box::new(problem),
            place: None,
        }
    }
}

impl Machine<'_> {
    /// An error at the node that is being dispatched.
    pub(crate) fn error(&self, problem: Problem) -> FunctionalizeError {
        FunctionalizeError::from(problem).or_at(self)
    }
}

impl FunctionalizeError {
    /// The same error, placed at the node that is being dispatched unless it has a place.
    pub(crate) fn or_at(mut self, machine: &Machine<'_>) -> Self {
        if self.place.is_none()
            && let Some((node, operator)) = machine.current
        {
            let operator = machine.context.names.get(operator);
            let place = Place::new(&machine.context, node, operator, machine.metadata);
            self.place = Some(Box::new(place));
        }
        self
    }
}
