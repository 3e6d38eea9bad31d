//! `graven check`: whether passes keep a program's meaning.

use graven::compare::{self, Tolerance};
use graven::tensor::Eager;
use graven::{Module, Value};

use crate::arguments::Check;
use crate::output::{self, Failure};
use crate::run;

/// What the inputs are called that the user or the archive gives.
const GIVEN: &str = "given inputs";

pub(crate) fn run(arguments: &Check) -> Result<(), Failure> {
    let path = &arguments.file;
    let registry = output::registry(&arguments.operators)?;
    let program = output::load(path, &registry)?;
    let raw = run::module(&program, registry.clone(), path)?;
    let mut functional = program.clone();
    graven::functionalize(&mut functional, &registry).map_err(|source| Failure::Functionalize {
        path: path.clone(),
        source,
    })?;
    let given = run::inputs(&arguments.inputs, &program, &raw, path)?;
    let mut runs = vec![(GIVEN.to_owned(), given.clone())];
    for number in 0..arguments.random {
        let inputs = randomized(raw.eager(), &given, number);
        runs.push((format!("random inputs {number}"), inputs));
    }
    let tolerance = Tolerance {
        relative: arguments.relative,
        absolute: arguments.absolute,
    };
    for (name, inputs) in &runs {
        // Each run begins with the program's own state.
        let expected = run::module(&program, registry.clone(), path)?;
        // Random inputs may be such that the program itself refuses them.
        if name != GIVEN
            && let Err(error) = expected.call(&compare::forked(inputs))
        {
            output::note(&format!("{name} cannot be used: {error}"));
            continue;
        }
        let expected = run::module(&program, registry.clone(), path)?;
        let found = run::module(&functional, registry.clone(), path)?;
        check_one(arguments, name, &expected, &found, inputs, tolerance)?;
        output::print(&format!("functionalize: same values on {name}\n"))?;
    }
    Ok(())
}

fn check_one(
    arguments: &Check,
    name: &str,
    expected: &Module,
    found: &Module,
    inputs: &[Value],
    tolerance: Tolerance,
) -> Result<(), Failure> {
    let path = &arguments.file;
    let comparison = compare::compare(expected, found, inputs, tolerance);
    let comparison = comparison.map_err(|source| run::failed(path, source))?;
    let Some(results) = comparison.results else {
        return Ok(());
    };
    let node = comparison
        .node
        .map(|node| format!("\n  first at node `{}`: {}", node.place, node.what));
    Err(Failure::Differs {
        path: path.clone(),
        pass: "functionalize",
        inputs: name.to_owned(),
        place: results.place,
        what: results.what + &node.unwrap_or_default(),
    })
}

/// Inputs like the given ones: floats are drawn anew, integers and truth values take one another's
/// places, so that indices stay in their ranges.
fn randomized(eager: &Eager, inputs: &[Value], seed: u64) -> Vec<Value> {
    eager.seed(seed);
    let drawn = |value: &Value| -> Option<Value> {
        let array = value.as_tensor()?.array();
        if array.dtype().is_floating_point() {
            return eager
                .invoke("aten::randn_like", std::slice::from_ref(value), &[])
                .ok();
        }
        if array.dtype().is_complex() || array.numel() == 0 {
            return None;
        }
        let count = i64::try_from(array.numel()).ok()?;
        let order = eager
            .invoke("aten::randperm", &[Value::Int(count)], &[])
            .ok()?;
        let taken = eager
            .invoke("aten::take", &[value.clone(), order], &[])
            .ok()?;
        let sizes = array
            .sizes()
            .iter()
            .map(|size| Value::Int(*size as i64))
            .collect();
        eager
            .invoke("aten::view", &[taken, Value::List(sizes)], &[])
            .ok()
    };
    inputs
        .iter()
        .map(|input| drawn(input).unwrap_or_else(|| input.clone()))
        .collect()
}
