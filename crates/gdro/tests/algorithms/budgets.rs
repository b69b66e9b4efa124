//! Budgets are hard limits for every algorithm; draws with replacement follow the row weights.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use crate::common::{self, Kind, OVERLAPPING, Table, config, constants, forms, table};
use gdro::Error;
use gdro::algorithm::Algorithm;
use gdro::config::Config;
use gdro::dataset::Sample;
use gdro::domain::{Domain, L2Ball};
use gdro::estimator::MiniBatch;
use gdro::game::Game;
use gdro::loss::Logistic;
use gdro::risk::group_risks;
use gdro::run::{Cadence, Outcome, Solver, drive};
use gdro::sampling::Rng;
use gdro::source::{OnceEach, Source, WithReplacement};
use rand::SeedableRng;

fn rows() -> Table {
    table(6, 200, 3, Kind::Logistic, false, &OVERLAPPING)
}

fn solver(
    (algorithm, anytime, k): (Algorithm, bool, f64),
    budgets: &[u64],
    rounds: u64,
) -> Box<dyn Solver> {
    let source = OnceEach::new(rows().dense(false), Some(budgets), 1).unwrap();
    let form = config((algorithm, anytime, k), rounds, (1.0, 1.0), budgets);
    let config = Config { seed: 2, ..form };
    let domain = Domain::new(L2Ball::new(1.0).unwrap());
    let constants = constants(0.5, 1.0, 3, k);
    config.build(Game::top_k(3, k), Logistic, source, domain, &constants, Some(budgets)).unwrap()
}

#[test]
fn every_row_is_visited_at_most_once_per_group() {
    let data = rows().dense(false);
    let budgets = [100, 60, 7];
    let mut source = OnceEach::new(data.clone(), Some(&budgets), 3).unwrap();
    let mut rng = Rng::seed_from_u64(0);
    for (group, budget) in budgets.into_iter().enumerate() {
        let mut seen = Vec::new();
        for left in (0..budget).rev() {
            seen.push(source.draw(group, &mut rng).unwrap().0 as u32);
            assert_eq!(source.remaining(group), Some(left));
        }
        let error = source.draw(group, &mut rng).unwrap_err();
        assert!(matches!(error, Error::BudgetExhausted { group: g, budget: b }
            if g == group && b == budget));
        assert!(seen.iter().all(|r| data.members(group).contains(r)));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len() as u64, budget, "group {group}");
    }
}

