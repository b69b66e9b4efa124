//! What the parts of a round cost: loss, scores, steps, draws.
//!
//! `cargo bench -p gdro --bench kernels` prints times in turns, each group beside its first line,
//! and then criterion's own estimates of the same.

mod adult;
mod common;

use std::hint::black_box;
use std::time::Duration;

use common::{Work, alternate};
use criterion::Criterion;
use gdro::Dataset;
use gdro::domain::{Domain, L2Ball};
use gdro::group_weights::{GroupWeights, Plain};
use gdro::iterate::{Dense, Gradient, Iterate, Lazy, scores};
use gdro::loss::{Logistic, Loss};
use gdro::sampling::{Rng, below, unit};
use gdro::source::{Source, WithReplacement};
use rand::{Rng as _, SeedableRng};
use rand_distr::{Distribution as _, StandardNormal};

/// Numbers, rows or draws of one call.
const N: usize = 1024;

/// Value and slope of the logistic loss by the standard library's functions.
fn standard(z: f64) -> (f64, f64) {
    let e = (-z.abs()).exp();
    let tail = if z >= 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) };
    ((-z).max(0.0) + e.ln_1p(), -tail)
}

/// Loss and slope at normal scores.
fn losses(values: &[f64]) -> Vec<Work<'_>> {
    let ours = || {
        let mut slope = [0.0];
        let value = |z: &f64| Logistic.slope(&[*z], 1.0, &mut slope).map_or(0.0, |v| v + slope[0]);
        black_box(values.iter().map(value).sum::<f64>());
    };
    let library = || {
        let value = |z: &f64| standard(*z).0 + standard(*z).1;
        black_box(values.iter().map(value).sum::<f64>());
    };
    let n = values.len() as f64;
    vec![Work::new("exp and ln_1p of std", n, library), Work::new("Logistic::slope", n, ours)]
}

/// Scores and steps of rows of Adult's shape, at random.
fn points<'a>(data: &'a Dataset, source: &'a mut WithReplacement) -> Vec<Work<'a>> {
    let mut rng = Rng::seed_from_u64(2);
    let rows: Vec<_> = (0..N).map(|i| source.draw(i % 6, &mut rng).expect("a row")).collect();
    let source = &*source;
    let domain = Domain::new(L2Ball::new(4.0).expect("a valid ball"));
    let weights = vec![0.1; data.features()];
    let product = {
        let rows = rows.clone();
        move || {
            let mut out = [0.0];
            for row in &rows {
                scores(&weights, data.features(), source.get(*row).x, &mut out);
                black_box(out);
            }
        }
    };
    let mut works = vec![Work::new("scores", N as f64, product)];
    let lazy = Lazy::new(&domain, data.features(), 1).expect("steps in a ball are lazy");
    works.push(step("scores, step, average: lazy", lazy, &rows, source));
    let dense = Dense::new(domain, data.features(), 1);
    works.push(step("scores, step, average: arrays", dense, &rows, source));
    works
}

/// What a round asks of a point.
fn step<'a>(
    name: &'static str,
    mut point: impl Iterate + 'a,
    rows: &[gdro::source::Handle],
    source: &'a WithReplacement,
) -> Work<'a> {
    let rows = rows.to_vec();
    let mut gradient = Gradient::new(1, 1);
    Work::new(name, N as f64, move || {
        let mut out = [0.0];
        for row in &rows {
            point.scores(source.get(*row).x, &mut out);
            gradient.clear();
            gradient.push(*row, 1.0, &[-0.1 - 1e-6 * out[0]]);
            point.accumulate(1.0);
            point.step(1e-3, 0.0, &gradient, source);
        }
    })
}

/// A step of six weights and a draw by them.
fn groups<'a>() -> Vec<Work<'a>> {
    let mut rng = Rng::seed_from_u64(3);
    let mut q = Plain::new(6, 1.0).expect("six groups");
    let play = move || {
        for _ in 0..N {
            let i = q.draw(&mut rng);
            q.accumulate(1.0);
            q.step(1e-3, &[(i, -unit(&mut rng) / q.get(i))]);
        }
    };
    vec![Work::new("six weights: draw, average, step", N as f64, play)]
}

fn normals(out: &mut [f64], rng: &mut Rng) {
    out.iter_mut().for_each(|v| *v = StandardNormal.sample(rng));
}

/// Random numbers.
fn numbers<'a>() -> Vec<Work<'a>> {
    let [mut a, mut b, mut c] = [4, 5, 6].map(Rng::seed_from_u64);
    let mut out = vec![0.0; N];
    vec![
        Work::new("64 bits", N as f64, move || {
            black_box((0..N).fold(0, |all, _| all ^ a.next_u64()));
        }),
        Work::new("an index", N as f64, move || {
            black_box((0..N).fold(0, |all, _| all ^ below(&mut b, 27_020)));
        }),
        Work::new("a normal", N as f64, move || normals(&mut out, &mut c)),
    ]
}

fn main() {
    let data = adult::rows(1);
    let mut source = WithReplacement::new(data.clone());
    let mut values = vec![0.0; N];
    normals(&mut values, &mut Rng::seed_from_u64(1));
    let mut criterion = Criterion::default().configure_from_args();
    let kinds = [
        ("losses", losses(&values)),
        ("points", points(&data, &mut source)),
        ("groups", groups()),
        ("numbers", numbers()),
    ];
    for (title, mut works) in kinds {
        alternate(title, &mut works, 201, Duration::from_millis(1));
        let mut group = criterion.benchmark_group(title);
        for work in &mut works {
            group.bench_function(work.name, |b| b.iter(|| (work.run)()));
        }
        group.finish();
    }
    criterion.final_summary();
}
