//! The embedded table of ATen's operators.
//!
//! The table is text, sorted by name. Looking for an operator is a binary search over its lines;
//! a line is parsed when its operator is asked for the first time, and kept for the process.

use std::sync::{LazyLock, OnceLock};

use graven_ir::schema::{OperatorRef, Schema};

use crate::operator::{Composite, Operator};
use crate::tags::Tags;
use crate::twin::Twin;

static TEXT: &str = include_str!("../aten.schemas");

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::index(TEXT));

/// The table of the process.
pub(crate) fn aten() -> &'static Table {
    &TABLE
}

/// Lines and the operators that were read from them so far.
pub(crate) struct Table {
    rows: Box<[Row]>,
}

struct Row {
    line: &'static str,
    operator: OnceLock<Box<Operator>>,
    twin: OnceLock<Option<Box<Twin>>>,
}

impl Table {
    fn index(text: &'static str) -> Self {
        let rows = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| Row {
                line,
                operator: OnceLock::new(),
                twin: OnceLock::new(),
            })
            .collect();
        Self { rows }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The position of the operator with this name.
    pub(crate) fn find(&self, name: OperatorRef<'_>) -> Option<usize> {
        self.rows
            .binary_search_by(|row| row.name().cmp(&Some(name)))
            .ok()
    }

    /// The positions of all overloads of a packet.
    pub(crate) fn overloads(&self, namespace: &str, packet: &str) -> std::ops::Range<usize> {
        let wanted = Some((namespace, packet));
        let packet_of = |row: &Row| row.name().map(|name| (name.namespace, name.packet));
        let start = self.rows.partition_point(|row| packet_of(row) < wanted);
        let end = self.rows.partition_point(|row| packet_of(row) <= wanted);
        start..end
    }

    /// The operator at `position`.
    ///
    /// # Panics
    /// When `position` is not below [`Table::len`].
    pub(crate) fn operator(&self, position: usize) -> &Operator {
        let row = &self.rows[position];
        row.operator.get_or_init(|| Box::new(row.read()))
    }

    /// Where the twin of the operator at `position` is kept once it was looked for.
    ///
    /// # Panics
    /// When `position` is not below [`Table::len`].
    pub(crate) fn twin(&self, position: usize) -> &OnceLock<Option<Box<Twin>>> {
        &self.rows[position].twin
    }
}

impl Row {
    fn name(&self) -> Option<OperatorRef<'static>> {
        OperatorRef::from_qualified(self.line.split_once('(')?.0)
    }

    /// # Panics
    /// When the embedded table is broken, which a test excludes by reading all of it.
    fn read(&self) -> Operator {
        let mut columns = self.line.split('\t');
        let schema = columns.next().map(Schema::parse);
        let composite = columns.next().and_then(composite);
        let tags = columns.next().and_then(Tags::from_names);
        match (schema, composite, tags, columns.next()) {
            (Some(Ok(schema)), Some(composite), Some(tags), None) => {
                Operator::new(schema, composite, tags)
            }
            broken => panic!("line of aten.schemas: {}: {broken:?}", self.line),
        }
    }
}

fn composite(word: &str) -> Option<Composite> {
    match word {
        "-" => Some(Composite::None),
        "explicit" => Some(Composite::Explicit),
        "implicit" => Some(Composite::Implicit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_line_reads() {
        let table = aten();
        assert_eq!(table.len(), 3246);
        let names: Vec<_> = table.rows.iter().map(|row| row.name().unwrap()).collect();
        assert!(names.is_sorted());
        for (position, name) in names.iter().enumerate() {
            assert_eq!(table.operator(position).name().parts(), *name);
            assert_eq!(table.find(*name), Some(position));
        }
    }

    #[test]
    fn overloads_of_a_packet_stand_together() {
        let table = aten();
        let overloads: Vec<_> = table
            .overloads("aten", "add_")
            .map(|position| table.operator(position).name().to_string())
            .collect();
        assert_eq!(overloads, ["aten::add_.Scalar", "aten::add_.Tensor"]);
        assert!(table.overloads("aten", "no_such_packet").is_empty());
    }
}
