//! Files to a table.
//!
//! A [`Reader`] opens files one after another (`open`) and reads each through a `Source`, of which
//! there is one per format. A source gives cells as the file has them (`batch`); their kinds are
//! settled afterwards, by the same rules for all formats.

mod batch;
#[cfg(feature = "arrow")]
mod columnar;
mod delimited;
mod delimiter;
mod lines;
mod na;
mod open;
mod opened;
mod reader;
mod records;
mod roles;
mod side;
mod svmlight;
mod unnamed;

pub(crate) use na::Na;
pub use opened::expand;
pub use reader::{Kinds, Reader};

use std::path::PathBuf;

use crate::error::Result;
use crate::features::Encoding;
use crate::options::DataOptions;
use crate::table::Table;

/// Reads files as one table.
///
/// A path may be a pattern such as `part-*.csv`, whose files are read in the order of their names,
/// or `-` for the standard input. What a file is ([`crate::Format`]) is detected by the options, by its
/// first bytes or by its name. Parquet and Arrow IPC need the feature `arrow`.
///
/// The kinds of columns are inferred: a column is numeric when every cell that is not missing is a
/// finite number as [`DataOptions::decimal`] and [`DataOptions::thousands`] say, and none has leading
/// zeros as codes have (`00501`). Texts that look like numbers or dates are refused: when they are
/// more than half of the cells, or all but those that usually mean a missing cell (`NA`). This holds
/// for the texts of Parquet and Arrow files too; their numbers of every width and decimals are
/// numbers (as near as `f64` comes), booleans are the texts `true` and `false`, dates and times are
/// texts (ISO 8601), and a null is a missing cell. A number that is a group label has the text that
/// a CSV file would have: `1` if it is an integer there, else `1.0`.
///
/// The first column of a delimited text may lack a name when it numbers the rows, and so may columns
/// without any cell: they are skipped ([`Table::notes`]).
///
/// Of a LIBSVM file the column `label`, the column `qid` if it has one (which an option must name),
/// and indices that an option names are columns; all other features are held by index, beside the
/// columns.
///
/// The file names in messages are `paths` as given.
///
/// # Errors
/// For files that cannot be read, are no table, differ in their columns or have no rows; for a
/// mostly numeric column with a cell that is no finite number, and for one that looks like numbers
/// or dates; for options that contradict each other or name columns that do not exist.
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
