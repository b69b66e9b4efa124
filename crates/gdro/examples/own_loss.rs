//! A user's own loss: Poisson regression that is fair to every shop.
//!
//! Counts of visitors in three shops depend on the weather, and a linear model of the logarithm of
//! the mean is fitted such that the worst shop is served as well as possible. The deviance-like
//! loss ℓ(s, y) = eˢ − y s + const is convex; it is not one of the library's losses, and nothing in
//! the library needs to know it.

use std::sync::Arc;

use gdro::algorithm::{Constants, SampleBounds, smd_m};
use gdro::average::Average;
use gdro::domain::{Domain, L2Ball};
use gdro::game::Game;
use gdro::group_weights::Plain;
use gdro::iterate::Dense;
use gdro::loss::Loss;
use gdro::risk::group_risks;
use gdro::run::{Saddle, Solver};
use gdro::source::WithReplacement;
use gdro::{Dataset, Matrix, Result};

/// Poisson loss of the logarithm s of the mean: ℓ(s, y) = eˢ − y s + (y ln y − y), y ≥ 0. The last
/// two terms do not depend on s and make the loss 0 for a perfect prediction.
#[derive(Clone, Copy, Debug)]
pub struct Poisson;

impl Loss for Poisson {
    fn name(&self) -> &'static str {
        "poisson"
    }

    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        let s = scores[0];
        let base = if y > 0.0 { y * y.ln() - y } else { 0.0 };
        Ok(s.exp() - y * s + base)
    }

    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        slope[0] = scores[0].exp() - y;
        self.value(scores, y)
    }

    fn hessian(&self, scores: &[f64], _y: f64, hessian: &mut [f64]) {
        hessian[0] = scores[0].exp();
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        // The supremum is at s = ln(u + y).
        let x_ln_x = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
        let mean = u[0] + y;
        if mean < 0.0 { f64::INFINITY } else { x_ln_x(mean) - mean - x_ln_x(y) + y }
    }

    fn accepts(&self, y: f64) -> bool {
        y >= 0.0 && y.is_finite()
    }

    fn expects(&self) -> String {
        "a count, at least 0".into()
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        // Convex in s, so that an end of [−bound, bound] is the worst; and in y, so that 0 or the
        // largest target is.
        let worst = |y: f64| {
            let at = |s: f64| self.value(&[s], y).unwrap_or(f64::INFINITY);
            at(bound).max(at(-bound))
        };
        worst(0.0).max(worst(target))
    }

    fn lipschitz(&self, bound: f64, target: f64) -> f64 {
        bound.exp().max(target)
    }

    fn curvature(&self) -> f64 {
        // eˢ has no bound on the whole line; on this example's domain |s| ≤ 2.
        2f64.exp()
    }

    fn correct(&self, _scores: &[f64], _y: f64) -> Option<bool> {
        None
    }
}

/// Three shops with a constant and the weather −1, 0 or 1: visitors (dull, mixed, sunny).
pub fn shops() -> Result<Dataset> {
    let counts = [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 1.0, 2.0]];
    let (mut x, mut y, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for shop in counts {
        let first = y.len() as u32;
        for (weather, visitors) in [-1.0, 0.0, 1.0].into_iter().zip(shop) {
            x.extend([1.0, weather]);
            y.push(visitors);
        }
        groups.push((first..first + 3).collect());
    }
    let data = Dataset::new(Arc::new(Matrix::dense(2, x)?), y, None, &groups)?;
    Poisson.check(&data)?;
    Ok(data)
}

/// Fits the shops, and returns the model and the risk of every shop.
pub fn fit(rounds: u64) -> Result<(Vec<f64>, Vec<f64>)> {
    let data = shops()?;
    let game = Game::gdro(data.groups());
    let domain = Domain::new(L2Ball::new(1.4)?);
    let bounds = SampleBounds::of(&data, &domain.map);
    let constants = Constants::new(&game, &Poisson, &domain, 2, bounds, 1.0, None)?;
    let recipe = smd_m(&constants, rounds).scaled(20.0, 200.0).averaged(Average::Suffix);
    let point = Dense::new(domain, 2, 1);
    let weights = Plain::new(3, 1.0)?;
    let source = WithReplacement::new(data.clone());
    let mut solver = Saddle::new(game, Poisson, source, point, weights, recipe, 1)?;
    solver.advance(rounds)?;
    let risks = group_risks(&Poisson, &solver.model(), &data)?;
    Ok((solver.model(), risks))
}

fn main() -> Result<()> {
    let (model, risks) = fit(100_000)?;
    println!("visitors = exp({:.3} + {:.3} · weather)", model[0], model[1]);
    for (shop, risk) in risks.iter().enumerate() {
        println!("shop {shop}: risk {risk:.4}");
    }
    Ok(())
}
