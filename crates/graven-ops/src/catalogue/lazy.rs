//! Lazy conjugation and negation: which operators see the bit, and which need the values.
//!
//! `_conj` and `_neg_view` give a view with a bit set. Views hand the bit on; most other
//! operators are given a copy without it. The lists are those of ATen's fallbacks for the
//! dispatch keys `Conjugate` and `Negative`; no schema tells them.

/// Operators besides views that take a tensor with the bit as it is.
const UNDERSTANDS_BIT: &[&str] = &[
    "_conj_physical",
    "addmm",
    "baddbmm",
    "bmm",
    "clone",
    "conj_physical",
    "copy",
    "dot",
    "empty_like",
    "full_like",
    "is_complex",
    "is_floating_point",
    "linalg_svd",
    "mm",
    "resolve_conj",
    "resolve_neg",
    "vdot",
];

/// Whether an operator that is no view takes a tensor with the bit as it is.
pub fn understands_bit(packet: &str) -> bool {
    UNDERSTANDS_BIT.binary_search(&packet).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_sorted() {
        assert!(UNDERSTANDS_BIT.is_sorted());
        assert!(understands_bit("mm") && !understands_bit("add"));
    }
}
