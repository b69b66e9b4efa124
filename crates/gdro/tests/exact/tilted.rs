//! Tilted risks: optimal values from a conic solver, `oracles/tilted.py`, closed forms, limits, the
//! gradient by differences, and bounds that hold for models far from the optimum.

#![cfg(feature = "exact")]

use std::sync::Arc;

use crate::common::{Kind, table};
use gdro::certificate::certify;
use gdro::domain::{AnyMap, Domain, L1Ball, L2Ball};
use gdro::exact::{Goal, Options, Problem, Solution, minimize};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Loss, Softmax, Targets};
use gdro::risk::group_risks;
use gdro::setting::{Objective, Prior, Setting, Terms, Tilt, family_shares};
use gdro::{Dataset, Matrix};
use serde_json::Value;

const GROUPS: [(u32, u32); 5] = [(0, 20), (15, 30), (30, 40), (40, 52), (50, 60)];
const PRIOR: [f64; 5] = [0.1, 0.3, 0.2, 0.25, 0.15];

fn goal(prior: &[f64], tau: f64) -> Goal {
    Goal::Tilted { prior: prior.to_vec(), tau }
}

fn found(data: &Dataset, loss: &AnyLoss, problem: &Problem<'_, AnyMap>) -> Solution {
    minimize(data, loss, problem, &Options::default()).unwrap()
}

#[test]
fn optima_agree_with_a_conic_solver() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../oracles/tilted.json")).unwrap();
    assert!(rows.len() >= 100);
    let (mut faults, mut most) = (Vec::new(), 0);
    for row in &rows {
        let text = |name: &str| row[name].as_str().unwrap();
        let oracle = row["value"].as_f64().unwrap();
        let loss: AnyLoss = text("loss").parse().unwrap();
        let kind = match loss.targets() {
            Targets::Labels => Kind::Logistic,
            Targets::Numbers => Kind::Squared,
            Targets::Classes => Kind::Softmax,
        };
        let data = table(21, 60, 4, kind, true, &GROUPS).sparse(true);
        let loss = match kind {
            Kind::Softmax => AnyLoss::Softmax(Softmax::new(3).unwrap()),
            _ => loss,
        };
        let free = Domain::new(AnyMap::L2Ball(L2Ball::unconstrained()));
        let (domain, ridge) = match text("domain") {
            "ball" => (Domain::new(AnyMap::L2Ball(L2Ball::new(0.7).unwrap())), 0.0),
            "l1" => (Domain::new(AnyMap::L1Ball(L1Ball::new(0.6).unwrap())), 0.05),
            "ridge" => (free, 0.05),
            _ => (free.with_intercept(100.0).unwrap(), 0.05),
        };
        let mut game = Game::gdro(5).with_ridge(ridge);
        let goal = match text("goal") {
            "small" => goal(&PRIOR, 0.02),
            "medium" => goal(&[0.2; 5], 0.2),
            "large" => goal(&PRIOR, 5.0),
            _ => {
                game.scales = vec![1.0, 0.5, 2.0, 1.5, 0.8];
                game.offsets = vec![0.1, -0.2, 0.0, 0.3, -0.1];
                goal(&PRIOR, 0.1)
            }
        };
        let (features, outputs) = (4, loss.outputs());
        let problem = Problem { game: &game, domain: &domain, features, outputs, goal };
        let s = found(&data, &loss, &problem);
        let certificate = certify(&data, &loss, &problem, &s.w, &s.q, None, 8).unwrap();
        let label = format!("{loss} {} {}", text("domain"), text("goal"));
        println!(
            "{label}: {} iterations, gap {:.1e}, upper - oracle {:.1e}, certified {:.1e}",
            s.iterations,
            s.gap(),
            s.upper - oracle,
            certificate.relative_gap
        );
        let slack = 1e-7 * oracle.abs();
        let tight = s.gap() <= slack && (s.upper - oracle).abs() <= slack;
        let certified = certificate.lower <= oracle + slack
            && certificate.upper >= oracle - slack
            && certificate.relative_gap <= 2e-7;
        if !(tight && certified) {
            faults.push(format!("{label}: {s:?} {certificate:?} oracle {oracle}"));
        }
        if !loss.is_nonsmooth() {
            most = most.max(s.iterations);
        }
    }
    println!("at most {most} iterations of Newton's method");
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(most <= 60, "{most} iterations");
}

