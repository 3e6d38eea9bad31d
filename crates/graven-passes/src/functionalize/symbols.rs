//! Symbolic numbers: which recorded node holds which expression, and new nodes for expressions
//! that none holds.

use graven_ir::symint::{SymExpr, SymFunction};
use graven_ir::{
    Argument, ArgumentKind, Input, MetadataId, Node, NodeId, Op, SymExprId, SymInt, TargetId, Value,
};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::error::FunctionalizeError;
use super::machine::{Binding, CallInput, Machine};

/// The first recorded node of each expression, and where each symbol can be read.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    nodes: FxHashMap<SymExprId, NodeId>,
    /// For a symbol's expression: a placeholder and the dimension that has this size.
    sources: IndexMap<SymExprId, (NodeId, usize)>,
    /// The nodes that read sizes of placeholders. They take their names when everything else
    /// has one.
    pub(crate) input_sizes: Vec<NodeId>,
    /// Expressions that torch would have recorded while tracing.
    pub(crate) traced: FxHashSet<SymExprId>,
}

impl Symbols {
    /// Whether a node of the trace holds the expression, other than those that read sizes of
    /// placeholders.
    pub(crate) fn is_symbol_recorded(&self, expr: SymExprId) -> bool {
        self.nodes
            .get(&expr)
            .is_some_and(|node| !self.input_sizes.contains(node))
    }
}

