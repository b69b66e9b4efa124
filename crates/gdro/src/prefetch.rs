//! Memory that is on its way before it is needed.
//!
//! The only `unsafe` code of the crate. Without it rows would have to be read, and the processor
//! would wait for them: docs/benchmarks.md, "Rounds on the Adult table".
#![allow(unsafe_code)]

/// Asks the processor to bring an element closer, where there is one. Has no other effect, and none
/// at all on processors other than x86-64.
#[inline]
pub(crate) fn prefetch<T>(items: &[T], at: usize) {
    if let Some(item) = items.get(at) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the instruction is part of every x86-64 processor. It is a hint: it reads and
        // writes nothing that a program can see, faults at no address, and this one is valid.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>((&raw const *item).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = item;
    }
}

/// Bytes in a line of a cache.
const LINE: usize = 64;

/// Lines from which on a slice is so long that the processor foresees what is read next.
const LONG: usize = 4;

/// Asks the processor to bring the beginning of a slice closer, line by line.
#[inline]
pub(crate) fn prefetch_lines<T>(items: &[T]) {
    let step = (LINE / size_of::<T>()).max(1);
    for line in 0..LONG {
        prefetch(items, line * step);
    }
    prefetch(items, items.len().wrapping_sub(1));
}
