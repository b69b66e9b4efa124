//! What commands that train share: checks before they begin, and the checkpoint of the run.

use gdro_report::page;
use gdro_train::checkpoint::{Checkpoint, Record, Work};
use gdro_train::job::Job;
use gdro_train::options::Front;
use gdro_train::progress::Progress as _;
use gdro_train::run_folder::RunFolder;
use gdro_train::{Failure, Result};

use super::args::{OutputArgs, ThreadsArg, TrainArg};
use crate::progress::Watch;
use crate::{print, signals};

/// A job to be run, and what is shown of it.
pub struct Run<'a> {
    /// The job.
    pub job: &'a Job,
    /// What is shown.
    pub output: &'a OutputArgs,
    /// Which tables.
    pub train: &'a TrainArg,
}

impl Run<'_> {
    /// Refuses what does nothing and places that cannot be written to, and starts the threads. The folder
    /// of the run is its own until what this gives is dropped.
    pub fn check(&self, threads: &ThreadsArg) -> Result<Option<RunFolder>> {
        let job = self.job;
        self.output.check()?;
        self.train.shown(self.output)?;
        threads.start()?;
        job.memory.into_iter().for_each(gdro_data::limit_memory);
        let folder = RunFolder::take(job)?;
        if let Some(page) = &job.report {
            page::check(page, &job.inputs(), &job.place("report"))?;
        }
        Ok(folder)
    }

    /// Does the work with a checkpoint beside the model, if one is written. The checkpoint goes when the
    /// run has ended, and stays when it was interrupted or failed. One of a run that has not ended is
    /// replaced only where the job insists.
    pub fn keep(
        &self,
        work: Work,
        resume: bool,
        run: impl FnOnce(&mut Watch) -> Result<()>,
    ) -> Result<()> {
        let record = Record::new(self.job, work);
        let checkpoint = match &self.job.out {
            Some(out) => Checkpoint::open(out, record, Front::Program, resume)?,
            None if resume => {
                let why = "there is no folder to go on in: name it with --out";
                return Err(Failure::input(format!("--resume: {why}")));
            }
            None => Checkpoint::default(),
        };
        if let Some(path) = checkpoint.replaces().filter(|_| !self.job.force) {
            return Err(Failure::input(format!(
                "{} is of a run that has not ended: --resume goes on with it, --force begins anew",
                path.display()
            )));
        }
        let mut watch = Watch::new(!self.output.quiet, checkpoint);
        let done = run(&mut watch);
        let checkpoint = watch.checkpoint();
        match &done {
            Err(failure) if failure.is_input() => {}
            Err(failure) if !failure.is_broken_pipe() => checkpoint.freeze(),
            _ if signals::seen() => checkpoint.freeze(),
            _ => checkpoint.remove(),
        }
        if !self.output.quiet {
            if let Some(why) = checkpoint.problem() {
                print::note(&format!("no checkpoint could be written: {why}"));
            }
            if (done.is_err() || signals::seen())
                && let Some(advice) = checkpoint.advice()
            {
                print::note(&advice);
            }
        }
        done
    }
}
