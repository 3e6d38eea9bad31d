//! Custom operators that write: `auto_functionalized_v2`.
//!
//! torch wraps such an operator so that it stays one call: the wrapper is given the base of
//! each written argument and how the argument views it, and returns the operator's own results,
//! then the new bases.

use graven_ir::{Argument, ArgumentKind, Input, ListKind, SymInt, TargetId, TensorMeta, Value};
use graven_ops::registry::OperatorId;

use super::error::FunctionalizeError;
use super::machine::{Binding, CallInput, Machine, Operand, StorageId, Tensor, TensorId};
use super::view::KeepsStrides;

const WRAPPER: &str = "torch.ops.higher_order.auto_functionalized_v2";

/// The bases that a call is given.
#[derive(Default)]
struct Bases {
    /// The tensor that stands for each base.
    tensors: Vec<TensorId>,
    storages: Vec<(StorageId, TensorId)>,
}

impl Machine<'_> {
    /// A call of a custom operator that writes.
    pub(crate) fn call_custom_write(
        &mut self,
        operator: OperatorId,
        target: TargetId,
        inputs: &[CallInput],
        recorded: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        let registry = self.registry;
        let entry = registry.operator(operator);
        let positions = self.schema_positions(operator, inputs)?;
        let is_written = |position: usize| entry.writes().contains(&position);
        let mut wrapped = vec![Input {
            name: self.empty_name,
            kind: ArgumentKind::Positional,
            argument: Argument::Operator(target),
        }];
        let mut written: Vec<(String, Operand)> = Vec::new();
        for (position, argument) in entry.schema().arguments.iter().enumerate() {
            let given = positions.iter().position(|given| *given == position);
            let operand = match given.and_then(|index| inputs.get(index)) {
                Some(input) => input.operand.clone(),
                // torch hands defaults on.
                None => match &argument.default {
                    Some(default) => Operand::Fixed(self.default_argument(default, &argument.ty)),
                    None => continue,
                },
            };
            if is_written(position) {
                written.push((argument.name.to_string(), operand));
            } else {
                let value = self.lower(&operand)?;
                wrapped.push(self.keyword(&argument.name, value));
            }
        }
        let mut bases = Bases::default();
        for (name, operand) in &written {
            self.describe(name, operand, &mut bases, &mut wrapped)?;
        }
        let mut values = Vec::with_capacity(bases.tensors.len());
        for &base in &bases.tensors {
            values.push(self.sync(base)?);
        }
        wrapped.push(self.keyword("_all_bases", Argument::tensors(values)));
        let own = own_values(
            entry.schema().returns.len(),
            recorded,
            entry.return_aliases(),
        );
        let own_count = own.len();
        let own_is_absent = matches!(*own, [Value::None]);
        let value = self.wrapper_value(own, &bases);
        let wrapper = self.context.target(WRAPPER);
        let node = self.record(wrapper, wrapped.into(), value.clone());
        if own_is_absent {
            // torch reads the result that there is not; the name is taken.
            self.record_getitem(node, 0, Value::None);
        }
        let results = self.record_results(node, &value);
        for (index, &base) in bases.tensors.iter().enumerate() {
            if let Some(super::machine::Recorded::One(value)) = results.result(own_count + index) {
                self.write_value(base, *value, KeepsStrides::No)?;
            }
        }
        let mut bindings: Vec<Binding> = (0..own_count)
            .filter_map(|index| results.result(index).cloned())
            .map(|result| self.bind(&result))
            .collect();
        Ok(if bindings.len() == 1 {
            bindings.remove(0)
        } else {
            Binding::Several(bindings)
        })
    }

    fn keyword(&mut self, name: &str, argument: Argument) -> Input {
        Input {
            name: self.context.names.intern(name),
            kind: ArgumentKind::Keyword,
            argument,
        }
    }

    /// Adds the keywords that say which base a written argument views, and how.
    fn describe(
        &mut self,
        name: &str,
        operand: &Operand,
        bases: &mut Bases,
        wrapped: &mut Vec<Input>,
    ) -> Result<(), FunctionalizeError> {
        match operand {
            Operand::Tensor(tensor) => self.describe_tensor(name, *tensor, bases, wrapped),
            Operand::List(_, items) => {
                let length = Argument::Int(items.len() as i64);
                wrapped.push(self.keyword(&format!("_{name}_length"), length));
                items
                    .iter()
                    .enumerate()
                    .try_for_each(|(index, item)| match item {
                        Operand::Tensor(tensor) => self.describe_tensor(
                            &format!("{name}_{index}"),
                            *tensor,
                            bases,
                            wrapped,
                        ),
                        _ => {
                            wrapped.push(
                                self.keyword(
                                    &format!("_{name}_{index}_base_index"),
                                    Argument::None,
                                ),
                            );
                            Ok(())
                        }
                    })
            }
            Operand::Fixed(_) => {
                wrapped.push(self.keyword(&format!("_{name}_base_index"), Argument::None));
                Ok(())
            }
        }
    }

    fn describe_tensor(
        &mut self,
        name: &str,
        tensor: TensorId,
        bases: &mut Bases,
        wrapped: &mut Vec<Input>,
    ) -> Result<(), FunctionalizeError> {
        let storage = self.tensor(tensor).storage;
        let own = self.context.meta(self.tensor(tensor).meta).clone();
        let base_meta = self.context.meta(self.base_meta(storage)).clone();
        let view = describe_view(&own, &base_meta);
        // A view that sizes, strides and an offset cannot describe is its own base: its new
        // value goes back through the chain.
        let known = bases
            .storages
            .iter()
            .find(|(known, _)| *known == storage)
            .map(|(_, tensor)| *tensor);
        let base = match (known, view.is_some() && own.dtype == base_meta.dtype) {
            (_, false) => tensor,
            (Some(base), true) => base,
            (None, true) => {
                let base = self.base_tensor(tensor);
                bases.storages.push((storage, base));
                base
            }
        };
        let index = bases
            .tensors
            .iter()
            .position(|known| *known == base)
            .unwrap_or_else(|| {
                bases.tensors.push(base);
                bases.tensors.len() - 1
            });
        wrapped.push(self.keyword(&format!("_{name}_base_index"), Argument::Int(index as i64)));
        if base == tensor {
            return Ok(());
        }
        for (suffix, argument) in view.unwrap_or_default() {
            let argument = match argument {
                Described::Flag => Argument::Bool(true),
                Described::One(size) => self.sym_int_argument(size)?,
                Described::Many(sizes) => self.sizes_tuple(&sizes)?,
            };
            wrapped.push(self.keyword(&format!("_{name}_{suffix}"), argument));
        }
        Ok(())
    }

    /// torch describes a view by tuples.
    fn sizes_tuple(&mut self, sizes: &[SymInt]) -> Result<Argument, FunctionalizeError> {
        let items: Result<Box<[Argument]>, _> = sizes
            .iter()
            .map(|size| self.sym_int_argument(*size))
            .collect();
        Ok(Argument::List(ListKind::Tuple, items?))
    }

    /// A tensor that is the base of the storage of `tensor`.
    fn base_tensor(&mut self, tensor: TensorId) -> TensorId {
        let Tensor { storage, view, .. } = *self.tensor(tensor);
        if view.is_none() {
            return tensor;
        }
        let (base, meta) = (self.storage(storage).base, self.base_meta(storage));
        let generation = self.storage(storage).generation;
        self.push_tensor(Tensor {
            storage,
            view: None,
            value: base,
            generation,
            meta,
            taken: generation,
        })
    }

    fn wrapper_value(&self, own: Vec<Value>, bases: &Bases) -> Value {
        let bases = bases
            .tensors
            .iter()
            .map(|tensor| Value::Tensor(self.tensor(*tensor).meta));
        Value::Tuple(own.into_iter().chain(bases).collect())
    }
}

