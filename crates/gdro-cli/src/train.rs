//! From a job to a trained model and everything that is said about it.

mod columns;
mod facts;
mod intervals;
mod progress;
mod rounds;
mod setting;
pub mod stream;
mod trace;

pub use facts::Facts;
pub use intervals::{Intervals, columns, each_loss, evaluate as evaluate_columns};
pub use progress::{Watch, interrupts};
pub use rounds::Play;
pub use setting::{
    Bounds, Setting, choose, class_of, each_score, loss_of, setting_of, split_of, task_of,
    train_names, within,
};
pub use trace::{Point, Trace};

use std::time::Instant;

use gdro::certificate::Certificate;
use gdro::exact::{self, Options};
use gdro::loss::{AnyLoss, Loss as _, Targets};
use gdro::risk::{GroupMetric, group_metrics, group_risks};
use gdro_data::{Prepared, Table};

use crate::failure::{Failure, Result};
use crate::job::{Baseline, Job, LossName, SolverName};
use crate::model::Model;

/// How a model does on the groups of both parts.
pub struct Evaluation {
    /// On the training rows.
    pub train: Vec<GroupMetric>,
    /// On the rows held out.
    pub test: Option<Vec<GroupMetric>>,
    /// On all training rows, each of which counts once whatever groups it is in.
    pub train_rows: GroupMetric,
    /// Likewise on all rows held out.
    pub test_rows: Option<GroupMetric>,
    /// Intervals on the rows held out.
    pub intervals: Option<gdro::interval::Evaluation>,
    /// Whether the model predicts one class for every row of both parts.
    pub one_class: bool,
}

/// What minimised the objective.
pub enum Solved {
    /// The reference solver, in so many iterations.
    Exact {
        /// Iterations.
        iterations: usize,
    },
    /// One of the paper's algorithms.
    Rounds(Play),
}

/// What a training run gives.
pub struct Fitted {
    /// The table.
    pub table: Facts,
    /// The robust model, ready to be saved.
    pub model: Model,
    /// How it does.
    pub robust: Evaluation,
    /// Ordinary training.
    pub erm: Evaluation,
    /// Group-balanced ordinary training.
    pub balanced: Evaluation,
    /// The robust model against ERM on the rows held out.
    pub comparison: Option<gdro::interval::Comparison>,
    /// M: losses count as min(ℓ, M) in intervals.
    pub cap: f64,
    /// Averaged group weights.
    pub weights: Vec<f64>,
    /// Offsets b_i of the groups, when there are any.
    pub offsets: Option<Vec<f64>>,
    /// The solver.
    pub solver: SolverName,
    /// Why it was this one, when it was chosen by itself.
    pub reason: Option<String>,
    /// What it did.
    pub solved: Solved,
    /// How far the model is from the optimum.
    pub certificate: Certificate,
    /// Seconds that the solver took, without evaluations.
    pub seconds: f64,
    /// The curve.
    pub trace: Trace,
}

/// What a solver leaves behind.
struct Answer {
    w: Vec<f64>,
    weights: Vec<f64>,
    solved: Solved,
    seconds: f64,
    trace: Trace,
}

/// Runs a job.
pub fn fit(job: &Job, watch: &mut Watch) -> Result<Fitted> {
    let (table, prepared) = load(job, watch)?;
    drop(table);
    let bounds = Bounds::of(&job.training);
    fit_on(job, prepared, [bounds, bounds], watch)
}

/// Reads the table of a job and prepares it.
pub fn load(job: &Job, watch: &mut Watch) -> Result<(Table, Prepared)> {
    let training = &job.training;
    let task = training.loss.map(task_of);
    watch.say("reading the table");
    let refuse = |e| Failure::data(&e, job);
    let table = gdro_data::read(&job.files(&job.tables), &job.data).map_err(refuse)?;
    let split = split_of(job);
    let prepared = gdro_data::prepare(&table, &job.data, task, &split, training.penalize_intercept)
        .map_err(refuse)?;
    watch.groups(&Facts::from(&prepared));
    Ok((table, prepared))
}

/// Trains on a prepared table; ERM and balanced ERM within bounds of their own.
pub fn fit_on(
    job: &Job,
    prepared: Prepared,
    [erm, balanced]: [Bounds; 2],
    watch: &mut Watch,
) -> Result<Fitted> {
    let training = &job.training;
    let names: Vec<String> = train_names(&prepared);
    let library = |e| Failure::library(e, &names);
    watch.say("preparing the game");
    let setting = setting_of(job, &prepared)?;
    let (solver, reason) = choose(training, &setting.size());
    let answer = solve(&setting, solver, job, &prepared, None, watch)?;
    watch.say("certificate");
    let certificate = setting.certify(&answer.w, &answer.weights).map_err(library)?;
    watch.say("ordinary training, for comparison");
    let ordinary = |which, bounds| within(&setting, bounds)?.ordinary(which, None);
    let erm = ordinary(Baseline::Erm, erm).map_err(library)?;
    let balanced = ordinary(Baseline::Balanced, balanced).map_err(library)?;
    watch.say("evaluation");
    let models = [&answer.w[..], &erm, &balanced];
    let cap = intervals::cap(&setting, models).map_err(library)?;
    let held_out = Intervals::new(&setting, &prepared, training, models, cap).map_err(library)?;
    let evaluate = |which: usize| {
        let mut evaluation = evaluate(&setting, &prepared, models[which])?;
        evaluation.intervals = held_out.as_ref().map(|h| h.evaluations[which].clone());
        Ok(evaluation)
    };
    let robust = evaluate(0).map_err(library)?;
    let (erm, balanced) = (evaluate(1).map_err(library)?, evaluate(2).map_err(library)?);
    watch.done();

    // The model keeps what was open and has been settled.
    let mut settled = job.clone();
    settled.training.loss = Some(LossName(setting.loss));
    settled.training.solver = solver;
    if let Solved::Rounds(play) = &answer.solved {
        settled.training.rounds = Some(play.rounds.1);
        settled.training.step_w = Some(play.steps.0);
        settled.training.step_q = Some(play.steps.1);
        settled.training.loss_range = play.loss_range.or(training.loss_range);
        settled.training.average = Some(play.average);
        settled.training.subsets = play.subsets;
    }
    let table = Facts::from(&prepared);
    let weights = all_weights(&table, &answer.weights);
    let model = Model::assemble(
        &settled,
        &table,
        &setting.loss,
        &answer.w,
        weights,
        Some(&certificate),
        cap,
    );
    let offsets = setting.has_offsets().then(|| setting.game.offsets.clone());
    Ok(Fitted {
        model,
        robust,
        erm,
        balanced,
        comparison: held_out.as_ref().map(|h| h.comparison.clone()),
        cap,
        weights: answer.weights,
        offsets,
        solver,
        reason,
        solved: answer.solved,
        certificate,
        seconds: answer.seconds,
        trace: answer.trace,
        table,
    })
}

