//! Arguments as text: in the FX listing, in Python source, and as Python's `repr`.

use std::fmt::{self, Write};

use super::python;
use super::value_names::ValueNames;
use crate::argument::{Argument, ListKind};
use crate::context::{Context, TargetId};
use crate::dtype::Device;
use crate::names::NameId;

/// Which of torch's three ways to print an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `args` and `kwargs` of the listing: `%name`, strings and devices bare.
    Listing,
    /// The listing's `return`, and mappings inside source: Python's `repr`.
    Repr,
    /// Arguments in the readable form: `repr`, but operators as they are called.
    Source,
}

/// Writes arguments in one style.
pub(super) struct ArgumentWriter<'a> {
    pub(super) context: &'a Context,
    pub(super) names: &'a ValueNames<'a>,
    pub(super) style: Style,
}

impl ArgumentWriter<'_> {
    /// Writes one argument.
    pub(super) fn write(&self, out: &mut dyn Write, argument: &Argument) -> fmt::Result {
        let names = &self.context.names;
        match argument {
            Argument::None => out.write_str("None"),
            Argument::Node(node) => {
                if self.style == Style::Listing {
                    out.write_char('%')?;
                }
                out.write_str(self.names.value(*node))
            }
            Argument::Int(value) => write!(out, "{value}"),
            Argument::Float(value) => python::write_float(out, *value),
            Argument::Bool(value) => python::write_bool(out, *value),
            Argument::Complex(real, imaginary) => self.write_complex(out, *real, *imaginary),
            Argument::String(text) if self.style == Style::Listing => {
                out.write_str(names.get(*text))
            }
            Argument::String(text) => python::write_string(out, names.get(*text)),
            Argument::DType(dtype) => write!(out, "torch.{}", dtype.name()),
            Argument::MemoryFormat(format) => write!(out, "torch.{}", format.name()),
            Argument::Layout(layout) => write!(out, "torch.{}", layout.name()),
            Argument::Device(device) => self.write_device(out, *device),
            Argument::Operator(target) => self.write_operator(out, *target),
            Argument::CustomObject(name, _class) => out.write_str(names.get(*name)),
            Argument::List(kind, items) => self.write_list(out, *kind, items),
            Argument::Dict(items) => self.write_dict(out, items),
        }
    }

    /// Writes `items` in round brackets; a single one with a comma.
    pub(super) fn write_tuple<'i>(
        &self,
        out: &mut dyn Write,
        items: impl ExactSizeIterator<Item = &'i Argument>,
    ) -> fmt::Result {
        let is_single = items.len() == 1;
        out.write_char('(')?;
        self.write_items(out, items)?;
        out.write_str(if is_single { ",)" } else { ")" })
    }

    fn write_items<'i>(
        &self,
        out: &mut dyn Write,
        items: impl Iterator<Item = &'i Argument>,
    ) -> fmt::Result {
        for (index, item) in items.enumerate() {
            if index > 0 {
                out.write_str(", ")?;
            }
            self.write(out, item)?;
        }
        Ok(())
    }

    fn write_list(&self, out: &mut dyn Write, kind: ListKind, items: &[Argument]) -> fmt::Result {
        match kind {
            ListKind::Tuple => return self.write_tuple(out, items.iter()),
            ListKind::IntLists => return self.write_list_of_tuples(out, items),
            _ => {}
        }
        out.write_char('[')?;
        self.write_items(out, items.iter())?;
        out.write_char(']')
    }

    /// torch's loader makes tuples of the lists inside an `as_int_lists`.
    fn write_list_of_tuples(&self, out: &mut dyn Write, items: &[Argument]) -> fmt::Result {
        out.write_char('[')?;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.write_str(", ")?;
            }
            match item.as_list() {
                Some(inner) => self.write_tuple(out, inner.iter())?,
                None => self.write(out, item)?,
            }
        }
        out.write_char(']')
    }

    fn write_dict(&self, out: &mut dyn Write, items: &[(NameId, Argument)]) -> fmt::Result {
        // The readable form hands mappings to `repr` whole.
        let inner = ArgumentWriter {
            context: self.context,
            names: self.names,
            style: match self.style {
                Style::Source => Style::Repr,
                other => other,
            },
        };
        out.write_char('{')?;
        for (index, (key, value)) in items.iter().enumerate() {
            if index > 0 {
                out.write_str(", ")?;
            }
            let key = self.context.names.get(*key);
            match inner.style {
                Style::Listing => out.write_str(key)?,
                Style::Repr | Style::Source => python::write_string(out, key)?,
            }
            out.write_str(": ")?;
            inner.write(out, value)?;
        }
        out.write_char('}')
    }

    fn write_complex(&self, out: &mut dyn Write, real: f64, imaginary: f64) -> fmt::Result {
        let is_safe_source =
            real != 0.0 && imaginary != 0.0 && real.is_finite() && imaginary.is_finite();
        if self.style == Style::Source && !is_safe_source {
            out.write_str("complex(")?;
            python::write_float(out, real)?;
            out.write_str(", ")?;
            python::write_float(out, imaginary)?;
            return out.write_char(')');
        }
        python::write_complex(out, real, imaginary)
    }

    fn write_device(&self, out: &mut dyn Write, device: Device) -> fmt::Result {
        let kind = self.context.names.get(device.kind);
        match (self.style, device.index) {
            (Style::Listing, None) => out.write_str(kind),
            (Style::Listing, Some(index)) => write!(out, "{kind}:{index}"),
            (_, None) => write!(out, "device(type='{kind}')"),
            (_, Some(index)) => write!(out, "device(type='{kind}', index={index})"),
        }
    }

    fn write_operator(&self, out: &mut dyn Write, target: TargetId) -> fmt::Result {
        let full = self.context.target_name(target);
        let Some(short) = full.strip_prefix("torch.ops.") else {
            return out.write_str(full);
        };
        match (self.style, short.strip_prefix("higher_order.")) {
            (Style::Source, _) => out.write_str(full),
            (_, Some(name)) => out.write_str(name),
            (Style::Listing, None) => out.write_str(short),
            (Style::Repr, None) => {
                let (operator, overload) = short.rsplit_once('.').unwrap_or((short, ""));
                write!(out, "<OpOverload(op='{operator}', overload='{overload}')>")
            }
        }
    }
}
