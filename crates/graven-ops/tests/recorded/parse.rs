//! Reads recorded calls: the text that `tests/data/record.py` writes.

use std::collections::HashMap;

use graven_ir::symint::Hint;
use graven_ir::value::Dims;
use graven_ir::{Context, DType, Device, Layout, MemoryFormat, SymInt, TensorMeta};
use graven_ops::{Arg, shape};

/// A call and what torch records for it.
pub(crate) struct Case {
    /// Its lines, for messages.
    pub(crate) text: String,
    pub(crate) inputs: Vec<TensorMeta>,
    pub(crate) call: Node,
    /// `None` where torch refuses the call.
    pub(crate) expected: Option<Expected>,
}

/// A recorded program.
pub(crate) struct Expected {
    pub(crate) nodes: Vec<Node>,
    pub(crate) returns: Vec<Arg<usize>>,
}

/// A recorded node. Values are numbered: inputs first, then nodes in order.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub(crate) operator: String,
    pub(crate) args: Vec<Arg<usize>>,
    pub(crate) kwargs: Vec<(String, Arg<usize>)>,
    pub(crate) metas: Vec<TensorMeta>,
}

/// The sizes that the symbols have at export.
const HINTS: [(&str, i64); 3] = [("s0", 6), ("s1", 8), ("s2", 10)];

/// All cases of a file.
pub(crate) fn cases(context: &mut Context, text: &str) -> Vec<Case> {
    for (symbol, hint) in HINTS {
        let id = context.exprs.parse_str(symbol).unwrap();
        context.exprs.set_hint(id, Hint::Int(hint));
    }
    let blocks = text.split("\n\n").filter(|block| !block.trim().is_empty());
    blocks.map(|block| case(context, block)).collect()
}

fn case(context: &mut Context, block: &str) -> Case {
    let mut reader = Reader {
        context,
        values: HashMap::new(),
    };
    let mut inputs = Vec::new();
    let mut call = None;
    let mut nodes = Vec::new();
    let mut returns = None;
    for line in block.lines().filter(|line| !line.starts_with('#')) {
        if let Some(line) = line.strip_prefix("    ") {
            if let Some(results) = line.strip_prefix("return (") {
                returns = Some(reader.list(results.strip_suffix(')').unwrap()));
            } else if line != "refused" {
                let (name, rest) = line.split_once(": ").unwrap();
                let (metas, call) = rest.split_once(" = ").unwrap();
                let mut node = reader.call(call);
                node.metas = reader.metas(metas);
                nodes.push(node);
                reader.name(name);
            }
        } else if line.starts_with("aten::") {
            call = Some(reader.call(line));
        } else {
            let (name, meta) = line.split_once(": ").unwrap();
            inputs.extend(reader.metas(meta));
            reader.name(name);
        }
    }
    Case {
        text: block.to_owned(),
        inputs,
        call: call.unwrap_or_else(|| panic!("no call in\n{block}")),
        expected: returns.map(|returns| Expected { nodes, returns }),
    }
}

struct Reader<'a> {
    context: &'a mut Context,
    values: HashMap<String, usize>,
}

