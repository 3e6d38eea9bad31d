//! Calling operators on tensors.
//!
//! What becomes of a call is decided by its operator's facts: an operator with a kernel runs it; a
//! composite is computed by its formula; a writing operator is its functional twin, whose results
//! are written to the arguments afterwards. So an operator needs a kernel of its own only where
//! none of this gives it.

use std::sync::{Arc, Mutex, PoisonError};

use graven_ir::schema::{DefaultValue, Schema, SchemaArgument, SchemaType};
use graven_ir::{DType, MemoryFormat};
use graven_ops::registry::OperatorId;
use graven_ops::twin::{TensorOption, Twin, TwinArgument, TwinResult};
use graven_ops::{Operator, Registry};

use crate::array::Array;
use crate::call::Call;
use crate::error::{OperatorError, Problem};
use crate::geometry;
use crate::kernels::{self, Kernel};
use crate::promote;
use crate::random::Generator;
use crate::storage::Storage;
use crate::tensor::Tensor;
use crate::value::Value;

mod formula;

/// Calls operators. Holds what calls share: the registry, the kernels, the random number
/// generator.
#[derive(Debug)]
pub struct Eager {
    registry: Arc<Registry>,
    /// By operator id.
    kernels: Box<[Option<Kernel>]>,
    generator: Mutex<Generator>,
}

impl Default for Eager {
    fn default() -> Self {
        Self::new(Arc::new(Registry::aten()))
    }
}

/// How an operator is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// By a kernel of its own.
    Kernel,
    /// By the operators that its formula calls.
    Formula,
    /// By its functional twin, whose results are written to the arguments.
    Twin,
}

impl Eager {
    /// For the operators of a registry.
    pub fn new(registry: Arc<Registry>) -> Self {
        let kernel = |id| kernels::kernel(&registry.operator(id).name().to_string());
        Self {
            kernels: registry.ids().map(kernel).collect(),
            registry,
            generator: Mutex::default(),
        }
    }

    /// The operators that can be called.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// How an operator is computed; `None` when it cannot be.
    pub fn way(&self, id: OperatorId) -> Option<Way> {
        if self.kernels.get(id.index()).copied().flatten().is_some() {
            return Some(Way::Kernel);
        }
        if formula::exists(&self.registry.operator(id).name().to_string()) {
            return Some(Way::Formula);
        }
        let twin = self.registry.functional_twin(id)?;
        self.way(twin.operator).map(|_| Way::Twin)
    }

    /// Seeds the random number generator, as `torch.manual_seed` does.
    pub fn seed(&self, seed: u64) {
        self.with_generator(|generator| *generator = Generator::new(seed));
    }

    /// Runs `draw` with the random number generator.
    pub fn with_generator<R>(&self, draw: impl FnOnce(&mut Generator) -> R) -> R {
        let mut generator = self
            .generator
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        draw(&mut generator)
    }

    /// Calls the operator with this full name (`aten::add.Tensor`).
    ///
    /// ```
    /// use graven_tensor::{Array, Eager, Value};
    ///
    /// let eager = Eager::default();
    /// let x = Array::from_elements(&[1.0_f32, 2.0], &[2])?;
    /// let sum = eager.invoke("aten::add.Tensor", &[x.into(), Value::Int(3)], &[]);
    /// # let _ = sum;
    /// # Ok::<(), graven_tensor::Problem>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such operator, the arguments do not fit it, or it fails.
    pub fn invoke(
        &self,
        operator: &str,
        args: &[Value],
        kwargs: &[(&str, Value)],
    ) -> Result<Value, OperatorError> {
        let located = |problem| OperatorError {
            operator: operator.into(),
            problem,
        };
        let id = self.registry.find(operator);
        let id = id.ok_or_else(|| located(Problem::UnknownOperator))?;
        let args = bind(self.registry.operator(id).schema(), args, kwargs).map_err(located)?;
        self.call(id, &args)
    }

    /// Calls an operator with all of its arguments, in the order of its schema.
    ///
    /// # Errors
    /// When the arguments do not fit it, or it fails.
    pub fn call(&self, id: OperatorId, args: &[Value]) -> Result<Value, OperatorError> {
        let operator = self.registry.operator(id);
        self.dispatch(id, operator, args)
            .map_err(|problem| OperatorError {
                operator: operator.name().to_string().into(),
                problem,
            })
    }

