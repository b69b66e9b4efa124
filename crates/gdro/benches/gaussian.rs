//! What a round on the first synthetic set costs beside the normals alone.
//!
//! `cargo bench -p gdro --bench gaussian` prints the time per drawn coordinate of whole rounds
//! (draw, score, update, average) as a ratio to `rand_distr::StandardNormal` filling as many
//! numbers, both in turns, and then criterion's own estimates.

mod common;

use std::time::Duration;

use common::{Work, alternate};
use criterion::{Criterion, Throughput};
use gdro::algorithm::{Algorithm, Constants};
use gdro::config::Config;
use gdro::domain::{Domain, L2Ball};
use gdro::game::Game;
use gdro::loss::Logistic;
use gdro::run::Solver;
use gdro::sampling::Rng;
use gdro::source::Synthetic;
use rand::SeedableRng;
use rand_distr::{Distribution as _, StandardNormal};

const M: usize = 20;
const D: usize = 1000;

/// A run on the first set under the steps of the theorem, B = 5.
fn solver(algorithm: Algorithm) -> Box<dyn Solver> {
    let source = Synthetic::balanced(M, D, 1).expect("a valid set");
    let domain = Domain::new(L2Ball::new(5.0).expect("a valid ball"));
    let constants = Constants::paper(12.5, (D as f64).sqrt(), M);
    let config = Config::new(algorithm, 1_000_000);
    config
        .build(Game::gdro(M), Logistic, source, domain, &constants, None)
        .expect("parts that fit together")
}

/// One round.
fn play(solver: &mut dyn Solver) {
    solver.advance(1).expect("a source that never runs dry");
}

fn ziggurat(out: &mut [f64], rng: &mut Rng) {
    out.iter_mut().for_each(|v| *v = StandardNormal.sample(rng));
}

/// The ratios.
fn ratios() {
    let mut rng = Rng::seed_from_u64(1);
    let mut out = vec![0.0; D];
    let (mut every, mut one) = (solver(Algorithm::SmdM), solver(Algorithm::Online1));
    let mut works = [
        Work::new("rand_distr::StandardNormal", D as f64, || ziggurat(&mut out, &mut rng)),
        Work::new("round of smd-m, per drawn coordinate", (M * D) as f64, || play(&mut *every)),
        Work::new("round of online-1, per drawn coordinate", D as f64, || play(&mut *one)),
    ];
    alternate("normals, d = 1000, m = 20", &mut works, 201, Duration::from_millis(1));
}

fn main() {
    ratios();
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("gaussian");
    group.throughput(Throughput::Elements(D as u64));
    let (mut rng, mut out) = (Rng::seed_from_u64(1), vec![0.0; D]);
    group.bench_function("ziggurat", |b| b.iter(|| ziggurat(&mut out, &mut rng)));
    let mut one = solver(Algorithm::Online1);
    group.bench_function("online-1", |b| b.iter(|| play(&mut *one)));
    group.throughput(Throughput::Elements((M * D) as u64));
    let mut every = solver(Algorithm::SmdM);
    group.bench_function("smd-m", |b| b.iter(|| play(&mut *every)));
    group.finish();
    criterion.final_summary();
}
