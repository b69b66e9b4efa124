//! The game that a job plays on a table.

use gdro::Dataset;
use gdro::algorithm::Algorithm;
use gdro::domain::{Domain, L2Ball};
use gdro::exact::{Goal, Problem, group_optima};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Loss, Targets};
use gdro_data::{Prepared, Split, Target, Task};

use super::columns::read_numbers;
use crate::failure::{Failure, Result};
use crate::job::{Job, LossName, Objective, SolverName, Training};

/// With more groups than this the stochastic solver draws one per round.
const MANY_GROUPS: usize = 64;

/// Work of the reference solver, in multiplications, that `auto` accepts: some minutes.
pub const WORK: f64 = 1e12;

/// Bytes beside the table that `auto` lets the reference solver take.
pub const MEMORY: f64 = 4e9;

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
#[derive(Clone)]
pub struct Setting {
    /// Training rows.
    pub data: Dataset,
    /// The loss.
    pub loss: AnyLoss,
    /// Where the model may lie.
    pub domain: Domain<L2Ball>,
    /// Offsets, ridge and cap.
    pub game: Game,
    /// Who plays q.
    pub goal: Goal,
    /// How far the offsets may be off (minimax regret).
    pub offset_errors: Option<Vec<f64>>,
}

impl Setting {
    /// The setting of a job on a prepared table.
    pub fn new(job: &Job, prepared: &Prepared) -> Result<Self> {
        let training = &job.training;
        let names = train_names(prepared);
        let library = |e| Failure::library(e, &names);
        let loss = loss_of(training.loss, &prepared.target).map_err(library)?;
        let data = prepared.train.clone();
        let domain = domain_of(training, &loss, data.max_abs_target()).map_err(library)?;
        let m = data.groups();
        let mut game = Game::gdro(m).with_ridge(training.l2);
        let mut offset_errors = None;
        let goal = match training.objective {
            Objective::Max | Objective::TopK(_) | Objective::Regret => Goal::Adversary,
            Objective::Average => Goal::Fixed(row_shares(prepared).ok_or_else(|| {
                Failure::input(format!(
                    "{}: average: no family of groups has all rows, so that none counts each once: say missing-group = own or small-groups = merge, or give one family",
                    job.place("objective")
                ))
            })?),
            Objective::Balanced => Goal::Fixed(vec![1.0 / m as f64; m]),
        };
        match training.objective {
            Objective::TopK(k) if k > m as f64 => {
                return Err(Failure::input(format!(
                    "{}: {} of only {m} groups with training rows",
                    job.place("objective"),
                    training.objective
                )));
            }
            Objective::TopK(k) => game.k = k,
            Objective::Regret => {
                let optima = group_optima(&data, &loss, &domain, training.l2).map_err(library)?;
                game.offsets = optima.iter().map(|o| o.risk).collect();
                offset_errors = Some(optima.iter().map(|o| o.error).collect());
            }
            _ => {}
        }
        if let Some(c) = training.adjustment {
            game.offsets = data.counts().iter().map(|n| -c / (*n as f64).sqrt()).collect();
        }
        if let Some(file) = &training.offsets {
            game.offsets = read_numbers(file, "offset", &names, "a finite number", |_, text| {
                text.parse().ok().filter(|v: &f64| v.is_finite())
            })?;
        }
        if let Some(file) = &training.scales {
            game.scales = read_numbers(file, "scale", &names, "a number above 0", |_, text| {
                text.parse().ok().filter(|v: &f64| *v > 0.0 && v.is_finite())
            })?;
        }
        Ok(Setting { data, loss, domain, game, goal, offset_errors })
    }

    /// The same within other bounds; offsets stay as they are.
    pub fn within(&self, bounds: Bounds) -> gdro::Result<Self> {
        let mut setting = self.clone();
        setting.game.ridge = bounds.l2;
        setting.domain.map = ball_of(bounds.ball)?;
        Ok(setting)
    }

