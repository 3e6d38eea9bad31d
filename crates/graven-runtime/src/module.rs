//! Modules: programs that can be called.

use std::cell::Cell;
use std::sync::Arc;

use graven_ir::state::{StateEntry, StateKind};
use graven_ir::symint::SymInt;
use graven_ir::{Context, ExportedProgram, InputKind, NameId};
use graven_tensor::{Array, Checkpoint, Eager, Storage, Tensor, Value};
use rustc_hash::FxHashMap;

use crate::error::{RuntimeError, RuntimeProblem};
use crate::execute::{Observer, Run};
use crate::inputs::{self, InputSpec, Range};
use crate::plan::Plan;
use crate::write_back::{self, MetadataChange, Output};

/// A program that can be called. It has a state of its own, which calls change and keep.
///
/// State that shares a storage in the program shares it here.
#[derive(Debug)]
pub struct Module {
    pub(crate) context: Arc<Context>,
    eager: Arc<Eager>,
    plan: Plan,
    inputs: Vec<InputSpec>,
    ranges: Vec<Range>,
    /// For each placeholder where its value comes from.
    sources: Vec<Source>,
    state: Vec<StateTensor>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) metadata_changes: Vec<MetadataChange>,
}

/// A tensor of a module's state.
#[derive(Clone, Debug)]
pub struct StateTensor {
    /// The dotted name.
    pub name: String,
    /// What it is.
    pub kind: StateKind,
    /// The tensor itself: writing it changes the module.
    pub tensor: Tensor,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// The user input of this position.
    Input(usize),
    /// The tensor of the state of this position.
    State(usize),
    /// Nothing: tokens and objects.
    None,
}

impl Module {
    /// Makes a program ready to be called. The program's own state is not changed by calls.
    ///
    /// # Errors
    /// When a node cannot be run, or the state does not fit; the error names the node and its
    /// source line.
    pub fn new(program: &ExportedProgram, eager: Arc<Eager>) -> Result<Self, RuntimeError> {
        let plan = Plan::of_program(program, eager.registry())?;
        let mut module = Self {
            context: Arc::new(program.context.clone()),
            plan,
            eager,
            inputs: inputs::specs(program),
            ranges: program
                .range_constraints
                .iter()
                .map(|range| Range {
                    symbol: range.symbol,
                    min: range.min,
                    max: range.max,
                })
                .collect(),
            sources: Vec::new(),
            state: Vec::new(),
            outputs: write_back::outputs(program)?,
            metadata_changes: write_back::metadata_changes(program),
        };
        module.load_state(program)?;
        Ok(module)
    }

    fn load_state(&mut self, program: &ExportedProgram) -> Result<(), RuntimeError> {
        let names = &program.context.names;
        let missing = |name: Option<NameId>| RuntimeProblem::State {
            name: name.map_or("?", |name| names.get(name)).into(),
            problem: "is missing".into(),
        };
        let mut storages: FxHashMap<u32, Storage> = FxHashMap::default();
        let mut known: FxHashMap<NameId, usize> = FxHashMap::default();
        let mut user_inputs = 0..;
        for spec in &program.signature.inputs {
            let source = match spec.kind {
                InputKind::UserInput => user_inputs.next().map_or(Source::None, Source::Input),
                InputKind::Token | InputKind::CustomObj => Source::None,
                InputKind::Parameter | InputKind::Buffer | InputKind::ConstantTensor => {
                    let target = spec.target.ok_or_else(|| missing(spec.target))?;
                    let position = match known.get(&target) {
                        Some(position) => *position,
                        None => {
                            let entry = program.state.find(target);
                            let entry = entry.ok_or_else(|| missing(spec.target))?;
                            self.state
                                .push(state_tensor(program, entry, &mut storages)?);
                            known.insert(target, self.state.len() - 1);
                            self.state.len() - 1
                        }
                    };
                    Source::State(position)
                }
            };
            self.sources.push(source);
        }
        Ok(())
    }

    /// Calls the program: user inputs in, user outputs out. What the program writes of its state
    /// is written, and what it writes of the inputs is written to the tensors that are given.
    ///
    /// # Errors
    /// When an input does not fit, an assertion fails or an operator does; then neither state
    /// nor inputs are changed.
    pub fn call(&self, inputs: &[Value]) -> Result<Vec<Value>, RuntimeError> {
        self.run(inputs, None)
    }

