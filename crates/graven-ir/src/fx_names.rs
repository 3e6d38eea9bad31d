//! Names as `torch.fx` gives them: the first free of `name`, `name_1`, `name_2`, ...
//!
//! A graph's nodes get their names in the order in which they are made, and a name once given
//! is never given again, even if its node is renamed or removed. So names have gaps, and to
//! agree with torch on them every request must be made that torch makes, in the same order.

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::{NameId, Names};

/// Python's keywords and builtins, and what FX's generated code defines. A node is not called
/// that: it starts at `_1`.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup",
    "BlockingIOError", "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError",
    "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError",
    "DeprecationWarning", "EOFError", "Ellipsis", "EncodingWarning", "EnvironmentError",
    "Exception", "ExceptionGroup", "False", "FileExistsError", "FileNotFoundError",
    "FloatingPointError", "FutureWarning", "GeneratorExit", "IOError", "ImportError",
    "ImportWarning", "IndentationError", "IndexError", "InterruptedError", "IsADirectoryError",
    "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError", "ModuleNotFoundError",
    "NameError", "None", "NoneType", "NotADirectoryError", "NotImplemented",
    "NotImplementedError", "OSError", "OverflowError", "PendingDeprecationWarning",
    "PermissionError", "ProcessLookupError", "RecursionError", "ReferenceError",
    "ResourceWarning", "RuntimeError", "RuntimeWarning", "StopAsyncIteration", "StopIteration",
    "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError",
    "True", "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError",
    "UnicodeError", "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError",
    "Warning", "ZeroDivisionError",
    "__build_class__", "__debug__", "__doc__", "__import__", "__loader__", "__name__",
    "__package__", "__spec__",
    "abs", "aiter", "all", "and", "anext", "any", "as", "ascii", "assert", "async", "await",
    "bin", "bool", "break", "breakpoint", "bytearray", "bytes", "callable", "chr", "class",
    "classmethod", "compile", "complex", "continue", "copyright", "credits", "def", "del",
    "delattr", "device", "dict", "dir", "divmod", "elif", "else", "enumerate", "eval", "except",
    "exec", "exit", "filter", "finally", "float", "for", "format", "from", "frozenset",
    "fx_pytree", "getattr", "global", "globals", "hasattr", "hash", "help", "hex", "id", "if",
    "import", "in", "inf", "input", "int", "is", "isinstance", "issubclass", "iter", "lambda",
    "len", "license", "list", "locals", "map", "max", "memoryview", "min", "nan", "next",
    "nonlocal", "not", "object", "oct", "open", "or", "ord", "pass", "pow", "print", "property",
    "pytree", "quit", "raise", "range", "repr", "return", "reversed", "round", "set", "setattr",
    "slice", "sorted", "staticmethod", "str", "sum", "super", "torch", "try", "tuple", "type",
    "vars", "while", "with", "yield", "zip",
];

/// The names of one graph.
#[derive(Clone, Debug, Default)]
pub struct FxNames {
    used: FxHashSet<NameId>,
    /// For each base, the number that was given last.
    last_number: FxHashMap<NameId, u64>,
    buffer: String,
}

impl FxNames {
    /// The first free name for `candidate`, which is taken by this.
    pub fn create(&mut self, names: &mut Names, candidate: &str) -> NameId {
        if is_identifier(candidate) {
            return self.create_identifier(names, candidate);
        }
        let legal = to_identifier(candidate);
        self.create_identifier(names, &legal)
    }

    /// The first free name for `candidate`, which is taken by this.
    pub fn create_from(&mut self, names: &mut Names, candidate: NameId) -> NameId {
        let text = names.get(candidate);
        if !is_identifier(text) {
            let legal = to_identifier(text);
            return self.create_identifier(names, &legal);
        }
        let (base, suffix) = split_number(text);
        let base = base.to_owned();
        self.create_split(names, &base, suffix, candidate)
    }

    fn create_identifier(&mut self, names: &mut Names, candidate: &str) -> NameId {
        let (base, suffix) = split_number(candidate);
        let name = names.intern(candidate);
        self.create_split(names, base, suffix, name)
    }

