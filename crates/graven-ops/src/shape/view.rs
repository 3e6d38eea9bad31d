//! Shape rules of views: the same storage with other sizes, strides and offset.

use graven_ir::value::Dims;
use graven_ir::{SymInt, TensorMeta};

use super::layout;
use super::rule::{Inference, MOST_PARTS, Metas, Rule, one};
use crate::emit::EmitError;

const ONE: SymInt = SymInt::Int(1);
const ZERO: SymInt = SymInt::Int(0);

/// What Python writes for an open end.
const OPEN_END: i64 = i64::MAX;

/// The rule of a view operator.
pub(super) fn rule(operator: &str) -> Option<Rule> {
    Some(match operator {
        "aten::alias" | "aten::detach" | "aten::lift_fresh" | "aten::lift" | "aten::_conj"
        | "aten::_neg_view" => itself,
        "aten::as_strided" => as_strided,
        "aten::diagonal" => diagonal,
        "aten::expand" => expand,
        "aten::permute" => permute,
        "aten::select.int" => select,
        "aten::slice.Tensor" => slice,
        "aten::split.Tensor" | "aten::unsafe_split.Tensor" => split,
        "aten::split_with_sizes" | "aten::unsafe_split_with_sizes" => split_with_sizes,
        "aten::squeeze" | "aten::squeeze.dim" | "aten::squeeze.dims" => squeeze,
        "aten::t" => t,
        "aten::transpose.int" => transpose,
        "aten::unbind.int" => unbind,
        "aten::unfold" => unfold,
        "aten::unsqueeze" => unsqueeze,
        "aten::view" | "aten::_unsafe_view" => view,
        "aten::_reshape_alias" => reshape_alias,
        "aten::view.dtype" => view_dtype,
        "aten::view_as_complex" => view_as_complex,
        "aten::view_as_real" => view_as_real,
        _ => return None,
    })
}

fn itself(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    Ok(one(rule.this()?.clone()))
}

fn as_strided(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    let sizes = rule.call.ints("size")?;
    let strides = rule.call.ints("stride")?;
    if sizes.len() != strides.len() {
        return Err(rule.call.unfit(format!(
            "{} sizes and {} strides were given",
            sizes.len(),
            strides.len()
        )));
    }
    let storage_offset = rule.call.optional_int("storage_offset")?;
    Ok(one(TensorMeta {
        sizes,
        strides,
        storage_offset: storage_offset.unwrap_or(base.storage_offset),
        ..base.clone()
    }))
}

fn diagonal(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    let rank = base.sizes.len();
    let (first, second) = (rule.dim("dim1", rank)?, rule.dim("dim2", rank)?);
    if first == second || rank < 2 {
        return Err(rule.call.unfit("takes two different dimensions"));
    }
    let offset = rule.call.const_int("offset")?;
    let (rows, columns) = (base.sizes[first], base.sizes[second]);
    // Above the main diagonal it starts in a later column, below it in a later row.
    let (start, rows, columns) = if offset >= 0 {
        let columns = rule.sub(columns, SymInt::Int(offset))?;
        (
            rule.mul(SymInt::Int(offset), base.strides[second])?,
            rows,
            columns,
        )
    } else {
        let down = offset
            .checked_neg()
            .ok_or_else(|| rule.call.problem("offset", "is out of range"))?;
        let rows = rule.sub(rows, SymInt::Int(down))?;
        (
            rule.mul(SymInt::Int(down), base.strides[first])?,
            rows,
            columns,
        )
    };
    let shorter = rule.min(rows, columns)?;
    let length = rule.at_least_zero(shorter);
    let mut meta = base.clone();
    // The start counts even when nothing is left behind it.
    meta.storage_offset = rule.add(base.storage_offset, start)?;
    let stride = rule.add(base.strides[first], base.strides[second])?;
    for dim in [first.max(second), first.min(second)] {
        meta.sizes.remove(dim);
        meta.strides.remove(dim);
    }
    meta.sizes.push(length);
    meta.strides.push(stride);
    Ok(one(meta))
}

