//! What the rows held out say about the models, with intervals.

use std::ops::Range;

use gdro::Dataset;
use gdro::interval::{
    self, Binary, Comparison, Evaluation, Headline, Largest, Pairs, Rows, Settings, compare,
    largest,
};
use gdro::loss::{AnyLoss, Loss, Targets};
use gdro::pilot::usual_range;
use gdro::risk::GroupMetric;
use gdro_data::{Clusters, Prepared};
use serde::{Deserialize, Serialize};

use crate::cap::Constants;
use crate::classes::Classes;
use crate::clusters::{Draws, HeavyCluster, with_one};
use crate::job::Training;
use crate::prepared::Setting;
use crate::scores::each_loss;

/// Intervals for several models on the same rows.
pub struct Intervals {
    /// One per model; groups in the order of the table's groups.
    pub evaluations: Vec<Evaluation>,
    /// One per model: of all rows, each of which counts once, with losses and weights capped.
    pub rows: Vec<GroupMetric>,
    /// The first model against the second.
    pub comparison: Comparison,
    /// The largest risks of the two among the groups of a headline, when there is one.
    pub largest: Option<Largest>,
    /// One per model: what it does with two classes, group by group; empty for other targets.
    pub classes: Vec<Vec<Classes>>,
    /// Clusters that count for less than they weigh.
    pub heavy: Vec<HeavyCluster>,
}

/// What intervals need besides the rows held out, from training rows alone. M is what 999 of 1000
/// losses of the robust model `w` stay below, and not less than what rows lose under the best constant
/// models of their groups; B is the largest weight, unless the job gives one. So is S, the largest
/// weight of a cluster in a group, of rows in clusters.
///
/// # Errors
/// Those of [`usual_range`] and [`Constants::range`].
pub fn settings(
    training: &Training,
    setting: &Setting,
    w: &[f64],
    constants: &Constants,
    heaviest_cluster: Option<f64>,
) -> gdro::Result<Settings> {
    let data = &setting.data;
    let largest = || (0..data.rows()).map(|r| data.weight(r)).fold(0.0, f64::max);
    Ok(Settings {
        delta: training.delta,
        cap: usual_range(&setting.loss, data, w, constants.range()?)?,
        weight_cap: data.is_weighted().then(|| training.weight_cap.unwrap_or_else(largest)),
        cluster_cap: heaviest_cluster.map(|heaviest| training.cluster_cap.unwrap_or(heaviest)),
        seed: training.seed,
    })
}

/// What a model says about the rows of one group.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Columns {
    losses: Vec<f64>,
    correct: Vec<bool>,
    scores: Vec<f64>,
    weights: Vec<f64>,
}

impl Columns {
    /// Takes over what is said about more rows of the group.
    pub fn append(&mut self, mut more: Columns) {
        self.losses.append(&mut more.losses);
        self.correct.append(&mut more.correct);
        self.scores.append(&mut more.scores);
        self.weights.append(&mut more.weights);
    }

    /// Means over all rows, with losses and weights capped.
    pub fn mean(columns: &[Columns], settings: &Settings) -> GroupMetric {
        let heaviest = settings.weight_cap.unwrap_or(f64::INFINITY);
        let (mut risk, mut right, mut total, mut graded) = (0.0, 0.0, 0.0, false);
        for column in columns {
            graded |= !column.correct.is_empty();
            for (row, (loss, weight)) in column.losses.iter().zip(&column.weights).enumerate() {
                let weight = weight.min(heaviest);
                risk += weight * loss.min(settings.cap);
                right += if column.correct.get(row) == Some(&true) { weight } else { 0.0 };
                total += weight;
            }
        }
        GroupMetric { risk: risk / total, accuracy: graded.then_some(right / total) }
    }
}

