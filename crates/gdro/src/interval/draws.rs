//! The independent draws of a group: rows, or clusters of rows.

use std::collections::HashMap;

use super::betting::interval as betting_interval;
use super::{Estimate, Interval, Settings};
use crate::error::Result;
use crate::sampling::{Rng, shuffle};
use rand::{Rng as _, SeedableRng};

/// What one independent draw says of a mean, and how much it counts: a row, or a cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// The value: of a cluster the weighted mean of its rows.
    pub value: f64,
    /// Its weight: of a cluster the total of its rows.
    pub weight: f64,
}

/// The orders in which betting takes the draws, one stream per group.
pub(super) struct Orders(Rng);

impl Orders {
    pub(super) fn new(seed: u64) -> Self {
        Orders(Rng::seed_from_u64(seed))
    }

    /// The order of the next group.
    pub(super) fn next(&mut self, draws: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..draws).collect();
        shuffle(&mut order, &mut Rng::seed_from_u64(self.0.next_u64()));
        order
    }
}

/// The draws of a group in the order in which betting takes them.
pub(super) struct Draws<'a> {
    /// The rows, those of a cluster one after another.
    rows: Vec<usize>,
    /// Where each cluster ends; none where every row is a draw.
    ends: Option<Vec<usize>>,
    weights: Option<&'a [f64]>,
    /// The largest weight that a draw can have.
    pub(super) heaviest: f64,
}

impl<'a> Draws<'a> {
    /// So many rows, which may have weights and clusters.
    pub(super) fn new(
        rows: usize,
        weights: Option<&'a [f64]>,
        clusters: Option<&[u32]>,
        settings: &Settings,
        orders: &mut Orders,
    ) -> Self {
        let heaviest = settings.heaviest(weights.is_some(), clusters.is_some());
        let Some(clusters) = clusters else {
            return Draws { rows: orders.next(rows), ends: None, weights, heaviest };
        };
        // In the order in which they appear: how clusters are numbered must not matter.
        let mut rank = HashMap::new();
        for cluster in &clusters[..rows] {
            let next = rank.len();
            rank.entry(*cluster).or_insert(next);
        }
        let mut by_cluster: Vec<usize> = (0..rows).collect();
        by_cluster.sort_by_key(|row| rank[&clusters[*row]]);
        let members: Vec<&[usize]> =
            by_cluster.chunk_by(|a, b| clusters[*a] == clusters[*b]).collect();
        // An order by rows would have the large clusters first, and they may differ from others.
        let (mut ordered, mut ends) = (Vec::with_capacity(rows), Vec::with_capacity(members.len()));
        for cluster in orders.next(members.len()) {
            ordered.extend_from_slice(members[cluster]);
            ends.push(ordered.len());
        }
        Draws { rows: ordered, ends: Some(ends), weights, heaviest }
    }

    /// The rows, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().copied()
    }

    /// Whether each row is a draw, and counts as much as another.
    pub(super) fn are_alike(&self) -> bool {
        self.ends.is_none() && self.weights.is_none()
    }

    /// Number of draws that are heavier than the largest weight that they can have, as which they
    /// count.
    pub(super) fn heavier(&self) -> usize {
        let all = self.units(|_| true, &|_| 0.0, f64::INFINITY).0;
        all.iter().filter(|unit| unit.weight > self.heaviest).count()
    }

    /// The weighted mean over all rows as they are; `None` without rows or weight.
    pub(super) fn point(&self, value: &dyn Fn(usize) -> f64) -> Option<f64> {
        let unit = |row| Unit { value: value(row), weight: self.weight(row) };
        mean(&(0..self.rows.len()).map(unit).collect::<Vec<Unit>>())
    }

    /// The mean of a value over the rows that are kept, with its betting interval.
    pub(super) fn mean(
        &self,
        keep: impl Fn(usize) -> bool,
        value: &dyn Fn(usize) -> f64,
        range: Interval,
        alpha: f64,
    ) -> Result<Estimate> {
        let (units, rows) = self.units(keep, value, self.heaviest);
        let clusters = self.ends.as_ref().map(|_| units.len());
        Ok(Estimate { rows, clusters, ..mean_estimate(&units, self.heaviest, range, alpha)? })
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// The draws with rows that are kept, and the number of these rows. One that is heavier than
    /// `heaviest` counts as that.
    fn units(
        &self,
        keep: impl Fn(usize) -> bool,
        value: &dyn Fn(usize) -> f64,
        heaviest: f64,
    ) -> (Vec<Unit>, usize) {
        let weight = |row| self.weight(row);
        let Some(ends) = &self.ends else {
            let unit = |row| Unit { value: value(row), weight: weight(row).min(heaviest) };
            let units: Vec<Unit> = self.rows().filter(|row| keep(*row)).map(unit).collect();
            let rows = units.len();
            return (units, rows);
        };
        let (mut units, mut rows, mut start) = (Vec::with_capacity(ends.len()), 0, 0);
        for end in ends {
            let (mut sum, mut total, mut kept) = (0.0, 0.0, 0);
            for row in self.rows[start..*end].iter().copied().filter(|row| keep(*row)) {
                sum += weight(row) * value(row);
                total += weight(row);
                kept += 1;
            }
            if total > 0.0 {
                units.push(Unit { value: sum / total, weight: total.min(heaviest) });
            }
            (rows, start) = (rows + kept, *end);
        }
        (units, rows)
    }
}

/// The mean of units with its betting interval, which takes them in this order. Their values lie in
/// `range`, their weights in [0, `heaviest`].
pub(super) fn mean_estimate(
    units: &[Unit],
    heaviest: f64,
    range: Interval,
    alpha: f64,
) -> Result<Estimate> {
    let values: Vec<f64> = units.iter().map(|unit| unit.value).collect();
    let weights: Vec<f64> = units.iter().map(|unit| unit.weight).collect();
    let interval =
        betting_interval(&values, Some((&weights, heaviest)), range.low, range.high, alpha)?;
    Ok(Estimate::new(units.len(), mean(units), interval, range))
}

/// The weighted mean of units; `None` without any or without weight.
fn mean(units: &[Unit]) -> Option<f64> {
    let (mut sum, mut total) = (0.0, 0.0);
    for unit in units {
        sum += unit.weight * unit.value;
        total += unit.weight;
    }
    (total > 0.0).then(|| sum / total)
}
