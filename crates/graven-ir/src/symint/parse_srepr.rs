//! Reading sympy's `srepr` form.
//!
//! The tree is kept as it is written, with one exception: sympy writes the coefficient of `-2*s0`
//! as two factors, `Integer(-1), Integer(2)`; they are read as the one number that they are, and
//! written as two again. Open calls are kept on an explicit stack.

use super::arena::{Constant, SymExpr, SymExprs, Symbol};
use super::function::SymFunction;
use super::token::{Token, Tokens};
use super::{MAX_DEPTH, MAX_TREE_SIZE, SymError, SymExprId};

/// A call whose arguments are being read.
struct OpenCall {
    function: SymFunction,
    args: Vec<SymExprId>,
}

impl SymExprs {
    /// Reads an expression in `srepr` form; [`SymExprs::srepr`] gives the same text back.
    pub fn parse_srepr(&mut self, text: &str) -> Result<SymExprId, SymError> {
        let mut tokens = Tokens::new(text)?;
        let mut open: Vec<OpenCall> = Vec::new();
        let mut read = 0_u32;
        loop {
            read += 1;
            if read > MAX_TREE_SIZE {
                return Err(SymError::TooLarge);
            }
            let Some(mut value) = self.srepr_start(&mut tokens, &mut open)? else {
                continue;
            };
            // `value` is complete: hand it to the call around it, closing what ends here.
            loop {
                let Some(call) = open.last_mut() else {
                    return match tokens.peek() {
                        Token::End => Ok(value),
                        _ => Err(tokens.error("the end of the expression")),
                    };
                };
                call.args.push(value);
                if tokens.eat(",")? {
                    break;
                }
                tokens.expect(")")?;
                match open.pop() {
                    Some(call) => value = self.close_call(call)?,
                    None => return Err(tokens.error("an expression")),
                }
            }
        }
    }

    /// Reads an atom, or the start of a call: then `None`, and the call is on the stack.
    fn srepr_start(
        &mut self,
        tokens: &mut Tokens<'_>,
        open: &mut Vec<OpenCall>,
    ) -> Result<Option<SymExprId>, SymError> {
        let negative = tokens.eat("-")?;
        let Token::Name(name) = tokens.peek() else {
            return Err(tokens.error("a function or a constant"));
        };
        tokens.take()?;
        if negative || tokens.peek() != Token::Operator("(") {
            let constant = match (name, negative) {
                ("true", false) => Constant::True,
                ("false", false) => Constant::False,
                ("nan", false) => Constant::NaN,
                ("zoo", false) => Constant::ComplexInfinity,
                ("int_oo", false) => Constant::IntInfinity,
                ("int_oo", true) => Constant::NegativeIntInfinity,
                ("oo", false) => Constant::Infinity,
                ("oo", true) => Constant::NegativeInfinity,
                _ => return Err(tokens.error("a known constant")),
            };
            return self.intern(SymExpr::Constant(constant)).map(Some);
        }
        tokens.expect("(")?;
        let atom = match name {
            "Integer" => integer(tokens)?,
            "Rational" => rational(tokens)?,
            "Float" => float(tokens)?,
            "Symbol" => {
                let symbol = symbol(tokens)?;
                return self.symbol(symbol).map(Some);
            }
            "Dummy" | "Function" | "Wild" => return Err(tokens.error("a torch expression")),
            function => {
                if open.len() >= usize::from(MAX_DEPTH) {
                    return Err(SymError::TooDeep);
                }
                let function = self.function(function)?;
                let args = Vec::new();
                if tokens.eat(")")? {
                    let call = OpenCall { function, args };
                    return self.close_call(call).map(Some);
                }
                open.push(OpenCall { function, args });
                return Ok(None);
            }
        };
        self.intern(atom).map(Some)
    }

    fn close_call(&mut self, call: OpenCall) -> Result<SymExprId, SymError> {
        let OpenCall { function, mut args } = call;
        if function == SymFunction::Mul
            && let [sign, magnitude, _, ..] = args[..]
            && self.as_integer(sign) == Some(-1)
            && let Some(magnitude) = self.as_integer(magnitude)
            && magnitude > 1
        {
            args[1] = self.integer(-magnitude)?;
            args.remove(0);
        }
        self.call(function, args)
    }
}

/// `5)` or `-5)`.
fn integer(tokens: &mut Tokens<'_>) -> Result<SymExpr, SymError> {
    let (negative, digits) = signed_digits(tokens)?;
    tokens.expect(")")?;
    Ok(integer_node(negative, digits))
}

/// The node of a decimal integer of any length.
pub(super) fn integer_node(negative: bool, digits: &str) -> SymExpr {
    let text = if negative {
        format!("-{digits}")
    } else {
        digits.to_owned()
    };
    match text.parse() {
        Ok(value) => SymExpr::Integer(value),
        Err(_) => SymExpr::BigInteger(text.into()),
    }
}

fn rational(tokens: &mut Tokens<'_>) -> Result<SymExpr, SymError> {
    let mut part = |end| {
        let (negative, digits) = signed_digits(tokens)?;
        tokens.expect(end)?;
        match integer_node(negative, digits) {
            SymExpr::Integer(value) => Ok(value),
            _ => Err(SymError::Overflow {
                operation: "Rational",
            }),
        }
    };
    Ok(SymExpr::Rational(part(",")?, part(")")?))
}

fn signed_digits<'a>(tokens: &mut Tokens<'a>) -> Result<(bool, &'a str), SymError> {
    let negative = tokens.eat("-")?;
    match tokens.peek() {
        Token::Number(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            tokens.take()?;
            Ok((negative, digits))
        }
        _ => Err(tokens.error("an integer")),
    }
}

/// `'1.5', precision=53)`.
fn float(tokens: &mut Tokens<'_>) -> Result<SymExpr, SymError> {
    let Token::Quoted(digits) = tokens.peek() else {
        return Err(tokens.error("quoted digits"));
    };
    if digits.parse::<f64>().is_err() {
        return Err(tokens.error("digits of a number"));
    }
    tokens.take()?;
    tokens.expect(",")?;
    if tokens.take()? != Token::Name("precision") {
        return Err(tokens.error("`precision`"));
    }
    tokens.expect("=")?;
    let Token::Number(bits) = tokens.peek() else {
        return Err(tokens.error("a number of bits"));
    };
    let precision = bits.parse().map_err(|_| tokens.error("a number of bits"))?;
    tokens.take()?;
    tokens.expect(")")?;
    Ok(SymExpr::Float {
        digits: digits.into(),
        precision,
    })
}

/// `'s0', positive=True, integer=True)`.
fn symbol(tokens: &mut Tokens<'_>) -> Result<Symbol, SymError> {
    let Token::Quoted(name) = tokens.peek() else {
        return Err(tokens.error("a quoted name"));
    };
    tokens.take()?;
    let mut assumptions = Vec::new();
    while tokens.eat(",")? {
        let Token::Name(fact) = tokens.take()? else {
            return Err(tokens.error("an assumption"));
        };
        tokens.expect("=")?;
        let holds = match tokens.take()? {
            Token::Name("True") => true,
            Token::Name("False") => false,
            _ => return Err(tokens.error("`True` or `False`")),
        };
        assumptions.push((fact.into(), holds));
    }
    tokens.expect(")")?;
    Ok(Symbol {
        name: name.into(),
        assumptions: assumptions.into(),
    })
}
