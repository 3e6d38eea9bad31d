//! What a call becomes, worked out once for each target of the program.

use super::emit::Dispatch;
use graven_ir::{Context, NameId, TargetId};
use graven_ops::catalogue::hidden_alias::{HiddenAlias, hidden_alias};
use graven_ops::catalogue::view::{self, Inverse};
use graven_ops::composite;
use graven_ops::registry::{OperatorId, Registry};
use graven_ops::target::TargetKind;
use graven_ops::twin::Twin;

use super::error::Problem;
use super::names;
use super::special::{Special, special};

/// What becomes of the calls of one target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Fact {
    /// Recorded as it is: returns fresh values.
    Functional(OperatorId),
    /// Attention, whose result may have other strides than the program recorded.
    Attention(OperatorId),
    /// The same, but results share memory with arguments.
    HiddenAlias(OperatorId, HiddenAlias),
    /// A view of an argument.
    View(OperatorId, ViewFact),
    /// Changes the geometry of an argument.
    MetadataMutation(OperatorId, ViewFact),
    /// Becomes its functional twin.
    Write(OperatorId),
    /// Taken apart.
    Composite(OperatorId),
    /// A custom operator that writes: wrapped in `auto_functionalized_v2`.
    CustomWrite(OperatorId),
    /// Known by name.
    Special(OperatorId, Special),
    /// A function on symbolic numbers.
    Symbolic,
    /// A higher-order operator.
    HigherOrder,
}

impl Fact {
    pub(crate) fn operator(self) -> Option<OperatorId> {
        match self {
            Self::Functional(operator)
            | Self::Attention(operator)
            | Self::HiddenAlias(operator, _)
            | Self::View(operator, _)
            | Self::MetadataMutation(operator, _)
            | Self::Write(operator)
            | Self::Composite(operator)
            | Self::CustomWrite(operator)
            | Self::Special(operator, _) => Some(operator),
            Self::Symbolic | Self::HigherOrder => None,
        }
    }
}

/// Facts of a view operator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ViewFact {
    /// Which argument it views.
    pub(crate) base: usize,
    pub(crate) inverse: Option<Inverse>,
    pub(crate) is_as_strided: bool,
    pub(crate) is_dtype_view: bool,
    /// For a metadata mutation the view that it amounts to; `None` where it changes nothing that
    /// a graph shows (`detach_`).
    pub(crate) functional: Option<OperatorId>,
}

/// The facts of all targets that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    of_target: Vec<Option<Entry>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    fact: Fact,
    candidate: NameId,
    has_effect: bool,
}

impl Facts {
    /// What becomes of the calls of `target`.
    pub(crate) fn of(
        &mut self,
        context: &mut Context,
        registry: &Registry,
        target: TargetId,
    ) -> Result<Fact, Problem> {
        if let Some(Some(entry)) = self.of_target.get(target.index()) {
            return Ok(entry.fact);
        }
        let name = context.target_name(target).to_owned();
        let fact = fact(registry, &name)?;
        let has_effect = match fact {
            // A call that returns nothing is made for its effect.
            Fact::Functional(operator) => {
                let operator = registry.operator(operator);
                operator.signature_is_known() && operator.schema().returns.is_empty()
            }
            _ => false,
        };
        self.set(context, target, fact, has_effect, &name);
        Ok(fact)
    }

    fn set(
        &mut self,
        context: &mut Context,
        target: TargetId,
        fact: Fact,
        has_effect: bool,
        name: &str,
    ) {
        let candidate = context.names.intern(&names::candidate(&packet_of(name)));
        if self.of_target.len() <= target.index() {
            self.of_target.resize(target.index() + 1, None);
        }
        self.of_target[target.index()] = Some(Entry {
            fact,
            candidate,
            has_effect,
        });
    }

    /// The name that a node takes when it calls `target`.
    pub(crate) fn candidate(&mut self, context: &mut Context, target: TargetId) -> NameId {
        if let Some(Some(entry)) = self.of_target.get(target.index()) {
            return entry.candidate;
        }
        let name = context.target_name(target).to_owned();
        context.names.intern(&names::candidate(&packet_of(&name)))
    }

