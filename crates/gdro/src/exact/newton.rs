//! The Newton equations of the optimality conditions, reduced to the model.

use super::Risks;
use super::interior::Solver;
use super::keeper::Values;
use super::point::{Point, Step};
use super::system::{RankOne, System};
use crate::domain::MirrorMap;
use crate::row::dot;

/// Accuracy of Newton directions known by products, for fixed group weights and for the game, whose
/// weights come out of differences.
const ROUGH: f64 = 1e-6;
const FINE: f64 = 1e-12;

/// The group terms of the reduced system.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread {
    h: Vec<f64>,
    total: f64,
    center: Vec<f64>,
}

impl<M: MirrorMap> Solver<'_, M> {
    /// Norms of the residual of the optimality conditions: how far from feasible the duals and the
    /// epigraph are, and how far the products multiplier × slack are from `mu`.
    pub(super) fn residual(&self, point: &Point, values: &Values, mu: f64) -> (f64, f64) {
        let dual = self.dual(point, values);
        let mut products = 0.0;
        for bound in &point.bounds {
            let w = point.w[bound.at];
            products += (bound.z_low * (w - bound.low) - mu).powi(2);
            products += (bound.z_high * (bound.high - w) - mu).powi(2);
        }
        if let Some(ball) = &point.ball {
            products += (ball.slack(&point.w) * ball.nu - mu).powi(2);
        }
        let mut infeasible = dot(&dual, &dual);
        if self.is_game() {
            infeasible += (1.0 - point.q.iter().sum::<f64>()).powi(2);
            for i in 0..self.m {
                let u = point.u.get(i).copied().unwrap_or(0.0);
                infeasible += (values.payoffs[i] - point.t - u + point.s[i]).powi(2);
                products += (point.q[i] * point.s[i] - mu).powi(2);
                if let Some(v) = point.v.get(i) {
                    infeasible += (self.cap() - point.q[i] - v).powi(2);
                    products += (v * u - mu).powi(2);
                }
            }
        }
        (infeasible.sqrt(), products.sqrt())
    }

    /// The gradient of the Lagrangian in the model.
    pub(super) fn dual(&self, point: &Point, values: &Values) -> Vec<f64> {
        let mut dual = self.group_sum(&point.q, &values.gradients);
        let pull = self.problem.game.ridge + point.ball.as_ref().map_or(0.0, |b| b.nu);
        for (d, w) in dual.iter_mut().zip(&point.w).take(self.weights) {
            *d += pull * w;
        }
        for bound in &point.bounds {
            dual[bound.at] += bound.z_high - bound.z_low;
        }
        dual
    }

    /// Σ_i c_i g_i.
    pub(super) fn group_sum(&self, c: &[f64], gradients: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.n];
        for (c, g) in c.iter().zip(gradients.chunks_exact(self.n)) {
            if *c != 0.0 {
                sum.iter_mut().zip(g).for_each(|(s, g)| *s += c * g);
            }
        }
        sum
    }

    /// The group terms of the reduced system: ĥ_i, ĝ and S.
    fn spread(&self) -> Spread {
        if self.fixed.is_some() {
            return Spread::default();
        }
        let h = match self.tau {
            Some(tau) => self.point.q.iter().map(|q| q / tau).collect(),
            None => self.point.stiffness(),
        };
        let total = h.iter().sum();
        let mut center = self.group_sum(&h, &self.values.gradients);
        center.iter_mut().for_each(|g| *g /= total);
        Spread { h, total, center }
    }

    /// The reduced Newton system.
    pub(super) fn system<R: Risks>(
        &self,
        risks: &mut R,
        memory: &mut Vec<f64>,
    ) -> (System, Spread) {
        let (n, game, point) = (self.n, self.problem.game, &self.point);
        let c: Vec<f64> = point.q.iter().zip(&game.scales).map(|(q, p)| q * p).collect();
        let mut diagonal = vec![0.0; n];
        diagonal[..self.weights].fill(game.ridge + point.ball.as_ref().map_or(0.0, |b| b.nu));
        for bound in &point.bounds {
            let w = point.w[bound.at];
            diagonal[bound.at] += bound.z_low / (w - bound.low) + bound.z_high / (bound.high - w);
        }
        let spread = self.spread();
        let ball = point.ball.as_ref().map(|ball| {
            let mut u = point.w.clone();
            u[self.weights..].fill(0.0);
            RankOne { scale: ball.nu / ball.slack(&point.w), u }
        });
        let groups = spread.h.iter().zip(self.values.gradients.chunks_exact(n));
        let groups = groups.filter(|(h, _)| **h > 0.0).map(|(h, g)| RankOne {
            scale: *h,
            u: g.iter().zip(&spread.center).map(|(g, c)| g - c).collect(),
        });
        // With fixed group weights a direction that is a little off costs a step more at the end, and
        // saves half of the products of every step.
        let accuracy = if self.fixed.is_some() { ROUGH } else { FINE };
        let terms = ball.into_iter().chain(groups);
        let system = System::new(risks, &c, &diagonal, terms, accuracy, memory);
        (system, spread)
    }

    /// The Newton direction towards complementarity `mu`.
    pub(super) fn direction<R: Risks>(
        &self,
        risks: &mut R,
        system: &System,
        spread: &Spread,
        mu: f64,
    ) -> Step {
        let (point, values, n) = (&self.point, &self.values, self.n);
        let ridge = self.problem.game.ridge;
        let mut rhs = vec![0.0; n];
        let adversary = self.is_game();
        // π_i: what takes the place of the multiplier q_i on the right-hand side.
        let mut pi = point.q.clone();
        let (mut gap_u, mut zeta) = (vec![0.0; point.u.len()], vec![0.0; self.m]);
        let mut kappa = 0.0;
        let slope = |i: usize| point.q[i] / point.s[i];
        let infeasible = |i: usize| {
            let u = point.u.get(i).copied().unwrap_or(0.0);
            values.payoffs[i] - point.t - u + point.s[i]
        };
        if adversary {
            pi = (0..self.m).map(|i| mu / point.s[i] + slope(i) * infeasible(i)).collect();
            for i in 0..point.u.len() {
                let (d, e) = (slope(i), point.v[i] / point.u[i]);
                gap_u[i] = self.cap() - pi[i] - mu / point.u[i];
                zeta[i] = d / (d + e) * gap_u[i];
            }
            let gap_t = 1.0 - pi.iter().sum::<f64>();
            kappa = (zeta.iter().sum::<f64>() - gap_t) / spread.total;
        }
        let groups: Vec<f64> = pi.iter().zip(&zeta).map(|(pi, zeta)| -(pi + zeta)).collect();
        let pulled = self.group_sum(&groups, &values.gradients);
        for j in 0..n {
            rhs[j] = pulled[j];
            if j < self.weights {
                rhs[j] -= ridge * point.w[j];
            }
            if adversary {
                rhs[j] += spread.total * kappa * spread.center[j];
            }
        }
        if let Some(ball) = &point.ball {
            let by = mu / ball.slack(&point.w);
            for (r, w) in rhs.iter_mut().zip(&point.w).take(self.weights) {
                *r -= by * w;
            }
        }
        for bound in &point.bounds {
            let w = point.w[bound.at];
            rhs[bound.at] -= mu / (bound.high - w) - mu / (w - bound.low);
        }
        system.solve(risks, &mut rhs);

        let mut step = Step { w: rhs, ..Step::default() };
        if adversary {
            step.t = dot(&spread.center, &step.w) + kappa;
            for (i, gradient) in values.gradients.chunks_exact(n).enumerate() {
                let along = dot(gradient, &step.w) - step.t;
                let mut du = 0.0;
                if let Some(u) = point.u.get(i) {
                    let (d, e) = (slope(i), point.v[i] / u);
                    du = (d * along - gap_u[i]) / (d + e);
                    step.u.push(du);
                    step.v.push(mu / u - point.v[i] - e * du);
                }
                let change = infeasible(i) + along - du;
                step.s.push(-change);
                step.q.push(mu / point.s[i] - point.q[i] + slope(i) * change);
            }
        }
        if let Some(ball) = &point.ball {
            let slack = ball.slack(&point.w);
            let change = dot(&point.w[..self.weights], &step.w[..self.weights]);
            step.nu = mu / slack - ball.nu + ball.nu / slack * change;
        }
        for bound in &point.bounds {
            let (w, dw) = (point.w[bound.at], step.w[bound.at]);
            let (low, high) = (w - bound.low, bound.high - w);
            let z_low = mu / low - bound.z_low - bound.z_low / low * dw;
            let z_high = mu / high - bound.z_high + bound.z_high / high * dw;
            step.bounds.push((z_low, z_high));
        }
        step
    }
}
