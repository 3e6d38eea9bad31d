//! Each case of the corpus, printed, reads back as the program that was printed: in both forms,
//! and with all its geometry.

use std::error::Error;
use std::fs;
use std::path::Path;

use graven_ir::ExportedProgram;
use graven_ir::text::{self, ReadableOptions, Strides};
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
    let geometry = ReadableOptions {
        strides: Strides::WhereNotContiguous,
        ..ReadableOptions::default()
    };
    let with_geometry = |program: &ExportedProgram| text::readable_with(program, geometry);
    compare(&program, text::readable)?;
    compare(&program, text::fx)?;
    compare(&program, with_geometry)?;
    // The readable form holds all that the listing holds.
    let read = text::parse_readable(&text::readable(&program))?;
    assert_same(&text::fx(&program), &text::fx(&read))?;
    // What torch printed for other programs than those in archives.
    for functional in ["functional.txt", "core.txt"] {
        if let Ok(listing) = fs::read_to_string(case.join(functional)) {
            let read = text::parse_fx(&listing)?;
            assert_same(listing.trim_end(), text::fx(&read).trim_end())?;
        }
    }
    Ok(())
}

/// Reads what `print` printed, and prints it again.
fn compare(
    program: &ExportedProgram,
    print: impl Fn(&ExportedProgram) -> String,
) -> Result<(), Failed> {
    let printed = print(program);
    let read = text::parse(&printed)?;
    assert_same(&printed, &print(&read))
}

fn assert_same(expected: &str, found: &str) -> Result<(), Failed> {
    if expected == found {
        return Ok(());
    }
    let mut lines = expected.lines().zip(found.lines()).enumerate();
    let different = lines.find(|(_, (expected, found))| expected != found);
    Err(match different {
        Some((line, (expected, found))) => {
            format!("line {}\nexpected: {expected}\nfound:    {found}", line + 1).into()
        }
        None => "one text ends before the other".into(),
    })
}