    fn dispatch(
        &self,
        id: OperatorId,
        operator: &Operator,
        args: &[Value],
    ) -> Result<Value, Problem> {
        if let Some(kernel) = self.kernels.get(id.index()).copied().flatten() {
            return kernel(&Call::new(self, operator, args));
        }
        if let Some(value) = self.call_formula(operator, args)? {
            return Ok(value);
        }
        match self.registry.functional_twin(id) {
            Some(twin) => self.call_twin(operator, twin, args),
            None => Err(Problem::NoKernel),
        }
    }

    /// Whether an operator can be computed: by a kernel, by a formula, or by its functional twin.
    pub fn can_call(&self, id: OperatorId) -> bool {
        self.way(id).is_some()
    }

    /// Calls the functional twin, and writes what it returns to the arguments.
    fn call_twin(
        &self,
        operator: &Operator,
        twin: &Twin,
        args: &[Value],
    ) -> Result<Value, Problem> {
        let taken = self.twin_arguments(twin, args)?;
        let result = self.call(twin.operator, &taken)?;
        let results = match (result, twin.results.len()) {
            (result, 1) => vec![result],
            (Value::List(results), _) => results,
            (result, _) => vec![result],
        };
        let mut own = Vec::new();
        for (place, result) in twin.results.iter().zip(results) {
            match *place {
                TwinResult::Own(_) => own.push(result),
                TwinResult::NewValueOf(position) => {
                    let argument = args.get(position).unwrap_or(&Value::None);
                    let is_out = !twin.arguments.contains(&TwinArgument::Argument(position));
                    write(argument, &result, operator.is_inplace_view(), is_out)?;
                }
            }
        }
        Ok(written_results(operator, args, own))
    }

    fn twin_arguments(&self, twin: &Twin, args: &[Value]) -> Result<Vec<Value>, Problem> {
        let schema = self.registry.operator(twin.operator).schema();
        let mut taken = Vec::with_capacity(twin.arguments.len());
        for (index, source) in twin.arguments.iter().enumerate() {
            let value = match *source {
                TwinArgument::Argument(position) => {
                    args.get(position).cloned().unwrap_or(Value::None)
                }
                TwinArgument::OptionOfOut(option) => option_of_out(args, option),
            };
            let default = twin.defaults.iter().find(|(place, _)| *place == index);
            taken.push(match (value, default) {
                (Value::None, Some((_, default))) => {
                    default_value(&schema.arguments[index], default)?
                }
                (value, _) => value,
            });
        }
        Ok(taken)
    }
}

/// The arguments of a call in the order of the schema, defaults filled in.
///
/// # Errors
/// When there are too many, an unknown one, or one is missing.
pub(crate) fn bind(
    schema: &Schema,
    args: &[Value],
    kwargs: &[(&str, Value)],
) -> Result<Vec<Value>, Problem> {
    schema
        .check_call(args.len(), kwargs.iter().map(|(name, _)| *name))
        .map_err(|error| Problem::invalid(error.to_string()))?;
    let mut bound = Vec::with_capacity(schema.arguments.len());
    for (position, argument) in schema.arguments.iter().enumerate() {
        let given = args.get(position).or_else(|| {
            let keyword = kwargs.iter().find(|(name, _)| **name == *argument.name);
            keyword.map(|(_, value)| value)
        });
        bound.push(match (given, &argument.default) {
            (Some(value), _) => value.clone(),
            (None, Some(default)) => default_value(argument, default)?,
            (None, None) => Value::None,
        });
    }
    Ok(bound)
}

/// A default of a schema as an argument.
///
/// # Errors
/// When the default is of a kind that no kernel reads.
pub fn default_value(argument: &SchemaArgument, default: &DefaultValue) -> Result<Value, Problem> {
    let unknown = || {
        Problem::invalid(format!(
            "the default of argument `{}` cannot be used; give the argument",
            argument.name
        ))
    };
    Ok(match default {
        DefaultValue::None => Value::None,
        DefaultValue::Bool(value) => Value::Bool(*value),
        // Enumerators may stand as numbers, which are not the archive's.
        DefaultValue::Int(number) if *argument.ty.innermost() == SchemaType::MemoryFormat => {
            Value::MemoryFormat(match number {
                0 => MemoryFormat::Contiguous,
                1 => MemoryFormat::Preserve,
                2 => MemoryFormat::ChannelsLast,
                3 => MemoryFormat::ChannelsLast3d,
                _ => return Err(unknown()),
            })
        }
        DefaultValue::Int(4) if *argument.ty.innermost() == SchemaType::ScalarType => {
            Value::DType(DType::Int64)
        }
        DefaultValue::Int(value) => Value::Int(*value),
        DefaultValue::Float(value) => Value::Float(*value),
        DefaultValue::String(text) => Value::Str((&**text).into()),
        DefaultValue::List(items) => {
            let items = items.iter().map(|item| default_value(argument, item));
            Value::List(items.collect::<Result<_, _>>()?)
        }
        DefaultValue::Named(name) => match argument.ty.innermost() {
            SchemaType::MemoryFormat => {
                Value::MemoryFormat(MemoryFormat::from_name(name).ok_or_else(unknown)?)
            }
            SchemaType::ScalarType if &**name == "long" => Value::DType(DType::Int64),
            // `Mean` and its like: reductions by number.
            _ => Value::Int(match &**name {
                "None" => 0,
                "Mean" => 1,
                "Sum" => 2,
                _ => return Err(unknown()),
            }),
        },
    })
}

