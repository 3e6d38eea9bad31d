//! The names that FX gives to values and globals in Python source.
//!
//! In source, a value may not take the name of a keyword or a builtin, nor one of another
//! value. So a placeholder called `input` is `input_1` there.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Names that are taken before a graph begins, as FX's globals are.
const GLOBALS: [&str; 7] = [
    "inf",
    "nan",
    "NoneType",
    "torch",
    "device",
    "fx_pytree",
    "pytree",
];

/// Python 3.11's keywords and builtins, in the order of their bytes.
#[rustfmt::skip]
const RESERVED: [&str; 189] = [
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException",
    "BaseExceptionGroup", "BlockingIOError", "BrokenPipeError", "BufferError", "BytesWarning",
    "ChildProcessError", "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError",
    "ConnectionResetError", "DeprecationWarning", "EOFError", "Ellipsis", "EncodingWarning",
    "EnvironmentError", "Exception", "ExceptionGroup", "False", "FileExistsError",
    "FileNotFoundError", "FloatingPointError", "FutureWarning", "GeneratorExit", "IOError",
    "ImportError", "ImportWarning", "IndentationError", "IndexError", "InterruptedError",
    "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError",
    "ModuleNotFoundError", "NameError", "None", "NotADirectoryError", "NotImplemented",
    "NotImplementedError", "OSError", "OverflowError", "PendingDeprecationWarning",
    "PermissionError", "ProcessLookupError", "RecursionError", "ReferenceError",
    "ResourceWarning", "RuntimeError", "RuntimeWarning", "StopAsyncIteration", "StopIteration",
    "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError",
    "True", "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError",
    "UnicodeError", "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError",
    "Warning", "ZeroDivisionError", "__build_class__", "__debug__", "__doc__", "__import__",
    "__loader__", "__name__", "__package__", "__spec__", "abs", "aiter", "all", "and", "anext",
    "any", "as", "ascii", "assert", "async", "await", "bin", "bool", "break", "breakpoint",
    "bytearray", "bytes", "callable", "chr", "class", "classmethod", "compile", "complex",
    "continue", "copyright", "credits", "def", "del", "delattr", "dict", "dir", "divmod",
    "elif", "else", "enumerate", "eval", "except", "exec", "exit", "filter", "finally", "float",
    "for", "format", "from", "frozenset", "getattr", "global", "globals", "hasattr", "hash",
    "help", "hex", "id", "if", "import", "in", "input", "int", "is", "isinstance", "issubclass",
    "iter", "lambda", "len", "license", "list", "locals", "map", "max", "memoryview", "min",
    "next", "nonlocal", "not", "object", "oct", "open", "or", "ord", "pass", "pow", "print",
    "property", "quit", "raise", "range", "repr", "return", "reversed", "round", "set",
    "setattr", "slice", "sorted", "staticmethod", "str", "sum", "super", "try", "tuple", "type",
    "vars", "while", "with", "yield", "zip",
];

/// Names in use.
#[derive(Default)]
pub(super) struct Namespace<'a> {
    used: HashSet<Cow<'a, str>>,
    /// The number last given to a name with this base.
    last_number: HashMap<Cow<'a, str>, u64>,
}

impl<'a> Namespace<'a> {
    /// A namespace in which FX's globals are taken.
    pub(super) fn for_source() -> Self {
        Self {
            used: GLOBALS.into_iter().map(Cow::Borrowed).collect(),
            last_number: HashMap::new(),
        }
    }

