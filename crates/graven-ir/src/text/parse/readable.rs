//! The readable form: classes, each with one `forward`.

use std::collections::HashMap;

use super::annotation::Annotations;
use super::comment;
use super::cursor::Cursor;
use super::error::{ParseError, ParseProblem};
use super::graph::{GraphBuilder, UnreadResults};
use super::signature::SignatureLines;
use super::statement::StatementReader;
use crate::context::Context;
use crate::graph::{Graph, GraphId, NestedGraph, Op};
use crate::program::ExportedProgram;

/// How deep graphs may be nested.
const MAX_NESTED_GRAPHS: usize = 64;

/// Reads a program; the cursor stands at its first line.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<ExportedProgram, ParseError> {
    let mut context = Context::default();
    let classes = ClassesReader {
        context: &mut context,
        annotations: Annotations::default(),
        unread: UnreadResults::default(),
        classes: Vec::new(),
        open: Vec::new(),
    }
    .read(cursor)?;
    let lines = SignatureLines::read(cursor, &mut context)?;
    let mut graph = assemble(&mut context, classes)?;
    let range_constraints = lines.range_constraints.clone();
    let signature = lines.fit(&context, &mut graph)?;
    Ok(ExportedProgram {
        context,
        graph,
        signature,
        range_constraints,
        ..ExportedProgram::default()
    })
}

/// A graph whose nested graphs are still apart from it.
struct Class<'t> {
    at: Cursor<'t>,
    name: &'t str,
    /// The class around it, by its position; a class comes before those nested in it.
    parent: Option<usize>,
    indentation: usize,
    graph: Graph,
    attributes: HashMap<&'t str, GraphId>,
}

struct ClassesReader<'c, 't> {
    context: &'c mut Context,
    annotations: Annotations<'t>,
    unread: UnreadResults,
    classes: Vec<Class<'t>>,
    /// The classes around the next line, outermost first.
    open: Vec<usize>,
}

impl<'t> ClassesReader<'_, 't> {
    fn read(mut self, cursor: &mut Cursor<'t>) -> Result<Vec<Class<'t>>, ParseError> {
        skip_empty_lines(cursor);
        cursor.eat("ExportedProgram:");
        loop {
            skip_empty_lines(cursor);
            let line_start = *cursor;
            cursor.skip_spaces();
            let indentation = cursor.position() - line_start.position();
            let rest = cursor.rest();
            if rest.starts_with("class ") {
                let at = *cursor;
                let name = class_name(cursor)?;
                skip_empty_lines(cursor);
                cursor.skip_spaces();
                self.class(cursor, at, name, indentation)?;
            } else if self.classes.is_empty() {
                // A lone function is a whole program too.
                self.class(cursor, *cursor, "GraphModule", indentation)?;
            } else if is_end(rest) {
                return Ok(self.classes);
            } else {
                return Err(cursor.expected("a nested class or the signature"));
            }
        }
    }

    fn class(
        &mut self,
        cursor: &mut Cursor<'t>,
        at: Cursor<'t>,
        name: &'t str,
        indentation: usize,
    ) -> Result<(), ParseError> {
        // The first class holds all others, however they are indented.
        while let [_, .., last] = self.open[..]
            && self.classes[last].indentation >= indentation
        {
            self.open.pop();
        }
        if self.open.len() >= MAX_NESTED_GRAPHS {
            let (what, limit) = ("graphs inside one another", MAX_NESTED_GRAPHS);
            return Err(at.error(ParseProblem::TooMany { what, limit }));
        }
        let (graph, attributes) = self.function(cursor)?;
        let parent = self.open.last().copied();
        self.open.push(self.classes.len());
        self.classes.push(Class {
            at,
            name,
            parent,
            indentation,
            graph,
            attributes,
        });
        Ok(())
    }

    fn function(
        &mut self,
        cursor: &mut Cursor<'t>,
    ) -> Result<(Graph, HashMap<&'t str, GraphId>), ParseError> {
        let mut builder = GraphBuilder::default();
        self.header(cursor, &mut builder)?;
        loop {
            skip_empty_lines(cursor);
            cursor.skip_spaces();
            let at = *cursor;
            if cursor.eat("#") {
                let comment = cursor.take_line();
                if let Some(metadata) = comment::metadata(self.context, comment) {
                    builder.metadata = metadata;
                }
                continue;
            }
            let mut statements = StatementReader {
                context: &mut *self.context,
                annotations: &mut self.annotations,
                builder: &mut builder,
            };
            if statements.read(cursor)? {
                let finished = builder.finish(&mut self.unread);
                return finished.map_err(|problem| at.error(problem));
            }
        }
    }

    /// `def forward(self, x: "f32[2]", n: "Sym(s0)"):`
    fn header(
        &mut self,
        cursor: &mut Cursor<'t>,
        builder: &mut GraphBuilder<'t>,
    ) -> Result<(), ParseError> {
        cursor.expect("def forward(")?;
        cursor.skip_blank();
        cursor.expect("self")?;
        loop {
            cursor.skip_blank();
            if cursor.eat(")") {
                break;
            }
            cursor.expect(",")?;
            cursor.skip_blank();
            if cursor.eat(")") {
                break;
            }
            let at_name = *cursor;
            let name = cursor.identifier();
            if name.is_empty() {
                return Err(cursor.expected("the name of an argument"));
            }
            let value = self.annotations.read(cursor, self.context)?;
            builder
                .define(self.context, name, Op::Placeholder, Box::default(), value)
                .map_err(|problem| at_name.error(problem))?;
        }
        cursor.expect(":")?;
        cursor.end_line()
    }
}

