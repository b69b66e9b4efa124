//! A saved state, through JSON, goes on with the same bits; a state of another solver is refused.

use crate::common::{Kind, OVERLAPPING, config, constants, forms, same_bits, table};
use gdro::Error;
use gdro::algorithm::Algorithm;
use gdro::average::Average;
use gdro::config::{Config, GroupPlayer};
use gdro::domain::{Domain, L2Ball};
use gdro::game::Game;
use gdro::loss::Logistic;
use gdro::run::{Solver, Start, State};
use gdro::source::{OnceEach, Synthetic, WithReplacement};
use gdro::storage::Storage;

#[derive(Clone, Copy, Debug, PartialEq)]
enum From {
    Rows,
    WeightedRows,
    OnceEach,
    Synthetic,
}

fn solver(
    (algorithm, anytime, k): (Algorithm, bool, f64),
    average: Average,
    from: From,
) -> Box<dyn Solver> {
    stored((algorithm, anytime, k), average, from, Storage::Arrays)
}

fn stored(
    (algorithm, anytime, k): (Algorithm, bool, f64),
    average: Average,
    from: From,
    storage: Storage,
) -> Box<dyn Solver> {
    let table = table(6, 200, 3, Kind::Logistic, false, &OVERLAPPING);
    let form = config((algorithm, anytime, k), 24, (4.0, 4.0), &[120, 60, 50]);
    let config = Config { average: Some(average), seed: 2, storage, ..form };
    let domain = Domain::new(L2Ball::new(1.0).unwrap()).with_intercept(0.5).unwrap();
    let constants = constants(0.625, 1.0, 3, k);
    let budgets = Some(&[120, 60, 50][..]);
    let game = Game::top_k(3, k).with_ridge(0.01);
    match from {
        From::Rows | From::WeightedRows => {
            let source = WithReplacement::new(table.dense(from == From::WeightedRows));
            config.build(game, Logistic, source, domain, &constants, budgets).unwrap()
        }
        From::OnceEach => {
            let source = OnceEach::new(table.dense(false), None, 1).unwrap();
            config.build(game, Logistic, source, domain, &constants, budgets).unwrap()
        }
        From::Synthetic => {
            let source = Synthetic::balanced(3, 3, 5).unwrap();
            config.build(game, Logistic, source, domain, &constants, budgets).unwrap()
        }
    }
}

const AVERAGES: [Average; 4] =
    [Average::Uniform, Average::Weighted, Average::Suffix, Average::Last];

#[test]
fn a_saved_run_goes_on_with_the_same_bits() {
    for form in forms() {
        for average in AVERAGES {
            let sources = [From::Rows, From::WeightedRows, From::OnceEach, From::Synthetic];
            let storages = [Storage::Arrays, Storage::Sublinear];
            for (from, storage) in sources.into_iter().flat_map(|f| storages.map(|s| (f, s))) {
                let label = format!("{form:?} {average:?} {from:?} {storage:?}");
                let solver = |form, average, from| stored(form, average, from, storage);
                let mut whole = solver(form, average, from);
                whole.advance(24).unwrap();
                // Stops right before, at and after the restarts of the suffix average.
                for stop in [0, 5, 6, 7, 12, 23, 24] {
                    let mut first = solver(form, average, from);
                    first.advance(stop).unwrap();
                    let text = serde_json::to_string(&first.save()).unwrap();
                    let state: State = serde_json::from_str(&text).unwrap();
                    assert_eq!(state, first.save(), "{label}: JSON keeps every bit");
                    let mut second = solver(form, average, from);
                    // What the solver did before does not matter.
                    second.advance(3).unwrap();
                    second.restore(&state).unwrap();
                    assert_eq!(second.rounds(), stop);
                    assert!(same_bits(&second.model(), &first.model()), "{label} at {stop}");
                    second.advance(24 - stop).unwrap();
                    assert!(same_bits(&second.model(), &whole.model()), "{label} from {stop}");
                    assert!(same_bits(&second.weights(), &whole.weights()), "{label}");
                    assert_eq!(second.save(), whole.save(), "{label}");
                    assert_eq!(second.samples(), whole.samples());
                    assert_eq!(second.clipped(), whole.clipped());
                }
            }
        }
    }
}

#[test]
fn an_exhausted_run_resumes_as_exhausted() {
    let form = (Algorithm::SmdM, false, 1.0);
    let mut first = solver(form, Average::Uniform, From::OnceEach);
    assert!(matches!(first.advance(1000), Err(Error::BudgetExhausted { group: 2, budget: 50 })));
    let mut second = solver(form, Average::Uniform, From::OnceEach);
    second.restore(&first.save()).unwrap();
    assert!(matches!(second.advance(1), Err(Error::BudgetExhausted { group: 2, .. })));
}

#[test]
fn states_of_other_solvers_are_refused() {
    let smd = (Algorithm::SmdM, false, 1.0);
    let smpa = (Algorithm::SmpaM, false, 1.0);
    let refused = |form, average, from, state: &State| {
        let mut solver = solver(form, average, from);
        let error = solver.restore(state).unwrap_err();
        assert!(matches!(error, Error::State(_)), "{error}");
    };
    let saved = |form, average, from| {
        let mut s = solver(form, average, from);
        s.advance(2).unwrap();
        s.save()
    };
    let plain = saved(smd, Average::Uniform, From::Rows);
    // An anchor or a stretch too many or too few.
    refused(smpa, Average::Uniform, From::Rows, &plain);
    refused(smd, Average::Uniform, From::Rows, &saved(smpa, Average::Uniform, From::Rows));
    refused(smd, Average::Suffix, From::Rows, &plain);
    refused(smd, Average::Uniform, From::Rows, &saved(smd, Average::Suffix, From::Rows));
    // The memory of another source.
    refused(smd, Average::Uniform, From::OnceEach, &plain);
    refused(smd, Average::Uniform, From::Rows, &saved(smd, Average::Uniform, From::OnceEach));
    // Arrays of another size.
    let change = |edit: &dyn Fn(&mut State)| {
        let mut state = plain.clone();
        edit(&mut state);
        refused(smd, Average::Uniform, From::Rows, &state);
    };
    change(&|s| s.samples.push(0));
    change(&|s| s.model.truncate(s.model.len() - 1));
    change(&|s| s.weights.push(0.0));
    let mut used = saved(smd, Average::Uniform, From::OnceEach);
    used.source[1] = 61;
    refused(smd, Average::Uniform, From::OnceEach, &used);
}

