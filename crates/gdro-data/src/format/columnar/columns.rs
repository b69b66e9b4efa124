//! Which columns of a file are read.

use arrow_schema::Fields;

use super::super::roles::check_names;
use super::convert;
use crate::error::{Error, Result};
use crate::table::kind::{Forced, Wanted};

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
