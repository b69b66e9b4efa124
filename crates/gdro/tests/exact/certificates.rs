//! Certificates enclose the optimum, whatever model and group weights they are made for.

use std::sync::Arc;

use gdro::certificate::{Certificate, certify};
use gdro::domain::{AnyMap, Cube, Domain, L2Ball, MirrorMap as _};
use gdro::exact::{
    DatasetRisks, Goal, Options, Population, Problem, group_optima, minimize, solve,
};
use gdro::expansion::Expansion;
use gdro::game::Game;
use gdro::loss::{AnyLoss, Logistic, Loss as _, Softmax, Squared, Targets};
use gdro::risk::group_risks;
use gdro::sampling::{Rng, below, unit};
use gdro::source::Synthetic;
use gdro::{Dataset, Matrix};
use rand::SeedableRng as _;

/// A small random problem: data, loss, game, domain.
struct Random {
    data: Dataset,
    loss: AnyLoss,
    game: Game,
    domain: Domain<AnyMap>,
    goal: Goal,
}

/// A prior, and a τ from far below the risks to far above.
fn tilted(rng: &mut Rng, m: usize) -> Goal {
    let prior: Vec<f64> = (0..m).map(|_| 0.01 + unit(rng)).collect();
    let total: f64 = prior.iter().sum();
    let prior = prior.iter().map(|p| p / total).collect();
    Goal::Tilted { prior, tau: 10f64.powf(8.0 * unit(rng) - 6.0) }
}

fn random(rng: &mut Rng) -> Random {
    let (m, d, rows) = (1 + below(rng, 4), 1 + below(rng, 3), 4 + below(rng, 12));
    let x = (0..rows * d).map(|_| 6.0 * unit(rng) - 3.0).collect();
    let loss = match below(rng, 3) {
        0 => AnyLoss::Logistic(Logistic),
        1 => AnyLoss::Squared(Squared),
        _ => AnyLoss::Softmax(Softmax::new(3).unwrap()),
    };
    let target = |rng: &mut Rng| match loss.targets() {
        Targets::Labels => {
            if unit(rng) < 0.7 {
                1.0
            } else {
                -1.0
            }
        }
        Targets::Numbers => 4.0 * unit(rng) - 1.0,
        Targets::Classes => below(rng, 3) as f64,
    };
    let y = (0..rows).map(|_| target(rng)).collect();
    let mut groups = vec![Vec::new(); m];
    for row in 0..rows as u32 {
        groups[below(rng, m)].push(row);
    }
    for group in &mut groups {
        if group.is_empty() {
            group.push(below(rng, rows) as u32);
        }
    }
    let data = Dataset::new(Arc::new(Matrix::dense(d, x).unwrap()), y, None, &groups).unwrap();
    let mut game = Game::top_k(m, 1.0 + unit(rng) * (m as f64 - 1.0));
    if unit(rng) < 0.5 {
        game.k = 1.0;
    }
    if unit(rng) < 0.5 {
        game.scales = (0..m).map(|_| 0.2 + unit(rng)).collect();
        game.offsets = (0..m).map(|_| 2.0 * unit(rng) - 1.0).collect();
    }
    let ridge = 10f64.powf(-4.0 * unit(rng));
    let map = match below(rng, 3) {
        0 => AnyMap::L2Ball(L2Ball::unconstrained()),
        1 => AnyMap::L2Ball(L2Ball::new(0.1 + 3.0 * unit(rng)).unwrap()),
        _ => AnyMap::Cube(Cube::new(-1.0 - unit(rng), unit(rng)).unwrap()),
    };
    game.ridge = match map {
        AnyMap::L2Ball(ball) if ball.radius().is_infinite() => ridge,
        _ if unit(rng) < 0.5 => ridge,
        _ => 0.0,
    };
    let mut domain = Domain::new(map);
    if unit(rng) < 0.5 {
        domain = domain.with_intercept(5.0).unwrap();
    }
    let goal = match below(rng, 4) {
        0 => Goal::Fixed(vec![1.0 / m as f64; m]),
        1 if game.k == 1.0 => tilted(rng, m),
        _ => Goal::Adversary,
    };
    Random { data, loss, game, domain, goal }
}

