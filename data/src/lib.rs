//! Tables to try gdro on, which ship with it: as CSV with a header, and with the command to try.

use std::io::Read as _;

use flate2::read::GzDecoder;

/// A table that ships.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Its name; the file that it is written to is `NAME.csv`.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Who made it, under which licence, and what was changed.
    pub source: &'static str,
    /// The column to predict.
    pub target: &'static str,
    /// The columns of the groups, as `--groups` takes them.
    pub groups: &'static str,
    /// What else `gdro fit` needs to know of it.
    more: &'static str,
    columns: &'static [&'static str],
    /// What separates the cells of the files.
    separator: &'static str,
    files: &'static [&'static [u8]],
}

/// All tables, by name.
pub const ALL: [Example; 3] = [
    Example {
        name: "adult",
        about: "48,842 people of the 1994 census: who earns more than 50,000 dollars?",
        source: "Becker and Kohavi, Adult, UCI Machine Learning Repository, 1996 \
                 (https://doi.org/10.24432/C5XW20), CC BY 4.0; here both files as one, with a header, \
                 and missing cells empty",
        target: "income",
        groups: "race,sex",
        more: " --missing own-category",
        columns: &[
            "age",
            "workclass",
            "fnlwgt",
            "education",
            "education-num",
            "marital-status",
            "occupation",
            "relationship",
            "race",
            "sex",
            "capital-gain",
            "capital-loss",
            "hours-per-week",
            "native-country",
            "income",
        ],
        separator: ", ",
        files: &[
            include_bytes!("../adult/adult.data.gz"),
            include_bytes!("../adult/adult.test.gz"),
        ],
    },
    Example {
        name: "german_credit",
        about: "1,000 credits: which go bad (2), among the young and the others?",
        source: "Hofmann, Statlog (German Credit Data), UCI Machine Learning Repository, 1994 \
                 (https://doi.org/10.24432/C5NC77), CC BY 4.0; here with a header and commas",
        target: "credit",
        groups: "age:25",
        more: " --positive 2",
        columns: &[
            "status",
            "duration",
            "history",
            "purpose",
            "amount",
            "savings",
            "employment",
            "instalment-rate",
            "personal-status",
            "debtors",
            "residence",
            "property",
            "age",
            "other-plans",
            "housing",
            "credits",
            "job",
            "dependents",
            "telephone",
            "foreign",
            "credit",
        ],
        separator: " ",
        files: &[include_bytes!("../german_credit/german.data.gz")],
    },
    Example {
        name: "island",
        about: "15,000 patients of three sites, made up: on the island a marker means the opposite",
        source: "made up for gdro, under its licence",
        target: "ill",
        groups: "site",
        more: " --objective max",
        columns: &[],
        separator: ",",
        files: &[include_bytes!("../island/island.csv.gz")],
    },
];

impl Example {
    /// The table of a name.
    pub fn find(name: &str) -> Option<&'static Example> {
        ALL.iter().find(|example| example.name == name)
    }

    /// What `gdro fit FILE` needs to learn from it.
    pub fn options(&self) -> String {
        format!("--target {} --groups {}{}", self.target, self.groups, self.more)
    }

    /// The table as CSV: a header, then a line for each row; a missing cell is empty.
    ///
    /// # Panics
    /// Never: what is unpacked ships with this.
    pub fn text(&self) -> String {
        let mut csv = String::new();
        if !self.columns.is_empty() {
            csv += &self.columns.join(",");
            csv.push('\n');
        }
        for packed in self.files {
            let mut text = String::new();
            GzDecoder::new(*packed).read_to_string(&mut text).expect("a table that ships");
            // The second file of Adult starts with a remark, and ends its labels with a full stop.
            let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('|'));
            for line in lines {
                let line = line.strip_suffix('.').unwrap_or(line);
                for (place, cell) in line.split(self.separator).enumerate() {
                    if place > 0 {
                        csv.push(',');
                    }
                    csv += if cell == "?" { "" } else { cell };
                }
                csv.push('\n');
            }
        }
        csv
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows and columns as the READMEs beside the files count them, and cells that they show.
    #[test]
    fn tables_are_whole() {
        for (name, rows, columns) in
            [("adult", 48_842, 15), ("german_credit", 1000, 21), ("island", 15_000, 6)]
        {
            let text = Example::find(name).unwrap().text();
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), rows + 1, "{name}");
            assert!(lines.iter().all(|line| line.split(',').count() == columns), "{name}");
            assert!(!text.contains([' ', '?', '|']), "{name}");
        }
        let adult = Example::find("adult").unwrap().text();
        let count = |end: &str| adult.lines().filter(|line| line.ends_with(end)).count();
        assert_eq!((count(",<=50K"), count(",>50K")), (37_155, 11_687));
        // Rows without an unknown cell.
        assert_eq!(adult.lines().skip(1).filter(|line| !line.contains(",,")).count(), 45_222);
        assert!(Example::find("nothing").is_none());
    }
}
