//! Mirror maps and group weights against what defines them: the three-point inequality of a prox
//! step, D² as a supremum minus an infimum, minima by search, projections by their KKT conditions.

use std::sync::Arc;

use crate::common::Lcg;
use gdro::domain::{AnyMap, BoxSet, Cube, Domain, L1Ball, L2Ball, MirrorMap, PNormBall, Simplex};
use gdro::group_weights::{GroupWeights, Plain, project_capped_simplex};
use gdro::iterate::{Dense, Gradient, Iterate};
use gdro::sampling::Rng;
use gdro::source::{Source, WithReplacement};
use gdro::{Dataset, Matrix};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand::SeedableRng;

const N: usize = 5;

const LOW: [f64; N] = [-1.0, 0.3, -0.2, 0.5, -2.0];
const HIGH: [f64; N] = [1.0, 1.2, 0.0, 0.5, 0.7];

/// Number of geometries.
const MAPS: usize = 13;

/// The one that has no bound.
const FREE: usize = 2;

/// The geometries by number: balls that are small and large, the whole space, boxes around and
/// beside the origin, one with bounds for every coordinate and one that is fixed, simplices, p-norm
/// balls, balls of the 1-norm.
fn map(which: usize) -> AnyMap {
    match which {
        0 => AnyMap::L2Ball(L2Ball::new(0.7).unwrap()),
        1 => AnyMap::L2Ball(L2Ball::new(20.0).unwrap()),
        FREE => AnyMap::L2Ball(L2Ball::unconstrained()),
        3 => AnyMap::Cube(Cube::new(-0.4, 0.9).unwrap()),
        4 => AnyMap::Cube(Cube::new(0.2, 1.5).unwrap()),
        5 => AnyMap::BoxSet(BoxSet::from_bounds(&LOW, &HIGH).unwrap()),
        6 => AnyMap::Simplex(Simplex::default()),
        7 => AnyMap::Simplex(Simplex::new(3.0).unwrap()),
        8 => AnyMap::PNormBall(PNormBall::new(1.5, 0.7).unwrap()),
        9 => AnyMap::PNormBall(PNormBall::new(1.1, 2.0).unwrap()),
        10 => AnyMap::PNormBall(PNormBall::new(1.8, 20.0).unwrap()),
        11 => AnyMap::L1Ball(L1Ball::new(0.7).unwrap()),
        _ => AnyMap::L1Ball(L1Ball::new(4.0).unwrap()),
    }
}

/// The norm in which ν is 1-strongly convex, as its exponent.
fn exponent(which: usize) -> f64 {
    [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.5, 1.1, 1.8, 2.0, 2.0][which]
}

fn p_norm(w: &[f64], p: f64) -> f64 {
    w.iter().map(|v| v.abs().powf(p)).sum::<f64>().powf(1.0 / p)
}

/// ν by its definition.
fn nu(which: usize, w: &[f64]) -> f64 {
    let scale = if which == 7 { 3.0 } else { 1.0 };
    match exponent(which) {
        1.0 => {
            w.iter().filter(|v| **v > 0.0).map(|v| scale * v * (v / scale).ln() - scale * v).sum()
        }
        2.0 => dot(w, w) / 2.0,
        p => p_norm(w, p).powi(2) / (2.0 * (p - 1.0)),
    }
}

/// ∇ν by its definition.
fn slope(which: usize, w: &[f64]) -> Vec<f64> {
    let scale = if which == 7 { 3.0 } else { 1.0 };
    match exponent(which) {
        1.0 => w.iter().map(|v| scale * (v / scale).ln()).collect(),
        2.0 => w.to_vec(),
        p => {
            let factor = p_norm(w, p).powf(2.0 - p) / (p - 1.0);
            w.iter().map(|v| factor * v.abs().powf(p - 1.0) * v.signum()).collect()
        }
    }
}

