//! Questions about tensors whose answers are numbers, and assertions.

use graven_ir::{DType, MemoryFormat};

use super::Table;
use crate::call::Call;
use crate::error::Problem;
use crate::geometry::{self, wrap_dim};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_assert_async", |call| assert_holds(call, None)),
    ("aten::_assert_async.msg", |call| {
        assert_holds(call, call.optional_str(1)?)
    }),
    ("aten::_assert_scalar", |call| {
        assert_holds(call, call.optional_str(1)?)
    }),
    ("aten::_assert_tensor_metadata", assert_metadata),
    ("aten::_local_scalar_dense", |call| {
        Ok(call.array(0)?.item()?.into())
    }),
    ("aten::is_same_size", |call| {
        Ok(Value::Bool(
            call.array(0)?.sizes() == call.array(1)?.sizes(),
        ))
    }),
    ("aten::item", |call| Ok(call.array(0)?.item()?.into())),
    ("aten::numel", |call| count(call.unresolved(0)?.numel())),
    ("aten::size.int", size),
    ("aten::stride.int", stride),
    ("aten::sym_constrain_range", constrain),
    ("aten::sym_constrain_range_for_size", constrain),
    ("aten::sym_is_contiguous", |call| {
        let array = call.unresolved(0)?;
        let is_last = matches!(
            call.optional_memory_format(1)?,
            Some(MemoryFormat::ChannelsLast | MemoryFormat::ChannelsLast3d)
        );
        Ok(Value::Bool(match is_last {
            true => geometry::is_channels_last(array.sizes(), array.strides()),
            false => array.is_contiguous(),
        }))
    }),
    ("aten::sym_numel", |call| count(call.unresolved(0)?.numel())),
    ("aten::sym_size.int", size),
    ("aten::sym_storage_offset", |call| {
        count(call.unresolved(0)?.offset())
    }),
    ("aten::sym_stride.int", stride),
];

fn count(value: usize) -> Result<Value, Problem> {
    Ok(Value::Int(i64::try_from(value).unwrap_or(i64::MAX)))
}

fn size(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let dim = wrap_dim(call.int(1)?, array.rank())?;
    let size = array.sizes().get(dim);
    count(*size.ok_or(Problem::Dimension { dim: 0, rank: 0 })?)
}

fn stride(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let dim = wrap_dim(call.int(1)?, array.rank())?;
    let stride = array.strides().get(dim);
    count(*stride.ok_or(Problem::Dimension { dim: 0, rank: 0 })?)
}

fn assert_holds(call: &Call<'_>, message: Option<&str>) -> Result<Value, Problem> {
    match call.scalar(0)?.to_f64() != 0.0 {
        true => Ok(Value::None),
        false => Err(Problem::invalid(
            message.unwrap_or("an assertion does not hold"),
        )),
    }
}

/// `sym_constrain_range_for_size(size, *, min=None, max=None)`
fn constrain(call: &Call<'_>) -> Result<Value, Problem> {
    let value = call.int(0)?;
    let (min, max) = (call.optional_int(1)?, call.optional_int(2)?);
    let fits = min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max);
    match fits {
        true => Ok(Value::None),
        false => Err(Problem::invalid(format!(
            "{value} is not in the range from {min:?} to {max:?}"
        ))),
    }
}

/// `_assert_tensor_metadata(a, size=None, stride=None, dtype=None, *, device=None, layout=None)`
fn assert_metadata(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.unresolved(0)?;
    let wrong = |what: &str, expected: String, found: String| {
        Problem::invalid(format!(
            "the tensor's {what} must be {expected}, found {found}"
        ))
    };
    let differs = |expected: &[i64], found: &[usize]| {
        let found: Vec<i64> = found.iter().map(|size| *size as i64).collect();
        expected != found
    };
    if let Some(sizes) = call.optional_ints(1)?
        && differs(&sizes, array.sizes())
    {
        return Err(wrong(
            "sizes",
            format!("{sizes:?}"),
            format!("{:?}", array.sizes()),
        ));
    }
    if let Some(strides) = call.optional_ints(2)?
        && differs(&strides, array.strides())
    {
        return Err(wrong(
            "strides",
            format!("{strides:?}"),
            format!("{:?}", array.strides()),
        ));
    }
    let dtype: Option<DType> = call.optional_dtype(3)?;
    match dtype {
        Some(dtype) if dtype != array.dtype() => Err(wrong(
            "dtype",
            dtype.name().to_owned(),
            array.dtype().name().to_owned(),
        )),
        _ => Ok(Value::None),
    }
}
