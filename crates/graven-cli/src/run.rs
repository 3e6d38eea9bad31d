//! `graven run`: a program on the CPU.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use graven::evaluate;
use graven::tensor::{Array, Eager};
use graven::{ExportedProgram, Module, Observer, Registry, Value, tensor_file};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::arguments::{Inputs, Run};
use crate::output::{self, Failure};

pub(crate) fn run(arguments: &Run) -> Result<(), Failure> {
    let path = &arguments.file;
    let registry = output::registry(&arguments.operators)?;
    let program = output::load(path, &registry)?;
    let module = module(&program, registry, path)?;
    if let Some(state) = &arguments.state {
        let tensors = tensor_file::read(state).map_err(Failure::Tensors)?;
        let tensors = tensors
            .iter()
            .map(|(name, array)| (name.as_str(), array.clone()));
        module
            .load_state_dict(tensors)
            .map_err(|source| failed(path, source))?;
    }
    if let Some(seed) = arguments.seed {
        module.eager().seed(seed);
    }
    let inputs = inputs(&arguments.inputs, &program, &module, path)?;
    let mut progress = Progress::new(program.graph.nodes.len());
    let results = evaluate::call(&module, &inputs, Some(&mut progress));
    progress.0.finish_and_clear();
    let results = results.map_err(|source| failed(path, source))?;
    match &arguments.outputs {
        Some(outputs) => tensor_file::write(outputs, &results.tensors()).map_err(Failure::Tensors),
        None => output::print(&summary(&results)),
    }
}

pub(crate) fn failed(path: &Path, source: graven::RuntimeError) -> Failure {
    Failure::Run {
        path: path.to_owned(),
        source,
    }
}

/// A program made ready to run.
pub(crate) fn module(
    program: &ExportedProgram,
    registry: Registry,
    path: &Path,
) -> Result<Module, Failure> {
    let eager = Arc::new(Eager::new(Arc::new(registry)));
    Module::new(program, eager).map_err(|source| failed(path, source))
}

/// The inputs that the command line names, or those that the archive holds.
pub(crate) fn inputs(
    arguments: &Inputs,
    program: &ExportedProgram,
    module: &Module,
    path: &Path,
) -> Result<Vec<Value>, Failure> {
    let failed = |source| Failure::Inputs {
        path: path.to_owned(),
        source,
    };
    let Some(file) = &arguments.inputs else {
        let mut inputs = evaluate::samples(program).map_err(failed)?;
        for (position, value) in &arguments.scalars {
            if let Some(input) = inputs.get_mut(*position) {
                *input = value.clone();
            }
        }
        return Ok(inputs);
    };
    let tensors = tensor_file::read(file).map_err(Failure::Tensors)?;
    let tensors: BTreeMap<String, Array> = tensors.into_iter().collect();
    let others = arguments.scalars.iter().cloned().collect();
    evaluate::inputs(module, &tensors, &others).map_err(failed)
}

/// One line for each output and each change.
fn summary(results: &evaluate::Results) -> String {
    let mut text = String::new();
    for (position, value) in results.outputs.iter().enumerate() {
        let shown = match value {
            Value::Tensor(tensor) => described(&tensor.array()),
            value => value
                .as_scalar()
                .map_or_else(|| value.kind().to_owned(), |scalar| format!("{scalar:?}")),
        };
        text += &format!("out.{position}: {shown}\n");
    }
    for (name, array) in &results.changes {
        text += &format!("{name}: {} (changed)\n", described(array));
    }
    text
}

fn described(array: &Array) -> String {
    format!("{}{:?}", array.dtype().name(), array.sizes())
}

/// A bar on standard error that counts nodes, on a terminal and from the second second on.
struct Progress(ProgressBar);

impl Progress {
    fn new(nodes: usize) -> Self {
        let bar = ProgressBar::with_draw_target(
            Some(nodes as u64),
            ProgressDrawTarget::stderr_with_hz(10),
        );
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }
}

impl Observer for Progress {
    fn computed(&mut self, name: &str, _value: &Value) {
        if self.0.elapsed().as_secs() >= 1 && !self.0.is_hidden() {
            self.0.set_message(name.to_owned());
        }
        self.0.inc(1);
    }
}
