//! What the tests of functionalization share: where the programs are, and what every functional
//! program must keep to.

// Each test uses a part of this, and helpers of tests fail as tests do.
#![allow(dead_code, clippy::unwrap_used)]

pub(crate) mod agreement;

use std::fs;
use std::path::{Path, PathBuf};

use agreement::Agreement;
use graven::{ExportedProgram, Registry, text, verify};
use graven_ir::{Argument, ListKind, Op};
use graven_passes::dce::remove_dead_nodes;
use libtest_mimic::Failed;

/// A folder of the repository's `tests`.
pub(crate) fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests")
        .join(folder)
}

/// The folders in `folder` that hold an archive, with their names, sorted.
pub(crate) fn programs(folder: &str) -> Vec<(String, PathBuf)> {
    let mut found: Vec<_> = fs::read_dir(data(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("model.pt2").exists())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, path)
        })
        .collect();
    found.sort();
    found
}

/// ATen's operators, and those whose schemas stand beside the archive in `schemas.txt`.
pub(crate) fn registry(case: &Path) -> Registry {
    let mut registry = Registry::aten();
    if let Ok(schemas) = fs::read_to_string(case.join("schemas.txt")) {
        registry.extend(&schemas).unwrap();
    }
    registry
}

/// What must hold of every functional program: the verifier accepts it, no node writes, an
/// archive of it reads back as the same program, and there is nothing left to functionalize.
pub(crate) fn check_functional(
    program: &ExportedProgram,
    registry: &Registry,
) -> Result<(), Failed> {
    check_pure(program, registry)?;
    check_archive(program)?;
    check_settled(program, registry)
}

/// The verifier accepts the program, and no node of any graph writes to an argument.
pub(crate) fn check_pure(program: &ExportedProgram, registry: &Registry) -> Result<(), Failed> {
    verify::verify_functional(program, &|target| {
        let operator = registry.find_target(program.context.target_name(target));
        operator.is_some_and(|operator| registry.operator(operator).is_mutable())
    })?;
    Ok(())
}

/// What was written to an archive reads back as the same program, but for two things: reading
/// adds a `getitem` for each result that is not used, and archives know no tuples.
pub(crate) fn check_archive(program: &ExportedProgram) -> Result<(), Failed> {
    let archive = graven_pt2::write_bytes(program)?;
    let mut program = program.clone();
    for node in &mut program.graph.nodes {
        let inputs = node.inputs.iter_mut();
        inputs.for_each(|input| lists_for_tuples(&mut input.argument));
    }
    let mut again = graven_pt2::read_bytes(archive)?;
    remove_dead_nodes(&mut again.graph, &|graph, node| {
        !matches!(graph.node(node).op, Op::GetItem(_))
    });
    same(&text::fx(&program), &text::fx(&again)).map_err(|difference| {
        format!("read back from its archive it is another program: {difference}").into()
    })
}

fn lists_for_tuples(argument: &mut Argument) {
    if let Argument::List(kind, items) = argument {
        if *kind == ListKind::Tuple {
            *kind = ListKind::Mixed;
        }
        items.iter_mut().for_each(lists_for_tuples);
    }
}

/// Functionalized once more, the program stays as it is. Names are given anew: what torch
/// records and drops leaves gaps in the first numbering that are closed in the second. And as
/// in torch, each `view.dtype` gets one more `detach`.
pub(crate) fn check_settled(program: &ExportedProgram, registry: &Registry) -> Result<(), Failed> {
    let mut again = program.clone();
    let stats = graven::functionalize(&mut again, registry)
        .map_err(|error| format!("functional, and refused: {error}"))?;
    let dtype_views = calls(program, "torch.ops.aten.view.dtype");
    if dtype_views > 0 {
        if stats.nodes_after == stats.nodes_before + dtype_views {
            return Ok(());
        }
        return Err(format!("functionalized again: {stats:?}").into());
    }
    let [once, twice] = [program, &again].map(|program| forget_node(&text::fx(program)));
    match agreement::compare(&twice, &once) {
        Agreement::Identical | Agreement::Isomorphic => Ok(()),
        Agreement::Different(difference) => {
            Err(format!("functionalized again it is another program: {difference}").into())
        }
    }
}

/// How many nodes call `target`.
fn calls(program: &ExportedProgram, target: &str) -> usize {
    let target = program.context.find_target(target).map(Op::Call);
    let nodes = program.graph.nodes.iter();
    nodes.filter(|node| Some(node.op) == target).count()
}

/// The listing without the names of nodes in the texts of assertions.
fn forget_node(listing: &str) -> String {
    const MARK: &str = " on node '";
    let mut parts = listing.split(MARK);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += part.split_once('\'').map_or(part, |(_, rest)| rest);
    }
    text
}

/// Compares two texts, and tells the first line that differs.
pub(crate) fn same(expected: &str, found: &str) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let mut lines = expected.lines().zip(found.lines()).enumerate();
    Err(
        match lines.find(|(_, (expected, found))| expected != found) {
            Some((line, (expected, found))) => {
                format!("line {}\nexpected: {expected}\nfound:    {found}", line + 1)
            }
            None => format!(
                "{} lines expected, {} found",
                expected.lines().count(),
                found.lines().count()
            ),
        },
    )
}

/// Compares a text with the one in a file, which is written instead where the environment
/// variable `BLESS` is 1.
pub(crate) fn same_as_file(path: &Path, found: &str) -> Result<(), Failed> {
    if std::env::var("BLESS").is_ok_and(|value| value == "1") {
        fs::write(path, found)?;
        return Ok(());
    }
    let expected = fs::read_to_string(path)
        .map_err(|error| format!("{}: {error}", path.display()))?
        .replace("\r\n", "\n");
    same(&expected, found).map_err(|difference| format!("{}, {difference}", path.display()).into())
}
