//! Plans: graphs made ready to run. Targets are looked up, arguments stand in the order of
//! schemas with defaults filled in, and each step knows which values no one needs after it.

use graven_ir::{
    Argument, ArgumentKind, Context, ExportedProgram, Graph, Input, MetadataId, NameId, Node,
    NodeId, Op, Place, Value as Meta,
};
use graven_ops::registry::OperatorId;
use graven_ops::{Registry, SymbolicFunction, TargetKind};
use graven_tensor::{Complex, Value, default_value};

use crate::error::{RuntimeError, RuntimeProblem};
use crate::higher_order::HigherOrder;

/// A graph that is ready to run. A slot holds the value of the node of the same number.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) slots: usize,
    pub(crate) placeholders: Vec<u32>,
    pub(crate) steps: Vec<Step>,
    pub(crate) outputs: Vec<Operand>,
    /// Whether a step, of a nested graph too, writes to an argument.
    pub(crate) writes: bool,
    /// Nested graphs, which operands refer to.
    pub(crate) graphs: Vec<Plan>,
}

/// One node.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) slot: u32,
    pub(crate) action: Action,
    pub(crate) operands: Vec<Operand>,
    /// Slots that no later step reads.
    pub(crate) frees: Vec<u32>,
    pub(crate) name: NameId,
    pub(crate) target: Box<str>,
    pub(crate) metadata: MetadataId,
}

/// What a step does with its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// Calls an operator; operands are in the order of its schema.
    Call(OperatorId),
    /// Computes on numbers.
    Symbolic(SymbolicFunction),
    /// Runs nested graphs. `is_single`: the only result stands for itself.
    HigherOrder {
        operator: HigherOrder,
        is_single: bool,
    },
    /// Calls an operator in the order of effects: the results are the token and what it returned.
    WithEffects(OperatorId),
    /// Reads a result of several.
    GetItem(u32),
}

/// An argument of a step.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Value(Value),
    Slot(u32),
    List(Vec<Operand>),
    /// A nested graph of the plan.
    Graph(u32),
}

impl Step {
    pub(crate) fn place(&self, context: &Context) -> Place {
        Place::new(context, self.name, &self.target, self.metadata)
    }
}

impl Plan {
    /// The plan of the program's graph.
    pub(crate) fn of_program(
        program: &ExportedProgram,
        registry: &Registry,
    ) -> Result<Self, RuntimeError> {
        Self::of_graph(&program.context, &program.graph, registry)
    }

    fn of_graph(
        context: &Context,
        graph: &Graph,
        registry: &Registry,
    ) -> Result<Self, RuntimeError> {
        let planner = Planner {
            context,
            graph,
            registry,
        };
        let graphs = graph
            .graphs
            .iter()
            .map(|nested| Self::of_graph(context, &nested.graph, registry))
            .collect::<Result<Vec<_>, _>>()?;
        let mut steps = Vec::with_capacity(graph.nodes.len());
        for (id, node) in graph.iter() {
            if let Some(step) = planner.step(id, node).map_err(|error| {
                error.or_at(|| Place::new(context, node.name, planner.target(node), node.metadata))
            })? {
                steps.push(step);
            }
        }
        let outputs = graph
            .outputs
            .iter()
            .map(|output| planner.operand(output))
            .collect::<Result<Vec<_>, _>>()?;
        let is_writing = |step: &Step| match step.action {
            Action::Call(operator) | Action::WithEffects(operator) => {
                registry.operator(operator).is_mutable()
            }
            _ => false,
        };
        let writes = steps.iter().any(is_writing) || graphs.iter().any(|graph| graph.writes);
        free_after_last_use(&mut steps, &outputs, graph.nodes.len());
        Ok(Self {
            slots: graph.nodes.len(),
            placeholders: graph.placeholders().map(|(id, _)| id.0).collect(),
            steps,
            outputs,
            writes,
            graphs,
        })
    }
}

/// Tells each step which slots it is the last to read.
fn free_after_last_use(steps: &mut [Step], outputs: &[Operand], slots: usize) {
    let mut is_needed = vec![false; slots];
    for output in outputs {
        output.for_each_slot(&mut |slot| is_needed[slot as usize] = true);
    }
    for step in steps.iter_mut().rev() {
        let mut frees = Vec::new();
        let mut note = |slot: u32| {
            if !std::mem::replace(&mut is_needed[slot as usize], true) {
                frees.push(slot);
            }
        };
        // A value that no one reads goes at once.
        note(step.slot);
        step.operands
            .iter()
            .for_each(|operand| operand.for_each_slot(&mut note));
        step.frees = frees;
    }
}

impl Operand {
    fn for_each_slot(&self, visit: &mut impl FnMut(u32)) {
        match self {
            Self::Slot(slot) => visit(*slot),
            Self::List(items) => items.iter().for_each(|item| item.for_each_slot(visit)),
            Self::Value(_) | Self::Graph(_) => {}
        }
    }
}

struct Planner<'a> {
    context: &'a Context,
    graph: &'a Graph,
    registry: &'a Registry,
}

