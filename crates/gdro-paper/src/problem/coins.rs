//! Example 1: everything in closed form.

use gdro::algorithm::Constants;
use gdro::config::Config;
use gdro::domain::{Cube, Domain};
use gdro::game::Game;
use gdro::loss::Squared;
use gdro::run::Solver;
use gdro::source::Coins;

use super::{Instance, Optimum};

/// Number of groups.
const M: usize = 16;

/// Example 1 of the paper on W = [0, 1]: D² = ½, G = 2, L = 2, losses in [0, 1].
pub(super) struct Example {
    /// n_i of the algorithms that need them.
    pub budgets: Option<Vec<u64>>,
}

impl Instance for Example {
    fn constants(&self, k: f64) -> Constants {
        Constants { k, smoothness: 2.0, ..Constants::paper(0.5, 2.0, M) }
    }

    fn assumptions(&self) -> String {
        "D² = ½ is the width of ν = ½w² on W = [0, 1]; G = 2 and L = 2 are the largest slope and the curvature of \
         the loss (w − x)² there, whose values lie in [0, 1]. Every assumption holds."
            .into()
    }

    fn solver(&self, config: &Config, k: f64) -> gdro::Result<Box<dyn Solver + '_>> {
        let domain = Domain::new(Cube::new(0.0, 1.0)?);
        let (game, source) = (Game::top_k(M, k), Coins::example_1());
        config.build(game, Squared, source, domain, &self.constants(k), self.budgets.as_deref())
    }

    fn risks(&self, w: &[f64]) -> gdro::Result<Vec<f64>> {
        let coins = Coins::example_1();
        Ok((0..M).map(|i| coins.risk(i, w[0])).collect())
    }

    /// min_w Σ q_i p_i (w² − 2μ_i w + μ_i) = a(μ̄ − μ̄²) at w = μ̄ = Σ q_i p_i μ_i/a ∈ [0, 1], with
    /// a = Σ q_i p_i.
    fn gap(&self, game: &Game, w: &[f64], q: &[f64]) -> gdro::Result<f64> {
        let coins = Coins::example_1();
        let shares: Vec<f64> = q.iter().zip(&game.scales).map(|(q, p)| q * p).collect();
        let mass: f64 = shares.iter().sum();
        let mean: f64 =
            shares.iter().zip(coins.means()).map(|(s, mean)| s * mean).sum::<f64>() / mass;
        let upper = game.objective(&self.risks(w)?);
        Ok(upper - mass * mean * (1.0 - mean))
    }

    /// The appendix `sec:prof:example` has k = 1 and k = 5; a search of a convex function of one
    /// number has them all.
    fn optimum(&self, k: f64) -> gdro::Result<Optimum> {
        let game = Game::top_k(M, k);
        let at = |w: f64| Ok::<f64, gdro::Error>(game.objective(&self.risks(&[w])?));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..100 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if at(a)? < at(b)? { high = b } else { low = a }
        }
        let w = 0.5 * (low + high);
        // The mean of (w² − 2μ_i w + μ_i) is least at the mean of the μ_i.
        let coins = Coins::example_1();
        let of_mean = at(coins.means().iter().sum::<f64>() / M as f64)?;
        Ok(Optimum { value: at(w)?, risks: self.risks(&[w])?, of_mean, error: 1e-12 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: Example = Example { budgets: None };

    /// Appendix `sec:prof:example`.
    #[test]
    fn optima_are_those_of_the_paper() {
        for (k, value, first) in [(1.0, 0.25, 0.25), (5.0, 0.16, 0.34)] {
            let optimum = EXAMPLE.optimum(k).unwrap();
            assert!((optimum.value - value).abs() < 1e-9, "{optimum:?}");
            assert!((optimum.risks[0] - first).abs() < 1e-6, "{optimum:?}");
        }
    }

    #[test]
    fn the_gap_of_the_optimum_is_zero() {
        let mut q = vec![0.0; M];
        q[0] = 1.0;
        let gap = EXAMPLE.gap(&Game::gdro(M), &[0.5], &q).unwrap();
        assert!(gap.abs() < 1e-15, "{gap}");
        // The last coin alone, twice: 2(1 − w)².
        let scales: Vec<f64> = (0..M).map(|i| if i == 15 { 2.0 } else { 1e-9 }).collect();
        let game = Game { scales, ..Game::gdro(M) };
        let mut q = vec![0.0; M];
        q[15] = 1.0;
        let gap = EXAMPLE.gap(&game, &[1.0], &q).unwrap();
        assert!(gap.abs() < 1e-8, "{gap}");
        let gap = EXAMPLE.gap(&game, &[0.5], &q).unwrap();
        assert!((gap - 0.5).abs() < 1e-15, "2 R_16(1/2) - 2 R_16(1) is {gap}");
    }
}
