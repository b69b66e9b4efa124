//! The negative-entropy projection onto the capped simplex.

use crate::error::{Error, Result, require};
use crate::math::quick_exp;

/// Bregman projection of positive weights, given by their logarithms, onto
/// {q : 0 ≤ q_i ≤ 1/k, Σ q_i = 1}: the result is q_i = min(1/k, c·e^{l_i}) with c such that the sum
/// is 1. Replaces `log_q` by ln q_i and writes q_i to `q`.
///
/// The number j of capped groups is found among the ⌈k⌉ largest, as in the paper's appendix (label
/// `appendix:section:Projection`): with S_j = Σ_{i>j} e^{l_(i) − l_(j+1)} the largest free weight
/// is (1 − j/k)/S_j, and j is the first for which that is at most 1/k. All sums are taken relative
/// to their largest term, so that weights below e^{−745} are not lost.
pub(super) fn project_log(log_q: &mut [f64], q: &mut [f64], k: f64, order: &mut Vec<usize>) {
    let m = log_q.len();
    let cap = 1.0 / k;
    let most = (k.ceil() as usize).clamp(1, m);
    order.clear();
    order.extend(0..m);
    let descending = |a: &usize, b: &usize| log_q[*b].total_cmp(&log_q[*a]).then(a.cmp(b));
    if most < m {
        order.select_nth_unstable_by(most - 1, descending);
    }
    order[..most].sort_unstable_by(descending);

    // The sum of everything beyond the candidates, relative to the last candidate.
    let last = log_q[order[most - 1]];
    let mut sum = 1.0;
    for i in &order[most..] {
        sum += quick_exp(log_q[*i] - last);
    }
    // From there upwards: S_j relative to candidate j. Keep the smallest j that satisfies the cap.
    let fits = |j: usize, sum: f64| (1.0 - j as f64 / k).max(0.0) / sum <= cap;
    let mut capped = most - 1;
    let mut free_sum = sum;
    for j in (0..most - 1).rev() {
        sum = 1.0 + quick_exp(log_q[order[j + 1]] - log_q[order[j]]) * sum;
        if fits(j, sum) {
            capped = j;
            free_sum = sum;
        }
    }
    let (largest_free, top) = ((1.0 - capped as f64 / k).max(0.0) / free_sum, log_q[order[capped]]);
    for (rank, i) in order.iter().enumerate() {
        if rank < capped {
            (log_q[*i], q[*i]) = (cap.ln(), cap);
        } else {
            let l = ((log_q[*i] - top) + largest_free.ln()).min(cap.ln());
            (log_q[*i], q[*i]) = (l, quick_exp(l).min(cap));
        }
    }
}

/// Projects non-negative weights onto the capped simplex {q : 0 ≤ q_i ≤ 1/k, Σ q_i = 1} in the
/// Bregman divergence of the negative entropy: argmin_q Σ q_i ln(q_i/p_i) − q_i + p_i.
///
/// The supporting algorithm of the paper's appendix (label `alg:projection`; Herbster and Warmuth),
/// for real k in [1, m]. Time O(m + k ln k).
///
/// # Errors
/// [`Error::CappedSupport`] when fewer than ⌈k⌉ weights are positive: no point of the set has that
/// support. [`Error::Parameter`] unless 1 ≤ k ≤ m and all weights are finite and not negative.
///
/// ```
/// let mut p = [4.0, 1.0, 1.0, 2.0];
/// gdro::group_weights::project_capped_simplex(&mut p, 2.0)?;
/// let expected = [0.5, 0.125, 0.125, 0.25];
/// assert!(p.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
/// # Ok::<(), gdro::Error>(())
/// ```
pub fn project_capped_simplex(p: &mut [f64], k: f64) -> Result<()> {
    require(k >= 1.0 && k <= p.len() as f64, "k", k, "1 ≤ k ≤ m")?;
    for v in p.iter() {
        require(*v >= 0.0 && v.is_finite(), "weight", v, "finite and at least 0")?;
    }
    let positive: Vec<usize> = (0..p.len()).filter(|i| p[*i] > 0.0).collect();
    let needed = k.ceil() as usize;
    if positive.len() < needed {
        return Err(Error::CappedSupport { positive: positive.len(), needed });
    }
    let mut logs: Vec<f64> = positive.iter().map(|i| p[*i].ln()).collect();
    let mut q = vec![0.0; logs.len()];
    project_log(&mut logs, &mut q, k, &mut Vec::new());
    positive.iter().zip(&q).for_each(|(i, v)| p[*i] = *v);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// KKT by brute force: among all numbers of capped groups, the one whose point is feasible.
    fn brute_force(p: &[f64], k: f64) -> Vec<f64> {
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|a, b| p[*b].total_cmp(&p[*a]));
        for capped in 0..p.len() {
            let rest: f64 = order[capped..].iter().map(|i| p[*i]).sum();
            let c = (1.0 - capped as f64 / k) / rest;
            if c < 0.0 {
                break;
            }
            let free_fit = c * p[order[capped]] <= (1.0 + 1e-12) / k;
            let capped_fit = capped == 0 || c * p[order[capped - 1]] >= (1.0 - 1e-12) / k;
            if free_fit && capped_fit {
                return p.iter().map(|v| (c * v).min(1.0 / k)).collect();
            }
        }
        panic!("no KKT point");
    }

    proptest! {
        #[test]
        fn satisfies_the_kkt_conditions(
            p in prop::collection::vec(1e-6f64..1e3, 1..30),
            share in 0.0f64..1.0,
            whole in any::<bool>(),
        ) {
            let real = 1.0 + share * (p.len() as f64 - 1.0);
            let k = if whole { real.round() } else { real };
            let expected = brute_force(&p, k);
            let mut q = p.clone();
            project_capped_simplex(&mut q, k).unwrap();
            for (a, b) in q.iter().zip(&expected) {
                prop_assert!((a - b).abs() < 1e-13, "{q:?} {expected:?}");
            }
            prop_assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(q.iter().all(|v| *v <= 1.0 / k));
        }
    }

    #[test]
    fn support_too_small_is_an_error() {
        let mut p = [1.0, 0.0, 0.0];
        let error = project_capped_simplex(&mut p, 1.5).unwrap_err();
        assert!(matches!(error, Error::CappedSupport { positive: 1, needed: 2 }));
        let mut p = [3.0, 0.0, 1.0];
        project_capped_simplex(&mut p, 2.0).unwrap();
        assert_eq!(p, [0.5, 0.0, 0.5]);
    }

    /// Mass that would underflow in the linear domain still shares what the cap leaves over.
    #[test]
    fn tiny_weights_share_what_is_left() {
        let mut logs = [0.0, -1000.0, -1001.0];
        let mut q = [0.0; 3];
        project_log(&mut logs, &mut q, 1.5, &mut Vec::new());
        let rest = 1.0 / 3.0;
        let e = (-1f64).exp();
        assert_eq!(q[0], 1.0 / 1.5);
        assert!((q[1] - rest / (1.0 + e)).abs() < 1e-15);
        assert!((q[2] - rest * e / (1.0 + e)).abs() < 1e-15);
    }
}
