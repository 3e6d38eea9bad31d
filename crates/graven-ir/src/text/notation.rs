//! Calls of Python's `operator` module as source has them: `a + b`.

use std::fmt::{self, Write};

use super::argument::ArgumentWriter;
use crate::graph::Node;

/// How a function of Python's `operator` module is written.
pub(super) enum Notation {
    Prefix(&'static str),
    Infix(&'static str),
}

impl Notation {
    /// The notation of `target`, when it has one and is given as many arguments as that takes.
    pub(super) fn of(target: &str, arguments: usize) -> Option<Self> {
        let function = target.strip_prefix("_operator.")?;
        let prefix = match function {
            "pos" => Some("+"),
            "neg" => Some("-"),
            "invert" => Some("~"),
            _ => None,
        };
        match (prefix, arguments) {
            (Some(prefix), 1) => Some(Self::Prefix(prefix)),
            (None, 2) => infix(function).map(Self::Infix),
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

fn infix(function: &str) -> Option<&'static str> {
    Some(match function {
        "eq" => "==",
        "ne" => "!=",
        "lt" => "<",
        "gt" => ">",
        "le" => "<=",
        "ge" => ">=",
        "add" => "+",
        "sub" => "-",
        "mul" => "*",
        "floordiv" => "//",
        "truediv" | "div" => "/",
        "mod" => "%",
        "pow" => "**",
        "lshift" => "<<",
        "rshift" => ">>",
        "and_" => "&",
        "or_" => "|",
        "xor" => "^",
        "matmul" => "@",
        _ => return None,
    })
}
