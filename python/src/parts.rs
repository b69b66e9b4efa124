//! Losses and sources of solvers: the library's, or Python's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// How often it was asked for a gradient.
    pub slopes: AtomicU64,
}

impl Own {
    /// The loss, and its gradient to `slope`; `is_held` says whether to hold it to range and Lipschitz
    /// constant.
    fn ask(
        &self,
        scores: &[f64],
        y: f64,
        slope: Option<&mut [f64]>,
        is_held: bool,
    ) -> gdro::Result<f64> {
        let asked = Python::attach(|py| {
            let (value, found) = self.called(py, scores, y)?;
            if is_held {
                self.hold(value, found.iter().map(|u| u * u).sum::<f64>().sqrt())?;
            }
            if let Some(slope) = slope {
                let asked = self.slopes.fetch_add(1, Ordering::Relaxed);
                if asked.is_power_of_two() || asked.is_multiple_of(LOOKED) {
                    self.check_tangents(py, (scores, y), value, &found)?;
                }
                slope.copy_from_slice(&found);
            }
            Ok(value)
        });
        asked.map_err(|e: PyErr| gdro::Error::user(e))
    }

    /// What the function says: the loss and its gradient.
    fn called(&self, py: Python<'_>, scores: &[f64], y: f64) -> PyResult<(f64, Vec<f64>)> {
        let scores = PyArray1::from_slice(py, scores);
        let (value, found): (f64, PyReadonlyArray1<'_, f64>) =
            self.call.call1(py, (scores, y))?.extract(py)?;
        let found = found.as_array().to_vec();
        if found.len() != self.outputs {
            let (found, outputs) = (found.len(), self.outputs);
            return Err(PyValueError::new_err(format!(
                "the loss returned a gradient of {found} numbers, expected {outputs}"
            )));
        }
        Ok((value, found))
    }

    /// Refuses a loss that lies below its tangent at these scores, or at others at which it is below: it is
    /// not convex, or its gradient is wrong, and certificates would be false.
    fn check_tangents(
        &self,
        py: Python<'_>,
        (scores, y): (&[f64], f64),
        value: f64,
        slope: &[f64],
    ) -> PyResult<()> {
        let size = scores.iter().fold(1.0, |most: f64, s| most.max(s.abs()));
        for step in [-2.0, -0.5, 0.5, 2.0] {
            let turned = |k: usize| if k.is_multiple_of(2) { step * size } else { -step * size };
            let other: Vec<f64> = scores.iter().enumerate().map(|(k, s)| s + turned(k)).collect();
            // Where it is not to be asked it says nothing.
            let Ok((there, back)) = self.called(py, &other, y) else { continue };
            let along = |slope: &[f64]| -> f64 {
                slope.iter().enumerate().map(|(k, g)| g * turned(k)).sum()
            };
            let (rise, fall) = (along(slope), along(&back));
            let sizes = [self.range, value.abs(), there.abs(), rise.abs(), fall.abs()];
            let slack = ROUNDING * sizes.iter().sum::<f64>();
            if slack.is_finite() && (there < value + rise - slack || value < there - fall - slack) {
                return Err(PyValueError::new_err(format!(
                    "the loss is not convex, or its gradient is wrong: for the target {y} it is {value} \
                     with the gradient {slope:?} at the scores {scores:?}, and {there} with {back:?} at \
                     {other:?}, but a convex loss lies above its tangents"
                )));
            }
        }
        Ok(())
    }

    /// Refuses a loss, or the norm of its gradient, beyond what was declared.
    fn hold(&self, value: f64, steep: f64) -> PyResult<()> {
        let range = self.range;
        if value < -ROUNDING * range {
            return Err(PyValueError::new_err(format!(
                "the loss returned {value}: expected a number from 0 to loss_range={range}; add a constant \
                 to the loss, which changes no model"
            )));
        }
        let within = |name, found, most, what| within(name, found, (most, ROUNDING), what);
        within("loss_range", value, range, "the loss returned a value")?;
        within("loss_lipschitz", steep, self.lipschitz, "the loss returned a gradient of norm")
    }
}

/// After so many gradients, and after 1, 2, 4, … ones, a loss is held against its tangents.
const LOOKED: u64 = 1 << 12;

/// How far a loss may lie beyond its bounds, relative to them: its sums may be of single precision.
const ROUNDING: f64 = 1e-6;

/// The same of samples, which are not computed here.
const OF_SAMPLES: f64 = 1e-9;

/// Refuses `found` beyond the bound that the argument `name` declares, which the steps rest on, by more
/// than this share of it.
fn within(name: &str, found: f64, (most, share): (f64, f64), what: &str) -> PyResult<()> {
    if found > most * (1.0 + share) {
        return Err(PyValueError::new_err(format!(
            "{what} beyond {name}={most}: found {found}; give a larger {name}, which the steps rest on"
        )));
    }
    Ok(())
}

/// A loss by name, or one in Python.
#[derive(Clone)]
pub enum SomeLoss {
    /// The library's.
    Named(AnyLoss),
    /// Python's, and whether it is held to its range and Lipschitz constant.
    Own(Arc<Own>, bool),
}

impl SomeLoss {
    /// The loss of rounds, whose steps rest on its range and Lipschitz constant: one in Python is held to
    /// them. Certificates look beyond the domain, where neither holds.
    pub fn held(self) -> Self {
        match self {
            SomeLoss::Own(own, _) => SomeLoss::Own(own, true),
            named => named,
        }
    }

