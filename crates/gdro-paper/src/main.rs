//! The program `gdro-paper`: the experiments of the paper.

use std::fmt;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use gdro_paper::{Error, Order, Progress, Written};
use indicatif::{ProgressBar, ProgressStyle};

/// Most threads that can be asked for.
const MOST_THREADS: usize = 1024;

/// Rerun the experiments of the paper: a figure for each as SVG and PNG, its data as CSV, and
/// report.md, which judges the claims of the paper against exact values.
///
/// Every method runs under the steps of its theorem and under tuned steps, over many seeds. The
/// experiments are files (TOML) in the folder of --from, one for each figure; the paper's are in
/// `paper/` of the repository, with the tuned steps (`tuning.csv`), which --tune finds; without them
/// an experiment is tuned before. Finished runs are kept in the folder `cache` of --out: after Ctrl-C the same command goes on where it stopped.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    /// Names of experiments [default: all]
    #[arg(value_name = "NAME|all")]
    names: Vec<String>,
    /// A small version of everything, in a few minutes: fewer rounds and seeds
    #[arg(long)]
    quick: bool,
    /// Find the tuned steps by the duality gap, the same grid for every method, and write them into
    /// tuning.csv of --from
    #[arg(long)]
    tune: bool,
    /// Number of seeds of every run [default: that of settings.toml]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1_000_000))]
    seeds: Option<u64>,
    /// Where figures, data, report and cache go
    #[arg(long, value_name = "FOLDER", default_value = "figures")]
    out: PathBuf,
    /// The folder of experiments
    #[arg(long, value_name = "FOLDER", default_value = "paper")]
    from: PathBuf,
    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Show no progress, and no list of files
    #[arg(long, short)]
    quiet: bool,
}

/// A reason to stop.
enum Failure {
    /// Something the user gave: exit code 2.
    Input(String),
    /// Something the machine refused, such as writing a file: exit code 1.
    Machine(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Input(message) | Failure::Machine(message)) = self;
        // One line, without control characters that names may hold.
        message.chars().try_for_each(|c| match c.is_control() {
            true => write!(f, "{}", c.escape_default()),
            false => write!(f, "{c}"),
        })
    }
}

fn main() -> ExitCode {
    let result = match Cli::try_parse() {
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            Err(Failure::Input(line.strip_prefix("error: ").unwrap_or(line).to_owned()))
        }
        Ok(cli) => cli.run(),
    };
    let Err(failure) = result else { return ExitCode::SUCCESS };
    let _ = writeln!(io::stderr(), "error: {failure}");
    match failure {
        Failure::Input(_) => ExitCode::from(2),
        Failure::Machine(_) => ExitCode::FAILURE,
    }
}

impl Cli {
    fn run(self) -> Result<(), Failure> {
        if let Some(threads) = self.threads {
            start(threads)?;
        }
        if !self.from.is_dir() {
            return Err(Failure::Input(format!(
                "--from {}: expected a folder of experiments; the paper's are in `paper` of the repository",
                self.from.display()
            )));
        }
        let order = Order {
            folder: &self.from,
            names: &self.names,
            out: &self.out,
            quick: self.quick,
            seeds: self.seeds,
        };
        let stop = interrupts();
        let bar = Bar::new(!self.quiet);
        let work = if self.tune { gdro_paper::tune } else { gdro_paper::reproduce };
        let written = work(&order, &stop, &bar);
        bar.0.finish_and_clear();
        let written = written.map_err(|e| match e {
            Error::Write { .. } => Failure::Machine(e.to_string()),
            _ => Failure::Input(e.to_string()),
        })?;
        if stop.load(Ordering::Relaxed) {
            let _ = writeln!(io::stderr(), "note: {}", stopped(&written));
        }
        if self.quiet {
            return Ok(());
        }
        let list = written.files.iter().map(|file| format!("wrote {}\n", file.display()));
        match io::stdout().write_all(list.collect::<String>().as_bytes()) {
            // The files are written, whether or not anybody reads their names.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::Machine(format!("cannot print: {error}")))
            }
            _ => Ok(()),
        }
    }
}

/// Starts so many threads.
fn start(threads: usize) -> Result<(), Failure> {
    if !(1..=MOST_THREADS).contains(&threads) {
        return Err(Failure::Input(format!(
            "--threads {threads}: expected a number from 1 to {MOST_THREADS}"
        )));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|e| Failure::Machine(format!("cannot start {threads} threads: {e}")))
}

/// A flag that Ctrl-C sets from now on. A second Ctrl-C ends the program at once.
fn interrupts() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    // Without a handler Ctrl-C ends the program as usual, and finished runs are kept.
    let _ = ctrlc::set_handler(handler);
    stop
}

/// What is said after Ctrl-C.
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

    fn more(&self, units: u64) {
        self.0.inc_length(units);
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
