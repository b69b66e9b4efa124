//! The loop itself, round by round.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use gdro::algorithm::{Algorithm, Constants, SampleBounds};
use gdro::domain::Domain;
use gdro::game::Game;
use gdro::loss::Loss as _;
use gdro::risk::group_risks;
use gdro::run::{Cadence, Outcome, Solver, State, drive};
use gdro::setting::{Objective, Setting, ball_of};
use gdro::source::{OnceEach, WithReplacement};
use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{exception, refuse};
use crate::input::Rows;
use crate::parts::{Own, SomeLoss, SomeSource, own_source};
use crate::run::{listen, run};
use crate::setting::{Settings, parse};

/// A solver with what a certificate of it needs.
struct Bench {
    solver: Box<dyn Solver>,
    setting: Option<Setting<SomeLoss>>,
}

/// Upper, lower, gap, relative gap, method.
type Proof = (f64, f64, f64, f64, String);

/// Something to do with a solver on its thread.
type Command = Box<dyn FnOnce(&mut Bench) + Send>;

/// A solver on a thread of its own, which it never leaves.
#[pyclass(module = "gdro._gdro")]
pub struct Loop {
    commands: Sender<Command>,
    stop: Arc<AtomicBool>,
    groups: usize,
    outputs: usize,
}

impl Loop {
    /// Starts the thread, and waits until the solver is made.
    fn start(
        py: Python<'_>,
        groups: usize,
        outputs: usize,
        make: impl FnOnce() -> gdro::Result<Bench> + Send + 'static,
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
        made.map_err(|_| broken())?.map_err(exception)?;
        Ok(Loop { commands, stop, groups, outputs })
    }

    /// Has the solver's thread do something, and waits with an eye on Ctrl-C.
    fn ask<T: Send + 'static>(
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

/// The thread is gone: it does not survive a fork.
fn broken() -> PyErr {
    PyRuntimeError::new_err(
        "the solver is gone: make it in the process that uses it, from state_dict() if need be",
    )
}

#[pymethods]
impl Loop {
    /// A solver on rows in memory.
    #[staticmethod]
    #[pyo3(signature = (rows: "Rows", settings, own: "OwnLoss | None"))]
    fn on_rows<'py>(
        py: Python<'py>,
        rows: Rows<'py>,
        settings: &str,
        own: Option<OwnLoss>,
    ) -> PyResult<Self> {
        let (settings, algorithm) = told(settings)?;
        let rows = rows.view();
        let data = run(py, None, None, |_| rows.dataset())?;
        let loss = loss_of(own, &settings)?;
        let (groups, outputs) = (data.groups(), loss.outputs());
        Loop::start(py, groups, outputs, move || {
            let rounds = &settings.rounds;
            let targets = loss.targets();
            let setting = settings.on(data, loss, targets)?;
            // A ball bounds the model, and then risks at zero play no part.
            let at_zero = match settings.ball {
                Some(_) => Vec::new(),
                None => {
                    let zero = vec![0.0; setting.model_len()];
                    group_risks(&setting.loss, &zero, &setting.data)?
                }
            };
            let constants = Constants::new(
                &setting.game,
                &setting.loss,
                &setting.domain,
                setting.data.features(),
                SampleBounds::of(&setting.data, &setting.domain.map),
                at_zero.into_iter().fold(0.0, f64::max),
                rounds.loss_range,
            )?;
            let sizes = rounds.budget.clone().unwrap_or_else(|| setting.data.counts());
            let source = match &rounds.budget {
                Some(budget) => {
                    let data = setting.data.clone();
                    SomeSource::Once(OnceEach::new(data, Some(budget), rounds.seed)?)
                }
                None => SomeSource::Rows(WithReplacement::new(setting.data.clone())),
            };
            let (game, loss) = (setting.game.clone(), setting.loss.clone());
            let domain = setting.domain.clone();
            let config = rounds.config(algorithm);
            let solver = config.build(game, loss, source, domain, &constants, Some(&sizes))?;
            Ok(Bench { solver, setting: Some(setting) })
        })
    }

