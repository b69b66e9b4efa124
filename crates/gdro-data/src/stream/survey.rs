//! The pass that counts.

use super::schema::Schema;
use serde::{Deserialize, Serialize};

use super::tally::{Labels, Sums, Tally};
use crate::error::{Error, Result};
use crate::features::{Encoding, Wish, ids, usable_rows};
use crate::groups::{Counting, Grouping, Known};
use crate::options::Comparison;
use crate::options::{DataOptions, Task};
use crate::order::{FALSE_ALARM, Runs};
use crate::prepare::{features, left_out};
use crate::schema::schema;
use crate::stray;
use crate::table::Table;
use crate::target::Target;
use crate::words::number;

/// A table that is being counted, block by block: means and deviations of numbers, the texts of
/// text columns, labels, groups and their sizes.
pub struct Survey {
    given: DataOptions,
    task: Option<Task>,
    constant: bool,
    rows: u64,
    used: u64,
    /// What the first block settles.
    settled: Option<Settled>,
}

struct Settled {
    options: DataOptions,
    comparison: Option<Comparison>,
    features: Vec<(String, Tally)>,
    labels: Labels,
    groups: Counting,
    /// The groups of rows that are left out because cells are missing.
    lost: Counting,
    header: Table,
    notes: Vec<String>,
}

/// What a survey has counted, so that another one of the same table goes on from there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Counted {
    /// Rows of the table so far.
    pub rows: u64,
    used: u64,
    features: Vec<Sums>,
    labels: Labels,
    groups: Vec<Known>,
    lost: Vec<Known>,
    notes: Vec<String>,
}

impl Survey {
    /// Nothing counted yet. The arguments are those of [`crate::prepare`].
    pub fn new(options: &DataOptions, task: Option<Task>, constant: bool) -> Self {
        let given = options.clone();
        Survey { given, task, constant, rows: 0, used: 0, settled: None }
    }

    /// Number of rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What was counted so far; `None` before the first block.
    pub fn counted(&self) -> Option<Counted> {
        let settled = self.settled.as_ref()?;
        Some(Counted {
            rows: self.rows,
            used: self.used,
            features: settled.features.iter().map(|(_, tally)| tally.sums().clone()).collect(),
            labels: settled.labels.clone(),
            groups: settled.groups.known(),
            lost: settled.lost.known(),
            notes: settled.notes.clone(),
        })
    }

    /// Goes on from what another survey of the same table, which was made in the same way, has counted.
    /// `first` is its first block; the next one to add is that after [`Counted::rows`].
    ///
    /// # Errors
    /// Those of [`Survey::add`]; [`Error::StaleSchema`] where that was another table.
    pub fn go_on(mut self, first: &Table, counted: Counted) -> Result<Self> {
        let Counted { rows, used, features, labels, groups, lost, notes } = counted;
        let mut settled = Settled::new(first, &self.given)?;
        let mut fits = settled.features.len() == features.len();
        for ((_, tally), sums) in settled.features.iter_mut().zip(features) {
            fits &= tally.take_over(sums);
        }
        fits &= settled.groups.take_over(groups) && settled.lost.take_over(lost);
        if !fits {
            return Err(Error::StaleSchema { what: "what was counted of another table".into() });
        }
        (settled.labels, settled.notes) = (labels, notes);
        (self.rows, self.used, self.settled) = (rows, used, Some(settled));
        Ok(self)
    }

    /// Counts a block.
    ///
    /// # Errors
    /// Those of [`crate::prepare`] that a block can show.
    pub fn add(&mut self, block: &Table) -> Result<()> {
        let settled = match &mut self.settled {
            Some(settled) => settled,
            None => self.settled.insert(Settled::new(block, &self.given)?),
        };
        if block.sparse.is_some() {
            return Err(Error::InMemory { file: block.position(0).file });
        }
        for note in block.notes() {
            if !settled.notes.contains(note) {
                settled.notes.push(note.clone());
            }
        }
        self.rows += block.rows() as u64;
        let names: Vec<&str> = settled.features.iter().map(|(n, _)| n.as_str()).collect();
        let rows = match usable_rows(block, &names, &settled.options, &mut Vec::new()) {
            Err(Error::NothingLeft { .. }) => Vec::new(),
            rows => rows?,
        };
        if rows.len() < block.rows() {
            settled.lost.add(block, &left_out(block, &rows, &settled.options))?;
        }
        let grouped = settled.groups.add(block, &rows)?;
        let rows: Vec<u32> =
            rows.into_iter().zip(grouped).filter(|(_, inside)| *inside).map(|(r, _)| r).collect();
        self.used += rows.len() as u64;
        for (name, tally) in &mut settled.features {
            tally.add(name, block.find("features", name)?, &rows)?;
        }
        let target = settled.options.target.as_deref().unwrap_or_default();
        settled.labels.add(block, block.find("target", target)?, &rows);
        Ok(())
    }

