//! Element-wise operators.
//!
//! Operands are broadcast and read tile by tile in the type that the operator computes in; a tile
//! is a slice, so that each operator is a loop over slices which the compiler vectorizes. Operands
//! that are contiguous and of that type are read where they are.

mod activation;
mod alike;
mod arithmetic;
mod compare;
mod foreach;
mod math;
mod single;
mod ternary;
mod unary;

use std::ops::Range;

use graven_ir::DType;
use rayon::prelude::*;
use smallvec::SmallVec;

use crate::array::{Array, Data, Fresh, convert};
use crate::call::Call;
use crate::element::{Element, dispatch};
use crate::error::Problem;
use crate::geometry::{self, Dims, Walk};
use crate::promote::Promotion;
use crate::scalar::Scalar;
use crate::value::Value;

pub(super) use arithmetic::{Arithmetic, multiply};
pub(super) use math::Math;

pub(super) const FAMILIES: [super::Table; 6] = [
    activation::KERNELS,
    arithmetic::KERNELS,
    compare::KERNELS,
    foreach::KERNELS,
    ternary::KERNELS,
    unary::KERNELS,
];

/// Elements of a tile: a few tiles fit the first-level cache.
const TILE: usize = 1024;

/// Rows shorter than this are gathered until a tile is full.
const SHORT: usize = 256;

/// From so many elements on, threads share the work.
const PARALLEL: usize = 1 << 15;

/// A loop over slices: what an operator does to a tile of each operand.
type Tile<'a, C, D> = &'a (dyn Fn(&[&[C]], &mut [D]) + Sync);

/// A tile of each operand.
type Slices<'a, C> = SmallVec<[&'a [C]; MOST]>;

/// Runs an expression with the type `$C` that a dtype computes in, and its own type `$O`: half
/// types compute in `f32`, all others in themselves. The first word says for which dtypes, as
/// [`dispatch`] has them; `math` has the half types too.
macro_rules! compute {
    (float, $dtype:expr, $C:ident, $O:ident => $body:expr) => {
        $crate::kernels::pointwise::compute!(@ $dtype, $C, $O, $body,
            Float16 f32 as half::f16, BFloat16 f32 as half::bf16, Float32 f32 as f32, Float64 f64 as f64)
    };
    (math, $dtype:expr, $C:ident, $O:ident => $body:expr) => {
        $crate::kernels::pointwise::compute!(@ $dtype, $C, $O, $body,
            Float16 f32 as half::f16, BFloat16 f32 as half::bf16, Float32 f32 as f32, Float64 f64 as f64,
            Complex64 Complex<f32> as Complex<f32>, Complex128 Complex<f64> as Complex<f64>)
    };
    (number, $dtype:expr, $C:ident, $O:ident => $body:expr) => {
        $crate::kernels::pointwise::compute!(@ $dtype, $C, $O, $body,
            UInt8 u8 as u8, Int8 i8 as i8, Int16 i16 as i16, Int32 i32 as i32, Int64 i64 as i64,
            Float16 f32 as half::f16, BFloat16 f32 as half::bf16, Float32 f32 as f32, Float64 f64 as f64)
    };
    (real, $dtype:expr, $C:ident, $O:ident => $body:expr) => {
        $crate::kernels::pointwise::compute!(@ $dtype, $C, $O, $body,
            Bool Bool as Bool,
            UInt8 u8 as u8, Int8 i8 as i8, Int16 i16 as i16, Int32 i32 as i32, Int64 i64 as i64,
            Float16 f32 as half::f16, BFloat16 f32 as half::bf16, Float32 f32 as f32, Float64 f64 as f64)
    };
    (any, $dtype:expr, $C:ident, $O:ident => $body:expr) => {
        $crate::kernels::pointwise::compute!(@ $dtype, $C, $O, $body,
            Bool Bool as Bool,
            UInt8 u8 as u8, Int8 i8 as i8, Int16 i16 as i16, Int32 i32 as i32, Int64 i64 as i64,
            Float16 f32 as half::f16, BFloat16 f32 as half::bf16, Float32 f32 as f32, Float64 f64 as f64,
            Complex64 Complex<f32> as Complex<f32>, Complex128 Complex<f64> as Complex<f64>)
    };
    (product, $dtype:expr, $C:ident, $O:ident => $body:expr) => {
        $crate::kernels::pointwise::compute!(@ $dtype, $C, $O, $body,
            UInt8 u8 as u8, Int8 i8 as i8, Int16 i16 as i16, Int32 i32 as i32, Int64 i64 as i64,
            Float16 f32 as half::f16, BFloat16 f32 as half::bf16, Float32 f32 as f32, Float64 f64 as f64,
            Complex64 Complex<f32> as Complex<f32>, Complex128 Complex<f64> as Complex<f64>)
    };
    (@ $dtype:expr, $C:ident, $O:ident, $body:expr, $($name:ident $math:ty as $own:ty),*) => {{
        // The macro is used where these are not in scope as well.
        #[allow(unused_imports)]
        use $crate::element::{Bool, Complex};
        match $dtype {
            $(graven_ir::DType::$name => {
                type $C = $math;
                #[allow(dead_code)]
                type $O = $own;
                $body
            })*
            other => Err($crate::error::Problem::DType { found: other }),
        }
    }};
}

