//! Operators that are taken apart: their formulas call the machine again.

use graven_ir::{Argument, ArgumentKind, Value};
use graven_ops::call::Call;
use graven_ops::composite::{self, Outcome};
use graven_ops::emit::Arg;
use graven_ops::registry::OperatorId;

use super::emit::Dispatch;
use super::error::FunctionalizeError;
use super::machine::{Binding, CallInput, Machine, Operand, TensorId};

impl Machine<'_> {
    /// A call of an operator that has a formula.
    pub(crate) fn call_composite(
        &mut self,
        operator: OperatorId,
        inputs: &[CallInput],
    ) -> Result<Binding, FunctionalizeError> {
        let registry = self.registry;
        let schema = registry.operator(operator).schema();
        let mut args: Vec<Arg<TensorId>> = Vec::new();
        let mut kwargs: Vec<(&str, Arg<TensorId>)> = Vec::new();
        for input in inputs {
            let arg = self.arg_of_operand(&input.operand);
            match input.kind {
                ArgumentKind::Positional => args.push(arg),
                ArgumentKind::Keyword => {
                    let position = schema.argument(self.context.names.get(input.name));
                    // An unknown keyword is refused by `Call::new` under its own name.
                    let name = position.map_or("", |position| &*schema.arguments[position].name);
                    kwargs.push((name, arg));
                }
            }
        }
        let call = Call::new(schema, &args, &kwargs).map_err(|error| self.error(error.into()))?;
        let name = schema.name.to_string();
        let Some(formula) = composite::formula::<Dispatch<'_, '_>>(&name) else {
            let problem = super::error::Problem::NoFunctionalTwin(name);
            return Err(self.error(problem));
        };
        self.take_names_of_composite(&schema.name.packet, inputs);
        let outcome = formula(&mut Dispatch(self), &call)?;
        let returns_list = schema
            .returns
            .first()
            .is_some_and(|result| result.ty.is_list());
        Ok(match outcome {
            Outcome::Input(tensor) => Binding::Tensor(tensor),
            Outcome::Values(mut values) if values.len() == 1 && !returns_list => {
                Binding::Tensor(values.remove(0))
            }
            Outcome::Values(values) if values.is_empty() => Binding::Constant(Argument::None),
            Outcome::Values(values) => {
                Binding::Several(values.into_iter().map(Binding::Tensor).collect())
            }
        })
    }

    /// An operand as a formula sees it.
    fn arg_of_operand(&self, operand: &Operand) -> Arg<TensorId> {
        match operand {
            Operand::Tensor(tensor) => Arg::Value(*tensor),
            Operand::List(_, items) => {
                Arg::List(items.iter().map(|item| self.arg_of_operand(item)).collect())
            }
            Operand::Fixed(argument) => self.fixed_arg(argument),
        }
    }

    /// An argument without tensors.
    fn fixed_arg(&self, argument: &Argument) -> Arg<TensorId> {
        match argument {
            Argument::Node(node) => match self.graph.node(*node).value {
                Value::SymInt(size) => Arg::Int(size),
                _ => Arg::None,
            },
            Argument::List(_, items) => {
                Arg::List(items.iter().map(|item| self.fixed_arg(item)).collect())
            }
            Argument::Int(value) => Arg::int(*value),
            Argument::Float(value) => Arg::Float(*value),
            Argument::Bool(value) => Arg::Bool(*value),
            Argument::Complex(real, imaginary) => Arg::Complex(*real, *imaginary),
            Argument::String(text) => Arg::Str(self.context.names.get(*text).into()),
            Argument::DType(dtype) => Arg::DType(*dtype),
            Argument::MemoryFormat(format) => Arg::MemoryFormat(*format),
            Argument::Layout(layout) => Arg::Layout(*layout),
            Argument::Device(device) => Arg::Device(*device),
            Argument::None
            | Argument::Operator(_)
            | Argument::CustomObject(..)
            | Argument::Dict(_) => Arg::None,
        }
    }
}
