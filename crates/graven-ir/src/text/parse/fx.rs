//! The FX listing: one line a node.
//!
//! The listing says nothing of values, and of nested graphs only their names.

use super::argument::{ArgumentReader, Style, Words};
use super::cursor::{Cursor, is_identifier_character};
use super::error::{ParseError, ParseProblem};
use super::graph::{GraphBuilder, UnreadResults};
use super::signature::SignatureLines;
use super::statement::full_name;
use crate::argument::Argument;
use crate::context::Context;
use crate::graph::Op;
use crate::program::ExportedProgram;
use crate::value::Value;

/// Reads a listing and the signature behind it.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<ExportedProgram, ParseError> {
    let mut context = Context::default();
    let mut builder = GraphBuilder::default();
    cursor.skip_blank();
    let start = *cursor;
    cursor.expect("graph():")?;
    cursor.end_line()?;
    loop {
        cursor.skip_blank();
        if cursor.eat("return ") {
            let returned =
                ArgumentReader::new(&mut context, &builder, Style::Source).argument(cursor)?;
            cursor.end_line()?;
            builder.set_outputs(returned);
            break;
        }
        read_node(cursor, &mut context, &mut builder)?;
    }
    let finished = builder.finish(&mut UnreadResults::default());
    let (mut graph, _) = finished.map_err(|problem| start.error(problem))?;
    let lines = SignatureLines::read(cursor, &mut context)?;
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

/// `%add : [num_users=1] = call_function[target=...](args = (...), kwargs = {})`
fn read_node<'t>(
    cursor: &mut Cursor<'t>,
    context: &mut Context,
    builder: &mut GraphBuilder<'t>,
) -> Result<(), ParseError> {
    cursor.expect("%")?;
    let at_name = *cursor;
    let name = cursor.take_while(is_identifier_character);
    cursor.expect(" : ")?;
    skip_users(cursor)?;
    let (op, inputs) = if cursor.eat("placeholder[target=") {
        let argument = cursor.take_while(|c| c != ']' && c != '\n');
        cursor.expect("]")?;
        builder.set_argument_name(context, name, argument);
        (Op::Placeholder, Box::default())
    } else if cursor.eat("get_attr[target=") {
        let attribute = cursor.take_while(|c| c != ']' && c != '\n');
        cursor.expect("]")?;
        (
            Op::GetAttr(builder.attribute(context, attribute)),
            Box::default(),
        )
    } else if cursor.eat("call_function[target=") {
        read_call(cursor, context, builder)?
    } else {
        return Err(cursor.expected("`placeholder[`, `get_attr[` or `call_function[`"));
    };
    cursor.end_line()?;
    builder
        .define(context, name, op, inputs, Value::None)
        .map_err(|problem| at_name.error(problem))?;
    Ok(())
}

/// `[num_users=1] = `; a type may stand before it, and old listings say `[#users=1]`.
fn skip_users(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    let line = cursor.rest().lines().next().unwrap_or_default();
    let users = ["[num_users=", "[#users="];
    let start = users.iter().find_map(|users| line.find(users));
    let start = start.ok_or_else(|| cursor.expected("`[num_users=`"))?;
    cursor.take(start);
    cursor.take_while(|c| c != ']' && c != '\n');
    cursor.expect("] = ")
}

fn read_call<'t>(
    cursor: &mut Cursor<'t>,
    context: &mut Context,
    builder: &GraphBuilder<'t>,
) -> Result<(Op, Box<[crate::argument::Input]>), ParseError> {
    let at_target = *cursor;
    let target = cursor.dotted_name();
    if target.is_empty() {
        return Err(cursor.expected("a target"));
    }
    cursor.expect("](")?;
    let words = match target.starts_with("torch.ops.higher_order.") {
        true => Words::HigherOrder,
        false => Words::Plain,
    };
    let at_arguments = *cursor;
    let mut arguments = ArgumentReader::new(context, builder, Style::Listing(words));
    let inputs = arguments.listed_call(cursor)?;
    cursor.expect(")")?;
    if target == "operator.getitem" {
        return match &*inputs {
            [of, index] => {
                let at = |problem: ParseProblem| at_arguments.error(problem);
                let (of, index) = getitem(&of.argument, &index.argument)
                    .ok_or_else(|| at_arguments.expected("a value and the index of a result"))?;
                let inputs = builder.getitem_inputs(context, of).map_err(at)?;
                Ok((Op::GetItem(index), inputs))
            }
            _ => Err(at_arguments.expected("a value and an index")),
        };
    }
    let name = full_name(target).ok_or_else(|| {
        let name = target.to_owned();
        at_target.error(ParseProblem::UnknownFunction { name })
    })?;
    Ok((Op::Call(context.target(&name)), inputs))
}

fn getitem(of: &Argument, index: &Argument) -> Option<(crate::graph::NodeId, u32)> {
    Some((of.as_node()?, u32::try_from(index.as_int()?).ok()?))
}
