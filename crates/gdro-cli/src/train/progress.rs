//! Progress on standard error, and Ctrl-C.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gdro::run::{Solver, State};
use indicatif::{ProgressBar, ProgressStyle};

use super::Facts;
use crate::files;
use crate::report::risk;

/// Shows how far the work is, when it should.
pub struct Watch {
    talk: bool,
    bar: Option<ProgressBar>,
    /// What Ctrl-C sets, once it is listened to.
    stop: Option<Arc<AtomicBool>>,
}

impl Watch {
    /// A watch that talks or does not.
    pub fn new(talk: bool) -> Self {
        Watch { talk, bar: None, stop: None }
    }

    /// A silent watch with the same Ctrl-C, for runs that are one step of a longer piece of work.
    pub fn silent(&self) -> Self {
        Watch { talk: false, bar: None, stop: self.stop.clone() }
    }

    /// Names the present stage.
    pub fn say(&mut self, stage: &str) {
        if self.talk {
            let bar = ProgressBar::new_spinner().with_message(stage.to_owned());
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
            self.replace(Some(bar));
        }
    }

    /// Shows what the table holds.
    pub fn groups(&mut self, table: &Facts) {
        self.replace(None);
        if self.talk {
            // A reader who has gone does not stop the training.
            let _ = std::io::stderr().write_all(crate::report::groups(table).as_bytes());
        }
    }

    /// Says something that was decided for the user.
    pub fn note(&mut self, text: &str) {
        if self.talk {
            files::note(text);
        }
    }

    /// Starts counting rounds.
    pub fn start(&mut self, rounds: u64) {
        if self.talk {
            let style = ProgressStyle::with_template(
                "{bar:30} {human_pos}/{human_len} rounds, {eta} left  {msg}",
            );
            let bar = ProgressBar::new(rounds);
            if let Ok(style) = style {
                bar.set_style(style);
            }
            self.replace(Some(bar));
        }
    }

    /// Starts counting models.
    pub fn start_models(&mut self, models: usize) {
        if self.talk {
            let style = ProgressStyle::with_template(
                "{bar:30} {human_pos}/{human_len} models, {eta} left  {msg}",
            );
            let bar = ProgressBar::new(models as u64);
            if let Ok(style) = style {
                bar.set_style(style);
            }
            self.replace(Some(bar));
        }
    }

    /// One more model is trained; the next one is this.
    pub fn next_model(&self, done: usize, what: impl Into<String>) {
        if let Some(bar) = &self.bar {
            bar.set_message(what.into());
            bar.set_position(done as u64);
        }
    }

    /// The largest risk of the model at this point.
    pub fn at(&self, max_risk: f64) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("max risk {}", risk(max_risk)));
        }
    }

    /// The certified gap of the model at this point.
    pub fn gap(&self, gap: f64) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("certified gap {gap:.1e}"));
        }
    }

    /// A solver that moves the bar as it goes.
    pub fn count<'a>(&self, solver: &'a mut dyn Solver) -> Counted<'a> {
        Counted { solver, bar: self.bar.clone() }
    }

    /// Ends the present stage.
    pub fn done(&mut self) {
        self.replace(None);
    }

    fn replace(&mut self, bar: Option<ProgressBar>) {
        if let Some(old) = std::mem::replace(&mut self.bar, bar) {
            old.finish_and_clear();
        }
    }

    /// A flag that Ctrl-C sets. A second Ctrl-C ends the program at once.
    pub fn interrupts(&mut self) -> Arc<AtomicBool> {
        self.stop.get_or_insert_with(interrupts).clone()
    }
}

/// A flag that Ctrl-C sets from now on. A second Ctrl-C ends the program at once.
pub fn interrupts() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) && !files::are_being_written() {
            std::process::exit(130);
        }
    };
    // Without a handler Ctrl-C ends the program as usual, and nothing is half-written.
    let _ = ctrlc::set_handler(handler);
    stop
}

/// A solver that shows its rounds on a bar.
pub struct Counted<'a> {
    solver: &'a mut dyn Solver,
    bar: Option<ProgressBar>,
}

impl Solver for Counted<'_> {
    fn advance(&mut self, rounds: u64) -> gdro::Result<()> {
        let done = self.solver.advance(rounds);
        if let Some(bar) = &self.bar {
            bar.set_position(self.solver.rounds());
        }
        done
    }

    fn steps(&self) -> gdro::schedule::Steps {
        self.solver.steps()
    }

    fn average(&self) -> gdro::average::Average {
        self.solver.average()
    }

    fn rounds(&self) -> u64 {
        self.solver.rounds()
    }

    fn samples(&self) -> &[u64] {
        self.solver.samples()
    }

    fn clipped(&self) -> u64 {
        self.solver.clipped()
    }

    fn model_len(&self) -> usize {
        self.solver.model_len()
    }

    fn write_model(&self, w: &mut [f64]) {
        self.solver.write_model(w);
    }

    fn write_weights(&self, q: &mut [f64]) {
        self.solver.write_weights(q);
    }

    fn write_last(&self, w: &mut [f64], q: &mut [f64]) {
        self.solver.write_last(w, q);
    }

    fn save(&self) -> State {
        self.solver.save()
    }

    fn restore(&mut self, state: &State) -> gdro::Result<()> {
        self.solver.restore(state)
    }
}
