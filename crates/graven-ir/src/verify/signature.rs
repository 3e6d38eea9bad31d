//! The signature against the graph and the state.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{differing_property, returned};
use super::{Report, Violation};
use crate::argument::Argument;
use crate::graph::{Node, NodeId, Op};
use crate::names::NameId;
use crate::program::ExportedProgram;
use crate::signature::{InputKind, InputSpec, OutputKind, OutputSpec};
use crate::state::{StateEntry, StateKind};
use crate::value::{TensorMetaId, Value};

pub(super) fn check(report: &mut Report<'_>, program: &ExportedProgram) {
    let inputs = Inputs::of(program);
    check_counts(report, program);
    check_inputs(report, program);
    check_state(report, program);
    check_outputs(report, program, &inputs);
    check_shared_values(report, program);
    check_tokens(report, program);
    check_metadata_mutations(report, program);
}

fn check_counts(report: &mut Report<'_>, program: &ExportedProgram) {
    let (graph, signature) = (&program.graph, &program.signature);
    let (specs, placeholders) = (signature.inputs.len(), graph.placeholders().count());
    if specs != placeholders {
        report.at_graph(Violation::InputCount {
            specs,
            placeholders,
        });
    }
    let (specs, outputs) = (signature.outputs.len(), graph.outputs.len());
    if specs != outputs {
        report.at_graph(Violation::OutputCount { specs, outputs });
    }
}

/// Each input's description and its placeholder.
fn described(program: &ExportedProgram) -> impl Iterator<Item = (&InputSpec, NodeId, &Node)> {
    let placeholders = program.graph.placeholders();
    let specs = program.signature.inputs.iter();
    specs
        .zip(placeholders)
        .map(|(spec, (id, node))| (spec, id, node))
}

/// The inputs that a mutation may name.
struct Inputs<'p> {
    /// Parameters and buffers by target.
    by_target: FxHashMap<(InputKind, NameId), Input<'p>>,
    /// User inputs by the placeholder's name.
    by_name: FxHashMap<NameId, Input<'p>>,
}

#[derive(Clone, Copy)]
struct Input<'p> {
    position: usize,
    node: &'p Node,
}

impl<'p> Inputs<'p> {
    fn of(program: &'p ExportedProgram) -> Self {
        let mut inputs = Self {
            by_target: FxHashMap::default(),
            by_name: FxHashMap::default(),
        };
        for (position, (spec, _, node)) in described(program).enumerate() {
            let input = Input { position, node };
            match (spec.kind, spec.target) {
                (InputKind::UserInput, _) => {
                    inputs.by_name.insert(node.name, input);
                }
                (kind, Some(target)) => {
                    inputs.by_target.entry((kind, target)).or_insert(input);
                }
                (_, None) => {}
            }
        }
        inputs
    }

    /// The input that an output of this kind changes.
    fn mutated(&self, kind: OutputKind, target: NameId) -> Option<Input<'p>> {
        let found = match kind {
            OutputKind::ParameterMutation => self.by_target.get(&(InputKind::Parameter, target)),
            OutputKind::BufferMutation => self.by_target.get(&(InputKind::Buffer, target)),
            OutputKind::UserInputMutation => self.by_name.get(&target),
            _ => None,
        };
        found.copied()
    }
}

fn check_inputs(report: &mut Report<'_>, program: &ExportedProgram) {
    let mut targets = FxHashMap::default();
    for (spec, id, node) in described(program) {
        let mut found = Vec::new();
        found.extend(value_violation(spec, &node.value));
        found.extend(target_violation(spec));
        found.extend(persistence_violation(spec));
        if let Some(target) = spec.target.filter(|_| has_target(spec.kind))
            && let Some(property) = match targets.entry(target) {
                Entry::Vacant(entry) => {
                    entry.insert((spec, node));
                    None
                }
                Entry::Occupied(entry) => differing_input(report, entry.get(), (spec, node)),
            }
        {
            let target = report.name(target);
            found.push(Violation::DifferentInputs { target, property });
        }
        for violation in found {
            report.at_node(&program.graph, id, violation);
        }
    }
}

/// In what two inputs with one target differ.
fn differing_input(
    report: &Report<'_>,
    first: &(&InputSpec, &Node),
    second: (&InputSpec, &Node),
) -> Option<&'static str> {
    if first.0.kind != second.0.kind {
        return Some("kind");
    }
    let (first, second) = (first.1.value.as_tensor()?, second.1.value.as_tensor()?);
    let context = report.context;
    differing_property(context.meta(first), context.meta(second))
}

