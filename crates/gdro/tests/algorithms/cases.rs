//! Faults that people met in other tools for this job, at the level of the library.

use std::sync::Arc;

use crate::common::{self, Kind, OVERLAPPING, config, constants, forms, table};
use gdro::algorithm::{Algorithm, Constants, Gains, SampleBounds};
use gdro::config::Config;
use gdro::domain::{Domain, L2Ball};
use gdro::exact::{DatasetRisks, Goal, Options, Problem, solve};
use gdro::game::Game;
use gdro::group_weights::{GroupWeights, Plain, effective_groups};
use gdro::loss::{Logistic, Loss, Squared};
use gdro::risk::group_metrics;
use gdro::source::{Closure, WithReplacement};
use gdro::{Dataset, Error, Matrix, Result};

fn weights(q: &Plain) -> Vec<f64> {
    let mut out = vec![0.0; q.len()];
    q.write(&mut out);
    out
}

/// Rows of one feature.
fn rows(x: &[f64], y: &[f64], groups: &[Vec<u32>]) -> Dataset {
    let matrix = Matrix::dense(1, x.to_vec()).unwrap();
    Dataset::new(Arc::new(matrix), y.to_vec(), None, groups).unwrap()
}

/// Huge losses: a squared loss of 4e4 and far more in one group, for every algorithm.
#[test]
fn huge_losses_leave_all_weights_finite() {
    for size in [200.0, 1e20, 1e150] {
        let data = rows(&[1.0, 1.0, 1.0], &[size, 0.1, -0.1], &[vec![0], vec![1], vec![2]]);
        for (algorithm, anytime, k) in forms() {
            let config = config((algorithm, anytime, k), 100, (1.0, 50.0), &[1, 1, 1]);
            let domain = Domain::new(L2Ball::new(1.0).unwrap());
            let source = WithReplacement::new(data.clone());
            let constants = constants(0.5, 1.0, 3, k);
            let budgets = Some(&[1, 1, 1][..]);
            let game = Game::top_k(3, k);
            let mut solver =
                config.build(game, Squared, source, domain, &constants, budgets).unwrap();
            solver.advance(100).unwrap();
            let (mut w, mut q) = ([0.0], [0.0; 3]);
            solver.write_last(&mut w, &mut q);
            let label = format!("{algorithm} anytime {anytime} size {size}: {w:?} {q:?}");
            assert!(w[0].is_finite() && q.iter().all(|v| v.is_finite()), "{label}");
            assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{label}");
            assert!(solver.model()[0].is_finite() && w[0].abs() <= 1.0 + 1e-9, "{label}");
            // The bandit players see clipped losses, and count the clips.
            let bandit = algorithm.spec().gains == Gains::Bandit;
            assert_eq!(solver.clipped() > 0, bandit, "{label}");
        }
    }
}

/// A user's loss that is bad for one target.
#[derive(Clone, Debug)]
struct Bad(f64);

impl Loss for Bad {
    fn name(&self) -> &'static str {
        "bad"
    }

    fn value(&self, scores: &[f64], y: f64) -> Result<f64> {
        if y == 7.0 { Ok(self.0) } else { Squared.value(scores, y) }
    }

    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> Result<f64> {
        let value = Squared.slope(scores, y, slope)?;
        if y == 8.0 {
            return Err(Error::user("no such target"));
        }
        Ok(if y == 7.0 { self.0 } else { value })
    }

    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        Squared.hessian(scores, y, hessian);
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        Squared.conjugate(u, y)
    }

    fn accepts(&self, _y: f64) -> bool {
        true
    }

    fn expects(&self) -> String {
        "anything".into()
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        Squared.range(bound, target)
    }

    fn lipschitz(&self, bound: f64, target: f64) -> f64 {
        Squared.lipschitz(bound, target)
    }

    fn curvature(&self) -> f64 {
        2.0
    }

    fn correct(&self, _scores: &[f64], _y: f64) -> Option<bool> {
        None
    }
}

