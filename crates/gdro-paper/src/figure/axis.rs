//! From values to places along an axis: the range that is shown.

use super::{Axis, Panel, Scale};

/// The range of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// How values become lengths.
    pub scale: Scale,
    /// The value at the start.
    pub low: f64,
    /// The value at the end, above `low`.
    pub high: f64,
}

/// Room for half a line above and below the data, as a part of their range.
const MARGIN: f64 = 0.04;

/// Numbers are at most ten to this power; smaller than its inverse is the same as that on a
/// logarithmic axis.
pub const LARGEST_POWER: f64 = 300.0;

/// A linear x axis that starts at less than this part of its end starts at zero.
const NEAR: f64 = 0.1;

/// How much longer than without its first tenth a curve may make the axis.
const STRETCH: f64 = 4.0;

impl Span {
    /// Where a value is, 0 at the start and 1 at the end; `None` if it has no place on this scale.
    pub fn place(&self, value: f64) -> Option<f64> {
        let (low, high) = (self.length(self.low), self.length(self.high));
        self.shows(value).then(|| (self.length(value) - low) / (high - low))
    }

    /// The value as a length in its own units.
    fn length(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.log10().max(-LARGEST_POWER - 1.0),
        }
    }

    fn shows(&self, value: f64) -> bool {
        self.scale == Scale::Linear || value > 0.0
    }
}

/// The x axis of a panel: all points, without a margin, and zero where that is near.
pub fn across(panel: &Panel) -> Span {
    let points = panel.curves.iter().flat_map(|c| c.points.iter().map(|p| p.x));
    let fixed: Vec<f64> =
        panel.marks.iter().map(|m| m.x).chain(panel.dots.iter().map(|d| d.x)).collect();
    let data = Extent::of(panel.x.scale, points.chain(fixed.iter().copied()));
    let mut span = range(&panel.x, data, Extent::of(panel.x.scale, fixed), 0.0);
    if panel.x.range.is_none()
        && span.scale == Scale::Linear
        && span.low > 0.0
        && span.low < NEAR * span.high
    {
        span.low = 0.0;
    }
    span
}

/// The y axis of a panel: lines, bands, levels and dots, with a margin.
pub fn upward(panel: &Panel) -> Span {
    let scale = panel.y.scale;
    let values = |skip: fn(usize) -> usize| {
        let points = panel.curves.iter().flat_map(move |c| &c.points[skip(c.points.len())..]);
        points.flat_map(|p| [p.low, p.median, p.high])
    };
    let levels = panel.levels.iter().flat_map(|l| [l.low, l.value, l.high]);
    let fixed: Vec<f64> = levels.chain(panel.dots.iter().map(|d| d.y)).collect();
    let all = Extent::of(scale, values(|_| 0).chain(fixed.iter().copied()));
    let late = Extent::of(scale, values(|n| n.div_ceil(10)).chain(fixed.iter().copied()));
    let far = late.is_some_and(|late| {
        late.length() > 0.0 && all.is_some_and(|all| all.length() > STRETCH * late.length())
    });
    range(&panel.y, if far { late } else { all }, Extent::of(scale, fixed), MARGIN)
}

/// Whether the ends of a range differ by more than rounding and underflow.
pub fn apart(low: f64, high: f64) -> bool {
    high - low > (1e-9 * low.abs().max(high.abs())).max(1e-290)
}

/// The least and the greatest of some numbers, as lengths.
#[derive(Clone, Copy, Debug)]
struct Extent {
    low: f64,
    high: f64,
}

impl Extent {
    fn of(scale: Scale, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let span = Span { scale, low: 1.0, high: 10.0 };
        let lengths = values.into_iter().filter(|&v| span.shows(v)).map(|v| span.length(v));
        lengths.fold(None, |extent: Option<Self>, v| match extent {
            None => Some(Self { low: v, high: v }),
            Some(e) => Some(Self { low: e.low.min(v), high: e.high.max(v) }),
        })
    }

    fn length(&self) -> f64 {
        self.high - self.low
    }
}

