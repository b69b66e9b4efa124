//! Jobs and bounds with one of the values that may be chosen.

use gdro::domain::DomainSpec;

use crate::failure::Failure;
use crate::job::{Hyperparameter, Job};
use crate::prepared::{Bounds, train_names};

/// These bounds with a value of what is chosen.
pub(super) fn bounds_with(bounds: Bounds, knob: Hyperparameter, value: f64) -> Bounds {
    match knob {
        Hyperparameter::L2 => Bounds { l2: value, ..bounds },
        Hyperparameter::Ball => Bounds { domain: DomainSpec::Ball(value), ..bounds },
    }
}

/// A job within these bounds.
pub(super) fn job_within(job: &Job, bounds: Bounds) -> Job {
    let mut job = job.clone();
    job.training.l2 = bounds.l2;
    job.training.set_domain(bounds.domain);
    job
}

/// A failure of the library on a part of the table.
pub(super) fn library<'a>(part: &'a gdro_data::Prepared) -> impl Fn(gdro::Error) -> Failure + 'a {
    move |error| Failure::library(error, &train_names(part))
}