#[test]
fn the_order_is_that_of_the_seed() {
    let order = |seed| {
        let mut source = OnceEach::new(rows().dense(false), None, seed).unwrap();
        let mut rng = Rng::seed_from_u64(0);
        (0..50).map(|_| source.draw(2, &mut rng).unwrap().0).collect::<Vec<_>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn budgets_out_of_range_are_refused() {
    let make = |budgets: &[u64]| OnceEach::new(rows().dense(false), Some(budgets), 0);
    assert!(matches!(make(&[1, 1]), Err(Error::Length { .. })));
    assert!(matches!(make(&[121, 1, 1]), Err(Error::Parameter { .. })));
    assert!(matches!(make(&[1, 0, 1]), Err(Error::Parameter { .. })));
    assert!(OnceEach::new(rows().dense(true), None, 0).is_err(), "weights are refused");
}

/// Those that go on without the groups whose budget is used up.
const GO_ON: [Algorithm; 2] = [Algorithm::SmdR, Algorithm::SmdRWeighted];

/// Far more rounds than the budgets allow: no algorithm draws more than it may, and all but SMD_r
/// say which group ran dry. SMD_r goes on without it.
#[test]
fn no_algorithm_exceeds_a_budget() {
    let budgets = [90, 40, 25];
    for form in forms() {
        let mut solver = solver(form, &budgets, 40);
        let result = solver.advance(1000);
        let within = |s: &dyn Solver| s.samples().iter().zip(budgets).all(|(n, b)| *n <= b);
        assert!(within(&*solver), "{form:?}: {:?}", solver.samples());
        if GO_ON.contains(&form.0) {
            result.unwrap();
            assert_eq!(solver.samples(), budgets);
            continue;
        }
        let Err(Error::BudgetExhausted { group, budget }) = result else {
            panic!("{form:?}: {result:?}");
        };
        assert_eq!((budget, solver.samples()[group]), (budgets[group], budgets[group]));
        assert!(solver.model().iter().chain(&solver.weights()).all(|v| v.is_finite()));
        // It stays that way, and nothing more is drawn from the group.
        let rounds = solver.rounds();
        assert!(solver.advance(1000).is_err() && within(&*solver));
        assert!(solver.rounds() >= rounds);
    }
}

/// A run under [`drive`] ends with an outcome, not with an error.
#[test]
fn exhaustion_is_an_outcome_of_a_driven_run() {
    let mut solver = solver((Algorithm::SmdM, false, 1.0), &[90, 40, 25], 1000);
    let never = AtomicBool::new(false);
    let mut observer = |_: &dyn Solver| Ok(ControlFlow::Continue(()));
    let outcome = drive(&mut *solver, 1000, Cadence::Every(3), &never, &mut observer).unwrap();
    assert_eq!(outcome, Outcome::Exhausted { group: 2, budget: 25 });
    // 25 whole rounds; the samples of the broken one are counted as well.
    assert_eq!(solver.rounds(), 25);
    assert_eq!(solver.samples(), [26, 26, 25]);
}

/// A broken round leaves averages and rounds where they were.
#[test]
fn a_broken_round_does_not_count() {
    for form in forms().into_iter().filter(|f| !GO_ON.contains(&f.0)) {
        let budgets = [90, 40, 25];
        let mut whole = solver(form, &budgets, 40);
        whole.advance(1000).unwrap_err();
        let mut up_to = solver(form, &budgets, 40);
        up_to.advance(whole.rounds()).unwrap();
        assert_eq!(whole.model(), up_to.model(), "{form:?}");
        assert_eq!(whole.weights(), up_to.weights(), "{form:?}");
    }
}

#[test]
fn smd_r_plays_n_1_rounds_within_the_budgets() {
    let budgets = [120, 60, 50];
    let mut solver = solver((Algorithm::SmdR, false, 1.0), &budgets, 120);
    solver.advance(120).unwrap();
    assert_eq!(solver.samples()[0], 120);
    for (group, n) in budgets.into_iter().enumerate().skip(1) {
        // Binomial with mean n_i, capped at n_i: five standard deviations below is 3e-7.
        let spread = (n as f64 * (1.0 - n as f64 / 120.0)).sqrt();
        let drawn = solver.samples()[group];
        assert!(drawn <= n && drawn as f64 >= n as f64 - 5.0 * spread, "{drawn} of {n}");
    }
}

#[test]
fn smpa_m_uses_its_budgets_up_but_for_what_unused_says() {
    let budgets = [107, 60, 25];
    let rounds = 12;
    let mut solver = solver((Algorithm::SmpaM, false, 1.0), &budgets, rounds);
    solver.advance(rounds).unwrap();
    let estimator = MiniBatch::new(&budgets).unwrap();
    assert_eq!(estimator.batches(), [4, 2, 1]);
    let unused = estimator.unused(&budgets, rounds);
    assert_eq!(unused, [11, 12, 1]);
    for ((n, used), unused) in budgets.iter().zip(solver.samples()).zip(&unused) {
        assert_eq!(used + unused, *n);
    }
    // Adult's budgets in the paper: n_i/n_m is not an integer.
    let adult = [26656, 11519, 1780, 1720, 999, 364];
    let estimator = MiniBatch::new(&adult).unwrap();
    assert_eq!(estimator.batches(), [73, 31, 4, 4, 2, 1]);
    assert_eq!(estimator.unused(&adult, 182), [84, 235, 324, 264, 271, 0]);
}

/// The bits of a sample's first feature, which tell the rows of these tests apart.
fn first_feature(sample: Sample<'_>) -> u64 {
    let mut first = None;
    sample.x.for_each(|_, value| first = first.or(Some(value.to_bits())));
    first.expect("a row with features")
}

/// χ² over the rows of a group with at most 60 rows: the bound is the 1 − 1e-6 quantile for 59
/// degrees of freedom, 124.2 (Wilson–Hilferty).
#[test]
fn draws_with_replacement_follow_the_row_weights() {
    let mut weighted = rows();
    weighted.weights = (0..200).map(|r| [0.0, 1.0, 2.0, 0.25, 7.0][r % 5]).collect();
    let all = [
        (weighted.dense(true), false),
        (weighted.sparse(true), false),
        (rows().dense(false), true),
        (rows().sparse(false), true),
    ];
    for (data, even) in all {
        let by_row = (0..200).map(|row| (first_feature(data.sample(row)), row));
        let rows_by_feature: HashMap<_, _> = by_row.collect();
        assert_eq!(rows_by_feature.len(), 200);
        for group in [1, 2] {
            let mut source = WithReplacement::new(data.clone());
            let mut rng = Rng::seed_from_u64(group as u64);
            let mut counts = [0f64; 200];
            let draws = 200_000;
            for _ in 0..draws {
                let handle = source.draw(group, &mut rng).unwrap();
                let sample = source.get(handle);
                let row = rows_by_feature[&first_feature(sample)];
                counts[row] += 1.0;
                assert_eq!(sample, data.sample(row));
                assert_eq!(source.size(handle).norm_squared, sample.x.norm_squared());
            }
            let mut chi2 = 0.0;
            for row in 0..200u32 {
                let count = counts[row as usize];
                let share = if even { 1.0 } else { data.weight(row as usize) };
                let expected = draws as f64 * share / data.total_weight(group);
                if !data.members(group).contains(&row) || expected == 0.0 {
                    assert_eq!(count, 0.0, "row {row}");
                } else {
                    chi2 += (count - expected).powi(2) / expected;
                }
            }
            assert!(chi2 < 124.2, "group {group}: χ² = {chi2}");
        }
    }
}

/// Also when the rows of weight 0 are the first and the last ones.
#[test]
fn rows_of_weight_0_are_never_drawn() {
    let mut rows = rows();
    rows.weights = (0..200).map(|r| if r == 155 || r == 170 { 1e-3 } else { 0.0 }).collect();
    rows.groups = vec![(150..200).collect()];
    let data = rows.dense(true);
    let allowed = [155, 170].map(|row| first_feature(data.sample(row)));
    let mut source = WithReplacement::new(data);
    let mut rng = Rng::seed_from_u64(0);
    for _ in 0..10_000 {
        let handle = source.draw(0, &mut rng).unwrap();
        assert!(allowed.contains(&first_feature(source.get(handle))));
    }
}

#[test]
fn weight_2_is_a_duplicated_row_in_exact_risk() {
    let mut weighted = rows();
    weighted.weights = (0..200).map(|r| if r % 3 == 0 { 2.0 } else { 1.0 }).collect();
    let mut doubled = rows();
    let copies = |r: &u32| vec![*r; if r.is_multiple_of(3) { 2 } else { 1 }];
    doubled.groups = doubled.groups.iter().map(|g| g.iter().flat_map(copies).collect()).collect();
    let w = [0.3, -1.0, 0.7];
    let a = group_risks(&Logistic, &w, &weighted.dense(true)).unwrap();
    let b = group_risks(&Logistic, &w, &doubled.dense(false)).unwrap();
    assert!(common::distance(&a, &b) < 1e-15);
}
