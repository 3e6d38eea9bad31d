//! How the readable form may differ from what `str(ep)` gives.

use std::fmt::{self, Write};

use rustc_hash::FxHashSet;

use super::parse::contiguous_strides;
use crate::context::Context;
use crate::graph::Graph;
use crate::symint::{SymExprs, SymInt};
use crate::value::{TensorMeta, TensorMetaId, Value};

/// How the readable form is printed; by default as `str(ep)` gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadableOptions {
    /// Which annotations tell strides.
    pub strides: Strides,
    /// Whether comments tell where nodes come from.
    pub comments: Comments,
    /// Whether values are deleted after their last use.
    pub deletions: Deletions,
}

/// Which annotations tell strides, the storage offset and the device: `f32[2, 3][1, 2]+4`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strides {
    /// None.
    #[default]
    Hidden,
    /// Those of tensors that are not contiguous from their storage's first element, or not on
    /// the CPU. A program that is printed so reads back with all its geometry.
    WhereNotContiguous,
    /// Those of all tensors.
    Shown,
}

/// Whether comments tell where nodes come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Comments {
    /// They do.
    #[default]
    Shown,
    /// There are none.
    Hidden,
}

/// Whether values are deleted after their last use: `;  x = None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Deletions {
    /// They are.
    #[default]
    Shown,
    /// They are not.
    Hidden,
}

/// The tensor metadata whose geometry is printed.
#[derive(Debug, Default)]
pub(super) struct ShownGeometry(FxHashSet<TensorMetaId>);

impl ShownGeometry {
    /// Chooses among the values of `graph` and the graphs nested in it.
    pub(super) fn of(context: &Context, graph: &Graph, strides: Strides) -> Self {
        let mut shown = FxHashSet::default();
        if strides == Strides::Hidden {
            return Self(shown);
        }
        let mut seen = FxHashSet::default();
        // Contiguous strides may be expressions that the program does not have.
        let mut exprs = context.exprs.clone();
        let mut graphs = vec![graph];
        while let Some(graph) = graphs.pop() {
            graphs.extend(graph.graphs.iter().map(|nested| &nested.graph));
            let metas = graph.nodes.iter().filter_map(|node| node.value.as_tensor());
            for id in metas {
                let is_shown = strides == Strides::Shown
                    || seen.insert(id) && !is_plain(context, context.meta(id), &mut exprs);
                if is_shown {
                    shown.insert(id);
                }
            }
        }
        Self(shown)
    }

    /// Writes `[1, 2]+4cuda:0` behind the sizes of a value whose geometry is printed.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        context: &Context,
        value: &Value,
    ) -> fmt::Result {
        let Some(id) = value.as_tensor().filter(|id| self.0.contains(id)) else {
            return Ok(());
        };
        let meta = context.meta(id);
        write_dims(out, &context.exprs, &meta.strides)?;
        match meta.storage_offset {
            SymInt::Int(0) => {}
            SymInt::Int(offset) => write!(out, "+{offset}")?,
            SymInt::Expr(offset) => write!(out, "+({})", context.exprs.display(offset))?,
        }
        match (context.names.get(meta.device.kind), meta.device.index) {
            ("cpu", None) => Ok(()),
            (kind, None) => out.write_str(kind),
            (kind, Some(index)) => write!(out, "{kind}:{index}"),
        }
    }
}

/// Whether a tensor is what an annotation without strides says.
fn is_plain(context: &Context, meta: &TensorMeta, exprs: &mut SymExprs) -> bool {
    let is_on_cpu = context.names.get(meta.device.kind) == "cpu" && meta.device.index.is_none();
    is_on_cpu
        && meta.storage_offset == SymInt::Int(0)
        && contiguous_strides(exprs, &meta.sizes).is_ok_and(|strides| strides == meta.strides)
}

/// Writes `[s77, 3]`.
pub(super) fn write_dims(out: &mut dyn Write, exprs: &SymExprs, dims: &[SymInt]) -> fmt::Result {
    out.write_char('[')?;
    for (index, dim) in dims.iter().enumerate() {
        if index > 0 {
            out.write_str(", ")?;
        }
        match dim {
            SymInt::Int(dim) => write!(out, "{dim}")?,
            SymInt::Expr(dim) => out.write_str(&exprs.display(*dim))?,
        }
    }
    out.write_char(']')
}