    /// What kind of targets it takes.
    pub fn targets(&self) -> Targets {
        match self {
            SomeLoss::Named(loss) => loss.targets(),
            SomeLoss::Own(..) => Targets::Numbers,
        }
    }
}

impl Loss for SomeLoss {
    fn name(&self) -> &'static str {
        match self {
            SomeLoss::Named(loss) => loss.name(),
            SomeLoss::Own(..) => "own",
        }
    }

    fn outputs(&self) -> usize {
        match self {
            SomeLoss::Named(loss) => loss.outputs(),
            SomeLoss::Own(own, _) => own.outputs,
        }
    }

    #[inline]
    fn value(&self, scores: &[f64], y: f64) -> gdro::Result<f64> {
        match self {
            SomeLoss::Named(loss) => loss.value(scores, y),
            SomeLoss::Own(own, is_held) => own.ask(scores, y, None, *is_held),
        }
    }

    #[inline]
    fn slope(&self, scores: &[f64], y: f64, slope: &mut [f64]) -> gdro::Result<f64> {
        match self {
            SomeLoss::Named(loss) => loss.slope(scores, y, slope),
            SomeLoss::Own(own, is_held) => own.ask(scores, y, Some(slope), *is_held),
        }
    }

    /// Zero for one in Python, which therefore has no certificate.
    fn hessian(&self, scores: &[f64], y: f64, hessian: &mut [f64]) {
        match self {
            SomeLoss::Named(loss) => loss.hessian(scores, y, hessian),
            SomeLoss::Own(..) => hessian.fill(0.0),
        }
    }

    fn conjugate(&self, u: &[f64], y: f64) -> f64 {
        match self {
            SomeLoss::Named(loss) => loss.conjugate(u, y),
            SomeLoss::Own(..) => f64::INFINITY,
        }
    }

    fn infimum(&self) -> f64 {
        match self {
            SomeLoss::Named(loss) => loss.infimum(),
            SomeLoss::Own(..) => f64::NEG_INFINITY,
        }
    }

    fn smoothed(&self, mu: f64) -> Option<Self> {
        match self {
            SomeLoss::Named(loss) => loss.smoothed(mu).map(SomeLoss::Named),
            SomeLoss::Own(..) => None,
        }
    }

    fn in_unit(&self, unit: f64) -> Option<(Self, f64)> {
        match self {
            SomeLoss::Named(loss) => loss.in_unit(unit).map(|(l, f)| (SomeLoss::Named(l), f)),
            SomeLoss::Own(..) => None,
        }
    }

    fn accepts(&self, y: f64) -> bool {
        match self {
            SomeLoss::Named(loss) => loss.accepts(y),
            SomeLoss::Own(..) => y.is_finite(),
        }
    }

    fn expects(&self) -> String {
        match self {
            SomeLoss::Named(loss) => loss.expects(),
            SomeLoss::Own(..) => "a finite number".to_owned(),
        }
    }

    fn range(&self, bound: f64, target: f64) -> f64 {
        match self {
            SomeLoss::Named(loss) => loss.range(bound, target),
            SomeLoss::Own(own, _) => own.range,
        }
    }

    fn lipschitz(&self, bound: f64, target: f64) -> f64 {
        match self {
            SomeLoss::Named(loss) => loss.lipschitz(bound, target),
            SomeLoss::Own(own, _) => own.lipschitz,
        }
    }

    fn curvature(&self) -> f64 {
        match self {
            SomeLoss::Named(loss) => loss.curvature(),
            SomeLoss::Own(..) => f64::INFINITY,
        }
    }

    fn self_concordance(&self) -> Option<f64> {
        match self {
            SomeLoss::Named(loss) => loss.self_concordance(),
            SomeLoss::Own(..) => None,
        }
    }

    fn correct(&self, scores: &[f64], y: f64) -> Option<bool> {
        match self {
            SomeLoss::Named(loss) => loss.correct(scores, y),
            SomeLoss::Own(..) => None,
        }
    }
}

/// A sampler in Python: the closure of [`own_source`].
pub type Draw = Box<dyn FnMut(usize, &mut Rng, &mut [f64]) -> gdro::Result<f64>>;

/// The source of a function `draw(group)` of Python that gives features and a target of `loss`; `bounds`
/// are those of ‖x‖₂ and |y|, which the steps rest on.
pub fn own_source(
    draw: Py<PyAny>,
    groups: usize,
    features: usize,
    bounds: (f64, f64),
    loss: SomeLoss,
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
                if !loss.accepts(y) {
                    let (name, expected) = (loss.name(), loss.expects());
                    return Err(PyValueError::new_err(format!(
                        "the source returned the target {y} of group {group}: the {name} loss expects \
                         {expected}; unlike y of rows, targets of a source are taken as they are: map them"
                    )));
                }
                let what = format!("the source returned a sample of group {group}");
                let norm = out.iter().map(|v| v * v).sum::<f64>().sqrt();
                within("x_norm", norm, (bounds.0, OF_SAMPLES), &what)?;
                // Labels and classes are what they are, and a loss of Python has its own range.
                if matches!(&loss, SomeLoss::Named(named) if named.targets() == Targets::Numbers) {
                    within("y_bound", y.abs(), (bounds.1, OF_SAMPLES), &what)?;
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
