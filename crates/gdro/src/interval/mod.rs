//! Honest finite-sample intervals on held-out rows.
//!
//! Every interval here holds at its stated level for every sample size and every distribution on
//! the stated range. None relies on a normal approximation or on the bootstrap: a percentile
//! bootstrap of the largest group risk is inconsistent where risks tie, and robust training makes
//! them tie.
//!
//! | quantity | interval | where |
//! |---|---|---|
//! | mean of a bounded number: risk of min(ℓ, M), difference of two models | betting | [`mean_interval`] |
//! | the same with weighted rows | betting on the ratio | [`weighted_mean_interval`] |
//! | share of right predictions, true and false positive rate | Clopper–Pearson | [`clopper_pearson`] |
//! | area under the ROC curve | Hoeffding, two samples | [`auc_interval`] |
//! | the same with weighted rows | betting on disjoint pairs | [`evaluate`] |
//! | all groups at once, and the worst of them | the above at δ/m | [`evaluate`] |
//! | two models on the same rows, all groups at once | betting at δ/m | [`compare`] |
//! | the difference of their largest risks, and a verdict | betting, whatever the number of groups | [`largest`] |
//!
//! The assumption throughout: within a group, rows (or clusters of rows, see [`Rows::clusters`]) are
//! independent draws of one distribution, and
//! neither the model nor M nor B nor the order of the rows was chosen by looking at them. An interval for
//! rows that were also trained on means nothing.

mod auc;
mod betting;
mod clopper_pearson;
mod compare;
mod draws;
mod groups;
mod largest;
mod metric;
mod rows;
mod settings;

pub use auc::{Auc, auc, auc_interval, weighted_auc};
pub use betting::{mean_interval, weighted_mean_interval};
pub use clopper_pearson::clopper_pearson;
pub use compare::{Comparison, GroupDifference, Pairs, compare};
pub use groups::{Evaluation, GroupEstimates, Worst, evaluate};
pub use largest::{HELD_OUT_ROWS, Headline, Largest, TRAINING_ROWS, Verdict, largest};
pub use metric::{METRICS, Metric, Metrics};
pub use rows::{Binary, Rows};
pub use settings::Settings;

use crate::error::{Error, Result, require};
use serde::{Deserialize, Serialize};

/// A closed interval [low, high].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end, at least `low`.
    pub high: f64,
}

impl Interval {
    /// The number 0.
    pub const ZERO: Interval = Interval { low: 0.0, high: 0.0 };

    /// The interval [low, high]; the caller sees to it that low ≤ high.
    pub fn new(low: f64, high: f64) -> Self {
        Interval { low, high }
    }

    /// high − low.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// Whether low ≤ x ≤ high.
    pub fn contains(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }
}

/// An interval that covers this share of the possible range says nothing.
const UNINFORMATIVE: f64 = 0.95;

/// A point estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Number of rows behind it.
    pub rows: usize,
    /// Number of clusters behind it, where clusters are the independent draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// The point estimate; `None` without rows.
    pub value: Option<f64>,
    /// The interval: valid even when it says little, the whole possible range without rows.
    pub interval: Interval,
    /// Whether the rows say anything: there are some, and the interval covers less than 95 % of the
    /// possible range. Otherwise show "not estimable", and keep the group in the table.
    pub estimable: bool,
}

impl Estimate {
    /// The interval if it says anything, otherwise `None` ("not estimable").
    pub fn bounds(&self) -> Option<Interval> {
        self.estimable.then_some(self.interval)
    }

    /// The interval is widened where it does not hold the estimate, which a drift in the rows can do.
    fn new(rows: usize, value: Option<f64>, interval: Interval, range: Interval) -> Self {
        let interval = value.map_or(interval, |value| {
            Interval::new(interval.low.min(value), interval.high.max(value))
        });
        let estimable = rows > 0 && interval.width() < UNINFORMATIVE * range.width();
        Estimate { rows, clusters: None, value, interval, estimable }
    }
}

/// The share of `clipped` rows where it is more than 1 % of all: an interval of what is left says so.
fn notable_share(clipped: usize, rows: usize) -> Option<f64> {
    (100 * clipped > rows).then(|| clipped as f64 / rows as f64)
}

/// What 999 of 1000 losses stay below: the ⌈0.999 n⌉-th smallest.
///
/// # Errors
/// [`Error::Length`] without losses, [`Error::NotFinite`], and [`Error::Parameter`] for a negative
/// quantile or one above 1e308.
pub fn upper_quantile(losses: &[f64]) -> Result<f64> {
    if losses.is_empty() {
        return Err(Error::Length { what: "the training losses", found: 0, expected: 1 });
    }
    finite("training loss", losses)?;
    let mut sorted = losses.to_vec();
    // n − ⌊n/1000⌋ = ⌈0.999 n⌉, without rounding.
    let at = sorted.len() - sorted.len() / 1000 - 1;
    let quantile = *sorted.select_nth_unstable_by(at, f64::total_cmp).1;
    require(
        (0.0..=1e308).contains(&quantile),
        "0.999 quantile of the training losses",
        quantile,
        "a number in [0, 1e308]",
    )?;
    Ok(quantile)
}

