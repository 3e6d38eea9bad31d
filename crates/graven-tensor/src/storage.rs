//! Storages: bytes that several tensors share.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bytemuck::{Pod, Zeroable};
use graven_ir::state::ByteSource;

use crate::element::Element;
use crate::error::Problem;
use crate::pool;

/// The unit of allocation, which aligns buffers to 64 bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Line([u8; 64]);

/// Bytes of a tensor of a few elements, which need no allocation of their own.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C, align(16))]
pub(crate) struct Few([u64; 8]);

/// Bytes that do not change while they are shared.
pub(crate) enum Buffer {
    /// At most 64 bytes, where the buffer itself stands.
    Few { few: Few, bytes: usize },
    /// Lines, of which the first so many bytes count. They go back to the pool.
    Owned { lines: Vec<Line>, bytes: usize },
    /// Someone else's, as a mapped archive's. They are copied before the first write.
    Shared(Arc<dyn ByteSource>),
}

impl Buffer {
    /// Zeros.
    pub(crate) fn zeroed(bytes: usize) -> Result<Self, Problem> {
        Self::made(bytes, pool::take_zeroed)
    }

    /// Bytes of any value, for those who write all of them.
    pub(crate) fn any(bytes: usize) -> Result<Self, Problem> {
        Self::made(bytes, pool::take)
    }

    fn made(
        bytes: usize,
        take: impl FnOnce(usize) -> Result<Vec<Line>, Problem>,
    ) -> Result<Self, Problem> {
        if bytes <= size_of::<Few>() {
            let few = Few::default();
            return Ok(Self::Few { few, bytes });
        }
        let lines = take(bytes.div_ceil(size_of::<Line>()))?;
        Ok(Self::Owned { lines, bytes })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Few { few, bytes } => &bytemuck::bytes_of(few)[..*bytes],
            Self::Owned { lines, bytes } => &bytemuck::cast_slice(lines)[..*bytes],
            Self::Shared(source) => source.bytes(),
        }
    }

    /// The bytes, to be written; those of someone else are copied first.
    pub(crate) fn bytes_mut(&mut self) -> Result<&mut [u8], Problem> {
        if let Self::Shared(source) = self {
            *self = Self::copied(source.bytes())?;
        }
        match self {
            Self::Few { few, bytes } => Ok(&mut bytemuck::bytes_of_mut(few)[..*bytes]),
            Self::Owned { lines, bytes } => Ok(&mut bytemuck::cast_slice_mut(lines)[..*bytes]),
            // Just replaced.
            Self::Shared(_) => Ok(&mut []),
        }
    }

    fn copied(bytes: &[u8]) -> Result<Self, Problem> {
        let mut copy = Self::any(bytes.len())?;
        copy.bytes_mut()?.copy_from_slice(bytes);
        Ok(copy)
    }

    /// The elements; bytes at the end that make no whole element are left out.
    pub(crate) fn elements<T: Element>(&self) -> &[T] {
        let bytes = self.bytes();
        let whole = bytes.len() - bytes.len() % size_of::<T>();
        bytemuck::cast_slice(&bytes[..whole])
    }

    /// The elements, to be written.
    pub(crate) fn elements_mut<T: Element>(&mut self) -> Result<&mut [T], Problem> {
        let bytes = self.bytes_mut()?;
        let whole = bytes.len() - bytes.len() % size_of::<T>();
        Ok(bytemuck::cast_slice_mut(&mut bytes[..whole]))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Self::Owned { lines, .. } = self {
            pool::give_back(std::mem::take(lines));
        }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Buffer({} bytes)", self.bytes().len())
    }
}

/// Bytes that several tensors share, and a count of the writes to them.
///
/// Readers take a snapshot; a write that finds one in use copies the bytes first.
#[derive(Clone, Debug)]
pub struct Storage(Arc<Cell>);

#[derive(Debug)]
struct Cell {
    buffer: RwLock<Arc<Buffer>>,
    version: AtomicU64,
    /// Known without the lock: a view asks for it.
    bytes: AtomicUsize,
}

impl Storage {
    pub(crate) fn new(buffer: Buffer) -> Self {
        let bytes = buffer.bytes().len();
        Self(Arc::new(Cell {
            buffer: RwLock::new(Arc::new(buffer)),
            version: AtomicU64::new(0),
            bytes: AtomicUsize::new(bytes),
        }))
    }

