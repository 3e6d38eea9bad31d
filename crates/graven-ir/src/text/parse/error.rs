//! What can be wrong with a program's text, and where.

use crate::symint::SymError;

/// Why a text is not read as a program.
///
/// Lines and columns count from 1, columns in characters. A line that a logger wrote is counted
/// without the logger's prefix and without colours.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ParseError {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// What is wrong there.
    pub problem: ParseProblem,
}

/// What is wrong with a program's text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParseProblem {
    /// Something else stands there than what has to.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What has to stand there.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A value is used that nothing before defines.
    #[error("`{name}` is used, and no line before defines it")]
    UndefinedValue {
        /// The value.
        name: String,
    },
    /// Two values, nested graphs or lines of the signature have one name.
    #[error("`{name}` is defined twice")]
    DefinedTwice {
        /// The name.
        name: String,
    },
    /// A function is called that is neither an operator nor one of Python's on numbers.
    #[error("`{name}` is no function that an exported program can call")]
    UnknownFunction {
        /// The function.
        name: String,
    },
    /// A nested graph is named whose class does not follow.
    #[error("no class `{name}` follows: the text of this nested graph is missing")]
    MissingGraph {
        /// The attribute.
        name: String,
    },
    /// A single value is asked for one of its results.
    #[error("`{name}` is a single value and has no results to choose from")]
    NotSeveral {
        /// The value.
        name: String,
    },
    /// A name that no node may have, or a graph whose parts stand in the wrong order.
    #[error("{rule}")]
    Order {
        /// What was not kept.
        rule: &'static str,
    },
    /// A line of the signature does not fit the graph.
    #[error("the signature has `{name}` where the graph has `{in_graph}`")]
    Signature {
        /// The name in the signature.
        name: String,
        /// What the graph has there.
        in_graph: String,
    },
    /// The text is too large, or nested too deeply, to be a program.
    #[error("more than {limit} {what}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: usize,
    },
    /// An expression on symbolic sizes is wrong.
    #[error(transparent)]
    Symbolic(#[from] SymError),
}
