//! From a table to data sets.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use gdro::Dataset;
use serde::Serialize;

use crate::clusters::Clusters;
use crate::error::{Error, Result};
use crate::features::{Encoding, notes as feature_notes, usable_rows};
use crate::groups::{Assignment, Grouping};
use crate::inspect::{is_like_an_id, leak, like_ids, spike};
use crate::options::{DataOptions, GroupEntry, GroupFeatures, Missing, MissingGroup, Split, Task};
use crate::schema::{ColumnSchema, schema};
use crate::split::{Units, chosen_rows, hold_out};
use crate::table::{Column, Kind, Table};
use crate::target::Target;
use crate::weights::{repeated, weights};
use crate::words::{count, list, number};

/// A table made ready for training.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The rows for training, group by group (of the first family, in which a row has one) and
    /// inside a group in the order of the table, and the groups that have such rows.
    pub train: Dataset,
    /// The rows that are held out, likewise; `None` when there are none.
    pub test: Option<Dataset>,
    /// For each training row its row in the table.
    pub train_rows: Vec<u32>,
    /// For each row that is held out its row in the table.
    pub test_rows: Vec<u32>,
    /// The clusters of the training rows, where rows have any.
    pub train_clusters: Option<Clusters>,
    /// The clusters of the rows that are held out, likewise.
    pub test_clusters: Option<Clusters>,
    /// All groups: family by family, the largest first, then by name.
    pub groups: Vec<Group>,
    /// How features are made, learnt from the training rows.
    pub encoding: Encoding,
    /// What is predicted.
    pub target: Target,
    /// How groups are made.
    pub grouping: Grouping,
    /// What each column of the table is used for.
    pub schema: Vec<ColumnSchema>,
    /// What a user should see: choices that were made for him, rows that were left out, oddities.
    pub notes: Vec<String>,
    /// Those of the notes that tell of features which alone predict the target.
    pub leaks: Vec<String>,
}

/// A group and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Group {
    /// The labels of the group columns, joined by ` / `.
    pub name: String,
    /// Its family, as an index into [`Grouping::families`].
    pub family: usize,
    /// Number of rows.
    pub rows: usize,
    /// Number of rows for training.
    pub train_rows: usize,
    /// Number of rows that are held out.
    pub test_rows: usize,
    /// Its index in the training data; `None` when it has no rows there.
    pub train: Option<usize>,
    /// Its index in the data that are held out; `None` when it has no rows there.
    pub test: Option<usize>,
    /// Number of rows with the positive label; `None` unless the target is binary.
    pub positives: Option<usize>,
    /// Number of clusters that have rows in it; `None` without clusters. Of a group with one, rows are
    /// held out one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// Number of clusters that have rows for training in it, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_clusters: Option<usize>,
    /// Number of clusters that have rows in it that are held out, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_clusters: Option<usize>,
}

