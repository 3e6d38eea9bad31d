//! View chains: taking a view, replaying a chain from its base, carrying a write back through it.

use graven_ir::{Argument, ArgumentKind, Input, NodeId, SymInt, TargetId, TensorMetaId, Value};
use graven_ops::catalogue::view::{Inverse, ViewArguments};
use graven_ops::emit::{Arg, EmitError};
use smallvec::SmallVec;

use super::emit::Pure;
use super::error::{FunctionalizeError, Problem};
use super::machine::{Binding, Machine, StorageId, Tensor, TensorId};
use super::strided::Strided;

/// A view of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ViewId(u32);

/// One view of a chain: how to take it again from its base, and how to undo it.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// The view before it; `None` when it is taken of the base.
    pub(crate) parent: Option<ViewId>,
    /// The call that takes it again. An element of a multi-output view is taken by a
    /// single-output one.
    pub(crate) call: ViewCall,
    /// Arguments that the inverse takes where they are not those of the call: the ends of
    /// `split`, which only the inverse clamps.
    pub(crate) inverse_inputs: Option<Box<[Input]>>,
    pub(crate) inverse: Option<Inverse>,
    /// Geometry of the view.
    pub(crate) meta: TensorMetaId,
    /// For `as_strided`: what it addresses.
    pub(crate) strided: Option<Strided>,
}

/// A call whose tensor argument is yet to be put in.
#[derive(Clone, Debug)]
pub(crate) struct ViewCall {
    pub(crate) target: TargetId,
    /// Arguments; nodes are recorded ones. The base stands at `base`.
    pub(crate) inputs: Box<[Input]>,
    /// Which input is the base.
    pub(crate) base: usize,
}

impl ViewCall {
    fn inputs_on(&self, base: NodeId) -> Box<[Input]> {
        let mut inputs = self.inputs.clone();
        if let Some(input) = inputs.get_mut(self.base) {
            input.argument = Argument::Node(base);
        }
        inputs
    }
}

/// The views of a chain, from the base outwards.
pub(crate) type Chain = SmallVec<[ViewId; 4]>;

