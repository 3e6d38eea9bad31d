//! Layout: views that depend on the strides of what they are taken of.
//!
//! In eager mode a storage keeps its layout whatever is written to it. In a functional graph the
//! new base of a storage is what a twin returned, and twins may return other strides. Most views
//! do not care. `as_strided` does, and so do `view` and the dtype views of tensors that are not
//! contiguous. The machine therefore keeps, for each storage, whether the recorded base is laid
//! out as the program thinks ([`Storage::layout_is_known`]); where it may not be, such a view is
//! taken of a copy in the right order.
//!
//! The sizes, strides and offset of `as_strided` address the storage, whatever tensor it is taken
//! of: a chain never holds `as_strided` behind another view, it is taken of the base.

use graven_ir::{
    ArgumentKind, Input, MemoryFormat, NodeId, SymInt, TargetId, TensorMeta, TensorMetaId,
};
use graven_ops::catalogue::view::{Inverse, inverse};
use graven_ops::emit::{Arg, Emit as _};

use super::emit::Pure;
use super::error::{FunctionalizeError, Problem};
use super::machine::{Machine, StorageId, Tensor, TensorId};
use super::view::{KeepsStrides, View, ViewCall, ViewId};

/// The geometry that an `as_strided` gives, the offset counted from the storage's first element.
#[derive(Clone, Debug)]
pub(crate) struct Strided {
    pub(crate) sizes: Vec<SymInt>,
    pub(crate) strides: Vec<SymInt>,
    pub(crate) offset: SymInt,
}

