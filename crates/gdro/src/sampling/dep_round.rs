//! Dependent rounding: k of m items with given marginals.

use super::{Rng, unit};

/// Values this close to 0 or 1 count as 0 or 1: the rounding error of the pairwise updates.
const SNAP: f64 = 1e-12;

/// Draws a set of exactly k indices such that index i is in it with probability `p[i]`.
///
/// Algorithm DepRound of the paper's appendix (label `appendix:section:DepRound`), after its first
/// line: `p` = k·q already, 0 ≤ p_i ≤ 1 and Σ p_i = k. Time O(m). `p` is overwritten; the indices
/// are appended to `chosen` in increasing order.
///
/// ```text
/// while some p_i ∈ (0, 1):
///     choose i ≠ j with p_i, p_j ∈ (0, 1)
///     α = min(1 − p_i, p_j),  β = min(p_i, 1 − p_j)
///     (p_i, p_j) = (p_i + α, p_j − α) with probability β/(α + β), else (p_i − β, p_j + β)
/// return {i : p_i = 1}
/// ```
///
/// Source: Gandhi, Khuller, Parthasarathy and Srinivasan, DOI 10.1145/1147954.1147956.
pub fn dep_round(p: &mut [f64], k: usize, rng: &mut Rng, chosen: &mut Vec<usize>) {
    let fractional = |v: f64| v > SNAP && v < 1.0 - SNAP;
    let mut held: Option<usize> = None;
    for j in 0..p.len() {
        if !fractional(p[j]) {
            continue;
        }
        let Some(i) = held else {
            held = Some(j);
            continue;
        };
        let alpha = (1.0 - p[i]).min(p[j]);
        let beta = p[i].min(1.0 - p[j]);
        if unit(rng) * (alpha + beta) < beta {
            p[i] += alpha;
            p[j] -= alpha;
        } else {
            p[i] -= beta;
            p[j] += beta;
        }
        held = match (fractional(p[i]), fractional(p[j])) {
            (true, _) => Some(i),
            (false, true) => Some(j),
            (false, false) => None,
        };
    }
    // Rounding may leave one value strictly between 0 and 1: it completes the set to k or not.
    let ones = (0..p.len()).filter(|i| p[*i] >= 1.0 - SNAP).count();
    if let Some(i) = held {
        p[i] = if ones < k { 1.0 } else { 0.0 };
    }
    chosen.extend((0..p.len()).filter(|i| p[*i] >= 1.0 - SNAP));
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// Every draw has k members, and the marginals are right: χ² over 8 groups, false-alarm rate
    /// below 1e-4 per case (for a fixed-size sample Σ (c − np)²/(np(1 − p)) has mean at most
    /// m, so the bound of 8 independent squares, 31.8, is conservative).
    #[test]
    fn marginals_are_k_times_q() {
        let cases: [(usize, [f64; 8]); 3] = [
            (2, [0.5, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05]),
            (3, [1.0 / 3.0, 0.3, 0.2, 0.1, 0.05, 0.01, 1.0 / 300.0, 1.0 / 300.0]),
            (5, [0.2, 0.2, 0.2, 0.15, 0.1, 0.06, 0.05, 0.04]),
        ];
        for (case, (k, q)) in cases.into_iter().enumerate() {
            let mut rng = Rng::seed_from_u64(case as u64);
            let draws = 200_000;
            let mut counts = [0f64; 8];
            let mut chosen = Vec::new();
            for _ in 0..draws {
                let mut p = q.map(|v| v * k as f64);
                chosen.clear();
                dep_round(&mut p, k, &mut rng, &mut chosen);
                assert_eq!(chosen.len(), k);
                chosen.iter().for_each(|i| counts[*i] += 1.0);
            }
            let mut chi2 = 0.0;
            for i in 0..8 {
                let p = (q[i] * k as f64).min(1.0);
                let expected = p * draws as f64;
                if p > 1.0 - 1e-9 {
                    assert_eq!(counts[i], expected.round());
                } else {
                    chi2 += (counts[i] - expected).powi(2) / (expected * (1.0 - p));
                }
            }
            assert!(chi2 < 31.8, "case {case}: χ² = {chi2}");
        }
    }

    #[test]
    fn corner_cases() {
        let mut rng = Rng::seed_from_u64(1);
        let mut chosen = Vec::new();
        dep_round(&mut [1.0, 0.0, 1.0], 2, &mut rng, &mut chosen);
        assert_eq!(chosen, [0, 2]);
        chosen.clear();
        dep_round(&mut [1.0; 3], 3, &mut rng, &mut chosen);
        assert_eq!(chosen, [0, 1, 2]);
        chosen.clear();
        dep_round(&mut [1.0], 1, &mut rng, &mut chosen);
        assert_eq!(chosen, [0]);
    }
}
