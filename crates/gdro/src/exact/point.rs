//! The variables of the interior-point method, and steps in them.

use serde::{Deserialize, Serialize};

use crate::row::dot;

/// A bound low ≤ w_at ≤ high with its two multipliers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Bound {
    pub(super) at: usize,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) z_low: f64,
    pub(super) z_high: f64,
}

/// The constraint ½(‖w‖² − B²) ≤ 0 on the first `weights` numbers, with its multiplier. Points stay
/// strictly inside, so that its slack is no variable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ball {
    pub(super) radius: f64,
    pub(super) weights: usize,
    pub(super) nu: f64,
}

impl Ball {
    /// ½(B² − ‖w‖²).
    pub(super) fn slack(&self, w: &[f64]) -> f64 {
        let w = &w[..self.weights];
        0.5 * (self.radius * self.radius - dot(w, w))
    }

    /// The longest share of a step that leaves 0.5 % of the slack, and more than its rounding: the
    /// positive root of ½‖w + α dw‖² = ½B² − rest.
    fn longest(&self, w: &[f64], dw: &[f64]) -> f64 {
        let (w, dw) = (&w[..self.weights], &dw[..self.weights]);
        let (slack, least) = (self.slack(w), 1e-14 * self.radius * self.radius);
        let (a, b, c) =
            (dot(dw, dw), dot(w, dw), 2.0 * (0.995 * slack).min(slack - least).max(0.0));
        let root = (b * b + a * c).sqrt();
        if a == 0.0 {
            f64::INFINITY
        } else if b > 0.0 {
            c / (b + root)
        } else {
            (root - b) / a
        }
    }
}

/// The variables. With fixed group weights q there are no t, u, s and v.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) w: Vec<f64>,
    pub(super) t: f64,
    pub(super) u: Vec<f64>,
    pub(super) s: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) ball: Option<Ball>,
    pub(super) bounds: Vec<Bound>,
}

/// A step in the variables; empty where there is nothing to move.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    pub(super) w: Vec<f64>,
    pub(super) t: f64,
    pub(super) u: Vec<f64>,
    pub(super) s: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) nu: f64,
    /// Multipliers of each bound, low and high.
    pub(super) bounds: Vec<(f64, f64)>,
}

impl Point {
    /// Number of inequalities.
    pub(super) fn inequalities(&self) -> usize {
        self.s.len() + self.u.len() + 2 * self.bounds.len() + usize::from(self.ball.is_some())
    }

    /// The mean of multiplier × slack, 0 when there is no inequality.
    pub(super) fn complementarity(&self) -> f64 {
        let mut sum = dot(&self.q, &self.s) + dot(&self.v, &self.u);
        if let Some(ball) = &self.ball {
            sum += ball.slack(&self.w) * ball.nu;
        }
        for bound in &self.bounds {
            let w = self.w[bound.at];
            sum += bound.z_low * (w - bound.low) + bound.z_high * (bound.high - w);
        }
        let count = self.inequalities();
        if count == 0 { 0.0 } else { sum / count as f64 }
    }

    /// How stiffly the payoff of each group pulls at t: 1/ĥ_i = s_i/q_i + u_i/v_i.
    pub(super) fn stiffness(&self) -> Vec<f64> {
        let stiffness = |i: usize| {
            let d = self.q[i] / self.s[i];
            match self.v.get(i) {
                None => d,
                Some(v) => {
                    let e = v / self.u[i];
                    d * (e / (d + e))
                }
            }
        };
        (0..self.s.len()).map(stiffness).collect()
    }

    /// The longest share of a step, at most 1, that keeps slacks and multipliers at 0.5 % of their
    /// value or more.
    pub(super) fn longest(&self, step: &Step) -> f64 {
        let mut alpha = 1f64;
        let mut keep = |value: f64, change: f64| {
            if change < 0.0 {
                alpha = alpha.min(-0.995 * value.max(0.0) / change);
            }
        };
        let pairs =
            [(&self.s, &step.s), (&self.q, &step.q), (&self.u, &step.u), (&self.v, &step.v)];
        for (values, changes) in pairs {
            values.iter().zip(changes).for_each(|(v, c)| keep(*v, *c));
        }
        if let Some(ball) = &self.ball {
            keep(ball.nu, step.nu);
        }
        for bound in &self.bounds {
            let (w, dw) = (self.w[bound.at], step.w[bound.at]);
            let least = 1e-15 * bound.low.abs().max(bound.high.abs());
            keep(w - bound.low - least, dw);
            keep(bound.high - w - least, -dw);
        }
        for (bound, (low, high)) in self.bounds.iter().zip(&step.bounds) {
            keep(bound.z_low, *low);
            keep(bound.z_high, *high);
        }
        self.ball.as_ref().map_or(alpha, |ball| alpha.min(ball.longest(&self.w, &step.w)))
    }

    /// The point after a share of a step.
    pub(super) fn moved(&self, step: &Step, alpha: f64) -> Point {
        let mut point = self.clone();
        let add = |to: &mut [f64], by: &[f64]| {
            to.iter_mut().zip(by).for_each(|(a, b)| *a += alpha * b);
        };
        add(&mut point.w, &step.w);
        point.t += alpha * step.t;
        add(&mut point.u, &step.u);
        add(&mut point.s, &step.s);
        add(&mut point.q, &step.q);
        add(&mut point.v, &step.v);
        if let Some(ball) = &mut point.ball {
            ball.nu += alpha * step.nu;
        }
        for (bound, (low, high)) in point.bounds.iter_mut().zip(&step.bounds) {
            bound.z_low += alpha * low;
            bound.z_high += alpha * high;
        }
        point
    }
}
