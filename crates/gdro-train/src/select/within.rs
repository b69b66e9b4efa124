//! Jobs and bounds of the members of a family.

use gdro::domain::DomainSpec;
use gdro::setting::{Objective, SolverName};

use crate::failure::Failure;
use crate::job::{Hyperparameter, Job, Search, Training};
use crate::prepared::{Bounds, train_names};

/// The bounds of a job with a value of what is chosen.
pub(super) fn bounds_with(job: &Job, knob: Hyperparameter, value: f64) -> Bounds {
    let bounds = Bounds::of(&job.training);
    match knob {
        Hyperparameter::L2 => Bounds { l2: value, ..bounds },
        Hyperparameter::Ball => Bounds { domain: DomainSpec::Ball(value), ..bounds },
    }
}

/// The job of a member. Settings that its objective does not use are left out; ordinary training is
/// that of the reference solver, as it is beside every other model.
pub(super) fn job_of(job: &Job, search: &Search, objective: Objective, value: f64) -> Job {
    let bounds = bounds_with(job, search.knob, value);
    let mut job = job.clone();
    let training = &mut job.training;
    training.objective = objective;
    training.l2 = bounds.l2;
    training.set_domain(bounds.domain);
    leave_unused_out(training);
    if objective.fixes_weights() {
        leave_rounds_out(training);
    }
    job
}

/// Leaves offsets, adjustment and scales out where they change nothing.
fn leave_unused_out(training: &mut Training) {
    let solver = training.solver.algorithm();
    loop {
        let given = |key| match key {
            "offsets" => training.offsets.is_some(),
            "adjustment" => training.adjustment.is_some(),
            _ => training.scales.is_some(),
        };
        match training.objective.unused(solver, given).map(|conflict| conflict.setting) {
            None => return,
            Some("offsets") => training.offsets = None,
            Some("adjustment") => training.adjustment = None,
            Some(_) => training.scales = None,
        }
    }
}

/// Leaves the solver in rounds and its settings out.
fn leave_rounds_out(training: &mut Training) {
    if !matches!(training.solver, SolverName::Rounds(_)) {
        return;
    }
    *training = Training {
        solver: SolverName::Exact,
        rounds: None,
        step_w: None,
        step_q: None,
        average: None,
        anytime: false,
        loss_range: None,
        budget: None,
        nbar: None,
        queries: None,
        kept: None,
        subsets: None,
        ..training.clone()
    };
}

/// A failure of the library on a prepared table.
pub(super) fn library<'a>(part: &'a gdro_data::Prepared) -> impl Fn(gdro::Error) -> Failure + 'a {
    move |error| Failure::library(error, &train_names(part))
}