fn expand(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    let wanted = rule.call.ints("size")?;
    let Some(added) = wanted.len().checked_sub(base.sizes.len()) else {
        return Err(rule.call.unfit(format!(
            "{} sizes were given for a tensor of rank {}",
            wanted.len(),
            base.sizes.len()
        )));
    };
    let mut meta = base.clone();
    for (dim, size) in wanted.iter().copied().enumerate().rev() {
        if let Some(old) = dim.checked_sub(added) {
            rule.expand_dim(&mut meta, old, size)?;
            continue;
        }
        if size == SymInt::Int(-1) {
            return Err(rule.call.unfit("-1 was given for a new dimension"));
        }
        // A new dimension of size 1 has the stride that a contiguous tensor would have.
        let stride = match (size, meta.sizes.first(), meta.strides.first()) {
            (ONE, Some(next), Some(stride)) => rule.mul(*next, *stride)?,
            (ONE, ..) => ONE,
            _ => ZERO,
        };
        meta.sizes.insert(0, size);
        meta.strides.insert(0, stride);
    }
    Ok(one(meta))
}

fn permute(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    let rank = base.sizes.len();
    let order = rule.call.const_ints("dims")?;
    if order.len() != rank {
        return Err(rule.call.unfit(format!(
            "{} dimensions were given for a tensor of rank {rank}",
            order.len()
        )));
    }
    let mut meta = base.clone();
    let mut taken = vec![false; rank];
    for (to, dim) in order.into_iter().enumerate() {
        let from = rule.wrap(dim, rank)?;
        if std::mem::replace(&mut taken[from], true) {
            return Err(rule.call.unfit(format!("dimension {from} was given twice")));
        }
        meta.sizes[to] = base.sizes[from];
        meta.strides[to] = base.strides[from];
    }
    Ok(one(meta))
}

fn select(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    if base.sizes.is_empty() {
        return Err(rule
            .call
            .unfit("a tensor without dimensions has nothing to select"));
    }
    let dim = rule.dim("dim", base.sizes.len())?;
    let index = rule.call.int("index")?;
    Ok(one(rule.selected(base, dim, index)?))
}

fn unbind(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    let dim = rule.dim("dim", base.sizes.len())?;
    let Some(SymInt::Int(size)) = base.sizes.get(dim) else {
        return Err(rule
            .call
            .unfit(format!("dimension {dim} must have a known size")));
    };
    (0..rule.checked_parts(*size)?)
        .map(|index| rule.selected(base, dim, SymInt::Int(index)))
        .collect()
}

fn slice(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    if base.sizes.is_empty() {
        return Err(rule
            .call
            .unfit("a tensor without dimensions has nothing to slice"));
    }
    let dim = rule.dim("dim", base.sizes.len())?;
    let step = rule.call.int("step")?;
    if let SymInt::Int(..=0) = step {
        return Err(rule.call.problem("step", "must be positive"));
    }
    let size = base.sizes[dim];
    let start = rule.call.optional_int("start")?.unwrap_or(ZERO);
    let end = rule
        .call
        .optional_int("end")?
        .unwrap_or(SymInt::Int(OPEN_END));
    let start = rule.position_in(start, size)?;
    let end = rule.position_in(end, size)?;
    let mut meta = rule.sliced(base, dim, start, rule.greater(start, end))?;
    if step != ONE {
        let length = meta.sizes[dim];
        let reach = rule.add(length, step)?;
        let reach = rule.sub(reach, ONE)?;
        meta.sizes[dim] = rule.floordiv(reach, step)?;
        meta.strides[dim] = rule.mul(meta.strides[dim], step)?;
    }
    Ok(one(meta))
}

fn split(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    let dim = rule.dim("dim", base.sizes.len())?;
    let size = *base.sizes.get(dim).unwrap_or(&ONE);
    let length = rule.call.int("split_size")?;
    let parts = rule.part_count(size, length)?;
    let mut metas = Metas::new();
    let mut start = ZERO;
    for part in 0..parts {
        let end = if part + 1 == parts {
            size
        } else {
            rule.add(start, length)?
        };
        metas.push(rule.sliced(base, dim, start, end)?);
        start = end;
    }
    Ok(metas)
}

