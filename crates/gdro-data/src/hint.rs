//! What to do about an error: words, and options for the front end to write.

use std::fmt;

use crate::words::shown;

/// An option with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of the option, as in job files.
    pub option: &'static str,
    /// What to give it.
    pub value: Value,
}

/// The value of a [`Setting`]. Texts of tables are as they are: [`shown`] puts them on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Whatever fits.
    Any,
    /// One of these words or numbers.
    Words(&'static [&'static str]),
    /// A column.
    Column(String),
    /// A word for one column alone.
    OfColumn(String, &'static str),
    /// The text of a cell.
    Cell(String),
    /// The texts of several cells.
    Cells(Vec<String>),
}

/// What to do about an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Words(&'static str),
    Setting(Setting),
}

impl Hint {
    pub(crate) fn say(mut self, words: &'static str) -> Self {
        self.0.push(Part::Words(words));
        self
    }

    pub(crate) fn set(mut self, option: &'static str, value: Value) -> Self {
        self.0.push(Part::Setting(Setting { option, value }));
        self
    }

    /// The settings that may help.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.0.iter().filter_map(|part| match part {
            Part::Setting(setting) => Some(setting),
            Part::Words(_) => None,
        })
    }

    /// The hint in words, with settings as `write` has them.
    pub fn text(&self, write: impl Fn(&Setting) -> String) -> String {
        let part = |part: &Part| match part {
            Part::Words(words) => (*words).to_owned(),
            Part::Setting(setting) => write(setting),
        };
        self.0.iter().map(part).collect()
    }
}

/// `option=value`, and the name alone where any value does.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setting { option, value } = self;
        match value {
            Value::Any => f.write_str(option),
            Value::Words(words) => write!(f, "{option}={}", words.join("|")),
            Value::Column(text) | Value::Cell(text) => write!(f, "{option}={}", shown(text)),
            Value::Cells(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| shown(text)).collect();
                write!(f, "{option}={}", texts.join(","))
            }
            Value::OfColumn(column, word) => write!(f, "{option}={}={word}", shown(column)),
        }
    }
}
