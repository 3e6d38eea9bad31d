//! Shape rules of reductions.

use graven_ir::value::Dims;
use graven_ir::{DType, SymInt, TensorMeta};
use smallvec::smallvec;

use super::dtype::is_integral;
use super::rule::{Inference, Metas, Rule, one};
use crate::emit::{Arg, EmitError};

/// The rule of a reduction.
pub(super) fn rule(operator: &str) -> Option<Rule> {
    Some(match operator {
        "aten::sum"
        | "aten::sum.dim_IntList"
        | "aten::nansum"
        | "aten::prod"
        | "aten::prod.dim_int" => accumulated,
        "aten::cumprod" | "aten::cumsum" => scan,
        "aten::amax" | "aten::amin" | "aten::max" | "aten::mean" | "aten::mean.dim"
        | "aten::min" | "aten::logsumexp" => same_dtype,
        "aten::norm.ScalarOpt_dim"
        | "aten::linalg_vector_norm"
        | "aten::std.correction"
        | "aten::var.correction" => real,
        "aten::argmax" | "aten::argmin" => position,
        "aten::all" | "aten::all.dim" | "aten::all.dims" | "aten::any" | "aten::any.dim"
        | "aten::any.dims" => truth,
        "aten::max.dim" | "aten::min.dim" => value_and_position,
        _ => return None,
    })
}

fn same_dtype(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let dtype = rule.asked_dtype()?.unwrap_or(rule.this()?.dtype);
    Ok(one(rule.reduced(dtype)?))
}

/// Integers and truth values are added up in 64 bits.
fn accumulated(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let dtype = rule.accumulating_dtype()?;
    Ok(one(rule.reduced(dtype)?))
}

fn scan(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let this = rule.this()?;
    let dtype = rule.accumulating_dtype()?;
    let meta = rule.fresh(this, this.sizes.clone())?;
    Ok(one(TensorMeta { dtype, ..meta }))
}

fn real(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let dtype = rule.asked_dtype()?.unwrap_or(rule.this()?.dtype);
    Ok(one(rule.reduced(dtype.to_real())?))
}

fn position(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    Ok(one(rule.reduced(DType::Int64)?))
}

fn truth(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let dtype = match rule.this()?.dtype {
        DType::UInt8 => DType::UInt8,
        _ => DType::Bool,
    };
    Ok(one(rule.reduced(dtype)?))
}

fn value_and_position(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let values = rule.reduced(rule.this()?.dtype)?;
    let positions = TensorMeta {
        dtype: DType::Int64,
        ..values.clone()
    };
    Ok(smallvec![values, positions])
}

impl Inference<'_> {
    fn has(&self, argument: &str) -> bool {
        self.call.schema.argument(argument).is_some()
    }

    fn asked_dtype(&self) -> Result<Option<DType>, EmitError> {
        match self.has("dtype") {
            true => self.call.dtype("dtype"),
            false => Ok(None),
        }
    }

    fn accumulating_dtype(&self) -> Result<DType, EmitError> {
        let own = self.this()?.dtype;
        let widened = if is_integral(own) { DType::Int64 } else { own };
        Ok(self.asked_dtype()?.unwrap_or(widened))
    }

    /// The dimensions that are reduced: those given, or all.
    fn reduced_dims(&self, rank: usize) -> Result<Vec<bool>, EmitError> {
        let given = match self.has("dim").then(|| self.call.given("dim")).flatten() {
            None | Some(Arg::None) => Vec::new(),
            Some(_) => self.call.const_ints("dim")?,
        };
        let mut reduced = vec![given.is_empty(); rank];
        for dim in given {
            let dim = self.wrap(dim, rank)?;
            if let Some(flag) = reduced.get_mut(dim) {
                *flag = true;
            }
        }
        Ok(reduced)
    }

    fn reduced(&mut self, dtype: DType) -> Result<TensorMeta, EmitError> {
        let this = self.this()?;
        let reduced = self.reduced_dims(this.sizes.len())?;
        let keeps = self.has("keepdim") && self.call.bool("keepdim")?;
        let sizes = this.sizes.iter().zip(reduced);
        let sizes: Dims = sizes
            .filter_map(|(size, reduced)| match (reduced, keeps) {
                (false, _) => Some(*size),
                (true, true) => Some(SymInt::Int(1)),
                (true, false) => None,
            })
            .collect();
        let meta = self.fresh(this, sizes)?;
        Ok(TensorMeta { dtype, ..meta })
    }
}