/// A source whose group 1 gives the target 7 from its fourth draw on.
fn turning(
    bad: f64,
) -> Closure<impl FnMut(usize, &mut gdro::sampling::Rng, &mut [f64]) -> Result<f64>> {
    let mut draws = 0;
    Closure::new(3, 1, move |group, _: &mut gdro::sampling::Rng, x: &mut [f64]| {
        x[0] = 1.0;
        if group == 1 {
            draws += 1;
            if draws >= 4 {
                return Ok(bad);
            }
        }
        Ok(0.5)
    })
}

#[test]
fn a_loss_that_is_not_finite_names_group_and_round() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let config = Config::new(Algorithm::SmdM, 100);
        let domain = Domain::new(L2Ball::new(1.0).unwrap());
        let constants = constants(0.5, 1.0, 3, 1.0);
        let mut solver = config
            .build(Game::gdro(3), Bad(value), turning(7.0), domain, &constants, None)
            .unwrap();
        let error = solver.advance(100).unwrap_err();
        let Error::NonFiniteLoss { group, round, value: found } = error else {
            panic!("{error}");
        };
        assert_eq!((group, round, solver.rounds()), (1, 4, 3));
        assert_eq!(found.to_bits(), value.to_bits());
        let text = Error::NonFiniteLoss { group, round, value }.to_string();
        assert!(text.contains("group 1") && text.contains("round 4"), "{text}");
        assert!(solver.model()[0].is_finite());
        assert!(solver.weights().iter().all(|q| q.is_finite()));
        // Evaluation of rows says so as well, with round 0.
        let data = rows(&[1.0, 1.0], &[0.0, 7.0], &[vec![0], vec![1]]);
        let error = group_metrics(&Bad(value), &[0.0], &data).unwrap_err();
        assert!(matches!(error, Error::NonFiniteLoss { group: 1, round: 0, .. }));
    }
}

#[test]
fn an_error_of_a_users_loss_is_passed_on() {
    let config = Config::new(Algorithm::SmdM, 100);
    let domain = Domain::new(L2Ball::new(1.0).unwrap());
    let constants = constants(0.5, 1.0, 3, 1.0);
    let mut solver =
        config.build(Game::gdro(3), Bad(0.0), turning(8.0), domain, &constants, None).unwrap();
    let error = solver.advance(100).unwrap_err();
    assert!(matches!(error, Error::User(_)) && error.to_string() == "no such target");
}

/// Mass returns: 8 rounds with losses (30, 0), then 200 with (0, 30), step 1. With and without cap.
#[test]
fn a_weight_that_vanished_comes_back() {
    let mut q = Plain::new(2, 1.0).unwrap();
    (0..8).for_each(|_| q.step(1.0, &[(0, 30.0), (1, 0.0)]));
    assert_eq!((q.get(0), q.get(1) > 0.0), (1.0, true));
    (0..200).for_each(|_| q.step(1.0, &[(0, 0.0), (1, 30.0)]));
    assert!(q.get(1) > 0.99);
    // Also after a weight that no number can hold, e^{−3000}.
    let mut q = Plain::new(3, 1.0).unwrap();
    (0..100).for_each(|_| q.step(1.0, &[(0, 30.0), (1, 0.0), (2, 29.0)]));
    assert_eq!(q.get(1), 0.0);
    (0..101).for_each(|_| q.step(1.0, &[(0, 0.0), (1, 30.0), (2, 0.0)]));
    assert!(q.get(1) > 0.99, "{:?}", weights(&q));
    let mut q = Plain::new(3, 1.5).unwrap();
    (0..100).for_each(|_| q.step(1.0, &[(0, 30.0), (1, 0.0), (2, 29.0)]));
    (0..400).for_each(|_| q.step(1.0, &[(0, 0.0), (1, 30.0), (2, 0.0)]));
    assert!((q.get(1) - 1.0 / 1.5).abs() < 1e-12, "{:?}", weights(&q));
}

