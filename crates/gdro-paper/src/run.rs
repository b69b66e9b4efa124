//! One run: an algorithm on one draw of a problem, looked at on the way.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use gdro::algorithm::Algorithm;
use gdro::average::Average;
use gdro::config::Config;
use gdro::game::{Game, top_k_mean};
use gdro::run::{Follower, Look, Outcome, follow};
use serde::{Deserialize, Serialize};

use crate::problem::{Description, Instance, Problem};

/// Changes whenever the same [`RunPlan`] would give other numbers.
const VERSION: u32 = 2;

/// Draws of problems and of samples must not come from the same stream.
const RUN_SEEDS: u64 = 1 << 32;

/// Of problems with more groups only objectives are kept.
const MOST_RISKS: usize = 64;

/// A model of at most so many numbers is kept.
const SHORT_MODEL: usize = 16;

/// When gaps are computed, which may cost more than the run itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Gaps {
    /// At the last look.
    Last,
    /// At every look.
    All,
}

/// All that decides the numbers of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RunPlan {
    pub algorithm: Algorithm,
    pub anytime: bool,
    /// k of the run's own game.
    pub k: f64,
    /// Number of rounds that the steps are meant for.
    pub preset: u64,
    pub step_w: f64,
    pub step_q: f64,
    /// The average; `None` for that of the theorem.
    pub average: Option<Average>,
    pub nbar: Option<u64>,
    /// Scale factors of the game that budgets make.
    pub scales: Option<Vec<f64>>,
    pub seed: u64,
    /// Rounds after which the run is looked at, increasing; the last one ends it.
    pub looks: Vec<u64>,
    pub gaps: Gaps,
}

/// What decides the result of a run, for the cache.
#[derive(Serialize)]
struct Key<'a> {
    version: u32,
    package: &'a str,
    problem: &'a Description,
    tables: &'a str,
    plan: &'a RunPlan,
}

/// What was seen of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trace {
    pub points: Vec<CurvePoint>,
    /// Losses outside of the range of the bandit player.
    pub clipped: u64,
    /// The group whose budget ended the run before its last round.
    pub exhausted: Option<usize>,
    /// The last model, when it is short.
    pub model: Option<Vec<f64>>,
}

impl Trace {
    /// The gap at the last look; no number where it was not computed.
    pub fn gap(&self) -> f64 {
        self.points.last().and_then(|point| point.gap).unwrap_or(f64::NAN)
    }
}

/// One look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CurvePoint {
    pub rounds: u64,
    /// Samples drawn from all groups.
    pub samples: u64,
    /// The objective of the run's own game.
    pub objective: f64,
    /// The mean of all risks.
    pub mean: f64,
    /// The exact duality gap of the run's own game.
    pub gap: Option<f64>,
    /// The risks, unless there are very many.
    pub risks: Vec<f64>,
}

impl CurvePoint {
    /// The mean of the k largest risks, which the run may minimise with another k.
    pub fn objective(&self, k: f64) -> f64 {
        if self.risks.is_empty() { self.objective } else { top_k_mean(&self.risks, k) }
    }
}

impl RunPlan {
    /// The text that the cache knows the run by.
    pub fn key(&self, problem: &Problem) -> String {
        let package = env!("CARGO_PKG_VERSION");
        let Problem { description, fingerprint: tables, .. } = problem;
        let key = Key { version: VERSION, package, problem: description, tables, plan: self };
        serde_json::to_string(&key).expect("numbers and names")
    }

    /// Number of rounds that are played.
    pub fn rounds(&self) -> u64 {
        self.looks.last().copied().unwrap_or(0)
    }

    /// About what the run costs, in coordinates drawn.
    pub fn cost(&self, problem: &Problem) -> u64 {
        let m = problem.groups() as f64;
        let budgets = || problem.budgets().unwrap_or_default().iter().sum::<u64>() as f64;
        let spec = self.algorithm.spec();
        let samples = match spec.draws.per_round(problem.groups(), self.k) {
            Some(draws) => self.rounds() as f64 * draws,
            None if spec.budgets.is_some() => budgets(),
            None => self.rounds() as f64,
        };
        // O(m) work of a round.
        let rounds = self.rounds() as f64 * m;
        let ((plain, gap), looks) = (problem.look_cost(), self.looks.len() as u64);
        let gaps = match self.gaps {
            Gaps::Last => gap,
            Gaps::All => looks * gap,
        };
        (samples * problem.cost() as f64 + 2.0 * rounds) as u64 + looks * plain + gaps
    }