impl Random {
    fn problem(&self) -> Problem<'_, AnyMap> {
        Problem {
            game: &self.game,
            domain: &self.domain,
            features: self.data.features(),
            outputs: self.loss.outputs(),
            goal: self.goal.clone(),
        }
    }

    fn model_len(&self) -> usize {
        (self.data.features() + usize::from(self.domain.intercept.is_some())) * self.loss.outputs()
    }

    /// A model inside the domain, near its centre or far out.
    fn model(&self, rng: &mut Rng) -> Vec<f64> {
        let size = 10f64.powf(3.0 * unit(rng) - 1.5);
        let weights = self.data.features() * self.loss.outputs();
        let mut w: Vec<f64> =
            (0..self.model_len()).map(|_| size * (2.0 * unit(rng) - 1.0)).collect();
        self.domain.map.primal(&mut w[..weights], 0.0);
        w[weights..].iter_mut().for_each(|b| *b = b.clamp(-5.0, 5.0));
        w
    }

    /// Group weights from nearly uniform to nearly one-hot.
    fn weights(&self, rng: &mut Rng) -> Vec<f64> {
        let m = self.data.groups();
        let size = 30.0 * unit(rng);
        let q: Vec<f64> = (0..m).map(|_| (-size * unit(rng)).exp()).collect();
        let total: f64 = q.iter().sum();
        q.iter().map(|v| v / total).collect()
    }
}

/// 10,000 random problems with random models and group weights: lower ≤ optimum ≤ upper, where the
/// optimum is enclosed by the reference solver (itself tested against independent solvers).
#[test]
fn bounds_enclose_the_optimum_of_random_problems() {
    let mut rng = Rng::seed_from_u64(2024);
    let (mut tight, mut unsolved) = (0, 0);
    for case in 0..10_000 {
        let random = random(&mut rng);
        let mut risks =
            DatasetRisks::new(&random.data, &random.loss, random.domain.intercept.is_some());
        let best = solve(&mut risks, &random.problem(), &Options::default()).unwrap();
        unsolved += usize::from(best.gap() > 1e-6 * (1.0 + best.upper.abs()));
        let (w, q) = (random.model(&mut rng), random.weights(&mut rng));
        let certificate =
            certify(&random.data, &random.loss, &random.problem(), &w, &q, None, 0).unwrap();
        assert!(certificate.lower <= best.upper, "case {case}: {certificate:?} {best:?}");
        assert!(certificate.upper >= best.lower, "case {case}: {certificate:?} {best:?}");
        let own = certify(&random.data, &random.loss, &random.problem(), &best.w, &best.q, None, 0)
            .unwrap();
        assert!(own.lower <= best.upper && own.upper >= best.lower, "case {case}");
        tight += usize::from(own.gap < 1e-6 * (1.0 + own.upper.abs()));
    }
    // And they are not vacuous: at the optimum the two bounds meet.
    assert!(tight >= 9_999, "{tight} of 10,000 certificates at the optimum are tight");
    assert!(unsolved == 0, "{unsolved} of 10,000 problems are not solved to 1e-6");
}

