//! Follow the regularised leader with the entropy.

use super::ruled::Update;

/// q_i ∝ exp(ηG_i) for the sums G of all gains so far: Hedge as follow-the-regularised-leader. The
/// step `eta` that is given last counts for all gains so far, so that steps which fall with time
/// cost no factor ln t (Shalev-Shwartz, DOI 10.1561/2200000018, § 2).
///
/// With a constant step it is [`super::Plain`].
#[derive(Clone, Debug)]
pub struct Leader {
    sums: Vec<f64>,
}

impl Leader {
    /// The rule for m groups.
    pub fn new(m: usize) -> Self {
        Leader { sums: vec![0.0; m] }
    }
}

impl Update for Leader {
    fn update(&mut self, q: &mut [f64], eta: f64, gains: &[(usize, f64)]) {
        add(&mut self.sums, gains);
        exponential(q, eta, &self.sums);
    }

    fn memory(&mut self) -> &mut [f64] {
        &mut self.sums
    }
}

/// Sums beyond this are cut off, so that differences of them are numbers.
const LIMIT: f64 = 1e300;

/// Adds gains to sums.
pub(super) fn add(sums: &mut [f64], gains: &[(usize, f64)]) {
    for (group, gain) in gains {
        sums[*group] = (sums[*group] + gain).clamp(-LIMIT, LIMIT);
    }
}

/// Writes q_i ∝ exp(η G_i); for infinite η, uniform weights on the largest G_i. Returns
/// ln Σ exp(η(G_i − max G)).
pub(super) fn exponential(q: &mut [f64], eta: f64, sums: &[f64]) -> f64 {
    let top = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for (q, g) in q.iter_mut().zip(sums) {
        let below = top - g;
        *q = if below == 0.0 { 1.0 } else { (-eta * below).exp() };
        total += *q;
    }
    q.iter_mut().for_each(|q| *q /= total);
    total.ln()
}
