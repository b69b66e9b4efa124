//! Lazy points against dense ones.

use std::sync::Arc;

use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_oneof, proptest};
use rand::SeedableRng as _;

use super::Lazy;
use crate::dataset::Dataset;
use crate::domain::{AnyMap, BoxSet, Cube, Domain, L1Ball, L2Ball, MirrorMap, PNormBall, Simplex};
use crate::iterate::{Dense, Gradient, Iterate};
use crate::row::Matrix;
use crate::sampling::{Rng, below, unit};
use crate::source::{Handle, Source as _, WithReplacement};

const FEATURES: usize = 30;
const ROWS: usize = 50;

/// Rows of 0 to 8 values; half of them dense in a second source.
fn source(sparse: bool) -> WithReplacement {
    let mut rng = Rng::seed_from_u64(5);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..ROWS {
        let mut columns: Vec<u32> =
            (0..row % 9).map(|_| below(&mut rng, FEATURES) as u32).collect();
        columns.sort_unstable();
        columns.dedup();
        values.extend(columns.iter().map(|_| 2.0 * unit(&mut rng) - 1.0));
        indices.extend(columns);
        starts.push(values.len());
    }
    let matrix = if sparse {
        Matrix::sparse(FEATURES, starts, indices, values).unwrap()
    } else {
        let mut dense = vec![0.0; ROWS * FEATURES];
        for row in 0..ROWS {
            for at in starts[row]..starts[row + 1] {
                dense[row * FEATURES + indices[at] as usize] = values[at];
            }
        }
        Matrix::dense(FEATURES, dense).unwrap()
    };
    let all = vec![(0..ROWS as u32).collect()];
    WithReplacement::new(Dataset::new(Arc::new(matrix), vec![1.0; ROWS], None, &all).unwrap())
}

/// The sets, for so many weights.
fn map(which: usize, weights: usize) -> AnyMap {
    match which {
        0 => AnyMap::L2Ball(L2Ball::unconstrained()),
        1 => AnyMap::L2Ball(L2Ball::new(0.8).unwrap()),
        2 => AnyMap::L2Ball(L2Ball::new(50.0).unwrap()),
        3 => AnyMap::Cube(Cube::new(-0.3, 0.5).unwrap()),
        4 => AnyMap::Cube(Cube::new(0.0, 1.0).unwrap()),
        _ => {
            let low: Vec<f64> = (0..weights).map(|j| -(j as f64) / weights as f64).collect();
            let high: Vec<f64> = (0..weights).map(|j| 0.1 * (j % 4) as f64).collect();
            AnyMap::BoxSet(BoxSet::from_bounds(&low, &high).unwrap())
        }
    }
}

const MAPS: usize = 6;

fn domain(which: usize, weights: usize, intercept: bool) -> Domain<AnyMap> {
    let domain = Domain::new(map(which, weights));
    if intercept { domain.with_intercept(0.7).unwrap() } else { domain }
}

/// The largest difference of two numbers.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn point(w: &impl Iterate) -> Vec<f64> {
    let mut out = vec![0.0; w.len()];
    w.write(&mut out);
    out
}

fn mean(w: &impl Iterate) -> Vec<f64> {
    let mut out = vec![0.0; w.len()];
    w.write_average(&mut out);
    out
}

