//! The operator catalogue: for each operator what its schema says, and what a schema cannot say.

pub mod call;
pub mod catalogue;
pub mod complete;
pub mod composite;
pub mod emit;
pub mod operator;
pub mod registry;
pub mod shape;
mod table;
pub mod tags;
pub mod target;
pub mod twin;

pub use call::Call;
pub use complete::complete_from_schemas;
pub use emit::{Arg, Emit};
pub use operator::{Composite, Operator};
pub use registry::{OperatorId, Registry, RegistryError};
pub use tags::{Tag, Tags};
pub use target::{SymbolicFunction, TargetKind};
pub use twin::{TensorOption, Twin, TwinArgument, TwinResult};
