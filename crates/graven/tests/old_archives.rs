//! Archives that torch 2.5 to 2.7 wrote, one folder of `tests/old` each. They read as the torch
//! that wrote them reads them (`fx.txt`), and they are functionalized: to the graph of that
//! torch (`functional.txt`) or, where it keeps and takes apart other operators than today's, to
//! the one in `functional.expected.txt`, whose values were compared with what eager torch
//! computes. With `BLESS=1` in the environment the latter are rewritten.

mod support;

use std::path::Path;

use graven::{ExportedProgram, text};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let programs = support::programs("old");
    let found = programs.len();
    let mut trials: Vec<Trial> = programs
        .into_iter()
        .map(|(name, folder)| Trial::test(name, move || check(&folder)))
        .collect();
    trials.push(Trial::test("all_are_there", move || {
        if found == 64 {
            Ok(())
        } else {
            Err(format!("{found}").into())
        }
    }));
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(folder: &Path) -> Result<(), Failed> {
    let registry = support::registry(folder);
    let mut program = graven::load_with_schemas(folder.join("model.pt2"), &registry)?;
    compare_graph(&folder.join("fx.txt"), &program)?;
    graven::functionalize(&mut program, &registry)?;
    support::check_functional(&program, &registry)?;
    let torch = folder.join("functional.txt");
    if torch.exists() {
        compare_graph(&torch, &program)
    } else {
        support::same_as_file(&folder.join("functional.expected.txt"), &text::fx(&program))
    }
}

/// Compares the graph alone: those releases print the signature in another way.
fn compare_graph(path: &Path, program: &ExportedProgram) -> Result<(), Failed> {
    let graph = text::fx_graph(&program.context, &program.graph) + "\n";
    let expected = std::fs::read_to_string(path)?;
    support::same(&expected, &graph)
        .map_err(|difference| format!("{}, {difference}", path.display()).into())
}
