//! Weights in a tree: what a round costs depends on the groups that it touches.

mod capped;
mod eights;
mod ledger;

use super::GroupWeights;
use super::subsets::Subsets;
pub use capped::CappedTree;
use eights::{Eights, Sum};
use ledger::{Clock, Group};

use crate::error::{Error, Result, require};
use crate::hint::cold_path;
use crate::prefetch::prefetch;
use crate::sampling::{Rng, systematic, unit};

/// The root has to stay between the inverse of this and this, or all leaves are made anew: 2⁴⁰⁰.
const ROOT: f64 = 2.582_249_878_086_908_6e120;

/// Whether the root is in need of a new reference. Also for NaN.
#[inline]
fn out_of_range(root: f64) -> bool {
    !(1.0 / ROOT..ROOT).contains(&root)
}

/// Whether a step moves so many groups that making all leaves anew is cheaper.
#[inline]
fn moves_most(gains: &[(usize, f64)], groups: usize) -> bool {
    gains.len() * 4 > groups
}

/// Draws groups, eight at a time: `locate` is given numbers uniform on [0, 1), which it may change.
#[inline(always)]
fn in_eights(rng: &mut Rng, groups: &mut [usize], locate: impl Fn(&mut [f64], &mut [usize])) {
    let mut numbers = [0.0; 8];
    for groups in groups.chunks_mut(8) {
        let numbers = &mut numbers[..groups.len()];
        numbers.fill_with(|| unit(rng));
        locate(numbers, groups);
    }
}

/// Weights on the simplex in a tree: the same as [`super::Plain`] with k = 1 up to rounding, in
/// O(log m) for a draw and for each gain of a step, and O(1) for the average.
///
/// The logarithms are the state; the leaves are their exponentials up to a common factor. A sum
/// near the ends of what a number can hold has all leaves made anew with the largest logarithm at
/// 0, O(m), which takes steps that move the logarithm of the sum by 270 in all. So a group whose
/// leaf underflows to 0 still has its logarithm and comes back when its gains do.
///
/// 41 bytes per group.
#[derive(Clone, Debug)]
pub struct Tree {
    groups: Vec<Group>,
    masses: Eights<Sum>,
    /// 1 / Σ masses.
    scale: f64,
    clock: Clock,
    subsets: Subsets,
}

impl Tree {
    /// Uniform weights on m groups.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless m ≥ 1.
    pub fn new(m: usize) -> Result<Self> {
        require(m >= 1, "number of groups", m, "at least 1")?;
        let mut tree = Tree {
            groups: vec![Group::default(); m],
            masses: Eights::new(m),
            scale: 1.0,
            clock: Clock::default(),
            subsets: Subsets::Systematic,
        };
        tree.grow();
        Ok(tree)
    }

    /// The same with another way to draw subsets.
    pub fn with_subsets(self, subsets: Subsets) -> Self {
        Tree { subsets, ..self }
    }

    /// Brings the sums of all groups up to date.
    fn settle(&mut self) {
        for (i, group) in self.groups.iter_mut().enumerate() {
            self.clock.settle(group, self.masses.get(i));
        }
        self.clock.wind(&mut self.groups);
    }

    /// Adds to the logarithm of one group. Returns the sum of the masses.
    #[inline(always)]
    fn shift(&mut self, i: usize, by: f64) -> f64 {
        let group = &mut self.groups[i];
        self.clock.settle(group, self.masses.get(i));
        group.add(by);
        self.masses.set(i, group.mass()).sum()
    }

    /// Makes all leaves anew, with the largest logarithm at 0; after [`Tree::settle`].
    fn grow(&mut self) {
        let top = self.groups.iter().map(Group::log).fold(f64::NEG_INFINITY, f64::max);
        self.groups.iter_mut().for_each(|group| group.add(-top));
        self.refill();
    }

    /// Makes all leaves anew from the logarithms as they are.
    fn refill(&mut self) {
        let groups = &self.groups;
        self.masses.fill(groups.len(), |i, _| groups[i].mass());
        self.scale = 1.0 / self.masses.root().sum();
    }
}

