//! Who plays q, and what that makes of payoffs.

use crate::error::{Error, Result, require};
use crate::game::{Game, top_k_mean, top_k_weights};
use crate::group_weights::project_capped_simplex;
use crate::row::dot;

/// Who plays q.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// The adversary: the objective is the game's.
    Adversary,
    /// These fixed weights: the objective is Σ q_i r_i + (λ/2)‖w‖² with payoffs r_i = p_i(R_i − b_i).
    Fixed(Vec<f64>),
    /// An adversary who pays for leaving a prior p̂: the objective is the tilted risk
    ///
    /// ```text
    /// max_q Σ q_i r_i − τ KL(q‖p̂) + (λ/2)‖w‖²  =  τ ln Σ p̂_i exp(r_i/τ) + (λ/2)‖w‖²,
    /// ```
    ///
    /// between that of the fixed weights p̂ (τ → ∞) and that of the adversary (τ → 0): max_i r_i −
    /// τ ln(1/min p̂_i) ≤ τ ln Σ p̂_i exp(r_i/τ) ≤ max_i r_i. Known as tilted empirical risk
    /// minimisation (Li, Beirami, Sanjabi and Smith 2021, arXiv 2007.01162). The game has no cap.
    Tilted {
        /// p̂: above 0, with the sum 1.
        prior: Vec<f64>,
        /// τ > 0, in units of the payoffs.
        tau: f64,
    },
}

/// The least weight that steps of mirror ascent start from: others could not come back.
const LEAST: f64 = 1e-300;

/// Weights that are a prior's but for this share of each are the prior: the rest is rounding, which a
/// huge τ would make much of.
const SAME: f64 = 1e-14;

impl Goal {
    /// The objective of payoffs, without the ridge; k is the game's ([`Game::k`]).
    pub fn value(&self, payoffs: &[f64], k: f64) -> f64 {
        match self {
            Goal::Adversary => top_k_mean(payoffs, k),
            Goal::Fixed(q) => dot(q, payoffs),
            Goal::Tilted { prior, tau } => smooth_max(prior, *tau, payoffs),
        }
    }

    /// Weights q at which payoffs attain [`Goal::value`].
    pub fn response(&self, payoffs: &[f64], k: f64) -> Vec<f64> {
        match self {
            Goal::Adversary => top_k_weights(payoffs, k),
            Goal::Fixed(q) => q.clone(),
            Goal::Tilted { prior, tau } => tilted(prior, *tau, payoffs),
        }
    }

    /// What the weights q cost the adversary: τ KL(q‖p̂), and 0 where no prior is left.
    ///
    /// For any q of the simplex, Σ q_i r_i less that is at most [`Goal::value`].
    pub fn price(&self, q: &[f64]) -> f64 {
        let Goal::Tilted { prior, tau } = self else { return 0.0 };
        // q ln(q/p̂) − q + p̂, whose sum is the same, is least and 0 at p̂: rounding of q costs nothing.
        let term = |(q, p): (&f64, &f64)| {
            let off = (q - p) / p;
            match q / p {
                _ if off.abs() <= SAME => 0.0,
                ratio if ratio > 0.5 => p * (ratio * off.ln_1p() - off),
                ratio if ratio > 0.0 => q * ratio.ln() - q + p,
                _ => *p,
            }
        };
        tau * q.iter().zip(prior).map(term).sum::<f64>()
    }

