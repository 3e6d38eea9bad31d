//! The text forms of programs built by hand, against what torch printed for the same programs
//! built by hand there.

use graven_ir::graph::{GraphId, NestedGraph};
use graven_ir::{
    Argument, ArgumentKind, Context, DType, Device, ExportedProgram, Graph, Input, InputKind,
    Layout, ListKind, MemoryFormat, Metadata, NodeId, Op, OutputKind, RangeConstraint, SymInt,
    Value, text,
};

use crate::support::{at_line, call, f32, input, meta, output, push};

#[test]
fn every_kind_of_argument() {
    let program = program_with_every_argument();
    assert_eq!(
        text::fx_graph(&program.context, &program.graph),
        include_str!("data/arguments.fx.txt")
    );
    assert_eq!(
        text::readable(&program),
        include_str!("data/arguments.readable.txt")
    );
}

#[test]
fn nested_graphs_comments_and_the_signature() {
    let program = program_with_cond();
    assert_eq!(text::fx(&program), include_str!("data/cond.fx.txt"));
    assert_eq!(
        text::readable(&program),
        include_str!("data/cond.readable.txt")
    );
}

#[test]
fn a_program_without_inputs_and_outputs() {
    let program = ExportedProgram::default();
    assert_eq!(
        text::fx(&program),
        "graph():\n    return ()\n\n\n# inputs\n\n\n# outputs\n\n"
    );
    assert_eq!(
        text::readable(&program),
        concat!(
            "ExportedProgram:\n",
            "    class GraphModule(torch.nn.Module):\n",
            "        def forward(self):\n",
            "            return ()\n",
            "    \n",
            "Graph signature:\n",
            "    # inputs\n    \n    \n    # outputs\n    \n    \n",
            "Range constraints: {}\n",
        )
    );
}

#[test]
fn ranges_are_printed_of_what_the_values_have() {
    let mut program = ExportedProgram::default();
    let size = program.context.exprs.parse_str("2*s44").unwrap();
    let value = Value::SymInt(SymInt::Expr(size));
    input(&mut program, "n", InputKind::UserInput, None, value);
    let ranges = [
        ("u1", None, None),
        ("2*s44", Some(4), Some(100)),
        ("3*s44", Some(6), None),
        ("s44", Some(2), None),
    ];
    for (symbol, min, max) in ranges {
        let symbol = program.context.names.intern(symbol);
        program
            .range_constraints
            .push(RangeConstraint { symbol, min, max });
    }
    let text = text::readable(&program);
    assert!(
        text.contains("def forward(self, n: \"Sym(2*s44)\"):\n"),
        "{text}"
    );
    let ranges = "\nRange constraints: {2*s44: VR[4, 100], s44: VR[2, int_oo]}\n";
    assert!(text.ends_with(ranges), "{text}");
}

#[test]
fn a_constant_argument_called_like_a_builtin() {
    let mut program = ExportedProgram::default();
    let name = "max_1";
    input(
        &mut program,
        name,
        InputKind::UserInput,
        None,
        Value::Constant,
    );
    let names = [name, "max"].map(|name| program.context.names.intern(name));
    program.graph.archive_names.push(names.into());
    let listing = text::fx(&program);
    assert!(
        listing.contains("    %max_1 : [num_users=0] = placeholder[target=max]\n"),
        "{listing}"
    );
    assert!(listing.contains("\nmax: USER_INPUT\n"), "{listing}");
    let readable = text::readable(&program);
    let forward =
        "        def forward(self, max):\n            max_1 = max\n            return ()\n";
    assert!(readable.contains(forward), "{readable}");
}

