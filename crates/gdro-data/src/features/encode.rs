//! Columns to features.

use std::collections::{BTreeMap, HashMap, HashSet};

use gdro::Matrix;
use serde::{Deserialize, Serialize};

use super::moments::moments;
use super::sparse::SparseFeatures;
use crate::error::{Error, Result};
use crate::groups::MISSING;
use crate::table::{Column, Kind, Table};

/// How the columns of a table become features: numbers are standardised, texts are one-hot, and a
/// constant 1 may follow as the last feature. Made from training rows.
///
/// A column with a single value in training is encoded as 0, whatever it is later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Encoding {
    columns: Vec<FeatureColumn>,
    /// Features by index, after those of the columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sparse: Option<SparseFeatures>,
    constant: bool,
}

/// How a column is encoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FeatureColumn {
    /// One feature (v − mean) / deviation, or 0 when the deviation is 0.
    Number {
        /// Name of the column.
        name: String,
        /// Weighted mean of the training rows.
        mean: f64,
        /// Weighted population standard deviation of the training rows.
        deviation: f64,
    },
    /// One feature per level: 1 for the level of the row, else 0.
    Text {
        /// Name of the column.
        name: String,
        /// The texts of the training rows, sorted.
        levels: Vec<String>,
    },
}

/// Encoded rows.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The features, one row per row that was asked for.
    pub matrix: Matrix,
    /// For each text column with texts that training never saw: the number of such rows. All
    /// features of the column are 0 there.
    pub unseen: BTreeMap<String, usize>,
    /// Number of rows with sparse features that training never saw, which are left out.
    pub beyond: usize,
}

impl FeatureColumn {
    /// Name of the column.
    pub fn name(&self) -> &str {
        match self {
            FeatureColumn::Number { name, .. } | FeatureColumn::Text { name, .. } => name,
        }
    }

    /// Number of features.
    pub fn width(&self) -> usize {
        match self {
            FeatureColumn::Number { .. } => 1,
            FeatureColumn::Text { levels, .. } => levels.len(),
        }
    }

    /// Whether training saw one value only.
    pub fn is_constant(&self) -> bool {
        match self {
            FeatureColumn::Number { deviation, .. } => *deviation == 0.0,
            FeatureColumn::Text { levels, .. } => levels.len() < 2,
        }
    }

    fn fit(name: &str, cells: &Column, rows: &[u32], weights: Option<&[f64]>) -> Result<Self> {
        let column = name.to_owned();
        let Some(texts) = cells.texts.as_ref().filter(|_| cells.kind() == Kind::Text) else {
            let values: Vec<f64> = rows.iter().filter_map(|r| cells.number(*r as usize)).collect();
            return match moments(&values, weights) {
                Some((mean, deviation)) => {
                    Ok(FeatureColumn::Number { name: column, mean, deviation })
                }
                None => Err(Error::TooLarge { column, done: "standardised" }),
            };
        };
        let codes: HashSet<Option<usize>> = rows.iter().map(|r| texts.code(*r as usize)).collect();
        let (levels, rows, limit) = (codes.len(), rows.len(), most_levels(rows.len()));
        if levels > limit {
            return Err(Error::TooManyLevels { column, levels, rows, limit });
        }
        let level = |code: Option<usize>| code.map_or(MISSING, |c| &texts.levels[c]).to_owned();
        let mut levels: Vec<String> = codes.into_iter().map(level).collect();
        levels.sort_unstable();
        levels.dedup();
        Ok(FeatureColumn::Text { name: column, levels })
    }
}

/// Largest number of different texts of a feature, or of classes: half of the rows, or 1,000.
pub(crate) fn most_levels(rows: usize) -> usize {
    (rows / 2).max(1000)
}

impl Encoding {
    /// Learns the encoding of the named columns from the given rows.
    pub(crate) fn fit(
        table: &Table,
        names: &[&str],
        rows: &[u32],
        weights: Option<&[f64]>,
        constant: bool,
    ) -> Result<Self> {
        let fit =
            |name: &&str| FeatureColumn::fit(name, table.find("features", name)?, rows, weights);
        let columns = names.iter().map(fit).collect::<Result<_>>()?;
        Ok(Encoding { columns, sparse: None, constant })
    }

