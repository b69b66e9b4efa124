//! Everything that can be wrong with a table or with what is asked of it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bytes::{Bytes, Purpose};
use crate::hint::{Hint, Setting, Value};
use crate::table::{DATES, Look};
use crate::words::{count, number, shown};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A line or row of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The file, as the caller named it.
    pub file: String,
    /// Number of the line or row, from 1.
    pub line: u64,
    /// What is numbered.
    pub unit: Unit,
}

/// What the rows of a file are numbered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The lines of a text.
    #[default]
    Line,
    /// The rows, in a file that has no lines.
    Row,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Line => write!(f, "{}:{}", self.file, self.line),
            Unit::Row => write!(f, "{}: row {}", self.file, self.line),
        }
    }
}

/// What is wrong. Each message is one line: where, what was found, what was expected; and what to do,
/// unless that is an option, see [`Error::hint`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No file was given.
    #[error("no file: give at least one table")]
    NoFile,
    /// A format that is not read block by block.
    #[error("{file}: LIBSVM tables are not streamed")]
    InMemory {
        /// The file.
        file: String,
    },
    /// A table is not the one that its schema describes.
    #[error(
        "the table has {what}, unlike the one whose rows were counted: it has changed since, or the \
         schema is of another table: count again, without a schema"
    )]
    StaleSchema {
        /// What is different.
        what: String,
    },
    /// Something that would take more memory than there is.
    #[error("{what} would take about {bytes} of memory, of which there are {limit}")]
    Memory {
        /// What it is.
        what: String,
        /// What it would take.
        bytes: Bytes,
        /// What there is.
        limit: Bytes,
        /// What it would be taken for.
        purpose: Purpose,
    },
    /// A file cannot be opened.
    #[error("{file}: cannot open: {why}")]
    Open {
        /// The file.
        file: String,
        /// Why.
        why: std::io::Error,
    },
    /// A pattern of file names that cannot be used.
    #[error("{pattern}: {why}: expected a file, or a pattern that matches some")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why.
        why: String,
    },
    /// A file is not what its name or an option says.
    #[error("{file}: it is {found}, expected {expected}")]
    Format {
        /// The file.
        file: String,
        /// What it is.
        found: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// Files of one table in formats that do not go together.
    #[error("{file} is {found}, {first} is {expected}: give the files of a table in one format")]
    MixedFormats {
        /// The later file.
        file: String,
        /// Its format.
        found: &'static str,
        /// The first file.
        first: String,
        /// Its format.
        expected: &'static str,
    },
    /// A format that this build leaves out.
    #[error(
        "{file}: it is {format}, which this build of gdro-data cannot read: build it with the \
         feature `arrow`"
    )]
    NoArrow {
        /// The file.
        file: String,
        /// The format.
        format: &'static str,
    },
    /// Reading stopped, for example because the compressed data are damaged or cut off.
    #[error(
        "{at}: cannot read on: {why}{}",
        match .packed {
            Some(by) => format!("; the {by} data are damaged or cut off: get the file again"),
            None => String::new(),
        }
    )]
    Read {
        /// The line that could not be read.
        at: Position,
        /// How the file is compressed, if it is.
        packed: Option<&'static str>,
        /// Why.
        why: std::io::Error,
    },
    /// Bytes that are not UTF-8.
    #[error("{at}: not valid UTF-8: convert the file, as in `iconv -f {encoding} -t UTF-8`")]
    Utf8 {
        /// The line.
        at: Position,
        /// What it may be.
        encoding: &'static str,
    },
    /// A line or a quoted cell is implausibly long.
    #[error(
        "{at}: a line or quoted cell of more than {limit} bytes: is this a table, and does \
         every quote end?"
    )]
    TooLong {
        /// Where it starts.
        at: Position,
        /// Largest length that is read.
        limit: usize,
    },
    /// A quoted cell does not end.
    #[error("{at}: the quoted cell that starts here never ends: add the closing quote")]
    OpenQuote {
        /// Where it starts.
        at: Position,
    },
    /// Something follows the closing quote of a cell.
    #[error(
        "{at}: found {found:?} after a closing quote, expected {delimiter:?} or the end of \
         the line: double the quotes inside a quoted cell"
    )]
    AfterQuote {
        /// The line.
        at: Position,
        /// What follows.
        found: char,
        /// The delimiter.
        delimiter: char,
    },
    /// A row has another number of cells than there are columns.
    #[error(
        "{at}: found {}, expected {expected}, one per column: check the delimiter {delimiter:?} and \
         the quoting",
        count(*.found, "cell")
    )]
    Ragged {
        /// The line.
        at: Position,
        /// Cells in the row.
        found: usize,
        /// Number of columns.
        expected: usize,
        /// The delimiter.
        delimiter: char,
    },
    /// A file of columns that cannot be decoded.
    #[error(
        "{at}: cannot read the {format} data: {}: the file is damaged or cut off: get it again",
        shown(.why)
    )]
    Damaged {
        /// The file, and the row from which on it cannot be read.
        at: String,
        /// The format.
        format: &'static str,
        /// Why.
        why: String,
    },
    /// A column of a type whose cells are no numbers, texts or times.
    #[error(
        "{file}: column `{column}`: found cells of the type {}, expected numbers, texts, booleans \
         or times",
        shown(.found)
    )]
    ColumnType {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A column holds numbers in one file and texts in another.
    #[error(
        "{file}: column `{column}`: numbers here and texts in another file of the table, or the \
         other way round: write the files with one schema"
    )]
    MixedKinds {
        /// The later file.
        file: String,
        /// The column.
        column: String,
    },
    /// An entry of a sparse row that cannot be understood.
    #[error("{at}: found `{}`, expected {expected}", shown(.text))]
    Entry {
        /// The line.
        at: Position,
        /// The entry.
        text: String,
        /// What was expected.
        expected: String,
    },
    /// Rows of a sparse text belong to queries, and nothing says what to do with them.
    #[error("{file}: rows have the number of a query (qid), which is no feature")]
    QueryColumn {
        /// The file.
        file: String,
    },
    /// Files of group labels have another number of labels than the table has rows.
    #[error(
        "{file}: found {}, the table has {}: expected one label a line for each row",
        count(*.labels as usize, "label"),
        count(*.rows as usize, "row")
    )]
    SideFile {
        /// The (last) file of labels.
        file: String,
        /// Labels in the files.
        labels: u64,
        /// Rows of the table, or of as much of it as was read.
        rows: u64,
    },
    /// A model of sparse features and a table that has none.
    #[error("{file} is {found}, the model was trained on LIBSVM: expected a file of that format")]
    NotSparse {
        /// The file.
        file: String,
        /// Its format.
        found: &'static str,
    },
    /// Sparse features that are too many to be standardised, which makes them dense.
    #[error(
        "scaling: standardised, {} of {} take {} numbers, expected at most {}",
        count(*.rows, "row"),
        count(*.features, "feature"),
        number(.rows.saturating_mul(*.features)),
        number(*.limit)
    )]
    TooDense {
        /// Number of rows.
        rows: usize,
        /// Number of features.
        features: usize,
        /// Most numbers.
        limit: usize,
    },
    /// A file has no line with content.
    #[error("{file}: the file is empty: expected {expected}")]
    EmptyFile {
        /// The file.
        file: String,
        /// What should be there.
        expected: &'static str,
    },
    /// There is no row.
    #[error("{file}: no rows: found the column names only")]
    NoRows {
        /// The (last) file.
        file: String,
    },
    /// More rows or lines than can be numbered.
    #[error("{file}: more than {limit} lines: give fewer rows")]
    TooManyRows {
        /// The file.
        file: String,
        /// The limit.
        limit: u64,
    },
    /// Two columns have the same name.
    #[error("{place}: column `{column}` occurs twice (as number {first} and {second}): rename one")]
    DuplicateColumn {
        /// File and line, or the option.
        place: String,
        /// The name.
        column: String,
        /// First column number, from 1.
        first: usize,
        /// Second column number.
        second: usize,
    },
    /// A column has no name.
    #[error("{place}: column number {number} has no name: give it one")]
    UnnamedColumn {
        /// File and line, or the option.
        place: String,
        /// Column number, from 1.
        number: usize,
    },
    /// A column without a name has cells that are neither the number of the row nor empty.
    #[error(
        "{place}: column number {number} has no name, and line {line} has `{}` there: give it a \
         name, or write the table without it",
        shown(.text)
    )]
    UnnamedCell {
        /// File and line of the names.
        place: String,
        /// Column number, from 1.
        number: usize,
        /// The line of the cell.
        line: u64,
        /// The cell.
        text: String,
    },
    /// The lines before the header are no table.
    #[error(
        "{at}: {} before the names of the columns: found 1 cell, later lines have {cells}",
        count(*.before, "line")
    )]
    Preamble {
        /// The first line.
        at: Position,
        /// Number of records before the header.
        before: usize,
        /// Cells in the lines that follow.
        cells: usize,
        /// What these lines start with.
        start: String,
    },
    /// Two characters separate cells equally well.
    #[error(
        "{at}: cells could be separated by {:?} ({} a line) or by {:?} ({})",
        .found[0].0,
        .found[0].1,
        .found[1].0,
        .found[1].1
    )]
    Delimiters {
        /// The first line.
        at: Position,
        /// The characters, and the number of cells that each makes of a line.
        found: [(char, usize); 2],
    },
    /// Files that are read as one table have different columns.
    #[error("{file} and {first} have different columns: found `{found}`, expected `{expected}`")]
    Headers {
        /// The later file.
        file: String,
        /// The first file.
        first: String,
        /// Columns of the later file.
        found: String,
        /// Columns of the first file.
        expected: String,
    },
    /// An option names a column that does not exist.
    #[error("{option}: no column `{column}`: {hint}")]
    UnknownColumn {
        /// Name of the option, or what else needs the column.
        option: &'static str,
        /// The name that was given.
        column: String,
        /// The closest name, or all names.
        hint: String,
    },
    /// An option has a value it cannot have, or contradicts another.
    #[error("{option}: {found}: expected {expected}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// A cell of a numeric column is not a number.
    #[error("{at}: column `{column}`: found `{}`, expected a number", shown(.text))]
    NotANumber {
        /// The line.
        at: Position,
        /// The column.
        column: String,
        /// The cell.
        text: String,
        /// The texts in numeric columns that usually mean a missing cell; the cell, where most
        /// others are numbers.
        marks: Box<[String]>,
        /// What most cells of the column look like instead.
        look: Option<Box<Look>>,
    },
    /// A number is NaN or infinite, or too large for arithmetic.
    #[error("{at}: column `{column}`: found `{}`, expected a finite number", shown(.text))]
    NotFinite {
        /// The line.
        at: Position,
        /// The column.
        column: String,
        /// The cell.
        text: String,
        /// The texts in numeric columns that usually mean a missing cell.
        marks: Box<[String]>,
    },
    /// A number with leading zeros in a column that was taken as numbers before.
    #[error(
        "{at}: column `{column}`: found `{}`, like a code, and numbers without leading zeros \
         before it",
        shown(.text)
    )]
    Padded {
        /// The line.
        at: Position,
        /// The column.
        column: String,
        /// The cell.
        text: String,
    },
    /// A cell of a column of dates is none.
    #[error("{at}: column `{column}`: found `{}`, expected a date: {DATES}", shown(.text))]
    NotADate {
        /// The line.
        at: Position,
        /// The column.
        column: String,
        /// The cell.
        text: String,
        /// The texts of the column that usually mean a missing cell.
        marks: Box<[String]>,
    },
    /// No cell of a column of dates shows which number is the day.
    #[error(
        "{at}: column `{column}`: found `{}`, and no cell shows whether the day or the month comes \
         first",
        shown(.text)
    )]
    DateOrder {
        /// The line.
        at: Position,
        /// The column.
        column: String,
        /// The cell.
        text: String,
    },
    /// Days and months of a column of dates are not always in the same order.
    #[error(
        "{at}: column `{column}`: found `{}`, where the month comes first, and dates where the day \
         does: write them in one order",
        shown(.text)
    )]
    OtherOrder {
        /// The line.
        at: Position,
        /// The column.
        column: String,
        /// The cell.
        text: String,
    },
    /// Numbers so large that sums of them overflow.
    #[error("column `{column}`: its numbers are too large to be {done}: rescale or ignore it")]
    TooLarge {
        /// The column.
        column: String,
        /// What would be done with them.
        done: &'static str,
    },
    /// A column was read as another kind than is needed here.
    #[error(
        "column `{column}` was read as {found}, expected {expected}: read the table for this \
         model"
    )]
    Kind {
        /// The column.
        column: String,
        /// Kind in the table.
        found: &'static str,
        /// Kind that is needed.
        expected: &'static str,
    },
    /// A feature is missing.
    #[error("{at}: column `{column}`: the cell is missing")]
    MissingCell {
        /// The line.
        at: Position,
        /// The column.
        column: String,
    },
    /// A target, a weight or the part of a row is missing.
    #[error("{at}: column `{column}`: the cell is missing")]
    MissingTarget {
        /// The line.
        at: Position,
        /// The column.
        column: String,
    },
    /// The target of a row that is to be compared with a model is missing.
    #[error(
        "{at}: column `{column}`: the cell is missing, so that no prediction can be compared with \
         it: fill it, or take such rows out of the table"
    )]
    MissingLabel {
        /// The line.
        at: Position,
        /// The target column.
        column: String,
    },
    /// A group label is missing.
    #[error("{at}: column `{column}`: the group label is missing")]
    MissingGroup {
        /// The line.
        at: Position,
        /// The column.
        column: String,
    },
    /// A numeric group column that is a feature has missing cells that form a group.
    #[error("{at}: column `{column}`: a missing number cannot be a feature")]
    MissingNumber {
        /// The line.
        at: Position,
        /// The column.
        column: String,
    },
    /// A feature has no value at all in training rows.
    #[error("column `{column}`: every cell is missing")]
    AllMissing {
        /// The column.
        column: String,
    },
    /// A weight is negative, or too small or too large to be added exactly enough.
    #[error("{at}: column `{column}`: found the weight {found}, expected {expected}")]
    Weight {
        /// The line.
        at: Position,
        /// The weight column.
        column: String,
        /// The weight.
        found: f64,
        /// What was expected.
        expected: &'static str,
    },
    /// A weight that is to be a number of rows is none.
    #[error(
        "{at}: column `{column}`: found the weight {found}, expected a number of rows: 0, 1, 2, …"
    )]
    FractionalWeight {
        /// The line.
        at: Position,
        /// The weight column.
        column: String,
        /// The weight.
        found: f64,
    },
    /// No row is left after rows were left out.
    #[error("no row is left: {dropped}")]
    NothingLeft {
        /// Why rows were left out.
        dropped: String,
    },
    /// No column is left to learn from.
    #[error(
        "no feature: every column is the target, a weight, ignored or a group column that is \
         dropped"
    )]
    NoFeature,
    /// A text column has too many levels to be a feature.
    #[error(
        "column `{column}`: {} different texts in {}, expected at most {limit}",
        number(*.levels),
        count(*.rows, "row")
    )]
    TooManyLevels {
        /// The column.
        column: String,
        /// Number of levels.
        levels: usize,
        /// Number of training rows.
        rows: usize,
        /// Largest number of levels.
        limit: usize,
    },
    /// A part of a model that ONNX cannot express.
    #[error("{what} cannot be written as ONNX: rename the column, or train without it")]
    NotInOnnx {
        /// The part.
        what: String,
    },
    /// A multi-class target with too many classes.
    #[error(
        "target `{column}`: {} different labels in {}, expected at most {limit}: use {advice}",
        number(*.classes),
        count(*.rows, "row")
    )]
    TooManyClasses {
        /// The column.
        column: String,
        /// Number of labels.
        classes: usize,
        /// Number of rows.
        rows: usize,
        /// Largest number of classes.
        limit: usize,
        /// What to do instead.
        advice: &'static str,
    },
    /// No target was named.
    #[error("target: none given: name the column to predict, one of {available}")]
    NoTarget {
        /// The columns.
        available: String,
    },
    /// The target has one value only.
    #[error(
        "target `{column}`: every row has the value `{}`: there is nothing to learn",
        shown(.label)
    )]
    OneClass {
        /// The column.
        column: String,
        /// The value.
        label: String,
    },
    /// Two numbers are the target of all rows but a few.
    #[error(
        "{at}: target `{column}`: found {found} in {}, expected `{}` or `{}`, which the other {} \
         hold",
        count(*.strays as usize, "row"), .labels[0], .labels[1], count(*.rows as usize, "row")
    )]
    StrayLabels {
        /// The first of the few rows.
        at: Position,
        /// The column.
        column: String,
        /// The two numbers.
        labels: Box<[String; 2]>,
        /// Rows that hold them.
        rows: u64,
        /// Rows that hold something else.
        strays: u64,
        /// What they hold.
        found: String,
    },
    /// A binary task with more than two labels.
    #[error(
        "target `{column}`: found {count} labels ({labels}), a binary loss takes two: use the \
         {advice}"
    )]
    NotBinary {
        /// The column.
        column: String,
        /// Number of labels.
        count: usize,
        /// The labels, or the first few.
        labels: String,
        /// The loss to use.
        advice: &'static str,
    },
    /// A regression on text.
    #[error("target `{column}`: found texts ({labels}), regression takes numbers: use {advice}")]
    NotNumeric {
        /// The column.
        column: String,
        /// The labels, or the first few.
        labels: String,
        /// The loss to use.
        advice: &'static str,
    },
    /// The positive label is none of the labels.
    #[error(
        "positive: no row of target `{column}` has the label `{}`: its labels are {labels}",
        shown(.found)
    )]
    Positive {
        /// The column.
        column: String,
        /// The label that was given.
        found: String,
        /// The labels, or the first few.
        labels: String,
    },
    /// A positive label for a target that has no two labels.
    #[error("positive: target `{column}` is not binary ({labels}): leave the option out")]
    PositiveNotBinary {
        /// The column.
        column: String,
        /// The labels, or the first few.
        labels: String,
    },
    /// A label that the model does not know.
    #[error("{at}: target `{column}`: found `{}`, expected one of {labels}", shown(.found))]
    UnknownLabel {
        /// The line.
        at: Position,
        /// The column.
        column: String,
        /// The label.
        found: String,
        /// The labels, or the first few.
        labels: String,
    },
    /// Two different combinations of group values have the same name.
    #[error(
        "groups: two combinations of values are both named `{}`: merge or rename values so \
         that names differ",
        shown(.name)
    )]
    AmbiguousGroup {
        /// The name.
        name: String,
    },
    /// Groups with too few rows.
    #[error(
        "min-group: fewer than {}: {groups}: expected as many in each group",
        count(*.least, "row")
    )]
    SmallGroups {
        /// Smallest number of rows.
        least: usize,
        /// The groups, or the first few, with their rows.
        groups: String,
    },
    /// The library refused the data.
    #[error(transparent)]
    Gdro(#[from] gdro::Error),
}

