//! The constant model, than which no answer of a stream does worse.

use gdro::Error;
use gdro::domain::MirrorMap as _;
use gdro::loss::Loss as _;
use gdro::risk::group_risks;

use crate::prepared::Setting;

/// Steps of the golden section: it ends within 1e-6 of the interval.
const STEPS: usize = 29;

/// The best constant model on the rows of a setting: no weights, and the best intercepts; 0 without a
/// free intercept. `None` where weights of 0 are not allowed.
pub(super) fn constant(setting: &Setting) -> gdro::Result<Option<Vec<f64>>> {
    let weights = setting.data.features() * setting.loss.outputs();
    let mut w = vec![0.0; setting.model_len()];
    if !setting.domain.map.contains(&w[..weights]) {
        return Ok(None);
    }
    if setting.domain.intercept.is_some() {
        w[weights..].copy_from_slice(&setting.constant()?.scores);
    }
    Ok(Some(w))
}

/// Moves a model that does worse than a constant one, on the rows of a setting, towards it: to the
/// best point between the two. The objective is convex, so that it is found by a golden section.
/// Gives the share of the model that is left; `None` when it stays as it is.
pub(super) fn move_towards(
    setting: &Setting,
    constant: &[f64],
    w: &mut [f64],
) -> gdro::Result<Option<f64>> {
    let between = |share: f64| -> Vec<f64> {
        constant.iter().zip(&*w).map(|(c, w)| c + share * (w - c)).collect()
    };
    let weights = setting.data.features() * setting.loss.outputs();
    let value = |share: f64| {
        let model = between(share);
        let ridge = model[..weights].iter().map(|v| v * v).sum::<f64>();
        match group_risks(&setting.loss, &model, &setting.data) {
            Ok(risks) => Ok(setting.objective(&risks) + setting.game.ridge / 2.0 * ridge),
            Err(Error::NonFiniteLoss { .. }) => Ok(f64::INFINITY),
            Err(error) => Err(error),
        }
    };
    if value(1.0)? <= value(0.0)? {
        return Ok(None);
    }
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut a, mut b) = (1.0 - golden, golden);
    let (mut at_a, mut at_b) = (value(a)?, value(b)?);
    for _ in 0..STEPS {
        if at_a <= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = value(a)?;
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = value(b)?;
        }
    }
    let share = if value(a)? < value(0.0)? { a } else { 0.0 };
    let moved = between(share);
    w.copy_from_slice(&moved);
    Ok(Some(share))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gdro::domain::DomainSpec;
    use gdro::exact::{Options, minimize};
    use gdro::loss::{AnyLoss, Logistic};
    use gdro::setting::{Objective, Terms};
    use gdro::{Dataset, Matrix};

    use super::*;

    /// Two groups of 100 rows of one feature; labels of +1 in shares of 0.5 and 0.9.
    fn setting(intercept: Option<f64>, domain: DomainSpec) -> Setting {
        let x = (0..200).map(|row| f64::from(row % 7) - 3.0).collect();
        let label = |row: u32| if row % 10 < if row < 100 { 5 } else { 9 } { 1.0 } else { -1.0 };
        let groups = [(0..100).collect::<Vec<u32>>(), (100..200).collect()];
        let x = Arc::new(Matrix::dense(1, x).unwrap());
        let data = Dataset::new(x, (0..200).map(label).collect(), None, &groups).unwrap();
        let terms = Terms { l2: 1e-3, intercept, domain, ..Terms::new(Objective::Max) };
        Setting::new(data, AnyLoss::Logistic(Logistic), &terms).unwrap()
    }

    #[test]
    fn the_constant_model_is_the_best_one() {
        // The group of halves is at ln 2 with b = 0, and above everywhere else: so is the other one.
        let w = constant(&setting(Some(100.0), DomainSpec::Free)).unwrap().unwrap();
        assert!(w[0] == 0.0 && w[1].abs() < 1e-3, "{w:?}");
        let w = constant(&setting(None, DomainSpec::Free)).unwrap().unwrap();
        assert_eq!(w, [0.0]);
        assert_eq!(constant(&setting(None, DomainSpec::Simplex(1.0))).unwrap(), None);
    }

    #[test]
    fn a_model_that_does_worse_is_moved_towards_it() {
        let setting = setting(Some(100.0), DomainSpec::Free);
        let constant = constant(&setting).unwrap().unwrap();
        let value = |w: &[f64]| {
            let risks = group_risks(&setting.loss, w, &setting.data).unwrap();
            setting.objective(&risks) + 5e-4 * w[0] * w[0]
        };
        let mut good =
            minimize(&setting.data, &setting.loss, &setting.problem(), &Options::default())
                .unwrap()
                .w;
        let before = good.clone();
        assert_eq!(move_towards(&setting, &constant, &mut good).unwrap(), None);
        assert_eq!(good, before);
        for bad in [[40.0, 3.0], [-2.0, 0.3], [0.0, 9.0], [1e300, -1e300]] {
            let mut w = bad.to_vec();
            let share = move_towards(&setting, &constant, &mut w).unwrap().unwrap();
            // On a grid no point between the two does better.
            let best = (0..=1000).map(|step| {
                let share = f64::from(step) / 1000.0;
                let point = bad.iter().zip(&constant).map(|(w, c)| c + share * (w - c));
                value(&point.collect::<Vec<_>>())
            });
            let best = best.fold(f64::INFINITY, f64::min);
            assert!((0.0..1.0).contains(&share), "{share}");
            assert!(value(&w) <= value(&constant) && value(&w) <= best + 1e-9, "{bad:?}: {w:?}");
        }
    }
}
