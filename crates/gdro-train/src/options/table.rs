//! The options.

use gdro::algorithm::{Algorithm, Form};
use gdro::loss::AnyLoss;

/// Most rounds, rows or samples that can be asked for.
const MOST: u64 = 9_000_000_000_000_000;

/// Most values of what bounds the weights that a choice tries, and most folds.
const TRIED: u64 = 1000;

/// A command that reads a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Train.
    Fit,
    /// Choose what is minimised, and what bounds the weights.
    Select,
    /// Look at a table.
    Inspect,
}

/// Under which heading of the help an option stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// What is chosen, and how.
    Choice,
    /// What is minimised.
    Goal,
    /// How it is minimised.
    Solver,
    /// What the table means.
    Table,
    /// How a table is streamed.
    Stream,
    /// What is kept.
    Output,
}

impl Heading {
    /// All of them, in the order of the help.
    pub const ALL: [Heading; 6] = [
        Heading::Table,
        Heading::Goal,
        Heading::Solver,
        Heading::Choice,
        Heading::Stream,
        Heading::Output,
    ];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Heading::Choice => "Choice",
            Heading::Goal => "Goal",
            Heading::Solver => "Solver",
            Heading::Table => "Table",
            Heading::Stream => "Tables larger than memory",
            Heading::Output => "Output",
        }
    }
}

/// The numbers that an option takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least, which is itself taken where `closed`.
    pub low: f64,
    /// Whether the least is taken.
    pub closed: bool,
    /// What all lie below.
    pub high: f64,
    /// The range in words.
    pub expected: &'static str,
}

impl Range {
    const fn above_zero(expected: &'static str) -> Self {
        Range { low: 0.0, closed: false, high: f64::INFINITY, expected }
    }

    const fn share(expected: &'static str) -> Self {
        Range { low: 0.0, closed: false, high: 1.0, expected }
    }

    /// Whether a number lies in the range.
    pub fn holds(&self, v: f64) -> bool {
        (v > self.low || self.closed && v == self.low) && v < self.high
    }
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Nothing: it is on where it is given.
    Switch,
    /// A text.
    Text,
    /// A file or folder.
    Path,
    /// A text that the type of the option knows; these words say which.
    Named(&'static str),
    /// One character, or the name of one.
    Character,
    /// A number.
    Number(Range),
    /// A number; several for `gdro select` to choose from.
    Bound(Range),
    /// A whole number in a range, with both ends.
    Count(u64, u64),
    /// A share of the rows, or a number of rows per group.
    Holdout,
    /// A list of texts.
    List,
    /// A whole number, or a list of them.
    Counts,
    /// Lists of columns.
    Families,
    /// Values of columns that become one.
    Merges,
    /// A policy, or one for each column.
    Policies,
    /// Columns with a number each.
    Buckets,
}

impl Kind {
    /// Whether a value may start with a minus.
    pub fn is_number(&self) -> bool {
        matches!(self, Kind::Number(_) | Kind::Bound(_) | Kind::Count(..) | Kind::Holdout)
    }

    /// Whether the option may be given several times.
    pub fn is_repeatable(&self) -> bool {
        matches!(self, Kind::Families | Kind::Merges | Kind::Policies | Kind::Buckets)
    }
}

/// Who uses an option. What nobody uses is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Everybody.
    Always,
    /// What reads the table: it is an entry of [`gdro_data::DataOptions`].
    Data,
    /// Solvers that play rounds; a table `[solver.NAME]` of a job file may hold it.
    Rounds,
    /// Any solver; a table `[solver.NAME]` of a job file may hold it.
    Solver,
    /// Only a run with `stream`.
    Stream,
    /// Only a choice: `gdro select`, or `select` of `gdro fit`.
    Select,
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// Its name on the command line (`--step-w`) and in a job file (`step-w`).
    pub key: &'static str,
    /// What stands for its value in the help.
    pub metavar: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it is, in one or two sentences.
    help: &'static str,
    /// What it is in a few words, of the options that most users need.
    brief: Option<&'static str>,
    /// What holds where it is not given, in words; empty where that is nothing.
    default: &'static str,
    /// Where it stands in the help.
    pub heading: Heading,
    /// Who uses it.
    pub used_by: Use,
    /// Whether it says something of group columns, of which there must be some.
    pub needs_groups: bool,
    /// Why it cannot go with `stream`, where it cannot.
    pub unstreamed: Option<&'static str>,
    /// Its name in the Python package, where that is another.
    pub python: Option<&'static str>,
    /// Whether it is a switch that is on where the argument of Python is false.
    pub is_inverted: bool,
}

