//! Training rows split again, for choosing a setting by rows that a model has not seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use gdro::Dataset;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

use crate::error::{Error, Result};
use crate::features::Encoding;
use crate::options::{DataOptions, Split, Task};
use crate::prepare::{Group, Prepared};
use crate::schema::schema;
use crate::split::hold_out;
use crate::table::Table;

/// How training rows are split for validation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Validation {
    /// K-fold cross-validation: every row is a validation row once.
    Folds(usize),
    /// A share of the training rows in (0, 1), once.
    Share(f64),
}

/// The training rows of a prepared table, split again. Each part is a prepared table of its own:
/// the validation rows are those held out ([`Prepared::test`]), and everything is learnt from the
/// others, the encoding ([`Encoding`]) too. Groups, their names and order are those of the table as
/// a whole, whose own held-out rows are in no part.
///
/// Rows are drawn by a seed, stratified by group (by the set of its groups for a row in several)
/// and by label. Every group keeps a training row in each part: where all rows of a group would be
/// validation rows of the same fold, as with a group of a single row, its first row is a training
/// row throughout.
#[derive(Debug)]
pub struct Folds<'a> {
    table: &'a Table,
    prepared: &'a Prepared,
    /// The options, with a target that is the name of a column.
    options: DataOptions,
    /// The fold in which each row is a validation row, if there is one.
    fold_of: Vec<Option<usize>>,
    count: usize,
}

impl<'a> Folds<'a> {
    /// Assigns the training rows of `prepared`, which was made of `table` with these options.
    ///
    /// # Errors
    /// For fewer than 2 folds, or more than there are rows; for a share that is not between 0 and
    /// 1; when a fold would have no row for validation.
    pub fn new(
        table: &'a Table,
        prepared: &'a Prepared,
        options: &DataOptions,
        validation: Validation,
        seed: u64,
    ) -> Result<Self> {
        let options = options.settle(table.names())?.0;
        let fold_of = assign(&prepared.train, prepared.target.task(), validation, seed)?;
        let (option, found, count) = match validation {
            Validation::Folds(count) => ("folds", count.to_string(), count),
            Validation::Share(share) => ("validation", share.to_string(), 1),
        };
        if (0..count).any(|fold| !fold_of.contains(&Some(fold))) {
            let expected = "rows for validation: the groups are too small".into();
            return Err(Error::Option { option, found, expected });
        }
        Ok(Folds { table, prepared, options, fold_of, count })
    }

    /// Number of folds; 1 for a share of the rows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The part in which the rows of a fold are for validation.
    ///
    /// # Errors
    /// Those of [`crate::prepare`] about features.
    ///
    /// # Panics
    /// When `fold` is not below [`Folds::count`].
    pub fn part(&self, fold: usize) -> Result<Prepared> {
        assert!(fold < self.count, "fold {fold} of {}", self.count);
        let held: Vec<bool> = self.fold_of.iter().map(|f| *f == Some(fold)).collect();
        split(self.table, &self.options, self.prepared, &held)
    }
}

