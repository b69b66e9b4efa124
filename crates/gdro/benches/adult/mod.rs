//! Rows of the shape of the Adult table, and runs on them. Every benchmark uses some of this.

#![allow(dead_code)]

use std::sync::Arc;

use gdro::algorithm::{Algorithm, Constants};
use gdro::config::Config;
use gdro::domain::{Domain, L2Ball};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Logistic};
use gdro::run::Solver;
use gdro::sampling::{Rng, below, unit};
use gdro::source::WithReplacement;
use gdro::{Dataset, Matrix};
use rand::SeedableRng;
use rand_distr::{Distribution as _, StandardNormal};

/// Rows of each group: race by sex.
pub const SIZES: [usize; 6] = [27_020, 11_883, 2_144, 2_084, 1_363, 728];

/// Numbers, and levels of the categorical columns: 6 + 98 features, and a constant.
const NUMBERS: usize = 6;
const LEVELS: [usize; 8] = [7, 16, 7, 14, 6, 5, 2, 41];

/// 45,222 rows with 15 of 105 features, labels −1 and +1, in an order that mixes the groups.
pub fn rows(seed: u64) -> Dataset {
    let mut rng = Rng::seed_from_u64(seed);
    let total: usize = SIZES.iter().sum();
    let (mut starts, mut indices, mut values, mut targets) = (vec![0], vec![], vec![], vec![]);
    for _ in 0..total {
        let numbers: [f64; NUMBERS] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
        indices.extend(0..NUMBERS as u32);
        values.extend(numbers);
        let mut first = NUMBERS;
        for levels in LEVELS {
            // Low levels are common and high ones rare.
            let level = (unit(&mut rng).powi(3) * levels as f64) as usize;
            indices.push((first + level) as u32);
            values.push(1.0);
            first += levels;
        }
        indices.push(first as u32);
        values.push(1.0);
        starts.push(values.len());
        let score = numbers[0] + 0.5 * numbers[1] - 1.0;
        targets.push(if unit(&mut rng) < 1.0 / (1.0 + (-score).exp()) { 1.0 } else { -1.0 });
    }
    let features = NUMBERS + LEVELS.iter().sum::<usize>() + 1;
    let matrix = Matrix::sparse(features, starts, indices, values).expect("rows in order");
    let mut order: Vec<u32> = (0..total as u32).collect();
    (1..total).rev().for_each(|i| order.swap(i, below(&mut rng, i + 1)));
    let mut rest = &order[..];
    let groups = SIZES.map(|size| {
        let (group, others) = rest.split_at(size);
        rest = others;
        let mut group = group.to_vec();
        group.sort_unstable();
        group
    });
    Dataset::new(Arc::new(matrix), targets, None, &groups).expect("no empty group")
}

/// The rows in a file of little-endian numbers, as `benches/peers/rounds.py` writes it: counts of
/// rows, stored values, columns and groups (u64), starts (u64), columns (u32), values (f64),
/// targets (f64), groups (u32).
pub fn read(path: &str) -> std::io::Result<Dataset> {
    let bytes = std::fs::read(path)?;
    let mut at = 0;
    let mut take = |n: usize| {
        at += n;
        &bytes[at - n..at]
    };
    let words = |bytes: &[u8]| -> Vec<u64> {
        bytes.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect()
    };
    let halves = |bytes: &[u8]| -> Vec<u32> {
        bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
    };
    let floats = |bytes: &[u8]| words(bytes).into_iter().map(f64::from_bits).collect::<Vec<_>>();
    let counts = words(take(32));
    let [rows, stored, columns, m] = counts[..] else { unreachable!("four numbers") };
    let (rows, stored) = (rows as usize, stored as usize);
    let starts = words(take(8 * (rows + 1))).into_iter().map(|v| v as usize).collect();
    let (indices, values) = (halves(take(4 * stored)), floats(take(8 * stored)));
    let (targets, owners) = (floats(take(8 * rows)), halves(take(4 * rows)));
    let mut groups = vec![vec![]; m as usize];
    owners.iter().enumerate().for_each(|(row, i)| groups[*i as usize].push(row as u32));
    Matrix::sparse(columns as usize, starts, indices, values)
        .and_then(|matrix| Dataset::new(Arc::new(matrix), targets, None, &groups))
        .map_err(std::io::Error::other)
}

/// A run of an algorithm with logistic loss in a ball.
pub struct Run {
    /// The name of the algorithm.
    pub name: &'static str,
    algorithm: Algorithm,
    /// Samples of a round.
    pub samples: u64,
    /// Multipliers on the steps of w and q: those that were best on this table
    /// (paper/results/report.md, "gaps-adult" and "balanced-adult").
    steps: (f64, f64),
}

impl Run {
    /// The runs of all benchmarks.
    pub const ALL: [Run; 4] = [
        Run { name: "online-1", algorithm: Algorithm::Online1, samples: 1, steps: (3.0, 1.0) },
        Run { name: "smd-m", algorithm: Algorithm::SmdM, samples: 6, steps: (3.0, 100.0) },
        Run { name: "smd-1", algorithm: Algorithm::Smd1, samples: 1, steps: (10.0, 100.0) },
        Run { name: "atkro-1", algorithm: Algorithm::Atkro1, samples: 1, steps: (3.0, 1.0) },
    ];

    /// The solver; its loss is chosen by name, as the program's are.
    pub fn solver(&self, data: &Dataset) -> Box<dyn Solver> {
        let m = data.groups();
        let domain = Domain::new(L2Ball::new(4.0).expect("a valid ball"));
        let constants = Constants { payoffs: (0.0, 8.0), ..Constants::paper(8.0, 4.0, m) };
        let (step_w, step_q) = self.steps;
        let config = Config { step_w, step_q, ..Config::new(self.algorithm, 1_000_000) };
        let (loss, source) = (AnyLoss::Logistic(Logistic), WithReplacement::new(data.clone()));
        config
            .build(Game::gdro(m), loss, source, domain, &constants, None)
            .expect("parts that fit together")
    }
}
