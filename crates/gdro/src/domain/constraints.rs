//! What a set of models is bounded by.

/// A convex set of weights as inequalities.
#[derive(Clone, Debug, PartialEq)]
pub enum Constraints {
    /// None: the whole space.
    Free,
    /// ‖w‖₂ ≤ the radius.
    Ball(f64),
    /// low ≤ w_j ≤ high for all j.
    Box(f64, f64),
    /// low_j ≤ w_j ≤ high_j, where low_j < high_j for all j.
    Bounds(Vec<(f64, f64)>),
    /// None of these: the reference solver knows the set by its mirror map alone.
    Other,
}
