//! What can go wrong with a symbolic expression.

use super::{MAX_DEPTH, MAX_TEXT, MAX_TREE_SIZE};

/// Why an expression cannot be read, built or evaluated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SymError {
    /// The text is not an expression.
    #[error("symbolic expression `{text}`: expected {expected} at byte {position}")]
    Syntax {
        /// The text, shortened if it is long.
        text: String,
        /// Where reading stopped.
        position: usize,
        /// What could have stood there.
        expected: &'static str,
    },
    /// The text is longer than any real expression.
    #[error("symbolic expression of {length} bytes; at most {MAX_TEXT} are read")]
    TextTooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// The expression is nested too deeply.
    #[error("symbolic expression nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// The expression has too many nodes.
    #[error("symbolic expression of more than {MAX_TREE_SIZE} nodes")]
    TooLarge,
    /// The program has more distinct expressions than ids.
    #[error("more than 2^32 symbolic expressions")]
    TooMany,
    /// A function has the wrong number of arguments.
    #[error("`{function}` with {found} arguments")]
    ArgumentCount {
        /// The function.
        function: String,
        /// How many arguments it was given.
        found: usize,
    },
    /// A result does not fit into 64 bits.
    #[error("integer overflow in `{operation}`")]
    Overflow {
        /// The operation.
        operation: &'static str,
    },
    /// A division or remainder by zero.
    #[error("division by zero in `{operation}`")]
    DivisionByZero {
        /// The operation.
        operation: &'static str,
    },
    /// A remainder of a negative number, or a shift or power by one.
    #[error("negative operand {operand} in `{operation}`")]
    NegativeOperand {
        /// The operation.
        operation: &'static str,
        /// The operand.
        operand: i64,
    },
    /// An argument has another kind: a truth value where a number is needed, or the reverse.
    #[error("`{expr}` is not {expected}")]
    WrongKind {
        /// The expression.
        expr: String,
        /// What was needed.
        expected: &'static str,
    },
    /// A symbol has no value.
    #[error("no value is known for symbol `{symbol}`")]
    UnboundSymbol {
        /// The symbol.
        symbol: String,
    },
    /// A function or a constant that can be carried but not computed.
    #[error("`{what}` cannot be evaluated")]
    CannotEvaluate {
        /// The function or constant.
        what: String,
    },
}

impl SymError {
    /// A syntax error, with the text cut to a length that fits a message.
    pub(super) fn syntax(text: &str, position: usize, expected: &'static str) -> Self {
        const SHOWN: usize = 120;
        let text = match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text.to_owned(),
        };
        Self::Syntax {
            text,
            position,
            expected,
        }
    }
}
