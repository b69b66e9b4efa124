//! Short runs of every algorithm against an independent implementation in plain Python,
//! `oracles/golden.py`; and the same bits however a run is cut into pieces.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use crate::common::{Kind, OVERLAPPING, config, constants, distance, forms, same_bits, table};
use gdro::algorithm::{Algorithm, Constants};
use gdro::average::Average;
use gdro::config::Config;
use gdro::domain::{AnyMap, Cube, Domain, L2Ball};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Logistic, Softmax, Squared};
use gdro::run::{Cadence, Outcome, Solver, drive};
use gdro::source::{OnceEach, WithReplacement};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).unwrap()
}

/// The solver of one case of the table.
fn solver(case: &Value) -> Box<dyn Solver> {
    let text = |name: &str| case[name].as_str().unwrap();
    let data = &case["data"];
    let kind = Kind::of(text("loss"));
    let loss = match kind {
        Kind::Logistic => AnyLoss::Logistic(Logistic),
        Kind::Squared => AnyLoss::Squared(Squared),
        Kind::Softmax => AnyLoss::Softmax(Softmax::new(3).unwrap()),
    };
    let groups: Vec<(u32, u32)> = serde_json::from_value(data["groups"].clone()).unwrap();
    let size = |name: &str| data[name].as_u64().unwrap() as usize;
    let gaps = data["sparse"].as_bool().unwrap();
    let table = table(size("seed") as u64, size("rows"), size("features"), kind, gaps, &groups);
    let weighted = text("source") == "weighted";
    let rows = if gaps { table.sparse(weighted) } else { table.dense(weighted) };

    let game = Game {
        scales: numbers(&case["game"]["scales"]),
        offsets: numbers(&case["game"]["offsets"]),
        ridge: number(&case["game"]["ridge"]),
        k: number(&case["k"]),
    };
    let d = &case["domain"];
    let map = match d["kind"].as_str().unwrap() {
        "ball" => AnyMap::L2Ball(L2Ball::new(number(&d["radius"])).unwrap()),
        "free" => AnyMap::L2Ball(L2Ball::unconstrained()),
        _ => AnyMap::Cube(Cube::new(number(&d["low"]), number(&d["high"])).unwrap()),
    };
    let mut domain = Domain::new(map);
    if let Some(bound) = d["intercept"].as_f64() {
        domain = domain.with_intercept(bound).unwrap();
    }
    let c = &case["constants"];
    let constants = Constants {
        width: number(&c["D2"]),
        lipschitz: number(&c["G"]),
        smoothness: number(&c["L"]),
        groups: groups.len(),
        k: game.k,
        payoffs: (number(&c["payoffs"][0]), number(&c["payoffs"][1])),
        kappa: number(&c["kappa"]),
        c: number(&c["c"]),
    };
    let average: Average = serde_json::from_value(case["average"].clone()).unwrap();
    let algorithm: Algorithm = text("algorithm").parse().unwrap();
    let config = Config {
        anytime: case["anytime"].as_bool().unwrap(),
        step_w: number(&case["step_w"]),
        step_q: number(&case["step_q"]),
        average: Some(average),
        seed: case["seed"].as_u64().unwrap(),
        nbar: case["nbar"].as_u64(),
        queries: serde_json::from_value(case["queries"].clone()).unwrap(),
        ..Config::new(algorithm, case["rounds"].as_u64().unwrap())
    };
    let budgets: Vec<u64> = serde_json::from_value(case["budgets"].clone()).unwrap();
    let budgets = Some(&budgets[..]);
    if text("source") == "once-each" {
        let source = OnceEach::new(rows, None, case["order_seed"].as_u64().unwrap()).unwrap();
        config.build(game, loss, source, domain, &constants, budgets).unwrap()
    } else {
        let source = WithReplacement::new(rows);
        config.build(game, loss, source, domain, &constants, budgets).unwrap()
    }
}

#[test]
fn every_algorithm_follows_the_independent_implementation() {
    let table: Vec<Value> = serde_json::from_str(include_str!("../oracles/golden.json")).unwrap();
    assert_eq!(table.len(), 66, "22 forms on 3 problems");
    let mut worst = 0f64;
    for row in &table {
        let (case, result) = (&row["case"], &row["result"]);
        let mut solver = solver(case);
        solver.advance(case["rounds"].as_u64().unwrap()).unwrap();
        let label = format!("{} anytime {} {}", case["algorithm"], case["anytime"], case["loss"]);
        let samples: Vec<u64> = serde_json::from_value(result["samples"].clone()).unwrap();
        assert_eq!(solver.samples(), samples, "{label}");
        assert_eq!(solver.clipped(), result["clipped"].as_u64().unwrap(), "{label}");
        let (mut w, mut q) = (vec![0.0; solver.model_len()], vec![0.0; samples.len()]);
        solver.write_last(&mut w, &mut q);
        for (what, found) in [
            ("model", &solver.model()),
            ("weights", &solver.weights()),
            ("last_model", &w),
            ("last_weights", &q),
        ] {
            let off = distance(found, &numbers(&result[what]));
            worst = worst.max(off);
            // AdaHedge divides by a sum of tiny differences in its first rounds, so rounding grows.
            let most = if case["algorithm"] == "adaptive" { 1e-11 } else { 1e-12 };
            assert!(off <= most, "{label}, {what}: off by {off:e}");
        }
    }
    println!("largest distance from the oracle: {worst:e}");
}

