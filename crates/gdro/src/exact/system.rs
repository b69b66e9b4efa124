//! The symmetric positive definite systems of the Newton steps.

use faer::linalg::solvers::{Llt, Solve as _};
use faer::{Mat, MatRef, Side};

use super::Risks;
use crate::row::dot;

/// Up to this many unknowns the matrix is formed and factored; beyond, only products with it are.
pub(crate) const DENSE: usize = 1200;

/// Up to this many rank-one terms are solved for one by one, so that conjugate gradients see only
/// the well-conditioned rest.
const SEPARATE: usize = 48;

/// (K + Σ_l u_l u_lᵀ) x = b, where K is a weighted Hessian of the risks plus a diagonal.
pub(super) enum System {
    /// Formed and factored.
    Dense(Factor),
    /// Known by its products.
    Products(Products),
}

/// A rank-one term scale · u uᵀ.
pub(super) struct RankOne {
    pub(super) scale: f64,
    pub(super) u: Vec<f64>,
}

impl System {
    /// The system for Σ c_i ∇²R_i at the last point evaluated, plus `diagonal`, plus the rank-one
    /// terms. `memory` is kept for the matrix between calls. Products solve it to a relative residual
    /// of `accuracy`.
    pub(super) fn new<R: Risks>(
        risks: &mut R,
        c: &[f64],
        diagonal: &[f64],
        terms: impl Iterator<Item = RankOne>,
        accuracy: f64,
        memory: &mut Vec<f64>,
    ) -> Self {
        let n = diagonal.len();
        if n > DENSE {
            return System::Products(Products::new(risks, c, diagonal, terms, accuracy));
        }
        memory.resize(n * n, 0.0);
        risks.hessian(c, memory);
        for (j, d) in diagonal.iter().enumerate() {
            memory[j * n + j] += d;
        }
        for RankOne { scale, u } in terms {
            for (j, uj) in u.iter().enumerate() {
                let by = scale * uj;
                if by != 0.0 {
                    let line = &mut memory[j * n..][..=j];
                    line.iter_mut().zip(&u).for_each(|(h, ui)| *h += by * ui);
                }
            }
        }
        System::Dense(Factor::new(memory, n))
    }

    /// Solves for one right-hand side, in place.
    pub(super) fn solve<R: Risks>(&self, risks: &mut R, rhs: &mut [f64]) {
        match self {
            System::Dense(factor) => factor.solve(rhs),
            System::Products(products) => products.solve(risks, rhs),
        }
    }
}

/// A Cholesky factorisation of a symmetric matrix, regularised as far as needed.
pub(super) struct Factor {
    llt: Option<Llt<f64>>,
}

impl Factor {
    /// Factors the matrix whose lower triangle is given row by row. When it is not positive
    /// definite in double precision, its diagonal entries grow by a growing factor. Each grows by
    /// its own share: bounds that are nearly reached make some of them larger than others by many
    /// orders of magnitude.
    fn new(lower: &mut [f64], n: usize) -> Self {
        let diagonal: Vec<f64> = (0..n).map(|i| lower[i * n + i].max(f64::MIN_POSITIVE)).collect();
        for attempt in 0..12 {
            let matrix = MatRef::from_row_major_slice(lower, n, n);
            if let Ok(llt) = matrix.llt(Side::Lower) {
                return Factor { llt: Some(llt) };
            }
            let factor = 1.0 + 1e-15 * 10f64.powi(attempt);
            diagonal.iter().enumerate().for_each(|(i, d)| lower[i * n + i] = factor * d);
        }
        Factor { llt: None }
    }

    /// Solves for one right-hand side, in place. The right-hand side stays as it is when the matrix
    /// could not be factored: a gradient step.
    fn solve(&self, rhs: &mut [f64]) {
        let Some(llt) = &self.llt else { return };
        let mut column = Mat::from_fn(rhs.len(), 1, |i, _| rhs[i]);
        llt.solve_in_place(column.as_mut());
        rhs.iter_mut().enumerate().for_each(|(i, v)| *v = column[(i, 0)]);
    }
}

