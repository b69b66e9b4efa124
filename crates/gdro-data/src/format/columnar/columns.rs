//! Which columns of a file are read.

use arrow_schema::Fields;

use super::super::batch::MOST;
use super::super::roles::check_names;
use super::convert;
use crate::bytes::Purpose;
use crate::error::{Error, Result};
use crate::memory::check_memory;
use crate::table::kind::{Forced, Wanted};
use crate::words::count;

/// Names of columns, each on one line as in a header.
pub(super) fn names(file: &str, fields: &Fields) -> Result<Vec<String>> {
    let name = |name: &String| name.split_whitespace().collect::<Vec<_>>().join(" ");
    let names: Vec<String> = fields.iter().map(|f| name(f.name())).collect();
    check_names(&names, file)?;
    Ok(names)
}

/// The columns that are read. A column whose cells have a type without a meaning here is refused
/// unless it is ignored.
pub(super) fn used(
    file: &str,
    fields: &Fields,
    names: &[String],
    wanted: &[Wanted],
) -> Result<Vec<usize>> {
    let used = |at: &usize| wanted[*at].kind != Some(Forced::Ignored);
    let used: Vec<usize> = (0..fields.len()).filter(used).collect();
    match used.iter().find(|at| !convert::is_known(fields[**at].data_type())) {
        Some(at) => Err(Error::ColumnType {
            file: file.to_owned(),
            column: names[*at].clone(),
            found: fields[*at].data_type().to_string(),
        }),
        None => Ok(used),
    }
}

/// Refuses more rows than a table may have, and those for whose cells there is no memory, by what a
/// file says before they are read. A cell takes 4 bytes at least, and so does the number of a row.
pub(super) fn check_rows(file: &str, rows: u64, columns: usize) -> Result<()> {
    if rows > MOST as u64 {
        return Err(Error::TooManyRows { file: file.to_owned(), limit: MOST as u64 });
    }
    let bytes = rows as f64 * (1 + columns) as f64 * size_of::<u32>() as f64;
    check_memory(bytes, Purpose::Table, || format!("{file}: its {}", count(rows as usize, "row")))
}