impl Machine<'_> {
    /// The chain entry for `as_strided` of `of`, which was recorded with `inputs`.
    pub(crate) fn as_strided_of(
        &mut self,
        target: TargetId,
        of: TensorId,
        inputs: &[Input],
        meta: TensorMetaId,
    ) -> Result<ViewId, FunctionalizeError> {
        let geometry = self.context.meta(meta);
        let strided = Strided {
            sizes: geometry.sizes.to_vec(),
            strides: geometry.strides.to_vec(),
            offset: geometry.storage_offset,
        };
        let mut inputs = inputs.to_vec();
        if !self.is_base(of) {
            let argument = self.sym_int_argument(strided.offset)?;
            let name = self.context.names.intern("storage_offset");
            inputs.truncate(3);
            inputs.push(Input {
                name,
                kind: ArgumentKind::Positional,
                argument,
            });
        }
        Ok(self.push_view(View {
            parent: None,
            call: ViewCall {
                target,
                inputs: inputs.into(),
                base: 0,
            },
            inverse_inputs: None,
            inverse: inverse("aten::as_strided"),
            meta,
            strided: Some(strided),
        }))
    }

    /// Whether `as_strided` can be taken of the recorded base as the program says it.
    fn addresses_hold(&self, storage: StorageId) -> bool {
        let storage = self.storage(storage);
        let at_start = self.context.meta(storage.meta).storage_offset == SymInt::Int(0);
        storage.generation == 0 || (storage.layout_is_known && at_start)
    }

    /// Takes `as_strided` of a base that may be laid out differently: of a copy in storage order.
    /// `None` where it can be taken as the program says it.
    pub(crate) fn take_strided(
        &mut self,
        storage: StorageId,
        base: NodeId,
        strided: &Strided,
    ) -> Result<Option<NodeId>, FunctionalizeError> {
        if self.addresses_hold(storage) {
            return Ok(None);
        }
        let meta = self.context.meta(self.base_meta(storage)).clone();
        let offset = self.offset_in(&meta, strided)?;
        let (ordered, _) = self.in_storage_order(base, &meta)?;
        let args = [
            Arg::Value(ordered),
            Arg::ints(strided.sizes.iter().copied()),
            Arg::ints(strided.strides.iter().copied()),
            Arg::int(offset),
        ];
        self.pure_call("aten::as_strided", &args, &[]).map(Some)
    }

    /// Carries a value written through `as_strided` back to the base.
    pub(crate) fn undo_strided(
        &mut self,
        storage: StorageId,
        base: NodeId,
        strided: &Strided,
        written: NodeId,
    ) -> Result<Option<NodeId>, FunctionalizeError> {
        let meta = self.context.meta(self.base_meta(storage)).clone();
        let overlaps = strided
            .sizes
            .iter()
            .zip(&strided.strides)
            .any(|(size, stride)| *stride == SymInt::Int(0) && *size != SymInt::Int(1));
        if overlaps {
            let operator = "as_strided, whose elements overlap".to_owned();
            return Err(self.error(Problem::NoInverse(operator)));
        }
        let is_static = reach(strided).is_some();
        if is_static {
            // Outside of the base a write would be lost.
            self.offset_in(&meta, strided)?;
        }
        if self.addresses_hold(storage) {
            return Ok(None);
        }
        let offset = self.offset_in(&meta, strided)?;
        let (ordered, order) = self.in_storage_order(base, &meta)?;
        let args = [
            Arg::Value(ordered),
            Arg::Value(written),
            Arg::ints(strided.sizes.iter().copied()),
            Arg::ints(strided.strides.iter().copied()),
            Arg::int(offset),
        ];
        let scattered = self.pure_call("aten::as_strided_scatter", &args, &[])?;
        let Some(order) = order else {
            return Ok(Some(scattered));
        };
        let mut inverse = vec![0_i64; order.len()];
        for (to, from) in order.iter().enumerate() {
            inverse[*from] = to as i64;
        }
        let args = [Arg::Value(scattered), Arg::const_ints(inverse)];
        self.pure_call("aten::permute", &args, &[]).map(Some)
    }

    /// The offset of `strided` counted from the first element of a dense base; an error when it
    /// reaches elements that the base does not have.
    fn offset_in(&self, base: &TensorMeta, strided: &Strided) -> Result<i64, FunctionalizeError> {
        let outside = || self.error(Problem::OutsideOfBase);
        let SymInt::Int(start) = base.storage_offset else {
            return Err(outside());
        };
        let elements = elements(base)
            .filter(|_| dense_order(base).is_some())
            .ok_or_else(outside)?;
        let (first, last) = reach(strided).ok_or_else(outside)?;
        let inside = first >= start && last < start.saturating_add(elements);
        // A view without elements reaches nothing.
        let is_empty = strided.sizes.contains(&SymInt::Int(0));
        match strided.offset {
            SymInt::Int(offset) if inside || is_empty => Ok(offset.saturating_sub(start)),
            _ => Err(outside()),
        }
    }

    /// A copy of a dense base whose elements stand in the order of its storage, and the order of
    /// dimensions that it took; `None` for the natural order.
    fn in_storage_order(
        &mut self,
        base: NodeId,
        meta: &TensorMeta,
    ) -> Result<(NodeId, Option<Vec<usize>>), FunctionalizeError> {
        let order = dense_order(meta).ok_or_else(|| self.error(Problem::OutsideOfBase))?;
        let is_natural = order.iter().enumerate().all(|(to, from)| to == *from);
        let mut value = base;
        if !is_natural {
            let dims = Arg::const_ints(order.iter().map(|dim| *dim as i64));
            value = self.pure_call("aten::permute", &[Arg::Value(value), dims], &[])?;
        }
        let value = self.contiguous(value)?;
        Ok((value, (!is_natural).then_some(order)))
    }

    /// A contiguous copy.
    pub(crate) fn contiguous(&mut self, value: NodeId) -> Result<NodeId, FunctionalizeError> {
        let format = [("memory_format", Arg::MemoryFormat(MemoryFormat::Contiguous))];
        self.pure_call("aten::clone", &[Arg::Value(value)], &format)
    }

    /// A pure call that returns one tensor.
    pub(crate) fn pure_call(
        &mut self,
        operator: &str,
        args: &[Arg<NodeId>],
        kwargs: &[(&str, Arg<NodeId>)],
    ) -> Result<NodeId, FunctionalizeError> {
        let results = Pure(self).call(operator, args, kwargs)?;
        results
            .first()
            .copied()
            .ok_or_else(|| self.error(Problem::Malformed(format!("{operator} returned nothing"))))
    }

    /// Whether the recorded base still has the program's layout after a write to `tensor`.
    ///
    /// A scatter keeps the strides of what it writes into, which is a view of the base. Without
    /// one in the chain the new base is the twin's result, seen backwards: laid out as before if
    /// the result has the strides that the tensor has in the program.
    pub(crate) fn layout_after_write(
        &self,
        tensor: &Tensor,
        chain: &[ViewId],
        keeps: KeepsStrides,
    ) -> bool {
        let storage = self.storage(tensor.storage);
        let scatters =
            |view: &ViewId| matches!(self.view(*view).inverse, Some(Inverse::Scatter(_)));
        if chain.iter().any(scatters) {
            return storage.layout_is_known;
        }
        let meta = self.context.meta(tensor.meta);
        let result_is_known =
            is_contiguous(meta) || (keeps == KeepsStrides::Yes && dense_order(meta).is_some());
        let is_whole = chain.is_empty();
        result_is_known && (storage.layout_is_known || (is_whole && is_contiguous(meta)))
    }
}

