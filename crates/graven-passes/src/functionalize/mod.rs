//! Functionalization: from a program that writes and aliases to a pure graph.
//!
//! In: any program. Out: the same program in which no node writes to an argument, and in which
//! the signature names each value that is to be written back: parameters, buffers, user inputs.
//! It is right because it plays, on a graph, the game that defines the functional form: every
//! storage has a base value, every view knows the way to its base and back
//! ([`machine`](self) says how). It costs one walk over the nodes, plus for each write the
//! length of the view chain that it goes through.
//!
//! It needs of an operator only its schema, and for views their inverse; it reads shapes from the
//! metadata that the program carries. It never looks at data.

mod assertions;
mod autocast;
mod call;
mod composite;
mod custom;
mod emit;
mod error;
mod facts;
mod finish;
mod hidden;
mod higher_order;
mod lazy;
mod machine;
mod names;
mod operators;
mod order;
mod region;
mod shared;
mod special;
mod strided;
mod symbols;
mod view;
mod write;

use graven_ir::{ExportedProgram, MetadataId, NameId};
use graven_ops::Registry;

pub use error::{FunctionalizeError, Place, Problem};
use machine::Machine;

/// What functionalization did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Nodes of the program before, nested graphs not counted.
    pub nodes_before: usize,
    /// Nodes of the program after.
    pub nodes_after: usize,
}

/// A write that the program makes to one of its inputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriteRecord {
    /// The inputs whose storage is written: positions in the raw signature. There are several
    /// where inputs share a storage.
    pub inputs: Vec<usize>,
    /// The name of the node that writes.
    pub node: Option<NameId>,
    /// What it calls.
    pub operator: Option<NameId>,
    /// The targets of the views that the write goes through, from the input outwards.
    pub view_chain: Vec<NameId>,
    /// The node's metadata.
    pub metadata: MetadataId,
    /// Whether it changes the input's geometry rather than its data.
    pub changes_metadata: bool,
}

/// Turns a program into its functional form.
///
/// # Errors
/// When an operator is unknown, or the program does something that has no functional meaning;
/// the error names the node, the operator and the source line. The program is unchanged then.
pub fn functionalize(
    program: &mut ExportedProgram,
    registry: &Registry,
) -> Result<Stats, FunctionalizeError> {
    functionalize_with_writes(program, registry).map(|(stats, _)| stats)
}

/// The same, and the writes that the program made to its inputs, in program order.
///
/// # Errors
/// As [`functionalize`].
pub fn functionalize_with_writes(
    program: &mut ExportedProgram,
    registry: &Registry,
) -> Result<(Stats, Vec<WriteRecord>), FunctionalizeError> {
    let nodes_before = program.graph.nodes.len();
    let mut machine = Machine::new(registry, std::mem::take(&mut program.context));
    let result = machine.run(program);
    // The tables only grew: what the old graph refers to is still there.
    program.context = machine.context;
    let finished = result?;
    program.graph = finished.graph;
    program.signature = finished.signature;
    program.metadata_mutations = finished.metadata_mutations;
    program.verifiers = vec![program.context.names.intern("ATEN")];
    Ok((
        Stats {
            nodes_before,
            nodes_after: program.graph.nodes.len(),
        },
        finished.writes,
    ))
}
