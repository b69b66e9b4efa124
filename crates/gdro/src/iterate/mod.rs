//! Points of W as storage suits them.
//!
//! A model with d features and c outputs has d·c weights and, optionally, c intercepts. As one
//! array it is laid out feature by feature, `w[j·c + o]` for feature j and output o, followed by
//! the c intercepts.

mod ada_grad;
mod any;
mod dense;
mod lazy;
mod norm;

pub use ada_grad::AdaGrad;
pub use any::AnyPoint;
pub use dense::Dense;
pub use lazy::Lazy;
#[cfg(feature = "exact")]
pub(crate) use linear::add_outer;
pub use linear::scores;

use crate::error::Result;
use crate::row::Row;
use crate::source::{Handle, Source};

mod linear;

/// A stochastic gradient kept factored: Σ_j x_j ⊗ a_j, one sample handle and c coefficients per
/// term.
#[derive(Clone, Debug, Default)]
pub struct Gradient {
    outputs: usize,
    /// The samples with the coefficient of the only output, or 0 where there are more.
    terms: Vec<(Handle, f64)>,
    /// Coefficients of several outputs.
    coefficients: Vec<f64>,
    /// The score of the last term's sample at the point that is to move.
    score: f64,
    knows_score: bool,
}

/// The only term of a gradient of one output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Single {
    /// The sample x.
    pub handle: Handle,
    /// The coefficient a of a·x.
    pub coefficient: f64,
    /// ⟨w, x⟩ + b at the point that is to move.
    pub score: f64,
}

impl Gradient {
    /// An empty gradient for c outputs with room for `terms` terms.
    pub fn new(outputs: usize, terms: usize) -> Self {
        Gradient {
            outputs,
            terms: Vec::with_capacity(terms),
            coefficients: Vec::with_capacity(if outputs == 1 { 0 } else { terms * outputs }),
            score: 0.0,
            knows_score: false,
        }
    }

    /// Removes all terms and keeps the memory.
    pub fn clear(&mut self) {
        self.terms.clear();
        self.coefficients.clear();
    }

    /// Forgets at which score the slope was taken: the gradient is to move another point.
    pub(crate) fn forget_score(&mut self) {
        self.knows_score = false;
    }

    /// Adds scale · slope · x for one output, where the score at the point that is to move is known.
    #[inline]
    pub(crate) fn push_at(&mut self, handle: Handle, scale: f64, slope: f64, score: f64) {
        self.terms.push((handle, scale * slope));
        (self.score, self.knows_score) = (score, true);
    }

    /// Adds scale · x ⊗ slope, where x are the features of the sample.
    #[inline]
    pub fn push(&mut self, handle: Handle, scale: f64, slope: &[f64]) {
        self.knows_score = false;
        match slope {
            [g] => self.terms.push((handle, scale * g)),
            _ => {
                self.terms.push((handle, 0.0));
                self.coefficients.extend(slope.iter().map(|g| scale * g));
            }
        }
    }

    /// The term, when there is just one and just one output, and its score is known.
    #[inline]
    pub(crate) fn single(&self) -> Option<Single> {
        match self.terms[..] {
            [(handle, coefficient)] if self.knows_score => {
                Some(Single { handle, coefficient, score: self.score })
            }
            _ => None,
        }
    }

    /// The terms: handle and c coefficients.
    #[inline]
    pub fn terms(&self) -> impl Iterator<Item = (Handle, &[f64])> {
        let (c, mut rest) = (self.outputs, &self.coefficients[..]);
        self.terms.iter().map(move |(handle, coefficient)| {
            if c == 1 {
                return (*handle, std::slice::from_ref(coefficient));
            }
            let (coefficients, others) = rest.split_at(c);
            rest = others;
            (*handle, coefficients)
        })
    }
}

/// A point of W with a running weighted average of the points it has been.
pub trait Iterate {
    /// Number of numbers in the array form.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the c scores Wᵀx + b.
    fn scores(&self, x: Row<'_>, out: &mut [f64]);

    /// The score of a model with one output.
    #[inline(always)]
    fn score(&self, x: Row<'_>) -> f64 {
        let mut out = [0.0];
        self.scores(x, &mut out);
        out[0]
    }

    /// Writes the c scores of the average; those of the present point when there is none.
    fn average_scores(&self, x: Row<'_>, out: &mut [f64]);

    /// The Euclidean distance from an array of [`Iterate::len`] numbers.
    fn distance(&self, other: &[f64]) -> f64;

    /// w ← argmin_u η⟨g, u⟩ + (ηλ/2)‖u‖² + B(u, w), labels `eqn:upate:wt` and `eqn:upate:wt:2`.
    fn step<S: Source>(&mut self, eta: f64, ridge: f64, gradient: &Gradient, source: &S);

    /// Moves to the point of `other`. The average is not a part of the point and stays.
    fn jump_to(&mut self, other: &Self);

    /// Begins anew at this point of the set: no average, and no memory of gradients.
    fn start_at(&mut self, w: &[f64]);

    /// Adds the present point to the average with this weight.
    fn accumulate(&mut self, weight: f64);

    /// Forgets the average.
    fn restart_average(&mut self);

    /// Writes the present point.
    fn write(&self, out: &mut [f64]);

    /// Writes the average, and returns the weight it rests on. The present point and 0 when
    /// nothing has been accumulated.
    fn write_average(&self, out: &mut [f64]) -> f64;

    /// Point and average as numbers, for checkpoints.
    fn save(&self) -> Vec<f64>;

    /// Takes over what [`Iterate::save`] gave.
    ///
    /// # Errors
    /// [`crate::Error::State`] when the numbers are not those of such a point.
    fn restore(&mut self, saved: &[f64]) -> Result<()>;
}
