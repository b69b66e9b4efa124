//! Files of the kind `table`.
#![no_main]

#[path = "../../crates/gdro-cli/tests/mutated/targets.rs"]
mod targets;

use std::cell::LazyCell;

use libfuzzer_sys::fuzz_target;
use targets::{Kind, Place};

thread_local! {
    static PLACE: LazyCell<Place> = LazyCell::new(Place::new);
}

fuzz_target!(|bytes: &[u8]| PLACE.with(|place| drop(place.read(Kind::Table, bytes))));
