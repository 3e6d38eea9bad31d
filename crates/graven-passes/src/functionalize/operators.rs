//! Operators that the pass itself calls: their targets, argument names and shape rules, looked up
//! once.

use graven_ir::{Context, NameId, TargetId};
use graven_ops::registry::{OperatorId, Registry};
use graven_ops::shape::{self, ShapeRule};
use rustc_hash::FxHashMap;

/// What was looked up so far.
#[derive(Debug, Default)]
pub(crate) struct Operators {
    by_name: FxHashMap<Box<str>, OperatorId>,
    of_target: FxHashMap<TargetId, Option<OperatorId>>,
    known: FxHashMap<OperatorId, Known>,
}

#[derive(Debug)]
struct Known {
    target: TargetId,
    arguments: Box<[NameId]>,
    shape: Option<ShapeRule>,
}

impl Operators {
    /// The operator with this full name.
    pub(crate) fn find(&mut self, registry: &Registry, name: &str) -> Option<OperatorId> {
        if let Some(operator) = self.by_name.get(name) {
            return Some(*operator);
        }
        let operator = registry.find(name)?;
        self.by_name.insert(name.into(), operator);
        Some(operator)
    }

    /// The operator that a target calls.
    pub(crate) fn of_target(
        &mut self,
        context: &Context,
        registry: &Registry,
        target: TargetId,
    ) -> Option<OperatorId> {
        *self
            .of_target
            .entry(target)
            .or_insert_with(|| registry.find_target(context.target_name(target)))
    }

    fn known(
        &mut self,
        context: &mut Context,
        registry: &Registry,
        operator: OperatorId,
    ) -> &Known {
        self.known.entry(operator).or_insert_with(|| {
            let entry = registry.operator(operator);
            let arguments = &entry.schema().arguments;
            Known {
                target: context.target(&entry.name().target()),
                arguments: arguments
                    .iter()
                    .map(|argument| context.names.intern(&argument.name))
                    .collect(),
                shape: shape::rule(&entry.name().to_string()),
            }
        })
    }

    /// The target that calls an operator.
    pub(crate) fn target(
        &mut self,
        context: &mut Context,
        registry: &Registry,
        operator: OperatorId,
    ) -> TargetId {
        self.known(context, registry, operator).target
    }

    /// The name of an operator's argument.
    pub(crate) fn argument(
        &mut self,
        context: &mut Context,
        registry: &Registry,
        operator: OperatorId,
        index: usize,
    ) -> Option<NameId> {
        self.known(context, registry, operator)
            .arguments
            .get(index)
            .copied()
    }

    /// The shape rule of an operator.
    pub(crate) fn shape(
        &mut self,
        context: &mut Context,
        registry: &Registry,
        operator: OperatorId,
    ) -> Option<ShapeRule> {
        self.known(context, registry, operator).shape
    }
}
