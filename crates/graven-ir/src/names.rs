//! Interned strings of one program: node names, argument names, targets, stack traces.

use indexmap::IndexSet;

/// An interned string; valid for the [`Names`] that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NameId(pub(crate) u32);

impl NameId {
    /// The position in the table, for dense side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The strings of one program, each stored once.
///
/// The hash is seeded: names come from files, and a file must not be able to choose collisions.
#[derive(Clone, Debug, Default)]
pub struct Names {
    set: IndexSet<Box<str>>,
}

impl Names {
    /// The id of `text`, added when it is new.
    pub fn intern(&mut self, text: &str) -> NameId {
        if let Some(index) = self.set.get_index_of(text) {
            return NameId(index as u32);
        }
        let (index, _) = self.set.insert_full(text.into());
        // More than 2^32 distinct names would need hundreds of gigabytes of text.
        NameId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The id of `text`, if it was interned before.
    pub fn find(&self, text: &str) -> Option<NameId> {
        self.set
            .get_index_of(text)
            .map(|index| NameId(index as u32))
    }

    /// The text of `id`; empty for an id of another table.
    pub fn get(&self, id: NameId) -> &str {
        self.set.get_index(id.index()).map_or("", |text| text)
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_an_id() {
        let mut names = Names::default();
        let add = names.intern("add");
        assert_ne!(add, names.intern("mul"));
        assert_eq!(add, names.intern("add"));
        assert_eq!(names.get(add), "add");
        assert_eq!(names.find("sub"), None);
    }
}
