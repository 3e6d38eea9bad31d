//! What can go wrong when a program is run.

use std::fmt;

use graven_ir::symint::SymError;
use graven_ir::{DType, Place};
use graven_tensor::{OperatorError, Problem};

/// A program that could not be run, and where.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{problem}{}", Shown(place))]
pub struct RuntimeError {
    /// What is wrong.
    pub problem: Box<RuntimeProblem>,
    /// The node that it was found at; `None` for what is wrong with inputs or state.
    pub place: Option<Box<Place>>,
}

struct Shown<'a>(&'a Option<Box<Place>>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |place| place.fmt(out))
    }
}

/// The kinds of problems.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeProblem {
    /// There are more or fewer inputs than the program takes.
    #[error("the program takes {expected} inputs, {found} are given")]
    InputCount {
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An input is no tensor where one is needed, or the other way round.
    #[error("input {position} (`{name}`) must be {expected}, found {found}")]
    InputKind {
        /// Its position among the user inputs.
        position: usize,
        /// Its name.
        name: Box<str>,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// An input has another dtype.
    #[error("input {position} (`{name}`) must be a tensor of {}, found {}", expected.name(), found.name())]
    InputDType {
        /// Its position among the user inputs.
        position: usize,
        /// Its name.
        name: Box<str>,
        /// The dtype that it must have.
        expected: DType,
        /// The dtype that it has.
        found: DType,
    },
    /// An input has other sizes.
    #[error("input {position} (`{name}`) must have the sizes [{expected}], found {found:?}")]
    InputSizes {
        /// Its position among the user inputs.
        position: usize,
        /// Its name.
        name: Box<str>,
        /// The sizes that it must have, symbols by their names.
        expected: Box<str>,
        /// The sizes that it has.
        found: Vec<usize>,
    },
    /// A symbolic size is not in its range.
    #[error("`{symbol}` is {value}, which is not in its range [{min}, {max}]")]
    Range {
        /// The symbol or expression.
        symbol: Box<str>,
        /// Its value.
        value: i64,
        /// The least value that is allowed.
        min: Box<str>,
        /// The greatest value that is allowed.
        max: Box<str>,
    },
    /// A tensor of the state is missing, or cannot be used.
    #[error("`{name}` of the state {problem}")]
    State {
        /// Its dotted name.
        name: Box<str>,
        /// What is wrong, as the end of a sentence.
        problem: Box<str>,
    },
    /// A node calls what is no operator that is known.
    #[error("unknown operator; give its schema to the registry, and a kernel")]
    UnknownOperator,
    /// A higher-order operator that cannot be run.
    #[error("the higher-order operator `{0}` cannot be run yet")]
    HigherOrder(Box<str>),
    /// A node refers to what it cannot.
    #[error("{0}")]
    Malformed(Box<str>),
    /// An operator failed.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// A tensor could not be made or written.
    #[error(transparent)]
    Tensor(#[from] Problem),
    /// A symbolic size has no value.
    #[error(transparent)]
    Symbol(#[from] SymError),
}

impl RuntimeProblem {
    pub(crate) fn malformed(text: impl Into<Box<str>>) -> Self {
        Self::Malformed(text.into())
    }
}

impl From<RuntimeProblem> for RuntimeError {
    fn from(problem: RuntimeProblem) -> Self {
        Self {
            problem: Box::new(problem),
            place: None,
        }
    }
}

impl From<Problem> for RuntimeError {
    fn from(problem: Problem) -> Self {
        RuntimeProblem::from(problem).into()
    }
}

impl From<SymError> for RuntimeError {
    fn from(problem: SymError) -> Self {
        RuntimeProblem::from(problem).into()
    }
}

impl RuntimeError {
    /// The same error at a place, unless it has one.
    pub(crate) fn or_at(mut self, place: impl FnOnce() -> Place) -> Self {
        self.place.get_or_insert_with(|| Box::new(place()));
        self
    }
}
