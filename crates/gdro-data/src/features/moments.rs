//! Mean and deviation.

/// Mean Σ ω v / Σ ω and population standard deviation √(Σ ω (v − mean)² / Σ ω) of values with
/// weights (1 unless given). The deviation is exactly 0 when all values are equal. `None` when one
/// of the two overflows; the weights are positive.
pub(crate) fn moments(values: &[f64], weights: Option<&[f64]>) -> Option<(f64, f64)> {
    let first = *values.first()?;
    if values.iter().all(|v| *v == first) {
        return Some((first, 0.0));
    }
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    // Weights are scaled to at most 1, so that sums overflow only when the values are huge.
    let top = weights.map_or(1.0, |w| w.iter().fold(0.0, |a: f64, v| a.max(*v)));
    let total: f64 = (0..values.len()).map(|i| weight(i) / top).sum();
    let average = |f: &dyn Fn(f64) -> f64| {
        values.iter().enumerate().map(|(i, v)| weight(i) / top * f(*v)).sum::<f64>() / total
    };
    let mean = average(&|v| v);
    // Scaling by the largest distance keeps the squares in range.
    let scale = values.iter().fold(0.0, |a: f64, v| a.max((v - mean).abs()));
    let deviation = scale * average(&|v| ((v - mean) / scale).powi(2)).sqrt();
    (mean.is_finite() && deviation.is_finite() && deviation > 0.0).then_some((mean, deviation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn population_moments() {
        let (mean, deviation) = moments(&[1.0, 2.0, 3.0, 6.0], None).unwrap();
        assert_eq!(mean, 3.0);
        assert!((deviation - 3.5f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_weight_of_two_is_a_row_twice() {
        let one = moments(&[1.0, 2.0, 5.0], Some(&[2.0, 1.0, 3.0])).unwrap();
        let other = moments(&[1.0, 1.0, 2.0, 5.0, 5.0, 5.0], None).unwrap();
        assert!((one.0 - other.0).abs() < 1e-15 && (one.1 - other.1).abs() < 1e-15);
    }

    #[test]
    fn extremes() {
        assert_eq!(moments(&[0.1; 7], None), Some((0.1, 0.0)));
        let (_, deviation) = moments(&[0.0, 1e-300], None).unwrap();
        assert!((deviation / 5e-301 - 1.0).abs() < 1e-12);
        let (_, deviation) = moments(&[0.0, 1e200], None).unwrap();
        assert!((deviation / 5e199 - 1.0).abs() < 1e-12);
        assert_eq!(moments(&[1e308, -1e308, 1e308, 1.5e308], None), None);
        let (mean, _) = moments(&[1.0, 2.0], Some(&[1e308, 1e308])).unwrap();
        assert_eq!(mean, 1.5);
    }
}
