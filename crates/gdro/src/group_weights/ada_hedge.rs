//! Hedge with steps from the gains themselves.

use super::leader::{add, exponential};
use super::ruled::Update;

/// AdaHedge (de Rooij, van Erven, Grünwald and Koolen, JMLR 15, 2014): q_i ∝ exp(ηG_i) with
///
/// η = ln m/Δ,  Δ = Σ_t δ_t,  δ_t = (1/η) ln Σ_i q_i exp(ηg_i) − ⟨q, g⟩ ≥ 0,
///
/// the mixability gaps so far; the first step, with Δ = 0, goes to the leader. It needs neither the
/// number of rounds nor the range of the gains: multiplying all gains by a constant changes no
/// weight. Its regret is at most 2Δ ≤ 2√(V ln m) + S(4/3 · ln m + 2), where S is the range of the
/// gains and V = Σ_t Var_q(g_t) (Theorem 6 there).
///
/// The step `eta` multiplies ln m/Δ; 1 is the rule itself.
#[derive(Clone, Debug)]
pub struct AdaHedge {
    /// The sums G_i, then Δ.
    memory: Vec<f64>,
    /// Sums after the round, to compare with.
    next: Vec<f64>,
    scratch: Vec<f64>,
}

impl AdaHedge {
    /// The rule for m groups.
    pub fn new(m: usize) -> Self {
        AdaHedge { memory: vec![0.0; m + 1], next: vec![0.0; m], scratch: vec![0.0; m] }
    }

    fn rate(&self, eta: f64) -> f64 {
        let gap = self.memory[self.next.len()];
        // For m = 1 the weight is 1 whatever the rate.
        if gap > 0.0 { eta * (self.next.len() as f64).ln() / gap } else { f64::INFINITY }
    }
}

impl Update for AdaHedge {
    fn update(&mut self, q: &mut [f64], eta: f64, gains: &[(usize, f64)]) {
        let m = q.len();
        let rate = self.rate(eta);
        let mean: f64 = gains.iter().map(|(group, gain)| q[*group] * gain).sum();
        self.next.copy_from_slice(&self.memory[..m]);
        add(&mut self.next, gains);
        // (1/η) ln Σ q_i e^{ηg_i} as the difference of two log-sums; max G' − max G for η = ∞.
        let largest = |v: &[f64]| v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut mix = largest(&self.next) - largest(&self.memory[..m]);
        if rate.is_finite() && rate > 0.0 {
            let before = exponential(&mut self.scratch, rate, &self.memory[..m]);
            let after = exponential(&mut self.scratch, rate, &self.next);
            mix += (after - before) / rate;
        }
        self.memory[..m].copy_from_slice(&self.next);
        self.memory[m] += (mix - mean).max(0.0);
        exponential(q, self.rate(eta), &self.next);
    }

    fn memory(&mut self) -> &mut [f64] {
        &mut self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GroupWeights, Ruled};
    use super::*;
    use crate::sampling::{Rng, unit};
    use rand::SeedableRng;

    /// Regret on `rounds` random gains in [0, S], and the sum of variances.
    fn regret(m: usize, rounds: usize, scale: f64, lead: f64) -> (f64, f64) {
        let mut rng = Rng::seed_from_u64(4);
        let mut q = Ruled::new(m, AdaHedge::new(m)).unwrap();
        let (mut sums, mut earned, mut variance) = (vec![0.0; m], 0.0, 0.0);
        for _ in 0..rounds {
            let gains: Vec<(usize, f64)> = (0..m)
                .map(|i| {
                    (i, scale * (unit(&mut rng) * (1.0 - lead) + if i == 0 { lead } else { 0.0 }))
                })
                .collect();
            let mean: f64 = gains.iter().map(|(i, g)| q.get(*i) * g).sum();
            earned += mean;
            variance += gains.iter().map(|(i, g)| q.get(*i) * (g - mean).powi(2)).sum::<f64>();
            gains.iter().for_each(|(i, g)| sums[*i] += g);
            q.step(1.0, &gains);
        }
        (sums.iter().copied().fold(0.0, f64::max) - earned, variance)
    }

    #[test]
    fn the_regret_bound_holds_at_every_scale() {
        for scale in [1e-6, 1.0, 1e9] {
            for (m, rounds, lead) in
                [(2, 5000, 0.0), (14, 5000, 0.0), (14, 5000, 0.3), (100, 300, 0.0)]
            {
                let (regret, variance) = regret(m, rounds, scale, lead);
                let ln_m = (m as f64).ln();
                let bound = 2.0 * (variance * ln_m).sqrt() + scale * (4.0 / 3.0 * ln_m + 2.0);
                assert!(regret <= bound, "m = {m}: {regret} above {bound}");
            }
        }
    }

    #[test]
    fn equal_gains_and_a_single_group() {
        let mut q = Ruled::new(5, AdaHedge::new(5)).unwrap();
        (0..50).for_each(|_| q.step(1.0, &(0..5).map(|i| (i, 0.7)).collect::<Vec<_>>()));
        assert!((0..5).all(|i| q.get(i) == 0.2));
        let mut q = Ruled::new(1, AdaHedge::new(1)).unwrap();
        (0..50).for_each(|t| q.step(1.0, &[(0, f64::from(t))]));
        assert_eq!(q.get(0), 1.0);
    }
}
