//! The end of a run: what is written back, what is returned, and the signature that says so.

use graven_ir::{
    Argument, ExportedProgram, Graph, GraphSignature, InputKind, InputSpec, MetadataMutation,
    NodeId, Op, OutputKind, OutputSpec, TensorMetaId, Value,
};

use graven_ops::Arg;

use super::error::{FunctionalizeError, Problem};
use super::machine::{Machine, Operand, StorageId, TensorId};
use super::names;
use super::region::{Finished, Scope};
use super::shared::ProgramInput;
use super::view::KeepsStrides;
use crate::dce::remove_dead_nodes;
use rustc_hash::{FxHashMap, FxHashSet};

impl Machine<'_> {
    /// Collects the outputs, drops dead nodes, gives the final names.
    pub(crate) fn finish(
        &mut self,
        program: &ExportedProgram,
        scope: &Scope<'_>,
        inputs: &[ProgramInput],
    ) -> Result<Finished, FunctionalizeError> {
        self.current = None;
        let specs: Vec<InputSpec> = inputs
            .iter()
            .map(|input| program.signature.inputs[input.position].clone())
            .collect();
        let mut signature = GraphSignature {
            inputs: specs,
            outputs: Vec::new(),
        };
        self.apply_recorded_mutations(program, scope, inputs, &signature)?;
        let mut outputs = Vec::new();
        self.write_backs(inputs, &mut signature, &mut outputs)?;
        for (spec, output) in program.signature.outputs.iter().zip(&program.graph.outputs) {
            if is_mutation(spec.kind) {
                continue;
            }
            let operand = self.operand(scope, output)?;
            outputs.push(self.lower(&operand)?);
            signature.outputs.push(spec.clone());
        }
        let tokens = signature
            .outputs
            .iter()
            .filter(|spec| spec.kind == OutputKind::Token)
            .count();
        if tokens > 0 {
            move_tokens_first(&mut signature.outputs, &mut outputs);
        }
        let metadata_mutations = self.metadata_mutations(inputs)?;
        self.name_late_nodes();
        let mut graph = std::mem::take(&mut self.graph);
        graph.outputs = outputs;
        graph.output_metadata = program.graph.output_metadata;
        graph.unknown_fields = program.graph.unknown_fields.clone();
        self.sweep(&mut graph);
        names::resolve_collisions(&mut graph, &mut self.context.names);
        names::name_nested(&mut graph, &mut self.context);
        if self.drop_last_copies(&mut graph, &signature) {
            self.sweep(&mut graph);
        }
        let writes = self.take_writes(inputs);
        Ok(Finished {
            graph,
            signature,
            metadata_mutations,
            writes,
        })
    }

    /// The writes to inputs, each with the inputs that live in the written storage.
    fn take_writes(&mut self, inputs: &[ProgramInput]) -> Vec<super::WriteRecord> {
        let mut of_storage: FxHashMap<StorageId, Vec<usize>> = FxHashMap::default();
        for input in inputs {
            if let Some(tensor) = input.tensor {
                of_storage
                    .entry(self.tensor(tensor).storage)
                    .or_default()
                    .push(input.position);
            }
        }
        let writes = std::mem::take(&mut self.writes);
        let known = |(storage, write): (StorageId, super::WriteRecord)| {
            let inputs = of_storage.get(&storage)?.clone();
            Some(super::WriteRecord { inputs, ..write })
        };
        writes.into_iter().filter_map(known).collect()
    }

    /// A program that is functional in part already has write-backs: they happen at its end.
    /// The user outputs are values from before them.
    fn apply_recorded_mutations(
        &mut self,
        program: &ExportedProgram,
        scope: &Scope<'_>,
        inputs: &[ProgramInput],
        signature: &GraphSignature,
    ) -> Result<(), FunctionalizeError> {
        let mutations = program.signature.outputs.iter().zip(&program.graph.outputs);
        let mutations: Vec<_> = mutations
            .filter(|(spec, _)| is_mutation(spec.kind))
            .collect();
        if mutations.is_empty() {
            return Ok(());
        }
        for output in &program.graph.outputs {
            let operand = self.operand(scope, output)?;
            self.lower(&operand)?;
        }
        for (spec, output) in mutations {
            let written =
                inputs
                    .iter()
                    .zip(&signature.inputs)
                    .find(|(input, input_spec)| match spec.kind {
                        OutputKind::UserInputMutation => {
                            Some(self.graph.node(input.node).name) == spec.target
                        }
                        _ => {
                            input_spec.target == spec.target
                                && input_spec.kind != InputKind::UserInput
                        }
                    });
            let tensor = written.and_then(|(input, _)| input.tensor);
            let value = match self.operand(scope, output)? {
                Operand::Tensor(value) => self.sync(value)?,
                _ => {
                    return Err(Problem::Malformed(
                        "a mutation's value must be a tensor".to_owned(),
                    )
                    .into());
                }
            };
            match tensor {
                Some(tensor) => self.write(tensor, value, KeepsStrides::No)?,
                None => {
                    return Err(
                        Problem::Malformed("a mutation's target is no input".to_owned()).into(),
                    );
                }
            }
        }
        Ok(())
    }

    /// One entry for each input whose data was written, in the order of the inputs.
    fn write_backs(
        &mut self,
        inputs: &[ProgramInput],
        signature: &mut GraphSignature,
        outputs: &mut Vec<Argument>,
    ) -> Result<(), FunctionalizeError> {
        let mut written: FxHashSet<(OutputKind, NodeId)> = FxHashSet::default();
        for (index, input) in inputs.iter().enumerate() {
            let Some(tensor) = input.tensor else { continue };
            let storage = self.tensor(tensor).storage;
            if self.storage(storage).generation == 0 {
                continue;
            }
            let spec = &signature.inputs[index];
            let target = spec.target.or(Some(self.graph.node(input.node).name));
            let kind = match spec.kind {
                InputKind::Parameter => OutputKind::ParameterMutation,
                InputKind::Buffer => OutputKind::BufferMutation,
                InputKind::UserInput => OutputKind::UserInputMutation,
                InputKind::ConstantTensor | InputKind::CustomObj | InputKind::Token => {
                    let name = target
                        .map_or("", |target| self.context.names.get(target))
                        .to_owned();
                    return Err(Problem::ConstantWritten(name).into());
                }
            };
            let mut value = self.value_to_write_back(input, tensor)?;
            if !written.insert((kind, value)) {
                // Write-backs of one kind have nodes of their own: torch's verifier wants it so.
                value = self.pure_call("aten::clone", &[Arg::Value(value)], &[])?;
                written.insert((kind, value));
            }
            outputs.push(Argument::Node(value));
            signature.outputs.push(OutputSpec { kind, target });
        }
        Ok(())
    }

    /// The new value in the geometry that the input had at the start: a change of its shape is
    /// told apart.
    fn value_to_write_back(
        &mut self,
        input: &ProgramInput,
        tensor: TensorId,
    ) -> Result<NodeId, FunctionalizeError> {
        if Some(self.tensor(tensor).meta) == input.meta
            || !self.metadata_changes.contains_key(&tensor)
        {
            return self.sync(tensor);
        }
        Ok(self.storage(self.tensor(tensor).storage).base)
    }

    /// The inputs that end with another geometry than they began with.
    fn metadata_mutations(
        &self,
        inputs: &[ProgramInput],
    ) -> Result<Vec<MetadataMutation>, FunctionalizeError> {
        let changed = inputs.iter().filter_map(|input| {
            let tensor = input.tensor?;
            let &(current, metadata) = self.metadata_changes.get(&tensor)?;
            let meta = self.tensor(tensor).meta;
            let differs = input
                .meta
                .is_some_and(|before| !self.same_layout(before, meta));
            let operator = current.map_or(self.empty_name, |(_, target)| target);
            differs.then_some(MetadataMutation {
                input: input.node,
                meta,
                operator,
                metadata,
            })
        });
        Ok(changed.collect())
    }

    fn same_layout(&self, a: TensorMetaId, b: TensorMetaId) -> bool {
        let (a, b) = (self.context.meta(a), self.context.meta(b));
        a.sizes == b.sizes && a.strides == b.strides && a.storage_offset == b.storage_offset
    }

    /// Removes what no one uses. Calls without results are made for their effect: assertions,
    /// constraints on sizes.
    pub(crate) fn sweep(&self, graph: &mut Graph) -> Vec<Option<NodeId>> {
        let facts = &self.facts;
        remove_dead_nodes(graph, &|graph, node| match graph.node(node).op {
            Op::Call(target) => facts.has_effect(target),
            _ => false,
        })
    }

    /// `buffer.copy_(source)` as the last write makes the source the buffer's new value: the
    /// `copy` is dropped where the source has the buffer's dtype and sizes.
    fn drop_last_copies(&mut self, graph: &mut Graph, signature: &GraphSignature) -> bool {
        let Some(copy) = self.context.find_target("torch.ops.aten.copy.default") else {
            return false;
        };
        let mut replaced: Vec<Option<NodeId>> = vec![None; graph.nodes.len()];
        // Two write-backs of one kind cannot share a node.
        let mut written: FxHashSet<(OutputKind, NodeId)> = signature
            .outputs
            .iter()
            .zip(&graph.outputs)
            .filter(|(spec, _)| is_mutation(spec.kind))
            .filter_map(|(spec, output)| Some((spec.kind, output.as_node()?)))
            .collect();
        let mut any = false;
        for (spec, output) in signature.outputs.iter().zip(&graph.outputs) {
            if !matches!(
                spec.kind,
                OutputKind::BufferMutation | OutputKind::ParameterMutation
            ) {
                continue;
            }
            let Some(value) = output.as_node() else {
                continue;
            };
            let node = graph.node(value);
            let source = node
                .inputs
                .get(1)
                .and_then(|input| input.argument.as_node());
            if node.op == Op::Call(copy)
                && let Some(source) = source
                && self.same_type(&node.value, &graph.node(source).value)
                && written.insert((spec.kind, source))
            {
                replaced[value.index()] = Some(source);
                any = true;
            }
        }
        if any {
            replace_uses(graph, &replaced);
        }
        any
    }

    fn same_type(&self, a: &Value, b: &Value) -> bool {
        match (a.as_tensor(), b.as_tensor()) {
            (Some(a), Some(b)) => {
                let (a, b) = (self.context.meta(a), self.context.meta(b));
                a.dtype == b.dtype
                    && a.sizes == b.sizes
                    && a.device == b.device
                    && a.layout == b.layout
            }
            _ => false,
        }
    }
}

