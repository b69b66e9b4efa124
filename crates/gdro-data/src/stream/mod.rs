//! Tables that do not fit in memory, read block by block.
//!
//! [`Survey`] reads a table once and gives its [`Schema`]: how features, target and groups are
//! made, and how many rows each group has. [`Feed`] reads it again and turns every block into
//! encoded rows, of which a random sample of each group is held out. Memory does not grow with the
//! number of rows.

mod feed;
mod portion;
mod schema;
mod selection;
mod survey;
mod tally;

pub use feed::{Encoded, Feed, Place};
pub use portion::Portion;
pub use schema::Schema;
pub use survey::{Counted, Survey};
