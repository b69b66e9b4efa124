//! A saved model on another table.

use std::path::PathBuf;
use std::sync::Arc;

use gdro::Dataset;
use gdro::interval::{Evaluation, Settings};
use gdro::risk::GroupMetric;
use gdro_data::{Clusters, DataOptions, Missing, Table, Weighted};
use serde::Serialize;

use crate::classes::Classes;
use crate::clusters::{Draws, HeavyCluster};
use crate::evaluation::mean_over_rows;
use crate::failure::{Failure, Result};
use crate::files::shared;
use crate::intervals::{Columns, Intervals, classes, columns, evaluate as evaluate_columns};
use crate::model::Model;
use crate::options::Front;
use crate::predict::{filled, unknown};
use crate::prepared::loss_of;
use crate::scores::OneClass;
use crate::verdict::{Evidence, Told, Verdict, next_on_later};

/// A model on a table.
#[derive(Debug, Serialize)]
pub struct Evaluated {
    /// Names of the groups: those of the model, then those that training never saw.
    pub names: Vec<String>,
    /// The family of each group: its columns.
    pub families: Vec<String>,
    /// Number of groups of the model.
    pub known: usize,
    /// Number of rows.
    pub rows: usize,
    /// Level, cap and seed of the intervals.
    pub settings: Settings,
    /// What the rows say.
    pub intervals: Evaluation,
    /// What the model does with two classes: counts, rates and curves, group by group.
    #[serde(skip)]
    pub classes: Vec<Classes>,
    /// The column of the clusters of rows, which are the units of intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Clusters that count for less in intervals than they weigh.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub heavy_clusters: Vec<HeavyCluster>,
    /// Groups of the model that have no row here.
    pub missing: Vec<String>,
    /// The group with the largest clipped risk.
    pub worst_group: Option<String>,
    /// Of all rows, each of which counts once whatever groups it is in, as they are.
    pub mean_over_rows: Mean,
    /// The same with losses and weights capped as in the intervals.
    pub capped_mean_over_rows: Mean,
    /// Whether the model does better here than the ordinary training that it was saved with; null for a
    /// model without.
    pub verdict: Option<Told>,
    /// What else should be known.
    pub notes: Vec<String>,
}

/// Means over rows, by their weights when there are any.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Mean {
    /// The mean loss.
    pub risk: f64,
    /// The share of right predictions; null for losses without accuracy.
    pub accuracy: Option<f64>,
}

