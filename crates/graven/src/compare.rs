//! Comparing two forms of a program: whether a pass kept its meaning on given inputs.

use std::collections::HashMap;

use graven_runtime::{Module, Observer, RuntimeError};
use graven_tensor::{Array, Complex, Problem, Tensor, Value};

use crate::evaluate::{self, Results};

/// How near values must be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Times the expected value.
    pub relative: f64,
    /// Whatever the value.
    pub absolute: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self {
            relative: 1e-4,
            absolute: 1e-5,
        }
    }
}

/// Where two runs part.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The output, the changed tensor or the node.
    pub place: String,
    /// What differs.
    pub what: String,
}

/// What a comparison found.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// Where the results part; `None` when they agree.
    pub results: Option<Difference>,
    /// The first node of both programs whose values part, where results do.
    pub node: Option<Difference>,
}

/// Remembers the value of each node.
#[derive(Default)]
struct Recorder {
    values: Vec<(String, Array)>,
}

impl Observer for Recorder {
    fn computed(&mut self, name: &str, value: &Value) {
        if let Value::Tensor(tensor) = value {
            self.values.push((name.to_owned(), tensor.array().fork()));
        }
    }
}

/// Runs both modules on the same inputs, which are not changed, and compares what they return and
/// what they change.
///
/// # Errors
/// When either cannot be run.
pub fn compare(
    expected: &Module,
    found: &Module,
    inputs: &[Value],
    tolerance: Tolerance,
) -> Result<Comparison, RuntimeError> {
    let seed = expected
        .eager()
        .with_generator(|generator| generator.seed());
    let run = |module: &Module, recorder: Option<&mut Recorder>| {
        module.eager().seed(seed);
        let inputs = forked(inputs);
        let observer = recorder.map(|recorder| recorder as &mut dyn Observer);
        evaluate::call(module, &inputs, observer)
    };
    let first = run(expected, None)?;
    let second = run(found, None)?;
    let Some(difference) = tolerance.results(&first, &second)? else {
        return Ok(Comparison {
            results: None,
            node: None,
        });
    };
    let (mut left, mut right) = (Recorder::default(), Recorder::default());
    run(expected, Some(&mut left))?;
    run(found, Some(&mut right))?;
    let known: HashMap<&str, &Array> = right
        .values
        .iter()
        .map(|(name, array)| (name.as_str(), array))
        .collect();
    let mut node = None;
    for (name, expected) in &left.values {
        if let Some(found) = known.get(name.as_str())
            && found.sizes() == expected.sizes()
            && let Some(what) = tolerance.array(expected, found)?
        {
            node = Some(Difference {
                place: name.clone(),
                what,
            });
            break;
        }
    }
    Ok(Comparison {
        results: Some(difference),
        node,
    })
}

/// Inputs of their own, sharing among themselves what the given ones share: what a call writes to
/// them does not show in the given ones.
pub fn forked(inputs: &[Value]) -> Vec<Value> {
    let mut storages = Vec::new();
    inputs
        .iter()
        .map(|input| match input {
            Value::Tensor(tensor) => {
                let array = tensor.array();
                let known =
                    storages
                        .iter()
                        .find(|(storage, _): &&(graven_tensor::Storage, Array)| {
                            storage.is(array.storage())
                        });
                let base = match known {
                    Some((_, base)) => base.clone(),
                    None => {
                        let base = array.fork();
                        storages.push((array.storage().clone(), base.clone()));
                        base
                    }
                };
                let strides = array.strides().into();
                let (sizes, offset) = (array.sizes(), array.offset());
                let view = base.reinterpreted(array.dtype(), sizes, strides, offset);
                Value::Tensor(Tensor::new(view.unwrap_or(base)))
            }
            other => other.clone(),
        })
        .collect()
}

impl Tolerance {
    fn results(self, expected: &Results, found: &Results) -> Result<Option<Difference>, Problem> {
        let outputs = expected.outputs.len().max(found.outputs.len());
        for position in 0..outputs {
            let place = format!("out.{position}");
            let pair = (expected.outputs.get(position), found.outputs.get(position));
            let what = match pair {
                (Some(Value::Tensor(expected)), Some(Value::Tensor(found))) => {
                    self.array(&expected.array(), &found.array())?
                }
                (Some(expected), Some(found)) => {
                    let (left, right) = (expected.as_scalar(), found.as_scalar());
                    (left != right || expected.kind() != found.kind())
                        .then(|| format!("{left:?} and {right:?}"))
                }
                _ => Some("only one of them returns it".to_owned()),
            };
            if let Some(what) = what {
                return Ok(Some(Difference { place, what }));
            }
        }
        let names = |results: &Results| -> Vec<String> {
            let names = results.changes.iter().map(|(name, _)| name.clone());
            let mut names: Vec<String> = names.collect();
            names.sort_unstable();
            names
        };
        if names(expected) != names(found) {
            return Ok(Some(Difference {
                place: "what is changed".to_owned(),
                what: format!("{:?} and {:?}", names(expected), names(found)),
            }));
        }
        for (name, expected) in &expected.changes {
            let found = found.changes.iter().find(|(other, _)| other == name);
            if let Some((_, found)) = found
                && let Some(what) = self.array(expected, found)?
            {
                return Ok(Some(Difference {
                    place: name.clone(),
                    what,
                }));
            }
        }
        Ok(None)
    }

    /// What differs between two tensors: dtype, sizes, or the first element that is not near.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn array(self, expected: &Array, found: &Array) -> Result<Option<String>, Problem> {
        if expected.dtype() != found.dtype() || expected.sizes() != found.sizes() {
            return Ok(Some(format!(
                "{}{:?} and {}{:?}",
                expected.dtype().name(),
                expected.sizes(),
                found.dtype().name(),
                found.sizes()
            )));
        }
        let wide = |array: &Array| -> Result<Vec<Complex<f64>>, Problem> {
            array.converted(graven_ir::DType::Complex128)?.to_vec()
        };
        let pairs = wide(expected)?.into_iter().zip(wide(found)?).enumerate();
        for (index, (left, right)) in pairs {
            let near = |left: f64, right: f64| {
                left == right
                    || (left.is_nan() && right.is_nan())
                    || (left - right).abs() <= self.absolute + self.relative * left.abs()
            };
            if !near(left.re, right.re) || !near(left.im, right.im) {
                let shown = |value: Complex<f64>| match expected.dtype().is_complex() {
                    true => format!("{value}"),
                    false => format!("{}", value.re),
                };
                return Ok(Some(format!(
                    "element {index} is {} and {}",
                    shown(left),
                    shown(right)
                )));
            }
        }
        Ok(None)
    }
}
