//! Programs as data.
//!
//! An [`ExportedProgram`] is what `torch.export` gives: a [`Graph`] of operator calls, a
//! [`GraphSignature`] that tells parameters, buffers and user inputs apart and names every
//! side effect, and the state. This crate holds those types, the symbolic integers that stand
//! for dynamic sizes, operator schemas, the printed text forms and the verifier. It knows
//! nothing of files and nothing of the bytes that tensors hold.

pub mod argument;
pub mod context;
pub mod dtype;
pub mod fx_names;
pub mod graph;
pub mod names;
pub mod place;
pub mod program;
pub mod schema;
pub mod signature;
pub mod state;
pub mod symint;
pub mod text;
pub mod value;
pub mod verify;

pub use argument::{Argument, ArgumentKind, Input, ListKind};
pub use context::{Context, Metadata, MetadataId, TargetId};
pub use dtype::{DType, Device, Layout, MemoryFormat};
pub use fx_names::FxNames;
pub use graph::{Graph, GraphId, Node, NodeId, Op};
pub use names::{NameId, Names};
pub use place::Place;
pub use program::{ExportedProgram, MetadataMutation, RangeConstraint, SchemaVersion};
pub use signature::{GraphSignature, InputKind, InputSpec, OutputKind, OutputSpec};
pub use symint::{SymExprId, SymExprs, SymInt};
pub use value::{TensorMeta, TensorMetaId, Value};
