//! The exact path.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use gdro::exact::{Options, minimize_kept};
use gdro::loss::Loss as _;
use gdro::risk::group_risks;

use super::solved::solved;
use super::watched::{Patience, Watched};
use super::{Answer, Solved};
use crate::failure::{Failure, Result};
use crate::job::Job;
use crate::prepared::Setting;
use crate::progress::{Event, Progress};
use crate::trace::Trace;

/// A gap that nobody asked for is missed beyond so many times the one that is aimed at.
const LENIENT: f64 = 100.0;

/// The reference solver, from a model that may be near, if there is one.
pub(super) fn solve(
    setting: &Setting,
    job: &Job,
    names: &[String],
    start: Option<Vec<f64>>,
    progress: &mut dyn Progress,
) -> Result<Answer> {
    let library = |e| Failure::library(e, names);
    let zero = vec![0.0; setting.model_len()];
    let at_zero = group_risks(&setting.loss, &zero, &setting.data).map_err(library)?;
    let mut trace = Trace::default();
    let uniform = vec![1.0 / at_zero.len() as f64; at_zero.len()];
    trace.point((0, 0, 0.0), &at_zero, &uniform, setting.objective(&at_zero));
    progress.tell(Event::Stage("reference solver"));
    let began = Instant::now();
    // Far below what matters, and as far as double precision goes; with kinks every digit costs as
    // much as the one before.
    let digits = if setting.loss.is_nonsmooth() { 1e-8 } else { 1e-10 };
    let tol = job.training.tol;
    let (tolerance, relative) = tol.map_or((0.0, digits), |tol| (tol, 0.0));
    let options = Options { tolerance, relative, start, iterations: job.training.max_iter };
    let (never, flag) = (AtomicBool::new(false), progress.gives_up());
    let patience = Patience::none(flag.as_deref().unwrap_or(&never));
    let loss = Watched::new(setting.loss, &patience);
    let (solution, seconds) = solved(&progress.checkpoint(), "reference solver", |keeper| {
        let solution = minimize_kept(&setting.data, &loss, &setting.problem(), &options, keeper);
        Ok((solution.map_err(library)?, began.elapsed().as_secs_f64()))
    })?;
    progress.tell(Event::Solved(solution.iterations, seconds));
    let risks = group_risks(&setting.loss, &solution.w, &setting.data).map_err(library)?;
    let objective = setting.objective(&risks);
    // Where nobody asked for a gap, some digits less are still many.
    let enough = if tol.is_some() { solution.wanted } else { LENIENT * solution.wanted };
    let missed = (solution.gap() > enough).then(|| (solution.gap(), solution.wanted));
    trace.point((solution.iterations as u64, 0, seconds), &risks, &solution.q, objective);
    Ok(Answer {
        w: solution.w,
        weights: solution.q,
        proof: None,
        player: None,
        solved: Solved::Exact { iterations: solution.iterations, missed },
        seconds,
        trace,
    })
}