    /// The same; `observer` sees each value as it is computed.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub fn call_observed(
        &self,
        inputs: &[Value],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Value>, RuntimeError> {
        self.run(inputs, Some(observer))
    }

    fn run(
        &self,
        inputs: &[Value],
        observer: Option<&mut dyn Observer>,
    ) -> Result<Vec<Value>, RuntimeError> {
        let symbols = inputs::check(&self.context, &self.inputs, &self.ranges, inputs)?;
        let placeholders: Vec<Value> = self
            .sources
            .iter()
            .map(|source| match *source {
                Source::Input(position) => inputs.get(position).cloned().unwrap_or(Value::None),
                Source::State(position) => Value::Tensor(self.state[position].tensor.clone()),
                Source::None => Value::None,
            })
            .collect();
        // A functional program changes nothing before all of it is computed and checked.
        let tensors = placeholders.iter().filter_map(Value::as_tensor);
        let checkpoint = self.plan.writes.then(|| Checkpoint::of(tensors.cloned()));
        let run = Run {
            eager: &self.eager,
            context: &self.context,
            autocast: Cell::new(None),
        };
        let results = run
            .run(&self.plan, placeholders.clone(), observer)
            .and_then(|results| self.finish(&placeholders, results, &symbols));
        if let (Err(_), Some(checkpoint)) = (&results, checkpoint) {
            checkpoint.restore();
        }
        results
    }

    /// Parameters, buffers and constants, in the order of the signature.
    pub fn state_dict(&self) -> &[StateTensor] {
        &self.state
    }

    /// Gives tensors of the state other values.
    ///
    /// # Errors
    /// When one is unknown, or has another dtype or other sizes; then nothing is changed.
    pub fn load_state_dict<'a>(
        &self,
        values: impl IntoIterator<Item = (&'a str, Array)>,
    ) -> Result<(), RuntimeError> {
        let mut writes = Vec::new();
        for (name, value) in values {
            let problem = |problem: String| RuntimeProblem::State {
                name: name.into(),
                problem: problem.into(),
            };
            let known = self.state.iter().find(|entry| entry.name == name);
            let known = known.ok_or_else(|| problem("is not known to the program".into()))?;
            let array = known.tensor.array();
            if array.dtype() != value.dtype() || array.sizes() != value.sizes() {
                return Err(problem(format!(
                    "must be {} of sizes {:?}, found {} of sizes {:?}",
                    array.dtype().name(),
                    array.sizes(),
                    value.dtype().name(),
                    value.sizes()
                ))
                .into());
            }
            writes.push((array, value));
        }
        for (array, value) in writes {
            array.assign(&value)?;
        }
        Ok(())
    }

    /// The operators and the random number generator that calls use.
    pub fn eager(&self) -> &Eager {
        &self.eager
    }

    /// The names of the user inputs.
    pub fn input_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.inputs.iter().map(|input| &*input.name)
    }
}

/// A tensor of the state, over the storage that its entry names.
fn state_tensor(
    program: &ExportedProgram,
    entry: &StateEntry,
    storages: &mut FxHashMap<u32, Storage>,
) -> Result<StateTensor, RuntimeError> {
    let name = program.context.names.get(entry.name);
    let problem = |problem: &str| RuntimeProblem::State {
        name: name.into(),
        problem: problem.into(),
    };
    let meta = entry.meta.ok_or_else(|| problem("is no tensor"))?;
    let meta = program.context.meta(meta);
    let known = |size: &SymInt| {
        let size = size.as_int().and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| problem("has sizes that are not constant"))
    };
    let sizes: Vec<usize> = meta.sizes.iter().map(known).collect::<Result<_, _>>()?;
    let strides = meta.strides.iter().map(known).collect::<Result<_, _>>()?;
    let offset = known(&meta.storage_offset)?;
    let storage = match storages.get(&entry.storage.0) {
        Some(storage) => storage.clone(),
        None => {
            let bytes = program.state.storages.get(entry.storage.0 as usize);
            let bytes = bytes.ok_or_else(|| problem("has no bytes"))?;
            let storage = Storage::shared(Arc::clone(bytes))?;
            storages.insert(entry.storage.0, storage.clone());
            storage
        }
    };
    let array = Array::new(storage, meta.dtype, &sizes, strides, offset)?;
    Ok(StateTensor {
        name: name.to_owned(),
        kind: entry.kind,
        tensor: Tensor::new(array),
    })
}
