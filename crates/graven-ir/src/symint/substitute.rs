//! Symbols of an expression, and values put in their place.

use super::arena::{SymExpr, SymExprs, SymbolId};
use super::{SymError, SymExprId, SymInt};

impl SymExprs {
    /// The symbols of `id`, in the order in which they first stand in it.
    pub fn free_symbols(&self, id: SymExprId) -> Vec<SymbolId> {
        let mut found = Vec::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match self.get(id) {
                SymExpr::Symbol(symbol) if !found.contains(symbol) => found.push(*symbol),
                SymExpr::Call(_, args) => pending.extend(args.iter().rev()),
                _ => {}
            }
        }
        found
    }

    /// `id` with each symbol replaced by what `replacement` gives, in canonical form.
    pub fn substitute(
        &mut self,
        id: SymExprId,
        replacement: &dyn Fn(SymbolId) -> Option<SymInt>,
    ) -> Result<SymInt, SymError> {
        let replaced = self.rebuild(id, &mut |exprs, leaf| match exprs.get(leaf) {
            SymExpr::Symbol(symbol) => match replacement(*symbol) {
                Some(size) => exprs.to_expr(size),
                None => Ok(leaf),
            },
            _ => Ok(leaf),
        })?;
        Ok(self.to_sym_int(replaced))
    }

    /// Whether `id` here and `other_id` in `other` are the same expression, symbols compared by
    /// name and assumptions. Within one table, compare ids instead.
    pub fn same_structure(&self, id: SymExprId, other: &Self, other_id: SymExprId) -> bool {
        match (self.get(id), other.get(other_id)) {
            (SymExpr::Symbol(a), SymExpr::Symbol(b)) => {
                self.symbol_info(*a) == other.symbol_info(*b)
            }
            (SymExpr::Call(f, a), SymExpr::Call(g, b)) => {
                self.function_name(*f) == other.function_name(*g)
                    && a.len() == b.len()
                    && a.iter()
                        .zip(b)
                        .all(|(a, b)| self.same_structure(*a, other, *b))
            }
            (a, b) => a == b,
        }
    }
}