    /// Takes numbers as they are instead of standardising them.
    pub(crate) fn keep_scale(&mut self) {
        for column in &mut self.columns {
            if let FeatureColumn::Number { mean, deviation, .. } = column {
                (*mean, *deviation) = (0.0, 1.0);
            }
        }
    }

    /// Takes the sparse features of a table too, if it has any: those that occur in the given
    /// rows, from the index `first` on (unless given: 1, or 0 where it occurs).
    pub(crate) fn take_sparse(&mut self, table: &Table, rows: &[u32], first: Option<u32>) {
        let sparse = table.sparse.as_ref();
        self.sparse = sparse.map(|sparse| SparseFeatures::fit(table, sparse, rows, first));
    }

    /// Whether features are taken by their indices.
    pub(crate) fn has_sparse(&self) -> bool {
        self.sparse.is_some()
    }

    fn sparse_width(&self) -> usize {
        self.sparse.as_ref().map_or(0, SparseFeatures::width)
    }

    /// The columns, in the order of their features.
    pub fn columns(&self) -> &[FeatureColumn] {
        &self.columns
    }

    /// Whether the last feature is the constant 1.
    pub fn has_constant(&self) -> bool {
        self.constant
    }

    /// Number of features.
    pub fn dimension(&self) -> usize {
        let columns = self.columns.iter().map(FeatureColumn::width).sum::<usize>();
        columns + self.sparse_width() + usize::from(self.constant)
    }

    /// Names of the features: `age`, `education=HS-grad`, `(constant)`.
    pub fn feature_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.dimension());
        for column in &self.columns {
            match column {
                FeatureColumn::Number { name, .. } => names.push(name.clone()),
                FeatureColumn::Text { name, levels } => {
                    names.extend(levels.iter().map(|level| format!("{name}={level}")));
                }
            }
        }
        names.extend(self.sparse.iter().flat_map(|s| s.indices()).map(|index| index.to_string()));
        names.extend(self.constant.then(|| "(constant)".to_owned()));
        names
    }

    /// The rows of a table in which no feature is missing.
    ///
    /// # Errors
    /// For a table without one of the columns.
    pub fn complete_rows(&self, table: &Table) -> Result<Vec<u32>> {
        let parts = self.parts(table)?;
        Ok((0..table.rows() as u32)
            .filter(|row| !parts.iter().any(|p| p.is_missing(*row as usize)))
            .collect())
    }

    /// Encodes the given rows of any table.
    ///
    /// # Errors
    /// For a table without one of the columns, or with a column of another kind (see
    /// [`crate::read_for`]); for a missing cell; for a number that leaves the range of `f64` when
    /// it is standardised.
    ///
    /// # Panics
    /// When a row is not below [`Table::rows`].
    pub fn encode(&self, table: &Table, rows: &[u32]) -> Result<Encoded> {
        let parts = self.parts(table)?;
        let width = self.dimension();
        let active = self.columns.iter().filter(|c| !c.is_constant()).count();
        let active = active + usize::from(self.constant);
        let entries = table.sparse.as_ref().filter(|_| self.sparse.is_some());
        // As many entries as a row of the table has on average.
        let active = active + entries.map_or(0, |s| s.values.len().div_ceil(table.rows().max(1)));
        let sparse = 10 * active < 3 * width;
        let (mut unseen, mut beyond) = (vec![0usize; parts.len()], 0);
        let mut dense = vec![0.0; if sparse { 0 } else { width * rows.len() }];
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        if sparse {
            starts.reserve(rows.len());
            indices.reserve(active * rows.len());
            values.reserve(active * rows.len());
        }
        for (at, row) in rows.iter().map(|r| *r as usize).enumerate() {
            let mut put = |feature: usize, value: f64| {
                if sparse {
                    indices.push(feature as u32);
                    values.push(value);
                } else {
                    dense[at * width + feature] = value;
                }
            };
            let mut first = 0;
            for (part, unseen) in parts.iter().zip(&mut unseen) {
                match part.cell(row) {
                    Cell::Value(offset, value) if value.is_finite() => put(first + offset, value),
                    Cell::Value(..) => {
                        let (at, column) = (table.position(row), part.column.name().to_owned());
                        let text = part.cells.number(row).unwrap_or_default().to_string();
                        return Err(Error::NotFinite { at, column, text });
                    }
                    Cell::Zero => {}
                    Cell::Unseen => *unseen += 1,
                    Cell::Missing => {
                        let (at, column) = (table.position(row), part.column.name().to_owned());
                        return Err(Error::MissingCell { at, column });
                    }
                }
                first += part.column.width();
            }
            let mut outside = false;
            for (index, value) in table.sparse.iter().flat_map(|sparse| sparse.row(row)) {
                match self.sparse.as_ref().and_then(|sparse| sparse.feature(index)) {
                    Some(feature) => put(first + feature, value),
                    None => outside = true,
                }
            }
            beyond += usize::from(outside);
            first += self.sparse_width();
            if self.constant {
                put(first, 1.0);
            }
            if sparse {
                starts.push(values.len());
            }
        }
        let matrix = if sparse {
            Matrix::sparse(width, starts, indices, values)?
        } else {
            Matrix::dense(width, dense)?
        };
        let unseen = self.columns.iter().map(|c| c.name().to_owned()).zip(unseen);
        let unseen = unseen.filter(|(_, count)| *count > 0).collect();
        Ok(Encoded { matrix, unseen, beyond })
    }

    fn parts<'a>(&'a self, table: &'a Table) -> Result<Vec<Part<'a>>> {
        self.columns.iter().map(|c| Part::new(c, table.find("model", c.name())?)).collect()
    }
}