impl Intervals {
    /// Intervals on the rows held out; `None` when there are none. The headline comes from training
    /// rows and is of the first two models.
    pub fn new(
        setting: &Setting,
        prepared: &Prepared,
        models: [&[f64]; 3],
        headline: Option<&Headline>,
        settings: &Settings,
    ) -> gdro::Result<Option<Self>> {
        let Some(test) = &prepared.test else { return Ok(None) };
        let of = |group: &gdro_data::Group| group.test.map_or(&[][..], |i| test.members(i));
        let members: Vec<&[u32]> = prepared.groups.iter().map(of).collect();
        let all: Vec<u32> = (0..test.rows() as u32).collect();
        let columns: Vec<Vec<Columns>> = models
            .iter()
            .map(|w| columns(&setting.loss, test, w, &[&members[..], &[&all]].concat()))
            .collect::<gdro::Result<_>>()?;
        let clusters = prepared.test_clusters.as_ref();
        let draws = Draws::new(clusters.map(Clusters::codes), &members, with_one(prepared));
        let names: Vec<String> = prepared.groups.iter().map(|g| g.name.clone()).collect();
        let heavy = draws.heavier(test, clusters, &members, &names, settings.cluster_cap);
        let once = members.len()..members.len() + 1;
        let found =
            Self::of(&setting.loss, test, &members, &columns, once, headline, &draws, settings)?;
        Ok(Some(Intervals { heavy, ..found }))
    }

    /// Those of a model that is ordinary training itself, and so the same as the second one.
    #[must_use]
    pub fn with_itself(self) -> Self {
        Intervals {
            comparison: self.comparison.with_itself(),
            largest: self.largest.map(Largest::with_itself),
            ..self
        }
    }

    /// Intervals of models that say `columns[model][group]` about the rows of the groups; those of the
    /// columns `once` hold every row once.
    #[allow(clippy::too_many_arguments)]
    pub fn of(
        loss: &AnyLoss,
        test: &Dataset,
        members: &[&[u32]],
        columns: &[Vec<Columns>],
        once: Range<usize>,
        headline: Option<&Headline>,
        draws: &Draws,
        settings: &Settings,
    ) -> gdro::Result<Self> {
        let rows = columns.iter().map(|columns| Columns::mean(&columns[once.clone()], settings));
        let rows = rows.collect();
        let groups = members.len();
        let evaluations = columns
            .iter()
            .map(|columns| evaluate(loss, test, members, &columns[..groups], draws, settings))
            .collect::<gdro::Result<_>>()?;
        let weights = |i: usize| test.is_weighted().then_some(&columns[0][i].weights[..]);
        let pairs: Vec<Pairs<'_>> = (0..members.len())
            .map(|i| Pairs {
                first: &columns[0][i].losses,
                second: &columns[1][i].losses,
                weights: weights(i),
                clusters: draws.clusters(i),
            })
            .collect();
        let comparison = compare(&pairs, settings)?;
        let largest = headline.map(|h| largest(&pairs, h, settings)).transpose()?;
        let classes = columns.iter().map(|c| classes(loss, test, members, c, settings)).collect();
        Ok(Intervals { evaluations, rows, comparison, largest, classes, heavy: Vec::new() })
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
        weights: members.iter().map(|r| data.weight(*r as usize)).collect(),
    };
    Ok(members.iter().map(of).collect())
}

/// What a model does with two classes, group by group, with weights capped as in the intervals; empty
/// for other targets.
pub fn classes(
    loss: &AnyLoss,
    data: &Dataset,
    members: &[&[u32]],
    columns: &[Columns],
    settings: &Settings,
) -> Vec<Classes> {
    if loss.targets() != Targets::Labels {
        return Vec::new();
    }
    let heaviest = settings.weight_cap.unwrap_or(f64::INFINITY);
    let of = |(positive, column): (Vec<bool>, &Columns)| {
        let weights: Vec<f64> = column.weights.iter().map(|w| w.min(heaviest)).collect();
        Classes::of(&column.scores, &positive, &weights, loss.is_probabilistic())
    };
    positives(data, members).into_iter().zip(columns).map(of).collect()
}

/// Whether rows are positive, group by group.
fn positives(data: &Dataset, members: &[&[u32]]) -> Vec<Vec<bool>> {
    let is_positive = |row: &u32| data.sample(*row as usize).y > 0.0;
    members.iter().map(|rows| rows.iter().map(is_positive).collect()).collect()
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
    let positive = positives(data, members);
    let is_binary = loss.targets() == Targets::Labels;
    let is_graded = loss.targets() != Targets::Numbers;
    let rows: Vec<Rows<'_>> = columns
        .iter()
        .enumerate()
        .map(|(i, c)| Rows {
            losses: &c.losses,
            correct: is_graded.then_some(&c.correct[..]),
            binary: is_binary.then_some(Binary { scores: &c.scores, positive: &positive[i] }),
            weights: data.is_weighted().then_some(&c.weights[..]),
            clusters: draws.clusters(i),
        })
        .collect();
    interval::evaluate(&rows, settings)
}
