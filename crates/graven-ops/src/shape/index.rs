//! Shape rules of gathering and scattering by indices.

use graven_ir::value::Dims;
use graven_ir::{DType, SymInt, TensorMeta};

use super::rule::{Inference, Metas, Rule, one};
use crate::emit::EmitError;

/// The rule of an operator that takes indices.
pub(super) fn rule(operator: &str) -> Option<Rule> {
    Some(match operator {
        "aten::gather" => gather,
        "aten::index.Tensor" => index,
        "aten::index_select" => index_select,
        "aten::index_add"
        | "aten::index_copy"
        | "aten::scatter.src"
        | "aten::scatter.value"
        | "aten::scatter_add" => scattered,
        "aten::unfold_backward" => unfold_backward,
        _ => return None,
    })
}

fn gather(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let sizes = rule.call.tensor("index")?.sizes.clone();
    Ok(one(rule.fresh(rule.this()?, sizes)?))
}

fn index_select(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let this = rule.this()?;
    let index = rule.call.tensor("index")?;
    let dim = rule.dim("dim", this.sizes.len())?;
    let mut sizes = this.sizes.clone();
    if let Some(size) = sizes.get_mut(dim) {
        *size = index.sizes.first().copied().unwrap_or(SymInt::Int(1));
    }
    Ok(one(rule.fresh(this, sizes)?))
}

fn scattered(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let this = rule.this()?;
    Ok(one(rule.fresh(this, this.sizes.clone())?))
}

fn unfold_backward(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let sizes = rule.call.ints("input_sizes")?;
    Ok(one(rule.fresh(rule.call.tensor("grad_in")?, sizes)?))
}

/// Indices broadcast against each other; their dimensions stand where the first indexed
/// dimension was when the indexed dimensions are neighbours, otherwise in front.
fn index(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let this = rule.this()?;
    let indices = rule.call.optional_tensors("indices")?;
    if indices.len() > this.sizes.len() {
        return Err(rule
            .call
            .unfit("takes at most one index for each dimension"));
    }
    let given: Vec<&TensorMeta> = indices.iter().copied().flatten().collect();
    if given
        .iter()
        .any(|meta| matches!(meta.dtype, DType::Bool | DType::UInt8))
    {
        return Err(rule
            .call
            .unfit("the size of what a mask selects depends on its values"));
    }
    let picked = rule.broadcast(given.iter().map(|meta| &meta.sizes))?;
    let is_indexed = |dim: usize| indices.get(dim).is_some_and(Option::is_some);
    let indexed: Vec<usize> = (0..this.sizes.len())
        .filter(|&dim| is_indexed(dim))
        .collect();
    let are_neighbours = indexed.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let place = match indexed.first() {
        Some(first) if are_neighbours => *first,
        _ => 0,
    };
    let mut sizes: Dims = (0..this.sizes.len())
        .filter(|&dim| !is_indexed(dim))
        .map(|dim| this.sizes[dim])
        .collect();
    sizes.insert_many(place, picked);
    Ok(one(rule.fresh(this, sizes)?))
}
