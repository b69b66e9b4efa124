//! Running sums over the blocks of a column.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::features::{FeatureColumn, Wish};
use crate::labels::normal;
use crate::order::{Neighbours, Runs};
use crate::stray::{Seen, tally};
use crate::table::{Column, DateOrder, Kind, Table, Texts};

/// Most different texts of a feature: more would not be remembered in bounded memory.
const MOST_LEVELS: usize = 100_000;

/// Different numbers of a target that are remembered: more than may be meant as classes.
const MOST_NUMBERS: usize = 1001;

/// Different numbers of a target that may be classes, with an order of runs; more have one of
/// neighbours.
const MOST_IN_ORDER: usize = 64;

/// What is known so far of a feature.
pub(super) struct Tally {
    sums: Sums,
    wish: Wish,
}

/// The sums of a column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sums {
    cells: Cells,
    /// Whether a cell is missing.
    misses: bool,
    /// The order of day and month, where the numbers are dates and it matters.
    date: Option<DateOrder>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Cells {
    Number(Moments),
    Text(HashMap<Option<String>, u64>),
    /// Texts that are hashed need not be known.
    Hash(u32),
}

/// Values that are added at once: as many whatever the blocks of the table, so that the sums are the
/// same bits for any.
const CHUNK: usize = 4096;

/// Count, mean and sum of squared deviations; chunks are merged pairwise (Chan, Golub and LeVeque
/// 1983, doi:10.1080/00031305.1983.10483115).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Moments {
    /// Values that make no whole chunk yet.
    open: Vec<f64>,
    count: f64,
    mean: f64,
    squares: f64,
    /// The smallest and the largest value.
    ends: Option<(f64, f64)>,
}

impl Moments {
    /// Adds the values of a block, none of which is missing.
    pub(super) fn add(&mut self, values: impl Iterator<Item = f64>) {
        for v in values {
            self.open.push(v);
            if self.open.len() == CHUNK {
                self.merge();
            }
        }
    }

    /// Adds the open chunk to the sums.
    fn merge(&mut self) {
        let values = std::mem::take(&mut self.open);
        let (mut sum, mut low, mut high) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
        for v in &values {
            sum += v;
            low = low.min(*v);
            high = high.max(*v);
        }
        if values.is_empty() {
            return;
        }
        let count = values.len() as f64;
        let mean: f64 = sum / count;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let total = self.count + count;
        let step = mean - self.mean;
        self.squares += squares + step * step * (self.count * count / total);
        self.mean += step * (count / total);
        self.count = total;
        let (a, b) = self.ends.unwrap_or((low, high));
        self.ends = Some((a.min(low), b.max(high)));
        self.open = values;
        self.open.clear();
    }

    /// Mean and population standard deviation; 0 exactly when all values are equal. `None` when
    /// there is no value or the sums overflow.
    pub(super) fn finish(&mut self) -> Option<(f64, f64)> {
        self.merge();
        let (low, high) = self.ends?;
        if low == high {
            return Some((low, 0.0));
        }
        let deviation = (self.squares / self.count).sqrt();
        let fits = self.mean.is_finite() && deviation.is_finite() && deviation > 0.0;
        fits.then_some((self.mean, deviation))
    }
}

impl Tally {
    /// A feature of such cells.
    pub(super) fn new(kind: Kind, wish: Wish) -> Self {
        let cells = match (kind, wish.buckets) {
            (Kind::Number, _) => Cells::Number(Moments::default()),
            (_, Some(buckets)) => Cells::Hash(buckets),
            (_, None) => Cells::Text(HashMap::new()),
        };
        Tally { sums: Sums { cells, misses: false, date: None }, wish }
    }

    /// The sums so far.
    pub(super) fn sums(&self) -> &Sums {
        &self.sums
    }

    /// Takes over the sums of another one of the same column: whether they are of such cells.
    pub(super) fn take_over(&mut self, sums: Sums) -> bool {
        let fits = std::mem::discriminant(&self.sums.cells) == std::mem::discriminant(&sums.cells);
        self.sums = sums;
        fits
    }

    /// Adds the given rows of a block.
    pub(super) fn add(&mut self, name: &str, column: &Column, rows: &[u32]) -> Result<()> {
        let sums = &mut self.sums;
        sums.date = sums.date.or(column.date);
        sums.misses = sums.misses || rows.iter().any(|row| column.is_missing(*row as usize));
        match &mut sums.cells {
            Cells::Number(moments) => {
                moments.add(rows.iter().filter_map(|row| column.number(*row as usize)));
            }
            Cells::Text(levels) => {
                let Some(texts) = &column.texts else { return Ok(()) };
                for (level, count) in counts(texts, rows) {
                    *levels.entry(level.map(str::to_owned)).or_default() += count;
                }
                if levels.len() > MOST_LEVELS {
                    let (column, levels) = (name.to_owned(), levels.len());
                    let (rows, limit) = (rows.len(), MOST_LEVELS);
                    return Err(Error::TooManyLevels { column, levels, rows, limit });
                }
            }
            Cells::Hash(_) => {}
        }
        Ok(())
    }

