//! `gdro inspect`: a look at a table before anything is trained.

use std::path::PathBuf;

use clap::Args;
use gdro::Dataset;
use gdro::loss::Loss as _;
use gdro::setting::Size;
use gdro_data::{ColumnProfile, Prepared, Role, Table, Target, tiny_groups};

use gdro_report::{Encoded, GroupCount, Inspected};
use gdro_train::job::Job;
use gdro_train::prepared::{choose, loss_of, split_of, task_of, train_names};
use gdro_train::{Failure, Result};

use super::args::{Given, Inspect as Own};
use super::pretty;
use crate::print;

/// Groups with fewer rows than this are warned of.
const TINY: usize = 30;

/// Look at a table before training: its columns, groups and oddities, the size of the encoded rows
/// and the solver that `auto` would take.
///
/// Without --target only the columns are looked at (LIBSVM files have a target). What `fit` would refuse is said, and is no
/// error here. A feature is said to predict the target alone when its area under the ROC curve, its
/// correlation or its share of right classes is at least 0.99.
#[derive(Debug, Args)]
#[command(before_help = super::help::INSPECT)]
pub struct Inspect {
    /// Files of one table, or a job file (*.toml)
    #[arg(required = true, value_name = "TABLE|JOB.toml")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    options: Given<Own>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Show every group and every column, however many
    #[arg(long)]
    all: bool,
}

impl Inspect {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        if self.all && self.json {
            return Err(Failure::input("--all: JSON holds all groups and columns"));
        }
        let (job, _) = Job::resolve(&self.inputs, self.options.settings()?)?;
        let unused = ["delta", "weight-cap", "cluster-cap"];
        if let Some(key) = unused.into_iter().find(|key| self.options.has(key)) {
            let why = format!("--{key}: nothing is estimated here: leave it out");
            return Err(Failure::input(why));
        }
        job.memory.into_iter().for_each(gdro_data::limit_memory);
        let refuse = |e| job.refuse(&e);
        let table = gdro_data::read(&job.files(&job.tables), &job.data).map_err(refuse)?;
        let task = job.training.loss.map(task_of);
        let found = gdro_data::inspect(&table, &job.data, task).map_err(refuse)?;
        let mut inspected = Inspected::new(found);
        // LIBSVM files have a target that no option names.
        let is_target = |column: &ColumnProfile| column.role == Role::Target;
        if job.data.target.is_some() || inspected.columns.iter().any(is_target) {
            look_at_groups(&job, &table, &mut inspected)?;
        }
        if self.json {
            return print::text(&pretty(&inspected)?);
        }
        print::text(&gdro_report::inspected(&inspected, self.all))
    }
}

/// Prepares the table as training would, and says what comes of it.
fn look_at_groups(job: &Job, table: &Table, inspected: &mut Inspected) -> Result<()> {
    let training = &job.training;
    let task = training.loss.map(task_of);
    let constant = training.penalize_intercept;
    let prepared = match gdro_data::prepare(table, &job.data, task, &split_of(job), constant) {
        Ok(prepared) => prepared,
        Err(error) => {
            inspected.refused = Some(job.refuse(&error).to_string());
            return Ok(());
        }
    };
    let library = |e| Failure::library(e, &train_names(&prepared));
    let loss = loss_of(training.loss, &prepared.target).map_err(library)?;
    let features = prepared.encoding.dimension();
    let model = (features + usize::from(!constant)) * loss.outputs();
    let size = Size::of(&prepared.train, &loss, model);
    let (solver, reason) = choose(training, &size);
    inspected.target = Some(prepared.target.clone());
    inspected.warnings.extend(tiny_groups(&prepared.groups, TINY));
    // What is a warning here is a note of training.
    let said = |note: &&String| !inspected.warnings.iter().any(|w| subject(w) == subject(note));
    inspected.notes = prepared.notes.iter().filter(said).cloned().collect();
    inspected.groups = group_counts(&prepared);
    inspected.encoded = Some(Encoded {
        train_rows: prepared.train_rows.len(),
        test_rows: prepared.test_rows.len(),
        features,
        is_sparse: prepared.train.matrix().is_sparse(),
        bytes: bytes(&prepared.train) + prepared.test.as_ref().map_or(0, bytes),
        loss: training.loss.map_or_else(|| loss.to_string(), |loss| loss.to_string()),
        solver: solver.to_string(),
        reason,
        exact_work: size.work(),
        most_work: Size::WORK,
        exact_bytes: size.memory(),
        most_bytes: Size::MEMORY,
    });
    Ok(())
}

/// What a remark says, without the numbers that it gives in brackets.
fn subject(remark: &str) -> &str {
    remark.split(" (").next().unwrap_or(remark)
}

/// Bytes of encoded rows: 8 for a number, 4 for the index of a number that is stored sparsely,
/// and 8 for the start of such a row, for the target, and for the weight.
fn bytes(data: &Dataset) -> u64 {
    let (rows, stored) = (data.rows() as u64, data.matrix().stored() as u64);
    let numbers = if data.matrix().is_sparse() { 12 * stored + 8 * rows } else { 8 * stored };
    numbers + 16 * rows
}

/// The groups with the counts of their rows and their targets.
fn group_counts(prepared: &Prepared) -> Vec<GroupCount> {
    let parts = |group: &gdro_data::Group| {
        let train = group.train.map(|i| (&prepared.train, i));
        train.into_iter().chain(group.test.zip(prepared.test.as_ref()).map(|(i, data)| (data, i)))
    };
    let count = |group: &gdro_data::Group| {
        let targets: Vec<f64> = parts(group)
            .flat_map(|(data, i)| data.members(i).iter().map(|row| data.targets()[*row as usize]))
            .collect();
        let n = targets.len().max(1) as f64;
        let mut counted = GroupCount {
            name: group.name.clone(),
            rows: group.rows,
            train_rows: group.train_rows,
            test_rows: group.test_rows,
            positive_rate: group.positives.map(|p| p as f64 / group.rows.max(1) as f64),
            mean_target: None,
            classes: None,
            commonest: None,
        };
        match &prepared.target {
            Target::Binary { .. } => {}
            Target::Regression { .. } => {
                counted.mean_target = Some(targets.iter().sum::<f64>() / n);
            }
            Target::Multiclass { classes, .. } => {
                let mut counts = vec![0usize; classes.len()];
                targets.iter().for_each(|y| counts[*y as usize] += 1);
                counted.classes = Some(counts.iter().filter(|count| **count > 0).count());
                let most = (0..counts.len()).rev().max_by_key(|class| counts[*class]);
                counted.commonest = most.map(|class| classes[class].clone());
            }
        }
        counted
    };
    prepared.groups.iter().map(count).collect()
}
