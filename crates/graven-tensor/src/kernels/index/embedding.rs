//! Embeddings: rows of a table.

use graven_ir::DType;

use super::super::Table;
use super::super::pointwise::{Arithmetic as _, compute};
use super::{indices_of, place, selected};
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::{Element, dispatch};
use crate::error::Problem;
use crate::geometry::Dims;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_embedding_bag", |call| {
        // Here a negative number is none, and does not count from the end.
        embedding_bag(call, call.optional_int(8)?.filter(|padding| *padding >= 0))
    }),
    ("aten::_embedding_bag_forward_only", |call| {
        embedding_bag(call, call.optional_int(8)?.filter(|padding| *padding >= 0))
    }),
    ("aten::embedding", embedding),
    ("aten::embedding_bag", |call| embedding_bag(call, None)),
    ("aten::embedding_bag.padding_idx", |call| {
        embedding_bag(call, call.optional_int(8)?)
    }),
    ("aten::embedding_dense_backward", embedding_dense_backward),
    ("aten::one_hot", one_hot),
];

/// `embedding(weight, indices, ...)`
fn embedding(call: &Call<'_>) -> Result<Value, Problem> {
    let (weight, indices) = (call.array(0)?, call.array(1)?);
    if weight.rank() != 2 {
        return Err(Problem::invalid("the table must be a matrix"));
    }
    let rows = weight.sizes()[0];
    let places: Vec<usize> = indices_of(&indices)?
        .into_iter()
        .map(|index| place(index, 0, rows))
        .collect::<Result<_, _>>()?;
    let result = selected(&weight, 0, &places)?;
    let mut sizes = Dims::from_slice(indices.sizes());
    sizes.push(weight.sizes()[1]);
    let strides = crate::geometry::contiguous_strides(&sizes);
    Ok(result.view(&sizes, strides, 0)?.into())
}

/// `embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)`
fn embedding_dense_backward(call: &Call<'_>) -> Result<Value, Problem> {
    let (grad, indices) = (call.array(0)?, indices_of(&call.array(1)?)?);
    let rows = usize::try_from(call.int(2)?)
        .map_err(|_| Problem::invalid("the number of weights must not be negative"))?;
    let (padding, scales) = (call.int(3)?, call.bool(4)?);
    let width = grad.sizes().last().copied().unwrap_or(1);
    let mut counts = vec![0_usize; rows];
    for index in &indices {
        counts[place(*index, 0, rows)?] += 1;
    }
    compute!(float, grad.dtype(), C, O => {
        let values = grad.converted(C::DTYPE)?.to_vec::<C>()?;
        let mut fresh = Fresh::<C>::new(rows * width)?;
        let out = fresh.elements();
        for (index, row) in indices.iter().zip(values.chunks(width.max(1))) {
            if *index == padding {
                continue;
            }
            let place = place(*index, 0, rows)?;
            let scale = if scales { counts[place] as f64 } else { 1.0 };
            let scale = <C as Element>::from_f64(scale);
            for (out, value) in out[place * width..(place + 1) * width].iter_mut().zip(row) {
                *out += *value / scale;
            }
        }
        Ok(fresh.into_array(&[rows, width])?.converted(O::DTYPE)?.into())
    })
}