#[test]
fn comments_tell_a_nodes_annotation() {
    let mut program = ExportedProgram::default();
    let ExportedProgram { context, graph, .. } = &mut program;
    let node = call(
        context,
        graph,
        "f",
        "torch.ops.mylib.f.default",
        vec![],
        Value::None,
    );
    let entry = ["custom", r#"{"stage": "attn"}"#].map(|text| context.names.intern(text));
    graph.nodes[node.index()].metadata = context.intern_metadata(Metadata {
        entries: Box::new([entry.into()]),
        unknown_fields: Box::default(),
    });
    let readable = text::readable(&program);
    assert!(
        readable.contains(
            "            # Annotation: {'stage': 'attn'} No stacktrace found for following nodes\n"
        ),
        "{readable}"
    );
}

#[test]
fn a_broken_program_is_printed_too() {
    let mut program = ExportedProgram::default();
    let ExportedProgram { context, graph, .. } = &mut program;
    let missing = Argument::Node(NodeId(7));
    call(
        context,
        graph,
        "f",
        "torch.ops.mylib.f.default",
        vec![missing.clone()],
        Value::None,
    );
    push(
        context,
        graph,
        "g",
        Op::GetAttr(GraphId(3)),
        vec![],
        Value::None,
    );
    graph.outputs.push(missing);
    assert!(text::fx(&program).contains("%f : [num_users=0]"));
    assert!(text::readable(&program).contains("return (,)\n"));
}

#[test]
fn lists_as_the_loader_makes_them() {
    let mut program = ExportedProgram::default();
    let ExportedProgram { context, graph, .. } = &mut program;
    let grid = Argument::List(
        ListKind::IntLists,
        Box::new([Argument::ints([1, 2]), Argument::ints([3])]),
    );
    let empty = Argument::ints([]);
    call(
        context,
        graph,
        "f",
        "torch.ops.mylib.f.default",
        vec![grid, empty],
        Value::None,
    );
    let listing = text::fx_graph(context, graph);
    assert!(
        listing.contains("(args = ([(1, 2), (3,)], []), kwargs = {})"),
        "{listing}"
    );
}

/// Appends calls to a program's graph, each on the value of the one before.
struct Calls<'a> {
    context: &'a mut Context,
    graph: &'a mut Graph,
    last: NodeId,
}

impl Calls<'_> {
    fn call(&mut self, name: &str, target: &str, arguments: Vec<Argument>, value: Value) {
        self.last = call(self.context, self.graph, name, target, arguments, value);
    }

    fn aten(&mut self, name: &str, overload: &str, mut rest: Vec<Argument>, dtype: DType) {
        rest.insert(0, Argument::Node(self.last));
        let value = Value::Tensor(meta(self.context, dtype, &[2, 3]));
        self.call(name, &format!("torch.ops.aten.{overload}"), rest, value);
    }

    /// Gives the last call keyword arguments.
    fn keywords(&mut self, keywords: Vec<(&str, Argument)>) {
        let node = &mut self.graph.nodes[self.last.index()];
        let mut inputs = std::mem::take(&mut node.inputs).into_vec();
        inputs.extend(keywords.into_iter().map(|(name, argument)| Input {
            name: self.context.names.intern(name),
            kind: ArgumentKind::Keyword,
            argument,
        }));
        node.inputs = inputs.into();
    }

    fn string(&mut self, text: &str) -> Argument {
        Argument::String(self.context.names.intern(text))
    }

    fn device(&mut self, kind: &str, index: Option<i32>) -> Argument {
        let kind = self.context.names.intern(kind);
        Argument::Device(Device { kind, index })
    }
}

fn program_with_every_argument() -> ExportedProgram {
    let mut program = ExportedProgram::default();
    let ExportedProgram { context, graph, .. } = &mut program;
    let x_value = f32(context, &[2, 3]);
    let x = push(context, graph, "x", Op::Placeholder, vec![], x_value);
    let mask_value = Value::Tensor(meta(context, DType::Bool, &[2]));
    let mask = push(context, graph, "input", Op::Placeholder, vec![], mask_value);
    let n = push(context, graph, "n", Op::Placeholder, vec![], Value::None);
    let mut calls = Calls {
        context,
        graph,
        last: x,
    };
    add_tensor_calls(&mut calls, mask);
    add_other_calls(&mut calls, n);
    let width = calls.last;
    let Calls { context, graph, .. } = calls;
    let value = f32(context, &[2, 3]);
    let size = Argument::List(
        ListKind::SymInts,
        Box::new([Argument::Int(-1), Argument::Node(width)]),
    );
    let arguments = vec![Argument::Node(x), size];
    let view = call(
        context,
        graph,
        "view_default",
        "torch.ops.aten.view.default",
        arguments,
        value,
    );
    graph.outputs = vec![
        Argument::Node(view),
        Argument::Int(3),
        Argument::None,
        Argument::String(context.names.intern("a")),
        Argument::Float(2.5),
        Argument::Bool(true),
        Argument::Float(1e-7),
    ];
    program
}

