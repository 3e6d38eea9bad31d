//! Arrays: a geometry over a storage.

use std::sync::Arc;

use graven_ir::DType;
use graven_ops::catalogue::overlap;

use crate::element::{Element, dispatch};
use crate::error::Problem;
use crate::geometry::{self, Dims, Walk};
use crate::scalar::Scalar;
use crate::shape::Shape;
use crate::storage::{Buffer, Storage};

/// Elements of a storage, by sizes, strides and an offset. Clones and views share the storage.
///
/// An array never reaches beyond its storage.
#[derive(Clone, Debug)]
pub struct Array {
    storage: Storage,
    shape: Arc<Shape>,
    dtype: DType,
    offset: usize,
    conjugate: bool,
    negative: bool,
}

/// The elements of an array's storage as they were when they were asked for.
#[derive(Debug)]
pub struct Data<T> {
    buffer: Arc<Buffer>,
    offset: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Element> Data<T> {
    /// The storage's elements, from the array's first on.
    pub fn elements(&self) -> &[T] {
        self.buffer
            .elements::<T>()
            .get(self.offset..)
            .unwrap_or(&[])
    }
}

/// Memory for the elements of a new tensor.
#[derive(Debug)]
pub struct Fresh<T> {
    buffer: Buffer,
    element: std::marker::PhantomData<T>,
}

impl<T: Element> Fresh<T> {
    /// Memory for so many elements, all 0.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn new(count: usize) -> Result<Self, Problem> {
        Self::made(count, Buffer::zeroed)
    }

    /// Memory for so many elements of any value: for kernels that write all of them.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn to_be_written(count: usize) -> Result<Self, Problem> {
        Self::made(count, Buffer::any)
    }

    fn made(
        count: usize,
        make: impl FnOnce(usize) -> Result<Buffer, Problem>,
    ) -> Result<Self, Problem> {
        let bytes = count.checked_mul(size_of::<T>());
        let bytes = bytes.ok_or(Problem::OutOfMemory { bytes: usize::MAX })?;
        Ok(Self {
            buffer: make(bytes)?,
            element: std::marker::PhantomData,
        })
    }

    /// The elements.
    pub fn elements(&mut self) -> &mut [T] {
        // A buffer of our own is always there to be written.
        self.buffer.elements_mut().unwrap_or(&mut [])
    }

    /// A contiguous array of them.
    ///
    /// # Errors
    /// When the sizes need more elements than there are.
    pub fn into_array(self, sizes: &[usize]) -> Result<Array, Problem> {
        let strides = geometry::contiguous_strides(sizes);
        self.into_strided(sizes, strides)
    }

    /// An array of them with these strides.
    ///
    /// # Errors
    /// When the geometry needs more elements than there are.
    pub fn into_strided(self, sizes: &[usize], strides: Dims) -> Result<Array, Problem> {
        Array::new(Storage::new(self.buffer), T::DTYPE, sizes, strides, 0)
    }

    /// An array of them with the shape of another.
    ///
    /// # Errors
    /// When the geometry needs more elements than there are.
    pub(crate) fn into_shape_of(self, other: &Array) -> Result<Array, Problem> {
        let storage = Storage::new(self.buffer);
        Array::with_shape(storage, T::DTYPE, Arc::clone(&other.shape), 0)
    }
}

impl Array {
    /// An array over a storage; strides and offset count elements.
    ///
    /// # Errors
    /// [`Problem::OutsideStorage`].
    pub fn new(
        storage: Storage,
        dtype: DType,
        sizes: &[usize],
        strides: Dims,
        offset: usize,
    ) -> Result<Self, Problem> {
        let shape = Arc::new(Shape::new(sizes, strides)?);
        Self::with_shape(storage, dtype, shape, offset)
    }

    fn with_shape(
        storage: Storage,
        dtype: DType,
        shape: Arc<Shape>,
        offset: usize,
    ) -> Result<Self, Problem> {
        let bytes = storage.len();
        let end = match shape.reach() {
            0 => Some(0),
            reach => reach.checked_add(offset),
        };
        let end = end.and_then(|end| end.checked_mul(dtype.bytes()));
        if end.is_none_or(|end| end > bytes) {
            return Err(Problem::OutsideStorage {
                sizes: shape.sizes().to_vec(),
                strides: shape.strides().to_vec(),
                offset,
                bytes,
            });
        }
        Ok(Self {
            storage,
            shape,
            dtype,
            offset,
            conjugate: false,
            negative: false,
        })
    }

    /// Whether both have the same sizes and strides.
    pub(crate) fn is_shaped_like(&self, other: &Self) -> bool {
        self.shape.is_like(&other.shape)
    }

