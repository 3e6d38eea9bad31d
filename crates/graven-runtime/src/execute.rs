//! The reference executor: a plan, step by step.

use std::cell::Cell;

use graven_ir::{Context, DType, NameId};
use graven_tensor::{Eager, Value};

use crate::autocast;
use crate::error::{RuntimeError, RuntimeProblem};
use crate::plan::{Action, Operand, Plan, Step};
use crate::symbolic;

/// Sees each value of the top-level graph as it is computed.
pub trait Observer {
    /// The node called `name` was computed. Values that it writes are written.
    fn computed(&mut self, name: &str, value: &Value);
}

/// One run of a program.
pub(crate) struct Run<'a> {
    pub(crate) eager: &'a Eager,
    pub(crate) context: &'a Context,
    /// The dtype of the autocast region that is being run.
    pub(crate) autocast: Cell<Option<DType>>,
}

/// The values of one graph's nodes.
struct Frame<'p> {
    plan: &'p Plan,
    slots: Vec<Option<Value>>,
}

impl Run<'_> {
    /// Runs a plan on the values of its placeholders, and gives its outputs.
    pub(crate) fn run(
        &self,
        plan: &Plan,
        inputs: Vec<Value>,
        mut observer: Option<&mut dyn Observer>,
    ) -> Result<Vec<Value>, RuntimeError> {
        if inputs.len() != plan.placeholders.len() {
            let (found, expected) = (inputs.len(), plan.placeholders.len());
            return Err(RuntimeProblem::malformed(format!(
                "a graph of {expected} placeholders is called with {found} values"
            ))
            .into());
        }
        let mut frame = Frame {
            plan,
            slots: vec![None; plan.slots],
        };
        for (slot, input) in plan.placeholders.iter().zip(inputs) {
            frame.slots[*slot as usize] = Some(input);
        }
        for step in &plan.steps {
            let value = self.step(&frame, step);
            let value = value.map_err(|error| error.or_at(|| step.place(self.context)))?;
            if let Some(observer) = &mut observer {
                observer.computed(self.name(step.name), &value);
            }
            frame.slots[step.slot as usize] = Some(value);
            for slot in &step.frees {
                frame.slots[*slot as usize] = None;
            }
        }
        plan.outputs
            .iter()
            .map(|output| frame.value(output))
            .collect()
    }

    fn name(&self, name: NameId) -> &str {
        self.context.names.get(name)
    }

    fn step(&self, frame: &Frame<'_>, step: &Step) -> Result<Value, RuntimeError> {
        if let Action::HigherOrder {
            operator,
            is_single,
        } = step.action
        {
            let (mut graphs, mut values) = (Vec::new(), Vec::new());
            for operand in &step.operands {
                match operand {
                    Operand::Graph(graph) => graphs.push(frame.graph(*graph)?),
                    operand => values.push(frame.value(operand)?),
                }
            }
            let mut results = self.run_higher_order(operator, &graphs, values)?;
            return Ok(match (is_single, results.len()) {
                (true, 1) => results.remove(0),
                _ => Value::List(results),
            });
        }
        let mut args = step
            .operands
            .iter()
            .map(|operand| frame.value(operand))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(match step.action {
            Action::Call(operator) => {
                self.cast(operator, &mut args)?;
                self.eager
                    .call(operator, &args)
                    .map_err(RuntimeProblem::from)?
            }
            Action::WithEffects(operator) => {
                let result = self.eager.call(operator, &args);
                match result.map_err(RuntimeProblem::from)? {
                    Value::None => Value::List(vec![Value::None]),
                    Value::List(mut results) => {
                        results.insert(0, Value::None);
                        Value::List(results)
                    }
                    result => Value::List(vec![Value::None, result]),
                }
            }
            Action::Symbolic(function) => symbolic::compute(function, &args)?,
            Action::GetItem(index) => {
                let item = args.first().and_then(Value::as_list);
                let item = item.and_then(|items| items.get(index as usize));
                item.cloned().ok_or_else(|| {
                    RuntimeProblem::malformed(format!("there is no result {index}"))
                })?
            }
            // Handled above.
            Action::HigherOrder { .. } => Value::None,
        })
    }

    /// Casts arguments as the autocast region asks for.
    fn cast(
        &self,
        operator: graven_ops::OperatorId,
        args: &mut [Value],
    ) -> Result<(), RuntimeError> {
        match self.autocast.get() {
            Some(dtype) => {
                let operator = self.eager.registry().operator(operator);
                autocast::cast(self.eager, operator, dtype, args)
            }
            None => Ok(()),
        }
    }
}

impl<'p> Frame<'p> {
    fn value(&self, operand: &Operand) -> Result<Value, RuntimeError> {
        match operand {
            Operand::Value(value) => Ok(value.clone()),
            Operand::Slot(slot) => {
                let value = self.slots.get(*slot as usize).cloned().flatten();
                let missing = || RuntimeProblem::malformed("a value is used before it is computed");
                Ok(value.ok_or_else(missing)?)
            }
            Operand::List(items) => {
                let items = items.iter().map(|item| self.value(item));
                Ok(Value::List(items.collect::<Result<_, _>>()?))
            }
            Operand::Graph(_) => {
                Err(RuntimeProblem::malformed("a nested graph is no value").into())
            }
        }
    }

    fn graph(&self, graph: u32) -> Result<&'p Plan, RuntimeError> {
        let graph = self.plan.graphs.get(graph as usize);
        Ok(graph.ok_or_else(|| RuntimeProblem::malformed("a nested graph is missing"))?)
    }
}
