//! What a shape rule works with: the call, and arithmetic on its sizes.

use graven_ir::symint::{SymError, SymExprs};
use graven_ir::value::Dims;
use graven_ir::{Device, MemoryFormat, SymInt, TensorMeta};
use smallvec::{SmallVec, smallvec};

use super::layout;
use crate::call::Call;
use crate::emit::EmitError;

/// The metadata of what a call returns: one for each tensor.
pub type Metas = SmallVec<[TensorMeta; 1]>;

/// More parts of one tensor than this are a mistake or an attack: each costs a value.
pub(crate) const MOST_PARTS: i64 = 1 << 20;

/// A shape rule.
pub(super) type Rule = fn(&mut Inference<'_>) -> Result<Metas, EmitError>;

/// One application of a rule.
pub(super) struct Inference<'a> {
    pub(super) exprs: &'a mut SymExprs,
    pub(super) call: Call<'a, TensorMeta>,
    /// The device of a tensor that is made from nothing.
    pub(super) cpu: Device,
}

impl<'a> Inference<'a> {
    /// The operator's first argument, which most rules begin with.
    pub(super) fn this(&self) -> Result<&'a TensorMeta, EmitError> {
        self.call.tensor("self")
    }

    fn sized<T>(&self, result: Result<T, SymError>) -> Result<T, EmitError> {
        result.map_err(|error| self.call.unfit(error.to_string()))
    }

    pub(super) fn add(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, EmitError> {
        let sum = self.exprs.add(a, b);
        self.sized(sum)
    }

    pub(super) fn sub(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, EmitError> {
        let difference = self.exprs.sub(a, b);
        self.sized(difference)
    }

    pub(super) fn mul(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, EmitError> {
        let product = self.exprs.mul(a, b);
        self.sized(product)
    }

    pub(super) fn floordiv(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, EmitError> {
        let quotient = self.exprs.floordiv(a, b);
        self.sized(quotient)
    }

    pub(super) fn min(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, EmitError> {
        let least = self.exprs.min(a, b);
        self.sized(least)
    }

    pub(super) fn product(&mut self, sizes: &[SymInt]) -> Result<SymInt, EmitError> {
        let product = self.exprs.product_of(sizes);
        self.sized(product)
    }

    pub(super) fn contiguous_strides(&mut self, sizes: &[SymInt]) -> Result<Dims, EmitError> {
        let strides = layout::contiguous_strides(self.exprs, sizes);
        self.sized(strides)
    }

    pub(super) fn strides_in_format(
        &mut self,
        sizes: &[SymInt],
        format: MemoryFormat,
    ) -> Result<Dims, EmitError> {
        let strides = layout::strides_in_format(self.exprs, sizes, format);
        self.sized(strides)
    }

    pub(super) fn preserved_strides(&mut self, meta: &TensorMeta) -> Result<Dims, EmitError> {
        let strides = layout::preserved_strides(self.exprs, meta);
        self.sized(strides)
    }

    pub(super) fn elementwise_strides(
        &mut self,
        sizes: &[SymInt],
        operands: &[Dims],
    ) -> Result<Dims, EmitError> {
        let strides = layout::elementwise_strides(self.exprs, sizes, operands);
        self.sized(strides)
    }

    /// Whether `a < b`: decided, or as it was at export.
    pub(super) fn less(&self, a: SymInt, b: SymInt) -> Option<bool> {
        layout::less(self.exprs, a, b)
    }

    /// The position of dimension `dim`, negative counted from the end.
    pub(super) fn wrap(&self, dim: i64, rank: usize) -> Result<usize, EmitError> {
        wrap_dim(&self.call, dim, rank)
    }

    /// The dimension that argument `name` gives.
    pub(super) fn dim(&self, name: &str, rank: usize) -> Result<usize, EmitError> {
        self.wrap(self.call.const_int(name)?, rank)
    }

    /// A fresh contiguous tensor of `sizes`, otherwise like `like`.
    pub(super) fn fresh(
        &mut self,
        like: &TensorMeta,
        sizes: Dims,
    ) -> Result<TensorMeta, EmitError> {
        let strides = self.contiguous_strides(&sizes)?;
        Ok(TensorMeta {
            sizes,
            strides,
            storage_offset: SymInt::Int(0),
            ..like.clone()
        })
    }

    /// A fresh tensor with the sizes of `like`, its strides kept where they are dense.
    pub(super) fn like(&mut self, like: &TensorMeta) -> Result<TensorMeta, EmitError> {
        let strides = self.preserved_strides(like)?;
        Ok(TensorMeta {
            strides,
            storage_offset: SymInt::Int(0),
            ..like.clone()
        })
    }
}

/// One result.
pub(super) fn one(meta: TensorMeta) -> Metas {
    smallvec![meta]
}

/// The position of dimension `dim` of `rank`, negative counted from the end; a tensor without
/// dimensions counts as one with one.
pub(crate) fn wrap_dim<V>(call: &Call<'_, V>, dim: i64, rank: usize) -> Result<usize, EmitError> {
    let rank = rank.max(1) as i64;
    if dim < -rank || dim >= rank {
        return Err(call.unfit(format!("dimension {dim} is out of range for rank {rank}")));
    }
    Ok(dim.rem_euclid(rank) as usize)
}
