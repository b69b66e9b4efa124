//! A job that names neither an objective nor what bounds the weights.

use gdro_data::{Prepared, Table};

use super::choosing::{Choosing, Selected};
use super::cost::{ALLOWED, seconds};
use super::selection::Selection;
use crate::failure::Result;
use crate::fit::{Fitted, fit_on, load};
use crate::job::{Against, Job, Search};
use crate::numbers::{count, counted, setting as shown};
use crate::prepared::{Bounds, setting_of, train_names};
use crate::progress::{Event, Progress};

/// What became of a job that names no model.
pub enum Open {
    /// A model was chosen.
    Selected(Box<Selected>),
    /// Nothing was chosen: the largest group risk under the usual penalty.
    Fitted(Box<Fitted>),
}

/// Fits a job that names no model: chooses one, as [`super::select`] does, where that is possible and
/// predicted to take less than a minute; else trains the one that the job describes. Says which it is.
/// The prediction follows from the sizes of the table alone, so that every machine does the same.
///
/// # Errors
/// Those of [`crate::fit::fit`].
pub fn fit_open(
    job: &Job,
    search: &std::result::Result<Search, Against>,
    progress: &mut dyn Progress,
) -> Result<Open> {
    let (table, prepared) = load(job, progress)?;
    let chosen = match search {
        Ok(search) => choice(job, search, (&table, &prepared), progress)?,
        Err(against) => Err(against.clone()),
    };
    drop(table);
    match chosen {
        Ok((choice, selection)) => {
            let selected = choice.fitted(selection, prepared, progress)?;
            Ok(Open::Selected(Box::new(selected)))
        }
        Err(against) => {
            progress.tell(Event::Note(&against.note(job)));
            let bounds = Bounds::of(&job.training);
            let fitted = fit_on(job, prepared, [bounds, bounds], progress)?;
            Ok(Open::Fitted(Box::new(fitted)))
        }
    }
}

/// A choice, or what is against it.
type Choice<'a> = std::result::Result<(Choosing<'a>, Selection), Against>;

/// Chooses, unless that takes long or the table does not allow it.
fn choice<'a>(
    job: &Job,
    search: &'a Search,
    (table, prepared): (&Table, &Prepared),
    progress: &mut dyn Progress,
) -> Result<Choice<'a>> {
    let setting = setting_of(job, prepared)?;
    let predicted = seconds(search, &setting);
    if predicted >= ALLOWED {
        let why = format!("that is predicted to take about {}", duration(predicted));
        let instead = Some(format!("{} chooses all the same", job.place("select")));
        return Ok(Err(Against { why, instead }));
    }
    let mut chosen = || -> Result<(Choosing<'a>, Selection)> {
        let choice = Choosing::of(job, search, &setting, &train_names(prepared), progress)?;
        let parts = choice.parts(table, prepared)?;
        let models = count(choice.models() as u64);
        let time = duration(predicted);
        progress.tell(Event::Note(&format!(
            "no objective or penalty is named: chooses one of {models} models on validation rows, in \
             about {time}; --objective max trains exactly that one"
        )));
        let selection = choice.by(&parts, prepared, progress)?;
        Ok((choice, selection))
    };
    match chosen() {
        // What a single model can do without is no reason to stop, such as rows for every fold.
        Err(failure) if failure.is_input() => {
            Ok(Err(Against { why: failure.to_string(), instead: None }))
        }
        chosen => chosen.map(Ok),
    }
}

impl Against {
    /// Says that a job is run as it is, and why.
    pub fn note(&self, job: &Job) -> String {
        let Against { why, instead } = self;
        let instead = instead.as_ref().map_or(String::new(), |instead| format!("; {instead}"));
        let training = &job.training;
        format!(
            "no objective or penalty is named: trains {} with penalty {} and chooses nothing: {why}{instead}",
            training.objective,
            shown(training.l2)
        )
    }
}

/// A time in seconds in words.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 99.5 => format!("{} s", count(s.ceil() as u64)),
        s if s < 5400.0 => counted((s / 60.0).round() as u64, "minute"),
        s => counted((s / 3600.0).round() as u64, "hour"),
    }
}
