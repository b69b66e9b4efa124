//! Tables of text that fit a terminal.

use console::{measure_text_width, truncate_str};

/// Blanks between columns.
const GAP: usize = 2;

/// The name column is cut to this width before a table is cut in two.
const NARROW: usize = 19;

/// A table: names on the left, blocks of columns beside them.
#[derive(Default)]
pub struct Grid {
    /// A column each: two lines of header, then the cells.
    columns: Vec<Vec<String>>,
    /// Blocks as the number of their columns.
    blocks: Vec<usize>,
    /// Lines above which there is a rule.
    rules: Vec<usize>,
    /// Columns that are aligned on the left.
    left: Vec<usize>,
}

impl Grid {
    /// A table with these names in its first column.
    pub fn new(header: &str, names: Vec<String>) -> Self {
        let mut first = vec![String::new(), header.to_owned()];
        first.extend(names);
        Grid { columns: vec![first], ..Grid::default() }
    }

    /// Starts a block: columns that stay together.
    pub fn block(&mut self) {
        self.blocks.push(0);
    }

    /// Adds a column to the block.
    pub fn column(&mut self, header: [&str; 2], cells: Vec<String>) {
        if let Some(block) = self.blocks.last_mut() {
            *block += 1;
            let mut column: Vec<String> = header.map(str::to_owned).to_vec();
            column.extend(cells);
            self.columns.push(column);
        }
    }

    /// Adds a column of words to the block, aligned on the left.
    pub fn left_column(&mut self, header: &str, cells: Vec<String>) {
        self.left.push(self.columns.len());
        self.column(["", header], cells);
    }

    /// Draws a rule above a line.
    pub fn rule(&mut self, line: usize) {
        self.rules.push(line);
    }

    /// The text, no wider than `limit`: first the names are cut, then blocks go into a further
    /// table below.
    pub fn text(&self, limit: Option<usize>) -> String {
        let limit = limit.unwrap_or(usize::MAX);
        let widths: Vec<usize> = self
            .columns
            .iter()
            .map(|cells| cells.iter().map(|c| measure_text_width(c)).max().unwrap_or(0))
            .collect();
        let rest: usize = widths[1..].iter().map(|w| w + GAP).sum();
        let narrow = widths[0].min(NARROW.max(limit.saturating_sub(rest)));

        let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
        let (mut used, mut next) = (narrow, 1);
        for length in &self.blocks {
            let block = next..next + length;
            next = block.end;
            let width: usize = block.clone().map(|i| widths[i] + GAP).sum();
            if used + width > limit && used > narrow {
                parts.push(Vec::new());
                used = narrow;
            }
            used += width;
            if let Some(part) = parts.last_mut() {
                part.extend(block);
            }
        }
        let drawn = parts.iter().map(|part| self.part(part, &widths, narrow, limit));
        drawn.collect::<Vec<_>>().join("\n")
    }

    fn part(&self, part: &[usize], widths: &[usize], narrow: usize, limit: usize) -> String {
        // A part of a cut table may leave more room for the names.
        let rest: usize = part.iter().map(|i| widths[*i] + GAP).sum();
        let first = widths[0].min(narrow.max(limit.saturating_sub(rest)));
        let rule = "─".repeat((first + rest).min(limit)) + "\n";
        let mut text = rule.clone();
        let titled = part.iter().any(|i| !self.columns[*i][0].is_empty());
        let lines = usize::from(!titled)..self.columns[0].len();
        // A line stands where it says something; one that is a name alone stands everywhere.
        let blank = |i: usize, line: usize| self.columns[i][line].is_empty();
        let empty = |line: &usize| {
            part.iter().all(|i| blank(*i, *line))
                && (1..self.columns.len()).any(|i| !blank(i, *line))
        };
        for line in lines.filter(|line| *line < 2 || !empty(line)) {
            if line == 2 || line > 2 && self.rules.contains(&(line - 2)) {
                text += &rule;
            }
            let name = truncate_str(&self.columns[0][line], first, "…");
            let mut row =
                format!("{name}{}", " ".repeat(first - measure_text_width(&name).min(first)));
            for i in part {
                let cell = &self.columns[*i][line];
                let pad = " ".repeat(widths[*i] - measure_text_width(cell));
                row += &" ".repeat(GAP);
                row += &if self.left.contains(i) { cell.clone() + &pad } else { pad + cell };
            }
            text += row.trim_end();
            text.push('\n');
        }
        text + &rule
    }
}

/// The width of the terminal: `None` when the output goes elsewhere and `COLUMNS` does not say.
pub fn terminal_width(terminal: &console::Term) -> Option<usize> {
    let asked = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    let found = terminal.size_checked().map(|(_, columns)| usize::from(columns)).or_else(asked);
    found.map(|width| width.max(40))
}

/// Breaks a text into lines no wider than `limit`, the later ones indented.
pub fn wrapped(text: &str, limit: Option<usize>, indent: usize) -> String {
    let limit = limit.unwrap_or(usize::MAX);
    let (mut out, mut used) = (String::new(), 0);
    for word in text.split(' ') {
        let width = measure_text_width(word);
        if used > 0 && used + 1 + width > limit {
            out.push('\n');
            out += &" ".repeat(indent);
            used = indent;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out += word;
        used += width;
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new("group", vec!["a rather long name".into(), "worst".into()]);
        grid.block();
        grid.column(["", "rows"], vec!["1,200".into(), String::new()]);
        grid.block();
        grid.column(["risk", "ERM"], vec!["0.5".into(), "0.5".into()]);
        grid.column(["risk", "gdro"], vec!["0.25".into(), "–".into()]);
        grid.rule(1);
        grid
    }

    #[test]
    fn columns_are_aligned_and_ruled() {
        let expected = "\
─────────────────────────────────────
                           risk  risk
group                rows   ERM  gdro
─────────────────────────────────────
a rather long name  1,200   0.5  0.25
─────────────────────────────────────
worst                       0.5     –
─────────────────────────────────────
";
        assert_eq!(grid().text(None), expected);
    }

    #[test]
    fn a_line_stands_where_it_says_something() {
        let mut grid = Grid::new("group", vec!["a".into(), "… and 3 more".into(), "mean".into()]);
        let column = |total: &str| vec!["0.5".into(), String::new(), total.into()];
        grid.block();
        grid.column(["", "risk"], column("0.5"));
        grid.block();
        grid.column(["", "weight of the group"], column(""));
        let text = grid.text(Some(30));
        assert_eq!(text.matches("… and 3 more").count(), 2, "{text}");
        assert_eq!(text.matches("mean").count(), 1, "{text}");
    }

    #[test]
    fn names_are_cut_before_the_table_is() {
        let mut grid = grid();
        grid.columns[0][2] += " indeed";
        let text = grid.text(Some(40));
        assert!(text.contains("a rather long name i…  1,200"), "{text}");
        let text = grid.text(Some(31));
        assert_eq!(text.matches("group").count(), 2, "{text}");
        assert!(text.lines().all(|l| measure_text_width(l) <= 31), "{text}");
    }

    #[test]
    fn texts_are_broken_at_blanks() {
        assert_eq!(wrapped("note: a bb ccc", Some(10), 2), "note: a bb\n  ccc\n");
        assert_eq!(wrapped("a b", None, 2), "a b\n");
    }
}
