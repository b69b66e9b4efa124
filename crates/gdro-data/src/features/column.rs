//! How one column becomes features.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::moments::moments;
use crate::error::{Error, Result};
use crate::labels::{MISSING, RARE};
use crate::options::{DataOptions, MOST_BUCKETS, Missing, MissingGroup};
use crate::table::{Column, DateOrder, Kind, Texts};
use crate::words::shown;

/// How a column is encoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FeatureColumn {
    /// One feature (v − mean) / deviation, or 0 when the deviation is 0.
    Number {
        /// Name of the column.
        name: String,
        /// Weighted mean of the training rows, missing cells aside.
        mean: f64,
        /// Weighted population standard deviation of the training rows, missing cells aside.
        deviation: f64,
        /// What a missing cell becomes. With [`WhenMissing::Indicator`] a second feature is 1 there.
        #[serde(default, skip_serializing_if = "WhenMissing::refuses")]
        missing: WhenMissing,
        /// The order of day and month, where the numbers are dates and it mattered in training.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        date: Option<DateOrder>,
    },
    /// One feature per level: 1 for the level of the row, else 0.
    Text {
        /// Name of the column.
        name: String,
        /// The texts of the training rows, sorted; `(missing)` and `(rare)` stand for cells that
        /// are missing and for the rare texts.
        levels: Vec<String>,
        /// The texts that too few training rows have, sorted: they have the level `(rare)`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rare: Vec<String>,
        /// What a missing cell becomes where `(missing)` is no level.
        #[serde(default, skip_serializing_if = "WhenMissing::refuses")]
        missing: WhenMissing,
    },
    /// One feature per bucket: 1 for the bucket of the text, else 0. The bucket is the 64-bit
    /// FNV-1a hash of the UTF-8 bytes modulo the number of buckets.
    Hash {
        /// Name of the column.
        name: String,
        /// Number of buckets.
        buckets: u32,
        /// What a missing cell becomes. With [`WhenMissing::Indicator`] one more feature is 1 there.
        #[serde(default, skip_serializing_if = "WhenMissing::refuses")]
        missing: WhenMissing,
    },
}

/// What a missing cell becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenMissing {
    /// Nothing: the row cannot be encoded.
    #[default]
    Refuse,
    /// All features of the column are 0: of a number, the mean.
    Zero,
    /// A feature of its own is 1, and the others of the column are 0.
    Indicator,
}

impl WhenMissing {
    fn refuses(&self) -> bool {
        *self == WhenMissing::Refuse
    }
}

/// How a column is to be encoded.
pub(crate) struct Wish {
    missing: WhenMissing,
    /// Texts of fewer training rows are rare.
    pub(crate) min_count: usize,
    pub(crate) buckets: Option<u32>,
}

impl Wish {
    /// What the options say about a column.
    pub(crate) fn of(options: &DataOptions, name: &str, kind: Kind) -> Self {
        let own_group = options.is_group(name)
            && options.missing_group == MissingGroup::Own
            && kind == Kind::Text;
        let missing = match options.missing.of(name) {
            _ if own_group => WhenMissing::Indicator,
            Missing::Error | Missing::Drop => WhenMissing::Refuse,
            Missing::Mean if kind == Kind::Number => WhenMissing::Zero,
            Missing::Mean | Missing::OwnCategory => WhenMissing::Indicator,
        };
        let buckets = options.hash.get(name).copied();
        Wish { missing, min_count: options.min_count.unwrap_or(0), buckets }
    }

    /// What a missing cell becomes: where training misses none, an indicator would teach nothing.
    pub(crate) fn missing(&self, misses: bool) -> WhenMissing {
        match self.missing {
            WhenMissing::Indicator if !misses => WhenMissing::Zero,
            wished => wished,
        }
    }
}

impl FeatureColumn {
    /// Name of the column.
    pub fn name(&self) -> &str {
        match self {
            FeatureColumn::Number { name, .. }
            | FeatureColumn::Text { name, .. }
            | FeatureColumn::Hash { name, .. } => name,
        }
    }

    /// Whether the mean stands for missing numbers.
    pub(crate) fn fills(&self) -> bool {
        matches!(self, FeatureColumn::Number { missing: WhenMissing::Zero, .. })
    }

    /// The order of day and month that training found.
    pub(crate) fn date(&self) -> Option<DateOrder> {
        match self {
            FeatureColumn::Number { date, .. } => *date,
            _ => None,
        }
    }

    /// Takes numbers as they are instead of standardising them.
    pub(super) fn keep_scale(&mut self) {
        if let FeatureColumn::Number { mean, deviation, .. } = self {
            (*mean, *deviation) = (0.0, 1.0);
        }
    }

    /// The kind of cells that are encoded.
    pub fn cells(&self) -> Kind {
        match self {
            FeatureColumn::Number { .. } => Kind::Number,
            FeatureColumn::Text { .. } | FeatureColumn::Hash { .. } => Kind::Text,
        }
    }