/// A model on the files of a table that it was not trained on; intervals hold for all groups at once
/// with probability 1 − `delta`. Rows with weights and clusters of rows count as the caps at most in
/// them, those of the model unless they are given. The model is judged against the ordinary training that
/// it was saved with, unless its own training read one of the files.
///
/// # Errors
/// What is wrong with the table, and a table without a row that can be evaluated; a cap on weights for
/// rows without, or none for rows with weights, neither here nor in the model; likewise for clusters.
pub fn evaluate(
    model: &Model,
    tables: &[PathBuf],
    options: &DataOptions,
    delta: f64,
    caps: Caps,
) -> Result<Evaluated> {
    let table = gdro_data::read_for(tables, options, &model.encoding)?;
    let mut rows = model.encoding.complete_rows(&table)?;
    let mut notes = table.notes().to_vec();
    if rows.len() < table.rows() {
        let incomplete = table.rows() - rows.len();
        notes.push(format!("rows that miss a feature and are left out: {incomplete}"));
    }
    let target = model.target.column();
    if model.job.data.missing.of(target) == Missing::Drop
        && let Some(cells) = table.column(target)
    {
        let before = rows.len();
        rows.retain(|row| !cells.is_missing(*row as usize));
        if rows.len() < before {
            let missing = before - rows.len();
            notes.push(format!("rows that miss the target and are left out: {missing}"));
        }
    }
    let mut weights = weights(&table, &mut rows, model, &mut notes)?;
    let weight_cap = weight_cap_of(model, weights.is_some(), caps.weight)?;
    let assigned = model.grouping.assign(&table, &rows)?;
    // Rows without a group are left out, as in training.
    let grouped: Vec<usize> = (0..rows.len()).filter(|at| assigned.is_grouped(*at)).collect();
    let kept: Vec<u32> = grouped.iter().map(|at| rows[*at]).collect();
    if kept.is_empty() {
        return Err(Failure::input(
            "no row can be evaluated: every row misses a feature, the target or a weight, or is in no group",
        ));
    }
    if grouped.len() < rows.len() {
        let without = rows.len() - grouped.len();
        notes.push(format!(
            "rows that miss a group label, or are of groups left out in training, and are left out: {without}"
        ));
    }
    if let Some(weights) = &mut weights {
        *weights = grouped.iter().map(|at| weights[*at]).collect();
    }
    let clusters = clusters(&table, &kept, model, &mut notes)?;
    let cluster_cap = cluster_cap_of(model, clusters.is_some(), caps.cluster)?;
    let seed = model.job.training.seed;
    let settings = Settings { delta, cap: model.cap, weight_cap, cluster_cap, seed };
    let filled = filled(model, &table, &kept)?;
    let encoded = model.encoding.encode(&table, &kept)?;
    let unknown = unknown(&encoded);
    let targets = model.target.encode(&table, &kept)?;

    let mut names = model.grouping.names().to_vec();
    let known = names.len();
    names.extend(assigned.unseen.iter().cloned());
    let families = model.grouping.families();
    let of_known = (0..known).map(|group| model.grouping.family(group));
    let of_all = of_known.chain(assigned.unseen_families.iter().copied());
    let families = of_all.map(|family| families[family].name()).collect();
    let members = assigned.select(&grouped).members();
    let library = |e| Failure::library(e, &names);
    let present: Vec<Vec<u32>> = members.iter().filter(|m| !m.is_empty()).cloned().collect();
    let data =
        Dataset::new(Arc::new(encoded.matrix), targets, weights, &present).map_err(library)?;
    let (loss, w) = (loss_of(Some(model.loss), &model.target).map_err(library)?, model.w());
    let lists: Vec<&[u32]> = members.iter().map(Vec::as_slice).collect();
    let is_one = |group: usize| model.one_cluster.contains(&names[group]);
    let draws = Draws::new(clusters.as_ref().map(Clusters::codes), &lists, is_one);
    let heavy_clusters = draws.heavier(&data, clusters.as_ref(), &lists, &names, cluster_cap);
    let all: Vec<u32> = (0..data.rows() as u32).collect();
    let parts = [&lists[..], &[&all]].concat();
    let of = |w: &[f64]| columns(&loss, &data, w, &parts).map_err(library);
    let once = lists.len()..parts.len();
    let found = of(&w)?;
    let capped = Columns::mean(&found[once.clone()], &settings);
    let mean = mean_over_rows(&loss, &w, &data).map_err(library)?;
    let (intervals, classes, verdict) = match &model.baseline {
        None => {
            notes.push(
                "no verdict: no baseline in this model file, which ordinary training would be"
                    .into(),
            );
            let groups = &found[..lists.len()];
            let intervals = evaluate_columns(&loss, &data, &lists, groups, &draws, &settings);
            let classes = classes(&loss, &data, &lists, groups, &settings);
            (intervals.map_err(library)?, classes, None)
        }
        Some(baseline) => {
            let training = shared(tables, &model.job.tables);
            let rows: Vec<usize> = lists.iter().map(|rows| rows.len()).collect();
            let rows = baseline.rows(&rows);
            let headline = baseline.headline(&rows).filter(|_| training.is_none());
            let is_ordinary = model.job.training.is_ordinary();
            let erm = if is_ordinary { w.clone() } else { baseline.w() };
            let both = [found, of(&erm)?];
            let found = Intervals::of(
                &loss,
                &data,
                &lists,
                &both,
                once,
                headline.as_ref(),
                &draws,
                &settings,
            );
            let mut found = found.map_err(library)?;
            if is_ordinary {
                found = found.with_itself();
            }
            if let Some(file) = &training {
                notes.push(format!(
                    "warning: the model was trained on {}: these are training rows, which tell nothing \
                     about new ones",
                    file.display()
                ));
            }
            // Of training rows as they are.
            let most = |evaluation: &Evaluation| {
                evaluation.groups.iter().filter_map(|group| group.risk).fold(0.0, f64::max)
            };
            let means = match &training {
                None => [1, 0].map(|which| found.rows[which].risk),
                Some(_) => {
                    let erm = mean_over_rows(&loss, &erm, &data).map_err(library)?;
                    [erm.risk, mean.risk]
                }
            };
            let evidence = Evidence {
                names: &names.iter().map(String::as_str).collect::<Vec<_>>(),
                rows: &rows,
                delta,
                comparison: training.is_none().then_some(&found.comparison),
                largest: found.largest.as_ref(),
                mean: means,
                most: [most(&found.evaluations[1]), most(&found.evaluations[0])],
                is_ordinary,
            };
            let verdict = Verdict::of(&evidence, |word| next_on_later(word, Front::Program));
            let (intervals, classes) =
                (found.evaluations.swap_remove(0), found.classes.swap_remove(0));
            (intervals, classes, Some(Told::from(verdict)))
        }
    };
    let mut one_class = OneClass::new(&loss);
    one_class.look(&loss, &data, &w);
    notes.extend(filled);
    notes.extend(unknown);
    if one_class.holds() {
        notes.push("warning: the model predicts one class for every row".into());
    }
    let of = |mean: GroupMetric| Mean { risk: mean.risk, accuracy: mean.accuracy };
    let without = |group: &usize| intervals.groups[*group].rows == 0;
    Ok(Evaluated {
        missing: (0..known).filter(without).map(|group| names[group].clone()).collect(),
        worst_group: intervals.worst_risk.group.map(|group| names[group].clone()),
        names,
        families,
        known,
        rows: kept.len(),
        cluster: clusters.and_then(|_| model.job.data.cluster.clone()),
        heavy_clusters,
        settings,
        intervals,
        classes,
        mean_over_rows: of(mean),
        capped_mean_over_rows: of(capped),
        verdict,
        notes,
    })
}

