//! Reading programs from text: what hand-written and logged texts may look like, and what is
//! said of texts that are no programs.

use graven_ir::text::{
    self, Comments, Deletions, ParseProblem, ReadableOptions, Strides, parse, parse_fx,
    parse_readable,
};
use graven_ir::{ArgumentKind, InputKind, OutputKind};

/// `~` stands for an empty line with the spaces that torch indents it by.
const FULL: &str = r#"ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, b_n: "f32[4]", x: "f32[s0, 3][1, s0]+2", n: "Sym(s0)", input):
            input_1 = input
~
            # File: model.py:4 in forward, code: cond(x)
            true_graph_0 = self.true_graph_0
            cond = torch.ops.higher_order.cond(True, true_graph_0, true_graph_0, (x, n));  true_graph_0 = None
            getitem: "f32[s0, 3][1, s0]+2" = cond[0];  cond = None
~
            # No stacktrace found for following nodes
            ge: "Sym(s0 >= 2)" = n >= 2;  ge = None
            neg: "Sym(-s0)" = -n;  n = neg = None
            scale: "f32[4]" = torch.ops.my.scale.default(b_n, -1, [1.5, inf], 'it\'s', kind = {'a': (1+2j), 'b': [torch.bool]}, device = device(type='cuda', index=1), at = [None, x]);  b_n = x = None
            return (scale, getitem, 3, None)
~
        class true_graph_0(torch.nn.Module):
            def forward(self, x: "f32[s0, 3][1, s0]+2", n: "Sym(s0)"):
                # No stacktrace found for following nodes
                mul: "Sym(2*s0)" = n * 2;  n = mul = None
                return (x,)
~
Graph signature:
    # inputs
    b_n: BUFFER target='n' persistent=False
    x: USER_INPUT
    n: USER_INPUT
    input: USER_INPUT
~
    # outputs
    scale: BUFFER_MUTATION target='n'
    getitem: USER_OUTPUT
    : USER_OUTPUT
    : USER_OUTPUT
~
Range constraints: {s0: VR[2, int_oo]}
"#;

fn full() -> String {
    FULL.replace("\n~\n", "\n    \n")
}

#[test]
fn a_whole_program_prints_back() {
    let full = full();
    let program = parse(&full).unwrap();
    let options = ReadableOptions {
        strides: Strides::WhereNotContiguous,
        ..ReadableOptions::default()
    };
    // `\'` is printed as `'` between double quotes.
    let expected = full.replace(r"'it\'s'", "\"it's\"");
    assert_eq!(text::readable_with(&program, options), expected);
    let listing = text::fx(&program);
    assert_eq!(text::fx(&parse(&listing).unwrap()), listing);
}

#[test]
fn a_lone_function_is_a_program() {
    let program = parse_readable(
        "
def forward(
    self,
    b_n: f32[4],
    x: 'f32[4]',
):
    x_1 = x  # another name
    add_: f32[4] = torch.ops.aten.add_.Tensor(
        b_n, x_1, alpha=2)
    add_ = None
    return [x]

# inputs
b_n: BUFFER target='n' persistent=True
",
    )
    .unwrap();
    let kinds: Vec<_> = program
        .signature
        .inputs
        .iter()
        .map(|spec| spec.kind)
        .collect();
    assert_eq!(kinds, [InputKind::Buffer, InputKind::UserInput]);
    assert_eq!(program.signature.outputs[0].kind, OutputKind::UserOutput);
    let add = &program.graph.nodes[2];
    assert_eq!(add.inputs[1].argument.as_node().map(|node| node.0), Some(1));
    assert_eq!(add.inputs[2].kind, ArgumentKind::Keyword);
    let plain = ReadableOptions {
        comments: Comments::Hidden,
        deletions: Deletions::Hidden,
        ..ReadableOptions::default()
    };
    let printed = text::readable_with(&program, plain);
    assert!(printed.contains(
        "add_: \"f32[4]\" = torch.ops.aten.add_.Tensor(b_n, x, alpha = 2)\n            return (x,)\n"
    ));
}

#[test]
fn logs_are_read_without_their_decoration() {
    let prefix =
        "V0801 12:30:01.123000 7 torch/_dynamo/output_graph.py:1377] [0/0] [__graph_code] ";
    let lines = [
        "TRACED GRAPH",
        " ===== __compiled_fn_1 =====",
        " class GraphModule(torch.nn.Module):",
        "    def forward(self, L_x_: \"\x1b[31mf32\x1b[0m\x1b[34m[2, 3]\x1b[0m[3, 1]cpu\"):",
        "        l_x_ = L_x_",
        "        ",
        "        # File: a.py:3 in f, code: return x + 1",
        "        add: \"f32[2, 3][3, 1]cpu\" = torch.ops.aten.add.Tensor(l_x_, 1);  l_x_ = None",
        "        return (add,)",
        "        ",
    ];
    let logged: String = lines.map(|line| format!("{prefix}{line}\n")).concat();
    let program = parse(&logged).unwrap();
    assert_eq!(program.graph.nodes.len(), 2);
    assert!(text::readable(&program).contains("# File: a.py:3 in f, code: return x + 1"));
}

