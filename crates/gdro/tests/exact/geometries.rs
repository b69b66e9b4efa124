//! Optima over simplex, balls of several norms and boxes against a conic solver,
//! `oracles/geometries.py`: whatever the geometry, the same solver and the same certificate.

#![cfg(feature = "exact")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::common::{Kind, table};
use gdro::algorithm::{Algorithm, Constants, SampleBounds};
use gdro::average::Average;
use gdro::certificate::certify;
use gdro::config::Config;
use gdro::domain::{
    AnyMap, BoxSet, Constraints, Domain, DomainSpec, L1Ball, MirrorMap, PNormBall, Simplex,
};
use gdro::exact::{DatasetRisks, Goal, Options, Problem, minimize, solve};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Logistic, Loss as _, Softmax, Squared};
use gdro::pilot;
use gdro::risk::group_risks;
use gdro::setting::{Baseline, Setting, Terms};
use gdro::source::WithReplacement;
use gdro::{Dataset, Matrix};
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
        name => name.parse::<DomainSpec>().unwrap().map().unwrap(),
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
    let all: Value = serde_json::from_str(include_str!("../oracles/geometries.json")).unwrap();
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

/// The way of the program: a domain by name, the reference solver of the setting, and a certificate
/// that knows nothing of either.
#[test]
fn a_domain_by_name_is_solved_and_certified() {
    let (mut seen, mut widest) = (0, 0f64);
    for row in &oracle("games") {
        let text = |name: &str| row[name].as_str().unwrap();
        let domain: DomainSpec = match text("set") {
            "simplex-2.5" => "simplex:2.5".parse().unwrap(),
            "p-1.5" => "p-ball:1.5,0.8".parse().unwrap(),
            "p-1.5-large" => "p-ball:1.5,30".parse().unwrap(),
            name => match name.parse() {
                Ok(domain) => domain,
                Err(_) => continue,
            },
        };
        let objective = match text("goal") {
            "max" => "max",
            "top-2.5" => "top-k:2.5",
            _ => continue,
        };
        let (ridge, value) = (row["ridge"].as_f64().unwrap(), row["value"].as_f64().unwrap());
        let kind = Kind::of(text("loss"));
        let data = table(21, 60, FEATURES, kind, true, &GROUPS).sparse(true);
        let intercept = row["intercept"].as_bool().unwrap().then_some(10.0);
        let terms =
            Terms { l2: ridge, domain, intercept, ..Terms::new(objective.parse().unwrap()) };
        let setting = Setting::new(data, loss(kind), &terms).unwrap();
        let problem = setting.problem();
        let s = minimize(&setting.data, &setting.loss, &problem, &Options::default()).unwrap();
        let proof = setting.certify(&s.w, &s.q).unwrap();
        let label = format!("{} {domain} {objective} {ridge}", text("loss"));
        let slack = 1e-8 * (1.0 + value.abs());
        assert!(proof.lower <= value + slack && proof.upper >= value - slack, "{label}: {proof:?}");
        widest = widest.max(proof.relative_gap);
        assert!(proof.relative_gap < 1e-6, "{label}: {proof:?}");
        let smooth = setting.domain.map.constraints().are_smooth();
        assert_eq!(proof.method.contains("Newton"), smooth, "{label}: {}", proof.method);
        seen += 1;
    }
    println!("{seen} games, largest certified relative gap {widest:.1e}");
    assert_eq!(seen, 2 * 2 * (8 * 3 - 1));
}

