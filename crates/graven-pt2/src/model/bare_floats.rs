//! Infinities and NaN as bare words, which are no JSON: torch 2.5 and 2.6 wrote them so.

/// `text` with each bare `Infinity`, `-Infinity` and `NaN` put into quotes; `None` where there
/// are none.
pub(super) fn quote_bare_floats(text: &[u8]) -> Option<Vec<u8>> {
    const WORDS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
    let mut quoted = Vec::new();
    // Up to where `text` was copied.
    let mut copied = 0;
    let mut position = 0;
    while let Some(rest) = text.get(position..)
        && let Some(&byte) = rest.first()
    {
        if byte == b'"' {
            position += string_length(rest);
        } else if let Some(word) = WORDS.iter().find(|word| rest.starts_with(word)) {
            quoted.extend_from_slice(text.get(copied..position)?);
            quoted.push(b'"');
            quoted.extend_from_slice(word);
            quoted.push(b'"');
            position += word.len();
            copied = position;
        } else {
            position += 1;
        }
    }
    if quoted.is_empty() {
        return None;
    }
    quoted.extend_from_slice(text.get(copied..)?);
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
        let text = br#"{"a": -Infinity, "NaN": [NaN,Infinity], "b": "\"Infinity"}"#;
        let expected = br#"{"a": "-Infinity", "NaN": ["NaN","Infinity"], "b": "\"Infinity"}"#;
        assert_eq!(quote_bare_floats(text).unwrap(), expected);
        assert_eq!(quote_bare_floats(br#"{"a": 1.0, "b": "NaN"}"#), None);
        assert_eq!(quote_bare_floats(b"\"NaN"), None);
    }
}
