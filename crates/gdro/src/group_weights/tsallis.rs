//! Follow the regularised leader with the Tsallis entropy.

use super::leader::add;
use super::ruled::Update;

/// q = argmax_{p ∈ Δ} ⟨G, p⟩ + (4/η) Σ √p_i for the sums G of all gains so far, that is
/// q_i = 4 (η (x − G_i))^{−2} with the x > max G that makes the sum 1: Tsallis-INF (Zimmert and
/// Seldin, JMLR 22(28), 2021; Audibert and Bubeck, JMLR 11, 2010).
///
/// The step `eta` that is given last counts for all gains so far.
#[derive(Clone, Debug)]
pub struct Tsallis {
    /// The sums G_i.
    sums: Vec<f64>,
}

impl Tsallis {
    /// The rule for m groups.
    pub fn new(m: usize) -> Self {
        Tsallis { sums: vec![0.0; m] }
    }
}

impl Update for Tsallis {
    fn update(&mut self, q: &mut [f64], eta: f64, gains: &[(usize, f64)]) {
        add(&mut self.sums, gains);
        if eta == 0.0 {
            return;
        }
        // With y = η(x − max G) ≥ 2, Σ 4/(y + η(max G − G_i))² falls from at least 1 at y = 2 to at
        // most 1 at y = 2√m. Newton's method on this convex, falling function from the left is
        // monotone.
        let top = self.sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut y = 2.0;
        for _ in 0..100 {
            let (mut sum, mut slope) = (0.0, 0.0);
            for g in &self.sums {
                let by = y + eta * (top - g);
                sum += 4.0 / (by * by);
                slope += 8.0 / (by * by * by);
            }
            let step = (sum - 1.0) / slope;
            y += step;
            if step <= 1e-15 * y {
                break;
            }
        }
        let mut total = 0.0;
        for (q, g) in q.iter_mut().zip(&self.sums) {
            let by = y + eta * (top - g);
            *q = 4.0 / (by * by);
            total += *q;
        }
        q.iter_mut().for_each(|q| *q /= total);
    }

    fn memory(&mut self) -> &mut [f64] {
        &mut self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GroupWeights, Ruled};
    use super::*;

    #[test]
    fn the_point_maximises_the_regularised_sum() {
        let (gains, eta) = ([-3.0, -1.0, -0.5, -40.0], 0.7);
        let mut q = Ruled::new(4, Tsallis::new(4)).unwrap();
        q.step(eta, &gains.into_iter().enumerate().collect::<Vec<_>>());
        let q: Vec<f64> = (0..4).map(|i| q.get(i)).collect();
        assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        // Stationary: G_i + (2/η)/√q_i is the same for all.
        let level: Vec<f64> = (0..4).map(|i| gains[i] + 2.0 / (eta * q[i].sqrt())).collect();
        for l in &level {
            assert!((l - level[0]).abs() < 1e-12 * level[0].abs(), "{level:?}");
        }
    }

    #[test]
    fn equal_gains_keep_the_weights_uniform_and_huge_ones_finite() {
        let mut q = Ruled::new(3, Tsallis::new(3)).unwrap();
        (0..100).for_each(|_| q.step(0.3, &[(0, 1.0), (1, 1.0), (2, 1.0)]));
        assert!((0..3).all(|i| (q.get(i) - 1.0 / 3.0).abs() < 1e-15));
        q.step(1.0, &[(1, 1e200)]);
        assert!((0..3).all(|i| q.get(i).is_finite()) && q.get(1) > 0.999);
    }
}
