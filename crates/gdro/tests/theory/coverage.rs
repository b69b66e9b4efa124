//! Intervals on held-out rows: coverage in simulations, values against `oracles/intervals.py`,
//! width and speed.
//!
//! Every simulation has 1,000 repetitions and a fixed seed, and counts the repetitions in which the
//! interval misses the truth. It fails when there are more than a binomial count of 1,000 with
//! probability δ exceeds with probability 1e-3: for a valid interval, a false alarm of at most 1e-3
//! per check and seed, and in truth far less, since none of these intervals is exact. Rates and
//! widths: `--nocapture`.

use gdro::interval::{
    Binary, Interval, Pairs, Rows, Settings, auc, auc_interval, clopper_pearson, compare, evaluate,
    mean_interval, weighted_mean_interval,
};
use gdro::sampling::{Rng, below, unit};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;

const REPETITIONS: usize = 1000;

/// The most misses that are compatible with a probability of `delta`.
fn most_misses(delta: f64) -> usize {
    let n = REPETITIONS as f64;
    let mut term = (n * (-delta).ln_1p()).exp();
    let mut rest = 1.0 - term;
    let mut k = 0;
    while rest > 1e-3 {
        term *= (n - k as f64) / (k as f64 + 1.0) * delta / (1.0 - delta);
        rest -= term;
        k += 1;
    }
    k
}

/// Repeats `trial`, which says whether the truth was covered and how wide the interval was.
fn cover(name: &str, delta: f64, seed: u64, mut trial: impl FnMut(&mut Rng) -> (bool, f64)) {
    let mut rng = Rng::seed_from_u64(seed);
    let (mut misses, mut width) = (0, 0.0);
    for _ in 0..REPETITIONS {
        let (covered, wide) = trial(&mut rng);
        misses += usize::from(!covered);
        width += wide / REPETITIONS as f64;
    }
    println!("{name}: {misses} misses of {REPETITIONS} (nominal {delta}), mean width {width:.4}");
    assert!(misses <= most_misses(delta), "{name}: {misses} misses");
}

fn within(interval: Interval, truth: f64) -> (bool, f64) {
    (interval.contains(truth), interval.width())
}

pub fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

pub fn logistic(margin: f64) -> f64 {
    (-margin).max(0.0) + (-margin.abs()).exp().ln_1p()
}

/// E f(z) for z ~ N(0, 1), by the trapezoidal rule.
pub fn expectation(f: impl Fn(f64) -> f64) -> f64 {
    let h = 1e-3;
    let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (-9000..=9000).map(|i| i as f64 * h).map(|z| h * density(z) * f(z)).sum()
}

#[test]
fn the_allowance_is_the_binomial_quantile() {
    // scipy.stats.binom.isf(1e-3, 1000, p)
    assert_eq!((most_misses(0.05), most_misses(0.1), most_misses(0.01)), (73, 130, 21));
}

#[test]
fn means_by_betting() {
    let mut seed = 100;
    for n in [5, 30, 364] {
        for p in [0.02, 0.5, 0.9] {
            seed += 1;
            cover(&format!("Bernoulli({p}), n = {n}"), 0.05, seed, |rng| {
                let x: Vec<f64> = (0..n).map(|_| f64::from(u8::from(unit(rng) < p))).collect();
                within(mean_interval(&x, 0.0, 1.0, 0.05).unwrap(), p)
            });
        }
        // U^a has the distribution Beta(1/a, 1) and the mean 1/(1 + a).
        for a in [0.2, 4.0] {
            seed += 1;
            cover(&format!("U^{a}, n = {n}"), 0.05, seed, |rng| {
                let x: Vec<f64> = (0..n).map(|_| unit(rng).powf(a)).collect();
                within(mean_interval(&x, 0.0, 1.0, 0.05).unwrap(), 1.0 / (1.0 + a))
            });
        }
        for (cap, delta) in [(2.0, 0.05), (20.0, 0.1)] {
            seed += 1;
            let loss = |z: f64| logistic(1.0 + 2.0 * z).min(cap);
            let truth = expectation(loss);
            cover(&format!("logistic loss up to {cap}, n = {n}"), delta, seed, |rng| {
                let x: Vec<f64> = (0..n).map(|_| loss(normal(rng))).collect();
                within(mean_interval(&x, 0.0, cap, delta).unwrap(), truth)
            });
        }
    }
}

