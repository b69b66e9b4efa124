//! Averages against sums by hand over the trajectory of last iterates.

use crate::common::{Kind, OVERLAPPING, constants, distance, table};
use gdro::algorithm::Algorithm;
use gdro::average::Average;
use gdro::config::Config;
use gdro::domain::{Domain, L2Ball};
use gdro::game::Game;
use gdro::loss::Logistic;
use gdro::run::Solver;
use gdro::source::WithReplacement;

fn solver(algorithm: Algorithm, anytime: bool, average: Average, rounds: u64) -> Box<dyn Solver> {
    let data = table(8, 200, 3, Kind::Logistic, false, &OVERLAPPING).dense(false);
    let config = Config {
        anytime,
        average: Some(average),
        seed: 17,
        step_w: 5.0,
        step_q: 5.0,
        ..Config::new(algorithm, rounds)
    };
    let domain = Domain::new(L2Ball::new(1.5).unwrap());
    let source = WithReplacement::new(data);
    let constants = constants(1.125, 2.0, 3, 1.0);
    config.build(Game::gdro(3), Logistic, source, domain, &constants, Some(&[120, 60, 50])).unwrap()
}

/// The iterates that an average is made of: (w_t, q_t) before the step of round t, and the lead of
/// round t for mirror-prox.
fn trajectory(algorithm: Algorithm, anytime: bool, planned: u64, rounds: u64) -> Vec<Vec<f64>> {
    let mut solver = solver(algorithm, anytime, Average::Last, planned);
    let mut out = Vec::new();
    let last = |s: &dyn Solver| {
        let (mut w, mut q) = (vec![0.0; 3], vec![0.0; 3]);
        s.write_last(&mut w, &mut q);
        [w, q].concat()
    };
    for _ in 0..rounds {
        if algorithm != Algorithm::SmpaM {
            out.push(last(&*solver));
        }
        solver.advance(1).unwrap();
        if algorithm == Algorithm::SmpaM {
            out.push(last(&*solver));
        }
    }
    out
}

fn answer(solver: &dyn Solver) -> Vec<f64> {
    [solver.model(), solver.weights()].concat()
}

fn mean(points: &[Vec<f64>], weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let total: f64 = (0..points.len()).map(&weight).sum();
    let at = |j: usize| points.iter().enumerate().map(|(t, p)| weight(t) * p[j]).sum::<f64>();
    (0..points[0].len()).map(|j| at(j) / total).collect()
}

const ALGORITHMS: [(Algorithm, bool); 4] = [
    (Algorithm::SmdM, false),
    (Algorithm::Online1, true),
    (Algorithm::SmpaM, false),
    (Algorithm::Atkro1, true),
];

#[test]
fn the_uniform_average_is_the_mean_of_all_iterates() {
    for (algorithm, anytime) in ALGORITHMS {
        let points = trajectory(algorithm, anytime, 60, 60);
        let mut solver = solver(algorithm, anytime, Average::Uniform, 60);
        for t in 1..=60 {
            solver.advance(1).unwrap();
            assert!(distance(&answer(&*solver), &mean(&points[..t], |_| 1.0)) < 1e-13);
        }
    }
}

#[test]
fn the_weighted_average_follows_the_steps() {
    for (algorithm, anytime) in ALGORITHMS {
        let points = trajectory(algorithm, anytime, 60, 60);
        let mut solver = solver(algorithm, anytime, Average::Weighted, 60);
        for t in 1..=60 {
            solver.advance(1).unwrap();
            let weight = |t: usize| if anytime { 1.0 / ((t + 1) as f64).sqrt() } else { 1.0 };
            assert!(distance(&answer(&*solver), &mean(&points[..t], weight)) < 1e-13);
        }
    }
}

#[test]
fn no_average_is_the_last_iterate() {
    for (algorithm, anytime) in ALGORITHMS {
        let mut solver = solver(algorithm, anytime, Average::Last, 60);
        for _ in 0..20 {
            solver.advance(1).unwrap();
            let (mut w, mut q) = (vec![0.0; 3], vec![0.0; 3]);
            solver.write_last(&mut w, &mut q);
            assert_eq!(answer(&*solver), [w, q].concat());
        }
    }
}

/// At t = T exactly the iterates ⌊T/2⌋ + 1, …, T.
#[test]
fn the_suffix_average_is_the_mean_of_the_second_half() {
    for (algorithm, anytime) in [(Algorithm::SmdM, false), (Algorithm::SmpaM, false)] {
        for planned in [1, 2, 3, 7, 60, 61, 64, 100] {
            let points = trajectory(algorithm, anytime, planned, planned);
            let mut solver = solver(algorithm, anytime, Average::Suffix, planned);
            solver.advance(planned).unwrap();
            let half = mean(&points[planned as usize / 2..], |_| 1.0);
            assert!(distance(&answer(&*solver), &half) < 1e-13, "T = {planned}");
        }
    }
}

/// On the way: with a the last of the rounds T/2ʲ (rounded down) and t ≤ 2a, the mean of the
/// stretch (a/2, a] and of (a, t] together, until the latter is as long as the former and stands
/// alone.
#[test]
fn the_suffix_average_blends_two_stretches_on_the_way() {
    for planned in [60u64, 64, 100] {
        let points = trajectory(Algorithm::SmdM, false, planned, planned);
        let mut solver = solver(Algorithm::SmdM, false, Average::Suffix, planned);
        let mut restarts = vec![planned];
        while restarts[restarts.len() - 1] > 1 {
            restarts.push(restarts[restarts.len() - 1] / 2);
        }
        for t in 1..planned {
            solver.advance(1).unwrap();
            // The last finished stretch ends at `a`, and began after the restart before.
            let a = restarts.iter().copied().filter(|r| *r <= t).max().unwrap();
            let before = restarts.iter().copied().filter(|r| *r < a).max().unwrap_or(0);
            let from = if t - a < a - before { before } else { a };
            let expected = mean(&points[from as usize..t as usize], |_| 1.0);
            assert!(distance(&answer(&*solver), &expected) < 1e-13, "T = {planned}, t = {t}");
            // At least a quarter of the rounds so far, and never the first quarter of them.
            assert!(4 * (t - from) >= t && (t < 8 || from >= t / 4 - 1));
        }
    }
}

/// After the planned number of rounds the answer goes on from the second half.
#[test]
fn the_suffix_average_goes_on_after_the_planned_rounds() {
    let points = trajectory(Algorithm::SmdM, false, 64, 100);
    let mut solver = solver(Algorithm::SmdM, false, Average::Suffix, 64);
    solver.advance(100).unwrap();
    assert!(distance(&answer(&*solver), &mean(&points[32..100], |_| 1.0)) < 1e-13);
}

#[test]
fn before_the_first_round_the_answer_is_the_starting_point() {
    for average in [Average::Uniform, Average::Weighted, Average::Suffix, Average::Last] {
        let solver = solver(Algorithm::SmdM, false, average, 60);
        let third = 1.0 / 3.0;
        assert_eq!(answer(&*solver), [0.0, 0.0, 0.0, third, third, third], "{average:?}");
    }
}
