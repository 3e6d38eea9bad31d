//! The state report: what a program does to what it is given.
//!
//! For each parameter, buffer, constant and user input: whether its old value is needed, each
//! call that writes it with the view chain that the write goes through, the entry of the
//! functional signature that carries the writes, and which other inputs share its memory.
//!
//! The report is read off a functionalization of a copy of the program, so that it cannot say
//! anything else than the pass does.

use graven_ir::text::SourceLine;
use graven_ir::{ExportedProgram, InputKind, NameId, OutputKind};
use graven_ops::Registry;

use crate::functionalize::{FunctionalizeError, WriteRecord, functionalize_with_writes};

/// What a program does to one of its inputs.
#[derive(Clone, PartialEq, Debug)]
pub struct InputEffects {
    /// The placeholder.
    pub name: String,
    /// Parameter, buffer, constant, user input.
    pub kind: InputKind,
    /// The dotted name of a parameter, buffer or constant.
    pub target: Option<String>,
    /// Whether the value that it has before the call is needed: for a result, for another
    /// write, or because a write leaves part of it as it is.
    pub is_read: bool,
    /// The calls that write it, in program order.
    pub writes: Vec<Write>,
    /// Placeholders that share its storage.
    pub shares_storage_with: Vec<String>,
    /// The entry of the functional signature that carries the writes.
    pub carried_by: Option<Carrier>,
}

/// One call that writes an input.
#[derive(Clone, PartialEq, Debug)]
pub struct Write {
    /// The node.
    pub node: String,
    /// The operator: `torch.ops.aten.add_.Tensor`.
    pub operator: String,
    /// The operators of the views between the input and what is written, from the input on.
    pub view_chain: Vec<String>,
    /// The source line that made the call: `model.py:13 in forward`.
    pub source_line: Option<String>,
    /// Whether it changes shape or strides rather than data.
    pub changes_metadata: bool,
}

/// An entry of the functional signature.
#[derive(Clone, PartialEq, Debug)]
pub struct Carrier {
    /// The value: a node of the functional graph.
    pub value: String,
    /// What it is.
    pub kind: OutputKind,
    /// Which parameter, buffer or input it is written to.
    pub target: String,
}

/// Reports the effects of a program on each of its inputs, in the order of its signature.
///
/// # Errors
/// When the program cannot be functionalized.
pub fn effects(
    program: &ExportedProgram,
    registry: &Registry,
) -> Result<Vec<InputEffects>, FunctionalizeError> {
    let mut functional = program.clone();
    let (_, writes) = functionalize_with_writes(&mut functional, registry)?;
    let users = functional.graph.user_counts();
    let text = |id: NameId| functional.context.names.get(id).to_owned();
    let positions: rustc_hash::FxHashMap<NameId, usize> = functional
        .graph
        .placeholders()
        .map(|(id, node)| (node.name, id.index()))
        .collect();
    let report = program
        .graph
        .placeholders()
        .zip(&program.signature.inputs)
        .enumerate();
    let report = report.map(|(position, ((_, node), spec))| {
        let own: Vec<&WriteRecord> = writes
            .iter()
            .filter(|write| write.inputs.contains(&position))
            .collect();
        let shared = shared_with(program, position);
        InputEffects {
            name: text(node.name),
            kind: spec.kind,
            target: spec.target.map(text),
            is_read: positions
                .get(&node.name)
                .is_some_and(|index| users[*index] > 0),
            writes: own
                .iter()
                .map(|write| write_of(&functional, write))
                .collect(),
            shares_storage_with: shared.into_iter().map(text).collect(),
            carried_by: carrier(&functional, spec.kind, spec.target.unwrap_or(node.name)),
        }
    });
    Ok(report.collect())
}

fn write_of(program: &ExportedProgram, write: &WriteRecord) -> Write {
    let text = |id: NameId| program.context.names.get(id).to_owned();
    let trace = program.context.metadata_text(write.metadata, "stack_trace");
    Write {
        node: write.node.map(text).unwrap_or_default(),
        operator: write.operator.map(text).unwrap_or_default(),
        view_chain: write.view_chain.iter().map(|name| text(*name)).collect(),
        source_line: trace
            .and_then(SourceLine::innermost)
            .map(|line| line.to_string()),
        changes_metadata: write.changes_metadata,
    }
}

fn carrier(program: &ExportedProgram, kind: InputKind, target: NameId) -> Option<Carrier> {
    let expected = match kind {
        InputKind::Parameter => OutputKind::ParameterMutation,
        InputKind::Buffer => OutputKind::BufferMutation,
        _ => OutputKind::UserInputMutation,
    };
    let outputs = program.signature.outputs.iter().zip(&program.graph.outputs);
    outputs
        .filter(|(spec, _)| spec.kind == expected && spec.target == Some(target))
        .find_map(|(spec, output)| {
            let value = program.graph.node(output.as_node()?).name;
            Some(Carrier {
                value: program.context.names.get(value).to_owned(),
                kind: spec.kind,
                target: program.context.names.get(target).to_owned(),
            })
        })
}

/// The placeholders whose state entries name the same storage.
fn shared_with(program: &ExportedProgram, position: usize) -> Vec<NameId> {
    let storage_of = |position: usize| {
        let spec = program.signature.inputs.get(position)?;
        let is_state = matches!(
            spec.kind,
            InputKind::Parameter | InputKind::Buffer | InputKind::ConstantTensor
        );
        spec.target
            .filter(|_| is_state)
            .and_then(|target| program.state.find(target))
            .map(|entry| entry.storage)
    };
    let Some(storage) = storage_of(position) else {
        return Vec::new();
    };
    let others = program.graph.placeholders().enumerate();
    others
        .filter(|(other, _)| *other != position && storage_of(*other) == Some(storage))
        .map(|(_, (_, node))| node.name)
        .collect()
}
