//! Tuning: one grid of multipliers, the same for every method.

use gdro::average::Average;

use crate::experiment::{Criterion, Experiment, Run};
use crate::run::Trace;

/// One cell of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GridCell {
    pub step_w: f64,
    pub step_q: f64,
    /// The criterion, a mean over the seeds for tuning.
    pub value: f64,
}

/// The tuned steps of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tuned {
    pub run: Run,
    /// All cells, in the order of the grid.
    pub cells: Vec<GridCell>,
    /// Rounds that were played for each.
    pub rounds: u64,
    pub average: Average,
    /// The cell with the smallest value; the first of several.
    pub best: GridCell,
}

impl Tuned {
    /// Picks the best of the cells.
    ///
    /// # Panics
    /// When there is none.
    pub fn new(run: &Run, cells: Vec<GridCell>, rounds: u64, average: Average) -> Self {
        let best = cells.iter().copied().reduce(|a, b| if b.value < a.value { b } else { a });
        let best = best.expect("a grid with a cell");
        Tuned { run: run.clone(), cells, rounds, average, best }
    }

    /// The players whose best multiplier is the smallest or largest of the grid, although the grid
    /// has several.
    pub fn at_edge(&self) -> Vec<&'static str> {
        let edge = |of: fn(&GridCell) -> f64| {
            let all = self.cells.iter().map(of);
            let (low, high) = (all.clone().fold(f64::MAX, f64::min), all.fold(0.0, f64::max));
            low < high && (of(&self.best) == low || of(&self.best) == high)
        };
        let w = edge(|c| c.step_w).then_some("w");
        w.into_iter().chain(edge(|c| c.step_q).then_some("q")).collect()
    }
}

/// What tuning minimises, at the end of a run.
pub(crate) fn criterion(experiment: &Experiment, trace: &Trace) -> f64 {
    let last = trace.points.last().expect("a run has a last look");
    match experiment.tune.criterion {
        Criterion::Objective => last.objective,
        Criterion::MeanRisk => last.mean,
    }
}
