//! The table of expressions: each distinct one stands in it once.

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use super::evaluate::Hint;
use super::function::{FunctionNameId, SymFunction};
use super::{MAX_DEPTH, MAX_TREE_SIZE, SymError, SymExprId, SymInt};

/// A symbol of one [`SymExprs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SymbolId(u32);

impl SymbolId {
    /// The position in the table, for dense side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A symbol: its name, and what sympy was told of it, in the order in which it was told.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Symbol {
    /// The name, such as `s77`.
    pub name: Box<str>,
    /// Assumptions such as (`positive`, true).
    pub assumptions: Box<[(Box<str>, bool)]>,
}

impl Symbol {
    /// The symbol that torch makes for `name`: a size (`s0`) is a positive integer, an integer
    /// read from data (`u0`) any integer, a float (`zf0`, `zuf0`) any real number.
    pub fn of_torch(name: &str) -> Self {
        let told: &[&str] = if name.starts_with("zf") || name.starts_with("zuf") {
            &["real"]
        } else if name.starts_with('s') {
            &["positive", "integer"]
        } else {
            &["integer"]
        };
        Self {
            name: name.into(),
            assumptions: told.iter().map(|fact| ((*fact).into(), true)).collect(),
        }
    }

    /// What was said of `fact`.
    pub fn assumption(&self, fact: &str) -> Option<bool> {
        self.assumptions
            .iter()
            .find(|entry| &*entry.0 == fact)
            .map(|entry| entry.1)
    }
}

/// Constants that are not finite numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Constant {
    /// `true`
    True,
    /// `false`
    False,
    /// `int_oo`: above every integer.
    IntInfinity,
    /// `-int_oo`: below every integer.
    NegativeIntInfinity,
    /// `oo`: above every real number.
    Infinity,
    /// `-oo`: below every real number.
    NegativeInfinity,
    /// `zoo`: infinite without a direction.
    ComplexInfinity,
    /// `nan`
    NaN,
}

/// One node of an expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SymExpr {
    /// An integer.
    Integer(i64),
    /// An integer of more than 64 bits, in decimal digits; carried, not computed with.
    BigInteger(Box<str>),
    /// A fraction, numerator and denominator as written.
    Rational(i64, i64),
    /// A floating-point number, its digits as written.
    Float {
        /// The digits, as in `1.5` or `1.0e-7`.
        digits: Box<str>,
        /// Bits of the mantissa: 53 for all that torch makes.
        precision: u32,
    },
    /// A constant that is not a finite number.
    Constant(Constant),
    /// A symbol.
    Symbol(SymbolId),
    /// A function of other expressions.
    Call(SymFunction, Box<[SymExprId]>),
}

/// What is kept of a node besides its contents.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// Nodes of the tree.
    size: u32,
    /// Its height; a leaf has 1.
    depth: u16,
    /// Whether a symbol stands in it.
    symbolic: bool,
}

/// The expressions of one program.
///
/// The tables are hashed with a seed: expressions come from files, and a file must not be able
/// to choose collisions.
#[derive(Clone, Debug, Default)]
pub struct SymExprs {
    nodes: IndexSet<SymExpr>,
    extents: Vec<Extent>,
    symbols: IndexSet<Symbol>,
    function_names: IndexSet<Box<str>>,
    hints: FxHashMap<SymExprId, Hint>,
}

impl SymExprs {
    /// How many distinct expressions there are; ids are dense below it.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node of `id`; `nan` for an id of another table.
    pub fn get(&self, id: SymExprId) -> &SymExpr {
        const FOREIGN: &SymExpr = &SymExpr::Constant(Constant::NaN);
        self.nodes.get_index(id.index()).unwrap_or(FOREIGN)
    }

    /// The id of `expr`, added when it is new. The arguments of a call are taken as they are:
    /// nothing is simplified or put in order.
    pub fn intern(&mut self, expr: SymExpr) -> Result<SymExprId, SymError> {
        if let Some(index) = self.nodes.get_index_of(&expr) {
            return Ok(SymExprId(index as u32));
        }
        let index = u32::try_from(self.nodes.len()).map_err(|_| SymError::TooMany)?;
        let extent = self.extent_of(&expr)?;
        self.nodes.insert(expr);
        self.extents.push(extent);
        Ok(SymExprId(index))
    }

    fn extent_of(&self, expr: &SymExpr) -> Result<Extent, SymError> {
        let mut extent = Extent {
            size: 1,
            depth: 1,
            symbolic: matches!(expr, SymExpr::Symbol(_)),
        };
        let SymExpr::Call(function, args) = expr else {
            return Ok(extent);
        };
        if !function.arity().allows(args.len()) {
            return Err(SymError::ArgumentCount {
                function: self.function_name(*function).to_owned(),
                found: args.len(),
            });
        }
        for arg in args {
            let arg = self.extent(*arg);
            extent.size = extent.size.saturating_add(arg.size);
            extent.depth = extent.depth.max(arg.depth.saturating_add(1));
            extent.symbolic |= arg.symbolic;
        }
        if extent.depth > MAX_DEPTH {
            return Err(SymError::TooDeep);
        }
        if extent.size > MAX_TREE_SIZE {
            return Err(SymError::TooLarge);
        }
        Ok(extent)
    }