/// An absent group is not a group with loss 0: nothing about it is known, and the ratios of the
/// others to it change by the gains of the others alone.
#[test]
fn groups_without_gains_keep_their_ratios() {
    for m in [3, 30] {
        let mut q = Plain::new(m, 1.0).unwrap();
        let all: Vec<(usize, f64)> = (0..m).map(|i| (i, (i as f64).sin())).collect();
        q.step(1.0, &all);
        let before = weights(&q);
        q.step(0.5, &[(1, 2.0)]);
        let after = weights(&q);
        let ratio = |w: &[f64], i: usize| w[i] / w[0];
        for i in 2..m {
            assert!((ratio(&after, i) / ratio(&before, i) - 1.0).abs() < 1e-14, "group {i}");
        }
        assert!((ratio(&after, 1) / ratio(&before, 1) - 1f64.exp()).abs() < 1e-14);
        // Nothing seen at all: nothing moves.
        q.step(0.5, &[]);
        assert!(common::distance(&weights(&q), &after) < 1e-16);
    }
}

/// All losses equal: q stays exactly uniform with full information, and no group dominates.
#[test]
fn equal_losses_keep_q_exactly_uniform() {
    for (algorithm, k) in [(Algorithm::SmdM, 1.0), (Algorithm::AtkroM, 2.5)] {
        for anytime in [false, true] {
            // x = 0: the loss is ln 2 whatever the model.
            let data = rows(&[0.0; 4], &[1.0; 4], &[vec![0], vec![1], vec![2], vec![3]]);
            let config = Config { anytime, step_q: 7.3, ..Config::new(algorithm, 500) };
            let domain = Domain::new(L2Ball::new(1.0).unwrap());
            let constants = constants(0.5, 1.0, 4, k);
            let source = WithReplacement::new(data);
            let game = Game::top_k(4, k);
            let mut solver =
                config.build(game, Logistic, source, domain, &constants, None).unwrap();
            solver.advance(500).unwrap();
            let (mut w, mut q) = ([0.0], [0.0; 4]);
            solver.write_last(&mut w, &mut q);
            assert_eq!(q, [0.25; 4], "{algorithm} anytime {anytime}");
            assert!((effective_groups(&solver.weights()) - 4.0).abs() < 1e-12);
        }
    }
}

/// Offsets steer q and do not falsify what is reported.
#[test]
fn offsets_steer_and_do_not_falsify() {
    let data = rows(&[0.0, 0.0], &[1.0, -1.0], &[vec![0], vec![1]]);
    let ln2 = std::f64::consts::LN_2;
    let counts: [f64; 2] = [100.0, 4.0];
    let game = Game { offsets: counts.map(|n| -1.0 / n.sqrt()).to_vec(), ..Game::gdro(2) };
    let risks: Vec<f64> =
        group_metrics(&Logistic, &[0.3], &data).unwrap().iter().map(|m| m.risk).collect();
    assert!(risks.iter().all(|r| (r - ln2).abs() < 1e-15), "the risks are as they are");
    // The objective is that of the adjusted game: ln 2 + 1/√4.
    assert!((game.objective(&risks) - (ln2 + 0.5)).abs() < 1e-15);
    let config = Config { step_q: 20.0, ..Config::new(Algorithm::SmdM, 500) };
    let domain = Domain::new(L2Ball::new(1.0).unwrap());
    let constants = constants(0.5, 1.0, 2, 1.0);
    let source = WithReplacement::new(data.clone());
    let mut solver =
        config.build(game.clone(), Logistic, source, domain, &constants, None).unwrap();
    solver.advance(500).unwrap();
    let q = solver.weights();
    assert!(q[1] > 0.9, "the small group is favoured: {q:?}");
    // The reference solver's bounds are those of the adjusted game.
    let domain = Domain::new(L2Ball::new(1.0).unwrap());
    let mut exact = DatasetRisks::new(&data, &Logistic, false);
    let problem =
        Problem { game: &game, domain: &domain, features: 1, outputs: 1, goal: Goal::Adversary };
    let solution = solve(&mut exact, &problem, &Options::default()).unwrap();
    assert!((solution.upper - (ln2 + 0.5)).abs() < 1e-9 && solution.gap() < 1e-9);
}

