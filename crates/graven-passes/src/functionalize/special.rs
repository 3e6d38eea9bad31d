//! Operators whose effect on storages no schema tells: `resize_`, `set_`; and the questions
//! about sizes, whose answers are symbolic numbers.

use graven_ir::{Argument, Input, NodeId, SymInt, TargetId, TensorMetaId, Value};
use graven_ops::Arg;
use graven_ops::catalogue::view::inverse;

use super::error::{FunctionalizeError, Problem};
use super::machine::{Binding, CallInput, Machine, Operand, TensorId};
use super::strided::Strided;
use super::view::{View, ViewCall, ViewId};

/// An operator that the machine knows by name, because its schema cannot say what it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Special {
    /// `resize_`, `resize_as_`
    Resize,
    /// `set_.source_Tensor`: the tensor becomes an alias of another.
    SetTensor,
    /// Other `set_`: the tensor takes a storage that the graph does not show.
    SetStorage,
    /// `sym_size.int` and its like: a number of the metadata, not of the data.
    MetadataQuery,
}

/// What is special about the operator with this full name.
pub(crate) fn special(operator: &str) -> Option<Special> {
    Some(match operator {
        "aten::resize_" | "aten::resize_as_" => Special::Resize,
        "aten::set_.source_Tensor" => Special::SetTensor,
        "aten::set_"
        | "aten::set_.source_Storage"
        | "aten::set_.source_Storage_storage_offset"
        | "aten::set_.source_Tensor_storage_offset" => Special::SetStorage,
        "aten::sym_size.int"
        | "aten::sym_size"
        | "aten::sym_stride.int"
        | "aten::sym_stride"
        | "aten::sym_numel"
        | "aten::sym_storage_offset" => Special::MetadataQuery,
        _ => return None,
    })
}