impl Machine<'_> {
    pub(crate) fn view(&self, id: ViewId) -> &View {
        &self.views[id.0 as usize]
    }

    pub(crate) fn push_view(&mut self, view: View) -> ViewId {
        self.views.push(view);
        ViewId(self.views.len() as u32 - 1)
    }

    pub(crate) fn chain(&self, last: Option<ViewId>) -> Chain {
        let mut chain = Chain::new();
        let mut next = last;
        while let Some(view) = next {
            chain.push(view);
            next = self.view(view).parent;
        }
        chain.reverse();
        chain
    }

    /// A tensor that views the storage of `of`. Its generation is 0: a view that is taken after
    /// a write is stale at once and is recorded again when it is read.
    pub(crate) fn view_tensor(&mut self, of: TensorId, value: NodeId, view: ViewId) -> TensorId {
        let meta = self.view(view).meta;
        let storage = self.tensor(of).storage;
        let taken = self.storage(storage).generation;
        self.push_tensor(Tensor {
            storage,
            view: Some(view),
            value,
            generation: 0,
            meta,
            taken,
        })
    }

    /// Records one view of a chain on `base`, which belongs to `storage`.
    fn record_view(
        &mut self,
        storage: StorageId,
        view: ViewId,
        base: NodeId,
    ) -> Result<NodeId, FunctionalizeError> {
        if let Some(strided) = &self.view(view).strided {
            let strided = strided.clone();
            if let Some(value) = self.take_strided(storage, base, &strided)? {
                return Ok(value);
            }
        }
        let base = if self.needs_layout(storage, view) {
            self.contiguous(base)?
        } else {
            base
        };
        let inverse = self.view(view).inverse;
        let base = self.base_for(base, inverse)?;
        let view = self.view(view);
        let (target, inputs, meta) = (view.call.target, view.call.inputs_on(base), view.meta);
        let value = self.record(target, inputs, Value::Tensor(meta));
        self.note_bit(value, base, inverse);
        Ok(value)
    }

    /// Whether a view could fail, or read other elements, on a base of unknown strides.
    fn needs_layout(&self, storage: StorageId, view: ViewId) -> bool {
        let by_strides = matches!(
            self.view(view).inverse,
            Some(Inverse::ToBaseSizes(_) | Inverse::DType | Inverse::Bare("aten::view_as_real"))
        );
        by_strides && !self.storage(storage).layout_is_known
    }

    /// Records a whole chain again, from the base.
    pub(crate) fn replay(
        &mut self,
        storage: StorageId,
        last: Option<ViewId>,
    ) -> Result<NodeId, FunctionalizeError> {
        let mut value = self.storage(storage).base;
        for view in self.chain(last) {
            value = self.record_view(storage, view, value)?;
        }
        Ok(value)
    }

    /// `value` was written through `tensor`: carries it back to a new base of the storage, and
    /// gives the tensor its value anew. `keeps_strides` says whether the operator that made the
    /// value gives it the strides of what it was given.
    pub(crate) fn write(
        &mut self,
        tensor: TensorId,
        value: NodeId,
        keeps_strides: KeepsStrides,
    ) -> Result<(), FunctionalizeError> {
        self.note_write(tensor, false);
        let written = self.tensor(tensor).clone();
        let (id, view) = (written.storage, written.view);
        let chain = self.chain(view);
        let new_base = self.write_through(id, &chain, value)?;
        let layout_is_known = self.layout_after_write(&written, &chain, keeps_strides);
        let storage = self.storage_mut(id);
        storage.base = new_base;
        storage.generation += 1;
        storage.layout_is_known = layout_is_known;
        let generation = storage.generation;
        let replayed = self.replay(id, view)?;
        let tensor = &mut self.tensors[tensor.0 as usize];
        tensor.value = replayed;
        tensor.generation = generation;
        Ok(())
    }

    /// The new base after `written` was written through a chain: forward over all views but the
    /// last, backward through the inverses.
    fn write_through(
        &mut self,
        storage: StorageId,
        chain: &[ViewId],
        written: NodeId,
    ) -> Result<NodeId, FunctionalizeError> {
        let mut bases: SmallVec<[NodeId; 4]> = SmallVec::new();
        let mut base = self.storage(storage).base;
        for (index, &view) in chain.iter().enumerate() {
            bases.push(base);
            if index + 1 < chain.len() {
                base = self.record_view(storage, view, base)?;
            }
        }
        let mut value = written;
        for (&view, &base) in chain.iter().zip(&bases).rev() {
            value = self.undo(storage, view, base, value)?;
        }
        Ok(value)
    }

    fn undo(
        &mut self,
        storage: StorageId,
        view: ViewId,
        base: NodeId,
        written: NodeId,
    ) -> Result<NodeId, FunctionalizeError> {
        if let Some(strided) = &self.view(view).strided {
            let strided = strided.clone();
            if let Some(value) = self.undo_strided(storage, base, &strided, written)? {
                return Ok(value);
            }
        }
        let view = self.view(view);
        let Some(inverse) = view.inverse else {
            let operator = self.context.target_name(view.call.target).to_owned();
            return Err(self.error(Problem::NoInverse(operator)));
        };
        let inputs = view.inverse_inputs.as_ref().unwrap_or(&view.call.inputs);
        let arguments = self.view_arguments(inputs, view.call.base);
        let scatters = matches!(inverse, Inverse::Scatter(_));
        let base = match scatters && self.has_bit(base) {
            true => self.resolved(base)?,
            false => base,
        };
        let written = self.base_for(written, Some(inverse))?;
        let value = inverse.write_back(&mut Pure(self), &arguments, &base, written)?;
        if !scatters {
            self.note_bit(value, written, Some(inverse));
        }
        Ok(value)
    }

    fn view_arguments(&self, inputs: &[Input], base: usize) -> ViewArguments<NodeId> {
        let mut arguments = ViewArguments {
            args: Vec::new(),
            kwargs: Vec::new(),
        };
        for (index, input) in inputs.iter().enumerate() {
            if index == base {
                continue;
            }
            let arg = self.arg_of(&input.argument);
            match input.kind {
                ArgumentKind::Positional => arguments.args.push(arg),
                ArgumentKind::Keyword => {
                    arguments
                        .kwargs
                        .push((self.context.names.get(input.name).to_owned(), arg));
                }
            }
        }
        arguments
    }

    /// Takes a multi-output view apart: each result becomes a tensor whose chain ends in the
    /// single-output view that regenerates it.
    pub(crate) fn split_elements(
        &mut self,
        of: TensorId,
        values: &[(NodeId, TensorMetaId)],
        elements: Vec<Element>,
    ) -> Binding {
        let parent = self.tensor(of).view;
        let bindings = values
            .iter()
            .zip(elements)
            .map(|(&(value, meta), element)| {
                let view = View {
                    parent,
                    call: element.call,
                    inverse_inputs: element.inverse_inputs,
                    inverse: Some(element.inverse),
                    meta,
                    strided: None,
                };
                let view = self.push_view(view);
                Binding::Tensor(self.view_tensor(of, value, view))
            });
        Binding::Several(bindings.collect())
    }

    /// The single-output views that regenerate the results of `split`, `split_with_sizes` or
    /// `unbind`. They name the dimension as the program does, their inverses count it from the
    /// front.
    pub(crate) fn elements_of(
        &mut self,
        kind: MultiView,
        dim: i64,
        wrapped_dim: i64,
        sizes: &[SymInt],
    ) -> Result<Vec<Element>, FunctionalizeError> {
        match kind {
            MultiView::Unbind => (0..sizes.len() as i64)
                .map(|index| {
                    let args = |dim| [Arg::None, Arg::int(dim), Arg::int(index)];
                    let inverse = Inverse::Scatter("aten::select_scatter");
                    self.element("aten::select.int", &args(dim), &args(wrapped_dim), inverse)
                })
                .collect(),
            MultiView::Split { full } => {
                let mut elements = Vec::with_capacity(sizes.len());
                let mut start = SymInt::Int(0);
                for &size in sizes {
                    let clamped = self.add(start, size)?;
                    let end = match full {
                        Some(full) => self.add(start, full)?,
                        None => clamped,
                    };
                    let args =
                        |dim, end| [Arg::None, Arg::int(dim), Arg::Int(start), Arg::Int(end)];
                    let (call, inverse_call) = (args(dim, end), args(wrapped_dim, clamped));
                    let inverse = Inverse::Scatter("aten::slice_scatter");
                    elements.push(self.element(
                        "aten::slice.Tensor",
                        &call,
                        &inverse_call,
                        inverse,
                    )?);
                    start = clamped;
                }
                Ok(elements)
            }
        }
    }

    fn element(
        &mut self,
        operator: &str,
        args: &[Arg<NodeId>],
        inverse_args: &[Arg<NodeId>],
        inverse: Inverse,
    ) -> Result<Element, FunctionalizeError> {
        let target = self.target_of(operator)?;
        let inputs = self.inputs_of(target, args, &[])?;
        let inverse_inputs = match args == inverse_args {
            true => None,
            false => Some(self.inputs_of(target, inverse_args, &[])?),
        };
        Ok(Element {
            call: ViewCall {
                target,
                inputs,
                base: 0,
            },
            inverse_inputs,
            inverse,
        })
    }

    fn add(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, FunctionalizeError> {
        self.context
            .exprs
            .add(a, b)
            .map_err(|error| self.sym_error(error))
    }

    pub(crate) fn sym_error(&self, error: impl std::fmt::Display) -> FunctionalizeError {
        self.error(Problem::Formula(EmitError::Shape {
            operator: "symbolic size".to_owned(),
            problem: error.to_string(),
        }))
    }

    /// Whether `tensor` is the base of its storage.
    pub(crate) fn is_base(&self, tensor: TensorId) -> bool {
        self.tensor(tensor).view.is_none()
    }

    /// The base geometry of a storage.
    pub(crate) fn base_meta(&self, storage: StorageId) -> TensorMetaId {
        self.storage(storage).meta
    }
}

/// Whether an operator gives its result the strides of its first argument, where those are
/// dense. Others return contiguous tensors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeepsStrides {
    Yes,
    No,
}

/// A multi-output view.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MultiView {
    /// `unbind`: one `select` each.
    Unbind,
    /// `split` with one size (`full`), or `split_with_sizes`: one `slice` each.
    Split {
        /// The size that was asked for, which the last part may fall short of.
        full: Option<SymInt>,
    },
}

/// How one result of a multi-output view is taken alone.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) call: ViewCall,
    pub(crate) inverse_inputs: Option<Box<[Input]>>,
    pub(crate) inverse: Inverse,
}
