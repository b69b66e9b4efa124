//! Medians and bands over seeds, and curves on a common axis.

use crate::outcome::{Outcome, Series};
use crate::quantity::{Against, Quantity};

/// The p-quantile of some values by linear interpolation, 0 ≤ p ≤ 1; NaN of none.
pub(crate) fn quantile(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = p * last as f64;
    let (below, above) = (at.floor() as usize, at.ceil() as usize);
    sorted[below] + (at - at.floor()) * (sorted[above] - sorted[below])
}

/// The median.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub y: Quantity,
    /// Of a risk: the group, counted from 1.
    pub group: Option<usize>,
    pub x: Against,
}

/// The curve of each seed: (x, y) with increasing x.
pub(crate) fn curves(outcome: &Outcome, series: &Series, view: View) -> Vec<Vec<(f64, f64)>> {
    let curve = |(seed, trace): (usize, &crate::run::Trace)| {
        let at = |point: &crate::run::CurvePoint| {
            let x = if view.x == Against::Samples { point.samples } else { point.rounds };
            Some((x as f64, outcome.value(view.y, view.group, seed, point)?))
        };
        trace.points.iter().filter_map(at).collect()
    };
    series.traces.iter().enumerate().map(curve).collect()
}

/// The value of a curve at x, linear in ln x between its points; `None` out of its range.
pub(crate) fn at(curve: &[(f64, f64)], x: f64) -> Option<f64> {
    let after = curve.partition_point(|p| p.0 < x);
    let (x1, y1) = *curve.get(after)?;
    if x1 == x {
        return Some(y1);
    }
    let (x0, y0) = *curve.get(after.checked_sub(1)?)?;
    Some(y0 + (x / x0).ln() / (x1 / x0).ln() * (y1 - y0))
}

/// An x at which all curves are known, with their values there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Common {
    pub x: f64,
    /// For each of the runs the value of each seed.
    pub values: Vec<Vec<f64>>,
}

/// Runs side by side at the x values at which the first is looked at and all are known, in the last
/// decade and a half of the shortest.
pub(crate) fn side_by_side(outcome: &Outcome, runs: &[&Series], view: View) -> Vec<Common> {
    let all: Vec<_> = runs.iter().map(|series| curves(outcome, series, view)).collect();
    let end = |curves: &Vec<Vec<(f64, f64)>>| {
        let ends = curves.iter().map(|c| c.last().map_or(0.0, |p| p.0));
        ends.fold(f64::INFINITY, f64::min)
    };
    let last = all.iter().map(end).fold(f64::INFINITY, f64::min);
    let mut xs: Vec<f64> = all[0].first().into_iter().flatten().map(|p| p.0).collect();
    xs.push(last);
    xs.retain(|x| *x <= last && *x >= last / 10f64.powf(1.5));
    xs.sort_unstable_by(f64::total_cmp);
    xs.dedup();
    let common = |x: f64| {
        let of = |curves: &Vec<Vec<(f64, f64)>>| curves.iter().map(|c| at(c, x)).collect();
        let values: Option<Vec<Vec<f64>>> = all.iter().map(of).collect();
        Some(Common { x, values: values? })
    };
    xs.into_iter().filter_map(common).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let values = [3.0, 1.0, 2.0, 4.0];
        assert_eq!(median(&values), 2.5);
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 1.0), 4.0);
        assert!((quantile(&values, 0.1) - 1.3).abs() < 1e-15);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn curves_are_linear_in_the_logarithm() {
        let curve = [(1.0, 0.0), (100.0, 2.0)];
        assert!((at(&curve, 10.0).unwrap() - 1.0).abs() < 1e-15);
        assert_eq!(at(&curve, 100.0), Some(2.0));
        assert_eq!((at(&curve, 0.5), at(&curve, 101.0)), (None, None));
    }
}
