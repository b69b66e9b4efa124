//! What a round costs on rows of the shape of the Adult table: 15 of 105 features, 6 groups,
//! logistic loss, a ball, averaging included.
//!
//! `cargo bench -p gdro --bench rounds` prints the time per sample of several algorithms in turns,
//! then what a second thread gains, and then criterion's own estimates.

mod adult;
mod common;

use std::time::{Duration, Instant};

use adult::Run;
use common::{Work, alternate, processor_time};
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
/// of one: by the clock, and by the time on a processor, which is what it were if nothing else ran.
fn two_threads(data: &gdro::Dataset) {
    const ROUNDS: u64 = 100_000;
    let play = || {
        let mut solver = Run::ALL[0].solver(data);
        let start = processor_time();
        solver.advance(ROUNDS).expect("finite losses");
        (processor_time() - start).as_secs_f64()
    };
    // Seconds by the clock, and the longest on a processor.
    let measure = |threads| {
        let start = Instant::now();
        let longest = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(play)).collect();
            threads.into_iter().map(|t| t.join().expect("no panic")).fold(0.0, f64::max)
        });
        (start.elapsed().as_secs_f64(), longest)
    };
    let gain = |_| {
        let (one, two) = (measure(1), measure(2));
        (2.0 * one.0 / two.0, 2.0 * one.1 / two.1)
    };
    let (clock, processor): (Vec<_>, Vec<_>) = (0..21).map(gain).unzip();
    println!("\ntwo runs on two threads, rounds as a multiple of one run's, 21 turns");
    for (name, mut gains) in [("by the clock", clock), ("by time on a processor", processor)] {
        gains.sort_by(f64::total_cmp);
        println!("{name}: {:.2} ({:.2} to {:.2})", gains[10], gains[5], gains[15]);
    }
}

/// `time NAME ROUNDS FILE`: the processor's time per sample of one run on the rows of a file.
fn time(name: &str, rounds: &str, file: &str) {
    let data = adult::read(file).expect("a file of rows");
    let run = Run::ALL.iter().find(|run| run.name == name).expect("a name of a run");
    let rounds: u64 = rounds.parse().expect("a number of rounds");
    let mut solver = run.solver(&data);
    solver.advance(rounds / 10).expect("finite losses");
    let start = processor_time();
    solver.advance(rounds).expect("finite losses");
    let seconds = (processor_time() - start).as_secs_f64();
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