/// Least squares with orthogonal columns: the lasso in its constrained form is the projection of the
/// least-squares solution, which soft thresholding gives by hand.
#[test]
fn the_lasso_with_orthogonal_columns_is_soft_thresholding() {
    let mut x = vec![0.0; 16];
    (0..4).for_each(|j| x[5 * j] = 2.0);
    // Rows 2 e_j: w is (3, −2, 0.5, 0) when free.
    let matrix = Arc::new(Matrix::dense(4, x).unwrap());
    let data = Dataset::new(matrix, vec![6.0, -4.0, 1.0, 0.0], None, &[vec![0, 1, 2, 3]]);
    let terms = Terms { domain: DomainSpec::L1(2.0), ..Terms::new("max".parse().unwrap()) };
    let setting = Setting::new(data.unwrap(), Squared, &terms).unwrap();
    let s = minimize(&setting.data, &Squared, &setting.problem(), &Options::default()).unwrap();
    // τ = 3/2, and the residuals are 2 · (3/2, −3/2, 1/2, 0).
    let expected = [1.5, -0.5, 0.0, 0.0];
    assert!(s.w.iter().zip(expected).all(|(w, e)| (w - e).abs() < 1e-8), "{:?}", s.w);
    assert!((s.upper - 4.0 * (4.5 + 0.25) / 4.0).abs() < 1e-9, "{}", s.upper);
    assert_eq!(s.w[2..], [0.0, 0.0], "exact zeros");
    assert!(setting.certify(&s.w, &s.q).unwrap().relative_gap < 1e-9);
    // One group: ordinary training is the same.
    let ordinary = setting.ordinary(Baseline::Erm, None).unwrap();
    assert!(ordinary.iter().zip(expected).all(|(w, e)| (w - e).abs() < 1e-4), "{ordinary:?}");
}

/// Stochastic runs over 1-norm balls with steps by pilot runs, as the program plays them: the
/// certified gap is small, whether the ball binds or not.
#[test]
fn runs_over_balls_of_the_one_norm_are_certified() {
    let data = table(21, 60, FEATURES, Kind::Logistic, true, &GROUPS).sparse(true);
    for (domain, algorithm, most) in [
        ("l1:0.8", Algorithm::SmdM, 5e-3),
        ("l1:0.8", Algorithm::Online1, 1e-2),
        ("l1:3", Algorithm::SmdM, 1e-2),
        ("l1:3", Algorithm::Online1, 2e-2),
    ] {
        let domain: DomainSpec = domain.parse().unwrap();
        let terms = Terms { domain, intercept: Some(1.0), ..Terms::new("max".parse().unwrap()) };
        let setting = Setting::new(data.clone(), Logistic, &terms).unwrap();
        let plan = pilot::Plan {
            data: &setting.data,
            loss: &setting.loss,
            domain: &setting.domain,
            game: &setting.game,
            goal: &setting.goal,
            config: Config { average: Some(Average::Suffix), ..Config::new(algorithm, 1) },
            steps: (None, None),
            budgets: None,
            loss_range: None,
            at_zero: std::f64::consts::LN_2,
            samples: SampleBounds::of(&setting.data, &setting.domain.map),
            stored: setting.data.matrix().stored_per_row(),
            start: None,
            adapts: false,
            near: None,
        };
        let rounds = 60_000;
        let steps = plan.find_steps(rounds, &mut (), &AtomicBool::new(false)).unwrap();
        let mut solver = plan.solver(rounds, steps, false).unwrap();
        solver.advance(rounds).unwrap();
        let (w, q) = (solver.model(), solver.weights());
        assert!(setting.domain.map.contains(&w[..FEATURES]), "{w:?}");
        let proof = setting.certify(&w, &q).unwrap();
        println!("{domain} {algorithm}: {w:.3?} {proof:?}");
        assert!(proof.gap >= 0.0 && proof.gap < most, "{domain} {algorithm}: {proof:?}");
    }
}

