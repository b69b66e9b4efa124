//! The loop itself, round by round.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};

use gdro::algorithm::{Algorithm, Constants, Form, Request, SampleBounds};
use gdro::game::Game;
use gdro::loss::Loss as _;
use gdro::risk::group_risks;
use gdro::run::{Cadence, Outcome, Solver, State, drive};
use gdro::setting::{Objective, Setting, SolverName};
use gdro::source::{OnceEach, WithReplacement};
use gdro_train::Failure;
use gdro_train::job::{Budget, Job};
use gdro_train::prepared::{check_k, domain_of, offsets_of, scales_of, setting_on};
use gdro_train::solve::{budgets, check_queries, config_of};
use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::job_of;
use crate::error::{exception, failed, refuse};
use crate::fit::{Proof, loss_of, proof_of};
use crate::input::Rows;
use crate::parts::{Own, SomeLoss, SomeSource, own_source};
use crate::run::{listen, run};

/// A solver with what a certificate of it needs.
struct Bench {
    solver: Box<dyn Solver>,
    setting: Option<Setting<SomeLoss>>,
    /// Whether rounds call a function of Python, which may fail in the middle of one.
    calls_back: bool,
}

impl Bench {
    fn setting(&self) -> gdro::Result<&Setting<SomeLoss>> {
        let unknown = || {
            gdro::Error::user(
                "a source that is a function has no certificate and no known risks: give rows of it as X and y, or take the losses of `model` on fresh samples",
            )
        };
        self.setting.as_ref().ok_or_else(unknown)
    }
}

/// By what factor rounds grow between two that are kept for the case that a function of Python fails.
const KEPT: f64 = 1.25;

/// Something to do with a solver on its thread.
type Command = Box<dyn FnOnce(&mut Bench) + Send>;

/// A solver on a thread of its own, which it never leaves.
#[pyclass(module = "gdro._gdro")]
pub struct Loop {
    commands: Sender<Command>,
    stop: Arc<AtomicBool>,
    /// Whether it is doing something.
    is_busy: AtomicBool,
    groups: usize,
    outputs: usize,
}

impl Loop {
    /// Starts the thread, and waits until the solver is made.
    fn start(
        py: Python<'_>,
        groups: usize,
        outputs: usize,
        make: impl FnOnce() -> gdro_train::Result<Bench> + Send + 'static,
    ) -> PyResult<Self> {
        let (commands, inbox) = channel::<Command>();
        let (ready, made) = channel();
        std::thread::spawn(move || match make() {
            Ok(mut bench) => {
                // Whoever asked may have been interrupted.
                let _ = ready.send(Ok(()));
                inbox.iter().for_each(|command| command(&mut bench));
            }
            Err(error) => {
                let _ = ready.send(Err(error));
            }
        });
        let stop = Arc::new(AtomicBool::new(false));
        let made = py.detach(move || made.recv());
        made.map_err(|_| broken())?.map_err(failed)?;
        Ok(Loop { commands, stop, is_busy: AtomicBool::new(false), groups, outputs })
    }

    /// Has the solver's thread do something, and waits with an eye on Ctrl-C. What it calls in Python cannot
    /// ask it meanwhile: it would wait for itself.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Bench) -> gdro::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        if self.is_busy.swap(true, Ordering::Acquire) {
            return Err(PyRuntimeError::new_err(
                "the solver is at work: neither its source and its loss nor another thread can ask it \
                 meanwhile; look at it between two calls of advance()",
            ));
        }
        let answer = self.done(py, work);
        self.is_busy.store(false, Ordering::Release);
        answer
    }

    fn done<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Bench) -> gdro::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let (answer, receiver) = channel();
        // The sender is dropped with the command, which says that it is done.
        let command: Command = Box::new(move |bench| {
            let _ = answer.send(work(bench));
        });
        self.stop.store(false, Ordering::Relaxed);
        self.commands.send(command).map_err(|_| broken())?;
        let mut result = None;
        listen(py, receiver, &self.stop, |sent| {
            result = Some(sent);
            Ok(())
        })?;
        result.ok_or_else(broken)?.map_err(exception)
    }
}

