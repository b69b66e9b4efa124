//! Risks of rows in memory, with their derivatives.

use rayon::prelude::*;

use super::Risks;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::iterate::{add_outer, scores};
use crate::loss::Loss;
use crate::row::{Row, dot};

/// Rows per task. Tasks and the order in which their results are added do not depend on the number
/// of threads, so that neither do the bits of the sums.
const CHUNK: usize = 2048;

/// Largest number of partial Hessians, or products with one, that are summed up at the end.
const PARTS: usize = 8;

/// Rows that make a part of their own worth while.
const PART_ROWS: usize = 1024;

/// The empirical risks of a data set under a loss.
pub struct DatasetRisks<'a, L> {
    data: &'a Dataset,
    loss: &'a L,
    /// The loss that `loss` smooths, when it does.
    kinked: Option<&'a L>,
    intercept: bool,
    /// Scores of every row at the present point, c per row.
    scores: Vec<f64>,
    values: Vec<f64>,
    slopes: Vec<f64>,
    /// Stretches of at most [`CHUNK`] rows of one group.
    tasks: Vec<Task>,
    /// Coefficient of every row in a Hessian.
    coefficients: Vec<f64>,
    parts: Vec<Vec<f64>>,
}

#[derive(Clone, Debug)]
struct Task {
    group: usize,
    from: usize,
    to: usize,
}

impl<'a, L: Loss + Sync> DatasetRisks<'a, L> {
    /// The risks of linear models with or without intercept.
    pub fn new(data: &'a Dataset, loss: &'a L, intercept: bool) -> Self {
        let c = loss.outputs();
        let mut tasks = Vec::new();
        for group in 0..data.groups() {
            let members = data.members(group).len();
            for from in (0..members).step_by(CHUNK) {
                tasks.push(Task { group, from, to: (from + CHUNK).min(members) });
            }
        }
        let rows = data.rows();
        DatasetRisks {
            data,
            loss,
            kinked: None,
            intercept,
            scores: vec![0.0; rows * c],
            values: vec![0.0; rows],
            slopes: vec![0.0; rows * c],
            tasks,
            coefficients: vec![0.0; rows],
            parts: Vec::new(),
        }
    }

    /// The risks under `loss`, which smooths `kinked` ([`Loss::smoothed`]).
    pub(super) fn smoothing(
        data: &'a Dataset,
        loss: &'a L,
        kinked: &'a L,
        intercept: bool,
    ) -> Self {
        DatasetRisks { kinked: Some(kinked), ..Self::new(data, loss, intercept) }
    }

    /// What row `row` adds to [`Risks::surrogate`]: ℓ − ℓ° at its scores s, and ℓ(s) + ℓ°*(u) − ⟨u,
    /// s⟩ at its slope u, by which the tangent of ℓ at s lies above the line ⟨u, ·⟩ − ℓ°*(u) ≤ ℓ°.
    fn excess(&self, kinked: &L, row: usize) -> (f64, f64) {
        let c = self.loss.outputs();
        let (s, u) = (&self.scores[row * c..][..c], &self.slopes[row * c..][..c]);
        let (y, value) = (self.data.sample(row).y, self.values[row]);
        // Infinite when a user's loss fails, which makes the bounds useless and not wrong.
        let excess = kinked.value(s, y).map_or(f64::NEG_INFINITY, |v| value - v);
        (excess, value + kinked.conjugate(u, y) - dot(u, s))
    }

    /// Means over the rows of each group of Σ_o |u_o| (Σ_j |w_jo x_j| + |b_o|), where u are the
    /// slopes at the point w of the last evaluation: the size of the terms of which scores and
    /// gradients are sums, and so of what rounding does to risks and tangents.
    pub(crate) fn magnitudes(&self, w: &[f64]) -> Vec<f64> {
        let (data, c) = (self.data, self.loss.outputs());
        let (weights, intercepts) = w.split_at(data.features() * c);
        let sum = |task: &Task| {
            let mut sum = 0.0;
            for row in &data.members(task.group)[task.from..task.to] {
                let row = *row as usize;
                let slope = &self.slopes[row * c..][..c];
                let mut size = dot_abs(slope, intercepts);
                data.sample(row).x.for_each(|j, v| {
                    size += v.abs() * dot_abs(slope, &weights[j * c..][..c]);
                });
                sum += data.weight(row) * size;
            }
            sum / data.total_weight(task.group)
        };
        let sums: Vec<f64> = self.tasks.par_iter().map(sum).collect();
        let mut sizes = vec![0.0; data.groups()];
        self.tasks.iter().zip(sums).for_each(|(task, size)| sizes[task.group] += size);
        sizes
    }

