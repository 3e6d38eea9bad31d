//! `graven run` and `graven check`.

use std::collections::BTreeMap;
use std::path::Path;

use graven::tensor::Array;
use graven::tensor_file;

use super::{Folder, case, graven, model};

fn read(path: &str) -> BTreeMap<String, Array> {
    tensor_file::read(Path::new(path))
        .unwrap()
        .into_iter()
        .collect()
}

#[test]
fn outputs_and_changes_are_written() {
    let folder = Folder::new();
    let outputs = folder.path("out.safetensors");
    let io = case("doc_buffer_mutation").join("io.safetensors");
    let io = io.to_str().unwrap();
    let model = model("doc_buffer_mutation");
    let printed = graven(["run", &model, "--inputs", io, "--outputs", &outputs]).success();
    assert_eq!(printed, "");
    let (found, expected) = (read(&outputs), read(io));
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        ["buf.my_buffer2", "out.0"]
    );
    for (name, array) in &found {
        let values = array.to_vec::<f32>().unwrap();
        assert_eq!(values, expected[name].to_vec::<f32>().unwrap(), "{name}");
    }
}

#[test]
fn without_inputs_the_samples_are_taken() {
    let printed = graven(["run", &model("doc_buffer_mutation")]).success();
    assert_eq!(
        printed,
        "out.0: float32[1]\nbuf.my_buffer2: float32[] (changed)\n"
    );
}

#[test]
fn numbers_are_given_by_position() {
    let folder = Folder::new();
    let outputs = folder.path("out.safetensors");
    let io = case("dyn_integer_input").join("io.safetensors");
    let model = model("dyn_integer_input");
    let io = io.to_str().unwrap();
    let missing = graven(["run", &model, "--inputs", io, "--outputs", &outputs]).failure(1);
    assert!(missing.contains("--scalar 1=VALUE"), "{missing}");
    assert!(folder.entries().is_empty());
    let scalar = ["--scalar", "1=3"];
    let words = ["run", &model, "--inputs", io, "--outputs", &outputs];
    graven(words.iter().copied().chain(scalar)).success();
    assert!(read(&outputs).contains_key("out.0"));
    let wrong = graven(words.iter().copied().chain(["--scalar", "1=abc"])).failure(2);
    assert!(wrong.contains("abc"), "{wrong}");
}

#[test]
fn inputs_that_do_not_fit_are_named() {
    let folder = Folder::new();
    let inputs = folder.path("in.safetensors");
    let outputs = folder.path("out.safetensors");
    let model = model("doc_buffer_mutation");
    let write = |tensors: &[(String, Array)]| {
        tensor_file::write(Path::new(&inputs), tensors).unwrap();
        graven(["run", &model, "--inputs", &inputs, "--outputs", &outputs]).failure(1)
    };
    let float = |values: &[f32]| Array::from_elements(values, &[values.len()]).unwrap();
    let named = |name: &str, array: Array| (name.to_owned(), array);
    let complaint = write(&[named("in.0", float(&[1.0]))]);
    assert!(complaint.contains("input 1 (`x2`)"), "{complaint}");
    let complaint = write(&[
        named("in.0", float(&[1.0, 2.0])),
        named("in.1", float(&[1.0])),
    ]);
    for word in ["input 0 (`x1`)", "[1]", "[2]"] {
        assert!(complaint.contains(word), "`{word}` is not in `{complaint}`");
    }
    let integers = Array::from_elements(&[1_i64], &[1]).unwrap();
    let complaint = write(&[named("in.0", integers), named("in.1", float(&[1.0]))]);
    for word in ["float32", "int64"] {
        assert!(complaint.contains(word), "`{word}` is not in `{complaint}`");
    }
    assert_eq!(folder.entries(), ["in.safetensors"]);
}

#[test]
fn state_can_be_given() {
    let folder = Folder::new();
    let state = folder.path("state.safetensors");
    let outputs = folder.path("out.safetensors");
    let ten = Array::from_elements(&[10.0_f32], &[]).unwrap();
    tensor_file::write(Path::new(&state), &[("my_buffer2".to_owned(), ten)]).unwrap();
    let model = model("doc_buffer_mutation");
    graven(["run", &model, "--state", &state, "--outputs", &outputs]).success();
    let changed = read(&outputs)["buf.my_buffer2"].to_vec::<f32>().unwrap();
    assert_eq!(changed, [11.0]);
    let other = Array::from_elements(&[10.0_f32], &[]).unwrap();
    tensor_file::write(Path::new(&state), &[("nowhere".to_owned(), other)]).unwrap();
    let complaint = graven(["run", &model, "--state", &state]).failure(1);
    assert!(complaint.contains("nowhere"), "{complaint}");
}

#[test]
fn passes_are_checked() {
    for name in ["doc_buffer_mutation", "cond_branches", "replay_ring"] {
        let printed = graven(["check", &model(name), "--random", "2"]).success();
        assert!(printed.contains("same values on given inputs"), "{printed}");
        assert!(printed.contains("random inputs 1"), "{printed}");
    }
}

#[test]
fn operators_without_a_kernel_are_named() {
    let custom = super::archive::cases().join("../reported/d03_rows_custom");
    let schemas = custom.join("schemas.txt");
    let custom = custom.join("model.pt2");
    let words = [
        "run",
        custom.to_str().unwrap(),
        "--schema",
        schemas.to_str().unwrap(),
    ];
    let complaint = graven(words).failure(1);
    for word in ["no kernel", "at node"] {
        assert!(complaint.contains(word), "`{word}` is not in `{complaint}`");
    }
}