/// n̄ of an algorithm under these budgets, where it has one.
fn nbar_of(job: &Job, algorithm: Algorithm, budgets: &[u64]) -> gdro_train::Result<Option<u64>> {
    let training = &job.training;
    let request = Request {
        rounds: training.rounds,
        nbar: training.nbar,
        budgets: Some(budgets),
        counts: budgets,
        ..Request::default()
    };
    algorithm.nbar(&request).map_err(|c| job.refusal(c.setting, c.why))
}

/// The budgets n_i of an algorithm that has some, on a source, whose samples nobody has counted.
fn budgets_of_source(
    job: &Job,
    algorithm: Algorithm,
    names: &[String],
) -> gdro_train::Result<Option<Vec<u64>>> {
    let training = &job.training;
    let why = match (&training.budget, algorithm.spec().budgets) {
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            format!("{algorithm} on a source needs a number of samples for every group")
        }
        (Some(_), None) => format!("{algorithm} on a source has no use for one"),
        (Some(Budget::All), Some(_)) => {
            "all: nobody has counted the samples of a source".to_owned()
        }
        (Some(_), Some(_)) => return budgets(training, names, &vec![u64::MAX; names.len()]),
    };
    Err(job.refusal("budget", why))
}

/// The thread is gone: it does not survive a fork.
fn broken() -> PyErr {
    PyRuntimeError::new_err(
        "the solver is gone: make it in the process that uses it, from state_dict() if need be",
    )
}

