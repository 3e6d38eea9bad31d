//! One call of an operator, as its kernel sees it.

use graven_ir::{DType, MemoryFormat};
use graven_ops::Operator;
use smallvec::SmallVec;

use crate::array::Array;
use crate::eager::Eager;
use crate::error::Problem;
use crate::random::Generator;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::value::Value;

/// A call: the operator, and its arguments in the order of the schema, defaults filled in.
///
/// Arguments are read by their position in the schema.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    eager: &'a Eager,
    operator: &'a Operator,
    args: &'a [Value],
}

impl<'a> Call<'a> {
    pub(crate) fn new(eager: &'a Eager, operator: &'a Operator, args: &'a [Value]) -> Self {
        Self {
            eager,
            operator,
            args,
        }
    }

    /// The operator.
    pub fn operator(&self) -> &'a Operator {
        self.operator
    }

    /// Calls other operators.
    pub fn eager(&self) -> &'a Eager {
        self.eager
    }

    /// Runs `draw` with the random number generator.
    pub fn with_generator<R>(&self, draw: impl FnOnce(&mut Generator) -> R) -> R {
        self.eager.with_generator(draw)
    }

    /// All arguments.
    pub fn args(&self) -> &'a [Value] {
        self.args
    }

    /// The argument.
    pub fn value(&self, position: usize) -> &'a Value {
        self.args.get(position).unwrap_or(&Value::None)
    }

    fn wrong(&self, position: usize, expected: &'static str) -> Problem {
        let schema = self.operator.schema();
        let name = schema.arguments.get(position);
        Problem::Argument {
            argument: name.map_or_else(|| "?".into(), |argument| argument.name.clone()),
            expected,
            found: self.value(position).kind().into(),
        }
    }

    /// The tensor object, for operators that write it.
    pub fn tensor(&self, position: usize) -> Result<&'a Tensor, Problem> {
        let tensor = self.value(position).as_tensor();
        tensor.ok_or_else(|| self.wrong(position, "a tensor"))
    }

    /// The tensor as it is now, conjugate and negative bits not applied: for views.
    pub fn unresolved(&self, position: usize) -> Result<Array, Problem> {
        self.tensor(position).map(Tensor::array)
    }

    /// The tensor as it is now, without bits.
    pub fn array(&self, position: usize) -> Result<Array, Problem> {
        let array = self.unresolved(position)?;
        match array.is_conjugate() || array.is_negative() {
            true => array.resolved(),
            false => Ok(array),
        }
    }

    /// The tensor, or `None`.
    pub fn optional_array(&self, position: usize) -> Result<Option<Array>, Problem> {
        match self.value(position) {
            Value::None => Ok(None),
            _ => self.array(position).map(Some),
        }
    }

    /// The list of tensors.
    pub fn arrays(&self, position: usize) -> Result<Vec<Array>, Problem> {
        let arrays = self.optional_arrays(position)?.into_iter().collect();
        let arrays: Option<Vec<Array>> = arrays;
        arrays.ok_or_else(|| self.wrong(position, "a list of tensors"))
    }

    /// The list of tensors, some of which may be `None`.
    pub fn optional_arrays(&self, position: usize) -> Result<Vec<Option<Array>>, Problem> {
        let wrong = || self.wrong(position, "a list of tensors");
        let items = self.value(position).as_list().ok_or_else(wrong)?;
        let arrays = items.iter().map(|item| match item {
            Value::Tensor(tensor) => tensor.array().resolved().map(Some),
            Value::None => Ok(None),
            _ => Err(wrong()),
        });
        arrays.collect()
    }

    /// The integer. A truth value counts as 0 or 1, a tensor of one integer as its element.
    pub fn int(&self, position: usize) -> Result<i64, Problem> {
        self.optional_int(position)?
            .ok_or_else(|| self.wrong(position, "an integer"))
    }

    /// The integer, or `None`.
    pub fn optional_int(&self, position: usize) -> Result<Option<i64>, Problem> {
        match self.value(position) {
            Value::None => Ok(None),
            value => int(value)
                .map(Some)
                .ok_or_else(|| self.wrong(position, "an integer")),
        }
    }

    /// The list of integers. A single one is a list of one.
    pub fn ints(&self, position: usize) -> Result<SmallVec<[i64; 6]>, Problem> {
        self.optional_ints(position)?
            .ok_or_else(|| self.wrong(position, "a list of integers"))
    }

    /// The list of integers, or `None`.
    pub fn optional_ints(&self, position: usize) -> Result<Option<SmallVec<[i64; 6]>>, Problem> {
        let wrong = || self.wrong(position, "a list of integers");
        match self.value(position) {
            Value::None => Ok(None),
            Value::List(items) => {
                let items: Option<SmallVec<[i64; 6]>> = items.iter().map(int).collect();
                items.map(Some).ok_or_else(wrong)
            }
            value => int(value)
                .map(|value| Some(SmallVec::from_slice(&[value])))
                .ok_or_else(wrong),
        }
    }

    /// The list of integers, of this length: a single one stands for all, as for `int[2]`.
    pub fn ints_of(&self, position: usize, count: usize) -> Result<SmallVec<[i64; 6]>, Problem> {
        let ints = self.ints(position)?;
        match ints.len() {
            1 => Ok(SmallVec::from_elem(ints[0], count)),
            length if length == count => Ok(ints),
            _ => Err(self.wrong(
                position,
                "a list of as many integers as the operator has dimensions",
            )),
        }
    }

    /// The list of sizes: integers that are not negative.
    pub fn sizes(&self, position: usize) -> Result<crate::geometry::Dims, Problem> {
        let wrong = || self.wrong(position, "a list of sizes, none negative");
        let ints = self.ints(position)?;
        ints.iter()
            .map(|size| usize::try_from(*size).map_err(|_| wrong()))
            .collect()
    }

    /// The float; an integer counts as one.
    pub fn float(&self, position: usize) -> Result<f64, Problem> {
        self.optional_float(position)?
            .ok_or_else(|| self.wrong(position, "a number"))
    }

    /// The float, or `None`.
    pub fn optional_float(&self, position: usize) -> Result<Option<f64>, Problem> {
        Ok(self.optional_scalar(position)?.map(Scalar::to_f64))
    }

    /// The list of floats.
    pub fn floats(&self, position: usize) -> Result<Vec<f64>, Problem> {
        let wrong = || self.wrong(position, "a list of numbers");
        let items = self.value(position).as_list().ok_or_else(wrong)?;
        let number = |item: &Value| item.as_scalar().map(Scalar::to_f64).ok_or_else(wrong);
        items.iter().map(number).collect()
    }

    /// The truth value.
    pub fn bool(&self, position: usize) -> Result<bool, Problem> {
        match self.value(position) {
            Value::Bool(value) => Ok(*value),
            Value::None => Ok(false),
            Value::Int(value) => Ok(*value != 0),
            _ => Err(self.wrong(position, "a truth value")),
        }
    }

    /// The truth value, or `None`.
    pub fn optional_bool(&self, position: usize) -> Result<Option<bool>, Problem> {
        match self.value(position) {
            Value::None => Ok(None),
            _ => self.bool(position).map(Some),
        }
    }

    /// The number.
    pub fn scalar(&self, position: usize) -> Result<Scalar, Problem> {
        self.optional_scalar(position)?
            .ok_or_else(|| self.wrong(position, "a number"))
    }

    /// The number, or `None`.
    pub fn optional_scalar(&self, position: usize) -> Result<Option<Scalar>, Problem> {
        match self.value(position) {
            Value::None => Ok(None),
            Value::Tensor(tensor) => tensor.array().item().map(Some),
            value => value
                .as_scalar()
                .map(Some)
                .ok_or_else(|| self.wrong(position, "a number")),
        }
    }

    /// The string, or `None`.
    pub fn optional_str(&self, position: usize) -> Result<Option<&'a str>, Problem> {
        match self.value(position) {
            Value::None => Ok(None),
            Value::Str(text) => Ok(Some(text)),
            _ => Err(self.wrong(position, "a string")),
        }
    }

    /// The dtype, or `None`.
    pub fn optional_dtype(&self, position: usize) -> Result<Option<DType>, Problem> {
        match self.value(position) {
            Value::None => Ok(None),
            Value::DType(dtype) => Ok(Some(*dtype)),
            _ => Err(self.wrong(position, "a dtype")),
        }
    }

    /// The memory format, or `None`.
    pub fn optional_memory_format(&self, position: usize) -> Result<Option<MemoryFormat>, Problem> {
        match self.value(position) {
            Value::None => Ok(None),
            Value::MemoryFormat(format) => Ok(Some(*format)),
            _ => Err(self.wrong(position, "a memory format")),
        }
    }
}

/// An integer: one, a truth value, or the element of a tensor.
fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value) => Some(*value),
        Value::Bool(value) => Some(i64::from(*value)),
        Value::Tensor(tensor) => match tensor.array().item() {
            Ok(Scalar::Int(value)) => Some(value),
            Ok(Scalar::Bool(value)) => Some(i64::from(value)),
            _ => None,
        },
        _ => None,
    }
}
