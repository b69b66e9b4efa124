//! The game that a job plays on a table.

use gdro::Dataset;
use gdro::domain::{Domain, L2Ball};
use gdro::loss::{AnyLoss, Loss as _, Targets};
use gdro::setting::{Size, Terms, ball_of, intercept_bound, row_shares};
use gdro_data::{Prepared, Split, Target, Task};

use super::columns::read_numbers;
use crate::failure::{Failure, Result};
use crate::job::{Job, LossName, Objective, SolverName, Training};

/// What bounds the weights of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Ridge.
    pub l2: f64,
    /// Radius of the ball, if there is one.
    pub ball: Option<f64>,
}

impl Bounds {
    /// Those of a job.
    pub fn of(training: &Training) -> Self {
        Bounds { l2: training.l2, ball: training.ball }
    }
}

/// Data, loss, domain and game.
pub type Setting = gdro::setting::Setting<AnyLoss>;

/// The setting of a job on a prepared table.
pub fn setting_of(job: &Job, prepared: &Prepared) -> Result<Setting> {
    let training = &job.training;
    let names = train_names(prepared);
    let library = |e| Failure::library(e, &names);
    let loss = loss_of(training.loss, &prepared.target).map_err(library)?;
    let data = prepared.train.clone();
    let shares = match training.objective {
        Objective::TopK(k) if k > names.len() as f64 => {
            return Err(Failure::input(format!(
                "{}: {} of only {} groups with training rows",
                job.place("objective"),
                training.objective,
                names.len()
            )));
        }
        Objective::Average => Some(shares_of_rows(prepared).ok_or_else(|| {
            Failure::input(format!(
                "{}: average: no family of groups has all rows, so that none counts each once: say missing-group = own or small-groups = merge, or give one family",
                job.place("objective")
            ))
        })?),
        _ => None,
    };
    let offset = |_, text: &str| text.parse().ok().filter(|v: &f64| v.is_finite());
    let scale = |_, text: &str| text.parse().ok().filter(|v: &f64| *v > 0.0 && v.is_finite());
    let offsets = training.offsets.as_ref();
    let offsets =
        offsets.map(|file| read_numbers(file, "offset", &names, "a finite number", offset));
    let scales = training.scales.as_ref();
    let scales = scales.map(|file| read_numbers(file, "scale", &names, "a number above 0", scale));
    let terms = Terms {
        l2: training.l2,
        ball: training.ball,
        intercept: intercept_of(training, &loss, data.max_abs_target()),
        shares,
        adjustment: training.adjustment,
        offsets: offsets.transpose()?,
        scales: scales.transpose()?,
        ..Terms::new(training.objective)
    };
    Setting::new(data, loss, &terms).map_err(library)
}

/// A setting within other bounds; offsets stay as they are.
pub fn within(setting: &Setting, bounds: Bounds) -> gdro::Result<Setting> {
    let mut setting = setting.clone();
    setting.game.ridge = bounds.l2;
    setting.domain.map = ball_of(bounds.ball)?;
    Ok(setting)
}

/// Weights of the groups under which every training row counts once: the shares of the groups of a
/// family that has all rows, and 0 for those of the others. `None` when no family has.
fn shares_of_rows(prepared: &Prepared) -> Option<Vec<f64>> {
    let of_family = |family: usize| {
        let groups = prepared.groups.iter().filter(move |g| g.family == family);
        row_shares(&prepared.train, groups.filter_map(|g| g.train)).ok()
    };
    (0..prepared.grouping.families().len()).find_map(of_family)
}

/// The solver of a job, and why, when the job leaves it open.
pub fn choose(training: &Training, size: &Size) -> (SolverName, Option<String>) {
    match training.solver {
        SolverName::Auto => {
            let (solver, why) = size.solver(training.objective);
            (solver, Some(why.to_owned()))
        }
        solver => (solver, None),
    }
}

/// Calls `f(row, scores)` for every row of a data set under the model `w`.
pub fn each_score(loss: &AnyLoss, data: &Dataset, w: &[f64], mut f: impl FnMut(usize, &[f64])) {
    let mut s = vec![0.0; loss.outputs()];
    for row in 0..data.rows() {
        gdro::iterate::scores(w, data.features(), data.sample(row).x, &mut s);
        f(row, &s);
    }
}

/// The class that scores predict: 0 or 1 for one score, else the first of the largest.
pub fn class_of(s: &[f64]) -> usize {
    match s {
        [s] => usize::from(*s >= 0.0),
        _ => (1..s.len()).fold(0, |b, j| if s[j] > s[b] { j } else { b }),
    }
}

/// Names of the groups that have training rows, in the order of the training data.
pub fn train_names(prepared: &Prepared) -> Vec<String> {
    prepared.groups.iter().filter(|g| g.train.is_some()).map(|g| g.name.clone()).collect()
}

/// How a job splits its table.
pub fn split_of(job: &Job) -> Split {
    let training = &job.training;
    match training.holdout {
        _ if training.holdout_file.is_some() => Split::LastFile,
        _ if job.data.holdout_column.is_some() => Split::Column,
        0.0 => Split::None,
        share if share < 1.0 => Split::Share { share, seed: training.seed },
        rows => Split::PerGroup { rows: rows as usize, seed: training.seed },
    }
}

/// The task of a loss.
pub fn task_of(loss: LossName) -> Task {
    match loss.0.targets() {
        Targets::Labels => Task::Binary,
        Targets::Classes => Task::Multiclass,
        Targets::Numbers => Task::Regression,
    }
}

/// The loss of a name, or the usual one, for a target.
pub fn loss_of(name: Option<LossName>, target: &Target) -> gdro::Result<AnyLoss> {
    let usual = match target.task() {
        Task::Binary => Targets::Labels,
        Task::Multiclass => Targets::Classes,
        Task::Regression => Targets::Numbers,
    };
    let loss = name.map_or(AnyLoss::usual(usual), |name| name.0);
    match target {
        Target::Multiclass { classes, .. } => loss.with_classes(classes.len()),
        _ => Ok(loss),
    }
}

/// The bound on an intercept that is free, with room for the targets.
fn intercept_of(training: &Training, loss: &AnyLoss, largest_target: f64) -> Option<f64> {
    (!training.penalize_intercept).then(|| intercept_bound(loss.targets(), largest_target))
}

/// The ball, or the whole space under a ridge; and the interval of a free intercept.
pub fn domain_of(
    training: &Training,
    loss: &AnyLoss,
    largest_target: f64,
) -> gdro::Result<Domain<L2Ball>> {
    let domain = Domain::new(ball_of(training.ball)?);
    match intercept_of(training, loss, largest_target) {
        Some(bound) => domain.with_intercept(bound),
        None => Ok(domain),
    }
}
