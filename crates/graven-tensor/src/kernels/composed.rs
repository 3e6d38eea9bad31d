//! Operators that are computed by calling others.

use graven_ir::DType;

use super::Table;
use super::join::cat;
use super::view::{diagonal_of, narrowed, unsqueezed};
use crate::array::Array;
use crate::call::Call;
use crate::element::dispatch;
use crate::error::Problem;
use crate::geometry::{self, Dims, wrap_dim};
use crate::scalar::Scalar;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::atleast_1d.Sequence", |call| {
        each(call, |array| at_least(array, 1))
    }),
    ("aten::atleast_2d.Sequence", |call| {
        each(call, |array| at_least(array, 2))
    }),
    ("aten::atleast_3d.Sequence", |call| {
        each(call, |array| at_least(array, 3))
    }),
    ("aten::column_stack", |call| {
        // Vectors are columns.
        let column = |array: &Array| match array.rank() {
            0 => array.view(&[1, 1], Dims::from_slice(&[1, 1]), array.offset()),
            1 => unsqueezed(array, 1),
            _ => Ok(array.clone()),
        };
        joined(call, column, |_| 1)
    }),
    ("aten::cosine_embedding_loss", cosine_embedding_loss),
    ("aten::diag", |call| {
        let array = call.array(0)?;
        match array.rank() {
            1 => Ok(embedded_diagonal(&array, call.int(1)?, 0, 1)?.into()),
            _ => {
                let diagonal = diagonal_of(&array, call.int(1)?, 0, 1)?;
                Ok(diagonal
                    .copied(geometry::contiguous_strides(diagonal.sizes()))?
                    .into())
            }
        }
    }),
    ("aten::diag_embed", |call| {
        let array = call.array(0)?;
        let rank = array.rank() + 1;
        let dims = (wrap_dim(call.int(2)?, rank)?, wrap_dim(call.int(3)?, rank)?);
        Ok(embedded_diagonal(&array, call.int(1)?, dims.0, dims.1)?.into())
    }),
    ("aten::diagflat", |call| {
        let array = call.array(0)?;
        let line = super::matmul::reshape(&array, &[array.numel()])?;
        Ok(embedded_diagonal(&line, call.int(1)?, 0, 1)?.into())
    }),
    ("aten::dist", |call| {
        let difference = invoke(call, "aten::sub.Tensor", &[call.value(0), call.value(1)])?;
        invoke(call, "aten::norm.Scalar", &[&difference, call.value(2)])
    }),
    ("aten::dstack", |call| {
        joined(call, |array| at_least(array, 3), |_| 2)
    }),
    ("aten::equal", |call| {
        let (left, right) = (call.array(0)?, call.array(1)?);
        if left.sizes() != right.sizes() {
            return Ok(Value::Bool(false));
        }
        let same = invoke(call, "aten::eq.Tensor", &[call.value(0), call.value(1)])?;
        let all = invoke(call, "aten::all", &[&same])?;
        let all = all
            .as_tensor()
            .map(|tensor| tensor.array().item())
            .transpose()?;
        Ok(Value::Bool(all == Some(Scalar::Bool(true))))
    }),
    ("aten::gru_cell", |call| cell(call, "aten::gru.input")),
    ("aten::hinge_embedding_loss", hinge_embedding_loss),
    ("aten::hstack", |call| {
        joined(
            call,
            |array| at_least(array, 1),
            |array| i64::from(array.rank() > 1),
        )
    }),
    ("aten::is_complex", |call| {
        Ok(Value::Bool(call.unresolved(0)?.dtype().is_complex()))
    }),
    ("aten::is_floating_point", |call| {
        Ok(Value::Bool(call.unresolved(0)?.dtype().is_floating_point()))
    }),
    ("aten::is_signed", |call| {
        let dtype = call.unresolved(0)?.dtype();
        Ok(Value::Bool(!matches!(dtype, DType::Bool | DType::UInt8)))
    }),
    ("aten::isin.Tensor_Tensor", isin),
    ("aten::isreal", |call| {
        let imaginary = match call.array(0)?.dtype().is_complex() {
            true => invoke(call, "aten::imag", &[call.value(0)])?,
            false => invoke(call, "aten::zeros_like", &[call.value(0)])?,
        };
        invoke(call, "aten::eq.Scalar", &[&imaginary, &Value::Int(0)])
    }),
    ("aten::linalg_norm", |call| {
        let array = call.array(0)?;
        let is_vector = array.rank() == 1 || matches!(call.value(1), Value::None);
        let dims = call.optional_ints(2)?.map_or(0, |dims| dims.len());
        if !is_vector && dims != 1 {
            return Err(Problem::NoKernel);
        }
        let order = match call.value(1) {
            Value::None => Value::Int(2),
            order => order.clone(),
        };
        let rest = [call.value(2), call.value(3)];
        let args = [call.value(0), &order, rest[0], rest[1]];
        let kwargs = [("dtype", call.value(4).clone())];
        invoke_with(call, "aten::linalg_vector_norm", &args, &kwargs)
    }),
    ("aten::linalg_vecdot", |call| {
        let left = call.unresolved(0)?.conjugated().into();
        let product = invoke(call, "aten::mul.Tensor", &[&left, call.value(1)])?;
        let dims = Value::List(vec![call.value(2).clone()]);
        invoke(call, "aten::sum.dim_IntList", &[&product, &dims])
    }),
    ("aten::lstm_cell", |call| cell(call, "aten::lstm.input")),
    ("aten::margin_ranking_loss", |call| {
        let difference = invoke(call, "aten::sub.Tensor", &[call.value(0), call.value(1)])?;
        let target = invoke(call, "aten::neg", &[call.value(2)])?;
        let product = invoke(call, "aten::mul.Tensor", &[&target, &difference])?;
        let shifted = invoke(call, "aten::add.Scalar", &[&product, call.value(3)])?;
        let loss = invoke(call, "aten::clamp_min", &[&shifted, &Value::Int(0)])?;
        reduced(call, loss, call.int(4)?)
    }),
    ("aten::nanmean", |call| {
        let args = [call.value(0), call.value(1), call.value(2)];
        let kwargs = [("dtype", call.value(3).clone())];
        let sum = invoke_with(call, "aten::nansum", &args, &kwargs)?;
        let number = invoke(call, "aten::isnan", &[call.value(0)])?;
        let number = invoke(call, "aten::logical_not", &[&number])?;
        let count = invoke(call, "aten::sum.dim_IntList", &[&number, args[1], args[2]])?;
        invoke(call, "aten::div.Tensor", &[&sum, &count])
    }),
    ("aten::narrow.Tensor", |call| {
        let array = call.unresolved(0)?;
        let dim = wrap_dim(call.int(1)?, array.rank())?;
        let size = array.size(dim) as i64;
        let start = call.int(2)?;
        let start = if start < 0 { start + size } else { start };
        let length = call.int(3)?;
        let fits = start >= 0 && length >= 0 && start.saturating_add(length) <= size;
        if array.rank() == 0 || !fits {
            return Err(Problem::Index {
                index: start,
                dim,
                size: array.size(dim),
            });
        }
        Ok(narrowed(&array, dim, start as usize, length as usize)?.into())
    }),
    ("aten::pairwise_distance", pairwise_distance),
    ("aten::repeat_interleave.self_Tensor", repeat_each),
    ("aten::row_stack", |call| {
        joined(call, |array| at_least(array, 2), |_| 0)
    }),
    ("aten::sum_to_size", |call| {
        let (array, sizes) = (call.array(0)?, call.sizes(1)?);
        let missing = array.rank().checked_sub(sizes.len());
        let missing = missing.ok_or_else(|| Problem::invalid("a sum has no more dimensions"))?;
        geometry::expanded_strides(&sizes, &sizes, array.sizes())?;
        let is_summed =
            |dim: &usize| *dim < missing || (sizes[*dim - missing] == 1 && array.size(*dim) != 1);
        let dims: Vec<i64> = (0..array.rank())
            .filter(is_summed)
            .map(|dim| dim as i64)
            .collect();
        if dims.is_empty() {
            return Ok(call.tensor(0)?.clone().into());
        }
        let sum = super::reduce::sum(&array, Some(&dims), true)?;
        Ok(super::matmul::reshape(&sum, &sizes)?.into())
    }),
    ("aten::tile", |call| {
        let rank = call.array(0)?.rank();
        let mut repeats = vec![Value::Int(1); rank.saturating_sub(call.ints(1)?.len())];
        repeats.extend(call.ints(1)?.iter().map(|repeat| Value::Int(*repeat)));
        invoke(
            call,
            "aten::repeat",
            &[call.value(0), &Value::List(repeats)],
        )
    }),
    ("aten::tril_indices", |call| triangle_indices(call, false)),
    ("aten::triplet_margin_loss", triplet_margin_loss),
    ("aten::triu_indices", |call| triangle_indices(call, true)),
    ("aten::vstack", |call| {
        joined(call, |array| at_least(array, 2), |_| 0)
    }),
    ("aten::where", |call| {
        let found = invoke(call, "aten::nonzero", &[call.value(0)])?;
        invoke(call, "aten::unbind.int", &[&found, &Value::Int(1)])
    }),
];

