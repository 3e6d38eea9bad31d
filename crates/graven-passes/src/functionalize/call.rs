//! Dispatching one call: what becomes of it is decided by its operator's facts.

use graven_ir::{
    Argument, ArgumentKind, Input, ListKind, TargetId, TensorMeta, TensorMetaId, Value,
};
use graven_ops::catalogue::{layout, view};
use graven_ops::registry::OperatorId;

use super::error::{FunctionalizeError, Problem};
use super::facts::{Fact, ViewFact};
use super::machine::{Binding, CallInput, Machine, Operand, TensorId};
use super::view::{MultiView, View, ViewCall};

impl Machine<'_> {
    /// Dispatches a call. `recorded` is the value that the source program recorded for it;
    /// a call that a formula makes has none, and its shape rule gives it.
    pub(crate) fn dispatch(
        &mut self,
        target: TargetId,
        mut inputs: Vec<CallInput>,
        recorded: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        let fact = self.facts.of(&mut self.context, self.registry, target);
        let fact = fact.map_err(|problem| self.error(problem))?;
        if let Some(operator) = fact.operator() {
            if recorded.is_some() {
                self.check_call(operator, &inputs)?;
            }
            self.normalize(operator, &mut inputs)?;
        }
        match fact {
            Fact::Functional(_) => self.call_functional(target, &inputs, recorded),
            Fact::Attention(_) => {
                let value = self.attention_value(&inputs, recorded);
                let result = self.call_functional(target, &inputs, value.as_ref().or(recorded))?;
                if let (Some(_), Binding::Tensor(tensor)) = (value, &result) {
                    self.relaid.insert(*tensor);
                }
                Ok(result)
            }
            Fact::HiddenAlias(_, alias) => {
                self.call_with_hidden_alias(target, alias, &inputs, recorded)
            }
            Fact::View(_, view) => self.call_view(target, &inputs, view, recorded),
            Fact::MetadataMutation(_, view) => self.call_metadata_mutation(view, &inputs, recorded),
            Fact::Write(operator) => self.call_write(operator, &inputs, recorded),
            Fact::Composite(operator) => self.call_composite(operator, &inputs),
            Fact::CustomWrite(operator) => {
                self.call_custom_write(operator, target, &inputs, recorded)
            }
            Fact::Symbolic => self.call_symbolic(target, &inputs, recorded),
            Fact::Special(_, special) => self.call_special(special, target, &inputs, recorded),
            Fact::HigherOrder => Err(self.error(Problem::HigherOrder(
                self.context.target_name(target).to_owned(),
                " outside of a graph",
            ))),
        }
    }

    /// Refuses a call of the program that its operator's schema does not allow. Calls that
    /// formulas make are right by themselves.
    fn check_call(
        &self,
        operator: OperatorId,
        inputs: &[CallInput],
    ) -> Result<(), FunctionalizeError> {
        let operator = self.registry.operator(operator);
        let is_positional = |input: &&CallInput| input.kind == ArgumentKind::Positional;
        let positional = inputs.iter().take_while(is_positional).count();
        let keywords = inputs[positional..].iter();
        let names = keywords.map(|input| self.context.names.get(input.name));
        operator.check_call(positional, names).map_err(|error| {
            self.error(Problem::Arguments {
                schema: operator.schema().to_string(),
                reason: error.to_string(),
            })
        })
    }

    /// Arguments as the dispatcher hands them on: an argument that is given by keyword although
    /// it has a position takes its position, with the defaults before it filled in.
    fn normalize(
        &mut self,
        operator: OperatorId,
        inputs: &mut Vec<CallInput>,
    ) -> Result<(), FunctionalizeError> {
        let misplaced = {
            let schema = &self.registry.operator(operator).schema();
            inputs.iter().any(|input| {
                input.kind == ArgumentKind::Keyword
                    && schema
                        .argument(self.context.names.get(input.name))
                        .is_some_and(|index| !schema.arguments[index].keyword_only)
            })
        };
        if !misplaced {
            return Ok(());
        }
        let registry = self.registry;
        let schema = &registry.operator(operator).schema();
        let mut keywords: Vec<CallInput> = Vec::new();
        let mut slots: Vec<Option<CallInput>> = vec![None; schema.arguments.len()];
        for (position, input) in inputs.drain(..).enumerate() {
            let index = match input.kind {
                ArgumentKind::Positional => Some(position),
                ArgumentKind::Keyword => schema
                    .argument(self.context.names.get(input.name))
                    .filter(|&index| !schema.arguments[index].keyword_only),
            };
            match index.and_then(|index| slots.get_mut(index)) {
                Some(slot) => *slot = Some(input),
                None => keywords.push(input),
            }
        }
        let last = slots
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |index| index + 1);
        for (argument, slot) in schema.arguments.iter().zip(slots).take(last) {
            let name = self.context.names.intern(&argument.name);
            let input = match slot {
                Some(input) => CallInput {
                    kind: ArgumentKind::Positional,
                    name,
                    ..input
                },
                None => {
                    let value = argument
                        .default
                        .as_ref()
                        .map(|default| self.default_argument(default, &argument.ty));
                    let Some(value) = value else {
                        return Err(self.error(Problem::Arguments {
                            schema: schema.to_string(),
                            reason: format!("`{}` is missing", argument.name),
                        }));
                    };
                    CallInput {
                        name,
                        kind: ArgumentKind::Positional,
                        operand: Operand::Fixed(value),
                    }
                }
            };
            inputs.push(input);
        }
        inputs.extend(keywords);
        Ok(())
    }

    /// A call that writes nothing and returns fresh values.
    pub(crate) fn call_functional(
        &mut self,
        target: TargetId,
        inputs: &[CallInput],
        recorded: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        let mut lowered = self.lower_all(inputs)?;
        self.resolve_bits(target, &mut lowered)?;
        let inferred;
        let value = match recorded {
            Some(value) => value,
            None => {
                inferred = self.infer(target, &lowered)?;
                &inferred
            }
        };
        let node = self.record(target, lowered, value.clone());
        self.note_symbol(node, value);
        let results = self.record_results(node, value);
        Ok(self.bind(&results))
    }

    /// The value of an attention call where it is laid out otherwise than recorded.
    fn attention_value(&mut self, inputs: &[CallInput], recorded: Option<&Value>) -> Option<Value> {
        let result = self.context.meta(recorded?.as_tensor()?).clone();
        let tensors: Vec<&TensorMeta> = inputs
            .iter()
            .take(4)
            .filter_map(|input| match input.operand {
                Operand::Tensor(tensor) => Some(self.context.meta(self.tensor(tensor).meta)),
                _ => None,
            })
            .collect();
        // With dropout the fused kernel is not taken.
        let has_dropout = inputs.iter().any(|input| match input.operand {
            Operand::Fixed(Argument::Float(probability)) => {
                probability != 0.0 && self.context.names.get(input.name) == "dropout_p"
            }
            _ => false,
        });
        let strides =
            layout::fused_attention_strides(&tensors, &result).filter(|_| !has_dropout)?;
        let meta = TensorMeta { strides, ..result };
        Some(Value::Tensor(self.context.metas.intern(meta)))
    }

    /// A view. Its value is recorded now; its chain says how to take it again.
    fn call_view(
        &mut self,
        target: TargetId,
        inputs: &[CallInput],
        fact: ViewFact,
        recorded: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        let of = self.tensor_operand(inputs, fact.base)?;
        let lowered = self.lower_all(inputs)?;
        // Of a tensor with other strides than the program recorded, so are its views.
        let is_relaid = !self.relaid.is_empty() && self.relaid.contains(&of);
        let recorded = recorded.filter(|_| !is_relaid);
        let inferred;
        let value = match recorded {
            Some(value) => value,
            None => {
                inferred = self.infer(target, &lowered)?;
                &inferred
            }
        };
        match value {
            Value::Tensor(meta) => {
                let result = self.single_view(target, of, lowered, fact, *meta)?;
                if let (true, Binding::Tensor(tensor)) = (is_relaid, &result) {
                    self.relaid.insert(*tensor);
                }
                Ok(result)
            }
            Value::List(items) | Value::Tuple(items) => {
                let metas: Vec<TensorMetaId> = items.iter().filter_map(Value::as_tensor).collect();
                let node = self.record(target, lowered.clone(), value.clone());
                let values = metas
                    .into_iter()
                    .enumerate()
                    .map(|(index, meta)| {
                        (self.record_getitem(node, index, Value::Tensor(meta)), meta)
                    })
                    .collect::<Vec<_>>();
                self.bind_multi_view(target, of, &lowered, &values)
            }
            _ => {
                let node = self.context.target_name(target).to_owned();
                Err(self.error(Problem::MissingMetadata(node)))
            }
        }
    }

    fn single_view(
        &mut self,
        target: TargetId,
        of: TensorId,
        lowered: Box<[Input]>,
        fact: ViewFact,
        meta: TensorMetaId,
    ) -> Result<Binding, FunctionalizeError> {
        let mut lowered = lowered;
        let base = lowered
            .get(fact.base)
            .and_then(|input| input.argument.as_node());
        if let Some(base) = base {
            lowered[fact.base].argument = Argument::Node(self.base_for(base, fact.inverse)?);
        }
        let value = self.record(target, lowered.clone(), Value::Tensor(meta));
        if let Some(base) = lowered
            .get(fact.base)
            .and_then(|input| input.argument.as_node())
        {
            self.note_bit(value, base, fact.inverse);
        }
        let view = self.view_of(target, of, lowered, fact, meta)?;
        let tensor = self.view_tensor(of, value, view);
        if fact.is_dtype_view {
            return self.detach(tensor);
        }
        Ok(Binding::Tensor(tensor))
    }

    /// torch records a dtype view as the view and a `detach`.
    fn detach(&mut self, tensor: TensorId) -> Result<Binding, FunctionalizeError> {
        let target = self.target_of("aten::detach")?;
        let input = CallInput {
            name: self.context.names.intern("self"),
            kind: ArgumentKind::Positional,
            operand: Operand::Tensor(tensor),
        };
        let meta = self.tensor(tensor).meta;
        self.dispatch(target, vec![input], Some(&Value::Tensor(meta)))
    }

    /// The entry of the chain for a view that was recorded with these inputs.
    pub(crate) fn view_of(
        &mut self,
        target: TargetId,
        of: TensorId,
        inputs: Box<[Input]>,
        fact: ViewFact,
        meta: TensorMetaId,
    ) -> Result<super::view::ViewId, FunctionalizeError> {
        if fact.is_as_strided {
            return self.as_strided_of(target, of, &inputs, meta);
        }
        let parent = self.tensor(of).view;
        let view = View {
            parent,
            call: ViewCall {
                target,
                inputs,
                base: fact.base,
            },
            inverse_inputs: None,
            inverse: fact.inverse,
            meta,
            strided: None,
        };
        Ok(self.push_view(view))
    }

    fn bind_multi_view(
        &mut self,
        target: TargetId,
        of: TensorId,
        inputs: &[Input],
        values: &[(graven_ir::NodeId, TensorMetaId)],
    ) -> Result<Binding, FunctionalizeError> {
        let rank = self.context.meta(self.tensor(of).meta).sizes.len();
        let name = self.context.target_name(target);
        let is_unbind = name.contains(".unbind.");
        let is_split = name.ends_with(".split.Tensor");
        let position = usize::from(!is_unbind) + 1;
        let dim = match inputs.get(position).map(|input| &input.argument) {
            Some(argument) => argument.as_int().unwrap_or(0),
            None => 0,
        };
        let wrapped = if dim < 0 { dim + rank as i64 } else { dim } as usize;
        let sizes: Vec<_> = values
            .iter()
            .map(|(_, meta)| {
                self.context
                    .meta(*meta)
                    .sizes
                    .get(wrapped)
                    .copied()
                    .unwrap_or(graven_ir::SymInt::Int(1))
            })
            .collect();
        let kind = if is_unbind {
            MultiView::Unbind
        } else if is_split {
            let full = inputs.get(1).map(|input| self.arg_of(&input.argument));
            MultiView::Split {
                full: match full {
                    Some(graven_ops::Arg::Int(size)) => Some(size),
                    _ => None,
                },
            }
        } else {
            MultiView::Split { full: None }
        };
        let elements = self.elements_of(kind, dim, wrapped as i64, &sizes)?;
        Ok(self.split_elements(of, values, elements))
    }

    /// `transpose_` and its like: a view whose result takes the tensor's place.
    fn call_metadata_mutation(
        &mut self,
        fact: ViewFact,
        inputs: &[CallInput],
        recorded: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        let of = self.tensor_operand(inputs, fact.base)?;
        let Some(operator) = fact.functional else {
            return Ok(Binding::Tensor(of));
        };
        let target = self.target_of_operator(operator);
        let lowered = self.lower_all(inputs)?;
        let meta = match recorded {
            Some(Value::Tensor(meta)) => *meta,
            _ => match self.infer(target, &lowered)? {
                Value::Tensor(meta) => meta,
                _ => return Ok(Binding::Tensor(of)),
            },
        };
        let value = self.record(target, lowered.clone(), Value::Tensor(meta));
        let inverse = view::inverse(&self.registry.operator(operator).name().to_string());
        let is_as_strided = self
            .context
            .target_name(target)
            .ends_with(".as_strided.default");
        let fact = ViewFact {
            inverse,
            is_as_strided,
            ..fact
        };
        let view = self.view_of(target, of, lowered, fact, meta)?;
        self.change_geometry(of, view, value, meta);
        Ok(Binding::Tensor(of))
    }

    /// The tensor at input `index`.
    pub(crate) fn tensor_operand(
        &self,
        inputs: &[CallInput],
        index: usize,
    ) -> Result<TensorId, FunctionalizeError> {
        match inputs.get(index).map(|input| &input.operand) {
            Some(Operand::Tensor(tensor)) => Ok(*tensor),
            _ => Err(self.error(Problem::Malformed(format!(
                "argument {index} must be a tensor"
            )))),
        }
    }

    pub(crate) fn default_argument(
        &mut self,
        default: &graven_ir::schema::DefaultValue,
        ty: &graven_ir::schema::SchemaType,
    ) -> Argument {
        use graven_ir::schema::DefaultValue;
        match default {
            DefaultValue::None => Argument::None,
            DefaultValue::Bool(value) => Argument::Bool(*value),
            DefaultValue::Int(value) => Argument::Int(*value),
            DefaultValue::Float(value) => Argument::Float(*value),
            DefaultValue::String(value) => Argument::String(self.context.names.intern(value)),
            DefaultValue::List(items) => {
                let items = items
                    .iter()
                    .map(|item| self.default_argument(item, ty))
                    .collect();
                Argument::List(super::emit::list_kind(ty), items)
            }
            // Reductions are enumerators in schemas and numbers in programs.
            DefaultValue::Named(name) => match &**name {
                "Mean" => Argument::Int(1),
                "Sum" => Argument::Int(2),
                "contiguous_format" => Argument::MemoryFormat(graven_ir::MemoryFormat::Contiguous),
                "strided" => Argument::Layout(graven_ir::Layout::Strided),
                "long" => Argument::DType(graven_ir::DType::Int64),
                _ => Argument::None,
            },
        }
    }
}

/// Whether an argument holds no tensors.
pub(crate) fn list_of(kind: ListKind, items: Vec<Operand>) -> Operand {
    let fixed: Option<Box<[Argument]>> = items
        .iter()
        .map(|item| match item {
            Operand::Fixed(argument) => Some(argument.clone()),
            _ => None,
        })
        .collect();
    match fixed {
        Some(items) => Operand::Fixed(Argument::List(kind, items)),
        None => Operand::List(kind, items),
    }
}