impl Planner<'_> {
    /// What a node calls, as FX writes it.
    fn target(&self, node: &Node) -> &str {
        match node.op {
            Op::Call(target) => self.context.target_name(target),
            _ => "",
        }
    }

    /// The step of a node; placeholders and nested graphs need none.
    fn step(&self, id: NodeId, node: &Node) -> Result<Option<Step>, RuntimeError> {
        let (action, operands) = match node.op {
            Op::Placeholder | Op::GetAttr(_) => return Ok(None),
            Op::GetItem(index) => (Action::GetItem(index), self.positional(&node.inputs)?),
            Op::Call(_) => self.call(node)?,
        };
        Ok(Some(Step {
            slot: id.0,
            action,
            operands,
            frees: Vec::new(),
            name: node.name,
            target: self.target(node).into(),
            metadata: node.metadata,
        }))
    }

    fn call(&self, node: &Node) -> Result<(Action, Vec<Operand>), RuntimeError> {
        match self.registry.classify(self.target(node)) {
            TargetKind::Operator(operator) => {
                Ok((Action::Call(operator), self.bound(operator, &node.inputs)?))
            }
            TargetKind::Symbolic(function) => {
                Ok((Action::Symbolic(function), self.positional(&node.inputs)?))
            }
            TargetKind::HigherOrder("with_effects") => {
                let operator = node.inputs.get(1).map(|input| &input.argument);
                let Some(Argument::Operator(target)) = operator else {
                    return Err(
                        RuntimeProblem::malformed("`with_effects` names no operator").into(),
                    );
                };
                let target = self.context.target_name(*target);
                let operator = self.registry.find_target(target);
                let operator = operator.ok_or(RuntimeProblem::UnknownOperator)?;
                let inputs = node.inputs.get(2..).unwrap_or(&[]);
                Ok((Action::WithEffects(operator), self.bound(operator, inputs)?))
            }
            TargetKind::HigherOrder(name) => {
                let operator = HigherOrder::from_name(name)
                    .ok_or_else(|| RuntimeProblem::HigherOrder(name.into()))?;
                let is_single = !matches!(node.value, Meta::Tuple(_) | Meta::List(_));
                let action = Action::HigherOrder {
                    operator,
                    is_single,
                };
                Ok((action, self.positional(&node.inputs)?))
            }
            TargetKind::Unknown => Err(RuntimeProblem::UnknownOperator.into()),
        }
    }

    fn positional(&self, inputs: &[Input]) -> Result<Vec<Operand>, RuntimeError> {
        inputs
            .iter()
            .map(|input| self.operand(&input.argument))
            .collect()
    }

    /// The arguments in the order of the operator's schema, defaults filled in.
    fn bound(&self, operator: OperatorId, inputs: &[Input]) -> Result<Vec<Operand>, RuntimeError> {
        let schema = self.registry.operator(operator).schema();
        let mut bound: Vec<Option<Operand>> = vec![None; schema.arguments.len()];
        for (index, input) in inputs.iter().enumerate() {
            let name = self.context.names.get(input.name);
            let position = match input.kind {
                ArgumentKind::Positional => Some(index),
                ArgumentKind::Keyword => schema.argument(name),
            };
            let slot = position.and_then(|position| bound.get_mut(position));
            let slot = slot.ok_or_else(|| {
                RuntimeProblem::malformed(format!("`{schema}` has no argument `{name}`"))
            })?;
            *slot = Some(self.operand(&input.argument)?);
        }
        let filled = bound.into_iter().zip(&schema.arguments);
        filled
            .map(|(operand, argument)| match (operand, &argument.default) {
                (Some(operand), _) => Ok(operand),
                (None, Some(default)) => Ok(Operand::Value(default_value(argument, default)?)),
                (None, None) => Ok(Operand::Value(Value::None)),
            })
            .collect()
    }

    fn operand(&self, argument: &Argument) -> Result<Operand, RuntimeError> {
        let names = &self.context.names;
        Ok(Operand::Value(match argument {
            Argument::None => Value::None,
            Argument::Node(node) => {
                let source = self.graph.nodes.get(node.index());
                let source = source.ok_or_else(|| {
                    RuntimeProblem::malformed("an argument is no node of the graph")
                })?;
                return Ok(match source.op {
                    Op::GetAttr(graph) => Operand::Graph(graph.0),
                    _ => Operand::Slot(node.0),
                });
            }
            Argument::Int(value) => Value::Int(*value),
            Argument::Float(value) => Value::Float(*value),
            Argument::Bool(value) => Value::Bool(*value),
            Argument::Complex(re, im) => Value::Complex(Complex::new(*re, *im)),
            Argument::String(text) => Value::Str(names.get(*text).into()),
            Argument::DType(dtype) => Value::DType(*dtype),
            Argument::MemoryFormat(format) => Value::MemoryFormat(*format),
            Argument::Layout(layout) => Value::Layout(*layout),
            Argument::Device(device) => Value::Device(names.get(device.kind).into()),
            Argument::List(_, items) => {
                let items = items.iter().map(|item| self.operand(item));
                return Ok(Operand::List(items.collect::<Result<_, _>>()?));
            }
            Argument::Operator(_) | Argument::CustomObject(..) | Argument::Dict(_) => {
                return Err(RuntimeProblem::malformed(
                    "an argument is an object that cannot be run",
                )
                .into());
            }
        }))
    }
}
