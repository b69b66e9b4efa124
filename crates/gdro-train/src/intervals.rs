//! What the rows held out say about the models, with intervals.

use gdro::Dataset;
use gdro::interval::{self, Binary, Comparison, Evaluation, Pairs, Rows, Settings, compare};
use gdro::loss::{AnyLoss, Loss, Targets};
use gdro::pilot::usual_range;
use gdro_data::Prepared;

use crate::clusters::{Draws, HeavyCluster, with_one};
use crate::job::Training;
use crate::prepared::Setting;
use crate::scores::each_loss;

/// Intervals for several models on the same rows.
pub struct Intervals {
    /// One per model; groups in the order of the table's groups.
    pub evaluations: Vec<Evaluation>,
    /// The first model against the second.
    pub comparison: Comparison,
    /// Clusters that count for less than they weigh.
    pub heavy: Vec<HeavyCluster>,
}

/// What intervals need besides the rows held out, from training rows alone: M, for models that are
/// shown side by side, is what 999 of 1000 of their losses stay below, and B is the largest weight,
/// unless the job gives one. So is S, the largest weight of a cluster in a group, of rows in clusters.
///
/// # Errors
/// Those of [`usual_range`].
pub fn settings(
    training: &Training,
    setting: &Setting,
    models: &[&[f64]],
    heaviest_cluster: Option<f64>,
) -> gdro::Result<Settings> {
    let of = |w: &&[f64]| usual_range(&setting.loss, &setting.data, w);
    let caps: Vec<f64> = models.iter().map(of).collect::<gdro::Result<_>>()?;
    let data = &setting.data;
    let largest = || (0..data.rows()).map(|r| data.weight(r)).fold(0.0, f64::max);
    Ok(Settings {
        delta: training.delta,
        cap: caps.into_iter().fold(0.0, f64::max),
        weight_cap: data.is_weighted().then(|| training.weight_cap.unwrap_or_else(largest)),
        cluster_cap: heaviest_cluster.map(|heaviest| training.cluster_cap.unwrap_or(heaviest)),
        seed: training.seed,
    })
}

/// What a model says about the rows of one group.
#[derive(Clone, Default)]
pub struct Columns {
    losses: Vec<f64>,
    correct: Vec<bool>,
    scores: Vec<f64>,
}

impl Columns {
    /// Takes over what is said about more rows of the group.
    pub fn append(&mut self, mut more: Columns) {
        self.losses.append(&mut more.losses);
        self.correct.append(&mut more.correct);
        self.scores.append(&mut more.scores);
    }
}

impl Intervals {
    /// Intervals on the rows held out; `None` when there are none.
    pub fn new(
        setting: &Setting,
        prepared: &Prepared,
        models: [&[f64]; 3],
        settings: &Settings,
    ) -> gdro::Result<Option<Self>> {
        let Some(test) = &prepared.test else { return Ok(None) };
        let of = |group: &gdro_data::Group| group.test.map_or(&[][..], |i| test.members(i));
        let members: Vec<&[u32]> = prepared.groups.iter().map(of).collect();
        let columns: Vec<Vec<Columns>> = models
            .iter()
            .map(|w| columns(&setting.loss, test, w, &members))
            .collect::<gdro::Result<_>>()?;
        let clusters = prepared.test_clusters.as_ref();
        let draws = Draws::new(clusters, &members, with_one(prepared));
        let names: Vec<String> = prepared.groups.iter().map(|g| g.name.clone()).collect();
        let heavy = draws.heavier(test, clusters, &members, &names, settings.cluster_cap);
        let found = Self::of(&setting.loss, test, &members, &columns, &draws, settings)?;
        Ok(Some(Intervals { heavy, ..found }))
    }

    /// Intervals of models that say `columns[model][group]` about the rows of the groups.
    pub fn of(
        loss: &AnyLoss,
        test: &Dataset,
        members: &[&[u32]],
        columns: &[Vec<Columns>],
        draws: &Draws,
        settings: &Settings,
    ) -> gdro::Result<Self> {
        let evaluations = columns
            .iter()
            .map(|columns| evaluate(loss, test, members, columns, draws, settings))
            .collect::<gdro::Result<_>>()?;
        let weights = weights(test, members);
        let pairs: Vec<Pairs<'_>> = (0..members.len())
            .map(|i| Pairs {
                first: &columns[0][i].losses,
                second: &columns[1][i].losses,
                weights: weights.as_ref().map(|w| &w[i][..]),
                clusters: draws.clusters(i),
            })
            .collect();
        Ok(Intervals { evaluations, comparison: compare(&pairs, settings)?, heavy: Vec::new() })
    }
}

/// What a model says about every row, group by group.
pub fn columns(
    loss: &AnyLoss,
    data: &Dataset,
    w: &[f64],
    members: &[&[u32]],
) -> gdro::Result<Vec<Columns>> {
    let rows = data.rows();
    let (mut losses, mut scores) = (vec![0.0; rows], vec![0.0; rows]);
    let mut correct = vec![None; rows];
    each_loss(loss, data, w, |row, value, s| {
        (losses[row], scores[row]) = (value, s[0]);
        correct[row] = loss.correct(s, data.sample(row).y);
    })?;
    let of = |members: &&[u32]| Columns {
        losses: members.iter().map(|r| losses[*r as usize]).collect(),
        correct: members.iter().filter_map(|r| correct[*r as usize]).collect(),
        scores: members.iter().map(|r| scores[*r as usize]).collect(),
    };
    Ok(members.iter().map(of).collect())
}

/// Intervals of one model.
pub fn evaluate(
    loss: &AnyLoss,
    data: &Dataset,
    members: &[&[u32]],
    columns: &[Columns],
    draws: &Draws,
    settings: &Settings,
) -> gdro::Result<Evaluation> {
    let positive: Vec<Vec<bool>> = members
        .iter()
        .map(|rows| rows.iter().map(|r| data.sample(*r as usize).y > 0.0).collect())
        .collect();
    let weights = weights(data, members);
    let is_binary = loss.targets() == Targets::Labels;
    let is_graded = loss.targets() != Targets::Numbers;
    let rows: Vec<Rows<'_>> = columns
        .iter()
        .enumerate()
        .map(|(i, c)| Rows {
            losses: &c.losses,
            correct: is_graded.then_some(&c.correct[..]),
            binary: is_binary.then_some(Binary { scores: &c.scores, positive: &positive[i] }),
            weights: weights.as_ref().map(|w| &w[i][..]),
            clusters: draws.clusters(i),
        })
        .collect();
    interval::evaluate(&rows, settings)
}

/// Row weights group by group, when rows have any.
fn weights(data: &Dataset, members: &[&[u32]]) -> Option<Vec<Vec<f64>>> {
    let of = |rows: &&[u32]| rows.iter().map(|r| data.weight(*r as usize)).collect();
    data.is_weighted().then(|| members.iter().map(of).collect())
}
