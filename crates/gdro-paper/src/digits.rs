//! Numbers as the data and the tables have them.

/// Six significant digits, no more than needed.
pub(crate) fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    if rounded != 0.0 && rounded.abs() < 1e-4 {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(0.491_553_333), "0.491553");
        assert_eq!(number(0.1 + 0.2), "0.3");
        assert_eq!(number(1.234_567e-7), "1.23457e-7");
        assert_eq!(number(0.0), "0");
    }
}
