//! Clusters that are held out as a whole.

use std::collections::BTreeMap;

use super::units::Units;

/// What is drawn as a whole, with the rows of each.
#[derive(Debug, Default)]
pub(crate) struct Wholes {
    /// For each family the group of each unit that has most of its rows.
    families: Vec<Vec<Option<u32>>>,
    /// The units that have rows in each group.
    groups: Vec<Vec<u32>>,
    labels: Option<Vec<f64>>,
    /// The rows of each unit.
    pub(crate) rows: Vec<Vec<u32>>,
}

impl Wholes {
    /// What is drawn.
    pub(crate) fn units(&self) -> Units<'_> {
        let labels = self.labels.as_deref();
        Units { families: &self.families, groups: &self.groups, labels }
    }
}

/// Rows as what is drawn of them: clusters, whose label is that of most of their rows; and one by
/// one the rows of the groups that have a single cluster, which could not be held out as a whole.
/// Rows that such a cluster has in other groups are in neither: they are for training.
pub(crate) fn wholes(units: &Units<'_>, clusters: &[u32]) -> [Wholes; 2] {
    let alone: Vec<bool> = units.groups.iter().map(|rows| is_alone(rows, clusters)).collect();
    let all = clusters.iter().max().map_or(0, |last| *last as usize + 1);
    let (mut is_kept, mut is_single) = (vec![false; all], vec![false; clusters.len()]);
    for row in alone.iter().zip(units.groups).filter(|(alone, _)| **alone).flat_map(|(_, r)| r) {
        is_kept[clusters[*row as usize] as usize] = true;
        is_single[*row as usize] = true;
    }
    let mut of_clusters = vec![Vec::new(); all];
    (0..)
        .zip(clusters)
        .for_each(|(row, cluster): (u32, _)| of_clusters[*cluster as usize].push(row));
    let whole = of_clusters.into_iter().enumerate();
    let whole = whole.filter(|(at, rows)| !is_kept[*at] && !rows.is_empty()).map(|(_, rows)| rows);
    let single = (0..clusters.len() as u32).filter(|row| is_single[*row as usize]);
    [
        gathered(units, whole.collect(), |group| !alone[group]),
        gathered(units, single.map(|row| vec![row]).collect(), |group| alone[group]),
    ]
}

/// Whether the rows of a group are of one cluster.
fn is_alone(rows: &[u32], clusters: &[u32]) -> bool {
    let mut of_rows = rows.iter().map(|row| clusters[*row as usize]);
    let first = of_rows.next();
    of_rows.all(|cluster| Some(cluster) == first)
}

/// Units of these rows in those of the groups that count.
fn gathered(units: &Units<'_>, rows: Vec<Vec<u32>>, counts: impl Fn(usize) -> bool) -> Wholes {
    let of_family = |groups: &Vec<Option<u32>>| {
        let in_groups = |row: &u32| groups[*row as usize].filter(|group| counts(*group as usize));
        rows.iter().map(|rows| commonest(rows.iter().filter_map(in_groups))).collect::<Vec<_>>()
    };
    let mut unit_of = vec![None; units.families.first().map_or(0, Vec::len)];
    for (unit, rows) in (0u32..).zip(&rows) {
        rows.iter().for_each(|row| unit_of[*row as usize] = Some(unit));
    }
    let of_group = |(_, rows): (usize, &Vec<u32>)| {
        let mut found: Vec<u32> = rows.iter().filter_map(|row| unit_of[*row as usize]).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let label = |labels: &[f64], rows: &[u32]| {
        let bits = commonest(rows.iter().map(|row| labels[*row as usize].to_bits()));
        f64::from_bits(bits.unwrap_or(0))
    };
    let labels = units.labels.map(|labels| rows.iter().map(|rows| label(labels, rows)).collect());
    let groups = units.groups.iter().enumerate().filter(|(at, _)| counts(*at));
    Wholes {
        families: units.families.iter().map(of_family).collect(),
        groups: groups.map(of_group).collect(),
        labels,
        rows,
    }
}

/// The commonest, the least of several.
fn commonest<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    let most = counts.values().max().copied();
    counts.into_iter().find(|(_, count)| Some(*count) == most).map(|(value, _)| value)
}
