//! The functions that stand at the head of an expression.

/// An interned name of a function that is not one of [`SymFunction`]'s own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FunctionNameId(pub(super) u32);

/// How many arguments a function takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arity {
    Exactly(usize),
    AtLeast(usize),
}

impl Arity {
    pub(super) fn allows(self, count: usize) -> bool {
        match self {
            Self::Exactly(expected) => count == expected,
            Self::AtLeast(least) => count >= least,
        }
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $arity:expr;)*) => {
        /// The head of a call: sympy's operations and those of `torch.utils._sympy.functions`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum SymFunction {
            $($(#[$doc])* $name,)*
            /// Any other function, which is carried but not computed.
            Other(FunctionNameId),
        }

        impl SymFunction {
            /// The function that `srepr` spells `name`.
            pub(super) fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// The name in `srepr`; `None` for [`SymFunction::Other`].
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some($text),)*
                    Self::Other(_) => None,
                }
            }

            pub(super) fn arity(self) -> Arity {
                match self {
                    $(Self::$name => $arity,)*
                    Self::Other(_) => Arity::AtLeast(0),
                }
            }
        }
    };
}

functions! {
    /// A sum.
    Add = "Add", Arity::AtLeast(2);
    /// A product.
    Mul = "Mul", Arity::AtLeast(2);
    /// A power.
    Pow = "Pow", Arity::Exactly(2);
    /// Division rounded down.
    FloorDiv = "FloorDiv", Arity::Exactly(2);
    /// `(a // b) % c` for non-negative operands.
    ModularIndexing = "ModularIndexing", Arity::Exactly(3);
    /// `p if c else q`.
    Where = "Where", Arity::Exactly(3);
    /// The remainder with the divisor's sign.
    PythonMod = "PythonMod", Arity::Exactly(2);
    /// The remainder of non-negative operands.
    Mod = "Mod", Arity::Exactly(2);
    /// Division without a remainder.
    CleanDiv = "CleanDiv", Arity::Exactly(2);
    /// The next integer above.
    CeilToInt = "CeilToInt", Arity::Exactly(1);
    /// The next integer below.
    FloorToInt = "FloorToInt", Arity::Exactly(1);
    /// Division rounded up.
    CeilDiv = "CeilDiv", Arity::Exactly(2);
    /// `a << b`.
    LShift = "LShift", Arity::Exactly(2);
    /// `a >> b`.
    RShift = "RShift", Arity::Exactly(2);
    /// A power with a non-negative integer exponent.
    PowByNatural = "PowByNatural", Arity::Exactly(2);
    /// A power of floating-point numbers.
    FloatPow = "FloatPow", Arity::Exactly(2);
    /// Division of floating-point numbers.
    FloatTrueDiv = "FloatTrueDiv", Arity::Exactly(2);
    /// Division of integers that gives a floating-point number.
    IntTrueDiv = "IntTrueDiv", Arity::Exactly(2);
    /// An integer as a floating-point number.
    ToFloat = "ToFloat", Arity::Exactly(1);
    /// The integer part, as an integer.
    TruncToInt = "TruncToInt", Arity::Exactly(1);
    /// The integer part, as a floating-point number.
    TruncToFloat = "TruncToFloat", Arity::Exactly(1);
    /// The nearest integer, halves to even.
    RoundToInt = "RoundToInt", Arity::Exactly(1);
    /// Rounded to a number of decimal digits.
    RoundDecimal = "RoundDecimal", Arity::Exactly(2);
    /// The argument, kept from being simplified.
    Identity = "Identity", Arity::Exactly(1);
    /// 1 when sizes and strides describe a dense tensor without overlap.
    IsNonOverlappingAndDenseIndicator = "IsNonOverlappingAndDenseIndicator", Arity::AtLeast(2);
    /// The greatest argument.
    Max = "Max", Arity::AtLeast(1);
    /// The least argument.
    Min = "Min", Arity::AtLeast(1);
    /// `a & b` of integers.
    BitwiseAnd = "BitwiseFn_bitwise_and", Arity::Exactly(2);
    /// `a | b` of integers.
    BitwiseOr = "BitwiseFn_bitwise_or", Arity::Exactly(2);
    /// `a ^ b` of integers.
    BitwiseXor = "BitwiseFn_bitwise_xor", Arity::Exactly(2);
    /// `a == b`.
    Eq = "Equality", Arity::Exactly(2);
    /// `a != b`.
    Ne = "Unequality", Arity::Exactly(2);
    /// `a < b`.
    Lt = "StrictLessThan", Arity::Exactly(2);
    /// `a <= b`.
    Le = "LessThan", Arity::Exactly(2);
    /// `a > b`.
    Gt = "StrictGreaterThan", Arity::Exactly(2);
    /// `a >= b`.
    Ge = "GreaterThan", Arity::Exactly(2);
    /// Conjunction.
    And = "And", Arity::AtLeast(1);
    /// Disjunction.
    Or = "Or", Arity::AtLeast(1);
    /// Negation.
    Not = "Not", Arity::Exactly(1);
}

impl SymFunction {
    /// Whether the value is true or false.
    pub fn is_boolean(self) -> bool {
        self.is_relation() || matches!(self, Self::And | Self::Or | Self::Not)
    }

    /// Whether it compares two numbers.
    pub fn is_relation(self) -> bool {
        self.relation_operator().is_some()
    }

    /// How a relation is written between its operands.
    pub(super) fn relation_operator(self) -> Option<&'static str> {
        match self {
            Self::Eq => Some("=="),
            Self::Ne => Some("!="),
            Self::Lt => Some("<"),
            Self::Le => Some("<="),
            Self::Gt => Some(">"),
            Self::Ge => Some(">="),
            _ => None,
        }
    }
}
