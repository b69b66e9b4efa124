//! Tables of columns that are in memory already.

use gdro::Error;

use super::{Column, Table, Texts};
use crate::error::{Result, Unit};
use crate::format::Na;
use crate::options::DataOptions;

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers; NaN is a missing cell.
    Numbers(Vec<f64>),
    /// Texts; an empty one is a missing cell.
    Texts(Vec<String>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Numbers(cells) => cells.len(),
            Cells::Texts(cells) => cells.len(),
        }
    }
}

impl Table {
    /// A table of named columns, whose rows are numbered from 0. Cells are missing where
    /// [`DataOptions::na`] says so: a number then means all its spellings.
    ///
    /// # Errors
    /// When the columns differ in length, and for an infinite number.
    pub fn of_columns(columns: Vec<(String, Cells)>, options: &DataOptions) -> Result<Self> {
        let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        let missing = Na::of(options, &names);
        let rows = columns.first().map_or(0, |(_, cells)| cells.len());
        let mut table = Table {
            files: vec![("table".to_owned(), rows)],
            lines: (0..rows as u32).collect(),
            unit: Unit::Row,
            ..Table::default()
        };
        for ((name, cells), na) in columns.into_iter().zip(missing) {
            if cells.len() != rows {
                let found = cells.len();
                return Err(Error::Length { what: "a column", found, expected: rows }.into());
            }
            let column = match cells {
                Cells::Numbers(mut numbers) => {
                    if let Some(row) = numbers.iter().position(|v| v.is_infinite()) {
                        let value = numbers[row];
                        return Err(Error::NotFinite { what: "a cell", row, value }.into());
                    }
                    let missing = numbers.iter_mut().filter(|number| na.is_missing(**number));
                    missing.for_each(|number| *number = f64::NAN);
                    Column { numbers: Some(numbers), ..Column::default() }
                }
                Cells::Texts(texts) => {
                    let texts = Texts::new(texts.iter().map(|text| na.cell(text)));
                    Column { texts: Some(texts), ..Column::default() }
                }
            };
            table.names.push(name);
            table.columns.push(column);
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_a_table() {
        let texts = ["x", "", "y"].map(String::from).to_vec();
        let columns = vec![
            ("a".into(), Cells::Numbers(vec![1.0, f64::NAN, 2.0])),
            ("b".into(), Cells::Texts(texts)),
        ];
        let plain = DataOptions::default();
        let table = Table::of_columns(columns.clone(), &plain).unwrap();
        assert_eq!((table.rows(), table.names()), (3, &["a".to_owned(), "b".to_owned()][..]));
        let (a, b) = (table.column("a").unwrap(), table.column("b").unwrap());
        assert_eq!((a.number(0), a.number(1)), (Some(1.0), None));
        assert_eq!((b.text(1), b.text(2)), (None, Some("y")));
        assert_eq!(table.position(2).to_string(), "table: row 2");
        let short =
            vec![("a".into(), Cells::Numbers(vec![1.0])), ("b".into(), Cells::Numbers(vec![]))];
        assert!(Table::of_columns(short, &plain).is_err());
        let infinite = vec![("a".into(), Cells::Numbers(vec![f64::INFINITY]))];
        assert!(Table::of_columns(infinite, &plain).is_err());

        let options = DataOptions { na: vec!["a=1".into(), "y".into()], ..DataOptions::default() };
        let table = Table::of_columns(columns, &options).unwrap();
        let (a, b) = (table.column("a").unwrap(), table.column("b").unwrap());
        assert_eq!([0, 2].map(|row| a.number(row)), [None, Some(2.0)]);
        assert_eq!([0, 2].map(|row| b.text(row)), [Some("x"), None]);
    }
}
