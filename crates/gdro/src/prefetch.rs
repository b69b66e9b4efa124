//! Memory that is on its way before it is needed.
//!
//! The only `unsafe` code of the crate. Without it rows would have to be read, and the processor
//! would wait for them: docs/benchmarks.md, "Rounds on the Adult table".
#![allow(unsafe_code)]

use std::ops::Range;

/// Asks the processor to bring an element closer. Has no other effect, and none at all where there
/// is no such element, and on processors other than x86-64.
#[inline]
pub(crate) fn prefetch<T>(items: &[T], at: usize) {
    let item = items.as_ptr().wrapping_add(at);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is part of every x86-64 processor. It is a hint: it reads and writes
    // nothing that a program can see, and faults at no address, whether there is anything or not.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(item.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// Bytes in a line of a cache.
const LINE: usize = 64;

/// Lines from which on a slice is so long that the processor prefetches it by itself.
const LONG: usize = 4;

/// Asks the processor to bring the beginning of a part of a slice closer, line by line.
#[inline]
pub(crate) fn prefetch_lines<T>(items: &[T], Range { start, end }: Range<usize>) {
    let step = (LINE / size_of::<T>()).max(1);
    let (mut at, stop) = (start, end.min(start + LONG * step));
    while at < stop {
        prefetch(items, at);
        at += step;
    }
    prefetch(items, end.wrapping_sub(1));
}
