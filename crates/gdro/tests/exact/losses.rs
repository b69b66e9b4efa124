//! Every loss by name: the reference solver against optimal values from a conic solver,
//! `oracles/losses.py`, and certificates of random problems.

#![cfg(feature = "exact")]

use std::sync::Arc;

use crate::common::{Kind, table};
use gdro::certificate::certify;
use gdro::domain::{AnyMap, Cube, Domain, L2Ball, MirrorMap};
use gdro::exact::{DatasetRisks, Goal, Options, Problem, Solution, minimize, solve};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Loss, Targets};
use gdro::sampling::{Rng, below, unit};
use gdro::{Dataset, Matrix};
use rand::SeedableRng as _;
use serde_json::Value;

const NAMES: [&str; 9] = [
    "logistic",
    "hinge",
    "smoothed-hinge:0.5",
    "softmax",
    "squared",
    "absolute",
    "huber:0.3",
    "quantile:0.9",
    "quantile:0.5",
];

fn named(name: &str) -> AnyLoss {
    name.parse().unwrap()
}

fn problem<'a, M: MirrorMap>(
    data: &Dataset,
    loss: &AnyLoss,
    (game, goal): (&'a Game, &Goal),
    domain: &'a Domain<M>,
) -> Problem<'a, M> {
    let (features, outputs) = (data.features(), loss.outputs());
    Problem { game, domain, features, outputs, goal: goal.clone() }
}

