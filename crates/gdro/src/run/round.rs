//! What an estimator sees of a round.

use super::kept::Kept;
use super::lookahead::Lookahead;
use crate::error::{Error, Result};
use crate::estimator::Probe;
use crate::game::Game;
use crate::group_weights::GroupWeights;
use crate::hint::cold_path;
use crate::iterate::{Gradient, Iterate};
use crate::loss::Loss;
use crate::sampling::{Rng, Streams};
use crate::schedule::Steps;
use crate::source::{Handle, Source};

/// What a round writes into.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    pub gradient: Gradient,
    pub gains: Vec<(usize, f64)>,
    scores: Vec<f64>,
    slope: Vec<f64>,
    pub samples: Vec<u64>,
    pub clipped: u64,
    pub kept: Kept,
    pub lookahead: Lookahead,
    /// The marked model.
    pub mark: Vec<f64>,
}

impl Scratch {
    /// Memory for m groups, c outputs, and so many pulls per round.
    pub fn new(groups: usize, outputs: usize, pulls: usize, streams: Streams) -> Self {
        Scratch {
            gradient: Gradient::new(outputs, pulls),
            gains: Vec::with_capacity(2 * pulls.max(groups)),
            scores: vec![0.0; outputs],
            slope: vec![0.0; outputs],
            samples: vec![0; groups],
            clipped: 0,
            kept: Kept::default(),
            lookahead: Lookahead::new(streams, pulls),
            mark: Vec::new(),
        }
    }

    /// Forgets the estimate of the last round.
    pub fn clear(&mut self) {
        self.gradient.clear();
        self.gains.clear();
    }
}

/// What payoffs of losses are.
#[derive(Clone, Debug)]
pub(super) struct Payoffs {
    /// [`Game::is_even`]: two numbers per group need not be fetched.
    even: bool,
    /// U.
    highest: f64,
    /// 1/(U − L₀).
    scale: f64,
}

impl Payoffs {
    /// Those of a game that lie between L₀ and U.
    pub fn new(game: &Game, (least, highest): (f64, f64)) -> Self {
        Payoffs { even: game.is_even(), highest, scale: 1.0 / (highest - least) }
    }
}

/// A group's own model, for minimax regret.
#[derive(Clone, Debug)]
pub(super) struct OwnModel<I> {
    pub point: I,
    pub gradient: Gradient,
}

/// The probe that an estimator sees.
pub(super) struct Round<'a, L, S, I> {
    pub game: &'a Game,
    pub loss: &'a L,
    pub source: &'a mut S,
    pub point: &'a I,
    /// Own models of the groups, when the estimator uses them, and their first step.
    pub own: &'a mut [OwnModel<I>],
    pub own_step: f64,
    pub scratch: &'a mut Scratch,
    pub payoffs: &'a Payoffs,
    pub steps: Steps,
    pub number: u64,
}

impl<L: Loss, S: Source, I: Iterate> Round<'_, L, S, I> {
    /// A number that must be finite: a loss, or what a game makes of it.
    fn finite(&self, group: usize, value: f64) -> Result<f64> {
        let round = self.number;
        if value.is_finite() {
            Ok(value)
        } else {
            cold_path();
            Err(Error::NonFiniteLoss { group, round, value })
        }
    }

    /// The payoff of a finite loss.
    fn payoff(&self, group: usize, loss: f64) -> Result<f64> {
        if self.payoffs.even { Ok(loss) } else { self.finite(group, self.game.payoff(group, loss)) }
    }

    /// Draws a sample, adds its gradient and returns its loss, which is finite.
    #[inline(always)]
    fn sample(&mut self, group: usize, c: f64) -> Result<(Handle, f64)> {
        let scratch = &mut *self.scratch;
        let handle = scratch.lookahead.draw(group, self.source)?;
        scratch.samples[group] += 1;
        let sample = self.source.get(handle);
        let c = if self.payoffs.even { c } else { c * self.game.scales[group] };
        let value = if scratch.scores.len() == 1 {
            let score = self.point.score(sample.x);
            let (value, slope) = self.loss.slope_at(score, sample.y)?;
            if c != 0.0 {
                scratch.gradient.push_at(handle, c, slope, score);
            }
            value
        } else {
            cold_path();
            self.point.scores(sample.x, &mut scratch.scores);
            let value = self.loss.slope(&scratch.scores, sample.y, &mut scratch.slope)?;
            if c != 0.0 {
                scratch.gradient.push(handle, c, &scratch.slope);
            }
            value
        };
        Ok((handle, self.finite(group, value)?))
    }
}

