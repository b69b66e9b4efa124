//! The choke point: work without the interpreter, Ctrl-C, messages and errors.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use gdro::pilot::StepsBy;
use gdro_train::checkpoint::{Checkpoint, Record, Work, of_rows};
use gdro_train::job::Job;
use gdro_train::options::Front;
use gdro_train::prepared::TrainRows;
use gdro_train::progress::{Event, Progress};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;

use crate::error::Raised;

/// How often signals are looked at.
const PATIENCE: Duration = Duration::from_millis(50);

/// What work can say while it runs, and how it learns that it should stop.
pub struct Control {
    stop: Arc<AtomicBool>,
    talk: Option<Sender<String>>,
    checkpoint: Checkpoint,
}

/// A file for checkpoints, with the seconds between them where they are given.
pub type Kept = Option<(PathBuf, Option<f64>)>;

impl Control {
    /// Does work on rows with a checkpoint in a file, if one is given, from which it goes on where it is
    /// there. The file goes when the work has ended. Beside the job stands the checksum of the model that it
    /// starts from, if there is one.
    ///
    /// # Errors
    /// Those of the work, and for a file that is no checkpoint of it.
    pub fn keep<T>(
        &mut self,
        file: Kept,
        (job, start): (&Job, Option<u32>),
        work: Work,
        rows: TrainRows,
        train: impl FnOnce(TrainRows, &mut Control) -> gdro_train::Result<T>,
    ) -> gdro_train::Result<T> {
        if let Some((path, every)) = file {
            let mut record = Record::new(job, work);
            (record.rows, record.start, record.every) = (Some(of_rows(&rows)), start, every);
            self.checkpoint = Checkpoint::open_file(&path, record, Front::Python)?;
        }
        let done = train(rows, self);
        match done.is_ok() && !self.stop.load(Ordering::Relaxed) {
            true => self.checkpoint.remove(),
            false => self.checkpoint.freeze(),
        }
        if let Some(why) = self.checkpoint.problem() {
            self.say(|| format!("no checkpoint could be written: {why}"));
        }
        done
    }

    /// Shows a line to the user, if they want to see any.
    pub fn say(&self, line: impl FnOnce() -> String) {
        if let Some(talk) = &self.talk {
            // A listener who has gone is no reason to stop.
            let _ = talk.send(line());
        }
    }
}

impl Progress for Control {
    fn tell(&self, event: Event<'_>) {
        let line = match event {
            Event::Note(text) => text.to_owned(),
            Event::Solver(solver, why) => format!("solver {solver}: {why}"),
            Event::Steps(_, _, StepsBy::Players) => "steps by the players themselves".into(),
            Event::Steps(w, q, by) => {
                let how = match by {
                    StepsBy::Pilots => " by pilot runs",
                    StepsBy::Balanced => " by the balanced model",
                    StepsBy::Given | StepsBy::Players => "",
                };
                format!("steps{how}: {w:.3} and {q:.3} times the theorem's")
            }
            Event::Risk { round, planned, max_risk } => {
                format!("round {round} of {planned}: largest risk {max_risk:.5}")
            }
            Event::Resumed(done, _, what) => {
                format!("goes on from the checkpoint, after {what} {done}")
            }
            Event::Solved(iterations, seconds) => {
                format!("{iterations} iterations in {seconds:.2} s")
            }
            Event::Stage(_)
            | Event::Table(_)
            | Event::Rounds(_)
            | Event::Played(_)
            | Event::Gap(_)
            | Event::Models(_)
            | Event::Model(..)
            | Event::Done => return,
        };
        self.say(|| line);
    }

    fn interrupts(&mut self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    fn gives_up(&self) -> Option<Arc<AtomicBool>> {
        Some(self.stop.clone())
    }

    fn checkpoint(&self) -> Checkpoint {
        self.checkpoint.clone()
    }
}

/// Runs `work` on a thread of its own, with a pool of worker threads that lives as long as it does,
/// so that processes may fork between calls. The calling thread lets go of the interpreter, wakes
/// up now and then to look for Ctrl-C, and passes lines to `listener`.
///
/// # Errors
/// Those of the work as exceptions; what a signal handler or the listener raises.
pub fn run<T: Send, E: Raised + Send>(
    py: Python<'_>,
    threads: Option<NonZeroUsize>,
    listener: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut Control) -> Result<T, E> + Send,
) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.map_or(0, NonZeroUsize::get))
        .build()
        .map_err(|e| PyMemoryError::new_err(format!("cannot start threads: {e}")))?;
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (sender, receiver) = channel::<String>();
        let (flag, talks) = (stop.clone(), listener.is_some());
        let worker = scope.spawn(move || {
            // The sender is dropped with the closure, which says that the work is done.
            let (ends, talk) = if talks { (None, Some(sender)) } else { (Some(sender), None) };
            let mut control = Control { stop: flag, talk, checkpoint: Checkpoint::default() };
            let result = pool.install(|| work(&mut control));
            drop(ends);
            result
        });
        let raised = listen(py, receiver, &stop, |line| match listener {
            Some(listener) => listener.call1((line,)).map(drop),
            None => Ok(()),
        });
        let result = py.detach(move || worker.join());
        match (raised, result) {
            (Err(error), _) => Err(error),
            (Ok(()), Ok(result)) => result.map_err(Raised::raised),
            (Ok(()), Err(_)) => Err(PyRuntimeError::new_err(
                "an internal error of gdro: please report it with the lines above",
            )),
        }
    })
}

/// Hands on what a thread sends until it sends no more, without the interpreter in between, and
/// looks for Ctrl-C now and then. What a signal handler or `each` raises sets the flag `stop`, and is
/// passed on when the thread has ended.
///
/// # Errors
/// The first exception that was raised.
pub fn listen<T: Send>(
    py: Python<'_>,
    mut receiver: Receiver<T>,
    stop: &AtomicBool,
    mut each: impl FnMut(T) -> PyResult<()>,
) -> PyResult<()> {
    let mut raised = Ok(());
    loop {
        let heard;
        (receiver, heard) = py.detach(move || {
            let heard = receiver.recv_timeout(PATIENCE);
            (receiver, heard)
        });
        let checked = match heard {
            Err(RecvTimeoutError::Disconnected) => return raised,
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(sent) => each(sent),
        };
        if let Err(error) = checked.and_then(|()| py.check_signals()) {
            stop.store(true, Ordering::Relaxed);
            raised = raised.and(Err(error));
        }
    }
}
