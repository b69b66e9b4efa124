//! What is said of a group beside its risk and its accuracy.

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::rows::{Ordered, Rows};
use super::{Estimate, Interval, auc_interval};
use crate::error::Result;

/// A quantity in [0, 1] of groups of rows with two classes, and where it is said: in tables, on the
/// page, in files and in Python.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Its name in files and in Python.
    pub key: &'static str,
    /// Its name in tables.
    pub label: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// Whether it is written in percent.
    pub is_share: bool,
    /// How many rows of a group it is an estimate of; 0 where it has no interval.
    pub(super) trials: fn(&Rows<'_>) -> usize,
    /// Its estimate at a level alpha, for rows with classes; `None` where it is not defined.
    pub(super) estimate: fn(&Ordered<'_>, f64) -> Result<Option<Estimate>>,
}

/// The metrics, in the order of the tables.
pub const METRICS: [Metric; 3] = [
    Metric {
        key: "true_positive_rate",
        label: "true positives",
        help: "the share of the positive rows that are predicted positive.",
        is_share: true,
        trials: |rows| rows.classes().0,
        estimate: |group, alpha| {
            let Some((correct, binary)) = group.rows.correct.zip(group.rows.binary) else {
                return Ok(None);
            };
            group.share(|r| binary.positive[r], |r| correct[r], alpha).map(Some)
        },
    },
    Metric {
        key: "false_positive_rate",
        label: "false positives",
        help: "the share of the negative rows that are predicted positive.",
        is_share: true,
        trials: |rows| rows.classes().1,
        estimate: |group, alpha| {
            let Some((correct, binary)) = group.rows.correct.zip(group.rows.binary) else {
                return Ok(None);
            };
            group.share(|r| !binary.positive[r], |r| !correct[r], alpha).map(Some)
        },
    },
    // `rows` of its estimate is the size of the smaller class: the number of independent pairs.
    Metric {
        key: "auc",
        label: "AUC",
        help: "the probability that a positive row has a higher score than a negative one of the same group; 0.5 is guessing.",
        is_share: false,
        trials: |rows| if rows.clusters.is_some() { 0 } else { rows.smaller_class() },
        estimate: |group, alpha| {
            let Some(binary) = group.rows.binary.filter(|_| group.rows.clusters.is_none()) else {
                return Ok(None);
            };
            if group.rows.weights.is_some() {
                return group.weighted_auc(&binary, alpha).map(Some);
            }
            let unit = Interval::new(0.0, 1.0);
            Ok(Some(match auc_interval(binary.scores, binary.positive, alpha)? {
                Some(found) => {
                    let rows = found.positives.min(found.negatives);
                    Estimate::new(rows, Some(found.value), found.interval, unit)
                }
                None => Estimate::new(0, None, unit, unit),
            }))
        },
    },
];

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

/// An estimate of each of [`METRICS`] for a group, where it has one. As text an object with an entry
/// for each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics([Option<Estimate>; METRICS.len()]);

impl Metrics {
    /// Those of a group, each at its level.
    pub(super) fn of(group: &Ordered<'_>, levels: &[f64; METRICS.len()]) -> Result<Self> {
        let mut found = Metrics::default();
        for ((metric, alpha), place) in METRICS.iter().zip(levels).zip(&mut found.0) {
            *place = (metric.estimate)(group, *alpha)?;
        }
        Ok(found)
    }

    /// The metrics with their estimates.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Metric, Option<Estimate>)> {
        METRICS.iter().zip(self.0)
    }

    /// The estimate of the metric of this name; `None` where the group has none, or no metric has
    /// the name.
    pub fn get(&self, key: &str) -> Option<Estimate> {
        self.iter().find(|(metric, _)| metric.key == key)?.1
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(METRICS.len()))?;
        for (metric, estimate) in self.iter() {
            map.serialize_entry(metric.key, &estimate)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Metrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let mut found: BTreeMap<String, Option<Estimate>> = BTreeMap::deserialize(deserializer)?;
        Ok(Metrics(METRICS.map(|metric| found.remove(metric.key).flatten())))
    }
}
