//! Giving memory back while a long text is read.
//!
//! A mapped text counts as memory of the process once it is read. What was read of it is not
//! needed again: everything is copied into tables. So a program of a million nodes need not hold
//! its text and its graph at once.

use std::cell::Cell;
use std::ops::Range;

use crate::archive::Bytes;

/// How far a text was read.
pub(super) struct Progress<'a> {
    text: &'a Bytes,
    /// Up to where it was given back.
    released: Cell<usize>,
}

impl<'a> Progress<'a> {
    /// How much is given back at once.
    const STEP: usize = 16 << 20;

    /// The text that `text` is.
    pub(super) fn new(text: &'a Bytes) -> Self {
        Self {
            text,
            released: Cell::new(0),
        }
    }

    /// The reader has come to `part`, which may be borrowed from the text.
    pub(super) fn reached(&self, part: &str) {
        let text = self.text.as_slice().as_ptr_range();
        let part = part.as_ptr();
        if text.contains(&part) {
            let position = part.addr() - text.start.addr();
            if position >= self.released.get() + Self::STEP {
                self.release(self.released.get()..position);
            }
        }
    }

    /// All of the text was read.
    pub(super) fn done(&self) {
        self.release(self.released.get()..self.text.as_slice().len());
    }

    fn release(&self, range: Range<usize>) {
        self.text.release(range.clone());
        self.released.set(range.end);
    }
}
