//! Choices between a few ways.

use serde::{Deserialize, Serialize};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Delimited text, plain or compressed by gzip or zstd.
    Csv,
    /// The same with tabs.
    Tsv,
    /// Parquet.
    Parquet,
    /// Arrow IPC, a file or a stream.
    Arrow,
    /// LIBSVM or SVMlight, plain or compressed by gzip or zstd.
    Svmlight,
}

/// Whether numbers are standardised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// To mean 0 and deviation 1 over the training rows. Sparse features become dense.
    Standard,
    /// They are taken as they are.
    None,
}

impl Format {
    /// The format that a file name says.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        let (_, ending) = name.rsplit_once('.')?;
        match ending {
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            "parquet" => Some(Format::Parquet),
            "arrow" | "arrows" | "feather" => Some(Format::Arrow),
            "svm" | "libsvm" | "svmlight" => Some(Format::Svmlight),
            _ => None,
        }
    }

    /// Formats that may be mixed in one table have the same number.
    pub(crate) fn family(self) -> u8 {
        match self {
            Format::Csv | Format::Tsv => 0,
            Format::Parquet | Format::Arrow => 1,
            Format::Svmlight => 2,
        }
    }

    /// The format in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Format::Csv => "delimited text",
            Format::Tsv => "text delimited by tabs",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow IPC",
            Format::Svmlight => "LIBSVM",
        }
    }
}

/// Whether group columns are features too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupFeatures {
    /// They are.
    #[default]
    Keep,
    /// They only define groups.
    Drop,
}

/// What to do with a missing group label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingGroup {
    /// Refuse the table, naming the first such row.
    #[default]
    Error,
    /// Missing is a label of its own, `(missing)`; also as a level of a text feature.
    Own,
    /// Leave the row out. A row that is in a group of another family stays, unless the column is a
    /// feature or the target, too.
    Drop,
}

/// What to do with groups of fewer rows than [`DataOptions::min_group`](crate::DataOptions::min_group).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmallGroups {
    /// Refuse the table, naming them.
    #[default]
    Error,
    /// Make them one group of their family, `(small)`.
    Merge,
    /// Leave their rows out; a row that is in a group of another family stays.
    Drop,
}

/// What the weight of a row means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightKind {
    /// How much the row counts within its group: it is one observation all the same.
    #[default]
    Importance,
    /// How many rows it stands for: whole numbers, and the table is one that has the row so often.
    Frequency,
}

/// What is to be learnt from the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Two labels, −1 and +1.
    Binary,
    /// Classes 0, 1, …
    Multiclass,
    /// A number.
    Regression,
}

/// Which rows are held out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// None.
    None,
    /// A share of every group, rounded to whole rows, each of which has the same chance. It is
    /// stratified by label (regression has none): of each label the share up or down to a whole row,
    /// by chance. In a group all but one row are held out at most.
    Share {
        /// In [0, 1).
        share: f64,
        /// Seed of the draw.
        seed: u64,
    },
    /// The same number of rows (of clusters, where rows have any) of every group, drawn without
    /// regard to labels; all but one row of a smaller group, which is noted.
    PerGroup {
        /// Number of rows.
        rows: usize,
        /// Seed of the draw.
        seed: u64,
    },
    /// The rows with one of [`DataOptions::holdout_value`](crate::DataOptions::holdout_value) in [`DataOptions::holdout_column`](crate::DataOptions::holdout_column).
    Column,
    /// The rows of the last file of the table. Labels are those of the other files.
    LastFile,
}
