//! Fake quantization with moving averages of the observed range.

use graven_ir::SymInt;

use super::{Formula, Outcome, Taken, one, tensor, value};
use crate::call::Call;
use crate::emit::Emit;

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    Some(match operator {
        "aten::fused_moving_avg_obs_fake_quant" => fused_moving_avg_obs_fake_quant,
        _ => return None,
    })
}

/// The helper has the same arguments; its mask is not part of the result.
fn fused_moving_avg_obs_fake_quant<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let this = call.tensor("self")?;
    if emit.meta(this).sizes.contains(&SymInt::Int(0)) {
        return Ok(value(one(emit, "aten::clone", &[tensor(this)], &[])?));
    }
    let helper = "aten::_fused_moving_avg_obs_fq_helper";
    let results = emit.call(helper, call.args, call.kwargs)?;
    Ok(Outcome::Values(results.into_iter().take(1).collect()))
}
