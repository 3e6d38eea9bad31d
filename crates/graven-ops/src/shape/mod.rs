//! Shape rules: what a call returns, told from the metadata of its arguments.
//!
//! A rule gives dtype, sizes, strides and offset as torch gives them, symbolic sizes included.
//! There is one for every operator that passes and formulas make calls of on their own; calls
//! that a program makes itself carry their metadata with them.

mod dtype;
mod fresh;
mod index;
mod join;
mod layout;
mod norm;
mod pointwise;
mod reduce;
mod rule;
mod view;

pub use layout::{
    contiguous_strides, is_contiguous, is_dense, is_viewable, preserved_strides, resolve_open_size,
    strides_in_format, suggested_format, view_strides,
};
pub use rule::Metas;

use graven_ir::schema::OperatorRef;
use graven_ir::{Context, Device, TensorMeta};

use crate::call::Call;
use crate::emit::{Arg, EmitError};
use crate::operator::Operator;
use crate::table;
use crate::tags::Tags;
use rule::{Inference, Rule};

pub(crate) use dtype::{float_power_dtype, scalar_in};
pub(crate) use layout::{less, rank_of};
pub(crate) use rule::{MOST_PARTS, wrap_dim};

/// The rule of the operator with this full name.
fn rule_of(operator: &str, tags: Tags) -> Option<Rule> {
    view::rule(operator)
        .or_else(|| fresh::rule(operator))
        .or_else(|| join::rule(operator))
        .or_else(|| reduce::rule(operator))
        .or_else(|| index::rule(operator))
        .or_else(|| norm::rule(operator))
        .or_else(|| pointwise::rule(operator, tags))
}

/// The shape rule of one operator, looked up once for many calls.
#[derive(Clone, Copy, Debug)]
pub struct ShapeRule {
    operator: &'static Operator,
    rule: Rule,
}

/// The shape rule of the operator with this full name (`aten::slice.Tensor`).
pub fn rule(operator: &str) -> Option<ShapeRule> {
    let name = OperatorRef::from_qualified(operator)?;
    let known = table::aten().operator(table::aten().find(name)?);
    Some(ShapeRule {
        operator: known,
        rule: rule_of(operator, known.tags())?,
    })
}

/// Whether [`infer`] knows the operator with this full name (`aten::slice.Tensor`).
pub fn has_rule(operator: &str) -> bool {
    rule(operator).is_some()
}

/// The metadata of what a call returns, one for each tensor. Tensors among the arguments are
/// given by their metadata.
///
/// # Errors
/// When the operator has no rule, or the arguments do not fit it.
pub fn infer(
    context: &mut Context,
    operator: &str,
    args: &[Arg<TensorMeta>],
    kwargs: &[(&str, Arg<TensorMeta>)],
) -> Result<Metas, EmitError> {
    let rule = rule(operator).ok_or_else(|| EmitError::NoShapeRule {
        operator: operator.to_owned(),
    })?;
    rule.infer(context, args, kwargs)
}

impl ShapeRule {
    /// The metadata of what a call returns, as [`infer`] gives it.
    ///
    /// # Errors
    /// When the arguments do not fit the operator.
    pub fn infer(
        self,
        context: &mut Context,
        args: &[Arg<TensorMeta>],
        kwargs: &[(&str, Arg<TensorMeta>)],
    ) -> Result<Metas, EmitError> {
        let call = Call::new(self.operator.schema(), args, kwargs)?;
        let mut given = args.iter().chain(kwargs.iter().map(|(_, arg)| arg));
        given.try_for_each(|arg| check_argument(&call, arg))?;
        let cpu = Device {
            kind: context.names.intern("cpu"),
            index: None,
        };
        let mut metas = (self.rule)(&mut Inference {
            exprs: &mut context.exprs,
            call,
            cpu,
        })?;
        // torch records what it computes without gradients: only inputs require them.
        metas.iter_mut().for_each(|meta| meta.requires_grad = false);
        metas.iter().try_for_each(|meta| check(&call, meta))?;
        Ok(metas)
    }
}

/// The most dimensions that a tensor may have: torch's own limit for element-wise operators.
const MOST_DIMS: usize = 64;

/// Rules rely on one stride for each size, and on few dimensions.
fn check(call: &Call<'_, TensorMeta>, meta: &TensorMeta) -> Result<(), EmitError> {
    let (sizes, strides) = (meta.sizes.len(), meta.strides.len());
    if sizes != strides {
        return Err(call.unfit(format!("a tensor has {sizes} sizes and {strides} strides")));
    }
    if sizes > MOST_DIMS {
        return Err(call.unfit(format!(
            "a tensor has {sizes} dimensions, more than {MOST_DIMS}"
        )));
    }
    Ok(())
}

fn check_argument(call: &Call<'_, TensorMeta>, arg: &Arg<TensorMeta>) -> Result<(), EmitError> {
    let tensors = match arg {
        Arg::List(items) => &items[..],
        single => std::slice::from_ref(single),
    };
    tensors.iter().try_for_each(|arg| match arg {
        Arg::Value(meta) => check(call, meta),
        _ => Ok(()),
    })
}
