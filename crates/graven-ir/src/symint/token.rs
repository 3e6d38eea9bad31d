//! Tokens of both text forms.

use super::{MAX_TEXT, SymError};

/// One token; names and literals are slices of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    Name(&'a str),
    /// Digits, perhaps with a point and an exponent.
    Number(&'a str),
    /// The inside of a quoted string without escapes.
    Quoted(&'a str),
    Operator(&'static str),
    End,
}

/// The longest first, so that `//` is not read as two `/`.
const OPERATORS: [&str; 23] = [
    "**", "//", "==", "!=", "<=", ">=", "<<", ">>", "+", "-", "*", "/", "%", "<", ">", "&", "|",
    "^", "~", "(", ")", ",", "=",
];

/// Reads tokens one by one, with one token of look-ahead.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    /// Where the next token ends.
    position: usize,
    /// Where the next token starts.
    start: usize,
    next: Token<'a>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, SymError> {
        if text.len() > MAX_TEXT {
            return Err(SymError::TextTooLong { length: text.len() });
        }
        let mut tokens = Self {
            text,
            position: 0,
            start: 0,
            next: Token::End,
        };
        tokens.advance()?;
        Ok(tokens)
    }

    pub(super) fn peek(&self) -> Token<'a> {
        self.next
    }

    pub(super) fn take(&mut self) -> Result<Token<'a>, SymError> {
        let token = self.next;
        self.advance()?;
        Ok(token)
    }

    /// Takes the next token if it is `operator`.
    pub(super) fn eat(&mut self, operator: &'static str) -> Result<bool, SymError> {
        let found = self.next == Token::Operator(operator);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, operator: &'static str) -> Result<(), SymError> {
        if self.eat(operator)? {
            Ok(())
        } else {
            Err(self.error(operator))
        }
    }

    pub(super) fn error(&self, expected: &'static str) -> SymError {
        SymError::syntax(self.text, self.start, expected)
    }

    fn advance(&mut self) -> Result<(), SymError> {
        let rest = &self.text[self.position..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\n']).len();
        self.start = self.position + blank;
        let rest = &rest[blank..];
        let (token, length) = match rest.bytes().next() {
            None => (Token::End, 0),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
                let length = run(rest, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
                (Token::Name(&rest[..length]), length)
            }
            Some(b'0'..=b'9' | b'.') => {
                let length = number_length(rest);
                (Token::Number(&rest[..length]), length)
            }
            Some(b'\'') => {
                let inside = &rest[1..];
                let length = run(inside, |byte| {
                    byte >= b' ' && byte != b'\'' && byte != b'\\'
                });
                if inside.as_bytes().get(length) != Some(&b'\'') {
                    return Err(self.error("a quoted name without escapes"));
                }
                (Token::Quoted(&inside[..length]), length + 2)
            }
            Some(_) => match OPERATORS.iter().find(|known| rest.starts_with(**known)) {
                Some(operator) => (Token::Operator(operator), operator.len()),
                None => return Err(self.error("a symbolic expression")),
            },
        };
        self.next = token;
        self.position = self.start + length;
        Ok(())
    }
}

fn run(text: &str, accept: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| accept(*byte)).count()
}

fn number_length(text: &str) -> usize {
    let digits = |from: usize| run(&text[from..], |byte| byte.is_ascii_digit());
    let mut length = digits(0);
    if text[length..].starts_with('.') {
        length += 1;
        length += digits(length);
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}
