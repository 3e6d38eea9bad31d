//! All operators that a program may call: ATen's, and those that a user declares.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use graven_ir::schema::{OperatorName, OperatorRef, Schema, SchemaError};

use crate::operator::{Composite, Operator};
use crate::table;
use crate::tags::Tags;
use crate::target::{self, TargetKind};
use crate::twin::{self, Twin};

/// An operator of one [`Registry`]: ATen's have the same id in every registry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct OperatorId(u32);

impl OperatorId {
    /// The position, for dense side tables; below [`Registry::len`].
    pub fn index(self) -> usize {
        self.0 as usize
    }

    fn new(index: usize) -> Self {
        // Each operator has a line of text in memory: they are far fewer than 2^32.
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// The operators that a program may call. Cloning is cheap.
///
/// ```
/// let mut registry = graven_ops::Registry::aten();
/// let add = registry.find("aten::add_.Tensor").unwrap();
/// assert_eq!(registry.find_target("torch.ops.aten.add_.Tensor"), Some(add));
/// assert_eq!(registry.operator(add).writes(), [0]);
///
/// registry.extend("mylib::inc(Tensor(a!) x, float n) -> ()").unwrap();
/// assert!(registry.find("mylib::inc").is_some());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Registry {
    custom: Arc<Custom>,
}

/// What was declared beyond the table.
#[derive(Clone, Debug, Default)]
struct Custom {
    operators: Vec<CustomOperator>,
    by_name: BTreeMap<OperatorName, OperatorId>,
}

#[derive(Clone, Debug)]
struct CustomOperator {
    operator: Operator,
    twin: OnceLock<Option<Twin>>,
}

/// What is wrong with a declaration of an operator.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RegistryError {
    /// A line is no schema.
    #[error("line {line}: {source}")]
    Schema {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: SchemaError,
    },
    /// An operator is known with another schema.
    #[error("line {line}: {name} is already known as `{known}`")]
    Conflict {
        /// The line, from 1.
        line: usize,
        /// The operator.
        name: OperatorName,
        /// The schema that is known.
        known: Box<Schema>,
    },
    /// A text that names no operator.
    #[error("`{text}` is not an operator's name, such as `mylib::f` or `mylib::f.overload`")]
    NotAName {
        /// The text.
        text: Box<str>,
    },
    /// An operator that is to be assumed functional is known to write or alias.
    #[error("{name} cannot be assumed functional: its schema is `{known}`")]
    NotFunctional {
        /// The operator.
        name: OperatorName,
        /// The schema that is known.
        known: Box<Schema>,
    },
}

impl Registry {
    /// ATen's and prims' operators.
    pub fn aten() -> Self {
        Self::default()
    }

    /// How many operators there are; ids are dense below it.
    pub fn len(&self) -> usize {
        table::aten().len() + self.custom.operators.len()
    }