/// Prepares a table that was read with the same options: leaves rows out or refuses them, finds
/// the target (its task, unless given, is binary for two labels, else regression for numbers and
/// multi-class for texts), assigns groups, holds rows out and encodes the features, with a constant
/// 1 as the last one if wanted. Labels, kinds of task and features are learnt from training rows
/// where the split does not draw the others.
///
/// With frequency weights a row counts as so many rows: every number is that of a table which has it
/// so often, and the copies of a row can be on both sides of a split. With clusters the rows of one
/// stay together, see [`DataOptions::cluster`].
///
/// The same table and arguments give the same result, bit by bit.
///
/// # Errors
/// When a column that an option names is absent; when the target is absent, has one value only or
/// does not suit the task; when no feature or no row is left; when a feature has no value at all or
/// too many different texts; when a missing cell is to be refused; when a weight is negative; when
/// a group is smaller than [`DataOptions::min_group`] and that is to be refused; when two groups have
/// the same name.
pub fn prepare(
    table: &Table,
    options: &DataOptions,
    task: Option<Task>,
    split: &Split,
    constant: bool,
) -> Result<Prepared> {
    let sparse = table.sparse.is_some();
    let (options, comparison) = &options.filled(sparse).settle(table.names())?;
    if options.target.is_none() {
        return Err(Error::NoTarget { available: table.names().join(", ") });
    }
    for (option, name) in options.named_columns(*comparison) {
        table.find(option, name)?;
    }
    let features = features(table, options)?;
    let mut notes = table.notes().to_vec();
    notes.extend(kinds(table, &features, options));
    let rows = usable_rows(table, &features, options, &mut notes)?;
    let rows = repeated(table, rows, options, &mut notes)?;

    let (grouping, assigned, group_notes) = Grouping::fit(table, &rows, options, *comparison)?;
    notes.extend(lost_groups(table, &rows, options, &grouping, &assigned)?);
    let (rows, assigned, note) = grouped_rows(rows, assigned)?;
    let chosen = chosen_rows(split, table, &rows, options)?;
    // A label or task that only rows of another source know is none of the model.
    let known: Vec<u32> = match &chosen {
        Some(held) => rows.iter().zip(held).filter(|(_, held)| !**held).map(|(r, _)| *r).collect(),
        None => rows.clone(),
    };
    let (target, target_note) = Target::fit(table, &known, options, *comparison, task)?;
    notes.extend(target_note.into_iter().chain(group_notes).chain(note));
    let targets = target.encode(table, &rows)?;
    // Rows of these numbers are positions in `rows` from here on.
    let members = assigned.members();
    let sizes: Vec<u64> = members.iter().map(|rows| rows.len() as u64).collect();
    notes.extend(grouping.remarks(&sizes));
    let labels = (target.task() != Task::Regression).then_some(&targets[..]);
    let clusters = Clusters::of(table, &rows, options)?;
    let (held, note) = match chosen {
        Some(held) => (held, None),
        None => {
            let units = Units { families: &assigned.families, groups: &members, labels };
            hold_out(split, &units, clusters.as_ref().map(Clusters::codes))?
        }
    };
    notes.extend(note);

    let weights = weights(table, &rows, options)?;
    // Group by group, so that the rows of a group are next to each other in memory.
    let part = |wanted: bool| -> Vec<usize> {
        let mut open: Vec<bool> = held.iter().map(|held| *held == wanted).collect();
        let of_groups = members.iter().flatten().map(|row| *row as usize);
        // A row that is in groups of several families comes with the first.
        of_groups.filter(|row| std::mem::take(&mut open[*row])).collect()
    };
    let (training, testing) = (part(false), part(true));
    let in_table = |part: &[usize]| part.iter().map(|row| rows[*row]).collect::<Vec<u32>>();
    let (train_rows, test_rows) = (in_table(&training), in_table(&testing));
    let training_weights: Option<Vec<f64>> =
        weights.as_ref().map(|w| training.iter().map(|row| w[*row]).collect());
    notes.extend(classes_without_rows(&target, training.iter().map(|row| targets[*row])));
    let weighted = training_weights.as_deref();
    let encoding = Encoding::fit(table, &features, &train_rows, weighted, options, constant)?;
    if encoding.dimension() == usize::from(constant) {
        return Err(Error::NoFeature);
    }
    notes.extend(sparse_note(table, options));
    notes.extend(feature_notes(&encoding, table, &rows, options));
    let leaks = leaks(table, &features, &rows, &targets, target.task());
    notes.extend(leaks.iter().cloned());
    notes.extend(spikes(table, &features, &rows));
    // Texts that name the rows are said with the features.
    let is_id = |name: &&str| {
        let cells = table.column(name).filter(|cells| cells.numbers.is_some());
        cells.is_some_and(|cells| is_like_an_id(cells, table.rows()))
    };
    notes.extend(like_ids(features.iter().copied().filter(is_id)));

    let mut groups = Vec::with_capacity(members.len());
    for (at, (name, members)) in grouping.names().iter().zip(&members).enumerate() {
        let test_rows = members.iter().filter(|row| held[**row as usize]).count();
        let positive = |row: &&u32| targets[**row as usize] > 0.0;
        let count_clusters = |inside: &dyn Fn(u32) -> bool| {
            let rows = members.iter().copied().filter(|row| inside(*row));
            clusters.as_ref().map(|clusters| clusters.count(rows))
        };
        groups.push(Group {
            name: name.clone(),
            family: grouping.family(at),
            rows: members.len(),
            train_rows: members.len() - test_rows,
            test_rows,
            train: None,
            test: None,
            positives: (target.task() == Task::Binary)
                .then(|| members.iter().filter(positive).count()),
            clusters: count_clusters(&|_| true),
            train_clusters: count_clusters(&|row| !held[row as usize]),
            test_clusters: count_clusters(&|row| held[row as usize]),
        });
    }
    enumerate(groups.iter_mut().map(|g| (g.train_rows, &mut g.train)));
    enumerate(groups.iter_mut().map(|g| (g.test_rows, &mut g.test)));
    notes.extend(one_class_groups(&groups));
    notes.extend(untrained_groups(&groups));
    if let Some((clusters, column)) = clusters.as_ref().zip(options.cluster.as_deref()) {
        notes.extend(cluster_notes(column, clusters, &held, &groups, &members));
    }

    let build = |part: &[usize], part_rows: &[u32], wanted: bool| {
        let encoded = encoding.encode(table, part_rows)?;
        let mut place = vec![0u32; rows.len()];
        (0..).zip(part).for_each(|(new, row)| place[*row] = new);
        let lists = members.iter().map(|members| {
            let inside = members.iter().filter(|row| held[**row as usize] == wanted);
            inside.map(|row| place[*row as usize]).collect::<Vec<u32>>()
        });
        let lists: Vec<_> = lists.filter(|list| !list.is_empty()).collect();
        let targets = part.iter().map(|row| targets[*row]).collect();
        let weights = weights.as_ref().map(|w| part.iter().map(|row| w[*row]).collect());
        let data = Dataset::new(Arc::new(encoded.matrix), targets, weights, &lists)?;
        Ok::<_, Error>((data, encoded.unseen, encoded.beyond))
    };
    let (train, ..) = build(&training, &train_rows, false)?;
    let mut test = None;
    if !testing.is_empty() {
        let (data, unseen, beyond) = build(&testing, &test_rows, true)?;
        test = Some(data);
        notes.extend(unseen.iter().map(|(name, rows)| {
            let rows = count(*rows, "held-out row");
            format!("feature `{name}`: {rows} with a text that training does not know")
        }));
        notes.extend((beyond > 0).then(|| {
            let rows = count(beyond, "held-out row");
            format!("{rows} with features that no training row has, which count as 0")
        }));
    }
    let schema = schema(table, options, &encoding);
    Ok(Prepared {
        train,
        test,
        train_clusters: clusters.as_ref().map(|clusters| clusters.select(&training)),
        test_clusters: clusters.as_ref().map(|clusters| clusters.select(&testing)),
        train_rows,
        test_rows,
        groups,
        encoding,
        target,
        grouping,
        schema,
        notes,
        leaks,
    })
}

