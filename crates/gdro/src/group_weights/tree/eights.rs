//! Sums over many leaves, kept up to date under changes of single ones.

use std::fmt::Debug;

/// What a node knows of the leaves below it, always computed anew from its eight children and in
/// one fixed order: never by adding a difference, so that nothing drifts, and the same leaves give
/// the same bits.
pub(super) trait Fold: Clone + Debug {
    /// The knowledge.
    type Node: Copy + Debug + Default;
    /// That of the root, which may be more.
    type Root: Copy + Debug + Default;

    /// That of eight leaves.
    fn leaves(line: &[f64; 8]) -> Self::Node;

    /// That of eight nodes.
    fn nodes(line: &[Self::Node; 8]) -> Self::Node;

    /// That of the root over eight leaves.
    fn root_of_leaves(line: &[f64; 8]) -> Self::Root;

    /// That of the root over eight nodes.
    fn root_of_nodes(line: &[Self::Node; 8]) -> Self::Root;
}

/// The sum of the leaves.
#[derive(Clone, Debug)]
pub(super) struct Sum;

/// What the root of sums knows: where its children begin and end when they lie side by side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Total {
    ends: [f64; 9],
}

impl Total {
    #[inline]
    fn of(line: &[f64; 8]) -> Self {
        let [a, b, c, d, e, f, g] = ends(line);
        Total { ends: [0.0, a, b, c, d, e, f, g, g + line[7]] }
    }

    /// The sum.
    #[inline]
    pub fn sum(&self) -> f64 {
        self.ends[8]
    }

    /// The children in which eight numbers fall, or 8 for one that is not below the sum.
    #[inline]
    fn children(&self, left: &[f64; 8]) -> [usize; 8] {
        let mut children = [0; 8];
        for end in &self.ends[1..] {
            (0..8).for_each(|k| children[k] += usize::from(*end <= left[k]));
        }
        children
    }

    /// The child in which `left` falls; none where it is not below the sum.
    #[inline]
    fn child(&self, left: f64) -> Option<usize> {
        let [_, a, b, c, d, e, f, g, sum] = self.ends;
        (left < sum).then(|| ends_before([a, b, c, d, e, f, g], left))
    }

    /// Whether `left` falls in this child.
    #[inline]
    fn holds(&self, child: usize, left: f64) -> bool {
        child < 8 && self.ends[child] <= left && left < self.ends[child + 1]
    }
}

impl Fold for Sum {
    type Node = f64;
    type Root = Total;

    #[inline]
    fn leaves(line: &[f64; 8]) -> f64 {
        add(line)
    }

    #[inline]
    fn nodes(line: &[f64; 8]) -> f64 {
        add(line)
    }

    #[inline]
    fn root_of_leaves(line: &[f64; 8]) -> Total {
        Total::of(line)
    }

    #[inline]
    fn root_of_nodes(line: &[f64; 8]) -> Total {
        Total::of(line)
    }
}

/// The sum of eight numbers, one after the other: loads of single numbers do not wait for a change
/// of one of them to reach the cache, as those of pairs would.
#[inline]
pub(super) fn add([a, b, c, d, e, f, g, h]: &[f64; 8]) -> f64 {
    a + b + c + d + e + f + g + h
}

/// Eight leaves in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([f64; 8]);

/// A complete tree with eight children per node: log₈ m cache lines lead to a leaf, where a binary
/// tree takes log₂ m.
#[derive(Clone, Debug)]
pub(super) struct Eights<F: Fold> {
    leaves: Vec<Line>,
    /// From the parents of the leaves up to the children of the root.
    levels: Vec<Vec<[F::Node; 8]>>,
    root: F::Root,
}

impl<F: Fold> Eights<F> {
    /// So many leaves of 0.
    pub fn new(len: usize) -> Self {
        let leaves = vec![Line([0.0; 8]); len.div_ceil(8).max(1)];
        let mut levels = Vec::new();
        let mut nodes = leaves.len();
        while nodes > 1 {
            nodes = nodes.div_ceil(8);
            levels.push(vec![[F::Node::default(); 8]; nodes]);
        }
        let root = F::Root::default();
        Eights { leaves, levels, root }
    }

    /// What the root knows.
    #[inline]
    pub fn root(&self) -> F::Root {
        self.root
    }

    /// A leaf.
    #[inline]
    pub fn get(&self, at: usize) -> f64 {
        self.leaves[at / 8].0[at % 8]
    }

    /// Changes a leaf and all that is above it: O(log m). Returns what the root knows then.
    #[inline(always)]
    pub fn set(&mut self, at: usize, value: f64) -> F::Root {
        let line = &mut self.leaves[at / 8].0;
        line[at % 8] = value;
        let Some((top, levels)) = self.levels.split_last_mut() else {
            let root = F::root_of_leaves(line);
            self.root = root;
            return root;
        };
        let (mut place, mut node) = (at / 8, F::leaves(line));
        for level in levels {
            let line = &mut level[place / 8];
            line[place % 8] = node;
            node = F::nodes(line);
            place /= 8;
        }
        top[0][place] = node;
        let root = F::root_of_nodes(&top[0]);
        self.root = root;
        root
    }