/// Rows of one feature and squared loss in two groups.
fn two_groups() -> (Dataset, AnyLoss) {
    let x = Arc::new(Matrix::dense(1, vec![1.0, 1.0, 1.0, 1.0]).unwrap());
    let data = Dataset::new(x, vec![0.0, 2.0, 2.0, 2.0], None, &[vec![0], vec![1, 2, 3]]).unwrap();
    (data, "squared".parse().unwrap())
}

/// R_1 = w², R_2 = (w − 2)²: with even weights and no ridge w = 1 whatever τ; with the rows' shares 1/4
/// and 3/4 the optimum solves q_1 w = q_2 (2 − w), so that ln(3 e^{((w−2)² − w²)/τ}) = ln(w/(2 − w)), or
/// ln 3 + 4(1 − w)/τ = ln(w/(2 − w)): by bisection.
#[test]
fn a_closed_form() {
    let (data, loss) = two_groups();
    let domain = Domain::new(AnyMap::L2Ball(L2Ball::new(10.0).unwrap()));
    let game = Game::gdro(2);
    for tau in [1e-5, 1e-2, 0.3, 4.0, 1e3, 1e9] {
        let at = |prior: &[f64]| {
            let goal = goal(prior, tau);
            let problem = Problem { game: &game, domain: &domain, features: 1, outputs: 1, goal };
            let found = found(&data, &loss, &problem);
            assert!(found.gap() < 1e-9, "{tau}: {found:?}");
            found.w[0]
        };
        assert!((at(&[0.5, 0.5]) - 1.0).abs() < 1e-6, "{tau}");
        let (mut low, mut high) = (0.0, 2.0);
        for _ in 0..200 {
            let w: f64 = 0.5 * (low + high);
            let rises = 3f64.ln() + 4.0 * (1.0 - w) / tau < (w / (2.0 - w)).ln();
            if rises { high = w } else { low = w }
        }
        let w = at(&[0.25, 0.75]);
        assert!((w - low).abs() < 1e-6 * (1.0 + 1.0 / tau).min(10.0), "{tau}: {w} {low}");
    }
}

/// A setting of labels, with a ridge, a free intercept and weights of rows.
fn setting(loss: &str, objective: Objective) -> Setting<AnyLoss> {
    let loss: AnyLoss = loss.parse().unwrap();
    let kind = if loss.targets() == Targets::Labels { Kind::Logistic } else { Kind::Squared };
    let data = table(4, 300, 4, kind, false, &[(0, 200), (200, 260), (260, 300)]).dense(true);
    let terms = Terms { l2: 1e-3, intercept: Some(100.0), ..Terms::new(objective) };
    Setting::new(data, loss, &terms).unwrap()
}

fn optimum(setting: &Setting<AnyLoss>, start: Option<Vec<f64>>) -> Solution {
    let options = Options { start, ..Options::default() };
    minimize(&setting.data, &setting.loss, &setting.problem(), &options).unwrap()
}

fn value(setting: &Setting<AnyLoss>, w: &[f64]) -> f64 {
    let risks = group_risks(&setting.loss, w, &setting.data).unwrap();
    let ridge: f64 = w[..4].iter().map(|v| v * v).sum();
    setting.objective(&risks) + setting.game.ridge / 2.0 * ridge
}

