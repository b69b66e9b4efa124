//! The epigraph variable of the central path: how far above the payoffs it lies for a given μ.

/// The x with Σ μ/(x + b_i) = 1, where the least b_i is 0: Newton's method from below.
pub(super) fn level(below: &[f64], mu: f64) -> f64 {
    let mut x = mu;
    for _ in 0..100 {
        let (mut sum, mut slope) = (0.0, 0.0);
        for b in below {
            let q = mu / (x + b);
            sum += q;
            slope += q / (x + b);
        }
        let by = (sum - 1.0) / slope;
        x += by.max(0.0);
        if by <= 1e-16 * x {
            break;
        }
    }
    x
}

/// The slacks s > 0 and u > 0 with s = a + u and μ/s + μ/u = c, by the roots of quadratic
/// equations: 2cs = 2μ + ca + √(c²a² + 4μ²), 2cu = 2μ − ca + √(c²a² + 4μ²).
pub(super) fn capped_slacks(a: f64, cap: f64, mu: f64) -> (f64, f64) {
    let (a, root) = (cap * a, (cap * a).hypot(2.0 * mu));
    let (large, small) = (root + a.abs(), 4.0 * mu * mu / (root + a.abs()));
    let (s, u) = if a > 0.0 { (large, small) } else { (small, large) };
    ((2.0 * mu + s) / (2.0 * cap), (2.0 * mu + u) / (2.0 * cap))
}

/// The x with Σ μ/s_i = 1 for the [`capped_slacks`] at x + b_i, where the least b_i is 0 and the
/// cap is more than one in m: Newton's method inside of a bracket.
pub(super) fn capped_level(below: &[f64], cap: f64, mu: f64) -> f64 {
    let m = below.len() as f64;
    let lowest = below.iter().copied().fold(0.0, f64::max);
    let (mut low, mut high) = (-lowest - m * mu / (m * cap - 1.0), m * mu);
    let mut x = 0.5 * (low + high);
    for _ in 0..200 {
        let (mut sum, mut slope) = (0.0, 0.0);
        for b in below {
            let (s, u) = capped_slacks(x + b, cap, mu);
            sum += mu / s;
            slope += mu / (s * s + u * u);
        }
        if sum > 1.0 {
            low = x
        } else {
            high = x
        }
        let next = x + (sum - 1.0) / slope;
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if (next - x).abs() <= 1e-16 * x.abs().max(mu) {
            break;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;
    use crate::sampling::{Rng, below, unit};

    /// Multipliers μ/s_i sum to 1, and to the cap with μ/u_i, where μ is far above the payoffs or
    /// far below.
    #[test]
    fn levels_solve_their_equations() {
        let mut rng = Rng::seed_from_u64(12);
        for case in 0..2000 {
            let m = 2 + below(&mut rng, 30);
            let mu = 10f64.powf(12.0 * unit(&mut rng) - 10.0);
            let mut below: Vec<f64> = (0..m).map(|_| unit(&mut rng)).collect();
            below[0] = 0.0;
            let x = level(&below, mu);
            let sum: f64 = below.iter().map(|b| mu / (x + b)).sum();
            assert!((sum - 1.0).abs() < 1e-13, "case {case}: {sum}");
            // x + b_i cancels where the group at the cap is close to the others: errors of 1e-16/μ.
            let cap = 1.0 / (1.0 + unit(&mut rng) * (m as f64 - 1.01));
            let x = capped_level(&below, cap, mu);
            let mut sum = 0.0;
            for b in &below {
                let (s, u) = capped_slacks(x + b, cap, mu);
                assert!(s > 0.0 && u > 0.0);
                assert!((s - u - (x + b)).abs() < 1e-13 * (s + u), "case {case}");
                assert!((mu / s + mu / u - cap).abs() < 1e-13 * cap, "case {case}");
                sum += mu / s;
            }
            assert!((sum - 1.0).abs() < 1e-13 + 1e-15 / mu, "case {case}: {sum}");
        }
    }
}
