//! Public data sets that are not part of the repository.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Where the sets are, unless they are in `shared/data` beside the repository.
const FOLDER: &str = "GDRO_DATA";
/// Where a skipped test is a failure.
const REQUIRED: &str = "GDRO_REQUIRE_DATA";

/// The folder of a set; `None`, with a message, where it is absent.
///
/// # Panics
/// Where it is absent and `GDRO_REQUIRE_DATA` is set.
pub fn folder(set: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os(FOLDER).map_or(beside, PathBuf::from).join(set);
    if folder.is_dir() {
        return Some(folder);
    }
    let absent = format!("no folder {}", folder.display());
    assert!(std::env::var_os(REQUIRED).is_none(), "{absent}, and {REQUIRED} is set");
    // Not by a macro: their output is shown for tests that fail, and for no other.
    let _ = writeln!(std::io::stderr(), "skipped: {absent}; {FOLDER} names the folder of the sets");
    None
}