#[test]
fn bare_words_of_the_listing() {
    let listing = "graph():
    %x : [num_users=1] = placeholder[target=x]
    %to : [num_users=0] = call_function[target=torch.ops.aten.to.device](args = (%x, cuda:1, torch.int64), kwargs = {memory_format: torch.preserve_format})
    %einsum : [num_users=0] = call_function[target=torch.ops.aten.einsum.default](args = (bi,ij->bj, [%x, %x]), kwargs = {})
    %_assert_scalar_default : [num_users=0] = call_function[target=torch.ops.aten._assert_scalar.default](args = (True, Runtime assertion failed for expression Eq(u0, 3) on node 'eq'), kwargs = {})
    %run : [num_users=0] = call_function[target=torch.ops.higher_order.with_effects](args = (%x, mylib.inc.default, cpu, -1e-05, (-0-1j), ), kwargs = {})
    return (x, 'a', None)


# inputs
x: USER_INPUT

# outputs
x: USER_OUTPUT
: USER_OUTPUT
: USER_OUTPUT
";
    let program = parse_fx(listing).unwrap();
    assert_eq!(
        text::fx(&program),
        listing.replace("[num_users=1]", "[num_users=4]")
    );
    let counts: Vec<_> = program
        .graph
        .nodes
        .iter()
        .map(|node| node.inputs.len())
        .collect();
    assert_eq!(counts, [0, 4, 2, 2, 6]);
}

#[track_caller]
fn check_error(text: &str, message: &str) {
    match parse(text) {
        Ok(_) => panic!("read: {text}"),
        Err(error) => assert_eq!(error.to_string(), message),
    }
}

fn body(line: &str) -> String {
    format!("def forward(self, x: \"f32[2]\"):\n    {line}\n    return (x,)\n")
}

#[test]
fn errors_say_where_and_what() {
    check_error(
        "nothing\n",
        "line 1, column 1: expected a program: `ExportedProgram:`, `class ...:`, \
         `def forward(...):` or `graph():`, found `nothing`",
    );
    for (line, message) in [
        (
            "y = torch.ops.aten.sin.default(z)",
            "line 2, column 36: `z` is used, and no line before defines it",
        ),
        (
            "x = torch.ops.aten.sin.default(x)",
            "line 2, column 5: `x` is defined twice",
        ),
        (
            "y = exec(x)",
            "line 2, column 9: `exec` is no function that an exported program can call",
        ),
        (
            "y = x[0]",
            "line 2, column 9: `x` is a single value and has no results to choose from",
        ),
        (
            "y: \"f33[2]\" = -x",
            "line 2, column 9: expected a dtype such as `f32`, or `Sym(`, found `f33[2]`",
        ),
        (
            "y = x ** ",
            "line 2, column 14: expected an argument, found the end of the line",
        ),
        (
            "y = f = g",
            "line 2, column 9: `f` is used, and no line before defines it",
        ),
        (
            "y = self.g",
            "line 1, column 1: no class `g` follows: the text of this nested graph is missing",
        ),
        (
            "y = torch.ops.a.b.c(k = 1, x)",
            "line 2, column 32: positional arguments stand before those with a name",
        ),
        ("!", "line 2, column 5: expected a statement, found `!`"),
    ] {
        check_error(&body(line), message);
    }
    check_error(
        "def forward(self, x):\n",
        "line 2, column 1: expected a statement, found the end",
    );
    let signature = |line: &str| format!("{}# inputs\n{line}\n", body("pass = None"));
    check_error(
        &signature("y: USER_INPUT"),
        "line 5, column 1: the signature has `y` where the graph has `no placeholder of this name`",
    );
    check_error(
        &signature("x: USER_INPUTS"),
        "line 5, column 1: expected a line `name: KIND` with a kind of input, found `x: USER_INPUTS`",
    );
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    let brackets = format!("y = torch.ops.a.b.c({}", "[".repeat(100_000));
    let error = parse(&body(&brackets)).unwrap_err();
    assert!(matches!(
        error.problem,
        ParseProblem::TooMany { limit: 16, .. }
    ));
    let classes: String = (0..1000)
        .map(|depth| {
            let indent = " ".repeat(depth);
            format!("{indent}class g(torch.nn.Module):\n{indent} def forward(self):\n{indent}  g = self.g\n{indent}  return ()\n")
        })
        .collect();
    let error = parse(&classes).unwrap_err();
    assert!(matches!(
        error.problem,
        ParseProblem::TooMany { limit: 64, .. }
    ));
    let far = body("y = torch.ops.a.b.c(x)\n    z = y[4294967295]");
    let error = parse(&far).unwrap_err();
    assert!(matches!(error.problem, ParseProblem::TooMany { .. }));
}

#[test]
fn a_text_cut_short_is_never_a_panic() {
    let full = full();
    let listing = text::fx(&parse(&full).unwrap());
    for text in [&full, &listing] {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let _read_or_not = parse(&text[..end]);
            let _read_or_not = parse(&text[end..]);
            // A character changed in the middle.
            let _read_or_not = parse(&format!(
                "{}({}",
                &text[..end],
                &text[(end + 1).min(text.len())..]
            ));
        }
    }
}