/// Weights of rows count in their ratios alone, from one end of what is accepted to the other: the
/// bounds never cross, and are the same when all weights are.
#[test]
fn weights_of_any_size_leave_the_bounds_in_order() {
    let mut rng = Rng::seed_from_u64(77);
    for case in 0..300 {
        let Random { data, loss, game, domain, goal } = random(&mut rng);
        let power = 580.0 * unit(&mut rng) - 290.0;
        let of_size = |mut size: Box<dyn FnMut() -> f64>| {
            let members: Vec<Vec<u32>> =
                (0..data.groups()).map(|i| data.members(i).to_vec()).collect();
            let weights = (0..data.rows()).map(|_| 10f64.powf(size())).collect();
            let x = Arc::new(data.matrix().clone());
            let data = Dataset::new(x, data.targets().to_vec(), Some(weights), &members).unwrap();
            let problem = Problem {
                game: &game,
                domain: &domain,
                features: data.features(),
                outputs: loss.outputs(),
                goal: goal.clone(),
            };
            let best = minimize(&data, &loss, &problem, &Options::default()).unwrap();
            let found = certify(&data, &loss, &problem, &best.w, &best.q, None, 0).unwrap();
            assert!(found.lower <= found.upper, "case {case}: {found:?}");
            found
        };
        let seed = rng.clone();
        let (even, equal) = (of_size(Box::new(|| 0.0)), of_size(Box::new(move || power)));
        let size = 1.0 + even.upper.abs();
        assert!((even.upper - equal.upper).abs() < 1e-8 * size, "case {case}: {even:?} {equal:?}");
        assert!((even.lower - equal.lower).abs() < 1e-8 * size, "case {case}: {even:?} {equal:?}");
        let mut apart = seed;
        of_size(Box::new(move || 579.0 * unit(&mut apart) - 289.5));
    }
}

/// Bounds for free intercepts are about any: 2,000 random problems, with targets and features far
/// from 0 at times, whose lower bound no model is below, however far out, and which is tight.
#[test]
fn bounds_of_free_intercepts_hold_for_all_of_them() {
    let mut rng = Rng::seed_from_u64(31);
    let (mut loose, mut bounded) = (0, 0);
    for case in 0..2_000 {
        let mut random = random(&mut rng);
        random.domain.intercept = Some(100.0);
        random.domain.free = true;
        let (shift, scale) =
            (10f64.powf(6.0 * unit(&mut rng)), 10f64.powf(4.0 * unit(&mut rng) - 2.0));
        let far = [0.0, shift][below(&mut rng, 2)];
        let d = random.data.features();
        let mut x = Vec::new();
        for row in 0..random.data.rows() {
            random.data.sample(row).x.for_each(|_, v| x.push(scale * v + far));
        }
        let y = random.data.targets().iter().map(|y| match random.loss.targets() {
            Targets::Numbers => scale * y - far,
            _ => *y,
        });
        let members: Vec<Vec<u32>> =
            (0..random.data.groups()).map(|i| random.data.members(i).to_vec()).collect();
        let matrix = Arc::new(Matrix::dense(d, x).unwrap());
        random.data = Dataset::new(matrix, y.collect(), None, &members).unwrap();
        let problem = random.problem();
        let best = minimize(&random.data, &random.loss, &problem, &Options::default()).unwrap();
        let found =
            certify(&random.data, &random.loss, &problem, &best.w, &best.q, None, 12).unwrap();
        // Classes without rows let an intercept go to −∞, where no tangent is.
        let several = random.loss.outputs() > 1;
        bounded += usize::from(!found.any_intercept);
        assert!(found.any_intercept || several, "case {case}: {found:?}");
        assert!(found.lower <= found.upper, "case {case}: {found:?}");
        loose += usize::from(found.relative_gap > 1e-6);
        if !found.any_intercept {
            continue;
        }
        let weights = d * random.loss.outputs();
        for _ in 0..20 {
            // Near the best weights, with the intercept moved by anything.
            let mut w = best.w.clone();
            let size = 10f64.powf(8.0 * unit(&mut rng) - 6.0);
            w[..weights].iter_mut().for_each(|v| *v += 1e-3 * size * (unit(&mut rng) - 0.5));
            random.domain.map.primal(&mut w[..weights], 0.0);
            w[weights..].iter_mut().for_each(|v| *v += size * (unit(&mut rng) - 0.5));
            let risks = group_risks(&random.loss, &w, &random.data).unwrap();
            let payoffs = (0..risks.len()).map(|i| random.game.payoff(i, risks[i]));
            let value = match &random.goal {
                Goal::Adversary => random.game.objective(&risks),
                Goal::Fixed(q) => q.iter().zip(payoffs).map(|(q, r)| q * r).sum(),
                Goal::Tilted { prior, tau } => {
                    let payoffs: Vec<f64> = payoffs.collect();
                    let top = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let terms =
                        prior.iter().zip(&payoffs).map(|(p, r)| p * ((r - top) / tau).exp());
                    top + tau * terms.sum::<f64>().ln()
                }
            };
            let ridge: f64 = w[..weights].iter().map(|v| v * v).sum();
            let value = value + random.game.ridge / 2.0 * ridge;
            // Scores of features far out are rounded by so much here.
            let doubt = 1e-9 * (1.0 + value.abs()) * (1.0 + far);
            assert!(value >= found.lower - doubt, "case {case}: {value} {found:?}");
        }
    }
    println!("{loose} loose, {bounded} for bounded intercepts");
    assert!(loose <= 4, "{loose} of 2,000 certificates are loose");
}