    /// The problem for the reference solver and for certificates.
    pub fn problem(&self) -> Problem<'_, L2Ball> {
        Problem {
            game: &self.game,
            domain: &self.domain,
            features: self.data.features(),
            outputs: self.loss.outputs(),
            goal: self.goal.clone(),
        }
    }

    /// Number of numbers in a model.
    pub fn model_len(&self) -> usize {
        let rows = self.data.features() + usize::from(self.domain.intercept.is_some());
        rows * self.loss.outputs()
    }

    /// Whether the groups are compared after offsets.
    pub fn has_offsets(&self) -> bool {
        self.game.offsets.iter().any(|b| *b != 0.0)
    }

    /// The solver of a job, and why, when the job leaves it open.
    pub fn choose(&self, training: &Training) -> (SolverName, Option<String>) {
        choose(training, &Size::of(&self.data, &self.loss, self.model_len()))
    }
}

/// Weights of the groups under which every training row counts once: the shares of the groups of a
/// family that has all rows, and 0 for those of the others. `None` when no family has.
fn row_shares(prepared: &Prepared) -> Option<Vec<f64>> {
    let data = &prepared.train;
    let of_family = |family: usize| {
        let groups = prepared.groups.iter().filter(move |g| g.family == family);
        groups.filter_map(|g| g.train).collect::<Vec<usize>>()
    };
    let families = (0..prepared.grouping.families().len()).map(of_family);
    let has_all = |groups: &Vec<usize>| {
        groups.iter().map(|i| data.members(*i).len()).sum::<usize>() == data.rows()
    };
    let groups = families.into_iter().find(has_all)?;
    let total: f64 = groups.iter().map(|i| data.total_weight(*i)).sum();
    let mut shares = vec![0.0; data.groups()];
    groups.iter().for_each(|i| shares[*i] = data.total_weight(*i) / total);
    Some(shares)
}

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
}

impl Size {
    /// The size of training rows under a loss, with so many numbers in a model.
    pub fn of(data: &Dataset, loss: &AnyLoss, model: usize) -> Self {
        let rows = data.rows() as f64;
        Size {
            rows,
            groups: data.groups(),
            per_row: data.matrix().stored() as f64 / rows + 1.0,
            model: model as f64,
            outputs: loss.outputs() as f64,
        }
    }

    /// Multiplications that the reference solver takes, in about 30 iterations: a Hessian and a
    /// factorisation each, or products with the Hessian.
    pub fn work(&self) -> f64 {
        let (n, c) = (self.model, self.outputs);
        let formed = self.rows * (self.per_row * c).powi(2) / 2.0 + n.powi(3) / 3.0;
        30.0 * if n > 1200.0 { self.rows * self.per_row * c * 1000.0 } else { formed }
    }

    /// Bytes that it takes beside the table.
    pub fn memory(&self) -> f64 {
        3.0 * 8.0 * self.groups as f64 * self.model
    }
}

/// The solver of a job, and why, when the job leaves it open.
pub fn choose(training: &Training, size: &Size) -> (SolverName, Option<String>) {
    if training.solver != SolverName::Auto {
        return (training.solver, None);
    }
    if size.work() <= WORK && size.memory() <= MEMORY {
        let why = "the table fits the reference solver".to_owned();
        return (SolverName::Exact, Some(why));
    }
    let algorithm = match training.objective {
        Objective::TopK(_) if size.groups > MANY_GROUPS => Algorithm::Atkro1,
        Objective::TopK(_) => Algorithm::AtkroM,
        _ if size.groups > MANY_GROUPS => Algorithm::Online1,
        _ => Algorithm::SmdM,
    };
    let why = "the table is too large for the reference solver".to_owned();
    (SolverName::Rounds(algorithm), Some(why))
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

/// The ball, or the whole space.
fn ball_of(radius: Option<f64>) -> gdro::Result<L2Ball> {
    radius.map_or(Ok(L2Ball::unconstrained()), L2Ball::new)
}

/// The ball, or the whole space under a ridge; a free intercept in an interval that leaves room for
/// the targets.
pub fn domain_of(
    training: &Training,
    loss: &AnyLoss,
    largest_target: f64,
) -> gdro::Result<Domain<L2Ball>> {
    let domain = Domain::new(ball_of(training.ball)?);
    if training.penalize_intercept {
        return Ok(domain);
    }
    let bound = match loss.targets() {
        Targets::Numbers => (2.0 * largest_target).clamp(100.0, f64::MAX),
        _ => 100.0,
    };
    domain.with_intercept(bound)
}
