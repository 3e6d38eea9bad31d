//! Annotations: what the text says of a value.
//!
//! | annotation | value |
//! | --- | --- |
//! | `f32[2, s77]` | a contiguous tensor on the CPU |
//! | `f32[2, 3][1, 2]` | with these strides |
//! | `f32[2, 3][3, 1]+4` | that begins at the storage's element 4; an expression is in brackets |
//! | `f32[2, 3][3, 1]cuda:0` | on another device |
//! | `Sym(s77 + 1)` | a symbolic number |

use std::collections::HashMap;

use super::cursor::{Cursor, is_identifier_character};
use super::error::ParseError;
use crate::context::Context;
use crate::dtype::{DType, Device, Layout};
use crate::symint::{Constant, SymError, SymExpr, SymExprId, SymExprs, SymInt};
use crate::value::{Dims, TensorMeta, Value};

/// Reads annotations; a network has few that differ.
#[derive(Debug, Default)]
pub(super) struct Annotations<'t> {
    known: HashMap<&'t str, Value>,
}

impl<'t> Annotations<'t> {
    /// Reads `: "f32[2]"`, if it comes next; nothing is known of a value that has none.
    pub(super) fn read(
        &mut self,
        cursor: &mut Cursor<'t>,
        context: &mut Context,
    ) -> Result<Value, ParseError> {
        let mut behind_colon = *cursor;
        behind_colon.skip_spaces();
        if !behind_colon.eat(":") {
            return Ok(Value::None);
        }
        behind_colon.skip_spaces();
        *cursor = behind_colon;
        if let Some(quote @ ('"' | '\'')) = cursor.peek() {
            cursor.next();
            let length = cursor.rest().find([quote, '\n']);
            let annotation = cursor.split_off(length.unwrap_or(cursor.rest().len()));
            if cursor.next() != Some(quote) {
                return Err(cursor.expected("the end of the annotation"));
            }
            return self.value(annotation, context);
        }
        let annotation = cursor.split_off(unquoted_length(cursor.rest()));
        self.value(annotation, context)
    }

    fn value(
        &mut self,
        annotation: Cursor<'t>,
        context: &mut Context,
    ) -> Result<Value, ParseError> {
        let text = annotation.rest();
        if let Some(known) = self.known.get(text) {
            return Ok(known.clone());
        }
        let value = read_value(annotation, context)?;
        self.known.insert(text, value.clone());
        Ok(value)
    }
}

/// Before torch 2.5 annotations had no quotes: one ends where the statement or the next argument
/// does.
fn unquoted_length(text: &str) -> usize {
    let mut depth = 0_usize;
    for (position, c) in text.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ')' if depth > 0 => depth -= 1,
            ')' | ',' | '=' if depth == 0 => return text[..position].trim_end().len(),
            '\n' => return position,
            _ => {}
        }
    }
    text.len()
}

fn read_value(mut cursor: Cursor<'_>, context: &mut Context) -> Result<Value, ParseError> {
    if cursor.eat("Sym(") {
        return read_symbolic(cursor, context);
    }
    let at_dtype = cursor;
    let dtype = DType::from_short_name(cursor.take_while(is_identifier_character));
    let dtype = dtype.ok_or_else(|| at_dtype.expected("a dtype such as `f32`, or `Sym(`"))?;
    let at_sizes = cursor;
    let sizes = read_dims(&mut cursor, context)?;
    let strides = if cursor.peek() == Some('[') {
        let strides = read_dims(&mut cursor, context)?;
        if strides.len() != sizes.len() {
            return Err(at_sizes.expected("as many sizes as strides"));
        }
        strides
    } else {
        contiguous_strides(&mut context.exprs, &sizes).map_err(|error| at_sizes.error(error))?
    };
    let storage_offset = match cursor.eat("+") {
        true => read_offset(&mut cursor, context)?,
        false => SymInt::Int(0),
    };
    let device = read_device(&mut cursor, context)?;
    if !cursor.is_at_end() {
        return Err(cursor.expected("the end of the annotation"));
    }
    Ok(Value::Tensor(context.metas.intern(TensorMeta {
        dtype,
        sizes,
        strides,
        storage_offset,
        layout: Layout::Strided,
        device,
        requires_grad: false,
    })))
}

