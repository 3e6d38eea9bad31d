//! Results that share memory with arguments although no schema says so.

use graven_ir::{TargetId, TensorMetaId};
use graven_ops::Arg;
use graven_ops::catalogue::hidden_alias::{HiddenAlias, einsum_is_view};
use graven_ops::catalogue::view::inverse;

use super::error::FunctionalizeError;
use super::machine::{Binding, CallInput, Machine, Operand, TensorId};
use super::strided::Strided;
use super::view::{View, ViewCall};
use graven_ir::{Argument, SymInt, Value};

impl Machine<'_> {
    /// A call that stays as it is, and whose results are views of arguments by their geometry.
    pub(crate) fn call_with_hidden_alias(
        &mut self,
        target: TargetId,
        alias: HiddenAlias,
        inputs: &[CallInput],
        recorded: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        let viewed = self.viewed_arguments(alias, inputs);
        if let (HiddenAlias::FirstOfType, Some(&of)) = (alias, viewed.first()) {
            return self.call_identity(target, inputs, of);
        }
        let binding = self.call_functional(target, inputs, recorded)?;
        match &binding {
            Binding::Tensor(result) => {
                if let Some(&of) = viewed.first() {
                    self.share(*result, of)?;
                }
            }
            Binding::Several(results) => {
                for (index, result) in results.iter().enumerate() {
                    let of = viewed.get(if alias == HiddenAlias::Parts {
                        0
                    } else {
                        index
                    });
                    if let (Binding::Tensor(result), Some(&of)) = (result, of) {
                        self.share(*result, of)?;
                    }
                }
            }
            Binding::Value(_) | Binding::Constant(_) => {}
        }
        Ok(binding)
    }

    /// A call that returns the very tensor that it was given: its value is recorded anew.
    fn call_identity(
        &mut self,
        target: TargetId,
        inputs: &[CallInput],
        of: TensorId,
    ) -> Result<Binding, FunctionalizeError> {
        let lowered = self.lower_all(inputs)?;
        let node = self.record(target, lowered, Value::Tensor(self.tensor(of).meta));
        self.tensors[of.0 as usize].value = node;
        if self.is_base(of) {
            let storage = self.tensor(of).storage;
            self.storage_mut(storage).base = node;
        }
        Ok(Binding::Tensor(of))
    }

    /// The arguments that the results view, in the order of the results.
    fn viewed_arguments(&self, alias: HiddenAlias, inputs: &[CallInput]) -> Vec<TensorId> {
        let operand = |index: usize| inputs.get(index).map(|input| &input.operand);
        match alias {
            HiddenAlias::FirstOfType => match (operand(0), operand(1)) {
                (Some(Operand::Tensor(of)), Some(Operand::Tensor(like)))
                    if self.same_type_of(*of, *like) =>
                {
                    vec![*of]
                }
                _ => Vec::new(),
            },
            HiddenAlias::OnlyOperand => match (operand(0), operand(1)) {
                (
                    Some(Operand::Fixed(Argument::String(equation))),
                    Some(Operand::List(_, items)),
                ) if items.len() == 1 && einsum_is_view(self.context.names.get(*equation)) => {
                    tensors(items)
                }
                _ => Vec::new(),
            },
            HiddenAlias::Each => match operand(0) {
                Some(Operand::List(_, items)) => tensors(items),
                _ => Vec::new(),
            },
            HiddenAlias::Parts => match operand(0) {
                Some(Operand::Tensor(of)) => vec![*of],
                _ => Vec::new(),
            },
        }
    }

    fn same_type_of(&self, a: TensorId, b: TensorId) -> bool {
        let (a, b) = (
            self.context.meta(self.tensor(a).meta),
            self.context.meta(self.tensor(b).meta),
        );
        a.dtype == b.dtype && a.device == b.device && a.layout == b.layout
    }

    /// Makes `result` a view of the storage of `of`. Only a geometry of constants can be taken
    /// again by `as_strided`.
    fn share(&mut self, result: TensorId, of: TensorId) -> Result<(), FunctionalizeError> {
        let meta: TensorMetaId = self.tensor(result).meta;
        let geometry = self.context.meta(meta).clone();
        let dims = geometry
            .sizes
            .iter()
            .chain(&geometry.strides)
            .chain([&geometry.storage_offset]);
        let base_dtype = self
            .context
            .meta(self.base_meta(self.tensor(of).storage))
            .dtype;
        if base_dtype != geometry.dtype
            || dims.into_iter().any(|dim| matches!(dim, SymInt::Expr(_)))
        {
            return Ok(());
        }
        let target = self.target_of("aten::as_strided")?;
        let args = [
            Arg::None,
            Arg::ints(geometry.sizes.iter().copied()),
            Arg::ints(geometry.strides.iter().copied()),
            Arg::Int(geometry.storage_offset),
        ];
        let inputs = self.inputs_of(target, &args, &[])?;
        let view = self.push_view(View {
            parent: None,
            call: ViewCall {
                target,
                inputs,
                base: 0,
            },
            inverse_inputs: None,
            inverse: inverse("aten::as_strided"),
            meta,
            strided: Some(Strided {
                sizes: geometry.sizes.to_vec(),
                strides: geometry.strides.to_vec(),
                offset: geometry.storage_offset,
            }),
        });
        let storage = self.tensor(of).storage;
        let generation = self.storage(storage).generation;
        let result = &mut self.tensors[result.0 as usize];
        result.storage = storage;
        result.view = Some(view);
        // What was recorded is the value of now.
        result.generation = generation;
        result.taken = generation;
        Ok(())
    }
}

fn tensors(items: &[Operand]) -> Vec<TensorId> {
    items
        .iter()
        .filter_map(|item| match item {
            Operand::Tensor(tensor) => Some(*tensor),
            _ => None,
        })
        .collect()
}
