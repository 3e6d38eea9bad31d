//! Comments that say where a node comes from, turned back into a node's metadata.

use super::cursor::Cursor;
use super::literal;
use crate::context::{Context, Metadata, MetadataId};

/// The metadata of the nodes behind a comment; `None` for a comment that says something else.
///
/// The text behind the `#` is ` File: model.py:13 in forward, code: x.add_(1)` or
/// ` No stacktrace found for following nodes`, perhaps with ` Annotation: {...}` before it.
pub(super) fn metadata(context: &mut Context, comment: &str) -> Option<MetadataId> {
    let mut cursor = Cursor::new(comment);
    let mut entries = Vec::new();
    if cursor.eat(" Annotation: ") {
        let json = json_of_dict(&mut cursor)?;
        entries.push((context.names.intern("custom"), context.names.intern(&json)));
    }
    match cursor.rest().trim_end() {
        " No stacktrace found for following nodes" => {}
        text => {
            let trace = stack_trace(text.strip_prefix(" File: ")?)?;
            let trace = context.names.intern(&trace);
            entries.insert(0, (context.names.intern("stack_trace"), trace));
        }
    }
    Some(context.intern_metadata(Metadata {
        entries: entries.into_boxed_slice(),
        unknown_fields: Box::default(),
    }))
}

/// A stack trace of the one frame that the comment tells: `model.py:13 in forward, code: x`.
fn stack_trace(text: &str) -> Option<String> {
    const IN: &str = " in ";
    const CODE: &str = ", code: ";
    // A file's name may hold the separator too: the first one behind a line number counts.
    let (file, line, rest) = text.match_indices(IN).find_map(|(position, _)| {
        let (file, line) = file_and_line(&text[..position])?;
        Some((file, line, &text[position + IN.len()..]))
    })?;
    let (function, code) = rest.split_once(CODE)?;
    Some(format!(
        "  File \"{file}\", line {line}, in {function}\n    {code}\n"
    ))
}

/// `model.py:13`.
fn file_and_line(text: &str) -> Option<(&str, &str)> {
    let file = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let line = &text[file.len()..];
    let file = file.strip_suffix(':')?;
    (!line.is_empty() && !file.is_empty()).then_some((file, line))
}

/// Reads a dict as Python prints it, and writes it as JSON.
fn json_of_dict(cursor: &mut Cursor<'_>) -> Option<String> {
    let mut json = String::new();
    let mut depth = 0_usize;
    loop {
        cursor.skip_spaces();
        if literal::is_at_string(cursor) {
            write_json_string(&mut json, &literal::string(cursor).ok()?);
            continue;
        }
        match cursor.next()? {
            bracket @ ('{' | '[') => {
                depth += 1;
                json.push(bracket);
            }
            bracket @ ('}' | ']') => {
                depth = depth.checked_sub(1)?;
                json.push(bracket);
            }
            mark @ (',' | ':') => {
                json.push(mark);
                json.push(' ');
            }
            first => {
                json.push_str(&word(first, cursor));
            }
        }
        if depth == 0 {
            return Some(json);
        }
    }
}

/// A number or a constant, as JSON and Python's `json` have it.
fn word(first: char, cursor: &mut Cursor<'_>) -> String {
    let rest = cursor.take_while(|c| !"[]{},: ".contains(c));
    match (first, rest) {
        ('T', "rue") => "true".to_owned(),
        ('F', "alse") => "false".to_owned(),
        ('N', "one") => "null".to_owned(),
        ('n', "an") => "NaN".to_owned(),
        ('i', "nf") => "Infinity".to_owned(),
        ('-', "inf") => "-Infinity".to_owned(),
        (first, rest) => format!("{first}{rest}"),
    }
}

fn write_json_string(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\0'..='\x1f' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::SourceLine;

    #[test]
    fn a_source_line_becomes_a_stack_trace() {
        let mut context = Context::default();
        for line in [
            "File: model.py:13 in forward, code: x.add_(1)",
            "File: a in b:c.py:7 in <lambda>, code: y, code: z",
        ] {
            let metadata = metadata(&mut context, &format!(" {line}")).unwrap();
            let trace = context.metadata_text(metadata, "stack_trace").unwrap();
            assert_eq!(SourceLine::innermost(trace).unwrap().to_string(), line);
        }
    }

    #[test]
    fn an_annotation_becomes_json() {
        let mut context = Context::default();
        let comment = " Annotation: {'stage': 'it\\'s \"so\"', 'n': [1.0, -2, True, None, {'a': nan}]} \
                       No stacktrace found for following nodes";
        let metadata = metadata(&mut context, comment).unwrap();
        assert_eq!(
            context.metadata_text(metadata, "custom"),
            Some(r#"{"stage": "it's \"so\"", "n": [1.0, -2, true, null, {"a": NaN}]}"#)
        );
    }

    #[test]
    fn other_comments_say_nothing() {
        let mut context = Context::default();
        for comment in [
            "",
            " a remark",
            " File: x",
            " File: :1 in f, code: x",
            " Annotation: {",
        ] {
            assert_eq!(metadata(&mut context, comment), None, "{comment}");
        }
    }
}
