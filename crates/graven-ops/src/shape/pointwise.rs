//! Shape rules of element-wise operators: sizes broadcast, dtypes promote.

use graven_ir::schema::SchemaType;
use graven_ir::value::Dims;
use graven_ir::{DType, MemoryFormat, SymInt, TensorMeta};

use super::dtype::{Promotion, to_floating};
use super::layout;
use super::rule::{Inference, Metas, Rule, one};
use crate::catalogue::layout::returns_bool;
use crate::emit::{Arg, EmitError};
use crate::tags::{Tag, Tags};

/// Operators that compute in floating-point numbers whatever they are given.
const FLOATING: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "i0",
    "igamma",
    "igammac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "logit",
    "mvlgamma",
    "polygamma",
    "rad2deg",
    "reciprocal",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "true_divide",
    "xlogy",
];

/// Element-wise operators that do not carry the tag.
const UNTAGGED: &[&str] = &[
    "aten::floor_divide",
    "aten::floor_divide.Scalar",
    "aten::linalg_cross",
    "aten::bitwise_and.Scalar",
    "aten::bitwise_or.Scalar",
    "aten::bitwise_xor.Scalar",
    "aten::where.Scalar",
    "aten::where.ScalarOther",
    "aten::where.ScalarSelf",
    "aten::where.self",
    "aten::_conj_physical",
];

/// The rule of an element-wise operator.
pub(super) fn rule(operator: &str, tags: Tags) -> Option<Rule> {
    let is_pointwise = tags.contains(Tag::Pointwise) || UNTAGGED.contains(&operator);
    let writes = tags.contains(Tag::Out) || tags.contains(Tag::Inplace);
    (is_pointwise && !writes).then_some(pointwise as Rule)
}

fn pointwise(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let operands = rule.operands();
    let Some(first) = operands.first().copied() else {
        return Err(rule.call.unfit("takes a tensor"));
    };
    let dtype = rule.result_dtype()?;
    let sizes = rule.broadcast(operands.iter().map(|meta| &meta.sizes))?;
    let strides = rule.result_strides(&operands, &sizes)?;
    // A tensor without dimensions may live elsewhere.
    let device = operands.iter().find(|meta| !meta.sizes.is_empty());
    Ok(one(TensorMeta {
        dtype,
        sizes,
        strides,
        storage_offset: SymInt::Int(0),
        device: device.unwrap_or(&first).device,
        ..first.clone()
    }))
}

/// Strides of an operand that is broadcast: 0 where it is repeated.
fn expanded_strides(meta: &TensorMeta, sizes: &[SymInt]) -> Dims {
    let added = sizes.len() - meta.sizes.len().min(sizes.len());
    let own = meta.sizes.iter().zip(&meta.strides).zip(&sizes[added..]);
    let own = own.map(|((size, stride), wanted)| {
        let repeated = *size == SymInt::Int(1) && size != wanted;
        if repeated { SymInt::Int(0) } else { *stride }
    });
    std::iter::repeat_n(SymInt::Int(0), added)
        .chain(own)
        .collect()
}

