//! What every way of holding rows out asks and says.

use crate::error::{Error, Result};
use crate::words::count;

/// What tells the label of a row from others.
pub(crate) fn label(labels: Option<&[f64]>, row: usize) -> u64 {
    labels.map_or(0, |labels| labels[row].to_bits())
}

/// The share of rows to hold out is one.
///
/// # Errors
/// [`Error::Option`] for a share outside of [0, 1).
pub(super) fn check_share(share: f64) -> Result<()> {
    if (0.0..1.0).contains(&share) {
        return Ok(());
    }
    let expected = "a share of at least 0 and below 1".to_owned();
    Err(Error::Option { option: "holdout", found: share.to_string(), expected })
}

/// A note on groups that have too few rows for the number that is wanted.
pub(super) fn short_note(short: usize, wanted: usize) -> Option<String> {
    (short > 0).then(|| {
        let (groups, verb) = (count(short, "group"), if short == 1 { "has" } else { "have" });
        let wanted = count(wanted, "row");
        format!("{groups} {verb} no more than {wanted}: all but one of them are held out")
    })
}
