//! Scores of a linear model in array form.

use crate::row::{Row, dot};

/// Writes the c scores of the model `w` for the features `x`: out_o = Σ_j w[j·c + o] x_j, plus the
/// intercept w[d·c + o] when `w` has d·c + c numbers, where c = `out.len()` and d = `features`.
#[inline]
pub fn scores(w: &[f64], features: usize, x: Row<'_>, out: &mut [f64]) {
    let c = out.len();
    let (weights, intercepts) = w.split_at(features * c);
    if c == 1 {
        out[0] = match x {
            Row::Dense(x) => dot(weights, x),
            Row::Sparse { .. } => x.sum_each(|j, v| weights[j] * v),
        };
    } else {
        out.fill(0.0);
        x.for_each(|j, v| {
            for (s, w) in out.iter_mut().zip(&weights[j * c..(j + 1) * c]) {
                *s += w * v;
            }
        });
    }
    for (s, b) in out.iter_mut().zip(intercepts) {
        *s += b;
    }
}

/// Adds scale · x ⊗ a to `w`, and scale · a to its intercepts when it has them (c = `a.len()`).
#[inline]
pub fn add_outer(w: &mut [f64], features: usize, x: Row<'_>, scale: f64, a: &[f64]) {
    let c = a.len();
    let (weights, intercepts) = w.split_at_mut(features * c);
    if c == 1 {
        let step = scale * a[0];
        match x {
            Row::Dense(x) => {
                for (w, v) in weights.iter_mut().zip(x) {
                    *w += step * v;
                }
            }
            Row::Sparse { indices, values } => {
                for (j, v) in indices.iter().zip(values) {
                    weights[*j as usize] += step * v;
                }
            }
        }
    } else {
        x.for_each(|j, v| {
            for (w, a) in weights[j * c..(j + 1) * c].iter_mut().zip(a) {
                *w += scale * a * v;
            }
        });
    }
    for (b, a) in intercepts.iter_mut().zip(a) {
        *b += scale * a;
    }
}
