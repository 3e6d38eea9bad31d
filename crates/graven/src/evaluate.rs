//! Calling a program on tensors by name, as the command `graven run` does: inputs in, and out what
//! came out and what the call changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use graven_ir::ExportedProgram;
use graven_ir::state::StateKind;
use graven_pt2::{Pt2Error, SampleInput, sample_inputs};
use graven_runtime::{Module, Observer, RuntimeError};
use graven_tensor::{Array, Problem, Storage, Value};

/// Inputs that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The archive's sample inputs cannot be read.
    #[error(transparent)]
    Archive(#[from] Pt2Error),
    /// There are no inputs: none are given, and the archive holds none.
    #[error("the archive holds no sample inputs; give inputs")]
    NoSamples,
    /// An input is missing.
    #[error(
        "input {position} (`{name}`) is missing: give a tensor `in.{position}`, or a number with `--scalar {position}=VALUE`"
    )]
    Missing {
        /// Its position.
        position: usize,
        /// Its name.
        name: String,
    },
    /// An input cannot be held.
    #[error("input {position}: {source}")]
    Tensor {
        /// Its position.
        position: usize,
        /// Why.
        source: Problem,
    },
}

/// The sample inputs that a program's archive holds.
///
/// # Errors
/// When there are none, or they cannot be read.
pub fn samples(program: &ExportedProgram) -> Result<Vec<Value>, InputError> {
    let samples = sample_inputs(program)?.ok_or(InputError::NoSamples)?;
    let mut storages: Vec<(*const u8, Storage)> = Vec::new();
    let mut values = Vec::with_capacity(samples.len());
    for (position, sample) in samples.into_iter().enumerate() {
        let failed = |source| InputError::Tensor { position, source };
        values.push(match sample {
            SampleInput::Tensor {
                dtype,
                sizes,
                strides,
                storage_offset,
                bytes,
            } => {
                let key = bytes.bytes().as_ptr();
                let known = storages.iter().find(|(known, _)| *known == key);
                let storage = match known {
                    Some((_, storage)) => storage.clone(),
                    None => {
                        let storage = Storage::shared(Arc::clone(&bytes)).map_err(failed)?;
                        storages.push((key, storage.clone()));
                        storage
                    }
                };
                let wrong = || failed(Problem::invalid("its geometry is negative"));
                let sizes = unsigned(&sizes).ok_or_else(wrong)?;
                let strides = unsigned(&strides).ok_or_else(wrong)?;
                let offset = usize::try_from(storage_offset).map_err(|_| wrong())?;
                Array::new(storage, dtype, &sizes, strides.as_slice().into(), offset)
                    .map_err(failed)?
                    .into()
            }
            SampleInput::Int(value) => Value::Int(value),
            SampleInput::Float(value) => Value::Float(value),
            SampleInput::Bool(value) => Value::Bool(value),
            SampleInput::None | SampleInput::Other => Value::None,
        });
    }
    Ok(values)
}

fn unsigned(values: &[i64]) -> Option<Vec<usize>> {
    values
        .iter()
        .map(|value| usize::try_from(*value).ok())
        .collect()
}

/// Inputs by position: tensors called `in.<position>`, and other values by their positions.
///
/// # Errors
/// When one is missing.
pub fn inputs(
    module: &Module,
    tensors: &BTreeMap<String, Array>,
    others: &BTreeMap<usize, Value>,
) -> Result<Vec<Value>, InputError> {
    let names = module.input_names().enumerate();
    names
        .map(|(position, name)| {
            let tensor = tensors
                .get(&format!("in.{position}"))
                .cloned()
                .map(Value::from);
            let value = tensor.or_else(|| others.get(&position).cloned());
            value.ok_or_else(|| InputError::Missing {
                position,
                name: name.to_owned(),
            })
        })
        .collect()
}

/// What came of a call.
#[derive(Clone, Debug)]
pub struct Results {
    /// What the program returned.
    pub outputs: Vec<Value>,
    /// What the call changed, by name: `buf.<name>`, `par.<name>`, `inmut.<position>`.
    pub changes: Vec<(String, Array)>,
}

impl Results {
    /// All tensors by name: outputs as `out.<position>`, then the changes.
    pub fn tensors(&self) -> Vec<(String, Array)> {
        let outputs = self.outputs.iter().enumerate();
        let outputs = outputs.filter_map(|(position, output)| {
            let array = output.as_tensor()?.array();
            Some((format!("out.{position}"), array))
        });
        outputs.chain(self.changes.iter().cloned()).collect()
    }
}

/// Calls a module, and compares its state and its inputs with what they were before.
///
/// # Errors
/// When the call fails; then nothing is changed.
pub fn call(
    module: &Module,
    inputs: &[Value],
    observer: Option<&mut dyn Observer>,
) -> Result<Results, RuntimeError> {
    let fork = |array: Array| array.fork();
    let state: Vec<Array> = module
        .state_dict()
        .iter()
        .map(|entry| fork(entry.tensor.array()))
        .collect();
    let given: Vec<Option<Array>> = inputs
        .iter()
        .map(|input| input.as_tensor().map(|tensor| fork(tensor.array())))
        .collect();
    let outputs = match observer {
        Some(observer) => module.call_observed(inputs, observer)?,
        None => module.call(inputs)?,
    };
    let mut changes = Vec::new();
    for (entry, before) in module.state_dict().iter().zip(&state) {
        let after = entry.tensor.array();
        if !same(before, &after)? {
            let prefix = match entry.kind {
                StateKind::Parameter => "par",
                _ => "buf",
            };
            changes.push((format!("{prefix}.{}", entry.name), after));
        }
    }
    for (position, (input, before)) in inputs.iter().zip(&given).enumerate() {
        if let (Some(tensor), Some(before)) = (input.as_tensor(), before) {
            let after = tensor.array();
            if !same(before, &after)? {
                changes.push((format!("inmut.{position}"), after));
            }
        }
    }
    Ok(Results { outputs, changes })
}

/// Whether both have the same sizes and bytes.
fn same(before: &Array, after: &Array) -> Result<bool, Problem> {
    if before.sizes() != after.sizes() || before.dtype() != after.dtype() {
        return Ok(false);
    }
    Ok(before.element_bytes()? == after.element_bytes()?)
}
