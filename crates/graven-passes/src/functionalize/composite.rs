//! Operators that are taken apart: their formulas call the machine again.

use graven_ir::{Context, TargetId, TensorMeta, Value};
use graven_ops::composite::{self, Call, Outcome};
use graven_ops::emit::{Arg, Emit};
use graven_ops::registry::OperatorId;

use super::error::{FunctionalizeError, Problem};
use super::machine::{Binding, CallInput, Machine, TensorId};

/// The machine, as formulas see it: values are tensors of the program.
pub(crate) struct Dispatch<'m, 'a>(pub(crate) &'m mut Machine<'a>);