pub(super) use compute;

/// An operand: an array or a number.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Array(Array),
    /// A number that torch wraps in a tensor without dimensions.
    Number(Scalar),
    /// A number that torch keeps one: it has a say in the dtype, but none in the strides.
    Parameter(Scalar),
}

impl Operand {
    /// The argument at this position, a tensor or a number.
    pub(super) fn at(call: &Call<'_>, position: usize) -> Result<Self, Problem> {
        match call.value(position) {
            Value::Tensor(_) => call.array(position).map(Self::Array),
            _ => call.scalar(position).map(Self::Number),
        }
    }

    /// The argument at this position; a number is a parameter.
    pub(super) fn parameter_at(call: &Call<'_>, position: usize) -> Result<Self, Problem> {
        Ok(match Self::at(call, position)? {
            Self::Number(scalar) => Self::Parameter(scalar),
            operand => operand,
        })
    }

    fn array(&self) -> Option<&Array> {
        match self {
            Self::Array(array) => Some(array),
            Self::Number(_) | Self::Parameter(_) => None,
        }
    }

    pub(super) fn promoted(&self, promotion: Promotion) -> Promotion {
        match self {
            Self::Array(array) => promotion.array(array),
            Self::Number(scalar) | Self::Parameter(scalar) => promotion.scalar(*scalar),
        }
    }

    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::Array(array) => array.dtype(),
            Self::Number(scalar) | Self::Parameter(scalar) => scalar.dtype(),
        }
    }
}

/// The dtype that operands have together.
pub(super) fn promoted(operands: &[Operand]) -> Result<DType, Problem> {
    operands
        .iter()
        .fold(Promotion::default(), |promotion, operand| {
            operand.promoted(promotion)
        })
        .result()
        .ok_or_else(|| Problem::invalid("no argument has a dtype"))
}

/// The dtype that an operator gives which always gives floats: integers become the default float.
pub(super) fn floating(dtype: DType) -> DType {
    match dtype.is_floating_point() || dtype.is_complex() {
        true => dtype,
        false => DType::Float32,
    }
}

/// Loads a tile: from a place, by a step.
type Load<C> = Box<dyn Fn(usize, usize, &mut [C]) + Send + Sync>;

/// Where the elements of an operand come from, as the type `C`.
enum Source<C> {
    /// They are of the type already.
    Same(Data<C>),
    /// They are converted: from a place, by a step, into a tile.
    Converted(Load<C>),
    /// One value for all.
    Constant(C),
}

