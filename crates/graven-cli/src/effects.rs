//! `graven effects`: what a program does to its parameters, buffers and inputs.

use comfy_table::Table;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use graven::{InputEffects, InputKind};

use crate::arguments::Effects;
use crate::output::{self, Failure};

pub(crate) fn run(arguments: &Effects) -> Result<(), Failure> {
    let registry = output::registry(&arguments.operators)?;
    let program = output::load(&arguments.file, &registry)?;
    let report = graven::effects(&program, &registry).map_err(|source| Failure::Functionalize {
        path: arguments.file.clone(),
        source,
    })?;
    if arguments.json {
        return output::print(&(json(&report).to_string() + "\n"));
    }
    output::print(&table(&report))
}

fn kind(kind: InputKind) -> &'static str {
    match kind {
        InputKind::UserInput => "user input",
        InputKind::Parameter => "parameter",
        InputKind::Buffer => "buffer",
        InputKind::ConstantTensor => "constant",
        InputKind::CustomObj => "object",
        InputKind::Token => "token",
    }
}

fn table(report: &[InputEffects]) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY);
    table.set_header([
        "name",
        "kind",
        "effect",
        "written by",
        "carried by",
        "shares storage with",
    ]);
    for input in report {
        let name = input.target.as_deref().unwrap_or(&input.name);
        let carrier = input.carried_by.as_ref();
        let carrier =
            carrier.map(|carrier| format!("{} → {}", carrier.value, kind_name(carrier.kind)));
        table.add_row([
            name.to_owned(),
            kind(input.kind).to_owned(),
            effect(input).to_owned(),
            written_by(input),
            carrier.unwrap_or_default(),
            input.shares_storage_with.join(", "),
        ]);
    }
    format!("{table}\n")
}

fn effect(input: &InputEffects) -> &'static str {
    match (input.is_read, input.writes.is_empty()) {
        (true, true) => "read",
        (true, false) => "read, written",
        (false, false) => "written",
        (false, true) => "unused",
    }
}

/// One paragraph for each write: operator, view chain, node, source line.
fn written_by(input: &InputEffects) -> String {
    let paragraphs = input.writes.iter().map(|write| {
        let mut text = short(&write.operator).to_owned();
        if !write.view_chain.is_empty() {
            let chain: Vec<&str> = write
                .view_chain
                .iter()
                .map(|operator| short(operator))
                .collect();
            text += &format!(" through {}", chain.join(" → "));
        }
        text += &format!(" (`{}`)", write.node);
        if let Some(line) = &write.source_line {
            text += &format!("\n  {line}");
        }
        text
    });
    paragraphs.collect::<Vec<_>>().join("\n")
}

fn short(operator: &str) -> &str {
    operator.strip_prefix("torch.ops.").unwrap_or(operator)
}

fn kind_name(kind: graven::OutputKind) -> &'static str {
    kind.torch_name()
}

fn json(report: &[InputEffects]) -> serde_json::Value {
    let writes = |input: &InputEffects| -> Vec<serde_json::Value> {
        let write = |write: &graven::Write| {
            serde_json::json!({
                "node": write.node,
                "operator": write.operator,
                "view_chain": write.view_chain,
                "source_line": write.source_line,
                "changes_metadata": write.changes_metadata,
            })
        };
        input.writes.iter().map(write).collect()
    };
    let entries = report.iter().map(|input| {
        let carrier = input.carried_by.as_ref();
        serde_json::json!({
            "name": input.name,
            "kind": kind(input.kind),
            "target": input.target,
            "read": input.is_read,
            "written": !input.writes.is_empty(),
            "writes": writes(input),
            "shares_storage_with": input.shares_storage_with,
            "carried_by": carrier.map(|carrier| serde_json::json!({
                "value": carrier.value,
                "kind": kind_name(carrier.kind),
                "target": carrier.target,
            })),
        })
    });
    entries.collect()
}
