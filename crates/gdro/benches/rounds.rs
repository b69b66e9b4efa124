//! What a round costs on rows of the shape of the Adult table: 15 of 105 features, 6 groups,
//! logistic loss, a ball, averaging included.
//!
//! `cargo bench -p gdro --bench rounds` prints the time per sample of several algorithms in turns,
//! then what a second thread gains, and then criterion's own estimates.

mod adult;
mod common;

use std::time::{Duration, Instant};

use adult::Run;
use common::{Work, alternate};
use criterion::{Criterion, Throughput};
use gdro::run::Solver;

/// Rounds at a time: what a caller does between two looks.
const CHUNK: u64 = 256;

fn play(solver: &mut dyn Solver) {
    solver.advance(CHUNK).expect("finite losses");
}

fn work((solver, run): &mut (Box<dyn Solver>, Run)) -> Work<'_> {
    Work::new(run.name, (run.samples * CHUNK) as f64, move || play(&mut **solver))
}

/// Rounds per second of two runs at the same time, each on its own thread, as a multiple of those
/// of one.
fn two_threads(data: &gdro::Dataset) {
    const ROUNDS: u64 = 100_000;
    let run = &Run::ALL[0];
    let wall = |threads| {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| run.solver(data).advance(ROUNDS).expect("finite losses"));
            }
        });
        start.elapsed().as_secs_f64()
    };
    let mut gains: Vec<f64> = (0..21).map(|_| 2.0 * wall(1) / wall(2)).collect();
    gains.sort_by(f64::total_cmp);
    println!("\ntwo runs on two threads: {:.2} times the rounds of one", gains[10]);
    println!("(medians of 21 turns; middle half {:.2} to {:.2})", gains[5], gains[15]);
}

/// `time NAME ROUNDS FILE`: the time per sample of one run on the rows of a file.
fn time(name: &str, rounds: &str, file: &str) {
    let data = adult::read(file).expect("a file of rows");
    let run = Run::ALL.iter().find(|run| run.name == name).expect("a name of a run");
    let rounds: u64 = rounds.parse().expect("a number of rounds");
    let mut solver = run.solver(&data);
    solver.advance(rounds / 10).expect("finite losses");
    let start = Instant::now();
    solver.advance(rounds).expect("finite losses");
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", seconds * 1e9 / (rounds * run.samples) as f64);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, name, rounds, file] = &arguments[..]
        && command == "time"
    {
        return time(name, rounds, file);
    }
    let data = adult::rows(1);
    let mut solvers = Run::ALL.map(|run| (run.solver(&data), run));
    let mut works: Vec<Work<'_>> = solvers.iter_mut().map(work).collect();
    let slice = Duration::from_millis(1);
    alternate("rounds on Adult's shape, per sample", &mut works, 201, slice);
    drop(works);
    two_threads(&data);

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("rounds");
    for (solver, run) in &mut solvers {
        group.throughput(Throughput::Elements(run.samples * CHUNK));
        group.bench_function(run.name, |b| b.iter(|| play(&mut **solver)));
    }
    group.finish();
    criterion.final_summary();
}
