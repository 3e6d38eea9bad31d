//! Reading what the archive says of values: `TensorMeta` and the symbolic numbers.

use std::collections::HashMap;

use graven_ir::symint::Hint;
use graven_ir::value::Dims;
use graven_ir::{
    Context, DType, Device, Layout, SymExprId, SymInt, TensorMeta, TensorMetaId, Value,
};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess};
use serde_json::value::RawValue;

use super::argument::DeviceReader;
use crate::json::{
    Element, Fields, Float, Object, Tagged, Text, Union, elements, missing, unknown_form,
};

/// Tensor metadata that was read before, by its text: a deep network has few shapes, and to
/// compare a text costs less than to read it.
#[derive(Default)]
pub(crate) struct MetaCache {
    by_text: HashMap<Box<str>, TensorMetaId>,
}

impl MetaCache {
    /// Reads a `TensorMeta` that is the value of the current field of `map`.
    pub(crate) fn next_value<'de, A: MapAccess<'de>>(
        &mut self,
        context: &mut Context,
        map: &mut A,
    ) -> Result<TensorMetaId, A::Error> {
        let text: &RawValue = map.next_value()?;
        self.read(context, text.get())
    }

    /// Reads the `TensorMeta` that `text` is.
    fn read<E: serde::de::Error>(
        &mut self,
        context: &mut Context,
        text: &str,
    ) -> Result<TensorMetaId, E> {
        if let Some(id) = self.by_text.get(text) {
            return Ok(*id);
        }
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let id = TensorMetaReader::new(context)
            .deserialize(&mut deserializer)
            .map_err(E::custom)?;
        self.by_text.insert(text.into(), id);
        Ok(id)
    }

    /// As [`MetaCache::next_value`], where `null` may stand instead.
    pub(crate) fn next_optional_value<'de, A: MapAccess<'de>>(
        &mut self,
        context: &mut Context,
        map: &mut A,
    ) -> Result<Option<TensorMetaId>, A::Error> {
        let text: &RawValue = map.next_value()?;
        match text.get() {
            "null" => Ok(None),
            text => self.read(context, text).map(Some),
        }
    }
}

/// Reads a `TensorMeta`.
struct TensorMetaReader<'a> {
    context: &'a mut Context,
    dtype: Option<DType>,
    sizes: Option<Dims>,
    strides: Option<Dims>,
    storage_offset: Option<SymInt>,
    layout: Option<Layout>,
    device: Option<Device>,
    requires_grad: bool,
}

impl<'a> TensorMetaReader<'a> {
    fn new(context: &'a mut Context) -> Object<Self> {
        Object(Self {
            context,
            dtype: None,
            sizes: None,
            strides: None,
            storage_offset: None,
            layout: None,
            device: None,
            requires_grad: false,
        })
    }
}

impl<'de> Fields<'de> for TensorMetaReader<'_> {
    type Output = TensorMetaId;
    const WHAT: &'static str = "tensor metadata";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "dtype" => {
                let number = map.next_value()?;
                let unknown = || A::Error::custom(format_args!("unknown dtype {number}"));
                self.dtype = Some(DType::from_archive(number).ok_or_else(unknown)?);
            }
            "sizes" => {
                let sizes = map.next_value_seed(elements(self.context, SizeItem))?;
                self.sizes = Some(Dims::from_slice(&sizes));
            }
            "strides" => {
                let strides = map.next_value_seed(elements(self.context, SizeItem))?;
                self.strides = Some(Dims::from_slice(&strides));
            }
            "storage_offset" => {
                self.storage_offset =
                    Some(map.next_value_seed(Tagged(SymIntReader(self.context)))?);
            }
            "layout" => {
                let number = map.next_value()?;
                let unknown = || A::Error::custom(format_args!("unknown layout {number}"));
                self.layout = Some(Layout::from_archive(number).ok_or_else(unknown)?);
            }
            "device" => {
                self.device = Some(map.next_value_seed(Object(DeviceReader::new(self.context)))?);
            }
            "requires_grad" => self.requires_grad = map.next_value()?,
            _ => {
                map.next_value::<serde::de::IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<TensorMetaId, E> {
        let meta = TensorMeta {
            dtype: missing(self.dtype, "dtype")?,
            sizes: missing(self.sizes, "sizes")?,
            strides: missing(self.strides, "strides")?,
            storage_offset: missing(self.storage_offset, "storage_offset")?,
            layout: missing(self.layout, "layout")?,
            device: missing(self.device, "device")?,
            requires_grad: self.requires_grad,
        };
        if meta.sizes.len() != meta.strides.len() {
            return Err(E::custom(format_args!(
                "tensor metadata with {} sizes and {} strides",
                meta.sizes.len(),
                meta.strides.len()
            )));
        }
        Ok(self.context.metas.intern(meta))
    }
}

