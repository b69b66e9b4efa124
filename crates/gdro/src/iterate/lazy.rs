//! A point of which a step touches only the coordinates that the gradient has.

use super::norm::Norm;
use super::{Gradient, Iterate, Single};
use crate::domain::{Constraints, Domain, MirrorMap};
use crate::error::{Error, Result};
use crate::hint::cold_path;
use crate::row::Row;
use crate::source::{Size, Source};

/// The scale may fall to this before it is multiplied out: the average loses so much of its digits
/// at most.
const LEAST_SCALE: f64 = 1e-3;

/// A coordinate may move by so many times the size of the domain before the average is written
/// down: as [`LEAST_SCALE`].
const LARGEST_MOVE: f64 = 1e3;

/// A weight w = a·v and the sum of its past, in one place of memory: the processor moves both with
/// one instruction.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
struct LazyWeight {
    v: f64,
    /// Σ ω_s w_s − A·v.
    rest: f64,
}

/// ‖v‖², in four sums that do not wait for one another.
fn square(cells: &[LazyWeight]) -> f64 {
    let (blocks, rest) = cells.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for block in blocks {
        (0..4).for_each(|lane| sums[lane] += block[lane].v * block[lane].v);
    }
    let rest: f64 = rest.iter().map(|cell| cell.v * cell.v).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

// The loops over a row are functions of their own, because the processor's registers do not hold
// more, and take slices, because a row that goes through memory costs as much as several values.

/// ⟨v, x⟩.
#[inline]
fn product(cells: &[LazyWeight], x: Row<'_>) -> f64 {
    x.sum_each(|j, x| cells[j].v * x)
}

#[inline(never)]
fn sparse_product(cells: &[LazyWeight], indices: &[u32], values: &[f64]) -> f64 {
    product(cells, Row::Sparse { indices, values })
}

/// v += step · x, with the past A. Returns Σ f(v_j, x_j) with the v before.
#[inline(always)]
fn shift(
    cells: &mut [LazyWeight],
    x: Row<'_>,
    step: f64,
    past: f64,
    f: impl Fn(f64, f64) -> f64,
) -> f64 {
    let (v, rest) = (step, -past * step);
    x.sum_each(|j, x| {
        let cell = &mut cells[j];
        let old = cell.v;
        (cell.v, cell.rest) = (old + v * x, cell.rest + rest * x);
        f(old, x)
    })
}

#[inline(never)]
fn sparse_shift(cells: &mut [LazyWeight], indices: &[u32], values: &[f64], step: f64, past: f64) {
    shift(cells, Row::Sparse { indices, values }, step, past, |_, _| 0.0);
}

/// The sets for which steps are lazy.
#[derive(Clone, Debug)]
enum Shape {
    Free,
    Ball(f64),
    Cube(f64, f64),
    Box(Vec<(f64, f64)>),
}

impl Shape {
    #[inline]
    fn bounds(&self, j: usize) -> (f64, f64) {
        match self {
            Shape::Free | Shape::Ball(_) => (f64::NEG_INFINITY, f64::INFINITY),
            Shape::Cube(low, high) => (*low, *high),
            Shape::Box(bounds) => bounds[j],
        }
    }
}

/// A point of a ball, a box that contains 0, or the whole space, with ν = ½‖w‖₂² and any ridge: the
/// same as [`super::Dense`] up to rounding, at a cost per round that depends on the stored values
/// of the rows and not on d.
///
/// The weights are w = a·v. Ridge and projection onto a ball change a alone, where ‖v‖² is kept up
/// to date (see `Norm`). In a box only the coordinates that a gradient has can leave it: the ridge
/// shrinks towards 0, which is inside.
///
/// The sum of the past is Σ ω_s w_s = A·v + r with A = Σ ω_s a_s: a round adds ω·a to A, and a
/// change of v_j by δ takes A·δ off r_j. When a has fallen by a factor of 1000, it is multiplied
/// out and A starts at 0, O(d); steps of more than 1000 times the size of the domain do the same.
#[derive(Clone, Debug)]
pub struct Lazy {
    shape: Shape,
    bound: Option<f64>,
    outputs: usize,
    cells: Vec<LazyWeight>,
    /// a.
    scale: f64,
    /// A, and the rounding error of the last addition.
    past: f64,
    error: f64,
    /// The longest move of a coordinate that does not drown the sums.
    limit: f64,
    /// ‖v‖², for a ball.
    norm: Norm,
    /// Intercepts, and the sums of their past.
    intercepts: Vec<f64>,
    sums: Vec<f64>,
    /// Σ ω_s.
    total: f64,
}

impl Lazy {
    /// The starting point argmin_W ν of a domain, for d features and c outputs; `None` where steps
    /// in it are not lazy: for other sets ([`MirrorMap::euclidean`]), and boxes without 0.
    ///
    /// # Panics
    /// May panic, now or in a step, where [`Domain::check`] finds an error.
    pub fn new(domain: &Domain<impl MirrorMap>, features: usize, outputs: usize) -> Option<Self> {
        let holds_zero = |(low, high): &(f64, f64)| *low <= 0.0 && *high >= 0.0;
        let shape = match domain.map.euclidean()? {
            Constraints::Free => Shape::Free,
            Constraints::Ball(radius) => Shape::Ball(radius),
            Constraints::Box(low, high) if holds_zero(&(low, high)) => Shape::Cube(low, high),
            Constraints::Bounds(bounds) if bounds.iter().all(holds_zero) => Shape::Box(bounds),
            _ => return None,
        };
        let size = match &shape {
            Shape::Free => f64::INFINITY,
            Shape::Ball(radius) => *radius,
            Shape::Cube(low, high) => high - low,
            Shape::Box(bounds) => bounds.iter().fold(0.0, |a: f64, (l, h)| a.max(-l).max(*h)),
        };
        let intercepts = if domain.intercept.is_some() { outputs } else { 0 };
        Some(Lazy {
            shape,
            limit: LARGEST_MOVE * size,
            bound: domain.intercept,
            outputs,
            cells: vec![LazyWeight::default(); features * outputs],
            scale: 1.0,
            past: 0.0,
            error: 0.0,
            norm: Norm::new(features * outputs, 0.0),
            intercepts: vec![0.0; intercepts],
            sums: vec![0.0; intercepts],
            total: 0.0,
        })
    }

    /// Multiplies a out and lets A start at 0.
    #[cold]
    fn fold(&mut self) {
        let (scale, past) = (self.scale, self.past);
        for cell in &mut self.cells {
            cell.rest += past * cell.v;
            cell.v *= scale;
        }
        (self.scale, self.past, self.error) = (1.0, 0.0, 0.0);
        self.measure();
    }

    /// Computes ‖v‖² anew.
    #[cold]
    fn measure(&mut self) {
        if let Shape::Ball(_) = self.shape {
            self.norm = Norm::new(self.cells.len(), square(&self.cells));
        }
    }

    /// Makes room for a step of the only output, where no feature exceeds `largest`, and takes it in
    /// the intercept. Returns the step of v and 1/a.
    #[inline(always)]
    fn begin_step(&mut self, eta: f64, a: f64, largest: f64) -> (f64, f64) {
        if eta * a.abs() * largest > self.limit {
            cold_path();
            self.fold();
        }
        if let [b] = &mut self.intercepts[..] {
            *b -= eta * a;
        }
        let inverse = 1.0 / self.scale;
        (-eta * inverse * a, inverse)
    }

    /// w −= eta · a · x for the only output, where x is so large.
    #[inline(always)]
    fn subtract(&mut self, x: Row<'_>, eta: f64, a: f64, size: Size) {
        let (step, _) = self.begin_step(eta, a, size.largest);
        let product = shift(&mut self.cells, x, step, self.past, |v, x| v * x);
        self.norm.add(step * (2.0 * product + step * size.norm_squared), x.stored());
    }

    /// The same where the score ⟨w, x⟩ + b is known.
    #[inline(always)]
    fn subtract_single(&mut self, x: Row<'_>, eta: f64, single: Single, size: Size) {
        let product = single.score - self.intercepts.first().unwrap_or(&0.0);
        let (step, inverse) = self.begin_step(eta, single.coefficient, size.largest);
        let (cells, past) = (&mut self.cells[..], self.past);
        match x {
            Row::Dense(_) => {
                cold_path();
                shift(cells, x, step, past, |_, _| 0.0);
            }
            Row::Sparse { indices, values } => sparse_shift(cells, indices, values, step, past),
        }
        let growth = step * (2.0 * inverse * product + step * size.norm_squared);
        self.norm.add(growth, x.stored());
    }

    /// [`Lazy::subtract`] for each term of a gradient.
    #[inline(never)]
    fn subtract_each<S: Source>(&mut self, eta: f64, gradient: &Gradient, source: &S) {
        for (handle, a) in gradient.terms() {
            let (x, size) = (source.get(handle).x, source.size(handle));
            match a {
                [a] => self.subtract(x, eta, *a, size),
                _ => self.subtract_all(x, eta, a, size.largest),
            }
        }
    }

    /// The same for several outputs.
    #[inline(never)]
    fn subtract_all(&mut self, x: Row<'_>, eta: f64, a: &[f64], largest: f64) {
        if eta * a.iter().fold(0.0, |most: f64, a| most.max(a.abs())) * largest > self.limit {
            self.fold();
        }
        let (by, past, cells) = (-eta / self.scale, self.past, &mut self.cells);
        let (c, mut growth) = (a.len(), 0.0);
        x.for_each(|j, x| {
            for (cell, a) in cells[j * c..(j + 1) * c].iter_mut().zip(a) {
                let step = by * a * x;
                growth += step * (2.0 * cell.v + step);
                (cell.v, cell.rest) = (cell.v + step, cell.rest - past * step);
            }
        });
        self.norm.add(growth, x.stored() * c);
        self.intercepts.iter_mut().zip(a).for_each(|(b, a)| *b -= eta * a);
    }

    /// Clamps the coordinates that a row has.
    #[inline(never)]
    fn clamp(&mut self, x: Row<'_>) {
        let (c, scale, past) = (self.outputs, self.scale, self.past);
        let (cells, shape) = (&mut self.cells, &self.shape);
        x.for_each(|j, _| {
            for (output, cell) in cells[j * c..(j + 1) * c].iter_mut().enumerate() {
                let (low, high) = shape.bounds(j * c + output);
                let w = scale * cell.v;
                if w < low || w > high {
                    let v = w.clamp(low, high) / scale;
                    cell.rest -= past * (v - cell.v);
                    cell.v = v;
                }
            }
        });
    }

    /// Projects onto the ball of this radius, where ‖v‖² is due or w outside.
    #[cold]
    fn project(&mut self, radius: f64) {
        if self.norm.is_due() {
            self.measure();
        }
        let norm = self.scale * self.norm.get();
        if norm <= radius {
            return;
        }
        if norm < f64::INFINITY {
            self.scale *= radius / norm;
        } else {
            // Squares have overflowed: as the dense form, which divides by ∞.
            self.fold();
            self.cells.iter_mut().for_each(|cell| cell.v *= 0.0);
            self.measure();
        }
    }

    /// The c numbers Σ_j x_j f(cell_j).
    #[inline(never)]
    fn products(&self, x: Row<'_>, out: &mut [f64], f: impl Fn(&LazyWeight) -> f64) {
        let c = out.len();
        out.fill(0.0);
        x.for_each(|j, x| {
            for (o, cell) in out.iter_mut().zip(&self.cells[j * c..(j + 1) * c]) {
                *o += f(cell) * x;
            }
        });
    }

    /// Weight j.
    #[inline]
    fn weight(&self, j: usize) -> f64 {
        let (low, high) = self.shape.bounds(j);
        (self.scale * self.cells[j].v).clamp(low, high)
    }
}

impl Iterate for Lazy {
    fn len(&self) -> usize {
        self.cells.len() + self.intercepts.len()
    }

    #[inline(always)]
    fn scores(&self, x: Row<'_>, out: &mut [f64]) {
        if let [out] = out {
            let product = match x {
                Row::Dense(_) => {
                    cold_path();
                    product(&self.cells, x)
                }
                Row::Sparse { indices, values } => sparse_product(&self.cells, indices, values),
            };
            *out = self.scale * product;
            if let [b] = &self.intercepts[..] {
                *out += b;
            }
            return;
        }
        self.products(x, out, |cell| cell.v);
        out.iter_mut().for_each(|o| *o *= self.scale);
        out.iter_mut().zip(&self.intercepts).for_each(|(o, b)| *o += b);
    }

    fn average_scores(&self, x: Row<'_>, out: &mut [f64]) {
        if self.total == 0.0 {
            return self.scores(x, out);
        }
        let past = self.past;
        self.products(x, out, |cell| past * cell.v + cell.rest);
        out.iter_mut().zip(&self.sums).for_each(|(o, b)| *o += b);
        out.iter_mut().for_each(|o| *o /= self.total);
    }

    fn distance(&self, other: &[f64]) -> f64 {
        let weights = (0..self.cells.len()).map(|j| self.weight(j));
        let all = weights.chain(self.intercepts.iter().copied());
        all.zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    #[inline(always)]
    fn step<S: Source>(&mut self, eta: f64, ridge: f64, gradient: &Gradient, source: &S) {
        match gradient.single() {
            Some(single) => {
                let x = source.get(single.handle).x;
                self.subtract_single(x, eta, single, source.size(single.handle));
            }
            None => self.subtract_each(eta, gradient, source),
        }
        if ridge > 0.0 {
            self.scale /= 1.0 + eta * ridge;
        }
        match self.shape {
            Shape::Free => {}
            Shape::Ball(radius) => {
                let square = self.scale * self.scale * self.norm.square();
                // Not for NaN.
                let is_inside = square <= radius * radius;
                if self.norm.is_due() || !is_inside {
                    self.project(radius);
                }
            }
            Shape::Cube(..) | Shape::Box(..) => {
                gradient.terms().for_each(|(handle, _)| self.clamp(source.get(handle).x));
            }
        }
        if self.scale < LEAST_SCALE {
            cold_path();
            self.fold();
        }
        if let Some(bound) = self.bound {
            self.intercepts.iter_mut().for_each(|b| *b = b.clamp(-bound, bound));
        }
    }

    /// O(d).
    fn jump_to(&mut self, other: &Self) {
        self.fold();
        for (mine, cell) in self.cells.iter_mut().zip(&other.cells) {
            mine.v = cell.v;
        }
        (self.scale, self.norm) = (other.scale, other.norm.clone());
        self.intercepts.copy_from_slice(&other.intercepts);
    }

    /// O(d).
    fn start_at(&mut self, w: &[f64]) {
        let (weights, intercepts) = w.split_at(self.cells.len());
        self.restart_average();
        self.cells.iter_mut().zip(weights).for_each(|(cell, w)| cell.v = *w);
        self.scale = 1.0;
        self.intercepts.copy_from_slice(intercepts);
        self.measure();
    }

    #[inline(always)]
    fn accumulate(&mut self, weight: f64) {
        let by = weight * self.scale - self.error;
        let past = self.past + by;
        self.error = (past - self.past) - by;
        self.past = past;
        self.sums.iter_mut().zip(&self.intercepts).for_each(|(s, b)| *s += weight * b);
        self.total += weight;
    }

    fn restart_average(&mut self) {
        self.cells.iter_mut().for_each(|cell| cell.rest = 0.0);
        self.sums.fill(0.0);
        (self.past, self.error, self.total) = (0.0, 0.0, 0.0);
    }

    fn write(&self, out: &mut [f64]) {
        let (weights, intercepts) = out.split_at_mut(self.cells.len());
        weights.iter_mut().enumerate().for_each(|(j, w)| *w = self.weight(j));
        intercepts.copy_from_slice(&self.intercepts);
    }

    fn write_average(&self, out: &mut [f64]) -> f64 {
        if self.total == 0.0 {
            self.write(out);
            return 0.0;
        }
        let (weights, intercepts) = out.split_at_mut(self.cells.len());
        for (w, cell) in weights.iter_mut().zip(&self.cells) {
            *w = (self.past * cell.v + cell.rest) / self.total;
        }
        intercepts.iter_mut().zip(&self.sums).for_each(|(b, sum)| *b = sum / self.total);
        self.total
    }

    fn save(&self) -> Vec<f64> {
        let mut saved = vec![self.scale, self.past, self.error, self.total];
        saved.extend(self.norm.save());
        saved.extend_from_slice(&self.intercepts);
        saved.extend_from_slice(&self.sums);
        saved.extend(self.cells.iter().flat_map(|cell| [cell.v, cell.rest]));
        saved
    }

    fn restore(&mut self, saved: &[f64]) -> Result<()> {
        let c = self.intercepts.len();
        let wrong = || Error::State(format!("{} numbers for a lazy point", saved.len()));
        if saved.len() != 7 + 2 * c + 2 * self.cells.len() {
            return Err(wrong());
        }
        let (&[scale, past, error, total], rest) = saved.split_first_chunk().ok_or_else(wrong)?;
        let (norm, rest) = rest.split_first_chunk().ok_or_else(wrong)?;
        (self.scale, self.past, self.error, self.total) = (scale, past, error, total);
        self.norm.restore(norm);
        self.intercepts.copy_from_slice(&rest[..c]);
        self.sums.copy_from_slice(&rest[c..2 * c]);
        let pairs = rest[2 * c..].as_chunks::<2>().0;
        for (cell, [v, rest]) in self.cells.iter_mut().zip(pairs) {
            *cell = LazyWeight { v: *v, rest: *rest };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