/// The rows that are in a group, with their groups, and a note when there are others.
fn grouped_rows(
    rows: Vec<u32>,
    assigned: Assignment,
) -> Result<(Vec<u32>, Assignment, Option<String>)> {
    let kept: Vec<usize> = (0..rows.len()).filter(|row| assigned.is_grouped(*row)).collect();
    let left_out = rows.len() - kept.len();
    if left_out == 0 {
        return Ok((rows, assigned, None));
    }
    let of = count(rows.len(), "row");
    if kept.is_empty() {
        return Err(Error::NothingLeft { dropped: format!("{of} left out, in no group") });
    }
    let note = format!("{} of {of} left out, in no group", number(left_out));
    let rows = kept.iter().map(|row| rows[*row]).collect();
    Ok((rows, assigned.select(&kept), Some(note)))
}

/// A note on groups most of whose rows are left out because cells are missing.
fn lost_groups(
    table: &Table,
    rows: &[u32],
    options: &DataOptions,
    grouping: &Grouping,
    assigned: &Assignment,
) -> Result<Option<String>> {
    if rows.len() == table.rows() || options.groups.is_empty() {
        return Ok(None);
    }
    let left_out = left_out(table, rows, options);
    let lost = grouping.assign(table, &left_out)?;
    let names: Vec<&str> =
        grouping.names().iter().chain(&lost.unseen).map(String::as_str).collect();
    let sizes = |assigned: &Assignment| -> BTreeMap<&str, u64> {
        let sizes = assigned.members().into_iter().map(|rows| rows.len() as u64);
        names.iter().copied().zip(sizes).filter(|(_, rows)| *rows > 0).collect()
    };
    Ok(Grouping::note_of_lost(&sizes(assigned), &sizes(&lost)))
}

/// The rows that are not used and have every group label.
pub(crate) fn left_out(table: &Table, rows: &[u32], options: &DataOptions) -> Vec<u32> {
    // A group that is no column is the comparison that is the target.
    let names = options.groups.iter().flat_map(GroupEntry::columns).map(|(name, _)| name);
    let target = options.target.as_deref().and_then(|name| table.column(name));
    let groups: Vec<&Column> = names.filter_map(|name| table.column(name).or(target)).collect();
    let mut used = vec![false; table.rows()];
    rows.iter().for_each(|row| used[*row as usize] = true);
    let labelled = |row: &u32| !groups.iter().any(|cells| cells.is_missing(*row as usize));
    (0..table.rows() as u32).filter(|row| !used[*row as usize]).filter(labelled).collect()
}

