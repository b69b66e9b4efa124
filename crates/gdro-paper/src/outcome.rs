//! What came out of an experiment, before it is drawn or judged.

use gdro::algorithm::Constants;

use crate::experiment::{Experiment, Run};
use crate::problem::Optimum;
use crate::quantity::Quantity;
use crate::run::{CurvePoint, RunPlan, Trace};
use crate::settings::StepRule;
use crate::tune::Tuned;

/// Optima by k, one for each seed.
pub(crate) type Optima = Vec<(f64, Vec<Optimum>)>;

/// All runs of an experiment.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub experiment: Experiment,
    /// The seeds, in order.
    pub seeds: Vec<u64>,
    /// Number of groups.
    pub groups: usize,
    /// Optima by k, one for each seed.
    pub optima: Optima,
    /// One for each run and rule.
    pub series: Vec<Series>,
    /// The constants of the theorems for each run, and how they come about.
    pub constants: Vec<Constants>,
    /// How they come about, and what the theorems assume that is not so.
    pub assumptions: String,
    /// What tuning found for each run.
    pub tuned: Vec<Tuned>,
    /// δ of the bounds.
    pub delta: f64,
}

/// A run under one rule, over all seeds.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub run: Run,
    pub rule: StepRule,
    /// The plan of the first seed.
    pub plan: RunPlan,
    /// One for each seed.
    pub traces: Vec<Trace>,
    /// The theorem's bound on the gap at some of the looks: (rounds, samples, bound).
    pub bounds: Vec<(u64, u64, f64)>,
}

impl Outcome {
    /// The optima with this k.
    pub fn optima(&self, k: f64) -> &[Optimum] {
        let found = self.optima.iter().find(|(other, _)| *other == k);
        found.map_or(&[], |(_, optima)| optima)
    }

    /// The optima of the experiment's own k.
    pub fn own_optima(&self) -> &[Optimum] {
        self.optima(self.experiment.k)
    }

    /// The series of a run under a rule.
    pub fn series(&self, rule: StepRule, id: &str) -> Option<&Series> {
        self.series.iter().find(|s| s.rule == rule && s.run.id == id)
    }

    /// A quantity at one look, for the seed with this index.
    pub fn value(
        &self,
        quantity: Quantity,
        group: Option<usize>,
        seed: usize,
        point: &CurvePoint,
    ) -> Option<f64> {
        let objective = || point.objective(self.experiment.k);
        match quantity {
            Quantity::Objective => Some(objective()),
            Quantity::Excess => Some(objective() - self.own_optima().get(seed)?.value),
            Quantity::Gap => point.gap,
            Quantity::Risk => point.risks.get(group?.checked_sub(1)?).copied(),
            Quantity::Risks | Quantity::Objectives => None,
        }
    }
}
