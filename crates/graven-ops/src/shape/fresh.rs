//! Shape rules of fresh tensors that are like an argument, or made from nothing.

use graven_ir::value::Dims;
use graven_ir::{DType, MemoryFormat, SymInt, TensorMeta};
use smallvec::smallvec;

use super::rule::{Inference, Metas, Rule, one};
use crate::emit::{Arg, EmitError};

/// The rule of an operator that makes a tensor like one that it is given, or a new one.
pub(super) fn rule(operator: &str) -> Option<Rule> {
    Some(match operator {
        "aten::_to_copy" => to_copy,
        "aten::clone" | "aten::empty_like" | "aten::full_like" | "aten::ones_like"
        | "aten::rand_like" | "aten::randint_like" | "aten::randn_like" | "aten::zeros_like" => {
            in_format
        }
        "aten::native_dropout" => native_dropout,
        "aten::new_empty" | "aten::new_full" | "aten::new_ones" | "aten::new_zeros" => new,
        "aten::new_empty_strided" => new_strided,
        "aten::empty_strided" => empty_strided,
        "aten::empty.memory_format"
        | "aten::full"
        | "aten::ones"
        | "aten::rand"
        | "aten::randn"
        | "aten::zeros" => factory,
        "aten::arange" | "aten::arange.start" | "aten::arange.start_step" => arange,
        "aten::scalar_tensor" => scalar_tensor,
        "aten::masked_fill.Scalar" | "aten::masked_fill.Tensor" | "aten::masked_scatter" => masked,
        "aten::bernoulli" | "aten::bernoulli.p" | "aten::bernoulli.Tensor" => dense,
        "aten::fill.Scalar"
        | "aten::fill.Tensor"
        | "aten::index_fill.int_Scalar"
        | "aten::index_fill.int_Tensor"
        | "aten::index_put"
        | "aten::normal_functional"
        | "aten::put"
        | "aten::random"
        | "aten::random.from"
        | "aten::random.to"
        | "aten::exponential"
        | "aten::geometric"
        | "aten::cauchy"
        | "aten::log_normal"
        | "aten::zero" => like_this,
        "aten::as_strided_scatter"
        | "aten::copy"
        | "aten::diagonal_scatter"
        | "aten::select_scatter"
        | "aten::slice_scatter"
        | "aten::uniform" => laid_out_like_this,
        _ => return None,
    })
}

/// Sizes and dtype of the first argument, its strides kept where they are dense.
fn like_this(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let this = rule.this()?;
    Ok(one(rule.like(this)?))
}

/// Sizes and dtype of the first argument, its strides kept as they are, gaps included; only
/// where it repeats elements the result does not.
fn laid_out_like_this(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let this = rule.this()?;
    let mut dims = this.sizes.iter().zip(&this.strides);
    if dims.any(|(size, stride)| *size != SymInt::Int(1) && *stride == SymInt::Int(0)) {
        return Ok(one(rule.like(this)?));
    }
    Ok(one(TensorMeta {
        storage_offset: SymInt::Int(0),
        ..this.clone()
    }))
}

/// Sizes and dtype of the first argument, contiguous.
fn dense(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let this = rule.this()?;
    Ok(one(rule.fresh(this, this.sizes.clone())?))
}

/// Dtype of the first argument, repeated to the sizes of the mask, contiguous.
fn masked(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let (this, mask) = (rule.this()?, rule.call.tensor("mask")?);
    let sizes = rule.broadcast([&this.sizes, &mask.sizes].into_iter())?;
    Ok(one(rule.fresh(this, sizes)?))
}

/// Like the first argument, in the memory format and dtype that are asked for.
fn in_format(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let this = rule.this()?;
    let mut meta = rule.formatted(this)?;
    if rule.call.schema.argument("dtype").is_some() {
        rule.apply_options(&mut meta)?;
    }
    Ok(one(meta))
}

fn to_copy(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let mut meta = rule.formatted(rule.this()?)?;
    rule.apply_options(&mut meta)?;
    Ok(one(meta))
}

fn native_dropout(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let input = rule.call.tensor("input")?;
    let kept = rule.like(input)?;
    let mask = TensorMeta {
        dtype: DType::Bool,
        ..kept.clone()
    };
    Ok(smallvec![kept, mask])
}

fn new(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let this = rule.this()?;
    let mut meta = rule.fresh(this, rule.call.ints("size")?)?;
    rule.apply_options(&mut meta)?;
    Ok(one(meta))
}

fn new_strided(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let mut meta = TensorMeta {
        sizes: rule.call.ints("size")?,
        strides: rule.call.ints("stride")?,
        storage_offset: SymInt::Int(0),
        ..rule.this()?.clone()
    };
    rule.apply_options(&mut meta)?;
    Ok(one(meta))
}

