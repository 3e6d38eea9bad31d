//! Higher-order operators: regions that are inlined, and nested graphs that become functional
//! each on its own.

use graven_ir::graph::NestedGraph;
use graven_ir::{Argument, Graph, GraphId, Input, ListKind, NodeId, Op, TargetId, Value};

use super::error::{FunctionalizeError, Problem};
use super::machine::{Binding, Machine, Operand, TensorId};
use super::region::{Bound, Scope};
use super::view::KeepsStrides;

/// How a higher-order operator is functionalized.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Treatment {
    /// Its graph takes the operator's place; the operands begin at this argument.
    Inline { graph: usize },
    /// Its graphs stay. What they write of their operands is returned besides where `returns_writes`.
    Nested { returns_writes: bool },
}

fn treatment(name: &str) -> Treatment {
    match name {
        "wrap_with_set_grad_enabled" => Treatment::Inline { graph: 1 },
        "wrap_with_autocast" => Treatment::Inline { graph: 4 },
        "wrap" | "tag_activation_checkpoint" | "wrap_activation_checkpoint" => {
            Treatment::Inline { graph: 0 }
        }
        "cond" => Treatment::Nested {
            returns_writes: true,
        },
        _ => Treatment::Nested {
            returns_writes: false,
        },
    }
}

/// Names of nested graphs in a functional program, by operator and position.
fn graph_names(operator: &str) -> &'static [&'static str] {
    match operator {
        "cond" => &["true_graph", "false_graph"],
        "while_loop" => &["while_loop_cond_graph", "while_loop_body_graph"],
        "map_impl" => &["body_graph"],
        _ => &[],
    }
}

/// A nested graph that was run: recorded, not yet swept.
struct Nested {
    graph: Graph,
    /// The last value of each placeholder that was written.
    written: Vec<Option<NodeId>>,
}

