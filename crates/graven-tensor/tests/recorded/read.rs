//! Reads samples. `tests/data/record/encode.py` describes their form.

use graven_ir::{DType, Layout, MemoryFormat};
use graven_tensor::geometry::{self, Dims};
use graven_tensor::{Array, Complex, Eager, OperatorError, Storage, Tensor, Value};
use serde_json::Value as Json;

/// What went wrong with reading: the files are wrong.
pub(crate) type Wrong = String;

/// A call, and what torch returned.
pub(crate) struct Sample {
    args: Vec<Value>,
    kwargs: Vec<(String, Value)>,
    seed: Option<u64>,
    /// Tensors of the arguments, as they are numbered.
    pub(crate) inputs: Vec<Tensor>,
    /// `None` when torch refused the call.
    pub(crate) result: Option<Expected>,
    /// Inputs by number, and what they hold afterwards.
    pub(crate) written: Vec<(usize, Expected)>,
    pub(crate) exact: bool,
    pub(crate) geometry: bool,
    pub(crate) tolerance: Option<f64>,
}

impl Sample {
    /// Carries out the call.
    pub(crate) fn run(&self, eager: &Eager, operator: &str) -> Result<Value, OperatorError> {
        if let Some(seed) = self.seed {
            eager.seed(seed);
        }
        let kwargs: Vec<(&str, Value)> = self
            .kwargs
            .iter()
            .map(|(name, value)| (&**name, value.clone()))
            .collect();
        eager.invoke(operator, &self.args, &kwargs)
    }
}

/// A result.
pub(crate) enum Expected {
    /// The input of this number.
    Input(usize),
    /// Another view of the input of this number.
    View(usize, Box<Place>),
    /// A tensor of its own.
    Fresh(Box<Place>, Vec<Number>),
    /// What is no tensor.
    Plain(Value),
    /// Several.
    List(Vec<Expected>),
}

/// A geometry.
pub(crate) struct Place {
    pub(crate) dtype: DType,
    pub(crate) sizes: Dims,
    pub(crate) strides: Dims,
    pub(crate) offset: usize,
    pub(crate) conjugate: bool,
    pub(crate) negative: bool,
}

/// An element, or a part of a complex one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

/// Reads a line.
pub(crate) fn sample(json: &Json) -> Result<Sample, Wrong> {
    let mut inputs = Vec::new();
    let args = list(json.get("args"))?;
    let args = args.iter().map(|arg| value(arg, &mut inputs));
    let args = args.collect::<Result<_, _>>()?;
    let kwargs = list(json.get("kwargs"))?.iter().map(|pair| {
        let name = text(&pair[0])?.to_owned();
        Ok((name, value(&pair[1], &mut inputs)?))
    });
    let kwargs = kwargs.collect::<Result<_, Wrong>>()?;
    let written = list(json.get("written"))?.iter().map(|pair| {
        let number = pair[0].as_u64().ok_or("written needs a number")?;
        Ok((number as usize, expected(&pair[1])?))
    });
    Ok(Sample {
        args,
        kwargs,
        inputs,
        seed: json.get("seed").and_then(Json::as_u64),
        result: json.get("result").map(expected).transpose()?,
        written: written.collect::<Result<_, Wrong>>()?,
        exact: json.get("exact").is_some(),
        geometry: json.get("geometry").is_some(),
        tolerance: json.get("tolerance").and_then(Json::as_f64),
    })
}

fn list(json: Option<&Json>) -> Result<&[Json], Wrong> {
    match json {
        None => Ok(&[]),
        Some(Json::Array(items)) => Ok(items),
        Some(other) => Err(format!("{other} is no list")),
    }
}

fn text(json: &Json) -> Result<&str, Wrong> {
    json.as_str().ok_or_else(|| format!("{json} is no text"))
}

/// An argument.
fn value(json: &Json, inputs: &mut Vec<Tensor>) -> Result<Value, Wrong> {
    match json {
        Json::Array(items) => {
            let items = items.iter().map(|item| value(item, inputs));
            Ok(Value::List(items.collect::<Result<_, _>>()?))
        }
        Json::Object(object) if object.contains_key("input") => {
            Ok(Value::Tensor(input(json, inputs, "input")?.clone()))
        }
        Json::Object(object) if object.contains_key("sizes") => {
            let place = place(json)?;
            let key = place.dtype.short_name();
            let storage = match json[key].is_number() {
                true => input(json, inputs, key)?.array().storage().clone(),
                false => storage(place.dtype, text(&json[key])?)?,
            };
            let tensor = Tensor::new(array(storage, &place)?);
            inputs.push(tensor.clone());
            Ok(Value::Tensor(tensor))
        }
        other => plain(other),
    }
}

fn input<'a>(json: &Json, inputs: &'a [Tensor], key: &str) -> Result<&'a Tensor, Wrong> {
    let number = json[key].as_u64().unwrap_or(u64::MAX) as usize;
    let tensor = inputs.get(number);
    tensor.ok_or_else(|| format!("there is no input {number}"))
}

fn array(storage: Storage, place: &Place) -> Result<Array, Wrong> {
    let strides = place.strides.clone();
    let array = Array::new(storage, place.dtype, &place.sizes, strides, place.offset);
    let mut array = array.map_err(|problem| problem.to_string())?;
    if place.conjugate {
        array = array.conjugated();
    }
    if place.negative {
        array = array.negated();
    }
    Ok(array)
}

