//! Random streams and the draws that algorithms make from them.
//!
//! Every random number of this crate comes from a named, portable generator (xoshiro256++) through
//! the functions below, so that a seed gives the same bits on every platform and with every
//! version of the `rand` crates. The normal numbers of the synthetic sets alone are those of
//! `rand_distr`: the same bits on every platform, but perhaps not with every version.

mod dep_round;
mod systematic;

pub use dep_round::dep_round;
use rand::{Rng as _, SeedableRng};
use serde::{Deserialize, Serialize};
pub use systematic::systematic;

/// The generator of this crate: xoshiro256++ (Blackman and Vigna, DOI 10.1145/3460772).
pub type Rng = rand::rngs::Xoshiro256PlusPlus;

/// Two independent streams of one seed: one for the choice of groups, one for the data. A change
/// in how groups are chosen does not reshuffle the samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Streams {
    /// Choices of groups: indices, subsets, coin flips.
    pub groups: Rng,
    /// Choices of samples.
    pub data: Rng,
}

impl Streams {
    /// The streams of `seed`.
    pub fn new(seed: u64) -> Self {
        let mut root = Rng::seed_from_u64(seed);
        let groups = Rng::seed_from_u64(root.next_u64());
        let data = Rng::seed_from_u64(root.next_u64());
        Streams { groups, data }
    }
}

/// A number uniform on [0, 1), from one output of the generator ([`unit_from`]).
#[inline]
pub fn unit(rng: &mut Rng) -> f64 {
    unit_from(rng.next_u64())
}

/// A number uniform on [0, 1) if `number` is uniform on 64 bits: its upper 53 bits, scaled by 2⁻⁵³.
#[inline]
pub fn unit_from(number: u64) -> f64 {
    (number >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// An index uniform on 0..n, from one output of the generator ([`below_from`]).
#[inline]
pub fn below(rng: &mut Rng, n: usize) -> usize {
    below_from(rng.next_u64(), n)
}

/// An index uniform on 0..n if `number` is uniform on 64 bits: the upper half of their 128-bit
/// product. Its bias is below n · 2⁻⁶⁴.
///
/// Returns 0 for n = 0.
#[inline]
pub fn below_from(number: u64, n: usize) -> usize {
    ((u128::from(number) * n as u128) >> 64) as usize
}

/// Shuffles in place (Fisher–Yates).
pub fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_seed_are_stable_and_differ() {
        let mut a = Streams::new(7);
        let mut b = Streams::new(7);
        let x: Vec<u64> = (0..4).map(|_| a.groups.next_u64()).collect();
        let y: Vec<u64> = (0..4).map(|_| b.groups.next_u64()).collect();
        let z: Vec<u64> = (0..4).map(|_| b.data.next_u64()).collect();
        assert_eq!(x, y);
        assert_ne!(x, z);
    }

    #[test]
    fn below_is_uniform() {
        // χ² with 9 degrees of freedom: 33.7 is exceeded with probability 1e-4.
        let mut rng = Rng::seed_from_u64(3);
        let mut counts = [0f64; 10];
        for _ in 0..100_000 {
            counts[below(&mut rng, 10)] += 1.0;
        }
        let chi2: f64 = counts.iter().map(|c| (c - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 33.7, "χ² = {chi2}");
    }
}
