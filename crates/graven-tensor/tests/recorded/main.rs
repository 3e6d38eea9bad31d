//! Kernels against torch: what torch 2.15 returned for the samples of `tests/data/record`.
//!
//! Each file of `tests/data/recorded` holds the samples of an operator and is a test, filtered by
//! the operator's name. An operator that graven cannot compute yet is an ignored test, and so is
//! one of `tests/data/wrong.txt`: some of its samples are known to be wrong. `RECORDED` in the
//! environment names another folder of samples.

mod check;
mod read;
mod table;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graven_tensor::Eager;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value as Json;

/// How many wrong samples of an operator are shown.
const SHOWN: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::from_args();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let wrong = fs::read_to_string(data.join("wrong.txt"))?;
    let eager = Arc::new(Eager::default());
    let recorded = std::env::var_os("RECORDED").map(PathBuf::from);
    let recorded = recorded.unwrap_or_else(|| data.join("recorded"));
    let mut operators = Vec::new();
    for entry in fs::read_dir(recorded)? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        operators.push((stem.replacen('.', "::", 1), path.clone()));
    }
    operators.sort();
    let mut trials = table::trials(&eager, &operators)?;
    for (operator, path) in operators {
        let is_wrong = wrong.lines().any(|line| line == operator);
        let is_ignored = is_wrong || is_missing(&eager, &operator, &path)?;
        let trial = Trial::test(operator.clone(), move || test(&operator, &path));
        trials.push(trial.with_ignored_flag(is_ignored));
    }
    libtest_mimic::run(&arguments, trials).exit()
}

/// Whether the operator's first sample finds no kernel.
fn is_missing(eager: &Eager, operator: &str, path: &PathBuf) -> Result<bool, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let Some(line) = text.lines().next() else {
        return Ok(false);
    };
    let sample = read::sample(&serde_json::from_str(line)?)?;
    let found = sample.run(eager, operator);
    Ok(found.is_err_and(|error| check::is_missing(&error.problem)))
}

/// Runs all samples of an operator.
fn test(operator: &str, path: &PathBuf) -> Result<(), Failed> {
    let eager = Eager::default();
    let text = fs::read_to_string(path)?;
    let mut wrong = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let json: Json = serde_json::from_str(line)?;
        let sample =
            read::sample(&json).map_err(|error| format!("line {}: {error}", number + 1))?;
        let found = sample.run(&eager, operator);
        if let Err(problem) = check::check(&sample, found) {
            wrong.push(format!(
                "line {}: {problem}\n  {}",
                number + 1,
                call_of(&json)
            ));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let count = wrong.len();
    wrong.truncate(SHOWN);
    let all = text.lines().count();
    Err(format!("{count} of {all} samples are wrong\n{}", wrong.join("\n")).into())
}

/// The call as the file has it, cut short.
fn call_of(json: &Json) -> String {
    let empty = Json::Array(Vec::new());
    let kwargs = json.get("kwargs").unwrap_or(&empty);
    let text = format!("{} {kwargs}", json["args"]);
    text.chars().take(400).collect()
}