impl GroupWeights for Tree {
    fn len(&self) -> usize {
        self.groups.len()
    }

    #[inline(always)]
    fn get(&self, group: usize) -> f64 {
        self.masses.get(group) * self.scale
    }

    #[inline(always)]
    fn quantile(&self, u: f64) -> usize {
        let found = self.masses.quantile(u * self.masses.root().sum());
        prefetch(&self.groups, found);
        found
    }

    #[inline(always)]
    fn contains(&self, group: usize, u: f64) -> bool {
        self.masses.holds(group, u * self.masses.root().sum())
    }

    #[inline(always)]
    fn draw_all(&self, rng: &mut Rng, groups: &mut [usize]) {
        let root = self.masses.root().sum();
        in_eights(rng, groups, |u, groups| {
            u.iter_mut().for_each(|u| *u *= root);
            self.masses.quantiles(u, groups);
        });
        groups.iter().for_each(|i| prefetch(&self.groups, *i));
    }

    fn choose(&self, k: usize, rng: &mut Rng, chosen: &mut Vec<usize>, scratch: &mut Vec<f64>) {
        match self.subsets {
            Subsets::DepRound => {
                let q = (0..self.len()).map(|i| self.get(i));
                super::ruled::choose(q, k, rng, chosen, scratch);
            }
            Subsets::Systematic => {
                let part = 1.0 / (self.scale * k as f64);
                systematic(k, self.len(), rng, chosen, scratch, |places, groups| {
                    places.iter_mut().for_each(|place| *place *= part);
                    self.masses.descend_all(places, groups, |node| node, |leaf| leaf);
                });
                chosen.iter().for_each(|i| prefetch(&self.groups, *i));
            }
        }
    }

    #[inline(always)]
    fn step(&mut self, eta: f64, gains: &[(usize, f64)]) {
        if moves_most(gains, self.len()) {
            self.settle();
            gains.iter().for_each(|(i, gain)| self.groups[*i].add(eta * gain));
            self.grow();
            return;
        }
        let root = match gains {
            [(i, gain)] => self.shift(*i, eta * gain),
            _ => {
                gains.iter().for_each(|(i, gain)| _ = self.shift(*i, eta * gain));
                self.masses.root().sum()
            }
        };
        self.scale = 1.0 / root;
        if out_of_range(root) {
            cold_path();
            self.settle();
            self.grow();
        }
    }

    fn jump_to(&mut self, other: &Self) {
        self.settle();
        for (mine, group) in self.groups.iter_mut().zip(&other.groups) {
            mine.copy_log(group);
        }
        self.refill();
    }

    #[inline(always)]
    fn accumulate(&mut self, weight: f64) {
        if self.clock.runs_down(self.scale) {
            cold_path();
            self.settle();
        }
        self.clock.turn(weight, self.scale);
    }

    fn restart_average(&mut self) {
        self.clock.restart(&mut self.groups);
    }

    fn write(&self, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = self.get(i));
    }

    fn write_average(&self, out: &mut [f64]) -> f64 {
        if self.clock.total() == 0.0 {
            self.write(out);
            return 0.0;
        }
        for (i, (o, group)) in out.iter_mut().zip(&self.groups).enumerate() {
            *o = self.clock.mean(group, self.masses.get(i));
        }
        self.clock.total()
    }

    fn save(&self) -> Vec<f64> {
        let groups = self.groups.iter().flat_map(Group::save);
        groups.chain(self.clock.save()).collect()
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        let m = self.len();
        match saved.as_chunks::<4>() {
            (numbers, []) if numbers.len() == m + 1 => {
                self.groups.iter_mut().zip(numbers).for_each(|(g, saved)| g.restore(saved));
                self.clock.restore(&numbers[m]);
            }
            _ => {
                let found = saved.len();
                return Err(Error::State(format!("{found} numbers for a tree of {m} weights")));
            }
        }
        self.refill();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
