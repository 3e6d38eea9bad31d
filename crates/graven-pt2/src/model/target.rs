//! What kind of thing a node calls, told from the target's text.

/// Kinds of targets that the archive treats differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TargetKind {
    /// A function on numbers, such as `_operator.add`: its one result is never a list.
    Scalar,
    /// A higher-order operator: it has no schema.
    HigherOrder,
    /// An operator with a schema, or any other function.
    Operator,
}

impl TargetKind {
    /// The kind of `target`.
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
        } else {
            Self::Operator
        }
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
                TargetKind::Operator,
                "add.Tensor",
            ),
            (
                "torch.ops.higher_order.cond",
                TargetKind::HigherOrder,
                "cond",
            ),
            ("_operator.ge", TargetKind::Scalar, "ge"),
            ("torch.sym_max", TargetKind::Scalar, "sym_max"),
            (
                "torch.ops.aten.item.default",
                TargetKind::Scalar,
                "item.default",
            ),
            ("#space:name", TargetKind::Operator, "name"),
        ] {
            assert_eq!(TargetKind::of(target), kind);
            assert_eq!(function_name(target), name);
        }
    }
}
