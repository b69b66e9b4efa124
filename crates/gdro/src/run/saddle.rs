//! The solver: one round of any algorithm.

use super::round::{OwnModel, Payoffs, Round, Scratch};
use super::{Solver, Start, State};
use crate::algorithm::{Recipe, Rule};
use crate::average::{Average, next_restart};
use crate::error::{Error, Result};
use crate::estimator::Estimator;
use crate::game::Game;
use crate::group_weights::GroupWeights;
use crate::iterate::{Gradient, Iterate};
use crate::loss::Loss;
use crate::sampling::Streams;
use crate::schedule::{Schedule, Steps};
use crate::source::Source;

/// A solver of the game for a loss L, a source S, an iterate I, group weights Q and an estimator E.
///
/// A round is `descend` or `mirror_prox`; it allocates nothing once the
/// first few rounds have made room.
///
/// ```
/// use gdro::algorithm::{Constants, SampleBounds, smd_m};
/// use gdro::domain::{Cube, Domain};
/// use gdro::game::Game;
/// use gdro::group_weights::Plain;
/// use gdro::iterate::Dense;
/// use gdro::loss::Squared;
/// use gdro::run::{Saddle, Solver};
/// use gdro::source::Coins;
///
/// // Example 1 of the paper: W = [0, 1], D² = ½, G = 2, m = 16.
/// let domain = Domain::new(Cube::new(0.0, 1.0)?);
/// let recipe = smd_m(&Constants::paper(0.5, 2.0, 16), 20_000).scaled(2.0, 10.0);
/// let mut solver = Saddle::new(
///     Game::gdro(16),
///     Squared,
///     Coins::example_1(),
///     Dense::new(domain, 1, 1),
///     Plain::new(16, 1.0)?,
///     recipe,
///     1,
/// )?;
/// solver.advance(20_000)?;
/// assert!((solver.model()[0] - 0.5).abs() < 0.02);
/// # Ok::<(), gdro::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Saddle<L, S, I, Q, E> {
    game: Game,
    loss: L,
    source: S,
    point: I,
    weights: Q,
    /// (w', q') of mirror-prox.
    anchor: Option<(I, Q)>,
    /// Own models of the groups, for minimax regret.
    own: Vec<OwnModel<I>>,
    recipe: Recipe<E>,
    round: Scratch,
    rounds: u64,
    next_restart: u64,
    /// The finished stretch of a suffix average.
    stretch: Option<Stretch>,
    payoffs: Payoffs,
}

#[derive(Clone, Debug)]
struct Stretch {
    model: Vec<f64>,
    weights: Vec<f64>,
    length: f64,
}

