//! What models say of rows that they were not trained on.

use gdro::Dataset;
use gdro::loss::{AnyLoss, Loss as _};

use super::part::Trained;
use crate::failure::{Failure, Result};
use crate::job::Criterion;
use crate::scores::each_loss;

/// One member of the family at one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The member.
    pub member: usize,
    /// The value, the strongest first.
    pub value: usize,
}

/// Validation rows group by group, and all models that were not trained on them. A row in several
/// groups is there for each. The rows of a cluster in a group are one unit, with their weighted mean
/// loss and their total weight: it is drawn and counted as a whole.
pub struct Held {
    parts: Vec<Trained>,
    criterion: Criterion,
    /// Names of the groups.
    pub groups: Vec<String>,
    /// Number of rows of each group, those of clusters one by one.
    pub rows: Vec<usize>,
    /// Where the units of each group start, and the end.
    pub starts: Vec<usize>,
    /// The fold in which each unit is for validation.
    pub folds: Vec<u16>,
    /// Weights of the units.
    pub weights: Vec<f64>,
    /// Where the rows of each unit start among `places`, and the end.
    ends: Vec<usize>,
    /// Rows of their fold.
    places: Vec<u32>,
}

impl Held {
    /// Puts the rows of all parts together, whose groups have these names.
    pub fn new(parts: Vec<Trained>, groups: Vec<String>, criterion: Criterion) -> Self {
        let mut held = Held {
            criterion,
            groups,
            rows: Vec::new(),
            starts: vec![0],
            folds: Vec::new(),
            weights: Vec::new(),
            ends: vec![0],
            places: Vec::new(),
            parts: Vec::new(),
        };
        for group in 0..parts[0].part.members.len() {
            for (fold, Trained { part, .. }) in parts.iter().enumerate() {
                let rows = &part.members[group];
                // Where each row is, those of a cluster one after another.
                let mut order: Vec<usize> = (0..rows.len()).collect();
                let codes = part.draws.clusters(group);
                if let Some(codes) = codes {
                    order.sort_by_key(|at| codes[*at]);
                }
                let together = |a: &usize, b: &usize| codes.is_some_and(|c| c[*a] == c[*b]);
                for unit in order.chunk_by(together) {
                    held.places.extend(unit.iter().map(|at| rows[*at]));
                    held.ends.push(held.places.len());
                    held.folds.push(fold as u16);
                    let weight = |at: &usize| part.test.weight(rows[*at] as usize);
                    held.weights.push(unit.iter().map(weight).sum());
                }
            }
            held.rows.push(parts.iter().map(|of| of.part.members[group].len()).sum());
            held.starts.push(held.weights.len());
        }
        held.parts = parts;
        held
    }

    /// Number of folds.
    pub fn folds(&self) -> usize {
        self.parts.len()
    }

    /// Number of values that all members were trained with.
    pub fn values(&self) -> usize {
        self.parts[0].models.len()
    }

    /// The loss of every unit, or its share of errors where the criterion counts these, under the model
    /// of a place that may depend on the fold; and the mean over the rows.
    ///
    /// # Errors
    /// For a loss that is not finite, and errors of the library.
    pub fn losses(&self, place: impl Fn(usize) -> Place) -> Result<(Vec<f64>, f64)> {
        let (mut sum, mut total) = (0.0, 0.0);
        let mut of_folds = Vec::with_capacity(self.parts.len());
        for (fold, Trained { part, models }) in self.parts.iter().enumerate() {
            let Place { member, value } = place(fold);
            let w = &models[value][member];
            let losses = row_losses(&part.loss, &part.test, w, self.criterion)
                .map_err(|e| Failure::library(e, &part.rows.names))?;
            for (row, loss) in losses.iter().enumerate() {
                sum += part.test.weight(row) * loss;
                total += part.test.weight(row);
            }
            for (group, rows) in self.groups.iter().zip(&part.members) {
                if let Some(row) = rows.iter().find(|row| !losses[**row as usize].is_finite()) {
                    return Err(Failure::input(format!(
                        "the loss of a validation row of group `{group}` is {}: the table holds numbers too large to square; scale the columns",
                        losses[*row as usize]
                    )));
                }
            }
            of_folds.push(losses);
        }
        let of_unit = |unit: usize| {
            let fold = usize::from(self.folds[unit]);
            let (losses, test) = (&of_folds[fold], &self.parts[fold].part.test);
            match &self.places[self.ends[unit]..self.ends[unit + 1]] {
                [row] => losses[*row as usize],
                rows => {
                    let term = |row: &u32| test.weight(*row as usize) * losses[*row as usize];
                    rows.iter().map(term).sum::<f64>() / self.weights[unit]
                }
            }
        };
        Ok(((0..self.weights.len()).map(of_unit).collect(), sum / total))
    }
}

/// What every row of a data set counts under a model.
fn row_losses(
    loss: &AnyLoss,
    data: &Dataset,
    w: &[f64],
    criterion: Criterion,
) -> gdro::Result<Vec<f64>> {
    let mut losses = vec![0.0; data.rows()];
    each_loss(loss, data, w, |row, value, scores| {
        losses[row] = match loss.correct(scores, data.targets()[row]) {
            Some(right) if criterion.counts_errors() => f64::from(u8::from(!right)),
            _ => value,
        };
    })?;
    Ok(losses)
}
