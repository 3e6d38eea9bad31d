//! Bytes of a pickle, taken from the front.

use super::PickleError;

/// A place in a pickle.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], PickleError> {
        let end = self
            .position
            .checked_add(count)
            .ok_or(PickleError::Truncated)?;
        let bytes = self
            .bytes
            .get(self.position..end)
            .ok_or(PickleError::Truncated)?;
        self.position = end;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], PickleError> {
        self.take(N)?.try_into().map_err(|_| PickleError::Truncated)
    }

    pub(super) fn u8(&mut self) -> Result<u8, PickleError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(super) fn u16(&mut self) -> Result<u16, PickleError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, PickleError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn i32(&mut self) -> Result<i32, PickleError> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, PickleError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// The one number that pickles write with the high byte first.
    pub(super) fn f64(&mut self) -> Result<f64, PickleError> {
        Ok(f64::from_be_bytes(self.array()?))
    }

    /// A count of bytes that follow.
    pub(super) fn length(&mut self, width: u32) -> Result<usize, PickleError> {
        let length = match width {
            1 => u64::from(self.u8()?),
            4 => u64::from(self.u32()?),
            _ => self.u64()?,
        };
        usize::try_from(length).map_err(|_| PickleError::Truncated)
    }

    /// The bytes before the next end of line, which is taken too.
    pub(super) fn line(&mut self) -> Result<&'a [u8], PickleError> {
        let rest = self.bytes.get(self.position..).unwrap_or(&[]);
        let length = rest
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or(PickleError::Truncated)?;
        let line = self.take(length)?;
        self.take(1)?;
        Ok(line)
    }

    /// An integer of `count` bytes, low byte first, in two's complement.
    pub(super) fn long(&mut self, count: usize) -> Result<i64, PickleError> {
        let position = self.position;
        let bytes = self.take(count)?;
        let (low, high) = bytes.split_at(bytes.len().min(8));
        let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let fill = if negative { 0xff } else { 0 };
        let mut word = [fill; 8];
        for (to, from) in word.iter_mut().zip(low) {
            *to = *from;
        }
        let value = i64::from_le_bytes(word);
        if high.iter().any(|byte| *byte != fill) || (value < 0) != negative {
            return Err(PickleError::Integer { position });
        }
        Ok(value)
    }
}