/// A system known by products: preconditioned conjugate gradients for K, and the
/// Sherman–Morrison–Woodbury formula for the rank-one terms when they are few.
pub(super) struct Products {
    diagonal: Vec<f64>,
    /// 1 / diagonal of the whole matrix that conjugate gradients see.
    inverse: Vec<f64>,
    /// √scale · u of each term.
    terms: Vec<Vec<f64>>,
    /// Relative residual of conjugate gradients.
    accuracy: f64,
    /// K⁻¹ u_l and the factor of I + UᵀK⁻¹U; empty when conjugate gradients see the terms.
    solved: Option<(Vec<Vec<f64>>, Factor)>,
}

impl Products {
    fn new<R: Risks>(
        risks: &mut R,
        c: &[f64],
        diagonal: &[f64],
        terms: impl Iterator<Item = RankOne>,
        accuracy: f64,
    ) -> Self {
        let mut whole = vec![0.0; diagonal.len()];
        risks.hessian_diagonal(c, &mut whole);
        whole.iter_mut().zip(diagonal).for_each(|(w, d)| *w += d);
        let top = whole.iter().copied().fold(0.0, f64::max);
        let root = |term: RankOne| {
            let by = term.scale.sqrt();
            term.u.into_iter().map(|v| by * v).collect::<Vec<f64>>()
        };
        // Terms far below rounding of the diagonal do not matter.
        let heavy = |u: &Vec<f64>| dot(u, u) > 1e-18 * top;
        let terms: Vec<Vec<f64>> = terms.map(root).filter(heavy).collect();
        let separate = terms.len() <= SEPARATE;
        if !separate {
            for u in &terms {
                whole.iter_mut().zip(u).for_each(|(w, v)| *w += v * v);
            }
        }
        let inverse = whole.iter().map(|w| 1.0 / w.max(1e-300)).collect();
        let diagonal = diagonal.to_vec();
        let mut this = Products { diagonal, inverse, terms, accuracy, solved: None };
        if separate {
            let solutions: Vec<Vec<f64>> = this
                .terms
                .iter()
                .map(|u| {
                    let mut x = u.clone();
                    this.conjugate_gradients(risks, &mut x, false);
                    x
                })
                .collect();
            let l = this.terms.len();
            let mut small = vec![0.0; l * l];
            for (i, u) in this.terms.iter().enumerate() {
                for (j, x) in solutions.iter().enumerate().take(i + 1) {
                    small[i * l + j] = dot(u, x) + if i == j { 1.0 } else { 0.0 };
                }
            }
            this.solved = Some((solutions, Factor::new(&mut small, l)));
        }
        this
    }

    /// out = K v, plus the rank-one terms when wanted.
    fn times<R: Risks>(&self, risks: &mut R, v: &[f64], out: &mut [f64], with_terms: bool) {
        risks.hessian_times(v, out);
        out.iter_mut().zip(v).zip(&self.diagonal).for_each(|((o, v), d)| *o += d * v);
        if with_terms {
            for u in &self.terms {
                let along = dot(u, v);
                out.iter_mut().zip(u).for_each(|(o, u)| *o += along * u);
            }
        }
    }

    /// Replaces b by the solution, to the residual that is asked for or as far as it goes.
    fn conjugate_gradients<R: Risks>(&self, risks: &mut R, b: &mut [f64], with_terms: bool) {
        let times = |v: &[f64], out: &mut [f64]| self.times(risks, v, out, with_terms);
        let x = conjugate_gradients(times, &self.inverse, b, self.accuracy);
        b.copy_from_slice(&x);
    }

    fn solve<R: Risks>(&self, risks: &mut R, rhs: &mut [f64]) {
        let Some((solutions, small)) = &self.solved else {
            self.conjugate_gradients(risks, rhs, true);
            return;
        };
        self.conjugate_gradients(risks, rhs, false);
        if !self.terms.is_empty() {
            let mut shares: Vec<f64> = self.terms.iter().map(|u| dot(u, rhs)).collect();
            small.solve(&mut shares);
            for (share, x) in shares.iter().zip(solutions) {
                rhs.iter_mut().zip(x).for_each(|(r, x)| *r -= share * x);
            }
        }
    }
}

