//! Views: how a value written through one becomes a new value of its base.
//!
//! Each view operator has one [`Inverse`]. [`Inverse::write_back`] is the formula: given the
//! base's value and the written value of the view, the base's new value. Formulas make pure
//! calls only.

use graven_ir::{SymInt, TensorMeta};

use crate::emit::{Arg, Emit, EmitError};

/// How a view is undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inverse {
    /// A scatter operator with the view's own arguments: `slice` by `slice_scatter`.
    Scatter(&'static str),
    /// The named shape operator, given the base's sizes: `view`.
    ToBaseSizes(&'static str),
    /// The named operator with the view's own arguments undoes itself: `transpose`.
    Same(&'static str),
    /// The named operator, given nothing else: `view_as_real` by `view_as_complex`.
    Bare(&'static str),
    /// `permute` by the inverse order.
    Permute,
    /// `unsqueeze` by `squeeze.dim`.
    Squeeze,
    /// `squeeze` by one `unsqueeze` for each dropped dimension.
    Unsqueeze,
    /// `view.dtype` with the base's dtype.
    DType,
    /// The view is the base's value: nothing to do.
    Identity,
    /// `expand`: the element that any copy gave another value.
    Expand,
    /// `unfold`: windows put back, gaps kept.
    Unfold,
}

/// The inverse of the view operator with this full name; `None` when it is no view that can be
/// written through.
pub fn inverse(operator: &str) -> Option<Inverse> {
    Some(match operator {
        "aten::slice.Tensor" => Inverse::Scatter("aten::slice_scatter"),
        "aten::select.int" => Inverse::Scatter("aten::select_scatter"),
        "aten::diagonal" => Inverse::Scatter("aten::diagonal_scatter"),
        "aten::as_strided" => Inverse::Scatter("aten::as_strided_scatter"),
        "aten::view" | "aten::_reshape_alias" => Inverse::ToBaseSizes("aten::view"),
        "aten::_unsafe_view" => Inverse::ToBaseSizes("aten::_unsafe_view"),
        "aten::transpose.int" => Inverse::Same("aten::transpose.int"),
        "aten::t" => Inverse::Bare("aten::t"),
        "aten::permute" => Inverse::Permute,
        "aten::unsqueeze" => Inverse::Squeeze,
        "aten::squeeze" | "aten::squeeze.dim" | "aten::squeeze.dims" => Inverse::Unsqueeze,
        "aten::view.dtype" => Inverse::DType,
        "aten::view_as_real" => Inverse::Bare("aten::view_as_complex"),
        "aten::view_as_complex" => Inverse::Bare("aten::view_as_real"),
        "aten::_conj" => Inverse::Bare("aten::_conj"),
        "aten::_neg_view" => Inverse::Bare("aten::_neg_view"),
        "aten::alias" => Inverse::Bare("aten::alias"),
        "aten::detach" | "aten::lift_fresh" => Inverse::Identity,
        "aten::expand" => Inverse::Expand,
        "aten::unfold" => Inverse::Unfold,
        _ => return None,
    })
}

/// A view to be undone: its arguments without the base.
#[derive(Clone, Debug)]
pub struct ViewArguments<V> {
    /// Positional arguments after the base.
    pub args: Vec<Arg<V>>,
    /// Keyword arguments.
    pub kwargs: Vec<(String, Arg<V>)>,
}

impl Inverse {
    /// The base's new value after `written` was written through the view.
    pub fn write_back<E: Emit>(
        self,
        emit: &mut E,
        view: &ViewArguments<E::Value>,
        base: &E::Value,
        written: E::Value,
    ) -> Result<E::Value, E::Error> {
        let value = |value: &E::Value| Arg::Value(value.clone());
        match self {
            Self::Identity => Ok(written),
            Self::Scatter(operator) => {
                let mut args = vec![value(base), value(&written)];
                args.extend(view.args.iter().cloned());
                let kwargs: Vec<_> = view
                    .kwargs
                    .iter()
                    .map(|(name, arg)| (name.as_str(), arg.clone()))
                    .collect();
                one(emit, operator, &args, &kwargs)
            }
            Self::ToBaseSizes(operator) => {
                let sizes = Arg::ints(emit.meta(base).sizes.iter().copied());
                one(emit, operator, &[value(&written), sizes], &[])
            }
            Self::Same(operator) => {
                let mut args = vec![value(&written)];
                args.extend(view.args.iter().cloned());
                one(emit, operator, &args, &[])
            }
            Self::Bare(operator) => one(emit, operator, &[value(&written)], &[]),
            Self::Permute => {
                let order = permuted_dims(view, emit.meta(base))?;
                let mut inverse = vec![0_i64; order.len()];
                for (to, from) in order.iter().enumerate() {
                    inverse[*from] = to as i64;
                }
                one(
                    emit,
                    "aten::permute",
                    &[value(&written), Arg::const_ints(inverse)],
                    &[],
                )
            }
            Self::Squeeze => {
                let dim = view.args.first().cloned().unwrap_or(Arg::None);
                one(emit, "aten::squeeze.dim", &[value(&written), dim], &[])
            }
            Self::Unsqueeze => {
                let mut written = written;
                for dim in dropped_dims(emit.meta(base), emit.meta(&written), view)? {
                    written = one(
                        emit,
                        "aten::unsqueeze",
                        &[value(&written), Arg::int(dim as i64)],
                        &[],
                    )?;
                }
                Ok(written)
            }
            Self::DType => {
                let dtype = Arg::DType(emit.meta(base).dtype);
                one(emit, "aten::view.dtype", &[value(&written), dtype], &[])
            }
            Self::Expand => write_back_expand(emit, base, written),
            Self::Unfold => write_back_unfold(emit, view, base, written),
        }
    }
}

/// Calls an operator that returns one tensor.
pub(crate) fn one<E: Emit>(
    emit: &mut E,
    operator: &str,
    args: &[Arg<E::Value>],
    kwargs: &[(&str, Arg<E::Value>)],
) -> Result<E::Value, E::Error> {
    let results = emit.call(operator, args, kwargs)?;
    results
        .into_iter()
        .next()
        .ok_or_else(|| shape_error(operator, "returned nothing").into())
}

fn shape_error(operator: &str, problem: &str) -> EmitError {
    EmitError::Shape {
        operator: operator.to_owned(),
        problem: problem.to_owned(),
    }
}

/// `dim` counted from the front, for a tensor of `rank` dimensions (0-d counts as 1-d).
pub(crate) fn wrap_dim(operator: &str, dim: i64, rank: usize) -> Result<usize, EmitError> {
    let rank = rank.max(1) as i64;
    if dim < -rank || dim >= rank {
        return Err(shape_error(
            operator,
            &format!("dimension {dim} is out of range for rank {rank}"),
        ));
    }
    Ok(dim.rem_euclid(rank) as usize)
}

fn const_int<V>(operator: &str, arg: Option<&Arg<V>>, argument: &str) -> Result<i64, EmitError> {
    match arg {
        Some(Arg::Int(SymInt::Int(value))) => Ok(*value),
        _ => Err(EmitError::Argument {
            operator: operator.to_owned(),
            argument: argument.to_owned(),
            problem: "must be a constant integer".to_owned(),
        }),
    }
}

fn permuted_dims<V>(view: &ViewArguments<V>, base: &TensorMeta) -> Result<Vec<usize>, EmitError> {
    const OPERATOR: &str = "aten::permute";
    let Some(Arg::List(items)) = view.args.first() else {
        return Err(shape_error(OPERATOR, "takes a list of dimensions"));
    };
    let rank = base.sizes.len();
    let order: Result<Vec<usize>, EmitError> = items
        .iter()
        .map(|item| wrap_dim(OPERATOR, const_int(OPERATOR, Some(item), "dims")?, rank))
        .collect();
    let order = order?;
    let mut seen = vec![false; rank];
    for &dim in &order {
        seen[dim] = true;
    }
    if order.len() != rank || seen.contains(&false) {
        return Err(shape_error(OPERATOR, "takes each dimension once"));
    }
    Ok(order)
}

/// The dimensions of the base that `squeeze` dropped, ascending.
fn dropped_dims<V>(
    base: &TensorMeta,
    written: &TensorMeta,
    view: &ViewArguments<V>,
) -> Result<Vec<usize>, EmitError> {
    const OPERATOR: &str = "aten::squeeze";
    let rank = base.sizes.len();
    if rank == written.sizes.len() {
        return Ok(Vec::new());
    }
    let is_one = |dim: &usize| base.sizes[*dim] == SymInt::Int(1);
    let asked: Vec<usize> = match view.args.first() {
        None => (0..rank).collect(),
        Some(Arg::List(items)) => {
            let dims: Result<Vec<usize>, EmitError> = items
                .iter()
                .map(|item| wrap_dim(OPERATOR, const_int(OPERATOR, Some(item), "dim")?, rank))
                .collect();
            let mut dims = dims?;
            dims.sort_unstable();
            dims.dedup();
            dims
        }
        dim => vec![wrap_dim(OPERATOR, const_int(OPERATOR, dim, "dim")?, rank)?],
    };
    Ok(asked.into_iter().filter(is_one).collect())
}

/// All copies of an expanded element are one element in memory, so a write happens once. Along
/// each expanded dimension the first copy that changed is taken (torch adds the changes of all
/// copies up, which is wrong).
fn write_back_expand<E: Emit>(
    emit: &mut E,
    base: &E::Value,
    written: E::Value,
) -> Result<E::Value, E::Error> {
    let base_sizes = emit.meta(base).sizes.clone();
    let sizes = emit.meta(&written).sizes.clone();
    let added = sizes.len() - base_sizes.len().min(sizes.len());
    let expanded: Vec<usize> = (0..sizes.len())
        .filter(|&dim| match dim.checked_sub(added) {
            Some(of_base) => base_sizes[of_base] != sizes[dim],
            None => sizes[dim] != SymInt::Int(1),
        })
        .collect();
    let mut written = written;
    if !expanded.is_empty() {
        let before = one(
            emit,
            "aten::expand",
            &[Arg::Value(base.clone()), Arg::ints(sizes.iter().copied())],
            &[],
        )?;
        let mut changed = one(
            emit,
            "aten::ne.Tensor",
            &[Arg::Value(written.clone()), Arg::Value(before)],
            &[],
        )?;
        for dim in expanded {
            let dim = Arg::int(dim as i64);
            let keep = Arg::Bool(true);
            let numbers = one(
                emit,
                "aten::_to_copy",
                &[Arg::Value(changed.clone())],
                &[("dtype", Arg::DType(graven_ir::DType::Int64))],
            )?;
            let first = one(
                emit,
                "aten::argmax",
                &[Arg::Value(numbers), dim.clone(), keep],
                &[],
            )?;
            let index = Arg::Value(first);
            written = one(
                emit,
                "aten::gather",
                &[Arg::Value(written), dim.clone(), index.clone()],
                &[],
            )?;
            changed = one(
                emit,
                "aten::gather",
                &[Arg::Value(changed), dim, index],
                &[],
            )?;
        }
    }
    if added > 0 {
        let sizes = Arg::ints(base_sizes.iter().copied());
        written = one(emit, "aten::view", &[Arg::Value(written), sizes], &[])?;
    }
    Ok(written)
}

/// Windows that tile the dimension go back by `unfold_backward`, as torch does. Otherwise the
/// elements that windows cover are copied to their places and the others keep their values
/// (torch makes them 0).
fn write_back_unfold<E: Emit>(
    emit: &mut E,
    view: &ViewArguments<E::Value>,
    base: &E::Value,
    written: E::Value,
) -> Result<E::Value, E::Error> {
    const OPERATOR: &str = "aten::unfold";
    let rank = emit.meta(base).sizes.len();
    let dim = wrap_dim(
        OPERATOR,
        const_int(OPERATOR, view.args.first(), "dimension")?,
        rank,
    )?;
    let size = const_int(OPERATOR, view.args.get(1), "size")?;
    let step = const_int(OPERATOR, view.args.get(2), "step")?;
    let sizes = emit.meta(base).sizes.clone();
    let windows_tile =
        size == step && matches!(sizes.get(dim), Some(SymInt::Int(n)) if n % step.max(1) == 0);
    if windows_tile {
        let mut args = vec![Arg::Value(written), Arg::ints(sizes)];
        args.extend(view.args.iter().cloned());
        return one(emit, "aten::unfold_backward", &args, &[]);
    }
    let extent = *sizes.get(dim).unwrap_or(&SymInt::Int(1));
    let device = emit.meta(base).device;
    let places = one(
        emit,
        "aten::arange",
        &[Arg::Int(extent)],
        &[("device", Arg::Device(device))],
    )?;
    let windows = one(
        emit,
        "aten::unfold",
        &[
            Arg::Value(places),
            Arg::int(0),
            Arg::int(size),
            Arg::int(step),
        ],
        &[],
    )?;
    let index = flattened(emit, windows, 0)?;
    // The window's dimension stands last in the view: move it behind the dimension of windows.
    let written_rank = emit.meta(&written).sizes.len();
    let mut order: Vec<i64> = (0..written_rank as i64 - 1).collect();
    order.insert((dim + 1).min(order.len()), written_rank as i64 - 1);
    let moved = one(
        emit,
        "aten::permute",
        &[Arg::Value(written), Arg::const_ints(order)],
        &[],
    )?;
    let source = flattened(emit, moved, dim)?;
    let args = [
        Arg::Value(base.clone()),
        Arg::int(dim as i64),
        Arg::Value(index),
        Arg::Value(source),
    ];
    one(emit, "aten::index_copy", &args, &[])
}

/// Dimensions `dim` and `dim + 1` made one.
fn flattened<E: Emit>(emit: &mut E, value: E::Value, dim: usize) -> Result<E::Value, E::Error> {
    let dense = one(
        emit,
        "aten::clone",
        &[Arg::Value(value)],
        &[(
            "memory_format",
            Arg::MemoryFormat(graven_ir::MemoryFormat::Contiguous),
        )],
    )?;
    let mut sizes: Vec<Arg<E::Value>> = emit
        .meta(&dense)
        .sizes
        .iter()
        .copied()
        .map(Arg::Int)
        .collect();
    if dim + 1 < sizes.len() {
        sizes.remove(dim + 1);
        sizes[dim] = Arg::int(-1);
    }
    one(
        emit,
        "aten::_unsafe_view",
        &[Arg::Value(dense), Arg::List(sizes)],
        &[],
    )
}