impl Error {
    /// What to do about it, where an option helps. The message does not say so: each front end
    /// writes options in its own way.
    pub fn hint(&self) -> Option<Hint> {
        let (any, words) = (Value::Any, Value::Words);
        let named = |column: &str| Value::Column(column.to_owned());
        let hint = Hint::default();
        Some(match self {
            Error::InMemory { .. } => hint.say("leave ").set("stream", any).say(" out"),
            Error::Memory { purpose, .. } => of_memory(*purpose),
            Error::Format { .. } => {
                hint.say("say what it is by `").set("format", any).say("`, or name it so")
            }
            Error::NotSparse { .. } => {
                hint.say("say `").set("format", words(&["svmlight"])).say("` if it is one")
            }
            Error::TooDense { .. } => hint.say("say `").set("scaling", words(&["none"])).say("`"),
            Error::NotANumber { column, text, marks, look: Some(look), .. } => {
                let na = Some(text).filter(|text| marks.contains(text));
                of_look(look, column, na)
            }
            Error::NotANumber { column, text, marks, .. }
            | Error::NotFinite { column, text, marks, .. } => {
                let na = if marks.contains(text) { marks.to_vec() } else { vec![text.clone()] };
                let means = if na.len() == 1 {
                    "` if it means missing, or `"
                } else {
                    "` if these mean missing, or `"
                };
                hint.say("say `")
                    .set("na", Value::Cells(na))
                    .say(means)
                    .set("text", named(column))
                    .say("` if the column is text")
            }
            Error::NotADate { text, marks, .. } if marks.contains(text) => hint
                .say("say `")
                .set("na", Value::Cells(marks.to_vec()))
                .say("` if it means missing"),
            Error::DateOrder { column, .. } => hint
                .say("say `")
                .set("date", Value::OfColumn(column.clone(), "dmy"))
                .say("` or `")
                .set("date", Value::OfColumn(column.clone(), "mdy"))
                .say("`"),
            Error::Padded { column, .. } => hint
                .say("say `")
                .set("text", named(column))
                .say("`, or `")
                .set("number", named(column))
                .say("`"),
            Error::Preamble { start, .. } => hint
                .say("delete them, or say `")
                .set("comment", Value::Cell(start.clone()))
                .say("`, which skips lines that start so"),
            Error::Delimiters { .. } => hint
                .say("say `")
                .set("delimiter", words(&["comma", "semicolon", "tab", "pipe"]))
                .say("`"),
            Error::StrayLabels { .. } => hint
                .say("mend these rows; if the target is a number, say `")
                .set("loss", words(&["squared"]))
                .say("`, if it has more classes, `")
                .set("loss", words(&["softmax"]))
                .say("`"),
            Error::QueryColumn { .. } => hint
                .say("say `")
                .set("groups", words(&["qid"]))
                .say("` to make groups of them, or `")
                .set("ignore", words(&["qid"]))
                .say("`"),
            Error::MissingCell { .. } => hint
                .say("fill it, leave such rows out with `")
                .set("missing", words(&["drop"]))
                .say("`, or keep them with `")
                .set("missing", words(&["mean"]))
                .say("` or `own-category`"),
            Error::MissingTarget { column, .. } => hint
                .say("fill it, or leave such rows out with `")
                .set("missing", Value::OfColumn(column.clone(), "drop"))
                .say("`"),
            Error::FractionalWeight { .. } => hint
                .say("say `")
                .set("weight-kind", words(&["importance"]))
                .say("` if it is no count"),
            Error::MissingGroup { .. } => {
                hint.say("fill it, or say `").set("missing-group", words(&["own", "drop"])).say("`")
            }
            Error::MissingNumber { column, .. } => hint
                .say("say `")
                .set("group-features", words(&["drop"]))
                .say("`, `")
                .set("missing", words(&["mean"]))
                .say("` or `")
                .set("text", named(column))
                .say("`"),
            Error::ColumnType { column, .. } | Error::AllMissing { column } => {
                hint.say("leave it out with `").set("ignore", named(column)).say("`")
            }
            Error::TooManyLevels { column, .. } => hint
                .say("leave it out with `")
                .set("ignore", named(column))
                .say("`, hash it with `")
                .set("hash", named(column))
                .say("`, or fold rare texts with `")
                .set("min-count", words(&["10"]))
                .say("`"),
            Error::SmallGroups { .. } => hint
                .say("name a smaller number, or say `")
                .set("small-groups", words(&["merge", "drop"]))
                .say("`"),
            _ => return None,
        })
    }

