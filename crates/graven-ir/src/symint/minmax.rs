//! Maximum and minimum, simplified as torch's `Max` and `Min` are.

use super::arena::SymExprs;
use super::function::SymFunction;
use super::{SymError, SymExprId, SymInt};

impl SymExprs {
    /// The greater of `a` and `b`.
    pub fn max(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, SymError> {
        self.extreme(SymFunction::Max, a, b)
    }

    /// The lesser of `a` and `b`.
    pub fn min(&mut self, a: SymInt, b: SymInt) -> Result<SymInt, SymError> {
        self.extreme(SymFunction::Min, a, b)
    }

    fn extreme(&mut self, function: SymFunction, a: SymInt, b: SymInt) -> Result<SymInt, SymError> {
        let (a, b) = (self.to_expr(a)?, self.to_expr(b)?);
        let extreme = self.extreme_of(function, &[a, b])?;
        Ok(self.to_sym_int(extreme))
    }

    /// `Max(args)` or `Min(args)`.
    pub(super) fn extreme_of(
        &mut self,
        function: SymFunction,
        args: &[SymExprId],
    ) -> Result<SymExprId, SymError> {
        let mut flat = Vec::with_capacity(args.len());
        for arg in args {
            match self.args_of(*arg, function) {
                Some(inner) => flat.extend_from_slice(inner),
                None => flat.push(*arg),
            }
        }
        self.sort_lattice_args(&mut flat);
        flat.dedup();
        self.absorb(function, &mut flat)?;
        let (number, mut others) = self.fold_numbers(function, &flat);
        if let Some(number) = number {
            others.retain(|other| !self.is_outdone(function, number, *other));
        }
        let number = number.map(|value| self.integer(value)).transpose()?;
        match (number, others.as_slice()) {
            (Some(number), []) => return Ok(number),
            (None, [only]) => return Ok(*only),
            (Some(number), [only]) => {
                if let Some(chosen) = self.against_small_number(function, number, *only) {
                    return Ok(chosen);
                }
            }
            (None, [a, b]) => {
                let (a, b) = (*a, *b);
                if let Some(chosen) = self.of_multiples(function, a, b)? {
                    return Ok(chosen);
                }
            }
            _ => {}
        }
        others.extend(number);
        self.sort_lattice_args(&mut others);
        self.call(function, others)
    }

    /// Of an argument that also stands in an opposite function, only the argument counts:
    /// `Max(a, Min(a, b))` is `a`.
    fn absorb(&mut self, function: SymFunction, args: &mut Vec<SymExprId>) -> Result<(), SymError> {
        for position in 0..args.len() {
            let arg = args[position];
            for later in args.iter_mut().skip(position + 1) {
                *later = self.without_repeat(function, *later, arg)?;
            }
        }
        let mut seen = Vec::with_capacity(args.len());
        args.retain(|arg| {
            let new = !seen.contains(arg);
            if new {
                seen.push(*arg);
            }
            new
        });
        Ok(())
    }

    /// `inner` with what `arg`, which stands beside it in `function`, makes redundant removed.
    fn without_repeat(
        &mut self,
        function: SymFunction,
        inner: SymExprId,
        arg: SymExprId,
    ) -> Result<SymExprId, SymError> {
        let (head, args) = match [SymFunction::Max, SymFunction::Min]
            .into_iter()
            .find_map(|head| Some((head, self.args_of(inner, head)?)))
        {
            Some((head, args)) => (head, args.to_vec()),
            None => return Ok(inner),
        };
        let repeated = args.contains(&arg);
        if repeated && head != function {
            return Ok(arg);
        }
        let mut kept = Vec::with_capacity(args.len());
        for inner in args {
            if inner != arg {
                kept.push(self.without_repeat(function, inner, arg)?);
            }
        }
        match kept[..] {
            [only] => Ok(only),
            _ => {
                self.sort_lattice_args(&mut kept);
                self.call(head, kept)
            }
        }
    }

    /// The extreme of the integers among `args`, and the other arguments.
    fn fold_numbers(
        &self,
        function: SymFunction,
        args: &[SymExprId],
    ) -> (Option<i64>, Vec<SymExprId>) {
        let mut number: Option<i64> = None;
        let mut others = Vec::with_capacity(args.len());
        for arg in args {
            match (self.as_integer(*arg), number) {
                (None, _) => others.push(*arg),
                (Some(value), None) => number = Some(value),
                (Some(value), Some(so_far)) if function == SymFunction::Max => {
                    number = Some(value.max(so_far));
                }
                (Some(value), Some(so_far)) => number = Some(value.min(so_far)),
            }
        }
        (number, others)
    }

    /// Whether `number` makes `other`, an opposite function with a number, irrelevant: beside 1,
    /// `Max(2, x)` does not matter in `Min`.
    fn is_outdone(&self, function: SymFunction, number: i64, other: SymExprId) -> bool {
        let opposite = match function {
            SymFunction::Max => SymFunction::Min,
            _ => SymFunction::Max,
        };
        let args = self.args_of(other, opposite).unwrap_or(&[]);
        args.iter()
            .filter_map(|arg| self.as_integer(*arg))
            .any(|inner| match function {
                SymFunction::Max => inner < number,
                _ => inner > number,
            })
    }

    /// Comparison with 0 or 1, which assumptions decide. torch looks no further, so that
    /// `Max(2, s0)` stays as it is.
    fn against_small_number(
        &self,
        function: SymFunction,
        number: SymExprId,
        other: SymExprId,
    ) -> Option<SymExprId> {
        let range = self.assumed_bound(other);
        let other_is_greater = match self.as_integer(number) {
            Some(0) => range.is_nonnegative(),
            Some(1) => range.is_positive(),
            _ => false,
        };
        other_is_greater.then_some(match function {
            SymFunction::Max => other,
            _ => number,
        })
    }

    /// Two multiples of one term whose sign is known.
    fn of_multiples(
        &mut self,
        function: SymFunction,
        a: SymExprId,
        b: SymExprId,
    ) -> Result<Option<SymExprId>, SymError> {
        let (a_coefficient, a_term) = self.split_coefficient(a)?;
        let (b_coefficient, b_term) = self.split_coefficient(b)?;
        if a_term != b_term {
            return Ok(None);
        }
        let range = self.assumed_bound(a_term);
        let a_is_less = if range.is_nonnegative() {
            a_coefficient < b_coefficient
        } else if range.negated().is_nonnegative() {
            a_coefficient > b_coefficient
        } else {
            return Ok(None);
        };
        let take_a = a_is_less == (function == SymFunction::Min);
        Ok(Some(if take_a { a } else { b }))
    }
}
