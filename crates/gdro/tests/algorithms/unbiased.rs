//! Every estimator against a ledger with known risks: the mean of what it tells the players is the
//! gradient of the game that it plays, the implicit-exploration bias included.

use std::sync::Arc;

use gdro::algorithm::{self, Constants, Recipe, Rule};
use gdro::domain::{Domain, L2Ball};
use gdro::estimator::{
    BatchOrCoin, Bernoulli, ClippedUniform, DepRoundIx, DominantIx, Estimator, EveryGroup, Excess,
    LimitedAdvice, MiniBatch, OneExp3P, OneGradient, OneIx, Probe, Reuse, UniformOne,
};
use gdro::game::Game;
use gdro::group_weights::{GroupWeights, Mixed, Plain};
use gdro::iterate::Dense;
use gdro::loss::Squared;
use gdro::run::{Saddle, Solver};
use gdro::sampling::{Rng, Streams, unit};
use gdro::source::{Source, WithReplacement};
use gdro::{Dataset, Matrix, Result};

const M: usize = 5;

/// Risks of the groups; a payoff is the risk ± SPREAD, each with probability ½.
const RISKS: [f64; M] = [0.3, 0.7, 0.5, 0.25, 0.6];
const SPREAD: f64 = 0.2;
const GAMMA: f64 = 0.05;

/// The step of q, by which clipped gains are cut.
const ETA: f64 = 0.35;

/// What a group's own model attains, as a share of the risk.
const OWN: f64 = 0.25;

/// Every comparison with a mean is a z-test at |z| ≤ 5: false-alarm rate 6e-7 each, and below 1e-4
/// for all of this file together. Seeds are fixed.
const Z: f64 = 5.0;

/// Mean and standard error of a sum that grows by one number per round.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, v: f64) {
        self.sum += v;
        self.squares += v * v;
    }

    fn check(&self, rounds: usize, expected: f64, label: &str) {
        let n = rounds as f64;
        let mean = self.sum / n;
        let error = ((self.squares / n - mean * mean).max(0.0) / n).sqrt();
        let off = (mean - expected).abs();
        assert!(off <= Z * error + 1e-11, "{label}: mean {mean} ± {error}, expected {expected}");
    }
}

/// What an estimator did in one round.
struct Ledger {
    streams: Streams,
    gamma: f64,
    range: (f64, f64),
    /// Σ c per group: the coefficient of ∇R_i in g_w, when every sample has the group's gradient.
    pulled: [f64; M],
    /// Σ c · noise per group: samples must be fresh, so that its mean is 0.
    noise: [f64; M],
    credited: [f64; M],
    draws: [usize; M],
    pulls: usize,
    empty: [bool; M],
    round: u64,
    kept: Vec<usize>,
    shifted: [f64; M],
    moved: f64,
}

impl Ledger {
    fn new(seed: u64) -> Self {
        Ledger {
            streams: Streams::new(seed),
            gamma: GAMMA,
            range: (0.0, 1.0),
            pulled: [0.0; M],
            noise: [0.0; M],
            credited: [0.0; M],
            draws: [0; M],
            pulls: 0,
            empty: [false; M],
            round: 0,
            kept: Vec::new(),
            shifted: [0.0; M],
            moved: 0.0,
        }
    }

    fn clear(&mut self) {
        self.round += 1;
        self.pulled = [0.0; M];
        self.noise = [0.0; M];
        self.credited = [0.0; M];
        self.draws = [0; M];
        self.pulls = 0;
    }
}

impl Probe for Ledger {
    fn pull(&mut self, group: usize, c: f64) -> Result<f64> {
        let noise = if unit(&mut self.streams.data) < 0.5 { SPREAD } else { -SPREAD };
        self.pulled[group] += c;
        self.noise[group] += c * noise;
        self.draws[group] += 1;
        self.pulls += 1;
        Ok(RISKS[group] + noise)
    }

    fn credit(&mut self, group: usize, gain: f64) {
        self.credited[group] += gain;
    }

    fn shortfall(&mut self, payoff: f64) -> f64 {
        let (low, high) = self.range;
        ((high - payoff) / (high - low)).clamp(0.0, 1.0)
    }

    fn pull_excess(&mut self, group: usize, c: f64) -> Result<f64> {
        Ok(self.pull(group, c)? - RISKS[group] * OWN)
    }

    fn keep(&mut self, group: usize) -> Result<()> {
        self.kept.push(group);
        self.draws[group] += 1;
        Ok(())
    }

