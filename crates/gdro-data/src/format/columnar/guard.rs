//! Libraries that may panic on damaged files.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f`: a panic inside is an error, and nothing is printed. What `f` changes must not be used
/// after an error.
///
/// The first call wraps the panic hook of the process, which stays as it was for all other code.
pub(super) fn guarded<T, E: ToString>(f: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    QUIET.set(before);
    match result {
        Ok(result) => result.map_err(|e| e.to_string()),
        Err(_) => Err("its parts contradict each other".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_errors() {
        let bad: Result<u32, String> = guarded(|| {
            let none: [u32; 0] = [];
            Ok::<u32, String>(none[std::hint::black_box(0)])
        });
        assert_eq!(bad.unwrap_err(), "its parts contradict each other");
        assert_eq!(guarded(|| Ok::<_, String>(1)), Ok(1));
        assert_eq!(guarded(|| Err::<u32, _>("why")), Err("why".into()));
    }
}
