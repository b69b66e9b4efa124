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
    /// Refuses a schema, as it was read from a file, that counting no table gives.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> std::result::Result<(), String> {
        self.encoding.check()?;
        self.grouping.check()?;
        self.target.check()?;
        self.options.check().map_err(|e| e.to_string())?;
        if self.counts.len() != self.grouping.names().len() {
            return Err("the numbers of groups and of their counts do not fit together".into());
        }
        // A row is in a group of the first family at most.
        let first = self.first_family();
        let sum = |counts: &[u64]| counts.iter().try_fold(0u64, |sum, n| sum.checked_add(*n));
        let used = self.rows.checked_sub(self.left_out);
        let families = self.grouping.families().iter().scan(0, |start, family| {
            let own = *start..*start + family.groups();
            *start = own.end;
            Some(own)
        });
        let fits =
            |own: std::ops::Range<usize>| sum(&self.counts[own]).is_some_and(|n| Some(n) <= used);
        let is_number = self.largest_target.is_finite() && self.largest_target >= 0.0;
        match used {
            Some(1..) if first > 0 && is_number && { families }.all(fits) => Ok(()),
            _ => Err("its numbers of rows contradict each other".into()),
        }
    }

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
