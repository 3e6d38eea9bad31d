//! Attention: `softmax(q · kᵀ · scale + mask) · v`, by blocks of queries.

use graven_ir::DType;
use rayon::prelude::*;

use super::super::Table;
use super::super::matmul::{Matrix, Target};
use super::super::pointwise::{Math, compute};
use super::super::scan::softmax_line;
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::{Bool, Element as _};
use crate::error::Problem;
use crate::geometry::{self, Dims};
use crate::value::Value;

pub(super) const KERNELS: Table = &[("aten::scaled_dot_product_attention", attention)];

/// Queries that are worked on together.
const BLOCK: usize = 64;

/// `scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0,
/// is_causal=False, *, scale=None, enable_gqa=False)`
fn attention(call: &Call<'_>) -> Result<Value, Problem> {
    let (query, key, value) = (call.array(0)?, call.array(1)?, call.array(2)?);
    let mask = call.optional_array(3)?;
    let is_causal = call.bool(5)?;
    if call.float(4)? > 0.0 {
        return Err(Problem::invalid(
            "dropout in attention is not supported; set it to 0",
        ));
    }
    if mask.is_some() && is_causal {
        return Err(Problem::invalid(
            "a mask cannot be given to causal attention",
        ));
    }
    let shape = Shape::new(&query, &key, &value, call.bool(7)?)?;
    let scale = call
        .optional_float(6)?
        .unwrap_or(1.0 / (shape.width as f64).sqrt());
    let mask = mask.map(|mask| shape.expanded(&mask)).transpose()?;
    let is_fused = shape.sizes.len() == 4 && &*shape.sizes == query.sizes() && shape.shared == 1;
    let order = is_fused.then(|| super::super::copy::preserved(&query));
    compute!(float, query.dtype(), C, O => {
        let contiguous = |array: &Array| array.converted(C::DTYPE)?.contiguous();
        let (query, key, value) = (contiguous(&query)?, contiguous(&key)?, contiguous(&value)?);
        let bias = mask.map(|mask| mask_values::<C>(&mask)).transpose()?;
        let (query, key, value) = (query.data::<C>()?, key.data::<C>()?, value.data::<C>()?);
        let mut fresh = Fresh::<C>::to_be_written(shape.heads * shape.queries * shape.out_width)?;
        let job = Job {
            shape: &shape,
            query: query.elements(),
            key: key.elements(),
            value: value.elements(),
            bias: bias.as_deref(),
            scale: C::of(scale),
            is_causal,
        };
        let part = (shape.queries * shape.out_width).max(1);
        let out = fresh.elements();
        match shape.heads > 1 && shape.heads * shape.queries * shape.keys > 1 << 12 {
            true => out.par_chunks_mut(part).enumerate().for_each(|(head, out)| job.head(head, out)),
            false => out.chunks_mut(part).enumerate().for_each(|(head, out)| job.head(head, out)),
        }
        let result = fresh.into_array(&shape.sizes)?.converted(O::DTYPE)?;
        // torch's fused kernel, which takes four dimensions, gives the result the strides of the
        // query.
        match order {
            Some(strides) => Ok(result.copied(strides)?.into()),
            None => Ok(result.into()),
        }
    })
}

/// A mask as numbers that are added: truth values as 0 and minus infinity.
fn mask_values<C: Math>(mask: &Array) -> Result<Vec<C>, Problem> {
    match mask.dtype() {
        DType::Bool => Ok(mask
            .to_vec::<Bool>()?
            .into_iter()
            .map(|holds| {
                if holds.get() {
                    C::of(0.0)
                } else {
                    C::of(f64::NEG_INFINITY)
                }
            })
            .collect()),
        _ => mask.converted(C::DTYPE)?.to_vec(),
    }
}

struct Shape {
    /// Sizes of the result.
    sizes: Dims,
    /// Batches times heads of the query.
    heads: usize,
    /// Heads of the query for each of the key and value.
    shared: usize,
    queries: usize,
    keys: usize,
    width: usize,
    out_width: usize,
}

