//! Images of another size: the nearest element, or a mean of those around.

use graven_ir::DType;

use super::super::Table;
use super::super::pointwise::{Math, compute};
use super::in_format_of;
use crate::array::{Array, Fresh};
use crate::call::Call;
use crate::element::Element as _;
use crate::error::Problem;
use crate::geometry::{self, Dims};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::_upsample_nearest_exact1d.vec", |call| {
        vec(call, Kind::NearestExact, 1)
    }),
    ("aten::_upsample_nearest_exact2d.vec", |call| {
        vec(call, Kind::NearestExact, 2)
    }),
    ("aten::_upsample_nearest_exact3d.vec", |call| {
        vec(call, Kind::NearestExact, 3)
    }),
    ("aten::upsample_bicubic2d", |call| {
        sized(call, Kind::Cubic, 2)
    }),
    ("aten::upsample_bicubic2d.vec", |call| {
        vec(call, Kind::Cubic, 2)
    }),
    ("aten::upsample_bilinear2d", |call| {
        sized(call, Kind::Linear, 2)
    }),
    ("aten::upsample_bilinear2d.vec", |call| {
        vec(call, Kind::Linear, 2)
    }),
    ("aten::upsample_linear1d", |call| {
        sized(call, Kind::Linear, 1)
    }),
    ("aten::upsample_linear1d.vec", |call| {
        vec(call, Kind::Linear, 1)
    }),
    ("aten::upsample_nearest1d", |call| {
        sized(call, Kind::Nearest, 1)
    }),
    ("aten::upsample_nearest1d.vec", |call| {
        vec(call, Kind::Nearest, 1)
    }),
    ("aten::upsample_nearest2d", |call| {
        sized(call, Kind::Nearest, 2)
    }),
    ("aten::upsample_nearest2d.vec", |call| {
        vec(call, Kind::Nearest, 2)
    }),
    ("aten::upsample_nearest3d", |call| {
        sized(call, Kind::Nearest, 3)
    }),
    ("aten::upsample_nearest3d.vec", |call| {
        vec(call, Kind::Nearest, 3)
    }),
    ("aten::upsample_trilinear3d", |call| {
        sized(call, Kind::Linear, 3)
    }),
    ("aten::upsample_trilinear3d.vec", |call| {
        vec(call, Kind::Linear, 3)
    }),
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Nearest,
    NearestExact,
    Linear,
    Cubic,
}

impl Kind {
    /// Whether the operator has an argument that says how corners lie.
    fn has_corners(self) -> bool {
        matches!(self, Self::Linear | Self::Cubic)
    }
}

/// `upsample_bilinear2d.vec(input, output_size, align_corners, scale_factors)`
fn vec(call: &Call<'_>, kind: Kind, dims: usize) -> Result<Value, Problem> {
    let input = call.array(0)?;
    let aligns = kind.has_corners() && call.bool(2)?;
    let factors = match call.value(if kind.has_corners() { 3 } else { 2 }) {
        Value::None => None,
        _ => Some(call.floats(if kind.has_corners() { 3 } else { 2 })?),
    };
    let sizes = spatial(&input, dims)?;
    let output: Dims = match (call.optional_ints(1)?, &factors) {
        (Some(_), _) => call.sizes(1)?,
        (None, Some(factors)) => sizes
            .iter()
            .zip(factors)
            .map(|(size, factor)| (*size as f64 * factor) as usize)
            .collect(),
        (None, None) => return Err(Problem::invalid("output sizes or factors must be given")),
    };
    let scales = (0..dims).map(|dim| {
        factors
            .as_ref()
            .and_then(|factors| factors.get(dim).copied())
    });
    resample(&input, kind, &output, aligns, scales.collect())
}

/// `upsample_bilinear2d(self, output_size, align_corners, scales_h, scales_w)`
fn sized(call: &Call<'_>, kind: Kind, dims: usize) -> Result<Value, Problem> {
    let input = call.array(0)?;
    spatial(&input, dims)?;
    let aligns = kind.has_corners() && call.bool(2)?;
    let first = if kind.has_corners() { 3 } else { 2 };
    let scales = (0..dims).map(|dim| call.optional_float(first + dim));
    resample(
        &input,
        kind,
        &call.sizes(1)?,
        aligns,
        scales.collect::<Result<_, _>>()?,
    )
}

fn spatial(input: &Array, dims: usize) -> Result<Dims, Problem> {
    match input.rank() == dims + 2 {
        true => Ok(Dims::from_slice(&input.sizes()[2..])),
        false => Err(Problem::invalid(format!(
            "expected a tensor of {} dimensions, found sizes {:?}",
            dims + 2,
            input.sizes()
        ))),
    }
}

/// Along one dimension: for each output element the inputs that it is made of, and their weights.
type Taps = Vec<Vec<(usize, f64)>>;