/// The expansion of a problem at a model, its rows added in two batches.
fn expansion(random: &Random, w: &[f64]) -> Expansion {
    let (data, intercept) = (&random.data, random.domain.intercept.is_some());
    let mut expansion = Expansion::new(&random.loss, w.to_vec(), intercept, data.groups());
    for part in 0..2 {
        let rows: Vec<u32> = (0..data.rows() as u32).filter(|r| r % 3 / 2 == part).collect();
        let place = |row: u32| rows.iter().position(|r| *r == row).map(|at| at as u32);
        let lists = (0..data.groups())
            .map(|i| (i, data.members(i).iter().filter_map(|r| place(*r)).collect::<Vec<u32>>()));
        let (numbers, lists): (Vec<usize>, Vec<Vec<u32>>) =
            lists.filter(|(_, list)| !list.is_empty()).unzip();
        if lists.is_empty() {
            continue;
        }
        let targets = rows.iter().map(|r| data.targets()[*r as usize]).collect();
        let matrix = Arc::new(data.matrix().select(&rows));
        let batch = Dataset::new(matrix, targets, None, &lists).unwrap();
        expansion.add(&random.loss, &batch, &numbers).unwrap();
    }
    expansion
}

/// One pass: the bounds enclose the optimum of 3,000 random problems at models far and near, and
/// close to the optimum the gap is little more than the truth.
#[test]
fn bounds_of_one_pass_enclose_the_optimum() {
    let mut rng = Rng::seed_from_u64(31);
    let (mut near, mut tight) = (0, 0);
    for case in 0..3_000 {
        let random = random(&mut rng);
        let mut risks =
            DatasetRisks::new(&random.data, &random.loss, random.domain.intercept.is_some());
        let problem = random.problem();
        let best = solve(&mut risks, &problem, &Options::default()).unwrap();
        let (w, q) = (random.model(&mut rng), random.weights(&mut rng));
        let far = expansion(&random, &w).certify(&random.loss, &problem, &q).unwrap();
        let whole = certify(&random.data, &random.loss, &problem, &w, &q, None, 0).unwrap();
        assert!(far.lower <= best.upper, "case {case}: {far:?} {best:?}");
        assert!((far.upper - whole.upper).abs() < 1e-9 * (1.0 + whole.upper.abs()), "case {case}");
        // A small step from the optimum: its excess is of second order, or of first order in a
        // corner of the maximum.
        let weights = random.data.features() * random.loss.outputs();
        let mut w: Vec<f64> = best.w.iter().map(|v| v + 1e-4 * (unit(&mut rng) - 0.5)).collect();
        random.domain.map.primal(&mut w[..weights], 0.0);
        w[weights..].iter_mut().for_each(|b| *b = b.clamp(-5.0, 5.0));
        let close = expansion(&random, &w).certify(&random.loss, &problem, &best.q).unwrap();
        assert!(close.lower <= best.upper, "case {case}: {close:?} {best:?}");
        let free = w.iter().zip(&best.w).all(|(a, b)| (a - b).abs() <= 1e-4);
        let excess = close.upper - best.lower;
        near += usize::from(free);
        tight += usize::from(free && close.gap <= 3.0 * excess + 1e-6);
    }
    // Where the optimum lies on the border of the ball or cube, the gradient does not vanish there
    // and the tangent bound takes over, which is of first order.
    assert!(near > 2_500 && 10 * tight > 7 * near, "{tight} of {near}");
}

