//! Compares what graven returned with what torch returned.

use graven_ir::DType;
use graven_tensor::{Array, OperatorError, Problem, Value};

use crate::read::{Expected, Number, Place, Sample, numbers_of};

/// Whether the problem is that something cannot be computed at all.
pub(crate) fn is_missing(problem: &Problem) -> bool {
    match problem {
        Problem::NoKernel | Problem::UnknownOperator => true,
        Problem::Inner(error) => is_missing(&error.problem),
        _ => false,
    }
}

/// Compares; the text says what differs.
pub(crate) fn check(sample: &Sample, found: Result<Value, OperatorError>) -> Result<(), String> {
    let value = match (found, &sample.result) {
        (Err(error), _) if is_missing(&error.problem) => return Err(error.to_string()),
        (Err(_), None) => return Ok(()),
        (Err(error), Some(_)) => return Err(format!("is refused: {error}")),
        (Ok(value), _) => value,
    };
    let Some(expected) = &sample.result else {
        return Err("torch refuses this".into());
    };
    compare(sample, &value, expected)?;
    for (number, expected) in &sample.written {
        let input = Value::Tensor(sample.inputs[*number].clone());
        compare(sample, &input, expected)
            .map_err(|problem| format!("input {number} afterwards: {problem}"))?;
    }
    Ok(())
}

fn compare(sample: &Sample, value: &Value, expected: &Expected) -> Result<(), String> {
    match (value, expected) {
        (value, Expected::Plain(expected)) => compare_plain(sample, value, expected),
        (Value::List(values), Expected::List(expected)) if values.len() == expected.len() => {
            for (place, (value, expected)) in values.iter().zip(expected).enumerate() {
                compare(sample, value, expected)
                    .map_err(|problem| format!("result {place}: {problem}"))?;
            }
            Ok(())
        }
        (Value::List(values), Expected::List(expected)) => Err(format!(
            "{} results, torch has {}",
            values.len(),
            expected.len()
        )),
        (Value::Tensor(tensor), Expected::Input(number)) => {
            // `contiguous` and its like may return another tensor object of the same memory.
            let (array, input) = (tensor.array(), sample.inputs[*number].array());
            if !array.storage().is(input.storage()) {
                return Err(format!("is a copy, torch returns input {number} itself"));
            }
            let same = array.sizes() == input.sizes() && array.strides() == input.strides();
            same.then_some(())
                .ok_or_else(|| format!("is another view, torch returns input {number} itself"))
        }
        (Value::Tensor(tensor), Expected::View(number, place)) => {
            let (array, input) = (tensor.array(), sample.inputs[*number].array());
            compare_geometry(&array, place)?;
            if !array.storage().is(input.storage()) {
                return Err(format!("is a copy, torch returns a view of input {number}"));
            }
            let bits = (array.is_conjugate(), array.is_negative());
            if array.numel() > 0 && array.offset() != place.offset {
                return Err(format!(
                    "offset {}, torch has {}",
                    array.offset(),
                    place.offset
                ));
            }
            match bits == (place.conjugate, place.negative) {
                true => Ok(()),
                false => Err("conjugate or negative bits differ".into()),
            }
        }
        (Value::Tensor(tensor), Expected::Fresh(place, values)) => {
            let array = tensor.array();
            compare_geometry(&array, place)?;
            match sample.geometry {
                true => Ok(()),
                false => compare_values(sample, &array, values),
            }
        }
        (value, _) => Err(format!("{} is returned", value.kind())),
    }
}

fn compare_plain(sample: &Sample, value: &Value, expected: &Value) -> Result<(), String> {
    let equal = match (value, expected) {
        (Value::None, Value::None) => true,
        // What returns nothing may be told as no results.
        (Value::List(items), Value::None) => items.is_empty(),
        (Value::Int(value), Value::Int(expected)) => value == expected,
        (Value::Bool(value), Value::Bool(expected)) => value == expected,
        (Value::Float(value), Value::Float(expected)) => {
            is_near(sample, DType::Float64, *value, *expected)
        }
        (Value::Complex(value), Value::Complex(expected)) => {
            is_near(sample, DType::Float64, value.re, expected.re)
                && is_near(sample, DType::Float64, value.im, expected.im)
        }
        _ => false,
    };
    equal
        .then_some(())
        .ok_or_else(|| format!("{value:?}, torch has {expected:?}"))
}

fn compare_geometry(array: &Array, place: &Place) -> Result<(), String> {
    if array.dtype() != place.dtype {
        let (found, expected) = (array.dtype().name(), place.dtype.name());
        return Err(format!("dtype {found}, torch has {expected}"));
    }
    if array.sizes() != &*place.sizes {
        let (found, expected) = (array.sizes(), &place.sizes);
        return Err(format!("sizes {found:?}, torch has {expected:?}"));
    }
    if array.strides() != &*place.strides {
        let (found, expected) = (array.strides(), &place.strides);
        return Err(format!(
            "sizes {:?}, strides {found:?}, torch has {expected:?}",
            array.sizes()
        ));
    }
    Ok(())
}

fn compare_values(sample: &Sample, array: &Array, expected: &[Number]) -> Result<(), String> {
    let bytes = array.element_bytes();
    let bytes = bytes.map_err(|problem| problem.to_string())?;
    let found = numbers_of(array.dtype(), &bytes)?;
    let is_equal = |(found, expected): (&Number, &Number)| match (*found, *expected) {
        (Number::Int(found), Number::Int(expected)) => found == expected,
        (Number::Float(found), Number::Float(expected)) => {
            is_near(sample, array.dtype(), found, expected)
        }
        _ => false,
    };
    let place = found.iter().zip(expected).position(|pair| !is_equal(pair));
    match place {
        None if found.len() == expected.len() => Ok(()),
        None => Err(format!(
            "{} numbers, torch has {}",
            found.len(),
            expected.len()
        )),
        Some(place) => Err(format!(
            "{} element {place}: {}, torch has {}\n  found {}\n  torch {}",
            array.dtype().name(),
            written(found[place]),
            written(expected[place]),
            all(&found),
            all(expected)
        )),
    }
}

fn is_near(sample: &Sample, dtype: DType, found: f64, expected: f64) -> bool {
    if found.is_nan() || expected.is_nan() {
        return found.is_nan() && expected.is_nan();
    }
    if sample.exact {
        return found.to_bits() == expected.to_bits();
    }
    if found == expected {
        return true;
    }
    let relative = sample.tolerance.unwrap_or(match dtype.to_real() {
        DType::Float16 => 1e-3,
        DType::BFloat16 => 8e-3,
        DType::Float64 => 1e-12,
        _ => 2e-6,
    });
    (found - expected).abs() <= relative * expected.abs().max(1.0)
}

fn written(number: Number) -> String {
    match number {
        Number::Int(value) => value.to_string(),
        Number::Float(value) => value.to_string(),
    }
}

fn all(numbers: &[Number]) -> String {
    let words = numbers.iter().take(24).map(|number| written(*number));
    words.collect::<Vec<_>>().join(" ")
}