fn split_with_sizes(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    let dim = rule.dim("dim", base.sizes.len())?;
    let lengths = rule.call.ints("split_sizes")?;
    let mut metas = Metas::new();
    let mut start = ZERO;
    for length in lengths {
        let end = rule.add(start, length)?;
        metas.push(rule.sliced(base, dim, start, end)?);
        start = end;
    }
    match (base.sizes.get(dim), start) {
        (Some(SymInt::Int(size)), SymInt::Int(total)) if *size != total => Err(rule
            .call
            .unfit(format!("sizes add up to {total}, not to {size}"))),
        _ => Ok(metas),
    }
}

fn squeeze(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    let rank = base.sizes.len();
    let asked: Vec<usize> = if rule.call.schema.argument("dim").is_none() {
        (0..rank).collect()
    } else {
        let dims = rule.call.const_ints("dim")?;
        let dims = dims.into_iter().map(|dim| rule.wrap(dim, rank));
        dims.collect::<Result<_, _>>()?
    };
    let mut meta = base.clone();
    for dim in (0..rank).rev() {
        if asked.contains(&dim) && base.sizes[dim] == ONE {
            meta.sizes.remove(dim);
            meta.strides.remove(dim);
        }
    }
    Ok(one(meta))
}

fn t(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let mut meta = rule.this()?.clone();
    if meta.sizes.len() > 2 {
        return Err(rule.call.unfit("takes a tensor of at most two dimensions"));
    }
    meta.sizes.reverse();
    meta.strides.reverse();
    Ok(one(meta))
}

fn transpose(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let mut meta = rule.this()?.clone();
    let rank = meta.sizes.len();
    let (first, second) = (rule.dim("dim0", rank)?, rule.dim("dim1", rank)?);
    if rank > 0 {
        meta.sizes.swap(first, second);
        meta.strides.swap(first, second);
    }
    Ok(one(meta))
}

fn unfold(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    let dim = rule.dim("dimension", base.sizes.len())?;
    let (window, step) = (rule.call.const_int("size")?, rule.call.const_int("step")?);
    if step <= 0 || window < 0 {
        return Err(rule.call.unfit("size and step must be positive"));
    }
    let mut meta = base.clone();
    if base.sizes.is_empty() {
        meta.sizes.push(SymInt::Int(window));
        meta.strides.push(ONE);
        return Ok(one(meta));
    }
    let last = rule.sub(base.sizes[dim], SymInt::Int(window))?;
    if rule.less(last, ZERO) == Some(true) {
        return Err(rule.call.problem("size", "is greater than the dimension"));
    }
    let windows = rule.floordiv(last, SymInt::Int(step))?;
    meta.sizes[dim] = rule.add(windows, ONE)?;
    meta.strides[dim] = rule.mul(base.strides[dim], SymInt::Int(step))?;
    meta.sizes.push(SymInt::Int(window));
    meta.strides.push(base.strides[dim]);
    Ok(one(meta))
}

fn unsqueeze(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let mut meta = rule.this()?.clone();
    let rank = meta.sizes.len();
    let dim = rule.dim("dim", rank + 1)?;
    let stride = if dim < rank {
        rule.mul(meta.sizes[dim], meta.strides[dim])?
    } else {
        ONE
    };
    meta.sizes.insert(dim, ONE);
    meta.strides.insert(dim, stride);
    Ok(one(meta))
}

fn view(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let base = rule.this()?;
    let sizes = rule.resolved_sizes(base, rule.call.ints("size")?)?;
    let strides = layout::view_strides(rule.exprs, base, &sizes);
    let strides = strides.map_err(|error| rule.call.unfit(error.to_string()))?;
    let Some(strides) = strides else {
        return Err(rule
            .call
            .unfit("the strides do not allow these sizes without a copy"));
    };
    Ok(one(TensorMeta {
        sizes,
        strides,
        ..base.clone()
    }))
}

