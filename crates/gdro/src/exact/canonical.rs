//! A problem in units of its own.
//!
//! The numbers of the reference solver are absolute: how long a first step is, how far an intercept
//! may lie, what is rounding. So that they suit every problem, it solves the problem in other
//! coordinates, in which it is the same:
//!
//! ```text
//! x = c + σ x'    y = y₀ + u y'    w = (u/σ) w'    b = u b' + y₀ − ⟨w, c⟩    ℓ(s, y) = f ℓ'(s', y')
//! ```
//!
//! so that s = y₀ + u s', and the objective is κ times that of the payoffs p_i (f/κ) (R'_i − b_i/f),
//! the ridge λ u²/(σ²κ), the set (σ/u) W and the τ of a tilted risk τ/κ. Scales are powers of two, which lose no digit.
//!
//! - c and y₀, for a free intercept alone: the middle of the targets, and of the columns that are
//!   far from 0. A penalised intercept would make another problem of it, and so would a box.
//! - u: how far targets are from y₀; for losses of numbers ([`Loss::in_unit`]).
//! - σ: the size of the features, where it is not within a factor of a thousand of 1: features in
//!   other coordinates are a copy of the matrix.
//! - κ: the largest risk of the model in the centre of W.

use std::sync::Arc;

use super::goal::Goal;
use super::problem::{Options, Problem, Solution};
use super::scaled::Scaled;
use crate::dataset::Dataset;
use crate::domain::{Domain, MirrorMap};
use crate::error::Result;
use crate::game::Game;
use crate::loss::Loss;
use crate::risk::group_risks;
use crate::row::Matrix;

/// A column is far from 0 when its mean is this many times its standard deviation.
const FAR: f64 = 30.0;

/// Numbers within this factor of 1 are left as they are: features and risks.
const ORDINARY: [f64; 2] = [1024.0, 16.0];

/// How far an intercept may go at first: this, or twice the largest target.
const INTERCEPT: f64 = 100.0;

/// A problem on rows in other coordinates.
pub(crate) struct Canonical<'p, L, M> {
    pub(crate) data: Dataset,
    loss: Option<L>,
    given: &'p L,
    game: Game,
    domain: Domain<Scaled<'p, M>>,
    features: usize,
    outputs: usize,
    /// c; empty where it is 0.
    centre: Vec<f64>,
    /// u and y₀.
    target: (f64, f64),
    /// f.
    loss_unit: f64,
    /// κ.
    unit: f64,
    /// The largest payoff of the model in the centre of W, without offsets.
    size: f64,
}

impl<'p, L: Loss + Sync, M: MirrorMap> Canonical<'p, L, M> {
    /// The coordinates that suit a problem.
    ///
    /// # Errors
    /// What [`Problem::check`] finds wrong; errors of the loss.
    pub(crate) fn new(data: &Dataset, given: &'p L, problem: &Problem<'p, M>) -> Result<Self> {
        problem.check(data.groups())?;
        let (features, outputs) = (problem.features, problem.outputs);
        let is_free = problem.domain.is_free();
        let (centre, stretch) = of_features(data.matrix(), |row| data.weight(row), is_free);
        let (mut unit, origin) = of_targets(data.targets(), |row| data.weight(row), is_free);
        let (mut loss, mut loss_unit) = (None, 1.0);
        match given.in_unit(unit) {
            Some((own, f)) => (loss, loss_unit) = (Some(own), f),
            None => unit = 1.0,
        }
        let target = (unit, if loss.is_some() { origin } else { 0.0 });
        let matrix = (!centre.is_empty() || stretch != 1.0)
            .then(|| data.matrix().in_coordinates(&centre, stretch));
        let targets = loss
            .is_some()
            .then(|| data.targets().iter().map(|y| (y - target.1) / unit).collect::<Vec<_>>());
        let data = data.with(matrix.map(Arc::new), targets);

        let by = stretch / unit;
        let intercept = problem.domain.intercept.map(|bound| match is_free {
            true if loss.is_some() => (2.0 * data.max_abs_target()).clamp(INTERCEPT, f64::MAX),
            true => INTERCEPT,
            false => bound / unit,
        });
        let free = problem.domain.free;
        let domain = Domain { map: Scaled { set: &problem.domain.map, by }, intercept, free };
        let mut this = Canonical {
            data,
            loss,
            given,
            game: problem.game.clone(),
            domain,
            features,
            outputs,
            centre,
            target,
            loss_unit,
            unit: loss_unit,
            size: 1.0,
        };
        let mut w = vec![0.0; (features + usize::from(intercept.is_some())) * outputs];
        this.domain.map.center(&mut w[..features * outputs]);
        let risks = group_risks(this.loss(), &w, &this.data)?;
        let payoffs = risks.iter().zip(&this.game.scales).map(|(r, p)| r * p);
        let size = payoffs.fold(0.0, f64::max);
        let part = power_of_two(size, ORDINARY[1]);
        if size > 0.0 {
            this.size = size / part;
        }
        this.unit = loss_unit * part;
        let game = &mut this.game;
        game.scales.iter_mut().for_each(|p| *p /= part);
        game.offsets.iter_mut().for_each(|b| *b /= loss_unit);
        game.ridge = game.ridge / by / by / this.unit;
        Ok(this)
    }

