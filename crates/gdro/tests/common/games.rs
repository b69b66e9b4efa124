//! Games whose exact gap is known: a few weighted rows per group, drawn with replacement, are the
//! whole distribution.

#![allow(dead_code)]

use std::sync::Arc;

use gdro::algorithm::{Algorithm, Constants};
use gdro::config::Config;
use gdro::domain::{Domain, L2Ball};
use gdro::exact::{DatasetRisks, Goal, Options, Problem, solve};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Logistic, Squared};
use gdro::risk::group_risks;
use gdro::run::Solver;
use gdro::source::WithReplacement;
use gdro::{Dataset, Matrix};

use super::common::Lcg;

/// A game on finite distributions, with the constants of its theorems.
#[derive(Clone, Debug)]
pub struct Finite {
    pub data: Dataset,
    pub loss: AnyLoss,
    pub domain: Domain<L2Ball>,
    pub game: Game,
    pub constants: Constants,
}

/// Rows (features, target, probability) of every group.
type Groups = Vec<Vec<(Vec<f64>, f64, f64)>>;

fn dataset(groups: Groups) -> Dataset {
    let (mut x, mut y, mut weights, mut members) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let features = groups[0][0].0.len();
    for group in groups {
        let from = y.len() as u32;
        for (row, target, probability) in group {
            x.extend(row);
            y.push(target);
            weights.push(probability);
        }
        members.push((from..y.len() as u32).collect());
    }
    let matrix = Arc::new(Matrix::dense(features, x).unwrap());
    Dataset::new(matrix, y, Some(weights), &members).unwrap()
}

fn unit_vector(d: usize, at: usize) -> Vec<f64> {
    (0..d).map(|j| if j == at { 1.0 } else { 0.0 }).collect()
}

impl Finite {
    /// Logistic losses, scaled to [0, 1]: m groups, features e_1, …, e_d alike, and a probability
    /// of the label +1 of its own for every group and feature, in (0.1, 0.9). ‖x‖ = 1, ‖w‖ ≤ 2.
    pub fn logistic(m: usize, d: usize) -> Self {
        let mut lcg = Lcg(5);
        let mut group = || {
            let mut rows = Vec::new();
            for j in 0..d {
                let p = 0.5 + 0.4 * lcg.next();
                rows.push((unit_vector(d, j), 1.0, p));
                rows.push((unit_vector(d, j), -1.0, 1.0 - p));
            }
            rows
        };
        let data = dataset((0..m).map(|_| group()).collect());
        let radius = 2f64;
        let range = (1.0 + radius.exp()).ln();
        Finite {
            data,
            loss: AnyLoss::Logistic(Logistic),
            domain: Domain::new(L2Ball::new(radius).unwrap()),
            game: Game { scales: vec![1.0 / range; m], ..Game::gdro(m) },
            // G = 1/range, L = 1/(4 range).
            constants: Constants {
                smoothness: 0.25 / range,
                ..Constants::paper(radius * radius / 2.0, 1.0 / range, m)
            },
        }
    }

    /// Rare needs: the target is 1, and feature e_j is there with a small probability of its own
    /// for every group, else x = 0 and the squared loss is 1. The model has ‖w‖ ≤ ½ to spend on
    /// them, and several groups are active at the optimum. Losses lie in [¼, 1] where w ≥ 0, which
    /// all models of a run do, since gradients point there.
    pub fn rare(m: usize, d: usize) -> Self {
        let mut lcg = Lcg(5);
        let mut group = || {
            let mut rows = Vec::new();
            let mut rest = 1.0;
            for j in 0..d {
                let p = 0.2 * (0.5 + 0.5 * lcg.next()).powi(2);
                rest -= p;
                rows.push((unit_vector(d, j), 1.0, p));
            }
            rows.push((vec![0.0; d], 1.0, rest));
            rows
        };
        let data = dataset((0..m).map(|_| group()).collect());
        Finite {
            data,
            loss: AnyLoss::Squared(Squared),
            domain: Domain::new(L2Ball::new(0.5).unwrap()),
            game: Game::gdro(m),
            constants: Constants { payoffs: (0.25, 1.0), ..Constants::paper(0.125, 2.0, m) },
        }
    }

    /// Few hard groups: their targets are ±½ with nearly even odds, so that their squared losses
    /// are about ¼ wherever the model w ∈ [−½, ½] is; the targets of all others are 0.
    pub fn few_dominate(m: usize) -> Self {
        let means = [0.1, -0.1, 0.06, -0.05, 0.0];
        let hard = |mean: &f64| vec![(vec![1.0], 0.5, 0.5 + mean), (vec![1.0], -0.5, 0.5 - mean)];
        let mut groups: Groups = means.iter().map(hard).collect();
        groups.resize(m, vec![(vec![1.0], 0.0, 1.0)]);
        Finite {
            data: dataset(groups),
            loss: AnyLoss::Squared(Squared),
            domain: Domain::new(L2Ball::new(0.5).unwrap()),
            game: Game::gdro(m),
            constants: Constants::paper(0.125, 2.0, m),
        }
    }

    /// The same with cap 1/k.
    pub fn top_k(mut self, k: f64) -> Self {
        self.game.k = k;
        self.constants.k = k;
        self
    }

    /// A solver of the game.
    pub fn solver(&self, config: &Config, budgets: Option<&[u64]>) -> Box<dyn Solver> {
        let source = WithReplacement::new(self.data.clone());
        let (game, domain) = (self.game.clone(), self.domain.clone());
        config.build(game, self.loss, source, domain, &self.constants, budgets).unwrap()
    }

    fn bounds(&self, goal: Goal) -> (f64, f64) {
        let mut risks = DatasetRisks::new(&self.data, &self.loss, false);
        let (game, domain, features) = (&self.game, &self.domain, self.data.features());
        let problem = Problem { game, domain, features, outputs: 1, goal };
        let best = solve(&mut risks, &problem, &Options::default()).unwrap();
        assert!(best.gap() < 1e-8, "{best:?}");
        (best.lower, best.upper)
    }

    /// The risks of all groups.
    pub fn risks(&self, w: &[f64]) -> Vec<f64> {
        group_risks(&self.loss, w, &self.data).unwrap()
    }

    /// The exact gap of a model and group weights.
    pub fn gap(&self, w: &[f64], q: &[f64]) -> f64 {
        self.game.objective(&self.risks(w)) - self.bounds(Goal::Fixed(q.to_vec())).0
    }

    /// The optimum of the game.
    pub fn optimum(&self) -> f64 {
        self.bounds(Goal::Adversary).1
    }

    /// The mean exact gap over seeds of an algorithm with so many samples in all, `per_round` each.
    pub fn mean_gap(
        &self,
        config: impl Fn(u64) -> Config,
        samples: u64,
        per_round: u64,
        seeds: u64,
    ) -> f64 {
        let gap = |seed| {
            let rounds = samples / per_round;
            let config = Config { seed, ..config(rounds) };
            let mut solver = self.solver(&config, None);
            solver.advance(rounds).unwrap();
            assert_eq!(solver.clipped(), 0, "the range of the losses is right");
            self.gap(&solver.model(), &solver.weights())
        };
        (0..seeds).map(gap).sum::<f64>() / seeds as f64
    }
}

/// Samples per round of an algorithm.
pub fn per_round(algorithm: Algorithm, m: usize, k: f64) -> u64 {
    match algorithm {
        Algorithm::SmdM | Algorithm::AtkroM => m as u64,
        Algorithm::AtkroK => k as u64,
        _ => 1,
    }
}