/// A solver of each form on the same logistic problem.
fn small(algorithm: Algorithm, anytime: bool, k: f64) -> Box<dyn Solver> {
    let data = table(4, 200, 9, Kind::Logistic, false, &OVERLAPPING).dense(true);
    let domain = Domain::new(L2Ball::new(2.0).unwrap()).with_intercept(1.0).unwrap();
    let form = config((algorithm, anytime, k), 400, (5.0, 5.0), &[120, 60, 50]);
    let config = Config { average: Some(Average::Suffix), seed: 3, ..form };
    let game = Game::top_k(3, k).with_ridge(0.01);
    let constants = constants(2.5, 2.0, 3, k);
    let source = WithReplacement::new(data);
    config.build(game, Logistic, source, domain, &constants, Some(&[120, 60, 50])).unwrap()
}

fn assert_same(a: &dyn Solver, b: &dyn Solver) {
    assert_eq!(a.rounds(), b.rounds());
    assert!(same_bits(&a.model(), &b.model()));
    assert!(same_bits(&a.weights(), &b.weights()));
    assert_eq!(a.save(), b.save());
}

#[test]
fn runs_are_bit_identical_however_they_are_cut() {
    for (algorithm, anytime, k) in forms() {
        let mut whole = small(algorithm, anytime, k);
        whole.advance(50).unwrap();
        let mut again = small(algorithm, anytime, k);
        again.advance(50).unwrap();
        assert_same(&*whole, &*again);
        let mut single = small(algorithm, anytime, k);
        (0..50).for_each(|_| single.advance(1).unwrap());
        assert_same(&*whole, &*single);
    }
}

#[test]
fn the_cadence_does_not_change_the_run() {
    for (algorithm, anytime, k) in forms() {
        let mut plain = small(algorithm, anytime, k);
        plain.advance(500).unwrap();
        let cadences = [
            Cadence::Every(1),
            Cadence::Every(7),
            Cadence::Every(10_000),
            Cadence::Geometric(1.3),
            Cadence::Geometric(10.0),
        ];
        for cadence in cadences {
            let mut driven = small(algorithm, anytime, k);
            let mut seen = Vec::new();
            let mut observer = |s: &dyn Solver| {
                // Looking must not change anything either.
                s.model();
                s.weights();
                seen.push(s.rounds());
                Ok(ControlFlow::Continue(()))
            };
            let never = AtomicBool::new(false);
            let outcome = drive(&mut *driven, 500, cadence, &never, &mut observer).unwrap();
            assert_eq!(outcome, Outcome::Finished);
            assert_same(&*plain, &*driven);
            assert_eq!((seen[0], seen[seen.len() - 1]), (0, 500), "{cadence:?}");
            assert!(seen.windows(2).all(|s| s[0] < s[1]), "{cadence:?}: {seen:?}");
            if let Cadence::Every(n) = cadence {
                assert!(seen.iter().all(|t| t % n == 0 || *t == 500));
                assert_eq!(seen.len() as u64, 1 + 500u64.div_ceil(n));
            }
        }
    }
}

#[test]
fn another_seed_gives_another_run() {
    let mut a = small(Algorithm::Online1, false, 1.0);
    a.advance(50).unwrap();
    let data = table(4, 200, 9, Kind::Logistic, false, &OVERLAPPING).dense(true);
    let domain = Domain::new(L2Ball::new(2.0).unwrap()).with_intercept(1.0).unwrap();
    let config = Config { seed: 4, ..Config::new(Algorithm::Online1, 400) };
    let constants = constants(2.5, 2.0, 3, 1.0);
    let source = WithReplacement::new(data);
    let mut b = config.build(Game::gdro(3), Logistic, source, domain, &constants, None).unwrap();
    b.advance(50).unwrap();
    assert!(!same_bits(&a.model(), &b.model()));
}

#[test]
fn the_stop_flag_and_the_observer_end_a_run() {
    let mut solver = small(Algorithm::SmdM, false, 1.0);
    let stop = AtomicBool::new(true);
    let mut calls = 0;
    let mut observer = |_: &dyn Solver| {
        calls += 1;
        Ok(ControlFlow::Continue(()))
    };
    let outcome = drive(&mut *solver, 100, Cadence::Every(10), &stop, &mut observer).unwrap();
    assert_eq!((outcome, calls, solver.rounds()), (Outcome::Stopped, 1, 0));
    let never = AtomicBool::new(false);
    let mut observer = |s: &dyn Solver| {
        Ok(if s.rounds() >= 30 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let outcome = drive(&mut *solver, 100, Cadence::Every(10), &never, &mut observer).unwrap();
    assert_eq!((outcome, solver.rounds()), (Outcome::Stopped, 30));
}
