//! Memory that was freed and waits to be used again.
//!
//! A large tensor's memory comes from the kernel page by page, each zeroed when it is touched
//! first: that costs more than an addition of its elements. So each thread keeps some of what its
//! tensors gave back.

use std::cell::RefCell;

use crate::error::Problem;
use crate::storage::Line;

/// What a thread keeps at most, in lines: 64 MiB.
const KEPT: usize = (64 << 20) / size_of::<Line>();

/// Sizes between two powers of two, so that little is wasted by rounding up.
const STEPS: usize = 8;

#[derive(Default)]
struct Pool {
    /// Blocks by class of size.
    classes: Vec<Vec<Vec<Line>>>,
    /// Lines in them.
    lines: usize,
}

thread_local! {
    static POOL: RefCell<Pool> = RefCell::default();
}

/// The class of blocks of at least so many lines, and the lines that such a block has.
fn class(lines: usize) -> (usize, usize) {
    if lines <= STEPS {
        return (lines, lines);
    }
    // 2^exponent is the greatest power of two below `lines`, STEPS · 2^shift at most.
    let exponent = (lines - 1).ilog2();
    let shift = exponent - STEPS.ilog2();
    let steps = (lines - 1 - (1 << exponent)) >> shift;
    let class = (shift as usize + 1) * STEPS + steps + 1;
    (class, (STEPS + steps + 1) << shift)
}

/// Lines whose content is whatever it was.
pub(crate) fn take(lines: usize) -> Result<Vec<Line>, Problem> {
    let (class, size) = class(lines);
    let kept = POOL.try_with(|pool| {
        let mut pool = pool.borrow_mut();
        let block = pool.classes.get_mut(class)?.pop()?;
        pool.lines -= block.len();
        Some(block)
    });
    match kept.ok().flatten() {
        Some(block) => Ok(block),
        None => zeroed(size),
    }
}

fn zeroed(lines: usize) -> Result<Vec<Line>, Problem> {
    let bytes = lines.saturating_mul(size_of::<Line>());
    bytemuck::allocation::try_zeroed_vec(lines).map_err(|()| Problem::OutOfMemory { bytes })
}

/// Lines that are 0. Large ones are new, which the kernel zeroes when they are touched.
pub(crate) fn take_zeroed(lines: usize) -> Result<Vec<Line>, Problem> {
    const LARGE: usize = (1 << 20) / size_of::<Line>();
    if lines >= LARGE {
        return zeroed(class(lines).1);
    }
    let mut block = take(lines)?;
    bytemuck::fill_zeroes(&mut block);
    Ok(block)
}

/// Keeps a block for later, or frees it.
pub(crate) fn give_back(block: Vec<Line>) {
    let (class, size) = class(block.len());
    if block.is_empty() || size != block.len() {
        return;
    }
    // After the thread's own end the block is freed.
    let _ = POOL.try_with(|pool| {
        let mut pool = pool.borrow_mut();
        if pool.lines + size > KEPT {
            return;
        }
        pool.lines += size;
        if pool.classes.len() <= class {
            pool.classes.resize_with(class + 1, Vec::new);
        }
        pool.classes[class].push(block);
    });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn classes_hold_what_they_are_asked_for() {
        let mut last = (0, 0);
        for lines in 1..5000 {
            let (class, size) = class(lines);
            assert!(
                size >= lines && size <= lines + lines / STEPS + 1,
                "{lines}: {size}"
            );
            assert_eq!(super::class(size), (class, size), "{lines}");
            assert!((class, size) >= last, "{lines}");
            last = (class, size);
        }
    }

    #[test]
    fn what_is_given_back_is_taken_again() {
        let block = take(100).unwrap();
        let place = block.as_ptr();
        give_back(block);
        let again = take(99).unwrap();
        assert_eq!(again.as_ptr(), place);
        assert_eq!(take_zeroed(100).unwrap().len(), class(100).1);
    }
}
