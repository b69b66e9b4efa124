//! Looking ahead at rows that are drawn next changes what a round costs, and nothing else.

use crate::common::{Kind, config, constants, forms, table};
use gdro::domain::{Domain, L2Ball};
use gdro::error::Result;
use gdro::game::Game;
use gdro::loss::Logistic;
use gdro::run::Solver;
use gdro::sampling::{Rng, unit};
use gdro::source::{Handle, Source, WithReplacement};
use gdro::{Dataset, Sample};

/// Rows that may be looked ahead at or not.
#[derive(Clone)]
struct Rows {
    rows: WithReplacement,
    far: bool,
    /// Draws from groups with odd numbers take one random number more, so that a draw from another
    /// group than was foreseen moves all that follow.
    uneven: bool,
}

impl Rows {
    fn skip(&self, group: usize, rng: &mut Rng) {
        if self.uneven && group % 2 == 1 {
            unit(rng);
        }
    }
}

impl Source for Rows {
    fn groups(&self) -> usize {
        self.rows.groups()
    }

    fn features(&self) -> usize {
        self.rows.features()
    }

    fn stored(&self) -> Option<f64> {
        self.rows.stored()
    }

    fn draw(&mut self, group: usize, rng: &mut Rng) -> Result<Handle> {
        self.skip(group, rng);
        self.rows.draw(group, rng)
    }

    fn is_far(&self) -> bool {
        self.far
    }

    fn foresee(&self, group: usize, rng: &mut Rng) -> Handle {
        self.skip(group, rng);
        self.rows.foresee(group, rng)
    }

    fn get(&self, handle: Handle) -> Sample<'_> {
        self.rows.get(handle)
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
        for (form, uneven) in forms().into_iter().flat_map(|form| [(form, false), (form, true)]) {
            let rows = WithReplacement::new(data.clone());
            let far = Rows { rows, far: true, uneven };
            let plain = play(Rows { far: false, ..far.clone() }, form);
            assert_eq!(play(far.clone(), form), plain, "{form:?}, {uneven}");
            for at in [0, 1, 5, 250] {
                assert_eq!(resumed(&far, form, at), plain, "{form:?}, {uneven}, resumed at {at}");
            }
        }
    };
    check(rows.dense(false));
    check(rows.dense(true));
    check(rows.sparse(false));
}
