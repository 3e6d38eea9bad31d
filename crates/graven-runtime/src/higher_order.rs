//! Operators that take graphs: `cond`, `while_loop`, `map_impl`, `scan`, and the regions that
//! change a mode.

use graven_tensor::{Tensor, Value};

use crate::error::{RuntimeError, RuntimeProblem};
use crate::execute::Run;
use crate::plan::Plan;

/// A higher-order operator that can be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HigherOrder {
    /// `cond(predicate, true_graph, false_graph, operands)`
    Cond,
    /// `while_loop(cond_graph, body_graph, carried, additional)`
    WhileLoop,
    /// `map_impl(body, xs, args)`
    Map,
    /// `scan(body, init, xs, additional)`
    Scan,
    /// `wrap_with_set_grad_enabled(enabled, graph, *operands)`
    SetGradEnabled,
    /// `wrap_with_autocast(device, dtype, enabled, cache_enabled, graph, *operands)`
    Autocast,
    /// `wrap(graph, *operands)` and those that are the same without autograd.
    Wrap,
}

impl HigherOrder {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "cond" => Self::Cond,
            "while_loop" => Self::WhileLoop,
            "map_impl" => Self::Map,
            "scan" => Self::Scan,
            "wrap_with_set_grad_enabled" => Self::SetGradEnabled,
            "wrap_with_autocast" => Self::Autocast,
            "wrap" | "tag_activation_checkpoint" | "wrap_activation_checkpoint" => Self::Wrap,
            _ => return None,
        })
    }
}

impl Run<'_> {
    /// Runs the operator on its graphs and its other operands, both in order.
    pub(crate) fn run_higher_order(
        &self,
        operator: HigherOrder,
        graphs: &[&Plan],
        values: Vec<Value>,
    ) -> Result<Vec<Value>, RuntimeError> {
        let unfit = || {
            RuntimeError::from(RuntimeProblem::malformed(format!(
                "{operator:?} is called with operands that it does not take"
            )))
        };
        match (operator, graphs, &*values) {
            (HigherOrder::Cond, [then, otherwise], [predicate, Value::List(operands)]) => {
                let chosen = if is_true(predicate)? { then } else { otherwise };
                self.run(chosen, operands.clone(), None)
            }
            (
                HigherOrder::WhileLoop,
                [condition, body],
                [Value::List(carried), Value::List(additional)],
            ) => self.while_loop(condition, body, carried.clone(), additional),
            (HigherOrder::Map, [body], [Value::List(mapped), Value::List(args)]) => {
                let (_, stacked) = self.scan(body, Vec::new(), mapped, args)?;
                Ok(stacked)
            }
            (
                HigherOrder::Scan,
                [body],
                [
                    Value::List(init),
                    Value::List(scanned),
                    Value::List(additional),
                ],
            ) => {
                let (mut carried, stacked) = self.scan(body, init.clone(), scanned, additional)?;
                carried.extend(stacked);
                Ok(carried)
            }
            (HigherOrder::Wrap, [graph], _) => self.run(graph, values, None),
            (HigherOrder::SetGradEnabled, [graph], [_, operands @ ..]) => {
                self.run(graph, operands.to_vec(), None)
            }
            (
                HigherOrder::Autocast,
                [graph],
                [_, dtype, Value::Bool(enabled), _, operands @ ..],
            ) => {
                let region = match dtype {
                    Value::DType(dtype) if *enabled => Some(*dtype),
                    _ => None,
                };
                let outer = self.autocast.replace(region);
                let results = self.run(graph, operands.to_vec(), None);
                self.autocast.set(outer);
                results
            }
            _ => Err(unfit()),
        }
    }

    fn while_loop(
        &self,
        condition: &Plan,
        body: &Plan,
        mut carried: Vec<Value>,
        additional: &[Value],
    ) -> Result<Vec<Value>, RuntimeError> {
        loop {
            let inputs: Vec<Value> = carried.iter().chain(additional).cloned().collect();
            let goes_on = self.run(condition, inputs.clone(), None)?;
            let goes_on = goes_on.first();
            let goes_on = goes_on.ok_or_else(|| {
                RuntimeProblem::malformed("the condition of `while_loop` returns nothing")
            })?;
            if !is_true(goes_on)? {
                return Ok(carried);
            }
            carried = self.run(body, inputs, None)?;
        }
    }

    /// Runs the body on each slice of `scanned` along the first dimension. What it returns first
    /// is carried to the next, the rest is stacked.
    fn scan(
        &self,
        body: &Plan,
        mut carried: Vec<Value>,
        scanned: &[Value],
        additional: &[Value],
    ) -> Result<(Vec<Value>, Vec<Value>), RuntimeError> {
        let count = scanned.first().and_then(Value::as_tensor);
        let count = count.map_or(0, |tensor| tensor.array().size(0));
        let mut collected: Vec<Vec<Value>> = Vec::new();
        for index in 0..count {
            let mut inputs = carried.clone();
            for tensor in scanned {
                let args = [tensor.clone(), Value::Int(0), Value::Int(index as i64)];
                inputs.push(self.invoke("aten::select.int", &args)?);
            }
            inputs.extend(additional.iter().cloned());
            let mut results = self.run(body, inputs, None)?;
            if results.len() < carried.len() {
                return Err(RuntimeProblem::malformed("a body returns too few values").into());
            }
            let stacked = results.split_off(carried.len());
            carried = results;
            collected.resize(stacked.len(), Vec::new());
            for (column, value) in collected.iter_mut().zip(stacked) {
                column.push(value);
            }
        }
        let stacked = collected.into_iter().map(|column| match column.first() {
            Some(Value::Tensor(_)) => self.invoke("aten::stack", &[Value::List(column)]),
            _ => Ok(Value::None),
        });
        Ok((carried, stacked.collect::<Result<_, _>>()?))
    }

    fn invoke(&self, operator: &str, args: &[Value]) -> Result<Value, RuntimeError> {
        let result = self.eager.invoke(operator, args, &[]);
        Ok(result.map_err(RuntimeProblem::from)?)
    }
}

fn is_true(value: &Value) -> Result<bool, RuntimeError> {
    let item = value.as_tensor().map(Tensor::array);
    let scalar = match item {
        Some(array) => Some(array.item()?),
        None => value.as_scalar(),
    };
    let scalar = scalar
        .ok_or_else(|| RuntimeProblem::malformed(format!("{} is no condition", value.kind())))?;
    Ok(scalar.to_f64() != 0.0)
}
