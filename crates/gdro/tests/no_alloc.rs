//! A round allocates nothing: an allocator that counts.

#![allow(unsafe_code)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{Kind, config, constants, forms, table};
use gdro::algorithm::Algorithm;
use gdro::average::Average;
use gdro::config::Config;
use gdro::domain::{Domain, L2Ball};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Logistic, Softmax};
use gdro::sampling::{Rng, unit};
use gdro::source::{Closure, Coins, OnceEach, Source, Synthetic, WithReplacement};
use gdro::storage::Storage;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all calls go to the system allocator unchanged; the counter is thread-local and does not
// allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = COUNT.with(Cell::get);
    work();
    COUNT.with(Cell::get) - before
}

#[test]
fn the_counter_counts() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1, 2, 3]))) >= 1);
    assert_eq!(allocations(|| {}), 0);
}

fn check<S: Source>(
    label: &str,
    loss: AnyLoss,
    form: (Algorithm, bool, f64),
    make: impl Fn() -> S,
) {
    let k = form.2;
    let averages = [Average::Uniform, Average::Suffix, Average::Last];
    let storages = [Storage::Arrays, Storage::Sublinear];
    for (average, storage) in averages.into_iter().flat_map(|a| storages.map(|s| (a, s))) {
        let config = Config {
            average: Some(average),
            storage,
            seed: 1,
            ..config(form, 1010, (1.0, 1.0), &[4000, 2000, 2000])
        };
        let domain = Domain::new(L2Ball::new(1.0).unwrap()).with_intercept(1.0).unwrap();
        let constants = constants(1.0, 1.0, 3, k);
        let game = Game::top_k(3, k).with_ridge(0.01);
        let budgets = Some(&[4000, 2000, 2000][..]);
        let mut solver = config.build(game, loss, make(), domain, &constants, budgets).unwrap();
        solver.advance(10).unwrap();
        let count = allocations(|| solver.advance(1000).unwrap());
        assert_eq!(
            count, 0,
            "{label} {form:?} {average:?} {storage:?}: {count} allocations in 1000 rounds"
        );
    }
}

#[test]
fn no_round_of_any_algorithm_allocates() {
    let rows = table(4, 9000, 3, Kind::Logistic, true, &[(0, 4100), (4000, 7000), (6900, 9000)]);
    let far = table(4, 9000, 5, Kind::Logistic, true, &[(0, 4100), (4000, 7000), (6900, 9000)]);
    let classes = table(4, 90, 3, Kind::Softmax, true, &[(0, 40), (30, 60), (60, 90)]);
    let logistic = AnyLoss::Logistic(Logistic);
    let softmax = AnyLoss::Softmax(Softmax::new(3).unwrap());
    for form in forms() {
        check("rows", logistic, form, || WithReplacement::new(rows.dense(false)));
        check("weighted rows", logistic, form, || WithReplacement::new(rows.sparse(true)));
        check("rows far away", logistic, form, || WithReplacement::new(far.dense(false)));
        check("softmax", softmax, form, || WithReplacement::new(classes.sparse(true)));
        check("coins", AnyLoss::Squared(gdro::loss::Squared), form, || {
            Coins::new(vec![0.1, 0.5, 0.9]).unwrap()
        });
        check("synthetic", logistic, form, || Synthetic::balanced(3, 5, 1).unwrap());
        check("closure", logistic, form, || {
            Closure::new(3, 2, |group, rng: &mut Rng, x: &mut [f64]| {
                (x[0], x[1]) = (unit(rng), group as f64);
                Ok(if unit(rng) < 0.5 { 1.0 } else { -1.0 })
            })
        });
        // Mirror-prox draws 2·(2, 1, 1) in each of 1010 rounds.
        check("once each", logistic, form, || OnceEach::new(long(), None, 1).unwrap());
    }
}

/// Rows enough for 1010 rounds of two batches (2, 1, 1).
fn long() -> gdro::Dataset {
    table(4, 9000, 3, Kind::Logistic, false, &[(0, 4100), (4000, 7000), (6900, 9000)]).dense(false)
}
