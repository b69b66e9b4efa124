//! How long a choice will take, by the sizes of the table alone.

use gdro::loss::Loss as _;
use gdro_data::Validation;

use super::contest::draws;
use super::family::USUAL;
use crate::job::Search;
use crate::prepared::Setting;

/// Seconds below which a choice is made without being asked for.
pub const ALLOWED: f64 = 60.0;

/// Iterations in [`gdro::setting::Size::work`].
const ITERATIONS: f64 = 30.0;

/// Multiplications that take as long as what an iteration does with a row and a pair of its scores
/// besides them: with c scores the Hessian has c(c + 1)/2 blocks.
const SCORE: f64 = 850.0;

/// Seconds of a multiplication on one core. Models start from one that is near, and take fewer
/// iterations than those of `Size::work`: this counts for that. From the processor time of `gdro select`
/// on seven tables in a development build, see the test, which is about 1.5 times that of a release build.
const MULTIPLICATION: f64 = 7e-11;

/// Seconds of a model besides what grows with the table.
const MODEL: f64 = 2e-4;

/// How much longer a loss takes that is not smooth: its smoothings are minimised one after another.
const KINKS: f64 = 15.0;

/// Seconds of drawing a unit for the samples that compare the best model with ERM.
const DRAW: f64 = 1e-8;

/// Up to so many numbers in a model the Hessian is formed, and each group adds to it.
const FORMED: usize = 1200;

/// Seconds that a choice among the usual family by the reference solver takes on one core, about.
pub fn seconds(search: &Search, setting: &Setting) -> f64 {
    let (parts, share) = match search.validation {
        Validation::Folds(folds) => (folds, 1.0 - 1.0 / folds as f64),
        Validation::Share(share) => (1, 1.0 - share),
    };
    let members = search.objectives.as_ref().map_or(USUAL, Vec::len);
    let models = (parts * members * search.values.len()) as f64;
    let (data, n) = (&setting.data, setting.model_len());
    let outputs = setting.loss.outputs();
    let scores = (data.rows() * outputs * (outputs + 1) / 2) as f64;
    let of_groups = (data.groups() * n * n.min(FORMED)) as f64 / 2.0;
    let work = setting.size().work() + ITERATIONS * (SCORE * scores + of_groups);
    let kinks = if setting.loss.is_nonsmooth() { KINKS } else { 1.0 };
    let units = (0..data.groups()).map(|group| data.members(group).len()).sum();
    models * (MODEL + kinks * MULTIPLICATION * share * work) + DRAW * draws(units) as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gdro::loss::{AnyLoss, Targets};
    use gdro::setting::{Objective, Terms};
    use gdro::{Dataset, Matrix};

    use super::*;
    use crate::job::{Criterion, Hyperparameter};

    fn search(values: usize, folds: usize) -> Search {
        Search {
            objectives: None,
            knob: Hyperparameter::L2,
            values: (1..=values).map(|v| v as f64).collect(),
            validation: Validation::Folds(folds),
            criterion: Criterion::Risk,
            judge_rows: 20,
            notes: Vec::new(),
        }
    }

    /// A setting of so many rows, features and groups; with `stored` numbers in a row, or all.
    fn setting(
        (rows, features, groups): (usize, usize, usize),
        stored: Option<usize>,
        loss: &str,
    ) -> Setting {
        let matrix = match stored {
            None => Matrix::dense(features, vec![1.0; rows * features]),
            Some(stored) => Matrix::sparse(
                features,
                (0..=rows).map(|row| row * stored).collect(),
                (0..rows).flat_map(|_| 0..stored as u32).collect(),
                vec![1.0; rows * stored],
            ),
        };
        let loss: AnyLoss = loss.parse().unwrap();
        let is_softmax = loss.targets() == Targets::Classes;
        let loss = if is_softmax { loss.with_classes(7).unwrap() } else { loss };
        let target = |row: usize| match loss.targets() {
            Targets::Classes => (row % 7) as f64,
            _ => [1.0, -1.0][row % 2],
        };
        let targets = (0..rows).map(target).collect();
        let of = |group| (0..rows as u32).filter(|row| *row as usize % groups == group).collect();
        let members: Vec<Vec<u32>> = (0..groups).map(of).collect();
        let data = Dataset::new(Arc::new(matrix.unwrap()), targets, None, &members).unwrap();
        let terms = Terms { l2: 1.0, intercept: Some(100.0), ..Terms::new(Objective::Max) };
        gdro::setting::Setting::new(data, loss, &terms).unwrap()
    }

    /// Seconds of the processor in a development build, 1.5 times those of a release build: of 1,125
    /// models of german_credit and heart_disease, and of 60 models, trained on halves, of Adult by
    /// occupation, bank by month, parkinsons, communities, wine_quality, and of german_credit with a hinge.
    #[test]
    fn predictions_are_near_what_was_measured() {
        for (size, stored, loss, measured) in [
            ((1000, 61, 4), None, "logistic", 8.5),
            ((920, 27, 4), None, "logistic", 3.5),
            ((36_177, 103, 14), Some(14), "logistic", 3.4),
            ((45_210, 57, 12), Some(15), "logistic", 4.6),
            ((5875, 18, 42), None, "squared", 0.43),
            ((1994, 100, 46), None, "squared", 1.5),
            ((6497, 13, 2), None, "softmax", 15.1),
            ((1000, 61, 4), None, "hinge", 4.4),
        ] {
            let usual = loss == "logistic" && size.0 <= 1000;
            let search = if usual { search(15, 5) } else { search(2, 2) };
            let predicted = 1.5 * seconds(&search, &setting(size, stored, loss));
            assert!((measured / 2.0..2.0 * measured).contains(&predicted), "{size:?}: {predicted}");
        }
    }

    /// Every size counts, and a choice that is allowed is not far from one that is not.
    #[test]
    fn both_sides_of_a_minute() {
        let usual = search(15, 5);
        let of = |size| seconds(&usual, &setting(size, None, "logistic"));
        let (short, long) = (of((10_000, 60, 4)), of((13_000, 60, 4)));
        assert!(short < ALLOWED && long > ALLOWED, "{short} {long}");
        assert!((1.25..1.35).contains(&(long / short)), "{short} {long}");
        assert!(of((10_000, 120, 4)) > 2.0 * short && of((10_000, 60, 4000)) > 1.1 * short);
        let hinge = seconds(&usual, &setting((3_000, 60, 4), None, "hinge"));
        assert!(hinge > ALLOWED, "{hinge}");
        assert!(
            seconds(&search(30, 5), &setting((900, 9, 2), None, "logistic"))
                > 1.9 * of((900, 9, 2))
        );
    }
}
