//! Tuning: one grid of multipliers, the same for every method, searched by the duality gap.
//!
//! A short look at every cell, by one seed; the best of them are played to the end by several
//! ([`Search`]). What was found is a file beside the experiments, `tuning.csv` ([`Table`]).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::digits::number;
use crate::error::{Error, Result};
use crate::settings::Grid;

/// One cell of the grid: multipliers on the theorem's steps, and how the run did with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GridCell {
    /// On η_w.
    pub step_w: f64,
    /// On η_q and γ.
    pub step_q: f64,
    /// The gap at the end of a short run with one seed.
    pub first: f64,
    /// The mean gap at the end of whole runs; `None` of cells that were not among the best.
    pub gap: Option<f64>,
}

/// The tuned steps of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tuned {
    /// The number of rounds of whole runs.
    pub rounds: u64,
    /// All cells that were tried.
    pub cells: Vec<GridCell>,
}

impl Tuned {
    /// The cell whose whole runs have the smallest gap, the first of several; one of the first look if
    /// there are no whole runs.
    ///
    /// # Panics
    /// When there is no cell.
    pub fn best(&self) -> &GridCell {
        // A gap that is no number is that of a run that diverged.
        let rank = |cell: &GridCell| match cell.gap {
            Some(gap) => (0, worst_if_nan(gap)),
            None => (1, worst_if_nan(cell.first)),
        };
        let before = |a: &GridCell, b: &GridCell| rank(a).partial_cmp(&rank(b));
        self.cells.iter().min_by(|a, b| before(a, b).expect("numbers")).expect("a grid with a cell")
    }

    /// The players whose best multiplier is the smallest or largest of the grid, although the grid
    /// has several.
    pub fn at_edge(&self) -> Vec<&'static str> {
        let is_edge = |of: fn(&GridCell) -> f64| {
            let all = self.cells.iter().map(of);
            let (low, high) = (all.clone().fold(f64::MAX, f64::min), all.fold(0.0, f64::max));
            low < high && (of(self.best()) == low || of(self.best()) == high)
        };
        let w = is_edge(|c| c.step_w).then_some("w");
        w.into_iter().chain(is_edge(|c| c.step_q).then_some("q")).collect()
    }
}

fn worst_if_nan(gap: f64) -> f64 {
    if gap.is_nan() { f64::INFINITY } else { gap }
}

/// The search of one run: a grid that may grow, and what was found so far.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    step_w: Vec<f64>,
    step_q: Vec<f64>,
    found: Tuned,
}

impl Search {
    /// A search of this grid for a run of so many rounds.
    pub fn new(grid: &Grid, rounds: u64) -> Self {
        let (step_w, step_q) = (grid.step_w.clone(), grid.step_q.clone());
        Search { step_w, step_q, found: Tuned { rounds, cells: Vec::new() } }
    }

    /// The pairs of multipliers without a first look.
    pub fn unseen(&self) -> Vec<(f64, f64)> {
        let pairs = self.step_w.iter().flat_map(|w| self.step_q.iter().map(move |q| (*w, *q)));
        let is_seen = |(w, q): (f64, f64)| {
            self.found.cells.iter().any(|cell| (cell.step_w, cell.step_q) == (w, q))
        };
        pairs.filter(|pair| !is_seen(*pair)).collect()
    }

    /// A first look at a pair found this gap.
    pub fn look(&mut self, (step_w, step_q): (f64, f64), first: f64) {
        self.found.cells.push(GridCell { step_w, step_q, first, gap: None });
    }

    /// Which of the best cells by the first look have no whole runs yet.
    pub fn finalists(&self, count: usize) -> Vec<usize> {
        let cells = &self.found.cells;
        let mut order: Vec<usize> = (0..cells.len()).collect();
        order.sort_by(|a, b| {
            worst_if_nan(cells[*a].first).total_cmp(&worst_if_nan(cells[*b].first))
        });
        order.truncate(count);
        order.retain(|at| cells[*at].gap.is_none());
        order
    }

    /// A cell.
    pub fn cell(&self, at: usize) -> &GridCell {
        &self.found.cells[at]
    }

    /// Whole runs of a cell have this mean gap.
    pub fn judge(&mut self, at: usize, gap: f64) {
        self.found.cells[at].gap = Some(gap);
    }