    fn kept(&mut self, slot: usize) -> Result<f64> {
        Ok(RISKS[self.kept[slot]])
    }

    fn release(&mut self) {
        self.kept.clear();
    }

    fn shift(&mut self, group: usize, by: f64) {
        self.shifted[group] += by;
    }

    fn mark(&mut self) {
        self.moved = 0.0;
    }

    fn moved(&self) -> f64 {
        self.moved
    }

    fn round(&self) -> u64 {
        self.round
    }

    fn gamma(&self) -> f64 {
        self.gamma
    }

    fn eta_q(&self) -> f64 {
        ETA
    }

    fn exhausted(&self, group: usize) -> bool {
        self.empty[group]
    }

    fn rng(&mut self) -> &mut Rng {
        &mut self.streams.groups
    }
}

/// Uneven weights with cap 1/k.
fn weights(k: f64) -> (Plain, [f64; M]) {
    let mut q = Plain::new(M, k).unwrap();
    q.step(1.0, &[(0, 0.0), (1, 1.5), (2, -1.0), (3, 0.4), (4, -2.0)]);
    let mut out = [0.0; M];
    q.write(&mut out);
    (q, out)
}

/// Checks the means of Σ c and of the gains per group, and the samples per round.
fn check<E: Estimator>(
    label: &str,
    mut estimator: E,
    q: &impl GroupWeights,
    rounds: usize,
    gradient: impl Fn(usize) -> f64,
    gain: impl Fn(usize) -> f64,
    samples: impl Fn(usize) -> f64,
) {
    let mut ledger = Ledger::new(label.len() as u64);
    let mut moments = [[Moments::default(); 4]; M];
    let most = estimator.most_pulls(M);
    for _ in 0..rounds {
        ledger.clear();
        estimator.estimate(q, &mut ledger).unwrap();
        assert!(ledger.pulls <= most, "{label}: more pulls than promised");
        for (i, moments) in moments.iter_mut().enumerate() {
            moments[0].add(ledger.pulled[i]);
            moments[1].add(ledger.noise[i]);
            moments[2].add(ledger.credited[i]);
            moments[3].add(ledger.draws[i] as f64);
        }
    }
    for (i, moments) in moments.iter().enumerate() {
        moments[0].check(rounds, gradient(i), &format!("{label}: gradient of group {i}"));
        moments[1].check(rounds, 0.0, &format!("{label}: noise of group {i}"));
        moments[2].check(rounds, gain(i), &format!("{label}: gain of group {i}"));
        moments[3].check(rounds, samples(i), &format!("{label}: samples of group {i}"));
    }
}

const ROUNDS: usize = 100_000;

#[test]
fn every_group_is_unbiased() {
    let (q, p) = weights(1.0);
    check("every group", EveryGroup, &q, ROUNDS, |i| p[i], |i| RISKS[i], |_| 1.0);
}

#[test]
fn uniform_one_is_unbiased() {
    let (q, p) = weights(1.0);
    check("uniform one", UniformOne, &q, ROUNDS, |i| p[i], |i| RISKS[i], |_| 0.2);
}

#[test]
fn bernoulli_is_unbiased_for_the_weighted_game() {
    let (q, p) = weights(1.0);
    let n = [400, 100, 300, 50, 1];
    let share = |i: usize| n[i] as f64 / 400.0;
    let estimator = Bernoulli::new(&n).unwrap();
    let gain = |i: usize| share(i) * RISKS[i];
    check("bernoulli", estimator, &q, ROUNDS, |i| p[i] * share(i), gain, share);
}

#[test]
fn mini_batches_are_unbiased_for_the_weighted_game() {
    let (q, p) = weights(1.0);
    let n: [u64; M] = [400, 100, 300, 50, 95];
    // eqn:pi:mirror with n_m = 50.
    let root = 1.0 / 50f64.sqrt();
    let scale = |i: usize| (root + 1.0) / (root + (50.0 / n[i] as f64).sqrt());
    let batch = |i: usize| (n[i] / 50) as f64;
    let estimator = MiniBatch::new(&n).unwrap();
    let gain = |i: usize| scale(i) * RISKS[i];
    check("mini-batch", estimator, &q, ROUNDS / 5, |i| p[i] * scale(i), gain, batch);
}

