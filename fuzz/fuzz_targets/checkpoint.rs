//! Checkpoints of runs that were stopped, of which a part is written over: the first byte says in which of
//! them, the next two where, and the rest is what.
#![no_main]

#[path = "../../crates/gdro-cli/tests/mutated/targets.rs"]
mod targets;

use std::cell::LazyCell;

use libfuzzer_sys::fuzz_target;
use targets::{Kind, Place};

thread_local! {
    static PLACE: LazyCell<(Place, Vec<(String, Vec<u8>)>)> = LazyCell::new(|| {
        let place = Place::new();
        let checkpoints = place.checkpoints();
        (place, checkpoints)
    });
}

fuzz_target!(|bytes: &[u8]| PLACE.with(|kept| {
    let [which, high, low, part @ ..] = bytes else { return };
    let mut bytes = kept.1[usize::from(*which) % kept.1.len()].1.clone();
    let at = usize::from(u16::from_be_bytes([*high, *low])) % bytes.len();
    let length = part.len().min(bytes.len() - at);
    bytes[at..at + length].copy_from_slice(&part[..length]);
    kept.0.read(Kind::Checkpoint, &bytes);
}));
