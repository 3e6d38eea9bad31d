//! Arguments, in the three ways in which torch prints them.

use super::cursor::{Cursor, is_identifier_character};
use super::error::{ParseError, ParseProblem};
use super::graph::GraphBuilder;
use super::literal::{self, Number};
use crate::argument::{Argument, ArgumentKind, Input, ListKind};
use crate::context::Context;
use crate::dtype::{DType, Device, Layout, MemoryFormat};
use crate::names::NameId;
use crate::value::Value;

/// How deep lists, tuples and mappings may be nested in an argument.
const MAX_NESTING: usize = 16;

/// Kinds of devices, by which a bare word of the listing is known to be one.
const DEVICES: [&str; 12] = [
    "cpu",
    "cuda",
    "meta",
    "mps",
    "xpu",
    "hpu",
    "mtia",
    "xla",
    "npu",
    "ipu",
    "privateuseone",
    "vulkan",
];

/// What a bare word of the listing may be besides a number or a constant of torch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Words {
    /// Arguments of an operator with a schema: strings and devices.
    Plain,
    /// Arguments of a higher-order operator: strings and operators.
    HigherOrder,
}

/// How arguments are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    /// In the listing: `%name`, strings and devices bare.
    Listing(Words),
    /// As Python source: names bare, strings in quotes. The listing's `return` is so too.
    Source,
}

/// Reads arguments.
pub(super) struct ArgumentReader<'a, 't> {
    pub(super) context: &'a mut Context,
    pub(super) graph: &'a GraphBuilder<'t>,
    pub(super) style: Style,
    pub(super) depth: usize,
}

impl<'a, 't> ArgumentReader<'a, 't> {
    pub(super) fn new(context: &'a mut Context, graph: &'a GraphBuilder<'t>, style: Style) -> Self {
        Self {
            context,
            graph,
            style,
            depth: 0,
        }
    }

    /// Reads the arguments of a call in source, behind the opening bracket.
    pub(super) fn call(&mut self, cursor: &mut Cursor<'t>) -> Result<Box<[Input]>, ParseError> {
        let positional = self.context.names.intern("");
        let mut inputs: Vec<Input> = Vec::new();
        let mut is_first = true;
        loop {
            cursor.skip_blank();
            if cursor.eat(")") {
                return Ok(inputs.into_boxed_slice());
            }
            if !is_first {
                cursor.expect(",")?;
                cursor.skip_blank();
                if cursor.eat(")") {
                    return Ok(inputs.into_boxed_slice());
                }
            }
            is_first = false;
            let at_argument = *cursor;
            let keyword = keyword(cursor);
            let (name, kind) = match keyword {
                Some(name) => (self.context.names.intern(name), ArgumentKind::Keyword),
                None => (positional, ArgumentKind::Positional),
            };
            let follows_keyword = inputs.last().map(|input| input.kind);
            if (kind, follows_keyword) == (ArgumentKind::Positional, Some(ArgumentKind::Keyword)) {
                let rule = "positional arguments stand before those with a name";
                return Err(at_argument.error(ParseProblem::Order { rule }));
            }
            let argument = self.argument(cursor)?;
            inputs.push(Input {
                name,
                kind,
                argument,
            });
        }
    }

    /// Reads one argument.
    pub(super) fn argument(&mut self, cursor: &mut Cursor<'t>) -> Result<Argument, ParseError> {
        match cursor.peek() {
            Some('[') => return self.nested(cursor, Self::list),
            Some('{') => return self.nested(cursor, Self::mapping),
            Some('(') => {
                return match literal::number(cursor)? {
                    Some(number) => Ok(number_argument(number)),
                    None => self.nested(cursor, Self::tuple),
                };
            }
            _ => {}
        }
        match self.style {
            Style::Listing(words) => self.listed(cursor, words),
            Style::Source => self.source(cursor),
        }
    }

    /// Reads something in brackets.
    fn nested<T>(
        &mut self,
        cursor: &mut Cursor<'t>,
        read: impl FnOnce(&mut Self, &mut Cursor<'t>) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth >= MAX_NESTING {
            let (what, limit) = ("brackets inside one another", MAX_NESTING);
            return Err(cursor.error(ParseProblem::TooMany { what, limit }));
        }
        cursor.next();
        self.depth += 1;
        let result = read(self, cursor);
        self.depth -= 1;
        result
    }

