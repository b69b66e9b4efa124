//! The largest risks of two models, and whether one is below the other.

use super::compare::check_pairs;
use super::draws::{Draws, Orders};
use super::{Estimate, Interval, Pairs, Settings};
use crate::error::{Error, Result, require};
use serde::{Deserialize, Serialize};

/// Training rows from which on a group is large enough for [`Headline::choose`].
pub const TRAINING_ROWS: usize = 20;

/// Held-out rows from which on a group is large enough for [`Headline::choose`].
pub const HELD_OUT_ROWS: usize = 30;

/// What [`largest`] is told before the losses of held-out rows are seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// The groups H among which the largest risks are taken, by their index.
    pub groups: Vec<usize>,
    /// A group of H for the first and one for the second model, each thought to be the worst one of
    /// its model. Any choice is valid; that by training risks makes intervals narrow.
    pub worst: [usize; 2],
}

impl Headline {
    /// The groups with at least [`TRAINING_ROWS`] rows for training and [`HELD_OUT_ROWS`] held out,
    /// and those of them with the largest training risk under each model, the first one at ties;
    /// `None` when no group is large enough. `rows[i]` has the numbers of rows of group i for
    /// training and held out, `training_risk(i)` its risks in training under both models.
    pub fn choose(rows: &[[usize; 2]], training_risk: impl Fn(usize) -> [f64; 2]) -> Option<Self> {
        let is_large = |i: &usize| rows[*i][0] >= TRAINING_ROWS && rows[*i][1] >= HELD_OUT_ROWS;
        let groups: Vec<usize> = (0..rows.len()).filter(is_large).collect();
        let first = *groups.first()?;
        let worst = [0, 1].map(|model| {
            let risk = |i: usize| training_risk(i)[model];
            groups.iter().fold(first, |worst, i| if risk(*i) > risk(worst) { *i } else { worst })
        });
        Some(Headline { groups, worst })
    }
}

/// Whether a model is better than another on the group that is worst for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Its largest risk is smaller.
    #[serde(rename = "HELPED")]
    Helped,
    /// Its largest risk is larger.
    #[serde(rename = "HURT")]
    Hurt,
    /// The rows do not tell.
    #[serde(rename = "NO CLEAR EVIDENCE")]
    Unclear,
    /// There are no rows that could.
    #[serde(rename = "NO HELD-OUT ROWS")]
    NoRows,
}

impl Verdict {
    /// The verdict in capitals: `HELPED`, `HURT`, `NO CLEAR EVIDENCE` or `NO HELD-OUT ROWS`.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Helped => "HELPED",
            Verdict::Hurt => "HURT",
            Verdict::Unclear => "NO CLEAR EVIDENCE",
            Verdict::NoRows => "NO HELD-OUT ROWS",
        }
    }
}

/// What [`largest`] returns: the largest risks of two models among the groups of a [`Headline`].
/// Losses and weights are capped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Largest {
    /// The largest risk of each model on the rows, and its group, the first one at ties.
    pub worst: [(usize, f64); 2],
    /// The largest risk of the first model minus that of the second, as the rows have it.
    pub difference: f64,
    /// Contains the difference of the true ones with probability at least 1 − δ, each end with 1 −
    /// δ/2.
    pub interval: Interval,
}

impl Largest {
    /// That of a model with itself: the difference is 0, whatever the rows are.
    #[must_use]
    pub fn with_itself(self) -> Self {
        let worst = [self.worst[0]; 2];
        Largest { worst, difference: 0.0, interval: Interval::ZERO }
    }

    /// [`Verdict::Helped`] if the whole interval is below 0, [`Verdict::Hurt`] if it is above 0. Each
    /// of the two is wrong with probability at most δ/2.
    pub fn verdict(&self) -> Verdict {
        match self.interval {
            Interval { high, .. } if high < 0.0 => Verdict::Helped,
            Interval { low, .. } if low > 0.0 => Verdict::Hurt,
            _ => Verdict::Unclear,
        }
    }
}

