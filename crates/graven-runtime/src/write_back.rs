//! The epilogue of a functional program: the values that its signature names are written back.

use graven_ir::{ExportedProgram, InputKind, OutputKind, TensorMetaId};
use graven_tensor::{Array, Tensor, Value};

use crate::error::{RuntimeError, RuntimeProblem};
use crate::inputs::Symbols;
use crate::module::Module;

/// What becomes of one output of the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Output {
    /// The caller gets it.
    Returned,
    /// It is written to the placeholder of this position.
    WrittenTo(usize),
    /// It is a token.
    Dropped,
}

/// A change of the geometry of the placeholder at this position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetadataChange {
    pub(crate) placeholder: usize,
    pub(crate) meta: TensorMetaId,
}

/// What becomes of each output.
pub(crate) fn outputs(program: &ExportedProgram) -> Result<Vec<Output>, RuntimeError> {
    let names: Vec<_> = program
        .graph
        .placeholders()
        .map(|(_, node)| node.name)
        .collect();
    let inputs = &program.signature.inputs;
    let find = |kind: InputKind, target| {
        inputs
            .iter()
            .position(|spec| spec.kind == kind && spec.target == target)
    };
    let mut outputs = Vec::with_capacity(program.signature.outputs.len());
    for spec in &program.signature.outputs {
        let position = match spec.kind {
            OutputKind::Token => {
                outputs.push(Output::Dropped);
                continue;
            }
            OutputKind::ParameterMutation => find(InputKind::Parameter, spec.target),
            OutputKind::BufferMutation => find(InputKind::Buffer, spec.target),
            OutputKind::UserInputMutation => {
                names.iter().position(|name| Some(*name) == spec.target)
            }
            _ => {
                outputs.push(Output::Returned);
                continue;
            }
        };
        let position = position
            .ok_or_else(|| RuntimeProblem::malformed("a mutation has a target that is no input"))?;
        outputs.push(Output::WrittenTo(position));
    }
    Ok(outputs)
}

/// Changes of geometry that the program carries.
pub(crate) fn metadata_changes(program: &ExportedProgram) -> Vec<MetadataChange> {
    program
        .metadata_mutations
        .iter()
        .map(|mutation| MetadataChange {
            placeholder: mutation.input.index(),
            meta: mutation.meta,
        })
        .collect()
}

impl Module {
    /// Writes back what is to be written back, and gives what the caller gets.
    pub(crate) fn finish(
        &self,
        placeholders: &[Value],
        results: Vec<Value>,
        symbols: &Symbols,
    ) -> Result<Vec<Value>, RuntimeError> {
        let mut returned = Vec::new();
        let mut writes: Vec<(&Tensor, Array)> = Vec::new();
        for (output, result) in self.outputs.iter().zip(results) {
            match *output {
                Output::Returned => returned.push(result),
                Output::Dropped => {}
                Output::WrittenTo(position) => {
                    let target = placeholders.get(position).and_then(Value::as_tensor);
                    let value = result.as_tensor().map(Tensor::array);
                    let (Some(target), Some(value)) = (target, value) else {
                        return Err(
                            RuntimeProblem::malformed("what is written back is no tensor").into(),
                        );
                    };
                    writes.push((target, value));
                }
            }
        }
        // A value may be another input that is written too, as when two buffers are swapped: all
        // are read before any is written.
        let mut copies = Vec::with_capacity(writes.len());
        for (target, value) in writes {
            let is_written_too = placeholders
                .iter()
                .filter_map(Value::as_tensor)
                .any(|input| input.array().storage().is(value.storage()));
            let value = match is_written_too {
                true => value.copied(value.strides().into())?,
                false => value,
            };
            let array = target.array();
            if array.sizes() != value.sizes() {
                return Err(RuntimeProblem::malformed(format!(
                    "a value of sizes {:?} is to be written back to sizes {:?}",
                    value.sizes(),
                    array.sizes()
                ))
                .into());
            }
            copies.push((array, value));
        }
        for (target, value) in copies {
            target.assign(&value)?;
        }
        self.change_metadata(placeholders, symbols)?;
        Ok(returned)
    }

    fn change_metadata(
        &self,
        placeholders: &[Value],
        symbols: &Symbols,
    ) -> Result<(), RuntimeError> {
        for change in &self.metadata_changes {
            let Some(tensor) = placeholders
                .get(change.placeholder)
                .and_then(Value::as_tensor)
            else {
                continue;
            };
            let meta = self.context.meta(change.meta);
            let unknown = || RuntimeProblem::malformed("a changed size is not known");
            let known = |size: &graven_ir::SymInt| {
                let value = symbols.evaluate(&self.context.exprs, *size);
                value
                    .and_then(|value| usize::try_from(value).ok())
                    .ok_or_else(unknown)
            };
            let sizes: Vec<usize> = meta.sizes.iter().map(known).collect::<Result<_, _>>()?;
            let strides = meta.strides.iter().map(known).collect::<Result<_, _>>()?;
            let array = tensor.array();
            let offset = array.offset();
            tensor.set(array.view(&sizes, strides, offset)?);
        }
        Ok(())
    }
}
