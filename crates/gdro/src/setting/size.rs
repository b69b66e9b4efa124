//! Which solver a table is for.

use super::{Objective, SolverName};
use crate::algorithm::Algorithm;
use crate::dataset::Dataset;
use crate::domain::Constraints;
use crate::loss::Loss;

/// With more groups than this the stochastic solver draws one per round.
const MANY_GROUPS: usize = 64;

/// Evaluations of all gradients that the first-order method takes.
const EVALUATIONS: f64 = 5000.0;

/// What decides whether the reference solver is the right one.
pub struct Size {
    rows: f64,
    groups: usize,
    /// Numbers stored per row.
    per_row: f64,
    /// Numbers in a model.
    model: f64,
    /// Scores c.
    outputs: f64,
    /// Whether the interior-point method has the set of models.
    is_smooth: bool,
}

impl Size {
    /// Work of the reference solver, in multiplications, that is accepted: some minutes.
    pub const WORK: f64 = 1e12;

    /// Bytes beside the table that the reference solver may take.
    pub const MEMORY: f64 = 4e9;

    /// The size of training rows under a loss, with so many numbers in a model. The set of models
    /// is one for the interior-point method unless [`Size::over`] says otherwise.
    pub fn of(data: &Dataset, loss: &impl Loss, model: usize) -> Self {
        let rows = data.rows() as f64;
        Size {
            rows,
            groups: data.groups(),
            per_row: data.matrix().stored() as f64 / rows + 1.0,
            model: model as f64,
            outputs: loss.outputs() as f64,
            is_smooth: true,
        }
    }

    /// The size with models in a set with these constraints.
    pub fn over(self, constraints: &Constraints) -> Self {
        Size { is_smooth: constraints.are_smooth(), ..self }
    }

    /// Multiplications that the reference solver takes, in about 30 iterations: a Hessian and a
    /// factorisation each, or products with the Hessian; or for the first-order method in some
    /// thousand evaluations of all gradients.
    pub fn work(&self) -> f64 {
        let (n, c) = (self.model, self.outputs);
        if !self.is_smooth {
            return EVALUATIONS * 2.0 * self.rows * self.per_row * c;
        }
        let formed = self.rows * (self.per_row * c).powi(2) / 2.0 + n.powi(3) / 3.0;
        30.0 * if n > 1200.0 { self.rows * self.per_row * c * 1000.0 } else { formed }
    }

    /// Bytes that it takes beside the table.
    pub fn memory(&self) -> f64 {
        3.0 * 8.0 * self.groups as f64 * self.model
    }

    /// Whether the reference solver is for rows of this size: up to [`Size::WORK`] and
    /// [`Size::MEMORY`].
    pub fn fits_exact(&self) -> bool {
        self.work() <= Self::WORK && self.memory() <= Self::MEMORY
    }

    /// The solver of an objective for rows of this size, and why: the reference solver where it
    /// [fits](Size::fits_exact) or no other minimises the objective, then an algorithm in rounds, which
    /// draws one sample per round where groups are many.
    pub fn solver(&self, objective: Objective) -> (SolverName, &'static str) {
        if self.fits_exact() {
            return (SolverName::Exact, "the table fits the reference solver");
        }
        if matches!(objective, Objective::Tilted(_)) {
            return (SolverName::Exact, "no other solver minimises tilted risks");
        }
        let top_k = matches!(objective, Objective::TopK(_));
        let algorithm = Algorithm::automatic(top_k, self.groups > MANY_GROUPS);
        (SolverName::Rounds(algorithm), "the table is too large for the reference solver")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_tables_are_for_rounds() {
        let solver = |rows: f64, groups: usize, objective| {
            let size =
                Size { rows, groups, per_row: 51.0, model: 51.0, outputs: 1.0, is_smooth: true };
            size.solver(objective).0
        };
        assert_eq!(solver(1e6, 6, Objective::Max), SolverName::Exact);
        // 30 · 1e8 · 51²/2 = 3.9e12.
        let rounds = |groups, objective| solver(1e8, groups, objective).algorithm().unwrap();
        assert_eq!(rounds(6, Objective::Max), Algorithm::SmdM);
        assert_eq!(rounds(65, Objective::Max), Algorithm::Online1);
        assert_eq!(rounds(6, Objective::TopK(2.0)), Algorithm::AtkroM);
        assert_eq!(rounds(65, Objective::TopK(2.0)), Algorithm::Atkro1);
        let tilted = "tilted:0.1".parse().unwrap();
        assert_eq!(solver(1e8, 6, tilted), SolverName::Exact);
        assert_ne!(solver(1e3, 4_000_000, Objective::Max), SolverName::Exact);
    }
}
