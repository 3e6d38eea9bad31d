//! Kernels, by family.
//!
//! A kernel reads its arguments through [`Call`] by their position in the schema, and returns
//! fresh tensors or views. In-place, `out=` and list operators need none: they are computed by
//! their functional twins, and composites by their formulas. Each family lists its kernels under
//! the operators' full names.

mod alias;
mod composed;
mod copy;
mod factory;
mod fourier;
mod index;
mod join;
mod lanes;
mod layers;
mod matmul;
mod pointwise;
mod query;
mod random;
mod rearrange;
mod reduce;
mod scan;
mod sort;
mod view;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::call::Call;
use crate::error::Problem;
use crate::value::Value;

/// Computes an operator.
pub type Kernel = fn(&Call<'_>) -> Result<Value, Problem>;

/// Kernels by their operators' full names.
type Table = &'static [(&'static str, Kernel)];

/// All families.
fn families() -> impl Iterator<Item = Table> {
    let single = [copy::KERNELS, factory::KERNELS, view::KERNELS];
    let single = single.into_iter().chain(pointwise::FAMILIES);
    let single = single
        .chain(index::FAMILIES)
        .chain(matmul::FAMILIES)
        .chain(layers::FAMILIES);
    single.chain([
        composed::KERNELS,
        fourier::KERNELS,
        join::KERNELS,
        query::KERNELS,
        random::KERNELS,
        rearrange::KERNELS,
        reduce::KERNELS,
        scan::KERNELS,
        sort::KERNELS,
    ])
}

static KERNELS: LazyLock<FxHashMap<&'static str, Kernel>> = LazyLock::new(|| {
    let mut kernels: FxHashMap<_, _> = families()
        .flat_map(|family| family.iter().copied())
        .collect();
    for (name, other) in alias::ALIASES {
        if let Some(kernel) = kernels.get(other).copied() {
            kernels.insert(name, kernel);
        }
    }
    kernels
});

/// The kernel of the operator with this full name (`aten::add.Tensor`).
pub fn kernel(operator: &str) -> Option<Kernel> {
    KERNELS.get(operator).copied()
}

/// Whether the operator with this full name has a kernel of its own.
pub fn has_kernel(operator: &str) -> bool {
    KERNELS.contains_key(operator)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use graven_ops::Registry;

    #[test]
    fn every_kernel_is_of_an_operator_and_stands_once() {
        let registry = Registry::aten();
        let mut seen = rustc_hash::FxHashSet::default();
        for (name, _) in families().flatten() {
            assert!(registry.find(name).is_some(), "{name} is no operator");
            assert!(seen.insert(name), "{name} has two kernels");
        }
    }
}