#[test]
fn optima_agree_with_a_conic_solver() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../oracles/losses.json")).unwrap();
    assert_eq!(rows.len(), 60);
    let groups = [(0, 20), (15, 30), (30, 40), (40, 52), (50, 60)];
    let mut faults = Vec::new();
    for row in &rows {
        let text = |name: &str| row[name].as_str().unwrap();
        let (loss, oracle) = (named(text("loss")), row["value"].as_f64().unwrap());
        let kind = if loss.targets() == Targets::Labels { Kind::Logistic } else { Kind::Squared };
        let data = table(21, 60, 4, kind, true, &groups).sparse(true);
        let free = Domain::new(L2Ball::unconstrained());
        let (domain, ridge) = match text("domain") {
            "ball" => (Domain::new(L2Ball::new(0.7).unwrap()), 0.0),
            "ridge" => (free, 0.05),
            _ => (free.with_intercept(100.0).unwrap(), 0.05),
        };
        let mut game = Game::gdro(5).with_ridge(ridge);
        let mut goal = Goal::Adversary;
        match text("goal") {
            "top-2.5" => game.k = 2.5,
            "fixed" => goal = Goal::Fixed(vec![0.1, 0.3, 0.2, 0.25, 0.15]),
            "scales-offsets" => {
                game.scales = vec![1.0, 0.5, 2.0, 1.5, 0.8];
                game.offsets = vec![0.1, -0.2, 0.0, 0.3, -0.1];
            }
            _ => {}
        }
        let problem = problem(&data, &loss, (&game, &goal), &domain);
        let s = minimize(&data, &loss, &problem, &Options::default()).unwrap();
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
        let encloses = s.lower <= oracle + slack && s.upper >= oracle - slack;
        let certified = certificate.lower <= oracle + slack
            && certificate.upper >= oracle - slack
            && certificate.relative_gap <= 2e-7;
        if !(tight && encloses && certified) {
            faults.push(format!("{label}: {s:?} {certificate:?} oracle {oracle}"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A small random problem under a loss.
struct Random {
    data: Dataset,
    loss: AnyLoss,
    game: Game,
    domain: Domain<AnyMap>,
    goal: Goal,
}

fn random(rng: &mut Rng) -> Random {
    let loss = named(NAMES[below(rng, NAMES.len())]);
    let (m, d, rows) = (1 + below(rng, 4), 1 + below(rng, 3), 4 + below(rng, 12));
    let x = (0..rows * d).map(|_| 6.0 * unit(rng) - 3.0).collect();
    let target = |rng: &mut Rng| match loss.targets() {
        Targets::Labels => (unit(rng) - 0.3).signum(),
        Targets::Classes => below(rng, 2) as f64,
        Targets::Numbers => 4.0 * unit(rng) - 1.0,
    };
    let y = (0..rows).map(|_| target(rng)).collect();
    let groups: Vec<Vec<u32>> =
        (0..m).map(|i| (0..rows as u32).filter(|r| *r as usize % m == i).collect()).collect();
    let data = Dataset::new(Arc::new(Matrix::dense(d, x).unwrap()), y, None, &groups).unwrap();
    let mut game = Game::top_k(m, 1.0);
    if unit(rng) < 0.5 {
        game.k = 1.0 + unit(rng) * (m as f64 - 1.0);
    }
    if unit(rng) < 0.5 {
        game.scales = (0..m).map(|_| 0.2 + unit(rng)).collect();
        game.offsets = (0..m).map(|_| 2.0 * unit(rng) - 1.0).collect();
    }
    let map = match below(rng, 3) {
        0 => AnyMap::L2Ball(L2Ball::unconstrained()),
        1 => AnyMap::L2Ball(L2Ball::new(0.1 + 3.0 * unit(rng)).unwrap()),
        _ => AnyMap::Cube(Cube::new(-1.0 - unit(rng), unit(rng)).unwrap()),
    };
    if !map.reach(d).is_finite() || unit(rng) < 0.5 {
        game.ridge = 10f64.powf(-4.0 * unit(rng));
    }
    let mut domain = Domain::new(map);
    if unit(rng) < 0.5 {
        domain = domain.with_intercept(5.0).unwrap();
    }
    let goal = match below(rng, 4) {
        0 => Goal::Fixed(vec![1.0 / m as f64; m]),
        1 if game.k == 1.0 => {
            let prior: Vec<f64> = (0..m).map(|i| (1 + i) as f64).collect();
            let total: f64 = prior.iter().sum();
            let prior = prior.iter().map(|p| p / total).collect();
            Goal::Tilted { prior, tau: 10f64.powf(8.0 * unit(rng) - 6.0) }
        }
        _ => Goal::Adversary,
    };
    Random { data, loss, game, domain, goal }
}

/// 400 random problems: the reference solver solves them, certificates of its answers are tight,
/// and those of models far from the optimum enclose it.
#[test]
fn bounds_enclose_the_optimum_of_random_problems() {
    let mut rng = Rng::seed_from_u64(2026);
    let mut faults = Vec::new();
    for case in 0..400 {
        let Random { data, loss, game, domain, goal } = random(&mut rng);
        let problem = problem(&data, &loss, (&game, &goal), &domain);
        let best = minimize(&data, &loss, &problem, &Options::default()).unwrap();
        let close = 1e-6 * (1.0 + best.upper.abs());
        let own = certify(&data, &loss, &problem, &best.w, &best.q, None, 0).unwrap();
        if best.gap() > close || own.gap > close || best.gap() < -1e-12 {
            faults.push(format!(
                "case {case}: {loss} {game:?} {domain:?} {goal:?} gap {:.1e} certified {:.1e} {}",
                best.gap(),
                own.gap,
                best.iterations
            ));
        }
        let m = data.groups();
        let far: Vec<f64> = best.w.iter().map(|v| v * unit(&mut rng)).collect();
        let far = if domain.map.contains(&far[..data.features() * loss.outputs()]) {
            far
        } else {
            best.w.clone()
        };
        let q: Vec<f64> = (0..m).map(|_| 0.01 + unit(&mut rng)).collect();
        let total: f64 = q.iter().sum();
        let q: Vec<f64> = q.iter().map(|v| v / total).collect();
        let other = certify(&data, &loss, &problem, &far, &q, None, 0).unwrap();
        for c in [&own, &other] {
            assert!(c.lower <= best.upper && c.upper >= best.lower, "case {case}: {c:?} {best:?}");
        }
    }
    assert!(faults.is_empty(), "{} {faults:#?}", faults.len());
}

/// Smooth losses take the direct way. (Those of numbers are first written in units of their own.)
#[test]
fn smooth_losses_keep_their_bits() {
    let mut rng = Rng::seed_from_u64(5);
    for _ in 0..60 {
        let Random { data, loss, game, domain, goal } = random(&mut rng);
        if loss.smoothed(1.0).is_some() || loss.in_unit(1.0).is_some() {
            continue;
        }
        let problem = problem(&data, &loss, (&game, &goal), &domain);
        let a: Solution = minimize(&data, &loss, &problem, &Options::default()).unwrap();
        let mut risks = DatasetRisks::new(&data, &loss, domain.intercept.is_some());
        let b = solve(&mut risks, &problem, &Options::default()).unwrap();
        assert_eq!((a.w, a.q, a.upper, a.lower), (b.w, b.q, b.upper, b.lower));
    }
}

/// Range, Lipschitz constant and curvature hold at random points, and slopes are subgradients.
#[test]
fn constants_hold_at_random_points() {
    let mut rng = Rng::seed_from_u64(8);
    for name in NAMES {
        let loss = named(name);
        let c = loss.outputs();
        for _ in 0..2000 {
            let size = 10f64.powf(3.0 * unit(&mut rng) - 1.0);
            let mut point =
                || -> Vec<f64> { (0..c).map(|_| size * (2.0 * unit(&mut rng) - 1.0)).collect() };
            let (s, t) = (point(), point());
            let y = match loss.targets() {
                Targets::Labels => (unit(&mut rng) - 0.5).signum(),
                Targets::Classes => below(&mut rng, 2) as f64,
                Targets::Numbers => 6.0 * unit(&mut rng) - 3.0,
            };
            let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
            let (bound, target) = (norm(&s).max(norm(&t)), y.abs());
            let (mut u, mut v) = (vec![0.0; c], vec![0.0; c]);
            let at_s = loss.slope(&s, y, &mut u).unwrap();
            let at_t = loss.slope(&t, y, &mut v).unwrap();
            let near = 1.0 + 1e-12;
            assert!(at_s <= loss.range(bound, target) * near, "{name} {s:?} {y}");
            let apart: Vec<f64> = t.iter().zip(&s).map(|(t, s)| t - s).collect();
            let far = norm(&apart);
            let steep = loss.lipschitz(bound, target);
            assert!((at_t - at_s).abs() <= steep * far * near + 1e-12, "{name} {s:?} {t:?} {y}");
            assert!(norm(&u) <= steep * near, "{name} {s:?} {y}");
            let rise: f64 = u.iter().zip(&apart).map(|(u, d)| u * d).sum();
            assert!(at_t >= at_s + rise - 1e-12 * (1.0 + bound * bound), "{name} {s:?} {t:?} {y}");
            let turn: Vec<f64> = v.iter().zip(&u).map(|(v, u)| v - u).collect();
            assert!(norm(&turn) <= loss.curvature() * far * near + 1e-12, "{name} {s:?} {t:?}");
        }
    }
}

/// Kinks and a geometry that only the first-order method knows: the Fenchel gap closes as well.
#[test]
fn non_smooth_losses_over_any_geometry() {
    use gdro::domain::{L1Ball, PNormBall, Simplex};
    let maps = [
        AnyMap::PNormBall(PNormBall::new(1.5, 2.0).unwrap()),
        AnyMap::Simplex(Simplex::new(2.0).unwrap()),
        AnyMap::L1Ball(L1Ball::new(2.0).unwrap()),
    ];
    for name in ["hinge", "absolute", "quantile:0.8"] {
        let kind = if name == "hinge" { Kind::Logistic } else { Kind::Squared };
        let data = table(11, 120, 4, kind, false, &[(0, 60), (50, 120)]).dense(false);
        let loss = named(name);
        for map in &maps {
            let domain = Domain::new(map.clone());
            let game = Game::gdro(2).with_ridge(1e-3);
            let problem = Problem {
                game: &game,
                domain: &domain,
                features: 4,
                outputs: 1,
                goal: Goal::Adversary,
            };
            let best = minimize(&data, &loss, &problem, &Options::default()).unwrap();
            println!("{name} {map:?}: gap {:.1e} in {}", best.gap(), best.iterations);
            assert!(best.gap() >= 0.0 && best.gap() < 1e-4, "{name} {map:?}: {}", best.gap());
            let found = certify(&data, &loss, &problem, &best.w, &best.q, None, 20).unwrap();
            assert!(found.lower <= best.upper && found.upper >= best.lower);
            assert!(found.gap < 1e-3, "{name} {map:?}: {found:?}");
        }
    }
}

/// Points on a line up to noise that cancels: at the optimum, which lies inside of the ball, all that is
/// left of the gradient is rounding, and the first-order method has to end there.
#[test]
fn an_optimum_inside_of_a_ball_of_the_1_norm() {
    use gdro::domain::L1Ball;
    let x = [[1.0, 3.0], [2.0, 1.0], [3.0, 3.0], [4.0, 1.0]];
    let features = (0..16).flat_map(|row| x[row / 4]).collect();
    let noise = [0.1, -0.1];
    let targets = (0..16).map(|row| 2.5 - x[row / 4][1] / 2.0 + noise[row % 2]).collect();
    let matrix = Arc::new(Matrix::dense(2, features).unwrap());
    let data = Dataset::new(matrix, targets, None, &[(0..16).collect()]).unwrap();
    let domain = Domain::new(L1Ball::new(5.0).unwrap()).with_intercept(100.0).unwrap();
    let game = Game::gdro(1);
    for name in ["squared", "huber:1.0"] {
        let problem = problem(&data, &named(name), (&game, &Goal::Adversary), &domain);
        let options = Options { tolerance: 1e-16, ..Options::default() };
        let best = minimize(&data, &named(name), &problem, &options).unwrap();
        assert!(best.gap() < 1e-12, "{name}: {}", best.gap());
        for (found, expected) in best.w.iter().zip([0.0, -0.5, 2.5]) {
            assert!((found - expected).abs() < 1e-6, "{name}: {:?}", best.w);
        }
    }
}
