//! Sizes in memory, and what memory is for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A number of bytes, in text a number with or without a unit: `2GB`, `1.5 GiB`, `500M`, `4096`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            "t" | "tb" => 1e12,
            "kib" => 1024.0,
            "mib" => 1_048_576.0,
            "gib" => 1_073_741_824.0,
            "tib" => 1_099_511_627_776.0,
            _ => f64::NAN,
        };
        match number.parse::<f64>().map(|number| number * unit) {
            Ok(bytes) if (1.0..9e18).contains(&bytes) => Ok(Bytes(bytes as u64)),
            _ => Err(format!("{text}: expected a size such as 4GB, 500MB or 1.5GiB")),
        }
    }
}

/// With the digits that say something, in units of a thousand.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 as f64 {
            b if b < 1e3 => (1.0, "bytes"),
            b if b < 1e6 => (1e3, "kB"),
            b if b < 1e9 => (1e6, "MB"),
            b if b < 1e12 => (1e9, "GB"),
            _ => (1e12, "TB"),
        };
        let value = self.0 as f64 / unit;
        let decimals = usize::from(value < 9.95 && unit > 1.0);
        write!(f, "{value:.decimals$} {name}")
    }
}

/// What memory is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The cells of a table.
    Table,
    /// Encoded rows.
    Rows,
    /// Rows of a stream that are shuffled and kept.
    Stream,
    /// Numbers of every group.
    Groups,
    /// A file that is read at once.
    File,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_text() {
        for (text, bytes) in [
            ("4096", 4096),
            ("2GB", 2_000_000_000),
            ("1.5 GiB", 1_610_612_736),
            ("500m", 500_000_000),
            ("64kib", 65_536),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "GB", "-1GB", "0", "nan", "1e400", "2 apples", "1e30TB", "1.2.3"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
        let shown = |bytes: u64| Bytes(bytes).to_string();
        assert_eq!((shown(512), shown(4_000_000_000)), ("512 bytes".into(), "4.0 GB".into()));
        assert_eq!((shown(2_340_000), shown(23_400_000)), ("2.3 MB".into(), "23 MB".into()));
        assert_eq!(shown(320_000_000_000_000), "320 TB");
    }
}
