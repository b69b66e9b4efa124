//! Training by name: an objective on rows in memory as the game that it means.
//!
//! ```
//! use std::sync::Arc;
//!
//! use gdro::exact::{Options, minimize};
//! use gdro::loss::Logistic;
//! use gdro::setting::{Setting, Terms};
//! use gdro::{Dataset, Matrix};
//!
//! let x = Arc::new(Matrix::dense(1, vec![-1.0, 0.5, 1.0, -0.3])?);
//! let data = Dataset::new(x, vec![-1.0, 1.0, 1.0, 1.0], None, &[vec![0, 1], vec![2, 3]])?;
//! let terms = Terms { l2: 0.1, ..Terms::new("top-k:1.5".parse()?) };
//! let setting = Setting::new(data, Logistic, &terms)?;
//! let found = minimize(&setting.data, &setting.loss, &setting.problem(), &Options::default())?;
//! assert!(setting.certify(&found.w, &found.q)?.gap < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod conflict;
mod constant;
mod objective;
mod size;

pub use constant::Constant;
pub use objective::{Objective, Prior, SolverName, Tilt};
pub use size::Size;

pub use crate::error::Conflict;

use crate::certificate::{Certificate, certify, certify_at_once};
use crate::dataset::Dataset;
use crate::domain::{AnyMap, Domain, DomainSpec, MirrorMap as _};
use crate::error::{Result, require};
use crate::exact::{Goal, Keeper, Options, Problem, group_optima, minimize_kept};
use crate::game::Game;
use crate::loss::{Loss, Targets};

/// Steps of dual ascent in a certificate.
const ASCENT: usize = 12;

/// How far from 0 steps may take a free intercept, but for targets that are larger.
const INTERCEPT: f64 = 100.0;

/// How far from 0 the steps of a player may take a free intercept: 100, or for numbers twice the largest |y| where that is more.
pub fn intercept_bound(targets: Targets, largest_target: f64) -> f64 {
    match targets {
        Targets::Numbers => (2.0 * largest_target).clamp(INTERCEPT, f64::MAX),
        Targets::Labels | Targets::Classes => INTERCEPT,
    }
}

/// Ordinary training, with which a robust model is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Empirical risk minimisation: every row counts alike.
    Erm,
    /// Every group counts alike.
    Balanced,
}

/// What is minimised, and within which bounds.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The objective.
    pub objective: Objective,
    /// Ridge λ.
    pub l2: f64,
    /// The set of the weights.
    pub domain: DomainSpec,
    /// How far from 0 the steps of a player may take an intercept that is free of ridge and set; no
    /// intercept when absent. The optimum knows no such bound.
    pub intercept: Option<f64>,
    /// Weights of the groups under which rows count alike: for [`Objective::Average`] by default the
    /// shares of the groups, which must have every row once between them; for the prior of
    /// [`Prior::Rows`] by default the [`family_shares`] of groups of one family.
    pub shares: Option<Vec<f64>>,
    /// C of the offsets −C/√n_i; none when absent.
    pub adjustment: Option<f64>,
    /// Offsets b_i; those of the objective when absent.
    pub offsets: Option<Vec<f64>>,
    /// Scale factors p_i; 1 when absent.
    pub scales: Option<Vec<f64>>,
}

impl Terms {
    /// An objective with free weights, without ridge, intercept, offsets and scales.
    pub fn new(objective: Objective) -> Self {
        Terms {
            objective,
            l2: 0.0,
            domain: DomainSpec::Free,
            intercept: None,
            shares: None,
            adjustment: None,
            offsets: None,
            scales: None,
        }
    }
}

/// Rows, loss, domain and game: what a solver minimises.
#[derive(Clone, Debug)]
pub struct Setting<L> {
    /// Training rows.
    pub data: Dataset,
    /// The loss.
    pub loss: L,
    /// Where the model may lie.
    pub domain: Domain<AnyMap>,
    /// Scales, offsets, ridge and cap.
    pub game: Game,
    /// Who plays q.
    pub goal: Goal,
    /// How far the offsets may be off (minimax regret).
    pub offset_errors: Option<Vec<f64>>,
}

