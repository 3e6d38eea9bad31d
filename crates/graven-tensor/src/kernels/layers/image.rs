//! Pixels moved between channels and planes, and images sampled by grids.

use super::super::Table;
use super::super::matmul::{batched, reshape};
use super::super::pointwise::compute;
use super::super::view::{permuted, transpose};
use super::in_format_of;
use super::upsample::cubic_weights;
use super::window::{Window, sizes_three, three};
use crate::array::Fresh;
use crate::call::Call;
use crate::element::Element as _;
use crate::error::Problem;
use crate::geometry::{self, Dims};
use crate::value::Value;

pub(super) const KERNELS: Table = &[
    ("aten::affine_grid_generator", affine_grid),
    ("aten::channel_shuffle", channel_shuffle),
    ("aten::col2im", col2im),
    ("aten::grid_sampler", |call| grid_sample(call)),
    ("aten::grid_sampler_2d", |call| grid_sample(call)),
    ("aten::im2col", im2col),
    ("aten::pixel_shuffle", |call| shuffle(call, true)),
    ("aten::pixel_unshuffle", |call| shuffle(call, false)),
];

fn positive(call: &Call<'_>, position: usize) -> Result<usize, Problem> {
    usize::try_from(call.int(position)?)
        .ok()
        .filter(|value| *value > 0)
        .ok_or_else(|| Problem::invalid("the factor must be positive"))
}

/// `pixel_shuffle(self, upscale_factor)`: channels become pixels; `pixel_unshuffle` the reverse.
fn shuffle(call: &Call<'_>, to_pixels: bool) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let factor = positive(call, 1)?;
    let [batch @ .., channels, height, width] = array.sizes() else {
        return Err(Problem::invalid("at least three dimensions are needed"));
    };
    let (channels, height, width) = (*channels, *height, *width);
    let fits = match to_pixels {
        true => channels % (factor * factor) == 0,
        false => height % factor == 0 && width % factor == 0,
    };
    if !fits {
        return Err(Problem::invalid(format!(
            "sizes {:?} do not fit a factor of {factor}",
            array.sizes()
        )));
    }
    let count = geometry::numel(batch);
    let (parts, order, result) = match to_pixels {
        true => {
            let outer = channels / (factor * factor);
            (
                [count, outer, factor, factor, height, width],
                [0, 1, 4, 2, 5, 3],
                [outer, height * factor, width * factor],
            )
        }
        false => (
            [
                count,
                channels,
                height / factor,
                factor,
                width / factor,
                factor,
            ],
            [0, 1, 3, 5, 2, 4],
            [channels * factor * factor, height / factor, width / factor],
        ),
    };
    let mut sizes = Dims::from_slice(batch);
    sizes.extend(result);
    let moved = permuted(&reshape(&array, &parts)?, &order)?.contiguous()?;
    Ok(in_format_of(reshape(&moved, &sizes)?, &array)?.into())
}

/// `channel_shuffle(self, groups)`
fn channel_shuffle(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let groups = positive(call, 1)?;
    let (batch, channels) = (array.size(0), array.size(1));
    if array.rank() < 3 || channels % groups != 0 {
        return Err(Problem::invalid(format!(
            "sizes {:?} do not fit {groups} groups",
            array.sizes()
        )));
    }
    let rest = geometry::numel(&array.sizes()[2..]);
    let parts = reshape(&array, &[batch, groups, channels / groups, rest])?;
    let moved = transpose(&parts, 1, 2)?.contiguous()?;
    Ok(reshape(&moved, array.sizes())?.into())
}