fn value_violation(spec: &InputSpec, value: &Value) -> Option<Violation> {
    let found = match value {
        Value::None => return None,
        Value::Tensor(_) => "a tensor",
        Value::SymInt(_) | Value::SymFloat(_) | Value::SymBool(_) => "a symbolic number",
        Value::Float(_) | Value::Bool(_) | Value::Constant => "a constant",
        Value::Token => "a token",
        Value::CustomObject(_) => "a custom object",
        Value::Tuple(_) | Value::List(_) => "a list",
    };
    let is_allowed = match spec.kind {
        InputKind::Parameter | InputKind::Buffer | InputKind::ConstantTensor => {
            matches!(value, Value::Tensor(_))
        }
        InputKind::CustomObj => matches!(value, Value::CustomObject(_)),
        // torch records an empty tensor for a token.
        InputKind::Token => matches!(value, Value::Token | Value::Tensor(_)),
        InputKind::UserInput => {
            let is_constant = matches!(value, Value::Constant);
            !matches!(value, Value::Tuple(_) | Value::List(_) | Value::Token)
                && is_constant == spec.constant.is_some()
        }
    };
    (!is_allowed).then_some(Violation::InputValue {
        kind: spec.kind,
        found,
    })
}

fn has_target(kind: InputKind) -> bool {
    !matches!(kind, InputKind::UserInput | InputKind::Token)
}

fn target_violation(spec: &InputSpec) -> Option<Violation> {
    mismatch(has_target(spec.kind), spec.target.is_some(), TARGET).map(|problem| {
        Violation::Target {
            kind: spec.kind.torch_name(),
            problem,
        }
    })
}

fn persistence_violation(spec: &InputSpec) -> Option<Violation> {
    let is_buffer = spec.kind == InputKind::Buffer;
    mismatch(is_buffer, spec.persistent.is_some(), PERSISTENCE).map(|problem| {
        Violation::Persistence {
            kind: spec.kind,
            problem,
        }
    })
}

/// What to say of a missing and of a needless fact.
type Problems = [&'static str; 2];
const TARGET: Problems = ["has no target", "has a target"];
const PERSISTENCE: Problems = [
    "does not tell whether it is persistent",
    "tells whether it is persistent",
];

fn mismatch(is_needed: bool, is_given: bool, problems: Problems) -> Option<&'static str> {
    match (is_needed, is_given) {
        (true, false) => Some(problems[0]),
        (false, true) => Some(problems[1]),
        _ => None,
    }
}

/// A program without any state, as one made from a text is, is not held to this.
fn check_state(report: &mut Report<'_>, program: &ExportedProgram) {
    if program.state.entries.is_empty() {
        return;
    }
    let entries: FxHashMap<NameId, &StateEntry> = program
        .state
        .entries
        .iter()
        .map(|entry| (entry.name, entry))
        .collect();
    for (spec, id, node) in described(program) {
        let Some(target) = spec.target else { continue };
        let entry = entries.get(&target).filter(|entry| holds(entry, spec.kind));
        let Some(entry) = entry else {
            let (kind, target) = (spec.kind, report.name(target));
            report.at_node(&program.graph, id, Violation::MissingState { kind, target });
            continue;
        };
        if let (Some(stored), Some(meta)) = (entry.meta, node.value.as_tensor())
            && stored != meta
            && let Some(property) =
                differing_property(report.context.meta(stored), report.context.meta(meta))
        {
            let target = report.name(target);
            let violation = Violation::StateMismatch { target, property };
            report.at_node(&program.graph, id, violation);
        }
    }
}

/// Whether an entry can be the state of such an input.
fn holds(entry: &StateEntry, kind: InputKind) -> bool {
    match kind {
        InputKind::Parameter => entry.kind == StateKind::Parameter,
        InputKind::Buffer => entry.kind != StateKind::Parameter,
        _ => true,
    }
}

fn check_outputs(report: &mut Report<'_>, program: &ExportedProgram, inputs: &Inputs<'_>) {
    let mut order = Order::default();
    let mut mutated = FxHashSet::default();
    let outputs = program.signature.outputs.iter().zip(&program.graph.outputs);
    for (position, (spec, output)) in outputs.enumerate() {
        let needs_target = !matches!(
            spec.kind,
            OutputKind::UserOutput | OutputKind::LossOutput | OutputKind::Token
        );
        if let Some(problem) = mismatch(needs_target, spec.target.is_some(), TARGET) {
            let kind = spec.kind.torch_name();
            at_output(report, program, output, Violation::Target { kind, problem });
        }
        let kind = spec.kind;
        if output.as_node().is_none() && (is_mutation(kind) || kind == OutputKind::Token) {
            report.at_graph(Violation::ConstantOutput { position, kind });
        }
        let mut input = check_mutation(report, program, inputs, spec, output);
        if let (Some(Input { position, .. }), Some(target)) = (input, spec.target)
            && !mutated.insert(position)
        {
            let target = report.name(target);
            let violation = Violation::DuplicateMutation { target };
            at_output(report, program, output, violation);
            input = None;
        }
        if !order.accepts(kind, input.map(|input| input.position)) {
            at_output(
                report,
                program,
                output,
                Violation::OutputOrder { position, kind },
            );
        }
    }
}