/// The smallest of 1, 2, 5 × 10^j that is at least the [`upper_quantile`] of the training losses and
/// at least `floor`: the cap M for [`evaluate`] and [`compare`]. If both are 0, the cap is 1.
///
/// M must not look at held-out rows, hence the training losses. The losses of a model that fits its
/// training rows too well are far below those of other rows: `floor` is what rows lose under a model
/// that knows nothing of their features, or 0.
///
/// # Errors
/// Those of [`upper_quantile`], also for the floor.
pub fn loss_cap(training: &[f64], floor: f64) -> Result<f64> {
    let quantile = upper_quantile(training)?;
    require((0.0..=1e308).contains(&floor), "floor", floor, "a number in [0, 1e308]")?;
    let quantile = quantile.max(floor);
    if quantile == 0.0 {
        return Ok(1.0);
    }
    let magnitude = quantile.log10().floor() as i32;
    let steps = (magnitude - 1..=magnitude + 1).flat_map(|j| [1, 2, 5].map(|digit| (digit, j)));
    // Read from text, so that 0.001 is the number that prints as 0.001.
    let cap = steps
        .filter_map(|(digit, j)| format!("{digit}e{j}").parse::<f64>().ok())
        .find(|cap| *cap >= quantile);
    cap.ok_or_else(|| Error::parameter("training losses", quantile, "a number below 1e308"))
}

/// alpha ∈ (0, 1).
fn check_level(name: &'static str, alpha: f64) -> Result<()> {
    require(alpha > 0.0 && alpha < 1.0, name, alpha, "a number in (0, 1)")
}

/// As many as there are rows.
fn check_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, found, expected }) }
}

/// No NaN and no infinity.
fn finite(what: &'static str, values: &[f64]) -> Result<()> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(row) => Err(Error::NotFinite { what, row, value: values[row] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_is_a_round_number_above_the_quantile() {
        for (quantile, cap) in [
            (0.7, 1.0),
            (1.0, 1.0),
            (1.0000001, 2.0),
            (2.0, 2.0),
            (2.1, 5.0),
            (5.5, 10.0),
            (18.0, 20.0),
            (0.001, 0.001),
            (0.0011, 0.002),
            (1000.0, 1000.0),
            (3e-9, 5e-9),
            (9.99e12, 1e13),
            (0.0, 1.0),
            (1e308, 1e308),
        ] {
            assert_eq!(loss_cap(&[quantile], 0.0).unwrap(), cap, "{quantile}");
        }
    }

    #[test]
    fn the_cap_ignores_one_loss_in_a_thousand() {
        let mut losses = vec![0.4; 1000];
        losses[17] = 300.0;
        assert_eq!(loss_cap(&losses, 0.0).unwrap(), 0.5);
        losses.pop();
        assert_eq!(loss_cap(&losses, 0.0).unwrap(), 500.0);
        assert_eq!(losses[17], 300.0);
    }

    #[test]
    fn the_cap_refuses_what_has_none() {
        let cap = |losses: &[f64]| loss_cap(losses, 0.0);
        assert!(matches!(cap(&[]), Err(Error::Length { .. })));
        assert!(matches!(cap(&[0.1, f64::NAN]), Err(Error::NotFinite { row: 1, .. })));
        assert!(matches!(cap(&[-1.0]), Err(Error::Parameter { .. })));
        assert!(matches!(cap(&[1.5e308]), Err(Error::Parameter { .. })));
        assert!(matches!(loss_cap(&[1.0], f64::NAN), Err(Error::Parameter { .. })));
    }

    #[test]
    fn the_cap_is_not_below_its_floor() {
        assert_eq!(loss_cap(&[1e-3; 50], 0.7).unwrap(), 1.0);
        assert_eq!(loss_cap(&[3.0; 50], 0.7).unwrap(), 5.0);
        assert_eq!(loss_cap(&[0.0; 50], 0.0).unwrap(), 1.0);
    }

    #[test]
    fn an_interval_holds_its_estimate() {
        let unit = Interval::new(0.0, 1.0);
        let found = Estimate::new(9, Some(0.7), Interval::new(0.2, 0.6), unit);
        assert_eq!(found.interval, Interval::new(0.2, 0.7));
        let found = Estimate::new(9, Some(0.1), Interval::new(0.2, 0.6), unit);
        assert_eq!(found.interval, Interval::new(0.1, 0.6));
    }

    #[test]
    fn few_clipped_rows_are_not_notable() {
        assert_eq!((notable_share(0, 0), notable_share(1, 100)), (None, None));
        assert_eq!(notable_share(2, 100), Some(0.02));
    }
}