/// M of the losses that state one: the largest ratio over random scores and directions, by
/// differences of the Hessian.
#[test]
fn concordance_bounds_the_third_derivative() {
    let mut rng = Rng::seed_from_u64(8);
    let softmax = AnyLoss::Softmax(Softmax::new(3).unwrap());
    for loss in [AnyLoss::Logistic(Logistic), AnyLoss::Squared(Squared), softmax] {
        let (name, m) = (loss.name(), loss.self_concordance().unwrap());
        let c = loss.outputs();
        let mut largest = 0f64;
        for _ in 0..20_000 {
            let s: Vec<f64> = (0..c).map(|_| 8.0 * unit(&mut rng) - 4.0).collect();
            let d: Vec<f64> = (0..c).map(|_| 2.0 * unit(&mut rng) - 1.0).collect();
            let second = |t: f64| {
                let at: Vec<f64> = s.iter().zip(&d).map(|(s, d)| s + t * d).collect();
                let mut h = vec![0.0; c * c];
                loss.hessian(&at, 1.0, &mut h);
                (0..c * c).map(|k| d[k / c] * h[k] * d[k % c]).sum::<f64>()
            };
            let third = (second(1e-5) - second(-1e-5)) / 2e-5;
            let norm = d.iter().map(|v| v * v).sum::<f64>().sqrt();
            largest = largest.max(third.abs() / (norm * second(0.0)));
        }
        assert!(largest <= m + 1e-6, "{name}: {largest} above {m}");
        assert!(largest >= 0.5 * m, "{name}: {largest}, so that {m} is too large");
    }
}

/// Dual ascent raises the lower bound of poor group weights, and never above the optimum.
#[test]
fn dual_ascent_tightens_the_bound() {
    let mut rng = Rng::seed_from_u64(77);
    let (mut before, mut after) = (0.0, 0.0);
    for case in 0..300 {
        let mut random = random(&mut rng);
        random.goal = Goal::Adversary;
        let mut risks =
            DatasetRisks::new(&random.data, &random.loss, random.domain.intercept.is_some());
        let best = solve(&mut risks, &random.problem(), &Options::default()).unwrap();
        let q = random.weights(&mut rng);
        let bound = |steps| {
            let problem = random.problem();
            certify(&random.data, &random.loss, &problem, &best.w, &q, None, steps).unwrap()
        };
        let (plain, better) = (bound(0), bound(12));
        assert!(better.lower >= plain.lower && better.lower <= best.upper, "case {case}");
        before += plain.gap;
        after += better.gap;
    }
    assert!(after < 0.25 * before, "{before} {after}");
}

#[test]
fn a_worse_model_has_a_larger_gap() {
    let mut rng = Rng::seed_from_u64(5);
    for _ in 0..200 {
        let random = random(&mut rng);
        let mut risks =
            DatasetRisks::new(&random.data, &random.loss, random.domain.intercept.is_some());
        let best = solve(&mut risks, &random.problem(), &Options::default()).unwrap();
        let gap = |w: &[f64]| -> Certificate {
            certify(&random.data, &random.loss, &random.problem(), w, &best.q, None, 0).unwrap()
        };
        let other = random.model(&mut rng);
        let excess = gap(&other).upper - gap(&best.w).upper;
        let off = (gap(&other).gap - gap(&best.w).gap - excess).abs();
        assert!(off < 1e-6 * (1.0 + excess.abs()), "{off} {:?} {:?}", gap(&other), gap(&best.w));
        assert!(excess > -1e-7 * (1.0 + best.upper.abs()));
    }
}

