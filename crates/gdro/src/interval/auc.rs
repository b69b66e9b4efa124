//! The area under the ROC curve.

use super::{Interval, check_length, check_level, finite};
use crate::error::Result;

/// An AUC with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auc {
    /// The estimate.
    pub value: f64,
    /// Its interval.
    pub interval: Interval,
    /// Number of positive rows n₊.
    pub positives: usize,
    /// Number of negative rows n₋.
    pub negatives: usize,
}

/// The area under the ROC curve: the share of pairs of a positive and a negative row in which the
/// positive one has the higher score, a tie counting one half,
///
/// U = (1/(n₊n₋)) Σ_{i positive, j negative} (1\[s_i > s_j\] + ½ 1\[s_i = s_j\]),
///
/// in O(n log n): mid-ranks (Mann and Whitney, DOI 10.1214/aoms/1177730491). `None` when one of the
/// classes is absent.
///
/// # Errors
/// [`crate::Error::NotFinite`] for a score, [`crate::Error::Length`].
pub fn auc(scores: &[f64], positive: &[bool]) -> Result<Option<f64>> {
    // Sums of halves: exact below 2⁵².
    by_ranks(scores, positive, &|_| 1.0)
}

/// The area under the ROC curve of rows with weights: a pair counts as the product of the weights of
/// its two rows,
///
/// U = Σ_{i, j} w_i w_j (1\[s_i > s_j\] + ½ 1\[s_i = s_j\]) / (Σ_i w_i Σ_j w_j)
///
/// over positive rows i and negative rows j. `None` when one of the classes has no weight.
///
/// # Errors
/// As [`auc`], and [`crate::Error::NotFinite`] for a weight.
pub fn weighted_auc(scores: &[f64], positive: &[bool], weights: &[f64]) -> Result<Option<f64>> {
    check_length("the weights", weights.len(), scores.len())?;
    finite("weight", weights)?;
    by_ranks(scores, positive, &|row| weights[row])
}

/// What a pair of a positive and a negative row with these scores says.
pub(super) fn wins(positive: f64, negative: f64) -> f64 {
    if positive > negative {
        1.0
    } else if positive == negative {
        0.5
    } else {
        0.0
    }
}

fn by_ranks(
    scores: &[f64],
    positive: &[bool],
    weight: &dyn Fn(usize) -> f64,
) -> Result<Option<f64>> {
    check_length("the labels", positive.len(), scores.len())?;
    finite("score", scores)?;
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|a, b| scores[*a].total_cmp(&scores[*b]).then(a.cmp(b)));
    let (mut wins, mut below, mut positives) = (0.0, 0.0, 0.0);
    // `==`, so that 0 and −0 tie; `total_cmp` puts them side by side.
    for tied in order.chunk_by(|a, b| scores[*a] == scores[*b]) {
        let of = |class: bool| -> f64 {
            tied.iter().filter(|row| positive[**row] == class).map(|row| weight(*row)).sum()
        };
        let (up, down) = (of(true), of(false));
        wins += up * (below + 0.5 * down);
        below += down;
        positives += up;
    }
    Ok((positives > 0.0 && below > 0.0).then(|| wins / (positives * below)))
}