#[pymethods]
impl Loop {
    /// A solver on rows in memory, whose groups have these names; `classes` as for an estimator.
    #[staticmethod]
    #[pyo3(signature = (
        rows: "Rows", names: "Sequence[str]", arguments: "Arguments", classes: "int",
        own: "OwnLoss | None"
    ))]
    fn on_rows<'py>(
        py: Python<'py>,
        rows: Rows<'py>,
        names: Vec<String>,
        arguments: &Bound<'py, PyDict>,
        classes: usize,
        own: Option<OwnLoss>,
    ) -> PyResult<Self> {
        let (job, algorithm) = rounds_of(arguments)?;
        let view = rows.view();
        let rows = run(py, None, None, |_| view.train_rows(names))?;
        let loss = some_loss(own, &job, classes)?;
        let (groups, outputs) = (rows.data.groups(), loss.outputs());
        Loop::start(py, groups, outputs, move || {
            let training = &job.training;
            let names = rows.names.clone();
            let library = |e| Failure::library(e, &names);
            rows.check(&job)?;
            check_queries(&job, algorithm, groups)?;
            let counts = rows.data.counts();
            let budgets = budgets(training, &names, &counts)?;
            let targets = loss.targets();
            let setting = setting_on(&job, rows, loss, targets)?;
            // Where the domain bounds the model, risks at zero play no part.
            let at_zero = if training.domain().is_bounded() {
                Vec::new()
            } else {
                let zero = vec![0.0; setting.model_len()];
                group_risks(&setting.loss, &zero, &setting.data).map_err(library)?
            };
            let sizes = budgets.as_deref().unwrap_or(&counts);
            let nbar = nbar_of(&job, algorithm, sizes)?;
            let make = || {
                let constants = Constants::new(
                    &setting.game,
                    &setting.loss,
                    &setting.domain,
                    setting.data.features(),
                    SampleBounds::of(&setting.data, &setting.domain.map),
                    at_zero.into_iter().fold(0.0, f64::max),
                    training.loss_range,
                )?;
                let data = setting.data.clone();
                let source = match &budgets {
                    Some(own) => SomeSource::Once(OnceEach::new(data, Some(own), training.seed)?),
                    None => SomeSource::Rows(WithReplacement::new(data)),
                };
                let (game, loss) = (setting.game.clone(), setting.loss.clone().held());
                let domain = setting.domain.clone();
                let config = config_of(training, algorithm, rounds(&job), nbar);
                config.build(game, loss, source, domain, &constants, Some(sizes))
            };
            let calls_back = !matches!(setting.loss, SomeLoss::Named(_));
            let solver = make().map_err(library)?;
            Ok(Bench { solver, setting: Some(setting), calls_back })
        })
    }

    /// A solver on a function `draw(group)` that gives features and target of groups of these
    /// names. `bounds` are those of ‖x‖₂ and |y|.
    #[staticmethod]
    #[pyo3(signature = (
        draw: "Draw", names: "Sequence[str]", features: "int", bounds: "tuple[float, float]",
        arguments: "Arguments", classes: "int", own: "OwnLoss | None"
    ))]
    #[allow(clippy::too_many_arguments)]
    fn on_source(
        py: Python<'_>,
        draw: Py<PyAny>,
        names: Vec<String>,
        features: usize,
        bounds: (f64, f64),
        arguments: &Bound<'_, PyDict>,
        classes: usize,
        own: Option<OwnLoss>,
    ) -> PyResult<Self> {
        let (job, algorithm) = rounds_of(arguments)?;
        let loss = some_loss(own, &job, classes)?;
        let groups = names.len();
        Loop::start(py, groups, loss.outputs(), move || {
            let training = &job.training;
            check_k(&job, groups)?;
            check_queries(&job, algorithm, groups)?;
            let mut game = Game::gdro(groups).with_ridge(training.l2);
            if let Objective::TopK(k) = training.objective {
                game.k = k;
            }
            game.offsets = offsets_of(training, &names)?.unwrap_or(game.offsets);
            game.scales = scales_of(training, &names)?.unwrap_or(game.scales);
            let budgets = budgets_of_source(&job, algorithm, &names)?;
            let nbar = nbar_of(&job, algorithm, budgets.as_deref().unwrap_or(&[1]))?;
            let make = || {
                let domain = domain_of(training, loss.targets(), bounds.1)?;
                game.check()?;
                let samples = SampleBounds { norm_squared: bounds.0 * bounds.0, target: bounds.1 };
                // The domain bounds the model, so that risks at zero play no part.
                let range = training.loss_range;
                let constants =
                    Constants::new(&game, &loss, &domain, features, samples, 1.0, range)?;
                let source = own_source(draw, groups, features, bounds, loss.clone());
                let source = SomeSource::Own(source);
                let config = config_of(training, algorithm, rounds(&job), nbar);
                config.build(game, loss.held(), source, domain, &constants, budgets.as_deref())
            };
            let solver = make().map_err(|e| Failure::library(e, &names))?;
            Ok(Bench { solver, setting: None, calls_back: true })
        })
    }

    /// Plays up to so many more rounds; returns how many were played. Where a function of Python fails, the
    /// solver goes back to a whole round that it has kept.
    #[pyo3(signature = (rounds: "int"))]
    fn advance(&self, py: Python<'_>, rounds: u64) -> PyResult<u64> {
        let stop = self.stop.clone();
        let (played, outcome) = self.ask(py, move |bench| {
            let before = bench.solver.rounds();
            let until = before.saturating_add(rounds);
            let keeps = bench.calls_back;
            let mut whole = None;
            let mut look = |solver: &dyn Solver| {
                whole = keeps.then(|| solver.save());
                Ok(std::ops::ControlFlow::Continue(()))
            };
            let cadence = if keeps { Cadence::Geometric(KEPT) } else { Cadence::Every(u64::MAX) };
            let outcome = drive(&mut *bench.solver, until, cadence, &stop, &mut look);
            if let (Err(_), Some(state)) = (&outcome, whole) {
                bench.solver.restore(&state)?;
            }
            Ok((bench.solver.rounds() - before, outcome?))
        })?;
        match outcome {
            Outcome::Exhausted { group, budget } if played == 0 => Err(PyStopIteration::new_err(
                format!("the budget of group {group} ({budget} samples) is used up"),
            )),
            _ => Ok(played),
        }
    }

    /// Rounds, samples and what the players hold.
    #[pyo3(signature = () -> "dict[str, Any]")]
    fn look<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (rounds, samples, clipped, w, q, last, steps) = self.ask(py, |bench| {
            let solver = &bench.solver;
            let (mut w, mut q) = (vec![0.0; solver.model_len()], vec![0.0; solver.samples().len()]);
            solver.write_last(&mut w, &mut q);
            let samples = solver.samples().to_vec();
            let (model, weights) = (solver.model(), solver.weights());
            Ok((solver.rounds(), samples, solver.clipped(), model, weights, (w, q), solver.steps()))
        })?;
        let dict = PyDict::new(py);
        dict.set_item("rounds", rounds)?;
        dict.set_item("samples", PyArray1::from_vec(py, samples))?;
        dict.set_item("clipped", clipped)?;
        dict.set_item("w", PyArray1::from_vec(py, w))?;
        dict.set_item("q", PyArray1::from_vec(py, q))?;
        dict.set_item("last_w", PyArray1::from_vec(py, last.0))?;
        dict.set_item("last_q", PyArray1::from_vec(py, last.1))?;
        dict.set_item("steps", (steps.eta_w, steps.eta_q, steps.gamma))?;
        Ok(dict)
    }

    /// The certificate of the averaged players; with `dual` the lower bound is that of the averaged weights
    /// themselves.
    #[pyo3(signature = (dual: "bool") -> "Proof")]
    fn certify(&self, py: Python<'_>, dual: bool) -> PyResult<Proof> {
        let certificate = self.ask(py, move |bench| {
            let setting = bench.setting()?;
            let (w, q) = (bench.solver.model(), bench.solver.weights());
            let pool = rayon::ThreadPoolBuilder::new().build().map_err(gdro::Error::user)?;
            pool.install(|| match dual {
                true => setting.duality_gap(&w, &q),
                false => setting.certify(&w, &q),
            })
        })?;
        Ok(proof_of(certificate))
    }

    /// The group risks of the averaged model.
    fn group_risks(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        self.ask(py, |bench| {
            let setting = bench.setting()?;
            group_risks(&setting.loss, &bench.solver.model(), &setting.data)
        })
    }

    /// Everything needed to go on, bit for bit, as text.
    fn save(&self, py: Python<'_>) -> PyResult<String> {
        let state = self.ask(py, |bench| Ok(bench.solver.save()))?;
        serde_json::to_string(&state).map_err(|e| refuse(e.to_string()))
    }

    /// Takes over what `save` gave.
    fn restore(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        let state: State = serde_json::from_str(text)
            .map_err(|e| refuse(format!("state: expected what state_dict() gave: {e}")))?;
        self.ask(py, move |bench| bench.solver.restore(&state))
    }

    /// Number of groups and of scores.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.groups, self.outputs)
    }
}

