//! Checking what a program is called with, and finding the values of its symbols.

use graven_ir::symint::{Hint, SymExpr, SymExprs, SymbolId};
use graven_ir::value::Dims;
use graven_ir::{
    Context, DType, ExportedProgram, InputKind, NameId, SymExprId, SymInt, Value as Meta,
};
use graven_tensor::{Array, Value};
use rustc_hash::FxHashMap;

use crate::error::{RuntimeError, RuntimeProblem};

/// What a user input must be.
#[derive(Clone, Debug)]
pub(crate) struct InputSpec {
    pub(crate) name: Box<str>,
    pub(crate) expected: Expected,
}

#[derive(Clone, Debug)]
pub(crate) enum Expected {
    Tensor {
        dtype: DType,
        sizes: Dims,
    },
    Int(SymInt),
    /// A value that was fixed at export, or one that no node reads.
    Any,
}

/// A range of a symbol or expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) symbol: NameId,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
}

/// Values of symbols in one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols(FxHashMap<SymbolId, i64>);

impl Symbols {
    fn value_of(&self) -> impl Fn(SymbolId) -> Option<Hint> + '_ {
        |symbol| self.0.get(&symbol).map(|value| Hint::Int(*value))
    }

    /// The value of an expression; `None` when a symbol of it has none.
    pub(crate) fn evaluate(&self, exprs: &SymExprs, size: SymInt) -> Option<i64> {
        match size {
            SymInt::Int(value) => Some(value),
            SymInt::Expr(id) => exprs.evaluate_hint(id, &self.value_of()).ok()?.as_int(),
        }
    }

    /// Makes the expression have a value, if one symbol without a value is all that it takes.
    /// Says whether it has the value now; `None` when that cannot be told.
    fn unify(&mut self, exprs: &SymExprs, size: SymInt, value: i64) -> Option<bool> {
        if let Some(known) = self.evaluate(exprs, size) {
            return Some(known == value);
        }
        let symbol = self.only_unknown(exprs, size.as_expr()?)?;
        // Sizes are linear in a symbol of theirs: two points tell the line.
        let at = |point: i64| {
            let mut symbols = self.clone();
            symbols.0.insert(symbol, point);
            symbols.evaluate(exprs, size)
        };
        let base = at(0)?;
        let slope = at(1)?.checked_sub(base)?;
        let point = value.checked_sub(base)?.checked_div(slope)?;
        self.0.insert(symbol, point);
        Some(self.evaluate(exprs, size) == Some(value))
    }

    /// The only symbol of an expression that has no value.
    fn only_unknown(&self, exprs: &SymExprs, id: SymExprId) -> Option<SymbolId> {
        let mut unknown = None;
        let mut rest = vec![id];
        while let Some(id) = rest.pop() {
            match exprs.get(id) {
                SymExpr::Symbol(symbol) if !self.0.contains_key(symbol) => {
                    if unknown.is_some_and(|known| known != *symbol) {
                        return None;
                    }
                    unknown = Some(*symbol);
                }
                SymExpr::Call(_, args) => rest.extend(args.iter().copied()),
                _ => {}
            }
        }
        unknown
    }
}

/// What each user input must be, from the metadata of its placeholder.
pub(crate) fn specs(program: &ExportedProgram) -> Vec<InputSpec> {
    let placeholders = program.graph.placeholders().map(|(_, node)| node);
    let inputs = placeholders.zip(&program.signature.inputs);
    inputs
        .filter(|(_, spec)| spec.kind == InputKind::UserInput)
        .map(|(node, spec)| InputSpec {
            name: program.context.names.get(node.name).into(),
            expected: match &node.value {
                _ if spec.constant.is_some() => Expected::Any,
                Meta::Tensor(meta) => {
                    let meta = program.context.meta(*meta);
                    Expected::Tensor {
                        dtype: meta.dtype,
                        sizes: meta.sizes.clone(),
                    }
                }
                Meta::SymInt(size) => Expected::Int(*size),
                _ => Expected::Any,
            },
        })
        .collect()
}

