//! Exact reference values: optima of the game on rows in memory, and of ordinary training.
//!
//! [`solve`] minimises the game by a primal–dual interior-point method, or where the set of models
//! is known by its mirror map alone by an accelerated first-order method; the same code with fixed
//! group weights is ordinary training. It asks a [`Risks`] for risks, gradients and Hessians:
//! [`DatasetRisks`] has them for rows in memory, [`Population`] for the paper's synthetic sets,
//! where they are exact. [`minimize`] is for any loss on rows in memory, non-smooth ones too.

mod balance;
mod canonical;
mod centre;
mod cool;
mod dataset;
mod first_order;
mod goal;
mod interior;
mod keeper;
mod level;
mod minimize;
mod newton;
mod point;
mod population;
mod primal_dual;
mod problem;
mod regret;
mod scaled;
mod surrogate;
mod system;

pub(crate) use canonical::Canonical;
pub use dataset::DatasetRisks;
pub use goal::Goal;
pub use interior::solve;
pub use keeper::{Keep, Keeper, Stand};
pub(crate) use minimize::{bound_of_several, minimize_in};
pub use minimize::{minimize, minimize_kept};
pub use population::{Population, softplus_mean};
pub(crate) use problem::LEAST;
pub use problem::{Options, Problem, Solution};
pub use regret::{GroupOptimum, group_optima};
pub(crate) use system::DENSE;

use crate::error::Result;

/// Twice differentiable convex risks R_1, …, R_m of a model with n numbers.
pub trait Risks {
    /// Number of groups m.
    fn groups(&self) -> usize;

    /// Number of numbers n in a model.
    fn dim(&self) -> usize;

    /// A number that none of the risks is below anywhere; −∞, the default, says nothing.
    fn infimum(&self) -> f64 {
        f64::NEG_INFINITY
    }

    /// Moves to w and writes R_i(w) to `risks` and ∇R_i(w) to row i of `gradients` (m × n).
    ///
    /// # Errors
    /// [`crate::Error::NonFiniteLoss`], and errors of a user's loss.
    fn evaluate(&mut self, w: &[f64], risks: &mut [f64], gradients: &mut [f64]) -> Result<()>;

    /// For risks R_i that smooth others, R_i ≥ R_i°: writes at the point w of the last
    /// [`Risks::evaluate`] the excess R_i(w) − R_i°(w) to `excess`, and to `slack` numbers by which
    /// the tangents of the R_i at w are lowered to lie below the R_i°. The default, `false`, is for
    /// risks that stand for themselves.
    fn surrogate(&self, _excess: &mut [f64], _slack: &mut [f64]) -> bool {
        false
    }

    /// Writes Σ_i c_i ∇²R_i at the point of the last [`Risks::evaluate`] to the lower triangle of
    /// `hessian` (n × n, row by row).
    fn hessian(&mut self, c: &[f64], hessian: &mut [f64]);

    /// Fixes the weights c of the next products with [`Risks::hessian_times`], and writes the
    /// diagonal of Σ_i c_i ∇²R_i.
    fn hessian_diagonal(&mut self, c: &[f64], diagonal: &mut [f64]);

    /// Writes (Σ_i c_i ∇²R_i) v to `out`, with the c of the last [`Risks::hessian_diagonal`].
    fn hessian_times(&mut self, v: &[f64], out: &mut [f64]);
}
