//! Inputs of the program: one tensor for each placeholder, one storage for those that share
//! their memory.
//!
//! Parameters and buffers can share a storage: one tensor under two names, or a buffer that is a
//! view of another. Such a group has one base. Where one member covers the whole storage it is
//! the base, and the others are views of it; else a flat base is put together from the members.

use graven_ir::state::StorageId as StateStorage;
use graven_ir::{
    ExportedProgram, Graph, InputKind, Layout, NameId, Node, NodeId, SymInt, TensorMeta,
    TensorMetaId,
};
use graven_ops::Arg;
use graven_ops::catalogue::view;
use indexmap::IndexMap;

use super::error::{FunctionalizeError, Problem};
use super::machine::{Binding, Machine, TensorId};
use super::region::Scope;
use super::strided::Strided;
use super::view::{View, ViewCall};

/// One input of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramInput {
    /// Its place in the raw signature.
    pub(crate) position: usize,
    /// Its placeholder in the new graph.
    pub(crate) node: NodeId,
    /// Its tensor, if it is one.
    pub(crate) tensor: Option<TensorId>,
    /// Its geometry at the start.
    pub(crate) meta: Option<TensorMetaId>,
}

impl Machine<'_> {
    /// Makes the placeholders, in their new order, and binds those of the source graph.
    pub(crate) fn bind_inputs(
        &mut self,
        program: &ExportedProgram,
        order: &[usize],
        scope: &mut Scope<'_>,
    ) -> Result<Vec<ProgramInput>, FunctionalizeError> {
        let placeholders: Vec<(NodeId, &Node)> = program.graph.placeholders().collect();
        if placeholders.len() != order.len() {
            let problem = format!(
                "the graph has {} placeholders and the signature {} inputs",
                placeholders.len(),
                program.signature.inputs.len()
            );
            return Err(Problem::Malformed(problem).into());
        }
        let mut inputs = Vec::with_capacity(order.len());
        for &position in order {
            let (source, placeholder) = placeholders[position];
            let node = self.graph.push(Node {
                name: archive_name(&program.graph, placeholder.name),
                ..placeholder.clone()
            });
            self.note_placeholder(node);
            let meta = placeholder.value.as_tensor();
            let tensor = meta.map(|meta| self.fresh_tensor(node, meta));
            let binding = match tensor {
                Some(tensor) => Binding::Tensor(tensor),
                None => Binding::Value(node),
            };
            scope.bind(source, binding);
            inputs.push(ProgramInput {
                position,
                node,
                tensor,
                meta,
            });
        }
        self.record_input_sizes();
        self.input_tensors = self.tensors.len();
        self.join_shared(program, &inputs)?;
        Ok(inputs)
    }

    /// Gives the inputs that share a storage one base.
    fn join_shared(
        &mut self,
        program: &ExportedProgram,
        inputs: &[ProgramInput],
    ) -> Result<(), FunctionalizeError> {
        let names: rustc_hash::FxHashMap<NameId, StateStorage> = program
            .state
            .entries
            .iter()
            .filter(|entry| entry.meta.is_some())
            .map(|entry| (entry.name, entry.storage))
            .collect();
        let mut groups: IndexMap<StateStorage, Vec<(TensorId, TensorMetaId)>> = IndexMap::new();
        for input in inputs {
            let spec = &program.signature.inputs[input.position];
            let is_state = matches!(
                spec.kind,
                InputKind::Parameter | InputKind::Buffer | InputKind::ConstantTensor
            );
            let storage = spec.target.and_then(|target| names.get(&target));
            if let (true, Some(&storage), Some(tensor), Some(meta)) =
                (is_state, storage, input.tensor, input.meta)
            {
                groups.entry(storage).or_default().push((tensor, meta));
            }
        }
        for group in groups.into_values().filter(|group| group.len() > 1) {
            self.join_group(&group)?;
        }
        Ok(())
    }

    fn join_group(&mut self, group: &[(TensorId, TensorMetaId)]) -> Result<(), FunctionalizeError> {
        let metas: Vec<TensorMeta> = group
            .iter()
            .map(|(_, meta)| self.context.meta(*meta).clone())
            .collect();
        let end = metas
            .iter()
            .map(end_of)
            .collect::<Option<Vec<i64>>>()
            .and_then(|ends| ends.into_iter().max());
        // Sizes of parameters and buffers are constants; without them nothing can be said.
        let Some(end) = end else { return Ok(()) };
        let covering = metas.iter().position(|meta| covers(meta, end));
        let (base, base_meta) = match covering {
            Some(index) => (self.tensor(group[index].0).value, group[index].1),
            None => self.assemble(group, &metas, end)?,
        };
        let storage = self.tensor(group[0].0).storage;
        {
            let storage = self.storage_mut(storage);
            storage.base = base;
            storage.meta = base_meta;
        }
        for (&(tensor, meta), geometry) in group.iter().zip(&metas) {
            let is_base =
                covering.is_some() && same_geometry(geometry, self.context.meta(base_meta));
            let view = if is_base {
                None
            } else {
                Some(self.member_view(meta, geometry)?)
            };
            let tensor = &mut self.tensors[tensor.0 as usize];
            tensor.storage = storage;
            tensor.view = view;
        }
        Ok(())
    }

    /// The chain of a member: its own geometry, taken of the base.
    fn member_view(
        &mut self,
        meta: TensorMetaId,
        geometry: &TensorMeta,
    ) -> Result<super::view::ViewId, FunctionalizeError> {
        let target = self.target_of("aten::as_strided")?;
        let args = [
            Arg::None,
            Arg::ints(geometry.sizes.iter().copied()),
            Arg::ints(geometry.strides.iter().copied()),
            Arg::Int(geometry.storage_offset),
        ];
        let inputs = self.inputs_of(target, &args, &[])?;
        let inverse = view::inverse("aten::as_strided");
        let call = ViewCall {
            target,
            inputs,
            base: 0,
        };
        let strided = Strided {
            sizes: geometry.sizes.to_vec(),
            strides: geometry.strides.to_vec(),
            offset: geometry.storage_offset,
        };
        Ok(self.push_view(View {
            parent: None,
            call,
            inverse_inputs: None,
            inverse,
            meta,
            strided: Some(strided),
        }))
    }

    /// A flat base of `end` elements that holds every member at its place.
    fn assemble(
        &mut self,
        group: &[(TensorId, TensorMetaId)],
        metas: &[TensorMeta],
        end: i64,
    ) -> Result<(NodeId, TensorMetaId), FunctionalizeError> {
        use graven_ops::Emit as _;
        let first = &metas[0];
        let options = [
            ("dtype", Arg::DType(first.dtype)),
            ("device", Arg::Device(first.device)),
        ];
        let mut emit = super::emit::Pure(self);
        let mut base = first_of(emit.call("aten::zeros", &[Arg::const_ints([end])], &options)?)?;
        for (&(tensor, _), meta) in group.iter().zip(metas) {
            let value = emit.0.tensor(tensor).value;
            let args = [
                Arg::Value(base),
                Arg::Value(value),
                Arg::ints(meta.sizes.iter().copied()),
                Arg::ints(meta.strides.iter().copied()),
                Arg::Int(meta.storage_offset),
            ];
            base = first_of(emit.call("aten::as_strided_scatter", &args, &[])?)?;
        }
        match self.graph.node(base).value.as_tensor() {
            Some(meta) => Ok((base, meta)),
            None => Err(Problem::Malformed("a buffer is no tensor".to_owned()).into()),
        }
    }
}