    /// The loss ℓ'.
    pub(crate) fn loss(&self) -> &L {
        self.loss.as_ref().unwrap_or(self.given)
    }

    /// Number of weights; intercepts follow.
    pub(super) fn weights(&self) -> usize {
        self.features * self.outputs
    }

    /// Whether models have several free intercepts.
    pub(super) fn has_several(&self) -> bool {
        self.outputs > 1 && self.domain.is_free()
    }

    /// The set of models, with intercepts this many times as far from 0.
    pub(super) fn domain(&self, times: f64) -> Domain<Scaled<'p, M>> {
        let intercept = self.domain.intercept.map(|bound| times * bound);
        Domain { map: self.domain.map, intercept, free: self.domain.free }
    }

    /// The problem in these coordinates.
    pub(crate) fn problem<'a>(
        &'a self,
        domain: &'a Domain<Scaled<'p, M>>,
        goal: Goal,
    ) -> Problem<'a, Scaled<'p, M>> {
        let (features, outputs) = (self.features, self.outputs);
        Problem { game: &self.game, domain, features, outputs, goal }
    }

    /// The problem in these coordinates, with intercepts as far from 0 as they may be at first.
    pub(crate) fn usual(&self, goal: Goal) -> Problem<'_, Scaled<'p, M>> {
        self.problem(&self.domain, goal)
    }

    /// A goal in these coordinates.
    pub(crate) fn goal(&self, goal: &Goal) -> Goal {
        goal.in_unit(self.unit)
    }

    /// The options in these coordinates.
    pub(super) fn options(&self, options: &Options) -> Options {
        let tolerance = options.tolerance / self.unit;
        let start = options.start.as_ref().map(|w| self.model(w));
        Options { tolerance, start, ..*options }
    }

    /// An error of an offset in these coordinates.
    pub(crate) fn offset(&self, error: f64) -> f64 {
        error / self.loss_unit
    }

    /// A value of the objective in the units of the problem.
    pub(crate) fn objective(&self, value: f64) -> f64 {
        value * self.unit
    }

    /// The largest p_i R_i of the model in the centre of W, in these coordinates.
    pub(crate) fn scale(&self) -> f64 {
        self.size
    }

    /// Σ_j w_jo c_j, exact but for rounding of the sum with `terms`.
    fn shifted(&self, w: &[f64], output: usize, terms: [f64; 2]) -> f64 {
        let columns = self.centre.iter().enumerate();
        let products = columns.map(|(j, c)| (w[j * self.outputs + output], *c));
        exact_sum(products.chain(terms.map(|term| (term, 1.0))))
    }

    /// A model in these coordinates.
    pub(crate) fn model(&self, w: &[f64]) -> Vec<f64> {
        let (weights, (unit, origin)) = (self.weights(), self.target);
        let mut out = w.to_vec();
        out[..weights].iter_mut().for_each(|v| *v *= self.domain.map.by);
        for (o, b) in out[weights..].iter_mut().enumerate() {
            *b = self.shifted(w, o, [*b, -origin]) / unit;
        }
        out
    }

    /// An answer in the units of the problem.
    pub(super) fn answer(&self, mut solution: Solution) -> Solution {
        let (weights, (unit, origin)) = (self.weights(), self.target);
        let w = &mut solution.w;
        w[..weights].iter_mut().for_each(|v| *v /= self.domain.map.by);
        let (own, intercepts) = w.split_at_mut(weights);
        for (o, b) in intercepts.iter_mut().enumerate() {
            *b = -self.shifted(own, o, [-*b * unit, -origin]);
        }
        for value in
            [&mut solution.upper, &mut solution.lower, &mut solution.attained, &mut solution.wanted]
        {
            *value *= self.unit;
        }
        // The bounds are sums of the same terms in different orders: at the optimum rounding may leave
        // the lower one above.
        solution.lower = solution.lower.min(solution.upper);
        solution
    }
}

