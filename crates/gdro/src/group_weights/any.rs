//! Entropic weights in whichever form is fast.

use super::{CappedTree, GroupWeights, Plain, Subsets, Tree};
use crate::error::Result;
use crate::sampling::Rng;

/// The weights of the game, moved by the entropy, in one of their forms. They are the same up to
/// rounding; what differs is the cost of a round.
#[derive(Clone, Debug)]
pub enum Entropic {
    /// Arrays, O(m).
    Plain(Plain),
    /// A tree for k = 1, O(log m).
    Tree(Tree),
    /// A tree for k > 1, O(log m).
    Capped(CappedTree),
}

impl Entropic {
    /// Uniform weights on m groups with the cap 1/k, as arrays.
    ///
    /// # Errors
    /// As [`Plain::new`].
    pub fn plain(m: usize, k: f64, subsets: Subsets) -> Result<Self> {
        Ok(Entropic::Plain(Plain::new(m, k)?.with_subsets(subsets)))
    }

    /// The same in a tree.
    ///
    /// # Errors
    /// As [`Plain::new`].
    pub fn tree(m: usize, k: f64, subsets: Subsets) -> Result<Self> {
        Ok(if k == 1.0 {
            Entropic::Tree(Tree::new(m)?.with_subsets(subsets))
        } else {
            Entropic::Capped(CappedTree::new(m, k)?.with_subsets(subsets))
        })
    }
}

macro_rules! each {
    ($self:ident, $q:ident => $body:expr) => {
        match $self {
            Entropic::Plain($q) => $body,
            Entropic::Tree($q) => $body,
            Entropic::Capped($q) => $body,
        }
    };
}

impl GroupWeights for Entropic {
    #[inline]
    fn len(&self) -> usize {
        each!(self, q => q.len())
    }

    #[inline]
    fn get(&self, group: usize) -> f64 {
        each!(self, q => q.get(group))
    }

    #[inline]
    fn at(&self, place: f64) -> usize {
        each!(self, q => q.at(place))
    }

    #[inline]
    fn at_all(&self, places: &mut [f64], groups: &mut [usize]) {
        each!(self, q => q.at_all(places, groups));
    }

    #[inline]
    fn is_at(&self, group: usize, place: f64) -> bool {
        each!(self, q => q.is_at(group, place))
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
            (Entropic::Plain(a), Entropic::Plain(b)) => a.jump_to(b),
            (Entropic::Tree(a), Entropic::Tree(b)) => a.jump_to(b),
            (Entropic::Capped(a), Entropic::Capped(b)) => a.jump_to(b),
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
