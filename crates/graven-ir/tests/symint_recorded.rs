//! Symbolic integers against what torch and sympy made of the same computations.
//!
//! `data/symint.tsv` holds one computation a line: the computation as nested calls on symbols,
//! the result's `str` form, its `srepr` form, its value (`-` for none) with s0 = 6, s1 = 4,
//! s77 = 15, s27 = 8, u0 = 5, u1 = 3, and the `srepr` form of what Python makes of the `str` form
//! (`=` for the same). `-` stands for a computation or a reading that is not compared.

use graven_ir::symint::{Hint, SymBool, SymError, SymExprId, SymExprs, SymInt, Symbol};

const RECORDED: &str = include_str!("data/symint.tsv");

const VALUES: [(&str, i64); 6] = [
    ("s0", 6),
    ("s1", 4),
    ("s77", 15),
    ("s27", 8),
    ("u0", 5),
    ("u1", 3),
];

struct Row {
    computation: &'static str,
    display: &'static str,
    srepr: &'static str,
    value: Option<Hint>,
    reread: &'static str,
}

impl Row {
    fn is_computed(&self) -> bool {
        self.computation != "-"
    }

    /// Whether `id` is the truth value that the row's condition has: ranges decide some relations
    /// that sympy leaves undecided.
    fn decides(&self, exprs: &SymExprs, id: SymExprId) -> bool {
        let truth = exprs.as_boolean(id).map(Hint::Bool);
        truth.is_some() && truth == self.value
    }
}

fn rows() -> Vec<Row> {
    let row = |line: &'static str| {
        let [computation, display, srepr, value, reread] =
            line.split('\t').collect::<Vec<_>>()[..].try_into().ok()?;
        let value = match value {
            "-" => None,
            "True" => Some(Hint::Bool(true)),
            "False" => Some(Hint::Bool(false)),
            value => match value.parse() {
                Ok(value) => Some(Hint::Int(value)),
                Err(_) => Some(Hint::Float(value.parse().ok()?)),
            },
        };
        Some(Row {
            computation,
            display,
            srepr,
            value,
            reread,
        })
    };
    let lines: Vec<&str> = RECORDED
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    let rows: Vec<Row> = lines.iter().filter_map(|line| row(line)).collect();
    assert_eq!(rows.len(), lines.len(), "each line has five columns");
    assert!(rows.len() > 500);
    rows
}

/// Splits `add(a,b)` into `add`, `a` and `b`.
fn split_call(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.split_once('(')?;
    let inside = rest.strip_suffix(')')?;
    let mut depth = 0;
    let comma = inside.bytes().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        byte == b',' && depth == 0
    })?;
    Some((name, &inside[..comma], &inside[comma + 1..]))
}

fn compute(exprs: &mut SymExprs, text: &str) -> Result<SymInt, SymError> {
    let Some((name, a, b)) = split_call(text) else {
        return match text.parse() {
            Ok(value) => Ok(SymInt::Int(value)),
            Err(_) => exprs.symbol(Symbol::of_torch(text)).map(SymInt::Expr),
        };
    };
    let a = compute(exprs, a)?;
    let b = compute(exprs, b)?;
    let condition = match name {
        "add" => return exprs.add(a, b),
        "sub" => return exprs.sub(a, b),
        "mul" => return exprs.mul(a, b),
        "floordiv" => return exprs.floordiv(a, b),
        "mod" => return exprs.modulo(a, b),
        "max" => return exprs.max(a, b),
        "min" => return exprs.min(a, b),
        "eq" => exprs.eq(a, b),
        "ne" => exprs.ne(a, b),
        "lt" => exprs.lt(a, b),
        "le" => exprs.le(a, b),
        "gt" => exprs.gt(a, b),
        "ge" => exprs.ge(a, b),
        other => panic!("unknown operation {other}"),
    };
    // Conditions stand only at the top.
    match condition? {
        SymBool::Expr(id) => Ok(SymInt::Expr(id)),
        SymBool::Bool(truth) => exprs.boolean(truth).map(SymInt::Expr),
    }
}

fn report(differences: &[String]) {
    let text = differences.join("\n");
    assert!(
        differences.is_empty(),
        "{} differ:\n{text}",
        differences.len()
    );
}

fn parsed(exprs: &mut SymExprs, row: &Row) -> SymExprId {
    exprs.parse_srepr(row.srepr).expect("torch wrote it")
}

#[test]
fn computed_expressions_are_torch_s() {
    let mut exprs = SymExprs::default();
    let mut differences = Vec::new();
    for row in rows().into_iter().filter(Row::is_computed) {
        let computed = compute(&mut exprs, row.computation);
        let text = computed
            .clone()
            .map(|size| (exprs.display_size(size), exprs.srepr_of(size)));
        let same = text == Ok((row.display.to_owned(), row.srepr.to_owned()));
        let decided = matches!(computed, Ok(SymInt::Expr(id)) if row.decides(&exprs, id));
        if !same && !decided {
            let found = text.map(|text| text.0);
            differences.push(format!(
                "{}: {}, not {found:?}",
                row.computation, row.display
            ));
        }
    }
    report(&differences);
}

#[test]
fn srepr_comes_back_and_prints_as_str() {
    let mut exprs = SymExprs::default();
    let mut differences = Vec::new();
    for row in rows() {
        let id = parsed(&mut exprs, &row);
        let (srepr, display) = (exprs.srepr(id), exprs.display(id));
        if srepr != row.srepr || display != row.display {
            differences.push(format!("{} | {srepr} | {display}", row.display));
        }
    }
    report(&differences);
}

#[test]
fn canonical_form_is_a_fixed_point() {
    let mut exprs = SymExprs::default();
    let mut differences = Vec::new();
    for row in rows().into_iter().filter(Row::is_computed) {
        let id = parsed(&mut exprs, &row);
        let canonical = exprs.canonical(id).expect("it is no larger");
        if canonical != id && !row.decides(&exprs, canonical) {
            differences.push(format!(
                "{} became {}",
                row.display,
                exprs.display(canonical)
            ));
        }
    }
    report(&differences);
}

#[test]
fn str_form_is_read() {
    let mut exprs = SymExprs::default();
    let mut differences = Vec::new();
    for row in rows().into_iter().filter(|row| row.reread != "-") {
        let expected = match row.reread {
            "=" => row.srepr,
            other => other,
        };
        match exprs.parse_str(row.display) {
            Ok(id) if exprs.srepr(id) == expected || row.decides(&exprs, id) => {}
            other => {
                let found = other.map(|id| exprs.display(id));
                differences.push(format!("{} became {found:?}", row.display));
            }
        }
    }
    report(&differences);
}

#[test]
fn values_are_those_of_sympy() {
    let mut exprs = SymExprs::default();
    let mut differences = Vec::new();
    for (name, value) in VALUES {
        let id = exprs.symbol(Symbol::of_torch(name)).expect("a symbol");
        exprs.set_hint(id, Hint::Int(value));
    }
    for row in rows() {
        let id = parsed(&mut exprs, &row);
        let value = exprs.hint(id);
        if row.value.is_some() && value != row.value {
            differences.push(format!("{}: {:?}, not {value:?}", row.display, row.value));
        }
    }
    report(&differences);
}
