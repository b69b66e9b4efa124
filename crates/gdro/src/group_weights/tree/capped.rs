//! Weights on the capped simplex in a tree.

use super::eights::{Eights, Fold, add};
use super::ledger::{Clock, Group};
use super::{in_eights, moves_most, out_of_range};
use crate::error::{Error, Result, require};
use crate::group_weights::GroupWeights;
use crate::group_weights::subsets::Subsets;
use crate::prefetch::prefetch;
use crate::sampling::{Rng, systematic};

/// The leaf of a group whose weight is the cap.
const CAPPED: f64 = -1.0;

/// What a node knows: the sum and the largest of the masses of its free groups, and how many are
/// capped.
#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    sum: f64,
    max: f64,
    capped: f64,
}

#[derive(Clone, Debug)]
struct Capped;

#[inline]
fn largest([a, b, c, d, e, f, g, h]: &[f64; 8]) -> f64 {
    ((a.max(*b)).max(c.max(*d))).max((e.max(*f)).max(g.max(*h)))
}

impl Fold for Capped {
    type Node = Shares;
    type Root = Shares;

    #[inline]
    fn leaves(line: &[f64; 8]) -> Shares {
        let free = line.map(|v| v.max(0.0));
        let capped = line.map(|v| if v < 0.0 { 1.0 } else { 0.0 });
        Shares { sum: add(&free), max: largest(&free), capped: add(&capped) }
    }

    #[inline]
    fn nodes(line: &[Shares; 8]) -> Shares {
        Shares {
            sum: add(&line.map(|node| node.sum)),
            max: largest(&line.map(|node| node.max)),
            capped: add(&line.map(|node| node.capped)),
        }
    }

    #[inline]
    fn root_of_leaves(line: &[f64; 8]) -> Shares {
        Self::leaves(line)
    }

    #[inline]
    fn root_of_nodes(line: &[Shares; 8]) -> Shares {
        Self::nodes(line)
    }
}

/// Weights on the capped simplex {q_i ≤ 1/k} in a tree, for real k in [1, m]: the same as
/// [`crate::group_weights::Plain`] up to rounding, in O(log m) for a draw and, amortised, for each
/// gain of a step, and O(1) for the average.
///
/// The free groups have q_i = c v_i, where c = (1 − |C|/k)/S for the set C of capped groups and the
/// sum S of the v_i of the free ones. A step that touches a group of C takes it out, with the
/// v_i = 1/(ck) that it stands for; it then moves the masses of the groups it touches, and while
/// c·max v_i > 1/k the largest goes into C. That is the projection: with gains that are not
/// positive c never falls, so that the untouched groups of C stay there. A group goes into C once
/// for each time that it is touched. A step with a positive gain may let c fall; then all of C are
/// taken out first, which makes it O(k log m).
///
/// References and underflow are as in [`super::Tree`]. 44 bytes per group.
#[derive(Clone, Debug)]
pub struct CappedTree {
    k: f64,
    /// ⌈k⌉ − 1, the most groups that can be capped.
    most: f64,
    groups: Vec<Group>,
    masses: Eights<Capped>,
    /// c.
    scale: f64,
    clock: Clock,
    subsets: Subsets,
    /// The groups that this step has capped.
    fresh: Vec<usize>,
}

impl CappedTree {
    /// Uniform weights on m groups, with the cap 1/k.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless m ≥ 1 and 1 ≤ k ≤ m.
    pub fn new(m: usize, k: f64) -> Result<Self> {
        require(m >= 1, "number of groups", m, "at least 1")?;
        require(k >= 1.0 && k <= m as f64, "k", k, "1 ≤ k ≤ m")?;
        let most = k.ceil() - 1.0;
        let mut tree = CappedTree {
            k,
            most,
            groups: vec![Group::default(); m],
            masses: Eights::new(m),
            scale: 1.0,
            clock: Clock::default(),
            subsets: Subsets::Systematic,
            fresh: Vec::with_capacity(most as usize),
        };
        tree.refill();
        Ok(tree)
    }

    /// The same with another way to draw subsets.
    pub fn with_subsets(self, subsets: Subsets) -> Self {
        CappedTree { subsets, ..self }
    }

    fn cap(&self) -> f64 {
        1.0 / self.k
    }

