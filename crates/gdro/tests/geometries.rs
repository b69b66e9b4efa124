//! Optima over simplex, p-norm ball and box against a conic solver, `oracles/geometries.py`: whatever the
//! geometry, the same solver and the same certificate.

#![cfg(feature = "exact")]

mod common;

use common::{Kind, table};
use gdro::algorithm::{Algorithm, Constants, SampleBounds};
use gdro::average::Average;
use gdro::certificate::certify;
use gdro::config::Config;
use gdro::domain::{AnyMap, BoxSet, Constraints, Domain, MirrorMap, PNormBall, Simplex};
use gdro::exact::{DatasetRisks, Goal, Options, Problem, Risks as _, solve};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Logistic, Loss as _, Softmax, Squared};
use gdro::risk::group_risks;
use gdro::source::WithReplacement;
use serde_json::Value;

const FEATURES: usize = 4;
const GROUPS: [(u32, u32); 5] = [(0, 20), (15, 30), (30, 40), (40, 52), (50, 60)];
const LOW: [f64; 4] = [-0.5, 0.1, -2.0, -0.3];

/// A set by the name that the oracle uses.
fn set(name: &str) -> AnyMap {
    match name {
        "simplex" => AnyMap::Simplex(Simplex::default()),
        "simplex-2.5" => AnyMap::Simplex(Simplex::new(2.5).unwrap()),
        "p-1.5" => AnyMap::PNormBall(PNormBall::new(1.5, 0.8).unwrap()),
        "p-1.1" => AnyMap::PNormBall(PNormBall::new(1.1, 0.8).unwrap()),
        "p-1.5-large" => AnyMap::PNormBall(PNormBall::new(1.5, 30.0).unwrap()),
        "box" => AnyMap::BoxSet(BoxSet::from_bounds(&LOW, &[0.4, 0.6, 2.0, 0.0]).unwrap()),
        "box-fixed" => AnyMap::BoxSet(BoxSet::from_bounds(&LOW, &[0.4, 0.1, 2.0, 0.0]).unwrap()),
        other => panic!("unknown set {other}"),
    }
}

fn loss(kind: Kind) -> AnyLoss {
    match kind {
        Kind::Logistic => AnyLoss::Logistic(Logistic),
        Kind::Squared => AnyLoss::Squared(Squared),
        Kind::Softmax => AnyLoss::Softmax(Softmax::new(3).unwrap()),
    }
}

/// Game and goal by the name that the oracle uses.
fn goal(name: &str, ridge: f64) -> (Game, Goal) {
    let game = |k| Game::top_k(5, k).with_ridge(ridge);
    match name {
        "max" => (game(1.0), Goal::Adversary),
        "top-2.5" => (game(2.5), Goal::Adversary),
        "fixed" => (game(1.0), Goal::Fixed(vec![0.1, 0.3, 0.2, 0.25, 0.15])),
        "scales-offsets" => {
            let (scales, offsets) =
                (vec![1.0, 0.5, 2.0, 1.5, 0.8], vec![0.1, -0.2, 0.0, 0.3, -0.1]);
            (Game { scales, offsets, ..game(1.0) }, Goal::Adversary)
        }
        other => panic!("unknown goal {other}"),
    }
}

fn oracle(list: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("oracles/geometries.json")).unwrap();
    all[list].as_array().unwrap().clone()
}

#[test]
fn optima_agree_with_a_conic_solver() {
    let (mut faults, mut widest) = (Vec::new(), 0f64);
    for row in &oracle("games") {
        let text = |name: &str| row[name].as_str().unwrap();
        let (ridge, value) = (row["ridge"].as_f64().unwrap(), row["value"].as_f64().unwrap());
        let kind = Kind::of(text("loss"));
        let data = table(21, 60, FEATURES, kind, true, &GROUPS).sparse(true);
        let mut domain = Domain::new(set(text("set")));
        if row["intercept"].as_bool().unwrap() {
            domain = domain.with_intercept(10.0).unwrap();
        }
        let loss = loss(kind);
        let (game, goal) = goal(text("goal"), ridge);
        let outputs = loss.outputs();
        let problem = Problem { game: &game, domain: &domain, features: FEATURES, outputs, goal };
        let mut risks = DatasetRisks::new(&data, &loss, domain.intercept.is_some());
        let clock = std::time::Instant::now();
        let s = solve(&mut risks, &problem, &Options::default()).unwrap();
        let label = format!("{} {} {} {ridge}", text("loss"), text("set"), text("goal"));
        println!(
            "{label}: {} iterations, {:?}, gap {:.1e}, upper − oracle {:.1e}",
            s.iterations,
            clock.elapsed(),
            s.gap(),
            s.upper - value
        );
        // The oracle has its own rounding.
        let (size, slack) = (value.abs().max(1e-3), 1e-8 * (1.0 + value.abs()));
        widest = widest.max(s.gap() / size);
        if s.gap() > 1e-6 * size || s.lower > value + slack || s.upper < value - slack {
            faults.push(format!("{label}: [{}, {}] oracle {value}", s.lower, s.upper));
        }
        assert!(domain.map.contains(&s.w[..FEATURES * outputs]), "{label}: {:?}", s.w);
    }
    println!("largest relative gap {widest:.1e}");
    assert!(faults.is_empty(), "{faults:#?}");
}