    /// Whether the strides are those of a fresh contiguous tensor, in dimensions of one element
    /// too.
    pub(crate) fn is_fresh(&self) -> bool {
        self.shape.is_fresh()
    }

    /// A contiguous array of zeros.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn zeros(dtype: DType, sizes: &[usize]) -> Result<Self, Problem> {
        Self::zeros_strided(dtype, sizes, geometry::contiguous_strides(sizes))
    }

    /// An array of zeros with these strides.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn zeros_strided(dtype: DType, sizes: &[usize], strides: Dims) -> Result<Self, Problem> {
        let bytes = geometry::reach(sizes, &strides)
            .and_then(|reach| reach.checked_mul(dtype.bytes()))
            .ok_or(Problem::OutOfMemory { bytes: usize::MAX })?;
        Self::new(Storage::zeroed(bytes)?, dtype, sizes, strides, 0)
    }

    /// An array whose elements have any value; gaps between them are 0.
    fn to_be_written(dtype: DType, sizes: &[usize], strides: Dims) -> Result<Self, Problem> {
        let shape = Shape::new(sizes, strides)?;
        let bytes = shape.reach().checked_mul(dtype.bytes());
        let bytes = bytes.ok_or(Problem::OutOfMemory { bytes: usize::MAX })?;
        let buffer = match shape.reach() == shape.numel() {
            true => Buffer::any(bytes)?,
            false => Buffer::zeroed(bytes)?,
        };
        Self::with_shape(Storage::new(buffer), dtype, Arc::new(shape), 0)
    }

    /// A contiguous array of these elements.
    ///
    /// # Errors
    /// When there are fewer elements than the sizes need, or no memory.
    pub fn from_elements<T: Element>(elements: &[T], sizes: &[usize]) -> Result<Self, Problem> {
        let mut fresh = Fresh::to_be_written(elements.len())?;
        fresh.elements().copy_from_slice(elements);
        fresh.into_array(sizes)
    }

    /// A tensor of one element and no dimensions.
    ///
    /// # Errors
    /// When the dtype cannot be held.
    pub fn scalar(dtype: DType, value: Scalar) -> Result<Self, Problem> {
        dispatch!(any, dtype, T => Self::from_elements(&[value.to::<T>()], &[]))
    }

    /// The storage.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Elements per dimension.
    pub fn sizes(&self) -> &[usize] {
        self.shape.sizes()
    }

    /// Elements to step over per dimension.
    pub fn strides(&self) -> &[usize] {
        self.shape.strides()
    }

    /// The first element's place in the storage, in elements.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// How many dimensions there are.
    pub fn rank(&self) -> usize {
        self.sizes().len()
    }

    /// How many elements there are.
    pub fn numel(&self) -> usize {
        self.shape.numel()
    }

    /// The size of a dimension, 1 for the only dimension that a tensor without any is given.
    pub fn size(&self, dim: usize) -> usize {
        self.sizes().get(dim).copied().unwrap_or(1)
    }

    /// Whether elements stand in order and without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.shape.is_contiguous()
    }

    /// Whether reading gives conjugate values of the storage's.
    pub fn is_conjugate(&self) -> bool {
        self.conjugate
    }

    /// Whether reading gives negative values of the storage's.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// The same elements, read with the conjugate bit turned.
    pub fn conjugated(mut self) -> Self {
        self.conjugate ^= self.dtype.is_complex();
        self
    }

    /// The same elements, read with the negative bit turned.
    pub fn negated(mut self) -> Self {
        self.negative ^= true;
        self
    }

    /// The same values over a storage of its own: later writes to either do not show in the other.
    /// Nothing is copied until one is written.
    pub fn fork(&self) -> Self {
        Self {
            storage: self.storage.fork(),
            ..self.clone()
        }
    }

    /// A view of the same storage with another geometry, bits kept.
    ///
    /// # Errors
    /// [`Problem::OutsideStorage`].
    pub fn view(&self, sizes: &[usize], strides: Dims, offset: usize) -> Result<Self, Problem> {
        let view = Self::new(self.storage.clone(), self.dtype, sizes, strides, offset)?;
        Ok(Self {
            conjugate: self.conjugate,
            negative: self.negative,
            ..view
        })
    }

    /// A view of the same bytes as elements of another dtype.
    ///
    /// # Errors
    /// [`Problem::OutsideStorage`].
    pub fn reinterpreted(
        &self,
        dtype: DType,
        sizes: &[usize],
        strides: Dims,
        offset: usize,
    ) -> Result<Self, Problem> {
        Self::new(self.storage.clone(), dtype, sizes, strides, offset)
    }

    /// A view that is broadcast to these sizes.
    ///
    /// # Errors
    /// [`Problem::Broadcast`].
    pub fn expand(&self, sizes: &[usize]) -> Result<Self, Problem> {
        let strides = geometry::expanded_strides(self.sizes(), self.strides(), sizes)?;
        self.view(sizes, strides, self.offset)
    }

    /// The storage's elements as they are now. Bits are not applied: see [`Self::resolved`].
    ///
    /// # Errors
    /// [`Problem::OtherDType`].
    pub fn data<T: Element>(&self) -> Result<Data<T>, Problem> {
        self.expect(T::DTYPE)?;
        Ok(Data {
            buffer: self.storage.snapshot(),
            offset: self.offset,
            element: std::marker::PhantomData,
        })
    }

    fn expect(&self, expected: DType) -> Result<(), Problem> {
        match self.dtype == expected {
            true => Ok(()),
            false => Err(Problem::OtherDType {
                expected,
                found: self.dtype,
            }),
        }
    }

    /// Changes the storage's elements, from this array's first on.
    ///
    /// # Errors
    /// [`Problem::OtherDType`], or no memory for the copy that a write to shared bytes makes.
    pub fn write<T: Element, R>(&self, change: impl FnOnce(&mut [T]) -> R) -> Result<R, Problem> {
        self.expect(T::DTYPE)?;
        let offset = self.offset;
        self.storage
            .write(|elements: &mut [T]| change(elements.get_mut(offset..).unwrap_or(&mut [])))
    }

    /// The same values without bits: itself when it has none, else a copy.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn resolved(&self) -> Result<Self, Problem> {
        if !self.conjugate && !self.negative {
            return Ok(self.clone());
        }
        let (conjugate, negative) = (self.conjugate, self.negative);
        let plain = Self {
            conjugate: false,
            negative: false,
            ..self.clone()
        };
        let copy = plain.copied(geometry::elementwise_strides(
            self.sizes(),
            &[self.strides()],
        ))?;
        dispatch!(any, self.dtype, T => copy.write(|elements: &mut [T]| {
            for element in elements {
                let mut value = element.to_complex();
                if conjugate {
                    value = value.conj();
                }
                if negative {
                    value = -value;
                }
                *element = T::from_complex(value);
            }
        }))?;
        Ok(copy)
    }

    /// A copy with these strides.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn copied(&self, strides: Dims) -> Result<Self, Problem> {
        let copy = Self::to_be_written(self.dtype, self.sizes(), strides)?;
        copy.assign(self)?;
        Ok(copy)
    }

    /// Itself when it is contiguous and has no bits, else a contiguous copy. Strides of dimensions
    /// of one element are those of a fresh tensor.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn contiguous(&self) -> Result<Self, Problem> {
        let has_bits = self.conjugate || self.negative;
        if self.is_fresh() && !has_bits {
            return Ok(self.clone());
        }
        let strides = geometry::contiguous_strides(self.sizes());
        if self.is_contiguous() && !has_bits {
            return self.view(self.sizes(), strides, self.offset);
        }
        self.copied(strides)
    }

    /// Itself when it has this dtype, else a copy that is converted, strides kept.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`], or a dtype that cannot be held.
    pub fn converted(&self, dtype: DType) -> Result<Self, Problem> {
        if self.dtype == dtype {
            return Ok(self.clone());
        }
        let strides = geometry::elementwise_strides(self.sizes(), &[self.strides()]);
        let copy = Self::to_be_written(dtype, self.sizes(), strides)?;
        copy.assign(self)?;
        Ok(copy)
    }

    /// Writes the values of another array, broadcast and converted: torch's `copy_`. Values are
    /// read before any is written.
    ///
    /// # Errors
    /// [`Problem::Broadcast`], or an array whose elements overlap.
    pub fn assign(&self, source: &Self) -> Result<(), Problem> {
        if self.conjugate || self.negative {
            // What reads as `v` is stored as its conjugate or negative.
            let mut turned = source.clone();
            turned.conjugate ^= self.conjugate && self.dtype.is_complex();
            turned.negative ^= self.negative;
            let plain = Self {
                conjugate: false,
                negative: false,
                ..self.clone()
            };
            return plain.assign(&turned);
        }
        let source = source.resolved()?;
        let strides = geometry::expanded_strides(source.sizes(), source.strides(), self.sizes())?;
        self.check_distinct()?;
        let walk = Walk::new(self.sizes(), [self.strides(), &strides]);
        dispatch!(any, self.dtype, T => {
            dispatch!(any, source.dtype, S => {
                let data = source.data::<S>()?;
                self.write(|to: &mut [T]| copy_rows(&walk, to, data.elements()))
            })
        })
    }

    /// Whether a write to each element reaches another place of the storage.
    fn check_distinct(&self) -> Result<(), Problem> {
        let is_repeated = |(size, stride): (&usize, &usize)| *size > 1 && *stride == 0;
        let mut dims = self.sizes().iter().zip(self.strides());
        let overlaps = !self.is_contiguous() && {
            let ints = |dims: &[usize]| -> Vec<graven_ir::SymInt> {
                let int = |value: &usize| graven_ir::SymInt::Int(*value as i64);
                dims.iter().map(int).collect()
            };
            dims.any(is_repeated) || overlap::overlaps(&ints(self.sizes()), &ints(self.strides()))
        };
        if overlaps && self.numel() > 1 {
            return Err(Problem::invalid(
                "more than one element of the tensor that is written stands at one place in \
                 memory; clone it first",
            ));
        }
        Ok(())
    }

    /// The only element, as a number.
    ///
    /// # Errors
    /// When there is not exactly one.
    pub fn item(&self) -> Result<Scalar, Problem> {
        if self.numel() != 1 {
            return Err(Problem::invalid(format!(
                "a tensor of {} elements is no single number",
                self.numel()
            )));
        }
        let array = self.resolved()?;
        dispatch!(any, self.dtype, T => {
            let data = array.data::<T>()?;
            Ok(Scalar::from_element(data.elements()[0]))
        })
    }

    /// The bytes of the elements in order, without gaps.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn element_bytes(&self) -> Result<Vec<u8>, Problem> {
        let array = self.contiguous()?;
        let buffer = array.storage.snapshot();
        let width = self.dtype.bytes();
        let start = array.offset * width;
        let bytes = buffer.bytes().get(start..start + self.numel() * width);
        Ok(bytes.unwrap_or(&[]).to_vec())
    }

    /// The elements in order.
    ///
    /// # Errors
    /// [`Problem::OtherDType`].
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Problem> {
        let array = self.contiguous()?;
        let data = array.data::<T>()?;
        Ok(data.elements()[..self.numel()].to_vec())
    }
}