    /// Loss and slope of every row at w.
    fn score_rows(&mut self, w: &[f64]) -> Result<()> {
        let (data, loss, c) = (self.data, self.loss, self.loss.outputs());
        let rows = self.scores.par_chunks_mut(CHUNK * c);
        let values = self.values.par_chunks_mut(CHUNK);
        let slopes = self.slopes.par_chunks_mut(CHUNK * c);
        rows.zip(values).zip(slopes).enumerate().try_for_each(|(chunk, ((s, v), g))| {
            let each = s.chunks_exact_mut(c).zip(v.iter_mut()).zip(g.chunks_exact_mut(c));
            for (offset, ((s, v), g)) in each.enumerate() {
                let sample = data.sample(chunk * CHUNK + offset);
                scores(w, data.features(), sample.x, s);
                *v = loss.slope(s, sample.y, g)?;
            }
            Ok(())
        })
    }

    /// Loss sum and gradient sum of one task.
    fn sum_task(&self, task: &Task, gradient: &mut [f64]) -> Result<f64> {
        let (data, c) = (self.data, self.loss.outputs());
        let mut sum = 0.0;
        for row in &data.members(task.group)[task.from..task.to] {
            let row = *row as usize;
            let (weight, value) = (data.weight(row), self.values[row]);
            if !value.is_finite() {
                return Err(Error::NonFiniteLoss { group: task.group, round: 0, value });
            }
            sum += weight * value;
            let slope = &self.slopes[row * c..(row + 1) * c];
            add_outer(gradient, data.features(), data.sample(row).x, weight, slope);
        }
        Ok(sum)
    }

    /// The coefficient of every row's curvature in Σ_i c_i ∇²R_i.
    fn weigh_rows(&mut self, c: &[f64]) {
        self.coefficients.fill(0.0);
        let largest = c.iter().copied().fold(0.0, f64::max);
        for (group, c) in c.iter().enumerate() {
            // Groups this light do not move the sum in double precision.
            if *c > 1e-18 * largest {
                let share = c / self.data.total_weight(group);
                for row in self.data.members(group) {
                    self.coefficients[*row as usize] += share * self.data.weight(*row as usize);
                }
            }
        }
    }

    /// Adds up what `add(self, row, coefficient, sum, scratch)` gives for every row with a
    /// coefficient, in parts that do not depend on the number of threads.
    fn sum_parts(
        &mut self,
        len: usize,
        out: &mut [f64],
        add: impl Fn(&Self, usize, f64, &mut [f64], &mut [f64]) + Sync,
    ) {
        let rows = self.data.rows();
        let count = (rows / PART_ROWS).clamp(1, PARTS);
        let stretch = rows.div_ceil(count);
        let outputs = self.loss.outputs();
        let mut parts = std::mem::take(&mut self.parts);
        parts.resize(count, Vec::new());
        let this = &*self;
        parts.par_iter_mut().enumerate().for_each(|(part, sum)| {
            sum.clear();
            sum.resize(len, 0.0);
            let mut scratch = vec![0.0; outputs * outputs + 2 * outputs];
            for row in part * stretch..((part + 1) * stretch).min(rows) {
                let a = this.coefficients[row];
                if a != 0.0 {
                    add(this, row, a, sum, &mut scratch);
                }
            }
        });
        out.fill(0.0);
        for part in &parts {
            out.iter_mut().zip(part).for_each(|(o, p)| *o += p);
        }
        self.parts = parts;
    }

    /// Adds a·(x ⊗ I) h (x ⊗ I)ᵀ to the lower triangle, where x has a final 1 for the intercept.
    fn add_curvature(&self, x: Row<'_>, a: f64, h: &[f64], hessian: &mut [f64], n: usize) {
        let c = self.loss.outputs();
        let constant = self.intercept.then_some((self.data.features(), 1.0));
        match (x, c) {
            // The two common cases, written so that their inner loops are tight.
            (Row::Sparse { indices, values }, 1) => {
                let a = a * h[0];
                for (at, (j, v)) in indices.iter().zip(values).enumerate() {
                    let line = &mut hessian[*j as usize * n..][..n];
                    let scaled = a * v;
                    for (i, u) in indices[..=at].iter().zip(&values[..=at]) {
                        line[*i as usize] += scaled * u;
                    }
                }
                if let Some((j, _)) = constant {
                    let line = &mut hessian[j * n..][..n];
                    for (i, u) in indices.iter().zip(values) {
                        line[*i as usize] += a * u;
                    }
                    line[j] += a;
                }
            }
            (Row::Dense(x), 1) => {
                let a = a * h[0];
                for (j, v) in x.iter().enumerate() {
                    let scaled = a * v;
                    for (out, u) in hessian[j * n..][..=j].iter_mut().zip(x) {
                        *out += scaled * u;
                    }
                }
                if let Some((j, _)) = constant {
                    let line = &mut hessian[j * n..][..n];
                    for (out, u) in line.iter_mut().zip(x) {
                        *out += a * u;
                    }
                    line[j] += a;
                }
            }
            _ => {
                let add = |j: usize, v: f64, hessian: &mut [f64]| {
                    let pair = |i: usize, u: f64, hessian: &mut [f64]| {
                        for o in 0..c {
                            let line = &mut hessian[(j * c + o) * n + i * c..][..c];
                            for (out, h) in line.iter_mut().zip(&h[o * c..]) {
                                *out += a * v * u * h;
                            }
                        }
                    };
                    x.for_each(|i, u| {
                        if i <= j {
                            pair(i, u, hessian);
                        }
                    });
                    if let Some((i, u)) = constant
                        && i <= j
                    {
                        pair(i, u, hessian);
                    }
                };
                x.for_each(|j, v| add(j, v, hessian));
                if let Some((j, v)) = constant {
                    add(j, v, hessian);
                }
            }
        }
    }
}

