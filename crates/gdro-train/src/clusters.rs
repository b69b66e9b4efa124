//! Clusters as the independent draws of intervals.

use std::collections::BTreeMap;

use gdro::Dataset;
use gdro_data::{Clusters, Prepared};
use serde::Serialize;

/// A cluster that weighs more than S, the most that one counts in intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeavyCluster {
    /// Its group.
    pub group: String,
    /// What the cells of its rows say.
    pub cluster: String,
    /// The total weight of its rows in the group, their number without weights.
    pub weight: f64,
    /// Its share of the weight of the group's rows.
    pub share: f64,
}

/// The total weight of each cluster among some rows.
fn totals(data: &Dataset, codes: &[u32], rows: &[u32]) -> BTreeMap<u32, f64> {
    let mut totals = BTreeMap::new();
    for row in rows {
        *totals.entry(codes[*row as usize]).or_insert(0.0) += data.weight(*row as usize);
    }
    totals
}

/// The largest total weight that a cluster has in a group of the data.
pub fn heaviest(data: &Dataset, codes: &[u32]) -> f64 {
    let of_group =
        |group| totals(data, codes, data.members(group)).into_values().fold(0.0, f64::max);
    (0..data.groups()).map(of_group).fold(0.0, f64::max)
}

/// The independent draws of each group of rows: clusters, or its rows where it has a single cluster
/// in training, whose rows alone it speaks of.
#[derive(Clone, Debug, Default)]
pub struct Draws {
    /// The clusters of the rows of each group that has several; empty without clusters.
    codes: Vec<Option<Vec<u32>>>,
}

impl Draws {
    /// Those of groups with these rows, by the cluster of every row. `is_one` says which groups have a single cluster.
    pub fn new(
        clusters: Option<&[u32]>,
        members: &[&[u32]],
        is_one: impl Fn(usize) -> bool,
    ) -> Self {
        let Some(clusters) = clusters else { return Draws::default() };
        let of_group = |(group, rows): (usize, &&[u32])| {
            let codes = || rows.iter().map(|row| clusters[*row as usize]).collect();
            (!is_one(group)).then(codes)
        };
        Draws { codes: members.iter().enumerate().map(of_group).collect() }
    }

    /// The clusters of the rows of a group, where they are its draws.
    pub fn clusters(&self, group: usize) -> Option<&[u32]> {
        self.codes.get(group)?.as_deref()
    }

    /// The clusters that weigh more than `cap`, group by group, the heaviest first.
    pub fn heavier(
        &self,
        data: &Dataset,
        clusters: Option<&Clusters>,
        members: &[&[u32]],
        names: &[String],
        cap: Option<f64>,
    ) -> Vec<HeavyCluster> {
        let (Some(clusters), Some(cap)) = (clusters, cap) else { return Vec::new() };
        let mut heavy = Vec::new();
        for (group, rows) in members.iter().enumerate() {
            if self.clusters(group).is_none() {
                continue;
            }
            let totals = totals(data, clusters.codes(), rows);
            let all: f64 = totals.values().sum();
            let mut found: Vec<(u32, f64)> = totals.into_iter().filter(|(_, w)| *w > cap).collect();
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
            heavy.extend(found.into_iter().map(|(code, weight)| HeavyCluster {
                group: names[group].clone(),
                cluster: clusters.name(code).to_owned(),
                weight,
                share: weight / all,
            }));
        }
        heavy
    }
}

/// The groups of a prepared table that have a single cluster.
pub fn with_one(prepared: &Prepared) -> impl Fn(usize) -> bool + '_ {
    |group| prepared.groups[group].clusters == Some(1)
}
