//! The norms ‖·‖_q and how regular they are.

/// (Σ |v_j|^q)^{1/q}, scaled so that no power overflows; max |v_j| for q = ∞.
pub(super) fn norm(v: &[f64], q: f64) -> f64 {
    let top = v.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
    if q == f64::INFINITY || top == 0.0 || !top.is_finite() {
        return top;
    }
    top * v.iter().map(|v| (v.abs() / top).powf(q)).sum::<f64>().powf(1.0 / q)
}

/// κ of ‖·‖_q on ℝⁿ for 2 ≤ q ≤ ∞: min_{2 ≤ r ≤ q} (r − 1) n^{2/r − 2/q}.
///
/// ‖·‖_r² is (r − 1)-smooth and ‖v‖_q² ≤ ‖v‖_r² ≤ n^{2/r − 2/q}‖v‖_q² (Juditsky and Nemirovski
/// 2008, arXiv 0809.0813). The logarithm of the product falls in r up to ln n + √(ln² n − 2 ln n),
/// and rises from r = 2 on when ln n < 2. So κ ≤ q − 1, κ ≤ e(2 ln n − 1) for n ≥ 3, and κ = n for
/// q = ∞ and n ≤ 7.
pub(super) fn regularity(q: f64, n: usize) -> f64 {
    let log = (n.max(1) as f64).ln();
    let best = if log > 2.0 { log + (log * log - 2.0 * log).sqrt() } else { 2.0 };
    let r = best.min(q);
    (r - 1.0) * (2.0 * log * (1.0 / r - 1.0 / q)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_exponent_is_more_regular() {
        for (q, n) in [(2.0, 9), (3.0, 1), (3.0, 50), (11.0, 5), (11.0, 10_000)] {
            let least = (0..=1000)
                .map(|i| 2.0 + (q - 2.0) * f64::from(i) / 1000.0)
                .map(|r: f64| (r - 1.0) * (n as f64).powf(2.0 / r - 2.0 / q))
                .fold(f64::INFINITY, f64::min);
            let kappa = regularity(q, n);
            assert!(kappa <= least * (1.0 + 1e-14) && kappa >= least * (1.0 - 1e-4), "{q} {n}");
        }
        assert_eq!(regularity(f64::INFINITY, 1), 1.0);
        assert!((regularity(f64::INFINITY, 2) - 2.0).abs() < 1e-15);
        for n in [3, 7, 8, 100, 100_000] {
            let bound = std::f64::consts::E * (2.0 * f64::from(n).ln() - 1.0);
            assert!(regularity(f64::INFINITY, n as usize) <= bound * (1.0 + 1e-15));
        }
    }
}
