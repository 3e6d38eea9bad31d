//! Deflated entries. torch stores its entries; other tools recompress them.

use std::io::Read;

use flate2::bufread::DeflateDecoder;

use crate::error::Pt2Error;

/// What deflate can reach at most: 258 bytes from a match of two bits, and some change.
const LARGEST_RATIO: u64 = 1032;

/// An entry that inflates to no more than this is taken at any ratio.
const FREE_BYTES: u64 = 64 << 20;

/// A larger one may be this many times its compressed size. Text of programs reaches 40.
const TRUSTED_RATIO: u64 = 200;

/// What all entries of an archive may inflate to.
pub(super) const ALL_ENTRIES_BYTES: u64 = 8 << 30;

/// How much is asked for at once, so that memory grows with the data and not with a claim.
const STEP: usize = 1 << 20;

/// Inflates `compressed`, which the directory says holds `size` bytes.
pub(super) fn inflate(path: &str, compressed: &[u8], size: u64) -> Result<Vec<u8>, Pt2Error> {
    check_claim(path, compressed.len() as u64, size)?;
    let corrupt = |actual: u64| Pt2Error::CorruptEntry {
        path: path.to_owned(),
        expected: size,
        actual,
    };
    let size_in_memory = usize::try_from(size).map_err(|_| corrupt(0))?;
    let mut data = Vec::with_capacity(size_in_memory.min(STEP));
    // One byte more than claimed, to see an entry that is longer.
    let mut source = DeflateDecoder::new(compressed).take(size.saturating_add(1));
    source
        .read_to_end(&mut data)
        .map_err(|source| Pt2Error::Inflate {
            path: path.to_owned(),
            source,
        })?;
    if data.len() != size_in_memory {
        return Err(corrupt(data.len() as u64));
    }
    Ok(data)
}

/// Refuses a size that no honest archive claims, before any memory is taken.
fn check_claim(path: &str, compressed: u64, size: u64) -> Result<(), Pt2Error> {
    let impossible = size
        > compressed
            .saturating_mul(LARGEST_RATIO)
            .saturating_add(STEP as u64);
    let bomb = size > FREE_BYTES && size > compressed.saturating_mul(TRUSTED_RATIO);
    if impossible || bomb || size > ALL_ENTRIES_BYTES {
        return Err(Pt2Error::ZipBomb {
            path: path.to_owned(),
            compressed,
            size,
        });
    }
    Ok(())
}