/// Notes on features that alone predict the target. Of many rows some are looked at, evenly spread.
fn leaks(
    table: &Table,
    features: &[&str],
    rows: &[u32],
    targets: &[f64],
    task: Task,
) -> Vec<String> {
    let step = step_over(rows);
    let rows: Vec<u32> = rows.iter().step_by(step).copied().collect();
    let targets: Vec<f64> = targets.iter().step_by(step).copied().collect();
    let found = features.iter().filter_map(|name| {
        let cells = table.column(name)?;
        leak(name, cells, &rows, &targets, task)
    });
    found.collect()
}

/// The step that leaves enough of many rows to look at. It is odd, so that every other row of these is no
/// pattern of the table.
fn step_over(rows: &[u32]) -> usize {
    const ROWS: usize = 20_000;
    (rows.len() / ROWS) | 1
}

/// Notes on numbers that may stand for missing cells. The whole column is looked at only where some of its
/// rows show one.
fn spikes(table: &Table, features: &[&str], rows: &[u32]) -> Vec<String> {
    let found = features.iter().filter_map(|name| {
        let numbers = table.column(name)?.numbers.as_deref()?;
        let some = rows.iter().step_by(step_over(rows)).map(|row| numbers[*row as usize]);
        spike(name, &some.collect::<Vec<f64>>()).and_then(|_| spike(name, numbers))
    });
    found.collect()
}

/// A note on how sparse features are taken.
fn sparse_note(table: &Table, options: &DataOptions) -> Option<String> {
    let sparse = table.sparse.as_ref()?;
    let mut choices = Vec::new();
    if options.index_base.is_none() {
        let base = u32::from(!sparse.has_zero);
        choices.push(format!("numbered from {base} (set by `index-base`)"));
    }
    if options.scaling.is_none() {
        choices.push("taken as they are, not standardised (set by `scaling`)".into());
    }
    (!choices.is_empty()).then(|| format!("features are {}", choices.join(" and ")))
}

/// Numbers the groups that have rows.
fn enumerate<'a>(groups: impl Iterator<Item = (usize, &'a mut Option<usize>)>) {
    for (index, (_, place)) in groups.filter(|(rows, _)| *rows > 0).enumerate() {
        *place = Some(index);
    }
}

/// Names of the feature columns.
pub(crate) fn features<'a>(table: &'a Table, options: &DataOptions) -> Result<Vec<&'a str>> {
    let names = table.names().iter().map(String::as_str);
    let features: Vec<&str> = names.filter(|name| options.is_feature(name)).collect();
    if features.is_empty() && table.sparse.is_none() {
        return Err(Error::NoFeature);
    }
    for name in &features {
        let column = table.find("features", name)?;
        let own = options.is_group(name) && options.missing_group == MissingGroup::Own;
        if column.kind() == Kind::Ignored {
            let (column, found) = ((*name).to_owned(), Kind::Ignored.words());
            return Err(Error::Kind { column, found, expected: "a feature" });
        }
        if !own && (0..table.rows()).all(|row| column.is_missing(row)) {
            return Err(Error::AllMissing { column: (*name).to_owned() });
        }
        let mean = options.missing.columns.get(*name) == Some(&Missing::Mean);
        if mean && column.kind() == Kind::Text {
            let expected = "own-category or drop: the column holds texts".into();
            return Err(Error::Option {
                option: "missing",
                found: format!("`{name}=mean`"),
                expected,
            });
        }
    }
    if options.min_count.is_some() {
        let text = |name: &&str| {
            let kind = table.column(name).map(|c| c.kind());
            kind == Some(Kind::Text) && !options.hash.contains_key(*name)
        };
        if !features.iter().any(text) {
            let (found, expected) =
                ("no feature is text".to_owned(), "a column of texts to fold".to_owned());
            return Err(Error::Option { option: "min-count", found, expected });
        }
    }
    Ok(features)
}

/// Notes on how columns are taken.
fn kinds(table: &Table, features: &[&str], options: &DataOptions) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, cells) in features.iter().filter_map(|name| Some((name, table.column(name)?))) {
        if cells.look_numeric > 0 {
            notes.push(format!(
                "column `{name}` is taken as text although it holds {}",
                count(cells.look_numeric, "number")
            ));
        }
        if cells.padded {
            notes.push(format!(
                "column `{name}` is taken as text: it holds numbers with leading zeros, as codes do \
                 (set by `number`)"
            ));
        }
    }
    let kept: Vec<String> =
        features.iter().filter(|n| options.is_group(n)).map(|n| format!("`{n}`")).collect();
    if !kept.is_empty() && options.group_features == GroupFeatures::Keep {
        let kept = kept.join(", ");
        notes.push(format!("group columns are features too: {kept} (set by `group-features`)"));
    }
    notes
}