/// What rows and clusters count as at most, where that is given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caps {
    /// B, of rows with weights.
    pub weight: Option<f64>,
    /// S, of clusters.
    pub cluster: Option<f64>,
}

/// The clusters of the rows; none when the model was trained without clusters or the table has none.
fn clusters(
    table: &Table,
    rows: &[u32],
    model: &Model,
    notes: &mut Vec<String>,
) -> Result<Option<Clusters>> {
    let Some(column) = &model.job.data.cluster else { return Ok(None) };
    let found = Clusters::of(table, rows, &model.job.data)?;
    notes.push(match &found {
        Some(clusters) => {
            let count = clusters.count(0..rows.len() as u32);
            format!("clusters of rows, by `{column}`: {count}")
        }
        None => format!(
            "warning: the table has no column `{column}`, which tells clusters in training: intervals \
             take every row as independent of the others, and are too narrow if it is not"
        ),
    });
    Ok(found)
}

/// S for rows in clusters or not: what is given, or that of the model.
fn cluster_cap_of(model: &Model, has_clusters: bool, given: Option<f64>) -> Result<Option<f64>> {
    match given {
        Some(cap) if !has_clusters => Err(Failure::input(format!(
            "--cluster-cap {cap}: rows have no clusters here, nothing to cap: leave it out"
        ))),
        _ => Ok(given.or(model.cluster_cap).filter(|_| has_clusters)),
    }
}

/// B for rows that have weights or not: what is given, or that of the model.
fn weight_cap_of(model: &Model, is_weighted: bool, given: Option<f64>) -> Result<Option<f64>> {
    if let (false, Some(cap)) = (is_weighted, given) {
        return Err(Failure::input(format!(
            "--weight-cap {cap}: rows have no weights here, nothing to cap: leave it out"
        )));
    }
    match given.or(model.weight_cap) {
        None if is_weighted => Err(Failure::input(format!(
            "the model, of gdro {}, does not know the largest weight of its training rows, which \
             intervals of weighted rows rest on: give --weight-cap B, a bound that is not taken \
             from this table",
            model.gdro
        ))),
        cap => Ok(cap.filter(|_| is_weighted)),
    }
}

/// The weights of the rows, of which those without one are taken out; none when the model was
/// trained without weights or the table has none.
fn weights(
    table: &Table,
    rows: &mut Vec<u32>,
    model: &Model,
    notes: &mut Vec<String>,
) -> Result<Option<Vec<f64>>> {
    let Some(column) = &model.job.data.weight else { return Ok(None) };
    let Some(weighted) = Weighted::of(table, rows, &model.job.data)? else {
        notes.push(format!(
            "the table has no column `{column}`, which weighs rows in training: rows count alike"
        ));
        return Ok(None);
    };
    if weighted.missing > 0 {
        let missing = weighted.missing;
        notes.push(format!("rows that miss the weight `{column}` and are left out: {missing}"));
    }
    if weighted.weightless > 0 {
        notes.push(format!("rows of weight 0 that are left out: {}", weighted.weightless));
    }
    notes.push(match weighted.weights {
        Some(_) => format!("rows are weighted by `{column}`"),
        None => format!("rows count as often as `{column}` says"),
    });
    *rows = weighted.rows;
    Ok(weighted.weights)
}
