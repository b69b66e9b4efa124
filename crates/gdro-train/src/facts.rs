//! What a training run knows of its table, rows aside.

use gdro_data::{ColumnSchema, Encoding, Group, Grouping, Prepared, Target};

/// The groups, columns and numbers of rows of a table.
#[derive(Clone, Debug)]
pub struct Facts {
    /// All groups.
    pub groups: Vec<Group>,
    /// Number of rows for training.
    pub train_rows: usize,
    /// Number of rows held out.
    pub test_rows: usize,
    /// How features are made.
    pub encoding: Encoding,
    /// What is predicted.
    pub target: Target,
    /// How groups are made.
    pub grouping: Grouping,
    /// What each column is used for.
    pub schema: Vec<ColumnSchema>,
    /// What a user should see.
    pub notes: Vec<String>,
    /// Those of the notes that tell of features which alone predict the target.
    pub leaks: Vec<String>,
}

impl Facts {
    /// Names of the groups with training rows, in the order of their weights.
    pub fn train_names(&self) -> Vec<&str> {
        self.groups.iter().filter(|g| g.train.is_some()).map(|g| &g.name[..]).collect()
    }
}

impl From<&Prepared> for Facts {
    fn from(prepared: &Prepared) -> Self {
        Facts {
            groups: prepared.groups.clone(),
            train_rows: prepared.train_rows.len(),
            test_rows: prepared.test_rows.len(),
            encoding: prepared.encoding.clone(),
            target: prepared.target.clone(),
            grouping: prepared.grouping.clone(),
            schema: prepared.schema.clone(),
            notes: prepared.notes.clone(),
            leaks: prepared.leaks.clone(),
        }
    }
}