/// Σ |a b| over the shorter of the two.
fn dot_abs(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum()
}

impl<L: Loss + Sync> Risks for DatasetRisks<'_, L> {
    fn groups(&self) -> usize {
        self.data.groups()
    }

    fn dim(&self) -> usize {
        (self.data.features() + usize::from(self.intercept)) * self.loss.outputs()
    }

    fn infimum(&self) -> f64 {
        self.loss.infimum()
    }

    fn evaluate(&mut self, w: &[f64], risks: &mut [f64], gradients: &mut [f64]) -> Result<()> {
        self.score_rows(w)?;
        let n = self.dim();
        let run = |task: &Task| {
            let mut gradient = vec![0.0; n];
            self.sum_task(task, &mut gradient).map(|sum| (sum, gradient))
        };
        risks.fill(0.0);
        gradients.fill(0.0);
        // In batches, so that the partial gradients of many tasks do not pile up.
        for batch in self.tasks.chunks(256) {
            let sums: Vec<_> = batch.par_iter().map(run).collect::<Result<_>>()?;
            for (task, (sum, gradient)) in batch.iter().zip(sums) {
                let total = self.data.total_weight(task.group);
                risks[task.group] += sum / total;
                let out = &mut gradients[task.group * n..(task.group + 1) * n];
                out.iter_mut().zip(&gradient).for_each(|(o, g)| *o += g / total);
            }
        }
        Ok(())
    }

    fn surrogate(&self, excess: &mut [f64], slack: &mut [f64]) -> bool {
        let Some(kinked) = self.kinked else { return false };
        let sum = |task: &Task| {
            let rows = &self.data.members(task.group)[task.from..task.to];
            rows.iter().fold((0.0, 0.0), |(a, b), row| {
                let weight = self.data.weight(*row as usize);
                let (excess, slack) = self.excess(kinked, *row as usize);
                (a + weight * excess, b + weight * slack)
            })
        };
        let sums: Vec<(f64, f64)> = self.tasks.par_iter().map(sum).collect();
        excess.fill(0.0);
        slack.fill(0.0);
        for (task, (a, b)) in self.tasks.iter().zip(sums) {
            let total = self.data.total_weight(task.group);
            excess[task.group] += a / total;
            slack[task.group] += b / total;
        }
        true
    }

    fn hessian(&mut self, c: &[f64], hessian: &mut [f64]) {
        self.weigh_rows(c);
        let (n, outputs) = (self.dim(), self.loss.outputs());
        self.sum_parts(n * n, hessian, |this, row, a, sum, h| {
            let sample = this.data.sample(row);
            this.loss.hessian(&this.scores[row * outputs..][..outputs], sample.y, h);
            // Most rows of a non-smooth loss lie far from its kinks.
            if outputs == 1 && h[0] == 0.0 {
                return;
            }
            this.add_curvature(sample.x, a, h, sum, n);
        });
    }

    fn hessian_diagonal(&mut self, c: &[f64], diagonal: &mut [f64]) {
        self.weigh_rows(c);
        let (n, outputs, d) = (self.dim(), self.loss.outputs(), self.data.features());
        let intercept = self.intercept;
        self.sum_parts(n, diagonal, |this, row, a, sum, h| {
            let sample = this.data.sample(row);
            let (h, diagonal) = h.split_at_mut(outputs * outputs);
            let diagonal = &mut diagonal[..outputs];
            this.loss.curvatures(&this.scores[row * outputs..][..outputs], sample.y, h, diagonal);
            let mut add = |j: usize, v: f64| {
                for (sum, h) in sum[j * outputs..].iter_mut().zip(&*diagonal) {
                    *sum += a * v * v * h;
                }
            };
            sample.x.for_each(&mut add);
            if intercept {
                add(d, 1.0);
            }
        });
    }

    fn hessian_times(&mut self, v: &[f64], out: &mut [f64]) {
        let (n, outputs) = (self.dim(), self.loss.outputs());
        self.sum_parts(n, out, |this, row, a, sum, h| {
            let sample = this.data.sample(row);
            let (h, rest) = h.split_at_mut(outputs * outputs);
            let (s, t) = rest.split_at_mut(outputs);
            scores(v, this.data.features(), sample.x, s);
            let at = &this.scores[row * outputs..][..outputs];
            this.loss.hessian_times(at, sample.y, s, h, t);
            add_outer(sum, this.data.features(), sample.x, a, t);
        });
    }
}
