//! Losses and sources of solvers: the library's, or Python's own.

use std::sync::Arc;

use gdro::Sample;
use gdro::loss::{AnyLoss, Loss, Targets};
use gdro::sampling::Rng;
use gdro::source::{Closure, Handle, OnceEach, Size, Source, WithReplacement};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A loss in Python: `call(scores, y)` gives the loss and its gradient in the scores.
pub struct Own {
    /// The function.
    pub call: Py<PyAny>,
    /// Number of scores c.
    pub outputs: usize,
    /// The largest loss, M.
    pub range: f64,
    /// Its Lipschitz constant in the scores.
    pub lipschitz: f64,
}

impl Own {
    fn ask(&self, scores: &[f64], y: f64, slope: Option<&mut [f64]>) -> gdro::Result<f64> {
        let asked = Python::attach(|py| {
            let scores = PyArray1::from_slice(py, scores);
            let (value, found): (f64, PyReadonlyArray1<'_, f64>) =
                self.call.call1(py, (scores, y))?.extract(py)?;
            let found = found.as_array();
            if found.len() != self.outputs {
                let (found, outputs) = (found.len(), self.outputs);
                return Err(PyValueError::new_err(format!(
                    "the loss returned a gradient of {found} numbers, expected {outputs}"
                )));
            }
            if let Some(slope) = slope {
                slope.iter_mut().zip(found).for_each(|(s, f)| *s = *f);
            }
            Ok(value)
        });
        asked.map_err(|e: PyErr| gdro::Error::user(e))
    }
}

/// A loss by name, or one in Python.
#[derive(Clone)]
pub enum SomeLoss {
    /// The library's.
    Named(AnyLoss),
    /// Python's.
    Own(Arc<Own>),
}

impl SomeLoss {
    /// What kind of targets it takes.
    pub fn targets(&self) -> Targets {
        match self {
            SomeLoss::Named(loss) => loss.targets(),
            SomeLoss::Own(_) => Targets::Numbers,
        }
    }
}

impl Loss for SomeLoss {
    fn name(&self) -> &'static str {
        match self {
            SomeLoss::Named(loss) => loss.name(),
            SomeLoss::Own(_) => "own",
        }
    }