fn invoke(call: &Call<'_>, operator: &str, args: &[&Value]) -> Result<Value, Problem> {
    invoke_with(call, operator, args, &[])
}

fn invoke_with(
    call: &Call<'_>,
    operator: &str,
    args: &[&Value],
    kwargs: &[(&str, Value)],
) -> Result<Value, Problem> {
    let args: Vec<Value> = args.iter().map(|value| (*value).clone()).collect();
    Ok(call.eager().invoke(operator, &args, kwargs)?)
}

/// Reduction 0: none, 1: the mean, 2: the sum.
fn reduced(call: &Call<'_>, loss: Value, reduction: i64) -> Result<Value, Problem> {
    match reduction {
        0 => Ok(loss),
        1 => invoke(call, "aten::mean", &[&loss]),
        _ => invoke(call, "aten::sum", &[&loss]),
    }
}

/// With so many dimensions at least, the new ones where torch puts them.
fn at_least(array: &Array, rank: usize) -> Result<Array, Problem> {
    let mut array = array.clone();
    while array.rank() < rank {
        // A third dimension goes behind a matrix, all others before.
        let place = if array.rank() == 2 { 2 } else { 0 };
        array = unsqueezed(&array, place)?;
    }
    Ok(array)
}

fn each(
    call: &Call<'_>,
    change: impl Fn(&Array) -> Result<Array, Problem>,
) -> Result<Value, Problem> {
    let arrays = call.arrays(0)?;
    Ok(arrays
        .iter()
        .map(change)
        .collect::<Result<Vec<_>, _>>()?
        .into())
}

