//! What a round costs as the number of groups or of features grows: the tables "Rounds as m and d
//! grow" of docs/benchmarks.md.
//!
//! `cargo bench -p gdro --bench scaling` (some minutes), or with `groups`, `features` or `switch`
//! after `--` for one part; `groups` may be followed by numbers of groups.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use gdro::algorithm::{Algorithm, Constants};
use gdro::average::Average;
use gdro::config::Config;
use gdro::domain::{Domain, L2Ball};
use gdro::game::Game;
use gdro::group_weights::{CappedTree, GroupWeights, Plain, Subsets, Tree};
use gdro::loss::Logistic;
use gdro::run::Solver;
use gdro::sampling::{Rng, below, shuffle, unit};
use gdro::source::WithReplacement;
use gdro::storage::Storage;
use gdro::{Dataset, Matrix};
use rand::SeedableRng as _;

/// Time of this thread on a processor: other programs that take turns with it do not count, though
/// they take their share of the caches.
fn now() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|v| v.parse().ok());
    Duration::from_nanos(nanoseconds.expect("the times of a thread, which Linux has in /proc"))
}

/// Repetitions of which medians are shown.
const REPEATS: usize = 7;

fn main() {
    let mut words = std::env::args().skip(1).filter(|a| !a.starts_with('-'));
    let part = words.next();
    let wanted = |name: &str| part.as_deref().is_none_or(|part| part == name);
    if wanted("groups") {
        let numbers: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
        let all = [6, 10, 100, 1000, 10_000, 100_000, 1_000_000];
        groups(if numbers.is_empty() { &all } else { &numbers });
    }
    if wanted("features") {
        features();
    }
    if wanted("switch") {
        switch();
    }
}

/// Rows with `stored` values at random places, or dense ones for `stored` = d; targets by chance.
struct Table {
    matrix: Arc<Matrix>,
    targets: Vec<f64>,
}

impl Table {
    fn new(rows: usize, d: usize, stored: usize) -> Self {
        let mut rng = Rng::seed_from_u64(1);
        let value = |rng: &mut Rng| 2.0 * unit(rng) - 1.0;
        let matrix = if stored == d {
            Matrix::dense(d, (0..rows * d).map(|_| value(&mut rng)).collect()).unwrap()
        } else {
            let (mut starts, mut indices) = (vec![0], Vec::with_capacity(rows * stored));
            for row in 0..rows {
                // One in each of `stored` stretches of columns, so that they increase.
                let stretch = |at: usize| at * d / stored..(at + 1) * d / stored;
                let column = |s: std::ops::Range<usize>| s.start + below(&mut rng, s.len());
                indices.extend((0..stored).map(stretch).map(column).map(|j| j as u32));
                starts.push((row + 1) * stored);
            }
            let values = (0..rows * stored).map(|_| value(&mut rng)).collect();
            Matrix::sparse(d, starts, indices, values).unwrap()
        };
        let targets = (0..rows).map(|_| if unit(&mut rng) < 0.5 { 1.0 } else { -1.0 }).collect();
        Table { matrix: Arc::new(matrix), targets }
    }

    /// In m groups of equal size, by chance.
    fn grouped(&self, m: usize) -> Dataset {
        let rows = self.targets.len();
        let mut order: Vec<u32> = (0..rows as u32).collect();
        shuffle(&mut order, &mut Rng::seed_from_u64(2));
        let groups: Vec<Vec<u32>> =
            (0..m).map(|i| order[i * rows / m..(i + 1) * rows / m].to_vec()).collect();
        Dataset::new(self.matrix.clone(), self.targets.clone(), None, &groups).unwrap()
    }
}

struct Case {
    solver: Box<dyn Solver>,
    /// Rounds per measurement.
    chunk: u64,
    /// Draws per round.
    draws: f64,
    times: Vec<f64>,
}