    /// How much of [0, 1) the groups below a node have, and the group of a leaf.
    #[inline]
    fn lengths(&self) -> (impl Fn(Shares) -> f64, impl Fn(f64) -> f64) {
        let (scale, cap) = (self.scale, self.cap());
        (
            move |node: Shares| scale * node.sum + cap * node.capped,
            move |leaf: f64| if leaf < 0.0 { cap } else { scale * leaf },
        )
    }

    /// c of the masses as they are.
    fn rescale(&mut self) {
        let Shares { sum, capped, .. } = self.masses.root();
        self.scale = (self.k - capped) / self.k / sum;
    }

    /// Brings the sum of a group up to date.
    #[inline]
    fn settle(&mut self, i: usize) {
        let (group, leaf) = (&mut self.groups[i], self.masses.get(i));
        if leaf < 0.0 {
            self.clock.settle_capped(group, 1.0 / self.k);
        } else {
            self.clock.settle(group, leaf);
        }
    }

    /// Brings the sums of all groups up to date, and starts the clock anew.
    fn settle_all(&mut self) {
        (0..self.groups.len()).for_each(|i| self.settle(i));
        self.clock.wind(&mut self.groups);
    }

    /// Makes the leaves of all free groups anew from their logarithms.
    fn refill(&mut self) {
        let groups = &self.groups;
        let leaf = |i: usize, leaf: f64| if leaf < 0.0 { leaf } else { groups[i].mass() };
        self.masses.fill(groups.len(), leaf);
        self.rescale();
    }

    /// Takes a new reference: the largest logarithm of a free group becomes 0. Returns what was
    /// taken off, also of those that are fresh.
    fn lower(&mut self) -> f64 {
        self.settle_all();
        let free = |i: &usize| self.masses.get(*i) >= 0.0;
        let logs = (0..self.groups.len()).filter(free).map(|i| self.groups[i].log());
        let top = logs.fold(f64::NEG_INFINITY, f64::max);
        self.groups.iter_mut().for_each(|group| group.add(-top));
        self.refill();
        top
    }

    /// Takes a settled group out of C, with the logarithm that it stands for.
    #[inline]
    fn release(&mut self, i: usize, log: f64) {
        let group = &mut self.groups[i];
        group.place(log);
        self.clock.free(group);
        self.masses.set(i, group.mass());
    }

    /// Takes all groups out of C.
    fn release_all(&mut self, log: f64) {
        // Those that are fresh know their logarithms.
        while let Some(i) = self.fresh.pop() {
            self.settle(i);
            self.clock.free(&mut self.groups[i]);
            self.masses.set(i, self.groups[i].mass());
        }
        while self.masses.root().capped > 0.0 {
            let i = self.masses.find(|node| node.capped > 0.0, |leaf| leaf < 0.0);
            self.settle(i);
            self.release(i, log);
        }
    }

    /// Caps the largest free groups while they exceed the cap. Returns by how much logarithms have
    /// been lowered on the way.
    fn project(&mut self) -> f64 {
        let cap = self.cap();
        let mut lowered = 0.0;
        loop {
            if out_of_range(self.masses.root().sum) {
                lowered += self.lower();
            }
            self.rescale();
            let Shares { max, capped, .. } = self.masses.root();
            if max * self.scale <= cap || capped >= self.most {
                return lowered;
            }
            let i = self.masses.find(|node| node.max == max, |leaf| leaf == max);
            self.settle(i);
            self.clock.cap(&mut self.groups[i]);
            self.masses.set(i, CAPPED);
            self.fresh.push(i);
        }
    }

    /// Moves most groups: all are made anew.
    fn step_all(&mut self, eta: f64, gains: &[(usize, f64)]) {
        self.settle_all();
        let log = (self.cap() / self.scale).ln();
        self.fresh.clear();
        for (i, group) in self.groups.iter_mut().enumerate() {
            if self.masses.get(i) < 0.0 {
                group.place(log);
            }
        }
        gains.iter().for_each(|(i, gain)| self.groups[*i].add(eta * gain));
        self.masses.fill(self.groups.len(), |_, _| 0.0);
        self.lower();
        self.project();
    }
}

impl GroupWeights for CappedTree {
    fn len(&self) -> usize {
        self.groups.len()
    }

    #[inline]
    fn get(&self, group: usize) -> f64 {
        let (leaf, cap) = (self.masses.get(group), self.cap());
        if leaf < 0.0 { cap } else { (leaf * self.scale).min(cap) }
    }