impl<L: Loss + Sync> Setting<L> {
    /// The game of an objective on rows.
    ///
    /// # Errors
    /// For targets that the loss does not accept, parameters out of range, and lengths that are not
    /// the number of groups; those of [`group_optima`] for minimax regret.
    pub fn new(data: Dataset, loss: L, terms: &Terms) -> Result<Self> {
        loss.check(&data)?;
        let mut domain = Domain::new(terms.domain.map()?);
        if let Some(bound) = terms.intercept {
            domain = domain.with_free_intercept(bound)?;
        }
        let m = data.groups();
        let mut game = Game::gdro(m).with_ridge(terms.l2);
        let mut goal = Goal::Adversary;
        let mut offset_errors = None;
        match terms.objective {
            Objective::Max => {}
            Objective::TopK(k) => game.k = k,
            Objective::Balanced => goal = Goal::Fixed(vec![1.0 / m as f64; m]),
            Objective::Average => {
                goal = Goal::Fixed(match &terms.shares {
                    Some(shares) => shares.clone(),
                    None => row_shares(&data, 0..m)?,
                });
            }
            Objective::Tilted(Tilt { tau, prior }) => {
                let prior = match (prior, &terms.shares) {
                    (Prior::Groups, _) => vec![1.0 / m as f64; m],
                    (Prior::Rows, Some(shares)) => shares.clone(),
                    (Prior::Rows, None) => family_shares(&data, &vec![0; m]),
                };
                goal = Goal::Tilted { prior, tau };
            }
            Objective::Regret => {
                let optima = group_optima(&data, &loss, &domain, terms.l2)?;
                game.offsets = optima.iter().map(|o| o.risk).collect();
                offset_errors = Some(optima.iter().map(|o| o.error).collect());
            }
        }
        if let Some(c) = terms.adjustment {
            game.offsets = data.counts().iter().map(|n| -c / (*n as f64).sqrt()).collect();
        }
        if let Some(offsets) = &terms.offsets {
            game.offsets.clone_from(offsets);
        }
        if let Some(scales) = &terms.scales {
            game.scales.clone_from(scales);
        }
        game.check()?;
        Ok(Setting { data, loss, domain, game, goal, offset_errors })
    }

    /// The problem for the reference solver and for certificates.
    pub fn problem(&self) -> Problem<'_, AnyMap> {
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

    /// What decides which solver is the right one.
    pub fn size(&self) -> Size {
        Size::of(&self.data, &self.loss, self.model_len()).over(&self.domain.map.constraints())
    }

    /// Whether the groups are compared after offsets.
    pub fn has_offsets(&self) -> bool {
        self.game.offsets.iter().any(|b| *b != 0.0)
    }

    /// The objective of group risks, without the ridge.
    pub fn objective(&self, risks: &[f64]) -> f64 {
        let payoff = |(i, r): (usize, &f64)| self.game.payoff(i, *r);
        let payoffs: Vec<f64> = risks.iter().enumerate().map(payoff).collect();
        self.goal.value(&payoffs, self.game.k)
    }

    /// The certificate of a model and group weights, with up to 12 steps of dual ascent.
    ///
    /// # Errors
    /// Those of [`certify`].
    pub fn certify(&self, w: &[f64], q: &[f64]) -> Result<Certificate> {
        self.certify_with(&self.loss, w, q)
    }

    /// The same by a loss that is this setting's, but may refuse to go on.
    ///
    /// # Errors
    /// Those of [`certify`], and of the loss.
    pub fn certify_with<W: Loss + Sync>(
        &self,
        loss: &W,
        w: &[f64],
        q: &[f64],
    ) -> Result<Certificate> {
        let errors = self.offset_errors.as_deref();
        certify(&self.data, loss, &self.problem(), w, q, errors, ASCENT)
    }

    /// The duality gap of a model and group weights, ε_φ(w, q) of `eqn:per:measure`: the lower bound is
    /// that of q itself, min_w φ(w, q), where [`Setting::certify`] looks for better weights.
    ///
    /// # Errors
    /// Those of [`certify`].
    pub fn duality_gap(&self, w: &[f64], q: &[f64]) -> Result<Certificate> {
        let errors = self.offset_errors.as_deref();
        certify(&self.data, &self.loss, &self.problem(), w, q, errors, 0)
    }

