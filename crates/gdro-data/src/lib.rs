//! Tables to grouped samples: the data side of gdro.
//!
//! [`read`] turns files into a [`Table`], [`prepare`] turns a table into data sets for training and
//! evaluation: it drops or refuses missing cells, finds the target, assigns groups, holds rows out
//! and encodes the features. What a model needs to be applied to later tables ([`Encoding`],
//! [`Target`], [`Grouping`]) can be serialised; such tables are read by [`read_for`]. A [`Reader`]
//! reads tables that are larger than memory, block by block.
//!
//! Parquet and Arrow IPC need the feature `arrow`; CSV, TSV and LIBSVM are always read.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("people.csv");
//! # std::fs::write(&file, "age,sex,city,ill\n20,f,A,no\n30,m,B,yes\n40,m,A,no\n")?;
//! use gdro_data::{DataOptions, Split, prepare, read};
//!
//! let options = DataOptions {
//!     target: Some("ill".into()),
//!     groups: vec!["sex".into()],
//!     ..DataOptions::default()
//! };
//! let table = read(&[file], &options)?;
//! let prepared = prepare(&table, &options, None, &Split::None, true)?;
//! assert_eq!(prepared.groups[0].name, "m");
//! assert_eq!(prepared.train.groups(), 2);
//! # Ok(())
//! # }
//! ```

mod bytes;
mod checksum;
mod clusters;
mod error;
mod features;
mod folds;
mod format;
mod groups;
mod hint;
mod inspect;
mod labels;
mod memory;
pub mod onnx;
mod options;
mod order;
mod prepare;
mod schema;
mod split;
mod stray;
pub mod stream;
mod table;
mod target;
mod weights;
mod words;

pub use bytes::{Bytes, Purpose};
pub use checksum::crc32;
pub use clusters::Clusters;
pub use error::{Error, Position, Result, Unit};
pub use features::{Encoded, Encoding, FeatureColumn, SparseFeatures, WhenMissing};
pub use folds::{Folds, Validation, row_folds};
pub use format::{Kinds, Reader, expand, read, read_for};
pub use groups::{Assignment, Family, GroupColumn, Grouping, Labels, Small, group_remarks};
pub use hint::{Hint, Setting, Value};
pub use inspect::{ColumnProfile, Inspection, LevelCount, inspect, repeated_units, tiny_groups};
pub use memory::{check_memory, limit_memory, memory_limit};
pub use options::{
    Comparison, DataOptions, Format, GroupEntry, GroupFeatures, Missing, MissingCells,
    MissingGroup, Operator, Scaling, SmallGroups, Split, Task, WeightKind,
};
pub use prepare::{Group, Prepared, prepare};
pub use schema::{ColumnSchema, Role};
pub use table::{Cells, Column, DateOrder, Kind, Look, Table};
pub use target::Target;
pub use weights::Weighted;
pub use words::{count, escaped, number, shown};
