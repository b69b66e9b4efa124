//! The reference solver against optimal values from a conic solver, `oracles/optima.py`, and its
//! own invariances: storage, number of threads, row weights.

#![cfg(feature = "exact")]

use crate::common::{Kind, Table, same_bits, table};
use gdro::Dataset;
use gdro::domain::{AnyMap, Cube, Domain, L2Ball};
use gdro::exact::{DatasetRisks, Goal, Options, Problem, Solution, solve};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Logistic, Loss, Softmax, Squared};
use gdro::risk::group_risks;
use serde_json::Value;

const FEATURES: usize = 4;
const GROUPS: [(u32, u32); 5] = [(0, 20), (15, 30), (30, 40), (40, 52), (50, 60)];

fn rows(kind: Kind) -> Table {
    table(21, 60, FEATURES, kind, true, &GROUPS)
}

fn loss(kind: Kind) -> AnyLoss {
    match kind {
        Kind::Logistic => AnyLoss::Logistic(Logistic),
        Kind::Squared => AnyLoss::Squared(Squared),
        Kind::Softmax => AnyLoss::Softmax(Softmax::new(3).unwrap()),
    }
}

/// Domain and ridge by the name that the oracle uses.
fn domain(name: &str) -> (Domain<L2Ball>, f64) {
    let free = Domain::new(L2Ball::unconstrained());
    match name {
        "ball" => (Domain::new(L2Ball::new(0.7).unwrap()), 0.0),
        "ridge" => (free, 0.05),
        "ridge-intercept" => (free.with_intercept(100.0).unwrap(), 0.05),
        other => panic!("unknown domain {other}"),
    }
}

/// Game and goal by the name that the oracle uses.
fn goal(name: &str, ridge: f64) -> (Game, Goal) {
    let game = |k| Game::top_k(5, k).with_ridge(ridge);
    let scaled = |k| Game {
        scales: vec![1.0, 0.5, 2.0, 1.5, 0.8],
        offsets: vec![0.1, -0.2, 0.0, 0.3, -0.1],
        ..game(k)
    };
    match name {
        "max" => (game(1.0), Goal::Adversary),
        "top-2" => (game(2.0), Goal::Adversary),
        "top-2.5" => (game(2.5), Goal::Adversary),
        "fixed" => (game(1.0), Goal::Fixed(vec![0.1, 0.3, 0.2, 0.25, 0.15])),
        "scales-offsets" => (scaled(1.0), Goal::Adversary),
        "top-1.7-scales-offsets" => (scaled(1.7), Goal::Adversary),
        other => panic!("unknown goal {other}"),
    }
}

fn optimum(data: &Dataset, kind: Kind, domain_name: &str, goal_name: &str) -> Solution {
    let (domain, ridge) = domain(domain_name);
    let (game, goal) = goal(goal_name, ridge);
    let loss = loss(kind);
    let mut risks = DatasetRisks::new(data, &loss, domain.intercept.is_some());
    let (features, outputs) = (data.features(), loss.outputs());
    let problem = Problem { game: &game, domain: &domain, features, outputs, goal };
    solve(&mut risks, &problem, &Options::default()).unwrap()
}

