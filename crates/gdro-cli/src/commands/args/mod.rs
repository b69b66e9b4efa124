//! Options that several commands share, as settings under the names of a job file.

mod goal;
mod later;
mod solver;
mod stream;
mod table;
mod threads;

pub use goal::GoalArgs;
pub use later::{FormatArg, GroupFileArg};
pub use solver::SolverArgs;
pub use stream::StreamArgs;
pub use table::TableArgs;
pub use threads::ThreadsArg;

use toml::Value;

/// A number as a setting: a whole one exactly.
pub(super) fn number(text: &str) -> std::result::Result<Value, String> {
    let whole = text.parse().map(Value::Integer);
    whole.or_else(|_| text.parse().map(Value::Float)).map_err(|_| "expected a number".into())
}

/// A number, or several separated by commas, as a setting.
fn number_or_list(text: &str) -> std::result::Result<Value, String> {
    if !text.contains(',') {
        return number(text);
    }
    let expected = |_| "expected a number, or for `gdro select` several separated by commas".into();
    text.split(',')
        .map(|entry| number(entry.trim()))
        .collect::<std::result::Result<_, _>>()
        .map(Value::Array)
        .map_err(expected)
}

/// A list separated by commas; an entry in quotes may hold commas, and quotes twice.
fn list(text: &str) -> Value {
    let (mut entries, mut quoted) = (vec![String::new()], false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let at = entries.len() - 1;
        match c {
            '"' if quoted && rest.next_if_eq(&'"').is_some() => entries[at].push('"'),
            '"' if quoted || entries[at].trim().is_empty() => quoted = !quoted,
            ',' if !quoted => entries.push(String::new()),
            c => entries[at].push(c),
        }
    }
    Value::Array(entries.iter().map(|e| Value::from(e.trim())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_commas_outside_quotes() {
        let texts = |text: &str| list(text).try_into::<Vec<String>>().unwrap();
        assert_eq!(texts("race, sex"), ["race", "sex"]);
        assert_eq!(texts("\"12,5\",n/a"), ["12,5", "n/a"]);
        assert_eq!(texts("\"a\"\"b\",5\""), ["a\"b", "5\""]);
        assert_eq!(texts(""), [""]);
    }

    #[test]
    fn whole_numbers_stay_exact() {
        assert_eq!(number("9007199254740993"), Ok(Value::Integer(9_007_199_254_740_993)));
        assert_eq!(number("2e5"), Ok(Value::Float(2e5)));
        assert!(number("many").is_err());
    }
}