fn reshape_alias(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    Ok(one(TensorMeta {
        sizes: rule.call.ints("size")?,
        strides: rule.call.ints("stride")?,
        ..rule.this()?.clone()
    }))
}

fn view_dtype(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let mut meta = rule.this()?.clone();
    let dtype = rule.call.dtype("dtype")?;
    let dtype = dtype.ok_or_else(|| rule.call.problem("dtype", "must be a dtype"))?;
    let (old, new) = (meta.dtype.bytes() as i64, dtype.bytes() as i64);
    meta.dtype = dtype;
    if old == new {
        return Ok(one(meta));
    }
    let Some(last) = meta.sizes.len().checked_sub(1) else {
        return Err(rule
            .call
            .unfit("a tensor without dimensions keeps its element size"));
    };
    if meta.strides[last] != ONE {
        return Err(rule.call.unfit("the last dimension must have stride 1"));
    }
    let scale = |rule: &mut Inference<'_>, value: SymInt| {
        if old > new {
            rule.mul(value, SymInt::Int(old / new.max(1)))
        } else {
            rule.divided(value, new / old.max(1))
        }
    };
    meta.sizes[last] = scale(rule, meta.sizes[last])?;
    for stride in &mut meta.strides[..last] {
        *stride = scale(rule, *stride)?;
    }
    meta.storage_offset = scale(rule, meta.storage_offset)?;
    Ok(one(meta))
}

fn view_as_real(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let mut meta = rule.this()?.clone();
    if !meta.dtype.is_complex() {
        return Err(rule.call.unfit("takes a complex tensor"));
    }
    meta.dtype = meta.dtype.to_real();
    for stride in &mut meta.strides {
        *stride = rule.mul(*stride, SymInt::Int(2))?;
    }
    meta.storage_offset = rule.mul(meta.storage_offset, SymInt::Int(2))?;
    meta.sizes.push(SymInt::Int(2));
    meta.strides.push(ONE);
    Ok(one(meta))
}

fn view_as_complex(rule: &mut Inference<'_>) -> Result<Metas, EmitError> {
    let mut meta = rule.this()?.clone();
    let dtype = meta.dtype.to_complex().filter(|_| !meta.dtype.is_complex());
    let parts = (meta.sizes.pop(), meta.strides.pop());
    let (Some(dtype), (Some(SymInt::Int(2)), Some(ONE))) = (dtype, parts) else {
        return Err(rule
            .call
            .unfit("takes a floating-point tensor whose last dimension has size 2 and stride 1"));
    };
    meta.dtype = dtype;
    for stride in &mut meta.strides {
        *stride = rule.divided(*stride, 2)?;
    }
    meta.storage_offset = rule.divided(meta.storage_offset, 2)?;
    Ok(one(meta))
}

