//! Whether the rows of a table are in random order.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// How often rows in random order are said not to be.
pub(crate) const FALSE_ALARM: f64 = 1e-6;

/// A category for each row, in the order of the rows, as counts of rows and runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Runs {
    last: Option<usize>,
    total: u64,
    rows: Vec<u64>,
    runs: Vec<u64>,
}

/// How rows lie that are not in random order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretches {
    /// Rows of a run on average.
    pub found: f64,
    /// The same in random order.
    pub expected: f64,
}

impl Runs {
    /// Adds a row of a category.
    #[inline]
    pub(crate) fn add(&mut self, category: usize) {
        if category >= self.rows.len() {
            self.rows.resize(category + 1, 0);
            self.runs.resize(category + 1, 0);
        }
        self.total += 1;
        self.rows[category] += 1;
        self.runs[category] += u64::from(self.last != Some(category));
        self.last = Some(category);
    }

    /// Number of rows of a category.
    pub(crate) fn rows(&self, category: usize) -> u64 {
        self.rows.get(category).copied().unwrap_or(0)
    }

    /// How the rows lie, when a category has fewer runs than it has in random order with
    /// probability `level`.
    ///
    /// n of N rows in random order have a number of runs with the hypergeometric distribution of n
    /// draws from N, N − n + 1 of which count; its tail is at most exp(−n KL(r/n, (N − n + 1)/N))
    /// (Hoeffding 1963, doi:10.1080/01621459.1963.10500830, § 6), and all categories share the level.
    pub(crate) fn stretches(&self, level: f64) -> Option<Stretches> {
        let all = self.total as f64;
        let least = -(level / self.rows.len() as f64).ln();
        let chance = |n: f64| (all - n + 1.0) / all;
        let counts = || self.rows.iter().zip(&self.runs).map(|(n, r)| (*n as f64, *r as f64));
        let is_rare = |(n, r): (f64, f64)| {
            let (share, chance) = (r / n, chance(n));
            share < chance && n * divergence(share, chance) > least
        };
        let runs: f64 = counts().map(|(_, r)| r).sum();
        let expected: f64 = counts().map(|(n, _)| n * chance(n)).sum();
        counts().any(is_rare).then(|| Stretches { found: all / runs, expected: all / expected })
    }
}

/// Rows between a pair of neighbours and the row that they are compared with, divided by 3.
const APART: usize = 1024;

/// Numbers in the order of the rows, of which neighbours may be alike: whether the second of two is
/// nearer to the first than to one 3,072 rows before. In random order both are equally likely, for
/// any triple whatever the others are, since each number is in one triple.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Neighbours {
    before: VecDeque<f64>,
    pair: Vec<f64>,
    triples: u64,
    nearer: u64,
}

impl Neighbours {
    /// Adds a row.
    pub(crate) fn add(&mut self, number: f64) {
        self.pair.push(number);
        let [a, b, next] = self.pair[..] else { return };
        self.before.push_back(next);
        if self.before.len() > APART {
            let far = self.before.pop_front().unwrap_or(next);
            let (near, far) = ((b - a).abs(), (b - far).abs());
            self.triples += u64::from(near != far);
            self.nearer += u64::from(near < far);
        }
        self.pair.clear();
    }

    /// How often neighbours are nearer to each other, when it is more often than a fair coin falls
    /// on one side with probability `level` (by the bound of [`Runs::stretches`]).
    pub(crate) fn alike(&self, level: f64) -> Option<f64> {
        let (triples, share) = (self.triples as f64, self.nearer as f64 / self.triples as f64);
        let is_rare = share > 0.5 && triples * divergence(1.0 - share, 0.5) > -level.ln();
        is_rare.then_some(share)
    }
}

/// KL(a, b) of coins with 0 ≤ a < b < 1.
fn divergence(a: f64, b: f64) -> f64 {
    let part = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a * (a / b).ln() };
    part(a, b) + part(1.0 - a, 1.0 - b)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::seq::SliceRandom as _;

    use super::*;

    fn stretches(rows: &[usize], level: f64) -> Option<Stretches> {
        let mut runs = Runs::default();
        rows.iter().for_each(|category| runs.add(*category));
        runs.stretches(level)
    }

    fn categories(sizes: &[usize]) -> Vec<usize> {
        let all = sizes.iter().enumerate();
        all.flat_map(|(category, n)| std::iter::repeat_n(category, *n)).collect()
    }

    /// 4,000 random orders at level 5 % and 1 %: at most as many alarms, and 6 deviations; at 1e-6
    /// none (one with probability 0.004).
    #[test]
    fn random_order_raises_no_more_alarms_than_stated() {
        for sizes in [&[100, 100][..], &[300, 5], &[50, 3, 2, 1], &[1; 40], &[40, 40, 40], &[60]] {
            let mut rows = categories(sizes);
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
            let mut alarms = [0.0; 3];
            for _ in 0..4000 {
                rows.shuffle(&mut rng);
                for (count, level) in alarms.iter_mut().zip([0.05, 0.01, FALSE_ALARM]) {
                    *count += f64::from(u8::from(stretches(&rows, level).is_some()));
                }
            }
            assert!(alarms[0] <= 200.0 + 6.0 * 14.0, "{sizes:?}: {alarms:?}");
            assert!(alarms[1] <= 40.0 + 6.0 * 6.3, "{sizes:?}: {alarms:?}");
            assert_eq!(alarms[2], 0.0, "{sizes:?}");
        }
    }

    /// 4,000 random orders of 4,000 numbers at level 5 %, with ties and without.
    #[test]
    fn neighbours_in_random_order_raise_no_more_alarms_than_stated() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
        for distinct in [5, 4000] {
            let mut rows: Vec<f64> = (0..4000).map(|row| f64::from(row % distinct)).collect();
            let mut alarms = [0.0; 2];
            for _ in 0..4000 {
                rows.shuffle(&mut rng);
                let mut found = Neighbours::default();
                rows.iter().for_each(|number| found.add(*number));
                alarms[0] += f64::from(u8::from(found.alike(0.05).is_some()));
                alarms[1] += f64::from(u8::from(found.alike(FALSE_ALARM).is_some()));
            }
            assert!(alarms[0] <= 200.0 + 6.0 * 14.0 && alarms[1] == 0.0, "{alarms:?}");
        }
    }

    #[test]
    fn what_is_sorted_is_found() {
        // Also a small group at the end, and files of one label each.
        for sizes in [&[500, 500][..], &[20_000, 23], &[100, 50, 50], &[30; 10]] {
            let found = stretches(&categories(sizes), FALSE_ALARM).unwrap();
            assert!(found.found > 1.5 * found.expected, "{sizes:?}: {found:?}");
        }
        let files: Vec<usize> = (0..10_000).map(|row| row / 100 % 2).collect();
        let found = stretches(&files, FALSE_ALARM).unwrap();
        assert_eq!(found.found, 100.0);
        assert!((found.expected - 2.0).abs() < 0.01, "{found:?}");
        let numbers = |number: fn(u32) -> f64| {
            let mut found = Neighbours::default();
            (0..10_000).for_each(|row| found.add(number(row)));
            found.alike(FALSE_ALARM)
        };
        assert_eq!(numbers(f64::from), Some(1.0));
        assert!(numbers(|row| (f64::from(row) * 0.001).sin() + f64::from(row % 7)).is_some());
        assert_eq!(numbers(|_| 1.0), None);
        // One category alone has one run in any order.
        assert_eq!(stretches(&[0; 1000], FALSE_ALARM), None);
        assert_eq!(stretches(&[], FALSE_ALARM), None);
    }
}