impl Machine<'_> {
    /// A call of a higher-order operator.
    pub(crate) fn run_higher_order(
        &mut self,
        scope: &mut Scope<'_>,
        node: &graven_ir::Node,
        target: TargetId,
    ) -> Result<Binding, FunctionalizeError> {
        let full_name = self.context.target_name(target).to_owned();
        let name = full_name.rsplit('.').next().unwrap_or_default().to_owned();
        match treatment(&name) {
            Treatment::Inline { graph } => self.inline(scope, node, &name, graph),
            Treatment::Nested { returns_writes } => {
                self.run_nested(scope, node, target, &name, returns_writes)
            }
        }
    }

    fn inline(
        &mut self,
        scope: &mut Scope<'_>,
        node: &graven_ir::Node,
        name: &str,
        graph_at: usize,
    ) -> Result<Binding, FunctionalizeError> {
        let graph = node
            .inputs
            .get(graph_at)
            .and_then(|input| graph_of(scope, &input.argument));
        let Some(graph) = graph else {
            return Err(self.error(Problem::Malformed(format!("`{name}` has no graph"))));
        };
        let source = scope.graph;
        let inner = &source.graphs[graph.0 as usize].graph;
        let mut inner_scope = Scope::new(inner);
        let operands = node.inputs.get(graph_at + 1..).unwrap_or_default();
        let placeholders: Vec<NodeId> = inner.placeholders().map(|(id, _)| id).collect();
        if placeholders.len() != operands.len() {
            return Err(self.error(Problem::Malformed(format!(
                "`{name}` has operands that its graph does not take"
            ))));
        }
        for (placeholder, operand) in placeholders.into_iter().zip(operands) {
            let binding = self.operand(scope, &operand.argument)?;
            inner_scope.bind(placeholder, binding_of(binding));
        }
        let (current, autocast) = (self.current, self.autocast);
        if name == "wrap_with_autocast" {
            self.autocast = region_dtype(&node.inputs);
        }
        self.run_nodes(&mut inner_scope)?;
        (self.current, self.autocast) = (current, autocast);
        let mut results = Vec::with_capacity(inner.outputs.len());
        for output in &inner.outputs {
            results.push(binding_of(self.operand(&inner_scope, output)?));
        }
        let is_single =
            !matches!(node.value, Value::Tuple(_) | Value::List(_)) && results.len() == 1;
        if is_single {
            return Ok(results.remove(0));
        }
        Ok(Binding::Several(results))
    }

    fn run_nested(
        &mut self,
        scope: &mut Scope<'_>,
        node: &graven_ir::Node,
        target: TargetId,
        name: &str,
        returns_writes: bool,
    ) -> Result<Binding, FunctionalizeError> {
        // Operands first, in order, as their values are recorded before the graphs are.
        let mut lowered: Vec<Option<Argument>> = Vec::with_capacity(node.inputs.len());
        let mut operands: Vec<Operand> = Vec::new();
        let mut graphs: Vec<(usize, GraphId)> = Vec::new();
        for (index, input) in node.inputs.iter().enumerate() {
            if let Some(graph) = graph_of(scope, &input.argument) {
                graphs.push((index, graph));
                lowered.push(None);
                continue;
            }
            let operand = self.operand(scope, &input.argument)?;
            let value = match self.lower(&operand)? {
                // `scan` is given what it only reads as a tuple.
                Argument::List(_, items) if name == "scan" && index + 1 == node.inputs.len() => {
                    Argument::List(ListKind::Tuple, items)
                }
                value => value,
            };
            lowered.push(Some(value));
            flatten_into(operand, &mut operands);
        }
        let source = scope.graph;
        let mut nested = Vec::with_capacity(graphs.len());
        for &(_, graph) in &graphs {
            nested.push(self.run_graph(&source.graphs[graph.0 as usize].graph)?);
        }
        let written = written_operands(&nested);
        if !written.is_empty() && !returns_writes {
            return Err(self.error(Problem::CapturedWrite(name.to_owned())));
        }
        // `cond`'s first operand is the predicate, which no graph takes.
        let tensors = operand_tensors(
            &operands,
            nested.first().map_or(0, |nested| nested.written.len()),
        );
        let attributes = self.record_graphs(source, &graphs, nested, &written, name)?;
        let mut attributes = attributes.into_iter();
        let inputs: Box<[Input]> = node
            .inputs
            .iter()
            .zip(lowered)
            .map(|(input, lowered)| {
                let argument = lowered
                    .or_else(|| attributes.next().map(Argument::Node))
                    .unwrap_or(Argument::None);
                Input {
                    name: input.name,
                    kind: input.kind,
                    argument,
                }
            })
            .collect();
        let value = self.value_with_writes(&node.value, &tensors, &written);
        let call = self.record(target, inputs, value.clone());
        let results = self.record_results(call, &value);
        let mut binding = self.bind(&results);
        if let Binding::Several(items) = &mut binding {
            let returned = items.len().saturating_sub(written.len());
            for (binding, &operand) in items.split_off(returned).into_iter().zip(&written) {
                if let (Binding::Tensor(value), Some(Some(tensor))) =
                    (binding, tensors.get(operand))
                {
                    let value = self.tensor(value).value;
                    self.write_value(*tensor, value, KeepsStrides::No)?;
                }
            }
        }
        Ok(binding)
    }

    /// Runs a nested graph on placeholders of its own.
    fn run_graph(&mut self, source: &Graph) -> Result<Nested, FunctionalizeError> {
        let outer = self.begin_graph();
        let current = self.current;
        let mut scope = Scope::new(source);
        let mut inputs: Vec<Option<TensorId>> = Vec::new();
        for (id, placeholder) in source.placeholders() {
            let node = self.graph.push(placeholder.clone());
            self.note_placeholder(node);
            let tensor = placeholder
                .value
                .as_tensor()
                .map(|meta| self.fresh_tensor(node, meta));
            scope.bind(id, tensor.map_or(Binding::Value(node), Binding::Tensor));
            inputs.push(tensor);
        }
        self.input_tensors = self.tensors.len();
        self.run_nodes(&mut scope)?;
        self.current = current;
        let mut written = Vec::with_capacity(inputs.len());
        for tensor in &inputs {
            let storage = tensor.map(|tensor| self.tensor(tensor).storage);
            let is_written = storage.is_some_and(|storage| self.storage(storage).generation > 0);
            written.push(match tensor {
                Some(tensor) if is_written => Some(self.sync(*tensor)?),
                _ => None,
            });
        }
        let mut outputs = Vec::with_capacity(source.outputs.len());
        for output in &source.outputs {
            let operand = self.operand(&scope, output)?;
            outputs.push(self.lower(&operand)?);
        }
        self.graph.outputs = outputs;
        self.graph.returns_bare_value = source.returns_bare_value;
        self.graph.unknown_fields = source.unknown_fields.clone();
        let graph = self.end_graph(outer);
        Ok(Nested { graph, written })
    }

    /// Puts the nested graphs into the graph that is recorded, with `get_attr` nodes for them.
    fn record_graphs(
        &mut self,
        source: &Graph,
        graphs: &[(usize, GraphId)],
        nested: Vec<Nested>,
        written: &[usize],
        operator: &str,
    ) -> Result<Vec<NodeId>, FunctionalizeError> {
        let mut attributes = Vec::with_capacity(graphs.len());
        for (index, (&(_, id), mut nested)) in graphs.iter().zip(nested).enumerate() {
            let placeholders: Vec<NodeId> = nested.graph.placeholders().map(|(id, _)| id).collect();
            for &operand in written {
                let last = nested.written.get(operand).copied().flatten();
                let value = last.or_else(|| placeholders.get(operand).copied());
                nested.graph.outputs.extend(value.map(Argument::Node));
            }
            self.sweep(&mut nested.graph);
            let name = match graph_names(operator).get(index) {
                Some(base) => self.graph_attribute(base),
                None => source.graphs[id.0 as usize].name,
            };
            let id = GraphId(self.graph.graphs.len() as u32);
            self.graph.graphs.push(NestedGraph {
                name,
                graph: nested.graph,
            });
            attributes.push(self.record_as(name, Op::GetAttr(id), Box::default(), Value::None));
        }
        Ok(attributes)
    }

    /// The first free attribute `base_0`, `base_1`, ...
    fn graph_attribute(&mut self, base: &str) -> graven_ir::NameId {
        let mut number = 0;
        loop {
            let name = self.context.names.intern(&format!("{base}_{number}"));
            if self.graph.graphs.iter().all(|nested| nested.name != name) {
                return name;
            }
            number += 1;
        }
    }

    fn value_with_writes(
        &self,
        value: &Value,
        tensors: &[Option<TensorId>],
        written: &[usize],
    ) -> Value {
        if written.is_empty() {
            return value.clone();
        }
        let mut items: Vec<Value> = match value {
            Value::Tuple(items) | Value::List(items) => items.to_vec(),
            Value::None => Vec::new(),
            value => vec![value.clone()],
        };
        for &operand in written {
            let tensor = tensors.get(operand).copied().flatten();
            items.push(tensor.map_or(Value::None, |tensor| {
                Value::Tensor(self.tensor(tensor).meta)
            }));
        }
        Value::Tuple(items.into())
    }
}

