//! What a round costs on rows of the shape of the Adult table: 15 of 105 features, 6 groups,
//! logistic loss, a ball, averaging included.
//!
//! `cargo bench -p gdro --bench rounds` prints the time per sample of several algorithms in turns,
//! and then criterion's own estimates.

mod adult;
mod common;

use std::time::Duration;

use common::{Work, alternate};
use criterion::{Criterion, Throughput};
use gdro::Dataset;
use gdro::algorithm::{Algorithm, Constants};
use gdro::config::Config;
use gdro::domain::{Domain, L2Ball};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Logistic};
use gdro::run::Solver;
use gdro::source::WithReplacement;

/// Rounds at a time: what a caller does between two looks.
const CHUNK: u64 = 256;

/// A run whose loss is chosen by name, as the program's are.
fn solver(algorithm: Algorithm, data: &Dataset) -> Box<dyn Solver> {
    let m = data.groups();
    let (domain, loss) = (L2Ball::new(4.0).expect("a valid ball"), AnyLoss::Logistic(Logistic));
    let mut constants = Constants::paper(8.0, 4.0, m);
    constants.payoffs = (0.0, 8.0);
    let config = Config { step_w: 3.0, step_q: 100.0, ..Config::new(algorithm, 1_000_000) };
    let source = WithReplacement::new(data.clone());
    config
        .build(Game::gdro(m), loss, source, Domain::new(domain), &constants, None)
        .expect("parts that fit together")
}

fn play(solver: &mut dyn Solver) {
    solver.advance(CHUNK).expect("finite losses");
}

/// The algorithms, and how many samples a round of each draws.
const ALGORITHMS: [(Algorithm, &str, u64); 4] = [
    (Algorithm::Online1, "online-1", 1),
    (Algorithm::SmdM, "smd-m", 6),
    (Algorithm::Smd1, "smd-1", 1),
    (Algorithm::Atkro1, "atkro-1", 1),
];

fn main() {
    let data = adult::rows(1);
    let mut solvers = ALGORITHMS.map(|(algorithm, ..)| solver(algorithm, &data));
    let mut works: Vec<Work<'_>> = ALGORITHMS
        .iter()
        .zip(&mut solvers)
        .map(|((_, name, samples), solver)| {
            Work::new(name, (samples * CHUNK) as f64, move || play(&mut **solver))
        })
        .collect();
    let slice = Duration::from_millis(1);
    alternate("rounds on Adult's shape, per sample", &mut works, 201, slice);
    drop(works);

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("rounds");
    for ((_, name, samples), solver) in ALGORITHMS.iter().zip(&mut solvers) {
        group.throughput(Throughput::Elements(samples * CHUNK));
        group.bench_function(*name, |b| b.iter(|| play(&mut **solver)));
    }
    group.finish();
    criterion.final_summary();
}
