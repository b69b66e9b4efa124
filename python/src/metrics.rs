//! Losses of rows and intervals of groups.

use gdro::interval::{
    Binary, Estimate, Evaluation, Headline, Largest, Pairs, Rows, Settings, Worst, compare,
    evaluate, largest,
};
use gdro::loss::{AnyLoss, Loss, Targets};
use gdro_train::options::Front;
use gdro_train::verdict::{Evidence, Verdict, next_on_later};
use numpy::ndarray::ArrayView1;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::refuse;
use crate::input::{Family, members, views};
use crate::run::run;

/// What a loss takes as targets: `labels`, `classes` or `numbers`.
#[pyfunction]
pub fn targets_of(loss: &str) -> PyResult<&'static str> {
    let loss: AnyLoss = loss.parse().map_err(|e: String| refuse(e))?;
    Ok(match loss.targets() {
        Targets::Labels => "labels",
        Targets::Classes => "classes",
        Targets::Numbers => "numbers",
    })
}

/// The loss of every row: scores of shape (n, c) and targets as the loss takes them.
#[pyfunction]
#[pyo3(signature = (loss, scores: "Matrix", targets: "Vector") -> "Vector")]
pub fn losses<'py>(
    py: Python<'py>,
    loss: &str,
    scores: PyReadonlyArray2<'py, f64>,
    targets: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let loss: AnyLoss = loss.parse().map_err(|e: String| refuse(e))?;
    let (scores, targets) = (scores.as_array(), targets.as_array());
    if scores.nrows() != targets.len() {
        let (rows, found) = (scores.nrows(), targets.len());
        return Err(refuse(format!("{rows} rows of scores and {found} targets")));
    }
    let found = run(py, None, None, |_| {
        let loss = loss.with_classes(scores.ncols().max(2))?;
        let each = scores.rows().into_iter().zip(targets).enumerate().map(|(row, (s, y))| {
            if !loss.accepts(*y) {
                let (expected, loss) = (loss.expects(), loss.name());
                return Err(gdro::Error::Target { row, found: *y, loss, expected });
            }
            loss.value(&s.to_vec(), *y)
        });
        each.collect::<gdro::Result<Vec<f64>>>()
    })?;
    Ok(PyArray1::from_vec(py, found))
}

/// Rows of one group by column.
#[derive(Default)]
struct Held {
    losses: Vec<f64>,
    correct: Vec<bool>,
    scores: Vec<f64>,
    positive: Vec<bool>,
    weights: Vec<f64>,
    clusters: Vec<u32>,
}

/// The rows of each group, taken in by `add`.
fn held(families: &[(ArrayView1<'_, u32>, usize)], add: impl Fn(&mut Held, usize)) -> Vec<Held> {
    let of = |rows: &Vec<u32>| {
        let mut held = Held::default();
        rows.iter().for_each(|row| add(&mut held, *row as usize));
        held
    };
    members(families).iter().map(of).collect()
}

/// Intervals on held-out rows, simultaneous over the groups, see [`gdro::interval::evaluate`].
/// `binary` has a score per row and whether the row is of the positive class; `clusters` the cluster of
/// each row, and for each group whether its rows are the independent draws all the same.
#[pyfunction]
#[pyo3(signature = (
    losses: "Vector", correct: "Flags | None", binary: "Binary | None",
    weights: "Vector | None", clusters: "Clusters | None", families: "Sequence[Family]", delta: "float", cap: "float",
    weight_cap: "float | None", cluster_cap: "float | None", seed: "int"
) -> "dict[str, Any]")]
#[allow(clippy::too_many_arguments)]
pub fn intervals<'py>(
    py: Python<'py>,
    losses: PyReadonlyArray1<'py, f64>,
    correct: Option<PyReadonlyArray1<'py, bool>>,
    binary: Option<(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, bool>)>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    clusters: Option<(PyReadonlyArray1<'py, u32>, Vec<bool>)>,
    families: Vec<Family<'py>>,
    delta: f64,
    cap: f64,
    weight_cap: Option<f64>,
    cluster_cap: Option<f64>,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let families = views(&families);
    let weights = weights.as_ref().map(|w| w.as_array());
    let clusters = clusters.as_ref().map(|(codes, by_row)| (codes.as_array(), by_row));
    let (losses, correct) = (losses.as_array(), correct.as_ref().map(|c| c.as_array()));
    let binary = binary.as_ref().map(|(s, p)| (s.as_array(), p.as_array()));
    let found = run(py, None, None, |_| {
        let held = held(&families, |held, row| {
            held.losses.push(losses[row]);
            held.correct.extend(correct.map(|c| c[row]));
            held.scores.extend(binary.map(|(s, _)| s[row]));
            held.positive.extend(binary.map(|(_, p)| p[row]));
            held.weights.extend(weights.map(|w| w[row]));
            held.clusters.extend(clusters.map(|(codes, _)| codes[row]));
        });
        let is_clustered = |group: usize| clusters.is_some_and(|(_, by_row)| !by_row[group]);
        let rows: Vec<Rows<'_>> = held
            .iter()
            .enumerate()
            .map(|(group, held)| Rows {
                losses: &held.losses,
                correct: correct.map(|_| &held.correct[..]),
                binary: binary.map(|_| Binary { scores: &held.scores, positive: &held.positive }),
                weights: weights.map(|_| &held.weights[..]),
                clusters: is_clustered(group).then_some(&held.clusters[..]),
            })
            .collect();
        evaluate(&rows, &Settings { delta, cap, weight_cap, cluster_cap, seed })
    })?;
    as_dict(py, &found)
}

