//! The signature and the ranges of symbols, as text.
//!
//! The text may say less than torch prints: an input that it does not name is a user input, and
//! without a block of outputs all outputs are the user's.

use std::collections::HashMap;

use super::cursor::Cursor;
use super::error::{ParseError, ParseProblem};
use super::literal;
use crate::argument::Argument;
use crate::context::Context;
use crate::graph::Graph;
use crate::program::RangeConstraint;
use crate::signature::{GraphSignature, InputKind, InputSpec, OutputKind, OutputSpec};
use crate::text::ArgumentNames;
use crate::value::Value;

const INPUT_KINDS: [InputKind; 6] = [
    InputKind::UserInput,
    InputKind::Parameter,
    InputKind::Buffer,
    InputKind::ConstantTensor,
    InputKind::CustomObj,
    InputKind::Token,
];

const OUTPUT_KINDS: [OutputKind; 8] = [
    OutputKind::UserOutput,
    OutputKind::LossOutput,
    OutputKind::BufferMutation,
    OutputKind::ParameterMutation,
    OutputKind::UserInputMutation,
    OutputKind::GradientToParameter,
    OutputKind::GradientToUserInput,
    OutputKind::Token,
];

/// One line, such as `b_n: BUFFER target='n' persistent=True`.
#[derive(Debug)]
struct Line<'t, Spec> {
    at: Cursor<'t>,
    name: &'t str,
    spec: Spec,
}

/// The lines of a signature.
#[derive(Debug, Default)]
pub(super) struct SignatureLines<'t> {
    inputs: Vec<Line<'t, InputSpec>>,
    /// Empty where the text says nothing of outputs.
    outputs: Vec<Line<'t, OutputSpec>>,
    pub(super) range_constraints: Vec<RangeConstraint>,
}

/// Which block a line stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    None,
    Inputs,
    Outputs,
}

impl<'t> SignatureLines<'t> {
    /// Reads all that is left of the text.
    pub(super) fn read(cursor: &mut Cursor<'t>, context: &mut Context) -> Result<Self, ParseError> {
        let mut lines = Self::default();
        let mut block = Block::None;
        while !cursor.is_at_end() {
            cursor.skip_spaces();
            let mut line = *cursor;
            let text = cursor.take_line().trim_end();
            let mut line = line.split_off(text.len());
            match (text, block) {
                ("", _) | ("Graph signature:", _) => {}
                ("# inputs", _) => block = Block::Inputs,
                ("# outputs", _) => block = Block::Outputs,
                _ if line.eat("Range constraints:") => {
                    lines.range_constraints = read_ranges(line, context)?;
                    block = Block::None;
                }
                (_, Block::Inputs) => lines.inputs.push(read_input(line, context)?),
                (_, Block::Outputs) => lines.outputs.push(read_output(line, context)?),
                (_, Block::None) => {
                    let blocks = "`# inputs`, `# outputs` or `Range constraints:`";
                    return Err(line.expected(blocks));
                }
            }
        }
        Ok(lines)
    }

    /// The signature of `graph`. What the signature says of an input's value is added to it.
    pub(super) fn fit(
        self,
        context: &Context,
        graph: &mut Graph,
    ) -> Result<GraphSignature, ParseError> {
        Ok(GraphSignature {
            inputs: fit_inputs(self.inputs, context, graph)?,
            outputs: fit_outputs(self.outputs, context, graph)?,
        })
    }
}

fn fit_inputs(
    lines: Vec<Line<'_, InputSpec>>,
    context: &Context,
    graph: &mut Graph,
) -> Result<Vec<InputSpec>, ParseError> {
    let mut by_name: HashMap<&str, Line<'_, InputSpec>> = HashMap::with_capacity(lines.len());
    for line in lines {
        let (at, name) = (line.at, line.name);
        if by_name.insert(name, line).is_some() {
            let name = name.to_owned();
            return Err(at.error(ParseProblem::DefinedTwice { name }));
        }
    }
    let names = ArgumentNames::of(context, graph);
    let names: Vec<&str> = graph
        .placeholders()
        .map(|(_, node)| names.get(node))
        .collect();
    let mut specs = Vec::with_capacity(names.len());
    // Placeholders come first: each has a name.
    for (node, name) in graph.nodes.iter_mut().zip(names) {
        let spec = by_name.remove(name).map_or(USER_INPUT, |line| line.spec);
        if spec.kind == InputKind::Token {
            node.value = Value::Token;
        }
        specs.push(spec);
    }
    // The first line that no placeholder took.
    match by_name.into_values().min_by_key(|line| line.at.position()) {
        None => Ok(specs),
        Some(line) => Err(line.at.error(ParseProblem::Signature {
            name: line.name.to_owned(),
            in_graph: "no placeholder of this name".to_owned(),
        })),
    }
}

const USER_INPUT: InputSpec = InputSpec {
    kind: InputKind::UserInput,
    target: None,
    persistent: None,
    constant: None,
};