impl<C: Element> Source<C> {
    fn new(operand: &Operand) -> Result<Self, Problem> {
        let array = match operand {
            Operand::Number(scalar) | Operand::Parameter(scalar) => {
                return Ok(Self::Constant(scalar.to()));
            }
            Operand::Array(array) => array,
        };
        if array.numel() == 1 {
            return dispatch!(any, array.dtype(), S => {
                Ok(Self::Constant(convert(array.data::<S>()?.elements()[0])))
            });
        }
        if array.dtype() == C::DTYPE {
            return array.data().map(Self::Same);
        }
        dispatch!(any, array.dtype(), S => {
            let data = array.data::<S>()?;
            Ok(Self::Converted(Box::new(move |place, step, tile: &mut [C]| {
                let elements = data.elements();
                match step {
                    1 => {
                        let elements = &elements[place..place + tile.len()];
                        tile.iter_mut().zip(elements).for_each(|(to, from)| *to = convert(*from));
                    }
                    _ => tile
                        .iter_mut()
                        .enumerate()
                        .for_each(|(index, to)| *to = convert(elements[place + index * step])),
                }
            })))
        })
    }

    fn load(&self, place: usize, step: usize, tile: &mut [C]) {
        match self {
            Self::Constant(value) => tile.fill(*value),
            Self::Converted(load) => load(place, step, tile),
            Self::Same(data) => {
                let elements = data.elements();
                match step {
                    0 => tile.fill(elements[place]),
                    1 => tile.copy_from_slice(&elements[place..place + tile.len()]),
                    _ => tile
                        .iter_mut()
                        .enumerate()
                        .for_each(|(index, to)| *to = elements[place + index * step]),
                }
            }
        }
    }
}

/// The most operands of an element-wise operator.
const MOST: usize = 3;

/// The result's elements are of type `O`; operands are read as `C`; the loop gives `D`, which is
/// `O` or is rounded to it.
struct Job<'a, C, D> {
    walk: Walk<{ MOST + 1 }>,
    sources: SmallVec<[Source<C>; MOST]>,
    apply: Tile<'a, C, D>,
}

/// Strides of a result, from its sizes.
type Layout<'a> = &'a dyn Fn(&[usize]) -> Dims;

/// Computes an element-wise operator over its broadcast operands.
pub(super) fn map<C: Element, D: Element, O: Element>(
    operands: &[Operand],
    apply: Tile<'_, C, D>,
) -> Result<Array, Problem> {
    match alike::map::<C, D, O>(operands, apply)? {
        Some(result) => Ok(result),
        None => map_into::<C, D, O>(operands, None, apply),
    }
}

/// The same where the strides of the result are given: [`map`] has them follow the operands'.
pub(super) fn map_into<C: Element, D: Element, O: Element>(
    operands: &[Operand],
    layout: Option<Layout<'_>>,
    apply: Tile<'_, C, D>,
) -> Result<Array, Problem> {
    let mut sizes = Dims::new();
    for operand in operands {
        if let Operand::Array(array) = operand {
            sizes = match array.sizes() == &*sizes {
                true => sizes,
                false => geometry::broadcast(&sizes, array.sizes())?,
            };
        }
    }
    let mut strides: SmallVec<[Dims; MOST]> = SmallVec::new();
    let mut sources = SmallVec::new();
    for operand in operands {
        strides.push(match operand {
            Operand::Array(array) => {
                geometry::expanded_strides(array.sizes(), array.strides(), &sizes)?
            }
            Operand::Number(_) | Operand::Parameter(_) => Dims::from_elem(0, sizes.len()),
        });
        sources.push(Source::new(operand)?);
    }
    let result = match layout {
        Some(layout) => layout(&sizes),
        None => result_strides(&sizes, operands, &strides),
    };
    let of = |operand: usize| strides.get(operand).map_or(&*result, |strides| &**strides);
    let walk = Walk::new(&sizes, [&*result, of(0), of(1), of(2)]);
    let mut fresh = Fresh::<O>::to_be_written(geometry::numel(&sizes))?;
    let job = Job {
        walk,
        sources,
        apply,
    };
    job.run(fresh.elements());
    fresh.into_strided(&sizes, result)
}

/// Strides of the result, where they follow the operands'.
fn result_strides(sizes: &[usize], operands: &[Operand], strides: &[Dims]) -> Dims {
    let of_arrays: SmallVec<[&[usize]; MOST]> = operands
        .iter()
        .zip(strides)
        .filter(|(operand, _)| matches!(operand, Operand::Array(_)))
        .map(|(_, strides)| &**strides)
        .collect();
    let have_its_sizes = operands.iter().all(|operand| match operand {
        Operand::Array(array) => array.sizes() == sizes,
        Operand::Number(_) => sizes.is_empty(),
        Operand::Parameter(_) => true,
    });
    match have_its_sizes {
        true => geometry::elementwise_strides(sizes, &of_arrays),
        false => geometry::ordered_strides(sizes, &of_arrays),
    }
}

