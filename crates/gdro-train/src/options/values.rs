//! Values as they are typed, as the values of a job file.

use toml::{Table, Value};

use super::table::Kind;

/// What a text cannot be read as.
type Parsed = Result<Value, String>;

impl Kind {
    /// The value that was typed, in as many parts as the option was repeated.
    ///
    /// # Errors
    /// The text at fault, and what was expected.
    pub fn parse(&self, texts: &[String]) -> Parsed {
        let last = texts.last().map_or("", String::as_str);
        let at = |result: Parsed| result.map_err(|expected| format!("{last}: {expected}"));
        match self {
            Kind::Switch => Ok(Value::Boolean(true)),
            Kind::Text | Kind::Path | Kind::Named(_) | Kind::Character => Ok(last.into()),
            Kind::Number(_) | Kind::Count(..) | Kind::Holdout => at(number(last)),
            Kind::Bound(_) => at(number_or_list(last)),
            Kind::List => Ok(list(last)),
            Kind::Counts => at(counts(last)),
            Kind::Families => Ok(families(texts)),
            Kind::Merges => merges(texts),
            Kind::Policies => policies(texts),
            Kind::Buckets => buckets(texts),
        }
    }
}

/// A number: a whole one exactly.
///
/// # Errors
/// That a number was expected.
fn number(text: &str) -> Parsed {
    let whole = text.parse().map(Value::Integer);
    whole.or_else(|_| text.parse().map(Value::Float)).map_err(|_| "expected a number".into())
}

/// A number, or several separated by commas.
fn number_or_list(text: &str) -> Parsed {
    if !text.contains(',') {
        return number(text);
    }
    let expected = |_| "expected a number, or for `gdro select` several separated by commas".into();
    let entries = text.split(',').map(|entry| number(entry.trim()));
    entries.collect::<Result<_, _>>().map(Value::Array).map_err(expected)
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

/// A list of whole numbers, separated by commas.
fn counts(text: &str) -> Parsed {
    let whole = |entry: &str| entry.trim().parse().map(Value::Integer);
    let list: Result<_, std::num::ParseIntError> = text.split(',').map(whole).collect();
    list.map(Value::Array).map_err(|_| "expected a number of groups, or a list of them".into())
}

/// One family as a list of columns, several as a list of such lists.
fn families(texts: &[String]) -> Value {
    match texts {
        [one] => list(one),
        several => Value::Array(several.iter().map(|text| list(text)).collect()),
    }
}

/// `COLUMN:NEW=OLD|OLD`, several times, as the table of a job file.
fn merges(texts: &[String]) -> Parsed {
    let mut columns = Table::new();
    for text in texts {
        let parts = text.split_once(':').and_then(|(c, rest)| Some((c, rest.split_once('=')?)));
        let Some((column, (new, old))) = parts else {
            return Err(format!(
                "{text}: expected COLUMN:NEW=OLD|OLD, as in race:Other=Eskimo|Islander"
            ));
        };
        let old = old.split('|').map(|v| Value::String(v.trim().to_owned())).collect();
        let column =
            columns.entry(column.trim().to_owned()).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(values) = column {
            values.insert(new.trim().to_owned(), Value::Array(old));
        }
    }
    Ok(Value::Table(columns))
}

/// `POLICY` or `COLUMN=POLICY`, several times, as a job file has them: one policy, or a table.
fn policies(texts: &[String]) -> Parsed {
    const DEFAULT: &str = "default";
    let mut policies = Table::new();
    for text in texts {
        let refuse = |why: &str| Err(format!("{text}: {why}"));
        let (column, policy) = match text.rsplit_once('=') {
            Some((DEFAULT, _)) => {
                return refuse("a column of this name has the policy of all columns: rename it");
            }
            Some((column, policy)) => (unquoted(column), policy.trim()),
            None => (DEFAULT.to_owned(), text.trim()),
        };
        if policies.insert(column, policy.into()).is_some() {
            return refuse("given twice: expected one policy, or one for each column");
        }
    }
    match (policies.len(), policies.get(DEFAULT)) {
        (1, Some(policy)) => Ok(policy.clone()),
        _ => Ok(Value::Table(policies)),
    }
}

/// `COLUMN` or `COLUMN=BUCKETS`, several times, as the table of a job file.
fn buckets(texts: &[String]) -> Parsed {
    const USUAL: i64 = 1024;
    let mut columns = Table::new();
    for text in texts {
        let (column, buckets) = match text.rsplit_once('=') {
            None => (text.as_str(), Some(USUAL)),
            Some((column, buckets)) => (column, buckets.trim().parse().ok()),
        };
        let Some(buckets) = buckets else {
            return Err(format!("{text}: expected COLUMN or COLUMN=BUCKETS, as in tailnum=1024"));
        };
        if columns.insert(unquoted(column), Value::Integer(buckets)).is_some() {
            return Err(format!("{text}: the column is given twice"));
        }
    }
    Ok(Value::Table(columns))
}

/// The name of a column, which may stand in quotes.
fn unquoted(column: &str) -> String {
    let column = column.trim();
    let inner = column.strip_prefix('"').and_then(|c| c.strip_suffix('"'));
    inner.map_or(column.to_owned(), |c| c.replace("\"\"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(texts: &[&str], parse: fn(&[String]) -> Parsed) -> String {
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        parse(&texts).map_or_else(|why| why, |value| value.to_string())
    }

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

    #[test]
    fn policies_are_one_or_a_table() {
        assert_eq!(given(&["drop"], policies), r#""drop""#);
        let table = given(&["mean", "ca=drop", "a=b=error", "\"x,y\"=drop"], policies);
        let table: Table = format!("t = {table}").parse().unwrap();
        let expected: Table =
            "t = {default = 'mean', ca = 'drop', 'a=b' = 'error', 'x,y' = 'drop'}".parse().unwrap();
        assert_eq!(table, expected);
        assert!(given(&["mean", "drop"], policies).starts_with("drop: given twice"));
        assert!(given(&["default=drop"], policies).contains("rename it"));
    }

    #[test]
    fn hashes_have_a_usual_number_of_buckets() {
        assert_eq!(given(&["a"], buckets), "{ a = 1024 }");
        assert_eq!(given(&["a=64"], buckets), "{ a = 64 }");
        assert!(given(&["a=many"], buckets).starts_with("a=many: expected COLUMN or"));
        assert!(given(&["a", "a=3"], buckets).starts_with("a=3: the column is given twice"));
    }
}
