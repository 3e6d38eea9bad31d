//! Random tensors, as torch's CPU generator makes them. The rules were checked bit for bit against
//! torch 2.15; `randn` of 16 numbers and more may differ in the last place.

use graven_ir::DType;

use super::Table;
use super::copy::{preserved, strides_in};
use super::pointwise::compute;
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::{Bool, Element, dispatch};
use crate::error::Problem;
use crate::geometry::{self, Dims};
use crate::random::Generator;
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::bernoulli", bernoulli_of),
    ("aten::bernoulli.Tensor", |call| {
        let array = call.array(0)?;
        let result = bernoulli_tensor(call, &call.array(1)?.expand(array.sizes())?, array.dtype())?;
        Ok(result.into())
    }),
    ("aten::bernoulli.p", |call| {
        let (array, p) = (call.array(0)?, call.float(1)?);
        let draws = bernoulli(call, array.numel(), p)?;
        Ok(of_truths(&draws, array.sizes(), array.dtype())?.into())
    }),
    ("aten::native_dropout", native_dropout),
    ("aten::normal_functional", |call| {
        let array = call.array(0)?;
        let (mean, deviation) = (call.float(1)?, call.float(2)?);
        let strides = preserved(&array);
        let in_blocks = geometry::is_contiguous(array.sizes(), &strides);
        let range = [mean, deviation];
        let result = normal(call, array.dtype(), array.sizes(), range, in_blocks)?;
        Ok(result.view(array.sizes(), strides, 0)?.into())
    }),
    ("aten::rand", |call| {
        let dtype = call.optional_dtype(1)?.unwrap_or(DType::Float32);
        Ok(uniform(call, dtype, &call.sizes(0)?, [0.0, 1.0])?.into())
    }),
    ("aten::rand_like", |call| {
        like(call, 1, |call, dtype, sizes, _| {
            uniform(call, dtype, sizes, [0.0, 1.0])
        })
    }),
    ("aten::randint", |call| {
        let dtype = call.optional_dtype(2)?.unwrap_or(DType::Float32);
        Ok(integers(call, [0, call.int(0)?], &call.sizes(1)?, dtype)?.into())
    }),
    ("aten::randint.low", |call| {
        let dtype = call.optional_dtype(3)?.unwrap_or(DType::Float32);
        Ok(integers(call, [call.int(0)?, call.int(1)?], &call.sizes(2)?, dtype)?.into())
    }),
    ("aten::randint_like", |call| {
        let high = call.int(1)?;
        like(call, 2, |call, dtype, sizes, _| {
            integers(call, [0, high], sizes, dtype)
        })
    }),
    ("aten::randint_like.low_dtype", |call| {
        let range = [call.int(1)?, call.int(2)?];
        like(call, 3, |call, dtype, sizes, _| {
            integers(call, range, sizes, dtype)
        })
    }),
    ("aten::randn", |call| {
        let dtype = call.optional_dtype(1)?.unwrap_or(DType::Float32);
        Ok(normal(call, dtype, &call.sizes(0)?, [0.0, 1.0], true)?.into())
    }),
    ("aten::randn_like", |call| {
        like(call, 1, |call, dtype, sizes, in_blocks| {
            normal(call, dtype, sizes, [0.0, 1.0], in_blocks)
        })
    }),
    ("aten::randperm", randperm),
    ("aten::uniform", |call| {
        let array = call.array(0)?;
        let range = [call.float(1)?, call.float(2)?];
        let result = uniform(call, array.dtype(), array.sizes(), range)?;
        Ok(result.view(array.sizes(), preserved(&array), 0)?.into())
    }),
];

/// A random tensor of another's sizes and strides. Numbers are drawn in the order of memory. `make`
/// is told whether that is the order of the elements.
fn like(
    call: &Call<'_>,
    dtype: usize,
    make: impl FnOnce(&Call<'_>, DType, &[usize], bool) -> Result<Array, Problem>,
) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let format = call.optional_memory_format(dtype + 4)?;
    let strides = match format {
        Some(format) => strides_in(&array, format)?,
        None => preserved(&array),
    };
    let result = make(
        call,
        call.optional_dtype(dtype)?.unwrap_or(array.dtype()),
        array.sizes(),
        geometry::is_contiguous(array.sizes(), &strides),
    )?;
    Ok(result.view(array.sizes(), strides, 0)?.into())
}

fn checked_count(sizes: &[usize]) -> Result<usize, Problem> {
    geometry::checked_numel(sizes).ok_or(Problem::OutOfMemory { bytes: usize::MAX })
}