#[test]
fn ratios_of_weighted_rows() {
    // x uniform, w = 0.2 + 0.8 x v: E[w x]/E[w] = (0.1 + 0.8/6)/0.4, not E[x] = 1/2.
    for (n, seed) in [(30, 201), (364, 202)] {
        cover(&format!("weighted, n = {n}"), 0.05, seed, |rng| {
            let x: Vec<f64> = (0..n).map(|_| unit(rng)).collect();
            let w: Vec<f64> = x.iter().map(|x| 0.2 + 0.8 * x * unit(rng)).collect();
            let found = weighted_mean_interval(&x, &w, 1.0, 0.0, 1.0, 0.05).unwrap();
            within(found, (0.1 + 0.8 / 6.0) / 0.4)
        });
    }
}

/// Case 20: five right of five is not certainty.
#[test]
fn shares_of_few_rows() {
    assert!((clopper_pearson(5, 5, 0.05).unwrap().low - 0.478).abs() < 5e-4);
    for (n, p, seed) in [(5, 0.5, 301), (5, 0.9, 302), (5, 0.97, 303), (30, 0.9, 304)] {
        cover(&format!("share, p = {p}, n = {n}"), 0.05, seed, |rng| {
            let hits = (0..n).filter(|_| unit(rng) < p).count() as u64;
            within(clopper_pearson(hits, n, 0.05).unwrap(), p)
        });
    }
}

/// Case 21: twenty groups of 30 rows, true accuracy 0.9 everywhere.
#[test]
fn the_worst_accuracy_of_twenty_equal_groups() {
    let settings = Settings { delta: 0.05, cap: 1.0, weight_cap: None, cluster_cap: None, seed: 4 };
    let losses = [0.5; 30];
    let mut naive = 0;
    cover("case 21", 0.05, 401, |rng| {
        let right: Vec<Vec<bool>> =
            (0..20).map(|_| (0..30).map(|_| unit(rng) < 0.9).collect()).collect();
        let groups: Vec<Rows> = right
            .iter()
            .map(|right| Rows { losses: &losses, correct: Some(right), ..Rows::default() })
            .collect();
        let found = evaluate(&groups, &settings).unwrap();
        let worst = found.worst_accuracy.unwrap();
        // What a user without correction would look at: the interval of the group that came out
        // worst.
        let accuracy = found.groups[worst.group.unwrap()].accuracy.unwrap();
        let hits = (accuracy.value.unwrap() * 30.0).round() as u64;
        naive += usize::from(!clopper_pearson(hits, 30, 0.05).unwrap().contains(0.9));
        assert_eq!(worst.estimable, Some(worst.all));
        within(worst.all, 0.9)
    });
    println!("the same by the interval of the worst group alone: {naive} misses");
    assert!(naive > 100, "{naive}: the case no longer shows the fault");
}

/// Equal risks, where a bootstrap of the maximum fails; all groups at once, and the worst one.
#[test]
fn risks_of_groups_that_tie() {
    let cap = 2.0;
    let loss = |z: f64| logistic(1.0 + 2.0 * z).min(cap);
    let truth = expectation(loss);
    let settings = Settings { delta: 0.05, cap, weight_cap: None, cluster_cap: None, seed: 5 };
    let sizes = [20, 40, 80, 160, 320, 640];
    let trial = |rng: &mut Rng| {
        let losses: Vec<Vec<f64>> = sizes
            .iter()
            .map(|n| (0..*n).map(|_| logistic(1.0 + 2.0 * normal(rng))).collect())
            .collect();
        let rows = |losses| Rows { losses, ..Rows::default() };
        let groups: Vec<Rows> = losses.iter().map(|losses| rows(losses)).collect();
        evaluate(&groups, &settings).unwrap()
    };
    cover("worst of six tied risks", 0.05, 501, |rng| within(trial(rng).worst_risk.all, truth));
    cover("six tied risks at once", 0.05, 502, |rng| {
        let found = trial(rng);
        let intervals = found.groups.iter().map(|group| group.clipped_risk.interval);
        (
            intervals.clone().all(|i| i.contains(truth)),
            intervals.map(Interval::width).sum::<f64>() / 6.0,
        )
    });
}

