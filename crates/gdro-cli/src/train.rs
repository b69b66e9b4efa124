//! From a job to a trained model and everything that is said about it.

mod budget;
mod progress;
mod trace;

pub use progress::Watch;
pub use trace::Trace;

use std::ops::ControlFlow;
use std::time::Instant;

use gdro::Dataset;
use gdro::algorithm::{Algorithm, Constants, SampleBounds};
use gdro::config::{Config, GroupPlayer};
use gdro::domain::{Domain, L2Ball};
use gdro::exact::{self, DatasetRisks, Goal, Options, Problem};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Logistic, Loss, Softmax, Squared};
use gdro::risk::{GroupMetric, group_metrics, group_risks};
use gdro::run::{Cadence, Outcome, Solver, drive};
use gdro::source::{OnceEach, WithReplacement};
use gdro_data::{Prepared, Split, Target, Task};

use crate::failure::{Failure, Result};
use crate::job::{Baseline, Job, LossName, Objective, Training};
use crate::model::Model;

/// Rounds when nothing else decides.
const ROUNDS: u64 = 200_000;

/// How a model does on the groups of both parts.
pub struct Evaluation {
    /// On the training rows.
    pub train: Vec<GroupMetric>,
    /// On the rows held out.
    pub test: Option<Vec<GroupMetric>>,
    /// Whether the model predicts one class for every row of both parts.
    pub one_class: bool,
}

/// What a training run gives.
pub struct Fitted {
    /// The table.
    pub prepared: Prepared,
    /// The robust model, ready to be saved.
    pub model: Model,
    /// How it does.
    pub robust: Evaluation,
    /// Ordinary training.
    pub erm: Evaluation,
    /// Group-balanced ordinary training.
    pub balanced: Evaluation,
    /// Averaged group weights.
    pub weights: Vec<f64>,
    /// Samples drawn from each group; budgets, when there were any.
    pub samples: Vec<u64>,
    /// The budgets n_i, when rows were visited once.
    pub budgets: Option<Vec<u64>>,
    /// Losses clipped for the bandit player.
    pub clipped: u64,
    /// Rounds played, of those planned.
    pub rounds: (u64, u64),
    /// Seconds that the rounds took.
    pub seconds: f64,
    /// How the run ended.
    pub outcome: Outcome,
    /// The curve.
    pub trace: Trace,
}

/// The parts that every training on the table shares.
struct Setting<'a> {
    data: &'a Dataset,
    loss: AnyLoss,
    domain: Domain<L2Ball>,
    ridge: f64,
}

impl Setting<'_> {
    fn game(&self) -> Game {
        Game::gdro(self.data.groups()).with_ridge(self.ridge)
    }
}

/// Runs a job.
pub fn fit(job: &Job, watch: &mut Watch) -> Result<Fitted> {
    let training = &job.training;
    let split = match training.holdout {
        0.0 => Split::None,
        share if share < 1.0 => Split::Share { share, seed: training.seed },
        rows => Split::PerGroup { rows: rows as usize, seed: training.seed },
    };
    let task = training.loss.map(task_of);
    watch.say("reading the table");
    let refuse = |e| Failure::data(&e, job);
    let table = gdro_data::read(&job.tables, &job.data).map_err(refuse)?;
    let prepared = gdro_data::prepare(&table, &job.data, task, &split, training.penalize_intercept)
        .map_err(refuse)?;
    drop(table);
    watch.groups(&prepared);

    let names: Vec<String> = train_names(&prepared);
    let loss = loss_of(&prepared.target).map_err(|e| Failure::library(e, &names))?;
    let data = prepared.train.clone();
    let domain = domain_of(training, &loss, &data).map_err(|e| Failure::library(e, &names))?;
    let setting = Setting { data: &data, loss, domain, ridge: training.l2 };

    let library = |e| Failure::library(e, &names);
    let run = solve(&setting, job, &prepared, watch)?;
    watch.say("ordinary training, for comparison");
    let erm = baseline(&setting, Baseline::Erm).map_err(library)?;
    let balanced = baseline(&setting, Baseline::Balanced).map_err(library)?;
    let evaluate = |w: &[f64]| evaluate(&setting, &prepared, w).map_err(library);
    let (robust, erm, balanced) = (evaluate(&run.w)?, evaluate(&erm)?, evaluate(&balanced)?);
    watch.done();

    // The model keeps what was open and has been settled.
    let mut settled = job.clone();
    settled.training.loss = Some(match loss {
        AnyLoss::Logistic(_) => LossName::Logistic,
        AnyLoss::Softmax(_) => LossName::Softmax,
        AnyLoss::Squared(_) => LossName::Squared,
    });
    settled.training.rounds = Some(run.rounds.1);
    let model = Model::new(&settled, &prepared, &loss, &run.w, &run.weights, run.rounds.0);
    Ok(Fitted {
        model,
        robust,
        erm,
        balanced,
        weights: run.weights,
        samples: run.samples,
        budgets: run.budgets,
        clipped: run.clipped,
        rounds: run.rounds,
        seconds: run.seconds,
        outcome: run.outcome,
        trace: run.trace,
        prepared,
    })
}

