//! The zero of an increasing function of one number.

/// The zero in [low, high] of an increasing function that gives its value and its slope: Newton's
/// method from `start`, with bisection where a step leaves the bracket. The variables here are
/// logarithms and multipliers relative to one, for which an absolute accuracy is the right one; the
/// step that falls below the square root of the rounding unit is the last, as the next would be its
/// square.
pub(super) fn root(
    (mut low, mut high): (f64, f64),
    start: f64,
    mut function: impl FnMut(f64) -> (f64, f64),
) -> f64 {
    let mut x = start;
    for _ in 0..200 {
        let (value, slope) = function(x);
        let by = value / slope;
        if by.abs() <= 1e-9 * x.abs().max(1.0) || value == 0.0 {
            return x - by;
        }
        if value > 0.0 {
            high = x;
        } else {
            low = x;
        }
        x = if x - by > low && x - by < high { x - by } else { low + 0.5 * (high - low) };
    }
    x
}
