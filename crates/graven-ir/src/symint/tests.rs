//! Tests of reading, writing and computing.

use super::*;

const S0: &str = "Symbol('s0', positive=True, integer=True)";
const S1: &str = "Symbol('s1', positive=True, integer=True)";

fn symbol(exprs: &mut SymExprs, name: &str) -> SymInt {
    SymInt::Expr(exprs.symbol(Symbol::of_torch(name)).expect("a symbol"))
}

#[test]
fn srepr_is_written_as_it_was_read() {
    let texts = [
        S0.to_owned(),
        format!("Mul(Integer(-1), Integer(2), {S0})"),
        format!("Mul(Integer(-1), {S0})"),
        format!("Add(FloorDiv(Add({S0}, Integer(-1)), Integer(2)), Integer(1))"),
        format!("Add({S1}, Integer(1), {S0})"),
        format!("Max(Integer(1), {S0})"),
        format!("ToFloat(Float('0.10000000000000001', precision=53))"),
        format!("Unheard({S0}, int_oo, -int_oo, oo, -oo, zoo, nan, true, false)"),
        "Unheard()".to_owned(),
        "Integer(123456789012345678901234567890)".to_owned(),
        "Rational(-1, 2)".to_owned(),
        "Symbol('x', integer=False)".to_owned(),
    ];
    let mut exprs = SymExprs::default();
    for text in texts {
        let id = exprs.parse_srepr(&text).expect("it is well formed");
        assert_eq!(exprs.srepr(id), text);
    }
}

#[test]
fn malformed_srepr_is_refused() {
    let mut exprs = SymExprs::default();
    for text in [
        "",
        "Add(",
        "Add(Integer(1)",
        "Integer(1))",
        "Integer()",
        "Integer(a)",
        "Integer(1.5)",
        "Symbol(s0)",
        "Symbol('s0', positive)",
        "Symbol('s\\'0')",
        "Symbol('s0",
        "FloorDiv(Integer(1))",
        "Add(Integer(1),, Integer(2))",
        "Float('x', precision=53)",
        "Integer(1) Integer(2)",
        "é",
        "Rational(1, 99999999999999999999)",
        "Function('f')(Integer(1))",
    ] {
        assert!(exprs.parse_srepr(text).is_err(), "{text}");
    }
}

#[test]
fn hostile_srepr_is_refused() {
    let mut exprs = SymExprs::default();
    let deep = "Not(".repeat(5000);
    assert_eq!(exprs.parse_srepr(&deep), Err(SymError::TooDeep));
    let wide = format!("Add({}Integer(1))", "Integer(1), ".repeat(30_000));
    assert_eq!(exprs.parse_srepr(&wide), Err(SymError::TooLarge));
    let long = " ".repeat(MAX_TEXT + 1);
    assert_eq!(
        exprs.parse_srepr(&long),
        Err(SymError::TextTooLong {
            length: MAX_TEXT + 1
        })
    );
}

#[test]
fn sums_collect_like_terms() {
    let mut exprs = SymExprs::default();
    let (a, b) = (symbol(&mut exprs, "s77"), symbol(&mut exprs, "s86"));
    let sum = exprs.add(a, b).expect("a sum");
    let sum = exprs.add(sum, a).expect("a sum");
    assert_eq!(exprs.display_size(sum), "2*s77 + s86");
    let difference = exprs.sub(sum, b).expect("a difference");
    let half = exprs.sub(difference, a).expect("a difference");
    assert_eq!(half, a);
    let less = exprs.sub(a, SymInt::Int(1)).expect("a difference");
    assert_eq!(exprs.display_size(less), "s77 - 1");
    let negative = exprs.sub(SymInt::Int(1), a).expect("a difference");
    assert_eq!(exprs.display_size(negative), "1 - s77");
    assert_eq!(exprs.sub(a, a), Ok(SymInt::Int(0)));
}

#[test]
fn products_collect_powers_and_distribute_numbers() {
    let mut exprs = SymExprs::default();
    let a = symbol(&mut exprs, "s0");
    let square = exprs.mul(a, a).expect("a product");
    assert_eq!(exprs.display_size(square), "s0**2");
    let next = exprs.add(a, SymInt::Int(1)).expect("a sum");
    let twice = exprs.mul(SymInt::Int(2), next).expect("a product");
    assert_eq!(exprs.display_size(twice), "2*s0 + 2");
    let product = exprs.mul(a, next).expect("a product");
    assert_eq!(exprs.display_size(product), "s0*(s0 + 1)");
    let negative = exprs.mul(SymInt::Int(-2), product).expect("a product");
    assert_eq!(exprs.display_size(negative), "-2*s0*(s0 + 1)");
    let too_large = exprs.mul(SymInt::Int(i64::MAX), twice);
    assert_eq!(too_large, Err(SymError::Overflow { operation: "*" }));
}
