//! What is trained: the settings of an estimator as the game that they mean.

use gdro::Dataset;
use gdro::certificate::{Certificate, certify};
use gdro::domain::{Domain, L2Ball};
use gdro::exact::{Goal, Problem, group_optima};
use gdro::game::Game;
use gdro::loss::{AnyLoss, Loss, Targets};
use serde::Deserialize;

/// Steps of dual ascent in a certificate.
const ASCENT: usize = 12;

/// What is minimised, in the words of the job file.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The largest group risk.
    Max,
    /// The mean of the k largest group risks.
    TopK(f64),
    /// The mean over rows.
    Average,
    /// The mean over groups.
    Balanced,
    /// The largest regret.
    Regret,
}

/// The settings of an estimator. Python has checked types; ranges are checked here and in the
/// library.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What is minimised.
    pub objective: Objective,
    /// Name of the loss.
    pub loss: String,
    /// Number of classes; 0 for labels and numbers.
    pub classes: usize,
    /// Ridge λ.
    pub l2: f64,
    /// Radius of the ball.
    pub ball: Option<f64>,
    /// Whether there is an intercept.
    pub fit_intercept: bool,
    /// Offsets b_i of the groups.
    pub offsets: Option<Vec<f64>>,
    /// C of the offsets −C/√n_i.
    pub adjustment: Option<f64>,
    /// Scale factors p_i of the groups.
    pub scales: Option<Vec<f64>>,
    /// Largest certified gap that is good enough.
    pub tol: Option<f64>,
    /// Most iterations of the reference solver.
    pub max_iter: usize,
    /// Number of groups of each family.
    pub families: Vec<usize>,
    /// How an algorithm plays; the reference solver when absent.
    #[serde(default)]
    pub rounds: Option<crate::rounds::Rounds>,
}

impl Settings {
    /// The loss.
    ///
    /// # Errors
    /// What is wrong with its name.
    pub fn loss(&self) -> gdro::Result<AnyLoss> {
        let loss: AnyLoss = self.loss.parse().map_err(|e: String| gdro::Error::user(e))?;
        if self.classes > 0 { loss.with_classes(self.classes) } else { Ok(loss) }
    }
}

/// Data, loss, domain and game.
pub struct Setting<L> {
    /// Training rows.
    pub data: Dataset,
    /// The loss.
    pub loss: L,
    /// Where the model may lie.
    pub domain: Domain<L2Ball>,
    /// Offsets, scales, ridge and cap.
    pub game: Game,
    /// Who plays q.
    pub goal: Goal,
    /// How far the offsets may be off (minimax regret).
    pub offset_errors: Option<Vec<f64>>,
}

impl<L: Loss + Sync> Setting<L> {
    /// The game of settings on rows; `targets` says what kind of targets the loss takes.
    ///
    /// # Errors
    /// For parameters out of range, and those of the reference solver for minimax regret.
    pub fn new(
        settings: &Settings,
        data: Dataset,
        loss: L,
        targets: Targets,
    ) -> gdro::Result<Self> {
        loss.check(&data)?;
        let map = settings.ball.map_or(Ok(L2Ball::unconstrained()), L2Ball::new)?;
        let mut domain = Domain::new(map);
        if settings.fit_intercept {
            // Room for the targets.
            let bound = match targets {
                Targets::Numbers => (2.0 * data.max_abs_target()).clamp(100.0, f64::MAX),
                _ => 100.0,
            };
            domain = domain.with_intercept(bound)?;
        }
        let m = data.groups();
        let mut game = Game::gdro(m).with_ridge(settings.l2);
        let mut offset_errors = None;
        let mut goal = Goal::Adversary;
        match settings.objective {
            Objective::Max => {}
            Objective::TopK(k) => game.k = k,
            Objective::Balanced => goal = Goal::Fixed(vec![1.0 / m as f64; m]),
            Objective::Average => goal = Goal::Fixed(row_shares(&data, &settings.families)),
            Objective::Regret => {
                let optima = group_optima(&data, &loss, &domain, settings.l2)?;
                game.offsets = optima.iter().map(|o| o.risk).collect();
                offset_errors = Some(optima.iter().map(|o| o.error).collect());
            }
        }
        if let Some(c) = settings.adjustment {
            game.offsets = data.counts().iter().map(|n| -c / (*n as f64).sqrt()).collect();
        }
        if let Some(offsets) = &settings.offsets {
            game.offsets.clone_from(offsets);
        }
        if let Some(scales) = &settings.scales {
            game.scales.clone_from(scales);
        }
        game.check()?;
        Ok(Setting { data, loss, domain, game, goal, offset_errors })
    }

    /// The problem for the reference solver and for certificates.
    pub fn problem(&self) -> Problem<'_, L2Ball> {
        Problem {
            game: &self.game,
            domain: &self.domain,
            features: self.data.features(),
            outputs: self.loss.outputs(),
            goal: self.goal.clone(),
        }
    }

    /// Number of numbers in a model.
    pub fn model_len(&self) -> usize {
        let rows = self.data.features() + usize::from(self.domain.intercept.is_some());
        rows * self.loss.outputs()
    }

    /// The objective of risks, without the ridge.
    pub fn objective(&self, risks: &[f64]) -> f64 {
        match &self.goal {
            Goal::Adversary => self.game.objective(risks),
            Goal::Fixed(q) => {
                let payoffs = risks.iter().enumerate().map(|(i, r)| self.game.payoff(i, *r));
                q.iter().zip(payoffs).map(|(q, r)| q * r).sum()
            }
        }
    }

    /// The certificate of a model and group weights.
    ///
    /// # Errors
    /// Those of [`certify`].
    pub fn certify(&self, w: &[f64], q: &[f64]) -> gdro::Result<Certificate> {
        let errors = self.offset_errors.as_deref();
        certify(&self.data, &self.loss, &self.problem(), w, q, errors, ASCENT)
    }
}

/// Weights of the groups under which every row counts once: the shares of the groups of the first
/// family, which has all rows, and 0 for those of the others.
fn row_shares(data: &Dataset, families: &[usize]) -> Vec<f64> {
    let first = families.first().copied().unwrap_or(1);
    let total: f64 = (0..first).map(|i| data.total_weight(i)).sum();
    (0..data.groups()).map(|i| if i < first { data.total_weight(i) / total } else { 0.0 }).collect()
}
