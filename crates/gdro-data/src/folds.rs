//! Training rows split again, for choosing a setting by rows that a model has not seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use gdro::Dataset;
use gdro::sampling::Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::clusters::Clusters;
use crate::error::{Error, Result};
use crate::features::Encoding;
use crate::options::{DataOptions, Split, Task};
use crate::prepare::{Group, Prepared};
use crate::schema::schema;
use crate::split::{Units, hold_out, wholes};
use crate::table::Table;

/// How training rows are split for validation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
/// and by label; every row has the same chance to be in a fold, whatever its label. Every group
/// keeps a training row in each part: where all rows of a group would be validation rows of the
/// same fold, as with a group of a single row, one of them is a training row throughout.
///
/// Clusters are drawn as rows are and stay whole, but for those that are all that a group has, whose
/// rows in it are drawn one by one, as when rows are held out.
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
        let (fold_of, count) = Rows::of(prepared).folds(validation, seed)?;
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

/// The fold in which each row of a data set is a validation row (none for a row that trains
/// throughout), and the number of folds, by the rules of [`Folds`]. Each group is of a family, by its
/// number from 0; `clusters` has the cluster of each row.
///
/// # Errors
/// Those of [`Folds::new`].
pub fn row_folds(
    data: &Dataset,
    families: &[usize],
    task: Task,
    clusters: Option<&[u32]>,
    validation: Validation,
    seed: u64,
) -> Result<(Vec<Option<usize>>, usize)> {
    Rows { clusters, ..Rows::in_families(data, families, task) }.folds(validation, seed)
}

/// Training rows, and what their folds go by.
struct Rows<'a> {
    families: Vec<Vec<Option<u32>>>,
    groups: Vec<Vec<u32>>,
    labels: Option<&'a [f64]>,
    clusters: Option<&'a [u32]>,
}

impl<'a> Rows<'a> {
    fn of(prepared: &'a Prepared) -> Self {
        let data = &prepared.train;
        let trained = prepared.groups.iter().filter(|group| group.train.is_some());
        let families: Vec<usize> = trained.map(|group| group.family).collect();
        Rows {
            clusters: prepared.train_clusters.as_ref().map(Clusters::codes),
            ..Self::in_families(data, &families, prepared.target.task())
        }
    }

    /// Rows of data whose groups are of these families, without clusters.
    fn in_families(data: &'a Dataset, families: &[usize], task: Task) -> Self {
        let count = families.iter().max().map_or(0, |last| last + 1);
        let mut of_rows = vec![vec![None; data.rows()]; count];
        let mut groups = Vec::with_capacity(families.len());
        for (group, family) in families.iter().enumerate() {
            let rows = data.members(group);
            rows.iter().for_each(|row| of_rows[*family][*row as usize] = Some(group as u32));
            groups.push(rows.to_vec());
        }
        let labels = (task != Task::Regression).then(|| data.targets());
        Rows { families: of_rows, groups, labels, clusters: None }
    }

    fn units(&self) -> Units<'_> {
        Units { families: &self.families, groups: &self.groups, labels: self.labels }
    }

    /// The folds of [`Rows::assign`], none of which is empty, and their number.
    fn folds(&self, validation: Validation, seed: u64) -> Result<(Vec<Option<usize>>, usize)> {
        let fold_of = self.assign(validation, seed)?;
        let (option, found, count) = match validation {
            Validation::Folds(count) => ("folds", count.to_string(), count),
            Validation::Share(share) => ("validation", share.to_string(), 1),
        };
        if (0..count).any(|fold| !fold_of.contains(&Some(fold))) {
            let expected = "rows for validation: the groups are too small".into();
            return Err(Error::Option { option, found, expected });
        }
        Ok((fold_of, count))
    }

    /// The fold in which each row is a validation row; `None` when in none.
    fn assign(&self, validation: Validation, seed: u64) -> Result<Vec<Option<usize>>> {
        let rows = self.families.first().map_or(0, Vec::len);
        let refuse = |option, found: String, expected: String| {
            Err(Error::Option { option, found, expected })
        };
        let mut fold_of = vec![None; rows];
        let mut rng = Rng::seed_from_u64(seed);
        match validation {
            Validation::Folds(count) => {
                if count < 2 || count > rows {
                    let expected = format!("a number from 2 to the {rows} training rows");
                    return refuse("folds", count.to_string(), expected);
                }
                match self.clusters {
                    None => {
                        let folds = deal(&self.units(), rows, count, &mut rng);
                        fold_of = folds.into_iter().map(Some).collect();
                    }
                    Some(clusters) => {
                        for whole in wholes(&self.units(), clusters) {
                            let folds = deal(&whole.units(), whole.rows.len(), count, &mut rng);
                            for (rows, fold) in whole.rows.iter().zip(folds) {
                                rows.iter().for_each(|row| fold_of[*row as usize] = Some(fold));
                            }
                        }
                    }
                }
            }
            Validation::Share(share) => {
                if !(share > 0.0 && share < 1.0) {
                    let expected = "a share between 0 and 1".to_owned();
                    return refuse("validation", share.to_string(), expected);
                }
                let split = Split::Share { share, seed };
                let (held, _) = hold_out(&split, &self.units(), self.clusters)?;
                fold_of.iter_mut().zip(held).for_each(|(fold, held)| *fold = held.then_some(0));
            }
        }
        for group in &self.groups {
            let first = fold_of[group[0] as usize];
            if first.is_none() || group.iter().any(|row| fold_of[*row as usize] != first) {
                continue;
            }
            let kept = group[rng.random_range(0..group.len())];
            let of_cluster = |codes: &[u32]| {
                group.iter().any(|row| codes[*row as usize] != codes[kept as usize])
            };
            match self.clusters.filter(|codes| of_cluster(codes)) {
                // A group of several clusters keeps a whole one.
                Some(codes) => {
                    let cluster = codes[kept as usize];
                    let whole = fold_of.iter_mut().zip(codes).filter(|(_, code)| **code == cluster);
                    whole.for_each(|(fold, _)| *fold = None);
                }
                None => fold_of[kept as usize] = None,
            }
        }
        Ok(fold_of)
    }
}