/// Ordinary training under a τ far above the risks, and the largest risk but for τ ln(1/min p̂) under one
/// far below.
#[test]
fn from_ordinary_training_to_the_largest_risk() {
    for loss in ["logistic", "squared", "hinge", "absolute"] {
        let at = |text: &str| {
            let setting = setting(loss, text.parse().unwrap());
            let found = optimum(&setting, None);
            assert!(found.gap() < 1e-7, "{loss} {text}: {:.1e}", found.gap());
            (found.upper, setting)
        };
        for (tilted, ordinary) in [("tilted:1e9", "average"), ("tilted:1e9:groups", "balanced")] {
            let ((a, _), (b, _)) = (at(tilted), at(ordinary));
            assert!((a - b).abs() < 1e-7, "{loss} {tilted}: {a} {b}");
        }
        let (max, _) = at("max");
        for tau in [1e-3, 1e-6, 1e-12] {
            let (tilted, setting) = at(&format!("tilted:{tau}"));
            let Goal::Tilted { prior, .. } = &setting.goal else { panic!("no prior") };
            let least = prior.iter().copied().fold(1.0, f64::min);
            let (low, high) = (max - tau * (1.0 / least).ln(), max);
            assert!((low - 1e-7..=high + 1e-7).contains(&tilted), "{loss} {tau}: {tilted} {max}");
        }
    }
}

/// Differences of the objective in every direction are 0 at the optimum.
#[test]
fn the_gradient_is_zero_by_differences() {
    for (loss, objective) in [
        ("logistic", "tilted:0.01"),
        ("logistic", "tilted:0.3:groups"),
        ("squared", "tilted:0.02"),
        ("huber:0.3", "tilted:0.1"),
    ] {
        let setting = setting(loss, objective.parse().unwrap());
        let found = optimum(&setting, None);
        let by = 1e-4;
        for at in 0..5 {
            let moved = |by: f64| {
                let mut w = found.w.clone();
                w[at] += by;
                value(&setting, &w)
            };
            let slope = (moved(by) - moved(-by)) / (2.0 * by);
            assert!(slope.abs() < 2e-6, "{loss} {objective}, {at}: {slope:.1e}");
            assert!(moved(by).min(moved(-by)) > found.upper, "{loss} {objective}, {at}");
        }
    }
}

/// Targets in another unit, and τ in its square: the same problem.
#[test]
fn tau_is_in_units_of_the_loss() {
    let rows = |unit: f64| {
        let mut rows = table(4, 300, 4, Kind::Squared, false, &[(0, 200), (200, 260), (260, 300)]);
        rows.y.iter_mut().for_each(|y| *y = unit * (*y + 7.0));
        let tilt = Tilt { tau: 0.05 * unit * unit, prior: Prior::Rows };
        let terms =
            Terms { l2: 1e-3, intercept: Some(100.0), ..Terms::new(Objective::Tilted(tilt)) };
        Setting::new(rows.dense(true), "squared".parse().unwrap(), &terms).unwrap()
    };
    let (one, other) = (optimum(&rows(1.0), None), optimum(&rows(3e4), None));
    assert!((other.upper / 9e8 - one.upper).abs() < 1e-9 * one.upper);
    for (a, b) in one.w.iter().zip(&other.w) {
        assert!((b / 3e4 - a).abs() < 1e-6, "{:?} {:?}", one.w, other.w);
    }
    for (a, b) in one.q.iter().zip(&other.q) {
        assert!((a - b).abs() < 1e-6);
    }
}

/// Along a path, each model is near that of the next τ: a few steps of Newton's method lead there.
#[test]
fn warm_starts_take_few_steps() {
    for prior in [Prior::Rows, Prior::Groups] {
        let (mut start, mut most) = (None, 0);
        let mut tau = 3.0;
        while tau > 1e-4 {
            let setting = setting("logistic", Objective::Tilted(Tilt { tau, prior }));
            let found = optimum(&setting, start.clone());
            assert!(found.gap() < 1e-9, "{prior} {tau}: {:.1e}", found.gap());
            println!("{prior} {tau}: {} steps", found.iterations);
            // Below a hundredth of the risks a few more.
            if start.is_some() && tau > 0.01 {
                most = most.max(found.iterations);
            }
            assert!(found.iterations <= 10, "{prior} {tau}: {} steps", found.iterations);
            start = Some(found.w);
            tau /= 2.0;
        }
        assert!(most <= 5, "{prior}: {most} steps");
    }
}