    fn outputs(&self) -> usize {
        match self {
            SomeLoss::Named(loss) => loss.outputs(),
            SomeLoss::Own(own) => own.outputs,
        }
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> gdro::Result<f64> {
        match self {
            SomeLoss::Named(loss) => loss.value(scores, y),
            SomeLoss::Own(own) => own.ask(scores, y, None),
        }
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> gdro::Result<f64> {
        match self {
            SomeLoss::Named(loss) => loss.slope(scores, y, slope),
            SomeLoss::Own(own) => own.ask(scores, y, Some(slope)),
        }
    }

    /// Zero for one in Python, which therefore has no certificate.
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        match self {
            SomeLoss::Named(loss) => loss.hessian(scores, y, hessian),
            SomeLoss::Own(_) => hessian.fill(0.0),
        }
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        match self {
            SomeLoss::Named(loss) => loss.conjugate(u, y),
            SomeLoss::Own(_) => f64::INFINITY,
        }
    }

    fn infimum(&self) -> f64 {
        match self {
            SomeLoss::Named(loss) => loss.infimum(),
            SomeLoss::Own(_) => f64::NEG_INFINITY,
        }
    }

    fn smoothed(&self, mu: f64) -> Option<Self> {
        match self {
            SomeLoss::Named(loss) => loss.smoothed(mu).map(SomeLoss::Named),
            SomeLoss::Own(_) => None,
        }
    }

    fn in_unit(&self, unit: f64) -> Option<(Self, f64)> {
        match self {
            SomeLoss::Named(loss) => loss.in_unit(unit).map(|(l, f)| (SomeLoss::Named(l), f)),
            SomeLoss::Own(_) => None,
        }
    }

    fn accepts(&self, y: f64) -> bool {
        match self {
            SomeLoss::Named(loss) => loss.accepts(y),
            SomeLoss::Own(_) => y.is_finite(),
        }
    }

    fn expects(&self) -> String {
        match self {
            SomeLoss::Named(loss) => loss.expects(),
            SomeLoss::Own(_) => "a finite number".to_owned(),
        }
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        match self {
            SomeLoss::Named(loss) => loss.range(bound, target),
            SomeLoss::Own(own) => own.range,
        }
    }

    fn lipschitz(&self, bound: f64, target: f64) -> f64 {
        match self {
            SomeLoss::Named(loss) => loss.lipschitz(bound, target),
            SomeLoss::Own(own) => own.lipschitz,
        }
    }

    fn curvature(&self) -> f64 {
        match self {
            SomeLoss::Named(loss) => loss.curvature(),
            SomeLoss::Own(_) => f64::INFINITY,
        }
    }

    fn self_concordance(&self) -> Option<f64> {
        match self {
            SomeLoss::Named(loss) => loss.self_concordance(),
            SomeLoss::Own(_) => None,
        }
    }

    fn correct(&self, scores: &[f64], y: f64) -> Option<bool> {
        match self {
            SomeLoss::Named(loss) => loss.correct(scores, y),
            SomeLoss::Own(_) => None,
        }
    }
}

/// A sampler in Python: the closure of [`own_source`].
pub type Draw = Box<dyn FnMut(usize, &mut Rng, &mut [f64]) -> gdro::Result<f64>>;

/// The source of a function `draw(group)` of Python that gives features and target; `bounds` are those
/// of ‖x‖₂ and |y|, which the steps rest on.
pub fn own_source(
    draw: Py<PyAny>,
    groups: usize,
    features: usize,
    bounds: (f64, f64),
) -> Closure<Draw> {
    Closure::new(
        groups,
        features,
        Box::new(move |group: usize, _: &mut Rng, out: &mut [f64]| {
            let asked = Python::attach(|py| {
                let (x, y): (PyReadonlyArray1<'_, f64>, f64) =
                    draw.call1(py, (group,))?.extract(py)?;
                let x = x.as_array();
                if x.len() != out.len() {
                    let (found, expected) = (x.len(), out.len());
                    return Err(PyValueError::new_err(format!(
                        "the source returned {found} features, expected {expected}"
                    )));
                }
                out.iter_mut().zip(x).for_each(|(o, x)| *o = *x);
                if !y.is_finite() || out.iter().any(|v| !v.is_finite()) {
                    return Err(PyValueError::new_err(format!(
                        "the source returned a number of group {group} that is not finite"
                    )));
                }
                let norm = out.iter().map(|v| v * v).sum::<f64>().sqrt();
                for (name, found, most) in
                    [("x_norm", norm, bounds.0), ("y_bound", y.abs(), bounds.1)]
                {
                    if found > most * (1.0 + 1e-9) {
                        return Err(PyValueError::new_err(format!(
                            "the source returned a sample of group {group} beyond {name}={most}: \
                             found {found}"
                        )));
                    }
                }
                Ok(y)
            });
            asked.map_err(|e: PyErr| gdro::Error::user(e))
        }),
    )
}

/// Where a solver draws from.
pub enum SomeSource {
    /// Rows, with replacement.
    Rows(WithReplacement),
    /// Rows, each at most once.
    Once(OnceEach),
    /// A function of Python.
    Own(Closure<Draw>),
}

macro_rules! each {
    ($self:ident, $source:ident => $body:expr) => {
        match $self {
            SomeSource::Rows($source) => $body,
            SomeSource::Once($source) => $body,
            SomeSource::Own($source) => $body,
        }
    };
}

impl Source for SomeSource {
    fn groups(&self) -> usize {
        each!(self, source => source.groups())
    }

    fn features(&self) -> usize {
        each!(self, source => source.features())
    }

    fn stored(&self) -> Option<f64> {
        each!(self, source => source.stored())
    }

    fn reserve(&mut self, draws: usize) {
        each!(self, source => source.reserve(draws));
    }

    fn begin_round(&mut self) {
        each!(self, source => source.begin_round());
    }

    #[inline]
    fn draw(&mut self, group: usize, rng: &mut Rng) -> gdro::Result<Handle> {
        each!(self, source => source.draw(group, rng))
    }

    #[inline]
    fn handle(&self, group: usize, number: u64) -> Option<Handle> {
        each!(self, source => source.handle(group, number))
    }

    #[inline]
    fn prefetch(&self, handle: Handle) {
        each!(self, source => source.prefetch(handle));
    }

    #[inline]
    fn size(&self, handle: Handle) -> Size {
        each!(self, source => source.size(handle))
    }

    #[inline]
    fn get(&self, handle: Handle) -> Sample<'_> {
        each!(self, source => source.get(handle))
    }

    fn remaining(&self, group: usize) -> Option<u64> {
        each!(self, source => source.remaining(group))
    }

    fn save(&self) -> Vec<u64> {
        each!(self, source => source.save())
    }

    fn restore(&mut self, saved: &[u64]) -> gdro::Result<()> {
        each!(self, source => source.restore(saved))
    }
}
