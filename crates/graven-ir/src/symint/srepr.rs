//! Writing sympy's `srepr` form: `Mul(Integer(3), Symbol('s27', positive=True, integer=True))`.

use std::fmt::Write;

use super::arena::{Constant, SymExpr, SymExprs, SymbolId};
use super::function::SymFunction;
use super::{SymExprId, SymInt};

impl Constant {
    /// How sympy spells it in both forms, truth values aside.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::IntInfinity => "int_oo",
            Self::NegativeIntInfinity => "-int_oo",
            Self::Infinity => "oo",
            Self::NegativeInfinity => "-oo",
            Self::ComplexInfinity => "zoo",
            Self::NaN => "nan",
        }
    }
}

impl SymExprs {
    /// The `srepr` form of `id`, as archives hold it.
    pub fn srepr(&self, id: SymExprId) -> String {
        let mut out = String::new();
        self.write_srepr(id, &mut out);
        out
    }

    /// The `srepr` form of a size.
    pub fn srepr_of(&self, size: SymInt) -> String {
        match size {
            SymInt::Int(value) => format!("Integer({value})"),
            SymInt::Expr(id) => self.srepr(id),
        }
    }

    fn write_srepr(&self, id: SymExprId, out: &mut String) {
        // Writing to a `String` cannot fail.
        let _ = match self.get(id) {
            SymExpr::Integer(value) => write!(out, "Integer({value})"),
            SymExpr::BigInteger(digits) => write!(out, "Integer({digits})"),
            SymExpr::Rational(numerator, denominator) => {
                write!(out, "Rational({numerator}, {denominator})")
            }
            SymExpr::Float { digits, precision } => {
                write!(out, "Float('{digits}', precision={precision})")
            }
            SymExpr::Constant(constant) => write!(out, "{}", constant.text()),
            SymExpr::Symbol(symbol) => {
                self.write_symbol(*symbol, out);
                Ok(())
            }
            SymExpr::Call(function, args) => {
                self.write_call(*function, args, out);
                Ok(())
            }
        };
    }

    fn write_symbol(&self, symbol: SymbolId, out: &mut String) {
        let Some(symbol) = self.symbol_info(symbol) else {
            return;
        };
        let _ = write!(out, "Symbol('{}'", symbol.name);
        for (fact, holds) in &symbol.assumptions {
            let _ = write!(out, ", {fact}={}", if *holds { "True" } else { "False" });
        }
        out.push(')');
    }

    fn write_call(&self, function: SymFunction, args: &[SymExprId], out: &mut String) {
        out.push_str(self.function_name(function));
        out.push('(');
        let mut args = args;
        if let (SymFunction::Mul, [first, rest @ ..]) = (function, args)
            && let Some(coefficient) = self.as_integer(*first)
            && coefficient < -1
        {
            // sympy writes the sign of a product as a factor of its own.
            let magnitude = coefficient.unsigned_abs();
            let _ = write!(out, "Integer(-1), Integer({magnitude}), ");
            args = rest;
        }
        for (position, arg) in args.iter().enumerate() {
            if position > 0 {
                out.push_str(", ");
            }
            self.write_srepr(*arg, out);
        }
        out.push(')');
    }
}
