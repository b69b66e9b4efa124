//! Step sizes of every recipe against a table computed from the paper's formulas by
//! `oracles/steps.py`.

use gdro::algorithm::{self, Constants, Recipe};
use gdro::schedule::{Schedule, Steps};
use serde_json::Value;

struct Setting {
    constants: Constants,
    budgets: Vec<u64>,
    rounds: u64,
    table: Value,
}

fn settings() -> Vec<Setting> {
    let table: Vec<Value> = serde_json::from_str(include_str!("../oracles/steps.json")).unwrap();
    let setting = |row: &Value| {
        let s = &row["setting"];
        let number = |name: &str| s[name].as_f64().unwrap();
        Setting {
            constants: Constants {
                width: number("D2"),
                lipschitz: number("G"),
                smoothness: number("L"),
                groups: s["m"].as_u64().unwrap() as usize,
                k: number("k"),
                payoffs: (s["payoffs"][0].as_f64().unwrap(), s["payoffs"][1].as_f64().unwrap()),
                kappa: number("kappa"),
                c: number("c"),
            },
            budgets: serde_json::from_value(s["budgets"].clone()).unwrap(),
            rounds: s["T"].as_u64().unwrap(),
            table: row.clone(),
        }
    };
    table.iter().map(setting).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs()
}

fn steps<E>(recipe: &Recipe<E>) -> Steps {
    recipe.schedule.at(1)
}

