//! `einsum`: products and sums by labels of dimensions.

use super::super::Table;
use super::super::view::{diagonal_of, permuted};
use super::{batched, reshape};
use crate::array::Array;
use crate::call::Call;
use crate::error::Problem;
use crate::geometry::{self, Dims};
use crate::value::Value;

pub(super) const KERNELS: Table = &[("aten::_trilinear", trilinear), ("aten::einsum", einsum)];

/// A label of a dimension: a letter, or one of those that `...` stands for, counted from the last.
type Label = u32;

/// Labels that `...` stands for begin here.
const ELLIPSIS: Label = 1000;

/// The labels of an operand of so many dimensions.
fn labels(text: &str, rank: usize) -> Result<Vec<Label>, Problem> {
    let wrong = || {
        Problem::invalid(format!(
            "`{text}` does not fit a tensor of {rank} dimensions"
        ))
    };
    let letters = text.chars().filter(char::is_ascii_alphabetic).count();
    let hidden = rank.checked_sub(letters).ok_or_else(wrong)?;
    let mut labels = Vec::with_capacity(rank);
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix("...") {
            labels.extend((0..hidden as Label).rev().map(|index| ELLIPSIS + index));
            rest = behind;
            continue;
        }
        if next.is_ascii_alphabetic() {
            labels.push(next as Label);
        } else if next != ' ' {
            return Err(wrong());
        }
        rest = &rest[next.len_utf8()..];
    }
    match labels.len() == rank {
        true => Ok(labels),
        false => Err(wrong()),
    }
}

/// An operand with a dimension for each of its labels, each once.
struct Labelled {
    array: Array,
    labels: Vec<Label>,
}

impl Labelled {
    fn new(array: Array, labels: Vec<Label>) -> Result<Self, Problem> {
        let mut labelled = Self { array, labels };
        // A label that stands twice is a diagonal.
        while let Some((first, second)) = labelled.repeated() {
            let label = labelled.labels[first];
            labelled.array = diagonal_of(&labelled.array, 0, first as i64, second as i64)?;
            labelled.labels.remove(second);
            labelled.labels.remove(first);
            labelled.labels.push(label);
        }
        Ok(labelled)
    }

    fn repeated(&self) -> Option<(usize, usize)> {
        let labels = self.labels.iter().enumerate();
        labels.into_iter().find_map(|(second, label)| {
            let first = self.labels[..second]
                .iter()
                .position(|other| other == label)?;
            Some((first, second))
        })
    }

    /// The dimensions in the order of these labels; one that it has not has one element.
    fn ordered(&self, labels: &[Label]) -> Result<Array, Problem> {
        let known: Dims = labels
            .iter()
            .filter_map(|label| self.labels.iter().position(|own| own == label))
            .collect();
        let mut array = permuted(&self.array, &known)?;
        for (dim, label) in labels.iter().enumerate() {
            if !self.labels.contains(label) {
                array = super::super::view::unsqueezed(&array, dim)?;
            }
        }
        Ok(array)
    }

    /// Sums over the dimensions whose labels no one needs.
    fn summed(self, needed: &dyn Fn(Label) -> bool) -> Result<Self, Problem> {
        let dims: Vec<i64> = self
            .labels
            .iter()
            .enumerate()
            .filter(|(_, label)| !needed(**label))
            .map(|(dim, _)| dim as i64)
            .collect();
        if dims.is_empty() {
            return Ok(self);
        }
        let dtype = self.array.dtype();
        let array = super::super::reduce::sum(&self.array, Some(&dims), false)?;
        Ok(Self {
            array: array.converted(dtype)?,
            labels: self
                .labels
                .into_iter()
                .filter(|label| needed(*label))
                .collect(),
        })
    }

