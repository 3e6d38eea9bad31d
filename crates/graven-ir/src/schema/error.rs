//! What can be wrong with a schema's text, and with a call of an operator.

/// What is wrong with the text of a schema. Positions are byte offsets into it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SchemaError {
    /// Something else was expected.
    #[error("expected {expected} at byte {position}, found {found}")]
    Unexpected {
        /// Where.
        position: usize,
        /// What may stand there.
        expected: &'static str,
        /// What stands there: a quoted piece of the text, or its end.
        found: Box<str>,
    },
    /// The text is longer than any schema.
    #[error("the schema has {length} bytes; at most {limit} are read")]
    TooLong {
        /// The length.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// Types or default values are nested too deeply.
    #[error("nested more than {limit} deep at byte {position}")]
    TooDeep {
        /// Where.
        position: usize,
        /// The limit.
        limit: usize,
    },
    /// A list of arguments, results, elements or alias sets is too long.
    #[error("more than {limit} items at byte {position}")]
    TooMany {
        /// Where.
        position: usize,
        /// The limit.
        limit: usize,
    },
    /// A number does not fit its type.
    #[error("the number at byte {position} does not fit")]
    NumberOutOfRange {
        /// Where.
        position: usize,
    },
    /// Two arguments have one name.
    #[error("the argument `{name}` at byte {position} stands there twice")]
    DuplicateArgument {
        /// Where the second stands.
        position: usize,
        /// The name.
        name: Box<str>,
    },
}

/// How a call does not fit its operator's schema.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    /// More arguments by position than the schema has.
    #[error("{given} arguments by position, the schema takes at most {limit}")]
    TooManyPositional {
        /// How many were given.
        given: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A keyword that no argument has.
    #[error("no argument is called `{name}`")]
    UnknownKeyword {
        /// The keyword.
        name: Box<str>,
    },
    /// An argument given twice.
    #[error("the argument `{name}` is given twice")]
    GivenTwice {
        /// The argument.
        name: Box<str>,
    },
    /// An argument without default that was not given.
    #[error("the argument `{name}` is missing")]
    Missing {
        /// The argument.
        name: Box<str>,
    },
}
