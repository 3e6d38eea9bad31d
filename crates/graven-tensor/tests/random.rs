//! Random tensors after `torch.manual_seed(7)`, as torch 2.15 printed them.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use graven_ir::DType;
use graven_tensor::{Array, Eager, Value};

fn seeded() -> Eager {
    let eager = Eager::default();
    eager.seed(7);
    eager
}

fn array(value: &Value) -> Array {
    value.as_tensor().unwrap().array()
}

fn ints(values: &[i64]) -> Value {
    Value::List(values.iter().map(|value| Value::Int(*value)).collect())
}

fn call(eager: &Eager, operator: &str, args: &[Value]) -> Array {
    array(&eager.invoke(operator, args, &[]).unwrap())
}

fn floats(array: &Array) -> Vec<f32> {
    array.to_vec().unwrap()
}

/// Equal but for the last place.
fn assert_near(found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let distance = (f64::from(*found) - expected).abs();
        assert!(
            distance <= 1.2e-7 * expected.abs(),
            "{found} for {expected}"
        );
    }
}

#[test]
fn uniform_numbers() {
    let drawn = call(&seeded(), "aten::rand", &[ints(&[3])]);
    assert_eq!(floats(&drawn), [0.534_922_54, 0.198_803_19, 0.659_211_7]);
    let empty: Value = Array::zeros(DType::Float32, &[3]).unwrap().into();
    let args = [empty.clone(), Value::Float(-2.0), Value::Float(3.0)];
    seeded().invoke("aten::uniform_", &args, &[]).unwrap();
    assert_eq!(
        floats(&array(&empty)),
        [0.674_612_7, -1.005_984_1, 1.296_058_4]
    );
}

#[test]
fn normal_numbers() {
    let few = call(&seeded(), "aten::randn", &[ints(&[5])]);
    let expected = [
        -0.146_795_094_013_214_1,
        0.786_141_276_359_558_1,
        0.946_821_630_001_068_1,
        -1.114_344_000_816_345_2,
        1.690_790_176_391_601_6,
    ];
    assert_near(&floats(&few), &expected);
    let eager = seeded();
    let many = floats(&call(&eager, "aten::randn", &[ints(&[20])]));
    let expected = [
        -0.820_134_520_530_700_7,
        0.395_631_164_312_362_67,
        0.898_908_495_903_015_1,
    ];
    assert_near(&many[..3], &expected);
    let next = floats(&call(&eager, "aten::randn", &[ints(&[2])]));
    assert_near(&next, &[2.450_541_257_858_276_4, 2.025_601_863_861_084]);
    let empty: Value = Array::zeros(DType::Float32, &[18]).unwrap().into();
    let args = [empty.clone(), Value::Float(2.0), Value::Float(3.0)];
    seeded().invoke("aten::normal_", &args, &[]).unwrap();
    let found = floats(&array(&empty));
    let expected = [
        -2.079_307_079_315_185_5,
        -0.600_104_808_807_373,
        0.307_979_941_368_103,
    ];
    for (found, expected) in found[15..].iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() < 1e-6);
    }
}

#[test]
fn normal_numbers_in_double_precision() {
    let kwargs = [("dtype", Value::DType(DType::Float64))];
    let drawn = seeded()
        .invoke("aten::randn", &[ints(&[20])], &kwargs)
        .unwrap();
    let drawn: Vec<f64> = array(&drawn).to_vec().unwrap();
    let expected = [
        -1.587_032_296_930_835_7,
        2.030_263_328_696_22,
        0.659_652_326_446_250_2,
    ];
    for (found, expected) in drawn[17..].iter().zip(expected) {
        assert!((found - expected).abs() < 1e-14, "{found} for {expected}");
    }
}

#[test]
fn integers_and_orders() {
    let args = [Value::Int(3), Value::Int(100), ints(&[4])];
    let drawn: Vec<i64> = call(&seeded(), "aten::randint.low", &args)
        .to_vec()
        .unwrap();
    assert_eq!(drawn, [55, 61, 86, 57]);
    let order = call(&seeded(), "aten::randperm", &[Value::Int(7)]);
    assert_eq!(order.to_vec::<i64>().unwrap(), [5, 0, 3, 1, 2, 6, 4]);
}

#[test]
fn truth_and_dropout() {
    let eager = seeded();
    let empty: Value = Array::zeros(DType::Float32, &[6]).unwrap().into();
    let args = [empty.clone(), Value::Float(0.3)];
    eager.invoke("aten::bernoulli_.float", &args, &[]).unwrap();
    assert_eq!(floats(&array(&empty)), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let p: Value = Array::from_elements(&[0.4_f32; 5], &[5]).unwrap().into();
    assert_eq!(
        floats(&call(&eager, "aten::bernoulli", &[p])),
        [1.0, 1.0, 0.0, 1.0, 0.0]
    );
    let ones: Value = Array::from_elements(&[1.0_f32; 6], &[6]).unwrap().into();
    let args = [ones, Value::Float(0.4), Value::Bool(true)];
    let dropped = floats(&call(&seeded(), "aten::dropout", &args));
    assert_eq!(dropped[2..], [0.0; 4]);
    assert_near(&dropped[..2], &[1.666_666_626_930_237; 2]);
}
