//! The program `gdro`, from the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(gdro_cli::run(std::env::args_os()))
}
