//! Looking ahead at rows that are drawn next changes what a round costs, and nothing else.

mod common;

use common::{Kind, config, constants, forms, table};
use gdro::domain::{Domain, L2Ball};
use gdro::error::Result;
use gdro::game::Game;
use gdro::loss::Logistic;
use gdro::run::Solver;
use gdro::sampling::Rng;
use gdro::source::{Handle, Source, WithReplacement};
use gdro::{Dataset, Sample};

/// A source that is never looked ahead at.
struct Near(WithReplacement);

impl Source for Near {
    fn groups(&self) -> usize {
        self.0.groups()
    }

    fn features(&self) -> usize {
        self.0.features()
    }

    fn stored(&self) -> Option<f64> {
        self.0.stored()
    }

    fn draw(&mut self, group: usize, rng: &mut Rng) -> Result<Handle> {
        self.0.draw(group, rng)
    }

    fn get(&self, handle: Handle) -> Sample<'_> {
        self.0.get(handle)
    }
}

type Form = (gdro::algorithm::Algorithm, bool, f64);

fn solver<S: Source + 'static>(source: S, form: Form) -> Box<dyn Solver> {
    let config = config(form, 500, (1.0, 3.0), &[4000, 2000, 2000]);
    let domain = Domain::new(L2Ball::new(1.0).unwrap());
    let (constants, game) = (constants(1.0, 1.0, 3, form.2), Game::top_k(3, form.2));
    let budgets = Some(&[4000, 2000, 2000][..]);
    config.build(game, Logistic, source, domain, &constants, budgets).unwrap()
}

/// The state after 500 rounds, all of it.
fn play<S: Source + 'static>(source: S, form: Form) -> String {
    let mut solver = solver(source, form);
    solver.advance(500).unwrap();
    serde_json::to_string(&solver.save()).unwrap()
}

/// The same with a checkpoint in between, which another solver takes over that has looked ahead
/// elsewhere.
fn resumed<S: Source + Clone + 'static>(source: &S, form: Form, at: u64) -> String {
    let (mut first, mut second) = (solver(source.clone(), form), solver(source.clone(), form));
    first.advance(at).unwrap();
    second.advance(3).unwrap();
    second.restore(&first.save()).unwrap();
    second.advance(500 - at).unwrap();
    serde_json::to_string(&second.save()).unwrap()
}

#[test]
fn runs_are_the_same_bits_with_and_without() {
    let rows =
        table(7, 20_000, 5, Kind::Logistic, true, &[(0, 7000), (6000, 9000), (8000, 20_000)]);
    let check = |data: Dataset| {
        let far = WithReplacement::new(data);
        assert!(far.is_far(), "a table too small for this test");
        for form in forms() {
            let (ahead, plain) = (play(far.clone(), form), play(Near(far.clone()), form));
            assert_eq!(ahead, plain, "{form:?}");
            for at in [0, 5, 250] {
                assert_eq!(resumed(&far, form, at), plain, "{form:?}, resumed at {at}");
            }
        }
    };
    check(rows.dense(false));
    check(rows.dense(true));
    check(rows.sparse(false));
}