    /// The first free name for the one that `base` and `suffix` make, which is `candidate`.
    fn create_split(
        &mut self,
        names: &mut Names,
        base: &str,
        suffix: Option<u64>,
        candidate: NameId,
    ) -> NameId {
        let base_name = match suffix {
            Some(_) => names.intern(base),
            None => candidate,
        };
        let mut name = candidate;
        let mut number = match suffix {
            Some(number) if !self.used.contains(&name) => number,
            _ => self.last_number.get(&base_name).copied().unwrap_or(0),
        };
        if suffix.is_none() && is_reserved(base) {
            number = number.saturating_add(1);
            name = self.numbered(names, base, number);
        }
        while self.used.contains(&name) {
            number = number.saturating_add(1);
            name = self.numbered(names, base, number);
        }
        self.used.insert(name);
        self.last_number.insert(base_name, number);
        name
    }

    fn numbered(&mut self, names: &mut Names, base: &str, number: u64) -> NameId {
        self.buffer.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.buffer, "{base}_{number}");
        names.intern(&self.buffer)
    }
}

/// Whether no node may have this name.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok()
}

/// Splits `add_3` into `add` and 3. Text that has no number at its end, or nothing before it,
/// is all base; so is a number beyond what could ever be counted to.
fn split_number(text: &str) -> (&str, Option<u64>) {
    const LARGEST: u64 = 1 << 60;
    match text.rsplit_once('_') {
        Some((base, digits))
            if !base.is_empty()
                && !digits.is_empty()
                && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            match digits.parse() {
                Ok(number) if number <= LARGEST => (base, Some(number)),
                _ => (text, None),
            }
        }
        _ => (text, None),
    }
}

/// Whether `text` is a Python identifier of ASCII letters.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The identifier that FX makes of a text that is none: each run of other characters becomes
/// one underscore.
fn to_identifier(text: &str) -> String {
    let mut legal = String::with_capacity(text.len() + 1);
    let mut replaced = false;
    for character in text.chars() {
        let keep = character.is_ascii_alphanumeric() || character == '_';
        if keep {
            legal.push(character);
        } else if !replaced {
            legal.push('_');
        }
        replaced = !keep;
    }
    if legal.is_empty() {
        legal.push_str("_unnamed");
    }
    if legal.starts_with(|first: char| first.is_ascii_digit()) {
        legal.insert(0, '_');
    }
    legal
}

/// What FX makes of the name of a function that is called, to ask for a node's name: an
/// underscore before each upper-case letter that follows a lower-case one, and all lower case.
pub fn snake_case(function: &str) -> String {
    let mut text = String::with_capacity(function.len() + 4);
    let mut after_lower = false;
    for character in function.chars() {
        if character.is_ascii_uppercase() && after_lower {
            text.push('_');
        }
        after_lower = character.is_ascii_lowercase();
        text.push(character.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(candidates: &[&str], expected: &[&str]) {
        let (mut fx, mut names) = (FxNames::default(), Names::default());
        for (candidate, expected) in candidates.iter().zip(expected) {
            let name = fx.create(&mut names, candidate);
            assert_eq!(names.get(name), *expected, "for {candidate}");
        }
    }

    #[test]
    fn the_first_free_name() {
        check(&["add", "add", "add"], &["add", "add_1", "add_2"]);
        check(
            &["add_1", "add", "add", "add_1"],
            &["add_1", "add", "add_2", "add_3"],
        );
        check(
            &["getitem_4", "getitem", "getitem"],
            &["getitem_4", "getitem", "getitem_5"],
        );
    }

    #[test]
    fn reserved_names_start_at_one() {
        check(&["sum", "sum", "input"], &["sum_1", "sum_2", "input_1"]);
        check(&["sum_1", "sum"], &["sum_1", "sum_2"]);
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn text_that_is_no_identifier() {
        check(
            &["split.default", "3d", "", "a::b"],
            &["split_default", "_3d", "_unnamed", "a_b"],
        );
        check(&["_3", "_3", "__3"], &["_3", "_3_1", "__3"]);
    }

    #[test]
    fn functions_in_snake_case() {
        assert_eq!(
            snake_case("adaptiveAvgPool.Tensor"),
            "adaptive_avg_pool.tensor"
        );
        assert_eq!(snake_case("numpy_T"), "numpy_t");
    }
}
