//! Choosing a model of a family by its worst group on rows that it was not trained on; and the
//! trade-off between the worst group and the mean over groups.

mod choosing;
mod contest;
mod cost;
mod family;
mod folds;
mod held;
mod means;
mod open;
mod part;
mod path;
mod selection;
mod within;

pub use choosing::Selected;
pub use contest::Contest;
pub use open::{Open, fit_open};
pub use path::{PartRisks, Path, Risks, path};
pub use selection::{Member, Selection, Tried};

use choosing::Choosing;
use gdro::loss::AnyLoss;
use gdro::setting::Objective;
use gdro_data::row_folds;
use part::Part;
use within::job_of;

use crate::failure::{Failure, Result};
use crate::fit::{OnRows, fit_rows, load};
use crate::job::{Job, LossName, Search};
use crate::prepared::{TrainRows, setting_of, setting_on, task_of, train_names};
use crate::progress::Progress;

/// A choice on rows in memory, and the model that follows from it.
pub struct SelectedRows {
    /// The choice.
    pub selection: Selection,
    /// The chosen model, trained on all rows.
    pub fitted: OnRows,
}

/// Chooses a model of a family and trains it on all training rows. ERM, the model that every other
/// one is compared with, is chosen unless the best of the others is better beyond doubt ([`Contest`]).
/// Rows that the job holds out are looked at once, at the end.
///
/// # Errors
/// Those of [`crate::fit::fit`], and when nothing was tried before an interrupt.
pub fn select(job: &Job, search: &Search, progress: &mut dyn Progress) -> Result<Selected> {
    let (table, prepared) = load(job, progress)?;
    let setting = setting_of(job, &prepared)?;
    let choice = Choosing::of(job, search, &setting, &train_names(&prepared), progress)?;
    let selection = choice.by(&choice.parts(&table, &prepared)?, &prepared, progress)?;
    drop(table);
    choice.fitted(selection, prepared, progress)
}

/// Chooses a model of a family on rows in memory, as [`select`] does, and trains it on all of them.
///
/// # Errors
/// Those of [`fit_rows`].
pub fn select_rows(
    job: &Job,
    search: &Search,
    rows: TrainRows,
    loss: AnyLoss,
    progress: &mut dyn Progress,
) -> Result<SelectedRows> {
    rows.check(job)?;
    let seed = job.training.seed;
    let data = &rows.data;
    let (task, clusters) = (task_of(LossName(loss)), rows.clusters.as_deref());
    let folds = row_folds(data, &rows.families, task, clusters, search.validation, seed);
    let (fold_of, count) = folds.map_err(|e| job.refuse(&e))?;
    let part = |at| {
        let judges: Vec<bool> = fold_of.iter().map(|fold| *fold == Some(at)).collect();
        Part::of_rows(&rows, loss, &judges).map_err(|e| Failure::library(e, &rows.names))
    };
    let setting = |job: &Job| setting_on(job, rows.clone(), loss, loss.targets());
    let choice = Choosing::of(job, search, &setting(job)?, &rows.names, progress)?;
    setting(&job_of(&choice.job, search, Objective::Average, search.values[0]))?;
    let judges = data.counts().into_iter().map(|rows| rows as usize).collect();
    let selection = choice.run((rows.names.clone(), judges), count, part, progress)?;
    let fitted = fit_rows(&choice.job_of(&selection), rows, loss, None, progress)?;
    Ok(SelectedRows { selection, fitted })
}