/// A note on the labels that no training row has.
fn classes_without_rows(target: &Target, training: impl Iterator<Item = f64>) -> Option<String> {
    let seen: HashSet<u64> = training.map(f64::to_bits).collect();
    let absent = target.labels().into_iter().filter(|(_, y)| !seen.contains(&y.to_bits()));
    let absent: Vec<&str> = absent.map(|(label, _)| label).collect();
    (!absent.is_empty()).then(|| {
        format!("no training row has the label {}: hold out fewer rows", list(absent.into_iter()))
    })
}

/// A note on the groups all of whose rows have the same label.
fn one_class_groups(groups: &[Group]) -> Option<String> {
    let names = groups.iter().filter(|g| g.positives.is_some_and(|p| p == 0 || p == g.rows));
    let names: Vec<&str> = names.map(|g| g.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} of {} {} rows of one label only: {}",
            number(names.len()),
            count(groups.len(), "group"),
            if names.len() == 1 { "has" } else { "have" },
            list(names.into_iter())
        )
    })
}

/// A note on the groups without training rows.
fn untrained_groups(groups: &[Group]) -> Option<String> {
    let names = groups.iter().filter(|g| g.train_rows == 0).map(|g| g.name.as_str());
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} of {} {} rows that are held out only: {}",
            number(names.len()),
            count(groups.len(), "group"),
            if names.len() == 1 { "has" } else { "have" },
            list(names.into_iter())
        )
    })
}

/// Notes on clusters: how many there are, and which are on both sides of the split.
fn cluster_notes(
    column: &str,
    clusters: &Clusters,
    held: &[bool],
    groups: &[Group],
    members: &[Vec<u32>],
) -> Vec<String> {
    let rows = held.len() as u32;
    let mut notes = vec![format!(
        "{} in {} of `{column}`, whose rows stay together",
        count(rows as usize, "row"),
        count(clusters.count(0..rows), "cluster")
    )];
    // Of each cluster, whether it has rows for training and rows that are held out.
    let mut sides: HashMap<u32, [bool; 2]> = HashMap::new();
    for (code, held) in clusters.codes().iter().zip(held) {
        sides.entry(*code).or_default()[usize::from(*held)] = true;
    }
    let is_known =
        |row: &u32| held[*row as usize] && sides[&clusters.codes()[*row as usize]] == [true, true];
    let known: Vec<(&Group, bool)> = (groups.iter().zip(members))
        .filter(|(_, members)| members.iter().any(is_known))
        .map(|(group, _)| (group, group.clusters == Some(1)))
        .collect();
    for (alone, why) in [
        (true, format!("rows of one `{column}` only, some of which are held out one by one")),
        (false, format!("held-out rows of a `{column}` that has training rows, too")),
    ] {
        let names: Vec<&str> =
            known.iter().filter(|(_, a)| *a == alone).map(|(g, _)| g.name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        let verb = if names.len() == 1 { "has" } else { "have" };
        notes.push(format!(
            "{} of {} {verb} {why}: they say nothing of a new `{column}`: {}",
            number(names.len()),
            count(groups.len(), "group"),
            list(names.into_iter())
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, rows: usize, positives: Option<usize>) -> Group {
        Group {
            name: name.into(),
            family: 0,
            rows,
            train_rows: rows,
            test_rows: 0,
            train: None,
            test: None,
            positives,
            clusters: None,
            train_clusters: None,
            test_clusters: None,
        }
    }

    #[test]
    fn groups_with_rows_are_numbered() {
        let mut groups = [group("a", 2, None), group("b", 0, None), group("c", 1, None)];
        enumerate(groups.iter_mut().map(|g| (g.train_rows, &mut g.train)));
        assert_eq!(groups.map(|g| g.train), [Some(0), None, Some(1)]);
    }

    #[test]
    fn groups_of_one_class_are_noted() {
        let groups = [group("a", 2, Some(2)), group("b", 3, Some(1)), group("c", 1, Some(0))];
        let note = one_class_groups(&groups).unwrap();
        assert_eq!(note, "2 of 3 groups have rows of one label only: `a`, `c`");
        assert_eq!(one_class_groups(&groups[1..2]), None);
    }

    #[test]
    fn labels_without_training_rows_are_noted() {
        let classes = ["a", "b", "c"].map(str::to_owned).to_vec();
        let target = Target::Multiclass { column: "y".into(), classes };
        let note = classes_without_rows(&target, [0.0, 2.0, 0.0].into_iter()).unwrap();
        assert_eq!(note, "no training row has the label `b`: hold out fewer rows");
        assert_eq!(classes_without_rows(&target, [0.0, 2.0, 1.0].into_iter()), None);
    }
}
