//! Operator names, owned and borrowed, and the two ways to spell them: the dispatcher's
//! `aten::add_.Tensor` and FX's `torch.ops.aten.add_.Tensor`.

use std::fmt;

/// A name: namespace, packet and overload.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct OperatorName {
    /// `aten`
    pub namespace: Box<str>,
    /// `add_`
    pub packet: Box<str>,
    /// `Tensor`; empty for the default overload.
    pub overload: Box<str>,
}

/// The parts of a name, borrowed: what look-ups compare.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct OperatorRef<'a> {
    /// `aten`
    pub namespace: &'a str,
    /// `add_`
    pub packet: &'a str,
    /// `Tensor`; empty for the default overload.
    pub overload: &'a str,
}

/// What FX writes where the dispatcher writes no overload.
const DEFAULT_OVERLOAD: &str = "default";
/// What FX writes before every operator of the dispatcher.
const TARGET_PREFIX: &str = "torch.ops.";

impl<'a> OperatorRef<'a> {
    /// The parts of `aten::add_.Tensor` or `aten::relu`.
    pub fn from_qualified(name: &'a str) -> Option<Self> {
        // A search for a single byte is several times faster than one for `::`.
        let (namespace, rest) = name.split_once(':')?;
        let rest = rest.strip_prefix(':')?;
        match rest.split_once('.') {
            None => Self::checked(namespace, rest, ""),
            Some((_, "")) => None,
            Some((packet, overload)) => Self::checked(namespace, packet, overload),
        }
    }

    /// The parts of an FX target: `torch.ops.aten.add_.Tensor`, `torch.ops.aten.relu.default`.
    pub fn from_target(target: &'a str) -> Option<Self> {
        Self::from_dotted(target.strip_prefix(TARGET_PREFIX)?)
    }

    /// The parts of an operator that FX prints as an argument: `mylib.inc.default`.
    pub fn from_dotted(name: &'a str) -> Option<Self> {
        let (namespace, rest) = name.split_once('.')?;
        let (packet, overload) = rest.split_once('.')?;
        let found = Self::checked(namespace, packet, overload)?;
        match overload {
            "" => None,
            DEFAULT_OVERLOAD => Some(Self {
                overload: "",
                ..found
            }),
            _ => Some(found),
        }
    }

    fn checked(namespace: &'a str, packet: &'a str, overload: &'a str) -> Option<Self> {
        let fits = is_identifier(namespace)
            && is_identifier(packet)
            && (overload.is_empty() || is_identifier(overload));
        fits.then_some(Self {
            namespace,
            packet,
            overload,
        })
    }

    /// The same name, owned.
    pub fn to_name(self) -> OperatorName {
        OperatorName {
            namespace: self.namespace.into(),
            packet: self.packet.into(),
            overload: self.overload.into(),
        }
    }

    /// The FX target: `torch.ops.aten.relu.default`.
    pub fn target(self) -> String {
        let overload = if self.overload.is_empty() {
            DEFAULT_OVERLOAD
        } else {
            self.overload
        };
        format!(
            "{TARGET_PREFIX}{}.{}.{overload}",
            self.namespace, self.packet
        )
    }
}

impl OperatorName {
    /// The parts, borrowed.
    pub fn parts(&self) -> OperatorRef<'_> {
        OperatorRef {
            namespace: &self.namespace,
            packet: &self.packet,
            overload: &self.overload,
        }
    }

    /// The FX target: `torch.ops.aten.relu.default`.
    pub fn target(&self) -> String {
        self.parts().target()
    }
}

/// `aten::add_.Tensor`
impl fmt::Display for OperatorRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.namespace, self.packet)?;
        if self.overload.is_empty() {
            Ok(())
        } else {
            write!(f, ".{}", self.overload)
        }
    }
}

/// `aten::add_.Tensor`
impl fmt::Display for OperatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().fmt(f)
    }
}

/// Letters, digits and underscores, at least one.
pub(super) fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_identifier_byte)
}

/// Whether `byte` may stand in an identifier.
pub(super) fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_name_the_same_operator() {
        for (qualified, target) in [
            ("aten::add_.Tensor", "torch.ops.aten.add_.Tensor"),
            ("aten::relu", "torch.ops.aten.relu.default"),
            ("mylib::inc.x2", "torch.ops.mylib.inc.x2"),
        ] {
            let name = OperatorRef::from_qualified(qualified).unwrap();
            assert_eq!(OperatorRef::from_target(target), Some(name));
            assert_eq!(name.to_string(), qualified);
            assert_eq!(name.to_name().target(), target);
        }
    }

    #[test]
    fn other_texts_are_no_operators() {
        for text in ["aten::", "::add", "add", "aten::add.", "aten::a b", ""] {
            assert_eq!(OperatorRef::from_qualified(text), None, "{text}");
        }
        for text in [
            "torch.ops.higher_order.cond",
            "torch.ops.aten.add.Tensor.out",
            "torch.ops.aten..Tensor",
            "torch.ops.aten.add.",
            "_operator.mul",
            "aten.add.Tensor",
        ] {
            assert_eq!(OperatorRef::from_target(text), None, "{text}");
        }
    }
}