/// What may be done to a point.
#[derive(Clone, Debug)]
enum Act {
    /// Step, ridge, and terms: rows and the coefficient of the first output.
    Step(f64, f64, Vec<(usize, f64)>),
    Accumulate(f64),
    Restart,
    Resume,
    /// To where another point is after such a step.
    Jump(usize, f64),
    /// Anew, from where another point is after such a step.
    Start(usize, f64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let size = prop_oneof![20 => -1.0..1.0f64, 2 => -30.0..30.0f64, 1 => -1e6..1e6f64];
    let ridge = prop_oneof![Just(0.0), 0.0..0.3f64, Just(3.0)];
    let terms = prop::collection::vec((0..ROWS, size), 0..4);
    let step = (0.01..1.0f64, ridge, terms).prop_map(|(eta, l, terms)| Act::Step(eta, l, terms));
    let act = prop_oneof![
        12 => step,
        10 => (0.1..2.0f64).prop_map(Act::Accumulate),
        1 => Just(Act::Restart),
        1 => Just(Act::Resume),
        1 => (0..ROWS, -2.0..2.0f64).prop_map(|(row, by)| Act::Jump(row, by)),
        1 => (0..ROWS, -2.0..2.0f64).prop_map(|(row, by)| Act::Start(row, by)),
    ];
    prop::collection::vec(act, 1..120)
}

fn gradient(outputs: usize, terms: &[(usize, f64)]) -> Gradient {
    let mut gradient = Gradient::new(outputs, terms.len());
    for (row, size) in terms {
        let slope: Vec<f64> = (0..outputs).map(|o| size * (1.0 - 0.4 * o as f64)).collect();
        gradient.push(Handle(*row), 1.0, &slope);
    }
    gradient
}

fn agrees(
    domain: &Domain<AnyMap>,
    outputs: usize,
    sparse: bool,
    acts: &[Act],
) -> Result<(), String> {
    let source = source(sparse);
    let mut dense = Dense::new(domain.clone(), FEATURES, outputs);
    let mut lazy = Lazy::new(domain, FEATURES, outputs).unwrap();
    // Averages are compared relative to the largest point that went in: that is what the dense
    // form's own rounding is relative to.
    let mut largest = 1f64;
    // The lazy form's average is also rounded relative to the longest step before its projection.
    let mut reach = 0f64;
    for (at, act) in acts.iter().enumerate() {
        match act {
            Act::Step(eta, ridge, terms) => {
                let mut gradient = gradient(outputs, terms);
                // A single term may come with its score, as in a round.
                if let ([(row, size)], 1, true) = (&terms[..], outputs, at % 2 == 0) {
                    let score = lazy.score(source.get(Handle(*row)).x);
                    gradient.clear();
                    gradient.push_at(Handle(*row), 1.0, *size, score);
                }
                reach = terms.iter().fold(reach, |a, (_, size)| a.max((eta * size).abs()));
                dense.step(*eta, *ridge, &gradient, &source);
                lazy.step(*eta, *ridge, &gradient, &source);
            }
            Act::Accumulate(weight) => {
                dense.accumulate(*weight);
                lazy.accumulate(*weight);
            }
            Act::Restart => {
                dense.restart_average();
                lazy.restart_average();
            }
            Act::Resume => {
                let mut other = Lazy::new(domain, FEATURES, outputs).unwrap();
                other.step(0.5, 0.1, &gradient(outputs, &[(7, 1.0)]), &source);
                other.accumulate(2.0);
                other.restore(&lazy.save()).unwrap();
                if other.save() != lazy.save() {
                    return Err(format!("act {at}: another state after a checkpoint"));
                }
                lazy = other;
            }
            Act::Jump(row, by) => {
                let gradient = gradient(outputs, &[(*row, *by)]);
                let mut to = Dense::new(domain.clone(), FEATURES, outputs);
                to.step(1.0, 0.1, &gradient, &source);
                dense.jump_to(&to);
                let mut to = Lazy::new(domain, FEATURES, outputs).unwrap();
                to.step(1.0, 0.1, &gradient, &source);
                lazy.jump_to(&to);
            }
            Act::Start(row, by) => {
                let mut to = Dense::new(domain.clone(), FEATURES, outputs);
                to.step(1.0, 0.1, &gradient(outputs, &[(*row, *by)]), &source);
                dense.start_at(&point(&to));
                lazy.start_at(&point(&to));
                if mean(&lazy) != point(&to) {
                    return Err(format!("act {at}: an average of what was before"));
                }
            }
        }
        let (a, b) = (point(&lazy), point(&dense));
        largest = b.iter().fold(largest, |a, v| a.max(v.abs()));
        let off = distance(&a, &b).max(distance(&mean(&lazy), &mean(&dense)));
        if off.is_nan() || off > 1e-11 * largest + 1e-13 * reach {
            return Err(format!("act {at}, {act:?}: off by {off}: {a:?} is not {b:?}"));
        }
        let (mut s, mut t) = (vec![0.0; outputs], vec![0.0; outputs]);
        for row in 0..ROWS {
            let x = source.get(Handle(row)).x;
            lazy.scores(x, &mut s);
            dense.scores(x, &mut t);
            let off = distance(&s, &t);
            lazy.average_scores(x, &mut s);
            dense.average_scores(x, &mut t);
            if off.max(distance(&s, &t)) > 1e-10 * largest + 1e-12 * reach {
                return Err(format!("act {at}: scores"));
            }
        }
        let from: Vec<f64> = (0..a.len()).map(|j| j as f64).collect();
        if (lazy.distance(&from) - dense.distance(&from)).abs() > 1e-9 * largest {
            return Err(format!("act {at}: distance"));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_lazy_point_is_a_dense_one(
        which in 0..MAPS,
        outputs in 1usize..4,
        intercept in any::<bool>(),
        sparse in any::<bool>(),
        acts in acts(),
    ) {
        let domain = domain(which, FEATURES * outputs, intercept);
        let result = agrees(&domain, outputs, sparse, &acts);
        prop_assert!(result.is_ok(), "set {which}: {}", result.unwrap_err());
    }
}

#[test]
fn other_sets_have_no_lazy_form() {
    let domains = [
        AnyMap::Simplex(Simplex::new(1.0).unwrap()),
        AnyMap::PNormBall(PNormBall::new(1.5, 1.0).unwrap()),
        AnyMap::L1Ball(L1Ball::new(1.0).unwrap()),
        AnyMap::Cube(Cube::new(0.1, 1.0).unwrap()),
        AnyMap::BoxSet(BoxSet::from_bounds(&[-1.0, 0.5], &[1.0, 2.0]).unwrap()),
    ];
    for map in domains {
        assert!(map.euclidean().is_none() || Lazy::new(&Domain::new(map), 2, 1).is_none());
    }
}

/// A million rounds of noisy gradients that push outwards, with steps that fall or not, uniform and
/// weighted and suffix averages.
#[test]
fn lazy_points_equal_dense_ones_after_a_million_rounds() {
    let source = source(true);
    for (which, ridge, falls) in
        [(1, 0.0, false), (1, 1e-3, true), (2, 0.0, false), (0, 1e-2, false), (0, 0.0, true)]
            .into_iter()
            .chain([(3, 0.0, false), (3, 1e-2, true), (5, 1e-3, false)])
    {
        let domain = domain(which, FEATURES, true);
        let mut dense = Dense::new(domain.clone(), FEATURES, 1);
        let mut lazy = Lazy::new(&domain, FEATURES, 1).unwrap();
        let mut rng = Rng::seed_from_u64(9);
        let mut gradient = Gradient::new(1, 1);
        let (rounds, mut worst) = (1_000_000u32, 0f64);
        for t in 1..=rounds {
            gradient.clear();
            let row = below(&mut rng, ROWS);
            let slope = 2.0 * unit(&mut rng) - 0.9;
            // With the score in three of four rounds.
            if t % 4 == 0 {
                gradient.push(Handle(row), 1.0, &[slope]);
            } else {
                let score = lazy.score(source.get(Handle(row)).x);
                gradient.push_at(Handle(row), 1.0, slope, score);
            }
            let by = if falls { 1.0 / f64::from(t).sqrt() } else { 0.01 };
            dense.accumulate(by);
            lazy.accumulate(by);
            dense.step(by, ridge, &gradient, &source);
            lazy.step(by, ridge, &gradient, &source);
            // A suffix average starts anew at powers of 2.
            if t.is_power_of_two() && t <= rounds / 2 {
                worst = worst.max(distance(&mean(&lazy), &mean(&dense)));
                dense.restart_average();
                lazy.restart_average();
            }
        }
        let size = point(&dense).iter().fold(1.0, |a: f64, v| a.max(v.abs()));
        worst = worst.max(distance(&mean(&lazy), &mean(&dense)));
        worst = worst.max(distance(&point(&lazy), &point(&dense)));
        assert!(worst < 1e-9 * size, "set {which}, λ = {ridge}: off by {worst}");
    }
}
