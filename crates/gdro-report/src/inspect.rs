//! What a person sees of a table before training.

use console::{Term, measure_text_width, truncate_str};
use gdro_data::{ColumnProfile, Inspection, Kind, Role, Target};
use serde::Serialize;

use super::grid::{Grid, terminal_width, wrapped};
use super::numbers::{NONE, Scale, count, counted, percent};
use super::tables::{FULL, WORST, plain};

/// Most columns that a table shows unless all are asked for.
const MOST_COLUMNS: usize = 60;

/// The values of a column are cut to no less than this while they stand beside the other cells.
const LEAST: usize = 24;

/// And to no more than this.
const MOST: usize = 70;

/// The width of names and blanks where the values stand in a table of their own.
const ALONE: usize = 21;

/// A table, its groups, and what training would do with it. What does not apply is absent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Inspected {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: Vec<ColumnProfile>,
    /// What training would predict.
    pub target: Option<Target>,
    /// Groups.
    pub groups: Vec<GroupCount>,
    /// The rows as training would see them.
    pub encoded: Option<Encoded>,
    /// Why training would refuse the table.
    pub refused: Option<String>,
    /// What is odd.
    pub warnings: Vec<String>,
    /// What training would decide by itself.
    pub notes: Vec<String>,
}

/// A group and its target.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct GroupCount {
    /// Name.
    pub name: String,
    /// Rows.
    pub rows: usize,
    /// Of which are for training.
    pub train_rows: usize,
    /// Of which are held out.
    pub test_rows: usize,
    /// Share of the rows with the positive label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positive_rate: Option<f64>,
    /// Mean of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_target: Option<f64>,
    /// Number of classes that occur.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<usize>,
    /// The commonest class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commonest: Option<String>,
}

/// The rows as training would see them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Encoded {
    /// Rows for training.
    pub train_rows: usize,
    /// Rows that are held out.
    pub test_rows: usize,
    /// Features.
    pub features: usize,
    /// Whether only numbers that are not 0 are stored.
    pub is_sparse: bool,
    /// Bytes of the encoded rows.
    pub bytes: u64,
    /// Loss.
    pub loss: String,
    /// Solver.
    pub solver: String,
    /// Why it is this one, when nobody names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Multiplications of the reference solver, about.
    pub exact_work: f64,
    /// The most that `auto` accepts.
    pub most_work: f64,
    /// Bytes of the reference solver beside the rows.
    pub exact_bytes: f64,
    /// The most that `auto` accepts.
    pub most_bytes: f64,
}

impl Inspected {
    /// What the columns say.
    pub fn new(found: Inspection) -> Self {
        Inspected {
            rows: found.rows,
            columns: found.columns,
            target: None,
            groups: Vec::new(),
            encoded: None,
            refused: None,
            warnings: found.warnings,
            notes: Vec::new(),
        }
    }
}

/// The tables and what is said below them.
pub fn inspected(found: &Inspected, all: bool) -> String {
    let width = terminal_width(&Term::stdout());
    let mut out = format!(
        "{}, {}\n",
        counted(found.rows as u64, "row"),
        counted(found.columns.len() as u64, "column")
    );
    out += &columns(found, all, width);
    if !found.groups.is_empty() {
        out.push('\n');
        out += &groups(found, all).text(width);
    }
    if let Some(encoded) = &found.encoded {
        out.push('\n');
        for line in size(encoded) {
            out += &wrapped(&plain(&line), width, 2);
        }
    }
    if !(found.notes.is_empty() && found.warnings.is_empty() && found.refused.is_none()) {
        out.push('\n');
    }
    let notes = found.notes.iter().map(|note| format!("note: {note}"));
    let warnings = found.warnings.iter().map(|warning| format!("warning: {warning}"));
    let refused = found.refused.iter().map(|why| format!("fit would refuse the table: {why}"));
    for line in notes.chain(warnings).chain(refused) {
        out += &wrapped(&plain(&line), width, 2);
    }
    out
}

