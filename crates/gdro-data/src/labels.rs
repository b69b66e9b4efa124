//! Names of columns and labels that are not in the files, and the one form of those that are.

/// Name of the column that files of group labels make.
pub(crate) const GROUP: &str = "group";

/// Name of the column of labels of LIBSVM files.
pub(crate) const LABEL: &str = "label";

/// Name of the column of queries of LIBSVM files, which is never a feature.
pub(crate) const QUERY: &str = "qid";

/// The label of rows without one, where missing is a label of its own.
pub(crate) const MISSING: &str = "(missing)";

/// The level of texts that few training rows have.
pub(crate) const RARE: &str = "(rare)";

/// The label of the group that small groups are merged into.
pub(crate) const SMALL: &str = "(small)";

/// The label in the one form in which labels are compared.
pub(crate) fn normal(text: &str) -> String {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(v) if v.is_finite() => number_label(v),
        _ => text.strip_suffix('.').map_or(text, str::trim_end).to_owned(),
    }
}

/// The label that a number is.
pub(crate) fn number_label(v: f64) -> String {
    // Adding 0 turns −0 into 0.
    (v + 0.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_one_form() {
        let forms = [" >50K. ", ">50K", "1.", "+1.0", "-0", "1e3", "yes", "a..", ".", "nan"];
        let found = forms.map(normal);
        assert_eq!(found, [">50K", ">50K", "1", "1", "0", "1000", "yes", "a.", "", "nan"]);
    }
}
