//! Options for the columns of a table.

use super::comparison::Comparison;
use super::data::DataOptions;
use super::entry;
use crate::error::{Error, Result};
use crate::labels::{GROUP, LABEL, QUERY};

impl DataOptions {
    /// These options for files of a format, with what it implies: the target of LIBSVM files, whose
    /// queries are no feature where they are groups; the groups of a file of labels.
    pub(crate) fn filled(&self, sparse: bool) -> Self {
        let mut filled = self.clone();
        if sparse && filled.target.is_none() {
            filled.target = Some(LABEL.into());
        }
        if sparse && filled.is_group(QUERY) && !filled.is_ignored(QUERY) {
            filled.ignore.push(QUERY.into());
        }
        if filled.groups.is_empty() && !filled.group_file.is_empty() {
            filled.groups = vec![GROUP.into()];
        }
        filled
    }

    /// These options for a table with these columns: with a target that is the name of a column, of
    /// the one that is compared when it is a comparison; and with groups as [`entry::settle`] gives
    /// them.
    ///
    /// # Errors
    /// For a target that is neither; for groups that are none; for options that contradict each
    /// other.
    pub(crate) fn settle(&self, names: &[String]) -> Result<(Self, Option<Comparison>)> {
        let (mut settled, mut comparison) = (self.clone(), None);
        if let Some(target) = self.target.as_ref().filter(|t| !names.contains(t))
            && let Some((column, found)) = Comparison::parse(target, names)?
        {
            if let Some(column) = self.text.iter().find(|n| *n == column) {
                let expected = "not the target, whose numbers are compared".into();
                return Err(Error::Option {
                    option: "text",
                    found: format!("`{column}`"),
                    expected,
                });
            }
            settled.target = Some(column.to_owned());
            comparison = Some(found);
        }
        let target = settled.target.as_deref().zip(comparison);
        settled.groups = entry::settle(&self.groups, names, |text| {
            let (column, comparison) = target?;
            let meant = Comparison::parse(text, names).ok().flatten();
            (meant == target).then(|| comparison.label(column))
        })?;
        settled.check()?;
        settled.check_groups()?;
        Ok((settled, comparison))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_refused() {
        let message = |json: &str| {
            let options = serde_json::from_str::<DataOptions>(json).unwrap();
            options.settle(&["g".into(), "y".into()]).unwrap_err().to_string()
        };
        assert_eq!(
            message(r#"{"target":"y","ignore":["y"]}"#),
            "ignore: `y`: expected not the target"
        );
        assert_eq!(
            message(r#"{"groups":["g","g"]}"#),
            "groups: `g` twice: expected each column once"
        );
        assert_eq!(
            message(r#"{"merge":{"g":{"a":["b"]}}}"#),
            "merge: `g`: expected a column that groups are made of"
        );
        assert_eq!(
            message(r#"{"groups":["g"],"merge":{"g":{"a":["x"],"b":["x"]}}}"#),
            "merge: `x` of `g` in `a` and in `b`: expected each value in one merged value"
        );
        assert_eq!(
            message(r#"{"groups":["g:3"],"merge":{"g":{"a":["x"]}}}"#),
            "merge: `g`: expected a column whose values are groups, and this one is cut into bins"
        );
        assert!(
            message(r#"{"groups":["g:3"],"text":["g"]}"#).starts_with("text: `g`: expected not")
        );
        assert!(message(r#"{"groups":["g:3"],"weight":"g"}"#).starts_with("weight: `g`"));
        assert!(message(r#"{"groups":["g"],"min-group":1}"#).starts_with("min-group: 1: expected"));
        assert!(message(r#"{"min-group":5}"#).ends_with("there is no group column"));
        assert_eq!(
            message(r#"{"groups":["g"],"small-groups":"drop"}"#),
            "small-groups: given alone: expected a smallest number of rows, too (min-group)"
        );
        assert!(message(r#"{"target":"y","weight":"y"}"#).starts_with("weight: `y`"));
        assert!(message(r#"{"weight":"w","text":["w"]}"#).starts_with("text: `w`"));
        assert_eq!(
            message(r#"{"weight-kind":"frequency"}"#),
            "weight-kind: given alone: expected the column of the weights, too (weight)"
        );
        assert!(message(r#"{"target":"y","cluster":"y"}"#).starts_with("cluster: `y`: expected"));
        assert_eq!(
            message(r#"{"cluster":"g","ignore":["g"]}"#),
            "ignore: `g`: expected not the cluster"
        );
        assert!(message(r#"{"cluster":"g","text":["g"]}"#).starts_with("text: `g`: expected not"));
        assert!(message(r#"{"cluster":"g","hash":{"g":8}}"#).starts_with("hash: `g`: expected"));
        assert!(message(r#"{"comment":""}"#).starts_with("comment: an empty text"));
        assert!(message(r#"{"delimiter":"\""}"#).starts_with("delimiter: '\"'"));
    }
}
