//! Shape rules of operators that put tensors together, and of matrix products.

use graven_ir::value::Dims;
use graven_ir::{MemoryFormat, SymInt, TensorMeta};

use super::dtype::Promotion;
use super::layout;
use super::rule::{Inference, Metas, Rule, one};
use crate::emit::EmitError;

/// The rule of an operator on several tensors.
pub(super) fn rule(operator: &str) -> Option<Rule> {
    Some(match operator {
        "aten::cat" => cat,
        "aten::stack" => stack,
        "aten::meshgrid" | "aten::meshgrid.indexing" => meshgrid,
        "aten::mm" => mm,
        "aten::mv" => mv,
        "aten::dot" | "aten::vdot" => dot,
        "aten::bmm" => bmm,
        "aten::matmul" => matmul,
        "aten::atleast_1d.Sequence" => at_least_one,
        "aten::atleast_2d.Sequence" => at_least_two,
        "aten::atleast_3d.Sequence" => at_least_three,
        _ => return None,
    })
}

fn promoted<'m>(metas: impl Iterator<Item = &'m TensorMeta>) -> Promotion {
    let mut promotion = Promotion::default();
    metas.for_each(|meta| promotion.add_tensor(meta.dtype, meta.sizes.len()));
    promotion
}

fn cat(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let tensors = rule.call.tensors("tensors")?;
    // A tensor of sizes [0] is skipped, whatever the rank of the others.
    let is_skipped = |meta: &&TensorMeta| meta.sizes[..] == [SymInt::Int(0)];
    let kept: Vec<_> = tensors
        .iter()
        .copied()
        .filter(|meta| !is_skipped(meta))
        .collect();
    let dtype = promoted(tensors.iter().copied()).result();
    let (Some(first), Some(dtype)) = (kept.first().or(tensors.first()).copied(), dtype) else {
        return Err(rule.call.unfit("takes at least one tensor"));
    };
    let rank = first.sizes.len();
    let dim = rule.dim("dim", rank)?;
    let mut sizes = first.sizes.clone();
    for meta in kept.iter().skip(1) {
        let fits = meta.sizes.len() == rank
            && (0..rank).all(|other| other == dim || may_be_equal(meta.sizes[other], sizes[other]));
        if !fits || rank == 0 {
            return Err(rule
                .call
                .unfit("takes tensors of the same sizes but for one dimension"));
        }
        sizes[dim] = rule.add(sizes[dim], meta.sizes[dim])?;
    }
    let format = rule.common_format(&kept)?;
    let strides = rule.strides_in_format(&sizes, format)?;
    Ok(one(TensorMeta {
        dtype,
        sizes,
        strides,
        storage_offset: SymInt::Int(0),
        ..first.clone()
    }))
}

/// Symbolic sizes that were equal at export need not be the same expression.
fn may_be_equal(a: SymInt, b: SymInt) -> bool {
    a == b || a.as_int().is_none() || b.as_int().is_none()
}

fn stack(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let tensors = rule.call.tensors("tensors")?;
    let dtype = promoted(tensors.iter().copied()).result();
    let (Some(first), Some(dtype)) = (tensors.first().copied(), dtype) else {
        return Err(rule.call.unfit("takes at least one tensor"));
    };
    let mut sizes = first.sizes.clone();
    let dim = rule.dim("dim", sizes.len() + 1)?;
    sizes.insert(dim, SymInt::Int(tensors.len() as i64));
    let meta = rule.fresh(first, sizes)?;
    Ok(one(TensorMeta { dtype, ..meta }))
}

/// Each tensor repeated over the grid that all span.
fn meshgrid(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let tensors = rule.call.tensors("tensors")?;
    let lengths: Result<Dims, EmitError> = tensors
        .iter()
        .map(|meta| match meta.sizes[..] {
            [] => Ok(SymInt::Int(1)),
            [size] => Ok(size),
            _ => Err(rule.call.unfit("takes vectors")),
        })
        .collect();
    let mut sizes = lengths?;
    let by_columns = matches!(
        rule.call.given("indexing"),
        Some(crate::emit::Arg::Str(indexing)) if &**indexing == "xy"
    );
    let swaps = by_columns && tensors.len() >= 2;
    if swaps {
        sizes.swap(0, 1);
    }
    let grids = tensors.iter().enumerate().map(|(index, meta)| {
        let along = match index {
            0 | 1 if swaps => 1 - index,
            _ => index,
        };
        let mut strides: Dims = smallvec::smallvec![SymInt::Int(0); sizes.len()];
        if sizes[along] != SymInt::Int(1) {
            strides[along] = meta.strides.first().copied().unwrap_or(SymInt::Int(0));
        }
        TensorMeta {
            sizes: sizes.clone(),
            strides,
            ..(*meta).clone()
        }
    });
    Ok(grids.collect())
}

