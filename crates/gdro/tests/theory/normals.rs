//! Normal numbers: distribution, moments, tails, independence, and the same bits everywhere.
//!
//! Every bound is one of a normal or χ² statistic with the stated rate of false alarms; seeds are
//! fixed.

use gdro::sampling::{Rng, fill_normal};
use rand::{Rng as _, SeedableRng};
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// `n` numbers, in draws of `length` each.
fn numbers(seed: u64, n: usize, length: usize) -> Vec<f64> {
    let mut rng = Rng::seed_from_u64(seed);
    let mut out = vec![0.0; n];
    out.chunks_mut(length).for_each(|draw| fill_normal(draw, &mut rng));
    out
}

/// Draws of one generator and of two.
const LENGTHS: [usize; 3] = [25, 100, 1000];

/// √n D exceeds 2.225 with probability 1e-4.
#[test]
fn kolmogorov_and_smirnov() {
    let normal = Normal::standard();
    for (seed, length) in LENGTHS.into_iter().enumerate() {
        let mut found = numbers(seed as u64, 4_000_000, length);
        found.sort_by(f64::total_cmp);
        let n = found.len() as f64;
        let distance = |(i, x): (usize, &f64)| {
            let p = normal.cdf(*x);
            (p - i as f64 / n).abs().max((p - (i + 1) as f64 / n).abs())
        };
        let worst = found.iter().enumerate().map(distance).fold(0.0, f64::max);
        assert!(worst * n.sqrt() < 2.225, "length {length}: √n D = {}", worst * n.sqrt());
    }
}