#[test]
fn optima_agree_with_a_conic_solver() {
    let table: Vec<Value> = serde_json::from_str(include_str!("../oracles/optima.json")).unwrap();
    assert_eq!(table.len(), 54);
    let mut most = 0;
    let mut faults = Vec::new();
    for row in &table {
        let text = |name: &str| row[name].as_str().unwrap();
        let (kind, oracle) = (Kind::of(text("loss")), row["value"].as_f64().unwrap());
        let data = rows(kind).sparse(true);
        let s = optimum(&data, kind, text("domain"), text("goal"));
        let label = format!("{} {} {}", text("loss"), text("domain"), text("goal"));
        let slack = 1e-7 * (1.0 + oracle.abs());
        println!(
            "{label}: {} iterations, gap {:.1e}, upper − oracle {:.1e}",
            s.iterations,
            s.gap(),
            s.upper - oracle
        );
        if s.gap() > 1e-9
            || (s.upper - oracle).abs() > slack
            || s.lower > oracle + slack
            || s.upper < oracle - slack
        {
            faults.push(format!("{label}: [{}, {}] oracle {oracle}", s.lower, s.upper));
        }
        most = most.max(s.iterations);
        // The objective at w, computed another way; and q is a point of Q.
        let (domain, ridge) = domain(text("domain"));
        let (game, goal) = goal(text("goal"), ridge);
        let loss = loss(kind);
        let risks = group_risks(&loss, &s.w, &data).unwrap();
        let value = match &goal {
            Goal::Fixed(q) => (0..5).map(|i| q[i] * game.payoff(i, risks[i])).sum(),
            _ => game.objective(&risks),
        };
        let weights = &s.w[..FEATURES * loss.outputs()];
        let square: f64 = weights.iter().map(|v| v * v).sum();
        assert!((value + ridge / 2.0 * square - s.upper).abs() < 1e-12, "{label}");
        assert!(square.sqrt() <= domain.map.radius() * (1.0 + 1e-9), "{label}");
        assert!((s.q.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{label}: {:?}", s.q);
        if goal == Goal::Adversary {
            assert!(s.q.iter().all(|q| *q >= 0.0 && *q <= 1.0 / game.k + 1e-12), "{label}");
        }
    }
    println!("at most {most} iterations");
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(most <= 60, "{most} iterations");
}

#[test]
fn sparse_and_dense_storage_have_the_same_optimum() {
    for kind in [Kind::Logistic, Kind::Squared, Kind::Softmax] {
        for domain in ["ball", "ridge", "ridge-intercept"] {
            let a = optimum(&rows(kind).sparse(true), kind, domain, "top-2.5");
            let b = optimum(&rows(kind).dense(true), kind, domain, "top-2.5");
            assert!((a.upper - b.upper).abs() < 1e-9, "{kind:?} {domain}");
            assert!((a.lower - b.lower).abs() < 1e-9, "{kind:?} {domain}");
        }
    }
}

/// Several chunks of rows, so that there is work to be divided.
#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let groups = [(0, 6000), (5000, 9000), (9000, 9500)];
    let data = table(5, 9500, 6, Kind::Logistic, false, &groups).dense(true);
    let game = Game::gdro(3).with_ridge(0.01);
    let domain = Domain::new(L2Ball::unconstrained()).with_intercept(10.0).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut risks = DatasetRisks::new(&data, &Logistic, true);
            let goal = Goal::Adversary;
            let problem = Problem { game: &game, domain: &domain, features: 6, outputs: 1, goal };
            solve(&mut risks, &problem, &Options::default()).unwrap()
        })
    };
    let (one, two) = (run(1), run(2));
    assert!(same_bits(&one.w, &two.w) && same_bits(&one.q, &two.q));
    assert_eq!((one.upper, one.lower, one.iterations), (two.upper, two.lower, two.iterations));
    assert!(one.gap() <= 1e-9);
}

/// A row of weight 2 is a row that is there twice, one of weight 0 is not there.
#[test]
fn weights_count_like_copies() {
    for kind in [Kind::Logistic, Kind::Squared, Kind::Softmax] {
        let mut weighted = rows(kind);
        let mut copied = weighted.clone();
        weighted.weights = (0..60).map(|r| [1.0, 2.0, 0.0][r % 3]).collect();
        copied.groups = (weighted.groups.iter())
            .map(|rows| rows.iter().flat_map(|r| vec![*r; [1, 2, 0][*r as usize % 3]]).collect())
            .collect();
        let a = optimum(&weighted.sparse(true), kind, "ridge", "max");
        let b = optimum(&copied.sparse(false), kind, "ridge", "max");
        assert!((a.upper - b.upper).abs() < 1e-9 && (a.lower - b.lower).abs() < 1e-9, "{kind:?}");
        let loss = loss(kind);
        let model: Vec<f64> = a.w.iter().map(|v| v + 0.1).collect();
        let risks = |t: &Table, w| group_risks(&loss, &model, &t.sparse(w)).unwrap();
        for (a, b) in risks(&weighted, true).iter().zip(risks(&copied, false)) {
            assert!((a - b).abs() < 1e-14);
        }
    }
}

/// Weights on the groups in proportion to their rows are ordinary training on all rows.
#[test]
fn fixed_weights_by_counts_are_pooled_training() {
    let groups = [(0, 25), (25, 30), (30, 60)];
    let data = table(9, 60, FEATURES, Kind::Logistic, false, &groups).dense(false);
    let pooled = data.pooled().unwrap();
    let domain = Domain::new(L2Ball::unconstrained());
    let run = |data: &Dataset, q: Vec<f64>| {
        let game = Game::gdro(q.len()).with_ridge(0.02);
        let mut risks = DatasetRisks::new(data, &Logistic, false);
        let goal = Goal::Fixed(q);
        let problem =
            Problem { game: &game, domain: &domain, features: FEATURES, outputs: 1, goal };
        solve(&mut risks, &problem, &Options::default()).unwrap()
    };
    let by_counts = run(&data, vec![25.0 / 60.0, 5.0 / 60.0, 30.0 / 60.0]);
    let one = run(&pooled, vec![1.0]);
    assert!((by_counts.upper - one.upper).abs() < 1e-9);
    assert!(by_counts.gap() <= 1e-9 && one.gap() <= 1e-9);
}

