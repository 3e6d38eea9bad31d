//! Each case of the corpus is run, as exported and functionalized: what comes out, what the call
//! changed and what it did not change is what eager torch computed.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use graven::tensor::{Array, Scalar};
use graven::{ExportedProgram, Module, Program as _, Value, tensor_file};
use graven_ir::state::StateKind;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value as Json;

/// A case's tensors, by name.
type Tensors = BTreeMap<String, Array>;

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for (name, folder) in support::programs("cases") {
        for form in ["raw", "functional"] {
            let folder = folder.clone();
            let test = move || check(&folder, form == "functional");
            trials.push(Trial::test(format!("{form}::{name}"), test));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(folder: &Path, is_functional: bool) -> Result<(), Failed> {
    let mut program = ExportedProgram::load(folder.join("model.pt2"))?;
    if is_functional {
        program.functionalize()?;
    }
    let case: Json = serde_json::from_str(&fs::read_to_string(folder.join("case.json"))?)?;
    let tensors: Tensors = tensor_file::read(&folder.join("io.safetensors"))?
        .into_iter()
        .collect();
    let module = program.module()?;
    let inputs = inputs(&module, &tensors, &case)?;
    let before: Vec<Array> = state(&module)?;
    let outputs = module.call(&inputs)?;
    let tolerance = Tolerance::of(&case);
    for (position, output) in outputs.iter().enumerate() {
        let name = format!("out.{position}");
        match (tensors.get(&name), output) {
            (Some(expected), Value::Tensor(tensor)) => {
                tolerance.compare(&name, &tensor.array(), expected)?;
            }
            (Some(_), other) => return Err(format!("{name} is {}", other.kind()).into()),
            (None, Value::Tensor(_)) => return Err(format!("{name} is a tensor").into()),
            (None, other) => check_number(
                &name,
                other,
                &case["non_tensor_outputs"][position.to_string()],
            )?,
        }
    }
    for (position, input) in inputs.iter().enumerate() {
        if let Value::Tensor(tensor) = input {
            let changed = tensors.get(&format!("inmut.{position}"));
            let before = &tensors[&format!("in.{position}")];
            let name = format!("input {position}");
            tolerance.or_exact(changed).compare(
                &name,
                &tensor.array(),
                changed.unwrap_or(before),
            )?;
        }
    }
    for (entry, before) in module.state_dict().iter().zip(&before) {
        let prefix = match entry.kind {
            StateKind::Parameter => "par",
            _ => "buf",
        };
        let changed = tensors.get(&format!("{prefix}.{}", entry.name));
        let after = entry.tensor.array();
        tolerance
            .or_exact(changed)
            .compare(&entry.name, &after, changed.unwrap_or(before))?;
    }
    Ok(())
}

fn state(module: &Module) -> Result<Vec<Array>, Failed> {
    let copy = |entry: &graven::StateTensor| {
        let array = entry.tensor.array();
        array.copied(array.strides().into())
    };
    Ok(module
        .state_dict()
        .iter()
        .map(copy)
        .collect::<Result<_, _>>()?)
}

fn inputs(module: &Module, tensors: &Tensors, case: &Json) -> Result<Vec<Value>, Failed> {
    let value = |position: usize| {
        if let Some(array) = tensors.get(&format!("in.{position}")) {
            return Ok(array.copied(array.strides().into())?.into());
        }
        Ok(match &case["non_tensor_inputs"][position.to_string()] {
            Json::Null => Value::None,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(value) => Value::Int(value),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            other => return Err(Failed::from(format!("input {position} is {other}"))),
        })
    };
    (0..module.input_names().len()).map(value).collect()
}

fn check_number(name: &str, found: &Value, expected: &Json) -> Result<(), Failed> {
    let found = found.as_scalar().map(Scalar::to_f64);
    match found == expected.as_f64() || expected.as_bool().map(f64::from) == found {
        true => Ok(()),
        false => Err(format!("{name} is {found:?}, expected {expected}").into()),
    }
}

/// How near a value must be.
#[derive(Clone, Copy)]
struct Tolerance {
    relative: f64,
    absolute: f64,
}

impl Tolerance {
    fn of(case: &Json) -> Self {
        let number = |name| case["tolerance"][name].as_f64().unwrap_or(0.0);
        Self {
            relative: number("rtol"),
            absolute: number("atol"),
        }
    }

    /// What did not change must be exactly what it was.
    fn or_exact(self, changed: Option<&Array>) -> Self {
        match changed {
            Some(_) => self,
            None => Self {
                relative: 0.0,
                absolute: 0.0,
            },
        }
    }

    fn compare(self, name: &str, found: &Array, expected: &Array) -> Result<(), Failed> {
        if found.dtype() != expected.dtype() || found.sizes() != expected.sizes() {
            return Err(format!(
                "{name} is {}{:?}, expected {}{:?}",
                found.dtype().name(),
                found.sizes(),
                expected.dtype().name(),
                expected.sizes()
            )
            .into());
        }
        let wide = |array: &Array| array.converted(graven_ir::DType::Complex128)?.to_vec();
        let (found, expected): (Vec<graven::tensor::Complex<f64>>, Vec<_>) =
            (wide(found)?, wide(expected)?);
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            for (found, expected) in [(found.re, expected.re), (found.im, expected.im)] {
                let near =
                    (found - expected).abs() <= self.absolute + self.relative * expected.abs();
                let same = found == expected || (found.is_nan() && expected.is_nan());
                if !near && !same {
                    return Err(
                        format!("{name}: element {index} is {found}, expected {expected}").into(),
                    );
                }
            }
        }
        Ok(())
    }
}
