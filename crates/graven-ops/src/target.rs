//! What the targets of FX calls are, besides the dispatcher's operators.

use crate::registry::OperatorId;

/// What an FX call's target is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TargetKind<'a> {
    /// An operator that the registry knows.
    Operator(OperatorId),
    /// A higher-order operator, by its name: `cond`.
    HigherOrder(&'a str),
    /// A function on symbolic numbers.
    Symbolic(SymbolicFunction),
    /// Something else: an operator that no one declared, or no operator.
    Unknown,
}

/// A Python function that a graph calls on symbolic numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SymbolicFunction {
    /// `operator.add`
    Add,
    /// `operator.sub`
    Sub,
    /// `operator.mul`
    Mul,
    /// `operator.truediv`
    TrueDiv,
    /// `operator.floordiv`
    FloorDiv,
    /// `operator.mod`
    Mod,
    /// `operator.pow`
    Pow,
    /// `operator.neg`
    Neg,
    /// `operator.pos`
    Pos,
    /// `operator.eq`
    Eq,
    /// `operator.ne`
    Ne,
    /// `operator.lt`
    Lt,
    /// `operator.le`
    Le,
    /// `operator.gt`
    Gt,
    /// `operator.ge`
    Ge,
    /// `operator.and_`
    And,
    /// `operator.or_`
    Or,
    /// `operator.lshift`
    LeftShift,
    /// `operator.rshift`
    RightShift,
    /// `math.floor`
    Floor,
    /// `math.ceil`
    Ceil,
    /// `math.trunc`
    Trunc,
    /// `builtins.round`
    Round,
    /// `torch.sym_not`
    Not,
    /// `torch.sym_int`
    Int,
    /// `torch.sym_float`
    Float,
    /// `torch.sym_ite`
    IfThenElse,
    /// `torch.sym_max`
    Max,
    /// `torch.sym_min`
    Min,
    /// `torch.sym_sum`
    Sum,
    /// `torch._sym_sqrt`
    Sqrt,
}

/// Operators of the Python module `operator`, as archives and printed graphs spell them.
const OPERATOR_MODULES: [&str; 2] = ["_operator.", "operator."];

const OPERATORS: [(&str, SymbolicFunction); 19] = [
    ("add", SymbolicFunction::Add),
    ("sub", SymbolicFunction::Sub),
    ("mul", SymbolicFunction::Mul),
    ("truediv", SymbolicFunction::TrueDiv),
    ("floordiv", SymbolicFunction::FloorDiv),
    ("mod", SymbolicFunction::Mod),
    ("pow", SymbolicFunction::Pow),
    ("neg", SymbolicFunction::Neg),
    ("pos", SymbolicFunction::Pos),
    ("eq", SymbolicFunction::Eq),
    ("ne", SymbolicFunction::Ne),
    ("lt", SymbolicFunction::Lt),
    ("le", SymbolicFunction::Le),
    ("gt", SymbolicFunction::Gt),
    ("ge", SymbolicFunction::Ge),
    ("and_", SymbolicFunction::And),
    ("or_", SymbolicFunction::Or),
    ("lshift", SymbolicFunction::LeftShift),
    ("rshift", SymbolicFunction::RightShift),
];

const FUNCTIONS: [(&str, SymbolicFunction); 16] = [
    ("math.floor", SymbolicFunction::Floor),
    ("math.ceil", SymbolicFunction::Ceil),
    ("math.trunc", SymbolicFunction::Trunc),
    ("builtins.round", SymbolicFunction::Round),
    ("round", SymbolicFunction::Round),
    ("torch.sym_not", SymbolicFunction::Not),
    ("torch.sym_int", SymbolicFunction::Int),
    ("torch.sym_float", SymbolicFunction::Float),
    ("torch.sym_ite", SymbolicFunction::IfThenElse),
    ("torch.sym_max", SymbolicFunction::Max),
    ("torch.sym_min", SymbolicFunction::Min),
    ("torch.sym_sum", SymbolicFunction::Sum),
    ("torch.sym_sqrt", SymbolicFunction::Sqrt),
    ("torch._sym_sqrt", SymbolicFunction::Sqrt),
    ("torch._sym_sqrt_", SymbolicFunction::Sqrt),
    ("math.sqrt", SymbolicFunction::Sqrt),
];

impl SymbolicFunction {
    /// The function that FX calls so.
    pub fn from_target(target: &str) -> Option<Self> {
        let operator = OPERATOR_MODULES
            .iter()
            .find_map(|module| target.strip_prefix(module));
        match operator {
            Some(name) => lookup(&OPERATORS, name),
            None => lookup(&FUNCTIONS, target),
        }
    }

    /// What Python calls the arguments, in order.
    pub fn argument_names(self) -> &'static [&'static str] {
        match self {
            Self::Floor | Self::Ceil | Self::Trunc => &["x"],
            Self::Round => &["number", "ndigits"],
            Self::IfThenElse => &["b", "t", "f"],
            Self::Sum => &["args"],
            _ => &["a", "b"],
        }
    }
}

fn lookup(table: &[(&str, SymbolicFunction)], name: &str) -> Option<SymbolicFunction> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, function)| *function)
}

/// What a target is that names no known operator.
pub(crate) fn classify_other(target: &str) -> TargetKind<'_> {
    if let Some(name) = target.strip_prefix("torch.ops.higher_order.") {
        return TargetKind::HigherOrder(name);
    }
    match SymbolicFunction::from_target(target) {
        Some(function) => TargetKind::Symbolic(function),
        None => TargetKind::Unknown,
    }
}
