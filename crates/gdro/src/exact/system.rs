//! Symmetric positive definite systems.

use faer::linalg::solvers::{Llt, Solve as _};
use faer::{Mat, MatRef, Side};

/// A Cholesky factorisation of a symmetric matrix, regularised as far as needed.
pub(super) struct Factor {
    llt: Option<Llt<f64>>,
}

impl Factor {
    /// Factors the matrix whose lower triangle is given row by row. When it is not positive
    /// definite in double precision, a growing multiple of its largest diagonal entry is added to
    /// the diagonal.
    pub(super) fn new(lower: &mut [f64], n: usize) -> Self {
        let top = (0..n).map(|i| lower[i * n + i]).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let mut shift = 0.0;
        for attempt in 0..12 {
            let matrix = MatRef::from_row_major_slice(lower, n, n);
            if let Ok(llt) = matrix.llt(Side::Lower) {
                return Factor { llt: Some(llt) };
            }
            let next = top * 1e-15 * 10f64.powi(attempt);
            (0..n).for_each(|i| lower[i * n + i] += next - shift);
            shift = next;
        }
        Factor { llt: None }
    }

    /// Solves for one right-hand side, in place. The right-hand side stays as it is when the matrix
    /// could not be factored: a gradient step.
    pub(super) fn solve(&self, rhs: &mut [f64]) {
        let Some(llt) = &self.llt else { return };
        let mut column = Mat::from_fn(rhs.len(), 1, |i, _| rhs[i]);
        llt.solve_in_place(column.as_mut());
        rhs.iter_mut().enumerate().for_each(|(i, v)| *v = column[(i, 0)]);
    }
}
