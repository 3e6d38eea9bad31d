//! A place in a text, and the ways to move on from it.

use super::error::{ParseError, ParseProblem};

/// A place in a text. A narrower view of the same text keeps the places, so that every error
/// says where it is in the whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, position: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// What is left.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.position >= self.text.len()
    }

    /// Takes the next character.
    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += next.len_utf8();
        Some(next)
    }

    /// Takes `bytes` bytes, which must end at a character's border.
    pub(super) fn take(&mut self, bytes: usize) -> &'t str {
        let taken = self.rest().get(..bytes).unwrap_or_default();
        self.position += taken.len();
        taken
    }

    /// Takes characters as long as they are such.
    pub(super) fn take_while(&mut self, is_such: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        self.take(rest.find(|c| !is_such(c)).unwrap_or(rest.len()))
    }

    /// Takes `token` if it is what comes next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.position += token.len();
        }
        found
    }

    /// Takes `token`, which has to come next.
    pub(super) fn expect(&mut self, token: &'static str) -> Result<(), ParseError> {
        if self.eat(token) {
            return Ok(());
        }
        Err(self.expected(token))
    }

    pub(super) fn skip_spaces(&mut self) {
        self.take_while(|c| c == ' ' || c == '\t');
    }

    /// Skips spaces and line ends: inside brackets a line may be broken.
    pub(super) fn skip_blank(&mut self) {
        self.take_while(|c| c.is_ascii_whitespace());
    }

    /// Takes the rest of the line, and goes to the next one.
    pub(super) fn take_line(&mut self) -> &'t str {
        let line = self.take_while(|c| c != '\n');
        self.eat("\n");
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Goes to the next line; only space may be left on this one.
    pub(super) fn end_line(&mut self) -> Result<(), ParseError> {
        self.take_while(|c| c == ' ' || c == '\t' || c == '\r');
        if self.is_at_end() || self.eat("\n") {
            return Ok(());
        }
        Err(self.expected("the end of the line"))
    }

    /// Takes an identifier; empty if there is none.
    pub(super) fn identifier(&mut self) -> &'t str {
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return "";
        }
        self.take_while(is_identifier_character)
    }

    /// Takes identifiers with points between them; empty if there are none.
    pub(super) fn dotted_name(&mut self) -> &'t str {
        let start = *self;
        loop {
            let before_part = *self;
            if self.identifier().is_empty() {
                *self = before_part;
                break;
            }
            let mut behind_point = *self;
            let goes_on = behind_point.eat(".")
                && behind_point
                    .peek()
                    .is_some_and(|c| is_identifier_character(c) && !c.is_ascii_digit());
            if !goes_on {
                break;
            }
            *self = behind_point;
        }
        &self.text[start.position..self.position]
    }

    /// The next `bytes` bytes as a text of their own, which is taken here.
    pub(super) fn split_off(&mut self, bytes: usize) -> Self {
        let start = self.position;
        self.take(bytes);
        Self {
            text: &self.text[..self.position],
            position: start,
        }
    }

    /// The error that something else has to come next.
    pub(super) fn expected(&self, expected: &'static str) -> ParseError {
        const SHOWN: usize = 24;
        let line = self.rest().lines().next().unwrap_or_default();
        let found = match line.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("`{}...`", &line[..end]),
            None if line.is_empty() && self.is_at_end() => "the end".to_owned(),
            None if line.is_empty() => "the end of the line".to_owned(),
            None => format!("`{line}`"),
        };
        self.error(ParseProblem::Expected { expected, found })
    }

    /// The error that `problem` is here.
    pub(super) fn error(&self, problem: impl Into<ParseProblem>) -> ParseError {
        let before = self.text.get(..self.position).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        ParseError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem: problem.into(),
        }
    }
}

pub(super) fn is_identifier_character(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dotted_name_ends_before_a_point_that_no_name_follows() {
        for (text, name) in [
            ("torch.ops.aten.add_.Tensor(", "torch.ops.aten.add_.Tensor"),
            ("x.", "x"),
            ("x.5", "x"),
            ("9x", ""),
        ] {
            assert_eq!(Cursor::new(text).dotted_name(), name);
        }
    }

    #[test]
    fn errors_count_lines_and_characters() {
        let mut cursor = Cursor::new("a\néé!");
        cursor.take("a\néé".len());
        let error = cursor.expected("nothing");
        assert_eq!((error.line, error.column), (2, 3));
        assert_eq!(
            error.to_string(),
            "line 2, column 3: expected nothing, found `!`"
        );
    }
}
