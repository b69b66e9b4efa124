//! Columns to features.

use std::collections::{BTreeMap, HashMap, HashSet};

use gdro::Matrix;
use serde::{Deserialize, Serialize};

use super::column::{FeatureColumn, WhenMissing, Wish};
use super::hash::bucket;
use super::sparse::SparseFeatures;
use crate::bytes::Purpose;
use crate::error::{Error, Result};
use crate::labels::{MISSING, RARE};
use crate::memory::check_memory;
use crate::options::{DataOptions, Scaling};
use crate::table::{Column, Kind, Table};
use crate::words::{count, shown};

/// How the columns of a table become features: numbers are standardised, texts are one-hot or
/// hashed, and a constant 1 may follow as the last feature. Made from training rows.
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

/// Whether rows of `width` features, `active` of which are stored, are sparse.
fn is_sparse(active: usize, width: usize) -> bool {
    10 * active < 3 * width
}

/// Rows of a tile, which is gone through column by column.
const TILE: usize = 256;

/// Encoded rows.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The features, one row per row that was asked for.
    pub matrix: Matrix,
    /// For each text column with texts that training never saw, or that are missing there for the
    /// first time: the number of such rows. All features of the column are 0 there.
    pub unseen: BTreeMap<String, usize>,
    /// Number of rows with sparse features that training never saw, which are left out.
    pub beyond: usize,
}

impl Encoding {
    /// Learns the encoding of the named columns from the given rows; of the sparse features of a
    /// table those that occur there.
    pub(crate) fn fit(
        table: &Table,
        names: &[&str],
        rows: &[u32],
        weights: Option<&[f64]>,
        options: &DataOptions,
        constant: bool,
    ) -> Result<Self> {
        let fit = |name: &&str| {
            let cells = table.find("features", name)?;
            let wish = Wish::of(options, name, cells.kind());
            FeatureColumn::fit(name, cells, rows, weights, &wish)
        };
        let columns: Vec<FeatureColumn> = names.iter().map(fit).collect::<Result<_>>()?;
        let sparse = table.sparse.as_ref();
        let sparse = sparse.map(|s| SparseFeatures::fit(table, s, rows, options.index_base));
        Ok(Self::assemble(columns, sparse, options, constant))
    }

    /// The encoding of columns that are known. Numbers are taken as they are where the options say
    /// so or, unless they say otherwise, where there are sparse features.
    pub(crate) fn assemble(
        mut columns: Vec<FeatureColumn>,
        sparse: Option<SparseFeatures>,
        options: &DataOptions,
        constant: bool,
    ) -> Self {
        let kept = match options.scaling {
            Some(scaling) => scaling == Scaling::None,
            None => sparse.is_some(),
        };
        if kept {
            columns.iter_mut().for_each(FeatureColumn::keep_scale);
        }
        Encoding { columns, sparse, constant }
    }