    /// Whether calls of `target` stay although no one uses them.
    pub(crate) fn has_effect(&self, target: TargetId) -> bool {
        matches!(self.of_target.get(target.index()), Some(Some(entry)) if entry.has_effect)
    }
}

/// `add` of `torch.ops.aten.add.Tensor`; `mul` of `_operator.mul`. A question about sizes keeps
/// its overload in its name: `sym_size_int`.
fn packet_of(target: &str) -> String {
    let Some(rest) = target.strip_prefix("torch.ops.") else {
        return target.rsplit('.').next().unwrap_or(target).to_owned();
    };
    let mut parts = rest.split('.').skip(1);
    let packet = parts.next().unwrap_or(rest);
    match parts.next() {
        Some(overload) if packet.starts_with("sym_") => format!("{packet}_{overload}"),
        _ => packet.to_owned(),
    }
}

fn fact(registry: &Registry, target: &str) -> Result<Fact, Problem> {
    let operator = match registry.classify(target) {
        TargetKind::Operator(operator) => operator,
        TargetKind::HigherOrder(_) => return Ok(Fact::HigherOrder),
        TargetKind::Symbolic(_) => return Ok(Fact::Symbolic),
        TargetKind::Unknown => return Err(Problem::UnknownOperator(readable_name(target))),
    };
    let entry = registry.operator(operator);
    let name = entry.name().to_string();
    if let Some(special) = special(&name) {
        return Ok(Fact::Special(operator, special));
    }
    if composite::formula::<Dispatch<'_, '_>>(&name).is_some() {
        return Ok(Fact::Composite(operator));
    }
    if entry.is_inplace_view() {
        return Ok(Fact::MetadataMutation(
            operator,
            metadata_mutation(registry, operator),
        ));
    }
    if entry.is_mutable() {
        return match registry.functional_twin(operator) {
            Some(_) => Ok(Fact::Write(operator)),
            None if !matches!(&*entry.name().namespace, "aten" | "prims") => {
                Ok(Fact::CustomWrite(operator))
            }
            None => Err(Problem::NoFunctionalTwin(name)),
        };
    }
    // `_unsafe_view` shares memory, and its schema does not say so.
    if entry.is_view() || view::inverse(&name).is_some() {
        let base = entry
            .return_aliases()
            .iter()
            .flatten()
            .map(|alias| alias.argument)
            .next()
            .unwrap_or(0);
        return Ok(Fact::View(operator, view_fact(&name, base)));
    }
    if name == "aten::scaled_dot_product_attention" {
        return Ok(Fact::Attention(operator));
    }
    Ok(match hidden_alias(&name) {
        Some(alias) => Fact::HiddenAlias(operator, alias),
        None => Fact::Functional(operator),
    })
}

fn view_fact(name: &str, base: usize) -> ViewFact {
    ViewFact {
        base,
        inverse: view::inverse(name),
        is_as_strided: name == "aten::as_strided",
        is_dtype_view: name == "aten::view.dtype",
        functional: None,
    }
}

fn metadata_mutation(registry: &Registry, operator: OperatorId) -> ViewFact {
    // `detach_` is an in-place view without a visible effect: its twin is `detach`.
    let twin: Option<&Twin> = registry.functional_twin(operator);
    let functional = twin.map(|twin| twin.operator);
    let name = functional.map(|functional| registry.operator(functional).name().to_string());
    let name = name.unwrap_or_default();
    let functional = functional.filter(|_| name != "aten::detach");
    ViewFact {
        functional,
        ..view_fact(&name, 0)
    }
}

/// `mylib::f` of `torch.ops.mylib.f.default`.
fn readable_name(target: &str) -> String {
    let Some(rest) = target.strip_prefix("torch.ops.") else {
        return target.to_owned();
    };
    match rest.split('.').collect::<Vec<_>>().as_slice() {
        [namespace, packet, "default"] => format!("{namespace}::{packet}"),
        [namespace, packet, overload] => format!("{namespace}::{packet}.{overload}"),
        _ => target.to_owned(),
    }
}
