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
        "ToFloat(Float('0.10000000000000001', precision=53))".to_owned(),
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

#[test]
fn constants_fold_and_overflow_is_an_error() {
    let mut exprs = SymExprs::default();
    let int = SymInt::Int;
    assert_eq!(exprs.floordiv(int(-7), int(2)), Ok(int(-4)));
    assert_eq!(exprs.modulo(int(-7), int(2)), Ok(int(1)));
    assert_eq!(exprs.ceildiv(int(7), int(2)), Ok(int(4)));
    assert_eq!(exprs.max(int(1), int(2)), Ok(int(2)));
    assert_eq!(exprs.lt(int(1), int(2)), Ok(SymBool::Bool(true)));
    for failed in [
        exprs.add(int(i64::MAX), int(1)),
        exprs.mul(int(i64::MIN), int(-1)),
        exprs.neg(int(i64::MIN)),
        exprs.floordiv(int(i64::MIN), int(-1)),
    ] {
        assert!(
            matches!(failed, Err(SymError::Overflow { .. })),
            "{failed:?}"
        );
    }
    let a = symbol(&mut exprs, "s0");
    for failed in [exprs.floordiv(a, int(0)), exprs.modulo(a, int(0))] {
        assert!(matches!(failed, Err(SymError::DivisionByZero { .. })));
    }
}

#[test]
fn ranges_decide_relations() {
    let mut exprs = SymExprs::default();
    let (a, u) = (symbol(&mut exprs, "s0"), symbol(&mut exprs, "u0"));
    let up_to_64 = |_| ValueRange::new(Some(4), Some(64));
    let unbounded = |_| ValueRange::ALL;
    let half = exprs.floordiv(a, SymInt::Int(2)).expect("a quotient");
    assert_eq!(exprs.bound_size(half, &up_to_64).to_string(), "VR[2, 32]");
    assert_eq!(
        exprs.bound_size(half, &unbounded).to_string(),
        "VR[0, int_oo]"
    );
    assert_eq!(
        exprs.bound_size(u, &unbounded).to_string(),
        "VR[-int_oo, int_oo]"
    );
    assert_eq!(
        exprs.statically_known_lt(half, SymInt::Int(33), &up_to_64),
        Some(true)
    );
    assert_eq!(
        exprs.statically_known_ge(half, SymInt::Int(33), &up_to_64),
        Some(false)
    );
    assert_eq!(
        exprs.statically_known_ge(half, SymInt::Int(3), &up_to_64),
        None
    );
    assert_eq!(
        exprs.statically_known_gt(a, SymInt::Int(0), &unbounded),
        Some(true)
    );
    assert_eq!(exprs.statically_known_eq(a, a, &unbounded), Some(true));
    assert_eq!(
        exprs.statically_known_ne(u, SymInt::Int(0), &unbounded),
        None
    );
    assert_eq!(
        exprs.statically_known_le(u, SymInt::Int(64), &up_to_64),
        Some(true)
    );
}

#[test]
fn every_value_is_within_the_computed_range() {
    let mut exprs = SymExprs::default();
    let texts = [
        "u0*u1",
        "u0//u1",
        "u0//2",
        "u0//(-3)",
        "PythonMod(u0, 3)",
        "PythonMod(u0, -3)",
        "u0**2",
        "u0**3",
        "Max(u0, u1, 2)",
        "Min(u0, u1) - u0",
        "-3*u0 + 2*u1",
        "PythonMod(u0, u1)",
        "Where(u0 >= 2, u1, -u1)",
        "u0**2*u1",
    ];
    let ranges = [(-4, 5), (1, 3), (-3, -1), (0, 6)];
    for text in texts {
        let id = exprs.parse_str(text).expect("well formed");
        for ((a, b), (c, d)) in ranges
            .iter()
            .flat_map(|x| ranges.iter().map(move |y| (*x, *y)))
        {
            let first = |symbol| exprs.symbol_name(symbol) == "u0";
            let range = exprs.bound(id, &|symbol| {
                let (low, high) = if first(symbol) { (a, b) } else { (c, d) };
                ValueRange::new(Some(low), Some(high))
            });
            for (x, y) in (a..=b).flat_map(|x| (c..=d).map(move |y| (x, y))) {
                let value = exprs.evaluate(id, |symbol| Some(if first(symbol) { x } else { y }));
                if let Ok(value) = value {
                    assert!(
                        range.contains(value),
                        "{text} at {x}, {y} is {value}, not in {range}"
                    );
                }
            }
        }
    }
}

#[test]
fn symbols_are_found_and_replaced() {
    let mut exprs = SymExprs::default();
    let id = exprs
        .parse_str("2*s1 + (s0*s1//2) + 1")
        .expect("well formed");
    let names: Vec<String> = exprs
        .free_symbols(id)
        .iter()
        .map(|symbol| exprs.symbol_name(*symbol).to_owned())
        .collect();
    assert_eq!(names, ["s1", "s0"]);
    let s1 = exprs.free_symbols(id)[0];
    let four = |symbol| (symbol == s1).then_some(SymInt::Int(4));
    let replaced = exprs.substitute(id, &four).expect("no overflow");
    assert_eq!(exprs.display_size(replaced), "2*s0 + 9");
    assert_eq!(
        exprs.substitute(id, &|_| Some(SymInt::Int(3))),
        Ok(SymInt::Int(11))
    );
}