const fn opt(
    heading: Heading,
    key: &'static str,
    metavar: &'static str,
    kind: Kind,
    help: &'static str,
) -> Opt {
    let used_by = match heading {
        Heading::Choice => Use::Select,
        Heading::Table => Use::Data,
        Heading::Stream => Use::Stream,
        Heading::Goal | Heading::Solver | Heading::Output => Use::Always,
    };
    Opt {
        key,
        metavar,
        kind,
        help,
        brief: None,
        default: "",
        heading,
        used_by,
        needs_groups: false,
        unstreamed: None,
        python: None,
        is_inverted: false,
    }
}

impl Opt {
    const fn default(self, default: &'static str) -> Self {
        Opt { default, ..self }
    }

    const fn in_brief(self, brief: &'static str) -> Self {
        Opt { brief: Some(brief), ..self }
    }

    /// One that most users need, and that says what it is on one line.
    const fn common(self) -> Self {
        self.in_brief(self.help)
    }

    const fn used_by(self, used_by: Use) -> Self {
        Opt { used_by, ..self }
    }

    const fn needs_groups(self) -> Self {
        Opt { needs_groups: true, ..self }
    }

    const fn unstreamed(self, why: &'static str) -> Self {
        Opt { unstreamed: Some(why), ..self }
    }

    const fn python(self, name: &'static str) -> Self {
        Opt { python: Some(name), ..self }
    }

    const fn unless(self, name: &'static str) -> Self {
        Opt { is_inverted: true, ..self.python(name) }
    }

    /// What it is and what holds where it is not given.
    pub fn help(&self) -> String {
        let mut text = self.help.replace("{losses}", AnyLoss::NAMES);
        if text.contains("{solvers}") {
            text = text.replace("{solvers}", &Algorithm::help());
        }
        if text.contains("{both}") {
            text = text.replace("{both}", &Algorithm::named(|spec| spec.form == Form::Both));
        }
        if text.contains("{streamed}") {
            text = text.replace("{streamed}", &Algorithm::named(|spec| spec.streams));
        }
        text = text.replace("{stream}", Algorithm::automatic(false, false).name());
        if let Some(owner) = self.owner() {
            let mut letters = text.chars();
            let first = letters.next().map(|c| c.to_ascii_lowercase());
            text = format!(
                "Of {owner}: {}{}",
                first.into_iter().collect::<String>(),
                letters.as_str()
            );
        }
        if !self.default.is_empty() {
            text += &format!(" [default: {}]", self.default);
        }
        text
    }

    /// What it is on one line, with what holds where it is not given if that is as short. `None` for
    /// options that most users of the command need not know.
    pub fn brief(&self, command: Command) -> Option<String> {
        /// Most characters of a default on the line.
        const SHORT: usize = 16;
        // How to choose is of interest where that is asked for.
        let is_asked = self.heading != Heading::Choice || command == Command::Select;
        let text = self.brief.filter(|_| is_asked || self.key == "select")?;
        let is_told = (1..=SHORT).contains(&self.default.len());
        let default = if is_told { format!(" [default: {}]", self.default) } else { String::new() };
        Some(format!("{text}{default}"))
    }