/// The variance of a gain falls with the batch: p_i² SPREAD²/batch. At 20 000 rounds the relative
/// error of a variance of sums of ± signs is below √(2/20 000) = 1 %; five of those are allowed.
#[test]
fn mini_batches_have_the_variance_of_a_mean() {
    let (q, _) = weights(1.0);
    let n: [u64; M] = [400, 100, 300, 50, 95];
    let mut estimator = MiniBatch::new(&n).unwrap();
    let scales = estimator.scales().to_vec();
    let mut ledger = Ledger::new(77);
    let mut moments = [Moments::default(); M];
    let rounds = 20_000;
    for _ in 0..rounds {
        ledger.clear();
        estimator.estimate(&q, &mut ledger).unwrap();
        moments.iter_mut().zip(ledger.credited).for_each(|(m, g)| m.add(g));
    }
    for (i, m) in moments.iter().enumerate() {
        let mean = m.sum / rounds as f64;
        let variance = m.squares / rounds as f64 - mean * mean;
        let expected = (scales[i] * SPREAD).powi(2) / (n[i] / 50) as f64;
        assert!((variance / expected - 1.0).abs() < 0.05, "group {i}: {variance} {expected}");
    }
}

/// E s̃_i = (1 − R_i) q_i/(q_i + γ): the gains are negative shortfalls.
#[test]
fn one_ix_has_exactly_the_implicit_exploration_bias() {
    for k in [1.0, 2.5] {
        let (q, p) = weights(k);
        let gain = |i: usize| -(1.0 - RISKS[i]) * p[i] / (p[i] + GAMMA);
        check("one ix", OneIx, &q, 4 * ROUNDS, |i| p[i], gain, |i| p[i]);
    }
}

/// E s̃_i = (1 − R_i) k q_i/(k q_i + γ), and group i is drawn with probability k q_i.
#[test]
fn dep_round_ix_has_exactly_the_implicit_exploration_bias() {
    for k in 1..=M {
        let real = k as f64;
        let (q, p) = weights(real);
        let gain = |i: usize| -(1.0 - RISKS[i]) * real * p[i] / (real * p[i] + GAMMA);
        let estimator = DepRoundIx::new(k, M);
        check("dep-round ix", estimator, &q, 2 * ROUNDS, |i| p[i], gain, |i| real * p[i]);
    }
}

/// With importance weights the weighted game becomes the game itself.
#[test]
fn importance_weights_undo_the_probabilities() {
    let (q, p) = weights(1.0);
    let n = [400, 100, 300, 50, 20];
    let estimator = Bernoulli::new(&n).unwrap().importance_weighted();
    let share = |i: usize| n[i] as f64 / 400.0;
    check("importance weights", estimator, &q, 2 * ROUNDS, |i| p[i], |i| RISKS[i], share);
}

#[test]
fn one_gradient_is_unbiased() {
    let (q, p) = weights(1.0);
    check("one gradient", OneGradient, &q, ROUNDS, |i| p[i], |i| RISKS[i], |_| 1.0);
}

/// Groups 0 and 2 have n_i ≥ n̄ = 120: batches of 3 and 2, scaled by eqn:pi:mirror; the others flip
/// a coin of probability n_i/n̄.
#[test]
fn batches_or_coins_are_unbiased_for_the_weighted_game() {
    let (q, p) = weights(1.0);
    let n = [400, 100, 300, 50, 119];
    let estimator = BatchOrCoin::new(&n, 120).unwrap();
    assert_eq!(estimator.batches(), [3, 0, 2, 0, 0]);
    let root = 1.0 / 120f64.sqrt();
    let scale = |i: usize| match n[i] {
        n if n >= 120 => (root + 1.0) / (root + (120.0 / n as f64).sqrt()),
        n => n as f64 / 120.0,
    };
    (0..M).for_each(|i| assert!((estimator.scales()[i] - scale(i)).abs() < 1e-15));
    let gain = |i: usize| scale(i) * RISKS[i];
    let samples = |i: usize| if n[i] >= 120 { (n[i] / 120) as f64 } else { scale(i) };
    check("batch or coin", estimator, &q, ROUNDS, |i| p[i] * scale(i), gain, samples);
}