impl<C: Element, D: Element> Job<'_, C, D> {
    fn run<O: Element>(&self, out: &mut [O]) {
        if out.len() < PARALLEL || rayon::current_num_threads() == 1 {
            return self.run_range(0..out.len(), out);
        }
        // The result has no gaps, and is walked in its own order.
        let part = out.len().div_ceil(rayon::current_num_threads());
        let part = part.next_multiple_of(TILE);
        out.par_chunks_mut(part)
            .enumerate()
            .for_each(|(index, out)| {
                let start = index * part;
                self.run_range(start..start + out.len(), out);
            });
    }

    /// Computes a range of the result, `out`.
    fn run_range<O: Element>(&self, range: Range<usize>, out: &mut [O]) {
        if range.is_empty() {
            return;
        }
        let row = self.walk.row();
        let steps = self.walk.steps();
        let capacity = TILE.min(out.len());
        // Rows that are long, or are all there is, are read where they are.
        let is_whole = row >= SHORT || self.walk.rows() == 1;
        let mut tiles: SmallVec<[Vec<C>; MOST]> = self
            .sources
            .iter()
            .enumerate()
            .map(|(index, source)| match source {
                Source::Constant(value) => vec![*value; capacity],
                Source::Same(_) if is_whole && steps[index + 1] == 1 => Vec::new(),
                _ => vec![C::default(); capacity],
            })
            .collect();
        let mut computed: Vec<D> = Vec::new();
        if D::DTYPE != O::DTYPE {
            computed.resize(capacity, D::default());
        }
        // Where the next result goes, and how many elements of the tiles are filled.
        let (mut done, mut filled) = (0, 0);
        let rows = range.start / row..range.end.div_ceil(row);
        let mut first = range.start % row;
        let mut rest = range.len();
        self.walk.for_each_row(rows, |places| {
            let mut at = std::mem::take(&mut first);
            let end = row.min(at + rest);
            rest -= end - at;
            while at < end {
                let length = (end - at).min(capacity - filled);
                if filled == 0 && (length == capacity || row >= SHORT) {
                    let slices = self.slices(&mut tiles, places, at, length);
                    self.finish(&slices, &mut computed, &mut out[done..done + length]);
                    done += length;
                } else {
                    for (index, (source, tile)) in self.sources.iter().zip(&mut tiles).enumerate() {
                        if tile.len() < capacity {
                            tile.resize(capacity, C::default());
                        }
                        if !matches!(source, Source::Constant(_)) {
                            let step = steps[index + 1];
                            let tile = &mut tile[filled..filled + length];
                            source.load(places[index + 1] + at * step, step, tile);
                        }
                    }
                    filled += length;
                    if filled == capacity {
                        let slices: Slices<'_, C> =
                            tiles.iter().map(|tile| &tile[..filled]).collect();
                        self.finish(&slices, &mut computed, &mut out[done..done + filled]);
                        done += filled;
                        filled = 0;
                    }
                }
                at += length;
            }
        });
        if filled > 0 {
            let slices: Slices<'_, C> = tiles.iter().map(|tile| &tile[..filled]).collect();
            self.finish(&slices, &mut computed, &mut out[done..done + filled]);
        }
    }

    /// The operands' elements from `at` on in a row: where they stand, or loaded into tiles.
    fn slices<'t>(
        &'t self,
        tiles: &'t mut [Vec<C>],
        places: [usize; MOST + 1],
        at: usize,
        length: usize,
    ) -> Slices<'t, C> {
        let steps = self.walk.steps();
        let operands = self.sources.iter().zip(tiles).enumerate();
        operands
            .map(|(index, (source, tile))| {
                let step = steps[index + 1];
                let place = places[index + 1] + at * step;
                match source {
                    Source::Constant(_) => &tile[..length],
                    Source::Same(data) if step == 1 => &data.elements()[place..place + length],
                    source => {
                        if tile.len() < length {
                            tile.resize(TILE.max(length), C::default());
                        }
                        source.load(place, step, &mut tile[..length]);
                        &tile[..length]
                    }
                }
            })
            .collect()
    }

    fn finish<O: Element>(&self, slices: &[&[C]], computed: &mut [D], out: &mut [O]) {
        if D::DTYPE == O::DTYPE
            && let Ok(out) = bytemuck::try_cast_slice_mut::<O, D>(out)
        {
            return (self.apply)(slices, out);
        }
        let computed = &mut computed[..out.len()];
        (self.apply)(slices, computed);
        out.iter_mut()
            .zip(computed)
            .for_each(|(out, value)| *out = convert(*value));
    }
}

