use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_oneof, proptest};
use rand::SeedableRng;

use super::*;
use crate::group_weights::Plain;
use crate::sampling::{Rng, below, unit};

fn point(q: &impl GroupWeights) -> Vec<f64> {
    let mut out = vec![0.0; q.len()];
    q.write(&mut out);
    out
}

fn mean(q: &impl GroupWeights) -> Vec<f64> {
    let mut out = vec![0.0; q.len()];
    q.write_average(&mut out);
    out
}

fn far(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// What may be done to weights.
#[derive(Clone, Debug)]
enum Act {
    Step(Vec<(usize, f64)>),
    Accumulate(f64),
    Restart,
    /// Through a checkpoint into weights that have been elsewhere.
    Resume,
}

/// Few gains, most of them losses, some large; or many.
fn acts(m: usize) -> impl Strategy<Value = Vec<Act>> {
    let gain = prop_oneof![
        6 => -3.0..0.0f64,
        2 => -1.0..3.0f64,
        1 => -400.0..400.0f64,
        1 => Just(0.0),
    ];
    let few = prop::collection::vec((0..m, gain.clone()), 1..4);
    let many = prop::collection::vec((0..m, gain), 1..2 * m + 1);
    let act = prop_oneof![
        12 => few.prop_map(Act::Step),
        1 => many.prop_map(Act::Step),
        8 => (0.1..2.0f64).prop_map(Act::Accumulate),
        1 => Just(Act::Restart),
        1 => Just(Act::Resume),
    ];
    prop::collection::vec(act, 1..150)
}

/// Does the same to a tree and to plain weights, and compares points, averages, draws and subsets.
fn agrees<Q: GroupWeights>(new: impl Fn() -> Q, k: f64, acts: &[Act]) -> Result<(), String> {
    let mut tree = new();
    let m = tree.len();
    let mut plain = Plain::new(m, k).unwrap().with_subsets(Subsets::Systematic);
    for (at, act) in acts.iter().enumerate() {
        match act {
            Act::Step(gains) => {
                tree.step(0.7, gains);
                plain.step(0.7, gains);
            }
            Act::Accumulate(weight) => {
                tree.accumulate(*weight);
                plain.accumulate(*weight);
            }
            Act::Restart => {
                tree.restart_average();
                plain.restart_average();
            }
            Act::Resume => {
                let mut other = new();
                other.step(1.0, &[(m / 2, 30.0), (0, -5.0)]);
                other.accumulate(0.3);
                other.restore(&tree.save()).unwrap();
                if other.save() != tree.save() || point(&other) != point(&tree) {
                    return Err(format!("act {at}: another state after a checkpoint"));
                }
                tree = other;
            }
        }
        let (a, b) = (point(&tree), point(&plain));
        if far(&a, &b) > 1e-11 || (a.iter().sum::<f64>() - 1.0).abs() > 1e-12 {
            return Err(format!("act {at}, {act:?}: {a:?} is not {b:?}"));
        }
        let (a, b) = (mean(&tree), mean(&plain));
        if far(&a, &b) > 1e-11 {
            return Err(format!("after act {at}, {act:?}: mean {a:?} is not {b:?}"));
        }
    }
    let (mut a, mut b) = (Rng::seed_from_u64(7), Rng::seed_from_u64(7));
    for _ in 0..20 {
        let (i, j) = (tree.draw(&mut a), plain.draw(&mut b));
        if i != j {
            return Err(format!("drew {i} instead of {j}"));
        }
    }
    let (mut chosen, mut other) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        tree.choose(k as usize, &mut a, &mut chosen, &mut Vec::new());
        plain.choose(k as usize, &mut b, &mut other, &mut Vec::new());
        if k.fract() == 0.0 && chosen != other {
            return Err(format!("chose {chosen:?} instead of {other:?}"));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_tree_is_plain_weights(
        (m, acts) in (1usize..90).prop_flat_map(|m| (Just(m), acts(m))),
    ) {
        let result = agrees(|| Tree::new(m).unwrap(), 1.0, &acts);
        prop_assert!(result.is_ok(), "{}", result.unwrap_err());
    }

    #[test]
    fn a_capped_tree_is_plain_weights(
        (m, acts) in (1usize..90).prop_flat_map(|m| (Just(m), acts(m))),
        share in 0.0f64..1.0,
        whole in any::<bool>(),
    ) {
        let real = 1.0 + share.powi(2) * (m as f64 - 1.0);
        let k = if whole { real.round() } else { real };
        let result = agrees(|| CappedTree::new(m, k).unwrap(), k, &acts);
        prop_assert!(result.is_ok(), "k = {k}: {}", result.unwrap_err());
    }
}

/// Projection onto the capped simplex by brute force: sort, and take the first number of capped
/// groups that fits. From and to logarithms.
fn brute_force(logs: &mut [f64], k: f64, order: &mut [usize]) {
    order.sort_by(|a, b| logs[*b].total_cmp(&logs[*a]));
    let top = logs[order[0]];
    let mass = |i: usize| (logs[i] - top).exp();
    for capped in 0..order.len() {
        let rest: f64 = order[capped..].iter().rev().map(|i| mass(*i)).sum();
        let c = (k - capped as f64) / k / rest;
        if c * mass(order[capped]) <= 1.0 / k || capped + 1 == k.ceil() as usize {
            let ln_c = c.ln() - top;
            for (rank, i) in order.iter().enumerate() {
                logs[*i] = if rank < capped { -k.ln() } else { logs[*i] + ln_c };
            }
            return;
        }
    }
}

/// Half a million steps and another half with gains of both signs, each from where the last one
/// ended, against projections of all weights.
#[test]
fn a_capped_tree_equals_brute_force_after_a_million_steps() {
    for (k, steps, above) in [(3.0, 500_000, 0.0), (4.6, 500_000, 0.3)] {
        let m = 24;
        let mut tree = CappedTree::new(m, k).unwrap();
        let mut order: Vec<usize> = (0..m).collect();
        let mut logs = vec![-(m as f64).ln(); m];
        let mut rng = Rng::seed_from_u64(11);
        let (mut worst, mut most) = (0f64, 0);
        for t in 0..steps {
            // Five groups that change have no losses for a while and reach the cap.
            let i = match below(&mut rng, m) {
                i if (i + t / 1000) % m < 5 && t % 50 > 0 => (i + 5) % m,
                i => i,
            };
            let gain = -(unit(&mut rng) - above) * (1 + i % 5) as f64;
            tree.step(0.3, &[(i, gain)]);
            logs[i] += 0.3 * gain;
            brute_force(&mut logs, k, &mut order);
            let q = |i: usize| logs[i].exp();
            worst = (0..m).fold(worst, |worst, i| worst.max((tree.get(i) - q(i)).abs()));
            most = most.max((0..m).filter(|i| tree.get(*i) == 1.0 / k).count());
        }
        assert!(worst < 1e-12, "k = {k}: {worst}");
        assert!(most + 1 >= k.ceil() as usize, "k = {k}: never more than {most} groups capped");
    }
}

/// Plays the bandit of Online(1), with logarithms in whole multiples of 2⁻¹⁰⁰ beside it, and
/// returns the largest relative difference of a weight from the exact one.
fn bandit(m: usize, rounds: u64, eta: f64) -> f64 {
    const UNIT: f64 = (1u128 << 100) as f64;
    let mut tree = Tree::new(m).unwrap();
    let mut exact = vec![0i128; m];
    let mut rng = Rng::seed_from_u64(3);
    for _ in 0..rounds {
        let i = tree.draw(&mut rng);
        // Groups differ, so that some weights underflow.
        let gain = -unit(&mut rng) * (1.0 + (i % 7) as f64) / (tree.get(i) + eta / 2.0);
        tree.step(eta, &[(i, gain)]);
        exact[i] += (eta * gain * UNIT) as i128;
    }
    let top = exact.iter().copied().max().unwrap();
    let masses: Vec<f64> = exact.iter().map(|v| ((v - top) as f64 / UNIT).exp()).collect();
    let total: f64 = masses.iter().sum();
    let off = |i: usize| {
        let q = masses[i] / total;
        if q > 0.0 { (tree.get(i) / q - 1.0).abs() } else { tree.get(i) }
    };
    (0..m).map(off).fold(0.0, f64::max)
}

#[test]
fn weights_agree_with_exact_logarithms() {
    for (m, rounds, eta) in [(6, 300_000, 1e-2), (1000, 300_000, 1e-3), (5000, 100_000, 0.1)] {
        let off = bandit(m, rounds, eta);
        assert!(off < 1e-10, "m = {m}, η = {eta}: {off}");
    }
}

/// 10⁸ rounds: 11 seconds of processor time; the largest difference was 3e-15.
#[test]
#[ignore = "takes long"]
fn weights_agree_with_exact_logarithms_after_many_rounds() {
    let off = bandit(1000, 100_000_000, 1e-3);
    assert!(off < 1e-9, "{off}");
}

/// Quantiles invert the distribution function, up to rounding.
fn inverts(q: &impl GroupWeights, rng: &mut Rng) {
    for _ in 0..50 {
        let u = unit(rng);
        let found = q.quantile(u);
        let before: f64 = (0..found).map(|i| q.get(i)).sum();
        assert!(q.get(found) > 0.0);
        assert!(before <= u + 1e-12 && u < before + q.get(found) + 1e-12);
        for group in 0..q.len() {
            assert_eq!(q.contains(group, u), group == found, "group {group}, not {found}");
        }
    }
    let (mut one, mut many) = (rng.clone(), [0; 13]);
    q.draw_all(rng, &mut many);
    assert_eq!(many.map(|_| q.draw(&mut one)), many);
}

#[test]
fn quantiles_invert_the_distribution_function() {
    let mut rng = Rng::seed_from_u64(12);
    for m in [1, 2, 6, 8, 9, 70, 600] {
        let (mut tree, mut plain) = (Tree::new(m).unwrap(), Plain::new(m, 1.0).unwrap());
        let mut capped = CappedTree::new(m, 1.0 + 0.5 * (m - 1) as f64).unwrap();
        for _ in 0..40 {
            // Also weights that underflow.
            let gains = [(below(&mut rng, m), -900.0 * unit(&mut rng).powi(4))];
            tree.step(1.0, &gains);
            plain.step(1.0, &gains);
            capped.step(1.0, &gains);
            inverts(&tree, &mut rng);
            inverts(&plain, &mut rng);
            inverts(&capped, &mut rng);
        }
    }
}
