//! Gradients of layers and transforms: sums of absolute values, as torch 2.15 computed them on the
//! same waves.

// Helpers of tests fail as tests do.
#![allow(clippy::unwrap_used)]

use graven_tensor::{Array, Eager, Value};

fn wave(sizes: &[usize], function: fn(f64) -> f64) -> Value {
    let count: usize = sizes.iter().product();
    let values: Vec<f32> = (0..count)
        .map(|index| function(index as f64) as f32)
        .collect();
    Array::from_elements(&values, sizes).unwrap().into()
}

fn ints(values: &[i64]) -> Value {
    Value::List(values.iter().map(|value| Value::Int(*value)).collect())
}

fn all() -> Value {
    Value::List(vec![Value::Bool(true); 3])
}

fn input() -> Value {
    wave(&[2, 4, 6, 6], f64::sin)
}

fn call(operator: &str, args: &[Value]) -> Value {
    Eager::default().invoke(operator, args, &[]).unwrap()
}

fn results(value: &Value) -> Vec<Value> {
    match value {
        Value::List(items) => items.clone(),
        other => vec![other.clone()],
    }
}

/// A gradient of a result's sizes.
fn gradient_of(value: &Value) -> Value {
    wave(
        results(value)[0].as_tensor().unwrap().array().sizes(),
        f64::cos,
    )
}

#[track_caller]
fn assert_sums(value: &Value, expected: &[f64]) {
    let results = results(value);
    assert_eq!(results.len(), expected.len());
    for (result, expected) in results.iter().zip(expected) {
        let args = [result.clone()];
        let sum = call("aten::sum", &[call("aten::abs", &args)]);
        let sum = sum.as_tensor().unwrap().array().item().unwrap().to_f64();
        assert!((sum - expected).abs() < 2e-3, "{sum} for {expected}");
    }
}

#[test]
fn convolution() {
    let weight = wave(&[6, 2, 3, 3], f64::cos);
    let options = [
        ints(&[2, 1]),
        ints(&[1, 0]),
        ints(&[1, 2]),
        Value::Bool(false),
    ];
    let rest = [ints(&[0, 0]), Value::Int(2)];
    let forward = [&[input(), weight.clone(), Value::None], &options[..], &rest].concat();
    let gradient = gradient_of(&call("aten::convolution", &forward));
    let backward = [
        &[gradient, input(), weight, ints(&[6])],
        &options[..],
        &rest,
        &[all()],
    ];
    let found = call("aten::convolution_backward", &backward.concat());
    assert_sums(&found, &[302.586, 76.977_52, 1.277_79]);
}

#[test]
fn transposed_convolution() {
    let weight = wave(&[4, 3, 3, 3], f64::cos);
    let options = [
        ints(&[2, 2]),
        ints(&[1, 1]),
        ints(&[1, 1]),
        Value::Bool(true),
    ];
    let rest = [ints(&[1, 1]), Value::Int(2)];
    let forward = [&[input(), weight.clone(), Value::None], &options[..], &rest].concat();
    let gradient = gradient_of(&call("aten::convolution", &forward));
    let backward = [
        &[gradient, input(), weight, ints(&[6])],
        &options[..],
        &rest,
        &[all()],
    ];
    let found = call("aten::convolution_backward", &backward.concat());
    assert_sums(&found, &[194.527_75, 20.581_55, 0.126_91]);
}

#[test]
fn pooling() {
    let window = [ints(&[3, 2]), ints(&[2, 2]), ints(&[1, 1])];
    let options = [Value::Bool(true), Value::Bool(false), Value::None];
    let forward = [&[input()], &window[..], &options].concat();
    let gradient = gradient_of(&call("aten::avg_pool2d", &forward));
    let backward = [&[gradient, input()], &window[..], &options].concat();
    assert_sums(&call("aten::avg_pool2d_backward", &backward), &[53.913_41]);

    let options = [ints(&[1, 1]), Value::Bool(false)];
    let pooled = call(
        "aten::max_pool2d_with_indices",
        &[&[input()], &window[..], &options].concat(),
    );
    let indices = results(&pooled)[1].clone();
    let backward = [
        &[gradient_of(&pooled), input()],
        &window[..],
        &options,
        &[indices],
    ];
    let found = call("aten::max_pool2d_with_indices_backward", &backward.concat());
    assert_sums(&found, &[58.444_42]);

    let gradient = wave(&[2, 4, 4, 5], f64::cos);
    let found = call("aten::_adaptive_avg_pool2d_backward", &[gradient, input()]);
    assert_sums(&found, &[82.617_47]);
}

#[test]
fn normalization() {
    let weight = wave(&[6, 6], f64::cos);
    let shape = ints(&[6, 6]);
    let epsilon = Value::Float(1e-5);
    let args = [
        input(),
        shape.clone(),
        weight.clone(),
        weight.clone(),
        epsilon.clone(),
    ];
    let normal = call("aten::native_layer_norm", &args);
    let [mean, rstd] = [1, 2].map(|index| results(&normal)[index].clone());
    let gradient = gradient_of(&normal);
    let args = [
        gradient,
        input(),
        shape,
        mean,
        rstd,
        weight.clone(),
        weight,
        all(),
    ];
    let found = call("aten::native_layer_norm_backward", &args);
    assert_sums(&found, &[129.382_13, 14.952_28, 15.302_77]);

    let weight = wave(&[4], f64::cos);
    let counts = [2, 4, 36, 2].map(Value::Int);
    let args = [
        &[input(), weight.clone(), weight.clone()],
        &counts[..],
        &[epsilon],
    ]
    .concat();
    let normal = call("aten::native_group_norm", &args);
    let [mean, rstd] = [1, 2].map(|index| results(&normal)[index].clone());
    let gradient = gradient_of(&normal);
    let args = [
        &[gradient, input(), mean, rstd, weight],
        &counts[..],
        &[all()],
    ]
    .concat();
    let found = call("aten::native_group_norm_backward", &args);
    assert_sums(&found, &[191.167_25, 2.336_92, 6.735_83]);
}

#[test]
fn fourier_transforms() {
    let transform = |dims: &[i64], normalization, is_half| {
        let args = [
            input(),
            ints(dims),
            Value::Int(normalization),
            Value::Bool(is_half),
        ];
        call("aten::_fft_r2c", &args)
    };
    assert_sums(&transform(&[1, 3], 1, true), &[43.228_84]);
    assert_sums(&transform(&[2], 0, false), &[346.938_52]);
    let half = transform(&[2, 3], 0, true);
    let args = [half, ints(&[2, 3]), Value::Int(2), Value::Int(6)];
    // There and back again.
    let back = call("aten::_fft_c2r", &args).as_tensor().unwrap().array();
    let wave = input().as_tensor().unwrap().array();
    let pairs = back
        .to_vec::<f32>()
        .unwrap()
        .into_iter()
        .zip(wave.to_vec::<f32>().unwrap());
    for (found, expected) in pairs {
        assert!((found - expected).abs() < 1e-5, "{found} for {expected}");
    }
}
