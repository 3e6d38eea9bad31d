//! The machine as [`Emit`]: how formulas record calls.
//!
//! [`Pure`] serves view inverses: values are recorded nodes, calls are pure. [`Dispatch`]
//! serves the operators that are taken apart: values are tensors of the program, and calls go
//! through the machine again, views and writes included.

use graven_ir::schema::SchemaType;
use graven_ir::{
    Argument, ArgumentKind, Context, Input, ListKind, NameId, NodeId, TargetId, TensorMeta, Value,
};
use graven_ops::emit::{Arg, Emit, EmitError};
use graven_ops::registry::OperatorId;

use super::error::{FunctionalizeError, Problem};
use super::machine::{Binding, CallInput, Machine, Operand, Recorded, TensorId};

/// Records pure calls on recorded values.
pub(crate) struct Pure<'m, 'a>(pub(crate) &'m mut Machine<'a>);

impl Emit for Pure<'_, '_> {
    type Value = NodeId;
    type Error = FunctionalizeError;

    fn call(
        &mut self,
        operator: &str,
        args: &[Arg<NodeId>],
        kwargs: &[(&str, Arg<NodeId>)],
    ) -> Result<Vec<NodeId>, FunctionalizeError> {
        let target = self.0.target_of(operator)?;
        let inputs = self.0.inputs_of(target, args, kwargs)?;
        let value = self.0.infer(target, &inputs)?;
        let node = self.0.record(target, inputs, value.clone());
        let mut nodes = Vec::new();
        collect_nodes(&self.0.record_results(node, &value), &mut nodes);
        Ok(nodes)
    }

    fn meta<'a>(&'a self, value: &'a NodeId) -> &'a TensorMeta {
        self.0.node_meta(*value)
    }

    fn context(&mut self) -> &mut Context {
        &mut self.0.context
    }
}

/// Dispatches calls on tensors of the program.
pub(crate) struct Dispatch<'m, 'a>(pub(crate) &'m mut Machine<'a>);

impl Emit for Dispatch<'_, '_> {
    type Value = TensorId;
    type Error = FunctionalizeError;

    fn call(
        &mut self,
        operator: &str,
        args: &[Arg<TensorId>],
        kwargs: &[(&str, Arg<TensorId>)],
    ) -> Result<Vec<TensorId>, FunctionalizeError> {
        let target = self.0.target_of(operator)?;
        let inputs = self.0.call_inputs_of(target, args, kwargs)?;
        let binding = self.0.dispatch(target, inputs, None)?;
        let mut tensors = Vec::new();
        collect_tensors(&binding, &mut tensors);
        Ok(tensors)
    }

    fn meta<'a>(&'a self, value: &'a TensorId) -> &'a TensorMeta {
        self.0.context.meta(self.0.tensor(*value).meta)
    }

    fn is_conjugate(&self, value: &TensorId) -> bool {
        self.0.bit_of(*value) && self.meta(value).dtype.is_complex()
    }

    fn is_negative(&self, value: &TensorId) -> bool {
        self.0.bit_of(*value) && !self.meta(value).dtype.is_complex()
    }

    fn context(&mut self) -> &mut Context {
        &mut self.0.context
    }
}

fn collect_nodes(recorded: &Recorded, nodes: &mut Vec<NodeId>) {
    match recorded {
        Recorded::None => {}
        Recorded::One(node) => nodes.push(*node),
        Recorded::Many(items) => items.iter().for_each(|item| collect_nodes(item, nodes)),
    }
}

fn collect_tensors(binding: &Binding, tensors: &mut Vec<TensorId>) {
    match binding {
        Binding::Tensor(tensor) => tensors.push(*tensor),
        Binding::Several(items) => items.iter().for_each(|item| collect_tensors(item, tensors)),
        Binding::Value(_) | Binding::Constant(_) => {}
    }
}

