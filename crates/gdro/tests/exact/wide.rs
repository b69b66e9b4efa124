//! Certificates of models with more numbers than a matrix is formed for.

use std::sync::Arc;

use gdro::certificate::certify;
use gdro::domain::{AnyMap, Domain, DomainSpec};
use gdro::exact::{Goal, Options, Problem, minimize};
use gdro::game::Game;
use gdro::loss::Softmax;
use gdro::risk::group_risks;
use gdro::{Dataset, Matrix};

const CLASSES: usize = 60;
const FEATURES: usize = 24;
const ROWS: usize = 600;

/// Rows around a centre for each class, in `m` groups of different spread.
fn rows(m: usize) -> Dataset {
    let mut state = 12345u64;
    let mut unit = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let centres: Vec<f64> = (0..CLASSES * FEATURES).map(|_| 3.0 * unit()).collect();
    let mut x = Vec::new();
    let mut y = Vec::new();
    for row in 0..ROWS {
        let class = row * 7 % CLASSES;
        let spread = 1.0 + (row % m) as f64;
        x.extend(centres[class * FEATURES..][..FEATURES].iter().map(|c| c + spread * unit()));
        y.push(class as f64);
    }
    let groups: Vec<Vec<u32>> =
        (0..m).map(|i| (0..ROWS as u32).filter(|r| *r as usize % m == i).collect()).collect();
    Dataset::new(Arc::new(Matrix::dense(FEATURES, x).unwrap()), y, None, &groups).unwrap()
}

/// Far from the optimum a bound is refined until what it lacks is small beside the gap: it lies
/// below the optimum of another path to it, closely, and no model goes below it.
#[test]
fn bounds_are_as_fine_as_the_gap_needs() {
    let loss = Softmax::new(CLASSES).unwrap();
    let domain = Domain::new(DomainSpec::Free.map().unwrap()).with_intercept(100.0).unwrap();
    for m in [1, 3] {
        let data = rows(m);
        let game = Game::gdro(m).with_ridge(1e-3);
        let goal = if m == 1 { Goal::Fixed(vec![1.0]) } else { Goal::Adversary };
        let problem: Problem<'_, AnyMap> =
            Problem { game: &game, domain: &domain, features: FEATURES, outputs: CLASSES, goal };
        let zero = vec![0.0; (FEATURES + 1) * CLASSES];
        let q = vec![1.0 / m as f64; m];
        let rough = certify(&data, &loss, &problem, &zero, &q, None, 12).unwrap();
        assert!((rough.upper - (CLASSES as f64).ln()).abs() < 1e-9, "{rough:?}");

        // The balanced optimum: a model for both, and for m = 1 the optimum itself.
        let fixed = Problem { goal: Goal::Fixed(q.clone()), ..problem.clone() };
        let options = Options { tolerance: 1e-9, ..Options::default() };
        let best = minimize(&data, &loss, &fixed, &options).unwrap();
        assert!(best.gap() < 1e-8, "{}", best.gap());
        let risks = group_risks(&loss, &best.w, &data).unwrap();
        let square: f64 = best.w[..FEATURES * CLASSES].iter().map(|v| v * v).sum();
        let upper = game.objective(&risks) + 5e-4 * square;
        assert!(rough.lower <= upper + 1e-9, "m = {m}: {rough:?}, {upper}");
        // Dual ascent has only raised the bound of the weights it started from.
        assert!(rough.lower >= best.upper - 0.03 * rough.gap, "m = {m}: {rough:?}, {}", best.upper);
        let near = certify(&data, &loss, &problem, &best.w, &q, None, 0).unwrap();
        assert!((near.lower - best.upper).abs() <= 0.03 * near.gap + 1e-7, "{near:?}");
    }
}
