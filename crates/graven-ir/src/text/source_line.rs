//! The source line in a stack trace.

use std::fmt;

/// The innermost frame of a node's `stack_trace`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceLine<'a> {
    /// The file, as Python named it.
    pub file: &'a str,
    /// The line's number: decimal digits.
    pub line: &'a str,
    /// The function.
    pub function: &'a str,
    /// The line itself, without the space around it.
    pub code: &'a str,
}

impl<'a> SourceLine<'a> {
    /// The innermost frame of a Python stack trace, which stands last in it. `None` when no
    /// frame is followed by its code.
    pub fn innermost(stack_trace: &'a str) -> Option<Self> {
        let mut below = None;
        for line in python_trim(stack_trace).rsplit('\n') {
            let line = python_trim(line);
            if let Some(code) = below
                && let Some((file, line, function)) = parse_frame(line)
            {
                return Some(Self {
                    file,
                    line,
                    function,
                    code,
                });
            }
            below = Some(line);
        }
        None
    }
}

impl fmt::Display for SourceLine<'_> {
    /// As torch's readable form has it: `File: model.py:13 in forward, code: x.add_(1)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            function,
            code,
        } = self;
        write!(f, "File: {file}:{line} in {function}, code: {code}")
    }
}

/// `File "model.py", line 13, in forward`: file, line and function.
fn parse_frame(line: &str) -> Option<(&str, &str, &str)> {
    const LINE: &str = "\", line ";
    let mut rest = line.strip_prefix("File \"")?;
    let frame = rest;
    // A file's name may hold the separator itself: the last one counts.
    while let Some(position) = rest.rfind(LINE) {
        let file = &frame[..position];
        if let Some((number, function)) = frame[position + LINE.len()..].split_once(", in ")
            && !file.is_empty()
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && !function.is_empty()
        {
            return Some((file, number, function));
        }
        rest = &frame[..position];
    }
    None
}

/// `str.strip()`: Python counts four control characters as space that Rust does not.
fn python_trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_frame_with_code_is_the_innermost() {
        let trace = concat!(
            "  File \"outer.py\", line 3, in run\n    forward(x)\n",
            "  File \"inner.py\", line 14, in forward\n    x.add_(1)  # grow\n    ^^^^^^\n",
        );
        let line = SourceLine::innermost(trace).unwrap();
        assert_eq!(
            line.to_string(),
            "File: inner.py:14 in forward, code: x.add_(1)  # grow"
        );
    }

    #[test]
    fn a_frame_without_code_does_not_count() {
        let trace = "File \"a.py\", line 1, in f\n  x\nFile \"b.py\", line 2, in g";
        assert_eq!(SourceLine::innermost(trace).unwrap().file, "a.py");
        assert_eq!(SourceLine::innermost("File \"b.py\", line 2, in g"), None);
        assert_eq!(SourceLine::innermost(""), None);
    }

    #[test]
    fn a_file_may_be_called_anything() {
        let trace = "File \"a\", line x.py\", line 7, in <lambda>\n  y";
        let line = SourceLine::innermost(trace).unwrap();
        assert_eq!(
            (line.file, line.line, line.function),
            ("a\", line x.py", "7", "<lambda>")
        );
        assert_eq!(
            SourceLine::innermost("File \"a.py\", line , in f\n  y"),
            None
        );
    }
}
