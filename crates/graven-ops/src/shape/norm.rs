//! Shape rules of normalization, and of other operators that update a state or return a buffer.

use graven_ir::value::Dims;
use graven_ir::{DType, SymInt, TensorMeta};
use smallvec::smallvec;

use super::rule::{Inference, Metas, Rule};
use crate::emit::EmitError;

/// The rule of an operator of these families.
pub(super) fn rule(operator: &str) -> Option<Rule> {
    Some(match operator {
        "aten::_native_batch_norm_legit.no_stats" => batch_norm,
        "aten::_native_batch_norm_legit_functional" => batch_norm_functional,
        "aten::_native_batch_norm_legit_no_training" => batch_norm_no_training,
        "aten::_fused_moving_avg_obs_fq_helper_functional" => moving_average_functional,
        "aten::log_sigmoid_forward" => log_sigmoid_forward,
        "aten::rrelu_with_noise_functional" => rrelu_functional,
        _ => return None,
    })
}

/// Result, and the batch's statistics.
fn batch_norm(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let channels = rule.channels()?;
    rule.normalized(channels)
}

/// The same, and the new running statistics.
fn batch_norm_functional(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let mut metas = batch_norm(rule)?;
    for name in ["running_mean", "running_var"] {
        let running = rule.call.tensor(name)?;
        metas.push(rule.like(running)?);
    }
    Ok(metas)
}

/// Result, and no statistics.
fn batch_norm_no_training(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    rule.normalized(SymInt::Int(0))
}

fn rrelu_functional(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let (this, noise) = (rule.this()?, rule.call.tensor("noise")?);
    Ok(smallvec![rule.like(this)?, rule.like(noise)?])
}

/// Result and mask, and the new state of the observer.
fn moving_average_functional(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let result = rule.like(rule.this()?)?;
    let mask = TensorMeta {
        dtype: DType::Bool,
        ..result.clone()
    };
    let mut metas: Metas = smallvec![result, mask];
    for name in ["running_min", "running_max", "scale", "zero_point"] {
        metas.push(rule.like(rule.call.tensor(name)?)?);
    }
    Ok(metas)
}

/// Result and buffer.
fn log_sigmoid_forward(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let result = rule.like(rule.this()?)?;
    Ok(smallvec![result.clone(), result])
}

impl Inference<'_> {
    fn channels(&self) -> Result<SymInt, EmitError> {
        let channels = self.call.tensor("input")?.sizes.get(1).copied();
        channels.ok_or_else(|| self.call.unfit("takes a tensor of at least 2 dimensions"))
    }

    /// The input normalized, and two statistics of `count` elements.
    fn normalized(&mut self, count: SymInt) -> Result<Metas, EmitError> {
        let input = self.call.tensor("input")?;
        let result = self.like(input)?;
        let statistic = self.fresh(input, Dims::from_slice(&[count]))?;
        Ok(smallvec![result, statistic.clone(), statistic])
    }
}