/// The values of the operator's own results; one `None` if it has none.
fn own_values(
    returns: usize,
    recorded: Option<&Value>,
    _aliases: &[Option<graven_ir::schema::ReturnAlias>],
) -> Vec<Value> {
    match (returns, recorded) {
        (0, _) | (_, None) => vec![Value::None],
        (1, Some(value)) => vec![value.clone()],
        (_, Some(Value::Tuple(items))) => items.to_vec(),
        (_, Some(value)) => vec![value.clone()],
    }
}

/// One keyword of a description.
#[derive(Clone, Debug)]
enum Described {
    Flag,
    One(SymInt),
    Many(Vec<SymInt>),
}

/// How `own` views `base`: nothing (the same geometry), one slice, or sizes, strides and offset.
fn describe_view(own: &TensorMeta, base: &TensorMeta) -> Option<Vec<(&'static str, Described)>> {
    if own.sizes == base.sizes
        && own.strides == base.strides
        && own.storage_offset == base.storage_offset
    {
        return Some(vec![("alias", Described::Flag)]);
    }
    if let Some(slice) = one_slice(own, base) {
        return Some(slice);
    }
    Some(vec![
        ("size", Described::Many(own.sizes.to_vec())),
        ("stride", Described::Many(own.strides.to_vec())),
        ("storage_offset", Described::One(own.storage_offset)),
    ])
}

/// `own` as one slice of `base` with step 1, the start counted from the base's own beginning.
fn one_slice(own: &TensorMeta, base: &TensorMeta) -> Option<Vec<(&'static str, Described)>> {
    if own.sizes.len() != base.sizes.len() || own.strides != base.strides {
        return None;
    }
    let mut differing = (0..own.sizes.len()).filter(|&dim| own.sizes[dim] != base.sizes[dim]);
    let (dim, None) = (differing.next()?, differing.next()) else {
        return None;
    };
    let (SymInt::Int(offset), SymInt::Int(start)) = (own.storage_offset, base.storage_offset)
    else {
        return None;
    };
    let (SymInt::Int(stride), SymInt::Int(size)) = (own.strides[dim], own.sizes[dim]) else {
        return None;
    };
    let distance = offset.checked_sub(start)?;
    if stride <= 0 || distance < 0 || distance % stride != 0 {
        return None;
    }
    let start = distance / stride;
    Some(vec![
        ("slice_dim", Described::One(SymInt::Int(dim as i64))),
        ("slice_start", Described::One(SymInt::Int(start))),
        (
            "slice_end",
            Described::One(SymInt::Int(start.checked_add(size)?)),
        ),
    ])
}