impl Case {
    fn new(data: Dataset, algorithm: Algorithm, k: f64, storage: Storage, chunk: u64) -> Self {
        let (m, rounds) = (data.groups(), 10_000_000);
        let config =
            Config { storage, average: Some(Average::Uniform), ..Config::new(algorithm, rounds) };
        let config = match (algorithm, storage) {
            (Algorithm::AtkroK, Storage::Arrays) => {
                Config { subsets: Some(Subsets::DepRound), ..config }
            }
            _ => config,
        };
        let domain = Domain::new(L2Ball::new(1.0).unwrap()).with_intercept(1.0).unwrap();
        let constants = Constants { k, ..Constants::paper(1.0, 5.0, m) };
        let source = WithReplacement::new(data);
        let game = Game::top_k(m, k).with_ridge(1e-4);
        let mut solver = config.build(game, Logistic, source, domain, &constants, None).unwrap();
        solver.advance(chunk.min(100_000)).unwrap();
        let draws = if algorithm == Algorithm::AtkroK { k } else { 1.0 };
        Case { solver, chunk, draws, times: Vec::new() }
    }

    fn measure(&mut self) {
        let start = now();
        self.solver.advance(self.chunk).unwrap();
        let nanoseconds = (now() - start).as_nanos() as f64;
        self.times.push(nanoseconds / self.chunk as f64 / self.draws);
    }

    /// Median, least and most nanoseconds per draw.
    fn figures(&self) -> [f64; 3] {
        figures(&self.times)
    }
}

fn figures(times: &[f64]) -> [f64; 3] {
    let mut times = times.to_vec();
    times.sort_unstable_by(f64::total_cmp);
    [times[times.len() / 2], times[0], times[times.len() - 1]]
}

/// Measures all in turn, so that a disturbance meets all alike.
fn measure(cases: &mut [Case]) {
    for _ in 0..REPEATS {
        cases.iter_mut().for_each(Case::measure);
    }
}

fn groups(numbers: &[usize]) {
    let table = Table::new(1_000_000, 8, 8);
    println!("\n1e6 rows of 8 values; nanoseconds per draw: median (least to most)\n");
    println!(
        "| m | online-1 | arrays | atkro-1, k = m/3 up to 1000 | arrays | atkro-k, k = 10 (3 for m = 6) | arrays | log2 m dependent loads |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|");
    for m in numbers.iter().copied() {
        let data = table.grouped(m);
        let slow = (40_000_000 / m as u64).clamp(20, 100_000);
        let top = (m as f64 / 3.0).min(1000.0);
        let few = if m < 20 { 3.0 } else { 10.0 };
        let settings =
            [(Algorithm::Online1, 1.0), (Algorithm::Atkro1, top), (Algorithm::AtkroK, few)];
        let mut cases = Vec::new();
        for (algorithm, k) in settings {
            cases.push(Case::new(data.clone(), algorithm, k, Storage::Automatic, 200_000));
            cases.push(Case::new(data.clone(), algorithm, k, Storage::Arrays, slow));
        }
        measure(&mut cases);
        let shown: Vec<String> = cases.iter().map(|case| show(case.figures())).collect();
        println!("| {m} | {} | {} |", shown.join(" | "), show(loads(m)));
    }
}

fn show([median, least, most]: [f64; 3]) -> String {
    format!("{median:.0} ({least:.0} to {most:.0})")
}

/// Walks down a binary tree of m leaves by chance.
fn loads(m: usize) -> [f64; 3] {
    let size = m.next_power_of_two();
    let mut rng = Rng::seed_from_u64(4);
    let tree: Vec<f64> = (0..2 * size).map(|_| unit(&mut rng)).collect();
    let once = || {
        let start = now();
        let (mut target, count) = (0.3, 1_000_000);
        for _ in 0..count {
            let mut at = 1;
            while at < size {
                // The next address needs this value.
                target = (target + tree[at]) * 1.618;
                target -= f64::from(target as u32);
                at = 2 * at + usize::from(target < 0.5);
            }
        }
        black_box(target);
        (now() - start).as_nanos() as f64 / f64::from(count)
    };
    figures(&(0..REPEATS).map(|_| once()).collect::<Vec<_>>())
}