    /// Replaces the first `len` leaves, whose present values the caller gives: O(m).
    pub fn fill(&mut self, len: usize, mut value: impl FnMut(usize, f64) -> f64) {
        for at in 0..len {
            let leaf = &mut self.leaves[at / 8].0[at % 8];
            *leaf = value(at, *leaf);
        }
        let Some(first) = self.levels.first_mut() else {
            self.root = F::root_of_leaves(&self.leaves[0].0);
            return;
        };
        for (at, line) in self.leaves.iter().enumerate() {
            first[at / 8][at % 8] = F::leaves(&line.0);
        }
        for above in 1..self.levels.len() {
            let (below, above) = self.levels.split_at_mut(above);
            for (at, line) in below[below.len() - 1].iter().enumerate() {
                above[0][at / 8][at % 8] = F::nodes(line);
            }
        }
        self.root = F::root_of_nodes(&self.levels[self.levels.len() - 1][0]);
    }

    /// Draws the leaf in which `left` falls when the leaves lie side by side, each as long as the
    /// weights say: an inverse distribution function in O(log m). Rounding never leads to a leaf of
    /// weight 0.
    #[inline(always)]
    pub fn descend(
        &self,
        left: f64,
        node: impl Fn(F::Node) -> f64,
        leaf: impl Fn(f64) -> f64,
    ) -> usize {
        self.descend_below(&self.levels, 0, left, node, leaf)
    }

    /// [`Eights::descend`] from a node on, below which these levels are.
    #[inline(always)]
    fn descend_below(
        &self,
        levels: &[Vec<[F::Node; 8]>],
        mut at: usize,
        mut left: f64,
        node: impl Fn(F::Node) -> f64,
        leaf: impl Fn(f64) -> f64,
    ) -> usize {
        for level in levels.iter().rev() {
            at = 8 * at + walk(&level[at].map(&node), &mut left);
        }
        8 * at + pick(&self.leaves[at].0.map(leaf), left)
    }

    /// Whether [`Eights::descend`] leads to the leaf `at`; no where rounding alone leads there. What
    /// is read does not depend on what was read before.
    #[inline(never)]
    pub fn contains(
        &self,
        at: usize,
        mut left: f64,
        node: impl Fn(F::Node) -> f64,
        leaf: impl Fn(f64) -> f64,
    ) -> bool {
        let mut contains = true;
        for (height, level) in self.levels.iter().enumerate().rev() {
            // Eight nodes of a level have a parent, and eight leaves.
            let child = at >> (3 * (height + 1));
            let ends = bounds(&level[child / 8].map(&node));
            contains &= ends[child % 8] <= left && left < ends[child % 8 + 1];
            left = (left - ends[child % 8]).max(0.0);
        }
        let ends = bounds(&self.leaves[at / 8].0.map(leaf));
        contains && ends[at % 8] <= left && left < ends[at % 8 + 1]
    }

    /// [`Eights::descend`] for many numbers at once, level by level, so that the processor fetches
    /// the nodes of all of them together. `left` is used up.
    pub fn descend_all(
        &self,
        left: &mut [f64],
        found: &mut [usize],
        node: impl Fn(F::Node) -> f64,
        leaf: impl Fn(f64) -> f64,
    ) {
        found.fill(0);
        for level in self.levels.iter().rev() {
            for (at, left) in found.iter_mut().zip(&mut *left) {
                *at = 8 * *at + walk(&level[*at].map(&node), left);
            }
        }
        for (at, left) in found.iter_mut().zip(left) {
            *at = 8 * *at + pick(&self.leaves[*at].0.map(&leaf), *left);
        }
    }

    /// The first leaf that is found by going to the first child for which the test holds.
    pub fn find(&self, node: impl Fn(&F::Node) -> bool, leaf: impl Fn(f64) -> bool) -> usize {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            at = 8 * at + level[at].iter().position(&node).unwrap_or(0);
        }
        8 * at + self.leaves[at].0.iter().position(|v| leaf(*v)).unwrap_or(0)
    }
}

impl Eights<Sum> {
    /// [`Eights::descend`] by the sums themselves.
    #[inline(always)]
    pub fn quantile(&self, left: f64) -> usize {
        let child = self.root.child(left);
        let Some((top, levels)) = self.levels.split_last() else {
            return child.unwrap_or_else(|| pick(&self.leaves[0].0, left));
        };
        let child = child.unwrap_or_else(|| pick(&top[0], left));
        let left = (left - self.root.ends[child]).max(0.0);
        self.descend_below(levels, child, left, |node| node, |leaf| leaf)
    }

