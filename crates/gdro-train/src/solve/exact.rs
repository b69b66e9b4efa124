//! The exact path.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use gdro::exact::{Options, minimize};
use gdro::loss::Loss;
use gdro::risk::group_risks;

use super::{Answer, Solved};
use crate::failure::Interrupted;
use crate::job::Job;
use crate::prepared::Setting;
use crate::progress::{Event, Progress};
use crate::trace::Trace;

/// The reference solver, from a model that may be near, if there is one.
pub(super) fn solve(
    setting: &Setting,
    job: &Job,
    start: Option<Vec<f64>>,
    progress: &mut dyn Progress,
) -> gdro::Result<Answer> {
    let zero = vec![0.0; setting.model_len()];
    let at_zero = group_risks(&setting.loss, &zero, &setting.data)?;
    let mut trace = Trace::default();
    let uniform = vec![1.0 / at_zero.len() as f64; at_zero.len()];
    trace.point((0, 0, 0.0), &at_zero, &uniform, setting.game.objective(&at_zero));
    progress.tell(Event::Stage("reference solver"));
    let began = Instant::now();
    // Far below what matters, and as far as double precision goes; with kinks every digit costs as
    // much as the one before.
    let scale = setting.game.objective(&at_zero).abs().max(1.0);
    let digits = if setting.loss.has_kinks() { 1e-8 } else { 1e-10 };
    let tolerance = job.training.tol.unwrap_or(digits * scale);
    let options = Options { tolerance, start, iterations: job.training.max_iter };
    let (never, flag) = (AtomicBool::new(false), progress.gives_up());
    let loss = Watched { loss: setting.loss, stop: flag.as_deref().unwrap_or(&never) };
    let solution = minimize(&setting.data, &loss, &setting.problem(), &options)?;
    let seconds = began.elapsed().as_secs_f64();
    progress.tell(Event::Solved(solution.iterations, seconds));
    let risks = group_risks(&setting.loss, &solution.w, &setting.data)?;
    let objective = setting.game.objective(&risks);
    trace.point((solution.iterations as u64, 0, seconds), &risks, &solution.q, objective);
    Ok(Answer {
        w: solution.w,
        weights: solution.q,
        solved: Solved::Exact { iterations: solution.iterations },
        seconds,
        trace,
    })
}

/// A loss whose slopes and values fail once a flag is set.
#[derive(Clone, Copy, Debug)]
struct Watched<'a, L> {
    loss: L,
    stop: &'a AtomicBool,
}

impl<L> Watched<'_, L> {
    #[inline]
    fn look(&self) -> gdro::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(gdro::Error::user(Interrupted));
        }
        Ok(())
    }
}

impl<L: Loss> Loss for Watched<'_, L> {
    fn name(&self) -> &'static str {
        self.loss.name()
    }

    fn outputs(&self) -> usize {
        self.loss.outputs()
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> gdro::Result<f64> {
        self.look()?;
        self.loss.value(scores, y)
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> gdro::Result<f64> {
        self.look()?;
        self.loss.slope(scores, y, slope)
    }

    #[inline]
    fn slope_at(&self, score: f64, y: f64) -> gdro::Result<(f64, f64)> {
        self.look()?;
        self.loss.slope_at(score, y)
    }

    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        self.loss.hessian(scores, y, hessian);
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        self.loss.conjugate(u, y)
    }

    fn smoothed(&self, mu: f64) -> Option<Self> {
        self.loss.smoothed(mu).map(|loss| Watched { loss, stop: self.stop })
    }

    fn accepts(&self, y: f64) -> bool {
        self.loss.accepts(y)
    }

    fn expects(&self) -> String {
        self.loss.expects()
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        self.loss.range(bound, target)
    }

    fn lipschitz(&self, bound: f64, target: f64) -> f64 {
        self.loss.lipschitz(bound, target)
    }

    fn curvature(&self) -> f64 {
        self.loss.curvature()
    }

    fn concordance(&self) -> Option<f64> {
        self.loss.concordance()
    }

    fn correct(&self, scores: &[f64], y: f64) -> Option<bool> {
        self.loss.correct(scores, y)
    }
}
