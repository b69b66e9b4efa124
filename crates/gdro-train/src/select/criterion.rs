//! The worst group of a model on validation rows, and the rule that chooses among models.

use std::ops::Range;

use crate::job::SelectionRule;

/// A mean over rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// R = Σ c ω ℓ / Σ c ω, for rows that are counted c times and have weights ω.
    pub value: f64,
    /// Its standard error √(n/(n − 1) Σ c ω² (ℓ − R)²) / Σ c ω, n = Σ c: with ω = 1 the standard
    /// deviation over √n. None for a single row.
    pub error: Option<f64>,
}

/// The mean of rows; none without rows. Rows are counted once when `counts` is empty.
pub fn mean(losses: &[f64], weights: &[f64], counts: &[f64]) -> Option<Mean> {
    let count = |row: usize| if counts.is_empty() { 1.0 } else { counts[row] };
    let (mut n, mut total, mut sum) = (0.0, 0.0, 0.0);
    for (row, (loss, weight)) in losses.iter().zip(weights).enumerate() {
        let c = count(row);
        n += c;
        total += c * weight;
        sum += c * weight * loss;
    }
    if total <= 0.0 {
        return None;
    }
    let value = sum / total;
    let square = |row: usize| count(row) * (weights[row] * (losses[row] - value)).powi(2);
    let squares: f64 = (0..losses.len()).map(square).sum();
    let error = (n > 1.0).then(|| (n / (n - 1.0) * squares).sqrt() / total);
    Some(Mean { value, error })
}

/// The means of groups whose rows start at `starts`.
pub fn means(losses: &[f64], weights: &[f64], starts: &[usize]) -> Vec<Option<Mean>> {
    let of = |rows: Range<usize>| mean(&losses[rows.clone()], &weights[rows], &[]);
    starts.windows(2).map(|ends| of(ends[0]..ends[1])).collect()
}

/// The group with the largest mean, the first of several.
pub fn worst(means: &[Option<Mean>]) -> Option<usize> {
    let with_rows = means.iter().enumerate().filter_map(|(i, mean)| Some((i, (*mean)?.value)));
    let worst = with_rows.reduce(|a, b| if b.1 > a.1 { b } else { a });
    worst.map(|(group, _)| group)
}

/// The best of some criteria and the one that a rule takes; the strongest comes first. `error` is
/// the standard error of the best: without one, the best is taken.
pub fn choose(
    rule: SelectionRule,
    criteria: &[f64],
    error: impl Fn(usize) -> Option<f64>,
) -> (usize, usize) {
    let best = (1..criteria.len()).fold(0, |b, i| if criteria[i] < criteria[b] { i } else { b });
    match (rule, error(best)) {
        (SelectionRule::OneSe, Some(error)) => {
            let limit = criteria[best] + error;
            (best, criteria.iter().position(|c| *c <= limit).unwrap_or(best))
        }
        _ => (best, best),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_is_the_usual_one() {
        let losses = [1.0, 2.0, 4.0, 1.0];
        let plain = mean(&losses, &[1.0; 4], &[]).unwrap();
        assert_eq!(plain.value, 2.0);
        // Deviations −1, 0, 2, −1: variance 6/3, over 4 rows.
        assert!((plain.error.unwrap() - (2.0f64 / 4.0).sqrt()).abs() < 1e-12);
        // Counting a row twice is having it twice.
        let twice = mean(&losses[..3], &[1.0; 3], &[2.0, 1.0, 1.0]).unwrap();
        assert_eq!(twice, plain);
        // The unit of the weights does not matter.
        let scaled = mean(&losses, &[7.0; 4], &[]).unwrap();
        assert!((scaled.error.unwrap() - plain.error.unwrap()).abs() < 1e-12);
        assert_eq!(mean(&[3.0], &[1.0], &[]), Some(Mean { value: 3.0, error: None }));
        assert_eq!(mean(&[3.0], &[1.0], &[0.0]), None);
    }

    #[test]
    fn the_worst_group_has_rows() {
        let means = means(&[1.0, 2.0, 2.0, 0.0], &[1.0; 4], &[0, 1, 2, 2, 3, 4]);
        assert_eq!(means[2], None);
        assert_eq!(worst(&means), Some(1));
        assert_eq!(worst(&[None]), None);
    }

    #[test]
    fn rules() {
        let criteria = [0.9, 0.5, 0.42, 0.4, 0.4, 0.7];
        let error = |e| move |_| e;
        assert_eq!(choose(SelectionRule::Best, &criteria, error(Some(0.2))), (3, 3));
        assert_eq!(choose(SelectionRule::OneSe, &criteria, error(Some(0.03))), (3, 2));
        assert_eq!(choose(SelectionRule::OneSe, &criteria, error(Some(0.2))), (3, 1));
        assert_eq!(choose(SelectionRule::OneSe, &criteria, error(Some(0.001))), (3, 3));
        assert_eq!(choose(SelectionRule::OneSe, &criteria, error(None)), (3, 3));
        let at = |best: usize| Some(best as f64);
        assert_eq!(choose(SelectionRule::OneSe, &criteria, at), (3, 0));
    }
}