/// The columns of the table.
fn columns(found: &Inspected, all: bool, width: Option<usize>) -> String {
    let most = if all { usize::MAX } else { MOST_COLUMNS };
    let shown = &found.columns[..found.columns.len().min(most)];
    let mut names: Vec<String> = shown.iter().map(|c| plain(&c.name)).collect();
    let rest = found.columns.len() - shown.len();
    if rest > 0 {
        names.push(format!("… and {} more", count(rest as u64)));
    }
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let name = widest(&mut names.iter().map(|name| measure_text_width(name)));
    let roles = widest(&mut shown.iter().map(|c| role(c.role).len()));
    // Kind, missing and distinct, and the blanks between columns.
    let beside = name.max(6) + roles.max(4) + 6 + 7 + 8 + 5 * 2;
    let room = width.map_or(60, |width| match width.saturating_sub(beside) {
        room if room >= LEAST => room.min(MOST),
        _ => (width - ALONE).min(MOST),
    });
    let mut grid = Grid::new("column", names);
    let gap = || (rest > 0).then(String::new);
    let cells = |of: &dyn Fn(&ColumnProfile) -> String| -> Vec<String> {
        shown.iter().map(of).chain(gap()).collect()
    };
    grid.block();
    grid.left_column("role", cells(&|c| role(c.role).into()));
    grid.block();
    grid.left_column("kind", cells(&|c| kind(c.kind).into()));
    let stored = |c: &ColumnProfile, text: String| {
        if c.kind == Kind::Ignored { NONE.into() } else { text }
    };
    grid.block();
    grid.column(["", "missing"], cells(&|c| stored(c, share(c.missing, found.rows))));
    grid.block();
    grid.column(["", "distinct"], cells(&|c| stored(c, count(c.distinct as u64))));
    let short = |c: &ColumnProfile| truncate_str(&values(c, found.rows), room, "…").into_owned();
    grid.block();
    grid.left_column("values", cells(&|c| stored(c, short(c))));
    grid.text(width)
}

/// What a column is used for, in a word.
fn role(role: Role) -> &'static str {
    match role {
        Role::Target => "target",
        Role::Feature => "feature",
        Role::Group => "group",
        Role::GroupFeature => "group+feature",
        Role::Weight => "weight",
        Role::Cluster => "cluster",
        Role::Holdout => "holdout",
        Role::Ignored => "ignored",
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => "number",
        Kind::Text => "text",
        Kind::Ignored => NONE,
    }
}

/// A share, or nothing where there is none.
fn share(part: usize, whole: usize) -> String {
    let share = part as f64 / whole.max(1) as f64;
    match part {
        0 => NONE.into(),
        _ if share < 0.001 => format!("< {}", percent(0.001)),
        _ => percent(share),
    }
}

