//! Infinities and NaN as bare words, which are no JSON: torch 2.5 and 2.6 wrote them so.

/// `text` with each bare `Infinity`, `-Infinity` and `NaN` put into quotes; `None` where there
/// are none.
pub(super) fn quote_bare_floats(text: &str) -> Option<String> {
    const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    let bytes = text.as_bytes();
    let mut quoted = String::new();
    // Up to where `text` was copied.
    let mut copied = 0;
    let mut position = 0;
    while let Some(rest) = bytes.get(position..)
        && let Some(&byte) = rest.first()
    {
        if byte == b'"' {
            position += string_length(rest);
        } else if let Some(word) = WORDS.iter().find(|word| rest.starts_with(word.as_bytes())) {
            quoted.push_str(text.get(copied..position)?);
            quoted.push('"');
            quoted.push_str(word);
            quoted.push('"');
            position += word.len();
            copied = position;
        } else {
            position += 1;
        }
    }
    if quoted.is_empty() {
        return None;
    }
    quoted.push_str(text.get(copied..)?);
    Some(quoted)
}

/// The length of the string that `text` begins with, quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut escaped = false;
    for (index, &byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_outside_strings_are_quoted() {
        let text = r#"{"a": -Infinity, "NaN": [NaN,Infinity], "b": "\"Infinity"}"#;
        let expected = r#"{"a": "-Infinity", "NaN": ["NaN","Infinity"], "b": "\"Infinity"}"#;
        assert_eq!(quote_bare_floats(text).unwrap(), expected);
        assert_eq!(quote_bare_floats(r#"{"a": 1.0, "b": "NaN"}"#), None);
        assert_eq!(quote_bare_floats("\"NaN"), None);
    }
}