    /// Refuses an encoding, as it was read from a file, that no training gives. Until then nothing else
    /// may be asked of it.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> std::result::Result<(), String> {
        let mut names = HashSet::new();
        self.columns.iter().try_for_each(FeatureColumn::check)?;
        if let Some(column) = self.columns.iter().find(|column| !names.insert(column.name())) {
            return Err(format!("column `{}` occurs twice", shown(column.name())));
        }
        match &self.sparse {
            Some(sparse) if !sparse.fits() => Err("features by index out of range".into()),
            _ => Ok(()),
        }
    }

    /// Whether features are taken by their indices.
    pub(crate) fn has_sparse(&self) -> bool {
        self.sparse.is_some()
    }

    /// Whether the features are those of consecutive indices, and nothing else.
    pub(crate) fn is_matrix(&self) -> bool {
        self.columns.is_empty() && self.sparse.as_ref().is_some_and(SparseFeatures::is_whole)
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

    /// Bytes that an encoded row takes in memory, about.
    pub fn row_bytes(&self) -> usize {
        let (active, width) = (self.active(), self.dimension());
        if is_sparse(active, width) { 12 * active.max(1) } else { 8 * width }
    }

    /// Columns that tell rows apart, and the constant.
    fn active(&self) -> usize {
        self.columns.iter().filter(|c| !c.is_constant()).count() + usize::from(self.constant)
    }

    /// Names of the features, see [`FeatureColumn::feature_names`]; the constant is `(constant)`.
    pub fn feature_names(&self) -> Vec<String> {
        let names = self.columns.iter().flat_map(FeatureColumn::feature_names);
        let indices = self.sparse.iter().flat_map(|s| s.indices()).map(|index| index.to_string());
        names.chain(indices).chain(self.constant.then(|| "(constant)".to_owned())).collect()
    }

    /// The rows of a table that can be encoded: those without a missing cell that is refused.
    ///
    /// # Errors
    /// For a table without one of the columns.
    pub fn complete_rows(&self, table: &Table) -> Result<Vec<u32>> {
        let parts = self.parts(table)?;
        Ok((0..table.rows() as u32)
            .filter(|row| !parts.iter().any(|p| p.is_missing(*row as usize)))
            .collect())
    }

    /// Columns of numbers whose missing cells count as the mean of training, with how many of the given
    /// rows have such a cell; those with none are left out.
    ///
    /// # Errors
    /// For a table without one of the columns.
    pub fn filled(&self, table: &Table, rows: &[u32]) -> Result<Vec<(&str, usize)>> {
        let mut found = Vec::new();
        for column in self.columns.iter().filter(|column| column.fills()) {
            let cells = table.find("model", column.name())?;
            let count = rows.iter().filter(|row| cells.is_missing(**row as usize)).count();
            found.extend((count > 0).then(|| (column.name(), count)));
        }
        Ok(found)
    }

    /// Encodes the given rows of any table.
    ///
    /// # Errors
    /// For a table without one of the columns, or with a column of another kind (see
    /// [`crate::read_for`]); for a missing cell that is refused; for a number that leaves the range of `f64` when
    /// it is standardised.
    ///
    /// # Panics
    /// When a row is not below [`Table::rows`].
    pub fn encode(&self, table: &Table, rows: &[u32]) -> Result<Encoded> {
        let parts = self.parts(table)?;
        let width = self.dimension();
        let active = self.active();
        let entries = table.sparse.as_ref().filter(|_| self.sparse.is_some());
        // As many entries as a row of the table has on average.
        let active = active + entries.map_or(0, |s| s.values.len().div_ceil(table.rows().max(1)));
        let sparse = is_sparse(active, width);
        let (mut unseen, mut beyond) = (vec![0usize; parts.len()], 0);
        let matrix = if sparse {
            self.sparse(&parts, table, rows, active, (&mut unseen, &mut beyond))?
        } else {
            self.dense(&parts, table, rows, (&mut unseen, &mut beyond))?
        };
        let unseen = self.columns.iter().map(|c| c.name().to_owned()).zip(unseen);
        Ok(Encoded { matrix, unseen: unseen.filter(|(_, count)| *count > 0).collect(), beyond })
    }

    /// The features as rows of stored values.
    fn sparse(
        &self,
        parts: &[Part<'_>],
        table: &Table,
        rows: &[u32],
        active: usize,
        (unseen, beyond): (&mut [usize], &mut usize),
    ) -> Result<Matrix> {
        check_room(rows.len(), active, size_of::<u32>() + size_of::<f64>())?;
        let mut starts = Vec::with_capacity(rows.len() + 1);
        let mut indices = Vec::with_capacity(active * rows.len());
        let mut values = Vec::with_capacity(active * rows.len());
        starts.push(0);
        for row in rows.iter().map(|r| *r as usize) {
            let mut first = 0;
            for (part, unseen) in parts.iter().zip(&mut *unseen) {
                if let Some((offset, value)) = part.feature(table, row, unseen)? {
                    indices.push((first + offset) as u32);
                    values.push(value);
                }
                first += part.column.width();
            }
            *beyond += usize::from(self.entries(table, row, |feature, value| {
                indices.push((first + feature) as u32);
                values.push(value);
            }));
            first += self.sparse_width();
            if self.constant {
                indices.push(first as u32);
                values.push(1.0);
            }
            starts.push(values.len());
        }
        Ok(Matrix::sparse(self.dimension(), starts, indices, values)?)
    }

    /// The features row by row. The table is gone through in its own order, in tiles of rows that
    /// stay in the cache, column by column; each row goes to its place.
    fn dense(
        &self,
        parts: &[Part<'_>],
        table: &Table,
        rows: &[u32],
        (unseen, beyond): (&mut [usize], &mut usize),
    ) -> Result<Matrix> {
        let width = self.dimension();
        check_room(rows.len(), width, size_of::<f64>())?;
        let mut dense = vec![0.0; width * rows.len()];
        for tile in Places::of(rows).order.chunks(TILE) {
            let mut first = 0;
            for (part, unseen) in parts.iter().zip(&mut *unseen) {
                if !part.standardise(tile, &mut dense, (width, first)) {
                    for (row, place) in tile {
                        let line = &mut dense[*place as usize * width..][..width];
                        line[first..first + part.column.width()].fill(0.0);
                        if let Some((offset, v)) = part.feature(table, *row as usize, unseen)? {
                            line[first + offset] = v;
                        }
                    }
                }
                first += part.column.width();
            }
            for (row, place) in tile {
                let line = &mut dense[*place as usize * width..][..width];
                let put = |feature: usize, value| line[first + feature] = value;
                *beyond += usize::from(self.entries(table, *row as usize, put));
                if self.constant {
                    line[width - 1] = 1.0;
                }
            }
        }
        Ok(Matrix::dense(width, dense)?)
    }

    /// Calls `put(feature, value)` for the sparse features of a row; true when it has others.
    fn entries(&self, table: &Table, row: usize, mut put: impl FnMut(usize, f64)) -> bool {
        let mut outside = false;
        for (index, value) in table.sparse.iter().flat_map(|sparse| sparse.row(row)) {
            match self.sparse.as_ref().and_then(|sparse| sparse.feature(index)) {
                Some(feature) => put(feature, value),
                None => outside = true,
            }
        }
        outside
    }

    fn parts<'a>(&'a self, table: &'a Table) -> Result<Vec<Part<'a>>> {
        self.columns.iter().map(|c| Part::new(c, table.find("model", c.name())?)).collect()
    }
}

/// Refuses rows that would not fit into memory, with so many numbers each that take so many bytes.
fn check_room(rows: usize, numbers: usize, bytes: usize) -> Result<()> {
    check_memory(rows as f64 * numbers as f64 * bytes as f64, Purpose::Rows, || {
        format!("{}, encoded in {},", count(rows, "row"), count(numbers, "number"))
    })
}

/// Rows in the order of the table, with the places that they were asked for in.
struct Places {
    order: Vec<(u32, u32)>,
}

impl Places {
    fn of(rows: &[u32]) -> Self {
        const NONE: u32 = u32::MAX;
        if rows.is_sorted() {
            return Places { order: rows.iter().copied().zip(0..).collect() };
        }
        let end = rows.iter().max().map_or(0, |last| *last as usize + 1);
        let mut place_of = vec![NONE; end];
        for (row, place) in rows.iter().zip(0..) {
            if std::mem::replace(&mut place_of[*row as usize], place) != NONE {
                // A row that is asked for twice, as when it is in two groups.
                let mut order: Vec<(u32, u32)> = rows.iter().copied().zip(0..).collect();
                order.sort_unstable();
                return Places { order };
            }
        }
        let order = (0..).zip(place_of).filter(|(_, place)| *place != NONE).collect();
        Places { order }
    }
}

/// A column of a table with its encoding.
struct Part<'a> {
    column: &'a FeatureColumn,
    cells: &'a Column,
    /// The level or bucket of each text of the table.
    level_of: Vec<Option<usize>>,
    /// The feature of a missing cell, where it has one.
    missing: Option<usize>,
}

enum CellValue {
    Value(usize, f64),
    Zero,
    Unseen,
    Missing,
}

impl<'a> Part<'a> {
    fn new(column: &'a FeatureColumn, cells: &'a Column) -> Result<Self> {
        let refuse = |expected| {
            let found = cells.kind().words();
            Err(Error::Kind { column: column.name().to_owned(), found, expected })
        };
        let mut level_of = Vec::new();
        let missing;
        match (column, &cells.numbers, &cells.texts) {
            (FeatureColumn::Number { missing: policy, .. }, Some(_), _) => {
                missing = (*policy == WhenMissing::Indicator).then_some(1);
            }
            (FeatureColumn::Number { .. }, None, _) => return refuse("numbers"),
            (FeatureColumn::Text { levels, rare, .. }, _, Some(texts)) => {
                let mut known: HashMap<&str, usize> =
                    levels.iter().enumerate().map(|(at, l)| (l.as_str(), at)).collect();
                missing = known.get(MISSING).copied();
                if let Some(level) = known.get(RARE).copied() {
                    known.extend(rare.iter().map(|text| (text.as_str(), level)));
                }
                level_of = texts.levels.iter().map(|t| known.get(t.as_str()).copied()).collect();
            }
            (FeatureColumn::Hash { buckets, missing: policy, .. }, _, Some(texts)) => {
                level_of = texts.levels.iter().map(|t| Some(bucket(t, *buckets))).collect();
                missing = (*policy == WhenMissing::Indicator).then_some(*buckets as usize);
            }
            (FeatureColumn::Text { .. } | FeatureColumn::Hash { .. }, _, None) => {
                return refuse("text");
            }
        }
        Ok(Part { column, cells, level_of, missing })
    }

    /// Writes standardised numbers to feature `first` of rows of this width; false when some of
    /// them need a closer look.
    fn standardise(
        &self,
        tile: &[(u32, u32)],
        dense: &mut [f64],
        (width, first): (usize, usize),
    ) -> bool {
        let (FeatureColumn::Number { mean, deviation, .. }, Some(numbers)) =
            (self.column, &self.cells.numbers)
        else {
            return false;
        };
        if *deviation == 0.0 || self.column.width() != 1 {
            return false;
        }
        let mut finite = true;
        for (row, place) in tile {
            let v = (numbers[*row as usize] - mean) / deviation;
            finite &= v.is_finite();
            dense[*place as usize * width + first] = v;
        }
        finite
    }

    /// The feature of a row that is not 0, with its offset in the column; counts unseen texts.
    fn feature(
        &self,
        table: &Table,
        row: usize,
        unseen: &mut usize,
    ) -> Result<Option<(usize, f64)>> {
        match self.cell(row) {
            CellValue::Value(offset, value) if value.is_finite() => Ok(Some((offset, value))),
            CellValue::Value(..) => {
                let (at, column) = (table.position(row), self.column.name().to_owned());
                let text = self.cells.number(row).unwrap_or_default().to_string();
                Err(Error::NotFinite { at, column, text, marks: Box::default() })
            }
            CellValue::Zero => Ok(None),
            CellValue::Unseen => {
                *unseen += 1;
                Ok(None)
            }
            CellValue::Missing => {
                let (at, column) = (table.position(row), self.column.name().to_owned());
                Err(Error::MissingCell { at, column })
            }
        }
    }

    fn cell(&self, row: usize) -> CellValue {
        let (known, policy) = match self.column {
            FeatureColumn::Number { mean, deviation, missing, .. } => {
                let cell = self.cells.number(row).map(|v| match v {
                    _ if *deviation == 0.0 || v == *mean => CellValue::Zero,
                    v => CellValue::Value(0, (v - mean) / deviation),
                });
                (cell, missing)
            }
            FeatureColumn::Text { missing, .. } | FeatureColumn::Hash { missing, .. } => {
                let code = self.cells.texts.as_ref().and_then(|t| t.code(row));
                let cell = code.map(|code| match self.level_of[code] {
                    None => CellValue::Unseen,
                    Some(_) if self.column.is_constant() => CellValue::Zero,
                    Some(level) => CellValue::Value(level, 1.0),
                });
                (cell, missing)
            }
        };
        known.unwrap_or(match (self.missing, policy) {
            (Some(_), _) if self.column.is_constant() => CellValue::Zero,
            (Some(feature), _) => CellValue::Value(feature, 1.0),
            (None, WhenMissing::Refuse) => CellValue::Missing,
            // A number is the mean then; a text that training never missed is an unknown one.
            (None, _) if self.column.cells() == Kind::Number => CellValue::Zero,
            (None, _) => CellValue::Unseen,
        })
    }

    fn is_missing(&self, row: usize) -> bool {
        matches!(self.cell(row), CellValue::Missing)
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
        let encoding =
            Encoding::fit(&dense, &["n", "t"], &[0, 1], None, &DataOptions::default(), true)
                .unwrap();
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
        let encoding =
            Encoding::fit(&sparse, &["n", "t"], &rows, None, &DataOptions::default(), false)
                .unwrap();
        let matrix = encoding.encode(&sparse, &rows).unwrap().matrix;
        assert!(matrix.is_sparse());
        // The mean is 4, so that the number of the fifth row is 0 and not stored.
        assert_eq!(matrix.row(4), Row::Sparse { indices: &[5], values: &[1.0] });
    }

    #[test]
    fn what_cannot_be_encoded() {
        let trained = table(&[1.0, 2.0], &["a", "b"]);
        let encoding =
            Encoding::fit(&trained, &["n", "t"], &[0, 1], None, &DataOptions::default(), false)
                .unwrap();
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
        let encoding =
            Encoding::fit(&trained, &["n", "t"], &[0, 1], None, &DataOptions::default(), true)
                .unwrap();
        let json = serde_json::to_string(&encoding).unwrap();
        let number = r#"{"kind":"number","name":"n","mean":2.0,"deviation":1.0}"#;
        let text = r#"{"kind":"text","name":"t","levels":["a","b"]}"#;
        assert_eq!(json, format!(r#"{{"columns":[{number},{text}],"constant":true}}"#));
        assert_eq!(serde_json::from_str::<Encoding>(&json).unwrap(), encoding);
    }
}
