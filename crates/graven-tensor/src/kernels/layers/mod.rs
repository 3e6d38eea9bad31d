//! Layers: convolution, pooling, normalization, attention, recurrence, images, losses.

mod attention;
mod backward;
mod convolution;
mod image;
mod loss;
mod normalization;
mod pooling;
mod recurrent;
mod upsample;
mod window;

pub(super) const FAMILIES: [super::Table; 9] = [
    attention::KERNELS,
    backward::KERNELS,
    convolution::KERNELS,
    image::KERNELS,
    loss::KERNELS,
    normalization::KERNELS,
    pooling::KERNELS,
    recurrent::KERNELS,
    upsample::KERNELS,
];

use crate::array::Array;
use crate::error::Problem;
use crate::geometry;

/// The result in the memory format of what it came from: channels last where that had them last.
fn in_format_of(result: Array, source: &Array) -> Result<Array, Problem> {
    let is_last = geometry::suggests_channels_last(source.sizes(), source.strides());
    match is_last && matches!(result.rank(), 4 | 5) {
        true => result.copied(geometry::channels_last_strides(result.sizes())),
        false => Ok(result),
    }
}
