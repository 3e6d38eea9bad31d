//! The ranges of symbols at the end of the readable form: `Range constraints: {s77: VR[4, 64]}`.
//!
//! An archive may hold ranges of symbols that no value of the program has, left from tracing.
//! torch's loader drops those.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Write};

use rustc_hash::FxHashSet;

use crate::context::Context;
use crate::graph::Graph;
use crate::program::{ExportedProgram, RangeConstraint};
use crate::symint::{SymExpr, SymExprId, SymInt};
use crate::value::{TensorMetaId, Value};

/// Writes the line, with its newline.
pub(super) fn write_ranges(out: &mut dyn Write, program: &ExportedProgram) -> fmt::Result {
    let names = &program.context.names;
    let known = known_expressions(program);
    let is_known = |range: &&RangeConstraint| known.contains(names.get(range.symbol));
    out.write_str("Range constraints: {")?;
    for (index, range) in program
        .range_constraints
        .iter()
        .filter(is_known)
        .enumerate()
    {
        if index > 0 {
            out.write_str(", ")?;
        }
        write!(out, "{}: VR[", names.get(range.symbol))?;
        match range.min {
            Some(min) => write!(out, "{min}, ")?,
            None => out.write_str("-int_oo, ")?,
        }
        match range.max {
            Some(max) => write!(out, "{max}]")?,
            None => out.write_str("int_oo]")?,
        }
    }
    out.write_str("}\n")
}

/// The symbols that the program's values have, and, if ranges of expressions are to be found,
/// all expressions of which they are made.
fn known_expressions(program: &ExportedProgram) -> HashSet<Cow<'_, str>> {
    let ExportedProgram {
        context,
        graph,
        range_constraints: ranges,
        ..
    } = program;
    if ranges.is_empty() {
        return HashSet::new();
    }
    let exprs = &context.exprs;
    let is_symbol = |range: &RangeConstraint| {
        let name = context.names.get(range.symbol);
        exprs.find_symbol(name).is_some()
    };
    let wants_expressions = !ranges.iter().all(is_symbol);
    let mut visited = FxHashSet::default();
    let mut known = HashSet::new();
    let mut pending = value_expressions(context, graph);
    while let Some(id) = pending.pop() {
        if !visited.insert(id) {
            continue;
        }
        match exprs.get(id) {
            SymExpr::Symbol(symbol) => {
                known.insert(exprs.symbol_name(*symbol).into());
            }
            SymExpr::Call(_, arguments) => {
                pending.extend(arguments);
                if wants_expressions {
                    known.insert(exprs.display(id).into());
                }
            }
            _ => {}
        }
    }
    known
}

/// The expressions in the values of all nodes, nested graphs included.
fn value_expressions(context: &Context, graph: &Graph) -> Vec<SymExprId> {
    let mut found = Vec::new();
    let mut metas: FxHashSet<TensorMetaId> = FxHashSet::default();
    let mut graphs = vec![graph];
    let mut values = Vec::new();
    while let Some(graph) = graphs.pop() {
        graphs.extend(graph.graphs.iter().map(|nested| &nested.graph));
        values.extend(graph.nodes.iter().map(|node| &node.value));
        while let Some(value) = values.pop() {
            match value {
                Value::Tensor(meta) if metas.insert(*meta) => {
                    // The loader does not look at the storage offset.
                    let meta = context.meta(*meta);
                    let dims = meta.sizes.iter().chain(&meta.strides);
                    found.extend(dims.filter_map(|dim| dim.as_expr()));
                }
                Value::SymInt(SymInt::Expr(expr))
                | Value::SymFloat(expr)
                | Value::SymBool(expr) => found.push(*expr),
                Value::Tuple(items) | Value::List(items) => values.extend(items),
                _ => {}
            }
        }
    }
    found
}
