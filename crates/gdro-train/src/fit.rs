//! From a job to a trained model and everything that is said about it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gdro::certificate::Certificate;
use gdro::loss::{AnyLoss, Loss as _};
use gdro::pilot::StepsBy;
use gdro::risk::group_risks;
use gdro::run::Start;
use gdro::setting::{Baseline, SolverName};
use gdro_data::{Prepared, Table};

use crate::baseline;
use crate::cap::Constants;
use crate::clusters::{HeavyCluster, heaviest};
use crate::constant::Constant;
use crate::evaluation::Evaluation;
use crate::facts::Facts;
use crate::failure::{Failure, Result};
use crate::intervals::{Intervals, settings};
use crate::job::{Job, LossName};
use crate::model::Model;
use crate::prepared::{
    Bounds, Setting, TrainRows, check_groups, choose, setting_of, setting_on, split_of, task_of,
    train_names, within,
};
use crate::progress::{Event, Progress};
use crate::scales::scale_remark;
use crate::solve::{Answer, Patience, Solved, Watched, budgets, solve, solved};
use crate::trace::Trace;
use crate::verdict::Verdict;

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
    /// Whether it does better than ERM there, on the group that is worst for each.
    pub verdict: Verdict,
    /// What intervals rest on besides the rows held out.
    pub settings: gdro::interval::Settings,
    /// Clusters of rows held out that count for less in intervals than they weigh.
    pub heavy_clusters: Vec<HeavyCluster>,
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
    /// The best prediction without features beside it; not of a stream.
    pub constant: Option<Constant>,
    /// Seconds that the solver took, without evaluations.
    pub seconds: f64,
    /// The curve.
    pub trace: Trace,
}

/// A robust model on rows in memory.
pub struct Trained {
    /// The solver.
    pub solver: SolverName,
    /// Why it was this one, when it was chosen by itself.
    pub reason: Option<String>,
    /// What it found.
    pub answer: Answer,
    /// How far the model is from the optimum.
    pub certificate: Certificate,
    /// The job with what was open and has been settled.
    pub job: Job,
}

/// A robust model on rows in memory with what is said of it there.
pub struct OnRows {
    /// The model.
    pub trained: Trained,
    /// Risks of the groups.
    pub risks: Vec<f64>,
    /// The best prediction without features beside the model.
    pub constant: Constant,
    /// Offsets b_i of the groups.
    pub offsets: Vec<f64>,
    /// What intervals rest on besides the rows that they are for.
    pub settings: gdro::interval::Settings,
    /// What a user should know of the rows for the solver, columns by their number from 0.
    pub remarks: Vec<String>,
}

/// Runs a job.
///
/// # Errors
/// What is wrong with the table or does not go with it, and errors of the library.
pub fn fit(job: &Job, progress: &mut dyn Progress) -> Result<Fitted> {
    let (table, prepared) = load(job, progress)?;
    drop(table);
    let bounds = Bounds::of(&job.training);
    fit_on(job, prepared, [bounds, bounds], progress)
}

/// Reads the table of a job and prepares it.
///
/// # Errors
/// What is wrong with the table.
pub fn load(job: &Job, progress: &mut dyn Progress) -> Result<(Table, Prepared)> {
    let training = &job.training;
    let task = training.loss.map(task_of);
    progress.tell(Event::Stage("reading the table"));
    let refuse = |e| job.refuse(&e);
    let table = gdro_data::read(&job.files(&job.tables), &job.data).map_err(refuse)?;
    let split = split_of(job);
    let constant = training.penalize_intercept;
    let mut prepared =
        gdro_data::prepare(&table, &job.data, task, &split, constant).map_err(refuse)?;
    prepared.notes.extend(gdro_data::repeated_units(&table, &job.data).map_err(refuse)?);
    progress.tell(Event::Table(&Facts::from(&prepared)));
    Ok((table, prepared))
}

/// Trains the robust model of a job, from where it starts if that is not nothing, and certifies it.
fn train(
    job: &Job,
    setting: &Setting,
    names: &[String],
    start: Option<Start>,
    progress: &mut dyn Progress,
) -> Result<Trained> {
    let (solver, reason) = choose(&job.training, &setting.size());
    if let Some(why) = &reason {
        progress.tell(Event::Solver(&solver.to_string(), why));
    }
    if solver == SolverName::Exact {
        check_groups(job, setting)?;
    }
    let answer = solve(setting, solver, job, names, start, progress)?;
    if answer.solved.has_nothing() {
        return Err(Failure::Interrupted);
    }
    progress.tell(Event::Stage("certificate"));
    let mut certificate = certify(setting, &answer, names, progress)?;
    if let Some(proof) = &answer.proof {
        certificate = certificate.raised_by(proof);
    }
    let job = settled(job, setting, solver, &answer.solved);
    Ok(Trained { solver, reason, answer, certificate, job })
}