impl Shape {
    fn new(query: &Array, key: &Array, value: &Array, is_grouped: bool) -> Result<Self, Problem> {
        let wrong = || {
            Problem::invalid(format!(
                "queries of sizes {:?}, keys of {:?} and values of {:?} do not go together",
                query.sizes(),
                key.sizes(),
                value.sizes()
            ))
        };
        let rank = query.rank();
        if rank < 2 || key.rank() != rank || value.rank() != rank {
            return Err(wrong());
        }
        let at = |array: &Array, behind: usize| array.size(rank - behind);
        let heads = geometry::numel(&query.sizes()[..rank - 2]);
        let key_heads = geometry::numel(&key.sizes()[..rank - 2]);
        let fits = at(query, 1) == at(key, 1)
            && at(key, 2) == at(value, 2)
            && key.sizes()[..rank - 2] == value.sizes()[..rank - 2];
        let shared = match heads.checked_div(key_heads) {
            Some(shared) if key_heads * shared == heads => shared,
            _ if heads == 0 => 1,
            _ => return Err(wrong()),
        };
        if !fits || (shared != 1 && !is_grouped) {
            return Err(wrong());
        }
        let mut sizes = Dims::from_slice(query.sizes());
        sizes[rank - 1] = at(value, 1);
        Ok(Self {
            sizes,
            heads,
            shared,
            queries: at(query, 2),
            keys: at(key, 2),
            width: at(query, 1),
            out_width: at(value, 1),
        })
    }

    /// A mask of one number for each query and key of each head.
    fn expanded(&self, mask: &Array) -> Result<Array, Problem> {
        let mut sizes = self.sizes.clone();
        let last = sizes.len() - 1;
        sizes[last] = self.keys;
        mask.expand(&sizes)
    }
}

struct Job<'a, C> {
    shape: &'a Shape,
    query: &'a [C],
    key: &'a [C],
    value: &'a [C],
    bias: Option<&'a [C]>,
    scale: C,
    is_causal: bool,
}

impl<C: Math + super::super::matmul::Product + super::super::reduce::Summed> Job<'_, C> {
    /// Attention of one head, all its queries.
    fn head(&self, head: usize, out: &mut [C]) {
        let Shape {
            queries,
            keys,
            width,
            out_width,
            shared,
            ..
        } = *self.shape;
        let key = &self.key[head / shared * keys * width..][..keys * width];
        let value = &self.value[head / shared * keys * out_width..][..keys * out_width];
        let key = Matrix::contiguous(key, keys, width).transposed();
        let value = Matrix::contiguous(value, keys, out_width);
        let mut scores = vec![C::of(0.0); BLOCK.min(queries) * keys];
        let mut weights = scores.clone();
        for start in (0..queries).step_by(BLOCK) {
            let count = BLOCK.min(queries - start);
            let first = (head * queries + start) * width;
            let block = Matrix::contiguous(&self.query[first..first + count * width], count, width);
            let (scores, weights) = (&mut scores[..count * keys], &mut weights[..count * keys]);
            C::multiply(Target::new(scores, keys), block, key, false);
            for (index, row) in scores.chunks_mut(keys.max(1)).enumerate() {
                self.mask(row, head, start + index);
            }
            for (row, weights) in scores
                .chunks(keys.max(1))
                .zip(weights.chunks_mut(keys.max(1)))
            {
                softmax_line(row, weights);
                // A query that sees no key gets nothing.
                if row.iter().all(|score| *score == C::of(f64::NEG_INFINITY)) {
                    weights.fill(C::of(0.0));
                }
            }
            let out = &mut out[start * out_width..(start + count) * out_width];
            let weights = Matrix::contiguous(weights, count, keys);
            C::multiply(Target::new(out, out_width), weights, value, false);
        }
    }

    /// Scales a row of scores, and leaves out keys that the query must not see.
    fn mask(&self, row: &mut [C], head: usize, query: usize) {
        let (queries, keys) = (self.shape.queries, self.shape.keys);
        for score in row.iter_mut() {
            *score = *score * self.scale;
        }
        if let Some(bias) = self.bias {
            let start = (head * queries + query) * keys;
            for (score, bias) in row.iter_mut().zip(&bias[start..start + keys]) {
                *score += *bias;
            }
        }
        if self.is_causal {
            for score in row.iter_mut().skip(query + 1) {
                *score = C::of(f64::NEG_INFINITY);
            }
        }
    }
}
