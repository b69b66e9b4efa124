//! How much memory the process may take. What a table or a file claims to need is compared with it
//! before it is taken.

use std::fs;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bytes::{Bytes, Purpose};
use crate::error::{Error, Result};

/// What was asked for, in bytes; 0 where nothing was.
static GIVEN: AtomicU64 = AtomicU64::new(0);

/// The share of an address space that is for rows: the rest is for the program, for what its threads
/// reserve and for what was freed.
const OF_ADDRESSES: f64 = 0.5;

/// Addresses that threads reserve at least.
const RESERVED: u64 = 64 << 20;

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
    let addresses =
        addresses.map(|bytes| ((OF_ADDRESSES * bytes as f64) as u64).saturating_sub(RESERVED));
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