/// Fixed group weights have a state as well.
#[test]
fn ordinary_training_resumes() {
    let make = || {
        let table = table(6, 200, 3, Kind::Logistic, false, &OVERLAPPING);
        let player = GroupPlayer::Fixed(vec![120.0, 60.0, 50.0]);
        let config = Config { player, ..Config::new(Algorithm::Online1, 24) };
        let domain = Domain::new(L2Ball::new(1.0).unwrap());
        let source = WithReplacement::new(table.dense(false));
        let constants = constants(0.5, 1.0, 3, 1.0);
        config.build(Game::gdro(3), Logistic, source, domain, &constants, None).unwrap()
    };
    let (mut whole, mut first, mut second) = (make(), make(), make());
    whole.advance(24).unwrap();
    first.advance(9).unwrap();
    second.restore(&first.save()).unwrap();
    second.advance(15).unwrap();
    assert!(same_bits(&whole.model(), &second.model()));
    let expected = [120.0 / 230.0, 60.0 / 230.0, 50.0 / 230.0];
    assert!(same_bits(&second.weights(), &expected));
}

#[test]
fn a_refused_state_changes_nothing() {
    let form = forms().into_iter().next().unwrap();
    let mut run = solver(form, Average::Uniform, From::Rows);
    let fresh = run.save();
    run.advance(5).unwrap();
    let before = run.save();
    let wrong = State { source: vec![1], estimator: vec![1.0], ..fresh };
    assert!(run.restore(&wrong).is_err());
    assert_eq!(run.save(), before);
}

/// Kept samples that do not fit together, or not to the groups, are refused; missing ones are an
/// error of the next round.
#[test]
fn kept_samples_of_another_shape_are_refused() {
    let form = (Algorithm::SmdReuse, false, 1.0);
    let mut first = solver(form, Average::Uniform, From::Rows);
    first.advance(5).unwrap();
    let whole = serde_json::to_value(first.save()).unwrap();
    for (field, value) in [
        ("groups", serde_json::json!([0, 1, 7])),
        ("targets", serde_json::json!([1.0])),
        ("ends", serde_json::json!([[3, null], [2, null], [9, null]])),
        ("values", serde_json::json!([0.5])),
    ] {
        let mut edited = whole.clone();
        edited["kept"][field] = value;
        let state: State = serde_json::from_value(edited).unwrap();
        let mut second = solver(form, Average::Uniform, From::Rows);
        assert!(matches!(second.restore(&state), Err(Error::State(_))), "{field}");
    }
    let mut emptied = whole;
    for field in ["groups", "targets", "ends", "values"] {
        emptied["kept"][field] = serde_json::json!([]);
    }
    let mut second = solver(form, Average::Uniform, From::Rows);
    second.restore(&serde_json::from_value(emptied).unwrap()).unwrap();
    assert!(matches!(second.advance(1), Err(Error::State(_))));
}

/// A run begins at the model that it is given, with the player of q where another run left it, and plays
/// what one plays that was moved there by its state.
#[test]
fn a_run_starts_where_it_is_told() {
    let model = [0.3, -0.2, 0.1, 0.4];
    for form in forms() {
        let label = format!("{form:?}");
        let mut before = solver(form, Average::Uniform, From::Rows);
        before.advance(24).unwrap();
        let state = before.save();
        let (mut w, mut q) = ([0.0; 4], [0.0; 3]);
        before.write_last(&mut w, &mut q);
        let start = Start { model: model.to_vec(), weights: Some(state.weights.clone()) };
        let mut run = solver(form, Average::Uniform, From::Rows);
        run.start_at(&start).unwrap();
        // Nothing has been averaged.
        assert_eq!(
            (run.rounds(), run.model(), run.weights()),
            (0, model.to_vec(), q.to_vec()),
            "{label}"
        );
        assert_eq!(run.save().streams, solver(form, Average::Uniform, From::Rows).save().streams);
        if let Some((anchor, weights)) = run.save().anchor {
            assert_eq!(anchor, run.save().model, "{label}");
            assert_eq!(weights[..3], run.save().weights[..3], "{label}");
        }
        // A player of another form, and none, leave q uniform.
        for weights in [None, Some(vec![1.0; 2])] {
            let mut run = solver(form, Average::Uniform, From::Rows);
            run.start_at(&Start { model: model.to_vec(), weights }).unwrap();
            let fresh = solver(form, Average::Uniform, From::Rows).weights();
            assert_eq!((run.model(), run.weights()), (model.to_vec(), fresh), "{label}");
            run.advance(3).unwrap();
            assert!(matches!(run.start_at(&Start::at(model.to_vec())), Err(Error::State(_))));
        }
        let short = Start::at(vec![0.0; 3]);
        let error = solver(form, Average::Uniform, From::Rows).start_at(&short).unwrap_err();
        assert!(matches!(error, Error::Length { found: 3, expected: 4, .. }), "{error}");
    }
}
