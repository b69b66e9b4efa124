//! Which rows of a group are held out, decided row by row.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

/// Sequential selection sampling (Knuth, The Art of Computer Programming 2, Algorithm 3.4.2S): a
/// row is taken with probability (still wanted)/(still to come). Every set of the wanted size is
/// equally likely, whatever the order of the rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Selection {
    wanted: u64,
    to_come: u64,
    rng: Xoshiro256PlusPlus,
}

impl Selection {
    /// `wanted` of `rows` rows of a group, by a stream of random numbers of its own.
    pub(super) fn new(wanted: u64, rows: u64, seed: u64, group: usize) -> Self {
        // The golden ratio spreads the seeds of the groups (Steele, Lea and Flood 2014,
        // doi:10.1145/2660193.2660195).
        let own = (group as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(own));
        Selection { wanted, to_come: rows, rng }
    }

    /// Whether the next row would be taken. [`Selection::pass`] must follow.
    pub(super) fn draw(&mut self) -> bool {
        self.to_come > 0 && self.rng.random_range(0..self.to_come) < self.wanted
    }

    /// Goes past a row that was taken or left.
    pub(super) fn pass(&mut self, taken: bool) {
        self.to_come = self.to_come.saturating_sub(1);
        self.wanted = self.wanted.saturating_sub(u64::from(taken));
    }

    /// Whether the next row is the last one.
    pub(super) fn is_last(&self) -> bool {
        self.to_come <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(wanted: u64, rows: u64, seed: u64, group: usize) -> Vec<usize> {
        let mut selection = Selection::new(wanted, rows, seed, group);
        let row = |at| {
            let taken = selection.draw();
            selection.pass(taken);
            taken.then_some(at)
        };
        (0..rows as usize).filter_map(row).collect()
    }

    #[test]
    fn exactly_as_many_as_wanted() {
        for (wanted, rows) in [(0, 5), (1, 1), (4, 5), (5, 5), (37, 1000)] {
            for seed in 0..50 {
                assert_eq!(select(wanted, rows, seed, 3).len(), wanted as usize);
            }
        }
        assert_ne!(select(5, 100, 1, 0), select(5, 100, 1, 1));
        assert_eq!(select(5, 100, 1, 0), select(5, 100, 1, 0));
    }

    /// Each of the 10 sets of 2 of 5 rows in 20,000 selections: χ² with 9 degrees of freedom is
    /// above 44.8 with probability 1e-6.
    #[test]
    fn every_set_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::<Vec<usize>, f64>::new();
        for seed in 0..20_000 {
            *counts.entry(select(2, 5, seed, 1)).or_default() += 1.0;
        }
        let chi: f64 = counts.values().map(|n| (n - 2000.0f64).powi(2) / 2000.0).sum();
        assert!(counts.len() == 10 && chi < 44.8, "{chi}: {counts:?}");
    }
}