/// The first and the last element that a geometry reaches; `None` for symbolic ones.
fn reach(strided: &Strided) -> Option<(i64, i64)> {
    let SymInt::Int(first) = strided.offset else {
        return None;
    };
    let mut last = first;
    for (size, stride) in strided.sizes.iter().zip(&strided.strides) {
        let (SymInt::Int(size), SymInt::Int(stride)) = (*size, *stride) else {
            return None;
        };
        last = last.checked_add((size - 1).checked_mul(stride)?)?;
    }
    Some((first, last))
}

fn elements(meta: &TensorMeta) -> Option<i64> {
    meta.sizes
        .iter()
        .try_fold(1_i64, |product, size| match size {
            SymInt::Int(size) => product.checked_mul(*size),
            SymInt::Expr(_) => None,
        })
}

/// Whether strides are those of a contiguous tensor; dimensions of size 1 do not count.
pub(crate) fn is_contiguous(meta: &TensorMeta) -> bool {
    is_dense_in(meta, 0..meta.sizes.len())
}

/// Whether the dimensions, outermost first, tile memory without gaps. Symbolic sizes are taken
/// to be contiguous where they stand outermost, or where the strides say so by constants.
fn is_dense_in(meta: &TensorMeta, order: impl DoubleEndedIterator<Item = usize>) -> bool {
    let mut expected = Some(1_i64);
    for dim in order.rev() {
        let (size, stride) = (meta.sizes[dim], meta.strides[dim]);
        if size == SymInt::Int(1) {
            continue;
        }
        match (stride, expected) {
            (SymInt::Int(stride), Some(expected)) if stride != expected => return false,
            (SymInt::Int(_), None) => return false,
            _ => {}
        }
        expected = match (size, expected) {
            (SymInt::Int(size), Some(expected)) => expected.checked_mul(size.max(1)),
            _ => None,
        };
    }
    true
}

/// The order of dimensions, outermost first, in which a tensor is contiguous; `None` when it has
/// gaps or overlaps.
pub(crate) fn dense_order(meta: &TensorMeta) -> Option<Vec<usize>> {
    if is_contiguous(meta) {
        return Some((0..meta.sizes.len()).collect());
    }
    let mut order: Vec<(i64, usize)> = Vec::with_capacity(meta.sizes.len());
    for (dim, stride) in meta.strides.iter().enumerate() {
        let SymInt::Int(stride) = *stride else {
            return None;
        };
        order.push((stride, dim));
    }
    order.sort_by_key(|(stride, dim)| (std::cmp::Reverse(*stride), *dim));
    let order: Vec<usize> = order.into_iter().map(|(_, dim)| dim).collect();
    is_dense_in(meta, order.iter().copied()).then_some(order)
}
