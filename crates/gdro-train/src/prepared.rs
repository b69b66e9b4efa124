//! The game that a job plays on rows.

use gdro::Dataset;
use gdro::domain::{AnyMap, Domain, DomainSpec};
use gdro::loss::{AnyLoss, Loss, Targets};
use gdro::setting::{
    Objective, Size, SolverName, Terms, family_shares, intercept_bound, row_shares,
};
use gdro_data::{Prepared, Purpose, Split, Target, Task, check_memory, count};

use crate::failure::{Failure, Result};
use crate::group_numbers::numbers_of;
use crate::job::{Job, LossName, Training};

/// What bounds the weights of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Ridge.
    pub l2: f64,
    /// The set that the weights lie in.
    pub domain: DomainSpec,
}

impl Bounds {
    /// Those of a job.
    pub fn of(training: &Training) -> Self {
        Bounds { l2: training.l2, domain: training.domain() }
    }
}

/// Data, loss, domain and game.
pub type Setting = gdro::setting::Setting<AnyLoss>;

/// Rows to train on.
#[derive(Clone, Debug)]
pub struct TrainRows {
    /// The rows and their groups.
    pub data: Dataset,
    /// Names of the groups.
    pub names: Vec<String>,
    /// The family of each group; a row is in one group of each family.
    pub families: Vec<usize>,
    /// The cluster of each row, where rows have any.
    pub clusters: Option<Vec<u32>>,
}

impl From<&Prepared> for TrainRows {
    fn from(prepared: &Prepared) -> Self {
        let trained = prepared.groups.iter().filter(|g| g.train.is_some());
        TrainRows {
            data: prepared.train.clone(),
            names: train_names(prepared),
            families: trained.map(|g| g.family).collect(),
            clusters: prepared.train_clusters.as_ref().map(|c| c.codes().to_vec()),
        }
    }
}

impl TrainRows {
    /// Refuses a budget for rows that cannot be visited once each.
    ///
    /// # Errors
    /// For a job with a budget on rows with weights, or in several families of groups.
    pub fn check(&self, job: &Job) -> Result<()> {
        let why = match &job.training.budget {
            None => return Ok(()),
            Some(_) if self.data.is_weighted() => {
                "rows that are visited once cannot be weighted: leave the weights or budget out"
            }
            Some(_) if self.families.iter().any(|family| *family > 0) => {
                "a row is in a group of each family, so that rows cannot be visited once each: \
                 give one family, or leave budget out"
            }
            Some(_) => return Ok(()),
        };
        Err(job.refusal("budget", why))
    }

    /// Weights of the groups under which every row counts once: the shares of the groups of a
    /// family that has all rows, and 0 for those of the others. `None` when no family has.
    fn shares(&self) -> Option<Vec<f64>> {
        let of_family = |family: usize| {
            let groups = (0..self.families.len()).filter(move |g| self.families[*g] == family);
            row_shares(&self.data, groups).ok()
        };
        (0..=self.families.iter().copied().max()?).find_map(of_family)
    }
}

/// The setting of a job on a prepared table.
///
/// # Errors
/// Those of [`setting_on`] and [`check_groups`].
pub fn setting_of(job: &Job, prepared: &Prepared) -> Result<Setting> {
    let rows = TrainRows::from(prepared);
    let loss = loss_of(job.training.loss, &prepared.target)
        .map_err(|e| Failure::library(e, &rows.names))?;
    let setting = setting_on(job, rows, loss, loss.targets())?;
    // Whatever the solver, balanced training is beside it.
    check_groups(job, &setting)?;
    Ok(setting)
}

/// Refuses groups and weights for whose gradients there is no memory, before any work is done.
///
/// # Errors
/// Where [`Size::memory`] is more than there is.
pub fn check_groups(job: &Job, setting: &Setting) -> Result<()> {
    let (groups, weights) = (setting.data.groups(), setting.model_len());
    let what = || {
        let (groups, weights) = (count(groups, "group"), count(weights, "weight"));
        format!("{groups} and {weights}, with a gradient each,")
    };
    check_memory(setting.size().memory(), Purpose::Groups, what).map_err(|e| job.refuse(&e))
}