fn skip_empty_lines(cursor: &mut Cursor<'_>) {
    loop {
        let mut ahead = *cursor;
        ahead.take_while(|c| c == ' ' || c == '\t' || c == '\r');
        if !ahead.eat("\n") {
            return;
        }
        *cursor = ahead;
    }
}

/// Whether the classes end here.
fn is_end(rest: &str) -> bool {
    let ends = [
        "Graph signature:",
        "Range constraints:",
        "# inputs",
        "# outputs",
    ];
    rest.is_empty() || ends.iter().any(|end| rest.starts_with(end))
}

/// `class true_graph_0(torch.nn.Module):`
fn class_name<'t>(cursor: &mut Cursor<'t>) -> Result<&'t str, ParseError> {
    cursor.expect("class ")?;
    let length = cursor.rest().find(['(', '\n']);
    let name = cursor.take(length.unwrap_or(0));
    cursor.expect("(torch.nn.Module):")?;
    cursor.end_line()?;
    Ok(name)
}

/// Puts the nested graphs into those around them.
fn assemble(context: &mut Context, mut classes: Vec<Class<'_>>) -> Result<Graph, ParseError> {
    while let Some(class) = classes.pop() {
        // The classes nested in this one came after it: they are in their places.
        if let Some(name) = class.attributes.keys().min() {
            let name = (*name).to_owned();
            return Err(class.at.error(ParseProblem::MissingGraph { name }));
        }
        let Some(parent) = class.parent.and_then(|parent| classes.get_mut(parent)) else {
            return Ok(class.graph);
        };
        let graphs = &mut parent.graph.graphs;
        match parent.attributes.remove(class.name) {
            Some(id) => {
                if let Some(nested) = graphs.get_mut(id.0 as usize) {
                    nested.graph = class.graph;
                }
            }
            None => {
                let name = context.names.intern(class.name);
                if graphs.iter().any(|nested| nested.name == name) {
                    let name = class.name.to_owned();
                    return Err(class.at.error(ParseProblem::DefinedTwice { name }));
                }
                graphs.push(NestedGraph {
                    name,
                    graph: class.graph,
                });
            }
        }
    }
    Ok(Graph::default())
}