/// With p_i = 1, and importance weights 120/n_i on coin flips, both play the game itself.
#[test]
fn unweighted_batches_and_coins_are_unbiased_for_the_game_itself() {
    let (q, p) = weights(1.0);
    let n = [400, 100, 300, 50, 119];
    let estimator = BatchOrCoin::new(&n, 120).unwrap().unweighted();
    let samples = |i: usize| if n[i] >= 120 { (n[i] / 120) as f64 } else { n[i] as f64 / 120.0 };
    check("batch or coin", estimator, &q, 2 * ROUNDS, |i| p[i], |i| RISKS[i], samples);
    let estimator = MiniBatch::new(&n).unwrap().unweighted();
    let batch = |i: usize| (n[i] / 50) as f64;
    check("mini-batch", estimator, &q, ROUNDS / 5, |i| p[i], |i| RISKS[i], batch);
}

#[test]
fn a_group_of_n_bar_samples_weighs_one() {
    let estimator = BatchOrCoin::new(&[400, 120, 60], 120).unwrap();
    assert_eq!(estimator.batches(), [3, 1, 0]);
    assert!((estimator.scales()[1] - 1.0).abs() < 1e-15);
    assert!(BatchOrCoin::new(&[400, 120, 60], 401).is_err());
    assert!(BatchOrCoin::new(&[400, 120, 60], 59).is_err());
}

/// The ledger's kept samples have the groups' mean losses: what is tested is who is credited what,
/// and that new samples are kept every m rounds.
#[test]
fn reuse_keeps_samples_for_m_rounds() {
    let (q, p) = weights(1.0);
    check("reuse", Reuse, &q, ROUNDS, |i| p[i], |i| RISKS[i], |i| p[i] + 1.0 / M as f64);
    let mut ledger = Ledger::new(5);
    for round in 1..=3 * M {
        ledger.clear();
        Reuse.estimate(&q, &mut ledger).unwrap();
        assert_eq!(ledger.kept, (0..M).collect::<Vec<_>>());
        let fresh = (round - 1) % M == 0;
        assert_eq!(ledger.draws.iter().sum::<usize>(), if fresh { M + 1 } else { 1 });
    }
}

/// E[g_q]_j = E min(ℓ, 1/(mη)): with m = 5 and η = 0.35 losses above 0.5714 are cut.
#[test]
fn clipping_has_exactly_its_bias() {
    let (q, p) = weights(1.0);
    let cut = 1.0 / (M as f64 * ETA);
    let gain = |i: usize| ((RISKS[i] + SPREAD).min(cut) + (RISKS[i] - SPREAD).min(cut)) / 2.0;
    assert!(gain(1) < RISKS[1] && gain(3) == RISKS[3]);
    let samples = |i: usize| p[i] + 1.0 / M as f64;
    check("clipped", ClippedUniform, &q, 2 * ROUNDS, |i| p[i], gain, samples);
}

/// E[g_q]_j = R_j + β/q_j.
#[test]
fn exp3p_has_exactly_its_bonus() {
    let (q, p) = weights(1.0);
    let q = Mixed::new(q, 0.3).unwrap();
    let mixed = |i: usize| 0.7 * p[i] + 0.3 / M as f64;
    (0..M).for_each(|i| assert!((q.get(i) - mixed(i)).abs() < 1e-15));
    let gain = |i: usize| RISKS[i] + 0.02 / mixed(i);
    check("exp3p", OneExp3P::new(0.02), &q, 4 * ROUNDS, mixed, gain, mixed);
}

/// E s̃_i = (1 − R_i) P_i/(P_i + γ) with P_i = q_i + (1 − q_i)(r − 1)/(m − 1), and g_w is unbiased,
/// for every r and for an r that changes.
#[test]
fn limited_advice_is_unbiased_for_every_number_of_queries() {
    let (q, p) = weights(1.0);
    let asked = |i: usize, r: usize| p[i] + (1.0 - p[i]) * (r - 1) as f64 / (M - 1) as f64;
    for queries in [&[1][..], &[2], &[3], &[M], &[1, M, 2]] {
        let mean = |f: &dyn Fn(usize) -> f64| {
            queries.iter().map(|r| f(*r)).sum::<f64>() / queries.len() as f64
        };
        let gain = |i: usize| -(1.0 - RISKS[i]) * mean(&|r| asked(i, r) / (asked(i, r) + GAMMA));
        let estimator = LimitedAdvice::new(queries, M).unwrap();
        let samples = |i: usize| mean(&|r| asked(i, r));
        // A whole number of cycles.
        check("limited advice", estimator, &q, 4 * 30_000, |i| p[i], gain, samples);
    }
    assert!(LimitedAdvice::new(&[], M).is_err());
    assert!(LimitedAdvice::new(&[1, 0], M).is_err());
    assert!(LimitedAdvice::new(&[M + 1], M).is_err());
}