/// The solution of a system with a positive semidefinite matrix that `times` multiplies with, by
/// conjugate gradients under the preconditioner `inverse`, to a residual of `close` relative or as
/// far as it goes.
pub(super) fn conjugate_gradients(
    mut times: impl FnMut(&[f64], &mut [f64]),
    inverse: &[f64],
    b: &[f64],
    close: f64,
) -> Vec<f64> {
    let n = b.len();
    let mut residual = b.to_vec();
    let goal = close * dot(b, b).sqrt();
    let mut x = vec![0.0; n];
    let precondition = |r: &[f64]| r.iter().zip(inverse).map(|(r, i)| r * i).collect::<Vec<f64>>();
    let mut z = precondition(&residual);
    let mut direction = z.clone();
    let mut along = dot(&residual, &z);
    let mut image = vec![0.0; n];
    for _ in 0..(2 * n).min(2000) {
        if dot(&residual, &residual).sqrt() <= goal || along <= 0.0 {
            break;
        }
        times(&direction, &mut image);
        let curvature = dot(&direction, &image);
        if curvature <= 0.0 {
            break;
        }
        let by = along / curvature;
        for j in 0..n {
            x[j] += by * direction[j];
            residual[j] -= by * image[j];
        }
        z = precondition(&residual);
        let next = dot(&residual, &z);
        let keep = next / along;
        along = next;
        direction.iter_mut().zip(&z).for_each(|(d, z)| *d = z + keep * *d);
    }
    x
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand::SeedableRng as _;

    use super::*;
    use crate::exact::DatasetRisks;
    use crate::loss::Softmax;
    use crate::sampling::{Rng, below, unit};
    use crate::{Dataset, Matrix};

    /// The formed matrix, products with the terms separate, and products with the terms inside give
    /// the same solution.
    #[test]
    fn products_solve_what_the_matrix_solves() {
        let mut rng = Rng::seed_from_u64(4);
        let (rows, d) = (60, 7);
        let x = (0..rows * d).map(|_| unit(&mut rng) - 0.5).collect();
        let y = (0..rows).map(|_| below(&mut rng, 3) as f64).collect();
        let groups = [(0..30).collect(), (30..60).collect()];
        let matrix = Arc::new(Matrix::dense(d, x).unwrap());
        let data = Dataset::new(matrix, y, None, &groups).unwrap();
        let loss = Softmax::new(3).unwrap();
        let mut risks = DatasetRisks::new(&data, &loss, true);
        let n = risks.dim();
        let mut vector = |scale: f64| (0..n).map(|_| scale * unit(&mut rng)).collect::<Vec<_>>();
        let (w, b, diagonal) = (vector(1.0), vector(1.0), vector(0.1));
        let terms: Vec<Vec<f64>> = (0..3).map(|_| vector(2.0)).collect();
        risks.evaluate(&w, &mut [0.0; 2], &mut vec![0.0; 2 * n]).unwrap();
        let c = [0.3, 0.7];
        let rank_ones = || terms.iter().map(|u| RankOne { scale: 1e3, u: u.clone() });
        let mut solutions = vec![b.clone(); 3];
        System::new(&mut risks, &c, &diagonal, rank_ones(), 1e-12, &mut Vec::new())
            .solve(&mut risks, &mut solutions[0]);
        let mut products = Products::new(&mut risks, &c, &diagonal, rank_ones(), 1e-12);
        products.solve(&mut risks, &mut solutions[1]);
        products.solved = None;
        products.solve(&mut risks, &mut solutions[2]);
        let norm = dot(&solutions[0], &solutions[0]).sqrt();
        for other in &solutions[1..] {
            let off = solutions[0].iter().zip(other).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) < 1e-8 * norm);
        }
    }
}
