//! The program `gdro`: train one model that does well on every group.
//!
//! It is a library, so that the binary and the command of the Python package are one program.

mod commands;
mod print;
mod progress;
mod signals;

use std::ffi::OsString;
use std::io::Write as _;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use gdro_train::Failure;

/// The exit code of a run that was interrupted and has written what it had.
const INTERRUPTED: u8 = 3;

const CODES: &str = "\
Exit codes: 0 done; 1 a fault of the machine; 2 a fault of the input or the options; 3 interrupted \
(Ctrl-C, SIGTERM, SIGHUP), with what there was printed and written; 130 interrupted before there was \
anything, or twice.";

/// Train one model that does well on every group, not only on average.
#[derive(Debug, Parser)]
#[command(name = "gdro", version, max_term_width = 100, after_help = CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Look at a table before training: columns, groups, oddities, size
    Inspect(Box<commands::inspect::Inspect>),
    /// Train a model on a table and compare it with ordinary training, group by group
    Fit(Box<commands::fit::Fit>),
    /// Choose the penalty or the ball by the worst group on validation rows, or draw the trade-off
    Select(Box<commands::select::Select>),
    /// Go on with a run that was killed or interrupted, to the same bits
    Resume(commands::resume::Resume),
    /// Evaluate a model on another table, group by group, with intervals
    Evaluate(commands::evaluate::Evaluate),
    /// Predict the rows of a table
    Predict(commands::predict::Predict),
    /// Write a model as ONNX, for other programs
    Export(commands::export::Export),
    /// Compute the certificate of a model again, from nothing but the model and its table
    Certify(commands::certify::Certify),
    /// Show what a saved model is
    Show(commands::show::Show),
}

/// Runs the program with its arguments, of which the first is its name, and says with which code it
/// ends, as in the help.
///
/// The process may end in here, with code 130, when it is interrupted twice.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let code = match Cli::try_parse_from(arguments) {
        Ok(cli) => match cli.command.run() {
            Ok(()) if signals::seen() => INTERRUPTED,
            Ok(()) => 0,
            // The reader of our output has gone: there is nobody to write to.
            Err(failure) if failure.is_broken_pipe() => 0,
            Err(failure) => {
                complain(&failure.to_string());
                code(&failure)
            }
        },
        Err(error) => refuse(&error),
    };
    // The process of an interpreter goes on, and does not know of this buffer.
    let _ = std::io::stdout().flush();
    code
}

impl Command {
    fn run(self) -> Result<(), Failure> {
        match self {
            Command::Inspect(inspect) => inspect.run(),
            Command::Fit(fit) => fit.run(),
            Command::Select(select) => select.run(),
            Command::Resume(resume) => resume.run(),
            Command::Evaluate(evaluate) => evaluate.run(),
            Command::Predict(predict) => predict.run(),
            Command::Export(export) => export.run(),
            Command::Certify(certify) => certify.run(),
            Command::Show(show) => show.run(),
        }
    }
}

/// The exit code of a failure.
fn code(failure: &Failure) -> u8 {
    match failure.is_input() {
        true => 2,
        false if signals::seen() => 130,
        false => 1,
    }
}

/// Writes an error as one line, without control characters that names in a table may hold.
fn complain(message: &str) {
    let message = gdro_report::plain(message);
    let _ = writeln!(std::io::stderr(), "error: {message}");
}

/// What the parser of options has to say: help as it is, an error as one line like all others.
fn refuse(error: &clap::Error) -> u8 {
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || is_help {
        let _ = error.print();
        return if error.use_stderr() { 2 } else { 0 };
    }
    let text = error.to_string();
    let parts = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let parts = parts.take_while(|line| !line.starts_with("Usage:"));
    let said: Vec<&str> = parts.filter(|line| !line.starts_with("For more")).collect();
    let said = said.join(" ").replace(" tip: ", ": ");
    complain(said.strip_prefix("error: ").unwrap_or(&said));
    2
}
