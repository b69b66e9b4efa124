//! The game that every algorithm of this crate plays.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, require};

/// The parameters of the game
///
/// min_{w ∈ W} max_{q ∈ Q} Σ_i q_i p_i (R_i(w) − b_i) + (λ/2)‖w‖²,
///
/// where Q is the simplex capped at 1/k. With p_i = 1, b_i = 0 and k = 1 it is GDRO (label
/// `eqn:group:dro`); scales p_i give weighted GDRO (`eqn:convex:concave:weight`), a cap gives
/// AT_kRO (`eqn:ATk-convex-concave`), offsets b_i = min_w R_i(w) give minimax regret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Game {
    /// Scale factors p_i > 0, one per group.
    pub scales: Vec<f64>,
    /// Offsets b_i, one per group.
    pub offsets: Vec<f64>,
    /// Ridge λ ≥ 0 on the weights (not on intercepts).
    pub ridge: f64,
    /// k ∈ [1, m]: the cap on the q_i is 1/k.
    pub k: f64,
}

impl Game {
    /// GDRO on m groups.
    pub fn gdro(m: usize) -> Self {
        Game { scales: vec![1.0; m], offsets: vec![0.0; m], ridge: 0.0, k: 1.0 }
    }

    /// AT_kRO on m groups, real k in [1, m].
    pub fn top_k(m: usize, k: f64) -> Self {
        Game { k, ..Game::gdro(m) }
    }

    /// The same game with a ridge λ.
    pub fn with_ridge(self, ridge: f64) -> Self {
        Game { ridge, ..self }
    }

    /// Number of groups m.
    pub fn groups(&self) -> usize {
        self.scales.len()
    }

    /// Checks all ranges.
    ///
    /// # Errors
    /// [`Error::Parameter`] or [`Error::Length`] for the first violation.
    pub fn check(&self) -> Result<()> {
        let m = self.groups();
        require(m >= 1, "number of groups", m, "at least 1")?;
        if self.offsets.len() != m {
            return Err(Error::Length { what: "offsets", found: self.offsets.len(), expected: m });
        }
        for p in &self.scales {
            require(*p > 0.0 && p.is_finite(), "scale", p, "0 < p < ∞")?;
        }
        for b in &self.offsets {
            require(b.is_finite(), "offset", b, "a finite number")?;
        }
        require(self.ridge >= 0.0 && self.ridge.is_finite(), "l2", self.ridge, "0 ≤ λ < ∞")?;
        require(self.k >= 1.0 && self.k <= m as f64, "k", self.k, "1 ≤ k ≤ m")
    }

    /// Whether all p_i are 1 and all b_i are 0, so that payoffs are losses.
    pub fn is_even(&self) -> bool {
        self.scales.iter().all(|p| *p == 1.0) && self.offsets.iter().all(|b| *b == 0.0)
    }

    /// The payoff p_i(ℓ − b_i) of group i for a loss ℓ.
    #[inline]
    pub fn payoff(&self, group: usize, loss: f64) -> f64 {
        self.scales[group] * (loss - self.offsets[group])
    }

    /// The payoffs [L₀, U] that losses in [0, M] can give: U = max_i p_i(M − b_i),
    /// L₀ = min_i (−p_i b_i).
    pub fn payoff_range(&self, loss_range: f64) -> (f64, f64) {
        let m = self.groups();
        let low = (0..m).map(|i| self.payoff(i, 0.0)).fold(f64::INFINITY, f64::min);
        let high = (0..m).map(|i| self.payoff(i, loss_range)).fold(f64::NEG_INFINITY, f64::max);
        (low, high)
    }

    /// max_{q ∈ Q} Σ_i q_i p_i (R_i − b_i), without the ridge: the largest payoff for k = 1, the
    /// mean of the k largest in general, where a fraction of k counts as a fraction of a group.
    pub fn objective(&self, risks: &[f64]) -> f64 {
        let payoffs: Vec<f64> = risks.iter().enumerate().map(|(i, r)| self.payoff(i, *r)).collect();
        top_k_mean(&payoffs, self.k)
    }
}

/// The mean of the k largest values, for real k in [1, n]: the last one counts with the fraction
/// that is left of k.
pub fn top_k_mean(values: &[f64], k: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut left = k;
    let mut sum = 0.0;
    for v in sorted {
        let share = left.min(1.0);
        if share <= 0.0 {
            break;
        }
        sum += share * v;
        left -= share;
    }
    sum / k
}

/// The weights of [`top_k_mean`]: 1/k on the k largest values, what is left of it on the next.
#[cfg(feature = "exact")]
pub(crate) fn top_k_weights(values: &[f64], k: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*b].total_cmp(&values[*a]));
    let mut weights = vec![0.0; values.len()];
    let mut left = k;
    for i in order {
        weights[i] = left.clamp(0.0, 1.0) / k;
        left -= 1.0;
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_k_mean_of_real_k() {
        let v = [1.0, 4.0, 2.0];
        assert_eq!(top_k_mean(&v, 1.0), 4.0);
        assert_eq!(top_k_mean(&v, 2.0), 3.0);
        assert_eq!(top_k_mean(&v, 1.5), (4.0 + 0.5 * 2.0) / 1.5);
        assert!((top_k_mean(&v, 3.0) - 7.0 / 3.0).abs() < 1e-15);
        assert_eq!(top_k_weights(&v, 1.5), [0.0, 1.0 / 1.5, 0.5 / 1.5]);
        assert_eq!(top_k_weights(&v, 3.0), [1.0 / 3.0; 3]);
    }

    #[test]
    fn offsets_act_on_their_group_alone() {
        let mut game = Game::gdro(2);
        game.offsets = vec![-1.0, 0.0];
        assert_eq!((game.payoff(0, 0.5), game.payoff(1, 0.5)), (1.5, 0.5));
        assert_eq!(game.payoff_range(2.0), (0.0, 3.0));
    }
}