    #[inline]
    fn quantile(&self, u: f64) -> usize {
        let (node, leaf) = self.lengths();
        let found = self.masses.descend(u, node, leaf);
        prefetch(&self.groups, found);
        found
    }

    #[inline]
    fn contains(&self, group: usize, u: f64) -> bool {
        let (node, leaf) = self.lengths();
        self.masses.contains(group, u, node, leaf)
    }

    #[inline]
    fn draw_all(&self, rng: &mut Rng, groups: &mut [usize]) {
        let (node, leaf) = self.lengths();
        in_eights(rng, groups, |u, groups| self.masses.descend_all(u, groups, &node, &leaf));
        groups.iter().for_each(|i| prefetch(&self.groups, *i));
    }

    fn choose(&self, k: usize, rng: &mut Rng, chosen: &mut Vec<usize>, scratch: &mut Vec<f64>) {
        match self.subsets {
            Subsets::DepRound => {
                let q = (0..self.len()).map(|i| self.get(i));
                crate::group_weights::ruled::choose(q, k, rng, chosen, scratch);
            }
            Subsets::Systematic => {
                systematic(k, self.len(), rng, chosen, scratch, |places, groups| {
                    places.iter_mut().for_each(|place| *place /= k as f64);
                    let (node, leaf) = self.lengths();
                    self.masses.descend_all(places, groups, node, leaf);
                });
                chosen.iter().for_each(|i| prefetch(&self.groups, *i));
            }
        }
    }

    #[inline]
    fn step(&mut self, eta: f64, gains: &[(usize, f64)]) {
        if moves_most(gains, self.len()) {
            return self.step_all(eta, gains);
        }
        self.fresh.clear();
        let before = self.scale;
        // The logarithm of the mass that a capped group stands for.
        let cap = self.cap();
        let level = || (cap / before).ln();
        let mut rises = false;
        for (i, gain) in gains {
            let by = eta * gain;
            if by == 0.0 {
                continue;
            }
            rises |= by > 0.0;
            self.settle(*i);
            let group = &mut self.groups[*i];
            if self.masses.get(*i) < 0.0 {
                group.place(level());
                self.clock.free(group);
            }
            group.add(by);
            self.masses.set(*i, group.mass());
        }
        let untouched = self.masses.root().capped > 0.0;
        let lowered = self.project();
        if rises && untouched {
            let log = level() - lowered;
            if log + self.scale.ln() < cap.ln() {
                self.release_all(log);
                self.project();
            }
        }
    }

    fn jump_to(&mut self, other: &Self) {
        self.settle_all();
        for (mine, group) in self.groups.iter_mut().zip(&other.groups) {
            mine.copy_log(group);
        }
        self.masses.fill(other.groups.len(), |i, _| other.masses.get(i));
        self.scale = other.scale;
    }

    #[inline]
    fn accumulate(&mut self, weight: f64) {
        if self.clock.runs_down(self.scale) {
            self.settle_all();
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
            *o = match self.masses.get(i) {
                leaf if leaf < 0.0 => self.clock.mean_capped(group, self.cap()),
                leaf => self.clock.mean(group, leaf),
            };
        }
        self.clock.total()
    }

    fn save(&self) -> Vec<f64> {
        let groups = self.groups.iter().flat_map(Group::save);
        let capped = (0..self.len()).filter(|i| self.masses.get(*i) < 0.0).map(|i| i as f64);
        groups.chain(self.clock.save()).chain(capped).collect()
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        let m = self.len();
        let wrong = || Error::State(format!("{} numbers for {m} capped weights", saved.len()));
        let (numbers, capped) = saved.split_at_checked(4 * (m + 1)).ok_or_else(wrong)?;
        let fits = |i: &f64| *i >= 0.0 && *i < m as f64 && i.fract() == 0.0;
        if capped.len() as f64 > self.most || !capped.iter().all(fits) {
            return Err(wrong());
        }
        let (numbers, _) = numbers.as_chunks::<4>();
        self.groups.iter_mut().zip(numbers).for_each(|(g, saved)| g.restore(saved));
        self.clock.restore(&numbers[m]);
        self.masses.fill(m, |_, _| 0.0);
        capped.iter().for_each(|i| _ = self.masses.set(*i as usize, CAPPED));
        self.refill();
        Ok(())
    }
}
