//! What a saved model is judged against on new rows.

use gdro::interval::Headline;
use gdro::risk::GroupMetric;
use gdro_data::Group;
use serde::{Deserialize, Serialize};

/// Version of this part of `model.json`.
const FORMAT: u32 = 1;

/// Ordinary training (ERM) on the training rows of a model, and what both lost there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Baseline {
    /// Version of this part of the file.
    format: u32,
    /// Weights, c numbers per feature, of the same features as those of the model.
    pub weights: Vec<f64>,
    /// Intercepts: as many as the model has.
    pub intercepts: Vec<f64>,
    /// Training rows of each group, in the order of their names.
    rows: Vec<usize>,
    /// Risks of each group in training under the model and under ERM; 0 without training rows.
    risks: Vec<[f64; 2]>,
}

impl Baseline {
    /// ERM `w`, with so many weights, beside a model; the risks of both (the model's first) are those of
    /// the groups with training rows.
    pub fn new(
        w: &[f64],
        weights: usize,
        groups: &[Group],
        [model, erm]: [&[GroupMetric]; 2],
    ) -> Self {
        let (weights, intercepts) = w.split_at(weights);
        let risk = |group: &Group| {
            [model, erm].map(|metrics| group.train.map_or(0.0, |at| metrics[at].risk))
        };
        Baseline {
            format: FORMAT,
            weights: weights.to_vec(),
            intercepts: intercepts.to_vec(),
            rows: groups.iter().map(|group| group.train_rows).collect(),
            risks: groups.iter().map(risk).collect(),
        }
    }

    /// Weights and intercepts as one array.
    pub fn w(&self) -> Vec<f64> {
        [&self.weights[..], &self.intercepts[..]].concat()
    }

    /// Numbers of rows for training and of rows to judge by, of groups that have so many of these; those
    /// behind the groups of the model had none in training.
    pub fn rows(&self, judging: &[usize]) -> Vec<[usize; 2]> {
        let training = |group: usize| self.rows.get(group).copied().unwrap_or(0);
        judging.iter().enumerate().map(|(group, rows)| [training(group), *rows]).collect()
    }

    /// The groups of [`Baseline::rows`] that are large enough, and the worst ones of both models.
    pub fn headline(&self, rows: &[[usize; 2]]) -> Option<Headline> {
        Headline::choose(rows, |group| self.risks.get(group).copied().unwrap_or([0.0; 2]))
    }

    /// Refuses what does not go with a model of so many weights, intercepts and groups.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(
        &self,
        weights: usize,
        intercepts: usize,
        groups: usize,
    ) -> std::result::Result<(), String> {
        if self.format != FORMAT {
            return Err(format!(
                "format version {} of the baseline: this program reads version {FORMAT}",
                self.format
            ));
        }
        let fits = (self.weights.len(), self.intercepts.len()) == (weights, intercepts)
            && (self.rows.len(), self.risks.len()) == (groups, groups);
        if !fits {
            return Err(
                "the numbers of weights and groups of the baseline do not fit the model".into()
            );
        }
        let numbers =
            self.weights.iter().chain(&self.intercepts).chain(self.risks.iter().flatten());
        match numbers.copied().find(|v| !v.is_finite()) {
            Some(bad) => Err(format!("a number of the baseline is {bad}")),
            None => Ok(()),
        }
    }
}