/// The n̄ of the hybrid in the table.
fn middle(budgets: &[u64]) -> u64 {
    let mut sorted = budgets.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

/// The steps of every recipe by name.
fn all(constants: &Constants, budgets: &[u64], rounds: u64) -> Vec<(&'static str, Steps)> {
    let mut out = vec![
        ("smd-m", steps(&algorithm::smd_m(constants, rounds))),
        ("smd-m anytime", steps(&algorithm::smd_m_anytime(constants))),
        ("smd-1", steps(&algorithm::smd_1(constants, rounds))),
        ("online-1", steps(&algorithm::online_1(constants, rounds))),
        ("online-1 anytime", steps(&algorithm::online_1_anytime(constants))),
        ("smd-r", steps(&algorithm::smd_r(constants, budgets, rounds).unwrap())),
        ("smpa-m", steps(&algorithm::smpa_m(constants, budgets, rounds).unwrap())),
        ("atkro-m", steps(&algorithm::atkro_m(constants, rounds))),
        ("atkro-m anytime", steps(&algorithm::atkro_m_anytime(constants))),
        ("atkro-1", steps(&algorithm::atkro_1(constants))),
    ];
    out.extend([
        ("smd-m-single", steps(&algorithm::smd_m_single(constants, rounds))),
        ("smd-reuse", steps(&algorithm::smd_reuse(constants, rounds))),
        ("smd-r-weighted", steps(&algorithm::smd_r_weighted(constants, budgets, rounds).unwrap())),
        ("hybrid", steps(&algorithm::hybrid(constants, budgets, middle(budgets), rounds).unwrap())),
        ("afl", steps(&algorithm::afl(constants, rounds))),
        ("mero", steps(&algorithm::mero(constants))),
        ("smd-clip", steps(&algorithm::smd_clip(constants, rounds))),
        ("exp3p", steps(&algorithm::exp3p(constants, rounds))),
        ("tinf", steps(&algorithm::tinf(constants))),
        (
            "flexible",
            algorithm::flexible(constants, &[2.min(constants.groups), constants.groups, 1])
                .unwrap()
                .schedule
                .at(3),
        ),
        ("eliminate", steps(&algorithm::eliminate(constants, rounds, 50, 1, 0.05).unwrap())),
        ("adaptive", steps(&algorithm::adaptive(constants))),
    ]);
    if constants.k.fract() == 0.0 {
        out.push(("atkro-k", steps(&algorithm::atkro_k(constants, rounds).unwrap())));
    }
    out
}

#[test]
fn every_recipe_has_the_steps_of_its_theorem() {
    let settings = settings();
    assert!(settings.len() >= 3);
    for (at, setting) in settings.iter().enumerate() {
        let found = all(&setting.constants, &setting.budgets, setting.rounds);
        assert_eq!(found.len(), setting.table["steps"].as_object().unwrap().len());
        for (name, steps) in found {
            let row = &setting.table["steps"][name];
            for (j, value) in [steps.eta_w, steps.eta_q, steps.gamma].into_iter().enumerate() {
                let expected = row[j].as_f64().unwrap();
                assert!(close(value, expected), "setting {at}, {name} [{j}]: {value} {expected}");
            }
        }
    }
}

/// ρ of elimination with 50 kept samples per group and δ = 0.05.
#[test]
fn the_deviation_of_kept_means_is_that_of_the_table() {
    for setting in settings() {
        let c = &setting.constants;
        let recipe = algorithm::eliminate(c, setting.rounds, 50, 1, 0.05).unwrap();
        let expected = setting.table["deviation"].as_f64().unwrap();
        assert!(close(recipe.estimator.deviation(), expected));
        // Three outputs: the first term, which does not depend on δ, is √6 times as large.
        let of = |outputs, delta| {
            let recipe = algorithm::eliminate(c, setting.rounds, 50, outputs, delta).unwrap();
            recipe.estimator.deviation()
        };
        let first = 2.0 * c.lipschitz * (2.0 * c.width / 50.0).sqrt();
        assert!(close(of(3, 0.05) - of(1, 0.05) + first, 6f64.sqrt() * first));
        assert_eq!(recipe.estimator.kept(), 50);
    }
}

/// Flexible queries: the sum goes on over the ends of the list.
#[test]
fn steps_of_changing_queries_follow_their_sum() {
    for setting in settings() {
        let c = &setting.constants;
        let queries = [2, c.groups, 1, 1];
        let schedule = algorithm::flexible(c, &queries).unwrap().schedule;
        let mut sum = 0.0;
        for t in 1..=23 {
            sum += c.groups as f64 / queries[(t - 1) % 4] as f64;
            let steps = schedule.at(t as u64);
            assert!(close(steps.eta_q, (c.ln_m() / sum).sqrt()), "round {t}");
            assert!(close(steps.gamma, steps.eta_q / 2.0));
        }
    }
}

#[test]
fn anytime_steps_fall_like_one_over_root_t() {
    for setting in settings() {
        let c = &setting.constants;
        let schedules = [
            algorithm::smd_m_anytime(c).schedule,
            algorithm::online_1_anytime(c).schedule,
            algorithm::atkro_m_anytime(c).schedule,
            algorithm::atkro_1(c).schedule,
        ];
        for schedule in schedules {
            let (first, later) = (schedule.at(1), schedule.at(1234));
            for (a, b) in
                [(first.eta_w, later.eta_w), (first.eta_q, later.eta_q), (first.gamma, later.gamma)]
            {
                assert!(close(b, a / 1234f64.sqrt()));
            }
        }
        let fixed = algorithm::smd_m(c, setting.rounds).schedule;
        assert!(matches!(fixed, Schedule::Constant(_)) && fixed.at(1) == fixed.at(1234));
    }
}

#[test]
fn mini_batches_and_scale_factors_are_those_of_the_paper() {
    for setting in settings() {
        let recipe = algorithm::smpa_m(&setting.constants, &setting.budgets, 10).unwrap();
        let batches: Vec<u64> = serde_json::from_value(setting.table["batches"].clone()).unwrap();
        let scales: Vec<f64> = serde_json::from_value(setting.table["scales"].clone()).unwrap();
        assert_eq!(recipe.estimator.batches(), batches);
        assert!(recipe.estimator.scales().iter().zip(scales).all(|(a, b)| close(*a, b)));
    }
}

/// One group, or a cap that leaves a single point: the logarithms are 0, q does not move, and
/// nothing is infinite.
#[test]
fn one_group_or_k_equal_to_m_stops_the_group_player() {
    let one = Constants { smoothness: 1.0, ..Constants::paper(12.5, 3.0, 1) };
    for (name, steps) in all(&one, &[50], 100) {
        assert!(steps.eta_w > 0.0 && steps.eta_w.is_finite(), "{name}: {steps:?}");
        // Players that find their own steps have a multiplier.
        if name != "adaptive" {
            assert_eq!((steps.eta_q, steps.gamma), (0.0, 0.0), "{name}");
        }
    }
    let full = Constants { smoothness: 1.0, k: 7.0, ..Constants::paper(12.5, 3.0, 7) };
    for (name, steps) in all(&full, &[50; 7], 100) {
        assert!(steps.eta_w > 0.0 && steps.eta_w.is_finite(), "{name}: {steps:?}");
        if name.starts_with("atkro") {
            assert_eq!((steps.eta_q, steps.gamma), (0.0, 0.0), "{name}");
        }
    }
}

/// The multipliers act on the two players separately, and γ follows η_q.
#[test]
fn multipliers_scale_the_steps() {
    let c = Constants::paper(2.0, 3.0, 5);
    let (plain, scaled) = (algorithm::online_1(&c, 9), algorithm::online_1(&c, 9).scaled(2.0, 5.0));
    let (a, b) = (steps(&plain), steps(&scaled));
    assert!(close(b.eta_w, 2.0 * a.eta_w) && close(b.eta_q, 5.0 * a.eta_q));
    assert!(close(b.gamma, b.eta_q / 2.0));
}

/// G, L, D² and M of a loss on a domain, by hand; and samples that attain the range show that it is
/// not too small.
#[test]
fn constants_of_a_problem_bound_its_losses() {
    use gdro::algorithm::SampleBounds;
    use gdro::domain::{Domain, L2Ball};
    use gdro::game::Game;
    use gdro::loss::{Logistic, Loss, Softmax, Squared};

    let samples = SampleBounds { norm_squared: 9.0, target: 2.0 };
    let game = Game { scales: vec![1.0, 2.0], ..Game::gdro(2) };
    let ball = Domain::new(L2Ball::new(2.0).unwrap()).with_intercept(1.5).unwrap();
    let c = Constants::new(&game, &Squared, &ball, 4, samples, 1.0, None).unwrap();
    // |s| ≤ 2·3 + 1.5 = 7.5, |s − y| ≤ 9.5.
    assert!(close(c.width, 2.0 + 1.5 * 1.5 / 2.0));
    assert!(close(c.lipschitz, 2.0 * 19.0 * 10f64.sqrt()));
    assert!(close(c.smoothness, 2.0 * 2.0 * 10.0));
    assert!(close(c.payoffs.1, 2.0 * 9.5 * 9.5) && c.payoffs.0 == 0.0);

    // Softmax: intercepts (b, −b) on the two scores that matter.
    let softmax = Softmax::new(3).unwrap();
    let c = Constants::new(&Game::gdro(2), &softmax, &ball, 4, samples, 1.0, None).unwrap();
    let along = 2.0 * 3.0 / 2f64.sqrt();
    let worst = softmax.value(&[along + 1.5, -along - 1.5, 1.5], 1.0).unwrap();
    assert!(c.payoffs.1 >= worst, "{} {worst}", c.payoffs.1);

    // A ridge without a ball: (λ/2)‖w‖² ≤ p_max R(0).
    let free = Domain::new(L2Ball::unconstrained());
    let ridged = game.with_ridge(0.1);
    let c = Constants::new(&ridged, &Logistic, &free, 4, samples, 0.7, None).unwrap();
    assert!(close(c.width, 2.0 * 0.7 / 0.1));
    let none = Constants::new(&Game::gdro(2), &Logistic, &free, 4, samples, 0.7, None);
    assert!(none.is_err(), "no ball and no ridge: no D");
}
