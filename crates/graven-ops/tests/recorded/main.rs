//! Calls as torch records them: formulas must make the same calls, shape rules must give the
//! same metadata.

#![allow(
    clippy::unwrap_used,
    reason = "a recording that cannot be read fails the test"
)]

mod machine;
mod parse;

use graven_ir::{Context, TensorMeta};
use graven_ops::composite::{self, Outcome};
use graven_ops::emit::EmitError;
use graven_ops::{Arg, Call, Emit, Registry, shape};

use machine::Machine;
use parse::{Case, Expected};

#[test]
fn composites_come_apart_as_in_torch() {
    check_file(include_str!("../data/composites.txt"));
}

#[test]
fn shape_rules_agree_with_torch() {
    check_file(include_str!("../data/shapes.txt"));
}

fn check_file(text: &str) {
    let mut context = Context::default();
    let cases = parse::cases(&mut context, text);
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| check(&mut context, case).err())
        .collect();
    let (failed, all) = (failures.len(), cases.len());
    assert!(
        failed == 0,
        "{failed} of {all} failed\n\n{}",
        failures.join("\n\n")
    );
}

fn check(context: &mut Context, case: &Case) -> Result<(), String> {
    let got = run(context, case);
    match (got, &case.expected) {
        (Err(_), None) => Ok(()),
        (Err(error), Some(_)) => Err(format!("{}\n>>> {error}", case.text)),
        (Ok(_), None) => Err(format!("{}\n>>> was not refused", case.text)),
        (Ok(got), Some(expected)) => {
            compare(&got, expected).map_err(|difference| format!("{}\n>>> {difference}", case.text))
        }
    }
}

fn compare(got: &Expected, expected: &Expected) -> Result<(), String> {
    for (ours, theirs) in got.nodes.iter().zip(&expected.nodes) {
        if ours != theirs {
            return Err(format!("{ours:?}\n    instead of\n    {theirs:?}"));
        }
    }
    if got.nodes.len() != expected.nodes.len() {
        return Err(format!(
            "{} nodes instead of {}",
            got.nodes.len(),
            expected.nodes.len()
        ));
    }
    if got.returns != expected.returns {
        return Err(format!(
            "returns {:?} instead of {:?}",
            got.returns, expected.returns
        ));
    }
    Ok(())
}

fn run(context: &mut Context, case: &Case) -> Result<Expected, EmitError> {
    let registry = Registry::aten();
    let name = &case.call.operator;
    let id = registry.find(name).unwrap_or_else(|| panic!("{name}"));
    let kwargs = case.call.kwargs.iter();
    let kwargs: Vec<_> = kwargs.map(|(name, arg)| (&**name, arg.clone())).collect();
    let mut machine = Machine::new(context, &case.inputs);
    let call = Call::new(registry.operator(id).schema(), &case.call.args, &kwargs)?;
    let results = match composite::formula::<Machine<'_>>(name) {
        Some(formula) => match formula(&mut machine, &call)? {
            Outcome::Values(values) => values,
            Outcome::Input(tensor) => vec![tensor],
        },
        None => machine.call(name, &case.call.args, &kwargs)?,
    };
    let mut returns = Vec::new();
    for input in (0..case.inputs.len())
        .filter(|&input| machine.is_written(input))
        .collect::<Vec<_>>()
    {
        returns.push(Arg::Value(machine.sync(input)?));
    }
    for result in results {
        returns.push(Arg::Value(machine.sync(result)?));
    }
    Ok(Expected {
        nodes: machine.nodes,
        returns,
    })
}

/// Metadata can come from a file that lies.
#[test]
fn rules_refuse_what_no_tensor_can_be() {
    let mut context = Context::default();
    let file = "x: f32[2, 3]\naten::relu(x)\n\nx: f32[9223372036854775807]\naten::relu(x)";
    let mut inputs = parse::cases(&mut context, file)
        .into_iter()
        .map(|case| case.inputs);
    let (mut plain, huge) = (inputs.next().unwrap(), inputs.next().unwrap());
    let mut infer = |operator: &str, meta: &TensorMeta, args: &[Arg<TensorMeta>]| {
        let args: Vec<_> = [Arg::Value(meta.clone())]
            .into_iter()
            .chain(args.iter().cloned())
            .collect();
        shape::infer(&mut context, operator, &args, &[])
    };
    assert!(infer("aten::relu", &plain[0], &[]).is_ok());
    assert!(infer("aten::relu", &plain[0], &[Arg::None]).is_err());
    assert!(infer("aten::split.Tensor", &huge[0], &[Arg::int(1)]).is_err());
    assert!(infer("aten::unbind.int", &huge[0], &[]).is_err());
    assert!(infer("aten::expand", &huge[0], &[Arg::const_ints([2, i64::MAX])]).is_ok());
    assert!(
        infer(
            "aten::view",
            &huge[0],
            &[Arg::const_ints([i64::MAX, i64::MAX])]
        )
        .is_err()
    );
    assert!(
        infer(
            "aten::new_empty",
            &plain[0],
            &[Arg::const_ints([i64::MAX, i64::MAX, 2])]
        )
        .is_err()
    );
    plain[0].strides.pop();
    assert!(infer("aten::relu", &plain[0], &[]).is_err());
    let many = Arg::const_ints([1; 65]);
    assert!(infer("aten::new_empty", &huge[0], &[many]).is_err());
}