/// A point of the set from any point: not the library's projection, but a scaling or an affine map.
fn inside(which: usize, u: &[f64]) -> Vec<f64> {
    // Coordinates lie in [−3, 3].
    let share = |v: &f64| (v + 3.0) / 6.0;
    let into = |low: f64, high: f64| {
        u.iter().map(|v| (low + (high - low) * share(v)).clamp(low, high)).collect()
    };
    let scaled = |radius: f64, p: f64| {
        let norm = p_norm(u, p);
        u.iter().map(|v| v * radius / norm.max(radius)).collect()
    };
    let ball = |radius: f64| scaled(radius, exponent(which));
    let simplex = |scale: f64| {
        let sum: f64 = u.iter().map(|v| share(v) + 1e-9).sum();
        u.iter().map(|v| scale * (share(v) + 1e-9) / sum).collect()
    };
    match which {
        0 => ball(0.7),
        3 => into(-0.4, 0.9),
        4 => into(0.2, 1.5),
        5 => (0..N).map(|j| (LOW[j] + (HIGH[j] - LOW[j]) * share(&u[j])).min(HIGH[j])).collect(),
        6 => simplex(1.0),
        7 => simplex(3.0),
        8 => ball(0.7),
        9 => ball(2.0),
        11 => scaled(0.7, 1.0),
        12 => scaled(4.0, 1.0),
        _ => u.to_vec(),
    }
}

/// The Bregman divergence of ν.
fn bregman(which: usize, a: &[f64], b: &[f64]) -> f64 {
    let step: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    nu(which, a) - nu(which, b) - dot(&slope(which, b), &step)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn vector() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-3.0f64..3.0, N)
}

/// What is left of the three-point inequality of w⁺ = argmin_u η⟨g, u⟩ + (r/2)‖u‖² + B(u, w), which
/// must not be negative: r-terms + B(u, w) − B(u, w⁺) − B(w⁺, w) − η⟨g, w⁺ − u⟩.
fn three_points(
    which: usize,
    eta_g: &[f64],
    ridge: f64,
    w: &[f64],
    next: &[f64],
    u: &[f64],
) -> f64 {
    let move_by: Vec<f64> = next.iter().zip(u).map(|(a, b)| a - b).collect();
    let pull = ridge / 2.0 * (dot(u, u) - dot(next, next) - dot(&move_by, &move_by));
    let apart = |a: &[f64], b: &[f64]| bregman(which, a, b);
    pull + apart(u, w) - apart(u, next) - apart(next, w) - dot(eta_g, &move_by)
}