/// What is no tensor.
fn plain(json: &Json) -> Result<Value, Wrong> {
    let unknown = || format!("{json} is unknown");
    Ok(match json {
        Json::Null => Value::None,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::Str(text.as_str().into()),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Value::Int(int),
            None => Value::Float(number.as_f64().ok_or_else(unknown)?),
        },
        Json::Object(object) => {
            let (kind, name) = object.iter().next().ok_or_else(unknown)?;
            let name = text(name)?;
            match kind.as_str() {
                "float" => Value::Float(name.parse().map_err(|_| unknown())?),
                "complex" => {
                    let (re, im) = name.split_once(' ').ok_or_else(unknown)?;
                    let part = |part: &str| part.parse::<f64>().map_err(|_| unknown());
                    Value::Complex(Complex::new(part(re)?, part(im)?))
                }
                "dtype" => Value::DType(DType::from_name(name).ok_or_else(unknown)?),
                "layout" => Value::Layout(Layout::from_name(name).ok_or_else(unknown)?),
                "device" => Value::Device(name.into()),
                "memory_format" => {
                    Value::MemoryFormat(MemoryFormat::from_name(name).ok_or_else(unknown)?)
                }
                _ => return Err(unknown()),
            }
        }
        Json::Array(_) => return Err(unknown()),
    })
}

fn expected(json: &Json) -> Result<Expected, Wrong> {
    if let Json::Array(items) = json {
        let items = items.iter().map(expected);
        return Ok(Expected::List(items.collect::<Result<_, _>>()?));
    }
    if let Some(number) = json.get("input").and_then(Json::as_u64) {
        return Ok(Expected::Input(number as usize));
    }
    if json.get("sizes").is_none() {
        return plain(json).map(Expected::Plain);
    }
    let place = place(json)?;
    let content = &json[place.dtype.short_name()];
    if let Some(number) = content.as_u64() {
        return Ok(Expected::View(number as usize, Box::new(place)));
    }
    let values = numbers(place.dtype, text(content)?)?;
    Ok(Expected::Fresh(Box::new(place), values))
}

fn place(json: &Json) -> Result<Place, Wrong> {
    let mut keys = json
        .as_object()
        .into_iter()
        .flat_map(|object| object.keys());
    let dtype = keys.find_map(|key| DType::from_short_name(key));
    let dims = |key: &str| -> Result<Dims, Wrong> {
        let dims = list(json.get(key))?.iter();
        let dim = |dim: &Json| dim.as_u64().ok_or_else(|| format!("{dim} is no size"));
        dims.map(|value| dim(value).map(|dim| dim as usize))
            .collect()
    };
    let sizes = dims("sizes")?;
    let strides = match json.get("strides") {
        Some(_) => dims("strides")?,
        None => geometry::contiguous_strides(&sizes),
    };
    Ok(Place {
        dtype: dtype.ok_or_else(|| format!("{json} has no dtype"))?,
        sizes,
        strides,
        offset: json.get("offset").and_then(Json::as_u64).unwrap_or(0) as usize,
        conjugate: json.get("conjugate").is_some(),
        negative: json.get("negative").is_some(),
    })
}

/// Numbers as the dtype holds them.
fn numbers(dtype: DType, text: &str) -> Result<Vec<Number>, Wrong> {
    let bytes = bytes(dtype, text)?;
    numbers_of(dtype, &bytes)
}

/// The elements that these bytes are.
pub(crate) fn numbers_of(dtype: DType, bytes: &[u8]) -> Result<Vec<Number>, Wrong> {
    macro_rules! decode {
        ($type:ty, $number:expr) => {
            bytes
                .chunks_exact(size_of::<$type>())
                .map(|bytes| {
                    let mut whole = [0; size_of::<$type>()];
                    whole.copy_from_slice(bytes);
                    $number(<$type>::from_le_bytes(whole))
                })
                .collect()
        };
    }
    let wide = |value: f32| Number::Float(f64::from(value));
    Ok(match dtype {
        DType::Bool | DType::UInt8 => decode!(u8, |value| Number::Int(i64::from(value))),
        DType::Int8 => decode!(i8, |value| Number::Int(i64::from(value))),
        DType::Int16 => decode!(i16, |value| Number::Int(i64::from(value))),
        DType::Int32 => decode!(i32, |value| Number::Int(i64::from(value))),
        DType::Int64 => decode!(i64, Number::Int),
        DType::Float16 => decode!(half::f16, |value: half::f16| wide(value.to_f32())),
        DType::BFloat16 => decode!(half::bf16, |value: half::bf16| wide(value.to_f32())),
        DType::Float32 | DType::Complex64 => decode!(f32, wide),
        DType::Float64 | DType::Complex128 => decode!(f64, Number::Float),
        other => return Err(format!("{} cannot be read", other.name())),
    })
}

fn storage(dtype: DType, text: &str) -> Result<Storage, Wrong> {
    Storage::from_bytes(&bytes(dtype, text)?).map_err(|problem| problem.to_string())
}

fn bytes(dtype: DType, text: &str) -> Result<Vec<u8>, Wrong> {
    let mut bytes = Vec::new();
    for word in text.split_whitespace() {
        let wrong = || format!("{word} is no {}", dtype.name());
        macro_rules! push {
            ($type:ty) => {
                bytes.extend(word.parse::<$type>().map_err(|_| wrong())?.to_le_bytes())
            };
        }
        match dtype {
            DType::Bool | DType::UInt8 => push!(u8),
            DType::Int8 => push!(i8),
            DType::Int16 => push!(i16),
            DType::Int32 => push!(i32),
            DType::Int64 => push!(i64),
            DType::Float16 => push!(half::f16),
            DType::BFloat16 => push!(half::bf16),
            DType::Float32 | DType::Complex64 => push!(f32),
            DType::Float64 | DType::Complex128 => push!(f64),
            _ => return Err(wrong()),
        }
    }
    Ok(bytes)
}