/// An interval for θ = max_{i ∈ H} R_i(a) − max_{i ∈ H} R_i(b), R_i(·) the mean of min(ℓ, M) in group
/// i, of two models on the same held-out rows.
///
/// **Upper end.** With α = δ/2, and j the group that the [`Headline`] names for the second model, it is
/// the largest of
///
/// - the upper bound of R_j(a) − R_j(b) at level α, for j, by betting on the differences of the rows;
/// - min(P_i, U_i − L_j) for every other group i of H, with P_i the upper bound of R_i(a) − R_i(b),
///   U_i that of R_i(a) and L_j the lower bound of R_j(b), each at level α/3.
///
/// **Why it holds.** Let i* ∈ H be a group with the largest R_i(a): a fixed one, which no row
/// decides. Since max_i R_i(b) is at least R_{i*}(b) and at least R_j(b), θ is at most R_{i*}(a) −
/// R_{i*}(b) and at most R_{i*}(a) − R_j(b). If i* = j, the bound for j fails with probability at most
/// α; if not, one of the three of i* fails with probability at most α. The end is at least what
/// these say, whatever the bounds of the other groups do. So the number of groups costs nothing:
/// each of them would have to be refuted, and each at the full level (an intersection–union test).
/// The groups may depend on each other, and share rows.
///
/// The lower end is minus the upper end for the models exchanged, with the group of the first model.
///
/// Where both models are worst on the same group, this is about as narrow as the paired interval of
/// that group alone; [`Comparison::worst`](super::Comparison::worst) is as wide as the groups differ.
///
/// Weights, clusters, order: as in [`compare`](super::compare()).
///
/// # Errors
/// As [`compare`](super::compare()), and [`Error::Parameter`] for a headline without groups, with one
/// that is not there or has no rows, or whose worst groups are not among its groups, and for groups
/// whose rows all have weight 0.
pub fn largest(groups: &[Pairs], headline: &Headline, settings: &Settings) -> Result<Largest> {
    check_pairs(groups, settings)?;
    let is_there = |i: &usize| groups.get(*i).is_some_and(|pairs| !pairs.first.is_empty());
    let wrong = headline.groups.iter().find(|i| !is_there(i));
    if let Some(i) = wrong {
        return Err(Error::parameter("headline", format!("group {i}"), "groups with rows"));
    }
    let is_in = headline.worst.iter().all(|i| headline.groups.contains(i));
    require(is_in, "headline", format!("worst groups {:?}", headline.worst), "some of its groups")?;

    let mut orders = Orders::new(settings.seed);
    let draws: Vec<Draws> = groups
        .iter()
        .map(|pairs| {
            let rows = pairs.first.len();
            Draws::new(rows, pairs.weights, pairs.clusters, settings, &mut orders)
        })
        .collect();
    let cap = settings.cap;
    let loss = |model: usize, i: usize, row: usize| {
        [groups[i].first, groups[i].second][model][row].min(cap)
    };
    // Two bounds, each of which holds with probability 1 − `level`: an interval splits its level.
    let bounds = |i: usize, value: &dyn Fn(usize) -> f64, low: f64, level: f64| {
        draws[i].mean(|_| true, value, Interval::new(low, cap), 2.0 * level)
    };
    let (alpha, third) = (settings.delta / 2.0, settings.delta / 6.0);
    let risks = |model: usize| -> Result<Vec<Estimate>> {
        let risk = |i: &usize| bounds(*i, &|row| loss(model, *i, row), 0.0, third);
        headline.groups.iter().map(risk).collect()
    };
    let risks = [risks(0)?, risks(1)?];
    let floor = [0, 1].map(|model| {
        let at = headline.groups.iter().position(|i| *i == headline.worst[model]);
        at.map_or(0.0, |at| risks[model][at].interval.low)
    });
    let upper_end = |new: usize| -> Result<f64> {
        let old = 1 - new;
        let mut most = -cap;
        for (i, risk) in headline.groups.iter().zip(&risks[new]) {
            let paired = |level| {
                let difference = |row| loss(new, *i, row) - loss(old, *i, row);
                Ok::<f64, Error>(bounds(*i, &difference, -cap, level)?.interval.high)
            };
            most = most.max(if *i == headline.worst[old] {
                paired(alpha)?
            } else {
                paired(third)?.min(risk.interval.high - floor[old])
            });
        }
        Ok(most)
    };
    let interval = Interval::new(-upper_end(1)?, upper_end(0)?);
    let worst = [0, 1].map(|model| {
        let points = risks[model].iter().zip(&headline.groups);
        let points = points.filter_map(|(risk, i)| Some((*i, risk.value?)));
        points.reduce(|worst, next| if next.1 > worst.1 { next } else { worst })
    });
    let [Some(first), Some(second)] = worst else {
        return Err(Error::parameter("weights", "none above 0", "some in each group"));
    };
    let worst = [first, second];
    Ok(Largest { worst, difference: worst[0].1 - worst[1].1, interval })
}