/// Copies row after row, converting.
fn copy_rows<T: Element, S: Element>(walk: &Walk<2>, to: &mut [T], from: &[S]) {
    let row = walk.row();
    let [to_step, from_step] = walk.steps();
    walk.for_each_row(0..walk.rows(), |[to_place, from_place]| {
        if to_step == 1 && from_step == 1 {
            let from = &from[from_place..from_place + row];
            let to = &mut to[to_place..to_place + row];
            convert_slice(to, from);
            return;
        }
        for index in 0..row {
            to[to_place + index * to_step] = convert(from[from_place + index * from_step]);
        }
    });
}

fn convert_slice<T: Element, S: Element>(to: &mut [T], from: &[S]) {
    match bytemuck::try_cast_slice::<S, T>(from) {
        Ok(same) if T::DTYPE == S::DTYPE => to.copy_from_slice(same),
        _ => to
            .iter_mut()
            .zip(from)
            .for_each(|(to, from)| *to = convert(*from)),
    }
}

/// An element as another type.
pub(crate) fn convert<S: Element, T: Element>(value: S) -> T {
    if T::DTYPE == DType::Bool {
        return T::from_bool(value.is_true());
    }
    if S::DTYPE.is_complex() {
        return T::from_complex(value.to_complex());
    }
    if S::DTYPE.is_floating_point() {
        return T::from_f64(value.to_f64());
    }
    T::from_i64(value.to_i64())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn copies_convert_and_broadcast() {
        let to = Array::zeros(DType::Int32, &[2, 3]).unwrap();
        let from = Array::from_elements(&[1.5_f32, -2.7, f32::NAN], &[3]).unwrap();
        to.assign(&from).unwrap();
        assert_eq!(to.to_vec::<i32>().unwrap(), [1, -2, 0, 1, -2, 0]);
    }

    #[test]
    fn a_copy_reads_before_it_writes() {
        let array = Array::from_elements(&[1_i64, 2, 3, 4], &[4]).unwrap();
        let strides = Dims::from_slice(&[1]);
        let low = array.view(&[3], strides.clone(), 0).unwrap();
        let high = array.view(&[3], strides, 1).unwrap();
        high.assign(&low).unwrap();
        assert_eq!(array.to_vec::<i64>().unwrap(), [1, 1, 2, 3]);
    }

    #[test]
    fn a_view_cannot_leave_its_storage() {
        let array = Array::from_elements(&[1_i64, 2, 3, 4], &[4]).unwrap();
        assert!(array.view(&[3], Dims::from_slice(&[2]), 0).is_err());
        assert!(
            array
                .view(&[usize::MAX], Dims::from_slice(&[usize::MAX]), 1)
                .is_err()
        );
        assert!(array.view(&[0], Dims::from_slice(&[9]), 99).is_ok());
    }
}