/// Reads one size or stride.
struct SizeItem;

impl Element<Context, SymInt> for SizeItem {
    fn next<'de, A: SeqAccess<'de>>(
        &self,
        context: &mut Context,
        seq: &mut A,
    ) -> Result<Option<SymInt>, A::Error> {
        seq.next_element_seed(Tagged(SymIntReader(context)))
    }
}

/// Reads a `SymInt`.
pub(super) struct SymIntReader<'a>(pub(super) &'a mut Context);

impl<'de> Union<'de> for SymIntReader<'_> {
    type Output = SymInt;
    const WHAT: &'static str = "a symbolic integer";

    fn value<A: MapAccess<'de>>(self, tag: &str, map: &mut A) -> Result<SymInt, A::Error> {
        match tag {
            "as_int" => Ok(SymInt::Int(map.next_value()?)),
            "as_expr" => Ok(SymInt::Expr(map.next_value_seed(expression(self.0))?)),
            _ => Err(unknown_form(Self::WHAT, tag)),
        }
    }
}

/// Reads a `SymFloat`.
pub(super) struct SymFloatReader<'a>(pub(super) &'a mut Context);

impl<'de> Union<'de> for SymFloatReader<'_> {
    type Output = Value;
    const WHAT: &'static str = "a symbolic float";

    fn value<A: MapAccess<'de>>(self, tag: &str, map: &mut A) -> Result<Value, A::Error> {
        match tag {
            "as_float" => Ok(Value::Float(map.next_value::<Float>()?.0)),
            "as_expr" => Ok(Value::SymFloat(map.next_value_seed(expression(self.0))?)),
            _ => Err(unknown_form(Self::WHAT, tag)),
        }
    }
}

/// Reads a `SymBool`.
pub(super) struct SymBoolReader<'a>(pub(super) &'a mut Context);

impl<'de> Union<'de> for SymBoolReader<'_> {
    type Output = Value;
    const WHAT: &'static str = "a symbolic truth value";

    fn value<A: MapAccess<'de>>(self, tag: &str, map: &mut A) -> Result<Value, A::Error> {
        match tag {
            "as_bool" => Ok(Value::Bool(map.next_value()?)),
            "as_expr" => Ok(Value::SymBool(map.next_value_seed(expression(self.0))?)),
            _ => Err(unknown_form(Self::WHAT, tag)),
        }
    }
}

/// Reads a `SymExpr`.
struct ExpressionReader<'a> {
    context: &'a mut Context,
    expression: Option<SymExprId>,
    hint: Option<Hint>,
}

fn expression(context: &mut Context) -> Object<ExpressionReader<'_>> {
    Object(ExpressionReader {
        context,
        expression: None,
        hint: None,
    })
}

impl<'de> Fields<'de> for ExpressionReader<'_> {
    type Output = SymExprId;
    const WHAT: &'static str = "a symbolic expression";

    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "expr_str" => {
                let Text(text) = map.next_value()?;
                let exprs = &mut self.context.exprs;
                // Before torch 2.6 expressions stood there as Python writes them.
                let parsed = exprs
                    .parse_srepr(&text)
                    .or_else(|error| exprs.parse_str(&text).map_err(|_| error));
                self.expression = Some(parsed.map_err(A::Error::custom)?);
            }
            "hint" => self.hint = map.next_value::<Option<ArchiveHint>>()?.map(|hint| hint.0),
            _ => {
                map.next_value::<serde::de::IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn finish<E: serde::de::Error>(self) -> Result<SymExprId, E> {
        let expression = missing(self.expression, "expr_str")?;
        if let Some(hint) = self.hint {
            self.context.exprs.set_hint(expression, hint);
        }
        Ok(expression)
    }
}

/// A `SymExprHint`.
struct ArchiveHint(Hint);

impl<'de> serde::Deserialize<'de> for ArchiveHint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Tagged(HintReader).deserialize(deserializer)
    }
}

struct HintReader;

impl<'de> Union<'de> for HintReader {
    type Output = ArchiveHint;
    const WHAT: &'static str = "a hint";

    fn value<A: MapAccess<'de>>(self, tag: &str, map: &mut A) -> Result<ArchiveHint, A::Error> {
        Ok(ArchiveHint(match tag {
            "as_int" => Hint::Int(map.next_value()?),
            "as_float" => Hint::Float(map.next_value::<Float>()?.0),
            "as_bool" => Hint::Bool(map.next_value()?),
            _ => return Err(unknown_form(Self::WHAT, tag)),
        }))
    }
}
