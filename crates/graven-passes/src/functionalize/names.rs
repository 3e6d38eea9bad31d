//! Node names while recording, and the final renaming, as torch.export gives them.
//!
//! While a graph is recorded every node takes the first free of `name`, `name_1`, ..., dead
//! nodes included, so that the names of the survivors have gaps. At the end placeholders get
//! their final names and a node whose name collides with one moves out of the way.

use graven_ir::{Context, Graph, GraphId, NameId, Names, Node, Op};
use rustc_hash::FxHashMap;

/// Names that Python or FX reserves: a node with such a name starts at `_1`.
///
/// Python's keywords and builtins (the lower-case ones: candidates are lower case), and what
/// FX's generated code defines.
const RESERVED: &[&str] = &[
    "abs",
    "aiter",
    "all",
    "and",
    "anext",
    "any",
    "as",
    "ascii",
    "assert",
    "async",
    "await",
    "bin",
    "bool",
    "break",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "class",
    "classmethod",
    "compile",
    "complex",
    "continue",
    "copyright",
    "credits",
    "def",
    "del",
    "delattr",
    "device",
    "dict",
    "dir",
    "divmod",
    "elif",
    "else",
    "enumerate",
    "eval",
    "except",
    "exec",
    "exit",
    "filter",
    "finally",
    "float",
    "for",
    "format",
    "from",
    "frozenset",
    "fx_pytree",
    "getattr",
    "global",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "if",
    "import",
    "in",
    "inf",
    "input",
    "int",
    "is",
    "isinstance",
    "issubclass",
    "iter",
    "lambda",
    "len",
    "license",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "nan",
    "next",
    "nonlocal",
    "not",
    "object",
    "oct",
    "open",
    "or",
    "ord",
    "pass",
    "pow",
    "print",
    "property",
    "pytree",
    "quit",
    "raise",
    "range",
    "repr",
    "return",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "torch",
    "try",
    "tuple",
    "type",
    "vars",
    "while",
    "with",
    "yield",
    "zip",
];

/// Gives names while recording.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// For each base name, the next suffix to try.
    next: FxHashMap<NameId, u32>,
    used: Vec<bool>,
    buffer: String,
}

impl Recorder {
    /// The first free name for `candidate`.
    pub(crate) fn fresh(&mut self, names: &mut Names, candidate: NameId) -> NameId {
        let text = names.get(candidate);
        // A candidate may end in a number itself (`sym_size_int_1`): count on from its base.
        let (base, suffix) = split_suffix(text);
        let base = if suffix.is_some() {
            base.to_owned()
        } else {
            text.to_owned()
        };
        let base_id = if suffix.is_some() {
            names.intern(&base)
        } else {
            candidate
        };
        let mut number = match suffix {
            Some(number) if !self.is_used(candidate) => {
                self.take(candidate);
                self.next.insert(base_id, number);
                return candidate;
            }
            _ => self.next.get(&base_id).copied().unwrap_or(0),
        };
        let mut name = candidate;
        if suffix.is_none() && RESERVED.binary_search(&base.as_str()).is_ok() {
            number += 1;
            name = self.numbered(names, &base, number);
        }
        while self.is_used(name) {
            number += 1;
            name = self.numbered(names, &base, number);
        }
        self.take(name);
        self.next.insert(base_id, number);
        name
    }

    fn numbered(&mut self, names: &mut Names, base: &str, number: u32) -> NameId {
        use std::fmt::Write as _;
        self.buffer.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.buffer, "{base}_{number}");
        names.intern(&self.buffer)
    }

    fn is_used(&self, name: NameId) -> bool {
        self.used.get(name.index()).copied().unwrap_or(false)
    }

    fn take(&mut self, name: NameId) {
        if self.used.len() <= name.index() {
            self.used.resize(name.index() + 1, false);
        }
        self.used[name.index()] = true;
    }
}

/// Splits `add_3` into `add` and 3; no number, no split.
fn split_suffix(text: &str) -> (&str, Option<u32>) {
    match text.rsplit_once('_') {
        Some((base, digits))
            if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            match digits.parse() {
                Ok(number) => (base, Some(number)),
                Err(_) => (text, None),
            }
        }
        _ => (text, None),
    }
}