    fn extent(&self, id: SymExprId) -> Extent {
        const FOREIGN: Extent = Extent {
            size: 1,
            depth: 1,
            symbolic: false,
        };
        self.extents.get(id.index()).copied().unwrap_or(FOREIGN)
    }

    /// How many nodes the tree of `id` has.
    pub(super) fn tree_size(&self, id: SymExprId) -> u32 {
        self.extent(id).size
    }

    /// Whether a symbol stands in `id`.
    pub fn is_symbolic(&self, id: SymExprId) -> bool {
        self.extent(id).symbolic
    }

    /// The expression `value`.
    pub fn integer(&mut self, value: i64) -> Result<SymExprId, SymError> {
        self.intern(SymExpr::Integer(value))
    }

    /// The expression of a truth value.
    pub fn boolean(&mut self, value: bool) -> Result<SymExprId, SymError> {
        let constant = if value {
            Constant::True
        } else {
            Constant::False
        };
        self.intern(SymExpr::Constant(constant))
    }

    /// The expression `function(args)`, with its arguments taken as they are.
    pub(super) fn call(
        &mut self,
        function: SymFunction,
        args: impl Into<Box<[SymExprId]>>,
    ) -> Result<SymExprId, SymError> {
        self.intern(SymExpr::Call(function, args.into()))
    }

    /// The expression of `symbol`.
    pub fn symbol(&mut self, symbol: Symbol) -> Result<SymExprId, SymError> {
        let index = match self.symbols.get_index_of(&symbol) {
            Some(index) => index,
            None => self.symbols.insert_full(symbol).0,
        };
        let index = u32::try_from(index).map_err(|_| SymError::TooMany)?;
        self.intern(SymExpr::Symbol(SymbolId(index)))
    }

    /// The expression of the first symbol called `name`, if there is one.
    pub fn find_symbol(&self, name: &str) -> Option<SymExprId> {
        // Programs have a handful of symbols.
        let index = self
            .symbols
            .iter()
            .position(|symbol| &*symbol.name == name)?;
        self.symbol_expr(SymbolId(index as u32))
    }

    /// The expression of a symbol.
    pub(super) fn symbol_expr(&self, symbol: SymbolId) -> Option<SymExprId> {
        self.nodes
            .get_index_of(&SymExpr::Symbol(symbol))
            .map(|index| SymExprId(index as u32))
    }

    /// The symbol of `id`; `None` for an id of another table.
    pub fn symbol_info(&self, id: SymbolId) -> Option<&Symbol> {
        self.symbols.get_index(id.index())
    }

    /// The name of a symbol; empty for an id of another table.
    pub fn symbol_name(&self, id: SymbolId) -> &str {
        self.symbol_info(id).map_or("", |symbol| &symbol.name)
    }

    /// The function called `name` in `srepr`.
    pub fn function(&mut self, name: &str) -> Result<SymFunction, SymError> {
        if let Some(function) = SymFunction::from_name(name) {
            return Ok(function);
        }
        let index = match self.function_names.get_index_of(name) {
            Some(index) => index,
            None => self.function_names.insert_full(name.into()).0,
        };
        let index = u32::try_from(index).map_err(|_| SymError::TooMany)?;
        Ok(SymFunction::Other(FunctionNameId(index)))
    }

    /// The name of `function` in `srepr`.
    pub fn function_name(&self, function: SymFunction) -> &str {
        match function {
            SymFunction::Other(id) => self
                .function_names
                .get_index(id.0 as usize)
                .map_or("", |name| name),
            known => known.name().unwrap_or(""),
        }
    }

    /// The integer that `id` is, if it is one.
    pub fn as_integer(&self, id: SymExprId) -> Option<i64> {
        match self.get(id) {
            SymExpr::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// The truth value that `id` is, if it is one.
    pub fn as_boolean(&self, id: SymExprId) -> Option<bool> {
        match self.get(id) {
            SymExpr::Constant(Constant::True) => Some(true),
            SymExpr::Constant(Constant::False) => Some(false),
            _ => None,
        }
    }

    /// The arguments of `id`, when it is a call of `function`.
    pub(super) fn args_of(&self, id: SymExprId, function: SymFunction) -> Option<&[SymExprId]> {
        match self.get(id) {
            SymExpr::Call(head, args) if *head == function => Some(args),
            _ => None,
        }
    }

    /// `id` as a size: a constant where it is an integer.
    pub fn to_sym_int(&self, id: SymExprId) -> SymInt {
        match self.as_integer(id) {
            Some(value) => SymInt::Int(value),
            None => SymInt::Expr(id),
        }
    }

    /// The expression of a size.
    pub fn to_expr(&mut self, size: SymInt) -> Result<SymExprId, SymError> {
        match size {
            SymInt::Int(value) => self.integer(value),
            SymInt::Expr(id) => Ok(id),
        }
    }

    /// What was recorded by [`SymExprs::set_hint`].
    pub(super) fn recorded_hint(&self, id: SymExprId) -> Option<Hint> {
        self.hints.get(&id).copied()
    }

    /// Records the value that `id` had when the program was exported.
    pub fn set_hint(&mut self, id: SymExprId, hint: Hint) {
        self.hints.insert(id, hint);
    }
}
