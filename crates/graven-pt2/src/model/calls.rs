//! Calls: their nodes, and a `getitem` for each of several results.

use graven_ir::fx_names::snake_case;
use graven_ir::{Argument, ArgumentKind, Input, MetadataId, NameId, NodeId, Op, TargetId, Value};
use smallvec::SmallVec;

use super::argument::Reference;
use super::call_form::{CallForm, function_name};
use super::graph::{ArchiveInput, NodeParts};
use super::resolve::Resolver;
use crate::error::Pt2Error;
use crate::kinds::{in_order, kind};

/// The results of one call.
type Results = SmallVec<[Argument; 2]>;

/// A call whose results are not yet there.
struct Call {
    name: Option<NameId>,
    op: Op,
    form: CallForm,
    inputs: Box<[Input]>,
    metadata: MetadataId,
}

impl Resolver<'_> {
    /// Adds a call. `inputs` has its inputs next, `later` the results of the calls after it.
    pub(super) fn add_node(
        &mut self,
        node: &NodeParts,
        all_inputs: &mut std::vec::IntoIter<ArchiveInput>,
        mut outputs: Results,
        later: &[Argument],
    ) -> Result<(), Pt2Error> {
        let mut inputs = Vec::with_capacity(node.input_count);
        for input in all_inputs.take(node.input_count) {
            let mut input = Input {
                kind: input
                    .kind
                    .unwrap_or_else(|| self.kind_of(node.target, input.name)),
                name: input.name,
                argument: input.argument,
            };
            if let Err(missing) = self.resolve(&mut input.argument, node.metadata)? {
                let user = match node.name.or_else(|| self.result_name(outputs.first())) {
                    Some(name) => format!("the node `{}`", self.text(name)),
                    None => format!("a call of `{}`", self.context.target_name(node.target)),
                };
                let rest = outputs.iter().chain(later);
                return Err(self.missing_value(user, &missing, rest));
            }
            inputs.push(input);
        }
        let call = Call {
            name: node.name,
            op: Op::Call(node.target),
            form: CallForm::of(self.context.target_name(node.target)),
            inputs: in_order(inputs),
            metadata: node.metadata,
        };
        let bare = node.is_hop_single_tensor_return.unwrap_or(true);
        match (outputs.len(), outputs.pop()) {
            (_, None) => self.call_without_result(call),
            (1, Some(Argument::None)) => self.call_that_returns_none(call),
            (1, Some(output)) if call.form == CallForm::HigherOrder && !bare => match output {
                Argument::List(_, items) => self.call_with_list(call, items),
                output => self.call_with_tuple(call, [output]),
            },
            // Before archives said what a higher-order operator returns, its results were a list
            // and not a tuple.
            (1, Some(Argument::List(_, items))) if call.form == CallForm::HigherOrder => {
                self.call_with_tuple(call, items)
            }
            (1, Some(Argument::List(_, items))) => self.call_with_list(call, items),
            (1, Some(output)) => self.call_with_value(call, &output),
            (_, Some(last)) => {
                outputs.push(last);
                self.call_with_tuple(call, outputs)
            }
        }
    }

    /// How an argument is given when the archive does not say it.
    fn kind_of(&self, target: TargetId, name: NameId) -> ArgumentKind {
        let target = self.context.target_name(target);
        let name = self.context.names.get(name);
        kind(self.setting.registry, target, CallForm::of(target), name)
    }

    fn call_without_result(&mut self, call: Call) -> Result<(), Pt2Error> {
        let value = match call.form.has_no_schema() {
            true => Value::Tuple(Box::default()),
            false => Value::None,
        };
        let name = self.create_call_name(&call);
        self.keep_archive_name(name, call.name);
        self.push(name, call.op, call.inputs, value, call.metadata)?;
        Ok(())
    }

    /// torch's loader gives such a node a name of its own.
    fn call_that_returns_none(&mut self, call: Call) -> Result<(), Pt2Error> {
        let first = self.create_call_name(&call);
        let unused = format!("{}_unused", self.candidate(&call));
        let name = if self.context.names.get(first) == unused {
            first
        } else {
            self.create_name(&unused)
        };
        self.keep_archive_name(name, call.name);
        self.push(name, call.op, call.inputs, Value::None, call.metadata)?;
        Ok(())
    }

    fn call_with_value(&mut self, call: Call, output: &Argument) -> Result<(), Pt2Error> {
        let name = self
            .result_name(Some(output))
            .ok_or_else(|| self.result_form(&call))?;
        self.claim_name(call.name.unwrap_or(name));
        self.keep_archive_name(name, call.name);
        self.push_named(name, call.op, call.inputs, call.metadata)?;
        Ok(())
    }

    fn call_with_tuple(
        &mut self,
        call: Call,
        outputs: impl IntoIterator<Item = Argument>,
    ) -> Result<(), Pt2Error> {
        // Before archives had names of nodes, the loader had no name for this either.
        let unnamed_item = if call.name.is_some() {
            "as_none"
        } else {
            "getitem"
        };
        let (node, metadata) = self.push_several(call)?;
        let mut values = Vec::new();
        for (index, output) in outputs.into_iter().enumerate() {
            let value = match output {
                Argument::None => {
                    let name = self.create_name(unnamed_item);
                    self.push_item(node, index, name, Value::None, metadata)?;
                    Value::None
                }
                Argument::List(_, items) => {
                    let name = self.create_name("getitem");
                    let list = self.push_item(node, index, name, Value::None, metadata)?;
                    let items = Value::List(self.push_items(list, &items, metadata)?);
                    self.set_value(list, items.clone());
                    items
                }
                output => self.push_result(node, index, &output, metadata)?,
            };
            values.push(value);
        }
        self.set_value(node, Value::Tuple(values.into_boxed_slice()));
        Ok(())
    }

    fn call_with_list(&mut self, call: Call, items: Box<[Argument]>) -> Result<(), Pt2Error> {
        let (node, metadata) = self.push_several(call)?;
        let values = self.push_items(node, &items, metadata)?;
        self.set_value(node, Value::List(values));
        Ok(())
    }

    /// The node of a call with several results; its value is set when they are known.
    fn push_several(&mut self, call: Call) -> Result<(NodeId, MetadataId), Pt2Error> {
        let name = self.create_call_name(&call);
        self.keep_archive_name(name, call.name);
        let node = self.push(name, call.op, call.inputs, Value::None, call.metadata)?;
        Ok((node, call.metadata))
    }

    fn set_value(&mut self, node: NodeId, value: Value) {
        if let Some(node) = self.graph.nodes.get_mut(node.index()) {
            node.value = value;
        }
    }

    fn push_items(
        &mut self,
        node: NodeId,
        items: &[Argument],
        metadata: MetadataId,
    ) -> Result<Box<[Value]>, Pt2Error> {
        items
            .iter()
            .enumerate()
            .map(|(index, item)| self.push_result(node, index, item, metadata))
            .collect()
    }

    /// The `getitem` of one result, called as the archive calls the result.
    fn push_result(
        &mut self,
        node: NodeId,
        index: usize,
        output: &Argument,
        metadata: MetadataId,
    ) -> Result<Value, Pt2Error> {
        let Some(name) = self.result_name(Some(output)) else {
            let owner = self.graph.nodes.get(node.index()).map(|node| node.name);
            return Err(Pt2Error::ResultForm {
                node: owner.map(|name| self.text(name)).unwrap_or_default(),
            });
        };
        self.claim_name(name);
        let value = self.define(name, self.next_node())?;
        self.push_item(node, index, name, value.clone(), metadata)?;
        Ok(value)
    }

    fn push_item(
        &mut self,
        node: NodeId,
        index: usize,
        name: NameId,
        value: Value,
        metadata: MetadataId,
    ) -> Result<NodeId, Pt2Error> {
        let input = Input {
            name: self.no_name,
            kind: ArgumentKind::Positional,
            argument: Argument::Node(node),
        };
        let index = u32::try_from(index).map_err(|_| Pt2Error::TooManyNodes)?;
        self.push(name, Op::GetItem(index), Box::new([input]), value, metadata)
    }

    // ---- names ----

    /// What FX makes of the called function when a node is given no name.
    fn candidate(&self, call: &Call) -> String {
        match call.op {
            Op::Call(target) => snake_case(function_name(self.context.target_name(target))),
            _ => String::new(),
        }
    }

    fn create_call_name(&mut self, call: &Call) -> NameId {
        match call.name {
            Some(name) => self.create_name_from(name),
            None => self.create_name(&self.candidate(call)),
        }
    }

    /// The name that a result has, if it is one value.
    pub(super) fn result_name(&self, output: Option<&Argument>) -> Option<NameId> {
        match self.references.get(output?.as_node()?.index())? {
            Reference::Value(name) | Reference::CustomObject(name, _) => Some(*name),
            Reference::Graph(_) => None,
        }
    }

    fn result_form(&self, call: &Call) -> Pt2Error {
        Pt2Error::ResultForm {
            node: match call.name {
                Some(name) => self.text(name),
                None => self.candidate(call),
            },
        }
    }

    /// Whether `output` is, or holds, the value called `name`.
    pub(super) fn defines(&self, output: &Argument, name: NameId) -> bool {
        match output {
            Argument::List(_, items) => items
                .iter()
                .any(|item| self.result_name(Some(item)) == Some(name)),
            output => self.result_name(Some(output)) == Some(name),
        }
    }
}