/// The folds of so many units.
fn deal(units: &Units<'_>, count: usize, folds: usize, rng: &mut Rng) -> Vec<usize> {
    let mut fold_of = vec![0; count];
    let mut deal = Deal { rows: vec![0; folds] };
    for mut stratum in strata(units.groups, count) {
        stratum.shuffle(rng);
        stratum.sort_by_key(|unit| units.label(*unit as usize));
        let order = deal.order(stratum.len(), rng);
        for (unit, fold) in stratum.iter().zip(order.iter().cycle()) {
            fold_of[*unit as usize] = *fold;
        }
    }
    fold_of
}

/// Folds that are dealt to strata.
struct Deal {
    /// Rows or clusters of each fold so far.
    rows: Vec<usize>,
}

impl Deal {
    /// The order in which a stratum of so many rows gives the folds a row each, again and again. Folds
    /// of the stratum differ by one row at most, and so do folds as a whole: those with the fewest
    /// rows come first. Otherwise the order is random, so that the rows with the first label are of
    /// no particular fold.
    fn order(&mut self, rows: usize, rng: &mut Rng) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.shuffle(rng);
        order.sort_by_key(|fold| self.rows[*fold]);
        let (more, fewer) = order.split_at_mut(rows % self.rows.len());
        more.shuffle(rng);
        fewer.shuffle(rng);
        (0..rows).for_each(|at| self.rows[order[at % order.len()]] += 1);
        order
    }
}