impl Machine<'_> {
    /// Notes which symbols the sizes of a placeholder give.
    pub(crate) fn note_placeholder(&mut self, node: NodeId) {
        let value = self.graph.node(node).value.clone();
        self.note_symbol(node, &value);
        let Some(meta) = value.as_tensor() else {
            return;
        };
        for (dim, size) in self.context.meta(meta).sizes.iter().enumerate() {
            if let SymInt::Expr(expr) = *size {
                self.symbols.sources.entry(expr).or_insert((node, dim));
            }
        }
    }

    /// Reads the symbolic sizes of all placeholders, behind the last of them. Those that no one
    /// uses are dead.
    pub(crate) fn record_input_sizes(&mut self) {
        let candidate = self.context.names.intern("sym_size_int");
        let sources: Vec<_> = self
            .symbols
            .sources
            .iter()
            .map(|(expr, source)| (*expr, *source))
            .collect();
        for (expr, (source, dim)) in sources {
            if self.symbols.nodes.contains_key(&expr) {
                continue;
            }
            let target = self.context.target("torch.ops.aten.sym_size.int");
            let inputs = self.size_inputs(source, dim);
            let node = self.graph.push(Node {
                name: candidate,
                op: Op::Call(target),
                inputs,
                value: Value::SymInt(SymInt::Expr(expr)),
                metadata: MetadataId::EMPTY,
            });
            self.symbols.nodes.insert(expr, node);
            self.symbols.input_sizes.push(node);
        }
    }

    fn size_inputs(&mut self, source: NodeId, dim: usize) -> Box<[Input]> {
        Box::new([
            self.input("self", Argument::Node(source)),
            self.input("dim", Argument::Int(dim as i64)),
        ])
    }

    /// Notes that `node` holds the symbolic number `value`.
    pub(crate) fn note_symbol(&mut self, node: NodeId, value: &Value) {
        if let Value::SymInt(SymInt::Expr(expr)) | Value::SymBool(expr) | Value::SymFloat(expr) =
            *value
        {
            self.symbols.nodes.entry(expr).or_insert(node);
        }
    }

    /// The binding of a size that is constant or recorded already.
    pub(crate) fn known_sym_int(&self, size: SymInt) -> Option<Binding> {
        match size {
            SymInt::Int(value) => Some(Binding::Constant(Argument::Int(value))),
            SymInt::Expr(expr) => self.symbols.nodes.get(&expr).copied().map(Binding::Value),
        }
    }

    /// The same, and the size of a placeholder, which is read there when no node holds it yet:
    /// torch reads a symbol on the first input that has it.
    pub(crate) fn input_sym_int(
        &mut self,
        size: SymInt,
    ) -> Result<Option<Binding>, FunctionalizeError> {
        if let SymInt::Expr(expr) = size
            && self.symbols.sources.contains_key(&expr)
        {
            self.expression_argument(expr)?;
        }
        Ok(self.known_sym_int(size))
    }

    /// A call of a function on symbolic numbers. An expression that a node holds already is not
    /// recorded again.
    pub(crate) fn call_symbolic(
        &mut self,
        target: TargetId,
        inputs: &[CallInput],
        recorded: Option<&Value>,
    ) -> Result<Binding, FunctionalizeError> {
        let value = recorded.cloned().unwrap_or(Value::None);
        if let Value::SymInt(size) = value
            && let Some(known) = self.known_sym_int(size)
        {
            return Ok(known);
        }
        let lowered = self.lower_all(inputs)?;
        let node = self.record(target, lowered, value.clone());
        self.note_symbol(node, &value);
        Ok(Binding::Value(node))
    }

    /// An argument for a size: the constant, or the node that holds the expression.
    pub(crate) fn sym_int_argument(
        &mut self,
        size: SymInt,
    ) -> Result<Argument, FunctionalizeError> {
        match size {
            SymInt::Int(value) => Ok(Argument::Int(value)),
            SymInt::Expr(expr) => self.expression_argument(expr),
        }
    }

    /// Records what an expression lacks, operands first. The walk keeps its own stack: an
    /// expression may be as deep as a file makes it.
    fn expression_argument(&mut self, expr: SymExprId) -> Result<Argument, FunctionalizeError> {
        let mut pending = vec![expr];
        while let Some(&next) = pending.last() {
            if self.known_expression(next).is_some() {
                pending.pop();
                continue;
            }
            let operands: Vec<SymExprId> = match self.context.exprs.get(next) {
                // A size of an input is read there, whatever it is made of.
                _ if self.symbols.sources.contains_key(&next) => Vec::new(),
                SymExpr::Call(_, args) => args.to_vec(),
                _ => Vec::new(),
            };
            let missing: Vec<SymExprId> = operands
                .iter()
                .copied()
                .filter(|operand| self.known_expression(*operand).is_none())
                .collect();
            if missing.is_empty() {
                self.record_expression(next, &operands)?;
                pending.pop();
            } else {
                pending.extend(missing);
            }
        }
        self.known_expression(expr)
            .ok_or_else(|| self.unreadable(expr))
    }

    fn known_expression(&self, expr: SymExprId) -> Option<Argument> {
        if let Some(value) = self.context.exprs.as_integer(expr) {
            return Some(Argument::Int(value));
        }
        self.symbols.nodes.get(&expr).copied().map(Argument::Node)
    }

    fn record_expression(
        &mut self,
        expr: SymExprId,
        operands: &[SymExprId],
    ) -> Result<(), FunctionalizeError> {
        if let Some(&(source, dim)) = self.symbols.sources.get(&expr) {
            let target = self.context.target("torch.ops.aten.sym_size.int");
            let inputs = self.size_inputs(source, dim);
            let candidate = self.context.names.intern("sym_size_int");
            let value = Value::SymInt(SymInt::Expr(expr));
            let node = self.record_as(candidate, Op::Call(target), inputs, value.clone());
            self.note_symbol(node, &value);
            return Ok(());
        }
        let function = match self.context.exprs.get(expr) {
            SymExpr::Call(function, _) => *function,
            _ => return Err(self.unreadable(expr)),
        };
        let target = match function {
            SymFunction::Add => "_operator.add",
            SymFunction::Mul => "_operator.mul",
            SymFunction::FloorDiv | SymFunction::CleanDiv => "_operator.floordiv",
            SymFunction::Mod | SymFunction::PythonMod => "_operator.mod",
            SymFunction::Max => "torch.sym_max",
            SymFunction::Min => "torch.sym_min",
            SymFunction::Pow | SymFunction::PowByNatural => "_operator.pow",
            _ => return Err(self.unreadable(expr)),
        };
        let target = self.context.target(target);
        self.record_operands(target, expr, operands)
    }

    /// Records `target` over operands; sums and products of more than two by pairs. A constant
    /// stands second, as torch records `3 * s` as `mul(s, 3)`.
    fn record_operands(
        &mut self,
        target: TargetId,
        expr: SymExprId,
        operands: &[SymExprId],
    ) -> Result<(), FunctionalizeError> {
        let is_sum = self.context.target_name(target) == "_operator.add";
        let is_product = self.context.target_name(target) == "_operator.mul";
        let mut operands = operands.to_vec();
        if is_sum || is_product {
            operands.sort_by_key(|operand| self.context.exprs.as_integer(*operand).is_some());
        }
        let Some((&first, rest)) = operands.split_first() else {
            return Err(self.unreadable(expr));
        };
        let mut left = self
            .known_expression(first)
            .ok_or_else(|| self.unreadable(first))?;
        let mut partial = self.context.exprs.to_sym_int(first);
        for (index, &operand) in rest.iter().enumerate() {
            let right = self
                .known_expression(operand)
                .ok_or_else(|| self.unreadable(operand))?;
            let size = self.context.exprs.to_sym_int(operand);
            partial = if index + 1 == rest.len() {
                SymInt::Expr(expr)
            } else if is_sum {
                self.context
                    .exprs
                    .add(partial, size)
                    .map_err(|error| self.sym_error(error))?
            } else {
                self.context
                    .exprs
                    .mul(partial, size)
                    .map_err(|error| self.sym_error(error))?
            };
            let inputs = [self.input("a", left), self.input("b", right)];
            let value = Value::SymInt(partial);
            let node = self.record(target, Box::new(inputs), value.clone());
            self.note_symbol(node, &value);
            left = Argument::Node(node);
        }
        Ok(())
    }

    pub(crate) fn input(&mut self, name: &str, argument: Argument) -> Input {
        Input {
            name: self.context.names.intern(name),
            kind: ArgumentKind::Positional,
            argument,
        }
    }

    fn unreadable(&self, expr: SymExprId) -> FunctionalizeError {
        let text = self.context.exprs.display(expr).to_string();
        self.sym_error(format!("no input of the program tells the size `{text}`"))
    }
}