fn fit_outputs(
    lines: Vec<Line<'_, OutputSpec>>,
    context: &Context,
    graph: &Graph,
) -> Result<Vec<OutputSpec>, ParseError> {
    let Some(last) = lines.last().map(|line| line.at) else {
        let user_output = OutputSpec {
            kind: OutputKind::UserOutput,
            target: None,
        };
        return Ok(vec![user_output; graph.outputs.len()]);
    };
    let name_of = |output: &Argument| {
        let node = graph.nodes.get(output.as_node()?.index())?;
        Some(context.names.get(node.name))
    };
    let mut outputs = graph
        .outputs
        .iter()
        .map(|output| name_of(output).unwrap_or(""));
    let mut specs = Vec::with_capacity(lines.len());
    for line in lines {
        let in_graph = outputs.next();
        if in_graph != Some(line.name) {
            return Err(line.at.error(ParseProblem::Signature {
                name: line.name.to_owned(),
                in_graph: in_graph.unwrap_or("no more outputs").to_owned(),
            }));
        }
        specs.push(line.spec);
    }
    match outputs.next() {
        None => Ok(specs),
        Some(name) => Err(last.error(ParseProblem::Signature {
            name: "no more outputs".to_owned(),
            in_graph: name.to_owned(),
        })),
    }
}

/// Takes `name: KIND`.
fn read_name<'t>(cursor: &mut Cursor<'t>) -> Result<(&'t str, &'t str), ParseError> {
    let length = cursor.rest().find(": ");
    let length = length.ok_or_else(|| cursor.expected("`name: KIND`"))?;
    let name = cursor.take(length);
    cursor.expect(": ")?;
    let kind = cursor.take_while(|c| c.is_ascii_uppercase() || c == '_');
    Ok((name, kind))
}

/// Takes ` target='...'`, if that comes next. The text has no escapes: what it says ends at the
/// last quote.
fn read_target(
    cursor: &mut Cursor<'_>,
    context: &mut Context,
) -> Result<Option<crate::names::NameId>, ParseError> {
    if !cursor.eat(" target='") {
        return Ok(None);
    }
    let length = cursor.rest().rfind('\'');
    let length = length.ok_or_else(|| cursor.expected("a target and `'`"))?;
    let target = context.names.intern(cursor.take(length));
    cursor.expect("'")?;
    Ok(Some(target))
}

fn read_input<'t>(
    mut cursor: Cursor<'t>,
    context: &mut Context,
) -> Result<Line<'t, InputSpec>, ParseError> {
    let at = cursor;
    let (name, kind) = read_name(&mut cursor)?;
    let kind = INPUT_KINDS
        .into_iter()
        .find(|known| known.torch_name() == kind);
    let kind = kind.ok_or_else(|| at.expected("a line `name: KIND` with a kind of input"))?;
    let target = read_target(&mut cursor, context)?;
    let persistent = if cursor.eat(" persistent=True") {
        Some(true)
    } else if cursor.eat(" persistent=False") {
        Some(false)
    } else {
        None
    };
    if kind == InputKind::Buffer && persistent.is_none() {
        return Err(cursor.expected("` persistent=True` or ` persistent=False`"));
    }
    cursor.end_line()?;
    let spec = InputSpec {
        kind,
        target,
        persistent,
        constant: None,
    };
    Ok(Line { at, name, spec })
}

fn read_output<'t>(
    mut cursor: Cursor<'t>,
    context: &mut Context,
) -> Result<Line<'t, OutputSpec>, ParseError> {
    let at = cursor;
    let (name, kind) = read_name(&mut cursor)?;
    let kind = OUTPUT_KINDS
        .into_iter()
        .find(|known| known.torch_name() == kind);
    let kind = kind.ok_or_else(|| at.expected("a line `name: KIND` with a kind of output"))?;
    let target = read_target(&mut cursor, context)?;
    cursor.end_line()?;
    let spec = OutputSpec { kind, target };
    Ok(Line { at, name, spec })
}

/// ` {s77: VR[4, 64], u0: VR[0, int_oo]}`.
fn read_ranges(
    mut cursor: Cursor<'_>,
    context: &mut Context,
) -> Result<Vec<RangeConstraint>, ParseError> {
    cursor.skip_spaces();
    cursor.expect("{")?;
    let mut ranges = Vec::new();
    while !cursor.eat("}") {
        if !ranges.is_empty() {
            cursor.expect(", ")?;
        }
        let length = cursor.rest().find(": VR[");
        let length = length.ok_or_else(|| cursor.expected("`symbol: VR[least, greatest]`"))?;
        let symbol = context.names.intern(cursor.take(length));
        cursor.expect(": VR[")?;
        let min = read_bound(&mut cursor)?;
        cursor.expect(", ")?;
        let max = read_bound(&mut cursor)?;
        cursor.expect("]")?;
        ranges.push(RangeConstraint { symbol, min, max });
    }
    cursor.end_line()?;
    Ok(ranges)
}

/// An end of a range; `None` for no bound.
fn read_bound(cursor: &mut Cursor<'_>) -> Result<Option<i64>, ParseError> {
    if cursor.eat("int_oo") || cursor.eat("-int_oo") {
        return Ok(None);
    }
    match literal::number(cursor)? {
        Some(literal::Number::Int(value)) => Ok(Some(value)),
        _ => Err(cursor.expected("an integer, `int_oo` or `-int_oo`")),
    }
}