/// Numbers of `[from, to)`: one draw each; of float64 two.
fn uniform(
    call: &Call<'_>,
    dtype: DType,
    sizes: &[usize],
    [from, to]: [f64; 2],
) -> Result<Array, Problem> {
    let count = checked_count(sizes)?;
    let span = to - from;
    if dtype == DType::Float64 {
        let mut fresh = Fresh::<f64>::new(count)?;
        call.with_generator(|generator| {
            for out in fresh.elements() {
                *out = generator.next_f64() * span + from;
            }
        });
        return fresh.into_array(sizes);
    }
    compute!(float, dtype, C, O => {
        let mut fresh = Fresh::<O>::new(count)?;
        call.with_generator(|generator| {
            for out in fresh.elements() {
                let value = generator.next_f32().mul_add(span as f32, from as f32);
                let rounded = <O as Element>::from_f64(f64::from(value));
                // What is rounded up to the end, which is left out, becomes the start.
                let is_end = rounded.to_f64() >= to;
                *out = if is_end { <O as Element>::from_f64(from) } else { rounded };
            }
        });
        let _ = C::default();
        fresh.into_array(sizes)
    })
}

/// Normal numbers: one by one below 16 of them, from then on in blocks, unless told otherwise.
fn normal(
    call: &Call<'_>,
    dtype: DType,
    sizes: &[usize],
    [mean, deviation]: [f64; 2],
    in_blocks: bool,
) -> Result<Array, Problem> {
    if deviation < 0.0 {
        return Err(Problem::invalid("a deviation must not be negative"));
    }
    let count = checked_count(sizes)?;
    let values: Vec<f64> =
        call.with_generator(|generator| match (count < 16 || !in_blocks, dtype) {
            (true, _) => (0..count).map(|_| single_normal(generator)).collect(),
            (false, DType::Float64) => blocks(generator, count, Generator::next_f64, pair_f64),
            (false, _) => {
                let draw = |generator: &mut Generator| f64::from(generator.next_f32());
                blocks(generator, count, draw, pair_f32)
            }
        });
    dispatch!(float, dtype, T => {
        let mut fresh = Fresh::<T>::new(count)?;
        for (out, value) in fresh.elements().iter_mut().zip(values) {
            *out = T::from_f64(match dtype {
                DType::Float64 => value * deviation + mean,
                _ => f64::from((value as f32).mul_add(deviation as f32, mean as f32)),
            });
        }
        fresh.into_array(sizes)
    })
}

/// One normal number; of each pair the second is kept for the next.
fn single_normal(generator: &mut Generator) -> f64 {
    if let Some(value) = generator.next_normal.take() {
        return value;
    }
    let (first, second) = (generator.next_f64(), generator.next_f64());
    let radius = (-2.0 * (-second).ln_1p()).sqrt();
    let angle = 2.0 * std::f64::consts::PI * first;
    generator.next_normal = Some(radius * angle.sin());
    radius * angle.cos()
}

/// Two normal numbers of two uniform ones (Box and Muller, 1958).
fn pair_f64(first: f64, second: f64) -> [f64; 2] {
    let radius = (-2.0 * (1.0 - first).ln()).sqrt();
    let angle = 2.0 * std::f64::consts::PI * second;
    [radius * angle.cos(), radius * angle.sin()]
}

/// The same with every step rounded to single precision.
fn pair_f32(first: f64, second: f64) -> [f64; 2] {
    let single = |value: f64| f64::from(value as f32);
    let radius = single((-2.0 * single(single(1.0 - first).ln())).sqrt());
    let angle = single(f64::from(2.0 * std::f32::consts::PI) * second);
    [radius * single(angle.cos()), radius * single(angle.sin())].map(single)
}

/// Uniform numbers made normal in blocks of 16; what is left over is drawn anew with those before.
fn blocks(
    generator: &mut Generator,
    count: usize,
    draw: impl Fn(&mut Generator) -> f64,
    pair: impl Fn(f64, f64) -> [f64; 2],
) -> Vec<f64> {
    let mut values: Vec<f64> = (0..count).map(|_| draw(generator)).collect();
    let block = |values: &mut [f64]| {
        for index in 0..8 {
            let [first, second] = pair(values[index], values[index + 8]);
            (values[index], values[index + 8]) = (first, second);
        }
    };
    values.chunks_exact_mut(16).for_each(block);
    if !count.is_multiple_of(16) {
        let last = &mut values[count - 16..];
        last.iter_mut().for_each(|value| *value = draw(generator));
        block(last);
    }
    values
}

