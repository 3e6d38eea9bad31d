//! Checkpoints: how tensors are, so that a failed run can be undone.

use std::sync::Arc;

use crate::array::Array;
use crate::storage::Buffer;
use crate::tensor::Tensor;

/// How some tensors are. Nothing is copied until one of their storages is written.
#[derive(Debug)]
pub struct Checkpoint(Vec<(Tensor, Array, Arc<Buffer>)>);

impl Checkpoint {
    /// How these tensors are now.
    pub fn of(tensors: impl IntoIterator<Item = Tensor>) -> Self {
        let saved = tensors.into_iter().map(|tensor| {
            let array = tensor.array();
            let buffer = array.storage().snapshot();
            (tensor, array, buffer)
        });
        Self(saved.collect())
    }

    /// Makes them so again.
    pub fn restore(self) {
        for (tensor, array, buffer) in self.0 {
            array.storage().replace(buffer);
            tensor.set(array);
        }
    }
}