    /// Its name in the Python package.
    pub fn python_name(&self) -> String {
        self.python.map_or_else(|| self.key.replace('-', "_"), str::to_owned)
    }

    /// The algorithm that alone uses it, where there is one.
    pub fn owner(&self) -> Option<Algorithm> {
        Algorithm::ALL.into_iter().find(|a| a.spec().owns(self.key))
    }

    /// Whether a command takes it.
    pub fn is_of(&self, command: Command) -> bool {
        match command {
            Command::Fit => self.key != "path",
            Command::Select => self.heading != Heading::Stream && self.key != "select",
            Command::Inspect => self.heading == Heading::Table || self.key == "loss",
        }
    }

    /// Whether a table `[solver.NAME]` of a job file may hold it.
    pub fn is_of_solver(&self) -> bool {
        matches!(self.used_by, Use::Rounds | Use::Solver)
    }
}

/// The option of a name.
pub fn find(key: &str) -> Option<&'static Opt> {
    TABLE.iter().find(|option| option.key == key)
}

const CLUSTERED: &str = "the rows of a cluster may lie far apart: leave stream out";
const UNWEIGHTED: &str = "rows that are visited once cannot be weighted";
const AT_RANDOM: &str = "a random sample of each group is held out";
const NO_OFFSETS: &str = "it plays the game without offsets";

