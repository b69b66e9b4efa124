//! A geometry of one's own: weights that are not negative, in a Euclidean ball. Only its mirror map
//! is written; steps, constants, the reference solver and certificates follow from it.

use std::sync::Arc;

use gdro::algorithm::{Algorithm, Constants, SampleBounds};
use gdro::certificate::{Certificate, certify};
use gdro::config::Config;
use gdro::domain::{Domain, MirrorMap};
use gdro::exact::{DatasetRisks, Goal, Options, Problem, Solution, solve};
use gdro::game::Game;
use gdro::loss::Squared;
use gdro::source::WithReplacement;
use gdro::{Dataset, Matrix, Result};

/// {w : w_j ≥ 0, ‖w‖₂ ≤ B} with ν(w) = ½‖w‖₂². D² = B²/2; norm and dual norm ‖·‖₂, κ = 1.
#[derive(Clone, Copy, Debug)]
pub struct PositiveBall {
    /// B > 0.
    pub radius: f64,
}

fn norm(v: impl Iterator<Item = f64>) -> f64 {
    v.map(|v| v * v).sum::<f64>().sqrt()
}

impl MirrorMap for PositiveBall {
    fn center(&self, w: &mut [f64]) {
        w.fill(0.0);
    }

    // ∇ν(w) = w.
    fn dual(&self, _w: &mut [f64]) {}

    // The projection onto the orthant, then onto the ball: for a cone and a ball around its tip
    // that is the projection onto both.
    fn primal(&self, theta: &mut [f64], ridge: f64) {
        theta.iter_mut().for_each(|v| *v = v.max(0.0) / (1.0 + ridge));
        let length = norm(theta.iter().copied());
        if length > self.radius {
            theta.iter_mut().for_each(|v| *v *= self.radius / length);
        }
    }

    fn width(&self, _n: usize) -> f64 {
        self.radius * self.radius / 2.0
    }

    fn reach(&self, _n: usize) -> f64 {
        self.radius
    }

    // Only the h_j < 0 pull; along them the best length is ‖h⁻‖/ridge, or B.
    fn minimum(&self, h: &[f64], ridge: f64) -> f64 {
        let pull = norm(h.iter().map(|h| h.min(0.0)));
        let length = if pull < ridge * self.radius { pull / ridge } else { self.radius };
        -pull * length + ridge / 2.0 * length * length
    }

    fn contains(&self, w: &[f64]) -> bool {
        let slack = 1e-9 * self.radius;
        w.iter().all(|v| *v >= -slack) && norm(w.iter().copied()) <= self.radius + slack
    }

    fn dual_norm(&self, g: &[f64]) -> f64 {
        norm(g.iter().copied())
    }

    fn kappa(&self, _n: usize) -> f64 {
        1.0
    }
}

/// Two groups that pull apart: the first would have w = (1, −1), the second w = (0, 2).
fn groups() -> Result<Dataset> {
    let (x, y) = (vec![1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0], vec![1.0, -1.0, 0.0, 2.0]);
    Dataset::new(Arc::new(Matrix::dense(2, x)?), y, None, &[vec![0, 1], vec![2, 3]])
}

/// Fits the groups; returns the optimum, and the certificate of a stochastic run.
pub fn fit(radius: f64, rounds: u64) -> Result<(Solution, Certificate)> {
    let (data, game) = (groups()?, Game::gdro(2));
    let domain = Domain::new(PositiveBall { radius });
    let problem =
        Problem { game: &game, domain: &domain, features: 2, outputs: 1, goal: Goal::Adversary };
    let mut risks = DatasetRisks::new(&data, &Squared, false);
    let optimum = solve(&mut risks, &problem, &Options::default())?;

    let bounds = SampleBounds::of(&data, &domain.map);
    let constants = Constants::new(&game, &Squared, &domain, 2, bounds, 2.0, None)?;
    let source = WithReplacement::new(data.clone());
    let config = Config { step_w: 3.0, step_q: 10.0, ..Config::new(Algorithm::SmdM, rounds) };
    let mut solver =
        config.build(game.clone(), Squared, source, domain.clone(), &constants, None)?;
    solver.advance(rounds)?;
    let (w, q) = (solver.model(), solver.weights());
    Ok((optimum, certify(&data, &Squared, &problem, &w, &q, None, 20)?))
}

fn main() -> Result<()> {
    let (optimum, certificate) = fit(3.0, 20_000)?;
    println!("optimum {:.6} at {:.4?}", optimum.upper, optimum.w);
    println!("smd-m: {:.6}, off by {:.6} at most", certificate.upper, certificate.gap);
    Ok(())
}
