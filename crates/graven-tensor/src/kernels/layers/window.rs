//! Windows that slide over up to three dimensions: what convolution and pooling have in common.

use std::ops::Range;

use crate::error::Problem;

/// Depth, height, width; the first ones are 1 where there are fewer dimensions.
pub(super) type Three = [usize; 3];

/// How windows lie over an input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) input: Three,
    pub(super) output: Three,
    pub(super) kernel: Three,
    pub(super) stride: Three,
    pub(super) padding: Three,
    pub(super) dilation: Three,
}

/// One number for each of the dimensions that there are, as three.
pub(super) fn three(values: &[i64], missing: usize) -> Result<Three, Problem> {
    let mut three = [missing; 3];
    let start = 3_usize
        .checked_sub(values.len())
        .ok_or_else(|| Problem::invalid("windows have three dimensions at most"))?;
    for (slot, value) in three[start..].iter_mut().zip(values) {
        *slot = usize::try_from(*value)
            .map_err(|_| Problem::invalid(format!("{value} must not be negative")))?;
    }
    Ok(three)
}

pub(super) fn sizes_three(sizes: &[usize]) -> Three {
    let mut three = [1; 3];
    let start = 3 - sizes.len().min(3);
    three[start..].copy_from_slice(&sizes[sizes.len() - (3 - start)..]);
    three
}

impl Window {
    /// Windows whose output sizes follow from the rest.
    pub(super) fn new(
        input: Three,
        kernel: Three,
        stride: Three,
        padding: Three,
        dilation: Three,
        rounds_up: bool,
    ) -> Result<Self, Problem> {
        let mut output = [1; 3];
        for dim in 0..3 {
            let (stride, kernel) = (stride[dim], kernel[dim]);
            if stride == 0 || kernel == 0 || dilation[dim] == 0 {
                return Err(Problem::invalid(
                    "kernel, stride and dilation must be positive",
                ));
            }
            let reach = dilation[dim] * (kernel - 1) + 1;
            let padded = input[dim] + 2 * padding[dim];
            let room = padded.checked_sub(reach).ok_or_else(|| {
                Problem::invalid(format!(
                    "a kernel that reaches {reach} elements is greater than the padded input of {padded}"
                ))
            })?;
            output[dim] = match rounds_up {
                false => room / stride + 1,
                true => {
                    let count = room.div_ceil(stride) + 1;
                    // The last window begins inside of the input or its left padding.
                    let is_outside = (count - 1) * stride >= input[dim] + padding[dim];
                    count - usize::from(is_outside)
                }
            };
        }
        Ok(Self {
            input,
            output,
            kernel,
            stride,
            padding,
            dilation,
        })
    }

    /// Elements of a plane of the input.
    pub(super) fn input_plane(&self) -> usize {
        self.input.iter().product()
    }

    /// Elements of a plane of the output.
    pub(super) fn output_plane(&self) -> usize {
        self.output.iter().product()
    }

    /// Elements of a window.
    pub(super) fn volume(&self) -> usize {
        self.kernel.iter().product()
    }

    /// Whether each window is one element, and they cover the input in order.
    pub(super) fn is_identity(&self) -> bool {
        self.volume() == 1 && self.stride == [1; 3] && self.padding == [0; 3]
    }

    /// The place in the input that an element of a window has; `None` in the padding.
    fn source(&self, dim: usize, output: usize, kernel: usize) -> Option<usize> {
        let place = output * self.stride[dim] + kernel * self.dilation[dim];
        place
            .checked_sub(self.padding[dim])
            .filter(|place| *place < self.input[dim])
    }

    /// How many rows along the last dimension the output has.
    pub(super) fn output_rows(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Visits each element of the kernel: its number, and for each of these rows of the output
    /// along the last dimension the row's start, the input row's start if there is one.
    fn for_each_row(
        &self,
        rows: Range<usize>,
        mut visit: impl FnMut(usize, usize, usize, Option<usize>),
    ) {
        let [_, height, width] = self.input;
        let mut number = 0;
        for kd in 0..self.kernel[0] {
            for kh in 0..self.kernel[1] {
                for kw in 0..self.kernel[2] {
                    for row in rows.clone() {
                        let depth = self.source(0, row / self.output[1], kd);
                        let line = self.source(1, row % self.output[1], kh);
                        let start = depth.zip(line).map(|(d, h)| (d * height + h) * width);
                        visit(number, kw, row * self.output[2], start);
                    }
                    number += 1;
                }
            }
        }
    }

    /// The range of outputs along the last dimension whose element `kw` is in the input.
    fn inside(&self, kw: usize) -> (usize, usize) {
        let (stride, padding) = (self.stride[2], self.padding[2]);
        let shift = kw * self.dilation[2];
        let first = padding.saturating_sub(shift).div_ceil(stride);
        let end = (self.input[2] + padding)
            .saturating_sub(shift)
            .div_ceil(stride);
        (
            first.min(self.output[2]),
            end.min(self.output[2]).max(first.min(self.output[2])),
        )
    }

    /// Each window's elements of a plane as a column, for these rows of the output: `columns` is
    /// `[volume, rows · width]`, and all of it is written.
    pub(super) fn gather<T: Copy + Default>(
        &self,
        plane: &[T],
        rows: Range<usize>,
        columns: &mut [T],
    ) {
        let width = self.output[2];
        let (skipped, count) = (rows.start * width, rows.len() * width);
        self.for_each_row(rows, |number, kw, row, start| {
            let out = &mut columns[number * count + row - skipped..][..width];
            let (first, end) = self.inside(kw);
            let Some(start) = start.filter(|_| first < end) else {
                return out.fill(T::default());
            };
            out[..first].fill(T::default());
            out[end..].fill(T::default());
            let out = &mut out[first..end];
            let place = first * self.stride[2] + kw * self.dilation[2] - self.padding[2];
            let from = &plane[start + place..];
            match self.stride[2] {
                1 => out.copy_from_slice(&from[..end - first]),
                stride => out
                    .iter_mut()
                    .zip(from.iter().step_by(stride))
                    .for_each(|(out, value)| *out = *value),
            }
        });
    }

    /// The reverse: columns are added to the plane that they came from.
    pub(super) fn scatter<T: Copy>(&self, columns: &[T], plane: &mut [T], add: impl Fn(T, T) -> T) {
        let count = self.output_plane();
        self.for_each_row(0..self.output_rows(), |number, kw, row, start| {
            let Some(start) = start else { return };
            let (first, end) = self.inside(kw);
            let from = &columns[number * count + row..][first..end];
            for (index, value) in from.iter().enumerate() {
                let place =
                    (first + index) * self.stride[2] + kw * self.dilation[2] - self.padding[2];
                plane[start + place] = add(plane[start + place], *value);
            }
        });
    }

    /// Visits the elements of one window that are in the input: their places in the plane.
    pub(super) fn for_each_in_window(&self, output: usize, mut visit: impl FnMut(usize)) {
        let ow = output % self.output[2];
        let oh = output / self.output[2] % self.output[1];
        let od = output / self.output[2] / self.output[1];
        for kd in 0..self.kernel[0] {
            let Some(depth) = self.source(0, od, kd) else {
                continue;
            };
            for kh in 0..self.kernel[1] {
                let Some(line) = self.source(1, oh, kh) else {
                    continue;
                };
                for kw in 0..self.kernel[2] {
                    if let Some(column) = self.source(2, ow, kw) {
                        visit((depth * self.input[1] + line) * self.input[2] + column);
                    }
                }
            }
        }
    }
}