fn at_least_one(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    rule.raised(1)
}

fn at_least_two(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    rule.raised(2)
}

fn at_least_three(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    rule.raised(3)
}

/// Matrices by matrices, batches repeated to fit; a vector counts as a row on the left and as a
/// column on the right, and its dimension is dropped.
fn matmul(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let (this, other) = (rule.this()?, rule.call.tensor("other")?);
    let (rows, columns) = (this.sizes.len(), other.sizes.len());
    if rows == 0 || columns == 0 {
        return Err(rule.call.unfit("takes tensors of at least one dimension"));
    }
    let inner = other.sizes[columns.saturating_sub(2)];
    if !may_be_equal(this.sizes[rows - 1], inner) {
        return Err(rule.call.unfit("the inner sizes differ"));
    }
    let batch = |sizes: &Dims| -> Dims { sizes[..sizes.len().saturating_sub(2)].into() };
    let batches = [batch(&this.sizes), batch(&other.sizes)];
    let mut sizes = rule.broadcast(batches.iter())?;
    if rows > 1 {
        sizes.push(this.sizes[rows - 2]);
    }
    if columns > 1 {
        sizes.push(other.sizes[columns - 1]);
    }
    Ok(one(rule.fresh(this, sizes)?))
}

fn mm(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    rule.product_of_matrices("mat2", 0)
}

fn bmm(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    rule.product_of_matrices("mat2", 1)
}

fn mv(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let this = rule.this()?;
    let rows = this.sizes.iter().copied().take(1).collect();
    Ok(one(rule.fresh(this, rows)?))
}

fn dot(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    Ok(one(rule.fresh(rule.this()?, Dims::new())?))
}

impl Inference<'_> {
    /// The memory format that all tensors suggest, or contiguous.
    fn common_format(&mut self, tensors: &[&TensorMeta]) -> Result<MemoryFormat, EmitError> {
        let mut common = None;
        for meta in tensors {
            let format = layout::suggested_format(self.exprs, meta);
            let format = format.map_err(|error| self.call.unfit(error.to_string()))?;
            if format == MemoryFormat::Contiguous || common.is_some_and(|common| common != format) {
                return Ok(MemoryFormat::Contiguous);
            }
            common = Some(format);
        }
        Ok(common.unwrap_or(MemoryFormat::Contiguous))
    }

    /// Each tensor seen with at least `rank` dimensions.
    fn raised(&mut self, rank: usize) -> Result<Metas, EmitError> {
        let tensors = self.call.tensors("tensors")?;
        let raised = tensors.into_iter().map(|meta| {
            let one = SymInt::Int(1);
            let mut sizes = meta.sizes.clone();
            if sizes.is_empty() {
                sizes.push(one);
            }
            if rank > 1 && sizes.len() == 1 {
                sizes.insert(0, one);
            }
            if rank > 2 && sizes.len() == 2 {
                sizes.push(one);
            }
            let strides = layout::view_strides(self.exprs, meta, &sizes);
            let strides = strides.map_err(|error| self.call.unfit(error.to_string()))?;
            // Dimensions of size 1 can always be added.
            let strides = strides.unwrap_or_default();
            Ok(TensorMeta {
                sizes,
                strides,
                ..meta.clone()
            })
        });
        raised.collect()
    }

    /// The product of matrices behind `batch` dimensions.
    fn product_of_matrices(&mut self, other: &str, batch: usize) -> Result<Metas, EmitError> {
        let (this, other) = (self.this()?, self.call.tensor(other)?);
        let rank = batch + 2;
        if this.sizes.len() != rank || other.sizes.len() != rank {
            return Err(self
                .call
                .unfit(format!("takes two tensors of {rank} dimensions")));
        }
        if !may_be_equal(this.sizes[rank - 1], other.sizes[rank - 2]) {
            return Err(self.call.unfit("the inner sizes differ"));
        }
        let mut sizes = this.sizes.clone();
        sizes[rank - 1] = other.sizes[rank - 1];
        Ok(one(self.fresh(this, sizes)?))
    }
}