/// `[2, s77 + 1, Max(1, u0)]`.
fn read_dims(cursor: &mut Cursor<'_>, context: &mut Context) -> Result<Dims, ParseError> {
    cursor.expect("[")?;
    let mut dims = Dims::new();
    if cursor.eat("]") {
        return Ok(dims);
    }
    loop {
        let length = expression_length(cursor.rest());
        dims.push(read_size(cursor.split_off(length), context)?);
        cursor.skip_spaces();
        if cursor.eat("]") {
            return Ok(dims);
        }
        cursor.expect(",")?;
        cursor.skip_spaces();
    }
}

/// Up to the comma or the bracket that ends a size.
fn expression_length(text: &str) -> usize {
    length_until(text, &[',', ']'])
}

/// Up to the bracket that was opened before `text`.
fn bracketed_length(text: &str) -> usize {
    length_until(text, &[')'])
}

/// Up to one of `ends` that does not stand in round brackets.
fn length_until(text: &str, ends: &[char]) -> usize {
    let mut depth = 0_usize;
    for (position, c) in text.char_indices() {
        match c {
            c if depth == 0 && ends.contains(&c) => return position,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

fn read_size(cursor: Cursor<'_>, context: &mut Context) -> Result<SymInt, ParseError> {
    let text = cursor.rest().trim();
    if let Ok(size) = text.parse() {
        return Ok(SymInt::Int(size));
    }
    let expr = context.exprs.parse_str(text);
    let expr = expr.map_err(|error| cursor.error(error))?;
    Ok(context.exprs.to_sym_int(expr))
}

/// A number, or an expression in brackets.
fn read_offset(cursor: &mut Cursor<'_>, context: &mut Context) -> Result<SymInt, ParseError> {
    if !cursor.eat("(") {
        let digits = cursor.rest().find(|c: char| !c.is_ascii_digit());
        return read_size(
            cursor.split_off(digits.unwrap_or(cursor.rest().len())),
            context,
        );
    }
    let length = bracketed_length(cursor.rest());
    let offset = read_size(cursor.split_off(length), context)?;
    cursor.expect(")")?;
    Ok(offset)
}

/// The rest of `Sym(...)`.
fn read_symbolic(mut cursor: Cursor<'_>, context: &mut Context) -> Result<Value, ParseError> {
    let length = cursor.rest().strip_suffix(')').map(str::len);
    let length = length.ok_or_else(|| cursor.expected("an expression and `)`"))?;
    let at_expression = cursor.split_off(length);
    let expr = context.exprs.parse_str(at_expression.rest());
    let expr = expr.map_err(|error| at_expression.error(error))?;
    Ok(symbolic_value(&context.exprs, expr))
}

fn symbolic_value(exprs: &SymExprs, expr: SymExprId) -> Value {
    match exprs.get(expr) {
        SymExpr::Call(function, _) if function.is_boolean() => Value::SymBool(expr),
        SymExpr::Constant(Constant::True | Constant::False) => Value::SymBool(expr),
        _ if exprs.is_integer(expr) => Value::SymInt(exprs.to_sym_int(expr)),
        _ => Value::SymFloat(expr),
    }
}

/// `cpu`, `cuda:0`; nothing means the CPU.
fn read_device(cursor: &mut Cursor<'_>, context: &mut Context) -> Result<Device, ParseError> {
    let kind = match cursor.identifier() {
        "" => "cpu",
        kind => kind,
    };
    let index = match cursor.eat(":") {
        true => {
            let at_index = *cursor;
            let index = cursor.take_while(|c| c.is_ascii_digit()).parse();
            Some(index.map_err(|_| at_index.expected("the device's index"))?)
        }
        false => None,
    };
    Ok(Device {
        kind: context.names.intern(kind),
        index,
    })
}

/// The strides of a contiguous tensor. torch steps over a dimension without elements as over one
/// that has one.
pub(in crate::text) fn contiguous_strides(
    exprs: &mut SymExprs,
    sizes: &[SymInt],
) -> Result<Dims, SymError> {
    let mut strides = Dims::from_elem(SymInt::Int(1), sizes.len());
    let mut stride = SymInt::Int(1);
    for (slot, size) in strides.iter_mut().zip(sizes).rev() {
        *slot = stride;
        let step = exprs.max(SymInt::Int(1), *size)?;
        stride = exprs.mul(stride, step)?;
    }
    Ok(strides)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Value, Context), ParseError> {
        let mut context = Context::default();
        let value = read_value(Cursor::new(text), &mut context)?;
        Ok((value, context))
    }

    #[track_caller]
    fn check_tensor(text: &str, sizes: &[&str], strides: &[&str], offset: &str, device: &str) {
        let (value, context) = read(text).unwrap();
        let meta = context.meta(value.as_tensor().unwrap());
        let show = |dims: &[SymInt]| -> Vec<String> {
            dims.iter()
                .map(|dim| context.exprs.display_size(*dim))
                .collect()
        };
        assert_eq!(show(&meta.sizes), sizes);
        assert_eq!(show(&meta.strides), strides);
        assert_eq!(context.exprs.display_size(meta.storage_offset), offset);
        assert_eq!(context.names.get(meta.device.kind), device);
    }

    #[test]
    fn tensors() {
        check_tensor("f32[]", &[], &[], "0", "cpu");
        check_tensor(
            "bf16[2, 0, 3]",
            &["2", "0", "3"],
            &["3", "3", "1"],
            "0",
            "cpu",
        );
        check_tensor("f32[2, 3][1, 2]", &["2", "3"], &["1", "2"], "0", "cpu");
        check_tensor("f32[2][3]+4cuda:1", &["2"], &["3"], "4", "cuda");
        check_tensor("f32[2][1]+(s77 + 1)", &["2"], &["1"], "s77 + 1", "cpu");
        check_tensor(
            "f64[s77 - 1, s77, 3]",
            &["s77 - 1", "s77", "3"],
            &["3*s77", "3", "1"],
            "0",
            "cpu",
        );
        check_tensor(
            "f32[2, Max(1, u0)]",
            &["2", "Max(1, u0)"],
            &["Max(1, u0)", "1"],
            "0",
            "cpu",
        );
    }

    #[test]
    fn symbolic_numbers() {
        let kinds = ["Sym(s77 + 1)", "Sym(u0 >= 2)", "Sym(zf0)", "Sym(3)"].map(|text| {
            let (value, _) = read(text).unwrap();
            match value {
                Value::SymInt(SymInt::Expr(_)) => "integer",
                Value::SymInt(SymInt::Int(3)) => "three",
                Value::SymBool(_) => "boolean",
                Value::SymFloat(_) => "float",
                other => panic!("{other:?}"),
            }
        });
        assert_eq!(kinds, ["integer", "boolean", "float", "three"]);
    }

    #[test]
    fn what_is_wrong_is_named_where_it_is() {
        for (text, column) in [
            ("f33[2]", 1),
            ("f32", 4),
            ("f32[2", 6),
            ("f32[2, ]", 8),
            ("f32[2][1, 1]", 4),
            ("f32[2]cuda:x", 12),
            ("f32[2] ", 7),
            ("Sym(s0", 5),
            ("f32[9223372036854775807, 4, 9223372036854775807]", 4),
        ] {
            let error = read(text).map(|_| ()).unwrap_err();
            assert_eq!((error.line, error.column), (1, column), "{text}: {error}");
        }
    }
}
