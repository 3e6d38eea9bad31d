//! Calls that write: in-place, `out=` and list operators by their functional twins.
//!
//! The twin is recorded on the synchronized arguments; its results are the new values of the
//! written arguments, carried back to their bases one after the other.

use graven_ir::{Argument, ArgumentKind, Input, NodeId, SymInt, TargetId, TensorMetaId, Value};
use graven_ops::catalogue::{layout, overlap};
use graven_ops::registry::OperatorId;
use graven_ops::{Operator, Registry, shape};

use graven_ops::tags::Tag;
use graven_ops::twin::{TensorOption, Twin, TwinArgument, TwinResult};
use smallvec::SmallVec;

use super::error::{FunctionalizeError, Problem};
use super::machine::{Binding, CallInput, Machine, Operand, Recorded, TensorId};
use super::strided::is_contiguous;
use super::view::KeepsStrides;

/// For each input of a call the index of its argument in the schema.
type Positions = SmallVec<[usize; 8]>;

impl Machine<'_> {
    /// A call of a writing operator that has a functional twin.
    pub(crate) fn call_write(
        &mut self,
        operator: OperatorId,
        inputs: &[CallInput],
        recorded: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        let registry = self.registry;
        let Some(twin) = registry.functional_twin(operator) else {
            let name = registry.operator(operator).name().to_string();
            return Err(self.error(Problem::NoFunctionalTwin(name)));
        };
        let positions = self.schema_positions(operator, inputs)?;
        self.check_overlap(operator, twin, inputs, &positions)?;
        let taken = self.twin_inputs(twin, inputs, &positions)?;
        let mut lowered = self.lower_all(&taken)?;
        let target = self.target_of_operator(twin.operator);
        self.resolve_bits(target, &mut lowered)?;
        self.take_names_of_checks(twin.operator, &lowered);
        let call = WritingCall {
            operator,
            twin,
            inputs,
            positions: &positions,
            recorded,
        };
        let value = self.twin_value(&call, target, &lowered)?;
        let node = self.record(target, lowered, value.clone());
        let results = self.record_results(node, &value);
        let keeps_strides = keeps_strides(registry.operator(twin.operator));
        for (index, result) in twin.results.iter().enumerate() {
            if let TwinResult::NewValueOf(argument) = *result
                && let Some(input) = call.input(argument)
                && let Some(result) = call.result(&results, index)
            {
                self.write_operand(&input.operand, result, keeps_strides)?;
            }
        }
        Ok(self.bind_written(&call, &results))
    }

    /// Refuses a write to a tensor that overlaps itself, unless each visit of an element leaves
    /// the same value: an idempotent operator whose other arguments are one value for all.
    fn check_overlap(
        &self,
        operator: OperatorId,
        twin: &Twin,
        inputs: &[CallInput],
        positions: &Positions,
    ) -> Result<(), FunctionalizeError> {
        let is_written = |index: usize| {
            let position = positions.get(index).copied();
            let mut results = twin.results.iter();
            results.any(|result| match *result {
                TwinResult::NewValueOf(argument) => Some(argument) == position,
                TwinResult::Own(_) => false,
            })
        };
        let overlaps = |tensor: TensorId| {
            let meta = self.context.meta(self.tensor(tensor).meta);
            !is_contiguous(meta) && overlap::overlaps(&meta.sizes, &meta.strides)
        };
        let mut operands = inputs.iter().enumerate();
        if !operands.any(|(index, input)| is_written(index) && input.operand.any(&overlaps)) {
            return Ok(());
        }
        let name = self.registry.operator(twin.operator).name();
        let packet = name.packet.trim_start_matches("_foreach_");
        let differs = |tensor: TensorId| {
            let meta = self.context.meta(self.tensor(tensor).meta);
            meta.sizes.iter().any(|size| *size != SymInt::Int(1))
        };
        let mut operands = inputs.iter().enumerate();
        let is_one_value =
            !operands.any(|(index, input)| !is_written(index) && input.operand.any(&differs));
        if overlap::is_idempotent(packet) && is_one_value {
            return Ok(());
        }
        let name = self.registry.operator(operator).name().to_string();
        Err(self.error(Problem::OverlappingWrite(name)))
    }

    /// The inputs of the twin. An argument that it does not take is an `out`: its old value is
    /// not read.
    fn twin_inputs(
        &mut self,
        twin: &Twin,
        inputs: &[CallInput],
        positions: &Positions,
    ) -> Result<Vec<CallInput>, FunctionalizeError> {
        let registry = self.registry;
        let schema = registry.operator(twin.operator).schema();
        let mut taken = Vec::with_capacity(inputs.len());
        for (index, (argument, source)) in schema.arguments.iter().zip(&twin.arguments).enumerate()
        {
            let input = match *source {
                TwinArgument::Argument(source) => {
                    let index = positions.iter().position(|position| *position == source);
                    index.and_then(|index| inputs.get(index)).cloned()
                }
                TwinArgument::OptionOfOut(option) => self.option_of_out(inputs, option),
            };
            // A default of the writing operator that the twin does not share is given.
            let default = twin
                .defaults
                .iter()
                .find(|(position, _)| *position == index);
            let input = match (input, default) {
                (None, Some((_, default))) => {
                    let value = self.default_argument(default, &argument.ty);
                    let kind = ArgumentKind::Positional;
                    Some(CallInput {
                        name: self.empty_name,
                        kind,
                        operand: Operand::Fixed(value),
                    })
                }
                (input, _) => input,
            };
            if let Some(input) = input {
                let name = self.argument_name(twin.operator, index);
                let kind = if argument.keyword_only {
                    ArgumentKind::Keyword
                } else {
                    input.kind
                };
                taken.push(CallInput {
                    name,
                    kind,
                    operand: input.operand,
                });
            }
        }
        Ok(taken)
    }

    /// What the `out` tensor of a factory says of the tensor that its twin is to make.
    fn option_of_out(&mut self, inputs: &[CallInput], option: TensorOption) -> Option<CallInput> {
        let out = inputs.iter().rev().find_map(|input| match input.operand {
            Operand::Tensor(tensor) => Some(tensor),
            _ => None,
        })?;
        let meta = self.context.meta(self.tensor(out).meta);
        let argument = match option {
            TensorOption::DType => Argument::DType(meta.dtype),
            TensorOption::Layout => Argument::Layout(meta.layout),
            TensorOption::Device => Argument::Device(meta.device),
            TensorOption::PinMemory => return None,
        };
        Some(CallInput {
            name: self.empty_name,
            kind: ArgumentKind::Keyword,
            operand: Operand::Fixed(argument),
        })
    }

    /// For each input the index of its argument in the schema.
    pub(crate) fn schema_positions(
        &self,
        operator: OperatorId,
        inputs: &[CallInput],
    ) -> Result<Positions, FunctionalizeError> {
        let schema = self.registry.operator(operator).schema();
        let position = |(index, input): (usize, &CallInput)| {
            let position = match input.kind {
                ArgumentKind::Positional => {
                    Some(index).filter(|index| *index < schema.arguments.len())
                }
                ArgumentKind::Keyword => schema.argument(self.context.names.get(input.name)),
            };
            position.ok_or_else(|| {
                let name = self.context.names.get(input.name);
                let reason = format!("`{name}` is no argument of it");
                self.error(Problem::Arguments {
                    schema: schema.to_string(),
                    reason,
                })
            })
        };
        inputs.iter().enumerate().map(position).collect()
    }

    /// Writes a result, or a list of them, to what the argument names.
    fn write_operand(
        &mut self,
        operand: &Operand,
        result: &Recorded,
        keeps_strides: KeepsStrides,
    ) -> Result<(), FunctionalizeError> {
        match (operand, result) {
            (Operand::Tensor(tensor), Recorded::One(value)) => {
                self.write_value(*tensor, *value, keeps_strides)
            }
            (Operand::List(_, items), Recorded::Many(results)) => items
                .iter()
                .zip(results)
                .try_for_each(|(item, result)| match (item, result) {
                    (Operand::Tensor(tensor), Recorded::One(value)) => {
                        self.write_value(*tensor, *value, keeps_strides)
                    }
                    _ => Ok(()),
                }),
            // An optional argument that is `None` is not written.
            _ => Ok(()),
        }
    }

    /// Writes `value` to `tensor`, converted to the tensor's dtype.
    pub(crate) fn write_value(
        &mut self,
        tensor: TensorId,
        mut value: NodeId,
        keeps_strides: KeepsStrides,
    ) -> Result<(), FunctionalizeError> {
        let Value::Tensor(meta) = self.graph.node(value).value else {
            let name = self
                .context
                .names
                .get(self.graph.node(value).name)
                .to_owned();
            return Err(self.error(Problem::MissingMetadata(name)));
        };
        let own = self.tensor(tensor).meta;
        if self.context.meta(meta).dtype != self.context.meta(own).dtype {
            value = self.record_conversion(value, own, meta)?;
        }
        if self.context.meta(meta).sizes != self.context.meta(own).sizes {
            return self.replace_base(tensor, value);
        }
        if !self.bits.is_empty() {
            let before = self.tensor(tensor).value;
            value = self.written_over_bit(before, value)?;
        }
        self.write(tensor, value, keeps_strides)
    }

    /// `_to_copy(value, dtype=..., layout=torch.strided)`, as torch records it after a twin that
    /// returned another dtype.
    fn record_conversion(
        &mut self,
        value: NodeId,
        own: TensorMetaId,
        meta: TensorMetaId,
    ) -> Result<NodeId, FunctionalizeError> {
        let target = self.target_of("aten::_to_copy")?;
        let own = self.context.meta(own);
        let (dtype, layout) = (own.dtype, own.layout);
        let converted = graven_ir::TensorMeta {
            dtype,
            ..self.context.meta(meta).clone()
        };
        let converted = self.context.metas.intern(converted);
        let mut input = |name: &str, kind, argument| Input {
            name: self.context.names.intern(name),
            kind,
            argument,
        };
        let inputs = [
            input("self", ArgumentKind::Positional, Argument::Node(value)),
            input("dtype", ArgumentKind::Keyword, Argument::DType(dtype)),
            input("layout", ArgumentKind::Keyword, Argument::Layout(layout)),
        ];
        Ok(self.record(target, Box::new(inputs), Value::Tensor(converted)))
    }

    /// The results of a writing operator: arguments that it returns, or values of its own.
    fn bind_written(&mut self, call: &WritingCall<'_>, results: &Recorded) -> Binding {
        let registry = self.registry;
        let aliases = registry.operator(call.operator).return_aliases();
        let own = |index: usize| {
            call.twin
                .results
                .iter()
                .position(|result| *result == TwinResult::Own(index))
        };
        let mut bindings: Vec<Binding> = Vec::with_capacity(aliases.len());
        for (index, alias) in aliases.iter().enumerate() {
            let written = alias.and_then(|alias| call.input(alias.argument));
            bindings.push(match written {
                Some(input) => bind_operand(&input.operand),
                None => match own(index).and_then(|index| call.result(results, index)) {
                    Some(result) => self.bind(result),
                    None => Binding::Constant(Argument::None),
                },
            });
        }
        match bindings.len() {
            0 => Binding::Constant(Argument::None),
            1 => bindings.remove(0),
            _ => Binding::Several(bindings),
        }
    }

    /// The value of the twin's results: of an in-place operator that of what is written, except
    /// for the dtype, which may be promoted; of `out=` what the source program recorded.
    fn twin_value(
        &mut self,
        call: &WritingCall<'_>,
        target: TargetId,
        lowered: &[Input],
    ) -> Result<Value, FunctionalizeError> {
        if (call.has_out() || self.may_change_dtype(call.twin.operator, lowered))
            && let Ok(value) = self.infer(target, lowered)
        {
            return Ok(value);
        }
        let registry = self.registry;
        let twin = registry.operator(call.twin.operator);
        let mut values = Vec::with_capacity(call.twin.results.len());
        for result in &call.twin.results {
            let value = match *result {
                TwinResult::Own(index) => {
                    recorded_result(call.recorded, registry, call.operator, index)
                }
                TwinResult::NewValueOf(argument) => {
                    let own = call
                        .input(argument)
                        .map(|input| self.fresh_value(&input.operand, twin));
                    let is_out = !call
                        .twin
                        .arguments
                        .contains(&TwinArgument::Argument(argument));
                    let aliases = registry.operator(call.operator).return_aliases();
                    let returned = aliases
                        .iter()
                        .position(|alias| alias.is_some_and(|alias| alias.argument == argument))
                        .and_then(|index| {
                            recorded_result(call.recorded, registry, call.operator, index)
                        });
                    // An `out` tensor takes the result's geometry, whatever it had.
                    if is_out {
                        returned.or(own)
                    } else {
                        own.or(returned)
                    }
                }
            };
            match value {
                Some(value) => values.push(value),
                None => return self.infer(target, lowered),
            }
        }
        let returns = &registry.operator(call.twin.operator).schema().returns;
        match (&**returns, values.len()) {
            ([_], 1) => Ok(values.remove(0)),
            _ => Ok(Value::Tuple(values.into())),
        }
    }

    /// Whether a twin may return another dtype than its first argument has: operators with
    /// arguments of several dtypes, and those that return truth values.
    fn may_change_dtype(&self, twin: OperatorId, lowered: &[Input]) -> bool {
        let operator = self.registry.operator(twin);
        if !operator.has_tag(Tag::Pointwise) {
            return false;
        }
        let mut dtypes = lowered.iter().filter_map(|input| {
            let node = input.argument.as_node()?;
            let meta = self.graph.node(node).value.as_tensor()?;
            Some(self.context.meta(meta).dtype)
        });
        let first = dtypes.next();
        dtypes.any(|dtype| Some(dtype) != first)
            || (first != Some(graven_ir::DType::Bool)
                && layout::returns_bool(&operator.name().packet))
    }

    /// The value of the result of `twin` that takes the place of `operand`.
    fn fresh_value(&mut self, operand: &Operand, twin: &Operator) -> Value {
        match operand {
            Operand::Tensor(tensor) => {
                let meta = self.tensor(*tensor).meta;
                Value::Tensor(self.fresh_meta(meta, twin))
            }
            Operand::List(_, items) => Value::List(
                items
                    .iter()
                    .map(|item| self.fresh_value(item, twin))
                    .collect(),
            ),
            Operand::Fixed(_) => Value::None,
        }
    }

    /// The metadata of the tensor that `twin` makes after one of metadata `meta`, which may be a
    /// view: the result has no offset, and most have no gaps.
    fn fresh_meta(&mut self, meta: TensorMetaId, twin: &Operator) -> TensorMetaId {
        let known = self.context.meta(meta);
        if known.storage_offset == SymInt::Int(0) && is_contiguous(known) {
            return meta;
        }
        let mut fresh = known.clone();
        fresh.storage_offset = SymInt::Int(0);
        let exprs = &mut self.context.exprs;
        let strides = if layout::keeps_gaps(twin) {
            Ok(fresh.strides.clone())
        } else if layout::keeps_strides(twin) {
            shape::preserved_strides(exprs, &fresh)
        } else {
            shape::contiguous_strides(exprs, &fresh.sizes)
        };
        // Sizes whose product overflows belong to no tensor that exists.
        if let Ok(strides) = strides {
            fresh.strides = strides;
        }
        self.context.metas.intern(fresh)
    }
}

