//! What a model says of each row.

use gdro::Dataset;
use gdro::loss::{AnyLoss, Loss as _};
use serde::{Deserialize, Serialize};

/// Calls `f(row, scores)` for every row of a data set under the model `w`.
pub fn each_score(loss: &AnyLoss, data: &Dataset, w: &[f64], mut f: impl FnMut(usize, &[f64])) {
    let mut s = vec![0.0; loss.outputs()];
    for row in 0..data.rows() {
        gdro::iterate::scores(w, data.features(), data.sample(row).x, &mut s);
        f(row, &s);
    }
}

/// Calls `f(row, loss, scores)` for every row.
///
/// # Errors
/// Those of the loss.
pub fn each_loss(
    loss: &AnyLoss,
    data: &Dataset,
    w: &[f64],
    mut f: impl FnMut(usize, f64, &[f64]),
) -> gdro::Result<()> {
    let mut failed = Ok(());
    each_score(loss, data, w, |row, s| match loss.value(s, data.sample(row).y) {
        Ok(value) => f(row, value, s),
        Err(error) => failed = Err(error),
    });
    failed
}

/// The class that scores predict: 0 or 1 for one score, else the first of the largest.
pub fn class_of(s: &[f64]) -> usize {
    match s {
        [s] => usize::from(*s >= 0.0),
        _ => (1..s.len()).fold(0, |b, j| if s[j] > s[b] { j } else { b }),
    }
}

/// The probability of the positive class at log-odds `s`.
pub fn logistic(s: f64) -> f64 {
    1.0 / (1.0 + (-s).exp())
}

/// Whether a model predicts one class for every row.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct OneClass {
    first: Option<usize>,
    holds: bool,
}

impl OneClass {
    /// No rows yet.
    pub fn new(loss: &AnyLoss) -> Self {
        OneClass { first: None, holds: loss.targets() != gdro::loss::Targets::Numbers }
    }

    /// Looks at more rows.
    pub fn look(&mut self, loss: &AnyLoss, data: &Dataset, w: &[f64]) {
        if !self.holds {
            return;
        }
        each_score(loss, data, w, |_, s| {
            let class = class_of(s);
            self.holds &= *self.first.get_or_insert(class) == class;
        });
    }

    /// Whether all rows so far have one class; false for numbers.
    pub fn holds(self) -> bool {
        self.holds
    }
}
