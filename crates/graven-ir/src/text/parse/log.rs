//! Text as it comes from a log: without colours and without what the logger put before each line.

use std::borrow::Cow;

const ESCAPE: char = '\x1b';

/// The text that was logged. Lines stay lines.
pub(super) fn without_decoration(text: &str) -> Cow<'_, str> {
    let is_logged = text.lines().any(|line| prefix_length(line).is_some());
    match (is_logged, text.contains(ESCAPE)) {
        (false, false) => Cow::Borrowed(text),
        (false, true) => Cow::Owned(without_colours(text)),
        (true, _) => {
            let text = without_colours(text);
            let mut cleaned = String::with_capacity(text.len());
            for line in text.split_inclusive('\n') {
                cleaned.push_str(&line[prefix_length(line).unwrap_or(0)..]);
            }
            Cow::Owned(cleaned)
        }
    }
}

/// Leaves out the terminal's control sequences: `ESC [ ... letter`.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(ESCAPE) {
        plain.push_str(&rest[..start]);
        rest = &rest[start + ESCAPE.len_utf8()..];
        if let Some(sequence) = rest.strip_prefix('[') {
            let end = sequence.find(|c: char| !matches!(c, '0'..='9' | ';' | '?'));
            rest = match end {
                Some(end) => {
                    let last = sequence[end..].chars().next().map_or(0, char::len_utf8);
                    &sequence[end + last..]
                }
                None => "",
            };
        }
    }
    plain.push_str(rest);
    plain
}

/// How long torch's prefix is: `V0801 12:30:01.123000 77 torch/a.py:12] [0/0] [__graph_code] `.
fn prefix_length(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let is_level = matches!(bytes.first(), Some(b'V' | b'D' | b'I' | b'W' | b'E' | b'C'));
    let date = bytes.get(1..5)?;
    if !is_level || !date.iter().all(u8::is_ascii_digit) || bytes.get(5) != Some(&b' ') {
        return None;
    }
    let mut end = line.find(']')? + 1;
    while let Some(tag) = line[end..].strip_prefix(" [") {
        end += " [".len() + tag.find(']')? + 1;
    }
    let has_space = line[end..].starts_with(' ');
    Some(end + usize::from(has_space))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_colours_go() {
        let logged = concat!(
            "V0801 12:30:01.123000 77 torch/_dynamo/output_graph.py:1377] [0/0] [__graph_code] class A:\n",
            "V0801 12:30:01.123000 77 torch/_dynamo/output_graph.py:1377] [0/0] [__graph_code]     \
             x: \"\x1b[31mf32\x1b[0m\x1b[34m[2]\x1b[0m\"\n",
            "V0801 12:30:01.123000 77 torch/_dynamo/output_graph.py:1377] [0/0] [__graph_code]\n",
        );
        assert_eq!(
            without_decoration(logged),
            "class A:\n    x: \"f32[2]\"\n\n"
        );
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "",
            "V = x[0]\n",
            "V0801",
            "  x = y[0] ; z",
            "I1234 no bracket",
        ] {
            assert!(matches!(without_decoration(text), Cow::Borrowed(same) if same == text));
        }
        assert_eq!(without_decoration("a\x1b[1;31"), "a");
        assert_eq!(without_decoration("a\x1bé\x1b[é"), "aé");
    }
}
