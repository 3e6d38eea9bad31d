//! The machine that functionalizes: storages, the tensors that view them, and synchronization.
//!
//! torch gives a program its functional form by running it with tensors that record. This
//! machine plays the same game on a graph that is already there, so that operators, order and
//! names come out the same (`docs/beyond-torch.md` lists where they must not).
//!
//! A *storage* has a base value and a generation that counts writes. A *tensor* is a storage, a
//! chain of views from its base, the value last recorded for it, and the generation of that
//! value. A write through a tensor records the functional twin, carries its result back through
//! the inverses of the chain to a new base, and counts the generation up; a tensor of an older
//! generation is replayed from the base when it is read next.

use graven_ir::context::MetadataId;
use graven_ir::{
    Argument, ArgumentKind, Context, DType, Graph, Input, NameId, Node, NodeId, Op, TargetId,
    TensorMetaId, Value,
};
use graven_ops::Registry;
use rustc_hash::{FxHashMap, FxHashSet};

use super::WriteRecord;
use super::error::FunctionalizeError;
use super::facts::Facts;
use super::names::Recorder;
use super::operators::Operators;
use super::symbols::Symbols;
use super::view::{View, ViewId};

/// A tensor of the program: what a name is bound to, so that two names can be one tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct TensorId(pub(crate) u32);

/// A storage.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct StorageId(pub(crate) u32);

#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) storage: StorageId,
    /// The last view of the chain; `None` for the base itself.
    pub(crate) view: Option<ViewId>,
    pub(crate) value: NodeId,
    pub(crate) generation: u32,
    pub(crate) meta: TensorMetaId,
    /// The storage's generation when the chain was taken: what was taken before a change of the
    /// storage's size does not fit it afterwards.
    pub(crate) taken: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Storage {
    pub(crate) base: NodeId,
    /// Geometry that the program gives the base: what twins return does not change it.
    pub(crate) meta: TensorMetaId,
    /// Counts writes; 0 means never written.
    pub(crate) generation: u32,
    /// Whether the recorded base has the strides of `meta` for certain. A twin may return
    /// others.
    pub(crate) layout_is_known: bool,
    /// Set once the base was replaced by one of another size (`resize_`, `out=`): chains that
    /// were taken before do not fit it.
    pub(crate) resized_at: Option<u32>,
}

/// What a node of the source program is bound to.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// A tensor.
    Tensor(TensorId),
    /// Another recorded value: a symbolic number, a token, an object, a nested graph.
    Value(NodeId),
    /// Several results.
    Several(Vec<Binding>),
    /// Something that is no node here: a constant, `None`.
    Constant(Argument),
}

/// An argument of a call while it is being dispatched.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// A tensor, not yet synchronized.
    Tensor(TensorId),
    /// Anything without tensors; nodes in it are recorded ones.
    Fixed(Argument),
    /// A list with tensors.
    List(graven_ir::ListKind, Vec<Operand>),
}

impl Operand {
    /// Whether one of its tensors is as the test asks.
    pub(crate) fn any(&self, test: &impl Fn(TensorId) -> bool) -> bool {
        match self {
            Self::Tensor(tensor) => test(*tensor),
            Self::Fixed(_) => false,
            Self::List(_, items) => items.iter().any(|item| item.any(test)),
        }
    }
}

/// One argument of a call: name, position or keyword, value.
#[derive(Clone, Debug)]
pub(crate) struct CallInput {
    pub(crate) name: NameId,
    pub(crate) kind: ArgumentKind,
    pub(crate) operand: Operand,
}

/// Everything that recording needs.
pub(crate) struct Machine<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) context: Context,
    pub(crate) facts: Facts,
    pub(crate) operators: Operators,
    /// The graph that is being recorded.
    pub(crate) graph: Graph,
    pub(crate) names: Recorder,
    pub(crate) symbols: Symbols,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) storages: Vec<Storage>,
    pub(crate) views: Vec<View>,
    /// The first so many tensors are inputs of the graph.
    pub(crate) input_tensors: usize,
    /// The tensors whose geometry was changed in place, and the node that changed it last.
    pub(crate) metadata_changes: FxHashMap<TensorId, (Option<Current>, MetadataId)>,
    /// Metadata of the source node that is being dispatched; recorded nodes inherit it.
    pub(crate) metadata: MetadataId,
    /// Name and target of that node, for errors.
    pub(crate) current: Option<Current>,
    /// Recorded values with a conjugate or negative bit.
    pub(crate) bits: FxHashSet<NodeId>,
    /// Tensors whose strides are not those that the program recorded.
    pub(crate) relaid: FxHashSet<TensorId>,
    /// The dtype of the autocast region that is being run.
    pub(crate) autocast: Option<DType>,
    /// The writes to storages that are inputs, as they come: storage, and what is to be told.
    pub(crate) writes: Vec<(StorageId, WriteRecord)>,
    getitem: NameId,
    pub(crate) empty_name: NameId,
}

