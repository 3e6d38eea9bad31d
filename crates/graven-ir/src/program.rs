//! The program: what flows through every pass.

use crate::context::{Context, MetadataId};
use crate::graph::{Graph, NodeId};
use crate::names::NameId;
use crate::signature::GraphSignature;
use crate::state::{Attachment, State};
use crate::value::TensorMetaId;

/// A version of the archive's JSON schema.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SchemaVersion {
    /// A higher major version cannot be read by an older reader.
    pub major: u32,
    /// A higher minor version adds fields only.
    pub minor: u32,
}

/// What is known of a symbol: both ends included, `None` for no bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RangeConstraint {
    /// The symbol or expression, as the archive spells it.
    pub symbol: NameId,
    /// The least value.
    pub min: Option<i64>,
    /// The greatest value.
    pub max: Option<i64>,
}

/// A change of an input's shape or strides, which torch's signature cannot express: after the
/// call, the input's storage is to be seen with this geometry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetadataMutation {
    /// The placeholder.
    pub input: NodeId,
    /// Sizes, strides and offset that the input has afterwards.
    pub meta: TensorMetaId,
    /// The operator that made the last change: `torch.ops.aten.transpose_.default`.
    pub operator: NameId,
    /// Metadata of its node, for the source line.
    pub metadata: MetadataId,
}

/// A whole program.
#[derive(Clone, Debug, Default)]
pub struct ExportedProgram {
    /// The tables that everything else refers to.
    pub context: Context,
    /// The graph.
    pub graph: Graph,
    /// What its inputs and outputs are.
    pub signature: GraphSignature,
    /// Changes of inputs' shapes that are part of the program's effect. Empty in every program
    /// that torch can express.
    pub metadata_mutations: Vec<MetadataMutation>,
    /// Ranges of symbols, in the archive's order.
    pub range_constraints: Vec<RangeConstraint>,
    /// Conditions on the inputs under which the program holds, as Python expressions.
    pub guards_code: Vec<NameId>,
    /// Parameters, buffers and constants.
    pub state: State,
    /// Which verifier torch applies: `TRAINING` for a raw program, `ATEN` for a functional one.
    pub verifiers: Vec<NameId>,
    /// The operator sets and their versions: `aten`, 10.
    pub opset_version: Vec<(NameId, i64)>,
    /// The schema version of the file that it was read from.
    pub schema_version: Option<SchemaVersion>,
    /// The version of torch that made it.
    pub torch_version: Option<NameId>,
    /// Calling conventions of the module and its submodules: the archive's JSON text.
    pub module_call_graph: Option<NameId>,
    /// Fields of the program object that graven does not know: name and JSON text.
    pub unknown_fields: Vec<(NameId, NameId)>,
    /// Fields of the graph-module object besides those above: name and JSON text.
    pub graph_module_fields: Vec<(NameId, NameId)>,
    /// The name under which the archive holds the program; `None` is torch's `model`.
    pub model_name: Option<NameId>,
    /// Files of the archive that are carried through.
    pub attachments: Vec<Attachment>,
}
