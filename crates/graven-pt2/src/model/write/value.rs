//! Writing what is known of values: `TensorMeta` and the symbolic numbers.

use graven_ir::symint::Hint;
use graven_ir::{Context, Device, SymExprId, SymInt, TensorMeta};

use crate::json_out::JsonOut;

/// Writes a `TensorMeta`.
pub(crate) fn tensor_meta(out: &mut JsonOut<'_>, context: &Context, meta: &TensorMeta) {
    out.open_object();
    out.int_field("dtype", meta.dtype as i64);
    out.key("sizes");
    sizes(out, context, &meta.sizes);
    out.bool_field("requires_grad", meta.requires_grad);
    out.key("device");
    device(out, context, &meta.device);
    out.key("strides");
    sizes(out, context, &meta.strides);
    out.key("storage_offset");
    sym_int(out, context, meta.storage_offset);
    out.int_field("layout", meta.layout as i64);
    out.close_object();
}

/// What torch has for an effect token: an empty tensor.
pub(crate) const TOKEN_META: &str = concat!(
    r#"{"dtype":7,"sizes":[{"as_int":0}],"requires_grad":false,"#,
    r#""device":{"type":"cpu","index":null},"strides":[{"as_int":1}],"#,
    r#""storage_offset":{"as_int":0},"layout":7}"#
);

fn sizes(out: &mut JsonOut<'_>, context: &Context, sizes: &[SymInt]) {
    out.open_list();
    for size in sizes {
        sym_int(out, context, *size);
    }
    out.close_list();
}

/// Writes a `Device`.
pub(super) fn device(out: &mut JsonOut<'_>, context: &Context, device: &Device) {
    out.open_object();
    out.string_field("type", context.names.get(device.kind));
    out.key("index");
    match device.index {
        Some(index) => out.int(i64::from(index)),
        None => out.null(),
    }
    out.close_object();
}

/// Writes a `SymInt`.
pub(super) fn sym_int(out: &mut JsonOut<'_>, context: &Context, size: SymInt) {
    match size {
        SymInt::Int(value) => {
            out.open_object();
            out.int_field("as_int", value);
            out.close_object();
        }
        SymInt::Expr(id) => expression(out, context, id, context.exprs.hint(id)),
    }
}

/// Writes a symbolic `SymFloat`.
pub(super) fn sym_float(out: &mut JsonOut<'_>, context: &Context, id: SymExprId) {
    expression(out, context, id, context.exprs.hint(id));
}

/// Writes a symbolic `SymBool`. torch gives those no hint.
pub(super) fn sym_bool(out: &mut JsonOut<'_>, context: &Context, id: SymExprId) {
    expression(out, context, id, None);
}

fn expression(out: &mut JsonOut<'_>, context: &Context, id: SymExprId, hint: Option<Hint>) {
    out.open_object();
    out.key("as_expr");
    out.open_object();
    out.string_field("expr_str", &context.exprs.srepr(id));
    out.key("hint");
    match hint {
        None => out.null(),
        Some(hint) => {
            out.open_object();
            match hint {
                Hint::Int(value) => out.int_field("as_int", value),
                Hint::Bool(value) => out.bool_field("as_bool", value),
                Hint::Float(value) => {
                    out.key("as_float");
                    out.float(value);
                }
            }
            out.close_object();
        }
    }
    out.close_object();
    out.close_object();
}
