//! The readable form: the program as Python source, `str(ep)`.
//!
//! Each graph is a class with a `forward`; nested graphs follow as nested classes. A value is
//! deleted after its last use, and a comment tells the source line wherever it changes.

use std::collections::HashSet;
use std::fmt::{self, Write};

use smallvec::SmallVec;

use super::ArgumentNames;
use super::argument::{ArgumentWriter, Style};
use super::comments::Comments;
use super::notation::Notation;
use super::print_ranges::write_ranges;
use super::print_signature::write_signature_indented;
use super::readable_options::{
    Comments as CommentsOption, Deletions, ReadableOptions, ShownGeometry, write_dims,
};
use super::value_names::ValueNames;
use crate::argument::{Argument, ArgumentKind};
use crate::context::{Context, TargetId};
use crate::fx_names::is_identifier;
use crate::graph::{Graph, GraphId, Node, NodeId, Op};
use crate::names::NameId;
use crate::program::ExportedProgram;
use crate::symint::SymInt;
use crate::value::Value;

/// One step of indentation. torch indents even the empty lines of a program by this much.
const INDENT: &str = "    ";

/// Writes `str(ep)`; it ends with a newline.
pub fn write_readable(out: &mut dyn Write, program: &ExportedProgram) -> fmt::Result {
    write_readable_with(out, program, ReadableOptions::default())
}

/// Writes the readable form as the options say; it ends with a newline.
pub fn write_readable_with(
    out: &mut dyn Write,
    program: &ExportedProgram,
    options: ReadableOptions,
) -> fmt::Result {
    out.write_str("ExportedProgram:\n")?;
    write_classes(out, &program.context, &program.graph, options)?;
    out.write_str("Graph signature:")?;
    write_signature_indented(out, program, INDENT)?;
    out.write_char('\n')?;
    write_ranges(out, program)
}

/// A graph to be written as a class.
struct Class<'a> {
    name: &'a str,
    graph: &'a Graph,
    depth: usize,
}

/// Writes `graph` and, after it, the graphs nested in it.
fn write_classes(
    out: &mut dyn Write,
    context: &Context,
    graph: &Graph,
    options: ReadableOptions,
) -> fmt::Result {
    let style = ForwardStyle {
        options,
        geometry: ShownGeometry::of(context, graph, options.strides),
    };
    let mut pending = vec![Class {
        name: "GraphModule",
        graph,
        depth: 1,
    }];
    while let Some(class) = pending.pop() {
        write_indent(out, class.depth)?;
        writeln!(out, "class {}(torch.nn.Module):", class.name)?;
        ForwardWriter::new(context, class.graph, class.depth + 1, &style).write(out)?;
        writeln!(out, "{INDENT}")?;
        let nested = pending.len();
        pending.extend(attributes(class.graph).map(|(name, graph)| Class {
            name: context.names.get(name),
            graph,
            depth: class.depth + 1,
        }));
        pending[nested..].reverse();
    }
    Ok(())
}

/// The nested graphs as attributes of a module: each name once, where it is first used.
fn attributes(graph: &Graph) -> impl Iterator<Item = (NameId, &Graph)> {
    let mut seen = HashSet::new();
    graph.iter().filter_map(move |(_, node)| {
        let Op::GetAttr(id) = node.op else {
            return None;
        };
        let nested = graph.graphs.get(id.0 as usize)?;
        seen.insert(nested.name)
            .then_some((nested.name, &nested.graph))
    })
}

fn write_indent(out: &mut dyn Write, depth: usize) -> fmt::Result {
    (0..depth).try_for_each(|_| out.write_str(INDENT))
}

/// What is printed of all graphs of a program.
struct ForwardStyle {
    options: ReadableOptions,
    geometry: ShownGeometry,
}

/// Writes the `forward` of one graph.
struct ForwardWriter<'a> {
    style: &'a ForwardStyle,
    context: &'a Context,
    graph: &'a Graph,
    depth: usize,
    names: ValueNames<'a>,
    argument_names: ArgumentNames<'a>,
    /// The position of each node's last user; the output comes after all nodes.
    last_uses: Vec<Option<usize>>,
    /// Whether a line of the body has been written.
    has_lines: bool,
}

impl<'a> ForwardWriter<'a> {
    fn new(context: &'a Context, graph: &'a Graph, depth: usize, style: &'a ForwardStyle) -> Self {
        Self {
            style,
            context,
            graph,
            depth,
            names: ValueNames::in_source(context, graph),
            argument_names: ArgumentNames::of(context, graph),
            last_uses: last_uses(graph),
            has_lines: false,
        }
    }

    fn write(mut self, out: &mut dyn Write) -> fmt::Result {
        self.write_header(out)?;
        self.write_renamed_placeholders(out)?;
        let mut comments = Comments::new(self.context);
        for (id, node) in self.graph.iter() {
            if node.op == Op::Placeholder {
                continue;
            }
            if comments.advance(node.metadata) {
                self.write_comment(out, &comments)?;
            }
            self.begin_line(out)?;
            self.write_node(out, id, node)?;
            self.write_deletions(out, id, node)?;
            out.write_char('\n')?;
        }
        self.write_return(out)
    }

    fn begin_line(&mut self, out: &mut dyn Write) -> fmt::Result {
        self.has_lines = true;
        write_indent(out, self.depth + 1)
    }

    fn write_header(&self, out: &mut dyn Write) -> fmt::Result {
        write_indent(out, self.depth)?;
        out.write_str("def forward(self")?;
        for (_, node) in self.graph.placeholders() {
            write!(out, ", {}", self.argument_names.get(node))?;
            self.write_annotation(out, &node.value)?;
        }
        out.write_str("):\n")
    }