    /// Grows the grid by one more step beyond every edge at which the best cell lies; `false` where it
    /// lies at none.
    pub fn widen(&mut self) -> bool {
        let best = *self.found.best();
        let [w, q] = [(&mut self.step_w, best.step_w), (&mut self.step_q, best.step_q)]
            .map(|(steps, best)| grow(steps, best));
        w || q
    }

    /// What was found.
    pub fn done(self) -> Tuned {
        self.found
    }
}

/// Adds a step to the side of the best one if that is the first or the last of several, in the ratio
/// of the two there.
fn grow(steps: &mut Vec<f64>, best: f64) -> bool {
    steps.sort_by(f64::total_cmp);
    match steps[..] {
        [first, second, ..] if best == first => steps.insert(0, short(first * first / second)),
        [.., other, last] if best == last => steps.push(short(last * last / other)),
        _ => return false,
    }
    true
}

/// With three significant digits.
fn short(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// What was tuned, as `tuning.csv` of a folder of experiments has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    path: PathBuf,
    /// Experiment, run, and what was found.
    entries: Vec<(String, String, Tuned)>,
}

const HEADER: &str = "experiment,run,rounds,step_w,step_q,first_gap,gap,best";

impl Table {
    /// Reads the table of a folder; it is empty where there is none.
    ///
    /// # Errors
    /// When it cannot be read, or is no such table.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("tuning.csv");
        let mut table = Table { path: path.clone(), entries: Vec::new() };
        if !path.exists() {
            return Ok(table);
        }
        let text = std::fs::read_to_string(&path)
            .map_err(|source| Error::Read { path: path.clone(), source })?;
        let wrong = |line: usize, what: &str| {
            Error::content(&path, format!("line {line}: {what}: gdro-paper --tune writes it"))
        };
        let mut lines = (1..).zip(text.lines());
        if lines.next().is_none_or(|(_, line)| line != HEADER) {
            return Err(wrong(1, &format!("expected {HEADER}")));
        }
        for (number, line) in lines {
            let fields: Vec<&str> = line.split(',').collect();
            let [experiment, run, rounds, step_w, step_q, first, gap, _] = fields[..] else {
                return Err(wrong(number, &format!("{} fields, expected 8", fields.len())));
            };
            let value =
                |text: &str| text.parse::<f64>().map_err(|_| wrong(number, "expected a number"));
            let cell = GridCell {
                step_w: value(step_w)?,
                step_q: value(step_q)?,
                first: value(first)?,
                gap: if gap.is_empty() { None } else { Some(value(gap)?) },
            };
            let rounds =
                rounds.parse().map_err(|_| wrong(number, "expected a number of rounds"))?;
            match table.entries.last_mut() {
                Some((e, r, tuned)) if e == experiment && r == run && tuned.rounds == rounds => {
                    tuned.cells.push(cell);
                }
                _ => {
                    let tuned = Tuned { rounds, cells: vec![cell] };
                    table.entries.push((experiment.to_owned(), run.to_owned(), tuned));
                }
            }
        }
        Ok(table)
    }

    /// The steps of a run, if it was tuned; `rounds` are those of its whole runs where they must be the
    /// same.
    ///
    /// # Errors
    /// For steps of another number of rounds.
    pub fn find(&self, experiment: &str, run: &str, rounds: Option<u64>) -> Result<Option<&Tuned>> {
        let found = self.entries.iter().find(|(e, r, _)| e == experiment && r == run);
        match (found, rounds) {
            (Some((_, _, Tuned { rounds: known, .. })), Some(rounds)) if *known != rounds => {
                Err(Error::content(
                    &self.path,
                    format!(
                        "steps for {known} rounds, and not for the {rounds} of {experiment}, {run}: gdro-paper \
                         --tune {experiment} finds them"
                    ),
                ))
            }
            _ => Ok(found.map(|(_, _, tuned)| tuned)),
        }
    }

    /// Replaces what was found for an experiment.
    pub fn replace(&mut self, experiment: &str, found: Vec<(String, Tuned)>) {
        let at = self.entries.iter().position(|(e, ..)| e == experiment);
        let at = at.unwrap_or(self.entries.len());
        self.entries.retain(|(e, ..)| e != experiment);
        let found = found.into_iter().map(|(run, tuned)| (experiment.to_owned(), run, tuned));
        self.entries.splice(at..at, found);
    }

    /// As CSV, every cell a line.
    pub fn csv(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for (experiment, run, tuned) in &self.entries {
            for cell in &tuned.cells {
                let GridCell { step_w, step_q, first, gap } = cell;
                let gap = gap.map_or(String::new(), number);
                let first = number(*first);
                let best = u8::from(cell == tuned.best());
                let rounds = tuned.rounds;
                let _ = writeln!(
                    text,
                    "{experiment},{run},{rounds},{step_w},{step_q},{first},{gap},{best}"
                );
            }
        }
        text
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gdro::average::Average;

    fn grid(step_w: &[f64], step_q: &[f64]) -> Grid {
        Grid {
            average: Average::Suffix,
            first_seed: 11,
            share: 0.1,
            finalists: 2,
            seeds: 3,
            widenings: 2,
            step_w: step_w.to_vec(),
            step_q: step_q.to_vec(),
        }
    }

    /// The gaps of a bowl around (100, 1) in powers of ten.
    fn bowl((w, q): (f64, f64)) -> f64 {
        1.0 + (w.log10() - 2.0).powi(2) + q.log10().powi(2)
    }

    #[test]
    fn a_grid_grows_towards_a_best_cell_at_its_edge() {
        let mut search = Search::new(&grid(&[0.1, 1.0], &[0.1, 1.0, 10.0]), 10);
        let mut widths = Vec::new();
        for _ in 0..4 {
            for pair in search.unseen() {
                search.look(pair, bowl(pair));
            }
            for at in search.finalists(2) {
                let cell = *search.cell(at);
                search.judge(at, bowl((cell.step_w, cell.step_q)));
            }
            widths.push(search.step_w.len());
            if !search.widen() {
                break;
            }
        }
        // From 1 to 10 to 100, and once more to see that 100 is no edge.
        assert_eq!(widths, [2, 3, 4, 5]);
        let found = search.done();
        assert_eq!((found.best().step_w, found.best().step_q), (100.0, 1.0));
        assert_eq!(found.at_edge(), [""; 0]);
        assert_eq!(found.cells.len(), 15);
    }

    #[test]
    fn the_best_of_the_first_look_need_not_be_the_best() {
        let mut search = Search::new(&grid(&[1.0, 3.0, 10.0], &[1.0]), 10);
        let first = [0.1, f64::NAN, 0.2];
        for (pair, gap) in search.unseen().into_iter().zip(first) {
            search.look(pair, gap);
        }
        assert_eq!(search.finalists(2), [0, 2]);
        search.judge(0, 0.3);
        assert_eq!(search.finalists(2), [2]);
        search.judge(2, f64::NAN);
        assert_eq!(search.clone().done().best().step_w, 1.0);
        search.judge(2, 0.25);
        let found = search.done();
        assert_eq!(found.best().step_w, 10.0);
        assert_eq!(found.at_edge(), ["w"]);
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = Table::read(folder.path()).unwrap();
        let cell = |step_w, gap| GridCell { step_w, step_q: 1.0, first: 0.5, gap };
        let tuned = |rounds| Tuned { rounds, cells: vec![cell(0.3, Some(0.25)), cell(1.0, None)] };
        table.replace("b", vec![("x".into(), tuned(10)), ("y".into(), tuned(20))]);
        table.replace("a", vec![("x".into(), tuned(30))]);
        table.replace("b", vec![("x".into(), tuned(40))]);
        std::fs::write(table.path(), table.csv()).unwrap();
        assert_eq!(Table::read(folder.path()).unwrap(), table);
        let find = |run: &str, rounds| table.find("b", run, rounds);
        assert_eq!(find("x", Some(40)).unwrap().unwrap().best().step_w, 0.3);
        assert_eq!(find("x", None).unwrap().unwrap().rounds, 40);
        assert_eq!(find("y", Some(20)).unwrap(), None);
        let said = find("x", Some(50)).unwrap_err().to_string();
        let expected = "steps for 40 rounds, and not for the 50 of b, x: gdro-paper --tune b";
        assert!(said.contains(expected), "{said}");
        for (from, to, expected) in [
            ("0.25", "one", "line 2: expected a number"),
            ("best", "worst", "line 1: expected experiment,run"),
            (",,0", ",0", "line 3: 7 fields, expected 8"),
        ] {
            std::fs::write(table.path(), table.csv().replace(from, to)).unwrap();
            let said = Table::read(folder.path()).unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
    }
}