#[test]
fn excess_subtracts_what_the_own_model_attains() {
    let (q, p) = weights(1.0);
    let gain = |i: usize| RISKS[i] * (1.0 - OWN);
    check("excess", Excess, &q, ROUNDS, |i| p[i], gain, |_| 1.0);
}

/// The ledger's kept losses are the risks .3 .7 .5 .25 .6. The widest margin is that between .5 and
/// .3, so groups 1, 4 and 2 stay awake, and the others sleep with an unchanged place among
/// themselves.
#[test]
fn dominated_groups_sleep_until_the_model_has_moved() {
    let q = Plain::new(M, 1.0).unwrap();
    let mut ledger = Ledger::new(6);
    // ρ = 0.04 and G = 1: radius (0.2 − 0.08)/2 = 0.06.
    let mut estimator = DominantIx::new(M, 3, 0.04, 1.0).unwrap();
    ledger.clear();
    estimator.estimate(&q, &mut ledger).unwrap();
    assert_eq!(ledger.kept.len(), 3 * M);
    assert_eq!(ledger.shifted, [-60.0, 0.0, 0.0, -60.0, 0.0]);
    // Those awake are credited what was earned, the one that was drawn less.
    let drawn: Vec<_> = (0..M).filter(|i| ledger.draws[*i] == 4).collect();
    let credited = (0..M).filter(|i| ledger.credited[*i] != 0.0).count();
    assert!(drawn.len() == 1 && (3..=4).contains(&credited), "{:?}", ledger.credited);
    // Not far enough, then too far before the next look is allowed.
    for (moved, awake) in [(0.02, false), (0.059, false)] {
        ledger.moved = moved;
        let saved = estimator.save();
        estimator.estimate(&q, &mut ledger).unwrap();
        assert_eq!(ledger.shifted[0] == 0.0, awake, "moved by {moved}");
        estimator.restore(&saved).unwrap();
    }
    ledger.moved = 0.061;
    ledger.round = 1;
    estimator.estimate(&q, &mut ledger).unwrap();
    assert_eq!(ledger.shifted, [0.0; M], "all wake when the proof has run out");
    // Margins below 2ρ let nobody sleep.
    let mut ledger = Ledger::new(6);
    ledger.clear();
    let mut estimator = DominantIx::new(M, 3, 0.11, 1.0).unwrap();
    estimator.estimate(&q, &mut ledger).unwrap();
    assert_eq!(ledger.shifted, [0.0; M]);
}

/// A group without samples left is not drawn by SMD_r, and the others do not notice.
#[test]
fn bernoulli_leaves_exhausted_groups_out() {
    let (q, _) = weights(1.0);
    let mut estimator = Bernoulli::new(&[10; M]).unwrap();
    let mut ledger = Ledger::new(1);
    ledger.empty[2] = true;
    estimator.estimate(&q, &mut ledger).unwrap();
    assert_eq!(ledger.draws, [1, 1, 0, 1, 1]);
    assert_eq!(ledger.credited[2], 0.0);
}

/// Rows x = ±1 or ±2 and targets, two or three per group: every expectation is a finite sum.
fn rows() -> Dataset {
    let x = vec![1.0, -1.0, 2.0, 1.0, -2.0, 1.0, 0.5, -1.5];
    let y = vec![0.1, -0.3, 0.5, 0.2, 0.4, -0.1, 0.0, 0.3];
    let groups = [vec![0, 1, 2], vec![3, 4], vec![2, 5, 6, 7]];
    Dataset::new(Arc::new(Matrix::dense(1, x).unwrap()), y, None, &groups).unwrap()
}