fn add_tensor_calls(calls: &mut Calls<'_>, mask: NodeId) {
    calls.aten(
        "add_tensor",
        "add.Tensor",
        vec![Argument::Int(2)],
        DType::Float32,
    );
    calls.keywords(vec![("alpha", Argument::Float(0.1))]);
    calls.aten("to_dtype_layout", "to.dtype_layout", vec![], DType::Float64);
    let cpu = calls.device("cpu", None);
    calls.keywords(vec![
        ("dtype", Argument::DType(DType::Float64)),
        ("layout", Argument::Layout(Layout::Strided)),
        ("device", cpu),
    ]);
    let divisor = vec![Argument::Float(1e-5)];
    calls.aten(
        "div_tensor_mode",
        "div.Tensor_mode",
        divisor,
        DType::Float64,
    );
    let floor = calls.string("floor");
    calls.keywords(vec![("rounding_mode", floor)]);
    let indices = Argument::List(
        ListKind::OptionalTensors,
        Box::new([Argument::None, Argument::Node(mask)]),
    );
    calls.aten(
        "index_tensor",
        "index.Tensor",
        vec![indices],
        DType::Float64,
    );
    calls.aten("clone_default", "clone.default", vec![], DType::Float64);
    let contiguous = Argument::MemoryFormat(MemoryFormat::Contiguous);
    calls.keywords(vec![("memory_format", contiguous)]);
    let cuda = calls.device("cuda", Some(1));
    let target = vec![cuda, Argument::DType(DType::Float32)];
    calls.aten("to_device", "to.device", target, DType::Float32);
    let number = vec![Argument::Complex(1.5, -2.0)];
    calls.aten("add_scalar", "add.Scalar", number, DType::Complex64);
    let number = vec![Argument::Complex(0.0, 1.0)];
    calls.aten("add_scalar_1", "add.Scalar", number, DType::Complex64);
}

fn add_other_calls(calls: &mut Calls<'_>, n: NodeId) {
    let tensor = f32(calls.context, &[2, 3]);
    let sum = calls.last;
    let arguments = vec![Argument::ints([2, 3]), Argument::Float(f64::INFINITY)];
    calls.call(
        "full_default",
        "torch.ops.aten.full.default",
        arguments,
        tensor.clone(),
    );
    let full = calls.last;
    let equation = calls.string("it's");
    let arguments = vec![equation, Argument::tensors([sum, full, full])];
    calls.call(
        "einsum_default",
        "torch.ops.aten.einsum.default",
        arguments,
        tensor.clone(),
    );
    add_auto_functionalized(calls);
    let source = vec![Argument::Node(calls.last)];
    let Calls { context, graph, .. } = calls;
    let element = push(
        context,
        graph,
        "getitem",
        Op::GetItem(1),
        source,
        tensor.clone(),
    );
    let double = vec![Argument::Node(n), Argument::Int(2)];
    calls.call("mul", "_operator.mul", double, Value::None);
    for (name, target) in [("neg", "_operator.neg"), ("trunc", "math.trunc")] {
        let arguments = vec![Argument::Node(calls.last)];
        calls.call(name, target, arguments, Value::None);
    }
    let both = vec![Argument::Node(calls.last), Argument::Node(n)];
    calls.call("sym_max", "torch.sym_max", both, Value::None);
    let largest = calls.last;
    let arguments = vec![Argument::Node(element)];
    calls.call(
        "sin_default",
        "torch.ops.aten.sin.default",
        arguments,
        tensor,
    );
    calls.last = largest;
}

fn add_auto_functionalized(calls: &mut Calls<'_>) {
    let base = calls.last;
    let operator = Argument::Operator(calls.context.target("torch.ops.aten.add_.Tensor"));
    calls.call(
        "auto_functionalized_v2",
        "torch.ops.higher_order.auto_functionalized_v2",
        vec![operator],
        Value::None,
    );
    let one = Argument::List(ListKind::Tuple, Box::new([Argument::Int(1)]));
    let [k, n] = ["k", "n"].map(|key| calls.context.names.intern(key));
    let dict = Argument::Dict(Box::new([
        (k, calls.string("v")),
        (n, Argument::Node(base)),
    ]));
    calls.keywords(vec![
        ("flag", Argument::Bool(true)),
        ("none", Argument::None),
        ("_all_bases", Argument::tensors([base])),
        ("t", one),
        ("d", dict),
    ]);
}

