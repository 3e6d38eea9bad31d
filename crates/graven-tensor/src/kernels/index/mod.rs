//! Reading and writing by indices.

mod advanced;
mod embedding;
mod scatter;
mod slots;

pub(super) use advanced::selected;

pub(super) const FAMILIES: [super::Table; 4] = [
    advanced::KERNELS,
    embedding::KERNELS,
    scatter::KERNELS,
    slots::KERNELS,
];

use graven_ir::DType;

use crate::array::Array;
use crate::error::Problem;

/// The elements of a tensor of indices.
fn indices_of(index: &Array) -> Result<Vec<i64>, Problem> {
    match index.dtype() {
        DType::Int64 | DType::Int32 | DType::UInt8 | DType::Int8 | DType::Int16 => {
            index.converted(DType::Int64)?.to_vec()
        }
        found => Err(Problem::invalid(format!(
            "indices must be integers, found {}",
            found.name()
        ))),
    }
}

/// The place that an index is; none may count from the end.
fn place(index: i64, dim: usize, size: usize) -> Result<usize, Problem> {
    usize::try_from(index)
        .ok()
        .filter(|place| *place < size)
        .ok_or(Problem::Index { index, dim, size })
}
