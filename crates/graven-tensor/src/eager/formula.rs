//! Composites: the catalogue's formulas, computed on tensors at once.

use graven_ir::schema::Schema;
use graven_ir::{Context, Device, Layout, SymInt, TensorMeta};
use graven_ops::composite::{self, Outcome};
use graven_ops::emit::{Arg, Emit};
use graven_ops::{Call as FormulaCall, Operator};

use super::Eager;
use crate::array::Array;
use crate::error::Problem;
use crate::tensor::Tensor;
use crate::value::Value;

/// A tensor, and its metadata as formulas read it.
#[derive(Clone, Debug)]
struct Evaluated {
    tensor: Tensor,
    meta: TensorMeta,
}

/// Formulas' door to eager calls.
struct Evaluator<'a> {
    eager: &'a Eager,
    context: Context,
    cpu: Device,
}

/// Whether there is a formula for the operator with this full name.
pub(super) fn exists(operator: &str) -> bool {
    composite::formula::<Evaluator<'_>>(operator).is_some()
}

impl Eager {
    /// Computes an operator by its formula; `None` when it has none.
    pub(super) fn call_formula(
        &self,
        operator: &Operator,
        args: &[Value],
    ) -> Result<Option<Value>, Problem> {
        let schema = operator.schema();
        let name = schema.name.to_string();
        let Some(formula) = composite::formula::<Evaluator<'_>>(&name) else {
            return Ok(None);
        };
        let mut context = Context::default();
        let cpu = Device {
            kind: context.names.intern("cpu"),
            index: None,
        };
        let mut evaluator = Evaluator {
            eager: self,
            context,
            cpu,
        };
        let (args, kwargs) = evaluator.formula_args(schema, args)?;
        let call = FormulaCall::new(schema, &args, &kwargs)?;
        let outcome = formula(&mut evaluator, &call)?;
        let values = match outcome {
            Outcome::Input(value) => vec![value],
            Outcome::Values(values) => values,
        };
        let mut values: Vec<Value> = values
            .into_iter()
            .map(|value| Value::Tensor(value.tensor))
            .collect();
        let is_list = matches!(&*schema.returns, [only] if only.ty.is_list());
        Ok(Some(match (values.len(), is_list) {
            (1, false) => values.remove(0),
            _ => Value::List(values),
        }))
    }
}

/// Arguments by position, and arguments by name.
type FormulaArgs<'s> = (Vec<Arg<Evaluated>>, Vec<(&'s str, Arg<Evaluated>)>);

impl Evaluator<'_> {
    /// Arguments that are `None` are left out where the schema has a default, as a program that
    /// does not give them leaves them out.
    fn formula_args<'s>(
        &mut self,
        schema: &'s Schema,
        args: &[Value],
    ) -> Result<FormulaArgs<'s>, Problem> {
        let mut positional = Vec::new();
        let mut keywords = Vec::new();
        for (argument, value) in schema.arguments.iter().zip(args) {
            let arg = self.arg(value)?;
            if matches!(arg, Arg::None) && argument.default.is_some() {
                continue;
            }
            if argument.keyword_only || positional.len() < keywords.len() {
                keywords.push((&*argument.name, arg));
            } else {
                positional.push(arg);
            }
        }
        Ok((positional, keywords))
    }

    fn evaluated(&self, tensor: Tensor) -> Evaluated {
        let meta = meta_of(&tensor.array(), self.cpu);
        Evaluated { tensor, meta }
    }

    fn arg(&self, value: &Value) -> Result<Arg<Evaluated>, Problem> {
        Ok(match value {
            Value::None => Arg::None,
            Value::Tensor(tensor) => Arg::Value(self.evaluated(tensor.clone())),
            Value::Int(value) => Arg::int(*value),
            Value::Float(value) => Arg::Float(*value),
            Value::Bool(value) => Arg::Bool(*value),
            Value::Complex(value) => Arg::Complex(value.re, value.im),
            Value::Str(text) => Arg::Str((&**text).into()),
            Value::DType(dtype) => Arg::DType(*dtype),
            Value::Layout(layout) => Arg::Layout(*layout),
            Value::Device(_) => Arg::Device(self.cpu),
            Value::MemoryFormat(format) => Arg::MemoryFormat(*format),
            Value::List(items) => {
                let items = items.iter().map(|item| self.arg(item));
                Arg::List(items.collect::<Result<_, _>>()?)
            }
        })
    }
}

fn to_value(arg: &Arg<Evaluated>) -> Result<Value, Problem> {
    Ok(match arg {
        Arg::None => Value::None,
        Arg::Value(value) => Value::Tensor(value.tensor.clone()),
        Arg::Int(SymInt::Int(value)) => Value::Int(*value),
        Arg::Int(SymInt::Expr(_)) => {
            return Err(Problem::invalid("a size is not known"));
        }
        Arg::Float(value) => Value::Float(*value),
        Arg::Bool(value) => Value::Bool(*value),
        Arg::Complex(re, im) => Value::Complex(crate::element::Complex::new(*re, *im)),
        Arg::Str(text) => Value::Str((&**text).into()),
        Arg::DType(dtype) => Value::DType(*dtype),
        Arg::Layout(layout) => Value::Layout(*layout),
        Arg::Device(_) => Value::Device("cpu".into()),
        Arg::MemoryFormat(format) => Value::MemoryFormat(*format),
        Arg::List(items) => Value::List(items.iter().map(to_value).collect::<Result<_, _>>()?),
    })
}

/// An array's geometry as metadata.
fn meta_of(array: &Array, cpu: Device) -> TensorMeta {
    let int = |value: &usize| SymInt::Int(i64::try_from(*value).unwrap_or(i64::MAX));
    TensorMeta {
        dtype: array.dtype(),
        sizes: array.sizes().iter().map(int).collect(),
        strides: array.strides().iter().map(int).collect(),
        storage_offset: int(&array.offset()),
        layout: Layout::Strided,
        device: cpu,
        requires_grad: false,
    }
}

impl Emit for Evaluator<'_> {
    type Value = Evaluated;
    type Error = Problem;

    fn call(
        &mut self,
        operator: &str,
        args: &[Arg<Evaluated>],
        kwargs: &[(&str, Arg<Evaluated>)],
    ) -> Result<Vec<Evaluated>, Problem> {
        let args: Vec<Value> = args.iter().map(to_value).collect::<Result<_, _>>()?;
        let kwargs: Vec<(&str, Value)> = kwargs
            .iter()
            .map(|(name, arg)| Ok((*name, to_value(arg)?)))
            .collect::<Result<_, Problem>>()?;
        let result = self.eager.invoke(operator, &args, &kwargs)?;
        let results = match result {
            Value::List(results) => results,
            result => vec![result],
        };
        let tensors = results.into_iter().filter_map(|result| match result {
            Value::Tensor(tensor) => Some(self.evaluated(tensor)),
            _ => None,
        });
        Ok(tensors.collect())
    }

    fn meta<'a>(&'a self, value: &'a Evaluated) -> &'a TensorMeta {
        &value.meta
    }

    fn is_conjugate(&self, value: &Evaluated) -> bool {
        value.tensor.array().is_conjugate()
    }

    fn is_negative(&self, value: &Evaluated) -> bool {
        value.tensor.array().is_negative()
    }

    fn context(&mut self) -> &mut Context {
        &mut self.context
    }
}