    /// The product with another, summed over the labels that no one needs.
    fn times(self, other: Self, needed: &dyn Fn(Label) -> bool) -> Result<Self, Problem> {
        let left = self.summed(&|label| needed(label) || other.labels.contains(&label))?;
        let right = other.summed(&|label| needed(label) || left.labels.contains(&label))?;
        let in_both = |label: &Label| left.labels.contains(label) && right.labels.contains(label);
        let of = |labels: &[Label], test: &dyn Fn(&Label) -> bool| -> Vec<Label> {
            labels.iter().copied().filter(|label| test(label)).collect()
        };
        let batch = of(&left.labels, &|label| in_both(label) && needed(*label));
        let inner = of(&left.labels, &|label| in_both(label) && !needed(*label));
        let rows = of(&left.labels, &|label| !in_both(label));
        let columns = of(&right.labels, &|label| !in_both(label));
        // Sizes of both together: one may be broadcast.
        let size = |label: &Label| {
            let of = |side: &Self| {
                let dim = side.labels.iter().position(|own| own == label);
                dim.map_or(1, |dim| side.array.sizes()[dim])
            };
            let (one, other) = (of(&left), of(&right));
            if one == 1 { other } else { one }
        };
        let sizes = |labels: &[Label]| -> Dims { labels.iter().map(size).collect() };
        let expanded = |side: &Self, labels: &[&[Label]]| -> Result<Array, Problem> {
            let all: Vec<Label> = labels.concat();
            let array = side.ordered(&all)?.expand(&sizes(&all))?;
            let flat: Vec<usize> = labels
                .iter()
                .map(|part| geometry::numel(&sizes(part)))
                .collect();
            reshape(&array, &flat)
        };
        let product = batched(
            &expanded(&left, &[&batch, &rows, &inner])?,
            &expanded(&right, &[&batch, &inner, &columns])?,
        )?;
        let labels: Vec<Label> = [batch, rows, columns].concat();
        Ok(Self {
            array: reshape(&product, &sizes(&labels))?,
            labels,
        })
    }
}

/// `einsum(equation, tensors, *, path=None)`
fn einsum(call: &Call<'_>) -> Result<Value, Problem> {
    let equation = call.optional_str(0)?.unwrap_or_default();
    let arrays = call.arrays(1)?;
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (equation, None),
    };
    let texts: Vec<&str> = inputs.split(',').map(str::trim).collect();
    if texts.len() != arrays.len() {
        return Err(Problem::invalid(format!(
            "`{equation}` is of {} tensors, {} are given",
            texts.len(),
            arrays.len()
        )));
    }
    let mut operands = Vec::with_capacity(arrays.len());
    for (text, array) in texts.iter().zip(arrays) {
        let labels = labels(text, array.rank())?;
        operands.push(Labelled::new(array, labels)?);
    }
    let hidden = operands
        .iter()
        .flat_map(|operand| &operand.labels)
        .filter(|label| **label >= ELLIPSIS)
        .map(|label| label - ELLIPSIS + 1)
        .max()
        .unwrap_or(0);
    let result_labels = match output {
        Some(text) => {
            let letters = text.chars().filter(char::is_ascii_alphabetic).count();
            let hidden = if text.contains("...") {
                hidden as usize
            } else {
                0
            };
            labels(text.trim(), letters + hidden)?
        }
        None => implicit_output(&operands, &texts, hidden),
    };
    let mut rest = operands.into_iter();
    let mut result = rest
        .next()
        .ok_or_else(|| Problem::invalid("at least one tensor is needed"))?;
    let mut rest: Vec<Labelled> = rest.collect();
    while !rest.is_empty() {
        let next = rest.remove(0);
        let later: Vec<Label> = rest
            .iter()
            .flat_map(|operand| operand.labels.clone())
            .collect();
        let needed = |label: Label| result_labels.contains(&label) || later.contains(&label);
        result = result.times(next, &needed)?;
    }
    let result = result.summed(&|label| result_labels.contains(&label))?;
    Ok(result.ordered(&result_labels)?.into())
}

/// Without `->`: the dimensions of `...`, then letters that stand once, in alphabetical order.
fn implicit_output(operands: &[Labelled], texts: &[&str], hidden: Label) -> Vec<Label> {
    let all: String = texts.concat();
    let mut letters: Vec<Label> = operands
        .iter()
        .flat_map(|operand| operand.labels.clone())
        .filter(|label| *label < ELLIPSIS)
        .filter(|label| {
            all.chars()
                .filter(|letter| *letter as Label == *label)
                .count()
                == 1
        })
        .collect();
    letters.sort_unstable();
    let mut labels: Vec<Label> = (0..hidden).rev().map(|index| ELLIPSIS + index).collect();
    labels.extend(letters);
    labels
}

/// `_trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim=1)`
fn trilinear(call: &Call<'_>) -> Result<Value, Problem> {
    let mut product: Option<Array> = None;
    for position in 0..3 {
        let mut array = call.array(position)?;
        for dim in call.ints(position + 3)? {
            array = super::super::view::unsqueezed(&array, usize::try_from(dim).unwrap_or(0))?;
        }
        product = Some(match product {
            None => array,
            Some(product) => super::products::multiply(&product, &array)?,
        });
    }
    let product = product.ok_or_else(|| Problem::invalid("needs three tensors"))?;
    let dims = call.ints(6)?;
    Ok(super::super::reduce::sum(&product, Some(&dims), false)?.into())
}