#[test]
fn hints_follow_from_those_of_symbols() {
    let mut exprs = SymExprs::default();
    let a = symbol(&mut exprs, "s0");
    let next = exprs.add(a, SymInt::Int(1)).expect("a sum");
    assert_eq!(exprs.size_hint(next), None);
    exprs.set_hint(a.as_expr().expect("a symbol"), Hint::Int(5));
    assert_eq!(exprs.size_hint(next), Some(6));
    exprs.set_hint(next.as_expr().expect("a sum"), Hint::Int(7));
    assert_eq!(exprs.size_hint(next), Some(7));
}

#[test]
fn conditions_combine() {
    let mut exprs = SymExprs::default();
    let u = symbol(&mut exprs, "u0");
    let low = exprs.ge(u, SymInt::Int(2)).expect("a relation");
    let high = exprs.le(u, SymInt::Int(5)).expect("a relation");
    let both = exprs.and(low, high).expect("a condition");
    assert_eq!(exprs.display_condition(both), "(u0 >= 2) & (u0 <= 5)");
    let not_low = exprs.not(low).expect("a condition");
    assert_eq!(exprs.display_condition(not_low), "u0 < 2");
    assert_eq!(exprs.or(low, not_low), Ok(SymBool::Bool(true)));
    assert_eq!(exprs.and(low, not_low), Ok(SymBool::Bool(false)));
    assert_eq!(exprs.and(low, SymBool::Bool(true)), Ok(low));
}

#[test]
fn python_expressions_are_read() {
    let mut exprs = SymExprs::default();
    for (text, expected) in [
        ("not (s0 >= 2 or u0 == 1)", "~(Eq(u0, 1) | (s0 >= 2))"),
        ("s0 % 2 == 0 and u0 != 1", "Ne(u0, 1) & Eq(Mod(s0, 2), 0)"),
        ("-2**2 + +s0", "s0 - 4"),
        ("u0 % 3", "PythonMod(u0, 3)"),
        ("0.5*ToFloat(s0)", "0.5*ToFloat(s0)"),
        ("1.5", "1.50000000000000"),
        ("Max(-int_oo, u0)", "Max(-int_oo, u0)"),
        ("s0 << 2", "4*s0"),
        ("sqrt(s0)", "sqrt(s0)"),
        ("12345678901234567890", "12345678901234567890"),
    ] {
        let id = exprs.parse_str(text).expect("well formed");
        assert_eq!(exprs.display(id), expected);
    }
    for text in [
        "",
        "s0 +",
        "(s0",
        "s0 s1",
        "Mod(s0)",
        "Mod(s0, 0)",
        "s0 = 1",
        "and",
        "f(",
        "1..2",
    ] {
        assert!(exprs.parse_str(text).is_err(), "{text}");
    }
    for hostile in [
        "(".repeat(9999),
        "-".repeat(9999),
        "not ".repeat(9999),
        "2**".repeat(9999),
        "f(".repeat(9999),
    ] {
        assert_eq!(exprs.parse_str(&hostile), Err(SymError::TooDeep));
    }
    assert!(matches!(
        exprs.parse_str("9**9**9"),
        Err(SymError::Overflow { .. })
    ));
    assert!(exprs.parse_str(&format!("s0{}", "**2".repeat(50))).is_err());
}

#[test]
fn expressions_that_double_are_stopped() {
    let mut exprs = SymExprs::default();
    let mut size = symbol(&mut exprs, "s0");
    let last = loop {
        let next = exprs
            .add(size, SymInt::Int(1))
            .and_then(|next| exprs.mul(next, size));
        match next {
            Ok(next) => size = next,
            Err(error) => break error,
        }
    };
    assert_eq!(last, SymError::TooLarge);
}

#[test]
fn structures_compare_across_tables() {
    let (mut one, mut other) = (SymExprs::default(), SymExprs::default());
    let text = "Unheard(2*s1 + s0, u0)";
    let a = one.parse_str(text).expect("well formed");
    other.parse_str("s5 + u7").expect("well formed");
    let b = other.parse_str(text).expect("well formed");
    let c = other
        .parse_str("Unheard(2*s1 + s0, u1)")
        .expect("well formed");
    assert!(one.same_structure(a, &other, b));
    assert!(!one.same_structure(a, &other, c));
}

#[test]
fn division_of_floats_is_left_alone() {
    let mut exprs = SymExprs::default();
    // A common factor that cannot be divided out must not be tried again and again.
    let id = exprs.parse_str("2*ToFloat(s0)//4").expect("well formed");
    assert_eq!(exprs.display(id), "((2*ToFloat(s0))//4)");
}

#[test]
fn division_cancels_signs_and_polynomials() {
    let mut exprs = SymExprs::default();
    for (text, expected) in [
        ("(-1)//(-s0)", "(1//s0)"),
        ("(-2*s0 - 2*s1)//(-2*u0)", "((s0 + s1)//u0)"),
        ("(s0**2 + 2*s0 + 1)//(s0 + 1)", "s0 + 1"),
        ("(2*s0*s1 + 4*s0)//(6*s77)", "((s0*(s1 + 2))//(3*s77))"),
        ("Min(-2, Max(0, u0))", "-2"),
    ] {
        let id = exprs.parse_str(text).expect("well formed");
        assert_eq!(exprs.display(id), expected);
    }
}
