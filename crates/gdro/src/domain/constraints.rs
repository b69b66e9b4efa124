//! What a set of models is bounded by.

/// A convex set of weights as inequalities.
#[derive(Clone, Debug, PartialEq)]
pub enum Constraints {
    /// None: the whole space.
    Free,
    /// ‖w‖₂ ≤ the radius.
    Ball(f64),
    /// ‖w‖₁ ≤ the radius.
    L1(f64),
    /// low ≤ w_j ≤ high for all j.
    Box(f64, f64),
    /// low_j ≤ w_j ≤ high_j, where low_j < high_j for all j.
    Bounds(Vec<(f64, f64)>),
    /// None of these: the reference solver knows the set by its mirror map alone.
    Other,
}

impl Constraints {
    /// Whether the interior-point method has them: smooth, and with an interior. The others are for
    /// the first-order method, see [`crate::exact`].
    pub fn are_smooth(&self) -> bool {
        match self {
            Constraints::Free
            | Constraints::Ball(_)
            | Constraints::Box(..)
            | Constraints::Bounds(_) => true,
            Constraints::L1(_) | Constraints::Other => false,
        }
    }
}