    fn list(&mut self, cursor: &mut Cursor<'t>) -> Result<Argument, ParseError> {
        let items = self.items(cursor, "]")?;
        let kind = list_kind(&items, self.graph);
        Ok(Argument::List(kind, items.into_boxed_slice()))
    }

    fn tuple(&mut self, cursor: &mut Cursor<'t>) -> Result<Argument, ParseError> {
        let items = self.items(cursor, ")")?;
        Ok(Argument::List(ListKind::Tuple, items.into_boxed_slice()))
    }

    /// Reads arguments up to `end`; a comma may stand behind the last.
    fn items(
        &mut self,
        cursor: &mut Cursor<'t>,
        end: &'static str,
    ) -> Result<Vec<Argument>, ParseError> {
        let mut items = Vec::new();
        cursor.skip_blank();
        while !cursor.eat(end) {
            items.push(self.argument(cursor)?);
            cursor.skip_blank();
            if cursor.eat(end) {
                break;
            }
            cursor.expect(",")?;
            if matches!(self.style, Style::Listing(_)) && cursor.rest().starts_with(' ') {
                // A space promises an argument, if only an empty string.
                cursor.skip_blank();
                if cursor.eat(end) {
                    items.push(Argument::String(self.context.names.intern("")));
                    break;
                }
            }
            cursor.skip_blank();
        }
        Ok(items)
    }

    fn mapping(&mut self, cursor: &mut Cursor<'t>) -> Result<Argument, ParseError> {
        let items = self.pairs(cursor)?;
        Ok(Argument::Dict(items.into_boxed_slice()))
    }

    /// Reads the pairs of a mapping, behind the opening bracket.
    fn pairs(&mut self, cursor: &mut Cursor<'t>) -> Result<Vec<(NameId, Argument)>, ParseError> {
        let mut items = Vec::new();
        loop {
            cursor.skip_blank();
            if cursor.eat("}") {
                return Ok(items);
            }
            let key = match self.style {
                Style::Source => literal::string(cursor)?,
                Style::Listing(_) => cursor.take_while(|c| !":,}\n".contains(c)).to_owned(),
            };
            cursor.expect(":")?;
            cursor.skip_spaces();
            let argument = self.argument(cursor)?;
            items.push((self.context.names.intern(&key), argument));
            cursor.skip_blank();
            if cursor.eat("}") {
                return Ok(items);
            }
            cursor.expect(",")?;
        }
    }

    /// Reads the listing's `args = (...), kwargs = {...}`.
    pub(super) fn listed_call(
        &mut self,
        cursor: &mut Cursor<'t>,
    ) -> Result<Box<[Input]>, ParseError> {
        cursor.expect("args = (")?;
        let name = self.context.names.intern("");
        let arguments = self.items(cursor, ")")?;
        let mut inputs: Vec<Input> = Vec::with_capacity(arguments.len());
        inputs.extend(arguments.into_iter().map(|argument| Input {
            name,
            kind: ArgumentKind::Positional,
            argument,
        }));
        cursor.expect(", kwargs = {")?;
        while !cursor.eat("}") {
            let at_name = *cursor;
            let name = cursor.identifier();
            if name.is_empty() {
                return Err(at_name.expected("the name of an argument"));
            }
            cursor.expect(": ")?;
            inputs.push(Input {
                name: self.context.names.intern(name),
                kind: ArgumentKind::Keyword,
                argument: self.argument(cursor)?,
            });
            if !cursor.rest().starts_with('}') {
                cursor.expect(", ")?;
            }
        }
        Ok(inputs.into_boxed_slice())
    }

    fn node(&self, at: &Cursor<'t>, name: &str) -> Result<Argument, ParseError> {
        let node = self.graph.find(name);
        node.map(Argument::Node)
            .map_err(|problem| at.error(problem))
    }

    // ---- source ----