    /// A placeholder keeps its name as an argument, and gets another if no value may have it.
    fn write_renamed_placeholders(&mut self, out: &mut dyn Write) -> fmt::Result {
        for (id, node) in self.graph.placeholders() {
            let argument = self.argument_names.get(node);
            if self.names.value(id) != argument {
                self.begin_line(out)?;
                writeln!(out, "{} = {argument}", self.names.value(id))?;
            }
        }
        Ok(())
    }

    fn write_comment(&self, out: &mut dyn Write, comments: &Comments<'_>) -> fmt::Result {
        if self.style.options.comments == CommentsOption::Hidden {
            return Ok(());
        }
        if self.has_lines {
            writeln!(out, "{INDENT}")?;
        }
        write_indent(out, self.depth + 1)?;
        comments.write(out)
    }

    fn arguments(&self, style: Style) -> ArgumentWriter<'_> {
        ArgumentWriter {
            context: self.context,
            names: &self.names,
            style,
        }
    }

    fn write_node(&self, out: &mut dyn Write, id: NodeId, node: &Node) -> fmt::Result {
        out.write_str(self.names.value(id))?;
        self.write_annotation(out, &node.value)?;
        out.write_str(" = ")?;
        match node.op {
            Op::Placeholder => Ok(()),
            Op::GetAttr(nested) => self.write_attribute(out, nested),
            Op::GetItem(index) => {
                for input in &node.inputs {
                    self.arguments(Style::Source).write(out, &input.argument)?;
                }
                write!(out, "[{index}]")
            }
            Op::Call(target) => self.write_call(out, node, target),
        }
    }

    fn write_attribute(&self, out: &mut dyn Write, nested: GraphId) -> fmt::Result {
        let name = self
            .graph
            .graphs
            .get(nested.0 as usize)
            .map_or("", |nested| self.context.names.get(nested.name));
        if is_identifier(name) {
            write!(out, "self.{name}")
        } else {
            write!(out, "getattr(self, \"{name}\")")
        }
    }

    fn write_call(&self, out: &mut dyn Write, node: &Node, target: TargetId) -> fmt::Result {
        let arguments = self.arguments(Style::Source);
        let name = self.context.target_name(target);
        if let Some(notation) = Notation::of(name, node.inputs.len()) {
            return notation.write(out, node, &arguments);
        }
        out.write_str(self.names.function(target))?;
        out.write_char('(')?;
        for (index, input) in node.inputs.iter().enumerate() {
            if index > 0 {
                out.write_str(", ")?;
            }
            if input.kind == ArgumentKind::Keyword {
                write!(out, "{} = ", self.context.names.get(input.name))?;
            }
            arguments.write(out, &input.argument)?;
        }
        out.write_char(')')
    }

    /// `: "f32[s77, 3]"`, `: "Sym(s77 + 1)"`, or nothing.
    fn write_annotation(&self, out: &mut dyn Write, value: &Value) -> fmt::Result {
        let exprs = &self.context.exprs;
        match value {
            Value::Tensor(meta) => {
                let meta = self.context.meta(*meta);
                write!(out, ": \"{}", meta.dtype.short_name())?;
                write_dims(out, exprs, &meta.sizes)?;
                self.style.geometry.write(out, self.context, value)?;
                out.write_char('"')
            }
            Value::SymInt(SymInt::Expr(expr)) | Value::SymFloat(expr) | Value::SymBool(expr) => {
                write!(out, ": \"Sym({})\"", exprs.display(*expr))
            }
            // An effect token is an empty tensor to torch.
            Value::Token => out.write_str(": \"f32[0]\""),
            _ => Ok(()),
        }
    }

    /// `;  x = None` for the values that are used here for the last time, and for this one if
    /// it is never used.
    fn write_deletions(&mut self, out: &mut dyn Write, id: NodeId, node: &Node) -> fmt::Result {
        if self.style.options.deletions == Deletions::Hidden {
            return Ok(());
        }
        let mut deleted: SmallVec<[NodeId; 8]> = SmallVec::new();
        for input in &node.inputs {
            input.argument.for_each_node(&mut |used| {
                let last_use = self.last_uses.get_mut(used.index());
                // Taken, so that a second use by this node does not count again.
                if let Some(last_use) = last_use
                    && last_use.take_if(|user| *user == id.index()).is_some()
                {
                    deleted.push(used);
                }
            });
        }
        if self.last_uses[id.index()].is_none() {
            deleted.push(id);
        }
        if deleted.is_empty() {
            return Ok(());
        }
        out.write_str(";  ")?;
        for id in deleted {
            write!(out, "{} = ", self.names.value(id))?;
        }
        out.write_str("None")
    }

    fn write_return(&mut self, out: &mut dyn Write) -> fmt::Result {
        self.begin_line(out)?;
        out.write_str("return ")?;
        let arguments = self.arguments(Style::Source);
        match self.graph.outputs.as_slice() {
            [output] if self.graph.returns_bare_value => arguments.write(out, output)?,
            outputs => arguments.write_tuple(out, outputs.iter())?,
        }
        out.write_char('\n')
    }
}

/// The position of each node's last user.
fn last_uses(graph: &Graph) -> Vec<Option<usize>> {
    let mut last_uses = vec![None; graph.nodes.len()];
    let mut visit = |user: usize, argument: &Argument| {
        argument.for_each_node(&mut |used| {
            if let Some(last_use) = last_uses.get_mut(used.index()) {
                *last_use = Some(user);
            }
        });
    };
    for (id, node) in graph.iter() {
        for input in &node.inputs {
            visit(id.index(), &input.argument);
        }
    }
    for output in &graph.outputs {
        visit(graph.nodes.len(), output);
    }
    last_uses
}
