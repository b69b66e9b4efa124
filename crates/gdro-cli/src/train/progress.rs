//! Progress on standard error, and Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gdro_data::Prepared;
use indicatif::{ProgressBar, ProgressStyle};

/// Shows how far the work is, when it should.
pub struct Watch {
    talk: bool,
    bar: Option<ProgressBar>,
}

impl Watch {
    /// A watch that talks or does not.
    pub fn new(talk: bool) -> Self {
        Watch { talk, bar: None }
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
    pub fn groups(&mut self, prepared: &Prepared) {
        self.replace(None);
        if self.talk {
            eprint!("{}", crate::report::groups(prepared));
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

    /// The risk after so many rounds.
    pub fn at(&mut self, round: u64, max_risk: f64) {
        if let Some(bar) = &self.bar {
            bar.set_position(round);
            bar.set_message(format!("max risk {max_risk:.4}"));
        }
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
    pub fn interrupts(&self) -> Arc<AtomicBool> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let handler = move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        };
        // Without a handler Ctrl-C ends the program as usual, and nothing is half-written.
        let _ = ctrlc::set_handler(handler);
        stop
    }
}