impl<L, S, I, Q, E> Saddle<L, S, I, Q, E>
where
    L: Loss,
    S: Source,
    I: Iterate + Clone,
    Q: GroupWeights + Clone,
    E: Estimator,
{
    /// Puts the parts together. `weights` should carry the cap 1/k of the game.
    ///
    /// # Errors
    /// [`Error::Length`] when game, source and weights have different numbers of groups, and what
    /// [`Game::check`] finds.
    pub fn new(
        game: Game,
        loss: L,
        mut source: S,
        point: I,
        weights: Q,
        recipe: Recipe<E>,
        seed: u64,
    ) -> Result<Self> {
        game.check()?;
        let m = source.groups();
        for (what, found) in [("game", game.groups()), ("group weights", weights.len())] {
            if found != m {
                return Err(Error::Length { what, found, expected: m });
            }
        }
        let outputs = loss.outputs();
        let pulls = recipe.estimator.most_pulls(m);
        source.reserve(pulls);
        let anchor = match recipe.rule {
            Rule::Descent => None,
            Rule::MirrorProx => Some((point.clone(), weights.clone())),
        };
        let own = OwnModel { point: point.clone(), gradient: Gradient::new(outputs, 1) };
        let own = vec![own; if recipe.own_step.is_some() { m } else { 0 }];
        let round = Scratch::new(m, outputs, pulls, Streams::new(seed));
        let stretch = (recipe.average == Average::Suffix).then(|| Stretch {
            model: vec![0.0; point.len()],
            weights: vec![0.0; m],
            length: 0.0,
        });
        let next_restart = next_restart(0, suffix_total(&recipe));
        let rounds = 0;
        Ok(Saddle {
            payoffs: Payoffs::new(&game, recipe.payoffs),
            game,
            loss,
            source,
            point,
            weights,
            anchor,
            own,
            recipe,
            round,
            rounds,
            next_restart,
            stretch,
        })
    }

    /// The source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The steps of round t, and the weight of its iterate in the average.
    #[inline]
    fn plan(&self, t: u64) -> (Steps, f64) {
        let schedule = &self.recipe.schedule;
        (schedule.at(t), self.recipe.average.weight(schedule, t))
    }

    /// Samples of one estimate at (point, weights), into the scratch memory.
    #[inline(always)]
    fn estimate(&mut self, at_anchor: bool, steps: Steps) -> Result<()> {
        self.round.clear();
        self.source.begin_round();
        let (point, weights) = match &self.anchor {
            Some((point, weights)) if at_anchor => (point, weights),
            _ => (&self.point, &self.weights),
        };
        let mut probe = Round {
            game: &self.game,
            loss: &self.loss,
            source: &mut self.source,
            point,
            own: &mut self.own,
            own_step: self.recipe.own_step.unwrap_or(0.0),
            scratch: &mut self.round,
            payoffs: &self.payoffs,
            steps,
            number: self.rounds + 1,
        };
        let estimator = &mut self.recipe.estimator;
        estimator.estimate(weights, &mut probe)?;
        self.round.lookahead.refill(estimator, weights, &self.source);
        Ok(())
    }

    /// One round of mirror descent: estimate, average, step.
    #[inline(always)]
    fn descend(&mut self, steps: Steps, weight: f64) -> Result<()> {
        self.estimate(false, steps)?;
        if weight > 0.0 {
            self.point.accumulate(weight);
            self.weights.accumulate(weight);
        }
        self.point.step(steps.eta_w, self.game.ridge, &self.round.gradient, &self.source);
        self.weights.step(steps.eta_q, &self.round.gains);
        Ok(())
    }

    /// One round of mirror-prox: from the anchor to the lead, average the lead, and move the anchor
    /// by the estimate at the lead.
    fn mirror_prox(&mut self, steps: Steps, weight: f64) -> Result<()> {
        let ridge = self.game.ridge;
        self.estimate(true, steps)?;
        if let Some((anchor, anchor_weights)) = &self.anchor {
            self.point.jump_to(anchor);
            self.weights.jump_to(anchor_weights);
        }
        self.point.step(steps.eta_w, ridge, &self.round.gradient, &self.source);
        self.weights.step(steps.eta_q, &self.round.gains);
        self.estimate(false, steps)?;
        if weight > 0.0 {
            self.point.accumulate(weight);
            self.weights.accumulate(weight);
        }
        if let Some((anchor, anchor_weights)) = &mut self.anchor {
            self.round.gradient.forget_score();
            anchor.step(steps.eta_w, ridge, &self.round.gradient, &self.source);
            anchor_weights.step(steps.eta_q, &self.round.gains);
        }
        Ok(())
    }

    /// Ends a stretch of a suffix average when it is due.
    fn restart_average(&mut self) {
        let Some(stretch) = &mut self.stretch else { return };
        stretch.length = self.point.write_average(&mut stretch.model);
        self.weights.write_average(&mut stretch.weights);
        // The last stretch ends with the planned number of rounds: it is the answer and stays.
        if self.recipe.rounds != Some(self.rounds) {
            self.point.restart_average();
            self.weights.restart_average();
        }
        self.next_restart = next_restart(self.rounds, suffix_total(&self.recipe));
    }

    /// Takes over a state, part by part; one that does not fit may leave some parts changed.
    fn take_over(&mut self, state: &State) -> Result<()> {
        let mismatch = |what: &str| Err(Error::State(format!("{what} of another solver")));
        if state.samples.len() != self.round.samples.len() {
            return mismatch("sample counts");
        }
        match (&mut self.anchor, &state.anchor) {
            (None, None) => {}
            (Some((w, q)), Some((saved_w, saved_q))) => {
                w.restore(saved_w)?;
                q.restore(saved_q)?;
            }
            _ => return mismatch("the anchor"),
        }
        match (&mut self.stretch, &state.stretch) {
            (None, None) => {}
            (Some(mine), Some((model, weights, length)))
                if model.len() == mine.model.len() && weights.len() == mine.weights.len() =>
            {
                mine.model.copy_from_slice(model);
                mine.weights.copy_from_slice(weights);
                mine.length = *length;
            }
            _ => return mismatch("the suffix average"),
        }
        if state.own.len() != self.own.len() {
            return mismatch("the groups' own models");
        }
        for (own, saved) in self.own.iter_mut().zip(&state.own) {
            own.point.restore(saved)?;
        }
        if !state.mark.is_empty() && state.mark.len() != self.point.len() {
            return mismatch("the marked model");
        }
        if !state.kept.fits(self.game.groups(), self.source.features()) {
            return mismatch("the kept samples");
        }
        self.point.restore(&state.model)?;
        self.weights.restore(&state.weights)?;
        self.source.restore(&state.source)?;
        self.recipe.estimator.restore(&state.estimator)?;
        self.round.lookahead.restart(&state.streams);
        self.round.kept.clone_from(&state.kept);
        self.round.mark.clone_from(&state.mark);
        self.round.samples.copy_from_slice(&state.samples);
        self.round.clipped = state.clipped;
        self.rounds = state.rounds;
        self.next_restart = next_restart(state.rounds, suffix_total(&self.recipe));
        Ok(())
    }

    /// Blends what a running average has (`length` rounds) with the finished stretch, while the
    /// former is shorter.
    fn blend(&self, out: &mut [f64], length: f64, finished: impl Fn(&Stretch) -> &[f64]) {
        if let Some(stretch) = &self.stretch
            && length < stretch.length
        {
            let share = length / (length + stretch.length);
            for (o, s) in out.iter_mut().zip(finished(stretch)) {
                *o = share * *o + (1.0 - share) * s;
            }
        }
    }
}

