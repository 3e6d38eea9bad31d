//! Prints schemas as the dispatcher does.

use std::fmt::{self, Formatter, Write};

use super::{Alias, DefaultValue, Schema, SchemaType};

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        let mut in_keywords = false;
        for (index, argument) in self.arguments.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            if argument.keyword_only && !in_keywords {
                in_keywords = true;
                f.write_str("*, ")?;
            }
            write_type(f, &argument.ty, argument.alias.as_ref())?;
            write!(f, " {}", argument.name)?;
            if let Some(default) = &argument.default {
                write!(f, "={default}")?;
            }
        }
        f.write_str(") -> ")?;
        // A lone tuple needs them too, or it would read as several results.
        let parentheses = match &*self.returns {
            [only] => starts_with_parenthesis(&only.ty),
            _ => true,
        };
        if parentheses {
            f.write_char('(')?;
        }
        for (index, result) in self.returns.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write_type(f, &result.ty, result.alias.as_ref())?;
            if let Some(name) = &result.name {
                write!(f, " {name}")?;
            }
        }
        if parentheses {
            f.write_char(')')?;
        }
        Ok(())
    }
}

fn starts_with_parenthesis(mut ty: &SchemaType) -> bool {
    while let SchemaType::Optional(inner) | SchemaType::List(inner, _) = ty {
        ty = inner;
    }
    matches!(ty, SchemaType::Tuple(_))
}

impl fmt::Display for SchemaType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_type(f, self, None)
    }
}

/// The type, with the annotation behind its innermost part. The parser limits the depth.
fn write_type(f: &mut Formatter<'_>, ty: &SchemaType, alias: Option<&Alias>) -> fmt::Result {
    let name = match ty {
        SchemaType::Optional(inner) => {
            write_type(f, inner, alias)?;
            return f.write_char('?');
        }
        SchemaType::List(inner, size) => {
            write_type(f, inner, alias)?;
            return match size {
                Some(size) => write!(f, "[{size}]"),
                None => f.write_str("[]"),
            };
        }
        SchemaType::Tuple(parts) => {
            f.write_char('(')?;
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    f.write_str(", ")?;
                }
                write_type(f, part, None)?;
            }
            return f.write_char(')');
        }
        SchemaType::Dict(key, value) => return write!(f, "Dict({key}, {value})"),
        SchemaType::Named(name) => name,
        SchemaType::Tensor => "Tensor",
        SchemaType::Int => "int",
        SchemaType::SymInt => "SymInt",
        SchemaType::Float => "float",
        SchemaType::SymFloat => "SymFloat",
        SchemaType::Bool => "bool",
        SchemaType::SymBool => "SymBool",
        SchemaType::Complex => "complex",
        SchemaType::Scalar => "Scalar",
        SchemaType::Str => "str",
        SchemaType::ScalarType => "ScalarType",
        SchemaType::Layout => "Layout",
        SchemaType::Device => "Device",
        SchemaType::MemoryFormat => "MemoryFormat",
    };
    f.write_str(name)?;
    match alias {
        Some(alias) => write!(f, "({alias})"),
        None => Ok(()),
    }
}

/// `a! -> *`, without the parentheses.
impl fmt::Display for Alias {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_sets(f, &self.before)?;
        if self.is_write {
            f.write_char('!')?;
        }
        match &self.after {
            Some(after) => {
                f.write_str(" -> ")?;
                write_sets(f, after)
            }
            None => Ok(()),
        }
    }
}

fn write_sets(f: &mut Formatter<'_>, sets: &[Box<str>]) -> fmt::Result {
    match sets {
        [] => f.write_char('*'),
        sets => f.write_str(&sets.join("|")),
    }
}

impl fmt::Display for DefaultValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write_float(f, *value),
            Self::String(text) => write_string(f, text),
            Self::Named(name) => f.write_str(name),
            Self::List(values) => {
                f.write_char('[')?;
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{value}")?;
                }
                f.write_char(']')
            }
        }
    }
}

/// As C's `%.17g`, with a point behind a whole number: `1.`, `0.33333333333333331`, `1e-08`.
fn write_float(f: &mut Formatter<'_>, value: f64) -> fmt::Result {
    if !value.is_finite() {
        return f.write_str(match value {
            f64::INFINITY => "inf",
            f64::NEG_INFINITY => "-inf",
            _ => "nan",
        });
    }
    // Seventeen significant digits: `d.dddddddddddddddde-n`.
    let scientific = format!("{value:.16e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits = mantissa.replace('.', "");
    let digits = match digits.trim_end_matches('0') {
        "" => "0",
        digits => digits,
    };
    f.write_str(sign)?;
    if !(-4..17).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return write!(
            f,
            "{first}{point}{rest}e{exponent_sign}{:02}",
            exponent.abs()
        );
    }
    match usize::try_from(exponent) {
        Err(_) => {
            let zeros = exponent.unsigned_abs() as usize - 1;
            write!(f, "0.{:0<zeros$}{digits}", "")
        }
        Ok(exponent) => {
            let whole = exponent + 1;
            match digits.split_at_checked(whole) {
                Some((before, after)) => write!(f, "{before}.{after}"),
                None => write!(f, "{digits:0<whole$}."),
            }
        }
    }
}

fn write_string(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for next in text.chars() {
        match next {
            '\\' | '\'' | '"' => write!(f, "\\{next}")?,
            '\x07' => f.write_str("\\a")?,
            '\x08' => f.write_str("\\b")?,
            '\x0c' => f.write_str("\\f")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\x0b' => f.write_str("\\v")?,
            _ => f.write_char(next)?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_the_dispatcher_prints_them() {
        for (value, text) in [
            (1.0, "1."),
            (10.0, "10."),
            (0.0, "0."),
            (-0.5, "-0.5"),
            (0.125, "0.125"),
            (1.0 / 3.0, "0.33333333333333331"),
            (1e-5, "1.0000000000000001e-05"),
            (1e-8, "1e-08"),
            (1e-4, "0.0001"),
            (0.01, "0.01"),
            (1e16, "10000000000000000."),
            (1e17, "1e+17"),
            (1234.5, "1234.5"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(DefaultValue::Float(value).to_string(), text);
        }
    }
}
