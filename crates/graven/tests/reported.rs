//! Programs reduced from public reports on functionalization and archives, one folder of
//! `tests/reported` each: `report` in its `case.json` says which report, `symptom` what went
//! wrong there.
//!
//! Each is functionalized. What it writes is listed here; the functional program stands beside
//! it in `functional.expected.txt`, whose values were compared with what eager torch computes.
//! With `BLESS=1` in the environment those files are rewritten.

mod support;

use std::path::{Path, PathBuf};

use graven::OutputKind::{self, BufferMutation, UserInputMutation};
use graven::{ExportedProgram, Registry, text};
use graven_passes::dce::remove_dead_nodes;
use libtest_mimic::{Arguments, Failed, Trial};

/// What a program writes: the mutation entries of its functional signature.
type Writes = &'static [(OutputKind, &'static str)];

/// A test of one of them besides.
type Test = fn() -> Result<(), Failed>;

/// What each program writes.
const PROGRAMS: &[(&str, Writes)] = &[
    ("d02_unused_alias_itself", &[]),
    ("d02_unused_alias_row", &[]),
    (
        "d03_rows_custom",
        &[(UserInputMutation, "x"), (UserInputMutation, "out")],
    ),
    (
        "d03_rows_inputs",
        &[
            (UserInputMutation, "x1"),
            (UserInputMutation, "x2"),
            (UserInputMutation, "out"),
        ],
    ),
    (
        "d03_rows_plain",
        &[(UserInputMutation, "x"), (UserInputMutation, "out")],
    ),
    ("d04_output_column", &[]),
    ("d05_unsqueeze_and_view", &[]),
    ("d05_unsqueeze_returned", &[]),
    ("d06_two_noop_views", &[]),
    ("d07_expand_and_write", &[(UserInputMutation, "n")]),
    ("d08_unfold_overlap_abs", &[]),
    ("d09_strided_input", &[(UserInputMutation, "x")]),
    ("d10_as_strided_outside", &[(UserInputMutation, "x")]),
    ("d11_view_same_dtype", &[(UserInputMutation, "x")]),
    ("d12_negative_view", &[(UserInputMutation, "x")]),
    ("d13_two_views_base_written", &[]),
    ("d14_select_relu", &[(UserInputMutation, "x")]),
    ("d15_three_names", &[(UserInputMutation, "a")]),
    ("d16_shift_rows_large", &[(UserInputMutation, "x")]),
    ("d16_shift_rows_small", &[(UserInputMutation, "x")]),
    ("d18_as_strided_local", &[]),
    ("d20_no_grad_leaf", &[(UserInputMutation, "x")]),
    ("d25_token_shift", &[]),
    ("d26_augmented_buffer_call1", &[(BufferMutation, "foo")]),
    ("d26_augmented_buffer_call2", &[(BufferMutation, "foo")]),
    ("d27_buffer_doubled", &[(BufferMutation, "buf")]),
    ("d28_write_then_dead", &[(BufferMutation, "my_buffer")]),
    ("d29_manual_example", &[(BufferMutation, "my_buffer2")]),
    ("d30_batchnorm_eval", &[]),
    ("d30_batchnorm_train_call1", BATCH_NORM),
    ("d30_batchnorm_train_call2", BATCH_NORM),
    ("d31_literal_indices", &[]),
    ("d32_conv_state_call1", &[(BufferMutation, "conv_state")]),
    ("d32_conv_state_call2", &[(BufferMutation, "conv_state")]),
    ("d32_conv_state_call3", &[(BufferMutation, "conv_state")]),
    ("d33_nonpersistent_call1", &[(BufferMutation, "a")]),
    ("d33_nonpersistent_call2", &[(BufferMutation, "a")]),
    ("d33_nonpersistent_call3", &[(BufferMutation, "a")]),
    ("d34_slice_of_input", &[(UserInputMutation, "x")]),
    ("d34_view_of_input", &[(UserInputMutation, "x")]),
    ("d36_output_metadata", &[(UserInputMutation, "x")]),
    ("d37_diagonal_write", &[(UserInputMutation, "a")]),
    (
        "d38_functional_archive",
        &[
            (BufferMutation, "n.running_mean"),
            (BufferMutation, "n.running_var"),
            (BufferMutation, "n.num_batches_tracked"),
        ],
    ),
    ("d39_unbacked_range", &[]),
    ("d42_module_stack_commas", &[(BufferMutation, "b")]),
    ("d42_module_stack_extra_field", &[(BufferMutation, "b")]),
    ("d43_infinities", &[]),
];