/// FX's candidate for a call of `packet`: an upper-case letter after a lower-case one becomes
/// an underscore and its lower case, then all is lower case. A magic name loses its underscores:
/// `__and__` is `and`.
pub(crate) fn candidate(packet: &str) -> String {
    let packet = match packet
        .strip_prefix("__")
        .and_then(|rest| rest.strip_suffix("__"))
    {
        Some(magic) => magic,
        None => packet,
    };
    let mut text = String::with_capacity(packet.len() + 4);
    let mut after_lower = false;
    for character in packet.chars() {
        if character.is_ascii_uppercase() && after_lower {
            text.push('_');
        }
        after_lower = character.is_ascii_lowercase();
        let kept = if character.is_ascii_alphanumeric() || character == '_' {
            character
        } else {
            '_'
        };
        text.push(kept.to_ascii_lowercase());
    }
    text
}

/// Renames the nodes whose names collide with placeholders. Placeholders have their final names
/// already. A collision takes `base_N`, N one more than the largest suffix seen so far.
pub(crate) fn resolve_collisions(graph: &mut Graph, names: &mut Names) {
    let mut used: Vec<bool> = vec![false; names.len()];
    let mut largest: FxHashMap<String, u32> = FxHashMap::default();
    for node in &mut graph.nodes {
        let taken = used.get(node.name.index()).copied().unwrap_or(false);
        if taken && node.op != Op::Placeholder {
            let text = names.get(node.name);
            let base = match split_suffix(text) {
                (base, Some(_)) => base.to_owned(),
                _ => text.to_owned(),
            };
            let number = largest.get(&base).copied().unwrap_or(0) + 1;
            node.name = names.intern(&format!("{base}_{number}"));
        }
        if let (base, Some(number)) = split_suffix(names.get(node.name)) {
            let entry = largest.entry(base.to_owned()).or_default();
            *entry = (*entry).max(number);
        }
        if used.len() <= node.name.index() {
            used.resize(node.name.index() + 1, false);
        }
        used[node.name.index()] = true;
    }
}

/// Names the nodes of nested graphs, outer graphs first: placeholders of `cond` and `map_impl`
/// take the names of the outer operands, those of other operators keep theirs; then collisions
/// are resolved as in the outer graph.
pub(crate) fn name_nested(graph: &mut Graph, context: &mut Context) {
    let mut operands: Vec<Option<Vec<NameId>>> = vec![None; graph.graphs.len()];
    for node in &graph.nodes {
        let Op::Call(target) = node.op else { continue };
        let name = context.target_name(target);
        if !name.starts_with("torch.ops.higher_order.") {
            continue;
        }
        let (graphs, names) = nested_operands(graph, node);
        if name.ends_with(".cond") || name.ends_with(".map_impl") {
            for id in graphs {
                operands[id.0 as usize] = Some(names.clone());
            }
        }
    }
    for (nested, operands) in graph.graphs.iter_mut().zip(operands) {
        let count = nested.graph.placeholders().count();
        let names = operands.unwrap_or_default();
        let start = names.len().saturating_sub(count);
        for (placeholder, name) in nested
            .graph
            .nodes
            .iter_mut()
            .take(count)
            .zip(&names[start..])
        {
            placeholder.name = *name;
        }
        resolve_collisions(&mut nested.graph, &mut context.names);
        name_nested(&mut nested.graph, context);
    }
}

/// The graphs that a call is given, and the names of its other arguments, lists taken apart.
fn nested_operands(graph: &Graph, node: &Node) -> (Vec<GraphId>, Vec<NameId>) {
    let (mut graphs, mut names) = (Vec::new(), Vec::new());
    for input in &node.inputs {
        input
            .argument
            .for_each_node(&mut |id| match graph.node(id).op {
                Op::GetAttr(nested) => graphs.push(nested),
                _ => names.push(graph.node(id).name),
            });
    }
    (graphs, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(recorder: &mut Recorder, names: &mut Names, candidate: &str) -> String {
        let candidate = names.intern(candidate);
        let name = recorder.fresh(names, candidate);
        names.get(name).to_owned()
    }

    #[test]
    fn first_free_name_and_reserved_names() {
        let (mut recorder, mut names) = (Recorder::default(), Names::default());
        assert_eq!(take(&mut recorder, &mut names, "add"), "add");
        assert_eq!(take(&mut recorder, &mut names, "add"), "add_1");
        assert_eq!(take(&mut recorder, &mut names, "sum"), "sum_1");
        assert_eq!(take(&mut recorder, &mut names, "sum"), "sum_2");
        assert_eq!(take(&mut recorder, &mut names, "getitem_4"), "getitem_4");
        assert_eq!(take(&mut recorder, &mut names, "getitem"), "getitem");
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn candidates_are_snake_case() {
        assert_eq!(candidate("add_"), "add_");
        assert_eq!(candidate("__and__"), "and");
        assert_eq!(candidate("adaptiveAvgPool"), "adaptive_avg_pool");
        assert_eq!(candidate("numpy_T"), "numpy_t");
    }
}