impl Machine<'_> {
    pub(crate) fn call_special(
        &mut self,
        special: Special,
        target: TargetId,
        inputs: &[CallInput],
        recorded: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        match special {
            Special::MetadataQuery => self.call_metadata_query(target, inputs, recorded),
            Special::Resize => self.call_resize(target, inputs, recorded),
            Special::SetTensor => self.call_set(target, inputs),
            Special::SetStorage => Err(self.error(Problem::StorageReplaced(
                self.context.target_name(target).to_owned(),
            ))),
        }
    }

    /// A size is known from the metadata: a constant, or an expression that a node may hold
    /// already. The tensor is not synchronized, as no write changes it.
    fn call_metadata_query(
        &mut self,
        target: TargetId,
        inputs: &[CallInput],
        recorded: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        let of = self.tensor_operand(inputs, 0)?;
        let value = recorded.cloned().unwrap_or(Value::None);
        if let Value::SymInt(size) = value
            && let Some(known) = self.input_sym_int(size)?
        {
            return Ok(known);
        }
        let node = self.tensor(of).value;
        let mut lowered = self.lower_all(&inputs[1..])?.into_vec();
        let first = Input {
            name: inputs[0].name,
            kind: inputs[0].kind,
            argument: Argument::Node(node),
        };
        lowered.insert(0, first);
        let node = self.record(target, lowered.into(), value.clone());
        self.note_symbol(node, &value);
        let results = self.record_results(node, &value);
        Ok(self.bind(&results))
    }

    /// `resize_` to fewer elements sees the first ones of the storage; to more, the storage
    /// grows, and the new elements have no defined value.
    fn call_resize(
        &mut self,
        target: TargetId,
        inputs: &[CallInput],
        recorded: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        let of = self.tensor_operand(inputs, 0)?;
        let Some(Value::Tensor(meta)) = recorded.cloned() else {
            return Err(self.error(Problem::MissingMetadata(
                self.context.target_name(target).to_owned(),
            )));
        };
        if inputs.len() > 1 && matches!(inputs[1].operand, Operand::Tensor(_)) && self.is_base(of) {
            return self.call_resize_as(of, meta, inputs);
        }
        if self.fits_in_base(of, meta) {
            return self.resize_as_view(of, meta);
        }
        let sizes = self.context.meta(meta).sizes.clone();
        let value = self.sync(of)?;
        let functional = self.target_of("aten::resize")?;
        let args = [Arg::Value(value), Arg::ints(sizes)];
        let lowered = self.inputs_of(functional, &args, &[])?;
        let value = self.record(functional, lowered, Value::Tensor(meta));
        self.replace_base(of, value)?;
        Ok(Binding::Tensor(of))
    }

    /// `a.resize_as_(b)` of a whole storage.
    fn call_resize_as(
        &mut self,
        of: TensorId,
        meta: TensorMetaId,
        inputs: &[CallInput],
    ) -> Result<Binding, FunctionalizeError> {
        let functional = self.target_of("aten::resize_as")?;
        let lowered = self.lower_all(inputs)?;
        let value = self.record(functional, lowered, Value::Tensor(meta));
        self.replace_base(of, value)?;
        Ok(Binding::Tensor(of))
    }

    /// `a.set_(b)`: from now on `a` is what `b` is.
    fn call_set(
        &mut self,
        target: TargetId,
        inputs: &[CallInput],
    ) -> Result<Binding, FunctionalizeError> {
        let of = self.tensor_operand(inputs, 0)?;
        let Some(CallInput {
            operand: Operand::Tensor(source),
            ..
        }) = inputs.get(1)
        else {
            return Err(self.error(Problem::Malformed(
                "argument `source` must be a tensor".to_owned(),
            )));
        };
        if self.is_program_input(of) {
            return Err(self.error(Problem::StorageReplaced(
                self.context.target_name(target).to_owned(),
            )));
        }
        self.sync(*source)?;
        self.tensors[of.0 as usize] = self.tensor(*source).clone();
        Ok(Binding::Tensor(of))
    }

    /// Replaces the base of a storage by a value of another size.
    pub(crate) fn replace_base(
        &mut self,
        tensor: TensorId,
        value: NodeId,
    ) -> Result<(), FunctionalizeError> {
        let Some(meta) = self.graph.node(value).value.as_tensor() else {
            return Err(self.error(Problem::Malformed(
                "a tensor is replaced by something else".to_owned(),
            )));
        };
        if !self.is_base(tensor) {
            return Err(self.error(Problem::ReadAfterResize));
        }
        if self.is_program_input(tensor) {
            self.note_metadata_change(tensor);
        }
        self.note_write(tensor, false);
        let id = self.tensor(tensor).storage;
        let storage = self.storage_mut(id);
        storage.base = value;
        storage.meta = meta;
        storage.generation += 1;
        storage.resized_at = Some(storage.generation);
        let generation = storage.generation;
        let tensor = &mut self.tensors[tensor.0 as usize];
        tensor.value = value;
        tensor.meta = meta;
        tensor.generation = generation;
        tensor.taken = generation;
        Ok(())
    }

    fn fits_in_base(&self, of: TensorId, meta: TensorMetaId) -> bool {
        let elements = |meta: TensorMetaId| -> Option<i64> {
            let meta = self.context.meta(meta);
            meta.sizes
                .iter()
                .try_fold(1_i64, |product, size| match size {
                    SymInt::Int(size) => product.checked_mul(*size),
                    SymInt::Expr(_) => None,
                })
        };
        let base = self.base_meta(self.tensor(of).storage);
        matches!((elements(meta), elements(base)), (Some(new), Some(old)) if new <= old)
    }

    /// Sees the first elements of the storage in another shape.
    fn resize_as_view(
        &mut self,
        of: TensorId,
        meta: TensorMetaId,
    ) -> Result<Binding, FunctionalizeError> {
        let target = self.target_of("aten::as_strided")?;
        let geometry = self.context.meta(meta).clone();
        let base = self.storage(self.tensor(of).storage).base;
        let mut args = vec![
            Arg::Value(base),
            Arg::ints(geometry.sizes.iter().copied()),
            Arg::ints(geometry.strides.iter().copied()),
        ];
        if geometry.storage_offset != SymInt::Int(0) {
            args.push(Arg::Int(geometry.storage_offset));
        }
        let inputs = self.inputs_of(target, &args, &[])?;
        let value = self.record(target, inputs.clone(), Value::Tensor(meta));
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
        self.change_geometry(of, view, value, meta);
        Ok(Binding::Tensor(of))
    }

    /// `of` sees its storage through `view` from now on.
    pub(crate) fn change_geometry(
        &mut self,
        of: TensorId,
        view: ViewId,
        value: NodeId,
        meta: TensorMetaId,
    ) {
        self.note_write(of, true);
        let generation = self.storage(self.tensor(of).storage).generation;
        let tensor = &mut self.tensors[of.0 as usize];
        tensor.view = Some(view);
        tensor.value = value;
        tensor.meta = meta;
        tensor.generation = generation;
        tensor.taken = generation;
        self.note_metadata_change(of);
    }

    fn note_metadata_change(&mut self, of: TensorId) {
        self.metadata_changes
            .insert(of, (self.current, self.metadata));
    }
}