/// What the cells of a column are like.
fn values(column: &ColumnProfile, rows: usize) -> String {
    match (column.mean.zip(column.deviation), column.range) {
        (Some((mean, deviation)), Some([low, high])) => {
            let scale = Scale::of([mean, deviation]);
            let (mean, deviation) = (scale.show(mean), scale.show(deviation));
            format!("{mean} ± {deviation}, {} to {}", short(low), short(high))
        }
        (None, Some([low, high])) => format!("{} to {}", short(low), short(high)),
        _ => {
            let present = rows - column.missing;
            let levels = column
                .top
                .iter()
                .map(|level| format!("{} {}", plain(&level.text), share(level.rows, present)));
            let more = column.distinct.saturating_sub(column.top.len());
            let rest = (more > 0).then(|| format!("{} more", count(more as u64)));
            levels.chain(rest).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A number as short as it is.
fn short(value: f64) -> String {
    let text = value.to_string().replace('-', "−");
    if text.chars().count() <= 8 { text } else { Scale::of([value]).show(value) }
}

/// The groups of the table.
fn groups(found: &Inspected, all: bool) -> Grid {
    let every = &found.groups;
    let shown = if every.len() > FULL && !all { &every[..WORST] } else { &every[..] };
    let mut names: Vec<String> = shown.iter().map(|g| plain(&g.name)).collect();
    if shown.len() < every.len() {
        names.push(format!("… and {} more", count((every.len() - shown.len()) as u64)));
    }
    let first_total = names.len();
    names.push("all rows".into());
    let mut grid = Grid::new(&counted(every.len() as u64, "group"), names);
    grid.rule(first_total);
    let mut add = |header: [&str; 2], of: &dyn Fn(&GroupCount) -> String, total: String| {
        let gap = (shown.len() < every.len()).then(String::new);
        grid.block();
        grid.column(header, shown.iter().map(of).chain(gap).chain([total]).collect());
    };
    let sum = |of: &dyn Fn(&GroupCount) -> f64| every.iter().map(of).sum::<f64>();
    let number = |rows: usize| if rows == 0 { NONE.to_owned() } else { count(rows as u64) };
    // With families of groups a row is in several, and counts once.
    let (train, test) = found.encoded.as_ref().map_or((0, 0), |e| (e.train_rows, e.test_rows));
    add(["", "rows"], &|g| count(g.rows as u64), number(train + test));
    add(["", "training"], &|g| number(g.train_rows), number(train));
    add(["", "held out"], &|g| number(g.test_rows), number(test));
    let rows = sum(&|g| g.rows as f64);
    let mean = |of: &dyn Fn(&GroupCount) -> Option<f64>| {
        sum(&|g| of(g).unwrap_or(0.0) * g.rows as f64) / rows.max(1.0)
    };
    match &found.target {
        Some(Target::Binary { .. }) => {
            let rate = |g: &GroupCount| g.positive_rate.map_or(NONE.into(), percent);
            add(["", "positive"], &rate, percent(mean(&|g| g.positive_rate)));
        }
        Some(Target::Regression { .. }) => {
            let scale = Scale::of(every.iter().filter_map(|g| g.mean_target));
            let show = |g: &GroupCount| g.mean_target.map_or(NONE.into(), |v| scale.show(v));
            add(["mean", "target"], &show, scale.show(mean(&|g| g.mean_target)));
        }
        Some(Target::Multiclass { classes, .. }) => {
            let kinds = |g: &GroupCount| g.classes.map_or(NONE.into(), |n| count(n as u64));
            add(["", "classes"], &kinds, count(classes.len() as u64));
            let most = |g: &GroupCount| plain(g.commonest.as_deref().unwrap_or(NONE));
            add(["", "commonest"], &most, String::new());
        }
        None => {}
    }
    grid
}

/// How large the encoded rows are, and who would train on them.
fn size(encoded: &Encoded) -> Vec<String> {
    let form = if encoded.is_sparse { "sparse" } else { "dense" };
    let mut lines = vec![format!(
        "encoded: {} for training and {} held out, {}, {form}, about {}",
        counted(encoded.train_rows as u64, "row"),
        count(encoded.test_rows as u64),
        counted(encoded.features as u64, "feature"),
        memory(encoded.bytes as f64)
    )];
    let named = &encoded.solver;
    lines.push(match &encoded.reason {
        None => format!("loss {}, solver {named} (set by `solver`)", encoded.loss),
        Some(reason) => format!(
            "loss {}, solver {named}: {reason} (about {} multiplications and {} for the groups; \
             auto accepts {} and {})",
            encoded.loss,
            power(encoded.exact_work),
            memory(encoded.exact_bytes),
            power(encoded.most_work),
            memory(encoded.most_bytes)
        ),
    });
    lines
}

/// A large number with one digit.
fn power(value: f64) -> String {
    format!("{value:.0e}")
}

/// Bytes in words.
fn memory(bytes: f64) -> String {
    gdro_data::Bytes(bytes as u64).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!((short(17.0), short(-2.25)), ("17".into(), "−2.25".into()));
        assert_eq!(short(1.0 / 3.0), "0.3333");
        assert_eq!(short(123_456_789.0), "1.235e8");
    }
}
