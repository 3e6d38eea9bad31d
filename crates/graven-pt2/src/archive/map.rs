//! Files mapped into memory. The only `unsafe` of this crate.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::{Mmap, MmapOptions};

/// Maps all of `file`, privately and for reading only.
///
/// An empty file cannot be mapped; its map is `None`.
pub(super) fn map_file(file: &File) -> io::Result<Option<Mmap>> {
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok(None);
    }
    // SAFETY: the map is private and read-only, so nothing in this process writes through it.
    // What remains is another process that writes to the file or truncates it while it is
    // mapped. Every reader treats the bytes as hostile and checks each length against the
    // slice's, no reference to typed data is ever made from them, and UTF-8 is checked where
    // text is borrowed: a byte that changes between the check and its use can make text wrong,
    // which is then text of a program that someone else was rewriting. A truncated file ends
    // the process with a signal, as it does every program that maps files. Archives of many
    // gigabytes cannot be read into memory instead.
    let map = unsafe { MmapOptions::new().map_copy_read_only(file)? };
    Ok(Some(map))
}

/// Tells the operating system that the bytes of `range` are not needed soon, so that they stop
/// to count as memory of the process.
pub(super) fn release(map: &Mmap, range: Range<usize>) {
    #[cfg(unix)]
    if range.end <= map.len() && range.start < range.end {
        // SAFETY: the map is of a file, private, and never written through. Dropping its pages
        // loses nothing: the next access reads them from the file again, as the first one did.
        let advice = unsafe {
            map.unchecked_advise_range(
                memmap2::UncheckedAdvice::DontNeed,
                range.start,
                range.end - range.start,
            )
        };
        // It is a hint; a system that does not take it is as well.
        drop(advice);
    }
    #[cfg(not(unix))]
    let _ = (map, range);
}