    /// The message with its hint, whose settings are written by `write`.
    pub fn text(&self, write: impl Fn(&Setting) -> String) -> String {
        let joint = if matches!(self, Error::NotSparse { .. }) { ";" } else { ":" };
        match self.hint() {
            Some(hint) => format!("{self}{joint} {}", hint.text(write)),
            None => self.to_string(),
        }
    }

    /// Adds the usual texts for missing cells that stop another column to those of this error.
    pub(crate) fn add_marks(&mut self, other: Error) {
        let (Error::NotANumber { marks: more, .. } | Error::NotFinite { marks: more, .. }) = other
        else {
            return;
        };
        if let Error::NotANumber { marks, .. } | Error::NotFinite { marks, .. } = self {
            let new = more.iter().filter(|mark| !marks.contains(mark));
            let all: Vec<String> = marks.iter().chain(new).cloned().collect();
            *marks = all.into();
        }
    }

    /// Whether a text that usually means a missing cell is what is wrong.
    pub(crate) fn is_mark(&self) -> bool {
        match self {
            Error::NotANumber { text, marks, look: None, .. }
            | Error::NotFinite { text, marks, .. } => marks.contains(text),
            _ => false,
        }
    }

    /// The option that is at fault, if it is one. The message starts with its name.
    pub fn option(&self) -> Option<&'static str> {
        match self {
            Error::NoTarget { .. } => Some("target"),
            Error::Option { option, .. } | Error::UnknownColumn { option, .. } => Some(option),
            Error::Positive { .. } | Error::PositiveNotBinary { .. } => Some("positive"),
            Error::AmbiguousGroup { .. } => Some("groups"),
            Error::SmallGroups { .. } => Some("min-group"),
            Error::TooDense { .. } => Some("scaling"),
            _ => None,
        }
    }
}

