//! What each column of a table is used for.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::features::{Encoding, FeatureColumn, WhenMissing};
use crate::options::DataOptions;
use crate::table::{Kind, Table};

/// What a column is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The target.
    Target,
    /// A feature.
    Feature,
    /// Groups are made of it.
    Group,
    /// Groups are made of it, and it is a feature too.
    GroupFeature,
    /// Row weights.
    Weight,
    /// It says which rows belong together.
    Cluster,
    /// It says which rows are held out.
    Holdout,
    /// Nothing.
    Ignored,
}

/// A column, what it is used for and how. What does not apply is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ColumnSchema {
    /// Name of the column.
    pub column: String,
    /// What it is used for.
    pub role: Role,
    /// What its cells are.
    pub kind: Kind,
    /// Weighted mean of a numeric feature on training rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Weighted population standard deviation of a numeric feature on training rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Number of levels of a text feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<usize>,
    /// Number of texts that are the level `(rare)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rare: Option<usize>,
    /// Number of buckets of a hashed feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buckets: Option<u32>,
    /// What a missing cell of a feature becomes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<WhenMissing>,
}

impl Role {
    /// What settled options say about a column.
    pub(crate) fn of(options: &DataOptions, name: &str) -> Self {
        let is = |other: &Option<String>| other.as_deref() == Some(name);
        match (options.is_feature(name), options.is_group(name)) {
            _ if is(&options.target) => Role::Target,
            _ if is(&options.weight) => Role::Weight,
            (true, true) => Role::GroupFeature,
            (true, false) => Role::Feature,
            (false, true) => Role::Group,
            _ if is(&options.cluster) => Role::Cluster,
            _ if is(&options.holdout_column) => Role::Holdout,
            (false, false) => Role::Ignored,
        }
    }

    /// Whether the column is a feature.
    pub fn is_feature(self) -> bool {
        matches!(self, Role::Feature | Role::GroupFeature)
    }
}

/// The schema of a table under settled options and a learnt encoding.
pub(crate) fn schema(
    table: &Table,
    options: &DataOptions,
    encoding: &Encoding,
) -> Vec<ColumnSchema> {
    let known: HashMap<&str, &FeatureColumn> =
        encoding.columns().iter().map(|column| (column.name(), column)).collect();
    let column = |name: &String| {
        let kind = table.column(name).map_or(Kind::Ignored, |cells| cells.kind());
        let mut schema = ColumnSchema {
            column: name.clone(),
            role: Role::of(options, name),
            kind,
            mean: None,
            deviation: None,
            levels: None,
            rare: None,
            buckets: None,
            missing: None,
        };
        match known.get(name.as_str()) {
            Some(FeatureColumn::Number { mean, deviation, missing, .. }) => {
                (schema.mean, schema.deviation) = (Some(*mean), Some(*deviation));
                schema.missing = Some(*missing);
            }
            Some(FeatureColumn::Text { levels, rare, missing, .. }) => {
                schema.levels = Some(levels.len());
                schema.rare = Some(rare.len()).filter(|count| *count > 0);
                let own = levels.iter().any(|level| level == crate::labels::MISSING);
                schema.missing = Some(if own { WhenMissing::Indicator } else { *missing });
            }
            Some(FeatureColumn::Hash { buckets, missing, .. }) => {
                (schema.buckets, schema.missing) = (Some(*buckets), Some(*missing));
            }
            None => {}
        }
        schema
    };
    table.names().iter().map(column).collect()
}
