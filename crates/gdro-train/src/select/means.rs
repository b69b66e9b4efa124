//! Means of groups of rows.

use std::ops::Range;

/// A mean over rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// R = Σ ω ℓ / Σ ω.
    pub value: f64,
    /// Its standard error √(n/(n − 1) Σ ω² (ℓ − R)²) / Σ ω: with ω = 1 the standard deviation over √n.
    /// None for a single row.
    pub error: Option<f64>,
}

/// The mean of rows; none without rows.
pub fn mean(losses: &[f64], weights: &[f64]) -> Option<Mean> {
    let n = losses.len() as f64;
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return None;
    }
    let pairs = || losses.iter().zip(weights);
    let value = pairs().map(|(loss, weight)| weight * loss).sum::<f64>() / total;
    let squares: f64 = pairs().map(|(loss, weight)| (weight * (loss - value)).powi(2)).sum();
    let error = (n > 1.0).then(|| (n / (n - 1.0) * squares).sqrt() / total);
    Some(Mean { value, error })
}

/// The means of groups whose rows start at `starts`.
pub fn means(losses: &[f64], weights: &[f64], starts: &[usize]) -> Vec<Option<Mean>> {
    let of = |rows: Range<usize>| mean(&losses[rows.clone()], &weights[rows]);
    starts.windows(2).map(|ends| of(ends[0]..ends[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_is_the_usual_one() {
        let losses = [1.0, 2.0, 4.0, 1.0];
        let plain = mean(&losses, &[1.0; 4]).unwrap();
        assert_eq!(plain.value, 2.0);
        // Deviations −1, 0, 2, −1: variance 6/3, over 4 rows.
        assert!((plain.error.unwrap() - (2.0f64 / 4.0).sqrt()).abs() < 1e-12);
        // The unit of the weights does not matter.
        let scaled = mean(&losses, &[7.0; 4]).unwrap();
        assert!((scaled.error.unwrap() - plain.error.unwrap()).abs() < 1e-12);
        assert_eq!(mean(&[3.0], &[1.0]), Some(Mean { value: 3.0, error: None }));
        assert_eq!(means(&[1.0, 2.0, 4.0], &[1.0; 3], &[0, 1, 1, 3])[1], None);
    }
}
