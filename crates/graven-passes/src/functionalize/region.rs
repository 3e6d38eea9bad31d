//! Running the nodes of a source graph through the machine.

use graven_ir::{Argument, ExportedProgram, Graph, GraphId, Node, NodeId, Op, TargetId};

use super::call::list_of;
use super::error::{FunctionalizeError, Problem};
use super::facts::Fact;
use super::machine::{Binding, CallInput, Machine, Operand, TensorId};

/// What the nodes of one source graph are bound to; nested graphs have their own.
#[derive(Debug)]
pub(crate) struct Scope<'g> {
    pub(crate) graph: &'g Graph,
    bindings: Vec<Option<Bound>>,
}

/// A node's binding in a scope.
#[derive(Clone, Debug)]
pub(crate) enum Bound {
    /// A value.
    Value(Binding),
    /// A nested graph.
    Graph(GraphId),
}

impl<'g> Scope<'g> {
    pub(crate) fn new(graph: &'g Graph) -> Self {
        Self {
            graph,
            bindings: vec![None; graph.nodes.len()],
        }
    }

    pub(crate) fn bind(&mut self, node: NodeId, binding: Binding) {
        if let Some(slot) = self.bindings.get_mut(node.index()) {
            *slot = Some(Bound::Value(binding));
        }
    }

    pub(crate) fn get(&self, node: NodeId) -> Option<&Bound> {
        self.bindings.get(node.index())?.as_ref()
    }
}

impl Machine<'_> {
    /// Runs the nodes of a graph whose placeholders are bound.
    pub(crate) fn run_nodes(&mut self, scope: &mut Scope<'_>) -> Result<(), FunctionalizeError> {
        let graph = scope.graph;
        for (id, node) in graph.iter() {
            if node.op == Op::Placeholder {
                continue;
            }
            self.enter(node);
            let bound = self
                .run_node(scope, node)
                .map_err(|error| error.or_at(self))?;
            scope.bindings[id.index()] = Some(bound);
        }
        Ok(())
    }

    /// Errors and recorded nodes refer to `node` from now on.
    pub(crate) fn enter(&mut self, node: &Node) {
        self.metadata = node.metadata;
        let target = match node.op {
            Op::Call(target) => self.context.target_name_id(target),
            _ => None,
        };
        self.current = Some((node.name, target.unwrap_or(self.empty_name)));
    }

    fn run_node(
        &mut self,
        scope: &mut Scope<'_>,
        node: &Node,
    ) -> Result<Bound, FunctionalizeError> {
        Ok(match node.op {
            Op::GetAttr(graph) => Bound::Graph(graph),
            Op::GetItem(index) => Bound::Value(self.run_getitem(scope, node, index as usize)?),
            Op::Call(target) => Bound::Value(self.run_call(scope, node, target)?),
            Op::Placeholder => {
                return Err(self.error(Problem::Malformed("placeholders stand first".to_owned())));
            }
        })
    }

    fn run_getitem(
        &mut self,
        scope: &Scope<'_>,
        node: &Node,
        index: usize,
    ) -> Result<Binding, FunctionalizeError> {
        let source = node
            .inputs
            .first()
            .and_then(|input| input.argument.as_node());
        match source.and_then(|source| scope.get(source)) {
            Some(Bound::Value(Binding::Several(items))) => match items.get(index) {
                Some(binding) => Ok(binding.clone()),
                None => Err(self.error(Problem::Malformed(format!("there is no result {index}")))),
            },
            // A list of one result that is bound alone.
            Some(Bound::Value(binding)) if index == 0 => Ok(binding.clone()),
            _ => Err(self.error(Problem::Malformed(
                "reads a result of a node that has none".to_owned(),
            ))),
        }
    }

    fn run_call(
        &mut self,
        scope: &mut Scope<'_>,
        node: &Node,
        target: TargetId,
    ) -> Result<Binding, FunctionalizeError> {
        let fact = self
            .facts
            .of(&mut self.context, self.registry, target)
            .map_err(|problem| self.error(problem))?;
        if fact == Fact::HigherOrder {
            return self.run_higher_order(scope, node, target);
        }
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            let operand = self.operand(scope, &input.argument)?;
            inputs.push(CallInput {
                name: input.name,
                kind: input.kind,
                operand,
            });
        }
        self.cast_for_autocast(target, &mut inputs)?;
        self.dispatch(target, inputs, Some(&node.value))
    }

    /// An argument of the source graph, with its nodes replaced by what they are bound to.
    pub(crate) fn operand(
        &self,
        scope: &Scope<'_>,
        argument: &Argument,
    ) -> Result<Operand, FunctionalizeError> {
        Ok(match argument {
            Argument::Node(node) => match scope.get(*node) {
                Some(Bound::Value(binding)) => self.operand_of(binding)?,
                _ => {
                    return Err(self.error(Problem::Malformed(
                        "uses a value that has none yet".to_owned(),
                    )));
                }
            },
            Argument::List(kind, items) => {
                let items: Result<Vec<Operand>, _> =
                    items.iter().map(|item| self.operand(scope, item)).collect();
                list_of(*kind, items?)
            }
            other => Operand::Fixed(other.clone()),
        })
    }

    fn operand_of(&self, binding: &Binding) -> Result<Operand, FunctionalizeError> {
        Ok(match binding {
            Binding::Tensor(tensor) => Operand::Tensor(*tensor),
            Binding::Value(node) => Operand::Fixed(Argument::Node(*node)),
            Binding::Constant(argument) => Operand::Fixed(argument.clone()),
            Binding::Several(items) => {
                let items: Result<Vec<Operand>, _> =
                    items.iter().map(|item| self.operand_of(item)).collect();
                list_of(graven_ir::ListKind::Tensors, items?)
            }
        })
    }

    /// Whether a tensor is an input of the program: a parameter, a buffer, a user input.
    pub(crate) fn is_program_input(&self, tensor: TensorId) -> bool {
        (tensor.0 as usize) < self.input_tensors
    }
}

/// What a finished run gives.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) graph: Graph,
    pub(crate) signature: graven_ir::GraphSignature,
    pub(crate) metadata_mutations: Vec<graven_ir::MetadataMutation>,
    pub(crate) writes: Vec<super::WriteRecord>,
}

impl Machine<'_> {
    /// Runs a whole program.
    pub(crate) fn run(
        &mut self,
        program: &ExportedProgram,
    ) -> Result<Finished, FunctionalizeError> {
        let order = super::order::placeholder_order(&self.context, program);
        let mut scope = Scope::new(&program.graph);
        let inputs = self.bind_inputs(program, &order, &mut scope)?;
        self.run_nodes(&mut scope)?;
        self.finish(program, &scope, &inputs)
    }
}
