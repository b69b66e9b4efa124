//! The variables of the interior-point method, and steps in them.

use crate::row::dot;

/// A bound low ≤ w_at ≤ high with its two multipliers.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) at: usize,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) z_low: f64,
    pub(super) z_high: f64,
}

/// The variables. With fixed group weights q there are no t, u, s and v.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) w: Vec<f64>,
    pub(super) t: f64,
    pub(super) u: Vec<f64>,
    pub(super) s: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    /// Slack and multiplier of ½(‖w‖² − B²) ≤ 0.
    pub(super) ball: Option<(f64, f64)>,
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
    pub(super) ball: (f64, f64),
    /// Multipliers of each bound, low and high.
    pub(super) bounds: Vec<(f64, f64)>,
}

impl Point {
    /// The mean of multiplier × slack, 0 when there is no inequality.
    pub(super) fn complementarity(&self) -> f64 {
        let mut sum = dot(&self.q, &self.s) + dot(&self.v, &self.u);
        let mut count = self.s.len() + self.u.len() + 2 * self.bounds.len();
        if let Some((slack, multiplier)) = self.ball {
            sum += slack * multiplier;
            count += 1;
        }
        for bound in &self.bounds {
            let w = self.w[bound.at];
            sum += bound.z_low * (w - bound.low) + bound.z_high * (bound.high - w);
        }
        if count == 0 { 0.0 } else { sum / count as f64 }
    }

    /// The longest share of a step, at most 1, that keeps slacks and multipliers at 0.5 % of their
    /// value or more.
    pub(super) fn longest(&self, step: &Step) -> f64 {
        let mut alpha = 1f64;
        let mut keep = |value: f64, change: f64| {
            if change < 0.0 {
                alpha = alpha.min(-0.995 * value / change);
            }
        };
        let pairs =
            [(&self.s, &step.s), (&self.q, &step.q), (&self.u, &step.u), (&self.v, &step.v)];
        for (values, changes) in pairs {
            values.iter().zip(changes).for_each(|(v, c)| keep(*v, *c));
        }
        if let Some((slack, nu)) = self.ball {
            keep(slack, step.ball.0);
            keep(nu, step.ball.1);
        }
        for (bound, (low, high)) in self.bounds.iter().zip(&step.bounds) {
            let (w, dw) = (self.w[bound.at], step.w[bound.at]);
            keep(w - bound.low, dw);
            keep(bound.high - w, -dw);
            keep(bound.z_low, *low);
            keep(bound.z_high, *high);
        }
        alpha
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
        if let Some((slack, nu)) = &mut point.ball {
            *slack += alpha * step.ball.0;
            *nu += alpha * step.ball.1;
        }
        for (bound, (low, high)) in point.bounds.iter_mut().zip(&step.bounds) {
            bound.z_low += alpha * low;
            bound.z_high += alpha * high;
        }
        point
    }
}
