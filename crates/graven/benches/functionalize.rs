//! The pass alone on chains of growing length, and load, functionalize and save of one case.
//!
//! `scripts/torch_beside.py` runs torch on the same work.

use std::hint::black_box;
use std::path::PathBuf;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use graven::ir::context::MetadataId;
use graven::ir::value::Dims;
use graven::ir::{
    Argument, ArgumentKind, DType, Device, Input, InputKind, InputSpec, Layout, Node, NodeId, Op,
    OutputKind, OutputSpec, SymInt, TensorMeta, Value,
};
use graven::{ExportedProgram, Registry};

/// A program that writes to its input through a view in every second node:
/// `x[0].mul_(y)`, over and over.
fn chain(length: usize) -> ExportedProgram {
    let mut program = ExportedProgram::default();
    let cpu = Device {
        kind: program.context.names.intern("cpu"),
        index: None,
    };
    let mut meta = |sizes: &[i64], strides: &[i64]| {
        let dims = |values: &[i64]| values.iter().copied().map(SymInt::Int).collect::<Dims>();
        let meta = TensorMeta {
            dtype: DType::Float32,
            sizes: dims(sizes),
            strides: dims(strides),
            storage_offset: SymInt::Int(0),
            layout: Layout::Strided,
            device: cpu,
            requires_grad: false,
        };
        Value::Tensor(program.context.metas.intern(meta))
    };
    let (whole, row) = (meta(&[4, 4], &[4, 1]), meta(&[4], &[1]));
    let names = |name: &str, program: &mut ExportedProgram| program.context.names.intern(name);
    let select = program.context.target("torch.ops.aten.select.int");
    let mul = program.context.target("torch.ops.aten.mul_.Tensor");
    let [this, other, dim, index] =
        ["self", "other", "dim", "index"].map(|name| names(name, &mut program));
    let input = |name, argument| Input {
        name,
        kind: ArgumentKind::Positional,
        argument,
    };
    for (name, value) in [("x", whole), ("y", row.clone())] {
        let name = names(name, &mut program);
        let node = Node {
            name,
            op: Op::Placeholder,
            inputs: Box::default(),
            value,
            metadata: MetadataId::EMPTY,
        };
        program.graph.push(node);
        let spec = InputSpec {
            kind: InputKind::UserInput,
            target: None,
            persistent: None,
            constant: None,
        };
        program.signature.inputs.push(spec);
    }
    let (x, y) = (NodeId(0), NodeId(1));
    for step in 0..length / 2 {
        let name = names(&format!("select_{step}"), &mut program);
        let inputs = [
            input(this, Argument::Node(x)),
            input(dim, Argument::Int(0)),
            input(index, Argument::Int(0)),
        ];
        let value = row.clone();
        let metadata = MetadataId::EMPTY;
        let view = program.graph.push(Node {
            name,
            op: Op::Call(select),
            inputs: inputs.into(),
            value,
            metadata,
        });
        let name = names(&format!("mul__{step}"), &mut program);
        let inputs = [
            input(this, Argument::Node(view)),
            input(other, Argument::Node(y)),
        ];
        let value = row.clone();
        program.graph.push(Node {
            name,
            op: Op::Call(mul),
            inputs: inputs.into(),
            value,
            metadata,
        });
    }
    program.graph.outputs.push(Argument::Node(x));
    program.signature.outputs.push(OutputSpec {
        kind: OutputKind::UserOutput,
        target: None,
    });
    program
}

fn pass(criterion: &mut Criterion) {
    let registry = Registry::aten();
    let mut group = criterion.benchmark_group("functionalize");
    for length in [1_000, 10_000, 100_000] {
        let program = chain(length);
        group.throughput(Throughput::Elements(length as u64));
        group.bench_with_input(
            BenchmarkId::new("chain", length),
            &program,
            |bencher, program| {
                let run = |mut program: ExportedProgram| {
                    let stats = graven::functionalize(&mut program, &registry);
                    black_box((program, stats.is_ok()))
                };
                bencher.iter_batched(|| program.clone(), run, BatchSize::LargeInput);
            },
        );
    }
    group.finish();
}

fn file_to_file(criterion: &mut Criterion) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = root.join("tests/cases/resnet_train/model.pt2");
    let written = std::env::temp_dir().join(format!("graven-bench-{}.pt2", std::process::id()));
    criterion.bench_function("load, functionalize, save: resnet_train", |bencher| {
        bencher.iter(|| {
            let result = graven::load(&source)
                .map_err(|error| error.to_string())
                .and_then(|mut program| {
                    graven::functionalize(&mut program, &Registry::aten())
                        .map_err(|error| error.to_string())?;
                    graven::save(&program, &written).map_err(|error| error.to_string())
                });
            black_box(result)
        });
    });
    // The file may never have been written.
    let _ = std::fs::remove_file(&written);
}

criterion_group!(benches, pass, file_to_file);
criterion_main!(benches);
