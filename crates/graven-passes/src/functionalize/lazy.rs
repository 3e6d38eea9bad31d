//! Tensors with a conjugate or negative bit: recorded values that a call must be given without
//! it.
//!
//! As torch records it: a call gets a `clone` of each such argument, and what an in-place call
//! writes to such a tensor is copied into a `clone` of the tensor, which then goes back through
//! the views.

use graven_ir::{Argument, Input, NodeId, TargetId, Value};
use graven_ops::catalogue::lazy;
use graven_ops::catalogue::view::Inverse;
use graven_ops::emit::Arg;
use graven_ops::operator::Composite;

use super::error::FunctionalizeError;
use super::machine::{Machine, TensorId};
use super::view::ViewId;

impl Machine<'_> {
    /// Notes the bit of a value that was just recorded as a view of `base`, or as what undoes
    /// one.
    pub(crate) fn note_bit(&mut self, node: NodeId, base: NodeId, inverse: Option<Inverse>) {
        let flips = matches!(
            inverse,
            Some(Inverse::Bare("aten::_conj" | "aten::_neg_view"))
        );
        if self.has_bit(base) != flips {
            self.bits.insert(node);
        }
    }

    /// A base that the view can be taken of: some views need the values.
    pub(crate) fn base_for(
        &mut self,
        base: NodeId,
        inverse: Option<Inverse>,
    ) -> Result<NodeId, FunctionalizeError> {
        let needs_values = matches!(
            inverse,
            Some(Inverse::Bare("aten::view_as_complex" | "aten::view_as_real") | Inverse::DType)
        );
        if needs_values && self.has_bit(base) {
            return self.resolved(base);
        }
        Ok(base)
    }

    /// Whether a recorded value has a bit set.
    pub(crate) fn has_bit(&self, node: NodeId) -> bool {
        !self.bits.is_empty() && self.bits.contains(&node)
    }

    /// Whether a tensor of the program has a bit set, whether its value is up to date or not.
    pub(crate) fn bit_of(&self, tensor: TensorId) -> bool {
        let tensor = self.tensor(tensor);
        let flips = |view: &ViewId| {
            matches!(
                self.view(*view).inverse,
                Some(Inverse::Bare("aten::_conj" | "aten::_neg_view"))
            )
        };
        let chain = self.chain(tensor.view);
        let base = self.has_bit(self.storage(tensor.storage).base);
        chain.iter().filter(|view| flips(view)).count() % 2 == usize::from(!base)
    }

    /// Replaces the arguments of a call that have the bit by copies without it.
    pub(crate) fn resolve_bits(
        &mut self,
        target: TargetId,
        lowered: &mut [Input],
    ) -> Result<(), FunctionalizeError> {
        if self.bits.is_empty() {
            return Ok(());
        }
        let operator = self.registry.find_target(self.context.target_name(target));
        let operator = operator.map(|operator| self.registry.operator(operator));
        let sees_bit = operator.is_some_and(|operator| {
            operator.composite() == Composite::Implicit
                || lazy::understands_bit(&operator.name().packet)
        });
        if sees_bit {
            return Ok(());
        }
        for input in lowered {
            self.resolve_argument(&mut input.argument)?;
        }
        Ok(())
    }

    fn resolve_argument(&mut self, argument: &mut Argument) -> Result<(), FunctionalizeError> {
        match argument {
            Argument::Node(node) if self.has_bit(*node) => {
                *argument = Argument::Node(self.resolved(*node)?);
                Ok(())
            }
            Argument::List(_, items) => items
                .iter_mut()
                .try_for_each(|item| self.resolve_argument(item)),
            _ => Ok(()),
        }
    }

    /// A copy without the bit.
    pub(crate) fn resolved(&mut self, node: NodeId) -> Result<NodeId, FunctionalizeError> {
        self.pure_call("aten::clone", &[Arg::Value(node)], &[])
    }

    /// What is carried back when `value` was written to a tensor whose recorded value was
    /// `before`.
    pub(crate) fn written_over_bit(
        &mut self,
        before: NodeId,
        value: NodeId,
    ) -> Result<NodeId, FunctionalizeError> {
        if !self.has_bit(before) || !matches!(self.graph.node(value).value, Value::Tensor(_)) {
            return Ok(value);
        }
        let copy = self.resolved(before)?;
        self.pure_call("aten::copy", &[Arg::Value(copy), Arg::Value(value)], &[])
    }
}