    fn source(&mut self, cursor: &mut Cursor<'t>) -> Result<Argument, ParseError> {
        if literal::is_at_string(cursor) {
            let text = literal::string(cursor)?;
            return Ok(Argument::String(self.context.names.intern(&text)));
        }
        if let Some(number) = literal::number(cursor)? {
            return Ok(number_argument(number));
        }
        let at_name = *cursor;
        match cursor.dotted_name() {
            "" if cursor.rest().starts_with("<OpOverload(") => self.operator_repr(cursor),
            "" => Err(cursor.expected("an argument")),
            "None" => Ok(Argument::None),
            "True" => Ok(Argument::Bool(true)),
            "False" => Ok(Argument::Bool(false)),
            "device" if cursor.eat("(") => self.device_repr(cursor),
            "complex" if cursor.eat("(") => complex_call(cursor),
            name if !name.contains('.') => self.node(&at_name, name),
            name => Ok(torch_constant(name)
                .unwrap_or_else(|| Argument::Operator(self.context.target(name)))),
        }
    }

    /// The rest of `device(type='cuda', index=0)`.
    fn device_repr(&mut self, cursor: &mut Cursor<'t>) -> Result<Argument, ParseError> {
        cursor.expect("type=")?;
        let kind = literal::string(cursor)?;
        let mut index = None;
        if cursor.eat(", index=") {
            let at_index = *cursor;
            let number = cursor.take_while(|c| c.is_ascii_digit()).parse();
            index = Some(number.map_err(|_| at_index.expected("the device's index"))?);
        }
        cursor.expect(")")?;
        let kind = self.context.names.intern(&kind);
        Ok(Argument::Device(Device { kind, index }))
    }

    /// `<OpOverload(op='mylib.inc', overload='default')>`: an operator inside a mapping.
    fn operator_repr(&mut self, cursor: &mut Cursor<'t>) -> Result<Argument, ParseError> {
        cursor.expect("<OpOverload(op=")?;
        let operator = literal::string(cursor)?;
        cursor.expect(", overload=")?;
        let overload = literal::string(cursor)?;
        cursor.expect(")>")?;
        let target = format!("torch.ops.{operator}.{overload}");
        Ok(Argument::Operator(self.context.target(&target)))
    }

    // ---- the listing ----

    fn listed(&mut self, cursor: &mut Cursor<'t>, words: Words) -> Result<Argument, ParseError> {
        if cursor.eat("%") {
            let at_name = *cursor;
            let name = cursor.take_while(is_identifier_character);
            return self.node(&at_name, name);
        }
        let before_word = *cursor;
        let word = cursor.take(bare_length(cursor.rest()));
        let mut as_number = before_word.clone().split_off(word.len());
        if let Some(number) = literal::number(&mut as_number).ok().flatten()
            && as_number.is_at_end()
        {
            return Ok(number_argument(number));
        }
        Ok(match word {
            "None" => Argument::None,
            "True" => Argument::Bool(true),
            "False" => Argument::Bool(false),
            word => self.bare_word(word, words),
        })
    }

    fn bare_word(&mut self, word: &str, words: Words) -> Argument {
        if let Some(constant) = torch_constant(word) {
            return constant;
        }
        match words {
            Words::Plain => {
                if let Some(device) = self.bare_device(word) {
                    return Argument::Device(device);
                }
            }
            Words::HigherOrder if is_operator(word) => {
                return Argument::Operator(self.context.target(&format!("torch.ops.{word}")));
            }
            Words::HigherOrder => {}
        }
        Argument::String(self.context.names.intern(word))
    }

    fn bare_device(&mut self, word: &str) -> Option<Device> {
        let (kind, index) = match word.split_once(':') {
            Some((kind, index)) => (kind, Some(index.parse().ok()?)),
            None => (word, None),
        };
        DEVICES.contains(&kind).then(|| Device {
            kind: self.context.names.intern(kind),
            index,
        })
    }
}

/// Takes `name = `, if that comes next.
fn keyword<'t>(cursor: &mut Cursor<'t>) -> Option<&'t str> {
    let mut ahead = *cursor;
    let name = ahead.identifier();
    ahead.skip_spaces();
    if name.is_empty() || !ahead.eat("=") || ahead.peek() == Some('=') {
        return None;
    }
    ahead.skip_spaces();
    *cursor = ahead;
    Some(name)
}