    /// A solver on a function `draw(group)` that gives features and target. `bounds` are those of
    /// ‖x‖₂ and |y|.
    #[staticmethod]
    #[pyo3(signature = (
        draw: "Draw", groups: "int", features: "int", bounds: "tuple[float, float]", settings,
        own: "OwnLoss | None"
    ))]
    #[allow(clippy::too_many_arguments)]
    fn on_source(
        py: Python<'_>,
        draw: Py<PyAny>,
        groups: usize,
        features: usize,
        bounds: (f64, f64),
        settings: &str,
        own: Option<OwnLoss>,
    ) -> PyResult<Self> {
        let (settings, algorithm) = told(settings)?;
        let loss = loss_of(own, &settings)?;
        Loop::start(py, groups, loss.outputs(), move || {
            let rounds = &settings.rounds;
            let mut domain = Domain::new(ball_of(settings.ball)?);
            if let Some(bound) = settings.intercept(loss.targets(), bounds.1) {
                domain = domain.with_intercept(bound)?;
            }
            let mut game = Game::gdro(groups).with_ridge(settings.l2);
            if let Objective::TopK(k) = settings.objective {
                game.k = k;
            }
            game.offsets = settings.offsets.unwrap_or(game.offsets);
            game.scales = settings.scales.unwrap_or(game.scales);
            game.check()?;
            let samples = SampleBounds { norm_squared: bounds.0 * bounds.0, target: bounds.1 };
            // A ball bounds the model, so that risks at zero play no part.
            let constants =
                Constants::new(&game, &loss, &domain, features, samples, 1.0, rounds.loss_range)?;
            let source = SomeSource::Own(own_source(draw, groups, features));
            let sizes = rounds.budget.as_deref();
            let config = rounds.config(algorithm);
            let solver = config.build(game, loss, source, domain, &constants, sizes)?;
            Ok(Bench { solver, setting: None })
        })
    }

    /// Plays up to so many more rounds; returns how many were played.
    #[pyo3(signature = (rounds: "int"))]
    fn advance(&self, py: Python<'_>, rounds: u64) -> PyResult<u64> {
        let stop = self.stop.clone();
        let (played, outcome) = self.ask(py, move |bench| {
            let before = bench.solver.rounds();
            let until = before.saturating_add(rounds);
            let mut look = |_: &dyn Solver| Ok(std::ops::ControlFlow::Continue(()));
            let never = Cadence::Every(u64::MAX);
            let outcome = drive(&mut *bench.solver, until, never, &stop, &mut look)?;
            Ok((bench.solver.rounds() - before, outcome))
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

    /// The certificate of the averaged players, and the group risks of the averaged model.
    #[pyo3(signature = () -> "tuple[Proof, list[float]]")]
    fn certify(&self, py: Python<'_>) -> PyResult<(Proof, Vec<f64>)> {
        let (c, risks) = self.ask(py, |bench| {
            let Some(setting) = &bench.setting else {
                return Err(gdro::Error::user("a source that is a function has no certificate"));
            };
            let (w, q) = (bench.solver.model(), bench.solver.weights());
            let pool = rayon::ThreadPoolBuilder::new().build().map_err(gdro::Error::user)?;
            let certificate = pool.install(|| setting.certify(&w, &q))?;
            Ok((certificate, group_risks(&setting.loss, &w, &setting.data)?))
        })?;
        Ok(((c.upper, c.lower, c.gap, c.relative_gap, c.method), risks))
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

/// A loss of Python, or the named one.
fn loss_of(own: Option<OwnLoss>, settings: &Settings) -> PyResult<SomeLoss> {
    match own {
        Some((call, outputs, range, lipschitz)) => {
            Ok(SomeLoss::Own(Arc::new(Own { call, outputs, range, lipschitz })))
        }
        None => settings.loss().map(SomeLoss::Named).map_err(exception),
    }
}

/// Settings of an algorithm in rounds.
fn told(text: &str) -> PyResult<(Settings, Algorithm)> {
    let settings: Settings = parse(text)?;
    match settings.solver.algorithm() {
        Some(algorithm) => Ok((settings, algorithm)),
        None => Err(refuse(format!("{} plays no rounds", settings.solver))),
    }
}
