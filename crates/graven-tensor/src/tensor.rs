//! Tensors: arrays with an identity.

use std::sync::{Arc, PoisonError, RwLock};

use crate::array::Array;

/// A tensor object. Clones are the same tensor: a metadata mutation (`transpose_`, `resize_`) of
/// one is one of all. Views are other tensors over the same storage.
#[derive(Clone, Debug)]
pub struct Tensor(Arc<RwLock<Array>>);

impl Tensor {
    /// A new tensor object.
    pub fn new(array: Array) -> Self {
        Self(Arc::new(RwLock::new(array)))
    }

    /// Its geometry and storage as they are now.
    pub fn array(&self) -> Array {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Gives it another geometry or storage: what metadata mutations do.
    pub fn set(&self, array: Array) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = array;
    }

    /// Whether both are the same tensor object.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl From<Array> for Tensor {
    fn from(array: Array) -> Self {
        Self::new(array)
    }
}