/// `embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
/// include_last_offset, padding_idx)`: sums, means or maxima of rows, bag by bag. The other
/// results are what the backward formula needs: the bag of each index, the bags' sizes, and of
/// maxima the indices.
fn embedding_bag(call: &Call<'_>, padding: Option<i64>) -> Result<Value, Problem> {
    let (weight, index_array, offsets) = (call.array(0)?, call.array(1)?, call.array(2)?);
    let mode = call.int(4)?;
    let sample_weights = call.optional_array(6)?;
    let (rows, width) = match weight.sizes() {
        [rows, width] => (*rows, *width),
        _ => return Err(Problem::invalid("the table must be a matrix")),
    };
    let padding = padding.map(|padding| {
        if padding < 0 {
            padding + rows as i64
        } else {
            padding
        }
    });
    let indices = indices_of(&index_array)?;
    let mut starts = indices_of(&offsets)?;
    let bags = starts.len().saturating_sub(usize::from(call.bool(7)?));
    starts.truncate(bags);
    starts.push(indices.len() as i64);
    let index_dtype = index_array.dtype();
    let bag_of = bags_of(&starts, indices.len())?;
    compute!(float, weight.dtype(), C, O => {
        let table = weight.converted(C::DTYPE)?.to_vec::<C>()?;
        let scales = sample_weights.map(|weights| weights.converted(C::DTYPE)?.to_vec::<C>());
        let scales = scales.transpose()?;
        let mut fresh = Fresh::<C>::new(bags * width)?;
        let out = fresh.elements();
        let mut sizes = vec![0_i64; bags];
        let mut best = vec![0_i64; if mode == 2 { bags * width } else { bags }];
        for (number, (index, bag)) in indices.iter().zip(&bag_of).enumerate() {
            let place = place(*index, 0, rows)?;
            if Some(*index) == padding || *bag >= bags {
                continue;
            }
            let is_first = sizes[*bag] == 0;
            sizes[*bag] += 1;
            let row = &table[place * width..(place + 1) * width];
            for (column, value) in row.iter().enumerate() {
                let at = bag * width + column;
                match mode {
                    2 if is_first || *value > out[at] => {
                        out[at] = *value;
                        best[at] = *index;
                    }
                    2 => {}
                    _ => {
                        let scale = scales.as_ref().map_or(C::unit(), |scales| scales[number]);
                        out[at] = out[at].plus(value.times(scale));
                    }
                }
            }
        }
        if mode == 1 {
            for (bag, size) in sizes.iter().enumerate().filter(|(_, size)| **size > 1) {
                let size = <C as Element>::from_f64(*size as f64);
                out[bag * width..(bag + 1) * width].iter_mut().for_each(|out| *out /= size);
            }
        }
        let result = fresh.into_array(&[bags, width])?.converted(O::DTYPE)?;
        let integers = |values: &[i64], sizes: &[usize]| {
            Array::from_elements(values, sizes)?.converted(index_dtype)
        };
        let mut bag_of: Vec<i64> = bag_of.iter().map(|bag| *bag as i64).collect();
        match mode {
            // torch counts for means and maxima only.
            0 => {
                sizes.fill(0);
                if padding.is_none() && weight.dtype() != DType::Float64 {
                    bag_of.clear();
                }
            }
            1 => best.clone_from(&sizes),
            _ => {}
        }
        let best_sizes: &[usize] = if mode == 2 { &[bags, width] } else { &[bags] };
        Ok([
            result,
            integers(&bag_of, &[bag_of.len()])?,
            integers(&sizes, &[bags])?,
            integers(&best, best_sizes)?,
        ]
        .into())
    })
}

/// For each index the bag that it belongs to.
fn bags_of(starts: &[i64], count: usize) -> Result<Vec<usize>, Problem> {
    let mut bags = vec![0; count];
    for (bag, pair) in starts.windows(2).enumerate() {
        let range = usize::try_from(pair[0])
            .ok()
            .zip(usize::try_from(pair[1]).ok());
        let range = range.filter(|(start, end)| start <= end && *end <= count);
        let (start, end) = range
            .ok_or_else(|| Problem::invalid("offsets must ascend, and not leave the indices"))?;
        bags[start..end].fill(bag);
    }
    Ok(bags)
}

/// `one_hot(self, num_classes=-1)`
fn one_hot(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let indices = indices_of(&array)?;
    let greatest = indices.iter().copied().max().unwrap_or(-1);
    let classes = match call.int(1)? {
        -1 if indices.is_empty() => {
            return Err(Problem::invalid(
                "the number of classes of nothing must be given",
            ));
        }
        -1 => greatest + 1,
        classes => classes,
    };
    let classes = usize::try_from(classes)
        .map_err(|_| Problem::invalid("the number of classes must not be negative"))?;
    let mut sizes = Dims::from_slice(array.sizes());
    sizes.push(classes);
    let result = Array::zeros(DType::Int64, &sizes)?;
    dispatch!(integral, DType::Int64, T => result.write(|out: &mut [T]| -> Result<(), Problem> {
        for (number, index) in indices.iter().enumerate() {
            out[number * classes + place(*index, array.rank(), classes)?] = T::unit();
        }
        Ok(())
    }))??;
    Ok(result.into())
}