/// The range that the caller gave, widened for what has to be seen, or that of the data with a
/// margin.
fn range(axis: &Axis, data: Option<Extent>, fixed: Option<Extent>, margin: f64) -> Span {
    let span = |low, high| Span { scale: axis.scale, low, high };
    if let Some((low, high)) = axis.range {
        let fixed = fixed.map(|e| match axis.scale {
            Scale::Linear => (e.low, e.high),
            Scale::Log => (10f64.powf(e.low), 10f64.powf(e.high)),
        });
        return fixed.map_or(span(low, high), |(a, b)| span(low.min(a), high.max(b)));
    }
    let Some(Extent { mut low, mut high }) = data else {
        return if axis.scale == Scale::Log { span(1.0, 10.0) } else { span(0.0, 1.0) };
    };
    // Numbers that differ by rounding only, or not at all, still need an axis of some length.
    let positive = low >= 0.0;
    let pad = if apart(low, high) {
        margin * (high - low)
    } else if axis.scale == Scale::Log {
        0.5
    } else {
        0.1 * low.abs().max(high.abs()).max(f64::from(high.abs() < 1e-300))
    };
    (low, high) = (low - pad, high + pad);
    match axis.scale {
        // A quantity that is never negative is not shown as if it could be.
        Scale::Linear if positive => span(low.max(0.0), high),
        Scale::Linear => span(low, high),
        Scale::Log => span(
            10f64.powf(low.max(-LARGEST_POWER - 1.0)),
            10f64.powf(high.min(LARGEST_POWER + 1.0)),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Band, Curve, Level};
    use super::*;

    fn panel(scale: Scale, values: &[f64]) -> Panel {
        let point = |(i, &v): (usize, &f64)| Band { x: i as f64 + 1.0, low: v, median: v, high: v };
        let curve =
            Curve { points: values.iter().enumerate().map(point).collect(), ..Default::default() };
        Panel { y: Axis { scale, ..Default::default() }, curves: vec![curve], ..Default::default() }
    }

    #[test]
    fn the_data_and_a_margin() {
        let span = upward(&panel(Scale::Linear, &[2.0, 3.0, 4.0]));
        assert!((span.low - 1.92).abs() < 1e-12 && (span.high - 4.08).abs() < 1e-12);
        assert_eq!(
            upward(&panel(Scale::Linear, &[0.01, 3.0, 4.0])).low,
            0.0,
            "a margin has no negative risks"
        );
        assert_eq!(
            across(&panel(Scale::Linear, &[2.0, 3.0, 4.0])),
            Span { scale: Scale::Linear, low: 1.0, high: 3.0 }
        );
        let span = upward(&panel(Scale::Log, &[1e-4, -1.0, 0.0, 1.0]));
        assert!(
            (span.low.log10() + 4.16).abs() < 1e-12 && (span.high.log10() - 0.16).abs() < 1e-12
        );
    }

    #[test]
    fn first_points_far_off_do_not_squeeze_the_rest() {
        let mut values: Vec<f64> = (0..20).map(|i| 1.0 + f64::from(i) / 20.0).collect();
        values[0] = 50.0;
        assert!(upward(&panel(Scale::Linear, &values)).high < 2.5);
        values[0] = 4.0;
        assert!(upward(&panel(Scale::Linear, &values)).high > 4.0);
    }

    #[test]
    fn a_range_is_kept_but_for_levels() {
        let mut panel = panel(Scale::Linear, &[2.0, 30.0]);
        panel.y.range = Some((1.0, 5.0));
        assert_eq!((upward(&panel).low, upward(&panel).high), (1.0, 5.0));
        panel.levels = vec![Level { name: "optimum".into(), value: 0.5, low: 0.25, high: 0.5 }];
        assert_eq!((upward(&panel).low, upward(&panel).high), (0.25, 5.0));
    }

    #[test]
    fn no_range_is_empty() {
        for scale in [Scale::Linear, Scale::Log] {
            for values in [
                &[][..],
                &[0.0],
                &[-3.0],
                &[5.0, 5.0],
                &[1.0, 1.0 + 1e-15],
                &[1e300, 1e300],
                &[5e-324],
            ] {
                let panel = panel(scale, values);
                for span in [upward(&panel), across(&panel)] {
                    assert!(span.low < span.high && span.high.is_finite(), "{values:?}: {span:?}");
                    assert_eq!(
                        (span.place(span.low), span.place(span.high)),
                        (Some(0.0), Some(1.0))
                    );
                }
            }
        }
    }
}
