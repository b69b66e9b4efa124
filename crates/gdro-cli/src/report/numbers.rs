//! Numbers as a table shows them.

/// A risk or share with four decimals, or in scientific form when those would not show it.
pub fn risk(value: f64) -> String {
    match value.abs() {
        v if v == 0.0 || (1e-3..1e4).contains(&v) => format!("{value:.4}"),
        _ => format!("{value:.3e}"),
    }
}

/// The change from `before` to `after`, with its sign; `=` when it does not show.
pub fn change(before: f64, after: f64) -> String {
    let text = risk(after - before);
    match text.as_str() {
        "0.0000" | "-0.0000" => "=".into(),
        _ if after > before => format!("+{text}"),
        _ => text.replacen('-', "−", 1),
    }
}

/// A share in per cent with one decimal.
pub fn percent(value: f64) -> String {
    format!("{:.1} %", 100.0 * value)
}

/// A count with its thousands apart.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(risk(0.40049), "0.4005");
        assert_eq!(risk(123456.0), "1.235e5");
        assert_eq!(risk(0.00002), "2.000e-5");
        assert_eq!(change(0.5, 0.5), "=");
        assert_eq!(change(0.5, 0.25), "−0.2500");
        assert_eq!(change(0.25, 0.5), "+0.2500");
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(count(12), "12");
    }
}