/// c, empty where it is 0, and σ. Rows count by their weights, so that a row of weight 2 is two rows.
fn of_features(matrix: &Matrix, weight: impl Fn(usize) -> f64, is_free: bool) -> (Vec<f64>, f64) {
    let (rows, columns) = (matrix.rows(), matrix.cols());
    let (mut sums, mut squares, mut stored) =
        (vec![0.0; columns], vec![0.0; columns], vec![0usize; columns]);
    let (mut all, mut of_stored) = (0.0, 0.0);
    for row in 0..rows {
        let weight = weight(row);
        all += weight;
        matrix.row(row).for_each(|j, v| {
            sums[j] += weight * v;
            squares[j] += weight * v * v;
            stored[j] += 1;
            of_stored += weight;
        });
    }
    // Where zeros are left out, they are not far from the rest.
    let mut centre: Vec<f64> = (0..columns)
        .map(|j| if is_free && stored[j] == rows { sums[j] / all } else { 0.0 })
        .collect();
    if is_free {
        let mut spread = vec![0.0; columns];
        for row in 0..rows {
            let weight = weight(row);
            matrix.row(row).for_each(|j, v| spread[j] += weight * (v - centre[j]).powi(2));
        }
        for j in 0..columns {
            let deviation = (spread[j] / all).sqrt();
            if centre[j].is_finite() && centre[j].abs() > FAR * deviation {
                squares[j] = spread[j];
            } else {
                centre[j] = 0.0;
            }
        }
    }
    if centre.iter().all(|c| *c == 0.0) {
        centre.clear();
    }
    let size = (squares.iter().sum::<f64>() / of_stored).sqrt();
    let size = if size.is_finite() { size } else { matrix.largest() };
    (centre, power_of_two(size, ORDINARY[0]))
}

/// u and y₀, with rows by their weights.
fn of_targets(targets: &[f64], weight: impl Fn(usize) -> f64, is_free: bool) -> (f64, f64) {
    let all: f64 = (0..targets.len()).map(&weight).sum();
    let mean = |of: &dyn Fn(f64) -> f64| {
        targets.iter().enumerate().map(|(row, y)| weight(row) / all * of(*y)).sum::<f64>()
    };
    let origin = if is_free { mean(&|y| y) } else { 0.0 };
    let spread = mean(&|y| (y - origin).abs());
    // All the same: no unit is better than another.
    let spread = if spread > 0.0 { spread } else { origin.abs() };
    (power_of_two(spread, 1.0), origin)
}

/// The power of two next below a number; 1 for one that is within a factor of `ordinary` of 1, or no
/// size at all.
fn power_of_two(size: f64, ordinary: f64) -> f64 {
    if !(size > 0.0 && size.is_finite()) || (1.0 / ordinary..ordinary).contains(&size) {
        return 1.0;
    }
    // The exponent alone. Squares and ratios of such numbers must be numbers as well.
    f64::from_bits(size.clamp(1e-140, 1e140).to_bits() & 0x7FF0_0000_0000_0000)
}

/// Σ a·b, as if in twice the digits.
fn exact_sum(products: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut high, mut low) = (0.0, 0.0);
    for (a, b) in products {
        let product = a * b;
        let sum = high + product;
        let back = sum - high;
        low += a.mul_add(b, -product) + ((high - (sum - back)) + (product - back));
        high = sum;
    }
    high + low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_keep_what_cancels() {
        let sum = |terms: &[(f64, f64)]| exact_sum(terms.iter().copied());
        assert_eq!(sum(&[(1e16, 1.0), (1.0, 1.0), (-1e16, 1.0)]), 1.0);
        let e = f64::EPSILON;
        assert_eq!(sum(&[(1.0 + e, 1.0 + e), (-1.0, 1.0), (-2.0, e)]), e * e);
        assert_eq!(sum(&[]), 0.0);
    }

    #[test]
    fn units_are_powers_of_two() {
        assert_eq!((power_of_two(0.75, 1.0), power_of_two(5.0, 1.0)), (0.5, 4.0));
        assert_eq!((power_of_two(5.0, 16.0), power_of_two(17.0, 16.0)), (1.0, 16.0));
        assert_eq!((power_of_two(0.0, 1.0), power_of_two(f64::NAN, 1.0)), (1.0, 1.0));
        assert!((1e140..1e141).contains(&(2.0 * power_of_two(1e300, 1.0))));
    }

    /// Columns that are stored throughout and far from 0 have a centre; zeros are not far.
    #[test]
    fn centres_are_of_columns_far_from_zero() {
        let dense = Matrix::dense(2, vec![1000.0, 1.0, 1002.0, -1.0]).unwrap();
        let (centre, stretch) = of_features(&dense, |_| 1.0, true);
        assert_eq!((centre, stretch), (vec![1001.0, 0.0], 1.0));
        assert!(of_features(&dense, |_| 1.0, false).0.is_empty());
        let (starts, indices) = (vec![0, 2, 3, 4], vec![0, 1, 0, 0]);
        let sparse = Matrix::sparse(2, starts, indices, vec![5e9, 1e9, 5e9, 5e9 + 3.0]).unwrap();
        assert_eq!(of_features(&sparse, |_| 1.0, true).0, [5e9 + 1.0, 0.0]);
        assert_eq!(of_targets(&[7.0, 9.0], |_| 1.0, true), (1.0, 8.0));
        assert_eq!(of_targets(&[7.0, 9.0], |_| 1.0, false), (8.0, 0.0));
        assert_eq!(of_targets(&[5.0, 5.0], |_| 1.0, true), (4.0, 5.0));
        let weight = |row: usize| [3.0, 1.0][row];
        assert_eq!(of_targets(&[7.0, 11.0], weight, true).1, 8.0);
    }
}
