//! Lookahead changes what a round costs, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{Kind, config, constants, forms, table};
use gdro::algorithm::Algorithm;
use gdro::domain::{Domain, L2Ball};
use gdro::error::Result;
use gdro::game::Game;
use gdro::loss::Logistic;
use gdro::run::Solver;
use gdro::sampling::{Rng, unit};
use gdro::source::{Handle, Source, WithReplacement};
use gdro::{Dataset, Sample};

/// What a source says of draws before they are due.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    /// Nothing: it has neither of the optional methods.
    Nothing,
    /// The handles of all draws.
    All,
    /// Those of the groups with even numbers; draws from the others take one random number more.
    Even,
}

#[derive(Clone)]
struct Rows {
    rows: WithReplacement,
    known: Known,
    /// Whether draws from groups with odd numbers take one random number more.
    is_uneven: bool,
    /// How many samples were not known before they were due.
    late: Arc<AtomicU64>,
}

impl Rows {
    fn new(data: &Dataset, known: Known) -> Self {
        let rows = WithReplacement::new(data.clone());
        Rows { rows, known, is_uneven: known == Known::Even, late: Arc::default() }
    }

    /// The same source without the optional methods.
    fn without(&self) -> Self {
        Rows { known: Known::Nothing, ..self.clone() }
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
        self.late.fetch_add(1, Ordering::Relaxed);
        if self.is_uneven && group % 2 == 1 {
            unit(rng);
        }
        self.rows.draw(group, rng)
    }

    fn handle(&self, group: usize, number: u64) -> Option<Handle> {
        let is_known = match self.known {
            Known::Nothing => false,
            Known::All => true,
            Known::Even => group.is_multiple_of(2),
        };
        if is_known { self.rows.handle(group, number) } else { None }
    }

    fn prefetch(&self, handle: Handle) {
        self.rows.prefetch(handle);
    }

    fn get(&self, handle: Handle) -> Sample<'_> {
        self.rows.get(handle)
    }
}

type Form = (Algorithm, bool, f64);

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

const GROUPS: [(u32, u32); 3] = [(0, 7000), (6000, 9000), (8000, 20_000)];

/// A source with the optional methods, one without them, and one whose draws take different numbers
/// of random numbers.
#[test]
fn runs_are_the_same_bits_with_and_without() {
    let rows = table(7, 20_000, 5, Kind::Logistic, true, &GROUPS);
    for data in [rows.dense(false), rows.dense(true), rows.sparse(false)] {
        let each = [Known::All, Known::Even].map(|known| move |form| (form, known));
        for (form, known) in each.iter().flat_map(|with| forms().into_iter().map(with)) {
            let source = Rows::new(&data, known);
            let plain = play(source.without(), form);
            assert_eq!(play(source.clone(), form), plain, "{form:?}, {known:?}");
            for at in [0, 1, 5, 250] {
                let resumed = resumed(&source, form, at);
                assert_eq!(resumed, plain, "{form:?}, {known:?}, resumed at {at}");
            }
        }
    }
}

/// Most samples are known before they are due: the first round's are not, and those whose group was
/// guessed wrong.
#[test]
fn samples_are_known_ahead() {
    let data = table(7, 20_000, 5, Kind::Logistic, true, &GROUPS).sparse(false);
    for (form, most) in [
        ((Algorithm::SmdM, false, 1.0), 3),
        ((Algorithm::Smd1, false, 1.0), 1),
        ((Algorithm::Online1, false, 1.0), 50),
        ((Algorithm::Atkro1, true, 2.0), 50),
    ] {
        let source = Rows::new(&data, Known::All);
        let late = source.late.clone();
        play(source, form);
        let late = late.load(Ordering::Relaxed);
        assert!(late >= 1 && late <= most, "{form:?}: {late}");
    }
}
