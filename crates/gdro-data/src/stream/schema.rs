//! What one pass over a table found out.

use serde::{Deserialize, Serialize};

use crate::features::Encoding;
use crate::groups::Grouping;
use crate::options::{DataOptions, Task};
use crate::schema::ColumnSchema;
use crate::target::Target;

/// All that is needed to read the rows of a table as samples. It can be saved, and spares the pass
/// over the table when the same table is streamed again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Schema {
    /// The options with which the table was read.
    pub options: DataOptions,
    /// Number of rows in the files.
    pub rows: u64,
    /// Number of rows left out, because cells are missing or they are in no group.
    pub left_out: u64,
    /// The largest target in absolute value, in regression.
    pub largest_target: f64,
    /// How features are made, learnt from all rows.
    pub encoding: Encoding,
    /// What is predicted.
    pub target: Target,
    /// How groups are made.
    pub grouping: Grouping,
    /// Number of rows of each group, in the order of their names.
    pub counts: Vec<u64>,
    /// Whether labels and groups lie as in random order, as far as a test can tell that has one
    /// false alarm in a million tables.
    #[serde(default = "yes")]
    pub in_random_order: bool,
    /// What each column is used for.
    pub columns: Vec<ColumnSchema>,
    /// What a user should see.
    pub notes: Vec<String>,
}

/// Earlier schemas do not say it.
fn yes() -> bool {
    true
}

impl Schema {
    /// Number of groups of the first family, which come first.
    pub fn first_family(&self) -> usize {
        self.grouping.families().first().map_or(0, |family| family.groups())
    }

    /// Number of rows that are used.
    pub fn used(&self) -> u64 {
        self.rows - self.left_out
    }

    /// Whether this schema is one of a table read with these options, for this task and with or
    /// without a constant feature.
    pub fn fits(&self, options: &DataOptions, task: Option<Task>, constant: bool) -> bool {
        self.options == *options
            && task.is_none_or(|task| task == self.target.task())
            && self.encoding.has_constant() == constant
            && self.counts.len() == self.grouping.names().len()
    }
}
