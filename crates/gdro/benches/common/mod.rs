//! Comparing pieces of work in one run.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Time of this thread on a processor where the system tells it (Linux), and by the clock elsewhere:
/// other programs that take turns with it do not count, though they take their share of the caches.
#[allow(dead_code)] // Not every benchmark runs for long.
pub fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|v| v.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// A piece of work with a name, and how many units (numbers, rounds, samples) it does at a time.
pub struct Work<'a> {
    /// What it is.
    pub name: &'static str,
    /// Units of one call.
    pub units: f64,
    /// Does it once.
    pub run: Box<dyn FnMut() + 'a>,
}

impl<'a> Work<'a> {
    /// Names a piece of work.
    pub fn new(name: &'static str, units: f64, run: impl FnMut() + 'a) -> Self {
        Work { name, units, run: Box::new(run) }
    }
}

/// The median of some numbers and their middle half.
struct Spread {
    median: f64,
    quartiles: (f64, f64),
}

impl Spread {
    fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        let quartiles = (values[last / 4], values[last - last / 4]);
        Spread { median: values[last / 2], quartiles }
    }
}

/// Runs all works in turns, `runs` times (odd) after one to warm up, each for about `slice` at a
/// time, and prints times per unit and their ratios to the first work. A ratio is the median of the
/// ratios within each turn, so that a load that changes from turn to turn changes both sides; many
/// turns of about a millisecond are hardly ever interrupted by other programs.
pub fn alternate(title: &str, works: &mut [Work<'_>], runs: usize, slice: Duration) {
    let mut calls = vec![1u32; works.len()];
    for (work, calls) in works.iter_mut().zip(&mut calls) {
        loop {
            let start = Instant::now();
            (0..*calls).for_each(|_| (work.run)());
            if start.elapsed() > slice / 2 {
                break;
            }
            *calls *= 2;
        }
    }
    let mut times = vec![Vec::with_capacity(runs); works.len()];
    for _ in 0..runs {
        for ((work, calls), times) in works.iter_mut().zip(&calls).zip(&mut times) {
            let start = Instant::now();
            (0..*calls).for_each(|_| (work.run)());
            times.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(*calls) / work.units);
        }
    }
    println!("\n{title}");
    println!("ns per unit, and ratio to the first line: medians (middle half) of {runs} turns");
    for (work, own) in works.iter().zip(&times) {
        let ratio = Spread::new(own.iter().zip(&times[0]).map(|(a, b)| a / b).collect());
        let time = Spread::new(own.clone());
        println!(
            "{:42} {:8.3} ({:.3} to {:.3})   {:.3} ({:.3} to {:.3})",
            work.name,
            time.median,
            time.quartiles.0,
            time.quartiles.1,
            ratio.median,
            ratio.quartiles.0,
            ratio.quartiles.1
        );
    }
}