    /// The weights that maximise Σ q_i r_i less their [`Goal::price`] and `inertia` times KL(q‖from):
    /// a step of mirror ascent.
    ///
    /// # Errors
    /// [`Error::CappedSupport`] when `from` has weight on too few groups.
    pub(crate) fn step(
        &self,
        from: &[f64],
        payoffs: &[f64],
        inertia: f64,
        k: f64,
    ) -> Result<Vec<f64>> {
        let mut q: Vec<f64> = match self {
            Goal::Fixed(fixed) => return Ok(fixed.clone()),
            Goal::Adversary => {
                let log = |(p, r): (&f64, &f64)| p.max(LEAST).ln() + r / inertia;
                from.iter().zip(payoffs).map(log).collect()
            }
            Goal::Tilted { prior, tau } => {
                let share = tau / (tau + inertia);
                let logs = from
                    .iter()
                    .zip(prior)
                    .map(|(from, prior)| share * prior.ln() + (1.0 - share) * from.max(LEAST).ln());
                logs.zip(payoffs).map(|(log, r)| log + r / (tau + inertia)).collect()
            }
        };
        // Relative to the last that may have to be capped: those above may overflow without harm, but
        // the order of those below must not be lost.
        let mut sorted = q.clone();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        let level = sorted[k.ceil() as usize - 1];
        q.iter_mut().for_each(|q| *q = (*q - level).clamp(-690.0, 300.0).exp());
        project_capped_simplex(&mut q, k)?;
        Ok(q)
    }

    /// The goal for payoffs in another unit.
    pub(super) fn in_unit(&self, unit: f64) -> Goal {
        match self {
            Goal::Tilted { prior, tau } => Goal::Tilted { prior: prior.clone(), tau: tau / unit },
            other => other.clone(),
        }
    }

    /// The weights, where they are the same whatever the payoffs: fixed ones, and those of one group
    /// or under a cap that leaves no choice.
    pub(super) fn fixed(&self, game: &Game) -> Option<Vec<f64>> {
        let m = game.groups();
        match self {
            Goal::Fixed(q) => Some(q.clone()),
            Goal::Adversary if game.k == m as f64 => Some(vec![1.0 / m as f64; m]),
            Goal::Tilted { .. } if m == 1 => Some(vec![1.0]),
            _ => None,
        }
    }

    /// Checks lengths and ranges.
    ///
    /// # Errors
    /// [`Error::Length`] for weights of another number of groups, [`Error::Parameter`] for a prior
    /// that is none, a τ out of range, and a cap beside a prior.
    pub(super) fn check(&self, game: &Game) -> Result<()> {
        let expected = game.groups();
        match self {
            Goal::Adversary => Ok(()),
            Goal::Fixed(q) if q.len() != expected => {
                Err(Error::Length { what: "weights", found: q.len(), expected })
            }
            Goal::Fixed(_) => Ok(()),
            Goal::Tilted { prior, tau } => {
                if prior.len() != expected {
                    return Err(Error::Length { what: "prior", found: prior.len(), expected });
                }
                for p in prior {
                    require(*p > 0.0 && p.is_finite(), "prior", p, "a share above 0")?;
                }
                let sum: f64 = prior.iter().sum();
                require((sum - 1.0).abs() < 1e-9, "prior", sum, "shares with the sum 1")?;
                require(*tau > 0.0 && tau.is_finite(), "tau", tau, "0 < tau < ∞")?;
                require(game.k == 1.0, "k", game.k, "1 with a prior")
            }
        }
    }
}

/// τ ln Σ p̂_i exp(r_i/τ).
pub(super) fn smooth_max(prior: &[f64], tau: f64, payoffs: &[f64]) -> f64 {
    let top = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let terms = || prior.iter().zip(payoffs).map(|(p, r)| (p, (r - top) / tau));
    // The sum less 1: for a huge τ it is all that is left.
    let less: f64 = terms().map(|(p, x)| p * x.exp_m1()).sum();
    let log = if less > -0.5 {
        less.ln_1p()
    } else {
        terms().map(|(p, x)| p * x.exp()).sum::<f64>().ln()
    };
    top + tau * log
}

