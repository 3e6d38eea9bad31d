//! Each case of the corpus, printed, reads back as the program that was printed: in both forms,
//! and with all its geometry.

use std::error::Error;
use std::fs;
use std::path::Path;

use graven_ir::text::{self, ReadableOptions, Strides};
use graven_ir::{Argument, ExportedProgram, Graph, Op};
use graven_ops::{Registry, complete_from_schemas};
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
    let mut read = text::parse_readable(&text::readable(&program))?;
    assert_same(&text::fx(&program), &text::fx(&read))?;
    complete_from_schemas(&mut read, &Registry::aten());
    assert_same(&inputs(&program), &inputs(&read))?;
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

/// What the listing does not show of the arguments of calls: their names, and which form a list
/// has.
fn inputs(program: &ExportedProgram) -> String {
    let names = &program.context.names;
    let mut text = String::new();
    let mut graphs: Vec<&Graph> = vec![&program.graph];
    while let Some(graph) = graphs.pop() {
        graphs.extend(graph.graphs.iter().map(|nested| &nested.graph));
        for node in &graph.nodes {
            let Op::Call(target) = node.op else { continue };
            text += &format!(
                "{}: {}",
                names.get(node.name),
                program.context.target_name(target)
            );
            for input in &node.inputs {
                text += &format!(" {}", names.get(input.name));
                if let Argument::List(kind, _) = &input.argument {
                    text += &format!(" {kind:?}");
                }
            }
            text.push('\n');
        }
    }
    text
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
