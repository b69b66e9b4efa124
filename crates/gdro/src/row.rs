//! Feature rows and the matrices that hold them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::prefetch::prefetch_lines;

/// The features of one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Row<'a> {
    /// All features, in order.
    Dense(&'a [f64]),
    /// The features that are not zero: strictly increasing indices and their values.
    Sparse {
        /// Column of each value.
        indices: &'a [u32],
        /// The values, as many.
        values: &'a [f64],
    },
}

impl Row<'_> {
    /// Squared Euclidean norm ‖x‖₂².
    pub fn norm_squared(&self) -> f64 {
        match self {
            Row::Dense(values) | Row::Sparse { values, .. } => dot(values, values),
        }
    }

    /// The largest stored value in absolute value.
    #[inline(never)]
    pub(crate) fn largest(&self) -> f64 {
        match self {
            Row::Dense(values) | Row::Sparse { values, .. } => largest(values),
        }
    }

    /// Number of stored values.
    pub fn stored(&self) -> usize {
        match self {
            Row::Dense(x) => x.len(),
            Row::Sparse { values, .. } => values.len(),
        }
    }

    /// Σ f(column, value) over the stored values, which are visited in order, as four sums that do
    /// not wait for one another.
    #[inline(always)]
    pub(crate) fn sum_each(&self, mut f: impl FnMut(usize, f64) -> f64) -> f64 {
        let mut sums = [0.0; 4];
        match self {
            Row::Dense(x) => {
                let (blocks, rest) = x.as_chunks::<4>();
                for (at, values) in blocks.iter().enumerate() {
                    (0..4).for_each(|lane| sums[lane] += f(4 * at + lane, values[lane]));
                }
                let done = 4 * blocks.len();
                rest.iter().enumerate().for_each(|(lane, v)| sums[lane] += f(done + lane, *v));
            }
            Row::Sparse { indices, values } => {
                let (columns, last_columns) = indices[..values.len()].as_chunks::<4>();
                let (blocks, last_values) = values.as_chunks::<4>();
                for (columns, values) in columns.iter().zip(blocks) {
                    (0..4).for_each(|lane| sums[lane] += f(columns[lane] as usize, values[lane]));
                }
                for (lane, (j, v)) in last_columns.iter().zip(last_values).enumerate() {
                    sums[lane] += f(*j as usize, *v);
                }
            }
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    /// Calls `f(column, value)` for every stored value, in order.
    #[inline]
    pub fn for_each(&self, mut f: impl FnMut(usize, f64)) {
        match self {
            Row::Dense(x) => x.iter().enumerate().for_each(|(j, v)| f(j, *v)),
            Row::Sparse { indices, values } => {
                indices.iter().zip(*values).for_each(|(j, v)| f(*j as usize, *v))
            }
        }
    }
}

/// A matrix of features, one row per sample. Entries are finite, and sparse indices are checked
/// once, when the matrix is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Matrix {
    rows: usize,
    cols: usize,
    /// max |x|.
    largest: f64,
    storage: Storage,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Storage {
    Dense(Vec<f64>),
    Sparse { starts: Vec<usize>, indices: Vec<u32>, values: Vec<f64> },
}

/// A matrix as it is stored: number of columns and values, which are checked when it is read.
#[derive(Serialize, Deserialize)]
struct Unchecked(usize, Storage);

impl From<Matrix> for Unchecked {
    fn from(matrix: Matrix) -> Self {
        Unchecked(matrix.cols, matrix.storage)
    }
}

impl TryFrom<Unchecked> for Matrix {
    type Error = Error;

    fn try_from(Unchecked(cols, storage): Unchecked) -> Result<Self> {
        match storage {
            Storage::Dense(values) => Matrix::dense(cols, values),
            Storage::Sparse { starts, indices, values } => {
                Matrix::sparse(cols, starts, indices, values)
            }
        }
    }
}

impl Matrix {
    /// A dense matrix from its values, row after row.
    ///
    /// # Errors
    /// [`Error::Length`] when `values` is not a whole number of rows, [`Error::NotFinite`] when a
    /// value is NaN or infinite.
    pub fn dense(cols: usize, values: Vec<f64>) -> Result<Self> {
        crate::error::require(cols > 0, "cols", cols, "at least 1")?;
        let rows = values.len() / cols;
        if rows * cols != values.len() {
            let expected = rows * cols;
            return Err(Error::Length { what: "values", found: values.len(), expected });
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            return Err(Error::NotFinite { what: "a feature", row: at / cols, value: values[at] });
        }
        Ok(Matrix { rows, cols, largest: largest(&values), storage: Storage::Dense(values) })
    }

    /// A sparse matrix in compressed rows: row r has the entries `starts[r]..starts[r + 1]` of
    /// `indices` and `values`.
    ///
    /// # Errors
    /// [`Error::Length`] when the arrays do not fit together, [`Error::SparseIndex`] when the
    /// indices of a row do not increase strictly below `cols`, [`Error::NotFinite`] when a value
    /// is NaN or infinite.
    pub fn sparse(
        cols: usize,
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self> {
        let rows = starts.len().saturating_sub(1);
        let stored = values.len();
        if indices.len() != stored {
            return Err(Error::Length { what: "indices", found: indices.len(), expected: stored });
        }
        let fits = starts.first() == Some(&0)
            && starts.last() == Some(&stored)
            && starts.windows(2).all(|s| s[0] <= s[1]);
        if !fits {
            let found = starts.last().copied().unwrap_or(0);
            return Err(Error::Length { what: "starts", found, expected: stored });
        }
        for row in 0..rows {
            let mut below = 0u64;
            for at in starts[row]..starts[row + 1] {
                let index = indices[at];
                if u64::from(index) < below || index as usize >= cols {
                    return Err(Error::SparseIndex { row, index, cols });
                }
                below = u64::from(index) + 1;
                if !values[at].is_finite() {
                    return Err(Error::NotFinite { what: "a feature", row, value: values[at] });
                }
            }
        }
        let largest = largest(&values);
        Ok(Matrix { rows, cols, largest, storage: Storage::Sparse { starts, indices, values } })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The largest stored value in absolute value; 0 without any.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// Number of stored values.
    pub fn stored(&self) -> usize {
        match &self.storage {
            Storage::Dense(values) | Storage::Sparse { values, .. } => values.len(),
        }
    }

    /// How many values a row stores on average; `None` for a dense matrix, and without rows.
    pub fn stored_per_row(&self) -> Option<f64> {
        (self.is_sparse() && self.rows > 0).then(|| self.stored() as f64 / self.rows as f64)
    }

    /// Whether the rows are stored sparsely.
    pub fn is_sparse(&self) -> bool {
        matches!(self.storage, Storage::Sparse { .. })
    }

    /// The given rows, in the given order, as a matrix of their own.
    ///
    /// # Panics
    /// When a row is not below [`Matrix::rows`].
    pub fn select(&self, rows: &[u32]) -> Matrix {
        let storage = match &self.storage {
            Storage::Dense(values) => {
                let line =
                    |r: &u32| &values[*r as usize * self.cols..(*r as usize + 1) * self.cols];
                Storage::Dense(rows.iter().flat_map(line).copied().collect())
            }
            Storage::Sparse { starts, indices, values } => {
                let span = |r: &u32| starts[*r as usize]..starts[*r as usize + 1];
                let mut ends = vec![0];
                for row in rows {
                    ends.push(ends[ends.len() - 1] + span(row).len());
                }
                Storage::Sparse {
                    starts: ends,
                    indices: rows.iter().flat_map(|r| &indices[span(r)]).copied().collect(),
                    values: rows.iter().flat_map(|r| &values[span(r)]).copied().collect(),
                }
            }
        };
        let (Storage::Dense(values) | Storage::Sparse { values, .. }) = &storage;
        Matrix { rows: rows.len(), cols: self.cols, largest: largest(values), storage }
    }

    /// The rows of several matrices of `cols` columns, one matrix after another. They are all dense
    /// or all sparse; no matrix gives a dense one without rows.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a matrix of another width, or of another kind than the first one.
    pub fn stack(cols: usize, parts: Vec<Matrix>) -> Result<Self> {
        let mut parts = parts.into_iter();
        let Some(mut all) = parts.next() else { return Matrix::dense(cols, Vec::new()) };
        crate::error::require(all.cols == cols, "cols", all.cols, "those of the others")?;
        for part in parts {
            crate::error::require(part.cols == cols, "cols", part.cols, "those of the others")?;
            match (&mut all.storage, part.storage) {
                (Storage::Dense(all), Storage::Dense(more)) => all.extend(more),
                (
                    Storage::Sparse { starts, indices, values },
                    Storage::Sparse { starts: ends, indices: more, values: stored },
                ) => {
                    let before = values.len();
                    starts.extend(ends[1..].iter().map(|end| before + end));
                    indices.extend(more);
                    values.extend(stored);
                }
                _ => return Err(Error::parameter("storage", "mixed", "all dense or all sparse")),
            }
            all.rows += part.rows;
            all.largest = all.largest.max(part.largest);
        }
        Ok(all)
    }

    /// The matrix of the stored values (x − c)/σ; an empty c is 0.
    #[cfg(feature = "exact")]
    pub(crate) fn in_coordinates(&self, centre: &[f64], sigma: f64) -> Matrix {
        let at = |j: usize| centre.get(j).copied().unwrap_or(0.0);
        let storage = match &self.storage {
            Storage::Dense(values) => {
                let lines = values.chunks_exact(self.cols);
                let line = |x| (0..self.cols).zip(x).map(|(j, v): (_, &f64)| (v - at(j)) / sigma);
                Storage::Dense(lines.flat_map(line).collect())
            }
            Storage::Sparse { starts, indices, values } => {
                let stored = indices.iter().zip(values);
                let values = stored.map(|(j, v)| (v - at(*j as usize)) / sigma).collect();
                Storage::Sparse { starts: starts.clone(), indices: indices.clone(), values }
            }
        };
        let (Storage::Dense(values) | Storage::Sparse { values, .. }) = &storage;
        Matrix { rows: self.rows, cols: self.cols, largest: largest(values), storage }
    }

    /// Row `r`.
    ///
    /// # Panics
    /// When `r` is not below [`Matrix::rows`].
    #[inline(always)]
    pub fn row(&self, r: usize) -> Row<'_> {
        self.entries(self.span(r))
    }

    /// Where the stored values of row `r` are.
    #[inline(always)]
    pub(crate) fn span(&self, r: usize) -> Range<usize> {
        match &self.storage {
            Storage::Dense(_) => r * self.cols..(r + 1) * self.cols,
            Storage::Sparse { starts, .. } => starts[r]..starts[r + 1],
        }
    }

    /// The row whose stored values are there.
    #[inline(always)]
    pub(crate) fn entries(&self, span: Range<usize>) -> Row<'_> {
        match &self.storage {
            Storage::Dense(values) => Row::Dense(&values[span]),
            Storage::Sparse { indices, values, .. } => {
                Row::Sparse { indices: &indices[span.clone()], values: &values[span] }
            }
        }
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, v| largest.max(v.abs()))
}

impl Matrix {
    /// Has the beginning of the row whose stored values are there brought closer.
    #[inline]
    pub(crate) fn prefetch(&self, span: Range<usize>) {
        match &self.storage {
            Storage::Dense(values) => prefetch_lines(values, span),
            Storage::Sparse { indices, values, .. } => {
                prefetch_lines(indices, span.clone());
                prefetch_lines(values, span);
            }
        }
    }
}

/// Dot product of two slices of equal length, in eight independent sums (so that it vectorises)
/// that are added in a fixed order.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sums = [0.0; 8];
    let (blocks_a, rest_a) = a.as_chunks::<8>();
    let (blocks_b, rest_b) = b.as_chunks::<8>();
    for (x, y) in blocks_a.iter().zip(blocks_b) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let tail: f64 = rest_a.iter().zip(rest_b).map(|(x, y)| x * y).sum();
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 0 to 20 values, sparse in every other column and dense.
    #[test]
    fn sums_visit_every_value_in_order() {
        for n in 0..=20 {
            let values: Vec<f64> = (0..n).map(|i| f64::from(i) - 3.5).collect();
            let indices: Vec<u32> = (0..n as u32).map(|i| 2 * i).collect();
            let sparse = Row::Sparse { indices: &indices, values: &values };
            for (row, every) in [(Row::Dense(&values), 1), (sparse, 2)] {
                let mut seen = Vec::new();
                let sum = row.sum_each(|j, v| {
                    seen.push((j, v));
                    j as f64 * v
                });
                let columns = (0..values.len()).map(|i| i * every);
                let expected: Vec<_> = columns.zip(values.iter().copied()).collect();
                assert_eq!(seen, expected);
                // Halves of small integers: exact.
                assert_eq!(sum, expected.iter().map(|(j, v)| *j as f64 * v).sum::<f64>());
            }
        }
    }

    #[test]
    fn the_largest_value_is_known() {
        let dense = Matrix::dense(2, vec![1.0, -3.0, 2.0, 0.5]).unwrap();
        let sparse = Matrix::sparse(9, vec![0, 1, 1, 3], vec![4, 0, 8], vec![0.5, -7.0, 2.0]);
        let sparse = sparse.unwrap();
        assert_eq!((dense.largest(), sparse.largest()), (3.0, 7.0));
        assert_eq!((dense.select(&[1]).largest(), sparse.select(&[1]).largest()), (2.0, 0.0));
        assert_eq!(sparse.select(&[1, 0, 0]), sparse.select(&[1, 0, 0]));
        assert_eq!(sparse.row(2).largest(), 7.0);
    }
}
