//! What can be wrong with a pickle.

use thiserror::Error;

/// Why a pickle could not be read.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum PickleError {
    /// The pickle ends inside an instruction, or without the last one.
    #[error("it ends too early")]
    Truncated,
    /// An instruction that this reader does not know.
    #[error("it has the instruction {opcode:#04x} at byte {position}, which torch never writes")]
    Opcode {
        /// The instruction.
        opcode: u8,
        /// Where it stands.
        position: usize,
    },
    /// An instruction finds less on the stack than it takes.
    #[error("the instruction at byte {position} finds nothing to work on")]
    Stack {
        /// Where it stands.
        position: usize,
    },
    /// An instruction finds something else than it takes.
    #[error("the instruction at byte {position} expects {expected}")]
    Kind {
        /// Where it stands.
        position: usize,
        /// What it expects.
        expected: &'static str,
    },
    /// A value is recalled that was never remembered.
    #[error("it recalls the value {index}, which it never stored")]
    Memo {
        /// The number of the value.
        index: u64,
    },
    /// A function or class that is not on the list of those that are understood.
    #[error(
        "it names `{module}.{name}`, and only tensors are read from pickles; load the program \
         with torch and save it with a current release"
    )]
    Global {
        /// The module.
        module: String,
        /// The name in it.
        name: String,
    },
    /// Text that is not UTF-8.
    #[error("it has text at byte {position} that is not UTF-8")]
    Text {
        /// Where the instruction stands.
        position: usize,
    },
    /// A number that does not fit into 64 bits.
    #[error("it has an integer at byte {position} that does not fit into 64 bits")]
    Integer {
        /// Where the instruction stands.
        position: usize,
    },
    /// Bytes follow after the last instruction.
    #[error("{count} bytes follow after its end")]
    Trailing {
        /// How many.
        count: usize,
    },
}
