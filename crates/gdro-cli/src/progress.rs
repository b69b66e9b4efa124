//! Progress on standard error.

use std::cell::{Cell, RefCell};
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use gdro_report::risk;
use gdro_train::checkpoint::Checkpoint;
use gdro_train::numbers::count;
use gdro_train::progress::{Event, Progress};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{print, signals};

/// Shows how far the work is, when it should.
pub struct Watch {
    talk: bool,
    bar: RefCell<Option<ProgressBar>>,
    /// What a signal sets, once it is listened to.
    stop: Option<Arc<AtomicBool>>,
    checkpoint: Checkpoint,
    /// When a checkpoint was last written, as it is shown.
    kept: Cell<Option<SystemTime>>,
}

impl Watch {
    /// A watch that talks or does not, over work with this journal.
    pub fn new(talk: bool, checkpoint: Checkpoint) -> Self {
        let (bar, kept) = (RefCell::new(None), Cell::new(None));
        Watch { talk, bar, stop: None, checkpoint, kept }
    }

    /// Says when the last checkpoint was written, and why one could not be.
    fn show_checkpoint(&self) {
        if let Some(problem) = self.checkpoint.problem() {
            print::note(&format!("no checkpoint could be written: {problem}"));
        }
        let written = self.checkpoint.written();
        if written != self.kept.get() {
            self.kept.set(written);
            let time = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            if let Some(seconds) = time.map(|time| time.as_secs() % 86_400) {
                let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
                let said = format!("checkpoint of {hours:02}:{minutes:02}:{:02} UTC", seconds % 60);
                self.on_bar(|bar| bar.set_prefix(said));
            }
        }
    }

    /// Starts counting.
    fn start(&self, length: u64, what: &str) {
        // A new bar does not show it yet.
        self.kept.set(None);
        let style = ProgressStyle::with_template(&format!(
            "{{bar:30}} {{human_pos}}/{{human_len}} {what}, {{eta}} left  {{msg}}  {{prefix}}"
        ));
        let bar = ProgressBar::new(length);
        if let Ok(style) = style {
            bar.set_style(style);
        }
        self.replace(Some(bar));
    }

    fn replace(&self, bar: Option<ProgressBar>) {
        if let Some(old) = self.bar.replace(bar) {
            old.finish_and_clear();
        }
    }

    fn on_bar(&self, change: impl FnOnce(&ProgressBar)) {
        if let Some(bar) = &*self.bar.borrow() {
            change(bar);
        }
    }
}

impl Progress for Watch {
    fn tell(&self, event: Event<'_>) {
        if !self.talk {
            return;
        }
        self.show_checkpoint();
        match event {
            Event::Stage(stage) => {
                let bar = ProgressBar::new_spinner().with_message(stage.to_owned());
                bar.enable_steady_tick(std::time::Duration::from_millis(120));
                self.replace(Some(bar));
            }
            Event::Table(table) => {
                self.replace(None);
                // A reader who has gone does not stop the training.
                let _ = std::io::stderr().write_all(gdro_report::groups(table).as_bytes());
            }
            Event::Note(text) => print::note(text),
            Event::Resumed(done, of, what) => {
                let of = of.map_or_else(String::new, |of| format!(" of {}", count(of)));
                print::note(&format!(
                    "goes on from the checkpoint, after {what} {}{of}",
                    count(done)
                ));
            }
            Event::Rounds(rounds) => self.start(rounds, "rounds"),
            Event::Played(rounds) => self.on_bar(|bar| bar.set_position(rounds)),
            Event::Risk { max_risk, .. } => {
                self.on_bar(|bar| bar.set_message(format!("max risk {}", risk(max_risk))));
            }
            Event::Gap(gap) => {
                self.on_bar(|bar| bar.set_message(format!("certified gap {gap:.1e}")));
            }
            Event::Models(models) => self.start(models as u64, "models"),
            Event::Model(done, what) => self.on_bar(|bar| {
                bar.set_message(what.to_owned());
                bar.set_position(done as u64);
            }),
            Event::Done => self.replace(None),
            // The report says these.
            Event::Solver(..) | Event::Steps(..) | Event::Solved(..) => {}
        }
    }

    fn interrupts(&mut self) -> Arc<AtomicBool> {
        self.stop.get_or_insert_with(signals::stop).clone()
    }

    fn checkpoint(&self) -> Checkpoint {
        self.checkpoint.clone()
    }

    /// Signals end the program where nothing listens to them.
    fn gives_up(&self) -> Option<Arc<AtomicBool>> {
        None
    }
}