/// Whether a model does better than ERM on held-out rows: a verdict as JSON, and its three lines.
/// `training` has for each group its number of training rows and the risks of both models there, and
/// `is_same` says that the model is ERM itself.
#[pyfunction]
#[pyo3(signature = (
    losses: "tuple[Vector, Vector]", weights: "Vector | None", clusters: "Clusters | None",
    families: "Sequence[Family]", names: "Sequence[str]", training: "Sequence[tuple[int, float, float]]",
    is_same: "bool", delta: "float", cap: "float", weight_cap: "float | None", cluster_cap: "float | None", seed: "int"
) -> "tuple[str, list[str]]")]
#[allow(clippy::too_many_arguments)]
pub fn verdict<'py>(
    py: Python<'py>,
    losses: (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>),
    weights: Option<PyReadonlyArray1<'py, f64>>,
    clusters: Option<(PyReadonlyArray1<'py, u32>, Vec<bool>)>,
    families: Vec<Family<'py>>,
    names: Vec<String>,
    training: Vec<(usize, f64, f64)>,
    is_same: bool,
    delta: f64,
    cap: f64,
    weight_cap: Option<f64>,
    cluster_cap: Option<f64>,
    seed: u64,
) -> PyResult<(String, Vec<String>)> {
    let families = views(&families);
    let weights = weights.as_ref().map(|w| w.as_array());
    let clusters = clusters.as_ref().map(|(codes, by_row)| (codes.as_array(), by_row));
    let (model, erm) = (losses.0.as_array(), losses.1.as_array());
    let found = run(py, None, None, |_| -> gdro::Result<Verdict> {
        let settings = Settings { delta, cap, weight_cap, cluster_cap, seed };
        // The scores of a group are the losses of ERM.
        let held = held(&families, |held, row| {
            held.losses.push(model[row]);
            held.scores.push(erm[row]);
            held.weights.extend(weights.map(|w| w[row]));
            held.clusters.extend(clusters.map(|(codes, _)| codes[row]));
        });
        let is_clustered = |group: usize| clusters.is_some_and(|(_, by_row)| !by_row[group]);
        let pairs: Vec<Pairs<'_>> = held
            .iter()
            .enumerate()
            .map(|(group, held)| Pairs {
                first: &held.losses,
                second: &held.scores,
                weights: weights.map(|_| &held.weights[..]),
                clusters: is_clustered(group).then_some(&held.clusters[..]),
            })
            .collect();
        let rows: Vec<[usize; 2]> =
            training.iter().zip(&held).map(|(of, held)| [of.0, held.losses.len()]).collect();
        let headline = Headline::choose(&rows, |group| [training[group].1, training[group].2]);
        let mut comparison = compare(&pairs, &settings)?;
        let mut largest = headline.map(|h| largest(&pairs, &h, &settings)).transpose()?;
        if is_same {
            (comparison, largest) = (comparison.with_itself(), largest.map(Largest::with_itself));
        }
        let mean = [if is_same { model } else { erm }, model].map(|losses| {
            let weight = |row: usize| {
                weights.map_or(1.0, |w| w[row].min(weight_cap.unwrap_or(f64::INFINITY)))
            };
            let rows = 0..losses.len();
            let total: f64 = rows.clone().map(weight).sum();
            rows.map(|row| weight(row) * losses[row].min(cap)).sum::<f64>() / total
        });
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let evidence = Evidence {
            names: &names,
            rows: &rows,
            delta,
            comparison: Some(&comparison),
            largest: largest.as_ref(),
            mean,
            most: mean,
            is_ordinary: is_same,
        };
        Ok(Verdict::of(&evidence, |word| next_on_later(word, Front::Python)))
    })?;
    let json = serde_json::to_string(&found).map_err(|e| refuse(e.to_string()))?;
    Ok((json, found.lines().to_vec()))
}

/// An evaluation as dictionaries and tuples (rows, clusters, value, low, high, estimable).
fn as_dict<'py>(py: Python<'py>, found: &Evaluation) -> PyResult<Bound<'py, PyDict>> {
    let estimate =
        |e: &Estimate| (e.rows, e.clusters, e.value, e.interval.low, e.interval.high, e.estimable);
    let worst = |w: &Worst| (w.all.low, w.all.high, w.group, w.is_estimable());
    let mut groups = Vec::with_capacity(found.groups.len());
    for group in &found.groups {
        let dict = PyDict::new(py);
        dict.set_item("rows", group.rows)?;
        dict.set_item("risk", group.risk)?;
        dict.set_item("clipped", group.clipped)?;
        dict.set_item("clipped_share", group.clipped_share())?;
        dict.set_item("capped_weights", group.capped_weights)?;
        dict.set_item("capped_clusters", group.capped_clusters)?;
        dict.set_item("clipped_risk", estimate(&group.clipped_risk))?;
        dict.set_item("accuracy", group.accuracy.as_ref().map(estimate))?;
        let metrics = PyDict::new(py);
        for (metric, found) in group.metrics.iter() {
            metrics.set_item(metric.key, found.as_ref().map(estimate))?;
        }
        dict.set_item("metrics", metrics)?;
        groups.push(dict);
    }
    let dict = PyDict::new(py);
    dict.set_item("groups", groups)?;
    dict.set_item("worst_risk", worst(&found.worst_risk))?;
    dict.set_item("worst_accuracy", found.worst_accuracy.as_ref().map(worst))?;
    Ok(dict)
}
