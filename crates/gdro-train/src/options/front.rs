//! The front ends, and how they write options.

use gdro_data::{Setting, Value, shown};

use super::{Opt, find};

/// Who talks to the user: each has its own way to name an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Front {
    /// The program: `--step-w`.
    #[default]
    Program,
    /// The Python package: `step_w`.
    Python,
}

impl Front {
    /// How an option is called.
    pub fn name(self, key: &str) -> String {
        match self {
            Front::Program => format!("--{key}"),
            Front::Python => find(key).map_or_else(|| key.replace('-', "_"), Opt::python_name),
        }
    }

    /// How an option is given a value.
    pub fn setting(self, setting: &Setting) -> String {
        let name = self.name(setting.option);
        match (self, &setting.value) {
            (_, Value::Any) => name,
            (Front::Program, Value::Words(words)) => format!("{name} {}", words.join("|")),
            (Front::Program, Value::Column(column)) => format!("{name} {}", argument(column)),
            (Front::Program, Value::OfColumn(column, word)) => {
                format!("{name} {}", argument(&format!("{column}={word}")))
            }
            (Front::Program, Value::Cell(text)) => format!("{name} '{}'", in_list(text)),
            (Front::Program, Value::Cells(texts)) => {
                let texts: Vec<String> = texts.iter().map(|text| in_list(text)).collect();
                format!("{name} '{}'", texts.join(","))
            }
            (Front::Python, Value::Words(words)) => {
                let literal = |word: &&str| match word.parse::<f64>() {
                    Ok(_) => (*word).to_owned(),
                    Err(_) => format!("'{word}'"),
                };
                format!("{name}={}", words.iter().map(literal).collect::<Vec<_>>().join(" or "))
            }
            (Front::Python, Value::Column(text) | Value::Cell(text)) => {
                format!("{name}='{}'", shown(text))
            }
            (Front::Python, Value::Cells(texts)) => {
                let texts: Vec<String> = texts.iter().map(|t| format!("'{}'", shown(t))).collect();
                format!("{name}=[{}]", texts.join(", "))
            }
            (Front::Python, Value::OfColumn(column, word)) => {
                format!("{name}={{'{}': '{word}'}}", shown(column))
            }
        }
    }
}

/// A text as an entry of an option that takes a list: quoted as in a CSV file where it must be.
fn in_list(text: &str) -> String {
    let text = shown(text);
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// The same for a shell.
fn argument(text: &str) -> String {
    word(&in_list(text))
}

/// A text as a word of a shell: quoted unless it is plain.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '=' | '/');
    if text.chars().all(plain) { text.to_owned() } else { format!("'{text}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_quotes_what_a_list_would_split() {
        let na = Setting { option: "na", value: Value::Cell("12,5".into()) };
        assert_eq!(Front::Program.setting(&na), "--na '\"12,5\"'");
        assert_eq!(Front::Python.setting(&na), "na='12,5'");
        let na = Setting { option: "na", value: Value::Cells(vec!["NA".into(), "1,2".into()]) };
        assert_eq!(Front::Program.setting(&na), "--na 'NA,\"1,2\"'");
        assert_eq!(Front::Python.setting(&na), "na=['NA', '1,2']");
        assert_eq!(argument("a\"b"), "'\"a\"\"b\"'");
        assert_eq!(argument("education-num"), "education-num");
    }

    #[test]
    fn settings_are_written_as_each_front_end_takes_them() {
        let words = |option, words| Setting { option, value: Value::Words(words) };
        let group = words("missing-group", &["own", "drop"]);
        assert_eq!(Front::Program.setting(&group), "--missing-group own|drop");
        assert_eq!(Front::Python.setting(&group), "missing_group='own' or 'drop'");
        assert_eq!(Front::Python.setting(&words("min-count", &["10"])), "min_count=10");
        let value = Value::OfColumn("a b".into(), "drop");
        let missing = Setting { option: "missing", value };
        assert_eq!(Front::Program.setting(&missing), "--missing 'a b=drop'");
        assert_eq!(Front::Python.setting(&missing), "missing={'a b': 'drop'}");
    }
}