/// What to do where something takes more memory than there is.
fn of_memory(purpose: Purpose) -> Hint {
    let (any, hint) = (Value::Any, Hint::default());
    let hint = match purpose {
        Purpose::Table => hint
            .say("read it block by block with ")
            .set("stream", any.clone())
            .say(", leave columns out with ")
            .set("ignore", any.clone()),
        Purpose::Rows => hint
            .say("columns of many texts can be hashed with ")
            .set("hash", any.clone())
            .say(" or left out with ")
            .set("ignore", any.clone()),
        Purpose::Stream => {
            hint.say("shuffle fewer rows at a time with ").set("buffer", any.clone())
        }
        Purpose::Groups => hint
            .say("leave group columns out of the features with ")
            .set("group-features", Value::Words(&["drop"]))
            .say(", put small groups together with ")
            .set("min-group", any.clone())
            .say(" and ")
            .set("small-groups", Value::Words(&["merge"])),
        Purpose::File => hint.say("look at what made it"),
    };
    hint.say(", or allow more with ").set("memory", any)
}

/// What to do with a column of texts that look like something else; `na` may mean a missing cell.
fn of_look(look: &Look, column: &str, na: Option<&String>) -> Hint {
    let sign = |c: char| -> Value {
        Value::Words(match c {
            ',' => &[","],
            '.' => &["."],
            ' ' => &["space"],
            _ => &["apostrophe"],
        })
    };
    let hint = Hint::default();
    let hint = match look {
        Look::Numerals { decimal, thousands } => {
            let mut hint = hint.say("say `");
            if let Some(c) = decimal {
                hint = hint.set("decimal", sign(*c));
            }
            if decimal.is_some() && thousands.is_some() {
                hint = hint.say(" ");
            }
            if let Some(c) = thousands {
                hint = hint.set("thousands", sign(*c));
            }
            hint.say("` for numbers that are written so")
        }
        Look::DecimalOrThousands => hint
            .say("say `")
            .set("decimal", sign(','))
            .say("` if the comma is the decimal sign, `")
            .set("thousands", sign(','))
            .say("` if it is between thousands"),
        Look::Percent => hint.say("write the numbers without the percent sign"),
        Look::Currency => hint.say("write the numbers without the currency"),
        Look::Unit(_) => hint.say("write the numbers without the unit"),
        Look::Date => hint
            .say("say `")
            .set("date", Value::Column(column.to_owned()))
            .say("` for days since 1970-01-01"),
        Look::Time => hint.say("write times as numbers, such as minutes"),
    };
    let hint = match na {
        Some(text) => {
            hint.say(", `").set("na", Value::Cells(vec![text.clone()])).say("` if it means missing")
        }
        None => hint,
    };
    hint.say(", `")
        .set("text", Value::Column(column.to_owned()))
        .say("` if the column is text, or leave it out with `")
        .set("ignore", Value::Column(column.to_owned()))
        .say("`")
}

/// The error for a column that does not exist, with the closest name or all names.
pub(crate) fn unknown_column(option: &'static str, column: &str, names: &[String]) -> Error {
    let close = names
        .iter()
        .map(|n| (distance(&n.to_lowercase(), &column.to_lowercase()), n))
        .filter(|(d, _)| *d <= column.chars().count() / 3)
        .min_by_key(|(d, _)| *d);
    let hint = match close {
        Some((_, name)) => format!("did you mean `{name}`?"),
        None => format!("the columns are {}", names.join(", ")),
    };
    Error::UnknownColumn { option, column: column.to_owned(), hint }
}

/// Number of insertions, deletions and replacements between two texts.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("race", "race"), 0);
        assert_eq!(distance("rcae", "race"), 2);
        assert_eq!(distance("", "sex"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn unknown_columns_say_what_there_is() {
        let names = ["race".to_owned(), "sex".to_owned()];
        let message = |c| unknown_column("groups", c, &names).to_string();
        assert_eq!(message("Race"), "groups: no column `Race`: did you mean `race`?");
        assert_eq!(message("country"), "groups: no column `country`: the columns are race, sex");
    }
}