/// The name that a placeholder has in the archive: torch's loader renames those that are called
/// like a builtin, its functional programs do not.
fn archive_name(graph: &Graph, name: NameId) -> NameId {
    let renamed = graph
        .archive_names
        .iter()
        .find(|(loaded, _)| *loaded == name);
    renamed.map_or(name, |(_, archive)| *archive)
}

fn first_of(values: Vec<NodeId>) -> Result<NodeId, FunctionalizeError> {
    values
        .first()
        .copied()
        .ok_or_else(|| Problem::Malformed("an operator returned nothing".to_owned()).into())
}

/// One past the last element of the storage that a tensor reaches; `None` for symbolic sizes.
fn end_of(meta: &TensorMeta) -> Option<i64> {
    let SymInt::Int(mut end) = meta.storage_offset else {
        return None;
    };
    end = end.checked_add(1)?;
    for (size, stride) in meta.sizes.iter().zip(&meta.strides) {
        let (SymInt::Int(size), SymInt::Int(stride)) = (*size, *stride) else {
            return None;
        };
        if size == 0 {
            return Some(0);
        }
        end = end.checked_add((size - 1).checked_mul(stride)?)?;
    }
    Some(end)
}

/// Whether a tensor is the storage's elements 0 to `end`, in order.
fn covers(meta: &TensorMeta, end: i64) -> bool {
    let mut expected = 1_i64;
    for (size, stride) in meta.sizes.iter().zip(&meta.strides).rev() {
        let (SymInt::Int(size), SymInt::Int(stride)) = (*size, *stride) else {
            return false;
        };
        if size != 1 && stride != expected {
            return false;
        }
        expected = expected.saturating_mul(size.max(1));
    }
    meta.storage_offset == SymInt::Int(0)
        && meta.layout == Layout::Strided
        && end_of(meta) == Some(end)
}

fn same_geometry(a: &TensorMeta, b: &TensorMeta) -> bool {
    a.sizes == b.sizes
        && a.strides == b.strides
        && a.storage_offset == b.storage_offset
        && a.dtype == b.dtype
}
