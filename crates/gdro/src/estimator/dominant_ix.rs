//! One sample from one of the groups that can dominate, with the IX loss estimator.

use super::{Estimator, Probe};
use crate::error::{Error, Result, require};
use crate::group_weights::GroupWeights;

/// What a sleeping group's log-weight is lowered by: its share is below e⁻⁶⁰ and comes back whole.
const HANDICAP: f64 = 60.0;

/// After an evaluation in round t the next one waits t/50 rounds, so that there are only
/// logarithmically many.
const PATIENCE: u64 = 50;

/// [`super::OneIx`] on the groups that are awake: those whose risks at the present model are all at
/// least as large as those of the groups that sleep, with probability 1 − δ.
///
/// Before the first round n samples of every group are kept. Their means r̂_i(w) deviate from the
/// payoffs r_i(w) by at most ρ for all groups and all w ∈ W at once. Sort r̂ at a model w_c: where
/// two neighbours are apart by more than 2ρ, all groups above dominate all groups below, and still
/// do at every w with 2G‖w − w_c‖₂ ≤ gap − 2ρ. The groups below sleep until the model has left that
/// ball; then r̂ is computed anew from the kept samples, which costs work but no samples.
///
/// i ~ q (on the groups that are awake), z ~ P_i: g_w = ∇ℓ(w; z), s = 1 − ℓ(w; z), \[g_q\]_j = s −
/// 𝟙\[j = i\] s/(q_j + γ) for the groups that are awake, 0 for the others: a sleeping group earns
/// what the player earns. 1 sample.
///
/// A group that sleeps has no larger payoff than any that the player may draw, so it adds nothing
/// to the regret; the others see a bandit among few (sleeping bandits; Nguyen, Mehta and Guzmán,
/// ICML 2025, PMLR 267, whose (λ, β)-sparsity says when few are awake). The test for sleeping is
/// ours.
#[derive(Clone, Debug)]
pub struct DominantIx {
    /// n.
    kept: usize,
    /// ρ.
    deviation: f64,
    /// G.
    lipschitz: f64,
    /// Which groups are awake.
    awake: Vec<bool>,
    /// How far the model may move before the groups that sleep must be looked at again.
    radius: f64,
    /// No evaluation before this round.
    next: u64,
    means: Vec<f64>,
    order: Vec<usize>,
}

impl DominantIx {
    /// The estimator for m groups: n kept samples per group, ρ ≥ 0 and G ≥ 0, both in the Euclidean
    /// norm and in units of payoffs.
    ///
    /// # Errors
    /// [`Error::Parameter`] for numbers out of range.
    pub fn new(groups: usize, kept: usize, deviation: f64, lipschitz: f64) -> Result<Self> {
        require(kept >= 1, "samples per group", kept, "at least 1")?;
        for (name, value) in [("deviation", deviation), ("G", lipschitz)] {
            require(value >= 0.0 && value.is_finite(), name, value, "finite and at least 0")?;
        }
        Ok(DominantIx {
            kept,
            deviation,
            lipschitz,
            awake: vec![true; groups],
            radius: 0.0,
            next: 1,
            means: vec![0.0; groups],
            order: (0..groups).collect(),
        })
    }

    /// How many samples of every group are kept.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// ρ, by how much the means of kept samples may deviate.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }

    /// Wakes and puts to sleep by the kept samples at the present model.
    fn look(&mut self, probe: &mut impl Probe) -> Result<()> {
        for (i, mean) in self.means.iter_mut().enumerate() {
            let mut sum = 0.0;
            for slot in i * self.kept..(i + 1) * self.kept {
                sum += probe.kept(slot)?;
            }
            *mean = sum / self.kept as f64;
        }
        let means = &self.means;
        self.order.sort_unstable_by(|a, b| means[*b].total_cmp(&means[*a]).then(a.cmp(b)));
        let gap = |at: usize| means[self.order[at - 1]] - means[self.order[at]];
        let widest = (1..means.len()).map(gap).fold(0.0, f64::max);
        // The fewest groups that leave at least half of the widest margin.
        let least = 2.0 * self.deviation + 0.5 * (widest - 2.0 * self.deviation).max(0.0);
        let split =
            (1..means.len()).find(|at| gap(*at) > 2.0 * self.deviation && gap(*at) >= least);
        let split = split.unwrap_or(means.len());
        self.radius = match split < means.len() {
            // Finite also for G = 0, where no move matters.
            true => ((gap(split) - 2.0 * self.deviation) / (2.0 * self.lipschitz)).min(f64::MAX),
            false => 0.0,
        };
        for (rank, group) in self.order.iter().enumerate() {
            set(&mut self.awake, *group, rank < split, probe);
        }
        self.next = probe.round() + 1 + probe.round() / PATIENCE;
        probe.mark();
        Ok(())
    }
}

/// Wakes a group or puts it to sleep.
fn set(awake: &mut [bool], group: usize, wakes: bool, probe: &mut impl Probe) {
    if awake[group] != wakes {
        awake[group] = wakes;
        probe.shift(group, if wakes { HANDICAP } else { -HANDICAP });
    }
}

impl Estimator for DominantIx {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        let m = self.awake.len();
        if probe.round() == 1 {
            for slot in 0..m * self.kept {
                probe.keep(slot / self.kept)?;
            }
        }
        if probe.round() >= self.next && (self.radius == 0.0 || probe.moved() > 0.5 * self.radius) {
            self.look(probe)?;
        } else if self.radius > 0.0 && probe.moved() > self.radius {
            (0..m).for_each(|group| set(&mut self.awake, group, true, probe));
            self.radius = 0.0;
        }
        let i = probe.draw(q);
        let loss = probe.pull(i, 1.0)?;
        let s = probe.shortfall(loss);
        // When all are awake, s for everyone changes no weight.
        if self.radius > 0.0 {
            for group in (0..m).filter(|group| self.awake[*group]) {
                probe.credit(group, s);
            }
        }
        probe.credit(i, -s / (q.get(i) + probe.gamma()));
        Ok(())
    }

    fn most_pulls(&self, _groups: usize) -> usize {
        1
    }

    fn save(&self) -> Vec<f64> {
        let awake = self.awake.iter().map(|awake| f64::from(u8::from(*awake)));
        awake.chain([self.radius, self.next as f64]).collect()
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        let m = self.awake.len();
        if saved.len() != m + 2 {
            return Err(Error::State(format!("{} numbers for {m} sleeping groups", saved.len())));
        }
        self.awake.iter_mut().zip(saved).for_each(|(awake, v)| *awake = *v != 0.0);
        (self.radius, self.next) = (saved[m], saved[m + 1] as u64);
        Ok(())
    }
}