/// How long a certificate may take once rounds or the certificate itself are interrupted.
const GRACE: Duration = Duration::from_millis(400);

/// The certificate of an answer; of rounds, which can be cut short, one that can be cut short as well.
fn certify(
    setting: &Setting,
    answer: &Answer,
    names: &[String],
    progress: &mut dyn Progress,
) -> Result<Certificate> {
    let never = AtomicBool::new(false);
    let stop = match answer.solved {
        Solved::Rounds(_) => Some(progress.interrupts()),
        Solved::Exact { .. } => progress.gives_up(),
    };
    let patience = Patience::of(stop.as_deref().unwrap_or(&never), GRACE);
    let loss = Watched::new(setting.loss, &patience);
    let (w, q) = (&answer.w, &answer.weights);
    let whole = progress.checkpoint().stage("certificate", || {
        setting.certify_with(&loss, w, q).map_err(|e| Failure::library(e, names))
    });
    match whole {
        Err(Failure::Interrupted) if matches!(answer.solved, Solved::Rounds(_)) => {
            let note = "interrupted: the lower bound is that of the model itself; `certify` finds \
                        the best one";
            progress.tell(Event::Note(note));
            setting.certify_at_once(w, q).map_err(|e| Failure::library(e, names))
        }
        whole => whole,
    }
}

/// The job with what was open and has been settled.
fn settled(job: &Job, setting: &Setting, solver: SolverName, solved: &Solved) -> Job {
    let mut settled = job.clone();
    let training = &mut settled.training;
    training.loss = Some(LossName(setting.loss));
    training.solver = solver;
    if let Solved::Rounds(play) = solved {
        training.rounds = Some(play.rounds.1);
        // Players that find their steps find the same ones again.
        if play.steps_by != StepsBy::Players {
            training.step_w = Some(play.steps.0);
            training.step_q = Some(play.steps.1);
        }
        training.loss_range = play.loss_range.or(training.loss_range);
        training.average = Some(play.average);
        training.subsets = play.subsets;
    }
    settled
}

/// Remarks on groups and features that do not suit the solver of a job.
fn remarks(
    job: &Job,
    setting: &Setting,
    groups: &[String],
    feature: impl Fn(usize) -> String,
) -> Result<Vec<String>> {
    let solver = choose(&job.training, &setting.size()).0;
    let Some(algorithm) = solver.algorithm() else { return Ok(Vec::new()) };
    let counts = setting.data.counts();
    let budgets = budgets(&job.training, groups, &counts)?.unwrap_or(counts);
    let differ = budgets.windows(2).any(|pair| pair[0] != pair[1]);
    let weighted = (algorithm.spec().is_weighted() && differ).then(|| {
        format!(
            "{algorithm} plays the weighted game of the paper, in which the risk of a group counts in \
             proportion to its rows: its goal is not the least largest risk, which smd-m, adaptive and the \
             exact solver have"
        )
    });
    Ok(weighted.into_iter().chain(scale_remark(&setting.data, feature)).collect())
}

/// Trains on rows in memory, with this loss, from where it starts if that is not nothing.
///
/// # Errors
/// Options that do not go with the rows, and errors of the library.
pub fn fit_rows(
    job: &Job,
    rows: TrainRows,
    loss: AnyLoss,
    start: Option<Start>,
    progress: &mut dyn Progress,
) -> Result<OnRows> {
    rows.check(job)?;
    let names = rows.names.clone();
    let library = |e| Failure::library(e, &names);
    let rows_clusters = rows.clusters.clone();
    let setting = setting_on(job, rows, loss, loss.targets())?;
    let heaviest = rows_clusters.map(|codes| heaviest(&setting.data, &codes));
    let remarks = remarks(job, &setting, &names, |column| format!("column {column}"))?;
    let trained = train(job, &setting, &names, start, progress)?;
    let Answer { w, weights, .. } = &trained.answer;
    let risks = group_risks(&setting.loss, w, &setting.data).map_err(library)?;
    let found = (&risks[..], &weights[..]);
    let constants = Constants::of(setting.loss, &setting.data);
    Ok(OnRows {
        constant: Constant::beside(&setting, &names, found, &trained.certificate)
            .map_err(library)?,
        settings: settings(&job.training, &setting, w, &constants, heaviest).map_err(library)?,
        offsets: setting.game.offsets.clone(),
        risks,
        remarks,
        trained,
    })
}