#[test]
fn differences_of_two_models() {
    let cap = 5.0;
    let (first, second) = (|z: f64| logistic(1.0 + 2.0 * z), |z: f64| logistic(1.3 + 1.8 * z));
    let truth = expectation(|z| first(z).min(cap) - second(z).min(cap));
    for (name, sizes, seed) in
        [("one group", vec![364], 601), ("three groups", vec![30, 30, 364], 602)]
    {
        let settings = Settings { delta: 0.05, cap, weight_cap: None, cluster_cap: None, seed: 6 };
        cover(&format!("differences, {name}"), 0.05, seed, |rng| {
            let losses: Vec<[Vec<f64>; 2]> = sizes
                .iter()
                .map(|n| {
                    let z: Vec<f64> = (0..*n).map(|_| normal(rng)).collect();
                    [z.iter().map(|z| first(*z)).collect(), z.iter().map(|z| second(*z)).collect()]
                })
                .collect();
            let pairs: Vec<Pairs> = losses
                .iter()
                .map(|[a, b]| Pairs { first: a, second: b, ..Pairs::default() })
                .collect();
            let found = compare(&pairs, &settings).unwrap();
            let all = |i: Interval| i.contains(truth);
            let covered = found.groups.iter().all(|group| all(group.clipped_difference.interval));
            let last = found.groups.last().unwrap().clipped_difference.interval;
            // The groups tie, so the difference of the largest risks is the same number.
            assert!(!covered || all(found.worst));
            (covered, last.width())
        });
    }
}

#[test]
fn rates_and_auc() {
    // Scores N(1, 1) and N(0, 1): AUC = Φ(1/√2) = 0.76025; above ½ is called positive.
    let (truth, hit) = (0.7602499389065234, 0.6914624612740131);
    cover("AUC, n = 200", 0.05, 701, |rng| {
        let positive: Vec<bool> = (0..200).map(|_| unit(rng) < 0.3).collect();
        let scores: Vec<f64> =
            positive.iter().map(|p| normal(rng) + f64::from(u8::from(*p))).collect();
        match auc_interval(&scores, &positive, 0.05).unwrap() {
            Some(found) => within(found.interval, truth),
            None => (true, 1.0),
        }
    });
    let settings = Settings { delta: 0.05, cap: 1.0, weight_cap: None, cluster_cap: None, seed: 7 };
    let trial = |rng: &mut Rng| {
        let sizes = [20usize, 50, 100, 200];
        let table: Vec<(Vec<bool>, Vec<f64>)> = sizes
            .map(|n| {
                let positive: Vec<bool> = (0..n).map(|_| unit(rng) < 0.3).collect();
                let score = |p: &bool| normal(rng) + f64::from(u8::from(*p));
                (positive.clone(), positive.iter().map(score).collect())
            })
            .to_vec();
        let right: Vec<Vec<bool>> = table
            .iter()
            .map(|(positive, scores)| {
                scores.iter().zip(positive).map(|(s, p)| (*s >= 0.5) == *p).collect()
            })
            .collect();
        let losses = [0.1; 200];
        let groups: Vec<Rows> = table
            .iter()
            .zip(&right)
            .map(|((positive, scores), right)| Rows {
                losses: &losses[..scores.len()],
                correct: Some(right),
                binary: Some(Binary { scores, positive }),
                ..Rows::default()
            })
            .collect();
        evaluate(&groups, &settings).unwrap().groups
    };
    cover("true positive rates of four groups", 0.05, 702, |rng| {
        let rates = trial(rng)
            .into_iter()
            .map(|group| group.metrics.get("true_positive_rate").unwrap().interval);
        let rates: Vec<Interval> = rates.collect();
        (rates.iter().all(|i| i.contains(hit)), rates[3].width())
    });
    cover("false positive rates of four groups", 0.05, 703, |rng| {
        let rates = trial(rng)
            .into_iter()
            .map(|group| group.metrics.get("false_positive_rate").unwrap().interval);
        let rates: Vec<Interval> = rates.collect();
        (rates.iter().all(|i| i.contains(1.0 - hit)), rates[3].width())
    });
    cover("AUC of four groups", 0.05, 704, |rng| {
        let areas: Vec<Interval> = trial(rng)
            .into_iter()
            .map(|group| group.metrics.get("auc").unwrap().interval)
            .collect();
        (areas.iter().all(|i| i.contains(truth)), areas[3].width())
    });
}

/// Logistic losses on [0, 20], n = 364, mean 0.436, α = 0.05/12 on each side: far below the bounds
/// of Hoeffding and of Maurer and Pontil.
#[test]
fn betting_is_far_tighter_than_hoeffding_and_maurer_pontil() {
    let (n, range, alpha) = (364usize, 20.0, 0.05 / 12.0);
    let log = |x: f64| -> f64 { f64::ln(x / alpha) };
    let mut rng = Rng::seed_from_u64(801);
    let mut sums = [0.0; 4];
    for _ in 0..50 {
        let x: Vec<f64> =
            (0..n).map(|_| logistic(1.35 + 1.6 * normal(&mut rng)).min(range)).collect();
        let mean = x.iter().sum::<f64>() / n as f64;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        let bounds = [
            mean,
            mean_interval(&x, 0.0, range, 2.0 * alpha).unwrap().high,
            mean + (2.0 * variance * log(2.0) / n as f64).sqrt()
                + range * 7.0 * log(2.0) / (3.0 * (n - 1) as f64),
            mean + range * (log(1.0) / (2 * n) as f64).sqrt(),
        ];
        for (sum, bound) in sums.iter_mut().zip(bounds) {
            *sum += bound / 50.0;
        }
    }
    let [mean, betting, maurer_pontil, hoeffding] = sums;
    println!(
        "mean {mean:.3}: betting {betting:.3}, Maurer-Pontil {maurer_pontil:.3}, Hoeffding {hoeffding:.3}"
    );
    assert!((mean - 0.436).abs() < 0.03);
    assert!(betting < 0.9, "{betting}");
    assert!(maurer_pontil > 1.2 && hoeffding > 2.0);
}