/// Compiles a loop for several generations of processors; the best is chosen when it is called.
macro_rules! for_each_processor {
    ($loop:item) => {
        #[multiversion::multiversion(targets(
            "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma",
            "x86_64+avx2+fma"
        ))]
        $loop
    };
}

for_each_processor! {
    fn each<C: Copy, D>(function: &impl Fn(C) -> D, a: &[C], out: &mut [D]) {
        for (out, a) in out.iter_mut().zip(a) {
            *out = function(*a);
        }
    }
}

for_each_processor! {
    fn each_two<C: Copy, D>(function: &impl Fn(C, C) -> D, a: &[C], b: &[C], out: &mut [D]) {
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = function(*a, *b);
        }
    }
}

for_each_processor! {
    fn each_three<C: Copy, D>(
        function: &impl Fn(C, C, C) -> D,
        a: &[C],
        b: &[C],
        c: &[C],
        out: &mut [D],
    ) {
        for (((out, a), b), c) in out.iter_mut().zip(a).zip(b).zip(c) {
            *out = function(*a, *b, *c);
        }
    }
}

/// A loop of a function of one element.
pub(super) fn one<C: Copy, D>(
    function: impl Fn(C) -> D + Sync,
) -> impl Fn(&[&[C]], &mut [D]) + Sync {
    move |operands, out| {
        if let [a] = operands {
            each(&function, a, out);
        }
    }
}

/// A loop of a function of two elements.
pub(super) fn two<C: Copy, D>(
    function: impl Fn(C, C) -> D + Sync,
) -> impl Fn(&[&[C]], &mut [D]) + Sync {
    move |operands, out| {
        if let [a, b] = operands {
            each_two(&function, a, b, out);
        }
    }
}

/// A loop of a function of three elements.
pub(super) fn three<C: Copy, D>(
    function: impl Fn(C, C, C) -> D + Sync,
) -> impl Fn(&[&[C]], &mut [D]) + Sync {
    move |operands, out| {
        if let [a, b, c] = operands {
            each_three(&function, a, b, c, out);
        }
    }
}

/// The function of the tensor at position 0, for floats; integers become the default float.
/// Written once for `f32` and `f64`.
macro_rules! float_unary {
    ($call:expr, $x:ident => $body:expr) => {{
        let operand = $crate::kernels::pointwise::Operand::at($call, 0)?;
        let dtype = $crate::kernels::pointwise::floating(operand.dtype());
        $crate::kernels::pointwise::compute!(float, dtype, C, O => {
            let apply = $crate::kernels::pointwise::one(|$x: C| -> C { $body });
            Ok($crate::kernels::pointwise::map::<C, C, O>(&[operand], &apply)?.into())
        })
    }};
}

/// The function of two operands, for floats; integers become the default float.
macro_rules! float_binary {
    ($operands:expr, $x:ident, $y:ident => $body:expr) => {{
        let operands = $operands;
        let dtype = $crate::kernels::pointwise::promoted(&operands)?;
        let dtype = $crate::kernels::pointwise::floating(dtype);
        $crate::kernels::pointwise::compute!(float, dtype, C, O => {
            let apply = $crate::kernels::pointwise::two(|$x: C, $y: C| -> C { $body });
            Ok($crate::kernels::pointwise::map::<C, C, O>(&operands, &apply)?.into())
        })
    }};
}

pub(super) use {float_binary, float_unary, for_each_processor};
