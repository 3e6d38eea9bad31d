//! What follows from a schema alone: writes, aliases, and whether a call fits.

use super::{Alias, CallError, Schema, SchemaArgument, SchemaType};

/// The argument that a result aliases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReturnAlias {
    /// The argument's index.
    pub argument: usize,
    /// Whether the call writes to it: then the result is the argument itself, written.
    /// Otherwise it is a view of the argument.
    pub is_write: bool,
}

impl SchemaType {
    /// The type inside all lists and options: `Tensor` of `Tensor?[]`.
    pub fn innermost(&self) -> &Self {
        let mut ty = self;
        while let Self::Optional(inner) | Self::List(inner, _) = ty {
            ty = inner;
        }
        ty
    }

    /// Whether it is `T[]` or an optional one.
    pub fn is_list(&self) -> bool {
        match self {
            Self::List(..) => true,
            Self::Optional(inner) => matches!(**inner, Self::List(..)),
            _ => false,
        }
    }
}

impl Alias {
    /// Whether both name a common set before the call. The wildcard shares a set with nothing
    /// by name.
    fn shares_set_with(&self, other: &Self) -> bool {
        self.before.iter().any(|set| other.before.contains(set))
    }
}

impl SchemaArgument {
    /// Whether the call writes to it.
    pub fn is_written(&self) -> bool {
        self.alias.as_ref().is_some_and(|alias| alias.is_write)
    }
}

impl Schema {
    /// The index of the argument called `name`.
    pub fn argument(&self, name: &str) -> Option<usize> {
        self.arguments
            .iter()
            .position(|argument| *argument.name == *name)
    }

    /// Whether it writes to any argument.
    pub fn is_mutable(&self) -> bool {
        self.arguments.iter().any(SchemaArgument::is_written)
    }

    /// The indices of the arguments that it writes to, in order.
    pub fn written_arguments(&self) -> impl Iterator<Item = usize> + '_ {
        self.arguments
            .iter()
            .enumerate()
            .filter(|(_, argument)| argument.is_written())
            .map(|(index, _)| index)
    }

    /// Whether any argument or result has an alias annotation.
    pub fn has_alias_annotations(&self) -> bool {
        self.arguments
            .iter()
            .any(|argument| argument.alias.is_some())
            || self.returns.iter().any(|result| result.alias.is_some())
    }

    /// Which argument the result of this index aliases, by the sets of the annotations.
    pub fn return_alias(&self, result: usize) -> Option<ReturnAlias> {
        let alias = self.returns.get(result)?.alias.as_ref()?;
        self.arguments
            .iter()
            .enumerate()
            .find_map(|(index, argument)| {
                let shared = argument
                    .alias
                    .as_ref()
                    .filter(|taken| taken.shares_set_with(alias))?;
                Some(ReturnAlias {
                    argument: index,
                    is_write: shared.is_write,
                })
            })
    }

    /// Whether a result may alias something that the annotations do not name: `Tensor(*)`, or a
    /// set that no argument is in.
    pub fn returns_unknown_alias(&self) -> bool {
        self.returns
            .iter()
            .enumerate()
            .any(|(index, result)| result.alias.is_some() && self.return_alias(index).is_none())
    }

    /// Whether a result aliases an argument that is not written.
    pub fn is_view(&self) -> bool {
        (0..self.returns.len())
            .filter_map(|result| self.return_alias(result))
            .any(|alias| !alias.is_write)
    }

    /// Checks that a call fits: `positional` arguments by position, the others by name.
    ///
    /// # Errors
    /// When there are too many by position, a keyword is unknown or given twice, or an argument
    /// without default is missing.
    pub fn check_call<'a>(
        &self,
        positional: usize,
        keywords: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<(), CallError> {
        let limit = self.arguments.partition_point(|taken| !taken.keyword_only);
        if positional > limit {
            return Err(CallError::TooManyPositional {
                given: positional,
                limit,
            });
        }
        for (count, name) in keywords.clone().enumerate() {
            let Some(index) = self.argument(name) else {
                return Err(CallError::UnknownKeyword { name: name.into() });
            };
            if index < positional || keywords.clone().take(count).any(|other| other == name) {
                return Err(CallError::GivenTwice { name: name.into() });
            }
        }
        let missing = self.arguments[positional..].iter().find(|argument| {
            argument.default.is_none() && !keywords.clone().any(|name| *name == *argument.name)
        });
        match missing {
            Some(argument) => Err(CallError::Missing {
                name: argument.name.clone(),
            }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Schema {
        Schema::parse(text).unwrap()
    }

    #[test]
    fn writes_and_aliases_are_read_from_the_annotations() {
        let add = schema(
            "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        );
        assert!(add.is_mutable() && add.has_alias_annotations() && !add.is_view());
        assert_eq!(add.written_arguments().collect::<Vec<_>>(), [0]);
        assert_eq!(
            add.return_alias(0),
            Some(ReturnAlias {
                argument: 0,
                is_write: true
            })
        );

        let split =
            schema("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]");
        assert!(split.is_view() && !split.is_mutable());
        assert!(split.returns[0].ty.is_list());

        let two = schema(
            "aten::max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, \
             Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)",
        );
        assert_eq!(two.return_alias(0).map(|alias| alias.argument), Some(3));
        assert_eq!(two.return_alias(1).map(|alias| alias.argument), Some(4));

        let fresh = schema("mylib::f(Tensor x) -> (Tensor out, Tensor(a!)?)");
        assert!(!fresh.is_mutable() && fresh.returns_unknown_alias());
        assert_eq!(fresh.return_alias(1), None);
        assert_eq!(fresh.return_alias(7), None);
    }

    #[test]
    fn calls_are_checked() {
        let add =
            schema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
        let check =
            |positional, keywords: &[&str]| add.check_call(positional, keywords.iter().copied());
        assert_eq!(check(2, &[]), Ok(()));
        assert_eq!(check(2, &["alpha"]), Ok(()));
        assert_eq!(check(0, &["other", "self"]), Ok(()));
        assert_eq!(
            check(3, &[]),
            Err(CallError::TooManyPositional { given: 3, limit: 2 })
        );
        assert_eq!(
            check(2, &["beta"]),
            Err(CallError::UnknownKeyword {
                name: "beta".into()
            })
        );
        assert_eq!(
            check(2, &["other"]),
            Err(CallError::GivenTwice {
                name: "other".into()
            })
        );
        assert_eq!(
            check(2, &["alpha", "alpha"]),
            Err(CallError::GivenTwice {
                name: "alpha".into()
            })
        );
        assert_eq!(
            check(1, &["alpha"]),
            Err(CallError::Missing {
                name: "other".into()
            })
        );
    }
}
