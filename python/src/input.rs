//! Arrays of Python as rows and groups.

use std::sync::Arc;

use gdro::{Dataset, Matrix};
use gdro_train::prepared::TrainRows;
use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Features: an array, or the parts of a matrix in compressed rows.
#[derive(FromPyObject)]
pub enum Features<'py> {
    /// 64-bit numbers in any order of memory.
    Double(PyReadonlyArray2<'py, f64>),
    /// 32-bit numbers in any order of memory.
    Single(PyReadonlyArray2<'py, f32>),
    /// Starts of the rows, columns, values, and the number of columns.
    Sparse(Compressed<'py>),
}

/// (indptr, indices, data, number of columns).
type Compressed<'py> =
    (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>, usize);

/// A view of features that needs no interpreter.
pub enum View<'a> {
    Double(ArrayView2<'a, f64>),
    Single(ArrayView2<'a, f32>),
    Sparse(ArrayView1<'a, u64>, ArrayView1<'a, u32>, ArrayView1<'a, f64>, usize),
}

impl Features<'_> {
    /// The features without the interpreter.
    pub fn view(&self) -> View<'_> {
        match self {
            Features::Double(x) => View::Double(x.as_array()),
            Features::Single(x) => View::Single(x.as_array()),
            Features::Sparse((starts, indices, values, cols)) => {
                View::Sparse(starts.as_array(), indices.as_array(), values.as_array(), *cols)
            }
        }
    }
}

impl View<'_> {
    /// The one copy that is made of the features.
    ///
    /// # Errors
    /// Those of [`Matrix::dense`] and [`Matrix::sparse`].
    pub fn matrix(self) -> gdro::Result<Matrix> {
        match self {
            View::Double(x) => {
                let values = match x.as_slice() {
                    Some(values) => values.to_vec(),
                    None => x.iter().copied().collect(),
                };
                Matrix::dense(x.ncols(), values)
            }
            View::Single(x) => Matrix::dense(x.ncols(), x.iter().map(|v| f64::from(*v)).collect()),
            View::Sparse(starts, indices, values, cols) => {
                let starts = starts.iter().map(|s| *s as usize).collect();
                Matrix::sparse(cols, starts, indices.to_vec(), values.to_vec())
            }
        }
    }
}

/// A family of groups: the number of the group of each row, and how many groups there are.
pub type Family<'py> = (PyReadonlyArray1<'py, u32>, usize);

/// The code of a row that is in no group of a family.
const NOWHERE: u32 = u32::MAX;

/// The rows of each group, family by family.
pub fn members(families: &[(ArrayView1<'_, u32>, usize)]) -> Vec<Vec<u32>> {
    let mut members = Vec::new();
    for (codes, groups) in families {
        let mut sizes = vec![0; *groups];
        let somewhere = || (0u32..).zip(codes).filter(|(_, g)| **g != NOWHERE);
        somewhere().for_each(|(_, g)| sizes[*g as usize] += 1);
        let mut own: Vec<Vec<u32>> = sizes.into_iter().map(Vec::with_capacity).collect();
        somewhere().for_each(|(row, g)| own[*g as usize].push(row));
        members.append(&mut own);
    }
    members
}

/// Rows: features, targets, weights and families of groups.
#[derive(FromPyObject)]
pub struct Rows<'py>(
    Features<'py>,
    PyReadonlyArray1<'py, f64>,
    Option<PyReadonlyArray1<'py, f64>>,
    Vec<Family<'py>>,
);

/// A view of rows that needs no interpreter.
pub struct RowsView<'a> {
    x: View<'a>,
    y: ArrayView1<'a, f64>,
    weights: Option<ArrayView1<'a, f64>>,
    families: Vec<(ArrayView1<'a, u32>, usize)>,
}

impl Rows<'_> {
    /// The rows without the interpreter.
    pub fn view(&self) -> RowsView<'_> {
        let Rows(x, y, weights, families) = self;
        RowsView {
            x: x.view(),
            y: y.as_array(),
            weights: weights.as_ref().map(|w| w.as_array()),
            families: views(families),
        }
    }
}

/// Families without the interpreter.
pub fn views<'a>(families: &'a [Family<'_>]) -> Vec<(ArrayView1<'a, u32>, usize)> {
    families.iter().map(|(codes, groups)| (codes.as_array(), *groups)).collect()
}

impl RowsView<'_> {
    /// The rows to train on, in groups of these names.
    ///
    /// # Errors
    /// Those of [`Dataset::new`].
    pub fn train_rows(self, names: Vec<String>) -> gdro::Result<TrainRows> {
        let matrix = Arc::new(self.x.matrix()?);
        let weights = self.weights.map(|w| w.to_vec());
        let data = Dataset::new(matrix, self.y.to_vec(), weights, &members(&self.families))?;
        let of = |(family, (_, groups)): (usize, &(_, usize))| vec![family; *groups];
        let families = self.families.iter().enumerate().flat_map(of).collect();
        Ok(TrainRows { data, names, families, clusters: None })
    }
}