/// A certificate of any model, with any group weights, encloses the optimum; dual ascent closes the gap.
#[test]
fn certificates_of_other_models_enclose_the_optimum() {
    for (loss, objective) in
        [("logistic", "tilted:0.02"), ("hinge", "tilted:0.1:groups"), ("squared", "tilted:1e-5")]
    {
        let setting = setting(loss, objective.parse().unwrap());
        let best = optimum(&setting, None);
        let problem = setting.problem();
        let certify = |w: &[f64], q: &[f64], ascent| {
            certify(&setting.data, &setting.loss, &problem, w, q, None, ascent).unwrap()
        };
        let zero = vec![0.0; best.w.len()];
        for q in [[1.0, 0.0, 0.0], [0.0, 0.2, 0.8], [0.3, 0.3, 0.4]] {
            for w in [&zero, &best.w] {
                let plain = certify(w, &q, 0);
                let ascended = certify(w, &q, 12);
                for found in [&plain, &ascended] {
                    assert!(found.lower <= best.upper + 1e-12, "{loss} {q:?}: {found:?}");
                    assert!(found.upper >= best.lower - 1e-12, "{loss} {q:?}: {found:?}");
                }
                assert!((plain.upper - value(&setting, w)).abs() < 1e-9);
                assert!(ascended.lower >= plain.lower - 1e-9);
            }
        }
        let own = certify(&best.w, &best.q, 12);
        assert!(own.relative_gap < 1e-6, "{loss} {objective}: {own:?}");
    }
}

/// Weights of rows count in the prior; families have a share each, whatever their rows.
#[test]
fn priors() {
    let x = Arc::new(Matrix::dense(1, vec![1.0; 4]).unwrap());
    let groups = [vec![0, 1], vec![2, 3], vec![0, 2], vec![3]];
    let data = Dataset::new(x, vec![1.0; 4], Some(vec![1.0, 2.0, 2.0, 5.0]), &groups).unwrap();
    assert_eq!(family_shares(&data, &[0, 0, 1, 1]), [0.15, 0.35, 0.1875, 0.3125]);
    assert_eq!(family_shares(&data, &[0; 4]), [3.0 / 18.0, 7.0 / 18.0, 3.0 / 18.0, 5.0 / 18.0]);
    let prior = |text: &str, shares| {
        let terms = Terms { l2: 1.0, shares, ..Terms::new(text.parse().unwrap()) };
        let setting = Setting::new(data.clone(), "squared".parse::<AnyLoss>().unwrap(), &terms);
        match setting.unwrap().goal {
            Goal::Tilted { prior, tau } => (prior, tau),
            other => panic!("{other:?}"),
        }
    };
    let given = Some(vec![0.1, 0.2, 0.3, 0.4]);
    assert_eq!(prior("tilted:0.5", given.clone()), (given.clone().unwrap(), 0.5));
    assert_eq!(prior("tilted:0.5:rows", None).0, family_shares(&data, &[0; 4]));
    assert_eq!(prior("tilted:2:groups", given).0, [0.25; 4]);
    for (text, same) in
        [("tilted:0.5:rows", "tilted:0.5"), ("tilted:1e-2:groups", "tilted:0.01:groups")]
    {
        assert_eq!(text.parse::<Objective>().unwrap().to_string(), same);
    }
    for text in ["tilted:0", "tilted:-1", "tilted:inf", "tilted:", "tilted:1:people", "tilted"] {
        let refused = text.parse::<Objective>().unwrap_err();
        assert!(refused.contains("TAU"), "{refused}");
    }
}
