//! Signals that ask the program to stop: Ctrl-C, and those of a scheduler or a terminal that goes.

use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use gdro_train::files;

/// Whether one has come since the program listens.
static SEEN: AtomicBool = AtomicBool::new(false);

/// A flag that the first signal sets from now on. The second one ends the program at once, unless
/// files are being written.
pub fn stop() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    listen(move || {
        SEEN.store(true, Ordering::Relaxed);
        if flag.swap(true, Ordering::Relaxed) && !files::are_being_written() {
            std::process::exit(130);
        }
    });
    stop
}

/// Signals wait from now on, if nothing listens to them yet: they must not leave temporary files.
pub fn hold() {
    listen(|| {});
}

/// Whether a signal has asked for a stop, and was heard.
pub fn seen() -> bool {
    SEEN.load(Ordering::Relaxed)
}

/// Calls `heard` for every signal. The first to listen is the only one; where that fails, signals end
/// the program as usual, and nothing is half-written.
fn listen(heard: impl Fn() + Send + 'static) {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| platform::listen(heard));
}

#[cfg(unix)]
mod platform {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    pub fn listen(heard: impl Fn() + Send + 'static) {
        let mut wanted = vec![SIGINT, SIGTERM];
        if !survives_hangups() {
            wanted.push(SIGHUP);
        }
        let Ok(mut signals) = Signals::new(wanted) else { return };
        std::thread::spawn(move || signals.forever().for_each(|_| heard()));
    }

    /// Whether the program was started by something like nohup, which has hangups ignored. Where that
    /// cannot be told, it was unless someone looks on.
    fn survives_hangups() -> bool {
        use std::io::IsTerminal as _;
        let ignored = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
            let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
            u64::from_str_radix(mask.trim(), 16).ok()
        });
        ignored
            .map_or_else(|| !std::io::stderr().is_terminal(), |mask| mask & 1 << (SIGHUP - 1) != 0)
    }
}

#[cfg(not(unix))]
mod platform {
    pub fn listen(heard: impl Fn() + Send + 'static) {
        let _ = ctrlc::set_handler(heard);
    }
}