/// Splits at commas that stand outside of brackets and strings.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start, mut quoted) = (Vec::new(), 0, 0, false);
    for (position, character) in text.char_indices() {
        match character {
            '\'' => quoted = !quoted,
            '[' | '(' if !quoted => depth += 1,
            ']' | ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(text[start..position].trim());
                start = position + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// The text between the brackets at the start, and what follows.
fn bracketed(text: &str) -> (&str, &str) {
    let end = text.find(']').unwrap();
    (&text[1..end], &text[end + 1..])
}

impl Reader<'_> {
    fn name(&mut self, name: &str) {
        self.values.insert(name.to_owned(), self.values.len());
    }

    fn call(&mut self, text: &str) -> Node {
        let (operator, arguments) = text.split_once('(').unwrap();
        let (mut args, mut kwargs) = (Vec::new(), Vec::new());
        for argument in split(arguments.strip_suffix(')').unwrap()) {
            let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
            match argument.split_once('=') {
                Some((name, value)) if is_name(name) => {
                    kwargs.push((name.to_owned(), self.argument(value)));
                }
                _ => args.push(self.argument(argument)),
            }
        }
        Node {
            operator: operator.to_owned(),
            args,
            kwargs,
            metas: Vec::new(),
        }
    }

    fn list(&mut self, text: &str) -> Vec<Arg<usize>> {
        split(text)
            .into_iter()
            .map(|item| self.argument(item))
            .collect()
    }

    fn argument(&mut self, text: &str) -> Arg<usize> {
        if let Some(value) = self.values.get(text) {
            return Arg::Value(*value);
        }
        if let Some(items) = text.strip_prefix('[') {
            return Arg::List(self.list(items.strip_suffix(']').unwrap()));
        }
        if let Some(text) = text.strip_prefix('\'') {
            return Arg::Str(text.trim_end_matches('\'').into());
        }
        if let Some(name) = text.strip_prefix("torch.") {
            let dtype = DType::from_name(name).map(Arg::DType);
            let layout = || Layout::from_name(name).map(Arg::Layout);
            let format = || MemoryFormat::from_name(name).map(Arg::MemoryFormat);
            return dtype.or_else(layout).or_else(format).unwrap();
        }
        match text {
            "None" => Arg::None,
            "True" => Arg::Bool(true),
            "False" => Arg::Bool(false),
            "cpu" => Arg::Device(cpu(self.context)),
            _ => self.number(text),
        }
    }

    fn number(&mut self, text: &str) -> Arg<usize> {
        if let Some(parts) = text.strip_prefix('(') {
            let (real, imaginary) = parts.trim_end_matches("j)").split_once('+').unwrap();
            return Arg::Complex(real.parse().unwrap(), imaginary.parse().unwrap());
        }
        if text.contains('s') || text.parse::<i64>().is_ok() {
            return Arg::Int(self.size(text));
        }
        Arg::Float(text.parse().unwrap_or_else(|_| panic!("{text}")))
    }

    fn size(&mut self, text: &str) -> SymInt {
        let id = self.context.exprs.parse_str(text).unwrap();
        self.context.exprs.to_sym_int(id)
    }

    fn sizes(&mut self, text: &str) -> Dims {
        split(text)
            .into_iter()
            .map(|size| self.size(size))
            .collect()
    }

    /// One tensor, several in round brackets, or `None`.
    fn metas(&mut self, text: &str) -> Vec<TensorMeta> {
        match text.strip_prefix('(') {
            Some(items) => {
                let items = split(items.strip_suffix(')').unwrap());
                items.into_iter().map(|item| self.meta(item)).collect()
            }
            None if text == "None" => Vec::new(),
            None => vec![self.meta(text)],
        }
    }

    fn meta(&mut self, text: &str) -> TensorMeta {
        let dtype_end = text.find('[').unwrap();
        let (sizes, mut rest) = bracketed(&text[dtype_end..]);
        let sizes = self.sizes(sizes);
        let mut strides = shape::contiguous_strides(&mut self.context.exprs, &sizes).unwrap();
        if let Some(given) = rest.strip_prefix(" strides=") {
            let (given, behind) = bracketed(given);
            (strides, rest) = (self.sizes(given), behind);
        }
        let offset = rest
            .strip_prefix(" offset=")
            .map(|offset| self.size(offset));
        TensorMeta {
            dtype: DType::from_short_name(&text[..dtype_end]).unwrap(),
            sizes,
            strides,
            storage_offset: offset.unwrap_or(SymInt::Int(0)),
            layout: Layout::Strided,
            device: cpu(self.context),
            requires_grad: false,
        }
    }
}

fn cpu(context: &mut Context) -> Device {
    Device {
        kind: context.names.intern("cpu"),
        index: None,
    }
}
