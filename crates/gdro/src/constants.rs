//! The constants that step sizes and bounds depend on.

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::domain::{Domain, MirrorMap};
use crate::error::{Result, require};
use crate::game::Game;
use crate::loss::Loss;

/// Bounds on the samples of a source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleBounds {
    /// max ‖x‖_*² in the dual norm of the geometry, without the constant of an intercept.
    pub norm_squared: f64,
    /// max |y|.
    pub target: f64,
}

impl SampleBounds {
    /// The bounds of rows in memory, for the dual norm of a geometry.
    pub fn of(data: &Dataset, map: &impl MirrorMap) -> Self {
        let mut x = vec![0.0; data.features()];
        let mut norm_squared = 0f64;
        let euclidean = map.euclidean().is_some();
        for row in 0..data.rows() {
            let stored = data.sample(row).x;
            if euclidean {
                // The values that are stored are all that counts: no work for every feature.
                norm_squared = norm_squared.max(stored.norm_squared());
                continue;
            }
            stored.for_each(|j, v| x[j] = v);
            norm_squared = norm_squared.max(map.dual_norm_squared(&x));
            stored.for_each(|j, _| x[j] = 0.0);
        }
        SampleBounds { norm_squared, target: data.max_abs_target() }
    }

    /// The bounds of the samples of two sources.
    pub fn max(self, other: SampleBounds) -> Self {
        SampleBounds {
            norm_squared: self.norm_squared.max(other.norm_squared),
            target: self.target.max(other.target),
        }
    }
}

/// The constants of the paper's assumptions (labels `ass:1` to `ass:5`), for losses in [0, M].
///
/// The paper has M = 1. For another M everything below follows from the paper's statements for the
/// game divided by M: ln m becomes M² ln m under the roots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// D² = max_W ν − min_W ν. (For a ball of radius B: D = B/√2.)
    pub width: f64,
    /// G: a bound on the dual norm of the gradients of the payoffs.
    pub lipschitz: f64,
    /// L: a bound on the smoothness of the payoffs.
    pub smoothness: f64,
    /// m, the number of groups.
    pub groups: usize,
    /// k: the cap on the group weights is 1/k.
    pub k: f64,
    /// The interval [L₀, U] of the payoffs; [0, 1] in the paper.
    pub payoffs: (f64, f64),
    /// κ, the regularity of the dual norm.
    pub kappa: f64,
    /// The absolute constant c of label `thm:7`, which the paper leaves unnamed; 1 here.
    pub c: f64,
}

impl Constants {
    /// The constants of a problem in the paper's own terms: D², G, m, k = 1, losses in [0, 1],
    /// L = 0, κ = 1, c = 1.
    pub fn paper(width: f64, lipschitz: f64, groups: usize) -> Self {
        Constants {
            width,
            lipschitz,
            smoothness: 0.0,
            groups,
            k: 1.0,
            payoffs: (0.0, 1.0),
            kappa: 1.0,
            c: 1.0,
        }
    }

