//! One line of a `forward`: `add: "f32[2]" = torch.ops.aten.add.Tensor(x, y);  x = None`.

use super::annotation::Annotations;
use super::argument::{ArgumentReader, Style};
use super::cursor::{Cursor, is_identifier_character};
use super::error::{ParseError, ParseProblem};
use super::graph::{GraphBuilder, positional};
use super::literal;
use crate::argument::{Argument, Input};
use crate::context::Context;
use crate::graph::Op;
use crate::text::notation::{INFIX, PREFIX};

/// Python's builtins that torch calls on symbolic numbers.
const BUILTINS: [&str; 11] = [
    "abs", "bool", "divmod", "float", "int", "len", "max", "min", "pow", "round", "sum",
];

/// Reads statements into a graph.
pub(super) struct StatementReader<'r, 't> {
    pub(super) context: &'r mut Context,
    pub(super) annotations: &'r mut Annotations<'t>,
    pub(super) builder: &'r mut GraphBuilder<'t>,
}

/// What stands behind `name = `.
enum Expression {
    /// A new value.
    Node(Op, Box<[Input]>),
    /// Another name of a value.
    Alias(Argument),
    /// `None`: the deletion of a value, on a line of its own.
    Deletion,
}

impl<'t> StatementReader<'_, 't> {
    /// Reads one line. Whether it was the `return`, which is a function's last.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'t>) -> Result<bool, ParseError> {
        let at_name = *cursor;
        let name = cursor.identifier();
        if name.is_empty() {
            return Err(cursor.expected("a statement"));
        }
        if name == "return" {
            cursor.skip_spaces();
            let returned = self.arguments().argument(cursor)?;
            self.end(cursor)?;
            self.builder.set_outputs(returned);
            return Ok(true);
        }
        let value = self.annotations.read(cursor, self.context)?;
        cursor.skip_spaces();
        cursor.expect("=")?;
        cursor.skip_spaces();
        let result = match self.expression(cursor)? {
            Expression::Node(op, inputs) => {
                let node = self.builder.define(self.context, name, op, inputs, value);
                node.map(|_| ())
            }
            Expression::Alias(Argument::Node(node)) => self.builder.bind(name, node),
            Expression::Alias(_) | Expression::Deletion => Ok(()),
        };
        result.map_err(|problem| at_name.error(problem))?;
        self.end(cursor)?;
        Ok(false)
    }

    /// Deletions and comments may follow a statement; they say nothing of the program.
    fn end(&self, cursor: &mut Cursor<'t>) -> Result<(), ParseError> {
        cursor.skip_spaces();
        if cursor.eat(";") || cursor.eat("#") {
            cursor.take_line();
            return Ok(());
        }
        cursor.end_line()
    }

    fn arguments(&mut self) -> ArgumentReader<'_, 't> {
        ArgumentReader::new(self.context, self.builder, Style::Source)
    }

    fn expression(&mut self, cursor: &mut Cursor<'t>) -> Result<Expression, ParseError> {
        if cursor.eat("getattr(self, ") {
            return self.attribute_by_text(cursor);
        }
        if let Some(prefixed) = self.prefixed(cursor)? {
            return Ok(prefixed);
        }
        let at_name = *cursor;
        let name = cursor.dotted_name();
        match cursor.peek() {
            Some('(') if !name.is_empty() => self.call(cursor, &at_name, name),
            Some('[') if !name.is_empty() => self.getitem(cursor, &at_name, name),
            _ => match name.strip_prefix("self.") {
                Some(name) if !name.contains('.') => {
                    let graph = self.builder.attribute(self.context, name);
                    Ok(Expression::Node(Op::GetAttr(graph), Box::default()))
                }
                _ => {
                    *cursor = at_name;
                    self.infix_or_alias(cursor)
                }
            },
        }
    }

    /// The rest of `getattr(self, "0")`: torch does not escape what stands there.
    fn attribute_by_text(&mut self, cursor: &mut Cursor<'t>) -> Result<Expression, ParseError> {
        cursor.expect("\"")?;
        let length = cursor.rest().find(['"', '\n']);
        let name = cursor.take(length.unwrap_or(0));
        cursor.expect("\")")?;
        let graph = self.builder.attribute(self.context, name);
        Ok(Expression::Node(Op::GetAttr(graph), Box::default()))
    }

    /// `-x`: a sign before a name.
    fn prefixed(&mut self, cursor: &mut Cursor<'t>) -> Result<Option<Expression>, ParseError> {
        let start = *cursor;
        let Some((function, _)) = PREFIX.iter().find(|(_, sign)| cursor.eat(sign)) else {
            return Ok(None);
        };
        if literal::number(&mut start.clone())?.is_some() {
            *cursor = start;
            return Ok(None);
        }
        let operand = self.arguments().argument(cursor)?;
        self.operation(function, vec![operand]).map(Some)
    }

    fn operation(
        &mut self,
        function: &str,
        operands: Vec<Argument>,
    ) -> Result<Expression, ParseError> {
        let target = self.context.target(&format!("_operator.{function}"));
        let inputs = positional(self.context, operands);
        Ok(Expression::Node(Op::Call(target), inputs))
    }

    fn call(
        &mut self,
        cursor: &mut Cursor<'t>,
        at_name: &Cursor<'t>,
        name: &'t str,
    ) -> Result<Expression, ParseError> {
        let target = full_name(name).ok_or_else(|| {
            let name = name.to_owned();
            at_name.error(ParseProblem::UnknownFunction { name })
        })?;
        let target = self.context.target(&target);
        cursor.expect("(")?;
        let inputs = self.arguments().call(cursor)?;
        Ok(Expression::Node(Op::Call(target), inputs))
    }

    /// `split[1]`.
    fn getitem(
        &mut self,
        cursor: &mut Cursor<'t>,
        at_name: &Cursor<'t>,
        name: &'t str,
    ) -> Result<Expression, ParseError> {
        let at = |problem| at_name.error(problem);
        let of = self.builder.find(name).map_err(at)?;
        let inputs = self.builder.getitem_inputs(self.context, of).map_err(at)?;
        cursor.expect("[")?;
        let at_index = *cursor;
        let index = cursor.take_while(|c| c.is_ascii_digit()).parse();
        let index = index.map_err(|_| at_index.expected("the index of a result"))?;
        cursor.expect("]")?;
        Ok(Expression::Node(Op::GetItem(index), inputs))
    }

    /// `a + b`, or a value by itself.
    fn infix_or_alias(&mut self, cursor: &mut Cursor<'t>) -> Result<Expression, ParseError> {
        let left = self.arguments().argument(cursor)?;
        cursor.skip_spaces();
        let is_sign = |c: char| !c.is_whitespace() && !is_identifier_character(c) && c != ';';
        let at_sign = *cursor;
        let sign = match cursor.peek() {
            Some('#') => "",
            _ => cursor.take_while(is_sign),
        };
        if sign.is_empty() {
            return Ok(match left {
                Argument::None => Expression::Deletion,
                left @ Argument::Node(_) => Expression::Alias(left),
                _ => return Err(cursor.expected("an operator of Python")),
            });
        }
        let function = INFIX.iter().find(|(_, known)| *known == sign);
        let (function, _) = function.ok_or_else(|| at_sign.expected("an operator of Python"))?;
        cursor.skip_spaces();
        let right = self.arguments().argument(cursor)?;
        self.operation(function, vec![left, right])
    }
}

