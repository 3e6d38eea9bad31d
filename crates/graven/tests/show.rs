//! Each case of the corpus, read from its archive, is printed as torch prints it: the listing
//! and the signature, and the readable form.

use std::error::Error;
use std::fs;
use std::path::Path;

use graven_ir::text;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::from_args();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut trials = Vec::new();
    for entry in fs::read_dir(corpus)? {
        let case = entry?.path();
        if case.join("model.pt2").exists() {
            let name = case.file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            trials.push(Trial::test(name, move || check(&case)));
        }
    }
    trials.sort_by(|left, right| left.name().cmp(right.name()));
    libtest_mimic::run(&arguments, trials).exit()
}

fn check(case: &Path) -> Result<(), Failed> {
    let program = graven_pt2::read(case.join("model.pt2"))?;
    compare(&case.join("raw.fx.txt"), &text::fx(&program))?;
    compare(&case.join("raw.readable.txt"), &text::readable(&program))
}

/// Compares a text with the one in a file and tells the first line that differs.
fn compare(path: &Path, found: &str) -> Result<(), Failed> {
    let expected = fs::read_to_string(path)?;
    if found == expected {
        return Ok(());
    }
    let line = expected
        .lines()
        .zip(found.lines())
        .position(|(expected, found)| expected != found);
    let line = line.unwrap_or_else(|| expected.lines().count().min(found.lines().count()));
    let at = |text: &str| text.lines().nth(line).map(str::to_owned);
    Err(format!(
        "{}, line {}\nexpected: {:?}\nfound:    {:?}",
        path.display(),
        line + 1,
        at(&expected),
        at(found),
    )
    .into())
}
