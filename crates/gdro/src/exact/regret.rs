//! What every group could have for itself: the offsets of minimax regret.

use rayon::prelude::*;

use super::{Goal, Options, Problem, minimize};
use crate::dataset::Dataset;
use crate::domain::{Domain, MirrorMap};
use crate::error::Result;
use crate::game::Game;
use crate::loss::Loss;
use crate::row::dot;

/// The risk R_i* of the best model for one group alone, and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupOptimum {
    /// R_i(w_i) at the optimum w_i = argmin_w R_i(w) + (λ/2)‖w‖², as far as it is known.
    pub risk: f64,
    /// A bound on |risk − R_i(w_i)|.
    pub error: f64,
}

/// Trains a model for every group alone, under the same domain and ridge: the offsets b_i = R_i*
/// with which the game is minimax regret (Agarwal and Zhang 2022; Zhang and Tu 2024).
///
/// With a ridge λ, R_i* is the risk at the ridge optimum w_i, without the penalty. A certified gap
/// g of that optimum puts w_i within r = √(2g/λ) of the model found (strong convexity), and so
/// R_i(w_i) = min − (λ/2)‖w_i‖² within g + (λ/2)(2‖w‖r + r²).
///
/// # Errors
/// Those of [`minimize`].
pub fn group_optima<L, M>(
    data: &Dataset,
    loss: &L,
    domain: &Domain<M>,
    ridge: f64,
) -> Result<Vec<GroupOptimum>>
where
    L: Loss + Sync,
    M: MirrorMap + Sync,
{
    let optimum = |group: usize| {
        let own = data.only(group)?;
        let game = Game::gdro(1).with_ridge(ridge);
        let problem = Problem {
            game: &game,
            domain,
            features: own.features(),
            outputs: loss.outputs(),
            goal: Goal::Fixed(vec![1.0]),
        };
        // The error grows with the root of the gap: as tight as double precision lets it be.
        let options = Options { relative: f64::EPSILON, ..Options::default() };
        let solution = minimize(&own, loss, &problem, &options)?;
        let weights = &solution.w[..own.features() * loss.outputs()];
        let norm = dot(weights, weights).sqrt();
        // What rounding hides is a gap, too.
        let gap = solution.gap().max(f64::EPSILON * solution.upper.abs());
        let far = if ridge > 0.0 { (2.0 * gap / ridge).sqrt() } else { 0.0 };
        Ok(GroupOptimum {
            risk: solution.upper - ridge / 2.0 * norm * norm,
            error: gap + ridge / 2.0 * (2.0 * norm * far + far * far),
        })
    };
    (0..data.groups()).into_par_iter().map(optimum).collect()
}