/// Checks the user inputs, and finds the values of the symbols in them.
pub(crate) fn check(
    context: &Context,
    specs: &[InputSpec],
    ranges: &[Range],
    inputs: &[Value],
) -> Result<Symbols, RuntimeError> {
    if specs.len() != inputs.len() {
        return Err(RuntimeProblem::InputCount {
            expected: specs.len(),
            found: inputs.len(),
        }
        .into());
    }
    let exprs = &context.exprs;
    let mut symbols = Symbols::default();
    // An expression of several symbols can be told when another input gave all but one: so the
    // sizes are gone through twice.
    for is_last in [false, true] {
        for (position, (spec, input)) in specs.iter().zip(inputs).enumerate() {
            let wrong_kind = |expected| RuntimeProblem::InputKind {
                position,
                name: spec.name.clone(),
                expected,
                found: input.kind(),
            };
            match (&spec.expected, input) {
                (Expected::Any, _) => {}
                (Expected::Tensor { dtype, sizes }, Value::Tensor(tensor)) => {
                    let array = tensor.array();
                    if array.dtype() != *dtype {
                        return Err(RuntimeProblem::InputDType {
                            position,
                            name: spec.name.clone(),
                            expected: *dtype,
                            found: array.dtype(),
                        }
                        .into());
                    }
                    if !fits(&mut symbols, exprs, sizes, &array, is_last) {
                        return Err(RuntimeProblem::InputSizes {
                            position,
                            name: spec.name.clone(),
                            expected: shown(exprs, sizes).into(),
                            found: array.sizes().to_vec(),
                        }
                        .into());
                    }
                }
                (Expected::Int(size), Value::Int(value)) => {
                    if symbols.unify(exprs, *size, *value) == Some(false) {
                        return Err(wrong_kind("the integer that it was at export").into());
                    }
                }
                (Expected::Tensor { .. }, _) => return Err(wrong_kind("a tensor").into()),
                (Expected::Int(_), _) => return Err(wrong_kind("an integer").into()),
            }
        }
    }
    check_ranges(context, ranges, &symbols)?;
    Ok(symbols)
}

fn fits(
    symbols: &mut Symbols,
    exprs: &SymExprs,
    sizes: &[SymInt],
    array: &Array,
    is_last: bool,
) -> bool {
    sizes.len() == array.rank()
        && sizes.iter().zip(array.sizes()).all(|(expected, found)| {
            let Ok(found) = i64::try_from(*found) else {
                return false;
            };
            symbols
                .unify(exprs, *expected, found)
                .unwrap_or(!is_last || expected.as_expr().is_some())
        })
}

fn shown(exprs: &SymExprs, sizes: &[SymInt]) -> String {
    let size = |size: &SymInt| match size {
        SymInt::Int(value) => value.to_string(),
        SymInt::Expr(id) => exprs.display(*id),
    };
    sizes.iter().map(size).collect::<Vec<_>>().join(", ")
}

fn check_ranges(
    context: &Context,
    ranges: &[Range],
    symbols: &Symbols,
) -> Result<(), RuntimeError> {
    for range in ranges {
        let name = context.names.get(range.symbol);
        let expr = context.exprs.find_symbol(name);
        let value = expr.and_then(|expr| symbols.evaluate(&context.exprs, SymInt::Expr(expr)));
        let Some(value) = value else { continue };
        let below = range.min.is_some_and(|min| value < min);
        let above = range.max.is_some_and(|max| value > max);
        if below || above {
            let bound = |bound: Option<i64>, none: &str| {
                bound.map_or_else(|| none.into(), |bound| bound.to_string().into())
            };
            return Err(RuntimeProblem::Range {
                symbol: name.into(),
                value,
                min: bound(range.min, "-int_oo"),
                max: bound(range.max, "int_oo"),
            }
            .into());
        }
    }
    Ok(())
}
