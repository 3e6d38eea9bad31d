//! How arguments are given, where an archive does not say it.
//!
//! Since torch 2.7 each argument says whether it is given by position or by name. Before, that
//! followed from the operator's schema.

use graven_ir::{ArgumentKind, Input};
use graven_ops::Registry;

use crate::model::CallForm;

/// Python's reserved words: an argument with such a name cannot be given by it.
#[rustfmt::skip]
const PYTHON_KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
    "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if",
    "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
    "while", "with", "yield",
];

/// How torch's loader gives the argument called `name` to `target`, when the archive does not
/// say it.
pub(crate) fn kind(registry: &Registry, target: &str, form: CallForm, name: &str) -> ArgumentKind {
    match form {
        CallForm::Scalar => ArgumentKind::Positional,
        CallForm::HigherOrder | CallForm::Function if name.is_empty() => ArgumentKind::Positional,
        CallForm::HigherOrder | CallForm::Function => ArgumentKind::Keyword,
        CallForm::Operator => kind_by_schema(registry, target, name),
    }
}

fn kind_by_schema(registry: &Registry, target: &str, name: &str) -> ArgumentKind {
    let argument = registry.find_target(target).and_then(|operator| {
        let arguments = &registry.operator(operator).schema().arguments;
        arguments.iter().find(|argument| *argument.name == *name)
    });
    match argument {
        Some(argument)
            if (argument.default.is_some() || argument.keyword_only)
                && PYTHON_KEYWORDS.binary_search(&name).is_err() =>
        {
            ArgumentKind::Keyword
        }
        // Also for an operator without a known schema: then their order is all there is.
        _ => ArgumentKind::Positional,
    }
}

/// Puts the positional arguments first, as FX has them.
pub(crate) fn in_order(mut inputs: Vec<Input>) -> Box<[Input]> {
    inputs.sort_by_key(|input| input.kind != ArgumentKind::Positional);
    inputs.into_boxed_slice()
}
