//! Programs that are long, deep, or lie about themselves: an error or a program, never a panic.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use graven::{Registry, Stats, functionalize, text};

fn run(source: &str) -> Result<Stats, String> {
    let mut program = text::parse(source).map_err(|error| error.to_string())?;
    let stats = functionalize(&mut program, &Registry::aten()).map_err(|error| error.to_string());
    // Whatever it is, it can be printed.
    let _ = text::readable(&program);
    stats
}

#[test]
fn a_write_through_thousands_of_views() {
    let mut source = String::from("def forward(self, x: \"f32[4]\"):\n");
    let mut last = "x".to_owned();
    for index in 0..5000 {
        let name = format!("view_{}", index + 1);
        let _ = writeln!(
            source,
            "    {name}: \"f32[2, 2]\" = torch.ops.aten.view.default({last}, [2, 2])"
        );
        last = name;
    }
    let _ = writeln!(
        source,
        "    add_: \"f32[2, 2]\" = torch.ops.aten.add_.Tensor({last}, 1)\n    return (x,)"
    );
    assert!(run(&source).is_ok());
}

#[test]
fn a_long_chain_of_writes_through_views() {
    let mut source = String::from("def forward(self, x: \"f32[8]\"):\n");
    for index in 1..=20_000 {
        let _ = writeln!(
            source,
            "    slice_{index}: \"f32[4]\" = torch.ops.aten.slice.Tensor(x, 0, 0, 4)\n    \
             add__{index}: \"f32[4]\" = torch.ops.aten.add_.Tensor(slice_{index}, 1)"
        );
    }
    source += "    return (x,)\n";
    let stats = run(&source).unwrap();
    assert_eq!(stats.nodes_before, 40_001);
    assert!(stats.nodes_after < 120_000, "{stats:?}");
}

#[test]
fn metadata_that_lies() {
    const HUGE: &str = "9223372036854775807";
    for (view, annotation) in [
        ("slice.Tensor(x, 0, 1, 3)", "f32[7]"),
        ("slice.Tensor(x, 0, 1, 3)", "f32[2, 2, 2]"),
        ("slice.Tensor(x, 9, 1, 3)", "f32[2]"),
        ("slice.Tensor(x, -9, 1, 3)", "f32[2]"),
        ("slice.Tensor(x, 0, 3, 1)", "f32[2]"),
        ("slice.Tensor(x, 0, 0, 4, 0)", "f32[2]"),
        ("select.int(x, 0, 99)", "f32[]"),
        ("select.int(x, 0, -99)", "f32[]"),
        ("view.default(x, [-1, -1])", "f32[2, 2]"),
        ("view.default(x, [3])", "f32[3]"),
        ("view.default(x, [0, -1])", "f32[0, 0]"),
        ("permute.default(x, [0, 0])", "f32[4, 4]"),
        ("permute.default(x, [5])", "f32[4]"),
        ("transpose.int(x, 0, 7)", "f32[4]"),
        ("expand.default(x, [])", "f32[]"),
        ("expand.default(x, [2, 9])", "f32[2, 9]"),
        ("unfold.default(x, 0, 9, 1)", "f32[0, 9]"),
        ("unfold.default(x, 0, 2, 0)", "f32[3, 2]"),
        ("unfold.default(x, 0, -2, -1)", "f32[3, 2]"),
        ("diagonal.default(x, 0, 0, 0)", "f32[4]"),
        ("as_strided.default(x, [2], [-1])", "f32[2][-1]"),
        ("as_strided.default(x, [9], [1])", "f32[9]"),
        ("as_strided.default(x, [4], [1], -3)", "f32[4]"),
        ("squeeze.dim(x, 4)", "f32[4]"),
        ("unsqueeze.default(x, -9)", "f32[4, 1]"),
        ("view_as_real.default(x)", "f32[4, 2]"),
        ("view.dtype(x, torch.complex128)", "c128[1]"),
    ] {
        let write = |annotation: &str| {
            format!(
                "def forward(self, x: \"f32[4]\"):\n    \
                 v: \"{annotation}\" = torch.ops.aten.{view}\n    \
                 w: \"{annotation}\" = torch.ops.aten.mul_.Tensor(v, 2)\n    \
                 add: \"f32[4]\" = torch.ops.aten.add.Tensor(x, 1)\n    return (add, v)\n"
            )
        };
        let _ = run(&write(annotation));
        let _ = run(&write(&format!("f32[{HUGE}, {HUGE}]")));
        let _ = run(&write("f32[0]"));
        let _ = run(&write(&format!("f32[{HUGE}][{HUGE}]")));
        let _ = run(&view_of_huge(view));
    }
}

/// A view of an input that no memory could hold.
fn view_of_huge(view: &str) -> String {
    format!(
        "def forward(self, x: \"f32[4294967296, 4294967296, 4294967296]\"):\n    \
         v: \"f32[4294967296, 4294967296]\" = torch.ops.aten.{view}\n    \
         w: \"f32[4294967296, 4294967296]\" = torch.ops.aten.zero_.default(v)\n    return (v,)\n"
    )
}

#[test]
fn calls_that_do_not_fit_their_schemas() {
    for call in [
        "add_.Tensor(x)",
        "add_.Tensor()",
        "add_.Tensor(x, 1, 2, 3)",
        "add_.Tensor(x, 1, beta = 2)",
        "add_.Tensor(1, x)",
        "copy_.default(x, 'text')",
        "slice.Tensor(x, 'a', 'b')",
        "index_put_.default(x, x, x)",
        "_foreach_add_.List(x, x)",
        "split.Tensor(x, 0)",
    ] {
        let source = format!(
            "def forward(self, x: \"f32[4]\"):\n    \
             v: \"f32[4]\" = torch.ops.aten.{call}\n    return (v,)\n"
        );
        let _ = run(&source);
    }
    let error = run("def forward(self, x: \"f32[4]\"):\n    \
         v: \"f32[4]\" = torch.ops.aten.add_.Tensor(x, 1, beta = 2)\n    return (v,)\n")
    .unwrap_err();
    assert!(
        error.contains("aten::add_.Tensor(") && error.contains("`beta`"),
        "{error}"
    );
    assert!(error.contains("at node `v`"), "{error}");
}