/// `affine_grid_generator(theta, size, align_corners)`
fn affine_grid(call: &Call<'_>) -> Result<Value, Problem> {
    let theta = call.array(0)?;
    let size = call.sizes(1)?;
    let aligns = call.bool(2)?;
    let dims = size.len().saturating_sub(2);
    if !matches!(dims, 2 | 3) || theta.sizes() != [size[0], dims, dims + 1] {
        return Err(Problem::invalid(format!(
            "a transformation of sizes {:?} does not fit {size:?}",
            theta.sizes()
        )));
    }
    let points: usize = size[2..].iter().product();
    compute!(float, theta.dtype(), C, O => {
        let mut base = Fresh::<C>::new(points * (dims + 1))?;
        for (point, row) in base.elements().chunks_mut(dims + 1).enumerate() {
            let mut rest = point;
            // The last dimension is x, which stands first.
            for (column, count) in size[2..].iter().rev().enumerate() {
                let (index, count_f) = ((rest % count) as f64, *count as f64);
                rest /= count;
                row[column] = C::from_f64(match (aligns, *count) {
                    (_, 1) => 0.0,
                    (true, _) => -1.0 + 2.0 * index / (count_f - 1.0),
                    (false, _) => (2.0 * index + 1.0) / count_f - 1.0,
                });
            }
            row[dims] = C::unit();
        }
        let base = base.into_array(&[1, points, dims + 1])?.expand(&[size[0], points, dims + 1])?;
        let grid = batched(&base, &transpose(&theta.converted(C::DTYPE)?, 1, 2)?)?;
        let mut sizes = Dims::from_slice(&[size[0]]);
        sizes.extend_from_slice(&size[2..]);
        sizes.push(dims);
        Ok(reshape(&grid, &sizes)?.converted(O::DTYPE)?.into())
    })
}

/// How places outside of an image are read.
#[derive(Clone, Copy, PartialEq)]
enum Outside {
    Zeros,
    Border,
    Reflection,
}

/// `grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)`
fn grid_sample(call: &Call<'_>) -> Result<Value, Problem> {
    let (input, grid) = (call.array(0)?, call.array(1)?);
    let mode = call.int(2)?;
    let outside = match call.int(3)? {
        0 => Outside::Zeros,
        1 => Outside::Border,
        _ => Outside::Reflection,
    };
    let aligns = call.bool(4)?;
    let (&[batch, channels, height, width], &[grid_batch, rows, columns, 2]) =
        (input.sizes(), grid.sizes())
    else {
        return Err(Problem::invalid(format!(
            "an image of sizes {:?} cannot be sampled by a grid of sizes {:?}",
            input.sizes(),
            grid.sizes()
        )));
    };
    if batch != grid_batch {
        return Err(Problem::invalid("there must be a grid for each image"));
    }
    compute!(float, input.dtype(), C, O => {
        let values = input.converted(C::DTYPE)?.to_vec::<C>()?;
        let places = grid.converted(C::DTYPE)?.to_vec::<C>()?;
        let plane = height * width;
        let mut fresh = Fresh::<C>::new(batch * channels * rows * columns)?;
        let out = fresh.elements();
        for image in 0..batch {
            for point in 0..rows * columns {
                let at = (image * rows * columns + point) * 2;
                let sampler = Sampler { height, width, outside, aligns, mode };
                let taps = sampler.taps(places[at].to_f64(), places[at + 1].to_f64());
                for channel in 0..channels {
                    let start = (image * channels + channel) * plane;
                    let mut sum = 0.0;
                    for (place, weight) in &taps {
                        sum += values[start + place].to_f64() * weight;
                    }
                    out[(image * channels + channel) * rows * columns + point] = C::from_f64(sum);
                }
            }
        }
        Ok(fresh.into_array(&[batch, channels, rows, columns])?.converted(O::DTYPE)?.into())
    })
}

struct Sampler {
    height: usize,
    width: usize,
    outside: Outside,
    aligns: bool,
    /// 0 linear, 1 nearest, 2 cubic.
    mode: i64,
}

impl Sampler {
    /// Places of a plane and their weights.
    fn taps(&self, x: f64, y: f64) -> Vec<(usize, f64)> {
        let (x, y) = (
            self.unnormalized(x, self.width),
            self.unnormalized(y, self.height),
        );
        let along = |at: f64, size: usize| -> Vec<(i64, f64)> {
            match self.mode {
                2 => {
                    let low = at.floor();
                    let weights = cubic_weights(at - low);
                    (0..4)
                        .map(|tap| {
                            let place = low + f64::from(tap) - 1.0;
                            (self.inside(place, size) as i64, weights[tap as usize])
                        })
                        .collect()
                }
                1 => vec![(self.inside(at, size).round_ties_even() as i64, 1.0)],
                _ => {
                    let at = self.inside(at, size);
                    let low = at.floor();
                    vec![(low as i64, low + 1.0 - at), (low as i64 + 1, at - low)]
                }
            }
        };
        let (columns, rows) = (along(x, self.width), along(y, self.height));
        let mut taps = Vec::new();
        for (row, row_weight) in &rows {
            for (column, column_weight) in &columns {
                let place = usize::try_from(*row)
                    .ok()
                    .zip(usize::try_from(*column).ok());
                if let Some((row, column)) = place
                    && row < self.height
                    && column < self.width
                {
                    taps.push((row * self.width + column, row_weight * column_weight));
                }
            }
        }
        taps
    }