/// Whether an operator's result has the strides of its first argument.
fn keeps_strides(operator: &Operator) -> KeepsStrides {
    match layout::keeps_strides(operator) {
        true => KeepsStrides::Yes,
        false => KeepsStrides::No,
    }
}

/// A call of a writing operator.
struct WritingCall<'c> {
    operator: OperatorId,
    twin: &'c Twin,
    inputs: &'c [CallInput],
    positions: &'c Positions,
    recorded: Option<&'c Value>,
}

impl WritingCall<'_> {
    /// The input that is the schema's argument of this index, if it is given.
    fn input(&self, argument: usize) -> Option<&CallInput> {
        let index = self
            .positions
            .iter()
            .position(|position| *position == argument)?;
        self.inputs.get(index)
    }
}

impl WritingCall<'_> {
    /// Whether an argument is written whose old value the twin does not take.
    fn has_out(&self) -> bool {
        self.twin.results.iter().any(|result| match result {
            TwinResult::NewValueOf(argument) => !self
                .twin
                .arguments
                .contains(&TwinArgument::Argument(*argument)),
            TwinResult::Own(_) => false,
        })
    }

    /// The twin's result of this index. A single result, a list included, is the first.
    fn result<'r>(&self, results: &'r Recorded, index: usize) -> Option<&'r Recorded> {
        match (self.twin.results.len(), results) {
            (1, only) => Some(only).filter(|_| index == 0),
            (_, results) => results.result(index),
        }
    }
}

/// What the source program recorded for the result of this index.
fn recorded_result(
    recorded: Option<&Value>,
    registry: &Registry,
    operator: OperatorId,
    index: usize,
) -> Option<Value> {
    let several = registry.operator(operator).schema().returns.len() > 1;
    match recorded? {
        Value::Tuple(items) if several => items.get(index).cloned(),
        Value::None => None,
        value => Some(value.clone()).filter(|_| index == 0),
    }
}

/// The binding of an argument that a call returns.
fn bind_operand(operand: &Operand) -> Binding {
    match operand {
        Operand::Tensor(tensor) => Binding::Tensor(*tensor),
        Operand::List(_, items) => Binding::Several(items.iter().map(bind_operand).collect()),
        Operand::Fixed(Argument::Node(node)) => Binding::Value(*node),
        Operand::Fixed(argument) => Binding::Constant(argument.clone()),
    }
}