#[test]
fn minima_agree_with_a_conic_solver() {
    let rows = oracle("minima");
    assert_eq!(rows.len(), 44);
    for row in &rows {
        let name = row["set"].as_str().unwrap();
        let (ridge, value) = (row["ridge"].as_f64().unwrap(), row["value"].as_f64().unwrap());
        let h: Vec<f64> =
            row["h"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        let least = set(name).minimum(&h, ridge);
        assert!(
            (least - value).abs() < 1e-8 * (1.0 + value.abs()),
            "{name} {ridge}: {least} {value}"
        );
    }
}

/// Theory steps times a constant, planned for 100 and for 10,000 rounds with one fixed seed: the
/// excess of the averages over the optimum falls by more than the factor 3 (the rate is 10),
/// whatever the geometry; and the certificate, which knows nothing of it, encloses the optimum.
#[test]
fn smd_m_converges_and_is_certified_in_every_geometry() {
    let data = table(21, 60, FEATURES, Kind::Logistic, true, &GROUPS).sparse(true);
    let game = Game::gdro(5);
    for name in ["simplex", "simplex-2.5", "p-1.5", "p-1.1", "box", "box-fixed"] {
        let domain = Domain::new(set(name));
        let goal = Goal::Adversary;
        let problem =
            Problem { game: &game, domain: &domain, features: FEATURES, outputs: 1, goal };
        let mut risks = DatasetRisks::new(&data, &Logistic, false);
        let best = solve(&mut risks, &problem, &Options::default()).unwrap();
        let bounds = SampleBounds::of(&data, &domain.map);
        let constants = Constants::new(&game, &Logistic, &domain, FEATURES, bounds, 1.0, None);
        let constants = constants.unwrap();
        let excess = |rounds: u64| {
            let config = Config {
                step_w: 3.0,
                step_q: 10.0,
                average: Some(Average::Suffix),
                seed: 5,
                ..Config::new(Algorithm::SmdM, rounds)
            };
            let source = WithReplacement::new(data.clone());
            let domain = domain.clone();
            let mut solver =
                config.build(game.clone(), Logistic, source, domain, &constants, None).unwrap();
            solver.advance(rounds).unwrap();
            let (w, q) = (solver.model(), solver.weights());
            let objective = game.objective(&group_risks(&Logistic, &w, &data).unwrap());
            let proof = certify(&data, &Logistic, &problem, &w, &q, None, 5).unwrap();
            assert!(proof.lower <= best.upper && proof.upper >= best.lower, "{name}: {proof:?}");
            assert!((proof.upper - objective).abs() < 1e-9, "{name}: {proof:?}");
            (objective - best.lower, proof.gap)
        };
        let (first, last) = (excess(100), excess(10_000));
        println!("{name}: excess and certified gap {first:?} to {last:?}");
        assert!(last.0 < 0.3 * first.0 && last.1 < 0.01, "{name}: {first:?} {last:?}");
    }
}

/// Own bounds are for models of one size.
#[test]
fn bounds_of_another_model_are_an_error() {
    let data = table(21, 60, FEATURES, Kind::Logistic, true, &GROUPS).sparse(true);
    let (game, goal) = (Game::gdro(5), Goal::Adversary);
    let domain = Domain::new(BoxSet::from_bounds(&[0.0; 3], &[1.0; 3]).unwrap());
    let problem = Problem { game: &game, domain: &domain, features: FEATURES, outputs: 1, goal };
    let mut risks = DatasetRisks::new(&data, &Logistic, false);
    let error = solve(&mut risks, &problem, &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "set of the weights has length 3, expected 4");
    let w = [0.5; FEATURES];
    assert!(certify(&data, &Logistic, &problem, &w, &[0.2; 5], None, 0).is_err());
    let bounds = SampleBounds::of(&data, &domain.map);
    assert!(Constants::new(&game, &Logistic, &domain, FEATURES, bounds, 1.0, None).is_err());
    let constants = Constants::paper(1.0, 1.0, 5);
    let source = WithReplacement::new(data);
    let config = Config::new(Algorithm::SmdM, 10);
    assert!(
        config.build(game.clone(), Logistic, source, domain.clone(), &constants, None).is_err()
    );
}

/// Parameters out of range, NaN and infinities by name.
#[test]
fn sets_that_are_none_are_errors() {
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Simplex::new(scale).unwrap_err().to_string().starts_with("simplex = "), "{scale}");
        assert!(PNormBall::new(1.5, scale).unwrap_err().to_string().starts_with("ball = "));
        assert!(L1Ball::new(scale).unwrap_err().to_string().starts_with("l1 ball = "), "{scale}");
        assert!(PNormBall::new(scale, 1.0).unwrap_err().to_string().starts_with("p = "), "{scale}");
    }
    assert!(PNormBall::new(1.0, 1.0).is_err() && PNormBall::new(2.1, 1.0).is_err());
    let own = |low: f64, high: f64| BoxSet::from_bounds(&[0.0, low], &[1.0, high]);
    assert!(own(0.3, 0.3).is_ok());
    for (low, high) in [(1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
        assert!(own(low, high).unwrap_err().to_string().starts_with("box = "), "{low} {high}");
    }
    assert!(
        BoxSet::from_bounds(&[0.0], &[1.0, 2.0]).is_err() && BoxSet::from_bounds(&[], &[]).is_err()
    );
    let fixed = BoxSet::from_bounds(&[0.0, 0.3], &[1.0, 0.3]).unwrap();
    assert_eq!(fixed.constraints(), Constraints::Other);
    assert_eq!(
        own(0.0, 2.0).unwrap().constraints(),
        Constraints::Bounds(vec![(0.0, 1.0), (0.0, 2.0)])
    );
}