/// The setting of a job on rows, with a loss that takes such targets.
///
/// # Errors
/// A k above the number of groups; numbers that a file has not for every group; those of
/// [`gdro::setting::Setting::new`].
pub fn setting_on<L: Loss + Sync>(
    job: &Job,
    rows: TrainRows,
    loss: L,
    targets: Targets,
) -> Result<gdro::setting::Setting<L>> {
    let training = &job.training;
    check_k(job, rows.names.len())?;
    let shares = match training.objective {
        Objective::Average => {
            let why = "average: no family of groups has all rows, so that none counts each once: say missing-group = own or small-groups = merge, or give one family";
            Some(rows.shares().ok_or_else(|| job.refusal("objective", why))?)
        }
        Objective::Tilted(_) => Some(family_shares(&rows.data, &rows.families)),
        _ => None,
    };
    let TrainRows { data, names, .. } = rows;
    let terms = Terms {
        l2: training.l2,
        domain: training.domain(),
        intercept: intercept_of(training, targets, data.max_abs_target()),
        shares,
        adjustment: training.adjustment,
        offsets: offsets_of(training, &names)?,
        scales: scales_of(training, &names)?,
        ..Terms::new(training.objective)
    };
    gdro::setting::Setting::new(data, loss, &terms).map_err(|e| Failure::library(e, &names))
}

/// Refuses the mean of more risks than there are groups.
///
/// # Errors
/// For `top-k` with a k above the number of groups.
pub fn check_k(job: &Job, groups: usize) -> Result<()> {
    match job.training.objective {
        objective @ Objective::TopK(k) if k > groups as f64 => {
            let why = format!("{objective} of only {groups} groups with training rows");
            Err(job.refusal("objective", why))
        }
        _ => Ok(()),
    }
}

/// The offsets b_i of a job for groups of these names, if it gives any.
///
/// # Errors
/// A group without one, or one without a group; one that is not finite.
pub fn offsets_of(training: &Training, names: &[String]) -> Result<Option<Vec<f64>>> {
    let finite = |_, v: f64| v.is_finite().then_some(v);
    let numbers = training.offsets.as_ref();
    numbers.map(|n| numbers_of(n, "offset", names, "a finite number", finite)).transpose()
}

/// The scale factors p_i of a job for groups of these names, if it gives any.
///
/// # Errors
/// A group without one, or one without a group; one that is not above 0.
pub fn scales_of(training: &Training, names: &[String]) -> Result<Option<Vec<f64>>> {
    let positive = |_, v: f64| (v > 0.0 && v.is_finite()).then_some(v);
    let numbers = training.scales.as_ref();
    numbers.map(|n| numbers_of(n, "scale", names, "a number above 0", positive)).transpose()
}

/// A setting within other bounds; offsets stay as they are.
///
/// # Errors
/// For a domain with numbers out of range.
pub fn within(setting: &Setting, bounds: Bounds) -> gdro::Result<Setting> {
    let mut setting = setting.clone();
    setting.game.ridge = bounds.l2;
    setting.domain.map = bounds.domain.map()?;
    Ok(setting)
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
///
/// # Errors
/// For a loss that does not take so many classes.
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

/// How far steps may take an intercept that is free, with room for the targets.
fn intercept_of(training: &Training, targets: Targets, largest_target: f64) -> Option<f64> {
    training.is_free().then(|| intercept_bound(targets, largest_target))
}

/// The set of the weights, and how far steps may take a free intercept.
///
/// # Errors
/// For a domain with numbers out of range.
pub fn domain_of(
    training: &Training,
    targets: Targets,
    largest_target: f64,
) -> gdro::Result<Domain<AnyMap>> {
    let domain = Domain::new(training.domain().map()?);
    match intercept_of(training, targets, largest_target) {
        Some(bound) => domain.with_free_intercept(bound),
        None => Ok(domain),
    }
}
