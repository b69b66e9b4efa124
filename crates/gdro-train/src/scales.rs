//! Features whose scale does not suit a stochastic solver.

use gdro::Dataset;

/// Root mean square from which on a feature is large.
const LARGE: f64 = 1e3;

/// Largest absolute value up to which a feature is small.
const SMALL: f64 = 1e-3;

/// Features that are named.
const SHOWN: usize = 3;

/// A remark on features that are far from 1, of which a solver that plays rounds makes little: its
/// step is one for all weights. Standardised features and indicators never are. `name` gives
/// the name of a feature.
pub fn scale_remark(data: &Dataset, name: impl Fn(usize) -> String) -> Option<String> {
    let far = far_from_one(data);
    let shown = far.iter().take(SHOWN).map(|(at, size)| format!("`{}` ({size:.0e})", name(*at)));
    let shown: Vec<String> = shown.collect();
    let more = match far.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!far.is_empty()).then(|| {
        format!(
            "features are far from 1, in root mean square: {}{more}: one step for all weights suits \
             none of them: standardise the features, or use the solver exact",
            shown.join(", ")
        )
    })
}

/// Features with large values, and those with small values only, with their root mean squares; the
/// farthest first.
fn far_from_one(data: &Dataset) -> Vec<(usize, f64)> {
    let matrix = data.matrix();
    let mut squares = vec![0.0; matrix.cols()];
    let mut largest = vec![0.0f64; matrix.cols()];
    for row in 0..matrix.rows() {
        matrix.row(row).for_each(|at, v| {
            squares[at] += v * v;
            largest[at] = largest[at].max(v.abs());
        });
    }
    let size = |at: usize| (squares[at] / matrix.rows().max(1) as f64).sqrt();
    let is_far = |at: &usize| size(*at) >= LARGE || largest[*at] > 0.0 && largest[*at] <= SMALL;
    let mut far: Vec<(usize, f64)> =
        (0..matrix.cols()).filter(is_far).map(|at| (at, size(at))).collect();
    let distance = |size: f64| size.ln().abs();
    far.sort_by(|a, b| distance(b.1).total_cmp(&distance(a.1)).then(a.0.cmp(&b.0)));
    far
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gdro::Matrix;

    use super::*;

    #[test]
    fn features_far_from_one_are_named() {
        let remark = |columns: &[f64]| {
            let rows = 40;
            let cells =
                (0..rows).flat_map(|i| columns.iter().map(move |c| c * f64::from(i % 3 - 1)));
            let matrix = Matrix::dense(columns.len(), cells.collect()).unwrap();
            let members = vec![(0..rows as u32).collect::<Vec<u32>>()];
            let targets = vec![1.0; rows as usize];
            let data = Dataset::new(Arc::new(matrix), targets, None, &members).unwrap();
            scale_remark(&data, |at| format!("x{at}"))
        };
        assert_eq!(remark(&[1.0, 0.01, 500.0]), None);
        let found = remark(&[1.0, 1e-6, 1e6, 1e4]).unwrap();
        let start =
            "features are far from 1, in root mean square: `x1` (8e-7), `x2` (8e5), `x3` (8e3):";
        assert!(found.starts_with(start), "{found}");
        let found = remark(&[1e6, 1e6, 1e6, 1e6, 1e6]).unwrap();
        assert!(found.contains("`x2` (8e5) and 2 more: one step"), "{found}");
        // A rare indicator, and a column of nothing.
        let mut cells = vec![0.0; 4000];
        cells[7] = 1.0;
        let matrix = Arc::new(Matrix::dense(2, cells).unwrap());
        let members = vec![(0..2000).collect::<Vec<u32>>()];
        let data = Dataset::new(matrix, vec![1.0; 2000], None, &members).unwrap();
        assert_eq!(scale_remark(&data, |at| at.to_string()), None);
    }
}
