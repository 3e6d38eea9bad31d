//! The comments of the readable form, which tell where in the model the next nodes come from.

use std::fmt::{self, Write};

use super::annotation;
use super::source_line::SourceLine;
use crate::context::{Context, MetadataId};
use crate::names::NameId;

/// Follows the source lines of one graph's nodes.
pub(super) struct Comments<'a> {
    context: &'a Context,
    stack_trace: Option<NameId>,
    custom: Option<NameId>,
    current: Option<(MetadataId, Comment<'a>)>,
}

/// What a comment says.
#[derive(PartialEq, Eq)]
struct Comment<'a> {
    annotation: Option<String>,
    source_line: Option<SourceLine<'a>>,
}

impl<'a> Comments<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self {
            context,
            stack_trace: context.names.find("stack_trace"),
            custom: context.names.find("custom"),
            current: None,
        }
    }

    /// Goes on to a node with this metadata. Whether its comment differs from the one before.
    pub(super) fn advance(&mut self, metadata: MetadataId) -> bool {
        if self.current.as_ref().is_some_and(|(id, _)| *id == metadata) {
            return false;
        }
        let entries = self.context.metadata(metadata);
        let text = |key: Option<NameId>| {
            let value = entries.get(key?)?;
            Some(self.context.names.get(value))
        };
        let comment = Comment {
            annotation: text(self.custom).and_then(annotation::from_json),
            source_line: text(self.stack_trace).and_then(SourceLine::innermost),
        };
        let is_new = self
            .current
            .as_ref()
            .is_none_or(|(_, current)| *current != comment);
        self.current = Some((metadata, comment));
        is_new
    }

    /// Writes the comment, with its newline.
    pub(super) fn write(&self, out: &mut dyn Write) -> fmt::Result {
        let Some((_, comment)) = &self.current else {
            return Ok(());
        };
        out.write_char('#')?;
        if let Some(annotation) = &comment.annotation {
            write!(out, " Annotation: {annotation}")?;
        }
        match &comment.source_line {
            Some(line) => writeln!(out, " {line}"),
            None => writeln!(out, " No stacktrace found for following nodes"),
        }
    }
}
