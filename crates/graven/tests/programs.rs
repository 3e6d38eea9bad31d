//! Text in, text out: each file of `tests/programs/functionalize` holds a program, a line
//! `=====`, and the functional program that it must become.
//!
//! Before the program stand lines `# key: value`:
//! - `why`: what the test is for;
//! - `torch`: whether `run_decompositions({})` gives the same, and otherwise what it does;
//! - `schema`: a custom operator, in the language of ATen's schemas;
//! - `storage`: placeholders whose tensors share one storage.
//!
//! With `BLESS=1` in the environment the expected programs are rewritten.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graven_ir::state::{ByteSource, StateEntry, StateKind, StorageId};
use graven_ir::symint::SymInt;
use graven_ir::text::{self, Comments, Deletions, ReadableOptions, Strides};
use graven_ir::verify::{verify, verify_functional};
use graven_ir::{ExportedProgram, InputKind};
use graven_ops::{Registry, complete_from_schemas};
use graven_passes::functionalize;
use libtest_mimic::{Arguments, Failed, Trial};

const SEPARATOR: &str = "=====\n";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/functionalize");
    let bless = std::env::var("BLESS").is_ok_and(|value| value == "1");
    let mut trials = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let name = path.file_stem().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            trials.push(Trial::test(name, move || check(&path, bless)));
        }
    }
    trials.sort_by(|left, right| left.name().cmp(right.name()));
    libtest_mimic::run(&arguments, trials).exit()
}

fn check(path: &PathBuf, bless: bool) -> Result<(), Failed> {
    let file = fs::read_to_string(path)?;
    let (before, expected) = file.split_once(SEPARATOR).ok_or("no line `=====`")?;
    let found = functional(before)?;
    if bless {
        fs::write(path, format!("{before}{SEPARATOR}{found}"))?;
        return Ok(());
    }
    if found == expected {
        return Ok(());
    }
    Err(format!("expected:\n{expected}\nfound:\n{found}").into())
}

/// What the file's program becomes, as text.
fn functional(before: &str) -> Result<String, Failed> {
    let header = Header::read(before)?;
    let mut registry = Registry::aten();
    registry.extend(&header.schemas)?;
    let mut program = text::parse(before)?;
    complete_from_schemas(&mut program, &registry);
    add_state(&mut program, &header.shared);
    verify(&program)?;
    if let Err(error) = functionalize(&mut program, &registry) {
        return Ok(format!("error: {error}\n"));
    }
    verify_functional(&program, &|target| {
        let operator = registry.find_target(program.context.target_name(target));
        operator.is_some_and(|operator| registry.operator(operator).is_mutable())
    })?;
    let found = print(&program)?;
    let read = text::parse(&found)?;
    if text::readable(&read) != text::readable(&program) {
        return Err(format!("does not read back:\n{found}").into());
    }
    Ok(found + &metadata_mutations(&program)?)
}

/// What stands before the program.
#[derive(Default)]
struct Header {
    schemas: String,
    shared: Vec<Vec<String>>,
}

impl Header {
    fn read(text: &str) -> Result<Self, Failed> {
        let mut header = Self::default();
        let mut keys = Vec::new();
        let lines = text.lines().map_while(|line| line.strip_prefix("# "));
        for line in lines {
            let (key, value) = line.split_once(": ").ok_or("a header line has no key")?;
            match key {
                "why" | "torch" => {}
                "schema" => header.schemas += &format!("{value}\n"),
                "storage" => {
                    let names = value.split(' ').map(str::to_owned);
                    header.shared.push(names.collect());
                }
                _ => return Err(format!("unknown key `{key}`").into()),
            }
            keys.push(key);
        }
        match keys[..] {
            ["why", "torch", ..] => Ok(header),
            _ => Err("begin with `# why: ` and `# torch: `".into()),
        }
    }
}

/// Gives the program's parameters, buffers and constants their storages.
fn add_state(program: &mut ExportedProgram, shared: &[Vec<String>]) {
    let names = &program.context.names;
    let placeholders = program.graph.placeholders();
    for (spec, (_, node)) in program.signature.inputs.iter().zip(placeholders) {
        let Some(target) = spec.target else { continue };
        let placeholder = names.get(node.name);
        let group = shared
            .iter()
            .position(|group| group.iter().any(|name| name == placeholder));
        let storage = match group {
            Some(group) => group,
            None => shared.len() + program.state.entries.len(),
        };
        program.state.entries.push(StateEntry {
            name: target,
            kind: match spec.kind {
                InputKind::Parameter => StateKind::Parameter,
                InputKind::Buffer => StateKind::Buffer,
                _ => StateKind::Constant,
            },
            meta: node.value.as_tensor(),
            use_pickle: false,
            storage: StorageId(u32::try_from(storage).unwrap_or(u32::MAX)),
        });
    }
    let storages = shared.len() + program.state.entries.len();
    program.state.storages = vec![Arc::new(Vec::new()) as Arc<dyn ByteSource>; storages];
}

/// The function and its nested graphs, the signature, and the ranges of symbols if there are any.
fn print(program: &ExportedProgram) -> Result<String, Failed> {
    let options = ReadableOptions {
        strides: Strides::WhereNotContiguous,
        comments: Comments::Hidden,
        deletions: Deletions::Hidden,
    };
    let readable = text::readable_with(program, options);
    let framed = readable.split_once("Graph signature:");
    let (classes, rest) = framed.ok_or("no signature is printed")?;
    let (signature, ranges) = rest
        .split_once("Range constraints: ")
        .ok_or("no ranges are printed")?;
    let mut text = String::new();
    // Without the frame, and without the indentation that it needs.
    for line in classes.lines().skip(2) {
        let line = line.strip_prefix("        ").unwrap_or_default();
        writeln!(text, "{}", line.trim_end())?;
    }
    for line in signature.trim().lines() {
        writeln!(text, "{}", line.trim())?;
    }
    if ranges != "{}\n" {
        write!(text, "\nRange constraints: {ranges}")?;
    }
    Ok(text)
}

/// Changes of inputs' shapes, which the signature cannot tell.
fn metadata_mutations(program: &ExportedProgram) -> Result<String, Failed> {
    let context = &program.context;
    let mut text = String::new();
    for mutation in &program.metadata_mutations {
        let input = context.names.get(program.graph.node(mutation.input).name);
        let meta = context.meta(mutation.meta);
        let show = |dims: &[SymInt]| -> String {
            let dims = dims.iter().map(|dim| context.exprs.display_size(*dim));
            dims.collect::<Vec<_>>().join(", ")
        };
        writeln!(
            text,
            "\n{input} becomes [{}][{}] by {}",
            show(&meta.sizes),
            show(&meta.strides),
            context.names.get(mutation.operator)
        )?;
    }
    Ok(text)
}
