//! Tensors on the CPU: storages and views of them, torch's kernels, torch's random numbers.
//!
//! An [`Array`] is a geometry over a shared [`Storage`]; a [`Tensor`] is an array with an
//! identity, which metadata mutations change in place. [`Eager`] calls operators by their full
//! names, with torch's rules for types, shapes, strides and writes.
//!
//! No kernel locks what it reads: a read takes a snapshot of the storage's buffer, and a write
//! that finds a snapshot in use copies the buffer first. So no safe program has a data race, and
//! an operator that reads what it writes sees the old values throughout.

mod array;
mod call;
mod checkpoint;
mod eager;
mod element;
mod error;
pub mod geometry;
mod kernels;
mod pool;
mod promote;
mod random;
mod scalar;
mod shape;
mod storage;
mod tensor;
mod value;

pub use array::{Array, Data, Fresh};
pub use call::Call;
pub use checkpoint::Checkpoint;
pub use eager::{Eager, Way, default_value};
pub use element::{Bool, Complex, Element, Float, Real};
pub use error::{OperatorError, Problem};
pub use kernels::{Kernel, has_kernel, kernel};
pub use promote::{promote_types, result_type};
pub use random::Generator;
pub use scalar::Scalar;
pub use storage::Storage;
pub use tensor::Tensor;
pub use value::Value;