/// The number of rounds whose halves are the stretches of a suffix average.
fn suffix_total<E>(recipe: &Recipe<E>) -> u64 {
    recipe.rounds.unwrap_or(1 << 62)
}

impl<L, S, I, Q, E> Solver for Saddle<L, S, I, Q, E>
where
    L: Loss,
    S: Source,
    I: Iterate + Clone,
    Q: GroupWeights + Clone,
    E: Estimator,
{
    fn advance(&mut self, rounds: u64) -> Result<()> {
        let is_constant = matches!(self.recipe.schedule, Schedule::Constant(_));
        let (mut steps, mut weight) = self.plan(self.rounds + 1);
        for _ in 0..rounds {
            let t = self.rounds + 1;
            if !is_constant {
                (steps, weight) = self.plan(t);
            }
            match self.recipe.rule {
                Rule::Descent => self.descend(steps, weight)?,
                Rule::MirrorProx => self.mirror_prox(steps, weight)?,
            }
            self.rounds = t;
            if t == self.next_restart {
                self.restart_average();
            }
        }
        Ok(())
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn steps(&self) -> Steps {
        self.recipe.schedule.at(self.rounds + 1)
    }

    fn average(&self) -> Average {
        self.recipe.average
    }

    fn samples(&self) -> &[u64] {
        &self.round.samples
    }

    fn clipped(&self) -> u64 {
        self.round.clipped
    }

    fn model_len(&self) -> usize {
        self.point.len()
    }

    fn write_model(&self, w: &mut [f64]) {
        let length = self.point.write_average(w);
        self.blend(w, length, |stretch| &stretch.model);
    }

    fn write_weights(&self, q: &mut [f64]) {
        let length = self.weights.write_average(q);
        self.blend(q, length, |stretch| &stretch.weights);
    }

    fn write_last(&self, w: &mut [f64], q: &mut [f64]) {
        self.point.write(w);
        self.weights.write(q);
    }

    fn start_at(&mut self, start: &Start) -> Result<()> {
        if self.rounds > 0 {
            return Err(Error::State("a solver that has played starts no more".into()));
        }
        let (found, expected) = (start.model.len(), self.point.len());
        if found != expected {
            return Err(Error::Length { what: "start", found, expected });
        }
        self.point.start_at(&start.model);
        if let Some(weights) = &start.weights
            && self.weights.restore(weights).is_ok()
        {
            self.weights.restart_average();
        }
        if let Some((anchor, anchor_weights)) = &mut self.anchor {
            anchor.start_at(&start.model);
            anchor_weights.jump_to(&self.weights);
        }
        Ok(())
    }

    fn save(&self) -> State {
        State {
            rounds: self.rounds,
            samples: self.round.samples.clone(),
            clipped: self.round.clipped,
            streams: self.round.lookahead.streams().clone(),
            model: self.point.save(),
            weights: self.weights.save(),
            anchor: self.anchor.as_ref().map(|(w, q)| (w.save(), q.save())),
            stretch: self.stretch.as_ref().map(|s| (s.model.clone(), s.weights.clone(), s.length)),
            source: self.source.save(),
            estimator: self.recipe.estimator.save(),
            own: self.own.iter().map(|own| own.point.save()).collect(),
            kept: self.round.kept.clone(),
            mark: self.round.mark.clone(),
        }
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let before = self.save();
        let taken = self.take_over(state);
        if taken.is_err() {
            self.take_over(&before)?;
        }
        taken
    }
}
