//! Reads a schema from its text.
//!
//! The text may come from a user's file: its length, nesting and list lengths are limited, and
//! whatever is wrong is an error with its place.

use super::name::is_identifier_byte;
use super::{
    Alias, DefaultValue, OperatorRef, Schema, SchemaArgument, SchemaError, SchemaReturn, SchemaType,
};

/// The longest text that is read; ATen's longest schema has about a kilobyte.
const MAX_LENGTH: usize = 64 * 1024;
/// How deep types and default values may be nested.
const MAX_DEPTH: usize = 16;
/// How many arguments, results, elements or alias sets may stand in one list.
const MAX_ITEMS: usize = 255;

type Result<T> = std::result::Result<T, SchemaError>;

impl Schema {
    /// Reads a schema: `aten::relu_(Tensor(a!) self) -> Tensor(a!)`.
    ///
    /// A whole number as the default of a `float` is read as a float, as the dispatcher does.
    ///
    /// # Errors
    /// When the text is no schema, or longer or deeper than any.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > MAX_LENGTH {
            return Err(SchemaError::TooLong {
                length: text.len(),
                limit: MAX_LENGTH,
            });
        }
        let mut parser = Parser { text, position: 0 };
        let schema = parser.schema()?;
        parser.skip_spaces();
        match parser.peek() {
            None => Ok(schema),
            Some(_) => Err(parser.unexpected("the end of the schema")),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.position += 1;
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or("")
    }

    /// Takes `token`, after spaces, if it stands next.
    fn take(&mut self, token: &str) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(token);
        if found {
            self.position += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str, expected: &'static str) -> Result<()> {
        if self.take(token) {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    fn unexpected(&self, expected: &'static str) -> SchemaError {
        let found: String = self.rest().chars().take(16).collect();
        SchemaError::Unexpected {
            position: self.position,
            expected,
            found: match found.as_str() {
                "" => "the end of the text".into(),
                piece => format!("{piece:?}").into(),
            },
        }
    }

    fn check_depth(&self, depth: usize) -> Result<()> {
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        Err(SchemaError::TooDeep {
            position: self.position,
            limit: MAX_DEPTH,
        })
    }

    fn check_count(&self, count: usize) -> Result<()> {
        if count < MAX_ITEMS {
            return Ok(());
        }
        Err(SchemaError::TooMany {
            position: self.position,
            limit: MAX_ITEMS,
        })
    }

    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let start = self.position;
        while self.peek().is_some_and(&belongs) {
            self.position += 1;
        }
        self.text.get(start..self.position).unwrap_or("")
    }

    fn identifier(&mut self, expected: &'static str) -> Result<&'a str> {
        self.skip_spaces();
        let start = self.position;
        let word = self.take_while(is_identifier_byte);
        if word.is_empty() || word.as_bytes()[0].is_ascii_digit() {
            self.position = start;
            return Err(self.unexpected(expected));
        }
        Ok(word)
    }

    /// Items separated by commas up to `close`, which is taken too.
    fn list<T>(
        &mut self,
        close: &'static str,
        expected: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            self.check_count(items.len())?;
            items.push(item(self)?);
            if self.take(close) {
                return Ok(items);
            }
            self.expect(",", expected)?;
        }
    }

    fn schema(&mut self) -> Result<Schema> {
        self.skip_spaces();
        let start = self.position;
        let word = self.take_while(|byte| is_identifier_byte(byte) || matches!(byte, b':' | b'.'));
        let Some(name) = OperatorRef::from_qualified(word) else {
            self.position = start;
            return Err(self.unexpected("an operator's name, such as `mylib::f` or `mylib::f.out`"));
        };
        self.expect("(", "`(` before the arguments")?;
        let arguments = self.arguments()?;
        self.expect("->", "`->` before the results")?;
        let returns = if self.take("(") {
            self.list(")", "`,` or `)` after a result", Self::result)?
        } else {
            vec![self.result()?]
        };
        Ok(Schema {
            name: name.to_name(),
            arguments: arguments.into(),
            returns: returns.into(),
        })
    }

    fn arguments(&mut self) -> Result<Vec<SchemaArgument>> {
        let mut keyword_only = false;
        let mut names: Vec<&str> = Vec::new();
        self.list(")", "`,` or `)` after an argument", |parser| {
            if !keyword_only && parser.take("*") {
                keyword_only = true;
                parser.expect(",", "`,` after `*`")?;
            }
            let (ty, alias) = parser.annotated_type()?;
            let name = parser.identifier("the argument's name")?;
            if names.contains(&name) {
                return Err(SchemaError::DuplicateArgument {
                    position: parser.position - name.len(),
                    name: name.into(),
                });
            }
            names.push(name);
            let default = if parser.take("=") {
                Some(default_of_type(&ty, parser.default_value(0)?))
            } else {
                None
            };
            Ok(SchemaArgument {
                name: name.into(),
                ty,
                alias,
                default,
                keyword_only,
            })
        })
    }

    fn result(&mut self) -> Result<SchemaReturn> {
        let (ty, alias) = self.annotated_type()?;
        self.skip_spaces();
        let name = match self.peek() {
            Some(byte) if is_identifier_byte(byte) => {
                Some(self.identifier("the result's name")?.into())
            }
            _ => None,
        };
        Ok(SchemaReturn { name, ty, alias })
    }

    /// A type with at most one alias annotation, behind its innermost part: `Tensor(a!)[]`.
    fn annotated_type(&mut self) -> Result<(SchemaType, Option<Alias>)> {
        let base = self.base_type(0)?;
        let may_alias = !matches!(base, SchemaType::Tuple(_) | SchemaType::Dict(..));
        let alias = if may_alias && self.take("(") {
            Some(self.alias()?)
        } else {
            None
        };
        let ty = self.type_suffixes(base, 0)?;
        self.skip_spaces();
        if self.peek() == Some(b'(') {
            return Err(self.unexpected(
                "no alias annotation here (it stands behind the element type: `Tensor(a!)[]`)",
            ));
        }
        Ok((ty, alias))
    }

    fn plain_type(&mut self, depth: usize) -> Result<SchemaType> {
        let base = self.base_type(depth)?;
        self.type_suffixes(base, depth)
    }

    fn base_type(&mut self, depth: usize) -> Result<SchemaType> {
        self.check_depth(depth)?;
        if self.take("(") {
            let parts = self.list(")", "`,` or `)` in a tuple type", |parser| {
                parser.plain_type(depth + 1)
            })?;
            return Ok(SchemaType::Tuple(parts.into()));
        }
        let start = self.position;
        self.identifier("a type")?;
        // Classes have dots: `__torch__.torch.classes.rnn.CellParamsBase`.
        self.take_while(|byte| is_identifier_byte(byte) || byte == b'.');
        let word = self.text.get(start..self.position).unwrap_or("");
        if word == "Dict" && self.take("(") {
            let key = self.plain_type(depth + 1)?;
            self.expect(",", "`,` between key and value type")?;
            let value = self.plain_type(depth + 1)?;
            self.expect(")", "`)` after the value type")?;
            return Ok(SchemaType::Dict(Box::new(key), Box::new(value)));
        }
        Ok(named_type(word))
    }

    fn type_suffixes(&mut self, base: SchemaType, depth: usize) -> Result<SchemaType> {
        let mut ty = base;
        let mut depth = depth;
        loop {
            if self.take("?") {
                ty = SchemaType::Optional(Box::new(ty));
            } else if self.take("[") {
                let size = self.list_size()?;
                ty = SchemaType::List(Box::new(ty), size);
            } else {
                return Ok(ty);
            }
            depth += 1;
            self.check_depth(depth)?;
        }
    }

    /// The rest of `[]` or `[2]`.
    fn list_size(&mut self) -> Result<Option<u32>> {
        if self.take("]") {
            return Ok(None);
        }
        self.skip_spaces();
        let position = self.position;
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.unexpected("`]` or the list's size"));
        }
        let size = digits
            .parse::<u32>()
            .map_err(|_| SchemaError::NumberOutOfRange { position })?;
        self.expect("]", "`]` after the list's size")?;
        Ok(Some(size))
    }

    /// The rest of `(a! -> b|c)`.
    fn alias(&mut self) -> Result<Alias> {
        let before = self.alias_sets()?;
        let is_write = self.take("!");
        let after = if self.take("->") {
            Some(self.alias_sets()?)
        } else {
            None
        };
        self.expect(")", "`)` after the alias annotation")?;
        Ok(Alias {
            before,
            after,
            is_write,
        })
    }

    fn alias_sets(&mut self) -> Result<Box<[Box<str>]>> {
        if self.take("*") {
            return Ok(Box::default());
        }
        let mut sets = Vec::new();
        loop {
            self.check_count(sets.len())?;
            sets.push(self.identifier("an alias set, such as `a`")?.into());
            if !self.take("|") {
                return Ok(sets.into());
            }
        }
    }

    fn default_value(&mut self, depth: usize) -> Result<DefaultValue> {
        self.check_depth(depth)?;
        self.skip_spaces();
        match self.peek() {
            Some(b'[') => {
                self.position += 1;
                let items = self.list("]", "`,` or `]` in a default list", |parser| {
                    parser.default_value(depth + 1)
                })?;
                Ok(DefaultValue::List(items.into()))
            }
            Some(quote @ (b'"' | b'\'')) => {
                self.position += 1;
                self.string(quote)
            }
            Some(byte) if byte.is_ascii_digit() || matches!(byte, b'-' | b'.') => self.number(),
            _ => Ok(match self.identifier("a default value")? {
                "None" => DefaultValue::None,
                "True" => DefaultValue::Bool(true),
                "False" => DefaultValue::Bool(false),
                "inf" => DefaultValue::Float(f64::INFINITY),
                "nan" => DefaultValue::Float(f64::NAN),
                word => DefaultValue::Named(word.into()),
            }),
        }
    }

    fn number(&mut self) -> Result<DefaultValue> {
        let position = self.position;
        if self.take("-inf") {
            return Ok(DefaultValue::Float(f64::NEG_INFINITY));
        }
        let mut previous = 0;
        while let Some(byte) = self.peek() {
            let is_sign = matches!(byte, b'-' | b'+');
            let sign_fits = self.position == position || matches!(previous, b'e' | b'E');
            if !(byte.is_ascii_digit()
                || matches!(byte, b'.' | b'e' | b'E')
                || is_sign && sign_fits)
            {
                break;
            }
            previous = byte;
            self.position += 1;
        }
        let word = self.text.get(position..self.position).unwrap_or("");
        if word
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
            && word != "-"
        {
            return word
                .parse()
                .map(DefaultValue::Int)
                .map_err(|_| SchemaError::NumberOutOfRange { position });
        }
        match word.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(DefaultValue::Float(value)),
            Ok(_) => Err(SchemaError::NumberOutOfRange { position }),
            Err(_) => {
                self.position = position;
                Err(self.unexpected("a number"))
            }
        }
    }

    /// The rest of a string, with C's escapes.
    fn string(&mut self, quote: u8) -> Result<DefaultValue> {
        let mut value = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((offset, next)) = chars.next() {
            if next == char::from(quote) {
                self.position += offset + next.len_utf8();
                return Ok(DefaultValue::String(value.into()));
            }
            if next != '\\' {
                value.push(next);
                continue;
            }
            let Some(plain) = chars.next().and_then(|(_, escaped)| unescape(escaped)) else {
                self.position += offset;
                return Err(self.unexpected("an escape that C knows, such as `\\n`"));
            };
            value.push(plain);
        }
        self.position = self.text.len();
        Err(self.unexpected("the end of the string"))
    }
}