/// The rest of `complex(1.0, inf)`.
fn complex_call(cursor: &mut Cursor<'_>) -> Result<Argument, ParseError> {
    let real = real_number(cursor)?;
    cursor.expect(",")?;
    cursor.skip_spaces();
    let imaginary = real_number(cursor)?;
    cursor.expect(")")?;
    Ok(Argument::Complex(real, imaginary))
}

fn real_number(cursor: &mut Cursor<'_>) -> Result<f64, ParseError> {
    let at_number = *cursor;
    match literal::number(cursor)? {
        Some(Number::Float(value)) => Ok(value),
        Some(Number::Int(value)) => Ok(value as f64),
        _ => Err(at_number.expected("a number")),
    }
}

fn number_argument(number: Number) -> Argument {
    match number {
        Number::Int(value) => Argument::Int(value),
        Number::Float(value) => Argument::Float(value),
        Number::Complex(real, imaginary) => Argument::Complex(real, imaginary),
    }
}

/// `torch.float32`, `torch.strided`, `torch.contiguous_format`.
fn torch_constant(name: &str) -> Option<Argument> {
    let name = name.strip_prefix("torch.")?;
    DType::from_name(name)
        .map(Argument::DType)
        .or_else(|| Layout::from_name(name).map(Argument::Layout))
        .or_else(|| MemoryFormat::from_name(name).map(Argument::MemoryFormat))
}

/// Whether a bare word has the form of `mylib.inc.default`.
fn is_operator(word: &str) -> bool {
    let mut parts = word.split('.');
    let is_name = |part: &str| {
        !part.is_empty()
            && part.chars().all(is_identifier_character)
            && !part.starts_with(|c: char| c.is_ascii_digit())
    };
    parts.clone().count() == 3 && parts.all(is_name)
}

/// Up to the comma and space, or the bracket, that ends a bare word. A word may hold brackets in
/// pairs, and commas without a space: `bi,ij->bj`, `Runtime assertion failed for Eq(u0, 3)`.
fn bare_length(text: &str) -> usize {
    let mut depth = 0_usize;
    for (position, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            ')' | ']' | '}' => return position,
            ',' if depth == 0 && text[position + 1..].starts_with([' ', ')']) => return position,
            _ => {}
        }
    }
    text.len()
}

/// Which of the archive's list forms a list has, as far as its elements tell.
fn list_kind(items: &[Argument], graph: &GraphBuilder<'_>) -> ListKind {
    let all = |is_such: fn(&Argument) -> bool| !items.is_empty() && items.iter().all(is_such);
    let is_node = |item: &Argument| matches!(item, Argument::Node(_));
    let symbolic = items
        .iter()
        .find_map(|item| match graph.value(item.as_node()?) {
            Value::SymInt(_) => Some(ListKind::SymInts),
            Value::SymFloat(_) | Value::Float(_) => Some(ListKind::SymFloats),
            Value::SymBool(_) | Value::Bool(_) => Some(ListKind::SymBools),
            _ => None,
        });
    if let Some(symbolic) = symbolic {
        return symbolic;
    }
    if all(|item| matches!(item, Argument::Int(_))) {
        ListKind::Ints
    } else if all(|item| matches!(item, Argument::Float(_))) {
        ListKind::Floats
    } else if all(|item| matches!(item, Argument::Bool(_))) {
        ListKind::Bools
    } else if all(|item| matches!(item, Argument::String(_))) {
        ListKind::Strings
    } else if all(|item| matches!(item, Argument::Node(_))) {
        ListKind::Tensors
    } else if all(|item| matches!(item, Argument::Node(_) | Argument::None)) {
        ListKind::OptionalTensors
    } else if all(|item| matches!(item, Argument::Node(_) | Argument::Int(_))) {
        ListKind::SymInts
    } else if all(|item| matches!(item, Argument::List(ListKind::Tensors, _))) {
        ListKind::NestedTensors
    } else if items.iter().any(is_node) {
        ListKind::Mixed
    } else if all(is_int_tuple) {
        ListKind::IntLists
    } else {
        ListKind::Mixed
    }
}

/// torch's loader makes tuples of the lists in a list of integer lists.
fn is_int_tuple(argument: &Argument) -> bool {
    match argument {
        Argument::List(ListKind::Tuple, items) => {
            items.iter().all(|item| matches!(item, Argument::Int(_)))
        }
        _ => false,
    }
}