/// Tensors, changed, put together along a dimension that the first one decides.
fn joined(
    call: &Call<'_>,
    change: impl Fn(&Array) -> Result<Array, Problem>,
    dim: impl Fn(&Array) -> i64,
) -> Result<Value, Problem> {
    let arrays = call.arrays(0)?;
    let arrays: Vec<Array> = arrays.iter().map(change).collect::<Result<_, _>>()?;
    let dim = arrays.first().map_or(0, dim);
    Ok(cat(&arrays, dim)?.into())
}

/// A tensor of zeros whose diagonals are the last dimension's lines.
fn embedded_diagonal(
    array: &Array,
    offset: i64,
    dim1: usize,
    dim2: usize,
) -> Result<Array, Problem> {
    if dim1 == dim2 {
        return Err(Problem::invalid(
            "the two dimensions of a diagonal must differ",
        ));
    }
    let size = array.sizes().last().copied().unwrap_or(1);
    let skipped = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
    let size = size.saturating_add(skipped);
    let mut sizes = Dims::from_slice(&array.sizes()[..array.rank().saturating_sub(1)]);
    let (low, high) = (dim1.min(dim2), dim1.max(dim2));
    sizes.insert(low, size);
    sizes.insert(high, size);
    let result = Array::zeros(array.dtype(), &sizes)?;
    diagonal_of(&result, offset, dim1 as i64, dim2 as i64)?.assign(array)?;
    Ok(result)
}