/// What a solver makes of a setting; the reference solver starts from a model that may be near.
fn solve(
    setting: &Setting,
    solver: SolverName,
    job: &Job,
    prepared: &Prepared,
    start: Option<Vec<f64>>,
    watch: &mut Watch,
) -> Result<Answer> {
    match solver {
        SolverName::Rounds(algorithm) => {
            // Rounds can be cut short; the reference solver has nothing to show before its end.
            let stop = watch.interrupts();
            rounds::solve(setting, job, prepared, algorithm, watch, &stop)
        }
        SolverName::Exact | SolverName::Auto => exactly(setting, job, start, watch)
            .map_err(|e| Failure::library(e, &train_names(prepared))),
    }
}

/// The model alone that the solver of a job makes of a setting.
pub fn minimise(
    setting: &Setting,
    job: &Job,
    prepared: &Prepared,
    start: Option<Vec<f64>>,
    watch: &mut Watch,
) -> Result<Vec<f64>> {
    let (solver, _) = choose(&job.training, &setting.size());
    Ok(solve(setting, solver, job, prepared, start, watch)?.w)
}

/// The weights of all groups, 0 for those without training rows.
fn all_weights(table: &Facts, weights: &[f64]) -> Vec<f64> {
    table.groups.iter().map(|g| g.train.map_or(0.0, |i| weights[i])).collect()
}

/// The reference solver, from a model that may be near, if there is one.
fn exactly(
    setting: &Setting,
    job: &Job,
    start: Option<Vec<f64>>,
    watch: &mut Watch,
) -> gdro::Result<Answer> {
    let zero = vec![0.0; setting.model_len()];
    let at_zero = group_risks(&setting.loss, &zero, &setting.data)?;
    let mut trace = Trace::default();
    let uniform = vec![1.0 / at_zero.len() as f64; at_zero.len()];
    trace.point((0, 0, 0.0), &at_zero, &uniform, setting.game.objective(&at_zero));
    watch.say("reference solver");
    let began = Instant::now();
    // Far below what matters, and as far as double precision goes; with kinks every digit costs as
    // much as the one before.
    let scale = setting.game.objective(&at_zero).abs().max(1.0);
    let digits = if setting.loss.has_kinks() { 1e-8 } else { 1e-10 };
    let tolerance = job.training.tol.unwrap_or(digits * scale);
    let options = Options { tolerance, start, ..Options::default() };
    let solution = exact::minimize(&setting.data, &setting.loss, &setting.problem(), &options)?;
    let seconds = began.elapsed().as_secs_f64();
    let risks = group_risks(&setting.loss, &solution.w, &setting.data)?;
    let objective = setting.game.objective(&risks);
    trace.point((solution.iterations as u64, 0, seconds), &risks, &solution.q, objective);
    Ok(Answer {
        w: solution.w,
        weights: solution.q,
        solved: Solved::Exact { iterations: solution.iterations },
        seconds,
        trace,
    })
}

/// Evaluates a model on both parts.
fn evaluate(setting: &Setting, prepared: &Prepared, w: &[f64]) -> gdro::Result<Evaluation> {
    let on = |data: &gdro::Dataset| group_metrics(&setting.loss, w, data);
    let train = on(&setting.data)?;
    let test = prepared.test.as_ref().map(on).transpose()?;
    let at_once = |data: &gdro::Dataset| mean_over_rows(&setting.loss, w, data);
    let train_rows = at_once(&setting.data)?;
    let test_rows = prepared.test.as_ref().map(at_once).transpose()?;
    let mut one_class = setting.loss.targets() != Targets::Numbers;
    let mut first = None;
    for data in std::iter::once(&setting.data).chain(&prepared.test) {
        each_score(&setting.loss, data, w, |_, s| {
            let class = class_of(s);
            one_class &= *first.get_or_insert(class) == class;
        });
    }
    Ok(Evaluation { train, test, train_rows, test_rows, intervals: None, one_class })
}

/// A model on all rows of a data set, each of which counts once whatever groups it is in.
pub fn mean_over_rows(
    loss: &AnyLoss,
    w: &[f64],
    data: &gdro::Dataset,
) -> gdro::Result<GroupMetric> {
    let all = group_metrics(loss, w, &data.pooled()?)?;
    Ok(all[0])
}
