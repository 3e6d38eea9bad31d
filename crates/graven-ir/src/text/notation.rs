//! Calls of Python's `operator` module as source has them: `a + b`.

use std::fmt::{self, Write};

use super::argument::ArgumentWriter;
use crate::graph::Node;

/// Functions of two operands and their signs. `div` is what Python 2 called `truediv`: it comes
/// after it, so that the sign is read as what torch calls today.
pub(super) const INFIX: [(&str, &str); 20] = [
    ("eq", "=="),
    ("ne", "!="),
    ("lt", "<"),
    ("gt", ">"),
    ("le", "<="),
    ("ge", ">="),
    ("add", "+"),
    ("sub", "-"),
    ("mul", "*"),
    ("floordiv", "//"),
    ("truediv", "/"),
    ("div", "/"),
    ("mod", "%"),
    ("pow", "**"),
    ("lshift", "<<"),
    ("rshift", ">>"),
    ("and_", "&"),
    ("or_", "|"),
    ("xor", "^"),
    ("matmul", "@"),
];

/// Functions of one operand and their signs.
pub(super) const PREFIX: [(&str, &str); 3] = [("pos", "+"), ("neg", "-"), ("invert", "~")];

/// How a function of Python's `operator` module is written.
pub(super) enum Notation {
    Prefix(&'static str),
    Infix(&'static str),
}

impl Notation {
    /// The notation of `target`, when it has one and is given as many arguments as that takes.
    pub(super) fn of(target: &str, arguments: usize) -> Option<Self> {
        let function = target.strip_prefix("_operator.")?;
        let sign = |table: &[(&str, &'static str)]| {
            let row = table.iter().find(|row| row.0 == function);
            row.map(|row| row.1)
        };
        match arguments {
            1 => sign(&PREFIX).map(Self::Prefix),
            2 => sign(&INFIX).map(Self::Infix),
            _ => None,
        }
    }

    /// Writes a call in this notation.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        node: &Node,
        arguments: &ArgumentWriter<'_>,
    ) -> fmt::Result {
        match self {
            Self::Prefix(sign) => out.write_str(sign)?,
            Self::Infix(_) => {}
        }
        for (index, input) in node.inputs.iter().enumerate() {
            if let (Self::Infix(sign), 1..) = (self, index) {
                write!(out, " {sign} ")?;
            }
            arguments.write(out, &input.argument)?;
        }
        Ok(())
    }
}
