//! The program `gdro`: train one model that does well on every group.
//!
//! It is a library, so that the binary and the command of the Python package are one program.

mod commands;
mod print;
mod progress;
mod signals;

use std::ffi::OsString;
use std::io::Write as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use gdro_train::Failure;
use gdro_train::options::{Kind, find};

/// The exit code of a run that was interrupted and has written what it had.
const INTERRUPTED: u8 = 3;

const CODES: &str = "\
Exit codes:
    0  done
    1  a fault of the machine
    2  a fault of the input or the options
    3  interrupted (Ctrl-C, SIGTERM, SIGHUP): what there was is printed and written
  130  interrupted before there was anything to keep, or twice, or where what there was would
       replace what an earlier run ended with; nothing is written
  143  stopped by SIGTERM (129: by SIGHUP), where a command keeps nothing";

/// Train one model that does well on every group, not only on average.
#[derive(Debug, Parser)]
#[command(name = "gdro", version, max_term_width = 100, after_help = CODES)]
#[command(before_help = commands::help::GDRO, subcommand_value_name = "COMMAND")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// The commands; what they are stands with their arguments.
#[derive(Debug, Subcommand)]
enum Command {
    Example(commands::example::Example),
    Inspect(Box<commands::inspect::Inspect>),
    Fit(Box<commands::fit::Fit>),
    Select(Box<commands::select::Select>),
    Resume(commands::resume::Resume),
    Evaluate(commands::evaluate::Evaluate),
    Predict(commands::predict::Predict),
    Export(commands::export::Export),
    Certify(commands::certify::Certify),
    Show(commands::show::Show),
    Completions(commands::completions::Completions),
    Man(commands::man::Man),
}

/// Runs the program with its arguments, of which the first is its name, and says with which code it
/// ends, as in the help.
///
/// The process may end in here, with code 130, when it is interrupted twice.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let code = match parse(arguments) {
        Ok(command) => match command.map_or_else(start, Command::run) {
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

/// The program with its help as it should be.
fn program() -> clap::Command {
    commands::help::dressed(Cli::command())
}

/// The command that the arguments ask for, if any.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Command>, clap::Error> {
    let matches = program().try_get_matches_from(arguments)?;
    Ok(Cli::from_arg_matches(&matches)?.command)
}

/// Shows how to start.
fn start() -> Result<(), Failure> {
    print::text(commands::help::START)
}

impl Command {
    fn run(self) -> Result<(), Failure> {
        match self {
            Command::Example(example) => example.run(),
            Command::Inspect(inspect) => inspect.run(),
            Command::Fit(fit) => fit.run(),
            Command::Select(select) => select.run(),
            Command::Resume(resume) => resume.run(),
            Command::Evaluate(evaluate) => evaluate.run(),
            Command::Predict(predict) => predict.run(),
            Command::Export(export) => export.run(),
            Command::Certify(certify) => certify.run(),
            Command::Show(show) => show.run(),
            Command::Completions(completions) => completions.run(&program()),
            Command::Man(man) => man.run(&program()),
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

/// Whether an error is about an option whose value is a list, given more than once.
fn is_list(error: &clap::Error) -> bool {
    let (named, other) = (error.get(ContextKind::InvalidArg), error.get(ContextKind::PriorArg));
    let Some(ContextValue::String(named)) = named else { return false };
    let is_twice = matches!(other, Some(ContextValue::String(other)) if other == named);
    let key = named.trim_start_matches("--").split(' ').next().and_then(find);
    is_twice && key.is_some_and(|option| matches!(option.kind, Kind::List | Kind::Counts))
}

/// What the parser of options has to say: help as it is, an error as one line like all others, with the
/// help to look at.
fn refuse(error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        let _ = error.print();
        return 0;
    }
    let text = error.to_string();
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: "));
    let command =
        usage.unwrap_or("gdro").split(' ').take_while(|word| word.starts_with(char::is_lowercase));
    let command: Vec<&str> = command.collect();
    let parts = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let parts = parts.take_while(|line| !line.starts_with("Usage:"));
    let said: Vec<&str> = parts.filter(|line| !line.starts_with("For more")).collect();
    let said = said.join(" ").replace(" tip: ", ": ");
    let said = said.strip_prefix("error: ").unwrap_or(&said);
    let is_unknown = matches!(
        error.kind(),
        ErrorKind::UnknownArgument
            | ErrorKind::InvalidSubcommand
            | ErrorKind::MissingRequiredArgument
    );
    if error.kind() == ErrorKind::ArgumentConflict && is_list(error) {
        complain(&format!("{said}: give it once, with its values separated by commas"));
        return 2;
    }
    match is_unknown {
        true => complain(&format!("{said}; see {} --help", command.join(" "))),
        false => complain(said),
    }
    2
}