    /// What was counted.
    ///
    /// # Errors
    /// Those of [`crate::prepare`]; when no block was added.
    pub fn finish(self) -> Result<Schema> {
        let settled = self.settled.ok_or(Error::NoFile)?;
        if self.used == 0 {
            let dropped = format!("{} left out", crate::words::count(self.rows as usize, "row"));
            return Err(Error::NothingLeft { dropped });
        }
        let name = settled.options.target.clone().unwrap_or_default();
        if self.task.is_none() && settled.comparison.is_none() {
            stray::check(&name, settled.labels.numbers())?;
        }
        let (column, labels) = settled.labels.column();
        let table = Table {
            names: vec![name],
            columns: vec![column],
            files: vec![(String::new(), labels)],
            lines: vec![0; labels],
            ..Table::default()
        };
        let rows: Vec<u32> = (0..labels as u32).collect();
        let (target, note) =
            Target::fit(&table, &rows, &settled.options, settled.comparison, self.task)?;
        let order = settled.order();
        let used = self.used;
        let columns = settled.features.into_iter().map(|(name, tally)| tally.finish(&name, used));
        let encoding = Encoding::assemble(
            columns.collect::<Result<_>>()?,
            None,
            &settled.options,
            self.constant,
        );
        let lost = Grouping::note_of_lost(&settled.groups.sizes(), &settled.lost.sizes());
        let (grouping, counts, group_notes) = settled.groups.finish()?;
        let mut notes = settled.notes;
        notes.extend(group_notes.into_iter().chain(note).chain(lost));
        notes.extend(grouping.remarks(&counts));
        notes.extend(ids(&encoding, used));
        let in_random_order = order.is_none();
        notes.extend(order);
        let columns = schema(&settled.header, &settled.options, &encoding);
        Ok(Schema {
            options: self.given,
            rows: self.rows,
            left_out: self.rows - self.used,
            largest_target: settled.labels.largest(),
            encoding,
            target,
            grouping,
            counts,
            in_random_order,
            columns,
            notes,
        })
    }
}

/// A mean length with the digits that say something.
fn rounded(length: f64) -> String {
    if length < 100.0 { format!("{length:.1}") } else { number(length.round()) }
}

impl Settled {
    /// What is to be said of rows that are not in random order: of labels or of the groups of a
    /// family that come in runs, whichever are longer beside what they should be, or of numbers
    /// whose neighbours are alike. All of it together raises a false alarm once in a million tables.
    fn order(&self) -> Option<String> {
        let target = self.options.target.as_deref().unwrap_or_default();
        let labels = self.labels.runs().map(|runs| (target.to_owned(), runs));
        let all: Vec<(String, &Runs)> = labels.into_iter().chain(self.groups.runs()).collect();
        let level = FALSE_ALARM / (all.len() + 1) as f64;
        let found = all.iter().filter_map(|(name, runs)| Some((name, runs.stretches(level)?)));
        let longest = found
            .max_by(|(_, a), (_, b)| (a.found / a.expected).total_cmp(&(b.found / b.expected)));
        let how = match (longest, self.labels.neighbours().alike(level)) {
            (Some((name, runs)), _) => format!(
                "those alike in `{name}` come {} in a row, where random order gives {}",
                rounded(runs.found),
                rounded(runs.expected)
            ),
            (None, Some(share)) if self.labels.runs().is_none() => format!(
                "neighbours are nearer to each other in `{target}` than to a row far away in \
                 {:.0} % of cases, where random order gives 50 %",
                100.0 * share
            ),
            _ => return None,
        };
        Some(format!(
            "the rows are not in random order: {how} (a test with one false alarm in a million): \
             put the rows of the file in random order, or give a --buffer of many such stretches"
        ))
    }

    fn new(block: &Table, given: &DataOptions) -> Result<Self> {
        let (options, comparison) = given.settle(block.names())?;
        if options.target.is_none() {
            return Err(Error::NoTarget { available: block.names().join(", ") });
        }
        let names = features(block, &options)?;
        let tallies = names.iter().map(|name| {
            let kind = block.find("features", name)?.kind();
            Ok(((*name).to_owned(), Tally::new(kind, Wish::of(&options, name, kind))))
        });
        let features = tallies.collect::<Result<_>>()?;
        let [groups, lost] = [(); 2].map(|()| Counting::open(&options, comparison));
        Ok(Settled {
            options,
            comparison,
            features,
            labels: Labels::default(),
            groups,
            lost,
            header: block.header(),
            notes: Vec::new(),
        })
    }
}