/// The name of a source node, and of what it calls.
pub(crate) type Current = (NameId, NameId);

/// What belongs to one recorded graph, put aside while a nested one is recorded.
pub(crate) struct Outer {
    graph: Graph,
    names: Recorder,
    symbols: Symbols,
    tensors: Vec<Tensor>,
    storages: Vec<Storage>,
    views: Vec<View>,
    input_tensors: usize,
    metadata_changes: FxHashMap<TensorId, (Option<Current>, MetadataId)>,
    writes: Vec<(StorageId, WriteRecord)>,
    bits: FxHashSet<NodeId>,
    relaid: FxHashSet<TensorId>,
}

impl<'a> Machine<'a> {
    /// A machine that has recorded nothing.
    pub(crate) fn new(registry: &'a Registry, mut context: Context) -> Self {
        let (getitem, empty_name) = (context.names.intern("getitem"), context.names.intern(""));
        Self {
            registry,
            context,
            facts: Facts::default(),
            operators: Operators::default(),
            graph: Graph::default(),
            names: Recorder::default(),
            symbols: Symbols::default(),
            tensors: Vec::new(),
            storages: Vec::new(),
            views: Vec::new(),
            input_tensors: 0,
            metadata_changes: FxHashMap::default(),
            metadata: MetadataId::EMPTY,
            current: None,
            bits: FxHashSet::default(),
            relaid: FxHashSet::default(),
            autocast: None,
            writes: Vec::new(),
            getitem,
            empty_name,
        }
    }

    /// Begins the recording of a nested graph.
    pub(crate) fn begin_graph(&mut self) -> Outer {
        use std::mem::take;
        Outer {
            graph: take(&mut self.graph),
            names: take(&mut self.names),
            symbols: take(&mut self.symbols),
            tensors: take(&mut self.tensors),
            storages: take(&mut self.storages),
            views: take(&mut self.views),
            input_tensors: take(&mut self.input_tensors),
            metadata_changes: take(&mut self.metadata_changes),
            writes: take(&mut self.writes),
            bits: take(&mut self.bits),
            relaid: take(&mut self.relaid),
        }
    }

    /// Ends it, and goes on with the outer one. Gives the nested graph.
    pub(crate) fn end_graph(&mut self, outer: Outer) -> Graph {
        let nested = std::mem::replace(&mut self.graph, outer.graph);
        self.names = outer.names;
        self.symbols = outer.symbols;
        self.tensors = outer.tensors;
        self.storages = outer.storages;
        self.views = outer.views;
        self.input_tensors = outer.input_tensors;
        self.metadata_changes = outer.metadata_changes;
        self.writes = outer.writes;
        self.bits = outer.bits;
        self.relaid = outer.relaid;
        nested
    }
}