/// What a factory's twin is told of the `out` tensor.
fn option_of_out(args: &[Value], option: TensorOption) -> Value {
    let out = args.iter().rev().find_map(Value::as_tensor);
    match (out, option) {
        (Some(out), TensorOption::DType) => Value::DType(out.array().dtype()),
        _ => Value::None,
    }
}

/// Writes a result to the argument that it is the new value of.
fn write(
    argument: &Value,
    result: &Value,
    changes_metadata: bool,
    is_out: bool,
) -> Result<(), Problem> {
    match (argument, result) {
        (Value::Tensor(tensor), Value::Tensor(result)) if changes_metadata => {
            tensor.set(result.array());
            Ok(())
        }
        (Value::Tensor(tensor), Value::Tensor(result)) => {
            let result = result.array();
            check_cast(result.dtype(), tensor.array().dtype())?;
            if is_out {
                resize(tensor, result.sizes(), result.strides())?;
            }
            let target = tensor.array();
            if target.sizes() != result.sizes() {
                return Err(Problem::Broadcast {
                    left: target.sizes().to_vec(),
                    right: result.sizes().to_vec(),
                });
            }
            target.assign(&result)
        }
        (Value::List(arguments), Value::List(results)) => {
            for (argument, result) in arguments.iter().zip(results) {
                write(argument, result, changes_metadata, is_out)?;
            }
            Ok(())
        }
        // An optional argument that is `None` is not written.
        _ => Ok(()),
    }
}

/// A result may be written as a dtype of the same category or a higher one.
fn check_cast(result: DType, target: DType) -> Result<(), Problem> {
    match promote::category(result) <= promote::category(target) {
        true => Ok(()),
        false => Err(Problem::invalid(format!(
            "a result of {} cannot be written to a tensor of {}",
            result.name(),
            target.name()
        ))),
    }
}

/// Gives a tensor other sizes, as `out=` arguments get them: same storage, which grows where it
/// is too short. A tensor that has the sizes keeps its strides.
fn resize(tensor: &Tensor, sizes: &[usize], strides: &[usize]) -> Result<(), Problem> {
    let array = tensor.array();
    if array.sizes() == sizes {
        return Ok(());
    }
    let strides = geometry::elementwise_strides(sizes, &[strides]);
    let resized = resized(&array, sizes, strides)?;
    tensor.set(resized);
    Ok(())
}

/// The array with other sizes over the same storage, grown where it is too short.
pub(crate) fn resized(
    array: &Array,
    sizes: &[usize],
    strides: geometry::Dims,
) -> Result<Array, Problem> {
    let storage: &Storage = array.storage();
    let bytes = geometry::reach(sizes, &strides)
        .and_then(|reach| reach.checked_add(array.offset()))
        .and_then(|end| end.checked_mul(array.dtype().bytes()))
        .ok_or(Problem::OutOfMemory { bytes: usize::MAX })?;
    storage.grow(bytes)?;
    array.view(sizes, strides, array.offset())
}

/// What a writing operator returns: arguments that it wrote, and results of its own.
fn written_results(operator: &Operator, args: &[Value], own: Vec<Value>) -> Value {
    let mut own = own.into_iter();
    let aliases = operator.return_aliases();
    let mut results: Vec<Value> = aliases
        .iter()
        .map(|alias| match alias {
            Some(alias) => args.get(alias.argument).cloned(),
            None => own.next(),
        })
        .map(|value| value.unwrap_or(Value::None))
        .collect();
    match results.len() {
        0 => Value::None,
        1 => results.remove(0),
        _ => Value::List(results),
    }
}