    /// Plays; `None` when `stop` was set before the end. `count` receives the share of the run that
    /// was played since its last call.
    ///
    /// # Errors
    /// Those of the library, but for a budget that is used up.
    pub fn play(
        &self,
        problem: &Problem,
        stop: &AtomicBool,
        count: &dyn Fn(f64),
    ) -> gdro::Result<Option<Trace>> {
        let instance = problem.instance(self.seed)?;
        let config = Config {
            anytime: self.anytime,
            step_w: self.step_w,
            step_q: self.step_q,
            average: self.average,
            nbar: self.nbar,
            seed: self.seed + RUN_SEEDS,
            ..Config::new(self.algorithm, self.preset)
        };
        let mut solver = instance.solver(&config, self.k)?;
        let plain = Game::top_k(problem.groups(), self.k);
        let game = match &self.scales {
            None => plain,
            Some(scales) => Game { scales: scales.clone(), ..plain },
        };
        let mut seen = Seen {
            plan: self,
            game,
            instance: &*instance,
            stop,
            count,
            played: 0,
            at: None,
            points: Vec::new(),
        };
        let next = |t| self.looks.iter().copied().find(|due| *due > t).unwrap_or(u64::MAX);
        let outcome = follow(&mut *solver, self.rounds(), &next, stop, &mut seen)?.outcome;
        let exhausted = match outcome {
            Outcome::Finished => None,
            _ if stop.load(Ordering::Relaxed) => return Ok(None),
            Outcome::Exhausted { group, .. } => Some(group),
            Outcome::Stopped => return Ok(None),
        };
        let points = seen.points;
        let model = solver.model();
        let model = (model.len() <= SHORT_MODEL).then_some(model);
        Ok(Some(Trace { points, clipped: solver.clipped(), exhausted, model }))
    }
}

/// What is seen of a run that is followed.
struct Seen<'a> {
    plan: &'a RunPlan,
    game: Game,
    instance: &'a dyn Instance,
    stop: &'a AtomicBool,
    count: &'a dyn Fn(f64),
    /// Rounds that `count` knows of.
    played: u64,
    /// Rounds at the last look.
    at: Option<u64>,
    points: Vec<CurvePoint>,
}

impl Follower for Seen<'_> {
    fn look(&mut self, look: &Look<'_>) -> gdro::Result<ControlFlow<()>> {
        let before = self.at.replace(look.rounds);
        if before.is_none() {
            // Round 0 is not shown.
            return Ok(ControlFlow::Continue(()));
        }
        let cut = before == self.at || !self.plan.looks.contains(&look.rounds);
        if cut && self.stop.load(Ordering::Relaxed) {
            return Ok(ControlFlow::Break(()));
        }
        let last = cut || look.rounds == self.plan.rounds();
        let risks = self.instance.risks(look.w)?;
        let wanted = match self.plan.gaps {
            Gaps::Last => last,
            Gaps::All => true,
        };
        let gap = || self.instance.gap(&self.game, look.w, look.q);
        let gap = if wanted { Some(gap()?) } else { None };
        self.points.push(CurvePoint {
            rounds: look.rounds,
            samples: look.samples,
            objective: top_k_mean(&risks, self.plan.k),
            mean: risks.iter().sum::<f64>() / risks.len() as f64,
            gap,
            risks: if risks.len() > MOST_RISKS { Vec::new() } else { risks },
        });
        Ok(ControlFlow::Continue(()))
    }

    fn played(&mut self, rounds: u64) {
        (self.count)((rounds - self.played) as f64 / self.plan.rounds() as f64);
        self.played = rounds;
    }
}

/// Rounds at which a run of `rounds` rounds is looked at: so many per decade over the last decades,
/// and `also`.
pub(crate) fn looks(rounds: u64, per_decade: u32, decades: f64, also: Option<u64>) -> Vec<u64> {
    let steps = (f64::from(per_decade) * decades).ceil() as i32;
    let at = |step: i32| {
        let share = 10f64.powf(f64::from(step - steps) / f64::from(per_decade));
        ((rounds as f64 * share).round() as u64).max(1)
    };
    let mut looks: Vec<u64> = (0..=steps).map(at).chain(also.filter(|t| *t <= rounds)).collect();
    looks.sort_unstable();
    looks.dedup();
    looks
}

#[cfg(test)]
mod tests {
    use super::looks;

    #[test]
    fn looks_end_with_the_last_round() {
        assert_eq!(looks(1000, 2, 1.0, None), [100, 316, 1000]);
        assert_eq!(looks(1000, 2, 1.0, Some(500)), [100, 316, 500, 1000]);
        assert_eq!(looks(3, 10, 3.0, Some(7)), [1, 2, 3]);
        assert_eq!(looks(1, 10, 3.0, None), [1]);
    }
}
