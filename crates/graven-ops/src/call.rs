//! One call of an operator, its arguments found by their names in the schema.
//!
//! Rules and decompositions read a call through [`Call`], so that they need not know what was
//! given by position, what by name, and what was left to its default.

use graven_ir::schema::{DefaultValue, Schema, SchemaArgument};
use graven_ir::value::Dims;
use graven_ir::{DType, Device, Layout, MemoryFormat, SymInt};

use crate::emit::{Arg, EmitError};

/// A call of an operator.
#[derive(Debug)]
pub struct Call<'a, V> {
    /// The operator's schema.
    pub schema: &'a Schema,
    /// What was given by position.
    pub args: &'a [Arg<V>],
    /// What was given by name.
    pub kwargs: &'a [(&'a str, Arg<V>)],
}

// Derived, these would ask the same of `V`.
impl<V> Clone for Call<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Call<'_, V> {}

/// An argument: given, or left to its default.
enum Found<'a, V> {
    Given(&'a Arg<V>),
    Default(&'a DefaultValue),
}

impl<'a, V> Call<'a, V> {
    /// The call of the operator with `schema`.
    ///
    /// # Errors
    /// When there are too many arguments, an unknown one, or one is missing.
    pub fn new(
        schema: &'a Schema,
        args: &'a [Arg<V>],
        kwargs: &'a [(&'a str, Arg<V>)],
    ) -> Result<Self, EmitError> {
        let fits = schema.check_call(args.len(), kwargs.iter().map(|(name, _)| *name));
        fits.map_err(|error| EmitError::Shape {
            operator: schema.name.to_string(),
            problem: error.to_string(),
        })?;
        Ok(Self {
            schema,
            args,
            kwargs,
        })
    }

    /// The operator's full name.
    pub fn operator(&self) -> String {
        self.schema.name.to_string()
    }

    /// The argument as it was given; `None` when it was left to its default.
    pub fn given(&self, name: &str) -> Option<&'a Arg<V>> {
        let position = self.schema.argument(name)?;
        self.args.get(position).or_else(|| {
            let keyword = self.kwargs.iter().find(|(keyword, _)| *keyword == name);
            keyword.map(|(_, arg)| arg)
        })
    }

    fn declared(&self, name: &str) -> Option<&'a SchemaArgument> {
        let position = self.schema.argument(name)?;
        self.schema.arguments.get(position)
    }

    fn find(&self, name: &str) -> Result<Found<'a, V>, EmitError> {
        if let Some(arg) = self.given(name) {
            return Ok(Found::Given(arg));
        }
        let default = self
            .declared(name)
            .and_then(|declared| declared.default.as_ref());
        default
            .map(Found::Default)
            .ok_or_else(|| self.problem(name, "is missing"))
    }

    /// The error that says what is wrong with an argument.
    pub fn problem(&self, argument: &str, problem: &str) -> EmitError {
        EmitError::Argument {
            operator: self.operator(),
            argument: argument.to_owned(),
            problem: problem.to_owned(),
        }
    }

    /// The error that says why the arguments do not fit together.
    pub fn unfit(&self, problem: impl Into<String>) -> EmitError {
        EmitError::Shape {
            operator: self.operator(),
            problem: problem.into(),
        }
    }

    /// A tensor.
    pub fn tensor(&self, name: &str) -> Result<&'a V, EmitError> {
        self.optional_tensor(name)?
            .ok_or_else(|| self.problem(name, "must be a tensor"))
    }

    /// A tensor or `None`.
    pub fn optional_tensor(&self, name: &str) -> Result<Option<&'a V>, EmitError> {
        match self.find(name)? {
            Found::Given(Arg::Value(value)) => Ok(Some(value)),
            Found::Given(Arg::None) | Found::Default(DefaultValue::None) => Ok(None),
            _ => Err(self.problem(name, "must be a tensor or None")),
        }
    }

    /// A list of tensors.
    pub fn tensors(&self, name: &str) -> Result<Vec<&'a V>, EmitError> {
        let tensors = self.optional_tensors(name)?;
        let tensors: Option<Vec<&V>> = tensors.into_iter().collect();
        tensors.ok_or_else(|| self.problem(name, "must be a list of tensors"))
    }

    /// A list of tensors and `None`.
    pub fn optional_tensors(&self, name: &str) -> Result<Vec<Option<&'a V>>, EmitError> {
        let Found::Given(Arg::List(items)) = self.find(name)? else {
            return Err(self.problem(name, "must be a list of tensors"));
        };
        let tensors = items.iter().map(|item| match item {
            Arg::Value(value) => Ok(Some(value)),
            Arg::None => Ok(None),
            _ => Err(self.problem(name, "must be a list of tensors")),
        });
        tensors.collect()
    }

    /// An integer, symbolic or not.
    pub fn int(&self, name: &str) -> Result<SymInt, EmitError> {
        self.optional_int(name)?
            .ok_or_else(|| self.problem(name, "must be an integer"))
    }

    /// An integer or `None`.
    pub fn optional_int(&self, name: &str) -> Result<Option<SymInt>, EmitError> {
        match self.find(name)? {
            Found::Given(Arg::Int(value)) => Ok(Some(*value)),
            Found::Default(DefaultValue::Int(value)) => Ok(Some(SymInt::Int(*value))),
            Found::Given(Arg::None) | Found::Default(DefaultValue::None) => Ok(None),
            _ => Err(self.problem(name, "must be an integer")),
        }
    }

    /// An integer that is known.
    pub fn const_int(&self, name: &str) -> Result<i64, EmitError> {
        let value = self.int(name)?.as_int();
        value.ok_or_else(|| self.problem(name, "must be a constant integer"))
    }

    /// A list of integers.
    pub fn ints(&self, name: &str) -> Result<Dims, EmitError> {
        self.optional_ints(name)?
            .ok_or_else(|| self.problem(name, "must be a list of integers"))
    }

    /// A list of integers or `None`. A single integer is a list of one.
    pub fn optional_ints(&self, name: &str) -> Result<Option<Dims>, EmitError> {
        let wrong = || self.problem(name, "must be a list of integers");
        match self.find(name)? {
            Found::Given(Arg::None) | Found::Default(DefaultValue::None) => Ok(None),
            Found::Given(Arg::Int(value)) => Ok(Some(Dims::from_slice(&[*value]))),
            Found::Default(DefaultValue::Int(value)) => {
                Ok(Some(Dims::from_slice(&[SymInt::Int(*value)])))
            }
            Found::Given(Arg::List(items)) => {
                let items = items.iter().map(|item| match item {
                    Arg::Int(value) => Ok(*value),
                    _ => Err(wrong()),
                });
                items.collect::<Result<_, _>>().map(Some)
            }
            Found::Default(DefaultValue::List(items)) => {
                let items = items.iter().map(|item| match item {
                    DefaultValue::Int(value) => Ok(SymInt::Int(*value)),
                    _ => Err(wrong()),
                });
                items.collect::<Result<_, _>>().map(Some)
            }
            _ => Err(wrong()),
        }
    }

    /// A list of integers that are known.
    pub fn const_ints(&self, name: &str) -> Result<Vec<i64>, EmitError> {
        let values = self.ints(name)?;
        let values: Option<Vec<i64>> = values.iter().map(|value| value.as_int()).collect();
        values.ok_or_else(|| self.problem(name, "must be a list of constant integers"))
    }

    /// A truth value.
    pub fn bool(&self, name: &str) -> Result<bool, EmitError> {
        match self.find(name)? {
            Found::Given(Arg::Bool(value)) | Found::Default(DefaultValue::Bool(value)) => {
                Ok(*value)
            }
            Found::Given(Arg::None) | Found::Default(DefaultValue::None) => Ok(false),
            _ => Err(self.problem(name, "must be a truth value")),
        }
    }

    /// A number as a float: the value of an integer or a float.
    pub fn float(&self, name: &str) -> Result<f64, EmitError> {
        match self.find(name)? {
            Found::Given(Arg::Float(value)) | Found::Default(DefaultValue::Float(value)) => {
                Ok(*value)
            }
            Found::Given(Arg::Int(SymInt::Int(value)))
            | Found::Default(DefaultValue::Int(value)) => Ok(*value as f64),
            _ => Err(self.problem(name, "must be a number")),
        }
    }

    /// A dtype or `None`.
    pub fn dtype(&self, name: &str) -> Result<Option<DType>, EmitError> {
        match self.find(name)? {
            Found::Given(Arg::DType(dtype)) => Ok(Some(*dtype)),
            Found::Given(Arg::None) | Found::Default(DefaultValue::None) => Ok(None),
            Found::Default(DefaultValue::Named(named)) if &**named == "long" => {
                Ok(Some(DType::Int64))
            }
            _ => Err(self.problem(name, "must be a dtype")),
        }
    }

    /// A device or `None`.
    pub fn device(&self, name: &str) -> Result<Option<Device>, EmitError> {
        match self.find(name)? {
            Found::Given(Arg::Device(device)) => Ok(Some(*device)),
            Found::Given(Arg::None) | Found::Default(DefaultValue::None) => Ok(None),
            _ => Err(self.problem(name, "must be a device")),
        }
    }

    /// A layout or `None`.
    pub fn layout(&self, name: &str) -> Result<Option<Layout>, EmitError> {
        match self.find(name)? {
            Found::Given(Arg::Layout(layout)) => Ok(Some(*layout)),
            Found::Given(Arg::None) | Found::Default(DefaultValue::None) => Ok(None),
            _ => Err(self.problem(name, "must be a layout")),
        }
    }

    /// A memory format or `None`.
    pub fn memory_format(&self, name: &str) -> Result<Option<MemoryFormat>, EmitError> {
        match self.find(name)? {
            Found::Given(Arg::MemoryFormat(format)) => Ok(Some(*format)),
            Found::Given(Arg::None) | Found::Default(DefaultValue::None) => Ok(None),
            // Schemas spell `torch.contiguous_format` so, or as its number.
            Found::Default(_) => Ok(Some(MemoryFormat::Contiguous)),
            Found::Given(_) => Err(self.problem(name, "must be a memory format")),
        }
    }
}
