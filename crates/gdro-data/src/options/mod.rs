//! What a user says about a table.

mod character;
mod check;
mod choices;
mod comparison;
mod data;
mod entry;
mod missing;
mod settle;

pub(crate) use check::MOST_BUCKETS;
pub use choices::{
    Format, GroupFeatures, MissingGroup, Scaling, SmallGroups, Split, Task, WeightKind,
};
pub use comparison::{Comparison, Operator};
pub use data::DataOptions;
pub use entry::GroupEntry;
pub(crate) use entry::spelled;
pub use missing::{Missing, MissingCells};
