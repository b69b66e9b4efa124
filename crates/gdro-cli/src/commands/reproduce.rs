//! `gdro reproduce`: the experiments of the paper.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use gdro_paper::{Error, Order, Progress, Written};
use indicatif::{ProgressBar, ProgressStyle};

use gdro_train::{Failure, Result, files};

use super::args::ThreadsArg;
use crate::print;
use crate::progress::interrupts;

/// Play the experiments of the paper again: a figure for each as SVG and PNG, its data as CSV, and
/// report.md, which judges the claims of the paper against exact values.
///
/// Every method runs under the steps of its theorem and under steps tuned on one grid, over many
/// seeds. The experiments are files (TOML) in the folder of --from, one for each figure; the paper's
/// are in `paper/` of the repository. Finished runs are kept in the folder `cache` of --out: after
/// Ctrl-C the same command goes on where it stopped.
#[derive(Debug, Args)]
pub struct Reproduce {
    /// Names of experiments [default: all]
    #[arg(value_name = "NAME|all")]
    names: Vec<String>,
    /// A small version of everything, in a few minutes: fewer rounds, seeds and steps to try
    #[arg(long)]
    quick: bool,
    /// Number of seeds of every run [default: that of settings.toml]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1_000_000))]
    seeds: Option<u64>,
    /// Where figures, data, report and cache go
    #[arg(long, value_name = "FOLDER", default_value = "figures")]
    out: PathBuf,
    /// The folder of experiments
    #[arg(long, value_name = "FOLDER", default_value = "paper")]
    from: PathBuf,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Show no progress, and no list of files
    #[arg(long, short)]
    quiet: bool,
}

impl Reproduce {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        self.threads.start()?;
        if !self.from.is_dir() {
            return Err(Failure::input(format!(
                "--from {}: expected a folder of experiments; the paper's are in `paper` of the repository",
                self.from.display()
            )));
        }
        files::check_folder(&self.out)?;
        let order = Order {
            folder: &self.from,
            names: &self.names,
            out: &self.out,
            quick: self.quick,
            seeds: self.seeds,
        };
        let stop = interrupts();
        let bar = Bar::new(!self.quiet);
        let written = gdro_paper::reproduce(&order, &stop, &bar).map_err(|e| match e {
            Error::Write { path, source } => Failure::write(&path, &source),
            other => Failure::input(other.to_string()),
        });
        bar.0.finish_and_clear();
        let written = written?;
        if stop.load(Ordering::Relaxed) {
            print::note(&stopped(&written));
        }
        if self.quiet {
            return Ok(());
        }
        let list = written.files.iter().map(|file| format!("wrote {}\n", file.display()));
        print::text(&list.collect::<String>())
    }
}

/// What is to be said after Ctrl-C.
fn stopped(written: &Written) -> String {
    let left = if written.left.is_empty() {
        "all experiments were complete".to_owned()
    } else {
        format!("not complete: {}", written.left.join(", "))
    };
    let runs = written.played + written.cached;
    format!("interrupted; {left}; {runs} runs are kept, and the same command goes on from them")
}

/// A bar on standard error.
struct Bar(ProgressBar);

impl Bar {
    fn new(talk: bool) -> Self {
        let bar = if talk { ProgressBar::new(0) } else { ProgressBar::hidden() };
        if let Ok(style) =
            ProgressStyle::with_template("{bar:30} {percent:>3} %, {eta} left  {msg}")
        {
            bar.set_style(style);
        }
        Bar(bar)
    }
}

impl Progress for Bar {
    fn start(&self, units: u64) {
        self.0.set_length(units);
        self.0.reset_eta();
        self.0.enable_steady_tick(std::time::Duration::from_millis(250));
    }

    fn stage(&self, what: &str) {
        self.0.set_message(what.to_owned());
    }

    fn done(&self, units: u64) {
        self.0.inc(units);
    }

    fn skip(&self, units: u64) {
        self.0.dec_length(units);
    }
}
