//! Small deterministic data sets, the same as in `oracles/golden.py` and `oracles/optima.py`.

#![allow(dead_code)]

use std::sync::Arc;

use gdro::algorithm::Constants;
use gdro::{Dataset, Matrix};

/// Knuth's MMIX generator: numbers uniform on [−1, 1).
#[derive(Clone, Debug)]
pub struct Lcg(pub u64);

impl Lcg {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// What the targets are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Logistic,
    Squared,
    Softmax,
}

impl Kind {
    pub fn of(name: &str) -> Self {
        match name {
            "logistic" => Kind::Logistic,
            "squared" => Kind::Squared,
            "softmax" => Kind::Softmax,
            other => panic!("unknown loss {other}"),
        }
    }
}

/// A made-up data set before it is put into arrays.
#[derive(Clone, Debug)]
pub struct Table {
    pub features: usize,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub weights: Vec<f64>,
    pub groups: Vec<Vec<u32>>,
}

/// Rows of `features` numbers; when `gaps`, a value is 0 when another number is below 0. Groups are
/// half-open ranges of rows.
pub fn table(
    seed: u64,
    rows: usize,
    features: usize,
    kind: Kind,
    gaps: bool,
    groups: &[(u32, u32)],
) -> Table {
    let mut lcg = Lcg(seed);
    let (mut x, mut y, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let mut row: Vec<f64> = (0..features).map(|_| lcg.next()).collect();
        if gaps {
            row.iter_mut().for_each(|v| *v = if lcg.next() >= 0.0 { *v } else { 0.0 });
        }
        let score = row[0] - 0.5 * row[1] + 0.3 * lcg.next();
        y.push(match kind {
            Kind::Logistic => score.signum(),
            Kind::Squared => score,
            Kind::Softmax if score < -0.3 => 0.0,
            Kind::Softmax if score < 0.3 => 1.0,
            Kind::Softmax => 2.0,
        });
        x.extend(row);
        weights.push(1.0 + lcg.next());
    }
    let groups = groups.iter().map(|(a, b)| (*a..*b).collect()).collect();
    Table { features, x, y, weights, groups }
}

impl Table {
    pub fn dense(&self, weighted: bool) -> Dataset {
        let matrix = Matrix::dense(self.features, self.x.clone()).unwrap();
        self.with(matrix, weighted)
    }

    pub fn sparse(&self, weighted: bool) -> Dataset {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in self.x.chunks_exact(self.features) {
            for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                indices.push(j as u32);
                values.push(*v);
            }
            starts.push(values.len());
        }
        self.with(Matrix::sparse(self.features, starts, indices, values).unwrap(), weighted)
    }

    fn with(&self, matrix: Matrix, weighted: bool) -> Dataset {
        let weights = weighted.then(|| self.weights.clone());
        Dataset::new(Arc::new(matrix), self.y.clone(), weights, &self.groups).unwrap()
    }
}

/// 200 rows in three groups that overlap.
pub const OVERLAPPING: [(u32, u32); 3] = [(0, 120), (100, 160), (150, 200)];

/// Constants for losses in [0, 1].
pub fn constants(width: f64, lipschitz: f64, groups: usize, k: f64) -> Constants {
    Constants { smoothness: 1.0, k, ..Constants::paper(width, lipschitz, groups) }
}

/// Every algorithm in every form, with a k that it can play on three groups.
pub fn forms() -> Vec<(gdro::algorithm::Algorithm, bool, f64)> {
    use gdro::algorithm::{Algorithm, Draws, Form};
    let forms = |algorithm: Algorithm| {
        let spec = algorithm.spec();
        let k = match (spec.top_k, spec.draws) {
            (false, _) => 1.0,
            (true, Draws::EachOfK) => 2.0,
            (true, Draws::EveryGroup) => 1.5,
            (true, _) => 2.25,
        };
        let anytime = match spec.form {
            Form::Fixed => &[false][..],
            Form::Both => &[false, true],
            Form::Anytime => &[true],
        };
        anytime.iter().map(move |anytime| (algorithm, *anytime, k))
    };
    Algorithm::ALL.into_iter().flat_map(forms).collect()
}

/// A form with multipliers on its steps, unless its players find their own, and with what else it
/// takes on three groups of such budgets.
pub fn config(
    (algorithm, anytime, _): (gdro::algorithm::Algorithm, bool, f64),
    rounds: u64,
    steps: (f64, f64),
    budgets: &[u64],
) -> gdro::config::Config {
    let (step_w, step_q) = if algorithm.spec().adaptive { (1.0, 1.0) } else { steps };
    let nbar = Some(budgets[1]);
    let queries = vec![1, 3, 2, 2];
    let config = gdro::config::Config::new(algorithm, rounds);
    gdro::config::Config { anytime, step_w, step_q, nbar, queries, kept: Some(5), ..config }
}

/// Whether two slices hold the same bits.
pub fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// The largest distance of two slices of equal length.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
