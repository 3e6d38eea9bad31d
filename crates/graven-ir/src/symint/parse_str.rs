//! Reading sympy's `str` form and Python expressions on sizes: `2*s77 + s86`, `(s0//2)`,
//! `Max(1, s0)`, `u0 >= 2`, `Eq(u0, 3)`.
//!
//! The text is evaluated as Python would evaluate it on torch's symbols, so the result is in
//! canonical form. A recursive descent with a limit on its depth.

use super::arena::{Constant, SymExpr, SymExprs, Symbol};
use super::function::SymFunction;
use super::parse_srepr::integer_node;
use super::print::{TrailingZeros, significant_digits};
use super::token::{Token, Tokens};
use super::{SymError, SymExprId};

/// How deep parentheses, calls and signs may be nested in a text.
const MAX_NESTING: u16 = 100;

/// The most operands that a text may have. A product is multiplied out step by step, at a cost
/// that grows with the square of this.
const MAX_OPERANDS: u32 = 2000;

/// Binary operators by precedence, loosest first; those of sums stand between the two.
const LEVELS: [&[(&str, Operation)]; 4] = [
    &[("|", Operation::Or)],
    &[("^", Operation::Function(SymFunction::BitwiseXor))],
    &[("&", Operation::And)],
    &[
        ("<<", Operation::Function(SymFunction::LShift)),
        (">>", Operation::Function(SymFunction::RShift)),
    ],
];

const FACTORS: &[(&str, Operation)] = &[
    ("*", Operation::Function(SymFunction::Mul)),
    ("//", Operation::Function(SymFunction::FloorDiv)),
    ("/", Operation::Divide),
    ("%", Operation::Remainder),
];

const RELATIONS: [(&str, SymFunction); 6] = [
    ("==", SymFunction::Eq),
    ("!=", SymFunction::Ne),
    ("<=", SymFunction::Le),
    (">=", SymFunction::Ge),
    ("<", SymFunction::Lt),
    (">", SymFunction::Gt),
];

#[derive(Clone, Copy)]
enum Operation {
    Function(SymFunction),
    Divide,
    Remainder,
    /// `&`: of conditions or of integers.
    And,
    /// `|`: of conditions or of integers.
    Or,
}

impl SymExprs {
    /// Reads an expression in sympy's `str` form. A symbol that is not known yet is given the
    /// assumptions that torch gives to symbols of its name.
    pub fn parse_str(&mut self, text: &str) -> Result<SymExprId, SymError> {
        let mut parser = Parser {
            tokens: Tokens::new(text)?,
            exprs: self,
            nesting: 0,
            operands: 0,
        };
        let id = parser.disjunction()?;
        match parser.tokens.peek() {
            Token::End => Ok(id),
            _ => Err(parser.tokens.error("the end of the expression")),
        }
    }
}

struct Parser<'a, 'e> {
    tokens: Tokens<'a>,
    exprs: &'e mut SymExprs,
    nesting: u16,
    operands: u32,
}