/// The full name of a function that is called by `name`: torch calls those of other modules by
/// a name without points.
pub(super) fn full_name(name: &str) -> Option<String> {
    if BUILTINS.contains(&name) {
        return Some(format!("builtins.{name}"));
    }
    if let Some(function) = name.strip_prefix("operator.") {
        return Some(format!("_operator.{function}"));
    }
    if name.contains('.') {
        let modules = ["torch.", "_operator.", "math.", "builtins."];
        let is_known = modules.iter().any(|module| name.starts_with(module));
        return is_known.then(|| name.to_owned());
    }
    let of_module = |(prefix, module): &(&str, &str)| {
        let function = name.strip_prefix(prefix)?;
        Some(format!("{module}.{function}"))
    };
    [("_operator_", "_operator"), ("math_", "math")]
        .iter()
        .find_map(of_module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_by_their_full_names() {
        for (name, full) in [
            ("torch.sym_max", Some("torch.sym_max")),
            ("math_trunc", Some("math.trunc")),
            ("round", Some("builtins.round")),
            ("operator.mul", Some("_operator.mul")),
            ("_operator_index", Some("_operator.index")),
            ("exec", None),
            ("os.system", None),
        ] {
            assert_eq!(full_name(name).as_deref(), full);
        }
    }
}
