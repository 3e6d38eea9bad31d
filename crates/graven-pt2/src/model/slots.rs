//! The values of a graph by their names, while the graph is built.

use graven_ir::{NameId, NodeId, Value};

/// For each name, its slot in the graph that is built now. Shared by all graphs of a program,
/// one after the other, so that each costs what it has itself and not what the program has.
#[derive(Default)]
pub(super) struct NameTable {
    /// By the name's position: one more than the slot's, or 0.
    slot_of: Vec<u32>,
}

/// What is known of the value with a name.
struct Slot {
    name: NameId,
    /// From the tables of values; taken by the node that is called so.
    value: Value,
    node: Option<NodeId>,
}

/// The values of one graph.
pub(super) struct Slots<'a> {
    table: &'a mut NameTable,
    slots: Vec<Slot>,
}

impl<'a> Slots<'a> {
    pub(super) fn new(table: &'a mut NameTable, capacity: usize) -> Self {
        Self {
            table,
            slots: Vec::with_capacity(capacity),
        }
    }

    /// Adds a value that no node stands for yet; `false` if the name has one already.
    pub(super) fn add(&mut self, name: NameId, value: Value) -> bool {
        let entries = &mut self.table.slot_of;
        if entries.len() <= name.index() {
            entries.resize((name.index() + 1).next_power_of_two(), 0);
        }
        let count = self.slots.len() + 1;
        match (entries.get_mut(name.index()), u32::try_from(count)) {
            (Some(entry @ 0), Ok(count)) => *entry = count,
            _ => return false,
        }
        self.slots.push(Slot {
            name,
            value,
            node: None,
        });
        true
    }

    /// Whether a value has that name.
    pub(super) fn contains(&self, name: NameId) -> bool {
        self.position(name).is_some()
    }

    /// The node that stands for `name`.
    pub(super) fn node(&self, name: NameId) -> Option<NodeId> {
        self.slots.get(self.position(name)?)?.node
    }

    /// Lets `node` stand for `name` and gives the value.
    pub(super) fn define(&mut self, name: NameId, node: NodeId) -> Result<Value, Undefinable> {
        let slot = self
            .position(name)
            .and_then(|position| self.slots.get_mut(position))
            .ok_or(Undefinable::Unknown)?;
        if slot.node.is_some() {
            return Err(Undefinable::Taken);
        }
        slot.node = Some(node);
        Ok(std::mem::replace(&mut slot.value, Value::None))
    }

    fn position(&self, name: NameId) -> Option<usize> {
        let entry = *self.table.slot_of.get(name.index())?;
        (entry as usize).checked_sub(1)
    }
}

impl Drop for Slots<'_> {
    /// Leaves the table empty for the next graph.
    fn drop(&mut self) {
        for slot in &self.slots {
            if let Some(entry) = self.table.slot_of.get_mut(slot.name.index()) {
                *entry = 0;
            }
        }
    }
}

/// Why a node cannot stand for a name.
pub(super) enum Undefinable {
    /// The tables of values do not have it.
    Unknown,
    /// Another node does.
    Taken,
}
