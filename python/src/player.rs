//! The q-player alone.

use gdro::group_weights::{GroupWeights as _, Plain};
use gdro::sampling::Rng;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand::SeedableRng as _;
use serde::{Deserialize, Serialize};

use crate::error::{exception, refuse};

/// Weights on the capped simplex with their average, and a random stream for draws.
#[pyclass(module = "gdro._gdro")]
pub struct Player {
    weights: Plain,
    groups: usize,
    rng: Rng,
    chosen: Vec<usize>,
    scratch: Vec<f64>,
}

/// What a player needs to go on, bit for bit.
#[derive(Serialize, Deserialize)]
struct State {
    weights: Vec<f64>,
    rng: Rng,
}

#[pymethods]
impl Player {
    /// Uniform weights on `groups` groups, each at most 1/k.
    #[new]
    #[pyo3(signature = (groups: "int", k: "float", seed: "int"))]
    fn new(groups: usize, k: f64, seed: u64) -> PyResult<Self> {
        let weights = Plain::new(groups, k).map_err(exception)?;
        let rng = Rng::seed_from_u64(seed);
        Ok(Player { weights, groups, rng, chosen: Vec::new(), scratch: Vec::new() })
    }

    /// The weights q.
    #[pyo3(signature = () -> "Vector")]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let mut q = vec![0.0; self.groups];
        self.weights.write(&mut q);
        PyArray1::from_vec(py, q)
    }

    /// The average of the weights over the updates; the weights themselves before the first.
    #[pyo3(signature = () -> "Vector")]
    fn average<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let mut q = vec![0.0; self.groups];
        self.weights.write_average(&mut q);
        PyArray1::from_vec(py, q)
    }

    /// Draws `count` different groups, group i with probability count·q_i (dependent rounding).
    #[pyo3(signature = (count: "int"))]
    fn draw(&mut self, count: usize) -> Vec<usize> {
        if count == 1 {
            return vec![self.weights.draw(&mut self.rng)];
        }
        self.weights.choose(count, &mut self.rng, &mut self.chosen, &mut self.scratch);
        self.chosen.clone()
    }

    /// Adds the weights to the average, then takes a step: q_i grows by exp(eta · gain).
    #[pyo3(signature = (eta: "float", groups: "NDArray[np.int64]", gains: "Vector"))]
    fn step(
        &mut self,
        eta: f64,
        groups: PyReadonlyArray1<'_, i64>,
        gains: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<()> {
        let mut pairs = Vec::with_capacity(groups.as_array().len());
        for (group, gain) in groups.as_array().iter().zip(gains.as_array()) {
            let at = usize::try_from(*group).ok().filter(|g| *g < self.groups);
            let at = at.ok_or_else(|| {
                let last = self.groups - 1;
                PyValueError::new_err(format!("group {group}: expected a number from 0 to {last}"))
            })?;
            pairs.push((at, *gain));
        }
        self.weights.accumulate(1.0);
        self.weights.step(eta, &pairs);
        Ok(())
    }

    /// Weights, average and random stream as text.
    fn save(&self) -> PyResult<String> {
        let state = State { weights: self.weights.save(), rng: self.rng.clone() };
        serde_json::to_string(&state).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// Takes over what `save` gave.
    fn restore(&mut self, text: &str) -> PyResult<()> {
        let state: State = serde_json::from_str(text)
            .map_err(|e| refuse(format!("state: expected what state_dict() gave: {e}")))?;
        self.weights.restore(&state.weights).map_err(exception)?;
        self.rng = state.rng;
        Ok(())
    }
}