    /// The encoding of the column, after so many rows.
    pub(super) fn finish(self, name: &str, rows: u64) -> Result<FeatureColumn> {
        let Sums { cells, misses, date } = self.sums;
        let (name, missing) = (name.to_owned(), self.wish.missing(misses));
        match cells {
            Cells::Number(mut moments) => {
                let found = moments.finish();
                if moments.ends.is_none() {
                    return Err(Error::AllMissing { column: name });
                }
                FeatureColumn::of_moments(name, found, missing, date)
            }
            Cells::Text(levels) => {
                let (rows, min_count) = (rows as usize, self.wish.min_count);
                FeatureColumn::of_counts(name, levels.into_iter(), rows, min_count, missing)
            }
            Cells::Hash(buckets) => Ok(FeatureColumn::Hash { name, buckets, missing }),
        }
    }
}

/// How often each text occurs in the given rows; `None` is a missing one.
fn counts<'a>(texts: &'a Texts, rows: &[u32]) -> impl Iterator<Item = (Option<&'a str>, u64)> {
    let mut of = vec![0u64; texts.levels.len() + 1];
    for row in rows {
        of[texts.code(*row as usize).unwrap_or(texts.levels.len())] += 1;
    }
    let level = |at: usize| texts.levels.get(at).map(String::as_str);
    of.into_iter().enumerate().filter(|(_, n)| *n > 0).map(move |(at, n)| (level(at), n))
}

/// The labels of a target so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Labels {
    /// Texts, with their numbers in the order of appearance.
    texts: BTreeMap<String, usize>,
    numbers: Vec<Seen>,
    /// How few labels lie, and how many numbers.
    runs: Runs,
    neighbours: Neighbours,
    is_number: bool,
    ends: Option<(f64, f64)>,
}

impl Labels {
    /// Adds the given rows of a block, of which `cells` is the target.
    pub(super) fn add(&mut self, block: &Table, cells: &Column, rows: &[u32]) {
        self.is_number = cells.kind() == Kind::Number;
        if let (false, Some(texts)) = (self.is_number, &cells.texts) {
            let mut number = |label: &String| {
                let next = self.texts.len();
                *self.texts.entry(normal(label)).or_insert(next)
            };
            let mut known = vec![None; texts.levels.len()];
            for code in rows.iter().filter_map(|row| texts.code(*row as usize)) {
                let label = known[code].get_or_insert_with(|| number(&texts.levels[code]));
                self.runs.add(*label);
            }
            return;
        }
        for row in rows.iter().map(|row| *row as usize) {
            let Some(v) = cells.number(row) else { continue };
            let (low, high) = self.ends.unwrap_or((v, v));
            self.ends = Some((low.min(v), high.max(v)));
            self.neighbours.add(v);
            if self.numbers.len() == MOST_NUMBERS {
                continue;
            }
            let place = tally(&mut self.numbers, v, || block.position(row));
            if self.numbers.len() <= MOST_IN_ORDER {
                self.runs.add(place);
            }
        }
    }

    /// How the labels lie; `None` for many numbers.
    pub(super) fn runs(&self) -> Option<&Runs> {
        (self.numbers.len() <= MOST_IN_ORDER).then_some(&self.runs)
    }

    /// How many numbers lie.
    pub(super) fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }

    /// The numbers, in the order of appearance; of very many some.
    pub(super) fn numbers(&self) -> &[Seen] {
        &self.numbers
    }

    /// The largest number in absolute value.
    pub(super) fn largest(&self) -> f64 {
        self.ends.map_or(0.0, |(low, high)| low.abs().max(high.abs()))
    }

    /// A column that holds every label that was seen; of very many numbers some, the ends included.
    pub(super) fn column(&self) -> (Column, usize) {
        if self.is_number {
            let ends = self.ends.map(|(low, high)| [low, high]);
            let mut numbers: Vec<f64> = self.numbers.iter().map(|seen| seen.number).collect();
            numbers.extend(ends.into_iter().flatten());
            let rows = numbers.len();
            return (Column { numbers: Some(numbers), ..Column::default() }, rows);
        }
        let texts = Texts::new(self.texts.keys().map(String::as_str));
        (Column { texts: Some(texts), ..Column::default() }, self.texts.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::moments;

    #[test]
    fn moments_of_blocks_are_those_of_the_whole() {
        let values: Vec<f64> = (0..10_000).map(|i| 1e6 + (f64::from(i) * 0.7).sin()).collect();
        let mut tally = Moments::default();
        values.chunks(37).for_each(|block| tally.add(block.iter().copied()));
        let (mean, deviation) = moments(&values, None).unwrap();
        let (found, spread) = tally.finish().unwrap();
        assert!((found / mean - 1.0).abs() < 1e-14 && (spread / deviation - 1.0).abs() < 1e-9);
        let mut other = Moments::default();
        values.chunks(911).for_each(|block| other.add(block.iter().copied()));
        assert_eq!(other.finish(), Some((found, spread)));
        let mut same = Moments::default();
        (0..3).for_each(|_| same.add([0.1, 0.1].into_iter()));
        assert_eq!(same.finish(), Some((0.1, 0.0)));
        assert_eq!(Moments::default().finish(), None);
    }
}
