//! Entropic weights in whichever form is fast, or fixed ones.

use super::{CappedTree, Fixed, GroupWeights, Plain, Subsets, Tree};
use crate::error::Result;
use crate::sampling::Rng;

/// The weights of the game, moved by the entropy, in one of their forms, or the fixed weights of
/// ordinary training. The forms are the same up to rounding; what differs is the cost of a round.
#[derive(Clone, Debug)]
pub enum AnyWeights {
    /// Arrays, O(m).
    Plain(Plain),
    /// A tree for k = 1, O(log m).
    Tree(Tree),
    /// A tree for k > 1, O(log m).
    Capped(CappedTree),
    /// Weights that never move.
    Fixed(Fixed),
}

impl AnyWeights {
    /// Uniform weights on m groups with the cap 1/k, as arrays.
    ///
    /// # Errors
    /// As [`Plain::new`].
    pub fn plain(m: usize, k: f64, subsets: Subsets) -> Result<Self> {
        Ok(AnyWeights::Plain(Plain::new(m, k)?.with_subsets(subsets)))
    }

    /// The same in a tree.
    ///
    /// # Errors
    /// As [`Plain::new`].
    pub fn tree(m: usize, k: f64, subsets: Subsets) -> Result<Self> {
        Ok(if k == 1.0 {
            AnyWeights::Tree(Tree::new(m)?.with_subsets(subsets))
        } else {
            AnyWeights::Capped(CappedTree::new(m, k)?.with_subsets(subsets))
        })
    }
}

macro_rules! each {
    ($self:ident, $q:ident => $body:expr) => {
        match $self {
            AnyWeights::Plain($q) => $body,
            AnyWeights::Tree($q) => $body,
            AnyWeights::Capped($q) => $body,
            AnyWeights::Fixed($q) => $body,
        }
    };
}

impl GroupWeights for AnyWeights {
    #[inline]
    fn len(&self) -> usize {
        each!(self, q => q.len())
    }

    #[inline]
    fn get(&self, group: usize) -> f64 {
        each!(self, q => q.get(group))
    }

    #[inline]
    fn quantile(&self, u: f64) -> usize {
        each!(self, q => q.quantile(u))
    }

    #[inline]
    fn contains(&self, group: usize, u: f64) -> bool {
        each!(self, q => q.contains(group, u))
    }

    #[inline]
    fn draw_all(&self, rng: &mut Rng, groups: &mut [usize]) {
        each!(self, q => q.draw_all(rng, groups));
    }

    fn choose(&self, k: usize, rng: &mut Rng, chosen: &mut Vec<usize>, scratch: &mut Vec<f64>) {
        each!(self, q => q.choose(k, rng, chosen, scratch))
    }

    #[inline]
    fn step(&mut self, eta: f64, gains: &[(usize, f64)]) {
        each!(self, q => q.step(eta, gains))
    }

    /// # Panics
    /// When the forms differ.
    fn jump_to(&mut self, other: &Self) {
        match (self, other) {
            (AnyWeights::Plain(a), AnyWeights::Plain(b)) => a.jump_to(b),
            (AnyWeights::Tree(a), AnyWeights::Tree(b)) => a.jump_to(b),
            (AnyWeights::Capped(a), AnyWeights::Capped(b)) => a.jump_to(b),
            (AnyWeights::Fixed(a), AnyWeights::Fixed(b)) => a.jump_to(b),
            _ => panic!("weights jump to weights of their own form"),
        }
    }

    #[inline]
    fn accumulate(&mut self, weight: f64) {
        each!(self, q => q.accumulate(weight))
    }

    fn restart_average(&mut self) {
        each!(self, q => q.restart_average())
    }

    fn write(&self, out: &mut [f64]) {
        each!(self, q => q.write(out))
    }

    fn write_average(&self, out: &mut [f64]) -> f64 {
        each!(self, q => q.write_average(out))
    }

    fn save(&self) -> Vec<f64> {
        each!(self, q => q.save())
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        each!(self, q => q.restore(saved))
    }
}
