//! Confidence intervals for the mean of bounded numbers, by betting.

use super::{Interval, check_length, check_level, finite};
use crate::error::{Error, Result, require};

/// The largest share of the capital at risk in one round.
const BOLDNESS: f64 = 0.75;

/// Bisection stops at this width, as a share of the range; the end it returns is the outer one.
const RESOLUTION: f64 = 1e-12;

/// The unit in which [`refuted`] writes off capital.
const FOLD: f64 = 1e200;

/// A two-sided interval that contains the mean of independent, identically distributed numbers in
/// [low, high] with probability at least 1 − alpha, for every n and every distribution.
///
/// The hedged-capital method (Waudby-Smith and Ramdas, "Estimating means of bounded random
/// variables by betting", DOI 10.1093/jrsssb/qkad009) for a fixed n. With x_t scaled to [0, 1], two
/// gamblers bet against the hypothesis that the mean is μ, one that it is larger, one that it is
/// smaller:
///
/// K⁺_t(μ) = Π_{s ≤ t} (1 + λ⁺_s(x_s − μ)), K⁻_t(μ) = Π_{s ≤ t} (1 − λ⁻_s(x_s − μ)),
///
/// λ⁺_s = min(λ_s, c/μ), λ⁻_s = min(λ_s, c/(1 − μ)), c = 3/4,
/// λ_s = √(2 ln(2/α) / (n σ̂²_{s−1})),
///
/// σ̂²_s = (¼ + Σ_{r ≤ s} (x_r − μ̂_r)²)/(s + 1), μ̂_s = (½ + Σ_{r ≤ s} x_r)/(s + 1).
///
/// At the true mean both are nonnegative martingales that start at 1, so each ever reaches 2/α with
/// probability at most α/2 (Ville). The interval holds the μ at which neither did. Each factor
/// is monotone in μ, hence so are the maxima over t, and both ends are found by bisection: to
/// 1e-12 of the range, outwards, with slack for round-off.
///
/// **Order.** The bets depend on the order of `values`. It must not depend on the values
/// themselves: shuffle with a seed ([`crate::sampling::shuffle`]) if in doubt. Never sort.
///
/// Without values it is [low, high]. If the two sides contradict each other (a drift in the
/// values can do that, with probability at most α if the assumption holds), the interval spans both
/// ends.
///
/// Cost: about 80 n multiplications.
///
/// # Errors
/// [`Error::Parameter`] if alpha is outside (0, 1), the range is empty or not finite, or a value is
/// outside it; [`Error::NotFinite`] for a value that is NaN or infinite.
pub fn mean_interval(values: &[f64], low: f64, high: f64, alpha: f64) -> Result<Interval> {
    interval(values, None, low, high, alpha)
}

/// As [`mean_interval`] for weighted rows: an interval for θ = E(w x)/E(w), the quantity that Σ w_r
/// x_r / Σ w_r estimates. The pairs (w_r, x_r) are independent and identically distributed, w_r ∈
/// [0, `max_weight`], and w_r and x_r may depend on each other.
///
/// With u = w/`max_weight` ∈ [0, 1] the bets are on u_s(x_s − μ), whose expectation at μ = θ is 0:
/// the factors are 1 ± λ_s u_s (x_s − μ), still nonnegative, martingales and monotone in μ, with
///
/// σ̂²_s = (¼ ū_s² + Σ u_r²(x_r − μ̂_r)²)/(s + 1), μ̂_s = (½ ū_s + Σ u_r x_r)/(ū_s + Σ u_r),
/// ū_s = (1 + Σ u_r)/(s + 1),
///
/// sums over r ≤ s: what stands for the rows before the first one is as heavy as the rows are. So one
/// method serves for the ratio, and α is not split between its parts. With all weights equal to
/// `max_weight` it is [`mean_interval`].
///
/// `max_weight` must be known without looking at these rows: a bound by construction, or the
/// largest weight among the training rows.
///
/// # Errors
/// As [`mean_interval`]; also [`Error::Parameter`] for a weight outside [0, `max_weight`], and
/// [`Error::Length`].
pub fn weighted_mean_interval(
    values: &[f64],
    weights: &[f64],
    max_weight: f64,
    low: f64,
    high: f64,
    alpha: f64,
) -> Result<Interval> {
    interval(values, Some((weights, max_weight)), low, high, alpha)
}

/// The weights and their bound.
pub(super) type Weighting<'a> = Option<(&'a [f64], f64)>;

