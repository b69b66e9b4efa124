//! Files to a table.

mod batch;
#[cfg(feature = "arrow")]
mod columnar;
mod delimited;
mod na;
mod open;
mod reader;
mod records;
mod roles;

pub use reader::Reader;

use std::path::PathBuf;

use crate::error::Result;
use crate::features::Encoding;
use crate::options::DataOptions;
use crate::table::Table;

/// Reads files, plain or gzip, as one table.
///
/// The kinds of columns are inferred: a column is numeric when every cell that is not missing is a
/// finite number. The file names in messages are `paths` as given.
///
/// # Errors
/// For files that cannot be read, are no table, differ in their columns or have no rows; for a
/// mostly numeric column with a cell that is no finite number; for options that contradict each
/// other or name columns that do not exist.
pub fn read(paths: &[PathBuf], options: &DataOptions) -> Result<Table> {
    Reader::open(paths, options, None)?.read()
}

/// Reads a later table for a model: columns that the encoding knows are read as the kind that it
/// knows, columns that have no use for it are ignored, and columns that only training needs, such
/// as the target, may be absent.
///
/// # Errors
/// As [`read`]; for a column of the encoding that does not exist.
pub fn read_for(paths: &[PathBuf], options: &DataOptions, encoding: &Encoding) -> Result<Table> {
    Reader::open(paths, options, Some(encoding))?.read()
}