/// Integers of `[low, high)`.
fn integers(
    call: &Call<'_>,
    [low, high]: [i64; 2],
    sizes: &[usize],
    dtype: DType,
) -> Result<Array, Problem> {
    if low >= high {
        return Err(Problem::invalid(format!(
            "there is no integer from {low} up to {high}"
        )));
    }
    let range = high.wrapping_sub(low).cast_unsigned();
    let count = checked_count(sizes)?;
    dispatch!(number, dtype, T => {
        let mut fresh = Fresh::<T>::new(count)?;
        call.with_generator(|generator| {
            for out in fresh.elements() {
                let draw = match range < 1 << 32 {
                    true => u64::from(generator.next_u32()) % range,
                    false => generator.next_u64() % range,
                };
                *out = T::from_i64(low.wrapping_add(draw.cast_signed()));
            }
        });
        fresh.into_array(sizes)
    })
}

/// `randperm(n, *, dtype)`: each place is swapped with one behind it.
fn randperm(call: &Call<'_>) -> Result<Value, Problem> {
    let count = usize::try_from(call.int(0)?)
        .map_err(|_| Problem::invalid("the number of elements must not be negative"))?;
    let mut order: Vec<i64> = (0..count as i64).collect();
    call.with_generator(|generator| {
        for index in 0..count.saturating_sub(1) {
            let other = index + generator.next_u32() as usize % (count - index);
            order.swap(index, other);
        }
    });
    let result = Array::from_elements(&order, &[count])?;
    let dtype = call.optional_dtype(1)?.unwrap_or(DType::Int64);
    Ok(result.converted(dtype)?.into())
}

/// Truth values that hold with probability `p`: two draws each.
fn bernoulli(call: &Call<'_>, count: usize, p: f64) -> Result<Vec<Bool>, Problem> {
    if !(0.0..=1.0).contains(&p) {
        return Err(Problem::invalid(format!(
            "a probability is between 0 and 1, found {p}"
        )));
    }
    Ok(call.with_generator(|generator| {
        (0..count)
            .map(|_| Bool::from(generator.next_f64() < p))
            .collect()
    }))
}

fn of_truths(draws: &[Bool], sizes: &[usize], dtype: DType) -> Result<Array, Problem> {
    Array::from_elements(draws, sizes)?.converted(dtype)
}

/// `bernoulli(self)`: the elements are the probabilities.
fn bernoulli_of(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    Ok(bernoulli_tensor(call, &array, array.dtype())?.into())
}

fn bernoulli_tensor(call: &Call<'_>, p: &Array, dtype: DType) -> Result<Array, Problem> {
    let is_double = p.dtype() == DType::Float64;
    let values = p.converted(DType::Float64)?.to_vec::<f64>()?;
    if let Some(wrong) = values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(Problem::invalid(format!(
            "a probability is between 0 and 1, found {wrong}"
        )));
    }
    let draws: Vec<Bool> = call.with_generator(|generator| {
        let draw = |p: &f64| match is_double {
            true => generator.next_f64() < *p,
            false => f64::from(generator.next_f32()) < *p,
        };
        values.iter().map(draw).map(Bool::from).collect()
    });
    of_truths(&draws, p.sizes(), dtype)
}

/// `native_dropout(input, p, train)`: the result, and which elements stayed.
fn native_dropout(call: &Call<'_>) -> Result<Value, Problem> {
    let input = call.array(0)?;
    let p = call.float(1)?;
    let strides: Dims = preserved(&input);
    if input.numel() == 0 {
        let mask = Array::zeros_strided(input.dtype(), input.sizes(), strides)?;
        return Ok(Value::List(vec![
            call.tensor(0)?.clone().into(),
            mask.into(),
        ]));
    }
    if call.optional_bool(2)? == Some(false) {
        let mask = of_truths(
            &vec![Bool::from(true); input.numel()],
            input.sizes(),
            DType::Bool,
        )?;
        let mask = mask.view(input.sizes(), strides.clone(), 0)?;
        return Ok([input.copied(strides)?, mask].into());
    }
    let kept = bernoulli(call, input.numel(), 1.0 - p)?;
    let scale = if p == 1.0 { 0.0 } else { 1.0 / (1.0 - p) };
    let mask = of_truths(&kept, input.sizes(), DType::Bool)?;
    let mask = mask.view(input.sizes(), strides.clone(), 0)?;
    // In the order of memory, as the mask is drawn.
    let ordered = input.copied(strides.clone())?;
    let line = Dims::from_slice(&[1]);
    let ordered = ordered.view(&[input.numel()], line, 0)?;
    let result = compute!(float, input.dtype(), C, O => {
        let scale = <C as Element>::from_f64(scale);
        let values = ordered.converted(C::DTYPE)?.to_vec::<C>()?;
        let mut fresh = Fresh::<C>::new(values.len())?;
        for ((out, value), kept) in fresh.elements().iter_mut().zip(values).zip(&kept) {
            *out = value * <C as Element>::from_bool(kept.get()) * scale;
        }
        fresh.into_array(input.sizes())?.converted(O::DTYPE)
    })?;
    Ok([result.view(input.sizes(), strides, 0)?, mask].into())
}