impl Machine<'_> {
    pub(crate) fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0 as usize]
    }

    pub(crate) fn storage(&self, id: StorageId) -> &Storage {
        &self.storages[id.0 as usize]
    }

    pub(crate) fn storage_mut(&mut self, id: StorageId) -> &mut Storage {
        &mut self.storages[id.0 as usize]
    }

    /// A tensor with a storage of its own, whose value is `value`.
    pub(crate) fn fresh_tensor(&mut self, value: NodeId, meta: TensorMetaId) -> TensorId {
        let storage = StorageId(self.storages.len() as u32);
        self.storages.push(Storage {
            base: value,
            meta,
            generation: 0,
            layout_is_known: true,
            resized_at: None,
        });
        self.push_tensor(Tensor {
            storage,
            view: None,
            value,
            generation: 0,
            meta,
            taken: 0,
        })
    }

    pub(crate) fn push_tensor(&mut self, tensor: Tensor) -> TensorId {
        self.tensors.push(tensor);
        TensorId(self.tensors.len() as u32 - 1)
    }

    /// Records a call of `target` and names it.
    pub(crate) fn record(
        &mut self,
        target: TargetId,
        inputs: Box<[Input]>,
        value: Value,
    ) -> NodeId {
        let candidate = self.facts.candidate(&mut self.context, target);
        self.record_as(candidate, Op::Call(target), inputs, value)
    }

    /// Records a node under the first free name for `candidate`.
    pub(crate) fn record_as(
        &mut self,
        candidate: NameId,
        op: Op,
        inputs: Box<[Input]>,
        value: Value,
    ) -> NodeId {
        let name = self.names.fresh(&mut self.context.names, candidate);
        self.graph.push(Node {
            name,
            op,
            inputs,
            value,
            metadata: self.metadata,
        })
    }

    /// Records the `getitem` that reads result `index` of `node`.
    pub(crate) fn record_getitem(&mut self, node: NodeId, index: usize, value: Value) -> NodeId {
        let input = Input {
            name: self.empty_name,
            kind: ArgumentKind::Positional,
            argument: Argument::Node(node),
        };
        self.record_as(
            self.getitem,
            Op::GetItem(index as u32),
            Box::new([input]),
            value,
        )
    }

    /// The value of a tensor now: replayed from the base when the base was written since.
    pub(crate) fn sync(&mut self, id: TensorId) -> Result<NodeId, FunctionalizeError> {
        let Tensor {
            storage: storage_id,
            view,
            value,
            generation: own,
            taken,
            ..
        } = *self.tensor(id);
        let storage = self.storage(storage_id);
        let generation = storage.generation;
        if own == generation {
            return Ok(value);
        }
        if view.is_some()
            && storage
                .resized_at
                .is_some_and(|resized_at| taken < resized_at)
        {
            return Err(self.error(super::error::Problem::ReadAfterResize));
        }
        let value = self.replay(storage_id, view)?;
        let tensor = &mut self.tensors[id.0 as usize];
        tensor.value = value;
        tensor.generation = generation;
        Ok(value)
    }

    /// Notes that the program writes an input, for the report of its effects.
    pub(crate) fn note_write(&mut self, tensor: TensorId, changes_metadata: bool) {
        let Tensor { storage, view, .. } = *self.tensor(tensor);
        if storage.0 as usize >= self.input_tensors {
            return;
        }
        let chain = self.chain(view);
        let targets = chain
            .iter()
            .filter_map(|view| self.context.target_name_id(self.view(*view).call.target));
        let record = WriteRecord {
            inputs: Vec::new(),
            node: self.current.map(|(node, _)| node),
            operator: self.current.map(|(_, operator)| operator),
            view_chain: targets.collect(),
            metadata: self.metadata,
            changes_metadata,
        };
        self.writes.push((storage, record));
    }

    /// Synchronizes every tensor of an argument and gives the argument to record.
    pub(crate) fn lower(&mut self, operand: &Operand) -> Result<Argument, FunctionalizeError> {
        Ok(match operand {
            Operand::Tensor(tensor) => Argument::Node(self.sync(*tensor)?),
            Operand::Fixed(argument) => argument.clone(),
            Operand::List(kind, items) => {
                let items: Result<Box<[Argument]>, _> =
                    items.iter().map(|item| self.lower(item)).collect();
                Argument::List(*kind, items?)
            }
        })
    }

    /// Synchronizes the tensors of all arguments, in order, and gives the inputs to record.
    pub(crate) fn lower_all(
        &mut self,
        inputs: &[CallInput],
    ) -> Result<Box<[Input]>, FunctionalizeError> {
        inputs
            .iter()
            .map(|input| {
                let argument = self.lower(&input.operand)?;
                Ok(Input {
                    name: input.name,
                    kind: input.kind,
                    argument,
                })
            })
            .collect()
    }

    /// Records one `getitem` for each of several results, lists inside of tuples included.
    pub(crate) fn record_results(&mut self, node: NodeId, value: &Value) -> Recorded {
        match value {
            Value::None => Recorded::None,
            Value::Tuple(items) | Value::List(items) => {
                let items = items.iter().enumerate().map(|(index, item)| match item {
                    Value::None => Recorded::None,
                    item => {
                        let result = self.record_getitem(node, index, item.clone());
                        match item {
                            // A list in a tuple; the reader of archives admits no deeper nesting.
                            Value::Tuple(_) | Value::List(_) => self.record_results(result, item),
                            _ => Recorded::One(result),
                        }
                    }
                });
                Recorded::Many(items.collect())
            }
            _ => Recorded::One(node),
        }
    }

    /// Binds recorded results: a tensor is a fresh one.
    pub(crate) fn bind(&mut self, recorded: &Recorded) -> Binding {
        match recorded {
            Recorded::None => Binding::Constant(Argument::None),
            Recorded::Many(items) => {
                Binding::Several(items.iter().map(|item| self.bind(item)).collect())
            }
            Recorded::One(node) => match self.graph.node(*node).value {
                Value::Tensor(meta) => Binding::Tensor(self.fresh_tensor(*node, meta)),
                _ => Binding::Value(*node),
            },
        }
    }
}

/// The nodes that hold a call's results.
#[derive(Clone, Debug)]
pub(crate) enum Recorded {
    /// No result, or `None`.
    None,
    /// One.
    One(NodeId),
    /// A tuple or a list.
    Many(Vec<Recorded>),
}

impl Recorded {
    /// The result of this index; a single result is its own first.
    pub(crate) fn result(&self, index: usize) -> Option<&Recorded> {
        match self {
            Self::Many(items) => items.get(index),
            one => Some(one).filter(|_| index == 0),
        }
    }
}
