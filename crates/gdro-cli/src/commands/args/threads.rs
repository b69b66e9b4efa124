//! How many threads work.

use clap::Args;

use gdro_train::{Failure, Result};

/// Most threads that can be asked for.
const MOST_THREADS: usize = 1024;

/// How many threads work.
#[derive(Debug, Args)]
pub struct ThreadsArg {
    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Output")]
    threads: Option<usize>,
}

impl ThreadsArg {
    /// Starts as many threads as were asked for.
    pub fn start(&self) -> Result<()> {
        let Some(threads) = self.threads else { return Ok(()) };
        if !(1..=MOST_THREADS).contains(&threads) {
            return Err(Failure::input(format!(
                "--threads {threads}: expected a number from 1 to {MOST_THREADS}"
            )));
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|e| Failure::Machine(format!("cannot start {threads} threads: {e}")))
    }
}