/// The corpus's `cond_branches`.
fn program_with_cond() -> ExportedProgram {
    let mut program = ExportedProgram::default();
    let [calls_value, x_value] = [(DType::Int64, &[][..]), (DType::Float32, &[3][..])]
        .map(|(dtype, sizes)| Value::Tensor(meta(&mut program.context, dtype, sizes)));
    let b_calls = Some("calls");
    let calls = input(
        &mut program,
        "b_calls",
        InputKind::Buffer,
        b_calls,
        calls_value.clone(),
    );
    let x = input(
        &mut program,
        "x",
        InputKind::UserInput,
        None,
        x_value.clone(),
    );
    let ExportedProgram { context, graph, .. } = &mut program;
    let arguments = vec![Argument::Node(calls), Argument::Int(1)];
    let added = call(
        context,
        graph,
        "add_",
        "torch.ops.aten.add_.Tensor",
        arguments,
        calls_value,
    );
    let arguments = vec![Argument::Node(x)];
    let scalar = f32(context, &[]);
    let sum = call(
        context,
        graph,
        "sum_1",
        "torch.ops.aten.sum.default",
        arguments,
        scalar,
    );
    let arguments = vec![Argument::Node(sum), Argument::Int(0)];
    let truth = Value::Tensor(meta(context, DType::Bool, &[]));
    let gt = call(
        context,
        graph,
        "gt",
        "torch.ops.aten.gt.Scalar",
        arguments,
        truth,
    );
    let graphs = [
        branch(context, graph, "true_graph_0", ["sin", "mul"], 3296),
        branch(context, graph, "false_graph_0", ["cos", "sub"], 3297),
    ];
    let mut arguments = vec![Argument::Node(gt)];
    arguments.extend(graphs.map(Argument::Node));
    arguments.push(Argument::tensors([x]));
    let results = Value::Tuple(Box::new([x_value.clone()]));
    let cond = call(
        context,
        graph,
        "cond",
        "torch.ops.higher_order.cond",
        arguments,
        results,
    );
    let source = vec![Argument::Node(cond)];
    let result = push(
        context,
        graph,
        "getitem",
        Op::GetItem(0),
        source,
        x_value.clone(),
    );
    let arguments = vec![Argument::Node(result), Argument::Node(added)];
    let sum = call(
        context,
        graph,
        "add",
        "torch.ops.aten.add.Tensor",
        arguments,
        x_value,
    );
    set_source_lines(&mut program);
    output(
        &mut program,
        Argument::Node(sum),
        OutputKind::UserOutput,
        None,
    );
    program
}

fn branch(
    context: &mut Context,
    graph: &mut Graph,
    name: &str,
    operators: [&str; 2],
    file: u32,
) -> NodeId {
    let value = f32(context, &[3]);
    let mut branch = Graph::default();
    let x = push(
        context,
        &mut branch,
        "x",
        Op::Placeholder,
        vec![],
        value.clone(),
    );
    let [first, second] = operators;
    let target = format!("torch.ops.aten.{first}.default");
    let arguments = vec![Argument::Node(x)];
    let inner = call(
        context,
        &mut branch,
        first,
        &target,
        arguments,
        value.clone(),
    );
    let target = format!("torch.ops.aten.{second}.Tensor");
    let number = if second == "mul" { 2 } else { 1 };
    let arguments = vec![Argument::Node(inner), Argument::Int(number)];
    let outer = call(context, &mut branch, second, &target, arguments, value);
    branch.outputs.push(Argument::Node(outer));
    let file = format!("<eval_with_key>.{file}");
    for (node, line) in branch.nodes[1..].iter_mut().zip([6, 7]) {
        node.metadata = at_line(context, &file, line, "...");
    }
    let id = GraphId(graph.graphs.len() as u32);
    graph.graphs.push(NestedGraph {
        name: context.names.intern(name),
        graph: branch,
    });
    push(context, graph, name, Op::GetAttr(id), vec![], Value::None)
}

fn set_source_lines(program: &mut ExportedProgram) {
    let cond = "return torch.cond(x.sum() > 0, lambda v: v.sin() * 2, lambda v: v.cos() - 1, (x,)) \
                + self.calls";
    let file = "export_cases.py";
    for node in &mut program.graph.nodes {
        let context = &mut program.context;
        node.metadata = match context.names.get(node.name) {
            "b_calls" | "x" => continue,
            "add_" => at_line(context, file, 1148, "self.calls.add_(1)"),
            "sum_1" | "gt" | "add" => at_line(context, file, 1149, cond),
            _ => at_line(context, "<eval_with_key>.3295", 9, "..."),
        };
    }
}