/// Names of the groups that have training rows, in the order of the training data.
fn train_names(prepared: &Prepared) -> Vec<String> {
    prepared.groups.iter().filter(|g| g.train.is_some()).map(|g| g.name.clone()).collect()
}

fn task_of(loss: LossName) -> Task {
    match loss {
        LossName::Logistic => Task::Binary,
        LossName::Softmax => Task::Multiclass,
        LossName::Squared => Task::Regression,
    }
}

fn loss_of(target: &Target) -> gdro::Result<AnyLoss> {
    Ok(match target {
        Target::Binary { .. } => AnyLoss::Logistic(Logistic),
        Target::Multiclass { classes, .. } => AnyLoss::Softmax(Softmax::new(classes.len())?),
        Target::Regression { .. } => AnyLoss::Squared(Squared),
    })
}

/// The ball, or the whole space under a ridge; a free intercept in an interval that leaves room for
/// the targets.
fn domain_of(training: &Training, loss: &AnyLoss, data: &Dataset) -> gdro::Result<Domain<L2Ball>> {
    let ball = training.ball.map_or(Ok(L2Ball::unconstrained()), L2Ball::new)?;
    let domain = Domain::new(ball);
    if training.penalize_intercept {
        return Ok(domain);
    }
    let bound = match loss {
        AnyLoss::Squared(_) => (2.0 * data.max_abs_target()).clamp(100.0, f64::MAX),
        _ => 100.0,
    };
    domain.with_intercept(bound)
}

/// What a solver leaves behind.
struct Run {
    w: Vec<f64>,
    weights: Vec<f64>,
    samples: Vec<u64>,
    budgets: Option<Vec<u64>>,
    clipped: u64,
    rounds: (u64, u64),
    seconds: f64,
    outcome: Outcome,
    trace: Trace,
}

/// Rounds that a solver plays unless told otherwise.
fn default_rounds(training: &Training, budgets: Option<&[u64]>, counts: &[u64]) -> u64 {
    let of = budgets.unwrap_or(counts);
    let (least, most) =
        (of.iter().copied().min().unwrap_or(1), of.iter().copied().max().unwrap_or(1));
    match (training.solver, budgets) {
        (Algorithm::SmdR, _) => most,
        (Algorithm::SmpaM, _) => (least / 2).max(1),
        (Algorithm::SmdM | Algorithm::AtkroM, Some(_)) => least,
        (_, Some(budgets)) => least.max(budgets.iter().sum::<u64>() / 2),
        (_, None) => ROUNDS,
    }
}