    /// The name for a value that would like to be called `candidate`.
    pub(super) fn name_value(&mut self, candidate: &'a str) -> Cow<'a, str> {
        let candidate = identifier(candidate);
        if is_reserved(&candidate) {
            return self.numbered(candidate);
        }
        self.unreserved(candidate)
    }

    /// The name for a function outside torch whose full name is `candidate`.
    pub(super) fn name_function(&mut self, candidate: &'a str) -> Cow<'a, str> {
        self.unreserved(identifier(candidate))
    }

    fn unreserved(&mut self, candidate: Cow<'a, str>) -> Cow<'a, str> {
        if self.used.contains(&candidate) {
            let (base, _) = split_number(candidate);
            return self.numbered(base);
        }
        self.used.insert(candidate.clone());
        if let (base, Some(number)) = split_number(candidate.clone()) {
            self.last_number.insert(base, number);
        }
        candidate
    }

    /// The first free name of `base` and a number above the last one.
    fn numbered(&mut self, base: Cow<'a, str>) -> Cow<'a, str> {
        let mut number = self.last_number.get(&base).copied().unwrap_or(0);
        let name = loop {
            number += 1;
            let name: Cow<'a, str> = format!("{base}_{number}").into();
            if self.used.insert(name.clone()) {
                break name;
            }
        };
        self.last_number.insert(base, number);
        name
    }
}

/// Whether `name` is a keyword, a builtin or one of FX's globals.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok() || GLOBALS.contains(&name)
}

/// Whether `name` is a Python identifier of ASCII characters.
pub(super) fn is_identifier(name: &str) -> bool {
    name.bytes().all(is_identifier_byte) && !name.is_empty() && !starts_with_digit(name)
}

fn is_identifier_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

fn starts_with_digit(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_digit())
}

/// `name` with each run of characters that no identifier has turned into one underscore.
fn identifier(name: &str) -> Cow<'_, str> {
    if is_identifier(name) {
        return Cow::Borrowed(name);
    }
    if name.is_empty() {
        return Cow::Borrowed("_unnamed");
    }
    let mut text = String::with_capacity(name.len() + 1);
    if starts_with_digit(name) {
        text.push('_');
    }
    let mut is_in_gap = false;
    for c in name.chars() {
        let is_kept = c == '_' || c.is_ascii_alphanumeric();
        if is_kept {
            text.push(c);
        } else if !is_in_gap {
            text.push('_');
        }
        is_in_gap = !is_kept;
    }
    Cow::Owned(text)
}

/// `mul_2` as `mul` and 2; a name without a number is its own base.
fn split_number(name: Cow<'_, str>) -> (Cow<'_, str>, Option<u64>) {
    let Some((base, digits)) = name.rsplit_once('_') else {
        return (name, None);
    };
    if base.is_empty() || digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return (name, None);
    }
    // Only a name with a billion namesakes needs a larger number.
    let number = u64::from(digits.parse::<u32>().unwrap_or(0));
    let length = base.len();
    let base = match name {
        Cow::Borrowed(name) => Cow::Borrowed(&name[..length]),
        Cow::Owned(mut name) => {
            name.truncate(length);
            Cow::Owned(name)
        }
    };
    (base, Some(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(candidates: &[&'static str]) -> Vec<String> {
        let mut namespace = Namespace::for_source();
        candidates
            .iter()
            .map(|candidate| namespace.name_value(candidate).into_owned())
            .collect()
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn reserved_names_take_the_first_free_number() {
        assert_eq!(
            named(&["input", "input_1", "input_1", "device", "torch"]),
            ["input_1", "input_2", "input_3", "device_1", "torch_1"]
        );
        assert_eq!(named(&["input_1", "input"]), ["input_1", "input_2"]);
        assert_eq!(
            named(&["sum_1", "add__1", "add_"]),
            ["sum_1", "add__1", "add_"]
        );
    }

    #[test]
    fn texts_that_are_no_identifiers_become_some() {
        assert_eq!(
            named(&["", "0", "a.b", "a b", "\u{e9}\u{e9}", "_1"]),
            ["_unnamed", "_0", "a_b", "a_b_1", "_", "_1"]
        );
    }

    #[test]
    fn a_function_may_have_the_name_of_a_builtin() {
        let mut namespace = Namespace::for_source();
        assert_eq!(namespace.name_function("round"), "round");
        assert_eq!(namespace.name_function("math.trunc"), "math_trunc");
        assert_eq!(namespace.name_value("math_trunc"), "math_trunc_1");
    }
}