impl Parser<'_, '_> {
    fn nested(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<SymExprId, SymError>,
    ) -> Result<SymExprId, SymError> {
        if self.nesting >= MAX_NESTING {
            return Err(SymError::TooDeep);
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    fn eat_name(&mut self, name: &str) -> Result<bool, SymError> {
        let found = self.tokens.peek() == Token::Name(name);
        if found {
            self.tokens.take()?;
        }
        Ok(found)
    }

    fn disjunction(&mut self) -> Result<SymExprId, SymError> {
        let mut left = self.conjunction()?;
        while self.eat_name("or")? {
            let right = self.conjunction()?;
            left = self.exprs.build(SymFunction::Or, &[left, right])?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<SymExprId, SymError> {
        let mut left = self.negation()?;
        while self.eat_name("and")? {
            let right = self.negation()?;
            left = self.exprs.build(SymFunction::And, &[left, right])?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<SymExprId, SymError> {
        if self.eat_name("not")? {
            let arg = self.nested(Self::negation)?;
            return self.exprs.build(SymFunction::Not, &[arg]);
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<SymExprId, SymError> {
        let left = self.binary(0)?;
        for (operator, relation) in RELATIONS {
            if self.tokens.eat(operator)? {
                let right = self.binary(0)?;
                return self.exprs.build(relation, &[left, right]);
            }
        }
        Ok(left)
    }

    fn binary(&mut self, level: usize) -> Result<SymExprId, SymError> {
        let Some(operators) = LEVELS.get(level) else {
            return self.sum();
        };
        self.left_to_right(operators, |parser| parser.binary(level + 1))
    }

    /// A sum, whose terms are collected all at once.
    fn sum(&mut self) -> Result<SymExprId, SymError> {
        let mut terms = vec![self.product()?];
        loop {
            if self.tokens.eat("+")? {
                terms.push(self.product()?);
            } else if self.tokens.eat("-")? {
                let term = self.product()?;
                terms.push(self.negated(term)?);
            } else {
                break;
            }
        }
        match terms[..] {
            [only] => Ok(only),
            _ => self.exprs.build(SymFunction::Add, &terms),
        }
    }

    fn product(&mut self) -> Result<SymExprId, SymError> {
        self.left_to_right(FACTORS, Self::unary)
    }

    /// Operands joined by `operators`, applied from the left as Python does.
    fn left_to_right(
        &mut self,
        operators: &[(&'static str, Operation)],
        operand: impl Fn(&mut Self) -> Result<SymExprId, SymError>,
    ) -> Result<SymExprId, SymError> {
        let mut left = operand(self)?;
        'operators: loop {
            for (operator, operation) in operators {
                if self.tokens.eat(operator)? {
                    let right = operand(self)?;
                    left = self.apply(*operation, left, right)?;
                    continue 'operators;
                }
            }
            return Ok(left);
        }
    }

    fn apply(
        &mut self,
        operation: Operation,
        a: SymExprId,
        b: SymExprId,
    ) -> Result<SymExprId, SymError> {
        let function = match operation {
            Operation::Function(function) => function,
            Operation::Divide => {
                let reciprocal = self.exprs.integer_power(b, -1)?;
                return self.exprs.build(SymFunction::Mul, &[a, reciprocal]);
            }
            Operation::Remainder => return self.exprs.remainder(a, b),
            Operation::And if self.is_condition(a) => SymFunction::And,
            Operation::And => SymFunction::BitwiseAnd,
            Operation::Or if self.is_condition(a) => SymFunction::Or,
            Operation::Or => SymFunction::BitwiseOr,
        };
        self.exprs.build(function, &[a, b])
    }

    fn is_condition(&self, id: SymExprId) -> bool {
        match self.exprs.get(id) {
            SymExpr::Constant(Constant::True | Constant::False) => true,
            SymExpr::Call(function, _) => function.is_boolean(),
            _ => false,
        }
    }

    fn negated(&mut self, id: SymExprId) -> Result<SymExprId, SymError> {
        let minus_one = self.exprs.integer(-1)?;
        self.exprs.build(SymFunction::Mul, &[minus_one, id])
    }

    fn unary(&mut self) -> Result<SymExprId, SymError> {
        if self.tokens.eat("-")? {
            if let Token::Name(name @ ("int_oo" | "oo")) = self.tokens.peek() {
                self.tokens.take()?;
                let constant = match name {
                    "oo" => Constant::NegativeInfinity,
                    _ => Constant::NegativeIntInfinity,
                };
                return self.exprs.intern(SymExpr::Constant(constant));
            }
            let arg = self.nested(Self::unary)?;
            return self.negated(arg);
        }
        if self.tokens.eat("+")? {
            return self.nested(Self::unary);
        }
        if self.tokens.eat("~")? {
            let arg = self.nested(Self::unary)?;
            return self.exprs.build(SymFunction::Not, &[arg]);
        }
        let base = self.atom()?;
        if self.tokens.eat("**")? {
            let exponent = self.nested(Self::unary)?;
            return self.exprs.expr_pow(base, exponent);
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<SymExprId, SymError> {
        if self.tokens.eat("(")? {
            let inner = self.nested(Self::disjunction)?;
            self.tokens.expect(")")?;
            return Ok(inner);
        }
        self.operands += 1;
        if self.operands > MAX_OPERANDS {
            return Err(SymError::TooLarge);
        }
        match self.tokens.peek() {
            Token::Number(digits) => {
                let node = number(digits).ok_or_else(|| self.tokens.error("a number"))?;
                self.tokens.take()?;
                self.exprs.intern(node)
            }
            Token::Name("and" | "or" | "not") => Err(self.tokens.error("an operand")),
            Token::Name(name) => {
                self.tokens.take()?;
                if self.tokens.eat("(")? {
                    return self.nested(|parser| parser.call(name));
                }
                self.named(name)
            }
            _ => Err(self.tokens.error("an operand")),
        }
    }

    fn named(&mut self, name: &str) -> Result<SymExprId, SymError> {
        let constant = match name {
            "True" | "true" => Constant::True,
            "False" | "false" => Constant::False,
            "int_oo" => Constant::IntInfinity,
            "oo" => Constant::Infinity,
            "zoo" => Constant::ComplexInfinity,
            "nan" => Constant::NaN,
            _ => {
                return match self.exprs.find_symbol(name) {
                    Some(symbol) => Ok(symbol),
                    None => self.exprs.symbol(Symbol::of_torch(name)),
                };
            }
        };
        self.exprs.intern(SymExpr::Constant(constant))
    }

    /// The arguments of a call and the bracket that ends them.
    fn call(&mut self, name: &str) -> Result<SymExprId, SymError> {
        let mut args = Vec::new();
        if !self.tokens.eat(")")? {
            loop {
                args.push(self.disjunction()?);
                if !self.tokens.eat(",")? {
                    break;
                }
            }
            self.tokens.expect(")")?;
        }
        if let ("sqrt", [arg]) = (name, &args[..]) {
            let half = self.exprs.intern(SymExpr::Rational(1, 2))?;
            return self.exprs.expr_pow(*arg, half);
        }
        let function = match name {
            "Eq" => SymFunction::Eq,
            "Ne" => SymFunction::Ne,
            name => self.exprs.function(name)?,
        };
        self.exprs.build(function, &args)
    }
}

/// The node of a number; `None` for digits that are none.
fn number(digits: &str) -> Option<SymExpr> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(integer_node(false, digits));
    }
    let value: f64 = digits.parse().ok()?;
    Some(SymExpr::Float {
        digits: significant_digits(value, 17, TrailingZeros::Strip).into(),
        precision: 53,
    })
}
