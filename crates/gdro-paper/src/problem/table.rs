//! Tables: their rows are the distributions, or samples of unknown ones.

use std::path::PathBuf;
use std::sync::Arc;

use gdro::algorithm::{Constants, SampleBounds};
use gdro::certificate::certify;
use gdro::config::Config;
use gdro::domain::{Domain, L2Ball};
use gdro::exact::{DatasetRisks, Goal, Options, Problem, solve};
use gdro::game::Game;
use gdro::loss::Logistic;
use gdro::risk::group_risks;
use gdro::run::Solver;
use gdro::sampling::{Streams, shuffle};
use gdro::source::{OnceEach, WithReplacement};
use gdro::{Dataset, Matrix};
use gdro_data::{DataOptions, Split, Task};

use super::{Instance, Optimum};

/// The rows of a table, each scaled to length 1, with a constant among the features.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    data: Dataset,
    ball: f64,
    held_out: Option<u64>,
}

impl Rows {
    /// Reads and scales.
    pub fn read(
        files: &[PathBuf],
        options: &DataOptions,
        ball: f64,
        held_out: Option<u64>,
    ) -> Result<Self, gdro_data::Error> {
        let table = gdro_data::read(files, options)?;
        let all = gdro_data::prepare(&table, options, Some(Task::Binary), &Split::None, true)?;
        Ok(Rows { data: scaled(&all.train), ball, held_out })
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.data.groups()
    }

    /// n_i when rows are held out.
    pub fn budgets(&self) -> Option<Vec<u64>> {
        let held = self.held_out?;
        Some(self.data.counts().iter().map(|n| n.saturating_sub(held)).collect())
    }

    /// The draw of a seed: which rows are held out, if any.
    pub fn split(&self, seed: u64) -> gdro::Result<Known> {
        L2Ball::new(self.ball)?;
        let (ball, matrix) = (self.ball, Arc::new(self.data.matrix().clone()));
        let Some(held) = self.held_out else {
            return Ok(Known {
                train: self.data.clone(),
                test: self.data.clone(),
                ball,
                once: None,
            });
        };
        let mut rng = Streams::new(seed).groups;
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for group in 0..self.data.groups() {
            let mut rows = self.data.members(group).to_vec();
            shuffle(&mut rows, &mut rng);
            let rest = rows.split_off((held as usize).min(rows.len()));
            test.push(rows);
            train.push(rest);
        }
        let of = |groups: &[Vec<u32>]| {
            Dataset::new(matrix.clone(), self.data.targets().to_vec(), None, groups)
        };
        Ok(Known { train: of(&train)?, test: of(&test)?, ball, once: Some(seed) })
    }
}

/// The same rows, each divided by its length.
fn scaled(data: &Dataset) -> Dataset {
    let matrix = data.matrix();
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for r in 0..matrix.rows() {
        let row = matrix.row(r);
        let by = 1.0 / row.norm_squared().sqrt();
        row.for_each(|j, v| {
            if v != 0.0 {
                indices.push(j as u32);
                values.push(v * by);
            }
        });
        starts.push(values.len());
    }
    let matrix = Matrix::sparse(matrix.cols(), starts, indices, values);
    let matrix = matrix.expect("rows of a matrix, scaled");
    let groups: Vec<Vec<u32>> = (0..data.groups()).map(|g| data.members(g).to_vec()).collect();
    Dataset::new(Arc::new(matrix), data.targets().to_vec(), None, &groups)
        .expect("the same groups of as many rows")
}

/// One draw of a table.
pub(super) struct Known {
    train: Dataset,
    test: Dataset,
    ball: f64,
    /// The seed of the order in which rows are visited, when each is visited once.
    once: Option<u64>,
}

impl Known {
    fn domain(&self) -> gdro::Result<Domain<L2Ball>> {
        Ok(Domain::new(L2Ball::new(self.ball)?))
    }

    fn budgets(&self) -> Vec<u64> {
        self.train.counts()
    }
}

impl Instance for Known {
    /// ‖x‖ = 1 and ‖w‖ ≤ B: D² = B²/2, G = 1, L = 1/4, losses in [0, ln(1 + e^B)].
    fn constants(&self, k: f64) -> Constants {
        let domain = self.domain().expect("a ball that was checked");
        let game = Game::top_k(self.train.groups(), k);
        let bounds = SampleBounds { norm_squared: 1.0, target: 1.0 };
        let features = self.train.features();
        Constants::new(&game, &Logistic, &domain, features, bounds, std::f64::consts::LN_2, None)
            .expect("a ball has all constants")
    }

    fn assumptions(&self) -> String {
        let drawn = match self.once {
            None => {
                "The rows are the distributions, drawn with replacement: every assumption holds."
            }
            Some(_) => {
                "Each row is visited once: every assumption holds for draws from the unknown distributions."
            }
        };
        format!(
            "D² = B²/2 for the ball of radius B = {}. Rows have length 1: G = 1, L ≤ ¼ (the curvature of the loss \
             times a bound on the eigenvalues of E xxᵀ), and losses lie below M = ln(1 + exp B). {drawn}",
            self.ball
        )
    }

    fn solver(&self, config: &Config, k: f64) -> gdro::Result<Box<dyn Solver + '_>> {
        let game = Game::top_k(self.train.groups(), k);
        let (domain, constants, data) = (self.domain()?, self.constants(k), self.train.clone());
        match self.once {
            None => {
                let source = WithReplacement::new(data);
                config.build(game, Logistic, source, domain, &constants, None)
            }
            Some(seed) => {
                // Not the order that split the rows.
                let source = OnceEach::new(data, None, seed ^ 0x5eed)?;
                config.build(game, Logistic, source, domain, &constants, Some(&self.budgets()))
            }
        }
    }

    fn risks(&self, w: &[f64]) -> gdro::Result<Vec<f64>> {
        group_risks(&Logistic, w, &self.test)
    }

    fn gap(&self, game: &Game, w: &[f64], q: &[f64]) -> gdro::Result<f64> {
        let domain = self.domain()?;
        let features = self.train.features();
        let problem =
            Problem { game, domain: &domain, features, outputs: 1, goal: Goal::Adversary };
        Ok(certify(&self.train, &Logistic, &problem, w, q, None, 0)?.gap)
    }

    /// Of the rows that are trained on; its risks are those on the other rows, if there are any.
    fn optimum(&self, k: f64) -> gdro::Result<Optimum> {
        let (m, features) = (self.train.groups(), self.train.features());
        let (game, domain) = (Game::top_k(m, k), self.domain()?);
        let best = |goal: Goal| {
            let problem = Problem { game: &game, domain: &domain, features, outputs: 1, goal };
            let mut risks = DatasetRisks::new(&self.train, &Logistic, false);
            solve(&mut risks, &problem, &Options::default())
        };
        let (robust, mean) = (best(Goal::Adversary)?, best(Goal::Fixed(vec![1.0 / m as f64; m]))?);
        let risks = self.risks(&robust.w)?;
        let value = if self.once.is_some() { game.objective(&risks) } else { robust.upper };
        let of_mean = game.objective(&self.risks(&mean.w)?);
        Ok(Optimum { value, risks, of_mean, error: robust.gap() })
    }
}