fn oracle() -> Value {
    serde_json::from_str(include_str!("../oracles/intervals.json")).unwrap()
}

fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap()
}

#[test]
fn shares_equal_scipy() {
    for case in oracle()["clopper_pearson"].as_array().unwrap() {
        let count = |key: &str| case[key].as_u64().unwrap();
        let found =
            clopper_pearson(count("successes"), count("trials"), number(case, "alpha")).unwrap();
        let (low, high) = (number(case, "low"), number(case, "high"));
        assert!((found.low - low).abs() <= 1e-9 * low, "{case}: {found:?}");
        assert!((found.high - high).abs() <= 1e-9 * (1.0 - high).min(high), "{case}: {found:?}");
    }
}

#[test]
fn means_equal_an_independent_program() {
    for case in oracle()["means"].as_array().unwrap() {
        let (seed, n) = (case["seed"].as_u64().unwrap(), case["n"].as_u64().unwrap());
        let mut rng = Rng::seed_from_u64(seed);
        let mut x: Vec<f64> = (0..n).map(|_| unit(&mut rng)).collect();
        let mut weights = None;
        match case["kind"].as_str().unwrap() {
            "coin" => x.iter_mut().for_each(|x| *x = f64::from(u8::from(*x < 0.7))),
            "square" => x.iter_mut().for_each(|x| *x *= *x),
            "small" => x.iter_mut().for_each(|x| *x *= 0.05),
            "weighted" => {
                // Three times as large, with the bound to match.
                weights =
                    Some(x.iter().map(|x| 0.6 + 2.4 * x * unit(&mut rng)).collect::<Vec<_>>());
            }
            _ => {}
        }
        let alpha = number(case, "alpha");
        let found = match weights {
            None => mean_interval(&x, 0.0, 1.0, alpha),
            Some(w) => weighted_mean_interval(&x, &w, 3.0, 0.0, 1.0, alpha),
        }
        .unwrap();
        for (ours, theirs) in [(found.low, number(case, "low")), (found.high, number(case, "high"))]
        {
            assert!((ours - theirs).abs() < 1e-10, "{case}: {found:?}");
        }
        // Outwards.
        assert!(found.low <= number(case, "low") + 1e-13, "{case}: {found:?}");
        assert!(found.high >= number(case, "high") - 1e-13, "{case}: {found:?}");
    }
}

#[test]
fn auc_equals_mann_whitney() {
    for case in oracle()["auc"].as_array().unwrap() {
        let mut rng = Rng::seed_from_u64(case["seed"].as_u64().unwrap());
        let (n, levels) = (case["n"].as_u64().unwrap(), case["levels"].as_u64().unwrap() as usize);
        let scores: Vec<f64> = (0..n).map(|_| below(&mut rng, levels) as f64).collect();
        let positive: Vec<bool> = (0..n).map(|_| unit(&mut rng) < 0.3).collect();
        let found = auc(&scores, &positive).unwrap().unwrap();
        assert!((found - number(case, "auc")).abs() < 1e-14, "{case}: {found}");
    }
}

/// 50,000 numbers in less than 50 ms, the best of five.
#[test]
fn fifty_thousand_numbers_are_quick() {
    let mut rng = Rng::seed_from_u64(901);
    let x: Vec<f64> =
        (0..50_000).map(|_| logistic(1.35 + 1.6 * normal(&mut rng)).min(20.0)).collect();
    let time = || {
        let start = std::time::Instant::now();
        let interval = mean_interval(&x, 0.0, 20.0, 0.05 / 12.0).unwrap();
        assert!(interval.width() < 0.1);
        start.elapsed()
    };
    let best = (0..5).map(|_| time()).min().unwrap();
    println!("50,000 numbers: {best:?}");
    assert!(best.as_millis() < 50, "{best:?}");
}
