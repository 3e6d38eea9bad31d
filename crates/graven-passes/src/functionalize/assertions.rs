//! Names in programs with symbolic sizes.
//!
//! While torch traces, arithmetic on symbols takes names that dead nodes keep from others; when
//! it is done, it makes the nodes that read sizes and the assertions on sizes that depend on data
//! anew, and those take the names that are left. Assertions name the node that they check, so
//! that their texts change with it.
//!
//! What is played here is what the usual calls do. It is a matter of names only.

use graven_ir::{Argument, Input, NameId, NodeId, Op, SymInt, TensorMeta, Value};
use graven_ops::registry::OperatorId;
use graven_ops::tags::Tag;

use super::machine::{CallInput, Machine, Operand};

/// Calls that check nothing of their own.
const UNCHECKED: &[&str] = &["fill", "relu", "zero"];

/// What `copy_` checks, for one symbolic dimension in both tensors, and in the written one only.
const COPY_BOTH: &[&str] = &[
    "mul", "eq", "eq", "sym_max", "mul", "mul", "eq", "eq", "eq", "or_", "ge", "ge", "eq", "eq",
    "or_", "eq", "eq",
];
/// What `index_fill_` checks of an index of symbolic size.
const INDEX_FILL: &[&str] = &["ge", "ne", "eq"];
/// What `narrow` checks when its length is symbolic.
const NARROW: &[&str] = &["ge", "sub", "le", "add"];
const COPY_ONE: &[&str] = &["mul", "eq", "eq", "sym_max", "mul", "mul", "ge", "ne"];

