//! Sizes and strides together, with what kernels ask of them again and again.

use crate::error::Problem;
use crate::geometry::{self, Dims};

/// Sizes and strides. Arrays share it: a result that has its operand's needs no new one.
#[derive(Debug)]
pub(crate) struct Shape {
    sizes: Dims,
    strides: Dims,
    numel: usize,
    reach: usize,
    is_contiguous: bool,
    is_fresh: bool,
}

impl Shape {
    /// # Errors
    /// When there are not as many strides as sizes, or a place is beyond a machine word.
    pub(crate) fn new(sizes: &[usize], strides: Dims) -> Result<Self, Problem> {
        let reach = geometry::reach(sizes, &strides);
        let (Some(reach), true) = (reach, sizes.len() == strides.len()) else {
            return Err(Problem::OutsideStorage {
                sizes: sizes.to_vec(),
                strides: strides.to_vec(),
                offset: 0,
                bytes: usize::MAX,
            });
        };
        Ok(Self {
            numel: geometry::numel(sizes),
            reach,
            is_contiguous: geometry::is_contiguous(sizes, &strides),
            is_fresh: strides == geometry::contiguous_strides(sizes),
            sizes: Dims::from_slice(sizes),
            strides,
        })
    }

    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    pub(crate) fn strides(&self) -> &[usize] {
        &self.strides
    }

    pub(crate) fn numel(&self) -> usize {
        self.numel
    }

    /// How many elements of a storage are reached, from the first on.
    pub(crate) fn reach(&self) -> usize {
        self.reach
    }

    /// See [`geometry::is_contiguous`].
    pub(crate) fn is_contiguous(&self) -> bool {
        self.is_contiguous
    }

    /// Whether the strides are those of a fresh contiguous tensor, in dimensions of one element
    /// too.
    pub(crate) fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// Whether sizes and strides are the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.sizes == other.sizes && self.strides == other.strides)
    }
}