/// `tril_indices(row, col, offset=0, *, dtype)`: rows, then columns.
fn triangle_indices(call: &Call<'_>, upper: bool) -> Result<Value, Problem> {
    let (rows, columns, offset) = (call.int(0)?, call.int(1)?, call.int(2)?);
    if rows < 0 || columns < 0 {
        return Err(Problem::invalid("sizes must not be negative"));
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for row in 0..rows {
        for column in 0..columns {
            let distance = column - row;
            if if upper {
                distance >= offset
            } else {
                distance <= offset
            } {
                first.push(row);
                second.push(column);
            }
        }
    }
    let count = first.len();
    first.extend(second);
    let dtype = call.optional_dtype(3)?.unwrap_or(DType::Int64);
    Ok(Array::from_elements(&first, &[2, count])?
        .converted(dtype)?
        .into())
}

/// `lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh)`: one step of one layer.
fn cell(call: &Call<'_>, layer: &str) -> Result<Value, Problem> {
    let front = |value: &Value| invoke(call, "aten::unsqueeze", &[value, &Value::Int(0)]);
    let input = front(call.value(0))?;
    let state = match call.value(1) {
        Value::List(states) => Value::List(states.iter().map(front).collect::<Result<_, _>>()?),
        state => front(state)?,
    };
    let biases = [call.value(4), call.value(5)];
    let has_biases = !matches!(biases[0], Value::None);
    let mut params = vec![call.value(2).clone(), call.value(3).clone()];
    if has_biases {
        params.extend(biases.into_iter().cloned());
    }
    let [no, one] = [Value::Bool(false), Value::Int(1)];
    let args = [
        &input,
        &state,
        &Value::List(params),
        &Value::Bool(has_biases),
        &one,
        &Value::Float(0.0),
        &no,
        &no,
        &no,
    ];
    let results = invoke(call, layer, &args)?;
    let states = results.as_list().unwrap_or(&[]).iter().skip(1);
    let mut states = states
        .map(|state| invoke(call, "aten::squeeze.dim", &[state, &Value::Int(0)]))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(match states.len() {
        1 => states.remove(0),
        _ => Value::List(states),
    })
}

/// `isin(elements, test_elements, *, assume_unique, invert)`
fn isin(call: &Call<'_>) -> Result<Value, Problem> {
    let (elements, tests) = (call.array(0)?, call.array(1)?);
    let inverts = call.bool(3)?;
    let dtype = crate::promote::promote_types(elements.dtype(), tests.dtype());
    let found: Vec<crate::element::Bool> = dispatch!(real, dtype, T => {
        let tests = tests.converted(dtype)?.to_vec::<T>()?;
        let elements = elements.converted(dtype)?.to_vec::<T>()?;
        let is_in = |element: &T| (tests.contains(element) != inverts).into();
        Ok::<_, Problem>(elements.iter().map(is_in).collect())
    })?;
    Ok(Array::from_elements(&found, elements.sizes())?.into())
}

/// `pairwise_distance(x1, x2, p=2, eps=1e-6, keepdim=False)`
fn pairwise_distance(call: &Call<'_>) -> Result<Value, Problem> {
    let difference = invoke(call, "aten::sub.Tensor", &[call.value(0), call.value(1)])?;
    let shifted = invoke(call, "aten::add.Scalar", &[&difference, call.value(3)])?;
    let dims = Value::List(vec![Value::Int(-1)]);
    let args = [&shifted, call.value(2), &dims, call.value(4)];
    invoke(call, "aten::linalg_vector_norm", &args)
}

/// `triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)`
fn triplet_margin_loss(call: &Call<'_>) -> Result<Value, Problem> {
    let distance = |left: usize, right: usize| {
        let args = [
            call.value(left),
            call.value(right),
            call.value(4),
            call.value(5),
        ];
        invoke(call, "aten::pairwise_distance", &args)
    };
    let (near, mut far) = (distance(0, 1)?, distance(0, 2)?);
    if call.bool(6)? {
        far = invoke(call, "aten::minimum", &[&far, &distance(1, 2)?])?;
    }
    let gap = invoke(call, "aten::sub.Tensor", &[&near, &far])?;
    let shifted = invoke(call, "aten::add.Scalar", &[&gap, call.value(3)])?;
    let loss = invoke(call, "aten::clamp_min", &[&shifted, &Value::Int(0)])?;
    reduced(call, loss, call.int(7)?)
}

/// `hinge_embedding_loss(self, target, margin=1, reduction)`: targets are 1 or -1.
fn hinge_embedding_loss(call: &Call<'_>) -> Result<Value, Problem> {
    let zero = Value::Int(0);
    let negative = invoke(call, "aten::neg", &[call.value(0)])?;
    let gap = invoke(call, "aten::add.Scalar", &[&negative, call.value(2)])?;
    let gap = invoke(call, "aten::clamp_min", &[&gap, &zero])?;
    // Where the target is not 1 the gap counts, where it is not -1 the value does.
    let is_one = invoke(call, "aten::eq.Scalar", &[call.value(1), &Value::Int(1)])?;
    let apart = invoke(call, "aten::masked_fill.Scalar", &[&gap, &is_one, &zero])?;
    let near = {
        let is_other = invoke(call, "aten::eq.Scalar", &[call.value(1), &Value::Int(-1)])?;
        invoke(
            call,
            "aten::masked_fill.Scalar",
            &[call.value(0), &is_other, &zero],
        )?
    };
    let loss = invoke(call, "aten::add.Tensor", &[&apart, &near])?;
    reduced(call, loss, call.int(3)?)
}

/// `cosine_embedding_loss(input1, input2, target, margin=0, reduction)`
fn cosine_embedding_loss(call: &Call<'_>) -> Result<Value, Problem> {
    let zero = Value::Int(0);
    let rank = call.array(0)?.rank();
    let dim = Value::Int(rank as i64 - 1);
    let cosine = invoke(
        call,
        "aten::cosine_similarity",
        &[call.value(0), call.value(1), &dim],
    )?;
    let near = invoke(call, "aten::rsub.Scalar", &[&cosine, &Value::Int(1)])?;
    let margin = Value::Float(-call.float(3)?);
    let far = invoke(call, "aten::add.Scalar", &[&cosine, &margin])?;
    let far = invoke(call, "aten::clamp_min", &[&far, &zero])?;
    let is_near = invoke(call, "aten::eq.Scalar", &[call.value(2), &Value::Int(1)])?;
    let is_far = invoke(call, "aten::eq.Scalar", &[call.value(2), &Value::Int(-1)])?;
    let near = invoke(call, "aten::mul.Tensor", &[&near, &is_near])?;
    let far = invoke(call, "aten::mul.Tensor", &[&far, &is_far])?;
    let loss = invoke(call, "aten::add.Tensor", &[&near, &far])?;
    reduced(call, loss, call.int(4)?)
}

/// `repeat_interleave(self, repeats, dim=None, *, output_size=None)`: each element its own number
/// of times.
fn repeat_each(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let (array, dim) = match call.optional_int(2)? {
        Some(dim) => (array.clone(), wrap_dim(dim, array.rank())?),
        None => (super::matmul::reshape(&array, &[array.numel()])?, 0),
    };
    let size = array.size(dim);
    let repeats = call.array(1)?.converted(DType::Int64)?.to_vec::<i64>()?;
    if repeats.len() != 1 && repeats.len() != size {
        return Err(Problem::invalid(format!(
            "{} repeats do not fit dimension {dim} of {size} elements",
            repeats.len()
        )));
    }
    let mut places = Vec::new();
    for place in 0..size {
        let repeat = repeats.get(place).or(repeats.first()).copied().unwrap_or(0);
        let repeat = usize::try_from(repeat)
            .map_err(|_| Problem::invalid("repeats must not be negative"))?;
        places.extend(std::iter::repeat_n(place, repeat));
    }
    Ok(super::index::selected(&array, dim, &places)?.into())
}