    /// The certificate that a model and group weights have by themselves ([`certify_at_once`]).
    ///
    /// # Errors
    /// Those of [`certify`].
    pub fn certify_at_once(&self, w: &[f64], q: &[f64]) -> Result<Certificate> {
        let errors = self.offset_errors.as_deref();
        certify_at_once(&self.data, &self.loss, &self.problem(), w, q, errors)
    }

    /// Ordinary training to its optimum, under the domain and ridge of this setting, from a model
    /// that may be near, if there is one. Offsets and scales play no part.
    ///
    /// # Errors
    /// Those of [`crate::exact::minimize`].
    pub fn ordinary(&self, which: Baseline, start: Option<Vec<f64>>) -> Result<Vec<f64>> {
        self.ordinary_kept(which, start, &mut Keeper::default())
    }

    /// The same with a keeper of where it stands ([`minimize_kept`]).
    ///
    /// # Errors
    /// Those of [`minimize_kept`].
    pub fn ordinary_kept(
        &self,
        which: Baseline,
        start: Option<Vec<f64>>,
        keeper: &mut Keeper<'_>,
    ) -> Result<Vec<f64>> {
        let pooled;
        let data = match which {
            Baseline::Erm => {
                pooled = self.data.pooled()?;
                &pooled
            }
            Baseline::Balanced => &self.data,
        };
        let m = data.groups();
        let game = Game::gdro(m).with_ridge(self.game.ridge);
        let goal = Goal::Fixed(vec![1.0 / m as f64; m]);
        let problem = Problem { game: &game, goal, ..self.problem() };
        // For non-smooth losses every digit costs as much as the one before.
        let relative = if self.loss.is_nonsmooth() { 1e-6 } else { 1e-8 };
        let options = Options { relative, start, ..Options::default() };
        Ok(minimize_kept(data, &self.loss, &problem, &options, keeper)?.w)
    }
}

/// Weights of the groups under which every row counts once: the shares of `groups`, which must
/// have all rows between them, and 0 for the others.
///
/// # Errors
/// [`crate::Error::Parameter`] when they have not.
pub fn row_shares(data: &Dataset, groups: impl IntoIterator<Item = usize>) -> Result<Vec<f64>> {
    let groups: Vec<usize> = groups.into_iter().collect();
    let rows: usize = groups.iter().map(|group| data.members(*group).len()).sum();
    let expected = "groups that have every row once between them";
    require(rows == data.rows(), "objective", "average", expected)?;
    let mut shares = vec![0.0; data.groups()];
    let total: f64 = groups.iter().map(|group| data.total_weight(*group)).sum();
    groups.into_iter().for_each(|group| shares[group] = data.total_weight(group) / total);
    Ok(shares)
}