/// Plays the game.
fn solve(setting: &Setting<'_>, job: &Job, prepared: &Prepared, watch: &mut Watch) -> Result<Run> {
    let training = &job.training;
    let names = train_names(prepared);
    let library = |e| Failure::library(e, &names);
    let (data, loss) = (setting.data, &setting.loss);
    let m = data.groups();
    let mut game = setting.game();
    if let Objective::TopK(k) = training.objective {
        if k > m as f64 {
            return Err(Failure::input(format!(
                "{}: {} of only {m} groups with training rows",
                job.place("objective"),
                training.objective
            )));
        }
        game.k = k;
    }
    let budgets = budget::budgets(job, prepared)?;
    let counts = data.counts();
    let rounds =
        training.rounds.unwrap_or_else(|| default_rounds(training, budgets.as_deref(), &counts));
    if let (Some(budgets), Algorithm::SmpaM) = (&budgets, training.solver) {
        let most = budgets.iter().copied().min().unwrap_or(0) / 2;
        if rounds > most {
            let place = if training.rounds.is_some() { "rounds" } else { "budget" };
            return Err(Failure::input(format!(
                "{}: smpa-m needs two rows of the smallest group in every round: its budget is enough for {most} rounds, not {rounds}",
                job.place(place)
            )));
        }
    }
    let zero = vec![0.0; model_len(setting)];
    let at_zero = group_risks(loss, &zero, data).map_err(library)?;
    let constants = Constants::new(
        &game,
        loss,
        &setting.domain,
        data.features(),
        SampleBounds::of(data),
        at_zero.iter().copied().fold(0.0, f64::max),
        training.loss_range,
    )
    .map_err(library)?;
    let player = match training.objective {
        Objective::Max | Objective::TopK(_) => GroupPlayer::Adversary,
        Objective::Average => GroupPlayer::Fixed((0..m).map(|i| data.total_weight(i)).collect()),
        Objective::Balanced => GroupPlayer::Fixed(vec![1.0; m]),
    };
    let config = Config {
        algorithm: training.solver,
        anytime: training.anytime || training.solver == Algorithm::Atkro1,
        rounds,
        step_w: training.step_w,
        step_q: training.step_q,
        average: training.average,
        player,
        seed: training.seed,
    };
    let sizes = budgets.as_deref().unwrap_or(&counts);
    let (domain, game_for_curve) = (setting.domain.clone(), game.clone());
    let mut solver: Box<dyn Solver> = match &budgets {
        Some(budgets) => {
            let source =
                OnceEach::new(data.clone(), Some(budgets), training.seed).map_err(library)?;
            config.build(game, *loss, source, domain, &constants, Some(sizes))
        }
        None => {
            let source = WithReplacement::new(data.clone());
            config.build(game, *loss, source, domain, &constants, Some(sizes))
        }
    }
    .map_err(library)?;

    let stop = watch.interrupts();
    let mut trace = Trace::default();
    let mut w = vec![0.0; solver.model_len()];
    let mut q = vec![0.0; m];
    let start = Instant::now();
    let mut evaluating = 0.0;
    watch.start(rounds);
    let mut observe = |s: &dyn Solver| {
        let pause = Instant::now();
        s.write_model(&mut w);
        s.write_weights(&mut q);
        let risks = group_risks(loss, &w, data)?;
        let seconds = pause.duration_since(start).as_secs_f64() - evaluating;
        trace.push(s, &risks, &q, game_for_curve.objective(&risks), seconds);
        watch.at(risks.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        evaluating += pause.elapsed().as_secs_f64();
        Ok(ControlFlow::Continue(()))
    };
    let mut counted = watch.count(&mut *solver);
    let cadence = Cadence::Geometric(1.25);
    let outcome = drive(&mut counted, rounds, cadence, &stop, &mut observe).map_err(library)?;
    if outcome != Outcome::Finished {
        // A run that was cut short ends its curve where it was cut.
        let _ = observe(&*solver).map_err(library)?;
    }
    let seconds = start.elapsed().as_secs_f64() - evaluating;
    watch.done();
    Ok(Run {
        w: solver.model(),
        weights: solver.weights(),
        samples: solver.samples().to_vec(),
        budgets,
        clipped: solver.clipped(),
        rounds: (solver.rounds(), rounds),
        seconds,
        outcome,
        trace,
    })
}

fn model_len(setting: &Setting<'_>) -> usize {
    let rows = setting.data.features() + usize::from(setting.domain.intercept.is_some());
    rows * setting.loss.outputs()
}

/// Ordinary training to its optimum.
fn baseline(setting: &Setting<'_>, which: Baseline) -> gdro::Result<Vec<f64>> {
    let pooled;
    let data = match which {
        Baseline::Erm => {
            pooled = setting.data.pooled()?;
            &pooled
        }
        Baseline::Balanced => setting.data,
    };
    let m = data.groups();
    let game = Game::gdro(m).with_ridge(setting.ridge);
    let problem = Problem {
        game: &game,
        domain: &setting.domain,
        features: data.features(),
        outputs: setting.loss.outputs(),
        goal: Goal::Fixed(vec![1.0 / m as f64; m]),
    };
    let mut risks = DatasetRisks::new(data, &setting.loss, setting.domain.intercept.is_some());
    let options = Options { tolerance: 1e-8, ..Options::default() };
    Ok(exact::solve(&mut risks, &problem, &options)?.w)
}

/// Evaluates a model on both parts.
fn evaluate(setting: &Setting<'_>, prepared: &Prepared, w: &[f64]) -> gdro::Result<Evaluation> {
    let on = |data: &Dataset| group_metrics(&setting.loss, w, data);
    let train = on(setting.data)?;
    let test = prepared.test.as_ref().map(on).transpose()?;
    let mut one_class = !matches!(setting.loss, AnyLoss::Squared(_));
    let mut first = None;
    for data in std::iter::once(setting.data).chain(&prepared.test) {
        let mut s = vec![0.0; setting.loss.outputs()];
        for row in 0..data.rows() {
            gdro::iterate::scores(w, data.features(), data.sample(row).x, &mut s);
            let best = match s[..] {
                [s] => usize::from(s >= 0.0),
                _ => (1..s.len()).fold(0, |b, j| if s[j] > s[b] { j } else { b }),
            };
            one_class &= *first.get_or_insert(best) == best;
        }
    }
    Ok(Evaluation { train, test, one_class })
}
