//! An algorithm at work on rows that pass by.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use gdro::algorithm::Algorithm;
use gdro::exact::Goal;
use gdro::game::Game;
use gdro::risk::group_risks;
use gdro::run::{Cadence, Outcome, Solver, drive};
use gdro::source::{Batch, Stream};

use super::super::rounds::{Plan, Play};
use super::super::{Setting, Trace, Watch};
use crate::failure::{Failure, Result};
use crate::job::Training;

/// Batches that may wait for the rows of a group.
const WAITING: usize = 4;

/// A model from one pass.
pub struct Learnt {
    /// The model.
    pub w: Vec<f64>,
    /// Averaged group weights.
    pub weights: Vec<f64>,
    /// What the algorithm did.
    pub play: Play,
    /// Seconds from the first row to the last.
    pub seconds: f64,
    /// The curve, on the first rows.
    pub trace: Trace,
}

/// A learner: an algorithm, with the game on all rows and on the first ones.
pub struct Learner<'a> {
    /// The game on the first rows.
    pub head: &'a Setting,
    /// How the model is trained.
    pub training: Training,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Names of all groups.
    pub names: &'a [String],
    /// Training rows of all groups, and of those among the first rows.
    pub budgets: (Vec<u64>, Vec<u64>),
    /// Rows of every group that the stream holds for it.
    pub visits: Vec<u64>,
    /// n̄ of the hybrid.
    pub nbar: Option<u64>,
    /// Rounds of the pass.
    pub rounds: u64,
}

impl Learner<'_> {
    /// Finds the steps on the first rows and then plays on the rows that `batches` delivers.
    pub fn learn(
        &self,
        batches: Receiver<Arc<Batch>>,
        watch: Option<&mut Watch>,
        stop: &AtomicBool,
    ) -> Result<Learnt> {
        let library = |e| Failure::library(e, self.names);
        let plan = Plan::of_head(
            self.head,
            &self.training,
            self.algorithm,
            self.names,
            (self.budgets.1.clone(), self.nbar),
        )?;
        let steps = plan.steps(self.rounds, stop).map_err(library)?;
        let m = self.budgets.0.len();
        let mut config = plan.config(self.rounds, steps, false);
        if let gdro::config::GroupPlayer::Fixed(q) = &mut config.player {
            *q = vec![1.0 / m as f64; m];
        }
        let game = Game::gdro(m).with_ridge(self.head.game.ridge);
        let constants = plan.constants_of(&game).map_err(library)?;
        let feed = move || Ok(batches.recv().ok());
        let features = self.head.data.features();
        let source = Stream::new(features, self.visits.clone(), WAITING, feed).map_err(library)?;
        let (loss, domain) = (self.head.loss, self.head.domain.clone());
        let mut solver = config
            .build(game, loss, source, domain, &constants, Some(&self.budgets.0))
            .map_err(library)?;
        let (trace, outcome, seconds) = self.play(&mut *solver, watch, stop)?;
        Ok(Learnt {
            w: solver.model(),
            weights: solver.weights(),
            play: Play {
                rounds: (solver.rounds(), self.rounds),
                samples: solver.samples().to_vec(),
                budgets: Some(self.budgets.0.clone()),
                clipped: solver.clipped(),
                outcome,
                certified: false,
                steps,
                piloted: plan.is_piloted(),
                loss_range: None,
                average: solver.average(),
                subsets: None,
            },
            seconds,
            trace,
        })
    }

    fn play(
        &self,
        solver: &mut dyn Solver,
        watch: Option<&mut Watch>,
        stop: &AtomicBool,
    ) -> Result<(Trace, Outcome, f64)> {
        let library = |e| Failure::library(e, self.names);
        let (mut w, mut q) = (vec![0.0; solver.model_len()], vec![0.0; self.budgets.0.len()]);
        let mut trace = Trace::default();
        let start = Instant::now();
        let evaluating = Cell::new(0.0);
        let mut watch = watch;
        if let Some(watch) = &mut watch {
            watch.start(self.rounds);
        }
        let watch = watch.as_deref();
        let mut observe = |s: &dyn Solver| {
            let pause = Instant::now();
            s.write_model(&mut w);
            s.write_weights(&mut q);
            let risks = group_risks(&self.head.loss, &w, &self.head.data)?;
            let objective = match &self.head.goal {
                Goal::Adversary => self.head.game.objective(&risks),
                Goal::Fixed(q) => q.iter().zip(&risks).map(|(q, r)| q * r).sum(),
            };
            let seconds = pause.duration_since(start).as_secs_f64() - evaluating.get();
            trace.point((s.rounds(), s.samples().iter().sum(), seconds), &risks, &q, objective);
            if let Some(watch) = watch {
                watch.at(risks.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            }
            evaluating.set(evaluating.get() + pause.elapsed().as_secs_f64());
            Ok(ControlFlow::Continue(()))
        };
        let cadence = Cadence::Geometric(1.5);
        let outcome = match watch {
            Some(watch) => {
                let mut counted = watch.count(solver);
                drive(&mut counted, self.rounds, cadence, stop, &mut observe)
            }
            None => drive(solver, self.rounds, cadence, stop, &mut observe),
        }
        .map_err(library)?;
        if outcome != Outcome::Finished {
            let _ = observe(solver).map_err(library)?;
        }
        Ok((trace, outcome, start.elapsed().as_secs_f64() - evaluating.get()))
    }
}
