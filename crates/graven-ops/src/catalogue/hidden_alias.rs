//! Operators whose results share memory with their arguments although their schemas say that they
//! are fresh.
//!
//! torch keeps most of them whole, and takes their results to be fresh, so that a later write to
//! the argument does not reach the result. In eager mode it does.

/// Which arguments the results of an operator may share memory with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HiddenAlias {
    /// The result is the first argument when the second has its dtype and device: `type_as`.
    FirstOfType,
    /// The result is a view of the only operand when nothing is summed: `einsum`.
    OnlyOperand,
    /// Each result is a view of the list's element at its place: `broadcast_tensors`.
    Each,
    /// Each result is a part of the first argument: `unsafe_split`.
    Parts,
}

/// What is hidden in the operator with this full name.
pub fn hidden_alias(operator: &str) -> Option<HiddenAlias> {
    Some(match operator {
        "aten::type_as" => HiddenAlias::FirstOfType,
        "aten::einsum" => HiddenAlias::OnlyOperand,
        "aten::broadcast_tensors" | "aten::meshgrid" | "aten::meshgrid.indexing" => {
            HiddenAlias::Each
        }
        "aten::unsafe_split.Tensor" | "aten::unsafe_split_with_sizes" => HiddenAlias::Parts,
        _ => return None,
    })
}

/// Whether an `einsum` of one operand sums over nothing, and so returns a view: each label of the
/// operand stands in the result.
pub fn einsum_is_view(equation: &str) -> bool {
    let labels = |text: &str| -> Vec<char> {
        text.chars()
            .filter(|label| label.is_ascii_alphabetic())
            .collect()
    };
    match equation.split_once("->") {
        Some((operand, result)) => {
            let result = labels(result);
            !operand.contains(',') && labels(operand).iter().all(|label| result.contains(label))
        }
        // Without a result, labels that stand once are kept and others summed.
        None => {
            let operand = labels(equation);
            let once = |label: &char| operand.iter().filter(|other| *other == label).count() == 1;
            !equation.contains(',') && operand.iter().all(once)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations() {
        assert!(einsum_is_view("ij->ji") && einsum_is_view("ii->i") && einsum_is_view("ba"));
        assert!(!einsum_is_view("ij->i") && !einsum_is_view("ii") && !einsum_is_view("ij,jk->ik"));
    }
}