    /// A storage of so many bytes, all 0.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn zeroed(bytes: usize) -> Result<Self, Problem> {
        Buffer::zeroed(bytes).map(Self::new)
    }

    /// A storage over bytes that someone else keeps, as a mapped archive's weights. They are
    /// copied before the first write, and at once where they are not aligned to 16 bytes.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn shared(source: Arc<dyn ByteSource>) -> Result<Self, Problem> {
        let is_aligned = source.bytes().as_ptr().addr().is_multiple_of(16);
        let buffer = match is_aligned {
            true => Buffer::Shared(source),
            false => Buffer::copied(source.bytes())?,
        };
        Ok(Self::new(buffer))
    }

    /// A storage with a copy of these bytes.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Problem> {
        Buffer::copied(bytes).map(Self::new)
    }

    /// The bytes as they are now. Later writes do not show in them.
    pub(crate) fn snapshot(&self) -> Arc<Buffer> {
        let buffer = self.0.buffer.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&buffer)
    }

    /// Gives it a buffer that it had before.
    pub(crate) fn replace(&self, buffer: Arc<Buffer>) {
        let mut guard = self
            .0
            .buffer
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        self.0.bytes.store(buffer.bytes().len(), Ordering::Release);
        *guard = buffer;
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.0.bytes.load(Ordering::Acquire)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How often it was written.
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    /// Whether both are the same storage, so that a write to one shows in the other.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A storage of its own with the same bytes, which are copied when either is written.
    pub fn fork(&self) -> Self {
        let buffer = self.snapshot();
        let bytes = buffer.bytes().len();
        Self(Arc::new(Cell {
            buffer: RwLock::new(buffer),
            version: AtomicU64::new(0),
            bytes: AtomicUsize::new(bytes),
        }))
    }

    /// Changes the elements, and counts the version up. The change must not read the storage.
    pub(crate) fn write<T: Element, R>(
        &self,
        change: impl FnOnce(&mut [T]) -> R,
    ) -> Result<R, Problem> {
        let mut guard = self
            .0
            .buffer
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let result = change(unshared(&mut guard)?.elements_mut()?);
        self.0.version.fetch_add(1, Ordering::AcqRel);
        Ok(result)
    }

    /// Makes it at least so many bytes long, the new ones 0. It never becomes shorter, so that
    /// views of it stay valid.
    ///
    /// # Errors
    /// [`Problem::OutOfMemory`].
    pub fn grow(&self, bytes: usize) -> Result<(), Problem> {
        let mut guard = self
            .0
            .buffer
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let old = guard.bytes();
        if old.len() < bytes {
            let mut grown = Buffer::zeroed(bytes)?;
            grown.bytes_mut()?[..old.len()].copy_from_slice(old);
            *guard = Arc::new(grown);
            self.0.bytes.store(bytes, Ordering::Release);
        }
        Ok(())
    }

    /// A copy of the bytes.
    pub fn to_bytes(&self) -> Cow<'static, [u8]> {
        Cow::Owned(self.snapshot().bytes().to_vec())
    }
}

/// The buffer for writing, copied first when a snapshot of it is in use.
fn unshared(buffer: &mut Arc<Buffer>) -> Result<&mut Buffer, Problem> {
    if Arc::get_mut(buffer).is_none() {
        *buffer = Arc::new(Buffer::copied(buffer.bytes())?);
    }
    // Just made unique where it was not; no one else can reach it behind the lock.
    Arc::get_mut(buffer).ok_or_else(|| Problem::invalid("a buffer is in use"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_write_does_not_show_in_a_snapshot() {
        let storage = Storage::from_bytes(&[1, 2, 3]).unwrap();
        let before = storage.snapshot();
        storage.write(|bytes: &mut [u8]| bytes[0] = 9).unwrap();
        assert_eq!(before.bytes(), [1, 2, 3]);
        assert_eq!(storage.snapshot().bytes(), [9, 2, 3]);
        assert_eq!(storage.version(), 1);
    }

    #[test]
    fn bytes_of_someone_else_are_copied_before_a_write() {
        let source: Arc<dyn ByteSource> = Arc::new(vec![0_u8; 64]);
        let storage = Storage::shared(Arc::clone(&source)).unwrap();
        storage.write(|bytes: &mut [u8]| bytes.fill(7)).unwrap();
        assert!(source.bytes().iter().all(|byte| *byte == 0));
    }

    #[test]
    fn more_memory_than_there_is() {
        let error = Storage::zeroed(usize::MAX - 64).unwrap_err();
        assert!(matches!(error, Problem::OutOfMemory { .. }));
    }
}
