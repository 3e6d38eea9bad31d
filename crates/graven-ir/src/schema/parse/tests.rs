//! Texts that are schemas, and texts that are not.

use super::*;

fn reprinted(text: &str) -> String {
    Schema::parse(text).unwrap().to_string()
}

#[test]
fn schemas_print_as_they_were_read() {
    for text in [
        "aten::relu(Tensor self) -> Tensor",
        "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        "aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
        "aten::get_gradients(int context_id) -> Dict(Tensor, Tensor)",
        "aten::_test_string_default(Tensor dummy, str a=\"\\\"\\'\\\\\") -> Tensor",
        "mylib::f(Tensor x) -> (Tensor out, Tensor(a!)?)",
        "mylib::g(Tensor(a|b!) x, Tensor(c! -> *)[] ys) -> ()",
        "mylib::h((int, Tensor?)[] pairs, int[2]? size=[1, -2]) -> ((int, int))",
        "mylib::k(*, float p=0.5, str mode=\"\", MemoryFormat m=contiguous_format) -> int[]",
        "mylib::m(__torch__.torch.classes.rnn.CellParamsBase[] params, t x) -> t(*)",
    ] {
        assert_eq!(reprinted(text), text);
    }
}

#[test]
fn spaces_and_float_defaults_are_brought_into_the_printed_form() {
    for (text, printed) in [
        (
            "mylib::inc( Tensor (a!) x ,Tensor(b!)[]ys, float n=1.0)->()",
            "mylib::inc(Tensor(a!) x, Tensor(b!)[] ys, float n=1.) -> ()",
        ),
        (
            "mylib::f(float p=1, int[2] s=1, float? q=0, str m='a') -> (Tensor)",
            "mylib::f(float p=1., int[2] s=1, float? q=0, str m=\"a\") -> Tensor",
        ),
    ] {
        assert_eq!(reprinted(text), printed);
    }
}

#[test]
fn errors_name_the_place_and_what_may_stand_there() {
    let error = Schema::parse("mylib::f(Tensor x) Tensor").unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected `->` before the results at byte 19, found \"Tensor\""
    );
    for (text, at) in [
        ("", 0),
        ("f(Tensor x) -> ()", 0),
        ("mylib::f(Tensor) -> ()", 15),
        ("mylib::f(Tensor x", 17),
        ("mylib::f(Tensor x,) -> ()", 18),
        ("mylib::f(*) -> ()", 10),
        ("mylib::f(Tensor(a!) x) -> () trailing", 29),
        ("mylib::f(Tensor[](a!) x) -> ()", 17),
        ("mylib::f(Tensor(!) x) -> ()", 16),
        ("mylib::f(int x=) -> ()", 15),
        ("mylib::f(int x=1.2.3) -> ()", 15),
        ("mylib::f(str x=\"a) -> ()", 24),
        ("mylib::f(str x=\"\\q\") -> ()", 16),
        ("mylib::f(int[x] y) -> ()", 13),
        ("mylib::f(é x) -> ()", 9),
    ] {
        match Schema::parse(text) {
            Err(SchemaError::Unexpected { position, .. }) => assert_eq!(position, at, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn what_is_too_large_is_refused() {
    assert!(matches!(
        Schema::parse(&"a".repeat(MAX_LENGTH + 1)),
        Err(SchemaError::TooLong { .. })
    ));
    let nested = [
        format!("m::f({} x) -> ()", "(".repeat(30_000)),
        format!("m::f(int{} x) -> ()", "[]".repeat(30_000)),
        format!("m::f(int x={}) -> ()", "[".repeat(30_000)),
        format!("m::f({} x) -> ()", "Dict(int, ".repeat(3_000)),
    ];
    for text in &nested {
        let error = Schema::parse(text).unwrap_err();
        assert!(matches!(error, SchemaError::TooDeep { .. }), "{error}");
    }
    let many: Vec<String> = (0..300).map(|index| format!("int a{index}")).collect();
    assert!(matches!(
        Schema::parse(&format!("m::f({}) -> ()", many.join(", "))),
        Err(SchemaError::TooMany { .. })
    ));
    for text in [
        "m::f(int x=9223372036854775808) -> ()",
        "m::f(float x=1e999) -> ()",
        "m::f(int[4294967296] x) -> ()",
    ] {
        let error = Schema::parse(text).unwrap_err();
        assert!(
            matches!(error, SchemaError::NumberOutOfRange { .. }),
            "{error}"
        );
    }
    assert_eq!(
        Schema::parse("m::f(int x, int x) -> ()"),
        Err(SchemaError::DuplicateArgument {
            position: 16,
            name: "x".into()
        })
    );
}

/// Every prefix and every one-byte change of a rich schema is read or refused, never a panic.
#[test]
fn broken_texts_do_not_panic() {
    let text = "mylib::f.o(Tensor(a! -> b|c)[2]? x, Dict(int, (t, str)) d, *, float p=-1.5e-3, \
                int[] l=[1, 2], str s=\"é\\n\") -> (Tensor(a!) out, Tensor?)";
    let mut read = 0;
    for (end, _) in text.char_indices() {
        assert!(Schema::parse(&text[..end]).is_err());
    }
    for (index, old) in text.char_indices() {
        for new in "()[]?!*,=.\"\\ -aé1".chars() {
            let mut changed = text.to_owned();
            changed.replace_range(index..index + old.len_utf8(), new.encode_utf8(&mut [0; 4]));
            read += usize::from(Schema::parse(&changed).is_ok());
        }
    }
    assert!(read > 100, "only {read} of the changed texts are schemas");
}