/// Trains on a prepared table; ERM and balanced ERM within bounds of their own.
///
/// # Errors
/// Options that do not go with the table, and errors of the library.
pub fn fit_on(
    job: &Job,
    prepared: Prepared,
    [erm, balanced]: [Bounds; 2],
    progress: &mut dyn Progress,
) -> Result<Fitted> {
    let training = &job.training;
    let names: Vec<String> = train_names(&prepared);
    let library = |e| Failure::library(e, &names);
    progress.tell(Event::Stage("preparing the game"));
    let setting = setting_of(job, &prepared)?;
    let features = prepared.encoding.feature_names();
    for remark in remarks(job, &setting, &names, |at| features[at].clone())? {
        progress.tell(Event::Note(&remark));
    }
    let Trained { solver, reason, answer, certificate, job: settled } =
        train(job, &setting, &names, None, progress)?;
    progress.tell(Event::Stage("ordinary training, for comparison"));
    let ordinary = |stage, which, bounds| {
        solved(&progress.checkpoint(), stage, |keeper| {
            let within = within(&setting, bounds);
            within.and_then(|on| on.ordinary_kept(which, None, keeper)).map_err(library)
        })
    };
    // Ordinary training twice would differ by what the solver leaves.
    let is_ordinary = training.is_ordinary() && erm == Bounds::of(training);
    let erm = match is_ordinary {
        true => answer.w.clone(),
        false => ordinary("ERM", Baseline::Erm, erm)?,
    };
    let balanced = ordinary("balanced ERM", Baseline::Balanced, balanced)?;
    progress.tell(Event::Stage("evaluation"));
    let models = [&answer.w[..], &erm, &balanced];
    let clusters = prepared.train_clusters.as_ref();
    let heaviest = clusters.map(|clusters| heaviest(&prepared.train, clusters.codes()));
    let constants = Constants::of(setting.loss, &setting.data);
    let settings =
        settings(training, &setting, models[0], &constants, heaviest).map_err(library)?;
    let evaluate =
        |which: usize| Evaluation::of(&setting, &prepared, models[which]).map_err(library);
    let mut evaluations = [evaluate(0)?, evaluate(1)?, evaluate(2)?];
    let both = [0, 1].map(|which| &evaluations[which].train[..]);
    let weights = features.len() * setting.loss.outputs();
    let baseline = baseline::Baseline::new(models[1], weights, &prepared.groups, both);
    let test_rows: Vec<usize> = prepared.groups.iter().map(|group| group.test_rows).collect();
    let headline = baseline.headline(&baseline.rows(&test_rows));
    let held_out = Intervals::new(&setting, &prepared, models, headline.as_ref(), &settings);
    let held_out = held_out.map_err(library)?;
    let held_out = held_out.map(|f| if is_ordinary { f.with_itself() } else { f });
    if let Some(found) = &held_out {
        for (which, evaluation) in evaluations.iter_mut().enumerate() {
            evaluation.intervals = Some(found.evaluations[which].clone());
            evaluation.capped_rows = Some(found.rows[which]);
            evaluation.classes = found.classes[which].clone();
        }
    }
    let [robust, erm, balanced] = evaluations;
    let risks: Vec<f64> = robust.train.iter().map(|metric| metric.risk).collect();
    let found = (&risks[..], &answer.weights[..]);
    let constant = Constant::beside(&setting, &names, found, &certificate).map_err(library)?;
    progress.tell(Event::Done);

    let table = Facts::from(&prepared);
    let weights = all_weights(&table, &answer.weights);
    let mut model = Model::assemble(
        &settled,
        &table,
        &setting.loss,
        &answer.w,
        weights,
        Some(&certificate),
        &settings,
    );
    model.baseline = Some(baseline);
    let offsets = setting.has_offsets().then(|| setting.game.offsets.clone());
    let comparison = held_out.as_ref().map(|h| &h.comparison);
    let largest = held_out.as_ref().and_then(|h| h.largest.as_ref());
    Ok(Fitted {
        verdict: Verdict::new(job, &table, [&robust, &erm], comparison, largest),
        model,
        robust,
        erm,
        balanced,
        comparison: held_out.as_ref().map(|h| h.comparison.clone()),
        settings,
        heavy_clusters: held_out.map_or_else(Vec::new, |h| h.heavy),
        weights: answer.weights,
        offsets,
        solver,
        reason,
        solved: answer.solved,
        certificate,
        constant: Some(constant),
        seconds: answer.seconds,
        trace: answer.trace,
        table,
    })
}

/// The weights of all groups, 0 for those without training rows.
fn all_weights(table: &Facts, weights: &[f64]) -> Vec<f64> {
    table.groups.iter().map(|g| g.train.map_or(0.0, |i| weights[i])).collect()
}
