//! Python's literals: strings and numbers as `repr` writes them.

use super::cursor::{Cursor, is_identifier_character};
use super::error::ParseError;

/// A number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
    Complex(f64, f64),
}

/// Whether a string begins here.
pub(super) fn is_at_string(cursor: &Cursor<'_>) -> bool {
    matches!(cursor.peek(), Some('\'' | '"'))
}

/// Reads a string in quotes.
pub(super) fn string(cursor: &mut Cursor<'_>) -> Result<String, ParseError> {
    let quote = match cursor.peek() {
        Some(quote @ ('\'' | '"')) => quote,
        _ => return Err(cursor.expected("a string")),
    };
    cursor.next();
    let mut text = String::new();
    loop {
        text.push_str(cursor.take_while(|c| c != quote && c != '\\' && c != '\n'));
        match cursor.peek() {
            Some('\\') => {
                cursor.next();
                text.push(escape(cursor)?);
            }
            Some(c) if c == quote => {
                cursor.next();
                return Ok(text);
            }
            _ => return Err(cursor.expected("the end of the string")),
        }
    }
}

/// The character that an escape stands for, behind its backslash.
fn escape(cursor: &mut Cursor<'_>) -> Result<char, ParseError> {
    let at_kind = *cursor;
    let digits = match cursor.next() {
        Some('n') => return Ok('\n'),
        Some('r') => return Ok('\r'),
        Some('t') => return Ok('\t'),
        Some(c @ ('\\' | '\'' | '"')) => return Ok(c),
        Some('x') => 2,
        Some('u') => 4,
        Some('U') => 8,
        _ => return Err(at_kind.expected("an escape of Python's `repr`")),
    };
    let code = cursor.take(digits);
    let is_hexadecimal = code.len() == digits && code.bytes().all(|b| b.is_ascii_hexdigit());
    u32::from_str_radix(code, 16)
        .ok()
        .filter(|_| is_hexadecimal)
        .and_then(char::from_u32)
        .ok_or_else(|| at_kind.expected("the code of a character"))
}

/// Reads a number, if one begins here: `-3`, `1e-05`, `inf`, `2.5j`, `(1-2j)`.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Result<Option<Number>, ParseError> {
    let start = *cursor;
    if cursor.eat("(") {
        if let Some(complex) = complex_in_brackets(cursor)? {
            return Ok(Some(complex));
        }
        *cursor = start;
        return Ok(None);
    }
    let Some(text) = unsigned(cursor) else {
        *cursor = start;
        return Ok(None);
    };
    let is_imaginary = cursor.eat("j");
    if cursor.peek().is_some_and(is_identifier_character) {
        // A name that begins like a number: `info`, `nano`.
        *cursor = start;
        return Ok(None);
    }
    if is_imaginary {
        return float(&start, text).map(|imaginary| Some(Number::Complex(0.0, imaginary)));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let value = text.parse();
        let value = value.map_err(|_| start.expected("an integer of 64 bits"))?;
        return Ok(Some(Number::Int(value)));
    }
    float(&start, text).map(|value| Some(Number::Float(value)))
}

/// The rest of `(1-2j)`, behind the bracket; `None` when it is something else in brackets.
fn complex_in_brackets(cursor: &mut Cursor<'_>) -> Result<Option<Number>, ParseError> {
    let start = *cursor;
    let Some(real) = unsigned(cursor) else {
        return Ok(None);
    };
    cursor.eat("+");
    let at_imaginary = *cursor;
    let Some(imaginary) = unsigned(cursor) else {
        return Ok(None);
    };
    if !cursor.eat("j)") {
        return Ok(None);
    }
    let real = float(&start, real)?;
    let imaginary = float(&at_imaginary, imaginary)?;
    Ok(Some(Number::Complex(real, imaginary)))
}

/// Takes an optional minus and digits, a float or `inf` or `nan`.
fn unsigned<'t>(cursor: &mut Cursor<'t>) -> Option<&'t str> {
    let rest = cursor.rest();
    let digits = rest.strip_prefix('-').unwrap_or(rest);
    let sign = rest.len() - digits.len();
    if digits.starts_with("inf") || digits.starts_with("nan") {
        return Some(cursor.take(sign + 3));
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let count = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = count(digits);
    if digits[end..].starts_with('.') {
        end += 1 + count(&digits[end + 1..]);
    }
    if let Some(exponent) = digits[end..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let exponent = count(&exponent[sign..]);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    Some(cursor.take(sign + end))
}

fn float(start: &Cursor<'_>, text: &str) -> Result<f64, ParseError> {
    text.parse().map_err(|_| start.expected("a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_number(text: &str, expected: Option<Number>, rest: &str) {
        let mut cursor = Cursor::new(text);
        assert_eq!(number(&mut cursor).unwrap(), expected, "{text}");
        assert_eq!(cursor.rest(), rest, "{text}");
    }

    #[test]
    fn numbers_of_every_kind() {
        check_number("9223372036854775807)", Some(Number::Int(i64::MAX)), ")");
        check_number("-3,", Some(Number::Int(-3)), ",");
        check_number("1e-05 ", Some(Number::Float(1e-5)), " ");
        check_number("-0.5", Some(Number::Float(-0.5)), "");
        check_number("-inf,", Some(Number::Float(f64::NEG_INFINITY)), ",");
        check_number("1j", Some(Number::Complex(0.0, 1.0)), "");
        check_number("(-0.5+1e-05j)", Some(Number::Complex(-0.5, 1e-5)), "");
        check_number(
            "(1-infj)",
            Some(Number::Complex(1.0, f64::NEG_INFINITY)),
            "",
        );
    }

    #[test]
    fn what_only_begins_like_a_number_is_left() {
        for text in [
            "x", "-x", "info", "nanjing", "(1, 2)", "(1+2)", "(x,)", "()",
        ] {
            check_number(text, None, text);
        }
        assert!(number(&mut Cursor::new("9223372036854775808")).is_err());
    }

    #[test]
    fn strings_read_back() {
        for (text, expected) in [
            ("'floor'", "floor"),
            ("\"it's\"", "it's"),
            (
                "'a\\\\b\\n\\x00\\u200b\\U000e0001'",
                "a\\b\n\0\u{200b}\u{e0001}",
            ),
        ] {
            assert_eq!(string(&mut Cursor::new(text)).unwrap(), expected);
        }
        for text in [
            "'",
            "'a",
            "'\\",
            "'\\x4'",
            "'\\ud800'",
            "'\\q'",
            "'a\nb'",
            "x",
        ] {
            assert!(string(&mut Cursor::new(text)).is_err(), "{text}");
        }
    }
}
