//! Running sums over the blocks of a column.

use std::collections::{BTreeSet, HashMap};

use crate::error::{Error, Result};
use crate::features::{FeatureColumn, Wish};
use crate::labels::normal;
use crate::table::{Column, DateOrder, Kind, Texts};

/// Most different texts of a feature: more would not be remembered in bounded memory.
const MOST_LEVELS: usize = 100_000;

/// Different numbers of a target that are remembered: more than may be meant as classes.
const MOST_NUMBERS: usize = 1001;

/// What is known so far of a feature.
pub(super) struct Tally {
    cells: Cells,
    wish: Wish,
    /// Whether a cell is missing.
    misses: bool,
    /// The order of day and month, where the numbers are dates and it matters.
    date: Option<DateOrder>,
}

enum Cells {
    Number(Moments),
    Text(HashMap<Option<String>, u64>),
    /// Texts that are hashed need not be known.
    Hash(u32),
}

/// Count, mean and sum of squared deviations; blocks are merged pairwise (Chan, Golub and LeVeque
/// 1983, doi:10.1080/00031305.1983.10483115).
#[derive(Default)]
pub(super) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
    /// The smallest and the largest value.
    ends: Option<(f64, f64)>,
}

impl Moments {
    /// Adds the values of a block, none of which is missing.
    pub(super) fn add(&mut self, values: impl Iterator<Item = f64> + Clone) {
        let (mut count, mut sum) = (0.0, 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.clone() {
            count += 1.0;
            sum += v;
            low = low.min(v);
            high = high.max(v);
        }
        if count == 0.0 {
            return;
        }
        let mean: f64 = sum / count;
        let squares: f64 = values.map(|v| (v - mean) * (v - mean)).sum();
        let total = self.count + count;
        let step = mean - self.mean;
        self.squares += squares + step * step * (self.count * count / total);
        self.mean += step * (count / total);
        self.count = total;
        let (a, b) = self.ends.unwrap_or((low, high));
        self.ends = Some((a.min(low), b.max(high)));
    }

    /// Mean and population standard deviation; 0 exactly when all values are equal. `None` when
    /// there is no value or the sums overflow.
    pub(super) fn finish(&self) -> Option<(f64, f64)> {
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
        Tally { cells, wish, misses: false, date: None }
    }

    /// Adds the given rows of a block.
    pub(super) fn add(&mut self, name: &str, column: &Column, rows: &[u32]) -> Result<()> {
        self.date = self.date.or(column.date);
        self.misses = self.misses || rows.iter().any(|row| column.is_missing(*row as usize));
        match &mut self.cells {
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
        let (name, missing) = (name.to_owned(), self.wish.missing(self.misses));
        match self.cells {
            Cells::Number(moments) if moments.ends.is_none() => {
                Err(Error::AllMissing { column: name })
            }
            Cells::Number(moments) => {
                FeatureColumn::of_moments(name, moments.finish(), missing, self.date)
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
#[derive(Default)]
pub(super) struct Labels {
    texts: BTreeSet<String>,
    numbers: Vec<f64>,
    is_number: bool,
    ends: Option<(f64, f64)>,
}

impl Labels {
    /// Adds the given rows of a block.
    pub(super) fn add(&mut self, cells: &Column, rows: &[u32]) {
        self.is_number = cells.kind() == Kind::Number;
        if let (false, Some(texts)) = (self.is_number, &cells.texts) {
            let labels = counts(texts, rows).filter_map(|(label, _)| label).map(normal);
            self.texts.extend(labels);
            return;
        }
        for v in rows.iter().filter_map(|r| cells.number(*r as usize)) {
            let (low, high) = self.ends.unwrap_or((v, v));
            self.ends = Some((low.min(v), high.max(v)));
            // One that is equal stands first most of the time when there are few.
            if self.numbers.len() < MOST_NUMBERS && !self.numbers.contains(&v) {
                self.numbers.push(v);
            }
        }
    }

    /// The largest number in absolute value.
    pub(super) fn largest(&self) -> f64 {
        self.ends.map_or(0.0, |(low, high)| low.abs().max(high.abs()))
    }

    /// A column that holds every label that was seen; of very many numbers some, the ends included.
    pub(super) fn column(&self) -> (Column, usize) {
        if self.is_number {
            let ends = self.ends.map(|(low, high)| [low, high]);
            let mut numbers = self.numbers.clone();
            numbers.extend(ends.into_iter().flatten());
            let rows = numbers.len();
            return (Column { numbers: Some(numbers), ..Column::default() }, rows);
        }
        let texts = Texts::new(self.texts.iter().map(String::as_str));
        (Column { texts: Some(texts), ..Column::default() }, self.texts.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::moments;

    #[test]
    fn moments_of_blocks_are_those_of_the_whole() {
        let values: Vec<f64> = (0..1000).map(|i| 1e6 + (f64::from(i) * 0.7).sin()).collect();
        let mut tally = Moments::default();
        values.chunks(37).for_each(|block| tally.add(block.iter().copied()));
        let (mean, deviation) = moments(&values, None).unwrap();
        let (found, spread) = tally.finish().unwrap();
        assert!((found / mean - 1.0).abs() < 1e-14 && (spread / deviation - 1.0).abs() < 1e-9);
        let mut same = Moments::default();
        (0..3).for_each(|_| same.add([0.1, 0.1].into_iter()));
        assert_eq!(same.finish(), Some((0.1, 0.0)));
        assert_eq!(Moments::default().finish(), None);
    }
}
