//! What the compiler cannot know.

/// Says that this place is seldom reached: its code is moved out of the way of what is.
#[inline(always)]
#[cold]
pub(crate) fn cold_path() {}