const BATCH_NORM: Writes = &[
    (BufferMutation, "running_mean"),
    (BufferMutation, "running_var"),
    (BufferMutation, "num_batches_tracked"),
];

/// Programs that change the shape of an input, which no archive can say: the input, the
/// operator, the size that the input has afterwards, and what is written besides.
const METADATA_MUTATIONS: &[(&str, &str, &str, &[i64], Writes)] = &[
    (
        "d17_resize_input",
        "x",
        "torch.ops.aten.resize_.default",
        &[6],
        &[(UserInputMutation, "x")],
    ),
    (
        "d19_transpose_input",
        "x",
        "torch.ops.aten.t_.default",
        &[3, 2],
        &[],
    ),
];

/// An archive of a version that does not exist yet.
const TOO_NEW: &str = "d41_too_new";

fn main() {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = support::programs("reported")
        .into_iter()
        .map(|(name, folder)| Trial::test(name.clone(), move || check(&name, &folder)))
        .collect();
    let more: [(&str, Test); 5] = [
        ("each_listed_program_is_there", each_listed_program_is_there),
        ("d37_dead_code_removal", dead_code_removal_keeps_the_write),
        ("d38_functional_already", functional_already),
        ("d39_range_is_kept", the_range_is_kept),
        ("d42_module_stack_is_kept", module_stacks_are_kept),
    ];
    trials.extend(more.map(|(name, test)| Trial::test(name, test)));
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(name: &str, folder: &Path) -> Result<(), Failed> {
    if name == TOO_NEW {
        return is_refused_for_its_version(folder);
    }
    let registry = support::registry(folder);
    let mut program = graven::load(folder.join("model.pt2"))?;
    graven::functionalize(&mut program, &registry)?;
    support::check_pure(&program, &registry)?;
    if let Some(expected) = METADATA_MUTATIONS.iter().find(|row| row.0 == name) {
        check_metadata_mutation(&program, expected.1, expected.2, expected.3)?;
        check_writes(&program, expected.4)?;
    } else {
        let expected = PROGRAMS.iter().find(|row| row.0 == name);
        let (_, writes) = expected.ok_or("the list does not say what it writes")?;
        check_writes(&program, writes)?;
        support::check_archive(&program)?;
        support::check_settled(&program, &registry)?;
    }
    support::same_as_file(&folder.join("functional.expected.txt"), &text::fx(&program))
}

fn check_writes(program: &ExportedProgram, expected: Writes) -> Result<(), Failed> {
    let outputs = program.signature.outputs.iter();
    let found: Vec<(OutputKind, &str)> = outputs
        .filter_map(|output| Some((output.kind, program.context.names.get(output.target?))))
        .collect();
    if found != expected {
        return Err(format!("expected to write {expected:?}, found {found:?}").into());
    }
    Ok(())
}

/// The program carries the change, and the writer says why it cannot.
fn check_metadata_mutation(
    program: &ExportedProgram,
    input: &str,
    operator: &str,
    sizes: &[i64],
) -> Result<(), Failed> {
    let [mutation] = &program.metadata_mutations[..] else {
        return Err(format!("found {:?}", program.metadata_mutations).into());
    };
    let names = &program.context.names;
    let found: Vec<Option<i64>> = program
        .context
        .meta(mutation.meta)
        .sizes
        .iter()
        .map(|size| size.as_int())
        .collect();
    let sizes: Vec<Option<i64>> = sizes.iter().copied().map(Some).collect();
    let is_expected = names.get(program.graph.node(mutation.input).name) == input
        && names.get(mutation.operator) == operator
        && found == sizes;
    if !is_expected {
        return Err(format!("found {mutation:?} with sizes {found:?}").into());
    }
    let refusal = match graven_pt2::write_bytes(program) {
        Ok(_) => return Err("an archive was written".into()),
        Err(error) => error.to_string(),
    };
    if !refusal.contains(&format!("`{input}`")) || !refusal.contains(operator) {
        return Err(format!("the refusal names neither input nor operator: {refusal}").into());
    }
    Ok(())
}

fn is_refused_for_its_version(folder: &Path) -> Result<(), Failed> {
    match graven::load(folder.join("model.pt2")) {
        Ok(_) => Err("it was read".into()),
        Err(error) => {
            let message = error.to_string();
            let names_both = message.contains("99.0") && message.contains("8.");
            if names_both {
                Ok(())
            } else {
                Err(message.into())
            }
        }
    }
}

fn each_listed_program_is_there() -> Result<(), Failed> {
    let found = support::programs("reported").len();
    let listed = PROGRAMS.len() + METADATA_MUTATIONS.len() + 1;
    if found != listed {
        return Err(format!("{listed} are listed, {found} found").into());
    }
    Ok(())
}

fn archive(name: &str) -> PathBuf {
    support::data("reported").join(name).join("model.pt2")
}

fn functional(name: &str) -> Result<ExportedProgram, Failed> {
    let mut program = graven::load(archive(name))?;
    graven::functionalize(&mut program, &Registry::aten())?;
    Ok(program)
}

/// A backend that removes dead nodes does not lose a write made through a view.
fn dead_code_removal_keeps_the_write() -> Result<(), Failed> {
    let program = functional("d37_diagonal_write")?;
    let mut swept = program.clone();
    remove_dead_nodes(&mut swept.graph, &|_, _| false);
    Ok(support::same(&text::fx(&program), &text::fx(&swept))?)
}

/// A program that was saved in its functional form reads with its mutations, and stays.
fn functional_already() -> Result<(), Failed> {
    let program = graven::load(archive("d38_functional_archive"))?;
    support::check_pure(&program, &Registry::aten())?;
    let (_, writes) = PROGRAMS
        .iter()
        .find(|row| row.0 == "d38_functional_archive")
        .ok_or("gone")?;
    check_writes(&program, writes)
}

/// `u0` begins at 0, before and after, and has no end.
fn the_range_is_kept() -> Result<(), Failed> {
    let raw = graven::load(archive("d39_unbacked_range"))?;
    let functional = functional("d39_unbacked_range")?;
    let again = graven_pt2::read_bytes(graven_pt2::write_bytes(&functional)?)?;
    for program in [&raw, &functional, &again] {
        let range = program
            .range_constraints
            .iter()
            .find(|range| program.context.names.get(range.symbol) == "u0")
            .ok_or("u0 has no range")?;
        if (range.min, range.max) != (Some(0), None) {
            return Err(format!("{range:?}").into());
        }
    }
    Ok(())
}

/// Where a node comes from is data: commas and fields that no one knows are kept.
fn module_stacks_are_kept() -> Result<(), Failed> {
    let stacks = |program: &ExportedProgram| -> Vec<String> {
        let nodes = program.graph.nodes.iter();
        let stacks = nodes.filter_map(|node| {
            program
                .context
                .metadata_text(node.metadata, "nn_module_stack")
        });
        stacks.map(str::to_owned).collect()
    };
    for name in ["d42_module_stack_commas", "d42_module_stack_extra_field"] {
        let raw = stacks(&graven::load(archive(name))?);
        let written = graven_pt2::write_bytes(&functional(name)?)?;
        let found = stacks(&graven_pt2::read_bytes(written)?);
        let has_commas = raw.iter().any(|stack| stack.contains("[0, 1]"));
        if !has_commas || raw != found {
            return Err(format!("{name}: {found:?} for {raw:?}").into());
        }
    }
    Ok(())
}