impl Inference<'_> {
    fn expand_dim(&self, meta: &mut TensorMeta, dim: usize, size: SymInt) -> Result<(), EmitError> {
        let old = meta.sizes[dim];
        if size == SymInt::Int(-1) || size == old {
            return Ok(());
        }
        if old == ONE {
            meta.sizes[dim] = size;
            meta.strides[dim] = ZERO;
            return Ok(());
        }
        match (old, size) {
            (SymInt::Int(old), SymInt::Int(size)) => Err(self.call.unfit(format!(
                "dimension {dim} has size {old} and cannot be expanded to {size}"
            ))),
            // Two expressions for one size.
            _ => Ok(()),
        }
    }

    /// The lesser of two; the first where nothing is known.
    fn lesser(&self, a: SymInt, b: SymInt) -> SymInt {
        if self.less(b, a) == Some(true) { b } else { a }
    }

    /// The greater of two; the second where nothing is known.
    fn greater(&self, a: SymInt, b: SymInt) -> SymInt {
        if self.less(b, a) == Some(true) { a } else { b }
    }

    /// `value / by`, where elements become `by` times as large.
    fn divided(&mut self, value: SymInt, by: i64) -> Result<SymInt, EmitError> {
        match value {
            SymInt::Int(value) if value % by != 0 => Err(self
                .call
                .unfit(format!("{value} elements are no multiple of {by}"))),
            value => self.floordiv(value, SymInt::Int(by)),
        }
    }

    fn at_least_zero(&self, length: SymInt) -> SymInt {
        self.greater(ZERO, length)
    }

    /// A start or end of a slice as a position between 0 and `size`. Negative ones count from
    /// the end.
    fn position_in(&mut self, position: SymInt, size: SymInt) -> Result<SymInt, EmitError> {
        let mut position = position;
        if position == SymInt::Int(OPEN_END) {
            return Ok(size);
        }
        if self.less(position, ZERO) == Some(true) {
            position = self.add(position, size)?;
        }
        Ok(self.lesser(self.at_least_zero(position), size))
    }

    /// The part of `dim` from `start` to `end`.
    fn sliced(
        &mut self,
        base: &TensorMeta,
        dim: usize,
        start: SymInt,
        end: SymInt,
    ) -> Result<TensorMeta, EmitError> {
        let mut meta = base.clone();
        let (Some(size), Some(stride)) = (meta.sizes.get_mut(dim), meta.strides.get(dim)) else {
            return Err(self.call.unfit("a tensor without dimensions has no parts"));
        };
        *size = self.sub(end, start)?;
        let skipped = self.mul(start, *stride)?;
        meta.storage_offset = self.add(meta.storage_offset, skipped)?;
        Ok(meta)
    }

    fn selected(
        &mut self,
        base: &TensorMeta,
        dim: usize,
        index: SymInt,
    ) -> Result<TensorMeta, EmitError> {
        let mut meta = base.clone();
        if dim >= meta.sizes.len() {
            return Err(self.call.unfit("a tensor without dimensions has no parts"));
        }
        let (size, stride) = (meta.sizes.remove(dim), meta.strides.remove(dim));
        if let (SymInt::Int(index), SymInt::Int(size)) = (index, size)
            && (index < size.saturating_neg() || index >= size)
        {
            return Err(self
                .call
                .unfit(format!("index {index} is out of range for size {size}")));
        }
        let index = if self.less(index, ZERO) == Some(true) {
            self.add(index, size)?
        } else {
            index
        };
        let skipped = self.mul(index, stride)?;
        meta.storage_offset = self.add(meta.storage_offset, skipped)?;
        Ok(meta)
    }

    /// How many parts of `length` there are in `size`; as many as at export where that depends
    /// on symbols.
    fn part_count(&self, size: SymInt, length: SymInt) -> Result<i64, EmitError> {
        if size == length {
            return Ok(1);
        }
        let known = (self.exprs.size_hint(size), self.exprs.size_hint(length));
        match known {
            (Some(0), Some(0)) => Ok(1),
            (Some(size), Some(length)) if length > 0 => {
                let parts = size / length + i64::from(size % length != 0);
                self.checked_parts(parts.max(1))
            }
            (Some(_), Some(_)) => Err(self.call.problem("split_size", "must be positive")),
            _ => Err(self
                .call
                .unfit("the number of parts depends on unknown sizes")),
        }
    }

    fn checked_parts(&self, parts: i64) -> Result<i64, EmitError> {
        if parts > MOST_PARTS {
            return Err(self.call.unfit(format!("{parts} parts are too many")));
        }
        Ok(parts)
    }

    /// Sizes of a view, with the one -1 among them worked out.
    fn resolved_sizes(&mut self, base: &TensorMeta, wanted: Dims) -> Result<Dims, EmitError> {
        let mut sizes = wanted;
        let resolved = layout::resolve_open_size(self.exprs, &base.sizes, &mut sizes);
        resolved.map_err(|error| self.call.unfit(error.to_string()))?;
        if sizes.iter().any(|size| matches!(size, SymInt::Int(..=-1))) {
            return Err(self.call.unfit("a size is negative"));
        }
        let (elements, total) = (self.product(&base.sizes)?, self.product(&sizes)?);
        match (elements, total) {
            (SymInt::Int(elements), SymInt::Int(total)) if elements != total => Err(self
                .call
                .unfit(format!("{elements} elements cannot be seen as {total}"))),
            _ => Ok(sizes),
        }
    }
}
