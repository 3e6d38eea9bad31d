//! The state report: what a program does to what it is given.
//!
//! For each parameter, buffer, constant and user input: whether its old value is needed, each
//! call that writes it with the view chain that the write goes through, the entry of the
//! functional signature that carries the writes, and which other inputs share its memory.
//!
//! The report is read off a functionalization of a copy of the program, so that it cannot say
//! anything else than the pass does.

use graven_ir::state::StorageId;
use graven_ir::text::SourceLine;
use graven_ir::{ExportedProgram, InputKind, InputSpec, NameId, OutputKind};
use graven_ops::Registry;
use rustc_hash::{FxHashMap, FxHashSet};

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
    /// The operators of the views between the input and what is written, from the input on; or
    /// from the tensor that stands for the whole storage, where inputs share one.
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
    let text = |id: NameId| functional.context.names.get(id).to_owned();
    let names: Vec<NameId> = program
        .graph
        .placeholders()
        .map(|(_, node)| node.name)
        .collect();
    let mut writes = writes_by_input(&functional, &writes, names.len());
    let used = used_placeholders(&functional);
    let carriers = carriers(&functional);
    let storages = Storages::of(program);
    let report = names.iter().zip(&program.signature.inputs).enumerate();
    let report = report.map(|(position, (&name, spec))| {
        let sharing = storages.shared_with(position);
        let is_used = |position: &usize| used.contains(&names[*position]);
        let target = spec.target.unwrap_or(name);
        InputEffects {
            name: text(name),
            kind: spec.kind,
            target: spec.target.map(text),
            // One placeholder stands for all that share a storage.
            is_read: is_used(&position) || sharing.iter().any(is_used),
            writes: std::mem::take(&mut writes[position]),
            shares_storage_with: sharing.iter().map(|&other| text(names[other])).collect(),
            carried_by: carriers.get(&(mutation_of(spec.kind), target)).cloned(),
        }
    });
    Ok(report.collect())
}

/// The writes to each input.
fn writes_by_input(
    program: &ExportedProgram,
    records: &[WriteRecord],
    inputs: usize,
) -> Vec<Vec<Write>> {
    let mut writes = vec![Vec::new(); inputs];
    for record in records {
        for &input in &record.inputs {
            if let Some(writes) = writes.get_mut(input) {
                writes.push(write_of(program, record));
            }
        }
    }
    writes
}

/// The names of the placeholders that have users.
fn used_placeholders(program: &ExportedProgram) -> FxHashSet<NameId> {
    let users = program.graph.user_counts();
    let placeholders = program.graph.placeholders();
    placeholders
        .filter(|(id, _)| users[id.index()] > 0)
        .map(|(_, node)| node.name)
        .collect()
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

/// What kind of entry carries writes to an input of this kind.
fn mutation_of(kind: InputKind) -> OutputKind {
    match kind {
        InputKind::Parameter => OutputKind::ParameterMutation,
        InputKind::Buffer => OutputKind::BufferMutation,
        _ => OutputKind::UserInputMutation,
    }
}

/// The entries of a functional signature that carry writes, by kind and target.
fn carriers(program: &ExportedProgram) -> FxHashMap<(OutputKind, NameId), Carrier> {
    let text = |id: NameId| program.context.names.get(id).to_owned();
    let outputs = program.signature.outputs.iter().zip(&program.graph.outputs);
    let carriers = outputs.filter_map(|(spec, output)| {
        let target = spec.target?;
        let carrier = Carrier {
            value: text(program.graph.node(output.as_node()?).name),
            kind: spec.kind,
            target: text(target),
        };
        Some(((spec.kind, target), carrier))
    });
    carriers.collect()
}

/// Which inputs share a storage: those whose state entries name the same one.
struct Storages {
    by_input: Vec<Option<StorageId>>,
    inputs: FxHashMap<StorageId, Vec<usize>>,
}

impl Storages {
    fn of(program: &ExportedProgram) -> Self {
        let entries = program.state.entries.iter();
        let storages: FxHashMap<NameId, StorageId> =
            entries.map(|entry| (entry.name, entry.storage)).collect();
        let storage_of = |spec: &InputSpec| match spec.kind {
            InputKind::Parameter | InputKind::Buffer | InputKind::ConstantTensor => {
                storages.get(&spec.target?).copied()
            }
            InputKind::UserInput | InputKind::CustomObj | InputKind::Token => None,
        };
        let by_input: Vec<_> = program.signature.inputs.iter().map(storage_of).collect();
        let mut inputs: FxHashMap<StorageId, Vec<usize>> = FxHashMap::default();
        for (position, storage) in by_input.iter().enumerate() {
            if let Some(storage) = storage {
                inputs.entry(*storage).or_default().push(position);
            }
        }
        Self { by_input, inputs }
    }

    /// The inputs that share the storage of this one.
    fn shared_with(&self, position: usize) -> Vec<usize> {
        let storage = self.by_input.get(position).copied().flatten();
        let group = storage.and_then(|storage| self.inputs.get(&storage));
        let others = group.into_iter().flatten().copied();
        others.filter(|other| *other != position).collect()
    }
}