impl<'a> Inference<'a> {
    /// All tensors among the arguments, in order.
    fn operands(&self) -> Vec<&'a TensorMeta> {
        let declared = self.call.schema.arguments.iter();
        let given = declared.filter_map(|argument| self.call.given(&argument.name));
        given
            .filter_map(|arg| match arg {
                Arg::Value(meta) => Some(meta),
                _ => None,
            })
            .collect()
    }

    /// The strides of the result. Where the operands agree on a layout it is theirs, and strides
    /// of dimensions of size 1 do not count.
    fn result_strides(
        &mut self,
        operands: &[&TensorMeta],
        sizes: &Dims,
    ) -> Result<Dims, EmitError> {
        if operands.iter().any(|meta| meta.sizes == *sizes) {
            for format in [
                MemoryFormat::Contiguous,
                MemoryFormat::ChannelsLast,
                MemoryFormat::ChannelsLast3d,
            ] {
                if self.are_all_in(operands, format)? {
                    return self.strides_in_format(sizes, format);
                }
            }
        }
        if let Some(strides) = self.common_strides(operands)? {
            return Ok(strides);
        }
        let strides: Vec<Dims> = operands
            .iter()
            .map(|meta| expanded_strides(meta, sizes))
            .collect();
        self.elementwise_strides(sizes, &strides)
    }

    fn are_all_in(
        &mut self,
        operands: &[&TensorMeta],
        format: MemoryFormat,
    ) -> Result<bool, EmitError> {
        for meta in operands {
            let fits = layout::is_contiguous(self.exprs, meta, format);
            if !fits.map_err(|error| self.call.unfit(error.to_string()))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The strides that all operands have, where they are dense.
    fn common_strides(&mut self, operands: &[&TensorMeta]) -> Result<Option<Dims>, EmitError> {
        let Some((first, others)) = operands.split_first() else {
            return Ok(None);
        };
        let same = |meta: &&TensorMeta| meta.sizes == first.sizes && meta.strides == first.strides;
        if !others.iter().all(same) {
            return Ok(None);
        }
        let dense = layout::is_dense(self.exprs, first);
        let dense = dense.map_err(|error| self.call.unfit(error.to_string()))?;
        Ok(dense.then(|| first.strides.clone()))
    }

    /// The dtype of the result.
    fn result_dtype(&self) -> Result<DType, EmitError> {
        let packet = &*self.call.schema.name.packet;
        if returns_bool(packet) {
            return Ok(DType::Bool);
        }
        let Some(promoted) = self.promoted(packet) else {
            return Err(self.call.unfit("takes a tensor"));
        };
        let true_division = packet == "div" && !self.has_rounding_mode();
        Ok(match packet {
            "abs" | "angle" if promoted.is_complex() => promoted.to_real(),
            "angle" => to_floating(promoted),
            "float_power" if promoted.is_complex() => DType::Complex128,
            "float_power" => DType::Float64,
            _ if true_division || is_floating(packet) => to_floating(promoted),
            _ => promoted,
        })
    }

    fn has_rounding_mode(&self) -> bool {
        matches!(self.call.given("rounding_mode"), Some(Arg::Str(_)))
    }

    /// What the operands' dtypes come to. A condition is no operand, and a scalar is one only
    /// where it stands for a tensor: `alpha`, `value` and bounds of activations do not count.
    fn promoted(&self, packet: &str) -> Option<DType> {
        let mut promotion = Promotion::default();
        for argument in &self.call.schema.arguments {
            match self.call.given(&argument.name) {
                Some(Arg::Value(meta)) if &*argument.name != "condition" => {
                    promotion.add_tensor(meta.dtype, meta.sizes.len());
                }
                Some(scalar) if is_operand(packet, &argument.name, &argument.ty) => {
                    promotion.add_scalar(scalar);
                }
                _ => {}
            }
        }
        promotion.result()
    }

    /// The sizes that all tensors are repeated to.
    pub(super) fn broadcast<'s>(
        &self,
        sizes: impl Iterator<Item = &'s Dims> + Clone,
    ) -> Result<Dims, EmitError> {
        let rank = sizes.clone().map(|sizes| sizes.len()).max().unwrap_or(0);
        let mut result: Dims = smallvec::smallvec![SymInt::Int(1); rank];
        for operand in sizes {
            let added = rank - operand.len();
            for (known, size) in result[added..].iter_mut().zip(operand) {
                match (*known, *size) {
                    (SymInt::Int(1), size) => *known = size,
                    (_, SymInt::Int(1)) => {}
                    (SymInt::Int(a), SymInt::Int(b)) if a != b => {
                        return Err(self.call.unfit(format!("sizes {a} and {b} do not fit")));
                    }
                    // A symbolic size that meets a known one was found to be equal at export.
                    (SymInt::Expr(_), SymInt::Int(_)) => *known = *size,
                    _ => {}
                }
            }
        }
        Ok(result)
    }
}

fn is_floating(packet: &str) -> bool {
    let packet = packet.strip_prefix("special_").unwrap_or(packet);
    FLOATING.contains(&packet)
        || matches!(
            packet,
            "expit"
                | "gammainc"
                | "gammaincc"
                | "gammaln"
                | "ndtr"
                | "ndtri"
                | "psi"
                | "entr"
                | "erfcx"
                | "i0e"
                | "i1"
                | "i1e"
                | "log_ndtr"
                | "xlog1py"
                | "zeta"
        )
}

/// Whether a scalar that is given for this argument counts for the dtype. Numbers may be given
/// for tensors, too.
fn is_operand(packet: &str, argument: &str, ty: &SchemaType) -> bool {
    match (ty.innermost(), argument) {
        (SchemaType::Tensor, _) => true,
        (SchemaType::Scalar, "self" | "other" | "exponent") => true,
        (SchemaType::Scalar, "min" | "max") => packet.starts_with("clamp") || packet == "clip",
        _ => false,
    }
}