/// Both public functions.
pub(super) fn interval(
    values: &[f64],
    weighting: Weighting,
    low: f64,
    high: f64,
    alpha: f64,
) -> Result<Interval> {
    check_level("alpha", alpha)?;
    let span = high - low;
    require(span > 0.0 && span.is_finite(), "range", format!("[{low}, {high}]"), "low < high")?;
    if let Some((weights, max)) = weighting {
        check_length("the weights", weights.len(), values.len())?;
        require(max > 0.0 && max.is_finite(), "max_weight", max, "a positive number")?;
        in_range("weight", weights, 0.0, max)?;
    }
    finite("value", values)?;
    in_range("value", values, low, high)?;
    let mut rounds = plug_in(values, weighting, low, span, alpha);
    let goal = goal(alpha, rounds.len());
    let lower = lower_bound(&rounds, goal);
    // The upper bound of x is the lower bound of 1 − x, with the same bets.
    for round in &mut rounds {
        round.x = 1.0 - round.x;
    }
    let upper = 1.0 - lower_bound(&rounds, goal);
    let scaled = |x: f64| (low + span * x).clamp(low, high);
    Ok(Interval::new(scaled(lower.min(upper)), scaled(lower.max(upper))))
}

/// Every number lies in [low, high], which NaN does not.
fn in_range(name: &'static str, values: &[f64], low: f64, high: f64) -> Result<()> {
    match values.iter().position(|v| !(low..=high).contains(v)) {
        Some(row) => {
            let found = format!("{} (row {row}, range [{low}, {high}])", values[row]);
            Err(Error::parameter(name, found, "a number in the range"))
        }
        None => Ok(()),
    }
}

/// One round: the outcome x, its weight u, both in [0, 1], and the bet before truncation.
struct Round {
    x: f64,
    u: f64,
    bet: f64,
}

/// The bets λ_s, each from the rounds before it.
fn plug_in(values: &[f64], weighting: Weighting, low: f64, span: f64, alpha: f64) -> Vec<Round> {
    let budget = 2.0 * (2.0 / alpha).ln() / values.len() as f64;
    let (mut mass, mut sum, mut squares, mut count) = (0.0, 0.0, 0.0, 1.0);
    // The mean weight so far, beside one unit of weight 1 that is there before any.
    let mut typical = 1.0;
    let round = |(row, value): (usize, &f64)| {
        let x = ((value - low) / span).clamp(0.0, 1.0);
        let u = weighting.map_or(1.0, |(weights, max)| weights[row] / max);
        let bet = (budget * count / (0.25 * typical * typical + squares)).sqrt();
        mass += u;
        sum += u * x;
        count += 1.0;
        typical = (1.0 + mass) / count;
        let mean = (0.5 * typical + sum) / (typical + mass);
        squares += (u * (x - mean)).powi(2);
        Round { x, u, bet }
    };
    values.iter().enumerate().map(round).collect()
}

/// The capital that refutes a hypothesis, 2/α, and the rounding error that n products may carry.
fn goal(alpha: f64, n: usize) -> f64 {
    2.0 / alpha * (1.0 + 8.0 * f64::EPSILON * n as f64)
}

/// The largest μ that the gambler on "the mean is larger than μ" refutes; 0 if there is none.
fn lower_bound(rounds: &[Round], goal: f64) -> f64 {
    // A goal that could overflow (α below 1e-200) is never reached.
    if goal > FOLD || !refuted(rounds, 0.0, goal) {
        return 0.0;
    }
    // At μ = 1 no factor exceeds 1.
    let (mut refuted_at, mut open_at) = (0.0, 1.0);
    while open_at - refuted_at > RESOLUTION {
        let middle = 0.5 * (refuted_at + open_at);
        if refuted(rounds, middle, goal) {
            refuted_at = middle;
        } else {
            open_at = middle;
        }
    }
    refuted_at
}