/// So many units by the set of groups that they are in, in the order of the groups.
fn strata(groups: &[Vec<u32>], count: usize) -> Vec<Vec<u32>> {
    let mut groups_of = vec![Vec::new(); count];
    for (group, units) in groups.iter().enumerate() {
        units.iter().for_each(|unit| groups_of[*unit as usize].push(group));
    }
    let mut strata: BTreeMap<Vec<usize>, Vec<u32>> = BTreeMap::new();
    for (unit, groups) in (0..).zip(groups_of) {
        strata.entry(groups).or_default().push(unit);
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
    let all_clusters = prepared.train_clusters.as_ref();
    let group = |group: &Group| {
        let rows = || group.train.map_or(&[][..], |i| data.members(i)).iter().copied();
        let count_clusters = |inside: &dyn Fn(u32) -> bool| {
            all_clusters.map(|clusters| clusters.count(rows().filter(|row| inside(*row))))
        };
        let count = |lists: &[Vec<u32>]| group.train.map_or(0, |i| lists[i].len());
        let positive = |i| data.members(i).iter().filter(|r| data.targets()[**r as usize] > 0.0);
        Group {
            rows: group.train_rows,
            train_rows: count(&training),
            test_rows: count(&testing),
            train: group.train.and_then(|i| index(&training, i)),
            test: group.train.and_then(|i| index(&testing, i)),
            positives: group.positives.map(|_| group.train.map_or(0, |i| positive(i).count())),
            clusters: count_clusters(&|_| true),
            train_clusters: count_clusters(&|row| !held[row as usize]),
            test_clusters: count_clusters(&|row| held[row as usize]),
            ..group.clone()
        }
    };
    let clusters = |wanted| {
        let all = prepared.train_clusters.as_ref();
        all.map(|clusters| clusters.select(&part(wanted).collect::<Vec<usize>>()))
    };
    let schema = schema(table, options, &encoding);
    Ok(Prepared {
        train,
        test,
        train_clusters: clusters(false),
        test_clusters: clusters(true),
        train_rows,
        test_rows,
        groups: prepared.groups.iter().map(group).collect(),
        encoding,
        target: prepared.target.clone(),
        grouping: prepared.grouping.clone(),
        schema,
        notes: Vec::new(),
        leaks: Vec::new(),
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
        let rows = Rows::in_families(&data, &[0; 2], Task::Binary);
        let assign = |seed| rows.assign(Validation::Folds(5), seed).unwrap();
        let folds = assign(3);
        let count = |rows: std::ops::Range<usize>, fold: usize, positive: bool| {
            rows.filter(|r| (r % 3 == 0) == positive && folds[*r] == Some(fold)).count()
        };
        for fold in 0..5 {
            assert_eq!([count(0..60, fold, true), count(0..60, fold, false)], [4, 8]);
            assert_eq!([count(60..90, fold, true), count(60..90, fold, false)], [2, 4]);
        }
        assert_eq!(assign(3), folds);
        assert_ne!(assign(4), folds);
    }

    /// 300 groups of 5 rows, sorted by label: the folds have as many rows of each label, each group
    /// has a row in each fold, and no fold has the rows of one label.
    #[test]
    fn small_groups_do_not_give_a_fold_one_label() {
        let groups: Vec<Vec<u32>> = (0..300).map(|g| (5 * g..5 * g + 5).collect()).collect();
        let matrix = Matrix::dense(1, vec![0.0; 1500]).unwrap();
        let targets = (0..1500).map(|r| if r % 5 < 2 { 1.0 } else { -1.0 }).collect();
        let data = Dataset::new(Arc::new(matrix), targets, None, &groups).unwrap();
        let rows = Rows::in_families(&data, &[0; 300], Task::Binary);
        for seed in 0..20 {
            let folds = rows.assign(Validation::Folds(5), seed).unwrap();
            for group in &groups {
                let mut found: Vec<_> = group.iter().map(|r| folds[*r as usize].unwrap()).collect();
                found.sort_unstable();
                assert_eq!(found, [0, 1, 2, 3, 4]);
            }
            for fold in 0..5 {
                let ones = (0..1500).filter(|r| r % 5 < 2 && folds[*r] == Some(fold)).count();
                // 120 of 300, with a deviation of √(300 · 0.4 · 0.6) = 8.5: six of them are exceeded
                // with probability 2e-9 by one of 100 numbers.
                assert!(ones.abs_diff(120) <= 51, "{ones}");
            }
        }
    }

    /// Combinations of two families of one row each: a share of each would be no row.
    #[test]
    fn a_share_of_many_small_combinations_is_held_out() {
        let groups = |of: fn(u32) -> u32| {
            let group = move |g| (0..400).filter(|r| of(*r) == g).collect::<Vec<u32>>();
            (0..20).map(group)
        };
        let groups: Vec<Vec<u32>> = groups(|r| r % 20).chain(groups(|r| r / 20)).collect();
        let data = data(400, &groups);
        let families: Vec<usize> = (0..40).map(|g| g / 20).collect();
        let rows = Rows::in_families(&data, &families, Task::Binary);
        let folds = rows.assign(Validation::Share(0.2), 5).unwrap();
        let held = folds.iter().filter(|fold| fold.is_some()).count();
        assert!(held.abs_diff(80) <= 1, "{held}");
    }

    #[test]
    fn every_group_keeps_a_training_row() {
        // A single row; two rows; two overlapping groups of which one has few rows.
        let data = data(23, &[vec![0], vec![1, 2], (3..23).collect(), vec![5, 9, 11]]);
        let rows = Rows::in_families(&data, &[0, 0, 0, 1], Task::Binary);
        for seed in 0..50 {
            for validation in [Validation::Folds(2), Validation::Folds(7), Validation::Share(0.4)] {
                let folds = rows.assign(validation, seed).unwrap();
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
        let rows = Rows::in_families(&data, &[0; 2], Task::Binary);
        let folds = rows.assign(Validation::Share(0.2), 0).unwrap();
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
            let rows = Rows::in_families(&data, &[0; 2], Task::Binary);
            let error = rows.assign(validation, 0).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}
