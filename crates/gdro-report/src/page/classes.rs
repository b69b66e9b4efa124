//! Two classes on the groups, as the script draws them.

use std::collections::{BTreeMap, BTreeSet};

use gdro_train::classes::Classes;
use serde::Serialize;

/// Most groups whose curves are in the page, for each model under which they are the worst.
const CURVES: usize = 30;

/// A model on the groups.
#[derive(Debug, Serialize)]
pub struct Detail {
    /// Numbers of rows of each group: true negatives, false positives, false negatives, true positives.
    counts: Vec<[usize; 4]>,
    pub selection_rate: Vec<Option<f64>>,
    base_rate: Vec<Option<f64>>,
    /// By the index of the group.
    curves: BTreeMap<usize, Curves>,
}

/// Curves of a group, with the digits that a chart shows.
#[derive(Debug, Serialize)]
struct Curves {
    /// Mean probability, share of positive rows and number of rows of each bin.
    calibration: Vec<(f64, f64, usize)>,
    roc: Vec<[f64; 2]>,
}

impl Detail {
    /// Of a model that does this on the groups, with the curves of some of them.
    pub fn of(classes: &[Classes], groups: &BTreeSet<usize>) -> Option<Self> {
        let short = |v: f64| (1e4 * v).round() / 1e4;
        let curves = |group: &usize| {
            let of = &classes[*group];
            let bins = of.calibration.iter();
            let calibration =
                bins.map(|bin| (short(bin.predicted), short(bin.observed), bin.rows)).collect();
            let roc = of.roc.iter().map(|point| point.map(short)).collect();
            (*group, Curves { calibration, roc })
        };
        (!classes.is_empty()).then(|| Detail {
            counts: classes.iter().map(|c| c.counts).collect(),
            selection_rate: classes.iter().map(|c| c.selection_rate).collect(),
            base_rate: classes.iter().map(|c| c.base_rate).collect(),
            curves: groups.iter().map(curves).collect(),
        })
    }

    /// Number of groups whose curves are kept.
    pub fn with_curves(&self) -> usize {
        self.curves.len()
    }

    /// Numbers of negative and of positive rows of a group.
    pub fn rows(&self, group: usize) -> [usize; 2] {
        let [tn, fp, missed, tp] = self.counts[group];
        [tn + fp, missed + tp]
    }
}

/// The groups whose curves the page has: the worst ones under these columns of risks.
pub fn with_curves<'a>(risks: impl IntoIterator<Item = &'a Vec<Option<f64>>>) -> BTreeSet<usize> {
    let worst = |risks: &Vec<Option<f64>>| {
        let mut order: Vec<usize> = (0..risks.len()).filter(|at| risks[*at].is_some()).collect();
        let risk = |at: &usize| risks[*at].unwrap_or(f64::NEG_INFINITY);
        order.sort_by(|a, b| risk(b).total_cmp(&risk(a)));
        order.truncate(CURVES);
        order
    };
    risks.into_iter().flat_map(worst).collect()
}