fn factory(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let sizes = rule.call.ints("size")?;
    let format = match rule.call.schema.argument("memory_format") {
        Some(_) => rule.call.memory_format("memory_format")?,
        None => None,
    };
    let strides = rule.strides_in_format(&sizes, format.unwrap_or(MemoryFormat::Contiguous))?;
    let dtype = match rule.call.given("fill_value") {
        Some(fill) => dtype_of_scalar(fill),
        None => DType::Float32,
    };
    Ok(one(rule.created(dtype, sizes, strides)?))
}

fn empty_strided(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let (sizes, strides) = (rule.call.ints("size")?, rule.call.ints("stride")?);
    Ok(one(rule.created(DType::Float32, sizes, strides)?))
}

fn scalar_tensor(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    Ok(one(rule.created(
        DType::Float32,
        Dims::new(),
        Dims::new(),
    )?))
}

fn arange(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let number = |rule: &Inference<'_>, name: &str, default: i64| {
        if rule.call.schema.argument(name).is_none() {
            return Arg::int(default);
        }
        rule.call.given(name).cloned().unwrap_or(Arg::int(default))
    };
    let (start, end) = (number(rule, "start", 0), number(rule, "end", 0));
    let step = number(rule, "step", 1);
    let length = match (&start, &end, &step) {
        (Arg::Int(start), Arg::Int(end), Arg::Int(SymInt::Int(step))) if *step != 0 => {
            let reach = rule.sub(*end, *start)?;
            // Rounded up, whatever the sign of the step.
            let negated = rule.mul(reach, SymInt::Int(-1))?;
            let steps = rule.floordiv(negated, SymInt::Int(*step))?;
            rule.mul(steps, SymInt::Int(-1))?
        }
        _ => {
            let values = [&start, &end, &step].map(as_float);
            let [Some(start), Some(end), Some(step)] = values else {
                return Err(rule.call.unfit("takes numbers"));
            };
            let length = ((end - start) / step).ceil();
            if !(0.0..=i64::MAX as f64).contains(&length) {
                return Err(rule.call.unfit("the step does not lead from start to end"));
            }
            SymInt::Int(length as i64)
        }
    };
    if matches!(length, SymInt::Int(..=-1)) {
        return Err(rule.call.unfit("the step does not lead from start to end"));
    }
    let is_float = [&start, &end, &step]
        .iter()
        .any(|arg| matches!(arg, Arg::Float(_)));
    let dtype = if is_float {
        DType::Float32
    } else {
        DType::Int64
    };
    let sizes = Dims::from_slice(&[length]);
    let strides = rule.contiguous_strides(&sizes)?;
    Ok(one(rule.created(dtype, sizes, strides)?))
}

fn as_float<V>(arg: &Arg<V>) -> Option<f64> {
    match arg {
        Arg::Int(SymInt::Int(value)) => Some(*value as f64),
        Arg::Float(value) => Some(*value),
        Arg::Bool(value) => Some(f64::from(u8::from(*value))),
        _ => None,
    }
}

/// The dtype of a tensor that is filled with a scalar.
fn dtype_of_scalar<V>(scalar: &Arg<V>) -> DType {
    match scalar {
        Arg::Int(_) => DType::Int64,
        Arg::Bool(_) => DType::Bool,
        Arg::Complex(..) => DType::Complex64,
        _ => DType::Float32,
    }
}

impl Inference<'_> {
    /// A tensor with the sizes of `this` in the memory format that the call asks for.
    fn formatted(&mut self, this: &TensorMeta) -> Result<TensorMeta, EmitError> {
        let format = self.call.memory_format("memory_format")?;
        let strides = match format.unwrap_or(MemoryFormat::Preserve) {
            MemoryFormat::Preserve => self.preserved_strides(this)?,
            format => self.strides_in_format(&this.sizes, format)?,
        };
        Ok(TensorMeta {
            strides,
            storage_offset: SymInt::Int(0),
            ..this.clone()
        })
    }

    /// Takes over the dtype, layout and device that the call asks for.
    fn apply_options(&self, meta: &mut TensorMeta) -> Result<(), EmitError> {
        if let Some(dtype) = self.call.dtype("dtype")? {
            meta.dtype = dtype;
        }
        if let Some(layout) = self.call.layout("layout")? {
            meta.layout = layout;
        }
        if let Some(device) = self.call.device("device")? {
            meta.device = device;
        }
        Ok(())
    }

    /// A tensor that is made from nothing: of `dtype` and on the CPU, unless the call says
    /// otherwise.
    fn created(
        &mut self,
        dtype: DType,
        sizes: Dims,
        strides: Dims,
    ) -> Result<TensorMeta, EmitError> {
        let mut meta = TensorMeta {
            dtype,
            sizes,
            strides,
            storage_offset: SymInt::Int(0),
            layout: graven_ir::Layout::Strided,
            device: self.cpu,
            requires_grad: false,
        };
        self.apply_options(&mut meta)?;
        Ok(meta)
    }
}