/// The dtype of `wrap_with_autocast(device, dtype, enabled, cache, graph, ...)`; `None` where the
/// region turns autocast off.
fn region_dtype(inputs: &[Input]) -> Option<graven_ir::DType> {
    let enabled = inputs.get(2)?.argument.as_bool()?;
    match inputs.get(1)?.argument {
        Argument::DType(dtype) if enabled => Some(dtype),
        _ => None,
    }
}

/// The operands that any of the graphs writes, by position.
fn written_operands(nested: &[Nested]) -> Vec<usize> {
    let count = nested
        .iter()
        .map(|nested| nested.written.len())
        .max()
        .unwrap_or(0);
    (0..count)
        .filter(|&index| {
            nested
                .iter()
                .any(|nested| matches!(nested.written.get(index), Some(Some(_))))
        })
        .collect()
}

/// The tensors among the last `count` operands: those that a graph takes.
fn operand_tensors(operands: &[Operand], count: usize) -> Vec<Option<TensorId>> {
    let start = operands.len().saturating_sub(count);
    operands[start..]
        .iter()
        .map(|operand| match operand {
            Operand::Tensor(tensor) => Some(*tensor),
            _ => None,
        })
        .collect()
}

fn graph_of(scope: &Scope<'_>, argument: &Argument) -> Option<GraphId> {
    match scope.get(argument.as_node()?) {
        Some(Bound::Graph(graph)) => Some(*graph),
        _ => None,
    }
}

fn binding_of(operand: Operand) -> Binding {
    match operand {
        Operand::Tensor(tensor) => Binding::Tensor(tensor),
        Operand::Fixed(Argument::Node(node)) => Binding::Value(node),
        Operand::Fixed(argument) => Binding::Constant(argument),
        Operand::List(_, items) => Binding::Several(items.into_iter().map(binding_of).collect()),
    }
}

/// Lists of operands taken apart.
fn flatten_into(operand: Operand, flat: &mut Vec<Operand>) {
    match operand {
        Operand::List(_, items) => items.into_iter().for_each(|item| flatten_into(item, flat)),
        Operand::Fixed(Argument::List(_, items)) => {
            flat.extend(items.into_iter().map(Operand::Fixed))
        }
        operand => flat.push(operand),
    }
}
