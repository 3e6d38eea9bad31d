//! The FX listing: one line a node, `%add : [num_users=1] = call_function[target=...](...)`.

use std::fmt::{self, Write};

use super::ArgumentNames;
use super::argument::{ArgumentWriter, Style};
use super::value_names::ValueNames;
use crate::argument::{ArgumentKind, Input};
use crate::context::Context;
use crate::graph::{Graph, Node, Op};

/// Writes the listing of `graph`: `str(graph)`, without a newline at its end.
pub fn write_fx_graph(out: &mut dyn Write, context: &Context, graph: &Graph) -> fmt::Result {
    let user_counts = graph.user_counts();
    let names = ValueNames::own(context, graph);
    let arguments = ArgumentWriter {
        context,
        names: &names,
        style: Style::Listing,
    };
    let argument_names = ArgumentNames::of(context, graph);
    out.write_str("graph():")?;
    for (node, users) in graph.nodes.iter().zip(user_counts) {
        let name = context.names.get(node.name);
        write!(out, "\n    %{name} : [num_users={users}] = ")?;
        match node.op {
            Op::Placeholder => write!(out, "placeholder[target={}]", argument_names.get(node))?,
            _ => write_operation(out, graph, node, &arguments)?,
        }
    }
    write_return(out, context, graph, &names)
}

fn write_operation(
    out: &mut dyn Write,
    graph: &Graph,
    node: &Node,
    arguments: &ArgumentWriter<'_>,
) -> fmt::Result {
    let context = arguments.context;
    match node.op {
        Op::Placeholder => Ok(()),
        Op::GetAttr(nested) => {
            let target = graph
                .graphs
                .get(nested.0 as usize)
                .map_or("", |nested| context.names.get(nested.name));
            write!(out, "get_attr[target={target}]")
        }
        Op::GetItem(index) => {
            out.write_str("call_function[target=operator.getitem](args = (")?;
            for input in &node.inputs {
                arguments.write(out, &input.argument)?;
            }
            write!(out, ", {index}), kwargs = {{}})")
        }
        Op::Call(target) => {
            out.write_str("call_function[target=")?;
            write_target(out, context.target_name(target))?;
            out.write_str("](args = ")?;
            write_inputs(out, &node.inputs, arguments)?;
            out.write_char(')')
        }
    }
}

/// The archive says `_operator`, after the module that Python keeps these functions in; the
/// listing says `operator`.
fn write_target(out: &mut dyn Write, target: &str) -> fmt::Result {
    match target.strip_prefix("_operator.") {
        Some(function) => write!(out, "operator.{function}"),
        None => out.write_str(target),
    }
}

fn write_inputs(
    out: &mut dyn Write,
    inputs: &[Input],
    arguments: &ArgumentWriter<'_>,
) -> fmt::Result {
    let positional = inputs
        .iter()
        .take_while(|input| input.kind == ArgumentKind::Positional)
        .count();
    let (positional, keyword) = inputs.split_at(positional);
    arguments.write_tuple(out, positional.iter().map(|input| &input.argument))?;
    out.write_str(", kwargs = {")?;
    for (index, input) in keyword.iter().enumerate() {
        if index > 0 {
            out.write_str(", ")?;
        }
        write!(out, "{}: ", arguments.context.names.get(input.name))?;
        arguments.write(out, &input.argument)?;
    }
    out.write_char('}')
}

fn write_return(
    out: &mut dyn Write,
    context: &Context,
    graph: &Graph,
    names: &ValueNames<'_>,
) -> fmt::Result {
    let arguments = ArgumentWriter {
        context,
        names,
        style: Style::Repr,
    };
    out.write_str("\n    return ")?;
    match graph.outputs.as_slice() {
        [output] if graph.returns_bare_value => arguments.write(out, output),
        outputs => arguments.write_tuple(out, outputs.iter()),
    }
}
