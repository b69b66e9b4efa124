//! Predictions that do not look at the features.

use std::sync::Arc;

use super::{INTERCEPT, Setting};
use crate::dataset::Dataset;
use crate::domain::{Domain, DomainSpec};
use crate::error::Result;
use crate::exact::{Options, Problem, minimize};
use crate::loss::Loss;
use crate::risk::group_risks;
use crate::row::Matrix;

/// Accuracy of the objective of a constant prediction, relative to that of the scores 0.
const ACCURACY: f64 = 1e-7;

/// A prediction that is the same for every row.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// The scores b, one for each output of the loss.
    pub scores: Vec<f64>,
    /// The objective of these scores, without a ridge.
    pub objective: f64,
}

impl<L: Loss + Sync> Setting<L> {
    /// The best constant prediction: min_b of the objective of the scores b for every row, with the
    /// offsets, scales and cap of this setting. A model whose objective is no smaller has learnt
    /// nothing from its features that counts.
    ///
    /// # Errors
    /// Those of [`minimize`].
    pub fn constant(&self) -> Result<Constant> {
        let data = without_features(&self.data)?;
        let bound = (2.0 * data.max_abs_target()).clamp(INTERCEPT, f64::MAX);
        let domain = Domain::new(DomainSpec::Free.map()?).with_intercept(bound)?;
        // The one feature is 0 in every row: the ridge keeps its weights at 0.
        let game = self.game.clone().with_ridge(1.0);
        let (goal, outputs) = (self.goal.clone(), self.loss.outputs());
        let problem = Problem { game: &game, domain: &domain, features: 1, outputs, goal };
        let at_zero = group_risks(&self.loss, &vec![0.0; 2 * outputs], &data)?;
        let size = self.objective(&at_zero).abs().max(f64::MIN_POSITIVE);
        let options = Options { tolerance: ACCURACY * size, ..Options::default() };
        let best = minimize(&data, &self.loss, &problem, &options)?;
        Ok(Constant { scores: best.w[outputs..].to_vec(), objective: best.upper })
    }
}

/// The rows without their features: one for each target of a group, with the weights of all of them.
fn without_features(data: &Dataset) -> Result<Dataset> {
    let (mut targets, mut weights) = (Vec::new(), Vec::new());
    let mut groups = Vec::with_capacity(data.groups());
    for group in 0..data.groups() {
        let row = |row: &u32| (data.targets()[*row as usize], data.weight(*row as usize));
        let mut rows: Vec<(f64, f64)> = data.members(group).iter().map(row).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let first = targets.len();
        for (y, weight) in rows {
            match targets[first..].last() {
                Some(last) if *last == y => weights[targets.len() - 1] += weight,
                _ => {
                    targets.push(y);
                    weights.push(weight);
                }
            }
        }
        groups.push((first as u32..targets.len() as u32).collect());
    }
    let nothing = Matrix::sparse(1, vec![0; targets.len() + 1], Vec::new(), Vec::new())?;
    Dataset::new(Arc::new(nothing), targets, Some(weights), &groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Logistic, Quantile, Squared};
    use crate::setting::{Objective, Terms};

    fn constant(loss: impl Loss + Sync, targets: &[f64], groups: &[Vec<u32>]) -> f64 {
        let x = (0..targets.len()).map(|i| i as f64).collect();
        let matrix = Arc::new(Matrix::dense(1, x).unwrap());
        let data = Dataset::new(matrix, targets.to_vec(), None, groups).unwrap();
        let terms = Terms { l2: 1.0, ..Terms::new(Objective::Max) };
        Setting::new(data, loss, &terms).unwrap().constant().unwrap().objective
    }

    /// A group of one label and one of the other: a coin. Shares p and r of the positive label: the
    /// larger of the cross-entropies, least where they meet or at the entropy of one of them.
    #[test]
    fn labels() {
        let y = [1.0, 1.0, -1.0, -1.0, -1.0, 1.0];
        let coin = constant(Logistic, &y, &[vec![0, 1], vec![2, 3, 4]]);
        assert!((coin - std::f64::consts::LN_2).abs() < 1e-6, "{coin}");
        // Shares 1/4 and 1/3: the entropy of the second is the larger one at its own share.
        let groups = [vec![0, 2, 3, 4], vec![1, 2, 3]];
        let third = (1.0f64 / 3.0, 2.0f64 / 3.0);
        let entropy = -third.0 * third.0.ln() - third.1 * third.1.ln();
        assert!((constant(Logistic, &y, &groups) - entropy).abs() < 1e-6);
    }

    /// Means 1 and 5 with variances 1 and 0: (b − 1)² + 1 = (b − 5)² at b = 23/8. Medians likewise.
    #[test]
    fn numbers() {
        let (y, groups) = ([0.0, 2.0, 5.0, 5.0], [vec![0, 1], vec![2, 3]]);
        let squared = constant(Squared, &y, &groups);
        assert!((squared - (5.0 - 23.0 / 8.0f64).powi(2)).abs() < 1e-5, "{squared}");
        // Half of |b − 5| and of b − 1, the mean of |b| and |b − 2| from b = 2 on: b = 3.
        let absolute = constant(Quantile::new(0.5).unwrap(), &y, &groups);
        assert!((absolute - 1.0).abs() < 1e-5, "{absolute}");
    }
}