fn is_mutation(kind: OutputKind) -> bool {
    matches!(
        kind,
        OutputKind::BufferMutation | OutputKind::ParameterMutation | OutputKind::UserInputMutation
    )
}

fn move_tokens_first(specs: &mut Vec<OutputSpec>, outputs: &mut Vec<Argument>) {
    let pairs: Vec<(OutputSpec, Argument)> = specs.drain(..).zip(outputs.drain(..)).collect();
    let (tokens, others): (Vec<_>, Vec<_>) = pairs
        .into_iter()
        .partition(|(spec, _)| spec.kind == OutputKind::Token);
    for (spec, output) in tokens.into_iter().chain(others) {
        specs.push(spec);
        outputs.push(output);
    }
}

/// Puts each replacement in the place of its node, replacements of replacements included.
fn replace_uses(graph: &mut Graph, replaced: &[Option<NodeId>]) {
    let mut resolve = |mut node: NodeId| {
        // A replacement stands before what it replaces, so this ends.
        while let Some(next) = replaced[node.index()] {
            node = next;
        }
        Argument::Node(node)
    };
    for node in &mut graph.nodes {
        for input in &mut node.inputs {
            input.argument = input.argument.map_nodes(&mut resolve);
        }
    }
    for output in &mut graph.outputs {
        *output = output.map_nodes(&mut resolve);
    }
}
