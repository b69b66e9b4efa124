//! The trade-off between the worst group and the mean over groups: `path.json`.

use std::sync::atomic::Ordering;

use gdro::domain::DomainSpec;
use gdro::exact::{Options, minimize_kept};
use gdro::loss::Loss as _;
use gdro::risk::group_risks;
use gdro::setting::Baseline;
use serde::Serialize;

use super::within::library;
use crate::failure::{Failure, Result};
use crate::fit::load;
use crate::job::Job;
use crate::prepared::setting_of;
use crate::progress::{Event, Progress};
use crate::scores::each_loss;
use crate::solve::solved;

/// Accuracy of the optima, relative to the problem's own scale ([`Options::relative`]).
const DIGITS: f64 = 1e-9;

/// The same for non-smooth losses, where every digit costs as much as the one before.
const DIGITS_NON_SMOOTH: f64 = 1e-7;

/// The optima of the mean of the k largest group risks, from k = 1 (the largest) to k = m (the mean
/// over groups), beside ordinary training, under the same ridge, domain, offsets and scales.
#[derive(Debug, Serialize)]
pub struct Path {
    /// Ridge λ.
    pub l2: f64,
    /// Radius of the Euclidean ball, if there is one.
    pub ball: Option<f64>,
    /// Another set that the weights lie in, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<DomainSpec>,
    /// Names of the groups with training rows.
    pub groups: Vec<String>,
    /// Names of the groups with rows held out.
    pub test_groups: Vec<String>,
    /// By rising k.
    pub points: Vec<PathPoint>,
    /// Ordinary training.
    pub erm: Risks,
    /// Group-balanced ordinary training: the point at k = m, unless there are offsets or scales.
    pub balanced: Risks,
    /// Whether Ctrl-C cut it short.
    pub interrupted: bool,
}

/// The optimum at one k.
#[derive(Debug, Serialize)]
pub struct PathPoint {
    /// k.
    pub k: usize,
    /// The mean of the k largest payoffs on training rows plus the ridge (λ/2)‖w‖².
    pub objective: f64,
    /// No model can go below.
    pub lower: f64,
    /// The risks of the optimum.
    #[serde(flatten)]
    pub risks: Risks,
}

/// The risks of a model.
#[derive(Debug, Serialize)]
pub struct Risks {
    /// (λ/2)‖w‖².
    pub ridge: f64,
    /// On training rows.
    pub train: PartRisks,
    /// On rows held out, if there are any.
    pub test: Option<PartRisks>,
}

/// The risks of a model on one part.
#[derive(Debug, Serialize)]
pub struct PartRisks {
    /// The largest.
    pub max: f64,
    /// The mean over groups.
    pub mean_groups: f64,
    /// The mean over rows.
    pub mean_rows: f64,
    /// Of each group, in the order of the names.
    pub groups: Vec<f64>,
}

/// About `points` whole k from 1 to m: all of them when there are no more, else with logarithms
/// evenly spaced.
fn ks(m: usize, points: usize) -> Vec<usize> {
    if m <= points {
        return (1..=m).collect();
    }
    let at = |i: usize| (m as f64).powf(i as f64 / (points - 1) as f64).round() as usize;
    let mut ks: Vec<usize> = (0..points).map(at).collect();
    ks.dedup();
    ks
}

/// Draws the trade-off with about so many points.
pub fn path(job: &Job, points: usize, progress: &mut dyn Progress) -> Result<Path> {
    let (table, prepared) = load(job, progress)?;
    drop(table);
    let failed = library(&prepared);
    let setting = setting_of(job, &prepared)?;
    let m = setting.data.groups();
    if m < 2 {
        return Err(Failure::input(
            "--path: one group only has no trade-off: expected at least 2 groups with training rows",
        ));
    }
    let risks = |w: &[f64]| -> gdro::Result<Risks> {
        let weights = &w[..setting.data.features() * setting.loss.outputs()];
        let on = |data: &gdro::Dataset| -> gdro::Result<PartRisks> {
            let groups = group_risks(&setting.loss, w, data)?;
            // Row by row: a row may be in several groups, and counts once.
            let (mut sum, mut total) = (0.0, 0.0);
            each_loss(&setting.loss, data, w, |row, loss, _| {
                sum += data.weight(row) * loss;
                total += data.weight(row);
            })?;
            Ok(PartRisks {
                max: groups.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                mean_groups: groups.iter().sum::<f64>() / groups.len() as f64,
                mean_rows: sum / total,
                groups,
            })
        };
        Ok(Risks {
            ridge: setting.game.ridge / 2.0 * weights.iter().map(|v| v * v).sum::<f64>(),
            train: on(&setting.data)?,
            test: prepared.test.as_ref().map(on).transpose()?,
        })
    };
    let stop = progress.interrupts();
    let ks = ks(m, points);
    progress.tell(Event::Models(ks.len() + 2));
    progress.tell(Event::Model(0, "ordinary training"));
    let checkpoint = progress.checkpoint();
    let ordinary = |stage, which| -> Result<Vec<f64>> {
        solved(&checkpoint, stage, |keeper| {
            setting.ordinary_kept(which, None, keeper).map_err(&failed)
        })
    };
    let erm = risks(&ordinary("ERM", Baseline::Erm)?).map_err(&failed)?;
    let mut near = ordinary("balanced ERM", Baseline::Balanced)?;
    let balanced = risks(&near).map_err(&failed)?;

    let digits = if setting.loss.is_nonsmooth() { DIGITS_NON_SMOOTH } else { DIGITS };
    let (tolerance, relative) = job.training.tol.map_or((0.0, digits), |tol| (tol, 0.0));
    let mut found = Vec::with_capacity(ks.len());
    // From the mean over groups on, from which each optimum is not far from the next.
    for k in ks.iter().rev() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        progress.tell(Event::Model(2 + found.len(), &format!("k = {k}")));
        let mut setting = setting.clone();
        setting.game.k = *k as f64;
        let options = Options { tolerance, relative, start: Some(near), ..Options::default() };
        let best = solved(&checkpoint, &format!("k = {k}"), |keeper| {
            let problem = setting.problem();
            minimize_kept(&setting.data, &setting.loss, &problem, &options, keeper).map_err(&failed)
        })?;
        near = best.w;
        let risks = risks(&near).map_err(&failed)?;
        found.push(PathPoint { k: *k, objective: best.upper, lower: best.lower, risks });
    }
    progress.tell(Event::Done);
    found.reverse();
    if found.is_empty() {
        return Err(Failure::Machine("interrupted before any k was solved".into()));
    }
    let with = |has: fn(&gdro_data::Group) -> bool| {
        prepared.groups.iter().filter(|g| has(g)).map(|g| g.name.clone()).collect()
    };
    Ok(Path {
        l2: job.training.l2,
        ball: job.training.ball,
        domain: job.training.domain,
        groups: with(|g| g.train.is_some()),
        test_groups: with(|g| g.test.is_some()),
        interrupted: found.len() < ks.len(),
        points: found,
        erm,
        balanced,
    })
}

#[cfg(test)]
mod tests {
    use super::ks;

    #[test]
    fn every_k_or_about_so_many() {
        assert_eq!(ks(4, 20), [1, 2, 3, 4]);
        let many = ks(1000, 10);
        assert_eq!((many[0], many.last(), many.len()), (1, Some(&1000), 10));
        assert!(ks(21, 20).windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(ks(21, 20).last(), Some(&21));
    }
}