/// One round of the whole solver from w = W0 and uneven q, in a game with scales, offsets: the mean
/// moves of w and of ln q are the exact gradients times the steps.
fn one_round<E: Estimator + Clone>(
    label: &str,
    recipe: Recipe<E>,
    k: f64,
    gain: impl Fn(usize, f64, f64) -> f64,
    factor: impl Fn(usize) -> f64,
) {
    const W0: f64 = 0.4;
    let data = rows();
    let game = Game { scales: vec![1.0, 0.5, 2.0], offsets: vec![0.05, -0.1, 0.2], ridge: 0.0, k };
    let mut q = Plain::new(3, k).unwrap();
    q.step(1.0, &[(0, 0.0), (1, 0.2), (2, 0.5)]);
    let mut p = [0.0; 3];
    q.write(&mut p);
    let residual = |r: u32| data.matrix().row(r as usize).norm_squared().sqrt();
    // Signed features: the matrix has one column.
    let feature = |r: u32| {
        let mut v = 0.0;
        data.matrix().row(r as usize).for_each(|_, x| v = x);
        assert_eq!(v.abs(), residual(r));
        v
    };
    let error = |r: u32| W0 * feature(r) - data.targets()[r as usize];
    let mean = |i: usize, f: &dyn Fn(u32) -> f64| {
        data.members(i).iter().map(|r| f(*r)).sum::<f64>() / data.members(i).len() as f64
    };
    let payoff = |i: usize| game.payoff(i, mean(i, &|r| error(r).powi(2)));
    let slope = |i: usize| game.scales[i] * mean(i, &|r| 2.0 * error(r) * feature(r));
    let expected_w: f64 = (0..3).map(|i| factor(i) * p[i] * slope(i)).sum();

    let domain = Domain::new(L2Ball::unconstrained());
    let source = WithReplacement::new(data.clone());
    assert_eq!(source.groups(), 3);
    let steps = recipe.schedule.at(1);
    assert_eq!(recipe.rule, Rule::Descent);
    let mut moments = [Moments::default(); 3];
    let rounds = 100_000;
    let point = Dense::new(domain, 1, 1);
    let mut solver =
        Saddle::new(game.clone(), Squared, source, point, q.clone(), recipe, 4).unwrap();
    let start = solver.save();
    let mut state = start.clone();
    for _ in 0..rounds {
        // The same point in every round, with the generators where they are.
        state.model[0] = W0;
        state.weights.clone_from(&start.weights);
        state.streams = solver.save().streams;
        solver.restore(&state).unwrap();
        solver.advance(1).unwrap();
        let (mut w, mut next) = ([0.0], [0.0; 3]);
        solver.write_last(&mut w, &mut next);
        moments[0].add((W0 - w[0]) / steps.eta_w);
        // Differences of ln q do not depend on the normalisation.
        for i in 1..3 {
            moments[i].add(((next[i] / p[i]).ln() - (next[0] / p[0]).ln()) / steps.eta_q);
        }
    }
    assert_eq!(solver.clipped(), 0, "{label}");
    moments[0].check(rounds, expected_w, &format!("{label}: gradient"));
    for i in 1..3 {
        let expected = gain(i, payoff(i), p[i]) - gain(0, payoff(0), p[0]);
        moments[i].check(rounds, expected, &format!("{label}: gain {i} − gain 0"));
    }
}

/// Scales and offsets reach both players through the solver: the payoff is p_i(ℓ − b_i).
#[test]
fn the_solver_plays_the_game_with_scales_and_offsets() {
    let range = (-2.0, 20.0);
    let c = Constants { payoffs: range, ..Constants::paper(1.0, 1.0, 3) };
    let steps = |w, q| (w, q);
    let (w, q) = steps(0.01, 0.01);
    one_round(
        "every group",
        algorithm::smd_m(&c, 50).scaled(w, q),
        1.0,
        |_, payoff, _| payoff,
        |_| 1.0,
    );
    one_round(
        "uniform one",
        algorithm::smd_1(&c, 50).scaled(w, q),
        1.0,
        |_, payoff, _| payoff,
        |_| 1.0,
    );
    let n = [40, 10, 30];
    let share = move |i: usize| n[i] as f64 / 40.0;
    one_round(
        "bernoulli",
        algorithm::smd_r(&c, &n, 50).unwrap().scaled(w, q),
        1.0,
        move |i, payoff, _| share(i) * payoff,
        share,
    );
    let ix = move |k: f64, gamma: f64| {
        move |_: usize, payoff: f64, q: f64| {
            let shortfall = (range.1 - payoff) / (range.1 - range.0);
            -shortfall * k * q / (k * q + gamma)
        }
    };
    let recipe = algorithm::online_1(&c, 50).scaled(w, 0.1);
    let gamma = recipe.schedule.at(1).gamma;
    one_round("one ix", recipe, 1.0, ix(1.0, gamma), |_| 1.0);
    // k = 2 with a step so small that the cap is not touched.
    let c = Constants { k: 2.0, ..c };
    let recipe = algorithm::atkro_k(&c, 50).unwrap().scaled(w, 0.05);
    let gamma = recipe.schedule.at(1).gamma;
    one_round("dep-round ix", recipe, 2.0, ix(2.0, gamma), |_| 1.0);
}
