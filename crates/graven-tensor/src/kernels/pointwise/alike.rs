//! Operands of one shape, contiguous and of the type that is computed in: no tiles, no walk.

use rayon::prelude::*;
use smallvec::SmallVec;

use super::{MOST, Operand, PARALLEL, Slices, TILE, Tile};
use crate::array::{Array, Data, Fresh};
use crate::element::Element;
use crate::error::Problem;

/// An operand's elements, or one value for all.
enum Source<C> {
    Elements(Data<C>),
    Constant(C),
}

/// Computes an operator whose operands are alike; `None` where they are not.
pub(super) fn map<C: Element, D: Element, O: Element>(
    operands: &[Operand],
    apply: Tile<'_, C, D>,
) -> Result<Option<Array>, Problem> {
    let Some(first) = alike::<C>(operands) else {
        return Ok(None);
    };
    if D::DTYPE != O::DTYPE {
        return Ok(None);
    }
    let sources = operands.iter().map(|operand| match operand {
        Operand::Array(array) => array.data().map(Source::Elements),
        Operand::Number(scalar) | Operand::Parameter(scalar) => {
            Ok(Source::Constant(scalar.to::<C>()))
        }
    });
    let sources: SmallVec<[Source<C>; MOST]> = sources.collect::<Result<_, Problem>>()?;
    let mut fresh = Fresh::<D>::to_be_written(first.numel())?;
    let out = fresh.elements();
    if out.len() < PARALLEL || rayon::current_num_threads() == 1 {
        run(&sources, 0, out, apply);
    } else {
        let part = out.len().div_ceil(rayon::current_num_threads());
        let part = part.next_multiple_of(TILE);
        let parts = out.par_chunks_mut(part).enumerate();
        parts.for_each(|(index, out)| run(&sources, index * part, out, apply));
    }
    fresh.into_shape_of(first).map(Some)
}

/// The operand whose shape is the result's, where all are alike.
fn alike<C: Element>(operands: &[Operand]) -> Option<&Array> {
    let first = operands.iter().find_map(Operand::array)?;
    let is_alike = |operand: &Operand| match operand {
        Operand::Array(array) => array.dtype() == C::DTYPE && array.is_shaped_like(first),
        // Beside a number, torch puts even contiguous dimensions in order, which shows where they
        // have one element or none.
        Operand::Number(_) => first.sizes().iter().all(|size| *size > 1),
        Operand::Parameter(_) => true,
    };
    (first.is_fresh() && operands.iter().all(is_alike)).then_some(first)
}

fn run<C: Element, D: Element>(
    sources: &[Source<C>],
    start: usize,
    out: &mut [D],
    apply: Tile<'_, C, D>,
) {
    let has_constant = sources
        .iter()
        .any(|source| matches!(source, Source::Constant(_)));
    // Constants are read from a tile of them.
    let length = if has_constant { TILE } else { out.len() };
    let length = length.min(out.len()).max(1);
    let constants: SmallVec<[SmallVec<[C; 8]>; MOST]> = sources
        .iter()
        .map(|source| match source {
            Source::Elements(_) => SmallVec::new(),
            Source::Constant(value) => SmallVec::from_elem(*value, length),
        })
        .collect();
    for (index, out) in out.chunks_mut(length).enumerate() {
        let start = start + index * length;
        let operands = sources.iter().zip(&constants);
        let slices: Slices<'_, C> = operands
            .map(|(source, constant)| match source {
                Source::Elements(data) => &data.elements()[start..start + out.len()],
                Source::Constant(_) => &constant[..out.len()],
            })
            .collect();
        apply(&slices, out);
    }
}
