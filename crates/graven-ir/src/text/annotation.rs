//! A node's `custom` metadata, which the archive keeps as JSON, as torch prints it: a Python
//! dict, its long values cut short.

use super::python;

/// The longest text of a value, in characters.
const LONGEST: usize = 40;

/// The dict that `json` holds, as Python prints it. `None` when it is empty or no JSON object.
pub(super) fn from_json(json: &str) -> Option<String> {
    let mut tokens = Tokens { rest: json };
    (tokens.next()? == Token::Mark('{')).then_some(())?;
    let mut text = String::from("{");
    loop {
        let key = match tokens.next()? {
            Token::Text(key) => key,
            _ => return None,
        };
        (tokens.next()? == Token::Mark(':')).then_some(())?;
        write_string(&mut text, &key);
        text.push_str(": ");
        write_value(&mut text, &mut tokens)?;
        match tokens.next()? {
            Token::Mark(',') => text.push_str(", "),
            Token::Mark('}') => break,
            _ => return None,
        }
    }
    text.push('}');
    Some(text)
}

/// Writes the next value, whatever is nested in it.
fn write_value(out: &mut String, tokens: &mut Tokens<'_>) -> Option<()> {
    let first = tokens.next()?;
    if let Token::Text(text) = first {
        match cut(&text) {
            Some(cut) => write_string(out, &cut),
            None => write_string(out, &text),
        }
        return Some(());
    }
    let mut value = String::new();
    let mut depth = 0_usize;
    let mut token = first;
    loop {
        match &token {
            Token::Mark('[' | '{') => depth += 1,
            Token::Mark(']' | '}') => depth = depth.checked_sub(1)?,
            _ => {}
        }
        token.write(&mut value)?;
        if depth == 0 {
            break;
        }
        token = tokens.next()?;
    }
    match cut(&value) {
        Some(cut) => write_string(out, &cut),
        None => out.push_str(&value),
    }
    Some(())
}

/// The beginning of a text that is too long to print.
fn cut(text: &str) -> Option<String> {
    let (end, _) = text.char_indices().nth(LONGEST)?;
    Some(format!("{}...", &text[..end]))
}

fn write_string(out: &mut String, text: &str) {
    // Writing to a `String` cannot fail.
    let _infallible = python::write_string(out, text);
}

/// A piece of JSON.
#[derive(PartialEq)]
enum Token<'a> {
    /// A bracket, a colon or a comma.
    Mark(char),
    /// A string, its escapes resolved.
    Text(String),
    /// A number, `true`, `false`, `null`, or one of Python's `NaN` and `Infinity`.
    Word(&'a str),
}

impl Token<'_> {
    /// Writes the token as Python prints its value.
    fn write(&self, out: &mut String) -> Option<()> {
        match self {
            Self::Mark(mark @ (',' | ':')) => {
                out.push(*mark);
                out.push(' ');
            }
            Self::Mark(bracket) => out.push(*bracket),
            Self::Text(text) => write_string(out, text),
            Self::Word("true") => out.push_str("True"),
            Self::Word("false") => out.push_str("False"),
            Self::Word("null") => out.push_str("None"),
            Self::Word("NaN") => out.push_str("nan"),
            Self::Word("Infinity") => out.push_str("inf"),
            Self::Word("-Infinity") => out.push_str("-inf"),
            Self::Word(number) => write_number(out, number)?,
        }
        Some(())
    }
}

fn write_number(out: &mut String, number: &str) -> Option<()> {
    let digits = number.strip_prefix('-').unwrap_or(number);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        out.push_str(if digits == "0" { digits } else { number });
        return Some(());
    }
    python::write_float(out, number.parse().ok()?).ok()
}

/// Reads JSON piece by piece; it does not check how they fit together.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next()?;
        match first {
            '[' | ']' | '{' | '}' | ':' | ',' => {
                self.rest = &self.rest[1..];
                Some(Token::Mark(first))
            }
            '"' => {
                self.rest = &self.rest[1..];
                self.text().map(Token::Text)
            }
            _ => {
                let is_end = |c: char| c.is_whitespace() || "[]{}:,\"".contains(c);
                let end = self.rest.find(is_end).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                Some(Token::Word(word))
            }
        }
    }

    /// The rest of a string, behind its opening quote.
    fn text(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            let end = self.rest.find(['"', '\\'])?;
            text.push_str(&self.rest[..end]);
            let is_quote = self.rest.as_bytes()[end] == b'"';
            self.rest = &self.rest[end + 1..];
            if is_quote {
                return Some(text);
            }
            text.push(self.escape()?);
        }
    }

    /// The character that an escape stands for, behind its backslash.
    fn escape(&mut self) -> Option<char> {
        let kind = self.rest.chars().next()?;
        self.rest = &self.rest[kind.len_utf8()..];
        Some(match kind {
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => self.unicode_escape()?,
            other => other,
        })
    }

    fn unicode_escape(&mut self) -> Option<char> {
        let first = self.code_unit()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.rest = self.rest.strip_prefix("\\u")?;
        let second = self.code_unit()?;
        let low = second.checked_sub(0xdc00)?;
        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + low)
    }

    fn code_unit(&mut self) -> Option<u32> {
        let digits = self.rest.get(..4)?;
        self.rest = &self.rest[4..];
        u32::from_str_radix(digits, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dict_is_printed_as_python_does() {
        let json = r#"{"stage": "attn", "it's": 1, "n": [1.0, -2, true, null, {"a": NaN}]}"#;
        assert_eq!(
            from_json(json).as_deref(),
            Some(r#"{'stage': 'attn', "it's": 1, 'n': [1.0, -2, True, None, {'a': nan}]}"#)
        );
    }

    #[test]
    fn long_values_are_cut_and_become_strings() {
        let long = "x".repeat(41);
        let json = format!(r#"{{"s": "{long}", "n": [{}1]}}"#, "1, ".repeat(20));
        let expected = format!(
            "{{'s': '{}...', 'n': '[{}...'}}",
            "x".repeat(40),
            "1, ".repeat(13)
        );
        assert_eq!(from_json(&json), Some(expected));
    }

    #[test]
    fn escapes_are_resolved() {
        let json = r#"{"k": "a\n\"\u00e9\ud83d\ude00"}"#;
        assert_eq!(
            from_json(json).as_deref(),
            Some("{'k': 'a\\n\"\u{e9}\u{1f600}'}")
        );
    }

    #[test]
    fn what_is_no_object_gives_nothing() {
        for json in [
            "",
            "{}",
            "[1]",
            "{\"a\"",
            "{\"a\": [1}",
            "{\"a\": \"\\ud83d\"}",
            "{1: 2}",
        ] {
            assert_eq!(from_json(json), None, "{json}");
        }
    }
}