/// All options; within a heading in the order of the help.
pub const TABLE: &[Opt] = &[
    // How a model is chosen.
    opt(
        Heading::Choice,
        "select",
        "",
        Kind::Switch,
        "Choose objective and penalty as `gdro select` does: by the worst group on validation rows, \
         and ERM unless another model is better beyond doubt. Where neither is named, nor --ball or \
         --domain, this is done without asking if it is predicted to take less than a minute",
    )
    .in_brief("Choose objective and penalty, however long it takes"),
    opt(
        Heading::Choice,
        "grid",
        "LOW:HIGH:N",
        Kind::Text,
        "Penalties to try, or balls (ball:LOW:HIGH:N): N values, evenly spaced by their logarithms",
    )
    .in_brief("Penalties to try: N from LOW to HIGH, evenly spaced by logarithms")
    .default("1e-6:10:15, unless --l2 or --ball has several values"),
    opt(
        Heading::Choice,
        "folds",
        "K",
        Kind::Count(2, TRIED),
        "Folds of the training rows, stratified by group and label; each is for validation once; \
         clusters stay whole",
    )
    .in_brief("Folds of the training rows")
    .default("5"),
    opt(
        Heading::Choice,
        "validation",
        "F",
        Kind::Number(Range::share("a share between 0 and 1")),
        "Instead of folds: the share of the training rows that is for validation",
    ),
    opt(
        Heading::Choice,
        "objectives",
        "A,B,…",
        Kind::List,
        "The family to choose from besides ERM, as in balanced,max,top-k:3; --objective names one",
    )
    .in_brief("The family besides ERM, as in balanced,max,top-k:3")
    .default(
        "balanced; tilted:TAU and tilted:TAU:groups for six TAU from 3 to 0.01 times the mean loss of \
         ERM (for squared loss, the variance of the target); max",
    ),
    opt(
        Heading::Choice,
        "criterion",
        "risk|accuracy|top-k:K",
        Kind::Named("risk, accuracy or top-k:K"),
        "What decides on validation rows: the largest group risk, the least accuracy of a group, or \
         the mean of the K largest risks",
    )
    .in_brief("What decides on validation rows")
    .default("risk"),
    opt(
        Heading::Choice,
        "judge-rows",
        "N",
        Kind::Count(1, MOST),
        "Groups with fewer training rows do not decide, unless all have fewer",
    )
    .default("20"),
    opt(
        Heading::Choice,
        "path",
        "N",
        Kind::Count(2, TRIED),
        "Draw the trade-off instead, at every k, or with many groups at about N of them",
    )
    .in_brief("Draw the trade-off instead, at about N points")
    .default("20"),
    // What is minimised.
    opt(
        Heading::Goal,
        "objective",
        "OBJECTIVE",
        Kind::Named("max, top-k:K, tilted:TAU, regret, average or balanced"),
        "max (largest group risk), top-k:K (mean of the K largest), tilted:TAU (from average, TAU \
         large, to max, TAU small; tilted:TAU:groups from balanced), regret (largest excess over \
         what a model for the group alone attains), average (rows alike), balanced (groups alike)",
    )
    .in_brief("max, top-k:K, tilted:TAU, regret, average or balanced")
    .default("chosen where no penalty is named either, see --select; else max"),
    opt(
        Heading::Goal,
        "offsets",
        "FILE",
        Kind::Path,
        "Compare groups by risk minus an offset: FILE (CSV: group,offset)",
    )
    .unstreamed(NO_OFFSETS),
    opt(
        Heading::Goal,
        "adjustment",
        "C",
        Kind::Number(Range::above_zero("a number above 0")),
        "Compare groups by risk plus C/√n, n its rows: small groups count for more (Sagawa et al.)",
    )
    .unstreamed(NO_OFFSETS),
    opt(
        Heading::Goal,
        "scales",
        "FILE",
        Kind::Path,
        "Compare groups by risk times a factor: FILE (CSV: group,scale)",
    )
    .unstreamed("it plays the game without scales"),
    opt(Heading::Goal, "loss", "NAME", Kind::Named("the name of a loss"), "{losses}")
        .in_brief("logistic, softmax, squared, hinge, huber, … [default: by the target]")
        .default("logistic, softmax or squared, by the kind of target"),
    opt(
        Heading::Goal,
        "ball",
        "B",
        Kind::Bound(Range::above_zero("a radius above 0")),
        "Keep the weights in a ball of radius B around 0",
    ),
    opt(
        Heading::Goal,
        "domain",
        "DOMAIN",
        Kind::Named("free, ball:B, l1:B, box:B, box:L,H, simplex, simplex:S or p-ball:P,B"),
        "Keep the weights in a set: ball:B (the same as --ball B), l1:B (absolute weights sum to at \
         most B, many are 0), box:B or box:L,H (each weight by itself), simplex or simplex:S (at \
         least 0, with the sum 1 or S) or p-ball:P,B (a ball of the norm of exponent P, 1 < P <= 2); \
         over all weights, those of every class",
    )
    .default("free"),
    opt(
        Heading::Goal,
        "l2",
        "L",
        Kind::Bound(Range {
            low: 0.0,
            closed: true,
            high: f64::INFINITY,
            expected: "a number of at least 0",
        }),
        "Ridge: add (L/2)·‖weights‖²",
    )
    .common()
    .default("1e-4, 0 where ball or domain bounds the weights"),
    opt(
        Heading::Goal,
        "no-intercept",
        "",
        Kind::Switch,
        "Train a model without an intercept: its scores are 0 where all features are",
    )
    .unless("fit_intercept"),
    opt(
        Heading::Goal,
        "penalize-intercept",
        "",
        Kind::Switch,
        "Put the intercept under the ridge and into the domain; otherwise it is free (rounds keep it \
         in [−100, 100], wider for targets that are larger)",
    ),
    // How it is minimised.
    opt(
        Heading::Solver,
        "solver",
        "SOLVER",
        Kind::Named("exact, auto or the name of an algorithm"),
        "exact; or rounds of {solvers}; or auto: exact where it fits, and {stream} with --stream",
    )
    .in_brief("exact, smd-m, online-1, …")
    .default("auto"),
    opt(
        Heading::Solver,
        "tol",
        "GAP",
        Kind::Number(Range::above_zero("a gap above 0")),
        "Stop when the certified gap to the optimum is at most this",
    )
    .common()
    .used_by(Use::Solver)
    .unstreamed("the certificate comes after the pass"),
    opt(
        Heading::Solver,
        "max-iter",
        "N",
        Kind::Count(1, 1_000_000),
        "Most iterations of the exact solver",
    )
    .default("200")
    .unstreamed("it is for the exact solver"),
    opt(
        Heading::Solver,
        "anytime",
        "",
        Kind::Switch,
        "Steps that fall with time and need no number of rounds ({both})",
    )
    .used_by(Use::Rounds),
    opt(
        Heading::Solver,
        "rounds",
        "T",
        Kind::Count(1, MOST),
        "Number of rounds, such as 2e5; with --tol a run that has not reached its gap by then goes \
         on, until it has played 64 times as many",
    )
    .default("by solver and budget")
    .used_by(Use::Rounds),
    opt(
        Heading::Solver,
        "step-w",
        "X",
        Kind::Number(Range::above_zero("a multiplier above 0")),
        "Multiplier on the theorem's step of the weights",
    )
    .default("by the rows")
    .used_by(Use::Rounds),
    opt(
        Heading::Solver,
        "step-q",
        "X",
        Kind::Number(Range::above_zero("a multiplier above 0")),
        "Multiplier on the theorem's step of the group weights",
    )
    .default("by the rows")
    .used_by(Use::Rounds),
    opt(
        Heading::Solver,
        "average",
        "AVERAGE",
        Kind::Named("uniform, weighted, suffix or last"),
        "uniform, weighted, suffix (second half) or last",
    )
    .default("the theorem's; suffix after pilot runs")
    .used_by(Use::Rounds),
    opt(
        Heading::Solver,
        "loss-range",
        "M",
        Kind::Number(Range::above_zero("a number above 0")),
        "Range of the losses for steps and bandit players",
    )
    .default(
        "what the domain implies; for bandit players without given steps by the losses of the \
         balanced model: few above it, and little noise below",
    )
    .used_by(Use::Rounds),
    opt(
        Heading::Solver,
        "nbar",
        "N",
        Kind::Count(1, MOST),
        "Groups with at least N samples are drawn in batches, for N/2 rounds",
    )
    .default("by the budgets")
    .used_by(Use::Rounds),
    opt(
        Heading::Solver,
        "queries",
        "R,…",
        Kind::Counts,
        "How many groups to ask in a round; a list is gone through in turn",
    )
    .default("1")
    .used_by(Use::Rounds),
    opt(
        Heading::Solver,
        "kept",
        "N",
        Kind::Count(1, MOST),
        "Samples of every group to keep for deciding which groups can dominate",
    )
    .default("rounds per group")
    .used_by(Use::Rounds),
    opt(
        Heading::Solver,
        "subsets",
        "NAME",
        Kind::Named("dep-round or systematic"),
        "Draw the k groups by dep-round (the paper's, work for every group) or \
         systematic (work for every group drawn)",
    )
    .default("dep-round below 64 groups, else systematic")
    .used_by(Use::Rounds),
    opt(
        Heading::Solver,
        "budget",
        "all|FILE",
        Kind::Path,
        "Visit each row at most once: all rows, or as many of each group as FILE (CSV: \
         group,budget) says",
    )
    .used_by(Use::Rounds)
    .unstreamed("every row is visited at most once anyway"),
    opt(
        Heading::Solver,
        "seed",
        "N",
        Kind::Count(0, i64::MAX as u64),
        "Seed of the split and of all draws",
    )
    .common()
    .default("0")
    .python("random_state"),
    // What the table means.
    opt(
        Heading::Table,
        "target",
        "COLUMN",
        Kind::Text,
        "Column to predict; or a comparison such as 'arr_delay>30'",
    )
    .common(),
    opt(Heading::Table, "positive", "LABEL", Kind::Text, "Label that counts as positive")
        .common()
        .default("1, yes, true, or the one that sorts last"),
    opt(
        Heading::Table,
        "groups",
        "A,B:CUT,CUT,…",
        Kind::Families,
        "Group columns; every combination of their values is a group. age:25,40,60 cuts a numeric \
         column into age<=25, 25<age<=40, … Given several times: families; a row is in one group \
         of each, and the worst group is that of all families",
    )
    .in_brief("Group columns: every combination of their values is a group"),
    opt(
        Heading::Table,
        "min-group",
        "N",
        Kind::Count(2, MOST),
        "Smallest number of rows of a group, before rows are held out",
    )
    .default("any")
    .needs_groups(),
    opt(
        Heading::Table,
        "small-groups",
        "error|merge|drop",
        Kind::Named("error, merge or drop"),
        "What to do with smaller groups; merge makes them one, (small), drop leaves their rows out \
         unless another family has a group for them",
    )
    .default("error")
    .needs_groups(),
    opt(
        Heading::Table,
        "merge",
        "COLUMN:NEW=OLD|OLD",
        Kind::Merges,
        "Merge values of a group column, as in race:Other=Eskimo|Islander (repeatable)",
    ),
    opt(
        Heading::Table,
        "group-features",
        "keep|drop",
        Kind::Named("keep or drop"),
        "Whether group columns are features too",
    )
    .default("keep")
    .needs_groups(),
    opt(
        Heading::Table,
        "holdout",
        "F",
        Kind::Holdout,
        "Share of the rows (with --cluster of the clusters) to hold out, stratified by group and \
         label; from 1 on, rows or clusters per group",
    )
    .in_brief("Share of the rows to hold out")
    .default("0.2")
    .used_by(Use::Always),
    opt(
        Heading::Table,
        "holdout-file",
        "FILE",
        Kind::Path,
        "Hold out the rows of this file, another table of the same columns",
    )
    .used_by(Use::Always)
    .unstreamed(AT_RANDOM),
    opt(
        Heading::Table,
        "holdout-column",
        "COLUMN",
        Kind::Text,
        "Hold out the rows that have --holdout-value in this column, which is no feature",
    )
    .unstreamed(AT_RANDOM),
    opt(
        Heading::Table,
        "holdout-value",
        "TEXT,…",
        Kind::List,
        "Texts of --holdout-column in rows to hold out",
    ),
    opt(
        Heading::Table,
        "delta",
        "D",
        Kind::Number(Range::share("a probability between 0 and 1")),
        "Intervals hold for all groups at once, and eliminate is right, with probability 1 − D",
    )
    .default("0.05")
    .used_by(Use::Always),
    opt(
        Heading::Table,
        "na",
        "[COLUMN=]TEXTS",
        Kind::List,
        "Texts that mean a missing cell, besides the empty one; COLUMN=TEXT in one column alone, \
         where a number stands for its other spellings, too",
    )
    .in_brief("Texts that mean a missing cell; COLUMN=TEXT in one column alone"),
    opt(
        Heading::Table,
        "missing",
        "[COLUMN=]POLICY",
        Kind::Policies,
        "What to do with missing cells: error; drop (the row); mean (of the training rows; texts: \
         own-category); own-category (texts: a level `(missing)`; numbers: the mean and an \
         indicator). COLUMN=POLICY for one column (repeatable)",
    )
    .in_brief("Missing cells: error, drop, mean or own-category")
    .default("error"),
    opt(
        Heading::Table,
        "missing-group",
        "error|own|drop",
        Kind::Named("error, own or drop"),
        "What to do with rows that miss a group label; own makes them a group",
    )
    .default("error")
    .needs_groups(),
    opt(
        Heading::Table,
        "group-file",
        "FILE,…",
        Kind::List,
        "Files with the group label of each row, one a line, which are the column `group`",
    ),
    opt(
        Heading::Table,
        "scaling",
        "standard|none",
        Kind::Named("standard or none"),
        "Whether numbers are standardised",
    )
    .default("standard; none for the features of LIBSVM files"),
    opt(Heading::Table, "ignore", "A,B,…", Kind::List, "Columns that are no features")
        .common(),
    opt(
        Heading::Table,
        "text",
        "A,B,…",
        Kind::List,
        "Columns that are text although they look numeric",
    ),
    opt(
        Heading::Table,
        "number",
        "A,B,…",
        Kind::List,
        "Columns that are numbers although leading zeros make them look like codes",
    ),
    opt(
        Heading::Table,
        "date",
        "A,B=ORDER,…",
        Kind::List,
        "Columns of dates, as days since 1970-01-01: 2024-01-31, 20240131, 31.01.2024, 31 Jan 2024; \
         31/01/2024 and 01/31/2024 where a cell shows the order or =dmy or =mdy says it; with or \
         without a time",
    ),
    opt(
        Heading::Table,
        "min-count",
        "N",
        Kind::Count(2, MOST),
        "Fold the texts of a column that fewer than N training rows have into one level, `(rare)`",
    ),
    opt(
        Heading::Table,
        "hash",
        "COLUMN[=B]",
        Kind::Buckets,
        "Turn a column with many texts into B indicators of the bucket of a hash [default: 1024 \
         buckets] (repeatable)",
    ),
    opt(Heading::Table, "weight", "COLUMN", Kind::Text, "Column of row weights")
        .common()
        .unstreamed(UNWEIGHTED),
    opt(
        Heading::Table,
        "weight-cap",
        "B",
        Kind::Number(Range::above_zero("a number above 0")),
        "Held-out rows of a larger weight count as B in points and intervals. It must not be taken \
         from these rows",
    )
    .default("the largest weight of a training row")
    .used_by(Use::Always)
    .unstreamed(UNWEIGHTED),
    opt(
        Heading::Table,
        "weight-kind",
        "importance|frequency",
        Kind::Named("importance or frequency"),
        "What weights mean: importance, how much a row counts within its group; frequency, how many \
         rows it stands for, a whole number",
    )
    .default("importance"),
    opt(
        Heading::Table,
        "cluster",
        "COLUMN",
        Kind::Text,
        "Column that says which rows belong together, such as those of a patient: they are held out \
         as a whole, and are the unit of intervals. It is no feature",
    )
    .in_brief("Column of what belongs together, such as patients")
    .unstreamed(CLUSTERED),
    opt(
        Heading::Table,
        "cluster-cap",
        "S",
        Kind::Number(Range::above_zero("a number above 0")),
        "Held-out clusters of a larger total weight in a group (without weights, of more rows) count \
         as S in points and intervals. It must not be taken from these rows",
    )
    .default("the largest weight of a cluster in a training group")
    .used_by(Use::Always)
    .unstreamed(CLUSTERED),
    opt(
        Heading::Table,
        "format",
        "FORMAT",
        Kind::Named("csv, tsv, parquet, arrow or svmlight"),
        "csv, tsv, parquet, arrow or svmlight",
    )
    .default("detected by the content and the name"),
    opt(Heading::Table, "index-base", "0|1", Kind::Count(0, 1), "Smallest index of LIBSVM files")
        .default("1, or 0 where it occurs"),
    opt(
        Heading::Table,
        "columns",
        "A,B,…",
        Kind::List,
        "Names of the columns, for files without a header",
    ),
    opt(
        Heading::Table,
        "delimiter",
        "CHAR",
        Kind::Character,
        "What separates cells: a character, or tab, space, semicolon or pipe",
    )
    .default("detected among comma, semicolon, tab and pipe by the first lines; a tab in *.tsv"),
    opt(Heading::Table, "decimal", "CHAR", Kind::Character, "Decimal sign of numbers: . or ,")
        .default("."),
    opt(
        Heading::Table,
        "thousands",
        "CHAR",
        Kind::Character,
        "What stands between the thousands of numbers: , or . or apostrophe or space",
    )
    .default("nothing"),
    opt(Heading::Table, "comment", "TEXT", Kind::Text, "Skip lines that start with this text"),
    opt(
        Heading::Table,
        "memory",
        "SIZE",
        Kind::Named("a size such as 4GB or 500MB"),
        "Refuse a table, groups, files or a stream that would take more memory, before it is taken",
    )
    .used_by(Use::Always)
    .default("what the machine, the control group and ulimit -v leave"),
    // How it is streamed.
    opt(
        Heading::Stream,
        "stream",
        "",
        Kind::Switch,
        "Train in one pass over the table, with one of {streamed} ({stream} unless --solver names \
         another), after a pass that counts and before one that certifies. The rows should be in random \
         order: they are shuffled within the buffer only. Says when they are not",
    )
    .in_brief("Train in one pass, for tables larger than memory")
    .used_by(Use::Always),
    opt(
        Heading::Stream,
        "schema",
        "FILE",
        Kind::Path,
        "Of a stream: what an earlier run wrote as schema.json; spares the pass that counts",
    ),
    opt(
        Heading::Stream,
        "buffer",
        "ROWS",
        Kind::Count(16, 1 << 24),
        "Of a stream: rows that are shuffled at a time; four times as many may be kept in memory, \
         of small groups, and drawn again by smd-m",
    )
    .default("65536, fewer in wide tables"),
    opt(
        Heading::Stream,
        "one-pass",
        "",
        Kind::Switch,
        "Of a stream: no pass after training: no certificate, no evaluation",
    ),
    opt(
        Heading::Stream,
        "robust-only",
        "",
        Kind::Switch,
        "Of a stream: train the robust model only, without ERM and balanced ERM beside it",
    ),
    // What is kept.
    opt(
        Heading::Output,
        "out",
        "DIR",
        Kind::Path,
        "Folder for model.json, summary.json and trace.jsonl; of select for selection.json, too, \
         or for path.json alone; a new folder, or that of an earlier run, whose files it replaces",
    )
    .in_brief("Folder for model.json, summary.json and more"),
    opt(
        Heading::Output,
        "force",
        "",
        Kind::Switch,
        "Write into --out even if it is a folder with other files and no run of gdro, or of a run that \
         has not ended; nothing but files of those names is replaced",
    ),
    opt(
        Heading::Output,
        "report",
        "FILE.html",
        Kind::Path,
        "Write what came out as one page for a browser: charts and tables, no network",
    )
    .in_brief("Write what came out as one page for a browser"),
    opt(
        Heading::Output,
        "checkpoint-every",
        "SECONDS",
        Kind::Number(Range {
            low: 0.0,
            closed: true,
            high: f64::INFINITY,
            expected: "a number of seconds of at least 0",
        }),
        "Keep a checkpoint in the folder of --out, written anew after so many seconds, from which \
         --resume goes on; with 0 none",
    )
    .default("60, and longer where writing takes more than 0.5 % of the time"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_one_algorithm_are_options_of_rounds() {
        for algorithm in Algorithm::ALL {
            for key in algorithm.spec().options {
                let option = find(key).unwrap_or_else(|| panic!("{algorithm}: no option `{key}`"));
                assert_eq!(option.used_by, Use::Rounds, "{key}");
                assert_eq!(option.owner(), Some(algorithm));
                assert!(option.help().starts_with(&format!("Of {algorithm}: ")), "{key}");
            }
        }
        // What several algorithms use belongs to none.
        assert!(
            ["rounds", "delta", "step-w"].iter().all(|key| find(key).unwrap().owner().is_none())
        );
    }

    #[test]
    fn names_in_texts_are_those_of_the_specifications() {
        for option in TABLE {
            assert!(!option.help().contains(['{', '}']), "{}", option.key);
        }
        let help = |key| find(key).unwrap().help();
        for algorithm in Algorithm::ALL {
            assert!(help("solver").contains(algorithm.name()), "{algorithm}");
        }
        assert!(help("anytime").ends_with("(smd-m, online-1, atkro-m)"), "{}", help("anytime"));
    }
}
