//! Autocast regions: what the dispatcher casts of a call's arguments.
//!
//! A region keeps the calls as the program made them. torch's retrace runs them under autocast,
//! and so records the casts: operators of the lower-precision list get their float tensors in
//! the region's dtype, those of the float32 list in float32, and some take the widest dtype of
//! their arguments.

use graven_ir::{DType, TargetId};
use graven_ops::catalogue::autocast::{self, Policy};
use graven_ops::emit::{Arg, Emit as _};

use super::emit::Dispatch;
use super::error::FunctionalizeError;
use super::machine::{CallInput, Machine, Operand, TensorId};

impl Machine<'_> {
    /// Casts the arguments of a call as the autocast region asks for; nothing outside of one.
    pub(crate) fn cast_for_autocast(
        &mut self,
        target: TargetId,
        inputs: &mut [CallInput],
    ) -> Result<(), FunctionalizeError> {
        let Some(region_dtype) = self.autocast else {
            return Ok(());
        };
        let name = self.context.target_name(target);
        let Some(policy) = self
            .registry
            .find_target(name)
            .map(|operator| self.registry.operator(operator))
        else {
            return Ok(());
        };
        let dtype = match autocast::policy(&policy.name().to_string()) {
            None => return Ok(()),
            Some(Policy::LowerPrecision) => region_dtype,
            Some(Policy::Float32) => DType::Float32,
            Some(Policy::Promote) => match self.widest(inputs) {
                Some(dtype) => dtype,
                None => return Ok(()),
            },
        };
        // C++ evaluates the arguments of the call that follows from the last to the first.
        for input in inputs.iter_mut().rev() {
            self.cast_operand(&mut input.operand, dtype)?;
        }
        Ok(())
    }

    fn cast_operand(
        &mut self,
        operand: &mut Operand,
        dtype: DType,
    ) -> Result<(), FunctionalizeError> {
        match operand {
            Operand::Tensor(tensor) if self.is_castable(*tensor, dtype) => {
                let kwargs = [("dtype", Arg::DType(dtype))];
                let cast =
                    Dispatch(self).call("aten::_to_copy", &[Arg::Value(*tensor)], &kwargs)?;
                if let Some(cast) = cast.first() {
                    *tensor = *cast;
                }
                Ok(())
            }
            Operand::List(_, items) => items
                .iter_mut()
                .try_for_each(|item| self.cast_operand(item, dtype)),
            Operand::Tensor(_) | Operand::Fixed(_) => Ok(()),
        }
    }

    /// Only floating-point tensors below float64 are cast.
    fn is_castable(&self, tensor: TensorId, dtype: DType) -> bool {
        let own = self.dtype_of(tensor);
        own.is_floating_point() && own != DType::Float64 && own != dtype
    }

    fn widest(&self, inputs: &[CallInput]) -> Option<DType> {
        let mut tensors = Vec::new();
        inputs
            .iter()
            .for_each(|input| collect(&input.operand, &mut tensors));
        let dtypes: Vec<DType> = tensors
            .into_iter()
            .map(|tensor| self.dtype_of(tensor))
            .collect();
        let is_floating = dtypes.iter().any(|dtype| dtype.is_floating_point());
        let has_float32 = dtypes.contains(&DType::Float32);
        is_floating.then_some(if has_float32 {
            DType::Float32
        } else {
            self.autocast?
        })
    }

    fn dtype_of(&self, tensor: TensorId) -> DType {
        self.context.meta(self.tensor(tensor).meta).dtype
    }
}

fn collect(operand: &Operand, tensors: &mut Vec<TensorId>) {
    match operand {
        Operand::Tensor(tensor) => tensors.push(*tensor),
        Operand::List(_, items) => items.iter().for_each(|item| collect(item, tensors)),
        Operand::Fixed(_) => {}
    }
}