/// q_i ∝ p̂_i exp(r_i/τ): the gradient of [`smooth_max`].
pub(super) fn tilted(prior: &[f64], tau: f64, payoffs: &[f64]) -> Vec<f64> {
    let top = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut q: Vec<f64> =
        prior.iter().zip(payoffs).map(|(p, r)| p * ((r - top) / tau).exp()).collect();
    let total: f64 = q.iter().sum();
    q.iter_mut().for_each(|q| *q /= total);
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tilt(prior: &[f64], tau: f64) -> Goal {
        Goal::Tilted { prior: prior.to_vec(), tau }
    }

    /// Two groups by hand, from a τ at which a plain sum of exponentials overflows to one at which
    /// it is 1 but for rounding.
    #[test]
    fn tilted_values_for_any_tau() {
        let (prior, payoffs) = ([0.25, 0.75], [3.0, 1.0]);
        let ones = tilt(&prior, 1.0).value(&payoffs, 1.0);
        assert!((ones - (0.25 * 3f64.exp() + 0.75 * 1f64.exp()).ln()).abs() < 1e-14);
        let least = tilt(&prior, 1e-9).value(&payoffs, 1.0);
        assert!((least - (3.0 + 1e-9 * 0.25f64.ln())).abs() < 1e-15);
        assert_eq!(tilt(&prior, 1e-300).value(&payoffs, 1.0), 3.0);
        // The cumulants: the mean, half the variance over τ, a sixth of the third over τ².
        for tau in [1e4, 1e9, 1e15, 1e300] {
            let value = tilt(&prior, tau).value(&payoffs, 1.0);
            let expected = 1.5 + 0.75 / 2.0 / tau + 0.75 / 6.0 / tau / tau;
            assert!((value - expected).abs() < 1e-8 / tau + 1e-15, "{tau}: {value}");
        }
        // A prior that has hardly anything where the payoff is.
        let rare = tilt(&[1e-12, 1.0 - 1e-12], 1e-3).value(&[1.0, 0.0], 1.0);
        assert!((rare - (1.0 + 1e-3 * 1e-12f64.ln())).abs() < 1e-15);
    }

    /// Σ q r − price attains the value at the response, and nowhere exceeds it.
    #[test]
    fn responses_attain_the_value() {
        let (prior, payoffs) = ([0.2, 0.5, 0.3], [0.4, 0.1, 0.7]);
        for tau in [1e-7, 1e-2, 0.3, 1e3, 1e9, 1e20] {
            let goal = tilt(&prior, tau);
            let (value, q) = (goal.value(&payoffs, 1.0), goal.response(&payoffs, 1.0));
            let attained = |q: &[f64]| dot(q, &payoffs) - goal.price(q);
            assert!((attained(&q) - value).abs() < 1e-15, "{tau}: {} {value}", attained(&q));
            for other in [[1.0, 0.0, 0.0], [0.0, 1e-300, 1.0], [0.3, 0.3, 0.4], prior] {
                assert!(attained(&other) <= value + 1e-15, "{tau} {other:?}");
            }
        }
    }

    /// Steps of mirror ascent end at the response, whatever the inertia, and without any are there at
    /// once.
    #[test]
    fn steps_lead_to_the_response() {
        let (prior, payoffs) = ([0.2, 0.5, 0.3], [0.4, 0.1, 0.7]);
        for (tau, inertia) in [(0.2, 0.0), (0.2, 0.2), (1e-3, 0.1), (50.0, 0.1)] {
            let goal = tilt(&prior, tau);
            let mut q = vec![1.0 / 3.0; 3];
            for _ in 0..if inertia == 0.0 { 1 } else { 4000 } {
                q = goal.step(&q, &payoffs, inertia, 1.0).unwrap();
            }
            let response = goal.response(&payoffs, 1.0);
            let off = q.iter().zip(&response).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) < 1e-13, "{tau} {inertia}: {q:?} {response:?}");
        }
    }

    #[test]
    fn what_is_no_prior_is_refused() {
        let game = Game::gdro(2);
        assert!(tilt(&[0.5, 0.5], 1.0).check(&game).is_ok());
        for goal in [
            tilt(&[0.5, 0.25], 1.0),
            tilt(&[1.0, 0.0], 1.0),
            tilt(&[1.0], 1.0),
            tilt(&[0.5, 0.5], 0.0),
            tilt(&[0.5, 0.5], f64::INFINITY),
        ] {
            assert!(goal.check(&game).is_err(), "{goal:?}");
        }
        assert!(tilt(&[0.5, 0.5], 1.0).check(&Game::top_k(2, 1.5)).is_err());
    }
}
