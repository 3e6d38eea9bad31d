//! Where in a program something was found: what errors end with.

use std::fmt;

use crate::context::{Context, MetadataId};
use crate::names::NameId;
use crate::text::SourceLine;

/// A node of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its name.
    pub node: String,
    /// The operator that it calls; empty for a node that calls none.
    pub operator: String,
    /// The source line that made it, as its stack trace tells it.
    pub source_line: Option<String>,
}

impl Place {
    /// The node called `node`, which calls `operator` and has this metadata.
    pub fn new(context: &Context, node: NameId, operator: &str, metadata: MetadataId) -> Self {
        let trace = context.metadata_text(metadata, "stack_trace");
        Self {
            node: context.names.get(node).to_owned(),
            operator: operator.to_owned(),
            source_line: trace
                .and_then(SourceLine::innermost)
                .map(|line| line.to_string()),
        }
    }
}

impl fmt::Display for Place {
    /// The end of a message: node, operator, source line, each new line indented.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\n  at node `{}`", self.node)?;
        if !self.operator.is_empty() {
            write!(out, ", which calls {}", self.operator)?;
        }
        if let Some(line) = &self.source_line {
            write!(out, "\n  {line}")?;
        }
        Ok(())
    }
}
