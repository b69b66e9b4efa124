//! Projected gradient ascent on the simplex.

use super::ruled::Update;

/// q ← Π_Δ(q + ηg), the Euclidean projection onto the simplex: the group player of agnostic
/// federated learning (Mohri, Sivek and Suresh, ICML 2019, arXiv 1902.00146).
///
/// The projection sorts, O(m ln m) (Held, Wolfe and Crowder, DOI 10.1007/BF01580223): with the
/// sorted values u_1 ≥ u_2 ≥ …, the threshold is θ = (u_1 + … + u_r − 1)/r for the largest r with
/// u_r > θ, and q_i = max(u_i − θ, 0).
#[derive(Clone, Debug)]
pub struct Euclidean {
    sorted: Vec<f64>,
}

impl Euclidean {
    /// The rule for m groups.
    pub fn new(m: usize) -> Self {
        Euclidean { sorted: Vec::with_capacity(m) }
    }
}

/// Gains beyond this are cut off, so that sums of squares stay finite.
const LIMIT: f64 = 1e150;

impl Update for Euclidean {
    fn update(&mut self, q: &mut [f64], eta: f64, gains: &[(usize, f64)]) {
        for (group, gain) in gains {
            q[*group] = (q[*group] + eta * gain).clamp(-LIMIT, LIMIT);
        }
        // Relative to the largest, sums of huge values keep the digits that matter.
        let top = q.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        q.iter_mut().for_each(|v| *v -= top);
        self.sorted.clear();
        self.sorted.extend_from_slice(q);
        self.sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        let (mut sum, mut threshold) = (0.0, -1.0);
        for (r, u) in self.sorted.iter().enumerate() {
            sum += u;
            let theta = (sum - 1.0) / (r + 1) as f64;
            if *u <= theta {
                break;
            }
            threshold = theta;
        }
        q.iter_mut().for_each(|v| *v = (*v - threshold).max(0.0));
    }

    fn memory(&mut self) -> &mut [f64] {
        &mut []
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GroupWeights, Ruled};
    use super::*;

    fn moved(gains: &[f64], eta: f64) -> Vec<f64> {
        let mut q = Ruled::new(gains.len(), Euclidean::new(gains.len())).unwrap();
        let gains: Vec<_> = gains.iter().copied().enumerate().collect();
        q.step(eta, &gains);
        (0..q.len()).map(|i| q.get(i)).collect()
    }

    #[test]
    fn the_projection_is_the_nearest_point() {
        // By hand: (1/3, 1/3, 1/3) + (0.9, 0.3, −1) − θ with θ = 0.4333.
        let q = moved(&[0.9, 0.3, -1.0], 1.0);
        for (a, b) in q.iter().zip([0.8, 0.2, 0.0]) {
            assert!((a - b).abs() < 1e-15);
        }
        assert_eq!(moved(&[1.0, 1.0], 0.7), [0.5, 0.5]);
        assert_eq!(moved(&[1e300, 0.0, -1e300], 1e10), [1.0, 0.0, 0.0]);
        // Variational inequality ⟨v − q, u − q⟩ ≤ 0 at every vertex u.
        let gains = [0.3, -0.2, 0.25, 0.05, 0.31];
        let q = moved(&gains, 0.8);
        for vertex in 0..5 {
            let inner: f64 = (0..5)
                .map(|i| {
                    let u = if i == vertex { 1.0 } else { 0.0 };
                    (0.2 + 0.8 * gains[i] - q[i]) * (u - q[i])
                })
                .sum();
            assert!(inner < 1e-15, "{inner}");
        }
    }
}
