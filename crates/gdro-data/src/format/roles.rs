//! What is wanted of each column of a file.

use std::collections::{HashMap, HashSet};

use super::na::check_na;
use crate::error::{Error, Result, unknown_column};
use crate::features::{Encoding, FeatureColumn};
use crate::options::DataOptions;
use crate::table::kind::{Forced, Wanted};
use crate::table::{Kind, Numerals};

/// Refuses names that are empty or occur twice.
pub(super) fn check_names(names: &[String], place: &str) -> Result<()> {
    let place = place.to_owned();
    let mut seen = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        let number = at + 1;
        if name.is_empty() {
            return Err(Error::UnnamedColumn { place, number });
        }
        if let Some(first) = seen.insert(name, number) {
            let column = name.clone();
            return Err(Error::DuplicateColumn { place, column, first, second: number });
        }
    }
    Ok(())
}

/// What is wanted of each column.
pub(super) fn wanted(
    names: &[String],
    options: &DataOptions,
    encoding: Option<&Encoding>,
) -> Result<Vec<Wanted>> {
    let (options, comparison) = &match (encoding, options.settle(names)) {
        (None, settled) => settled?,
        // Training has settled what the target is, and a later table may lack it.
        (Some(_), settled) => settled.unwrap_or_else(|_| (options.clone(), None)),
    };
    let present: HashSet<&str> = names.iter().map(String::as_str).collect();
    let unknown = |name: &str| !present.contains(name);
    match encoding {
        None => {
            for (option, name) in options.named_columns(*comparison) {
                if unknown(name) {
                    return Err(unknown_column(option, name, names));
                }
            }
            check_na(options, names)?;
        }
        Some(encoding) => {
            if let Some(column) = encoding.columns().iter().find(|c| unknown(c.name())) {
                return Err(unknown_column("model", column.name(), names));
            }
        }
    }
    let learnt: Option<HashMap<&str, &FeatureColumn>> =
        encoding.map(|e| e.columns().iter().map(|column| (column.name(), column)).collect());
    let kind = |name: &String| {
        let known = learnt.as_ref().map(|columns| columns.get(name.as_str()).copied());
        let is = |other: &Option<String>| other.as_ref() == Some(name);
        let text = options.is_text(name);
        let is_read = match known {
            None => !options.is_ignored(name),
            Some(None) => is(&options.target) || options.is_cut(name),
            Some(Some(_)) => true,
        };
        if let Some(order) = options.date_of(name).filter(|_| is_read) {
            let found = known.flatten().and_then(FeatureColumn::date);
            return Some(Forced::Date(order.or(found)));
        }
        match known {
            Some(Some(column)) => Some(match column.cells() {
                Kind::Number => Forced::Number,
                _ => Forced::Text,
            }),
            _ if is(&options.weight) || options.is_cut(name) => Some(Forced::Number),
            _ if is_read && options.number.contains(name) => Some(Forced::Number),
            _ if is(&options.target) => text.then_some(Forced::Text),
            _ if is(&options.cluster) => Some(Forced::Text),
            _ if options.is_group(name) && (known.is_some() || !options.is_feature(name)) => {
                Some(Forced::Text)
            }
            Some(None) => Some(Forced::Ignored),
            None if options.is_ignored(name) => Some(Forced::Ignored),
            None if is(&options.holdout_column) => Some(Forced::Text),
            None => text.then_some(Forced::Text),
        }
    };
    let numerals =
        Numerals { decimal: options.decimal.unwrap_or('.'), thousands: options.thousands };
    let wanted = |name: &String| Wanted {
        kind: kind(name),
        settled: false,
        labels: options.is_label(name) || options.cluster.as_ref() == Some(name),
        codes: options.target.as_ref() != Some(name),
        numerals,
    };
    Ok(names.iter().map(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_decide_what_is_read() {
        let names = ["g", "w", "z", "i", "y"].map(str::to_owned);
        let options = DataOptions {
            target: Some("y".into()),
            groups: vec!["g".into()],
            weight: Some("w".into()),
            text: vec!["z".into()],
            ignore: vec!["i".into()],
            ..DataOptions::default()
        };
        let found = wanted(&names, &options, None).unwrap();
        let kinds: Vec<_> = found.iter().map(|w| w.kind).collect();
        let (number, text) = (Some(Forced::Number), Some(Forced::Text));
        assert_eq!(kinds, [None, number, text, Some(Forced::Ignored), None]);
        assert_eq!(
            found.iter().map(|w| w.labels).collect::<Vec<_>>(),
            [true, false, false, false, false]
        );
    }
}