/// Offsets (−1, 0) act on group 0 alone.
#[test]
fn an_offset_acts_on_its_group_alone() {
    let game = Game { offsets: vec![-1.0, 0.0], ..Game::gdro(2) };
    for loss in [0.0, 0.3, 5.0] {
        assert_eq!((game.payoff(0, loss), game.payoff(1, loss)), (loss + 1.0, loss));
    }
}

/// The last iterate q may be near one-hot; the answer is the average, and its effective number of
/// groups says so.
#[test]
fn the_answer_is_the_average_and_not_the_one_hot_iterate() {
    let mut q = Plain::new(2, 1.0).unwrap();
    for t in 0..1000 {
        q.accumulate(1.0);
        let loss = if t % 2 == 0 { (20.0, 0.0) } else { (0.0, 20.0) };
        let gains = if t == 0 { [(0, 10.0), (1, 0.0)] } else { [(0, loss.0), (1, loss.1)] };
        q.step(1.0, &gains);
    }
    let last = weights(&q);
    assert!(effective_groups(&last) < 1.01, "{last:?}");
    let mut average = vec![0.0; 2];
    q.write_average(&mut average);
    assert!(effective_groups(&average) > 1.99, "{average:?}");
    assert_eq!(effective_groups(&[1.0, 0.0, 0.0]), 1.0);
    assert!((effective_groups(&[0.25; 4]) - 4.0).abs() < 1e-14);
}

/// Perfectly separable data without a penalty on a ball: everything is finite, every prediction
/// right, and the reference solver's bounds are valid and meet on the surface of the ball.
#[test]
fn separable_data_on_a_ball_stay_finite() {
    let mut table = table(3, 200, 3, Kind::Logistic, false, &OVERLAPPING);
    // The target is the sign of the first feature.
    for (y, x) in table.y.iter_mut().zip(table.x.chunks_exact(3)) {
        *y = x[0].signum();
    }
    let data = table.dense(false);
    let ball = Domain::new(L2Ball::new(3.0).unwrap());
    let game = Game::gdro(3);
    let mut exact = DatasetRisks::new(&data, &Logistic, false);
    let problem =
        Problem { game: &game, domain: &ball, features: 3, outputs: 1, goal: Goal::Adversary };
    let solution = solve(&mut exact, &problem, &Options::default()).unwrap();
    let norm = solution.w.iter().map(|v| v * v).sum::<f64>().sqrt();
    assert!((norm - 3.0).abs() < 1e-5, "{norm}");
    assert!(solution.gap() < 1e-9 && solution.upper > 0.0, "{solution:?}");
    for (algorithm, anytime, k) in forms() {
        let game = Game::top_k(3, k);
        let bounds = SampleBounds::of(&data, &ball.map);
        let constants =
            Constants::new(&game, &Logistic, &ball, 3, bounds, std::f64::consts::LN_2, None)
                .unwrap();
        let config = config((algorithm, anytime, k), 4000, (30.0, 1.0), &[120, 60, 50]);
        let source = WithReplacement::new(data.clone());
        let budgets = Some(&[120, 60, 50][..]);
        let mut solver =
            config.build(game, Logistic, source, ball.clone(), &constants, budgets).unwrap();
        solver.advance(4000).unwrap();
        let metrics = group_metrics(&Logistic, &solver.model(), &data).unwrap();
        for metric in metrics {
            assert!(metric.risk.is_finite() && metric.risk < 0.5, "{algorithm}: {metric:?}");
            assert!(metric.accuracy.unwrap() > 0.9, "{algorithm}: {metric:?}");
        }
    }
}

/// Without ball and penalty there is no D: an error, not a run that diverges.
#[test]
fn no_ball_and_no_penalty_is_an_error() {
    let free = Domain::new(L2Ball::unconstrained());
    let bounds = SampleBounds { norm_squared: 1.0, target: 1.0 };
    let error = Constants::new(&Game::gdro(2), &Logistic, &free, 3, bounds, 0.7, None).unwrap_err();
    assert!(error.to_string().contains("penalty"), "{error}");
}