    /// Refuses what no training gives.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let name = shown(self.name());
        let fits = match self {
            FeatureColumn::Number { mean, deviation, .. } => {
                mean.is_finite() && deviation.is_finite() && *deviation >= 0.0
            }
            FeatureColumn::Text { levels, rare, .. } => {
                let mut seen = HashSet::new();
                levels.iter().chain(rare).all(|text| seen.insert(text))
            }
            FeatureColumn::Hash { buckets, .. } => (2..=MOST_BUCKETS).contains(buckets),
        };
        let why = || match self {
            FeatureColumn::Number { .. } => "a mean or deviation out of range",
            FeatureColumn::Text { .. } => "a text twice",
            FeatureColumn::Hash { .. } => "a number of buckets out of range",
        };
        if fits { Ok(()) } else { Err(format!("column `{name}` has {}", why())) }
    }

    /// Number of features.
    pub fn width(&self) -> usize {
        let more = |missing: &WhenMissing| usize::from(*missing == WhenMissing::Indicator);
        match self {
            FeatureColumn::Number { missing, .. } => 1 + more(missing),
            FeatureColumn::Text { levels, .. } => levels.len(),
            FeatureColumn::Hash { buckets, missing, .. } => *buckets as usize + more(missing),
        }
    }

    /// Names of the features: `age`, `education=HS-grad`, `ca=(missing)`, `tail=(hash 17)`.
    pub fn feature_names(&self) -> Vec<String> {
        let more = |name: &str, missing: &WhenMissing| {
            (*missing == WhenMissing::Indicator).then(|| format!("{name}={MISSING}"))
        };
        match self {
            FeatureColumn::Number { name, missing, .. } => {
                std::iter::once(name.clone()).chain(more(name, missing)).collect()
            }
            FeatureColumn::Text { name, levels, .. } => {
                levels.iter().map(|level| format!("{name}={level}")).collect()
            }
            FeatureColumn::Hash { name, buckets, missing } => {
                let names = (0..*buckets).map(|bucket| format!("{name}=(hash {bucket})"));
                names.chain(more(name, missing)).collect()
            }
        }
    }

    /// Whether training saw one value only.
    pub fn is_constant(&self) -> bool {
        match self {
            FeatureColumn::Number { deviation, missing, .. } => {
                *deviation == 0.0 && *missing != WhenMissing::Indicator
            }
            FeatureColumn::Text { levels, .. } => levels.len() < 2,
            FeatureColumn::Hash { .. } => false,
        }
    }

    /// Learns from training rows, at least one of which is not missing unless it has an indicator.
    pub(crate) fn fit(
        name: &str,
        cells: &Column,
        rows: &[u32],
        weights: Option<&[f64]>,
        wish: &Wish,
    ) -> Result<Self> {
        let texts = cells.texts.as_ref().filter(|_| cells.kind() == Kind::Text);
        let present = rows.iter().filter(|row| !cells.is_missing(**row as usize)).count();
        let missing = wish.missing(present < rows.len());
        let name = name.to_owned();
        match (texts, wish.buckets) {
            (None, _) => Self::number(name, cells, rows, weights, missing),
            (Some(_), Some(buckets)) => Ok(FeatureColumn::Hash { name, buckets, missing }),
            (Some(texts), None) => Self::text(name, texts, rows, wish.min_count, missing),
        }
    }

    fn number(
        name: String,
        cells: &Column,
        rows: &[u32],
        weights: Option<&[f64]>,
        missing: WhenMissing,
    ) -> Result<Self> {
        let number = |row: &u32| cells.number(*row as usize);
        let values: Vec<f64> = rows.iter().filter_map(number).collect();
        if values.is_empty() {
            return Err(Error::AllMissing { column: name });
        }
        let with_value = |(row, weight): (&u32, &f64)| number(row).map(|_| *weight);
        let weights: Option<Vec<f64>> =
            weights.map(|weights| rows.iter().zip(weights).filter_map(with_value).collect());
        Self::of_moments(name, moments(&values, weights.as_deref()), missing, cells.date)
    }

    /// A number of known mean and deviation; `None` when they overflow.
    pub(crate) fn of_moments(
        name: String,
        found: Option<(f64, f64)>,
        missing: WhenMissing,
        date: Option<DateOrder>,
    ) -> Result<Self> {
        match found {
            Some((mean, deviation)) => {
                Ok(FeatureColumn::Number { name, mean, deviation, missing, date })
            }
            None => Err(Error::TooLarge { column: name, done: "standardised" }),
        }
    }

    fn text(
        name: String,
        texts: &Texts,
        rows: &[u32],
        min_count: usize,
        missing: WhenMissing,
    ) -> Result<Self> {
        let mut counts: HashMap<Option<usize>, u64> = HashMap::new();
        rows.iter().for_each(|row| *counts.entry(texts.code(*row as usize)).or_default() += 1);
        let text = |code: Option<usize>| code.map(|code| texts.levels[code].clone());
        let counts = counts.into_iter().map(|(code, count)| (text(code), count));
        Self::of_counts(name, counts, rows.len(), min_count, missing)
    }

    /// A text of which it is known how many of so many rows have which; `None` is a missing one.
    pub(crate) fn of_counts(
        name: String,
        counts: impl Iterator<Item = (Option<String>, u64)>,
        rows: usize,
        min_count: usize,
        missing: WhenMissing,
    ) -> Result<Self> {
        let (mut levels, mut rare) = (Vec::new(), Vec::new());
        for (text, count) in counts {
            match text {
                None => levels.push(MISSING.to_owned()),
                Some(text) if count < min_count as u64 => rare.push(text),
                Some(text) => levels.push(text),
            }
        }
        levels.extend((!rare.is_empty()).then(|| RARE.to_owned()));
        let limit = most_levels(rows);
        if levels.len() > limit {
            return Err(Error::TooManyLevels { column: name, levels: levels.len(), rows, limit });
        }
        levels.sort_unstable();
        levels.dedup();
        rare.sort_unstable();
        Ok(FeatureColumn::Text { name, levels, rare, missing })
    }
}

/// Largest number of different texts of a feature, or of classes: half of the rows, or 1,000.
pub(crate) fn most_levels(rows: usize) -> usize {
    (rows / 2).max(1000)
}