fn unescape(escaped: char) -> Option<char> {
    Some(match escaped {
        '\\' | '\'' | '"' => escaped,
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        _ => return None,
    })
}

fn named_type(word: &str) -> SchemaType {
    match word {
        "Tensor" => SchemaType::Tensor,
        "int" => SchemaType::Int,
        "SymInt" => SchemaType::SymInt,
        "float" => SchemaType::Float,
        "SymFloat" => SchemaType::SymFloat,
        "bool" => SchemaType::Bool,
        "SymBool" => SchemaType::SymBool,
        "complex" => SchemaType::Complex,
        "Scalar" => SchemaType::Scalar,
        "str" => SchemaType::Str,
        "ScalarType" => SchemaType::ScalarType,
        "Layout" => SchemaType::Layout,
        "Device" => SchemaType::Device,
        "MemoryFormat" => SchemaType::MemoryFormat,
        _ => SchemaType::Named(word.into()),
    }
}

/// The default as the dispatcher reads it, so that two spellings of one schema are equal:
/// `float p=1` is `1.`. Within options and lists it leaves whole numbers as they are.
fn default_of_type(ty: &SchemaType, value: DefaultValue) -> DefaultValue {
    match (ty, value) {
        (SchemaType::Float, DefaultValue::Int(value)) => DefaultValue::Float(value as f64),
        (_, value) => value,
    }
}

#[cfg(test)]
mod tests;