/// The AUC with an interval that contains the probability P(s₊ > s₋) + ½ P(s₊ = s₋), of independent
/// positive and negative rows, with probability at least 1 − alpha for all n₊ and n₋:
///
/// U ± √(ln(2/α) / (2 min(n₊, n₋))), clipped to [0, 1],
///
/// Hoeffding's bound for two-sample U-statistics (DOI 10.1080/01621459.1963.10500830, section 5).
/// It is valid and wide; it does not know that an AUC near 1 varies less. `None` when a class is
/// absent.
///
/// # Errors
/// As [`auc`], and [`crate::Error::Parameter`] if alpha is outside (0, 1).
pub fn auc_interval(scores: &[f64], positive: &[bool], alpha: f64) -> Result<Option<Auc>> {
    check_level("alpha", alpha)?;
    let Some(value) = auc(scores, positive)? else { return Ok(None) };
    let positives = positive.iter().filter(|p| **p).count();
    let negatives = positive.len() - positives;
    let reach = ((2.0 / alpha).ln() / (2.0 * positives.min(negatives) as f64)).sqrt();
    let interval = Interval::new((value - reach).max(0.0), (value + reach).min(1.0));
    Ok(Some(Auc { value, interval, positives, negatives }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::sampling::{Rng, below};
    use rand::SeedableRng;

    #[test]
    fn equals_the_count_over_all_pairs() {
        let mut rng = Rng::seed_from_u64(5);
        for n in [2, 3, 10, 60] {
            // Few distinct scores: many ties; −0 among them.
            let scores: Vec<f64> = (0..n).map(|_| 3.0 - below(&mut rng, 7) as f64).collect();
            let scores: Vec<f64> = scores
                .iter()
                .map(|s| if *s == 0.0 && below(&mut rng, 2) == 0 { -0.0 } else { *s })
                .collect();
            let positive: Vec<bool> =
                (0..n).map(|i| i == 0 || (i > 1 && below(&mut rng, 3) == 0)).collect();
            let weights: Vec<f64> = (0..n).map(|i| f64::from(i % 4) + 0.25).collect();
            let ones = vec![1.0; n as usize];
            for (weights, found) in [
                (&ones, auc(&scores, &positive)),
                (&ones, weighted_auc(&scores, &positive, &ones)),
                (&weights, weighted_auc(&scores, &positive, &weights)),
            ] {
                let (mut sum, mut pairs) = (0.0, 0.0);
                for i in 0..n as usize {
                    for j in 0..n as usize {
                        if positive[i] && !positive[j] {
                            let weight = weights[i] * weights[j];
                            pairs += weight;
                            sum += if scores[i] > scores[j] {
                                weight
                            } else if scores[i] == scores[j] {
                                0.5 * weight
                            } else {
                                0.0
                            };
                        }
                    }
                }
                assert!((found.unwrap().unwrap() - sum / pairs).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn extremes() {
        let labels = [false, false, true, true];
        assert_eq!(auc(&[1.0, 2.0, 3.0, 4.0], &labels).unwrap(), Some(1.0));
        assert_eq!(auc(&[4.0, 3.0, 2.0, 1.0], &labels).unwrap(), Some(0.0));
        assert_eq!(auc(&[1.0; 4], &labels).unwrap(), Some(0.5));
        assert_eq!(auc(&[1.0; 2], &[true, true]).unwrap(), None);
        assert_eq!(weighted_auc(&[1.0; 2], &[true, false], &[1.0, 0.0]).unwrap(), None);
        assert_eq!(auc_interval(&[], &[], 0.05).unwrap(), None);
        assert!(matches!(auc(&[f64::NAN], &[true]), Err(Error::NotFinite { .. })));
        assert!(matches!(auc(&[1.0], &[]), Err(Error::Length { .. })));
        assert!(matches!(auc_interval(&[1.0], &[true], 1.0), Err(Error::Parameter { .. })));
    }

    #[test]
    fn the_interval_is_hoeffdings_with_the_smaller_class() {
        let scores: Vec<f64> = (0..120).map(|i| f64::from(i * 37 % 120)).collect();
        let positive: Vec<bool> = (0..120).map(|i| i % 3 == 0).collect();
        let found = auc_interval(&scores, &positive, 0.05).unwrap().unwrap();
        assert_eq!((found.positives, found.negatives), (40, 80));
        let reach = (40f64.ln() / 80.0).sqrt();
        assert!((found.interval.high - (found.value + reach).min(1.0)).abs() < 1e-15);
        assert!((found.interval.low - (found.value - reach).max(0.0)).abs() < 1e-15);
    }
}
