//! The program `gdro`: train one model that does well on every group.

mod commands;
mod failure;
mod files;
mod job;
mod model;
mod report;
mod train;

use clap::{Parser, Subcommand};

/// Train one model that does well on every group, not only on average.
#[derive(Debug, Parser)]
#[command(name = "gdro", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train a model on a table and compare it with ordinary training, group by group
    Fit(Box<commands::fit::Fit>),
}

fn main() -> std::process::ExitCode {
    let result = match Cli::parse().command {
        Command::Fit(fit) => fit.run(),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        // The reader of our output has gone: nobody is left to be told.
        Err(failure) if failure.is_broken_pipe() => std::process::ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            failure.code()
        }
    }
}