/// Whether max_t Π_{s ≤ t} (1 + min(λ_s, c/μ) u_s (x_s − μ)) reaches the goal.
///
/// The running product is kept in range by powers of [`FOLD`], counted in `debt`: a capital that
/// fell below every representable number may still come back.
fn refuted(rounds: &[Round], mean: f64, goal: f64) -> bool {
    let most = BOLDNESS / mean;
    let (mut capital, mut debt) = (1.0, 0u32);
    for round in rounds {
        capital *= 1.0 + round.bet.min(most) * round.u * (round.x - mean);
        if debt == 0 {
            if capital >= goal {
                return true;
            }
        } else if capital > FOLD {
            capital /= FOLD;
            debt -= 1;
        }
        if capital < 1.0 / FOLD {
            capital *= FOLD;
            debt += 1;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_scales() {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 11) / 11.0).collect();
        let unit = mean_interval(&values, 0.0, 1.0, 0.05).unwrap();
        let moved: Vec<f64> = values.iter().map(|v| 6.0 * v - 4.0).collect();
        let there = mean_interval(&moved, -4.0, 2.0, 0.05).unwrap();
        assert!((there.low - (6.0 * unit.low - 4.0)).abs() < 1e-9);
        assert!((there.high - (6.0 * unit.high - 4.0)).abs() < 1e-9);
        // Mirrored values have the mirrored interval.
        let mirrored: Vec<f64> = values.iter().map(|v| 1.0 - v).collect();
        let mirror = mean_interval(&mirrored, 0.0, 1.0, 0.05).unwrap();
        assert!((mirror.low - (1.0 - unit.high)).abs() < 1e-9);
        assert!((mirror.high - (1.0 - unit.low)).abs() < 1e-9);
    }

    #[test]
    fn equal_weights_are_no_weights_and_weight_zero_says_nothing() {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 11) / 11.0).collect();
        let plain = mean_interval(&values, 0.0, 1.0, 0.05).unwrap();
        let weighted = weighted_mean_interval(&values, &[3.0; 40], 3.0, 0.0, 1.0, 0.05).unwrap();
        assert_eq!(plain, weighted);
        let none = weighted_mean_interval(&values, &[0.0; 40], 3.0, 0.0, 1.0, 0.05).unwrap();
        assert_eq!(none, Interval::new(0.0, 1.0));
    }

    #[test]
    fn a_smaller_alpha_and_fewer_values_widen() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i * 7 % 11) / 11.0).collect();
        let width = |n: usize, alpha| mean_interval(&values[..n], 0.0, 1.0, alpha).unwrap().width();
        assert!(width(400, 0.05) < width(400, 0.001));
        assert!(width(400, 0.05) < width(100, 0.05));
        assert_eq!(width(0, 0.05), 1.0);
        assert_eq!(width(400, 1e-320), 1.0);
    }

    #[test]
    fn a_lost_capital_comes_back() {
        // 3,000 losses of 3/4 of the capital take it to 1e-1806; the gains after them must not be
        // mistaken for gains from 1.
        let mut rounds: Vec<Round> =
            (0..3000).map(|_| Round { x: 0.0, u: 1.0, bet: 1.5 }).collect();
        rounds.extend((0..7000).map(|_| Round { x: 1.0, u: 1.0, bet: 1.5 }));
        // ln: 3000 ln(1/4) + 7000 ln(7/4) = -241.5.
        assert!(!refuted(&rounds, 0.5, 40.0));
        rounds.extend((0..440).map(|_| Round { x: 1.0, u: 1.0, bet: 1.5 }));
        // -241.5 + 440 ln(7/4) = 4.72, e^4.72 = 112.
        assert!(refuted(&rounds, 0.5, 40.0));
        assert!(!refuted(&rounds, 0.5, 120.0));
    }

    #[test]
    fn contradicting_sides_give_their_span() {
        let drift: Vec<f64> = (0..400).map(|i| if i < 200 { 0.0 } else { 1.0 }).collect();
        let interval = mean_interval(&drift, 0.0, 1.0, 0.05).unwrap();
        assert!(interval.low <= interval.high);
    }

    #[test]
    fn bad_arguments_are_refused() {
        let bad = |values: &[f64], low, high, alpha| mean_interval(values, low, high, alpha);
        for alpha in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(matches!(bad(&[0.5], 0.0, 1.0, alpha), Err(Error::Parameter { .. })));
        }
        for (low, high) in [(1.0, 1.0), (1.0, 0.0), (0.0, f64::INFINITY), (f64::NAN, 1.0)] {
            assert!(matches!(bad(&[0.5], low, high, 0.1), Err(Error::Parameter { .. })));
        }
        let outside = bad(&[0.5, 1.5], 0.0, 1.0, 0.1).unwrap_err();
        assert_eq!(
            outside.to_string(),
            "value = 1.5 (row 1, range [0, 1]): expected a number in the range"
        );
        assert!(matches!(bad(&[f64::NAN], 0.0, 1.0, 0.1), Err(Error::NotFinite { .. })));
        let weighted = |w: &[f64], max| weighted_mean_interval(&[0.5], w, max, 0.0, 1.0, 0.1);
        assert!(matches!(weighted(&[2.0], 1.0), Err(Error::Parameter { .. })));
        assert!(matches!(weighted(&[f64::NAN], 1.0), Err(Error::Parameter { .. })));
        assert!(matches!(weighted(&[1.0], 0.0), Err(Error::Parameter { .. })));
        assert!(matches!(weighted(&[1.0, 1.0], 1.0), Err(Error::Length { .. })));
    }
}
