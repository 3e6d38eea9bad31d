//! The readable form: the program as Python source, `str(ep)`.
//!
//! Each graph is a class with a `forward`; nested graphs follow as nested classes. A value is
//! deleted after its last use, and a comment tells the source line wherever it changes.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write};

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::annotation;
use super::argument::{ArgumentWriter, NodeNames, Style};
use super::namespace::{Namespace, is_identifier, is_reserved};
use super::print_signature::write_signature_indented;
use super::source_line::SourceLine;
use crate::argument::{Argument, ArgumentKind};
use crate::context::{Context, MetadataId, TargetId};
use crate::graph::{Graph, GraphId, Node, NodeId, Op};
use crate::names::NameId;
use crate::program::{ExportedProgram, RangeConstraint};
use crate::symint::SymInt;
use crate::value::Value;

/// One step of indentation. torch indents even the empty lines of a program by this much.
const INDENT: &str = "    ";

/// Writes `str(ep)`; it ends with a newline.
pub fn write_readable(out: &mut dyn Write, program: &ExportedProgram) -> fmt::Result {
    out.write_str("ExportedProgram:\n")?;
    write_classes(out, &program.context, &program.graph)?;
    out.write_str("Graph signature:")?;
    write_signature_indented(out, program, INDENT)?;
    out.write_char('\n')?;
    write_ranges(out, &program.context, &program.range_constraints)
}

fn write_ranges(out: &mut dyn Write, context: &Context, ranges: &[RangeConstraint]) -> fmt::Result {
    out.write_str("Range constraints: {")?;
    for (index, range) in ranges.iter().enumerate() {
        if index > 0 {
            out.write_str(", ")?;
        }
        write!(out, "{}: VR[", context.names.get(range.symbol))?;
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

/// A graph to be written as a class.
struct Class<'a> {
    name: &'a str,
    graph: &'a Graph,
    depth: usize,
}

/// Writes `graph` and, after it, the graphs nested in it.
fn write_classes(out: &mut dyn Write, context: &Context, graph: &Graph) -> fmt::Result {
    let mut pending = vec![Class {
        name: "GraphModule",
        graph,
        depth: 1,
    }];
    while let Some(class) = pending.pop() {
        write_indent(out, class.depth)?;
        writeln!(out, "class {}(torch.nn.Module):", class.name)?;
        ForwardWriter::new(context, class.graph, class.depth + 1).write(out)?;
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

/// The names that the nodes of one graph have in source.
struct SourceNames<'a>(Vec<Cow<'a, str>>);

impl NodeNames for SourceNames<'_> {
    fn name(&self, node: NodeId) -> &str {
        self.0.get(node.index()).map_or("", |name| name)
    }
}

/// Writes the `forward` of one graph.
struct ForwardWriter<'a> {
    context: &'a Context,
    graph: &'a Graph,
    depth: usize,
    names: SourceNames<'a>,
    /// Functions outside torch by the names that they have here.
    functions: HashMap<TargetId, Cow<'a, str>>,
    /// The position of each node's last user; the output comes after all nodes.
    last_uses: Vec<Option<usize>>,
    /// Whether a line of the body has been written.
    has_lines: bool,
}

impl<'a> ForwardWriter<'a> {
    fn new(context: &'a Context, graph: &'a Graph, depth: usize) -> Self {
        let (names, functions) = source_names(context, graph);
        Self {
            context,
            graph,
            depth,
            names,
            functions,
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
            write!(out, ", {}", self.context.names.get(node.name))?;
            self.write_annotation(out, &node.value)?;
        }
        out.write_str("):\n")
    }

    /// A placeholder keeps its name as an argument, and gets another if no value may have it.
    fn write_renamed_placeholders(&mut self, out: &mut dyn Write) -> fmt::Result {
        for (id, node) in self.graph.placeholders() {
            let argument = self.context.names.get(node.name);
            if self.names.name(id) != argument {
                self.begin_line(out)?;
                writeln!(out, "{} = {argument}", self.names.name(id))?;
            }
        }
        Ok(())
    }

    fn write_comment(&self, out: &mut dyn Write, comments: &Comments<'_>) -> fmt::Result {
        if self.has_lines {
            writeln!(out, "{INDENT}")?;
        }
        write_indent(out, self.depth + 1)?;
        comments.write(out)
    }

    fn arguments(&self, style: Style) -> ArgumentWriter<'_, SourceNames<'a>> {
        ArgumentWriter {
            context: self.context,
            names: &self.names,
            style,
        }
    }

    fn write_node(&self, out: &mut dyn Write, id: NodeId, node: &Node) -> fmt::Result {
        out.write_str(self.names.name(id))?;
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
        match self.functions.get(&target) {
            Some(name) => out.write_str(name)?,
            None => out.write_str(name)?,
        }
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
                write!(out, ": \"{}[", meta.dtype.short_name())?;
                for (index, size) in meta.sizes.iter().enumerate() {
                    if index > 0 {
                        out.write_str(", ")?;
                    }
                    match size {
                        SymInt::Int(size) => write!(out, "{size}")?,
                        SymInt::Expr(size) => write!(out, "{}", exprs.display(*size))?,
                    }
                }
                out.write_str("]\"")
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
            write!(out, "{} = ", self.names.name(id))?;
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

/// Names nodes and functions in the order in which torch comes to them.
fn source_names<'a>(
    context: &'a Context,
    graph: &'a Graph,
) -> (SourceNames<'a>, HashMap<TargetId, Cow<'a, str>>) {
    if let Some(names) = own_names(context, graph) {
        return (SourceNames(names), HashMap::new());
    }
    let mut namespace = Namespace::for_source();
    let mut functions = HashMap::new();
    let mut names = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        if let Some(target) = outside_function(context, node) {
            let name = function_name(context.target_name(target));
            functions
                .entry(target)
                .or_insert_with(|| namespace.name_function(name));
        }
        names.push(namespace.name_value(context.names.get(node.name)));
    }
    (SourceNames(names), functions)
}