fn check_shared_values(report: &mut Report<'_>, program: &ExportedProgram) {
    let mut values = FxHashMap::default();
    let outputs = program.signature.outputs.iter().zip(&program.graph.outputs);
    for (spec, output) in outputs.filter(|(spec, _)| is_mutation(spec.kind)) {
        if let (Some(value), Some(target)) = (output.as_node(), spec.target)
            && let Some(first) = values.insert((spec.kind, value), target)
            && first != target
        {
            let (first, second) = (report.name(first), report.name(target));
            let violation = Violation::SharedMutationValue { first, second };
            report.at_node(&program.graph, value, violation);
        }
    }
}

fn is_mutation(kind: OutputKind) -> bool {
    matches!(
        kind,
        OutputKind::ParameterMutation | OutputKind::BufferMutation | OutputKind::UserInputMutation
    )
}

/// Checks one mutation by itself; gives the input that it changes.
fn check_mutation<'p>(
    report: &mut Report<'_>,
    program: &ExportedProgram,
    inputs: &Inputs<'p>,
    spec: &OutputSpec,
    output: &Argument,
) -> Option<Input<'p>> {
    let target = spec.target.filter(|_| is_mutation(spec.kind))?;
    let Some(input) = inputs.mutated(spec.kind, target) else {
        let (kind, target) = (spec.kind, report.name(target));
        at_output(
            report,
            program,
            output,
            Violation::MutationTarget { kind, target },
        );
        return None;
    };
    let value = returned(&program.graph, output).and_then(|node| node.value.as_tensor());
    if let (Some(old), Some(new)) = (input.node.value.as_tensor(), value)
        && old != new
        && let Some(property) =
            differing_property(report.context.meta(old), report.context.meta(new))
        && !is_resized(program, input.node, new)
    {
        let target = report.name(target);
        at_output(
            report,
            program,
            output,
            Violation::MutationValue { target, property },
        );
    }
    Some(input)
}

/// Whether `value` has the shape that the program gives this input besides: the new value of an
/// input that was resized has its new size.
fn is_resized(program: &ExportedProgram, input: &Node, value: TensorMetaId) -> bool {
    let meta = |id| program.context.meta(id);
    let mut mutations = program.metadata_mutations.iter();
    mutations.any(|mutation| {
        let changed = program.graph.nodes.get(mutation.input.index());
        changed.is_some_and(|changed| std::ptr::eq(changed, input))
            && differing_property(meta(mutation.meta), meta(value)).is_none()
    })
}

/// Adds a finding about an output: at the node that it returns, if it returns one.
fn at_output(
    report: &mut Report<'_>,
    program: &ExportedProgram,
    output: &Argument,
    violation: Violation,
) {
    match output.as_node() {
        Some(node) => report.at_node(&program.graph, node, violation),
        None => report.at_graph(violation),
    }
}

/// Follows the order of the outputs.
#[derive(Default)]
struct Order {
    rank: u8,
    /// The input that the last mutation changed.
    last_input: Option<usize>,
}

impl Order {
    /// Whether an output of this kind may come next; `input` is the input that it changes.
    fn accepts(&mut self, kind: OutputKind, input: Option<usize>) -> bool {
        let rank = match kind {
            OutputKind::Token => 0,
            kind if is_mutation(kind) => 1,
            _ => 2,
        };
        let is_sorted = match (input, self.last_input) {
            (Some(input), Some(last)) => last < input,
            _ => true,
        };
        self.last_input = input.or(self.last_input);
        let is_ranked = self.rank <= rank;
        self.rank = self.rank.max(rank);
        is_ranked && is_sorted
    }
}

/// A raw program has no tokens at all; an output token is the last of a chain that an input
/// token begins.
fn check_tokens(report: &mut Report<'_>, program: &ExportedProgram) {
    let signature = &program.signature;
    let inputs = signature.inputs.iter();
    let inputs = inputs.filter(|spec| spec.kind == InputKind::Token).count();
    let outputs = signature.outputs.iter();
    let outputs = outputs
        .filter(|spec| spec.kind == OutputKind::Token)
        .count();
    if inputs != outputs {
        report.at_graph(Violation::TokenCount { inputs, outputs });
    }
}

fn check_metadata_mutations(report: &mut Report<'_>, program: &ExportedProgram) {
    for mutation in &program.metadata_mutations {
        let is_tensor_input = program
            .graph
            .nodes
            .get(mutation.input.index())
            .is_some_and(|node| {
                node.op == Op::Placeholder && matches!(node.value, Value::Tensor(_))
            });
        if !is_tensor_input {
            report.at_node(
                &program.graph,
                mutation.input,
                Violation::MetadataMutationInput,
            );
        }
    }
}