/// A geometry goes through its serial form unchanged.
#[test]
fn geometries_are_serialised() {
    for name in ["simplex-2.5", "p-1.1", "l1:0.8", "box-fixed"] {
        let map = set(name);
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<AnyMap>(&text).unwrap(), map, "{text}");
    }
}

/// G = Lip(ℓ) max‖x‖_* and the margin bound reach · max‖x‖_*, in the norms of each geometry.
#[test]
fn constants_are_those_of_the_dual_norm() {
    let mut rows = table(21, 60, FEATURES, Kind::Squared, true, &GROUPS);
    rows.x[..FEATURES].copy_from_slice(&[3.0, -4.0, 0.0, 0.0]);
    rows.y[0] = 2.0;
    let game = Game::gdro(5);
    let q3 = (27.0f64 + 64.0).cbrt();
    for (map, norm, reach) in [
        (set("simplex-2.5"), 4.0, 2.5),
        (set("p-1.5"), q3, 0.8),
        (set("l1:0.8"), 5.0, 0.8),
        (set("box"), 5.0, (0.25f64 + 0.36 + 4.0 + 0.09).sqrt()),
    ] {
        for data in [rows.sparse(false), rows.dense(false)] {
            let bounds = SampleBounds::of(&data, &map);
            assert!((bounds.norm_squared - norm * norm).abs() < 1e-12, "{map:?}");
            for intercept in [0.0, 0.5] {
                let mut domain = Domain::new(map.clone());
                if intercept > 0.0 {
                    domain = domain.with_intercept(intercept).unwrap();
                }
                let one = if intercept > 0.0 { 1.0 } else { 0.0 };
                let c = Constants::new(&game, &Squared, &domain, 4, bounds, 4.0, None).unwrap();
                let steep = 2.0 * (reach * norm + intercept + 2.0);
                assert!(
                    (c.lipschitz - steep * (norm * norm + one).sqrt()).abs() < 1e-10,
                    "{map:?}"
                );
                assert!((c.width - map.width(4) - intercept * intercept / 2.0).abs() < 1e-12);
                assert_eq!(c.kappa, map.kappa(4));
            }
        }
    }
}

/// Fifty weights and ten groups: a relative gap of 1e-6 within the iterations of the default.
#[test]
fn larger_problems_are_solved_as_well() {
    let groups: Vec<(u32, u32)> = (0..10).map(|g| (40 * g, 40 * g + 60)).collect();
    let sets = [
        set("simplex-2.5"),
        set("p-1.5"),
        set("p-1.1"),
        AnyMap::PNormBall(PNormBall::new(1.5, 5.0).unwrap()),
        AnyMap::Simplex(Simplex::new(10.0).unwrap()),
        set("l1:0.8"),
        set("l1:5"),
    ];
    for kind in [Kind::Logistic, Kind::Squared] {
        let data = table(4, 420, 50, kind, true, &groups).dense(false);
        for (map, ridge) in sets.iter().flat_map(|map| [(map, 0.0), (map, 0.01)]) {
            let (domain, loss) = (Domain::new(map.clone()), loss(kind));
            let (game, goal) = (Game::gdro(10).with_ridge(ridge), Goal::Adversary);
            let problem = Problem { game: &game, domain: &domain, features: 50, outputs: 1, goal };
            let mut risks = DatasetRisks::new(&data, &loss, false);
            let clock = std::time::Instant::now();
            let options = Options { tolerance: 2e-8, ..Options::default() };
            let s = solve(&mut risks, &problem, &options).unwrap();
            println!(
                "{kind:?} {map:?} {ridge}: {} iterations, {:?}, gap {:.1e} of {:.4}",
                s.iterations,
                clock.elapsed(),
                s.gap(),
                s.upper
            );
            assert!(s.gap() <= 1e-6 * s.upper, "{kind:?} {map:?} {ridge}: {}", s.gap());
        }
    }
}
