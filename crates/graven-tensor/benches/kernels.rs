//! Medians of single operators, one line each: `name nanoseconds`. `scripts/kernels_beside.py` runs
//! this and torch on the same work and prints the ratios.
//!
//! Threads are rayon's: set `RAYON_NUM_THREADS`.

use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

use graven_tensor::{Eager, Value};

/// Each operator: its name, how it is called, and the sizes of its tensors.
type Case = (
    &'static str,
    &'static str,
    &'static [&'static [usize]],
    fn() -> Vec<Value>,
);

fn none() -> Vec<Value> {
    Vec::new()
}

fn ints(values: &[i64]) -> Value {
    Value::List(values.iter().map(|value| Value::Int(*value)).collect())
}

const CASES: &[Case] = &[
    ("add_4", "aten::add.Tensor", &[&[4], &[4]], none),
    ("mul_4", "aten::mul.Tensor", &[&[4], &[4]], none),
    ("relu_4", "aten::relu", &[&[4]], none),
    (
        "add_1m",
        "aten::add.Tensor",
        &[&[1 << 20], &[1 << 20]],
        none,
    ),
    ("exp_1m", "aten::exp", &[&[1 << 20]], none),
    ("tanh_1m", "aten::tanh", &[&[1 << 20]], none),
    ("gelu_1m", "aten::gelu", &[&[1 << 20]], none),
    ("sum_1m", "aten::sum", &[&[1 << 20]], none),
    ("mm_512", "aten::mm", &[&[512, 512], &[512, 512]], none),
    ("mm_1024", "aten::mm", &[&[1024, 1024], &[1024, 1024]], none),
    ("mm_2048", "aten::mm", &[&[2048, 2048], &[2048, 2048]], none),
    ("mv_1024", "aten::mv", &[&[1024, 1024], &[1024]], none),
    (
        "linear_128_768_768",
        "aten::linear",
        &[&[128, 768], &[768, 768], &[768]],
        none,
    ),
    (
        "conv7_3_64_224",
        "aten::conv2d",
        &[&[1, 3, 224, 224], &[64, 3, 7, 7]],
        || vec![Value::None, ints(&[2, 2]), ints(&[3, 3])],
    ),
    (
        "conv3_64_64_56",
        "aten::conv2d",
        &[&[1, 64, 56, 56], &[64, 64, 3, 3]],
        || vec![Value::None, ints(&[1, 1]), ints(&[1, 1])],
    ),
    (
        "softmax_1024_1024",
        "aten::softmax.int",
        &[&[1024, 1024]],
        || vec![Value::Int(-1)],
    ),
    (
        "layer_norm_512_768",
        "aten::layer_norm",
        &[&[512, 768]],
        || vec![ints(&[768])],
    ),
    (
        "attention_8_12_128_64",
        "aten::scaled_dot_product_attention",
        &[&[8, 12, 128, 64], &[8, 12, 128, 64], &[8, 12, 128, 64]],
        none,
    ),
];

fn main() {
    let eager = Eager::default();
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let mut out = std::io::stdout().lock();
    for (name, operator, sizes, options) in CASES {
        if filter
            .as_ref()
            .is_some_and(|filter| !name.contains(filter.as_str()))
        {
            continue;
        }
        let mut args: Vec<Value> = Vec::new();
        for sizes in *sizes {
            let sizes: Vec<i64> = sizes.iter().map(|size| *size as i64).collect();
            match eager.invoke("aten::randn", &[ints(&sizes)], &[]) {
                Ok(value) => args.push(value),
                Err(error) => {
                    let _ = writeln!(out, "{name} failed: {error}");
                    return;
                }
            }
        }
        args.extend(options());
        let nanoseconds = median(&eager, operator, &args);
        let _ = writeln!(out, "{name} {nanoseconds:.0}");
    }
}

/// The median of a call's time, of batches long enough to be measured.
fn median(eager: &Eager, operator: &str, args: &[Value]) -> f64 {
    let registry = eager.registry();
    let Some(id) = registry.find(operator) else {
        return f64::NAN;
    };
    // Defaults are filled in once, as a plan does.
    let schema = registry.operator(id).schema();
    let mut bound = args.to_vec();
    for argument in &schema.arguments[bound.len()..] {
        let default = argument.default.as_ref();
        let value = default.map(|default| graven_tensor::default_value(argument, default));
        bound.push(value.and_then(Result::ok).unwrap_or(Value::None));
    }
    let run = |count: usize| {
        let start = Instant::now();
        for _ in 0..count {
            let _ = black_box(eager.call(id, black_box(&bound)));
        }
        start.elapsed().as_nanos() as f64
    };
    run(3);
    let once = run(1).max(1.0);
    let count = ((5e6 / once) as usize).clamp(1, 100_000);
    let rounds = if once > 5e7 { 7 } else { 31 };
    let mut times: Vec<f64> = (0..rounds).map(|_| run(count) / count as f64).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
