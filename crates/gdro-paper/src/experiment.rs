//! Experiments: one file each, with its runs, panels and claims.

use std::path::Path;

use gdro::algorithm::Algorithm;
use serde::Deserialize;

use crate::claims::Claim;
use crate::error::{Error, Result, read_toml};
use crate::quantity::{Against, Quantity};

/// One figure of the paper, or one beyond it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Experiment {
    /// Its name, that of its file.
    #[serde(skip)]
    pub name: String,
    /// Its place among the experiments.
    pub order: u32,
    /// What it shows, a line.
    pub title: String,
    /// LaTeX labels of the paper's figures; none for what the paper does not have.
    #[serde(default)]
    pub labels: Vec<String>,
    /// What a reader should know, for the report.
    pub about: String,
    /// The problem: a file in `problems/`.
    pub problem: String,
    /// k of the objective that is shown: the mean of the k largest risks.
    #[serde(default = "one")]
    pub k: f64,
    /// The runs.
    pub runs: Vec<Run>,
    /// Number of panels side by side.
    pub columns: usize,
    /// The panels of its figure.
    pub panels: Vec<Panel>,
    /// The claims that it judges.
    #[serde(default)]
    pub claims: Vec<Claim>,
}

fn one() -> f64 {
    1.0
}

/// One algorithm in an experiment.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Run {
    /// Its name in this file and in the data.
    pub id: String,
    /// Its name in figures.
    pub label: String,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Whether its steps fall with time.
    #[serde(default)]
    pub anytime: bool,
    /// Number of rounds that are played; without it those that the budgets give.
    pub rounds: Option<u64>,
    /// Number of rounds that the steps are meant for, when it is another.
    pub preset: Option<u64>,
    /// Number of rounds that are played to tune it; those that the steps are meant for unless
    /// given.
    pub tuning_rounds: Option<u64>,
    /// n̄ of the hybrid.
    pub nbar: Option<u64>,
}

/// One panel of a figure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Panel {
    /// What stands above it.
    pub title: String,
    /// What is shown.
    pub y: Quantity,
    /// For a risk: of which group, counted from 1.
    pub group: Option<usize>,
    /// Against what.
    pub x: Against,
    /// The runs, all unless given.
    #[serde(default)]
    pub runs: Vec<String>,
    /// The range of y.
    pub range: Option<(f64, f64)>,
    /// Vertical lines.
    #[serde(default)]
    pub marks: Vec<Mark>,
}

/// A vertical line.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// Its name.
    pub name: String,
}

impl Experiment {
    /// Reads one file.
    ///
    /// # Errors
    /// When it cannot be read, or names something that is not there.
    pub fn read(path: &Path) -> Result<Self> {
        let mut experiment: Experiment = read_toml(path)?;
        experiment.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let wrong = |message: String| Err(Error::content(path, message));
        let known = |id: &String| experiment.runs.iter().any(|run| run.id == *id);
        for (at, run) in experiment.runs.iter().enumerate() {
            if experiment.runs[..at].iter().any(|other| other.id == run.id) {
                return wrong(format!("run `{}` stands there twice", run.id));
            }
            if [run.rounds, run.preset, run.tuning_rounds].contains(&Some(0)) {
                return wrong(format!("run `{}`: rounds: expected at least 1", run.id));
            }
        }
        let named = experiment.panels.iter().flat_map(|p| &p.runs);
        let named = named.chain(experiment.claims.iter().flat_map(|c| c.test.runs()));
        for id in named {
            if !known(id) {
                return wrong(format!("there is no run `{id}`"));
            }
        }
        for panel in &experiment.panels {
            let model = matches!(panel.y, Quantity::Risks | Quantity::Objectives);
            if model != (panel.x == Against::Model) {
                return wrong(format!(
                    "panel `{}`: y = \"risks\" and \"objectives\" go with x = \"model\", and with no other",
                    panel.title
                ));
            }
            if (panel.y == Quantity::Risk) != panel.group.is_some() {
                return wrong(format!(
                    "panel `{}`: y = \"risk\" needs a group, and no other does",
                    panel.title
                ));
            }
        }
        if experiment.columns == 0 {
            return wrong("columns: expected at least 1".into());
        }
        Ok(experiment)
    }

    /// The k of a run's own game: that of the experiment on the capped simplex, 1 otherwise.
    pub(crate) fn own_k(&self, run: &Run) -> f64 {
        if run.algorithm.spec().top_k { self.k } else { 1.0 }
    }

    /// Whether a figure shows gaps along the way.
    pub(crate) fn shows_gaps(&self) -> bool {
        self.panels.iter().any(|p| p.y == Quantity::Gap)
    }
}

/// The experiments of a folder, in their order; of those that are `named` only, unless that is empty
/// or holds `all`.
///
/// # Errors
/// When one cannot be read, or a name is not there.
pub fn experiments(folder: &Path, named: &[String]) -> Result<Vec<Experiment>> {
    let unread = |source| Error::Read { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let is_toml = path.extension().is_some_and(|e| e == "toml");
        if is_toml && path.file_stem().is_some_and(|s| s != "settings") {
            found.push(Experiment::read(&path)?);
        }
    }
    found.sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
    let known = || found.iter().map(|e| e.name.as_str()).collect::<Vec<_>>().join(", ");
    if found.is_empty() {
        return Err(Error::content(folder, "there is no experiment: expected files NAME.toml"));
    }
    if let Some(name) = named.iter().find(|n| *n != "all" && found.iter().all(|e| e.name != **n)) {
        return Err(Error::Unknown { name: name.clone(), known: known() });
    }
    if !named.is_empty() && named.iter().all(|n| n != "all") {
        found.retain(|e| named.contains(&e.name));
    }
    Ok(found)
}
