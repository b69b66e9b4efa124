//! Intervals as cells of a table.

use gdro::interval::{Comparison, Estimate, GroupDifference, Interval, Worst};
use gdro_train::verdict::Verdict;

use super::numbers::{NONE, percent};

/// What says too little to be shown.
const NOT_ESTIMABLE: &str = "not estimable";

/// The interval of an estimate, or `not estimable`, or nothing without rows. `cut` is the share of the
/// rows that the cap on losses cuts, where that is worth a word.
pub fn interval(
    estimate: Option<Estimate>,
    cut: Option<f64>,
    show: &dyn Fn(Interval) -> String,
) -> String {
    let Some(e) = estimate.filter(|e| e.rows > 0) else { return NONE.into() };
    and_cut(e.bounds().map_or(NOT_ESTIMABLE.into(), show), cut)
}

/// Adds the share of the rows that the cap on losses cuts, where that is worth a word.
fn and_cut(text: String, cut: Option<f64>) -> String {
    match cut {
        Some(share) => format!("{text}, {} cut", percent(share)),
        None => text,
    }
}

/// The interval of the largest of a quantity over all groups. Where a group that is not estimable
/// leaves its upper end open, its lower end still holds. `cut` is the largest share of the rows of a
/// group that the cap on losses cuts.
pub fn largest(worst: &Worst, cut: Option<f64>, show: &dyn Fn(f64) -> String) -> String {
    let text = match worst.all {
        Interval { low, high } if worst.is_estimable() => {
            format!("{} to {}", show(low), show(high))
        }
        Interval { low, .. } if low > 0.0 => format!("{} or more", show(low)),
        _ => NOT_ESTIMABLE.into(),
    };
    and_cut(text, cut)
}

/// The interval of the least share over all groups, likewise.
pub fn least(worst: &Worst, show: &dyn Fn(f64) -> String) -> String {
    match worst.all {
        Interval { low, high } if worst.is_estimable() => {
            format!("{} to {}", show(low), show(high))
        }
        Interval { high, .. } if high < 1.0 => format!("{} or less", show(high)),
        _ => NOT_ESTIMABLE.into(),
    }
}

/// The interval of the difference of two models' largest risks: that of the verdict where it is about all
/// groups.
pub fn difference(
    comparison: &Comparison,
    verdict: &Verdict,
    show: &dyn Fn(Interval) -> String,
) -> String {
    let cut = comparison.groups.iter().filter_map(GroupDifference::clipped_share);
    let is_whole = comparison.worst_estimable == Some(comparison.worst);
    let text = match verdict.low.zip(verdict.high).filter(|_| verdict.left_out.is_empty()) {
        Some((low, high)) => show(Interval::new(low, high)),
        None if is_whole => show(comparison.worst),
        None => NOT_ESTIMABLE.into(),
    };
    and_cut(text, cut.reduce(f64::max))
}
