//! How much memory the process may take. What a table or a file claims to need is compared with it
//! before it is taken.

use std::fmt;
use std::fs;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What was asked for, in bytes; 0 where nothing was.
static GIVEN: AtomicU64 = AtomicU64::new(0);

/// The share of an address space that is for rows: the rest is for the program, for what its threads
/// reserve and for what was freed.
const OF_ADDRESSES: f64 = 0.5;

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
    /// Numbers of every group.
    Groups,
    /// A file that is read at once.
    File,
}

/// Lets the process take so much memory from now on.
pub fn limit_memory(bytes: Bytes) {
    GIVEN.store(bytes.0, Ordering::Relaxed);
}

/// How much memory the process may take: what [`limit_memory`] says, else what the machine, its control
/// group and `ulimit -v` leave when this is first asked; any where that is not known.
pub fn memory_limit() -> Bytes {
    static MACHINE: OnceLock<Bytes> = OnceLock::new();
    match GIVEN.load(Ordering::Relaxed) {
        0 => *MACHINE.get_or_init(of_machine),
        given => Bytes(given),
    }
}

/// Refuses what would take more memory than there is. `what` says what it is.
///
/// # Errors
/// [`Error::Memory`].
pub fn check_memory(bytes: f64, purpose: Purpose, what: impl FnOnce() -> String) -> Result<()> {
    let limit = memory_limit();
    if bytes <= limit.0 as f64 {
        return Ok(());
    }
    Err(Error::Memory { what: what(), bytes: Bytes(bytes as u64), limit, purpose })
}

/// What Linux says; elsewhere any.
fn of_machine() -> Bytes {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let kilobytes = |text: &str, name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    };
    let machine = read("/proc/meminfo");
    let free = kilobytes(&machine, "MemAvailable:").or(kilobytes(&machine, "MemTotal:"));
    let group = of_group(&read("/proc/self/cgroup"), read);
    let addresses = read("/proc/self/limits").lines().find_map(|line| {
        let soft = line.strip_prefix("Max address space")?.split_whitespace().next()?;
        soft.parse::<u64>().ok()
    });
    let addresses = addresses.map(|bytes| (OF_ADDRESSES * bytes as f64) as u64);
    Bytes([free, group, addresses].into_iter().flatten().min().unwrap_or(u64::MAX))
}

/// The least limit of the control groups that a process is in: version 2, and the memory controller of
/// version 1. `text` is its list of them.
fn of_group(text: &str, read: impl Fn(&str) -> String) -> Option<u64> {
    let mut least: Option<u64> = None;
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            c if c.split(',').any(|c| c == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        // A group is bound by those above it; in a container its path may be that of the host.
        let mut path = path.trim_end_matches('/');
        loop {
            let limit = read(&format!("{root}{path}/{file}")).trim().parse::<u64>().ok();
            least = least.into_iter().chain(limit).min();
            let Some((above, _)) = path.rsplit_once('/') else { break };
            path = above;
        }
    }
    least
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

    #[test]
    fn limits_of_control_groups() {
        let files = |path: &str| match path {
            "/sys/fs/cgroup/a/b/memory.max" => "max\n".to_owned(),
            "/sys/fs/cgroup/a/memory.max" => "3000\n".to_owned(),
            "/sys/fs/cgroup/memory/j/memory.limit_in_bytes" => "500\n".to_owned(),
            _ => String::new(),
        };
        assert_eq!(of_group("0::/a/b\n", files), Some(3000));
        assert_eq!(of_group("0::/\n", files), None);
        assert_eq!(of_group("4:cpu:/j\n5:cpuset,memory:/j\n0::/a\n", files), Some(500));
        assert_eq!(of_group("", files), None);
        assert!(memory_limit() > Bytes(1 << 20));
    }
}