    /// [`Eights::quantile`] for many numbers at once.
    #[inline(always)]
    pub fn quantiles(&self, left: &mut [f64], found: &mut [usize]) {
        if !self.levels.is_empty() {
            return self.descend_all(left, found, |node| node, |leaf| leaf);
        }
        let (eights, rest) = left.as_chunks::<8>();
        let (found_eights, found_rest) = found.as_chunks_mut::<8>();
        for (left, found) in eights.iter().zip(found_eights) {
            *found = self.root.children(left);
            if found.contains(&8) {
                found.iter_mut().zip(left).for_each(|(found, left)| *found = self.quantile(*left));
            }
        }
        found_rest.iter_mut().zip(rest).for_each(|(found, left)| *found = self.quantile(*left));
    }

    /// Whether [`Eights::quantile`] leads to this leaf; no where rounding alone leads there.
    #[inline(always)]
    pub fn holds(&self, leaf: usize, left: f64) -> bool {
        if !self.levels.is_empty() {
            return self.contains(leaf, left, |node| node, |leaf| leaf);
        }
        self.root.holds(leaf, left)
    }
}

/// The sums up to the end of each weight but the last, as in [`add`].
#[inline]
fn ends([a, b, c, d, e, f, g, _]: &[f64; 8]) -> [f64; 7] {
    let two = a + b;
    let three = two + c;
    let four = three + d;
    let five = four + e;
    let six = five + f;
    [*a, two, three, four, five, six, six + g]
}

/// Where each weight begins and ends. The last ends at ∞, for what rounding leaves, unless it is 0.
#[inline]
fn bounds(weights: &[f64; 8]) -> [f64; 9] {
    let [a, b, c, d, e, f, g] = ends(weights);
    let last = if weights[7] > 0.0 { f64::INFINITY } else { 0.0 };
    [0.0, a, b, c, d, e, f, g, last]
}

/// How many of seven numbers are not above `left`.
#[inline]
fn ends_before(ends: [f64; 7], left: f64) -> usize {
    // Counted in floating point, for which there are vector instructions: no branch could be
    // predicted. The sum is in the low bits.
    const INTEGER: f64 = (1u64 << 52) as f64;
    let [a, b, c, d, e, f, g] = ends.map(|end| if end <= left { 1.0 } else { 0.0 });
    let count = ((a + b) + (c + d)) + ((e + f) + (g + INTEGER));
    (count.to_bits() & 7) as usize
}

/// Which of eight weights side by side `left` falls in.
#[inline]
fn pick(weights: &[f64; 8], left: f64) -> usize {
    let at = ends_before(ends(weights), left);
    // The sums do not fall, so that no weight of 0 is found but the last.
    if weights[7] <= 0.0 && at == 7 {
        // Rounding went past the last weight that is positive.
        return weights.iter().rposition(|v| *v > 0.0).unwrap_or(0);
    }
    at
}

/// As [`pick`], and takes the weights before it off.
#[inline]
fn walk(weights: &[f64; 8], left: &mut f64) -> usize {
    let at = pick(weights, *left);
    if at > 0 {
        *left = (*left - ends(weights)[at - 1]).max(0.0);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::{Rng, below, unit};
    use rand::SeedableRng;

    /// Changes one by one give the same bits as all at once, and the root is the sum.
    #[test]
    fn changes_equal_a_new_tree() {
        let mut rng = Rng::seed_from_u64(1);
        for len in [1, 7, 8, 9, 64, 65, 600] {
            let mut tree: Eights<Sum> = Eights::new(len);
            let mut values = vec![0.0; len];
            for _ in 0..3 * len {
                let (at, value) = (below(&mut rng, len), unit(&mut rng));
                values[at] = value;
                tree.set(at, value);
            }
            let mut other: Eights<Sum> = Eights::new(len);
            other.fill(len, |at, _| values[at]);
            assert_eq!(tree.root().sum().to_bits(), other.root().sum().to_bits());
            assert!((tree.root().sum() - values.iter().sum::<f64>()).abs() < 1e-12 * len as f64);
            assert!((0..len).all(|at| tree.get(at) == values[at]));
        }
    }

    /// The inverse of the distribution function, by a walk over all leaves.
    #[test]
    fn a_descent_finds_the_leaf_of_a_walk() {
        let mut rng = Rng::seed_from_u64(2);
        for len in [1, 5, 8, 70, 513] {
            let mut tree: Eights<Sum> = Eights::new(len);
            tree.fill(len, |_, _| if unit(&mut rng) < 0.3 { 0.0 } else { unit(&mut rng) });
            tree.set(len / 2, 1.0);
            for _ in 0..2000 {
                let target = unit(&mut rng) * tree.root().sum();
                let (found, mut before) = (tree.descend(target, |n| n, |v| v), 0.0);
                (0..found).for_each(|at| before += tree.get(at));
                assert!(tree.get(found) > 0.0);
                assert!(before <= target + 1e-9 && target < before + tree.get(found) + 1e-9);
            }
            // Targets at and beyond the end lead to the last leaf that is positive.
            let last = (0..len).rev().find(|at| tree.get(*at) > 0.0).unwrap();
            for target in [tree.root().sum(), 2.0 * tree.root().sum()] {
                assert_eq!(tree.descend(target, |n| n, |v| v), last);
            }
        }
    }
}