/// The fold in which each row is a validation row; `None` when in none.
fn assign(
    data: &Dataset,
    task: Task,
    validation: Validation,
    seed: u64,
) -> Result<Vec<Option<usize>>> {
    let rows = data.rows();
    let refuse =
        |option, found: String, expected: String| Err(Error::Option { option, found, expected });
    let label = |row: usize| match task {
        Task::Regression => 0,
        Task::Binary | Task::Multiclass => data.targets()[row].to_bits(),
    };
    let strata = strata(data);
    let mut fold_of = vec![None; rows];
    match validation {
        Validation::Folds(count) => {
            if count < 2 || count > rows {
                let expected = format!("a number from 2 to the {rows} training rows");
                return refuse("folds", count.to_string(), expected);
            }
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            // Rows are dealt in turn, and the next stratum goes on where the last one ended: folds
            // of a stratum, and folds as a whole, differ by one row at most.
            let mut next = 0;
            for stratum in &strata {
                let mut by_label: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
                for row in stratum {
                    by_label.entry(label(*row as usize)).or_default().push(*row);
                }
                for rows in by_label.values_mut() {
                    rows.shuffle(&mut rng);
                    for row in rows {
                        fold_of[*row as usize] = Some(next);
                        next = (next + 1) % count;
                    }
                }
            }
        }
        Validation::Share(share) => {
            if !(share > 0.0 && share < 1.0) {
                let expected = "a share between 0 and 1".to_owned();
                return refuse("validation", share.to_string(), expected);
            }
            let labels = (task != Task::Regression).then(|| data.targets());
            let (held, _) = hold_out(&Split::Share { share, seed }, rows, &strata, labels)?;
            fold_of.iter_mut().zip(held).for_each(|(fold, held)| *fold = held.then_some(0));
        }
    }
    for group in 0..data.groups() {
        let members = data.members(group);
        let first = fold_of[members[0] as usize];
        if first.is_some() && members.iter().all(|row| fold_of[*row as usize] == first) {
            fold_of[members[0] as usize] = None;
        }
    }
    Ok(fold_of)
}

/// The rows by the set of groups that they are in, in the order of the groups.
fn strata(data: &Dataset) -> Vec<Vec<u32>> {
    let mut groups_of = vec![Vec::new(); data.rows()];
    for group in 0..data.groups() {
        data.members(group).iter().for_each(|row| groups_of[*row as usize].push(group));
    }
    let mut strata: BTreeMap<Vec<usize>, Vec<u32>> = BTreeMap::new();
    for (row, groups) in (0..).zip(groups_of) {
        strata.entry(groups).or_default().push(row);
    }
    strata.into_values().collect()
}