#[test]
fn models_outside_of_the_domain_are_refused() {
    let mut rng = Rng::seed_from_u64(6);
    let random = loop {
        let random = random(&mut rng);
        if matches!(random.domain.map, AnyMap::Cube(_)) {
            break random;
        }
    };
    let q = random.weights(&mut rng);
    for bad in [100.0, f64::NAN, f64::INFINITY] {
        let w = vec![bad; random.model_len()];
        assert!(certify(&random.data, &random.loss, &random.problem(), &w, &q, None, 0).is_err());
    }
}

/// Minimax regret with offsets that are known up to an error: the bounds still enclose the value
/// with exact offsets.
#[test]
fn offset_errors_widen_the_bounds() {
    let mut rng = Rng::seed_from_u64(8);
    let mut tried = 0;
    while tried < 100 {
        let mut random = random(&mut rng);
        let m = random.data.groups();
        random.goal = Goal::Adversary;
        let optima =
            group_optima(&random.data, &random.loss, &random.domain, random.game.ridge).unwrap();
        random.game.offsets = optima.iter().map(|o| o.risk).collect();
        let mut risks =
            DatasetRisks::new(&random.data, &random.loss, random.domain.intercept.is_some());
        let exact = solve(&mut risks, &random.problem(), &Options::default()).unwrap();
        // Disturb the offsets by at most `error`, and say so.
        let error = vec![0.05; m];
        for offset in &mut random.game.offsets {
            *offset += 0.1 * unit(&mut rng) - 0.05;
        }
        let certificate = certify(
            &random.data,
            &random.loss,
            &random.problem(),
            &exact.w,
            &exact.q,
            Some(&error),
            0,
        )
        .unwrap();
        assert!(certificate.lower <= exact.upper && certificate.upper >= exact.lower);
        tried += 1;
    }
}

/// ε_φ in closed form equals what the reference solver finds, with scales, offsets, ridge and ball.
#[test]
fn the_population_gap_is_exact() {
    let mut rng = Rng::seed_from_u64(9);
    for seed in 0..5 {
        let source = Synthetic::heterogeneous(6, 40, seed).unwrap();
        let population = Population::new(&source);
        for (ridge, radius) in [(0.0, 1.0), (0.01, f64::INFINITY), (0.1, 0.3)] {
            let mut game = Game::top_k(6, 1.0 + 2.0 * unit(&mut rng)).with_ridge(ridge);
            game.scales = (0..6).map(|_| 0.5 + unit(&mut rng)).collect();
            game.offsets = (0..6).map(|_| unit(&mut rng)).collect();
            let ball = if radius < f64::INFINITY {
                L2Ball::new(radius).unwrap()
            } else {
                L2Ball::unconstrained()
            };
            let domain = Domain::new(ball);
            let q = [0.3, 0.1, 0.2, 0.1, 0.2, 0.1];
            let problem =
                |goal| Problem { game: &game, domain: &domain, features: 6, outputs: 1, goal };
            let fixed = problem(Goal::Fixed(q.to_vec()));
            let least = solve(&mut population.clone(), &fixed, &Options::default()).unwrap();
            let closed = population.minimum(&game, &q, radius);
            assert!((least.upper - closed).abs() < 1e-9, "{} {closed}", least.upper);
            // At the saddle point the gap vanishes; elsewhere it is what the two sides say.
            let saddle =
                solve(&mut population.clone(), &problem(Goal::Adversary), &Options::default())
                    .unwrap();
            let w = population.embed(&saddle.w);
            assert!(population.gap(&game, &w, &saddle.q, radius).abs() < 1e-8);
            let gap = population.gap(&game, &[0.0; 40], &q, radius);
            let value = game.objective(&[std::f64::consts::LN_2; 6]);
            assert!((gap - (value - closed)).abs() < 1e-12);
        }
    }
}