    /// The constants that a loss, a domain and bounds on the samples imply: G = p_max · Lip(ℓ) ·
    /// max‖x‖_* and L = p_max · curvature(ℓ) · max‖x‖_*² in the dual norm of the geometry, where an
    /// intercept adds 1 to max‖x‖_*² (the dual norm of [`Domain`]).
    ///
    /// An unbounded domain has no D. With a ridge λ the optimum lies in the ball of radius B = √(2
    /// p_max max_i R_i(0)/λ), which takes its place (with ν = ½‖·‖₂², the one geometry here that
    /// has no bound); `risk_at_zero` is max_i R_i(0). `loss_range` overrides the range M that the
    /// domain implies.
    ///
    /// # Errors
    /// [`crate::Error::Parameter`] when the domain is unbounded and there is no ridge, when
    /// `loss_range` is not positive and finite, and when all features are zero;
    /// [`crate::Error::Length`] when the domain is one of other models.
    pub fn new<M: MirrorMap>(
        game: &Game,
        loss: &impl Loss,
        domain: &Domain<M>,
        features: usize,
        samples: SampleBounds,
        risk_at_zero: f64,
        loss_range: Option<f64>,
    ) -> Result<Self> {
        domain.check(features, loss.outputs())?;
        let weights = features * loss.outputs();
        let largest_scale = game.scales.iter().copied().fold(0.0, f64::max);
        let mut reach = domain.map.reach(weights);
        let mut width = domain.width(features, loss.outputs());
        if !reach.is_finite() {
            let holds = game.ridge > 0.0;
            require(holds, "l2", game.ridge, "a positive penalty, or a ball to bound the model")?;
            reach = (2.0 * largest_scale * risk_at_zero / game.ridge).sqrt();
            let intercepts = domain.intercept.map_or(0.0, |b| loss.outputs() as f64 * b * b / 2.0);
            width = reach * reach / 2.0 + intercepts;
        }
        let constant = if domain.intercept.is_some() { 1.0 } else { 0.0 };
        let norm_squared = samples.norm_squared + constant;
        require(norm_squared > 0.0, "largest row norm", norm_squared, "positive")?;
        // ‖s‖ ≤ ‖W‖·‖x‖_* + ‖b‖ for the vector of the c intercepts.
        let intercepts = domain.intercept.map_or(0.0, |b| b * (loss.outputs() as f64).sqrt());
        let bound = reach * samples.norm_squared.sqrt() + intercepts;
        let range = loss_range.unwrap_or_else(|| loss.range(bound, samples.target));
        require(range > 0.0 && range.is_finite(), "loss-range", range, "0 < M < ∞")?;
        Ok(Constants {
            width,
            lipschitz: largest_scale * loss.lipschitz(bound, samples.target) * norm_squared.sqrt(),
            smoothness: largest_scale * loss.curvature() * norm_squared,
            groups: game.groups(),
            k: game.k,
            payoffs: game.payoff_range(range),
            kappa: domain.map.kappa(weights),
            c: 1.0,
        })
    }

    /// The length U − L₀ of the payoff interval, the paper's 1.
    pub fn range(&self) -> f64 {
        self.payoffs.1 - self.payoffs.0
    }

    /// D.
    pub fn d(&self) -> f64 {
        self.width.sqrt()
    }

    /// ln m.
    pub fn ln_m(&self) -> f64 {
        (self.groups as f64).ln()
    }

    /// ln(m/k).
    pub fn ln_m_over_k(&self) -> f64 {
        (self.groups as f64 / self.k).ln().max(0.0)
    }

    /// D²G² + M² · `entropy`, the sum under the roots of labels `thm:1` and `thm:8`.
    pub(crate) fn energy(&self, entropy: f64) -> f64 {
        self.width * self.lipschitz.powi(2) + self.range().powi(2) * entropy
    }
}

/// What steps and bound of label `thm:7` depend on (label `eqn:mirror:parameters`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProxConstants {
    /// L̃.
    pub smooth: f64,
    /// σ².
    pub variance: f64,
}

impl ProxConstants {
    /// L̃ and σ² for scale factors p_i and n_i/n_m samples per draw.
    pub(crate) fn new(
        constants: &Constants,
        scales: &[f64],
        shares: impl Iterator<Item = f64>,
    ) -> Self {
        let (ln_m, d2, g) = (constants.ln_m(), constants.width, constants.lipschitz);
        let p_max = scales.iter().copied().fold(0.0, f64::max);
        let omega_max = scales.iter().zip(shares).map(|(p, n)| p * p / n).fold(0.0, f64::max);
        let smooth = 2.0
            * std::f64::consts::SQRT_2
            * p_max
            * (d2 * constants.smoothness + d2.max(d2.sqrt()) * g * ln_m.sqrt());
        let noise = constants.range().powi(2) * ln_m.powi(2);
        let variance = 2.0 * constants.c * omega_max * (constants.kappa * d2 * g * g + noise);
        ProxConstants { smooth, variance }
    }
}
