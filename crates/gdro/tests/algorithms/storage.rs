//! Runs with lazy points and trees against runs with arrays.

use crate::common::{Kind, config, constants, distance, forms, table};
use gdro::Error;
use gdro::algorithm::{Algorithm, Recipe, Rule, online_1};
use gdro::average::Average;
use gdro::config::Config;
use gdro::domain::{Cube, Domain, L2Ball, MirrorMap};
use gdro::game::Game;
use gdro::group_weights::{Plain, Subsets};
use gdro::iterate::{Dense, Lazy};
use gdro::loss::{AnyLoss, Logistic, Softmax};
use gdro::run::{Saddle, Solver};
use gdro::source::{OnceEach, WithReplacement};
use gdro::storage::Storage;

const GROUPS: usize = 40;

fn run(
    form: (Algorithm, bool, f64),
    average: Average,
    storage: Storage,
    kind: Kind,
    map: impl MirrorMap + Clone + 'static,
) -> Box<dyn Solver> {
    let ranges: Vec<(u32, u32)> = (0..GROUPS as u32).map(|i| (30 * i, 30 * i + 60)).collect();
    let table = table(6, 30 * GROUPS + 60, 12, kind, true, &ranges);
    let budgets = [60; GROUPS];
    let form_config = config(form, 300, (4.0, 4.0), &budgets);
    let systematic = form.0 == Algorithm::AtkroK;
    let config = Config {
        average: Some(average),
        seed: 2,
        storage,
        subsets: systematic.then_some(Subsets::Systematic),
        ..form_config
    };
    let loss = match kind {
        Kind::Softmax => AnyLoss::Softmax(Softmax::new(3).unwrap()),
        _ => AnyLoss::Logistic(Logistic),
    };
    let domain = Domain::new(map).with_intercept(0.5).unwrap();
    let constants = constants(0.625, 1.0, GROUPS, form.2);
    let game = Game::top_k(GROUPS, form.2).with_ridge(0.01);
    let source = WithReplacement::new(table.sparse(true));
    let mut solver = config.build(game, loss, source, domain, &constants, Some(&budgets)).unwrap();
    solver.advance(300).unwrap();
    solver
}

/// Every algorithm, every average: the same samples, and the same answers up to rounding.
#[test]
fn all_forms_give_the_same_answers() {
    for form in forms() {
        for average in [Average::Uniform, Average::Weighted, Average::Suffix, Average::Last] {
            for (kind, wide) in
                [(Kind::Logistic, false), (Kind::Logistic, true), (Kind::Softmax, false)]
            {
                let run = |storage| match wide {
                    false => run(form, average, storage, kind, L2Ball::new(0.6).unwrap()),
                    true => run(form, average, storage, kind, Cube::new(-0.2, 0.3).unwrap()),
                };
                let (a, b) = (run(Storage::Sublinear), run(Storage::Arrays));
                let label = format!("{form:?} {average:?} {kind:?}");
                assert_eq!(a.samples(), b.samples(), "{label}");
                assert!(distance(&a.model(), &b.model()) < 1e-11, "{label}");
                assert!(distance(&a.weights(), &b.weights()) < 1e-11, "{label}");
                let last = |solver: &dyn Solver| {
                    let (mut w, mut q) = (vec![0.0; solver.model_len()], vec![0.0; GROUPS]);
                    solver.write_last(&mut w, &mut q);
                    [w, q].concat()
                };
                assert!(distance(&last(&*a), &last(&*b)) < 1e-11, "{label}");
            }
        }
    }
}

/// The second step of mirror-prox moves another point than the one whose scores are known.
#[test]
fn mirror_prox_of_single_samples_is_the_same_in_both_forms() {
    let table = table(6, 300, 12, Kind::Logistic, true, &[(0, 100), (100, 200), (200, 300)]);
    let domain = Domain::new(L2Ball::new(0.6).unwrap());
    let recipe = Recipe {
        rule: Rule::MirrorProx,
        ..online_1(&constants(0.625, 1.0, 3, 1.0), 500).scaled(4.0, 4.0)
    };
    let source = || WithReplacement::new(table.sparse(true));
    let game = Game::gdro(3).with_ridge(0.01);
    let play = |solver: &mut dyn Solver| {
        solver.advance(500).unwrap();
        [solver.model(), solver.weights()].concat()
    };
    let lazy = Lazy::new(&domain, 12, 1).unwrap();
    let dense = Dense::new(domain, 12, 1);
    let weights = || Plain::new(3, 1.0).unwrap();
    let mut lazy =
        Saddle::new(game.clone(), Logistic, source(), lazy, weights(), recipe.clone(), 1).unwrap();
    let mut dense = Saddle::new(game, Logistic, source(), dense, weights(), recipe, 1).unwrap();
    assert!(distance(&play(&mut lazy), &play(&mut dense)) < 1e-11);
}

#[test]
fn a_form_is_chosen_by_size() {
    let automatic = Storage::Automatic;
    assert!(automatic.tree(6, 1.0) && !automatic.tree(6, 2.0) && automatic.tree(100_000, 2.0));
    assert!(automatic.lazy(100_000, Some(50.0)));
    assert!(!automatic.lazy(100_000, None) && !automatic.lazy(20, Some(15.0)));
    for (storage, sublinear) in [(Storage::Arrays, false), (Storage::Sublinear, true)] {
        assert_eq!(storage.tree(6, 1.0), sublinear);
        assert_eq!(storage.lazy(10, None), sublinear);
    }
}

/// Subsets are an option of the one algorithm that draws them.
#[test]
fn subsets_are_refused_elsewhere() {
    let table = table(6, 60, 3, Kind::Logistic, true, &[(0, 30), (30, 60)]);
    let config = Config { subsets: Some(Subsets::DepRound), ..Config::new(Algorithm::Online1, 10) };
    let domain = Domain::new(L2Ball::new(1.0).unwrap());
    let source = WithReplacement::new(table.dense(false));
    let result =
        config.build(Game::gdro(2), Logistic, source, domain, &constants(1.0, 1.0, 2, 1.0), None);
    assert!(matches!(result, Err(Error::Unsupported { option: "subsets", .. })));
}

/// A budget that runs out among samples that are drawn ahead is reported as any other.
#[test]
fn budgets_end_runs_that_draw_ahead() {
    let table = table(6, 90, 3, Kind::Logistic, false, &[(0, 30), (30, 60), (60, 90)]);
    let config = Config::new(Algorithm::AtkroK, 1000);
    let domain = Domain::new(L2Ball::new(1.0).unwrap());
    let source = OnceEach::new(table.dense(false), None, 1).unwrap();
    let constants = constants(1.0, 1.0, 3, 2.0);
    let mut solver =
        config.build(Game::top_k(3, 2.0), Logistic, source, domain, &constants, None).unwrap();
    let error = solver.advance(1000).unwrap_err();
    assert!(matches!(error, Error::BudgetExhausted { budget: 30, .. }), "{error}");
    assert!(solver.samples().iter().all(|n| *n <= 30));
    assert!(
        (solver.rounds() * 2..=solver.rounds() * 2 + 1).contains(&solver.samples().iter().sum())
    );
}