/// Separable rows: the ridge alone, or the ball alone, keeps the model finite, and the bounds meet.
#[test]
fn separable_rows_are_solved_as_well() {
    let mut rows = table(3, 200, 3, Kind::Logistic, false, &[(0, 120), (100, 160), (150, 200)]);
    for (y, x) in rows.y.iter_mut().zip(rows.x.chunks_exact(3)) {
        *y = x[0].signum();
    }
    let data = rows.dense(false);
    let free = Domain::new(L2Ball::unconstrained()).with_intercept(100.0).unwrap();
    let ball = |radius| Domain::new(L2Ball::new(radius).unwrap());
    for (domain, ridge) in [(free.clone(), 1e-2), (free, 1e-4), (ball(1.0), 0.0), (ball(3.0), 0.0)]
    {
        let game = Game::gdro(3).with_ridge(ridge);
        let intercept = domain.intercept.is_some();
        let mut risks = DatasetRisks::new(&data, &Logistic, intercept);
        let goal = Goal::Adversary;
        let problem = Problem { game: &game, domain: &domain, features: 3, outputs: 1, goal };
        let s = solve(&mut risks, &problem, &Options::default()).unwrap();
        let (gap, iterations) = (s.gap(), s.iterations);
        println!("{domain:?}, ridge {ridge}: {iterations} iterations, gap {gap:.1e}");
        assert!(s.gap() <= 1e-9, "{domain:?}, ridge {ridge}: {s:?}");
    }
}

/// Data that make Newton steps go astray: targets of 1e5 and of 1e-5, features from 1e-4 to 1e6,
/// 200 groups of five rows, separable rows and groups of one class under hardly any ridge; and
/// starts far away.
#[test]
fn extreme_problems_are_solved() {
    let groups = [(0, 120), (100, 160), (150, 200)];
    let rows = |kind| table(3, 200, 4, kind, false, &groups);
    let targets = |size: f64| {
        let mut rows = rows(Kind::Squared);
        rows.y.iter_mut().for_each(|y| *y *= size);
        rows
    };
    let mut scaled = rows(Kind::Logistic);
    for x in scaled.x.chunks_exact_mut(4) {
        x.iter_mut().zip([1e-4, 1.0, 1e3, 1e6]).for_each(|(x, s)| *x *= s);
    }
    let mut separable = rows(Kind::Logistic);
    for (y, x) in separable.y.iter_mut().zip(separable.x.chunks_exact(4)) {
        *y = x[0].signum();
    }
    let mut one_class = rows(Kind::Logistic);
    one_class.y[..100].fill(1.0);
    one_class.y[160..].fill(-1.0);
    let fives: Vec<(u32, u32)> = (0..200).map(|g| (5 * g, 5 * g + 5)).collect();
    let cases = [
        ("targets of 1e5", Kind::Squared, targets(1e5)),
        ("targets of 1e-5", Kind::Squared, targets(1e-5)),
        ("features of all sizes", Kind::Logistic, scaled),
        ("separable", Kind::Logistic, separable),
        ("one class", Kind::Logistic, one_class),
        ("three classes", Kind::Softmax, rows(Kind::Softmax)),
        ("small groups", Kind::Logistic, table(8, 1000, 4, Kind::Logistic, false, &fives)),
    ];
    let free = Domain::new(AnyMap::L2Ball(L2Ball::unconstrained())).with_intercept(100.0).unwrap();
    let ball = Domain::new(AnyMap::L2Ball(L2Ball::new(3.0).unwrap()));
    let cube = Domain::new(AnyMap::Cube(Cube::new(-1.0, 2.0).unwrap())).with_intercept(10.0);
    let domains = [free, ball, cube.unwrap()];
    let (mut most, mut faults) = (0, Vec::new());
    for (name, kind, rows) in &cases {
        let (data, loss) = (rows.dense(false), loss(*kind));
        let m = data.groups();
        for (domain, ridge) in domains.iter().flat_map(|d| [(d, 1e-2), (d, 1e-7)]) {
            let mut risks = DatasetRisks::new(&data, &loss, domain.intercept.is_some());
            let mut run = |k: f64, goal: Goal, far: bool| {
                let game = Game::top_k(m, k).with_ridge(ridge);
                let (features, outputs) = (4, loss.outputs());
                let problem = Problem { game: &game, domain, features, outputs, goal };
                let n = (4 + usize::from(domain.intercept.is_some())) * outputs;
                let far_away = (0..n).map(|j| if j % 2 == 0 { 200.0 } else { -300.0 }).collect();
                let start = far.then_some(far_away);
                let options = Options { tolerance: 1e-10, relative: 0.0, iterations: 200, start };
                let s = solve(&mut risks, &problem, &options).unwrap();
                let label = format!("{name}, {domain:?}, ridge {ridge}, k = {k}, far {far}");
                most = most.max(s.iterations);
                if s.gap() > 1e-9 * (1.0 + s.upper.abs()) {
                    faults.push(format!("{label}: {:e} after {}", s.gap(), s.iterations));
                }
                s.upper
            };
            for (k, goal) in [
                (1.0, Goal::Adversary),
                (1.7, Goal::Adversary),
                (1.0, Goal::Fixed(vec![1.0 / m as f64; m])),
            ] {
                let (near, far) = (run(k, goal.clone(), false), run(k, goal, true));
                assert!((near - far).abs() <= 1e-8 * (1.0 + near.abs()), "{name}: {near} {far}");
            }
        }
    }
    println!("at most {most} iterations");
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(most <= 60, "{most} iterations");
}