/// The same cases in every run.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..Default::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_prox_step_satisfies_the_three_point_inequality(
        which in 0usize..MAPS,
        (w, g, u) in (vector(), vector(), vector()),
        (eta, ridge) in (0.01f64..3.0, prop_oneof![Just(0.0), 0.001f64..2.0]),
    ) {
        let map = map(which);
        let (w, u) = (inside(which, &w), inside(which, &u));
        let eta_g: Vec<f64> = g.iter().map(|g| eta * g).collect();
        let mut next = w.clone();
        map.dual(&mut next);
        next.iter_mut().zip(&eta_g).for_each(|(v, g)| *v -= g);
        map.primal(&mut next, eta * ridge);
        prop_assert!(map.contains(&next));
        let left = three_points(which, &eta_g, eta * ridge, &w, &next, &u);
        prop_assert!(left >= -1e-10);
        // With the entropy next lies inside of the simplex, where nothing is left.
        prop_assert!(exponent(which) != 1.0 || left.abs() < 1e-9, "{left}");
        // At u = w⁺ it is an equality: the test has no slack of its own.
        prop_assert!(three_points(which, &eta_g, eta * ridge, &w, &next, &next).abs() < 1e-10);
    }

    /// The product domain through [`Dense`]: weights with ridge in the ball or box, the intercept
    /// in its interval and outside of the ridge.
    #[test]
    fn a_step_of_an_iterate_is_the_prox_of_the_product(
        which in 0usize..MAPS,
        (x, start, u) in (vector(), vector(), vector()),
        (slope, intercept_u) in (-3.0f64..3.0, -0.5f64..0.5),
        (eta, ridge) in (0.01f64..3.0, prop_oneof![Just(0.0), 0.001f64..2.0]),
        sparse in any::<bool>(),
    ) {
        let matrix = if sparse {
            let indices = (0..N as u32).collect();
            Matrix::sparse(N, vec![0, N], indices, x.clone()).unwrap()
        } else {
            Matrix::dense(N, x.clone()).unwrap()
        };
        let data = Dataset::new(Arc::new(matrix), vec![1.0], None, &[vec![0]]).unwrap();
        let mut source = WithReplacement::new(data);
        let handle = source.draw(0, &mut Rng::seed_from_u64(0)).unwrap();
        let domain = Domain::new(map(which)).with_intercept(0.5).unwrap();
        let mut iterate = Dense::new(domain, N, 1);
        let mut saved = iterate.save();
        saved[..N].copy_from_slice(&inside(which, &start));
        saved[N] = 0.3;
        iterate.restore(&saved).unwrap();
        let mut gradient = Gradient::new(1, 1);
        gradient.push(handle, 1.0, &[slope]);
        iterate.step(eta, ridge, &gradient, &source);
        let mut next = vec![0.0; N + 1];
        iterate.write(&mut next);

        let eta_g: Vec<f64> = x.iter().map(|x| eta * slope * x).collect();
        let u = inside(which, &u);
        let weights = |u: &[f64]| three_points(which, &eta_g, eta * ridge, &saved[..N], &next[..N], u);
        let free = |u: f64| three_points(0, &[eta * slope], 0.0, &saved[N..=N], &next[N..], &[u]);
        prop_assert!(next[N].abs() <= 0.5);
        prop_assert!(weights(&u) >= -1e-10 && free(intercept_u) >= -1e-10);
        prop_assert!(weights(&next[..N]).abs() < 1e-10 && free(next[N]).abs() < 1e-10);
    }

    /// min ⟨h, w⟩ + (r/2)‖w‖²: no point of the set is below it, and the prox of the centre of the
    /// space attains it.
    #[test]
    fn the_minimum_is_a_lower_bound_that_is_attained(
        which in 0usize..MAPS,
        (h, seed) in (vector(), any::<u64>()),
        ridge in prop_oneof![Just(0.0), 0.01f64..2.0],
    ) {
        let map = map(which);
        let value = |w: &[f64]| dot(&h, w) + ridge / 2.0 * dot(w, w);
        let least = map.minimum(&h, ridge);
        let norm = dot(&h, &h).sqrt();
        prop_assert_eq!(map.minimum(&[0.0; N], 0.0), 0.0);
        if which == FREE && ridge == 0.0 {
            prop_assert_eq!(least, if norm == 0.0 { 0.0 } else { f64::NEG_INFINITY });
            return Ok(());
        }
        let mut lcg = Lcg(seed);
        for _ in 0..200 {
            let u: Vec<f64> = (0..N).map(|_| 3.0 * lcg.next()).collect();
            prop_assert!(value(&inside(which, &u)) >= least - 1e-12);
        }
        // Coordinates or directions of the minimiser in closed form.
        let best: Vec<f64> = match which {
            0..=2 => {
                let radius = [0.7, 20.0, f64::INFINITY][which];
                let length = if ridge > 0.0 { (norm / ridge).min(radius) } else { radius };
                h.iter().map(|h| -h / norm.max(1e-300) * length).collect()
            }
            3..=5 => (0..N)
                .map(|j| {
                    let (low, high) = [(-0.4, 0.9), (0.2, 1.5), (LOW[j], HIGH[j])][which - 3];
                    let end = if h[j] > 0.0 { low } else { high };
                    if ridge > 0.0 { (-h[j] / ridge).clamp(low, high) } else { end }
                })
                .collect(),
            // By steps of mirror descent, each of which is exact.
            _ => {
                let mut w = vec![0.0; N];
                map.center(&mut w);
                for _ in 0..40 {
                    map.dual(&mut w);
                    w.iter_mut().zip(&h).for_each(|(v, h)| *v -= 1e6 * h);
                    map.primal(&mut w, 1e6 * ridge);
                }
                w
            }
        };
        prop_assert!((value(&best) - least).abs() < 1e-10 * (1.0 + least.abs()));
    }

    /// D² = sup ν − inf ν: no two points are farther apart in ν, and corners and centre attain it.
    #[test]
    fn the_width_is_the_largest_difference_of_the_distance_function(
        which in (0usize..MAPS).prop_filter("bounded", |which| *which != FREE),
        (u, v) in (vector(), vector()),
    ) {
        let map = map(which);
        let nu = |w: &[f64]| nu(which, w);
        let (u, v) = (inside(which, &u), inside(which, &v));
        prop_assert!(nu(&u) - nu(&v) <= map.width(N) + 1e-12);
        prop_assert!(p_norm(&u, exponent(which)) <= map.reach(N) + 1e-12);
        let mut center = vec![0.0; N];
        map.center(&mut center);
        prop_assert!(map.contains(&center) && nu(&center) <= nu(&u) + 1e-15);
        let corner = |at: usize, length: f64| (0..N).map(|j| if j == at { length } else { 0.0 }).collect();
        let far: Vec<f64> = match which {
            0 | 8 | 11 => corner(0, 0.7),
            1 | 10 => corner(1, 20.0),
            3 => vec![0.9; N],
            4 => vec![1.5; N],
            5 => vec![-1.0, 1.2, -0.2, 0.5, -2.0],
            6 => corner(3, 1.0),
            7 => corner(4, 3.0),
            12 => corner(1, 4.0),
            _ => corner(2, 2.0),
        };
        prop_assert!(map.contains(&far));
        prop_assert!((nu(&far) - nu(&center) - map.width(N)).abs() < 1e-12 * (1.0 + map.width(N)));
        if map.dimension().is_none() {
            let domain = Domain::new(map).with_intercept(3.0).unwrap();
            let expected = domain.map.width(2 * N) + 2.0 * 4.5;
            prop_assert!((domain.width(N, 2) - expected).abs() < 1e-12);
        }
    }

    /// B(u, v) ≥ ½‖u − v‖² in the norm that is stated, and the dual norm is the one of that norm:
    /// ⟨g, u⟩ ≤ ‖g‖_*‖u‖, with equality at the u where Hölder has it.
    #[test]
    fn the_distance_function_is_strongly_convex_in_the_stated_norm(
        which in 0usize..MAPS,
        (u, v, g) in (vector(), vector(), vector()),
        near in prop_oneof![Just(1.0), Just(1e-2)],
    ) {
        let map = map(which);
        let p = exponent(which);
        let (v, far) = (inside(which, &v), inside(which, &u));
        let u: Vec<f64> = v.iter().zip(&far).map(|(v, u)| v + near * (u - v)).collect();
        let step: Vec<f64> = u.iter().zip(&v).map(|(u, v)| u - v).collect();
        let size = p_norm(&step, p);
        prop_assert!(bregman(which, &u, &v) >= 0.5 * size * size * (1.0 - 1e-9) - 1e-12);
        let dual = map.dual_norm(&g);
        prop_assert!(dot(&g, &step) <= dual * size + 1e-12);
        prop_assert!((map.dual_norm_squared(&g) - dual * dual).abs() <= 1e-14 * dual * dual);
        let top = g.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        let best: Vec<f64> = g
            .iter()
            .map(|v| match p {
                1.0 => if v.abs() == top { v.signum() } else { 0.0 },
                p => v.signum() * (v.abs() / top).powf(1.0 / (p - 1.0)),
            })
            .collect();
        prop_assert!((dot(&g, &best) - dual * p_norm(&best, p)).abs() < 1e-10 * (1.0 + dual));
        // ∇ν, where it is defined by a formula of its own.
        let mut there = v.clone();
        map.dual(&mut there);
        for (a, b) in there.iter().zip(slope(which, &v)) {
            prop_assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
        }
    }

    /// With p = 2 the p-norm ball is the Euclidean ball.
    #[test]
    fn the_ball_of_exponent_two_is_the_euclidean_ball(
        w in vector(),
        ridge in prop_oneof![Just(0.0), 0.001f64..2.0],
        radius in 0.1f64..6.0,
    ) {
        let (a, b) = (PNormBall::new(2.0, radius).unwrap(), L2Ball::new(radius).unwrap());
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-13 * (1.0 + b.abs());
        let mut dual = w.clone();
        a.dual(&mut dual);
        prop_assert!(dual.iter().zip(&w).all(|(a, b)| near(*a, *b)));
        let (mut x, mut y) = (w.clone(), w.clone());
        a.primal(&mut x, ridge);
        b.primal(&mut y, ridge);
        prop_assert!(x.iter().zip(&y).all(|(a, b)| near(*a, *b)), "{x:?} {y:?}");
        prop_assert!(near(a.minimum(&w, ridge), b.minimum(&w, ridge)));
        prop_assert!(near(a.width(N), b.width(N)) && near(a.dual_norm(&w), b.dual_norm(&w)));
        prop_assert!(near(a.kappa(N), 1.0) && near(a.reach(N), b.reach(N)));
    }

    #[test]
    fn a_point_a_little_outside_is_not_contained(
        which in (0usize..MAPS).prop_filter("bounded", |which| *which != FREE),
        u in vector(),
    ) {
        let map = map(which);
        let u = inside(which, &u);
        prop_assert!(map.contains(&u));
        let length = |w: &[f64]| p_norm(w, exponent(which)).max(1e-9);
        let mut out: Vec<f64> = match which {
            3..=5 => vec![1.5001; N],
            _ => u.iter().map(|v| v * map.reach(N) / length(&u) * 1.0001).collect(),
        };
        prop_assert!(!map.contains(&out));
        out = u;
        out[1] = f64::NAN;
        prop_assert!(!map.contains(&out));
    }

    /// The q-player: with the entropy, η⟨g, q⁺ − u⟩ ≥ KL(u, q⁺) + KL(q⁺, q) − KL(u, q) for gains g.
    #[test]
    fn a_step_of_the_group_weights_satisfies_the_three_point_inequality(
        m in 2usize..12,
        share in prop_oneof![Just(0.0), 0.0f64..1.0],
        seed in any::<u64>(),
        (eta, single) in (0.01f64..5.0, any::<bool>()),
    ) {
        let k = 1.0 + share * (m as f64 - 1.0);
        let mut lcg = Lcg(seed);
        let mut player = Plain::new(m, k).unwrap();
        let random = |scale: f64, lcg: &mut Lcg| -> Vec<(usize, f64)> {
            (0..m).map(|i| (i, scale * lcg.next())).collect()
        };
        player.step(1.0, &random(2.0, &mut lcg));
        let mut q = vec![0.0; m];
        player.write(&mut q);
        let mut gains = random(2.0, &mut lcg);
        if single {
            gains.truncate(1);
        }
        player.step(eta, &gains);
        let mut next = vec![0.0; m];
        player.write(&mut next);
        prop_assert!((next.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        prop_assert!(next.iter().all(|v| *v >= 0.0 && *v <= 1.0 / k * (1.0 + 1e-12)));
        let kl = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).filter(|(a, _)| **a > 0.0).map(|(a, b)| a * (a / b).ln()).sum()
        };
        let left = |u: &[f64]| -> f64 {
            let gain: f64 = gains.iter().map(|(i, g)| g * (next[*i] - u[*i])).sum();
            eta * gain - kl(u, &next) - kl(&next, &q) + kl(u, &q)
        };
        prop_assert!(left(&next).abs() < 1e-10);
        for _ in 0..20 {
            // A point of the capped simplex: the largest mixture of a random point with the
            // uniform one that respects the cap.
            let mut u: Vec<f64> = (0..m).map(|_| 1.0 + lcg.next()).collect();
            let sum: f64 = u.iter().sum();
            u.iter_mut().for_each(|v| *v /= sum);
            let top = u.iter().copied().fold(0.0, f64::max);
            let even = 1.0 / m as f64;
            let mix = if top > 1.0 / k { (1.0 / k - even) / (top - even) } else { 1.0 };
            u.iter_mut().for_each(|v| *v = mix * *v + (1.0 - mix) * even);
            prop_assert!(left(&u) >= -1e-9, "{}", left(&u));
        }
    }

    /// The projection by its KKT conditions: one factor c for all that are not capped, and those
    /// that are would exceed the cap with it.
    #[test]
    fn the_capped_projection_satisfies_its_kkt_conditions(
        p in prop::collection::vec(prop_oneof![Just(0.0), 1e-8f64..10.0, 0.5f64..1.0], 1..14),
        share in 0.0f64..1.0,
        whole in any::<bool>(),
    ) {
        let m = p.len() as f64;
        let real = 1.0 + share * (m - 1.0);
        let k = if whole { real.round() } else { real };
        let cap = 1.0 / k;
        let mut q = p.clone();
        let positive = p.iter().filter(|v| **v > 0.0).count();
        if let Err(error) = project_capped_simplex(&mut q, k) {
            prop_assert!((positive as f64) < k, "{error}");
            return Ok(());
        }
        prop_assert!(positive as f64 >= k);
        prop_assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let free: Vec<f64> =
            q.iter().zip(&p).filter(|(q, p)| **p > 0.0 && **q < cap).map(|(q, p)| q / p).collect();
        let c = free.first().copied().unwrap_or(f64::INFINITY);
        for (q, p) in q.iter().zip(&p) {
            prop_assert!(*q <= cap && (*q == 0.0) == (*p == 0.0));
            if *p > 0.0 && *q < cap {
                prop_assert!((q / p - c).abs() <= 1e-11 * c);
            } else if *p > 0.0 {
                prop_assert!(c * p >= cap * (1.0 - 1e-11));
            }
        }
    }
}
