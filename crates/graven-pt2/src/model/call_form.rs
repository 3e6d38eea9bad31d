//! How the archive writes a call, told from the target's text.

/// Targets that the archive treats differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallForm {
    /// A function on numbers, such as `_operator.add`: its one result is never a list.
    Scalar,
    /// A higher-order operator: it has no schema.
    HigherOrder,
    /// An operator with a schema.
    Operator,
    /// Any other function of Python.
    Function,
}

impl CallForm {
    /// The form of a call of `target`.
    pub(crate) fn of(target: &str) -> Self {
        const HIGHER_ORDER: &str = "torch.ops.higher_order.";
        if target.starts_with(HIGHER_ORDER) {
            Self::HigherOrder
        } else if target.starts_with("_operator.")
            || target.starts_with("math.")
            || target.starts_with("torch.sym_")
            || target == "torch.ops.aten.item.default"
        {
            Self::Scalar
        } else if target.starts_with("torch.ops.") || target.starts_with('#') {
            Self::Operator
        } else {
            Self::Function
        }
    }

    /// Whether results follow from what was returned, as there is no schema: then None is a
    /// result, and an empty tuple is none.
    pub(super) fn has_no_schema(self) -> bool {
        matches!(self, Self::HigherOrder | Self::Function)
    }
}

/// The name that Python gives the function: `add.Tensor` of `torch.ops.aten.add.Tensor`.
pub(super) fn function_name(target: &str) -> &str {
    if let Some(operator) = target.strip_prefix("torch.ops.") {
        // The namespace is left out.
        return operator.split_once('.').map_or(operator, |(_, name)| name);
    }
    match target.rsplit_once(['.', ':']) {
        Some((_, name)) => name,
        None => target,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_names() {
        for (target, kind, name) in [
            (
                "torch.ops.aten.add.Tensor",
                CallForm::Operator,
                "add.Tensor",
            ),
            ("torch.ops.higher_order.cond", CallForm::HigherOrder, "cond"),
            ("_operator.ge", CallForm::Scalar, "ge"),
            ("torch.sym_max", CallForm::Scalar, "sym_max"),
            (
                "torch.ops.aten.item.default",
                CallForm::Scalar,
                "item.default",
            ),
            (
                "torch._functorch.predispatch._vmap",
                CallForm::Function,
                "_vmap",
            ),
            ("#space:name", CallForm::Operator, "name"),
        ] {
            assert_eq!(CallForm::of(target), kind);
            assert_eq!(function_name(target), name);
        }
    }
}