fn taps(
    kind: Kind,
    input: usize,
    output: usize,
    aligns: bool,
    factor: Option<f64>,
    is_double: bool,
) -> Taps {
    // A factor that is given counts, not the ratio of the rounded sizes.
    let scale = match (aligns, factor) {
        (true, _) if output > 1 => (input as f64 - 1.0) / (output as f64 - 1.0),
        (true, _) => 0.0,
        (false, Some(factor)) if factor > 0.0 => 1.0 / factor,
        (false, _) => input as f64 / output as f64,
    };
    let last = input.saturating_sub(1);
    // Places are computed in the precision of the tensor, as torch does.
    let place = |index: usize| match (aligns, is_double) {
        (true, true) => scale * index as f64,
        (false, true) => scale * (index as f64 + 0.5) - 0.5,
        (true, false) => f64::from(scale as f32 * index as f32),
        (false, false) => f64::from(scale as f32 * (index as f32 + 0.5) - 0.5),
    };
    let taps = |index: usize| match kind {
        Kind::Nearest => {
            let source = (index as f32 * scale as f32).floor() as usize;
            vec![(source.min(last), 1.0)]
        }
        Kind::NearestExact => {
            let source = ((index as f32 + 0.5) * scale as f32).floor() as usize;
            vec![(source.min(last), 1.0)]
        }
        Kind::Linear => {
            let at = place(index).max(0.0);
            let low = (at.floor() as usize).min(last);
            let share = at - low as f64;
            vec![(low, 1.0 - share), ((low + 1).min(last), share)]
        }
        Kind::Cubic => {
            let at = place(index);
            let low = at.floor();
            let share = at - low;
            let weights = cubic_weights(share);
            (0..4)
                .map(|tap| {
                    let source = (low as i64 + tap - 1).clamp(0, last as i64) as usize;
                    (source, weights[tap as usize])
                })
                .collect()
        }
    };
    (0..output).map(taps).collect()
}

/// Weights of the four elements around, by the cubic convolution of Keys (1981) with a = -0.75.
pub(super) fn cubic_weights(share: f64) -> [f64; 4] {
    const A: f64 = -0.75;
    let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    [
        far(share + 1.0),
        near(share),
        near(1.0 - share),
        far(2.0 - share),
    ]
}

fn resample(
    input: &Array,
    kind: Kind,
    output: &[usize],
    aligns: bool,
    factors: Vec<Option<f64>>,
) -> Result<Value, Problem> {
    let dims = input.rank() - 2;
    if output.len() != dims || output.contains(&0) || input.sizes()[1..].contains(&0) {
        return Err(Problem::invalid(format!(
            "an image of sizes {:?} cannot be brought to {output:?}",
            input.sizes()
        )));
    }
    if matches!(kind, Kind::Nearest | Kind::NearestExact) {
        // Nothing is computed: any dtype will do.
        let mut result = input.clone();
        for dim in 0..dims {
            let is_double = input.dtype() == DType::Float64;
            let size = input.size(dim + 2);
            let taps = taps(kind, size, output[dim], aligns, factors[dim], is_double);
            let places: Vec<usize> = taps.iter().map(|taps| taps[0].0).collect();
            result = super::super::index::selected(&result, dim + 2, &places)?;
        }
        return Ok(in_format_of(result, input)?.into());
    }
    compute!(float, input.dtype(), C, O => {
        let mut sizes = Dims::from_slice(input.sizes());
        let mut values = input.converted(C::DTYPE)?.to_vec::<C>()?;
        // One dimension after the other, the last first.
        for dim in (0..dims).rev() {
            let is_double = input.dtype() == DType::Float64;
            let size = input.size(dim + 2);
            let taps = taps(kind, size, output[dim], aligns, factors[dim], is_double);
            values = along(&values, &sizes, dim + 2, &taps)?;
            sizes[dim + 2] = output[dim];
        }
        let result = Array::from_elements(&values, &sizes)?.converted(O::DTYPE)?;
        Ok(in_format_of(result, input)?.into())
    })
}

/// Resamples one dimension of contiguous values.
fn along<C: Math>(
    values: &[C],
    sizes: &[usize],
    dim: usize,
    taps: &Taps,
) -> Result<Vec<C>, Problem> {
    let inner = geometry::numel(&sizes[dim + 1..]);
    let outer = geometry::numel(&sizes[..dim]);
    let length = sizes[dim];
    let mut fresh = Fresh::<C>::new(outer * taps.len() * inner)?;
    let weights: Vec<Vec<(usize, C)>> = taps
        .iter()
        .map(|taps| {
            taps.iter()
                .map(|(source, weight)| (*source, C::of(*weight)))
                .collect()
        })
        .collect();
    let out = fresh.elements().chunks_mut((taps.len() * inner).max(1));
    for (out, values) in out.zip(values.chunks((length * inner).max(1))) {
        for (out, taps) in out.chunks_mut(inner.max(1)).zip(&weights) {
            for (source, weight) in taps {
                let line = &values[source * inner..(source + 1) * inner];
                for (out, value) in out.iter_mut().zip(line) {
                    *out += *value * *weight;
                }
            }
        }
    }
    Ok(fresh.elements().to_vec())
}