/// Weights of the groups under which the rows of each family count alike, and the families between
/// them: with n_i the sum of the weights of the rows of group i, n_i/Σ_{j in its family} n_j over the
/// number of families. `families` is the family of each group, by any number.
///
/// # Panics
/// When there are fewer families than groups.
pub fn family_shares(data: &Dataset, families: &[usize]) -> Vec<f64> {
    let mut totals = std::collections::BTreeMap::<usize, f64>::new();
    let families = &families[..data.groups()];
    for (group, family) in families.iter().enumerate() {
        *totals.entry(*family).or_default() += data.total_weight(group);
    }
    let count = totals.len() as f64;
    let share = |(group, family)| data.total_weight(group) / totals[family] / count;
    families.iter().enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Matrix;
    use crate::loss::Squared;
    use crate::risk::group_risks;

    fn rows(members: &[Vec<u32>]) -> Dataset {
        let x = Arc::new(Matrix::dense(1, vec![1.0, 1.0, 2.0, -1.0]).unwrap());
        Dataset::new(x, vec![1.0, 3.0, 2.0, 5.0], None, members).unwrap()
    }

    fn at(terms: &Terms, w: &[f64]) -> f64 {
        let setting = Setting::new(rows(&[vec![0], vec![1, 2, 3]]), Squared, terms).unwrap();
        assert_eq!(setting.model_len(), w.len());
        let risks = group_risks(&setting.loss, w, &setting.data).unwrap();
        setting.objective(&risks)
    }

    #[test]
    fn objectives_are_what_their_names_say() {
        // At w = 0 the risks are 1 and (9 + 4 + 25)/3.
        let of = |name: &str| at(&Terms { l2: 1.0, ..Terms::new(name.parse().unwrap()) }, &[0.0]);
        let (a, b) = (1.0, 38.0 / 3.0);
        assert!((of("max") - b).abs() < 1e-12);
        assert!((of("top-k:1.5") - (b + 0.5 * a) / 1.5).abs() < 1e-12);
        assert!((of("balanced") - (a + b) / 2.0).abs() < 1e-12);
        assert!((of("average") - 39.0 / 4.0).abs() < 1e-12);
        // Alone, (1 − w)² + w²/2 and the mean of (3 − w)², (2 − 2w)², (5 + w)² and w²/2:
        // w = 2/3 with risk 1/9, and w = 2/5 · 1/3 = 4/15.
        let w: f64 = 4.0 / 15.0;
        let alone =
            ((3.0 - w) * (3.0 - w) + 4.0 * (1.0 - w) * (1.0 - w) + (5.0 + w) * (5.0 + w)) / 3.0;
        let slope = (-2.0 * (3.0 - w) - 8.0 * (1.0 - w) + 2.0 * (5.0 + w)) / 3.0 + w;
        assert!(slope.abs() < 1e-12, "{slope}");
        assert!((of("regret") - (a - 1.0 / 9.0).max(b - alone)).abs() < 1e-7);
    }

    #[test]
    fn offsets_scales_and_intercepts() {
        let terms = Terms { l2: 1.0, ..Terms::new(Objective::Max) };
        let shifted = Terms { offsets: Some(vec![0.0, 20.0]), ..terms.clone() };
        assert_eq!(at(&shifted, &[0.0]), 1.0);
        let scaled = Terms { scales: Some(vec![100.0, 1.0]), ..terms.clone() };
        assert_eq!(at(&scaled, &[0.0]), 100.0);
        let adjusted = Terms { adjustment: Some(3.0), ..terms.clone() };
        assert!((at(&adjusted, &[0.0]) - (38.0 / 3.0 + 3.0 / 3f64.sqrt())).abs() < 1e-12);
        let free = Terms { intercept: Some(100.0), ..terms.clone() };
        assert!((at(&free, &[0.0, 1.0]) - 21.0 / 3.0).abs() < 1e-12);
        let few = Terms { offsets: Some(vec![1.0]), ..terms };
        assert!(Setting::new(rows(&[vec![0, 1], vec![2, 3]]), Squared, &few).is_err());
    }

    #[test]
    fn every_row_counts_once() {
        let families = rows(&[vec![0, 1], vec![2, 3], vec![1, 2], vec![0, 3]]);
        assert_eq!(row_shares(&families, [2, 3]).unwrap(), [0.0, 0.0, 0.5, 0.5]);
        let terms = Terms { l2: 1.0, ..Terms::new(Objective::Average) };
        let refused = Setting::new(families.clone(), Squared, &terms).unwrap_err().to_string();
        assert!(refused.contains("every row once"), "{refused}");
        let shares = Some(row_shares(&families, [0, 1]).unwrap());
        assert!(Setting::new(families, Squared, &Terms { shares, ..terms }).is_ok());
    }

    #[test]
    fn ordinary_training_knows_no_offsets() {
        let terms = Terms { l2: 1.0, offsets: Some(vec![9.0, 0.0]), ..Terms::new(Objective::Max) };
        let setting = Setting::new(rows(&[vec![0], vec![1, 2, 3]]), Squared, &terms).unwrap();
        // (1/4) Σ 2x(xw − y) + w = 0: w = Σ xy/2 / (Σ x²/2 + 1) = (3/2)/(9/2).
        let erm = setting.ordinary(Baseline::Erm, None).unwrap();
        assert!((erm[0] - 1.0 / 3.0).abs() < 1e-6, "{erm:?}");
        // Half each: 2(w − 1)/2 + (1/3)(6w − 2) + w = 0.
        let balanced = setting.ordinary(Baseline::Balanced, None).unwrap();
        assert!((balanced[0] - 5.0 / 12.0).abs() < 1e-6, "{balanced:?}");
        assert_eq!(intercept_bound(Targets::Numbers, 80.0), 160.0);
        assert_eq!(intercept_bound(Targets::Labels, 80.0), 100.0);
    }
}