impl<L: Loss, S: Source, I: Iterate> Probe for Round<'_, L, S, I> {
    #[inline(always)]
    fn pull(&mut self, group: usize, c: f64) -> Result<f64> {
        let (_, value) = self.sample(group, c)?;
        self.payoff(group, value)
    }

    fn pull_each(
        &mut self,
        groups: &[usize],
        c: f64,
        mut each: impl FnMut(&mut Self, usize, f64),
    ) -> Result<()> {
        self.scratch.lookahead.expect(groups, self.source);
        for &group in groups {
            let payoff = self.pull(group, c)?;
            each(self, group, payoff);
        }
        Ok(())
    }

    #[inline(always)]
    fn draw(&mut self, q: &impl GroupWeights) -> usize {
        self.scratch.lookahead.choose(q)
    }

    #[inline]
    fn credit(&mut self, group: usize, gain: f64) {
        self.scratch.gains.push((group, gain));
    }

    #[inline]
    fn shortfall(&mut self, payoff: f64) -> f64 {
        let s = (self.payoffs.highest - payoff) * self.payoffs.scale;
        if (0.0..=1.0).contains(&s) {
            return s;
        }
        cold_path();
        self.scratch.clipped += 1;
        s.clamp(0.0, 1.0)
    }

    fn pull_excess(&mut self, group: usize, c: f64) -> Result<f64> {
        let (handle, value) = self.sample(group, c)?;
        let scratch = &mut *self.scratch;
        let own = &mut self.own[group];
        let own_step = self.own_step / (self.number as f64).sqrt();
        let sample = self.source.get(handle);
        own.point.accumulate(own_step);
        own.point.average_scores(sample.x, &mut scratch.scores);
        let best = self.loss.value(&scratch.scores, sample.y)?;
        own.point.scores(sample.x, &mut scratch.scores);
        self.loss.slope(&scratch.scores, sample.y, &mut scratch.slope)?;
        own.gradient.clear();
        own.gradient.push(handle, 1.0, &scratch.slope);
        own.point.step(own_step, self.game.ridge, &own.gradient, self.source);
        let best = self.finite(group, best)?;
        self.finite(group, self.game.scales[group] * (value - best))
    }

    fn keep(&mut self, group: usize) -> Result<()> {
        // The copy is all that is needed of the sample: its handle may go.
        self.source.begin_round();
        let handle = self.scratch.lookahead.draw_anew(group, self.source)?;
        self.scratch.samples[group] += 1;
        self.scratch.kept.push(group, self.source.get(handle));
        self.source.begin_round();
        Ok(())
    }

    fn kept(&mut self, slot: usize) -> Result<f64> {
        let scratch = &mut *self.scratch;
        if slot >= scratch.kept.len() {
            return Err(Error::State(format!("no sample is kept in slot {slot}")));
        }
        let (group, sample) = scratch.kept.get(slot);
        self.point.scores(sample.x, &mut scratch.scores);
        let value = self.loss.value(&scratch.scores, sample.y)?;
        self.payoff(group, self.finite(group, value)?)
    }

    fn release(&mut self) {
        self.scratch.kept.clear();
    }

    fn shift(&mut self, group: usize, by: f64) {
        if self.steps.eta_q > 0.0 {
            self.scratch.gains.push((group, by / self.steps.eta_q));
        }
    }

    fn mark(&mut self) {
        self.scratch.mark.resize(self.point.len(), 0.0);
        self.point.write(&mut self.scratch.mark);
    }

    fn moved(&self) -> f64 {
        if self.scratch.mark.is_empty() {
            return f64::INFINITY;
        }
        self.point.distance(&self.scratch.mark)
    }

    #[inline]
    fn round(&self) -> u64 {
        self.number
    }

    #[inline]
    fn gamma(&self) -> f64 {
        self.steps.gamma
    }

    #[inline]
    fn eta_q(&self) -> f64 {
        self.steps.eta_q
    }

    #[inline]
    fn exhausted(&self, group: usize) -> bool {
        self.source.remaining(group) == Some(0)
    }

    #[inline]
    fn rng(&mut self) -> &mut Rng {
        self.scratch.lookahead.groups()
    }
}
