//! `gdro resume`: go on with a run that was cut off.

use std::path::PathBuf;

use clap::Args;
use gdro_train::checkpoint::{Checkpoint, Record, Work};
use gdro_train::{Failure, Result};

use super::args::{OutputArgs, ThreadsArg, TrainArg};
use super::fit::fit_job;
use super::run::Run;
use super::select::select_job;

/// Go on with a run that was killed or interrupted, to the same bits.
///
/// The folder of a run holds a checkpoint, written every minute, until the run has ended. It says what
/// the job was, and where it stood. The input files must be the ones that they were.
#[derive(Debug, Args)]
#[command(before_help = super::help::RESUME)]
pub struct Resume {
    /// The folder that --out named
    #[arg(value_name = "RUN")]
    folder: PathBuf,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    train: TrainArg,
}

impl Resume {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        let Record { folder, job, work, report, every, .. } = Checkpoint::record(&self.folder)?;
        let mut out = self.folder;
        // Names of files in the job start from the folder that the run began in.
        if let Some(folder) = folder.filter(|f| std::env::current_dir().ok().as_ref() != Some(f)) {
            let name = out.display();
            out = out
                .canonicalize()
                .map_err(|e| Failure::input(format!("cannot read {name}: {e}")))?;
            std::env::set_current_dir(&folder).map_err(|e| {
                let folder = folder.display();
                Failure::input(format!("{folder}, where the run began, cannot be entered: {e}"))
            })?;
        }
        let mut job = job;
        (job.out, job.report, job.checkpoint_every) = (Some(out), report, every);
        let run = Run { job: &job, output: &self.output, train: &self.train };
        let _folder = run.check(&self.threads)?;
        match work {
            Work::Fit(fitting) => fit_job(&run, fitting, true),
            Work::Select(choice) => select_job(&run, choice, true),
        }
    }
}
