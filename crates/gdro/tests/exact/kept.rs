//! A solve goes on from any of its iterations to the same bits.

#![cfg(feature = "exact")]

use std::cell::Cell;

use crate::common::{Kind, table};
use gdro::Error;
use gdro::dataset::Dataset;
use gdro::domain::{AnyMap, Domain, L1Ball, L2Ball};
use gdro::exact::{Goal, Keep, Keeper, Options, Problem, Solution, Stand, minimize, minimize_kept};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Loss as _, Softmax};

const GROUPS: [(u32, u32); 3] = [(0, 20), (15, 30), (30, 60)];

/// Keeps every iteration, or one of so many.
struct Every {
    stands: Vec<Stand>,
    each: usize,
    seen: Cell<usize>,
}

impl Every {
    fn so_many(each: usize) -> Self {
        Every { stands: Vec::new(), each, seen: Cell::new(0) }
    }
}

impl Keep for Every {
    fn is_due(&self) -> bool {
        let seen = self.seen.replace(self.seen.get() + 1);
        seen.is_multiple_of(self.each)
    }

    fn keep(&mut self, stand: &Stand) {
        self.stands.push(stand.clone());
    }
}

/// Keeps nothing.
struct Nothing;

impl Keep for Nothing {
    fn is_due(&self) -> bool {
        false
    }

    fn keep(&mut self, _: &Stand) {}
}

fn bits(solution: &Solution) -> (Vec<u64>, usize) {
    let Solution { w, q, upper, lower, .. } = solution;
    let numbers = w.iter().chain(q).chain([upper, lower]).map(|v| v.to_bits());
    (numbers.collect(), solution.iterations)
}

/// How many places were kept, one of so many iterations; from each the solve ends with the same bits.
fn from_each(
    (data, loss): (&Dataset, &AnyLoss),
    problem: &Problem<'_, AnyMap>,
    each: usize,
    label: &str,
) -> usize {
    let options = Options::default();
    let whole = minimize(data, loss, problem, &options).unwrap();
    let mut every = Every::so_many(each);
    let mut keeper = Keeper::new(None, &mut every);
    let kept = minimize_kept(data, loss, problem, &options, &mut keeper).unwrap();
    assert_eq!(bits(&kept), bits(&whole), "{label}: keeping changes nothing");
    for (at, stand) in every.stands.iter().enumerate() {
        let mut nothing = Nothing;
        let mut keeper = Keeper::new(Some(stand.clone()), &mut nothing);
        let again = minimize_kept(data, loss, problem, &options, &mut keeper);
        assert_eq!(bits(&again.unwrap()), bits(&whole), "{label} from {at}");
    }
    every.stands.len()
}

/// Sets of models that are known by their mirror map alone are for the first-order method.
#[test]
fn from_any_first_order_step_to_the_same_bits() {
    let mut kept = 0;
    for (loss, kind) in
        [("logistic", Kind::Logistic), ("squared", Kind::Squared), ("hinge", Kind::Logistic)]
    {
        let loss: AnyLoss = loss.parse().unwrap();
        let data = table(7, 60, 4, kind, false, &GROUPS).dense(true);
        let l1 = Domain::new(AnyMap::L1Ball(L1Ball::new(0.8).unwrap()));
        for domain in [l1.clone(), l1.with_free_intercept(100.0).unwrap()] {
            let goals = [Goal::Adversary, Goal::Tilted { prior: vec![0.2, 0.3, 0.5], tau: 0.1 }];
            for goal in goals {
                let label = format!("{} {goal:?} {}", loss.name(), domain.is_free());
                let game = Game::gdro(3).with_ridge(0.01);
                let problem =
                    Problem { game: &game, domain: &domain, features: 4, outputs: 1, goal };
                kept += from_each((&data, &loss), &problem, 23, &label);
            }
        }
    }
    assert!(kept > 40, "{kept}");
}

#[test]
fn from_any_iteration_to_the_same_bits() {
    let mut kept_in_all = 0;
    let losses = ["logistic", "squared", "hinge", "absolute"].map(|name| name.parse().unwrap());
    let softmax = AnyLoss::Softmax(Softmax::new(3).unwrap());
    for loss in losses.into_iter().chain([softmax]) {
        let kind = match &loss {
            AnyLoss::Softmax(_) => Kind::Softmax,
            loss if loss.name().starts_with(['s', 'a']) => Kind::Squared,
            _ => Kind::Logistic,
        };
        let data = table(7, 60, 4, kind, false, &GROUPS).dense(true);
        let ball = Domain::new(AnyMap::L2Ball(L2Ball::new(0.7).unwrap()));
        let free = Domain::new(AnyMap::L2Ball(L2Ball::unconstrained()));
        let free = free.with_free_intercept(100.0).unwrap();
        for (domain, ridge) in [(&ball, 0.0), (&free, 0.02)] {
            let goals = [
                Goal::Adversary,
                Goal::Fixed(vec![0.2, 0.3, 0.5]),
                Goal::Tilted { prior: vec![0.2, 0.3, 0.5], tau: 0.1 },
            ];
            for goal in goals {
                let label = format!("{} {ridge} {goal:?}", loss.name());
                let game = Game::gdro(3).with_ridge(ridge);
                let (features, outputs) = (4, loss.outputs());
                let problem = Problem { game: &game, domain, features, outputs, goal };
                kept_in_all += from_each((&data, &loss), &problem, 1, &label);
            }
        }
    }
    assert!(kept_in_all > 200, "{kept_in_all}");
}

#[test]
fn what_another_problem_kept_is_refused() {
    let loss: AnyLoss = "logistic".parse().unwrap();
    let domain = Domain::new(AnyMap::L2Ball(L2Ball::unconstrained()));
    let game = Game::gdro(3).with_ridge(0.1);
    let solve = |features: usize, stand: Option<Stand>| {
        let data = table(7, 60, features, Kind::Logistic, false, &GROUPS).dense(false);
        let goal = Goal::Adversary;
        let problem = Problem { game: &game, domain: &domain, features, outputs: 1, goal };
        let mut every = Every::so_many(1);
        let mut keeper = Keeper::new(stand, &mut every);
        let solved = minimize_kept(&data, &loss, &problem, &Options::default(), &mut keeper);
        solved.map(|_| every.stands)
    };
    let stands = solve(4, None).unwrap();
    assert!(matches!(solve(5, Some(stands[0].clone())), Err(Error::State(_))));
}
