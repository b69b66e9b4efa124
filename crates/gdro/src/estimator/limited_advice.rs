//! One sample from each of r groups, where r may change from round to round.

use super::{Estimator, Probe};
use crate::error::{Result, require};
use crate::group_weights::GroupWeights;
use crate::sampling::below;

/// i ~ q and r − 1 other groups uniformly without replacement, C the r groups in all, one sample
/// from each: prediction with limited advice (Seldin, Bartlett, Crammer and Abbasi-Yadkori, ICML
/// 2014) in the game of Bai, Yu, Li, Luo and Zhang (arXiv 2505.15212):
///
/// P_i = Pr\[i ∈ C\] = q_i + (1 − q_i)(r − 1)/(m − 1),
///
/// g_w = Σ_{i ∈ C} (q_i/P_i) ∇ℓ(w; z⁽ⁱ⁾), \[−g_q\]_i = s̃_i = (1 − ℓ(w; z⁽ⁱ⁾))/(P_i + γ) for i ∈ C,
/// 0 elsewhere. r samples.
///
/// g_w is unbiased, with noise that falls with r; E s̃_i = (1 − R_i) P_i/(P_i + γ). For r = 1 it is
/// [`super::OneIx`]; for r = m and γ = 0 it is [`super::EveryGroup`] with losses scaled to [0, 1]
/// and 1 taken off all gains, which moves no weight. The weights q_i/P_i, where the source has the
/// one gradient of i ~ q, are our choice.
///
/// Round t asks r_t groups, where r_1, r_2, … is a list that repeats.
#[derive(Clone, Debug)]
pub struct LimitedAdvice {
    queries: Vec<usize>,
    order: Vec<usize>,
}

impl LimitedAdvice {
    /// The numbers r_t of groups to ask, from the first round on; the list repeats.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] unless there is a number and all lie in [1, m].
    pub fn new(queries: &[usize], groups: usize) -> Result<Self> {
        require(!queries.is_empty(), "number of queries", 0, "at least one number")?;
        for r in queries {
            require((1..=groups).contains(r), "queries", r, "from 1 to the number of groups")?;
        }
        Ok(LimitedAdvice { queries: queries.to_vec(), order: (0..groups).collect() })
    }
}

impl Estimator for LimitedAdvice {
    fn estimate<Q: GroupWeights, P: Probe>(&mut self, q: &Q, probe: &mut P) -> Result<()> {
        let m = q.len();
        let r = self.queries[((probe.round() - 1) % self.queries.len() as u64) as usize];
        let others = if m > 1 { (r - 1) as f64 / (m - 1) as f64 } else { 0.0 };
        // The chosen group first, then r − 1 steps of a shuffle. Any order is as good a start.
        let first = probe.draw(q);
        self.order.iter_mut().enumerate().for_each(|(i, group)| *group = i);
        self.order.swap(0, first);
        for at in 1..r {
            let other = at + below(probe.rng(), m - at);
            self.order.swap(at, other);
        }
        for &i in &self.order[..r] {
            let asked = q.get(i) + (1.0 - q.get(i)) * others;
            let loss = probe.pull(i, q.get(i) / asked)?;
            let s = probe.shortfall(loss) / (asked + probe.gamma());
            probe.credit(i, -s);
        }
        Ok(())
    }

    fn most_pulls(&self, _groups: usize) -> usize {
        self.queries.iter().copied().max().unwrap_or(1)
    }
}