/// A column of a table with its encoding.
struct Part<'a> {
    column: &'a FeatureColumn,
    cells: &'a Column,
    /// The level of each text of the table.
    level_of: Vec<Option<usize>>,
    /// The level of a missing text.
    missing: Option<usize>,
}

enum Cell {
    Value(usize, f64),
    Zero,
    Unseen,
    Missing,
}

impl<'a> Part<'a> {
    fn new(column: &'a FeatureColumn, cells: &'a Column) -> Result<Self> {
        let (mut level_of, mut missing) = (Vec::new(), None);
        let expected = match (column, &cells.numbers, &cells.texts) {
            (FeatureColumn::Number { .. }, Some(_), _) => None,
            (FeatureColumn::Number { .. }, None, _) => Some("numbers"),
            (FeatureColumn::Text { levels, .. }, _, Some(texts)) => {
                let known: HashMap<&str, usize> =
                    levels.iter().enumerate().map(|(at, l)| (l.as_str(), at)).collect();
                level_of = texts.levels.iter().map(|t| known.get(t.as_str()).copied()).collect();
                missing = known.get(MISSING).copied();
                None
            }
            (FeatureColumn::Text { .. }, _, None) => Some("text"),
        };
        if let Some(expected) = expected {
            let found = cells.kind().words();
            return Err(Error::Kind { column: column.name().to_owned(), found, expected });
        }
        Ok(Part { column, cells, level_of, missing })
    }

    fn cell(&self, row: usize) -> Cell {
        match self.column {
            FeatureColumn::Number { mean, deviation, .. } => match self.cells.number(row) {
                None => Cell::Missing,
                Some(_) if *deviation == 0.0 => Cell::Zero,
                Some(v) if v == *mean => Cell::Zero,
                Some(v) => Cell::Value(0, (v - mean) / deviation),
            },
            FeatureColumn::Text { levels, .. } => {
                let code = self.cells.texts.as_ref().and_then(|t| t.code(row));
                match code.map_or(self.missing.map(Some), |c| Some(self.level_of[c])) {
                    None => Cell::Missing,
                    Some(None) => Cell::Unseen,
                    Some(Some(_)) if levels.len() < 2 => Cell::Zero,
                    Some(Some(level)) => Cell::Value(level, 1.0),
                }
            }
        }
    }