/// Moments 1 to 6 and both tails of 10⁸ numbers: each of the twelve statistics is wrong with
/// probability 1e-5 at most (two-sided, 4.42 standard deviations; exact for the rare tails).
#[test]
fn moments_and_tails() {
    let mut rng = Rng::seed_from_u64(5);
    let mut draw = vec![0.0; 1000];
    let n = 1e8;
    let mut sums = [0.0; 6];
    // Beyond 3, 4 and 5 on either side.
    let mut beyond = [[0u32; 2]; 3];
    for _ in 0..100_000 {
        fill_normal(&mut draw, &mut rng);
        let mut part = [0.0; 6];
        for x in &draw {
            let mut power = 1.0;
            for sum in &mut part {
                power *= x;
                *sum += power;
            }
            if x.abs() > 3.0 {
                for (count, bound) in beyond.iter_mut().zip([3.0, 4.0, 5.0]) {
                    count[usize::from(*x > 0.0)] += u32::from(x.abs() > bound);
                }
            }
        }
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    // Moments and variances of the powers: E x^{2p} − (E x^p)².
    let moments = [0.0, 1.0, 0.0, 3.0, 0.0, 15.0];
    let variances = [1.0, 2.0, 15.0, 96.0, 945.0, 10_170.0];
    for p in 0..6 {
        let z = (sums[p] / n - moments[p]) / f64::sqrt(variances[p] / n);
        assert!(z.abs() < 4.42, "moment {}: {z} standard deviations off", p + 1);
    }
    // One-sided probabilities 1.3499e-3, 3.1671e-5, 2.8665e-7; Poisson with mean 28.7 for the last:
    // 8 and 57 are the quantiles of 5e-6.
    for side in [0, 1] {
        for (at, p) in [(0, 1.349_898e-3), (1, 3.167_124e-5)] {
            let z = (f64::from(beyond[at][side]) - n * p) / (n * p).sqrt();
            assert!(z.abs() < 4.42, "beyond {}: {:?}", at + 3, beyond[at]);
        }
        assert!((8..=57).contains(&beyond[2][side]), "beyond 5: {:?}", beyond[2]);
    }
}

/// Correlations at lags, of the numbers, of their squares and of one with the square of another:
/// each is off with probability 1e-5 (4.42 standard deviations), 54 of them.
#[test]
fn numbers_near_one_another_are_independent() {
    for (seed, length) in LENGTHS.into_iter().enumerate() {
        let x = numbers(20 + seed as u64, 4_000_000, length);
        for lag in [1, 2, 3, 4, 8, length] {
            let pairs = || x.iter().zip(&x[lag..]);
            let n = (x.len() - lag) as f64;
            let plain: f64 = pairs().map(|(a, b)| a * b).sum();
            let squares: f64 = pairs().map(|(a, b)| (a * a - 1.0) * (b * b - 1.0) / 2.0).sum();
            let mixed: f64 =
                pairs().map(|(a, b)| a * (b * b - 1.0) / std::f64::consts::SQRT_2).sum();
            for (what, sum) in [("plain", plain), ("squares", squares), ("mixed", mixed)] {
                let z = sum / n.sqrt();
                assert!(z.abs() < 4.42, "length {length}, lag {lag}, {what}: {z}");
            }
        }
    }
}

/// χ² of pairs on 16 × 16 cells of equal probability, neighbours and next but one: false-alarm rate
/// 1e-5 each.
#[test]
fn pairs_fill_the_plane_evenly() {
    let normal = Normal::standard();
    let edges: Vec<f64> = (1..16).map(|i| normal.inverse_cdf(f64::from(i) / 16.0)).collect();
    let bound = ChiSquared::new(255.0).unwrap().inverse_cdf(1.0 - 1e-5);
    for (seed, length) in LENGTHS.into_iter().enumerate() {
        let x = numbers(40 + seed as u64, 4_000_000, length);
        let cells: Vec<usize> = x.iter().map(|x| edges.partition_point(|e| e <= x)).collect();
        for step in [1, 2] {
            let mut counts = [0u32; 256];
            let quads = cells.as_chunks::<4>().0;
            quads.iter().for_each(|c| counts[c[0] * 16 + c[step]] += 1);
            let expected = quads.len() as f64 / 256.0;
            let chi2: f64 =
                counts.iter().map(|c| (f64::from(*c) - expected).powi(2) / expected).sum();
            assert!(chi2 < bound, "length {length}, step {step}: χ² = {chi2}, bound {bound}");
        }
    }
}

/// First, second and last number, a checksum of all of them, and what the generator gives next.
#[test]
fn the_bits_do_not_change() {
    let found = [5, 63, 65, 100_000].map(|length| {
        let mut rng = Rng::seed_from_u64(1);
        let mut out = vec![0.0; length];
        fill_normal(&mut out, &mut rng);
        let sum = out.iter().fold(0u64, |sum, x| sum.rotate_left(1) ^ x.to_bits());
        [out[0].to_bits(), out[1].to_bits(), out[length - 1].to_bits(), sum, rng.next_u64()]
    });
    assert_eq!(found, GOLDEN, "{found:#018x?}");
}

const GOLDEN: [[u64; 5]; 4] = [
    [
        0xbfe6_f0d2_9b4c_4a0a,
        0xbfef_c219_2633_8e92,
        0x3fd6_833a_a8cd_14c1,
        0xbe58_03bd_be2b_f278,
        0x9729_9fca_e720_2345,
    ],
    [
        0xbfe6_f0d2_9b4c_4a0a,
        0xbfef_c219_2633_8e92,
        0xbfe0_d7f8_1999_e471,
        0x1c83_a70a_f343_35fc,
        0xdfb0_55c1_8875_69fa,
    ],
    [
        0xbfd1_5091_1181_6d67,
        0x3fec_dec2_4c1f_3918,
        0x3ff6_d19e_9c23_c1a1,
        0xd37e_c16d_954e_8ae3,
        0x18ba_e5b3_0d33_4bd0,
    ],
    [
        0xbfd1_5091_1181_6d67,
        0x3fec_dec2_4c1f_3918,
        0xbfe5_00d2_dfcb_55d7,
        0xb29b_4683_6bbb_ad24,
        0x67b6_fd17_cc06_5cfa,
    ],
];