impl Machine<'_> {
    /// The metadata of a recorded tensor.
    fn node_meta(&self, node: NodeId) -> &TensorMeta {
        match self.graph.node(node).value {
            Value::Tensor(meta) => self.context.meta(meta),
            // Formulas are given tensors, and a shape rule gives metadata to what they make.
            _ => unreachable!("a formula was given a value that is no tensor"),
        }
    }

    /// The target that calls the operator with this full name.
    pub(crate) fn target_of(&mut self, operator: &str) -> Result<TargetId, FunctionalizeError> {
        match self.operators.find(self.registry, operator) {
            Some(operator) => Ok(self.target_of_operator(operator)),
            None => Err(self.error(Problem::UnknownOperator(operator.to_owned()))),
        }
    }

    /// The target that calls an operator.
    pub(crate) fn target_of_operator(&mut self, operator: OperatorId) -> TargetId {
        self.operators
            .target(&mut self.context, self.registry, operator)
    }

    fn operator_of(&mut self, target: TargetId) -> Result<OperatorId, FunctionalizeError> {
        let operator = self
            .operators
            .of_target(&self.context, self.registry, target);
        operator.ok_or_else(|| {
            let name = self.context.target_name(target).to_owned();
            self.error(Problem::UnknownOperator(name))
        })
    }

    /// The name of an operator's argument at `index`.
    pub(crate) fn argument_name(&mut self, operator: OperatorId, index: usize) -> NameId {
        let name = self
            .operators
            .argument(&mut self.context, self.registry, operator, index);
        name.unwrap_or(self.empty_name)
    }

    /// The inputs of a call that a formula makes on recorded values.
    pub(crate) fn inputs_of(
        &mut self,
        target: TargetId,
        args: &[Arg<NodeId>],
        kwargs: &[(&str, Arg<NodeId>)],
    ) -> Result<Box<[Input]>, FunctionalizeError> {
        let operator = self.operator_of(target)?;
        let schema = self.registry.operator(operator).schema();
        let mut inputs = Vec::with_capacity(args.len() + kwargs.len());
        for (index, (argument, arg)) in schema.arguments.iter().zip(args).enumerate() {
            let name = self.argument_name(operator, index);
            let argument = self.argument_of(arg, &argument.ty)?;
            inputs.push(Input {
                name,
                kind: ArgumentKind::Positional,
                argument,
            });
        }
        for (name, arg) in kwargs {
            let ty = schema
                .argument(name)
                .map_or(&SchemaType::Tensor, |index| &schema.arguments[index].ty);
            let argument = self.argument_of(arg, ty)?;
            inputs.push(Input {
                name: self.context.names.intern(name),
                kind: ArgumentKind::Keyword,
                argument,
            });
        }
        Ok(inputs.into())
    }

    /// The same for a call on tensors of the program.
    fn call_inputs_of(
        &mut self,
        target: TargetId,
        args: &[Arg<TensorId>],
        kwargs: &[(&str, Arg<TensorId>)],
    ) -> Result<Vec<CallInput>, FunctionalizeError> {
        let operator = self.operator_of(target)?;
        let schema = self.registry.operator(operator).schema();
        let mut inputs = Vec::with_capacity(args.len() + kwargs.len());
        for (index, (argument, arg)) in schema.arguments.iter().zip(args).enumerate() {
            let name = self.argument_name(operator, index);
            let operand = self.operand_of_arg(arg, &argument.ty)?;
            inputs.push(CallInput {
                name,
                kind: ArgumentKind::Positional,
                operand,
            });
        }
        for (name, arg) in kwargs {
            let ty = schema
                .argument(name)
                .map_or(&SchemaType::Tensor, |index| &schema.arguments[index].ty);
            let operand = self.operand_of_arg(arg, ty)?;
            inputs.push(CallInput {
                name: self.context.names.intern(name),
                kind: ArgumentKind::Keyword,
                operand,
            });
        }
        Ok(inputs)
    }

    /// A formula's argument as a node's.
    pub(crate) fn argument_of(
        &mut self,
        arg: &Arg<NodeId>,
        ty: &SchemaType,
    ) -> Result<Argument, FunctionalizeError> {
        Ok(match arg {
            Arg::Value(node) => Argument::Node(*node),
            Arg::List(items) => {
                let items: Result<Box<[Argument]>, _> = items
                    .iter()
                    .map(|item| self.argument_of(item, ty))
                    .collect();
                let items = items?;
                Argument::List(list_kind_of(ty, &items), items)
            }
            other => self.plain_argument(other)?,
        })
    }

    fn operand_of_arg(
        &mut self,
        arg: &Arg<TensorId>,
        ty: &SchemaType,
    ) -> Result<Operand, FunctionalizeError> {
        Ok(match arg {
            Arg::Value(tensor) => Operand::Tensor(*tensor),
            Arg::List(items) => {
                let items: Result<Vec<Operand>, _> = items
                    .iter()
                    .map(|item| self.operand_of_arg(item, ty))
                    .collect();
                let items = items?;
                let fixed: Vec<Argument> = items
                    .iter()
                    .filter_map(|item| match item {
                        Operand::Fixed(argument) => Some(argument.clone()),
                        _ => None,
                    })
                    .collect();
                super::call::list_of(list_kind_of(ty, &fixed), items)
            }
            other => Operand::Fixed(self.plain_argument(other)?),
        })
    }

    /// An argument that is neither a tensor nor a list.
    fn plain_argument<V>(&mut self, arg: &Arg<V>) -> Result<Argument, FunctionalizeError> {
        Ok(match arg {
            Arg::None | Arg::Value(_) | Arg::List(_) => Argument::None,
            Arg::Int(size) => self.sym_int_argument(*size)?,
            Arg::Float(value) => Argument::Float(*value),
            Arg::Bool(value) => Argument::Bool(*value),
            Arg::Complex(real, imaginary) => Argument::Complex(*real, *imaginary),
            Arg::Str(text) => Argument::String(self.context.names.intern(text)),
            Arg::DType(dtype) => Argument::DType(*dtype),
            Arg::Layout(layout) => Argument::Layout(*layout),
            Arg::Device(device) => Argument::Device(*device),
            Arg::MemoryFormat(format) => Argument::MemoryFormat(*format),
        })
    }

    /// A recorded argument as a formula sees it: nodes that hold symbolic integers are their
    /// expressions.
    pub(crate) fn arg_of(&self, argument: &Argument) -> Arg<NodeId> {
        match argument {
            Argument::Node(node) => match self.graph.node(*node).value {
                Value::SymInt(size) => Arg::Int(size),
                _ => Arg::Value(*node),
            },
            Argument::Int(value) => Arg::int(*value),
            Argument::Float(value) => Arg::Float(*value),
            Argument::Bool(value) => Arg::Bool(*value),
            Argument::Complex(real, imaginary) => Arg::Complex(*real, *imaginary),
            Argument::String(text) => Arg::Str(self.context.names.get(*text).into()),
            Argument::DType(dtype) => Arg::DType(*dtype),
            Argument::MemoryFormat(format) => Arg::MemoryFormat(*format),
            Argument::Layout(layout) => Arg::Layout(*layout),
            Argument::Device(device) => Arg::Device(*device),
            Argument::List(_, items) => {
                Arg::List(items.iter().map(|item| self.arg_of(item)).collect())
            }
            Argument::None
            | Argument::Operator(_)
            | Argument::CustomObject(..)
            | Argument::Dict(_) => Arg::None,
        }
    }

    /// The value of a call, by the operator's shape rule.
    pub(crate) fn infer(
        &mut self,
        target: TargetId,
        inputs: &[Input],
    ) -> Result<Value, FunctionalizeError> {
        let operator = self.operator_of(target)?;
        let schema = self.registry.operator(operator).schema();
        let mut args: Vec<Arg<TensorMeta>> = Vec::new();
        let mut kwargs: Vec<(&str, Arg<TensorMeta>)> = Vec::new();
        for (index, input) in inputs.iter().enumerate() {
            let arg = self.with_metas(self.arg_of(&input.argument));
            match input.kind {
                ArgumentKind::Positional => args.push(arg),
                ArgumentKind::Keyword => {
                    let name = self.context.names.get(input.name);
                    let position = schema.argument(name).unwrap_or(index);
                    kwargs.push((
                        schema
                            .arguments
                            .get(position)
                            .map_or("", |argument| &argument.name),
                        arg,
                    ));
                }
            }
        }
        let rule = self
            .operators
            .shape(&mut self.context, self.registry, operator);
        let metas = match rule {
            Some(rule) => rule.infer(&mut self.context, &args, &kwargs),
            None => Err(EmitError::NoShapeRule {
                operator: schema.name.to_string(),
            }),
        };
        let metas = metas.map_err(|error| self.error(error.into()))?;
        let mut values: Vec<Value> = metas
            .into_iter()
            .map(|meta| Value::Tensor(self.context.metas.intern(meta)))
            .collect();
        Ok(match &*schema.returns {
            [single] if single.ty.is_list() => Value::List(values.into()),
            [_] if values.len() == 1 => values.remove(0),
            _ => Value::Tuple(values.into()),
        })
    }

    fn with_metas(&self, arg: Arg<NodeId>) -> Arg<TensorMeta> {
        match arg {
            Arg::Value(node) => match self.graph.node(node).value {
                Value::Tensor(meta) => Arg::Value(self.context.meta(meta).clone()),
                _ => Arg::None,
            },
            Arg::List(items) => Arg::List(
                items
                    .into_iter()
                    .map(|item| self.with_metas(item))
                    .collect(),
            ),
            Arg::None => Arg::None,
            Arg::Int(size) => Arg::Int(size),
            Arg::Float(value) => Arg::Float(value),
            Arg::Bool(value) => Arg::Bool(value),
            Arg::Complex(real, imaginary) => Arg::Complex(real, imaginary),
            Arg::Str(text) => Arg::Str(text),
            Arg::DType(dtype) => Arg::DType(dtype),
            Arg::Layout(layout) => Arg::Layout(layout),
            Arg::Device(device) => Arg::Device(device),
            Arg::MemoryFormat(format) => Arg::MemoryFormat(format),
        }
    }
}

/// The archive's form of a list argument of this type.
pub(crate) fn list_kind(ty: &SchemaType) -> ListKind {
    let is_optional = |ty: &SchemaType| {
        let mut ty = ty;
        loop {
            match ty {
                SchemaType::List(inner, _) => return matches!(**inner, SchemaType::Optional(_)),
                SchemaType::Optional(inner) => ty = inner,
                _ => return false,
            }
        }
    };
    match ty.innermost() {
        SchemaType::Tensor if is_optional(ty) => ListKind::OptionalTensors,
        SchemaType::Tensor => ListKind::Tensors,
        SchemaType::Float | SchemaType::Scalar => ListKind::Floats,
        SchemaType::Bool => ListKind::Bools,
        SchemaType::Str => ListKind::Strings,
        _ => ListKind::Ints,
    }
}

/// The same, given the elements: integers with a symbolic one among them have a form of their
/// own.
fn list_kind_of(ty: &SchemaType, items: &[Argument]) -> ListKind {
    let is_symbolic = items.iter().any(|item| matches!(item, Argument::Node(_)));
    match list_kind(ty) {
        ListKind::Ints if is_symbolic => ListKind::SymInts,
        kind => kind,
    }
}