/// A loss of Python: function, scores, range, Lipschitz constant.
type OwnLoss = (Py<PyAny>, usize, f64, f64);

/// A loss of Python, or the one of a job.
fn some_loss(own: Option<OwnLoss>, job: &Job, classes: usize) -> PyResult<SomeLoss> {
    match own {
        Some((call, outputs, range, lipschitz)) => Ok(SomeLoss::Own(
            Arc::new(Own { call, outputs, range, lipschitz, slopes: AtomicU64::new(0) }),
            false,
        )),
        None => loss_of(job, classes).map(SomeLoss::Named).map_err(exception),
    }
}

/// The job of arguments, and its algorithm in rounds.
fn rounds_of(arguments: &Bound<'_, PyDict>) -> PyResult<(Job, Algorithm)> {
    let job = job_of(arguments)?;
    match job.training.solver.algorithm() {
        Some(algorithm) => Ok((job, algorithm)),
        None => Err(refuse(format!("{} plays no rounds: use an estimator", job.training.solver))),
    }
}

/// The rounds that fixed steps are meant for.
fn rounds(job: &Job) -> u64 {
    job.training.rounds.unwrap_or(1)
}

/// Whether an algorithm minimises the mean of the k largest risks.
#[pyfunction]
pub fn takes_k(solver: &str) -> PyResult<bool> {
    let solver: SolverName = solver.parse().map_err(|e: String| refuse(e))?;
    Ok(solver.algorithm().is_some_and(|a| a.spec().top_k))
}

/// Whether an algorithm learns from rows that come in portions.
#[pyfunction]
pub fn takes_portions(solver: &str) -> PyResult<bool> {
    let solver: SolverName = solver.parse().map_err(|e: String| refuse(e))?;
    Ok(solver.algorithm().is_some_and(|a| a.spec().form != Form::Fixed))
}
