//! Builds small programs by hand.

use graven_ir::state::{StateEntry, StateKind, StorageId};
use graven_ir::{
    Argument, ArgumentKind, Context, DType, Device, ExportedProgram, Graph, Input, InputKind,
    InputSpec, Layout, Metadata, MetadataId, NameId, Node, NodeId, Op, OutputKind, OutputSpec,
    SymInt, TensorMeta, TensorMetaId, Value,
};

/// Interns the metadata of a contiguous tensor on the CPU.
pub(crate) fn meta(context: &mut Context, dtype: DType, sizes: &[i64]) -> TensorMetaId {
    let mut strides = vec![SymInt::Int(1); sizes.len()];
    for dim in (1..sizes.len()).rev() {
        if let SymInt::Int(stride) = strides[dim] {
            strides[dim - 1] = SymInt::Int(stride * sizes[dim]);
        }
    }
    let kind = context.names.intern("cpu");
    context.metas.intern(TensorMeta {
        dtype,
        sizes: sizes.iter().copied().map(SymInt::Int).collect(),
        strides: strides.into_iter().collect(),
        storage_offset: SymInt::Int(0),
        layout: Layout::Strided,
        device: Device { kind, index: None },
        requires_grad: false,
    })
}

/// A `f32` tensor.
pub(crate) fn f32(context: &mut Context, sizes: &[i64]) -> Value {
    Value::Tensor(meta(context, DType::Float32, sizes))
}

/// Metadata with a stack trace of one frame.
pub(crate) fn at_line(context: &mut Context, file: &str, line: u32, code: &str) -> MetadataId {
    let trace = format!("  File \"{file}\", line {line}, in forward\n    {code}\n");
    let entry = (
        context.names.intern("stack_trace"),
        context.names.intern(&trace),
    );
    context.intern_metadata(Metadata {
        entries: Box::new([entry]),
        unknown_fields: Box::default(),
    })
}

/// Positional arguments.
pub(crate) fn positional(context: &mut Context, arguments: Vec<Argument>) -> Box<[Input]> {
    let name = context.names.intern("");
    arguments
        .into_iter()
        .map(|argument| Input {
            name,
            kind: ArgumentKind::Positional,
            argument,
        })
        .collect()
}

/// Appends a node without metadata to `graph`.
pub(crate) fn push(
    context: &mut Context,
    graph: &mut Graph,
    name: &str,
    op: Op,
    arguments: Vec<Argument>,
    value: Value,
) -> NodeId {
    let node = Node {
        name: context.names.intern(name),
        op,
        inputs: positional(context, arguments),
        value,
        metadata: MetadataId::EMPTY,
    };
    graph.push(node)
}

/// Appends an operator call to `graph`.
pub(crate) fn call(
    context: &mut Context,
    graph: &mut Graph,
    name: &str,
    target: &str,
    arguments: Vec<Argument>,
    value: Value,
) -> NodeId {
    let op = Op::Call(context.target(target));
    push(context, graph, name, op, arguments, value)
}

/// Appends an input to the graph and to the signature, and its state where it has some.
pub(crate) fn input(
    program: &mut ExportedProgram,
    name: &str,
    kind: InputKind,
    target: Option<&str>,
    value: Value,
) -> NodeId {
    let target = target.map(|target| program.context.names.intern(target));
    program.signature.inputs.push(InputSpec {
        kind,
        target,
        persistent: (kind == InputKind::Buffer).then_some(true),
        constant: None,
    });
    if let Some(name) = target {
        add_state(program, name, kind, &value);
    }
    let ExportedProgram { context, graph, .. } = program;
    push(context, graph, name, Op::Placeholder, Vec::new(), value)
}

fn add_state(program: &mut ExportedProgram, name: NameId, kind: InputKind, value: &Value) {
    program.state.entries.push(StateEntry {
        name,
        kind: match kind {
            InputKind::Parameter => StateKind::Parameter,
            InputKind::Buffer => StateKind::Buffer,
            _ => StateKind::Constant,
        },
        meta: value.as_tensor(),
        use_pickle: false,
        storage: StorageId(0),
    });
}

/// Appends an output to the graph and to the signature.
pub(crate) fn output(
    program: &mut ExportedProgram,
    value: Argument,
    kind: OutputKind,
    target: Option<&str>,
) {
    let target = target.map(|target| program.context.names.intern(target));
    program.signature.outputs.push(OutputSpec { kind, target });
    program.graph.outputs.push(value);
}