impl Machine<'_> {
    /// Takes the names that the checks of an in-place call take.
    pub(crate) fn take_names_of_checks(&mut self, twin: OperatorId, lowered: &[Input]) {
        let mut symbolic: Vec<TensorMeta> = Vec::new();
        for input in lowered {
            let mut nodes = Vec::new();
            input.argument.for_each_node(&mut |node| nodes.push(node));
            for node in nodes {
                let Value::Tensor(meta) = self.graph.node(node).value else {
                    continue;
                };
                let meta = self.context.meta(meta);
                let is_constant = meta.sizes.iter().all(|size| size.as_int().is_some());
                if let (true, SymInt::Expr(offset)) = (is_constant, meta.storage_offset) {
                    if self.symbols.traced.insert(offset) {
                        self.take_names(&["sym_storage_offset_default"]);
                    }
                    self.take_names(&["ge"]);
                } else if !is_constant {
                    symbolic.push(meta.clone());
                }
            }
        }
        if symbolic.is_empty() {
            return;
        }
        for meta in &symbolic {
            self.take_names_of_storage_size(meta);
        }
        let operator = self.registry.operator(twin);
        let packet = &*operator.name().packet;
        if packet == "index_fill" {
            self.take_names(INDEX_FILL);
        } else if packet == "copy" {
            self.take_names(if symbolic.len() > 1 {
                COPY_BOTH
            } else {
                COPY_ONE
            });
        } else if operator.has_tag(Tag::Pointwise) && !UNCHECKED.contains(&packet) {
            self.take_names_of_broadcast(&symbolic);
        }
    }

    /// Takes the names that the checks of a composite take.
    pub(crate) fn take_names_of_composite(&mut self, packet: &str, inputs: &[CallInput]) {
        let is_symbolic =
            |input: &CallInput| matches!(input.operand, Operand::Fixed(Argument::Node(_)));
        if packet == "narrow" && inputs.iter().any(is_symbolic) {
            self.take_names(NARROW);
        }
    }

    /// The size of a tensor's storage, worked out on symbols.
    fn take_names_of_storage_size(&mut self, meta: &TensorMeta) {
        for size in &meta.sizes {
            if let SymInt::Expr(expr) = size {
                if !self.symbols.is_symbol_recorded(*expr) && self.symbols.traced.insert(*expr) {
                    self.take_names(&["sym_size_int"]);
                }
                self.take_names(&["ge"]);
            }
        }
        let mut is_constant = true;
        for (size, stride) in meta.sizes.iter().zip(&meta.strides) {
            match (size, stride) {
                (SymInt::Expr(_), stride) => {
                    self.take_names(&["eq", "sub"]);
                    if *stride != SymInt::Int(1) {
                        self.take_names(&["mul"]);
                    }
                    self.take_names(&["add"]);
                    is_constant = false;
                }
                (SymInt::Int(_), SymInt::Expr(_)) => {
                    self.take_names(&["mul", "add"]);
                    is_constant = false;
                }
                (SymInt::Int(size), SymInt::Int(_)) if !is_constant && *size != 1 => {
                    self.take_names(&["add"])
                }
                _ => {}
            }
        }
        self.take_names(&["add"]);
        if meta.dtype.bytes() != 1 {
            self.take_names(&["mul"]);
        }
    }

    /// The shapes of element-wise operands, compared dimension by dimension, the last one first.
    fn take_names_of_broadcast(&mut self, operands: &[TensorMeta]) {
        let Some((first, others)) = operands.split_first() else {
            return;
        };
        for (from_end, size) in first.sizes.iter().rev().enumerate() {
            if size.as_int().is_some() {
                continue;
            }
            self.take_names(&["eq", "lt", "eq", "eq"]);
            for other in others {
                let is_symbolic = other
                    .sizes
                    .iter()
                    .rev()
                    .nth(from_end)
                    .is_some_and(|size| size.as_int().is_none());
                if is_symbolic {
                    self.take_names(&["eq"]);
                }
            }
        }
    }

    fn take_names(&mut self, candidates: &[&str]) {
        for candidate in candidates {
            self.fresh_name(candidate);
        }
    }

    fn fresh_name(&mut self, candidate: &str) -> NameId {
        let candidate = self.context.names.intern(candidate);
        self.names.fresh(&mut self.context.names, candidate)
    }

    /// Names what torch makes when the trace is done: the nodes that read the sizes of
    /// placeholders, then, in order, the sizes that depend on data and the assertions on them.
    pub(crate) fn name_late_nodes(&mut self) {
        for node in std::mem::take(&mut self.symbols.input_sizes) {
            self.graph.nodes[node.index()].name = self.fresh_name("sym_size_int");
        }
        let sym_size = self.context.find_target("torch.ops.aten.sym_size.int");
        let assertion = self
            .context
            .find_target("torch.ops.aten._assert_scalar.default");
        for index in 0..self.graph.nodes.len() {
            let node = &self.graph.nodes[index];
            let Op::Call(target) = node.op else { continue };
            if Some(target) == sym_size && self.reads_data_dependent_size(index) {
                self.graph.nodes[index].name = self.fresh_name("sym_size_int");
            } else if Some(target) == assertion {
                self.rename_range_assertion(NodeId(index as u32));
            }
        }
    }

    fn reads_data_dependent_size(&self, index: usize) -> bool {
        let of = self.graph.nodes[index]
            .inputs
            .first()
            .and_then(|input| input.argument.as_node());
        of.is_some_and(|of| self.graph.node(of).op != Op::Placeholder)
    }

    /// `_assert_scalar(u0 >= 2, "... expression u0 >= 2 on node 'ge'")`.
    fn rename_range_assertion(&mut self, assertion: NodeId) {
        let [condition, message, ..] = &*self.graph.node(assertion).inputs else {
            return;
        };
        let (Argument::Node(condition), Argument::String(text)) =
            (&condition.argument, &message.argument)
        else {
            return;
        };
        let condition = *condition;
        let text = self.context.names.get(*text);
        let Some((start, _)) = text.rsplit_once(" on node '") else {
            return;
        };
        let Some(relation) = range_relation(start) else {
            return;
        };
        let start = start.to_owned();
        let name = self.fresh_name(relation);
        self.graph.nodes[condition.index()].name = name;
        self.graph.nodes[assertion.index()].name = self.fresh_name("_assert_scalar_default");
        let text = format!("{start} on node '{}'", self.context.names.get(name));
        let text = self.context.names.intern(&text);
        self.graph.nodes[assertion.index()].inputs[1].argument = Argument::String(text);
    }
}

/// `ge` or `le` when the text ends in `expression u0 >= 2`: a symbol against a constant.
fn range_relation(text: &str) -> Option<&'static str> {
    let (_, expression) = text.rsplit_once("expression ")?;
    let mut words = expression.split(' ');
    let (symbol, relation, bound) = (words.next()?, words.next()?, words.next()?);
    let is_symbol = symbol
        .strip_prefix('u')?
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    let is_range = is_symbol && bound.parse::<i64>().is_ok() && words.next().is_none();
    match relation {
        ">=" if is_range => Some("ge"),
        "<=" if is_range => Some("le"),
        _ => None,
    }
}
