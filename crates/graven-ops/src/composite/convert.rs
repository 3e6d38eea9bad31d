//! Composites that change dtype, device or layout, or do nothing when there is nothing to change.

use graven_ir::{DType, Device, Layout, MemoryFormat};

use super::{Formula, Outcome, Taken, one, sized, tensor, value};
use crate::call::Call;
use crate::emit::{Arg, Emit};
use crate::shape;

pub(super) fn formula<E: Emit>(operator: &str) -> Option<Formula<E>> {
    Some(match operator {
        "aten::_autocast_to_full_precision" => autocast_to_full_precision,
        "aten::_autocast_to_reduced_precision" => autocast_to_reduced_precision,
        "aten::lift_fresh_copy" => lift_fresh_copy,
        "aten::to.device" => to_device,
        "aten::to.dtype" => to_dtype,
        "aten::to.dtype_layout" => to_dtype_layout,
        "aten::to.other" => to_other,
        _ => return None,
    })
}

/// What a conversion asks for; `None` for what it leaves open.
#[derive(Clone, Copy, Default)]
struct Wanted {
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
}

impl Wanted {
    /// What the arguments say that every overload has.
    fn of<V>(call: &Call<'_, V>) -> Result<Self, crate::emit::EmitError> {
        Ok(Self {
            non_blocking: call.bool("non_blocking")?,
            copy: call.bool("copy")?,
            memory_format: call.memory_format("memory_format")?,
            ..Self::default()
        })
    }

    /// The keyword arguments of `_to_copy`: what was asked for and nothing else.
    fn keywords<V>(&self) -> Vec<(&'static str, Arg<V>)> {
        let given = [
            ("dtype", self.dtype.map(Arg::DType)),
            ("layout", self.layout.map(Arg::Layout)),
            ("device", self.device.map(Arg::Device)),
            ("pin_memory", self.pin_memory.map(Arg::Bool)),
            ("non_blocking", self.non_blocking.then_some(Arg::Bool(true))),
            ("memory_format", self.memory_format.map(Arg::MemoryFormat)),
        ];
        let given = given.into_iter();
        given.filter_map(|(name, arg)| Some((name, arg?))).collect()
    }
}

fn convert<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>, wanted: Wanted) -> Taken<E> {
    let this = call.tensor("self")?;
    let meta = emit.meta(this).clone();
    let is_device = |wanted: Device| {
        wanted.kind == meta.device.kind
            && (wanted.index.is_none() || wanted.index == meta.device.index)
    };
    let mut changes = wanted.copy
        || wanted.dtype.is_some_and(|dtype| dtype != meta.dtype)
        || wanted.layout.is_some_and(|layout| layout != meta.layout)
        || wanted.device.is_some_and(|device| !is_device(device));
    if let Some(format) = wanted.memory_format.filter(|_| !changes) {
        let exprs = &mut emit.context().exprs;
        changes = format != MemoryFormat::Preserve
            && format != sized(call, shape::suggested_format(exprs, &meta))?;
    }
    if !changes {
        return Ok(Outcome::Input(this.clone()));
    }
    Ok(value(one(
        emit,
        "aten::_to_copy",
        &[tensor(this)],
        &wanted.keywords(),
    )?))
}

fn to_dtype<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let dtype = call.dtype("dtype")?;
    convert(
        emit,
        call,
        Wanted {
            dtype,
            ..Wanted::of(call)?
        },
    )
}

fn to_device<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let (dtype, device) = (call.dtype("dtype")?, call.device("device")?);
    convert(
        emit,
        call,
        Wanted {
            dtype,
            device,
            ..Wanted::of(call)?
        },
    )
}

fn to_dtype_layout<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let pin_memory = match call.given("pin_memory") {
        Some(Arg::Bool(pin)) => Some(*pin),
        _ => None,
    };
    let wanted = Wanted {
        dtype: call.dtype("dtype")?,
        layout: call.layout("layout")?,
        device: call.device("device")?,
        pin_memory,
        ..Wanted::of(call)?
    };
    convert(emit, call, wanted)
}

fn to_other<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let other = emit.meta(call.tensor("other")?);
    let wanted = Wanted {
        dtype: Some(other.dtype),
        layout: Some(other.layout),
        device: Some(other.device),
        pin_memory: Some(false),
        ..Wanted::of(call)?
    };
    convert(emit, call, wanted)
}

/// Whether autocast is on for the device that the tensor is on.
fn is_autocast<E: Emit>(
    emit: &mut E,
    call: &Call<'_, E::Value>,
) -> Result<Option<&'static str>, E::Error> {
    let device = emit.meta(call.tensor("self")?).device.kind;
    let device = match emit.context().names.get(device) {
        "cpu" => "cpu",
        "cuda" => "cuda",
        _ => return Ok(None),
    };
    let enabled = call.bool(if device == "cpu" {
        "cpu_enabled"
    } else {
        "cuda_enabled"
    })?;
    Ok(enabled.then_some(device))
}

fn autocast_to_full_precision<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let reduced = matches!(
        emit.meta(call.tensor("self")?).dtype,
        DType::Float16 | DType::BFloat16
    );
    let dtype = is_autocast(emit, call)?
        .filter(|_| reduced)
        .map(|_| DType::Float32);
    convert(
        emit,
        call,
        Wanted {
            dtype,
            ..Wanted::default()
        },
    )
}

fn autocast_to_reduced_precision<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    let full = emit.meta(call.tensor("self")?).dtype == DType::Float32;
    let dtype = match is_autocast(emit, call)?.filter(|_| full) {
        Some("cpu") => call.dtype("cpu_dtype")?,
        Some(_) => call.dtype("cuda_dtype")?,
        None => None,
    };
    convert(
        emit,
        call,
        Wanted {
            dtype,
            ..Wanted::default()
        },
    )
}

fn lift_fresh_copy<E: Emit>(emit: &mut E, call: &Call<'_, E::Value>) -> Taken<E> {
    Ok(value(one(
        emit,
        "aten::clone",
        &[tensor(call.tensor("self")?)],
        &[],
    )?))
}