fn features() {
    println!("\n1e5 rows of 50 values, 6 groups, online-1; nanoseconds per round\n");
    println!("| d | round | arrays | 50 random reads and writes of 16 bytes |");
    println!("|---:|---:|---:|---:|");
    for d in [1000, 10_000, 100_000, 1_000_000] {
        let data = Table::new(100_000, d, 50).grouped(6);
        let slow = (40_000_000 / d as u64).clamp(20, 100_000);
        let case =
            |storage, chunk| Case::new(data.clone(), Algorithm::Online1, 1.0, storage, chunk);
        let mut cases = [case(Storage::Automatic, 200_000), case(Storage::Arrays, slow)];
        measure(&mut cases);
        let [fast, arrays] = cases.map(|case| show(case.figures()));
        println!("| {d} | {fast} | {arrays} | {} |", show(touches(d)));
    }
}

/// Reads and writes 50 cells at random places, which do not depend on each other.
fn touches(d: usize) -> [f64; 3] {
    let mut rng = Rng::seed_from_u64(5);
    let mut cells = vec![[1.0, 0.0]; d];
    let places: Vec<u32> = (0..50_000_000).map(|_| below(&mut rng, d) as u32).collect();
    let mut once = || {
        let start = now();
        for line in places.chunks_exact(50) {
            let sum: f64 = line.iter().map(|j| cells[*j as usize][0]).sum();
            for j in line {
                cells[*j as usize][1] += sum;
            }
        }
        (now() - start).as_nanos() as f64 / (places.len() / 50) as f64
    };
    let times: Vec<f64> = (0..REPEATS).map(|_| once()).collect();
    black_box(&cells);
    figures(&times)
}

/// Online(1)'s part of a round that concerns the group weights.
fn weights(mut q: impl GroupWeights) -> [f64; 3] {
    let mut rng = Rng::seed_from_u64(6);
    let mut once = || {
        let (start, rounds) = (now(), 1_000_000);
        for _ in 0..rounds {
            let group = q.draw(&mut rng);
            let gain = -0.5 * unit(&mut rng) / (q.get(group) + 1e-3);
            q.accumulate(1.0);
            q.step(1e-3, &[(group, gain)]);
        }
        (now() - start).as_nanos() as f64 / f64::from(rounds)
    };
    figures(&(0..REPEATS).map(|_| once()).collect::<Vec<_>>())
}

/// Both forms where they are about equally fast.
fn switch() {
    println!("\nGroup weights alone: a draw, a gain, the average; nanoseconds\n");
    println!("| m | arrays | tree | arrays, k = m/3 | tree, k = m/3 |\n|---:|---:|---:|---:|---:|");
    for m in [4, 8, 16, 32, 64, 128, 256] {
        let cap = m as f64 / 3.0;
        let forms = [
            weights(Plain::new(m, 1.0).unwrap()),
            weights(Tree::new(m).unwrap()),
            weights(Plain::new(m, cap.max(1.0)).unwrap()),
            weights(CappedTree::new(m, cap.max(1.0)).unwrap()),
        ];
        println!("| {m} | {} |", forms.map(show).join(" | "));
    }
    println!("\nonline-1, 6 groups, nanoseconds per round by d and stored values\n");
    println!("| d | stored | arrays | lazy |\n|---:|---:|---:|---:|");
    for (d, stored) in [10, 30, 105, 300, 1000]
        .into_iter()
        .flat_map(|d| [(d, d / 10), (d, d / 5), (d, d / 3), (d, d / 2), (d, d)])
    {
        let data = Table::new(20_000, d, stored).grouped(6);
        let case = |storage| Case::new(data.clone(), Algorithm::Online1, 1.0, storage, 100_000);
        let mut cases = [case(Storage::Arrays), case(Storage::Sublinear)];
        measure(&mut cases);
        let [arrays, lazy] = cases.map(|case| show(case.figures()));
        println!("| {d} | {stored} | {arrays} | {lazy} |");
    }
}