    /// Whether there are none, which is never so.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All operators.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = OperatorId> + use<> {
        (0..self.len()).map(OperatorId::new)
    }

    /// The operator with this name: `aten::add_.Tensor`, `aten::relu`.
    pub fn find(&self, name: &str) -> Option<OperatorId> {
        self.find_parts(OperatorRef::from_qualified(name)?)
    }

    /// The operator that FX calls so: `torch.ops.aten.add_.Tensor`, `torch.ops.aten.relu.default`.
    pub fn find_target(&self, target: &str) -> Option<OperatorId> {
        self.find_parts(OperatorRef::from_target(target)?)
    }

    /// The operator with this name.
    pub fn find_parts(&self, name: OperatorRef<'_>) -> Option<OperatorId> {
        if let Some(position) = table::aten().find(name) {
            return Some(OperatorId::new(position));
        }
        if self.custom.operators.is_empty() {
            return None;
        }
        self.custom.by_name.get(&name.to_name()).copied()
    }

    /// What an FX target is.
    pub fn classify<'a>(&self, target: &'a str) -> TargetKind<'a> {
        match self.find_target(target) {
            Some(operator) => TargetKind::Operator(operator),
            None => target::classify_other(target),
        }
    }

    /// The operator.
    ///
    /// # Panics
    /// When `id` is of another registry.
    pub fn operator(&self, id: OperatorId) -> &Operator {
        match id.index().checked_sub(table::aten().len()) {
            None => table::aten().operator(id.index()),
            Some(position) => &self.custom.operators[position].operator,
        }
    }

    /// The functional twin of a writing operator: see [`Twin`].
    ///
    /// Operators outside ATen have none: torch wraps those in `auto_functionalized_v2`.
    pub fn functional_twin(&self, id: OperatorId) -> Option<&Twin> {
        match id.index().checked_sub(table::aten().len()) {
            None => table::aten()
                .twin(id.index())
                .get_or_init(|| twin::find(&Self::aten(), id).map(Box::new))
                .as_deref(),
            Some(position) => {
                let custom = &self.custom.operators[position];
                custom.twin.get_or_init(|| twin::find(self, id)).as_ref()
            }
        }
    }

    /// All overloads of a packet.
    pub(crate) fn overloads(
        &self,
        namespace: &str,
        packet: &str,
    ) -> impl Iterator<Item = OperatorId> {
        let first = OperatorRef {
            namespace,
            packet,
            overload: "",
        };
        let custom = self
            .custom
            .by_name
            .range(first.to_name()..)
            .take_while(move |(name, _)| *name.namespace == *namespace && *name.packet == *packet)
            .map(|(_, id)| *id);
        let known = table::aten().overloads(namespace, packet);
        known.map(OperatorId::new).chain(custom)
    }

    /// Adds the operators that `text` declares, one schema a line; empty lines and lines that
    /// start with `#` are skipped. Says how many are new. An operator that is known may be
    /// declared again in the same words.
    ///
    /// # Errors
    /// When a line is no schema, or contradicts what is known; then nothing is added.
    pub fn extend(&mut self, text: &str) -> Result<usize, RegistryError> {
        let mut extended = self.clone();
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let schema = Schema::parse(line).map_err(|source| RegistryError::Schema {
                line: line_number,
                source,
            })?;
            extended.declare(line_number, schema)?;
        }
        let added = extended.len() - self.len();
        extended.forget_twins();
        *self = extended;
        Ok(added)
    }

    fn declare(&mut self, line: usize, schema: Schema) -> Result<(), RegistryError> {
        let Some(id) = self.find_parts(schema.name.parts()) else {
            self.push(Operator::new(schema, Composite::None, Tags::default()));
            return Ok(());
        };
        let known = self.operator(id).schema();
        if *known == schema {
            return Ok(());
        }
        Err(RegistryError::Conflict {
            line,
            known: Box::new(known.clone()),
            name: schema.name,
        })
    }

    /// Adds an operator of which nothing is known but that it writes to no argument and returns
    /// fresh values. The name is spelled `mylib::f`, `mylib.f.default` or
    /// `torch.ops.mylib.f.default`.
    ///
    /// # Errors
    /// When `name` is no operator's name, or its schema is known and says otherwise.
    pub fn assume_functional(&mut self, name: &str) -> Result<OperatorId, RegistryError> {
        let parts = OperatorRef::from_qualified(name)
            .or_else(|| OperatorRef::from_target(name))
            .or_else(|| OperatorRef::from_dotted(name))
            .ok_or_else(|| RegistryError::NotAName { text: name.into() })?;
        let Some(id) = self.find_parts(parts) else {
            return Ok(self.push(Operator::assumed_functional(parts.to_name())));
        };
        let known = self.operator(id).schema();
        if known.has_alias_annotations() {
            return Err(RegistryError::NotFunctional {
                name: parts.to_name(),
                known: Box::new(known.clone()),
            });
        }
        Ok(id)
    }

    fn push(&mut self, operator: Operator) -> OperatorId {
        let id = OperatorId::new(self.len());
        let custom = Arc::make_mut(&mut self.custom);
        custom.by_name.insert(operator.name().clone(), id);
        custom.operators.push(CustomOperator {
            operator,
            twin: OnceLock::new(),
        });
        id
    }

    /// To be called when operators were added: a twin that was not there before may be now.
    fn forget_twins(&mut self) {
        for custom in &mut Arc::make_mut(&mut self.custom).operators {
            custom.twin = OnceLock::new();
        }
    }
}