    fn unnormalized(&self, at: f64, size: usize) -> f64 {
        match self.aligns {
            true => (at + 1.0) / 2.0 * (size as f64 - 1.0),
            false => ((at + 1.0) * size as f64 - 1.0) / 2.0,
        }
    }

    /// The place that is read for one that may be outside.
    fn inside(&self, at: f64, size: usize) -> f64 {
        let last = size as f64 - 1.0;
        match self.outside {
            Outside::Zeros => at,
            Outside::Border => at.clamp(0.0, last),
            Outside::Reflection => {
                let (low, high) = match self.aligns {
                    true => (0.0, last),
                    false => (-0.5, last + 0.5),
                };
                let span = high - low;
                if span <= 0.0 {
                    return 0.0;
                }
                let distance = (at - low).abs();
                let rest = distance % span;
                let is_even = (distance / span).floor() % 2.0 == 0.0;
                let reflected = if is_even {
                    rest + low
                } else {
                    span - rest + low
                };
                reflected.clamp(0.0, last)
            }
        }
    }
}

/// The windows of `im2col` and `col2im`.
fn columns_window(call: &Call<'_>, sizes: &[usize], first: usize) -> Result<Window, Problem> {
    Window::new(
        sizes_three(sizes),
        three(&call.ints_of(first, 2)?, 1)?,
        three(&call.ints_of(first + 3, 2)?, 1)?,
        three(&call.ints_of(first + 2, 2)?, 0)?,
        three(&call.ints_of(first + 1, 2)?, 1)?,
        false,
    )
}

/// `im2col(self, kernel_size, dilation, padding, stride)`
fn im2col(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let [batch @ .., channels, height, width] = array.sizes() else {
        return Err(Problem::invalid("at least three dimensions are needed"));
    };
    let window = columns_window(call, &[*height, *width], 1)?;
    let rows = channels * window.volume();
    let mut sizes = Dims::from_slice(batch);
    sizes.extend([rows, window.output_plane()]);
    compute!(any, array.dtype(), C, O => {
        let values = array.converted(C::DTYPE)?.to_vec::<C>()?;
        let mut fresh = Fresh::<C>::new(geometry::numel(&sizes))?;
        let part = (window.volume() * window.output_plane()).max(1);
        let planes = values.chunks(window.input_plane().max(1));
        for (columns, plane) in fresh.elements().chunks_mut(part).zip(planes) {
            window.gather(plane, 0..window.output_rows(), columns);
        }
        Ok(fresh.into_array(&sizes)?.converted(O::DTYPE)?.into())
    })
}

/// `col2im(self, output_size, kernel_size, dilation, padding, stride)`
fn col2im(call: &Call<'_>) -> Result<Value, Problem> {
    let array = call.array(0)?;
    let output = call.sizes(1)?;
    let [batch @ .., rows, count] = array.sizes() else {
        return Err(Problem::invalid("at least two dimensions are needed"));
    };
    let window = columns_window(call, &output, 2)?;
    if rows % window.volume() != 0 || *count != window.output_plane() {
        return Err(Problem::invalid(format!(
            "columns of sizes {:?} do not fit an image of sizes {output:?}",
            array.sizes()
        )));
    }
    let mut sizes = Dims::from_slice(batch);
    sizes.push(rows / window.volume());
    sizes.extend_from_slice(&output);
    compute!(product, array.dtype(), C, O => {
        let values = array.converted(C::DTYPE)?.to_vec::<C>()?;
        let mut fresh = Fresh::<C>::new(geometry::numel(&sizes))?;
        let part = (window.volume() * window.output_plane()).max(1);
        let planes = fresh.elements().chunks_mut(window.input_plane().max(1));
        for (plane, columns) in planes.zip(values.chunks(part)) {
            window.scatter(columns, plane, super::super::pointwise::Arithmetic::plus);
        }
        Ok(fresh.into_array(&sizes)?.converted(O::DTYPE)?.into())
    })
}