/// The nodes' own names, when each can have its own in source, as is the rule.
fn own_names<'a>(context: &'a Context, graph: &'a Graph) -> Option<Vec<Cow<'a, str>>> {
    let mut seen = FxHashSet::default();
    graph
        .nodes
        .iter()
        .map(|node| {
            let name = context.names.get(node.name);
            let is_free = is_identifier(name)
                && !is_reserved(name)
                && seen.insert(node.name)
                && outside_function(context, node).is_none();
            is_free.then_some(Cow::Borrowed(name))
        })
        .collect()
}

/// The function that a node calls, when it is called by a name given here.
fn outside_function(context: &Context, node: &Node) -> Option<TargetId> {
    let Op::Call(target) = node.op else {
        return None;
    };
    let name = context.target_name(target);
    let is_named = !is_of_torch(name) && Notation::of(name, node.inputs.len()).is_none();
    is_named.then_some(target)
}

/// Whether a function is called by its full name.
fn is_of_torch(target: &str) -> bool {
    let outside = ["torch._dynamo.", "torch._inductor."];
    let is_module_nested = |prefix: &&str| {
        target
            .strip_prefix(*prefix)
            .is_some_and(|rest| rest.contains('.'))
    };
    target.starts_with("torch.") && !outside.iter().any(is_module_nested)
}

/// Builtins are called without their module.
fn function_name(target: &str) -> &str {
    target.strip_prefix("builtins.").unwrap_or(target)
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

/// How a function of Python's `operator` module is written.
enum Notation {
    Prefix(&'static str),
    Infix(&'static str),
}

impl Notation {
    /// The notation of `target`, when it has one and is given as many arguments as that takes.
    fn of(target: &str, arguments: usize) -> Option<Self> {
        let function = target.strip_prefix("_operator.")?;
        let prefix = match function {
            "pos" => Some("+"),
            "neg" => Some("-"),
            "invert" => Some("~"),
            _ => None,
        };
        match (prefix, arguments) {
            (Some(prefix), 1) => Some(Self::Prefix(prefix)),
            (None, 2) => infix(function).map(Self::Infix),
            _ => None,
        }
    }

    fn write<N: NodeNames>(
        &self,
        out: &mut dyn Write,
        node: &Node,
        arguments: &ArgumentWriter<'_, N>,
    ) -> fmt::Result {
        match self {
            Self::Prefix(sign) => out.write_str(sign)?,
            Self::Infix(_) => {}
        }
        for (index, input) in node.inputs.iter().enumerate() {
            if let (Self::Infix(sign), 1..) = (self, index) {
                write!(out, " {sign} ")?;
            }
            arguments.write(out, &input.argument)?;
        }
        Ok(())
    }
}

fn infix(function: &str) -> Option<&'static str> {
    Some(match function {
        "eq" => "==",
        "ne" => "!=",
        "lt" => "<",
        "gt" => ">",
        "le" => "<=",
        "ge" => ">=",
        "add" => "+",
        "sub" => "-",
        "mul" => "*",
        "floordiv" => "//",
        "truediv" | "div" => "/",
        "mod" => "%",
        "pow" => "**",
        "lshift" => "<<",
        "rshift" => ">>",
        "and_" => "&",
        "or_" => "|",
        "xor" => "^",
        "matmul" => "@",
        _ => return None,
    })
}

/// Follows the source lines of one graph's nodes.
struct Comments<'a> {
    context: &'a Context,
    stack_trace: Option<NameId>,
    custom: Option<NameId>,
    current: Option<(MetadataId, Comment<'a>)>,
}

/// What a comment says.
#[derive(PartialEq, Eq)]
struct Comment<'a> {
    annotation: Option<String>,
    source_line: Option<SourceLine<'a>>,
}

impl<'a> Comments<'a> {
    fn new(context: &'a Context) -> Self {
        Self {
            context,
            stack_trace: context.names.find("stack_trace"),
            custom: context.names.find("custom"),
            current: None,
        }
    }

    /// Goes on to a node with this metadata. Whether its comment differs from the one before.
    fn advance(&mut self, metadata: MetadataId) -> bool {
        if self.current.as_ref().is_some_and(|(id, _)| *id == metadata) {
            return false;
        }
        let entries = self.context.metadata(metadata);
        let text = |key: Option<NameId>| {
            let value = entries.get(key?)?;
            Some(self.context.names.get(value))
        };
        let comment = Comment {
            annotation: text(self.custom).and_then(annotation::from_json),
            source_line: text(self.stack_trace).and_then(SourceLine::innermost),
        };
        let is_new = self
            .current
            .as_ref()
            .is_none_or(|(_, current)| *current != comment);
        self.current = Some((metadata, comment));
        is_new
    }

    fn write(&self, out: &mut dyn Write) -> fmt::Result {
        let Some((_, comment)) = &self.current else {
            return Ok(());
        };
        out.write_char('#')?;
        if let Some(annotation) = &comment.annotation {
            write!(out, " Annotation: {annotation}")?;
        }
        match &comment.source_line {
            Some(line) => writeln!(out, " {line}"),
            None => writeln!(out, " No stacktrace found for following nodes"),
        }
    }
}
