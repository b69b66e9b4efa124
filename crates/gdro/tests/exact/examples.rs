//! The example programs, checked against closed forms and the reference solver.

#![allow(dead_code)]

#[path = "../../examples/own_geometry.rs"]
mod own_geometry;
#[path = "../../examples/own_loss.rs"]
mod own_loss;
#[path = "../../examples/own_sampler.rs"]
mod own_sampler;

use gdro::domain::{Domain, L2Ball};
use gdro::exact::{DatasetRisks, Goal, Options, Problem, solve};
use gdro::game::Game;
use gdro::loss::Loss;

/// The slope and the Hessian of the example's loss are derivatives of its value.
#[test]
fn the_example_loss_has_the_right_derivatives() {
    for s in [-2.0, -0.3, 0.0, 1.7] {
        for y in [0.0, 1.0, 6.0] {
            let h = 1e-5;
            let value = |s: f64| own_loss::Poisson.value(&[s], y).unwrap();
            let (mut slope, mut hessian) = ([0.0], [0.0]);
            own_loss::Poisson.slope(&[s], y, &mut slope).unwrap();
            own_loss::Poisson.hessian(&[s], y, &mut hessian);
            assert!(((value(s + h) - value(s - h)) / (2.0 * h) - slope[0]).abs() < 1e-7);
            let second = (value(s + h) - 2.0 * value(s) + value(s - h)) / (h * h);
            assert!((second - hessian[0]).abs() < 1e-4);
            // The loss is at least 0, and 0 for the right mean.
            assert!(value(s) >= -1e-12 && (y == 0.0 || value(y.ln()).abs() < 1e-12));
        }
    }
}

#[test]
fn a_users_loss_reaches_the_exact_optimum() {
    let (model, risks) = own_loss::fit(100_000).unwrap();
    let data = own_loss::shops().unwrap();
    let (game, domain) = (Game::gdro(3), Domain::new(L2Ball::new(1.4).unwrap()));
    let mut exact = DatasetRisks::new(&data, &own_loss::Poisson, false);
    let problem =
        Problem { game: &game, domain: &domain, features: 2, outputs: 1, goal: Goal::Adversary };
    let best = solve(&mut exact, &problem, &Options::default()).unwrap();
    assert!(best.gap() < 1e-9, "{best:?}");
    let worst = risks.iter().copied().fold(0.0, f64::max);
    println!("model {model:?}, worst risk {worst}, exact {} at {:?}", best.upper, best.w);
    assert!(worst >= best.lower - 1e-12, "nothing is below the lower bound");
    assert!(worst - best.upper < 0.005, "{worst} {}", best.upper);
}

/// R_i(w) = (w − μ_i)² + v_i: sensors 0 and 2 balance at (w − 1)² + 0.12 = (w − 4)² + 0.03, which
/// is w = 2.485; the slopes balance there with q = (0.505, 0, 0.495).
#[test]
fn a_users_sampler_reaches_the_closed_form() {
    let (w, q) = own_sampler::fit(200_000).unwrap();
    println!("w {w}, q {q:?}");
    assert!((w - 2.485).abs() < 0.01, "{w}");
    assert!((q[0] - 0.505).abs() < 0.02 && q[1] < 0.01, "{q:?}");
}

/// At w = (½, ½) both groups have the risk 5/4 and opposite gradients. In the ball of radius ½,
/// which does not reach there, the optimum lies on the quarter circle.
#[test]
fn the_example_geometry_is_solved_and_certified() {
    let (optimum, certificate) = own_geometry::fit(3.0, 20_000).unwrap();
    assert!((optimum.upper - 1.25).abs() < 1e-9 && optimum.gap() < 1e-9, "{optimum:?}");
    assert!(optimum.w.iter().all(|w| (w - 0.5).abs() < 1e-4), "{optimum:?}");
    assert!(certificate.lower <= 1.25 && certificate.upper >= 1.25, "{certificate:?}");
    assert!(certificate.gap < 0.01, "{certificate:?}");
    // A quarter circle in steps of 1e-5.
    let (optimum, _) = own_geometry::fit(0.5, 10).unwrap();
    let arc = |i: u32| f64::from(i) * 1e-5;
    let risk = |a: f64| {
        let (x, y) = (0.5 * a.cos(), 0.5 * a.sin());
        let one = ((x - 1.0).powi(2) + (y + 1.0).powi(2)) / 2.0;
        one.max((x * x + (y - 2.0).powi(2)) / 2.0)
    };
    let least = (0..157_080).map(|i| risk(arc(i))).fold(f64::INFINITY, f64::min);
    assert!((optimum.upper - least).abs() < 2e-5 && optimum.gap() < 1e-9, "{optimum:?} {least}");
}