    fn is_missing(&self, row: usize) -> bool {
        matches!(self.cell(row), Cell::Missing)
    }
}

#[cfg(test)]
mod tests {
    use gdro::Row;

    use super::*;
    use crate::table::Texts;

    fn table(numbers: &[f64], texts: &[&str]) -> Table {
        let number = Column { numbers: Some(numbers.to_vec()), ..Column::default() };
        let texts = Some(Texts::new(texts.iter().copied()));
        Table {
            names: vec!["n".into(), "t".into()],
            columns: vec![number, Column { texts, ..Column::default() }],
            files: vec![("t".into(), numbers.len())],
            lines: (2..).take(numbers.len()).collect(),
            ..Table::default()
        }
    }

    #[test]
    fn few_features_are_dense_and_many_levels_sparse() {
        let dense = table(&[1.0, 3.0, 2.0], &["b", "a", "b"]);
        let encoding = Encoding::fit(&dense, &["n", "t"], &[0, 1], None, true).unwrap();
        assert_eq!(encoding.feature_names(), ["n", "t=a", "t=b", "(constant)"]);
        let matrix = encoding.encode(&dense, &[0, 1, 2]).unwrap().matrix;
        assert_eq!(matrix.row(0), Row::Dense(&[-1.0, 0.0, 1.0, 1.0]));
        assert_eq!(matrix.row(1), Row::Dense(&[1.0, 1.0, 0.0, 1.0]));
        assert_eq!(matrix.row(2), Row::Dense(&[0.0, 0.0, 1.0, 1.0]));

        let levels: Vec<String> = (0..9).map(|i| format!("l{i}")).collect();
        let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
        let numbers: Vec<f64> = (0..9).map(f64::from).collect();
        let sparse = table(&numbers, &levels);
        let rows: Vec<u32> = (0..9).collect();
        let encoding = Encoding::fit(&sparse, &["n", "t"], &rows, None, false).unwrap();
        let matrix = encoding.encode(&sparse, &rows).unwrap().matrix;
        assert!(matrix.is_sparse());
        // The mean is 4, so that the number of the fifth row is 0 and not stored.
        assert_eq!(matrix.row(4), Row::Sparse { indices: &[5], values: &[1.0] });
    }

    #[test]
    fn what_cannot_be_encoded() {
        let trained = table(&[1.0, 2.0], &["a", "b"]);
        let encoding = Encoding::fit(&trained, &["n", "t"], &[0, 1], None, false).unwrap();
        let later = table(&[1.0, f64::NAN, f64::MAX], &["c", "a", "a"]);
        let encoded = encoding.encode(&later, &[0]).unwrap();
        assert_eq!(encoded.unseen, [("t".to_owned(), 1)].into());
        let message = |row| encoding.encode(&later, &[row]).unwrap_err().to_string();
        assert!(message(1).starts_with("t:3: column `n`: the cell is missing"));
        assert!(message(2).starts_with("t:4: column `n`: found `17976"), "{}", message(2));
        assert_eq!(encoding.complete_rows(&later).unwrap(), [0, 2]);
    }

    #[test]
    fn serialised_form() {
        let trained = table(&[1.0, 3.0], &["b", "a"]);
        let encoding = Encoding::fit(&trained, &["n", "t"], &[0, 1], None, true).unwrap();
        let json = serde_json::to_string(&encoding).unwrap();
        let number = r#"{"kind":"number","name":"n","mean":2.0,"deviation":1.0}"#;
        let text = r#"{"kind":"text","name":"t","levels":["a","b"]}"#;
        assert_eq!(json, format!(r#"{{"columns":[{number},{text}],"constant":true}}"#));
        assert_eq!(serde_json::from_str::<Encoding>(&json).unwrap(), encoding);
    }
}