/// Holds some of the training rows out.
fn split(
    table: &Table,
    options: &DataOptions,
    prepared: &Prepared,
    held: &[bool],
) -> Result<Prepared> {
    let data = &prepared.train;
    let part = |wanted: bool| (0..held.len()).filter(move |row| held[*row] == wanted);
    let in_table = |wanted| part(wanted).map(|row| prepared.train_rows[row]).collect::<Vec<u32>>();
    let (train_rows, test_rows) = (in_table(false), in_table(true));
    let weights = |wanted| {
        data.is_weighted().then(|| part(wanted).map(|row| data.weight(row)).collect::<Vec<f64>>())
    };
    let old = &prepared.encoding;
    let names: Vec<&str> = old.columns().iter().map(|column| column.name()).collect();
    let constant = old.has_constant();
    let encoding =
        Encoding::fit(table, &names, &train_rows, weights(false).as_deref(), options, constant)?;

    // Where a row is in its part.
    let mut place = vec![0u32; held.len()];
    for wanted in [false, true] {
        (0..).zip(part(wanted)).for_each(|(new, row)| place[row] = new);
    }
    let lists = |wanted: bool| -> Vec<Vec<u32>> {
        let of_group = |group| {
            let inside = data.members(group).iter().filter(|row| held[**row as usize] == wanted);
            inside.map(|row| place[*row as usize]).collect()
        };
        (0..data.groups()).map(of_group).collect()
    };
    let build = |lists: &[Vec<u32>], rows: &[u32], wanted: bool| {
        let targets = part(wanted).map(|row| data.targets()[row]).collect();
        let lists: Vec<Vec<u32>> = lists.iter().filter(|l| !l.is_empty()).cloned().collect();
        let matrix = Arc::new(encoding.encode(table, rows)?.matrix);
        Ok::<_, Error>(Dataset::new(matrix, targets, weights(wanted), &lists)?)
    };
    let (training, testing) = (lists(false), lists(true));
    let train = build(&training, &train_rows, false)?;
    let test = Some(build(&testing, &test_rows, true)?);

    let index = |lists: &[Vec<u32>], group: usize| {
        let before = lists[..group].iter().filter(|list| !list.is_empty()).count();
        (!lists[group].is_empty()).then_some(before)
    };
    let group = |group: &Group| {
        let count = |lists: &[Vec<u32>]| group.train.map_or(0, |i| lists[i].len());
        let positive = |i| data.members(i).iter().filter(|r| data.targets()[**r as usize] > 0.0);
        Group {
            rows: group.train_rows,
            train_rows: count(&training),
            test_rows: count(&testing),
            train: group.train.and_then(|i| index(&training, i)),
            test: group.train.and_then(|i| index(&testing, i)),
            positives: group.positives.map(|_| group.train.map_or(0, |i| positive(i).count())),
            ..group.clone()
        }
    };
    let schema = schema(table, options, &encoding);
    Ok(Prepared {
        train,
        test,
        train_rows,
        test_rows,
        groups: prepared.groups.iter().map(group).collect(),
        encoding,
        target: prepared.target.clone(),
        grouping: prepared.grouping.clone(),
        schema,
        notes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gdro::Matrix;

    /// Rows with these groups, whose labels alternate in threes.
    fn data(rows: usize, groups: &[Vec<u32>]) -> Dataset {
        let matrix = Matrix::dense(1, vec![0.0; rows]).unwrap();
        let targets = (0..rows).map(|r| if r % 3 == 0 { 1.0 } else { -1.0 }).collect();
        Dataset::new(Arc::new(matrix), targets, None, groups).unwrap()
    }

    #[test]
    fn folds_are_balanced_in_every_group_and_label() {
        let data = data(90, &[(0..60).collect(), (60..90).collect()]);
        let folds = assign(&data, Task::Binary, Validation::Folds(5), 3).unwrap();
        let count = |rows: std::ops::Range<usize>, fold: usize, positive: bool| {
            rows.filter(|r| (r % 3 == 0) == positive && folds[*r] == Some(fold)).count()
        };
        for fold in 0..5 {
            assert_eq!([count(0..60, fold, true), count(0..60, fold, false)], [4, 8]);
            assert_eq!([count(60..90, fold, true), count(60..90, fold, false)], [2, 4]);
        }
        assert_eq!(assign(&data, Task::Binary, Validation::Folds(5), 3).unwrap(), folds);
        assert_ne!(assign(&data, Task::Binary, Validation::Folds(5), 4).unwrap(), folds);
    }

    #[test]
    fn every_group_keeps_a_training_row() {
        // A single row; two rows; two overlapping groups of which one has few rows.
        let data = data(23, &[vec![0], vec![1, 2], (3..23).collect(), vec![5, 9, 11]]);
        for seed in 0..50 {
            for validation in [Validation::Folds(2), Validation::Folds(7), Validation::Share(0.4)] {
                let folds = assign(&data, Task::Binary, validation, seed).unwrap();
                assert_eq!(folds[0], None);
                for group in 0..4 {
                    for fold in 0..7 {
                        let mut rows = data.members(group).iter();
                        assert!(rows.any(|r| folds[*r as usize] != Some(fold)), "{validation:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_share_is_held_out_once() {
        let data = data(90, &[(0..60).collect(), (60..90).collect()]);
        let folds = assign(&data, Task::Binary, Validation::Share(0.2), 0).unwrap();
        let held = |rows: std::ops::Range<usize>| rows.filter(|r| folds[*r] == Some(0)).count();
        assert_eq!((held(0..60), held(60..90)), (12, 6));
    }

    #[test]
    fn what_cannot_be_split_is_refused() {
        let data = data(4, &[vec![0, 1], vec![2, 3]]);
        for (validation, message) in [
            (Validation::Folds(1), "folds: 1: expected a number from 2 to the 4 training rows"),
            (Validation::Folds(5), "folds: 5: expected a number from 2 to the 4 training rows"),
            (Validation::Share(1.0), "validation: 1: expected a share between 0 and 1"),
            (Validation::Share(f64::NAN), "validation: NaN: expected a share between 0 and 1"),
        ] {
            let error = assign(&data, Task::Binary, validation, 0).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}
