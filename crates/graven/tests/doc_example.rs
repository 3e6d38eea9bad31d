//! The example of torch's documentation on exported programs: a parameter of 2, buffers of 3
//! and 4, `output = (x1 + my_parameter) * my_buffer1 + x2 * my_buffer2`, and then
//! `my_buffer2.add_(1.0)`. What is exported has the write as a node and no word of it in the
//! signature; the functional program has it in the signature and no node that writes.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use graven::{ExportedProgram, Registry, Stats, text};

const EXPORTED: &str = "\
graph():
    %p_my_parameter : [num_users=1] = placeholder[target=p_my_parameter]
    %b_my_buffer1 : [num_users=1] = placeholder[target=b_my_buffer1]
    %b_my_buffer2 : [num_users=2] = placeholder[target=b_my_buffer2]
    %x1 : [num_users=1] = placeholder[target=x1]
    %x2 : [num_users=1] = placeholder[target=x2]
    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x1, %p_my_parameter), kwargs = {})
    %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%add, %b_my_buffer1), kwargs = {})
    %mul_1 : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x2, %b_my_buffer2), kwargs = {})
    %add_1 : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul, %mul_1), kwargs = {})
    %add_ : [num_users=0] = call_function[target=torch.ops.aten.add_.Tensor](args = (%b_my_buffer2, 1.0), kwargs = {})
    return (add_1,)";

const EXPORTED_SIGNATURE: &str = "
# inputs
p_my_parameter: PARAMETER target='my_parameter'
b_my_buffer1: BUFFER target='my_buffer1' persistent=True
b_my_buffer2: BUFFER target='my_buffer2' persistent=True
x1: USER_INPUT
x2: USER_INPUT

# outputs
add_1: USER_OUTPUT
";

const FUNCTIONAL: &str = "\
graph():
    %p_my_parameter : [num_users=1] = placeholder[target=p_my_parameter]
    %b_my_buffer1 : [num_users=1] = placeholder[target=b_my_buffer1]
    %b_my_buffer2 : [num_users=2] = placeholder[target=b_my_buffer2]
    %x1 : [num_users=1] = placeholder[target=x1]
    %x2 : [num_users=1] = placeholder[target=x2]
    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x1, %p_my_parameter), kwargs = {})
    %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%add, %b_my_buffer1), kwargs = {})
    %mul_1 : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x2, %b_my_buffer2), kwargs = {})
    %add_1 : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul, %mul_1), kwargs = {})
    %add_2 : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%b_my_buffer2, 1.0), kwargs = {})
    return (add_2, add_1)";

const FUNCTIONAL_SIGNATURE: &str = "
# inputs
p_my_parameter: PARAMETER target='my_parameter'
b_my_buffer1: BUFFER target='my_buffer1' persistent=True
b_my_buffer2: BUFFER target='my_buffer2' persistent=True
x1: USER_INPUT
x2: USER_INPUT

# outputs
add_2: BUFFER_MUTATION target='my_buffer2'
add_1: USER_OUTPUT
";

fn archive() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/cases/doc_buffer_mutation/model.pt2")
}

#[track_caller]
fn assert_program(program: &ExportedProgram, graph: &str, signature: &str) {
    assert_eq!(text::fx_graph(&program.context, &program.graph), graph);
    assert_eq!(text::signature(program), signature);
}

/// The program's scalars, by name.
fn state(program: &ExportedProgram) -> Vec<(&str, f32)> {
    let entries = program.state.entries.iter();
    entries
        .map(|entry| {
            let bytes = program.state.storages[entry.storage.0 as usize].bytes();
            let value = f32::from_le_bytes(bytes.try_into().unwrap());
            (program.context.names.get(entry.name), value)
        })
        .collect()
}

#[test]
fn the_write_moves_into_the_signature() {
    let mut program = graven::load(archive()).unwrap();
    assert_program(&program, EXPORTED, EXPORTED_SIGNATURE);
    let stats = graven::functionalize(&mut program, &Registry::aten()).unwrap();
    assert_program(&program, FUNCTIONAL, FUNCTIONAL_SIGNATURE);
    let expected = Stats {
        nodes_before: 10,
        nodes_after: 10,
    };
    assert_eq!(stats, expected);
}

#[test]
fn the_state_stays_what_it_was() {
    let expected = [
        ("my_parameter", 2.0),
        ("my_buffer1", 3.0),
        ("my_buffer2", 4.0),
    ];
    let mut program = graven::load(archive()).unwrap();
    assert_eq!(state(&program), expected);
    graven::functionalize(&mut program, &Registry::aten()).unwrap();
    assert_eq!(state(&program), expected);
}

#[test]
fn the_functional_archive_holds_it_all() {
    let mut program = graven::load(archive()).unwrap();
    graven::functionalize(&mut program, &Registry::aten()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("functional.pt2");
    graven::save(&program, &path).unwrap();
    let again = graven::load(&path).unwrap();
    assert_program(&again, FUNCTIONAL, FUNCTIONAL_SIGNATURE);
    assert_eq!(state(&again), state(&program));
}

#[test]
fn a_printed_program_is_functionalized_as_well() {
    let readable = text::readable(&graven::load(archive()).unwrap());
    let mut program = text::parse(&readable).unwrap();
    let registry = Registry::aten();
    graven_ops::complete_from_schemas(&mut program, &registry);
    graven::functionalize(&mut program, &registry).unwrap();
    assert_program(&program, FUNCTIONAL, FUNCTIONAL_SIGNATURE);
}
