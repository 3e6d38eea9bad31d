//! Python's `repr` of floats, complex numbers, strings and truth values.

use std::fmt::{self, Write};

/// `repr(float)`: the shortest digits that read back as the same number.
pub(super) fn write_float(out: &mut dyn Write, value: f64) -> fmt::Result {
    if value.is_nan() {
        return out.write_str("nan");
    }
    if value.is_infinite() {
        return out.write_str(if value > 0.0 { "inf" } else { "-inf" });
    }
    if has_exponent(value) {
        return write_scientific(out, value);
    }
    // In this range Rust's `Debug` writes the shortest digits too, and `.0` after whole numbers.
    write!(out, "{value:?}")
}

/// Where Python turns to the form with an exponent.
fn has_exponent(value: f64) -> bool {
    let magnitude = value.abs();
    magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude)
}

/// `1e-05`, `1.5e+16`: a sign always, and two digits of exponent at least.
fn write_scientific(out: &mut dyn Write, value: f64) -> fmt::Result {
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    write!(out, "{digits}e{sign}{exponent:0>2}")
}

/// `repr(complex)`: `1j`, `(1+2j)`, `(-0-1j)`, `(1+nanj)`.
pub(super) fn write_complex(out: &mut dyn Write, real: f64, imaginary: f64) -> fmt::Result {
    if real == 0.0 && real.is_sign_positive() {
        write_part(out, imaginary)?;
        return out.write_char('j');
    }
    out.write_char('(')?;
    write_part(out, real)?;
    if imaginary.is_nan() || !imaginary.is_sign_negative() {
        out.write_char('+')?;
    }
    write_part(out, imaginary)?;
    out.write_str("j)")
}

/// A part of a complex number: like a float, but whole numbers have no `.0`.
fn write_part(out: &mut dyn Write, value: f64) -> fmt::Result {
    if value.is_finite() && !has_exponent(value) {
        return write!(out, "{value}");
    }
    write_float(out, value)
}

/// `repr(bool)`.
pub(super) fn write_bool(out: &mut dyn Write, value: bool) -> fmt::Result {
    out.write_str(if value { "True" } else { "False" })
}

/// `repr(str)`: single quotes, unless the text has some and no double ones.
pub(super) fn write_string(out: &mut dyn Write, text: &str) -> fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.write_char(quote)?;
    let mut written = 0;
    for (position, c) in text.char_indices() {
        if c != quote && c != '\\' && is_printable(c) {
            continue;
        }
        out.write_str(&text[written..position])?;
        write_escape(out, c)?;
        written = position + c.len_utf8();
    }
    out.write_str(&text[written..])?;
    out.write_char(quote)
}

fn write_escape(out: &mut dyn Write, c: char) -> fmt::Result {
    match (c, u32::from(c)) {
        ('\\' | '\'' | '"', _) => write!(out, "\\{c}"),
        ('\n', _) => out.write_str("\\n"),
        ('\r', _) => out.write_str("\\r"),
        ('\t', _) => out.write_str("\\t"),
        (_, code @ 0..=0xff) => write!(out, "\\x{code:02x}"),
        (_, code @ 0x100..=0xffff) => write!(out, "\\u{code:04x}"),
        (_, code) => write!(out, "\\U{code:08x}"),
    }
}

/// `str.isprintable` of one character.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    // `str::escape_debug` leaves printable characters alone, but a combining one only where it
    // does not come first; hence the letter before it.
    let mut buffer = [b'a'; 5];
    let length = c.encode_utf8(&mut buffer[1..]).len();
    std::str::from_utf8(&buffer[..=length]).is_ok_and(|text| text.escape_debug().nth(1) == Some(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut dyn Write) -> fmt::Result) -> String {
        let mut text = String::new();
        write(&mut text).unwrap();
        text
    }

    #[test]
    fn floats_are_written_as_python_does() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (0.30000000000000004, "0.30000000000000004"),
            (1e-4, "0.0001"),
            (0.00001, "1e-05"),
            (-1.5e-7, "-1.5e-07"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (9999999999999998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (1e100, "1e+100"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ];
        for (value, expected) in cases {
            assert_eq!(written(|out| write_float(out, value)), expected);
        }
    }

    #[test]
    fn complex_numbers_are_written_as_python_does() {
        let cases = [
            ((0.0, 1.0), "1j"),
            ((0.0, -0.0), "-0j"),
            ((-0.0, 1.0), "(-0+1j)"),
            ((1.0, 2.5), "(1+2.5j)"),
            ((1.0, -1e16), "(1-1e+16j)"),
            ((1.0, f64::NAN), "(1+nanj)"),
            ((f64::INFINITY, f64::NEG_INFINITY), "(inf-infj)"),
        ];
        for ((real, imaginary), expected) in cases {
            assert_eq!(written(|out| write_complex(out, real, imaginary)), expected);
        }
    }

    #[test]
    fn strings_choose_their_quotes_and_escape_what_is_not_printable() {
        let cases = [
            ("", "''"),
            ("floor", "'floor'"),
            ("it's", "\"it's\""),
            ("it's \"so\"", "'it\\'s \"so\"'"),
            ("say \"so\"", "'say \"so\"'"),
            ("a\\b\n\r\t\0\x7f", "'a\\\\b\\n\\r\\t\\x00\\x7f'"),
            ("é e\u{301} \u{a0}\u{ad}", "'é e\u{301} \\xa0\\xad'"),
            (
                "\u{200b}\u{1f600}\u{e0001}",
                "'\\u200b\u{1f600}\\U000e0001'",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(written(|out| write_string(out, text)), expected);
        }
    }
}
