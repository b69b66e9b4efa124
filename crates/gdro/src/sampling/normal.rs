//! Standard normal numbers.

use std::sync::LazyLock;

use rand::{Rng as _, SeedableRng};

use super::{Rng, unit};
use crate::math::{exp, ln};

/// Parts of the area under the curve; a power of two.
const PARTS: usize = 512;

/// Rectangles of one part that fit under the curve.
const LAYERS: usize = PARTS - 3;

/// Regions that the rectangles leave: the tail, one right of every other rectangle, and the cap.
/// They have three parts of the area.
const REGIONS: usize = LAYERS + 1;

/// √(π/2)/512, one part of the area right of 0.
const AREA: f64 = 1.253_314_137_315_500_3 / PARTS as f64;

/// The bits that choose a part.
const MASK: u64 = PARTS as u64 - 1;

/// Numbers at a time from which two generators in turns are faster than one.
const LONG: usize = 64;

/// Fills `out` with independent standard normal numbers.
///
/// A modified ziggurat: C. D. McFarland, "A modified ziggurat algorithm for generating exponentially
/// and normally distributed pseudorandom numbers", DOI 10.1080/00949655.2015.1060234. Let f(x) =
/// e^{−x²/2}, y_0 = 0, and x_j the largest solution of x_j (f(x_j) − y_{j−1}) = √(π/2)/512 with
/// y_j = f(x_j). There are 509 such rectangles (0, x_j) × (y_{j−1}, y_j), all under the curve.
///
/// ```text
/// u = 64 random bits, j = their lowest 9, v uniform on (−1, 1) from their highest 54
/// if j < 509: return v x_{j+1}
/// choose one of the 510 regions that the rectangles leave, by its area (alias table)
/// the tail right of x_1: Marsaglia's method
/// another one: a point (s, t) of the box around it, until one is under the curve; only close to
///              the curve is that decided by f
/// return its abscissa with the sign of v
/// ```
///
/// So 99.4 % of the numbers take one multiplication. They have the 53 bits of a uniform number; the
/// distribution is exact but for rounding, and symmetric without any. All is plain arithmetic: the
/// same bits everywhere.
///
/// Fewer than 64 numbers are made of `rng` itself. More are made of two generators that `rng`
/// seeds, in turns: neither waits for the other, which is faster.
pub fn fill_normal(out: &mut [f64], rng: &mut Rng) {
    let tables = &*TABLES;
    if out.len() < LONG {
        for v in out {
            let bits = rng.next_u64();
            *v = tables.number(bits, rng);
        }
        return;
    }
    let (mut even, mut odd) = (Rng::from_rng(rng), Rng::from_rng(rng));
    let (pairs, last) = out.as_chunks_mut::<2>();
    for [a, b] in pairs {
        *a = tables.number(even.next_u64(), rng);
        *b = tables.number(odd.next_u64(), rng);
    }
    for v in last {
        *v = tables.number(even.next_u64(), rng);
    }
}

/// f(x) = e^{−x²/2}.
fn curve(x: f64) -> f64 {
    exp(-0.5 * x * x)
}

/// A number of (−1, 1) times 2⁵³, an odd integer, from the upper 54 bits.
#[inline]
fn signed(bits: u64) -> f64 {
    ((bits as i64 >> 10) | 1) as f64
}

/// What the rectangles leave between (x_j, y_j) on the left and (x_{j−1}, y_{j−1}) on the right, in
/// coordinates of the box around it: s from its left to its right end, t from its lower to its
/// upper one.
#[derive(Clone, Copy)]
struct Region {
    left: f64,
    width: f64,
    bottom: f64,
    height: f64,
    /// Two numbers with s + t between them along the curve, where s + t = 1 is the chord.
    sums: (f64, f64),
}

/// Intervals of the grid on which a region is measured; even.
const GRID: i32 = 16;

impl Region {
    const EMPTY: Region =
        Region { left: 0.0, width: 0.0, bottom: 0.0, height: 1.0, sums: (1.0, 1.0) };

    fn new(left: f64, right: f64, bottom: f64, top: f64) -> Self {
        let (width, height) = (right - left, top - bottom);
        let mut region = Region { left, width, bottom, height, sums: (1.0, 1.0) };
        let sums = (1..GRID).map(|i| grid(i) + region.above(grid(i)) / height);
        let (low, high) =
            sums.fold((1.0f64, 1.0f64), |(low, high), sum| (low.min(sum), high.max(sum)));
        // The curve is nearly a parabola here: its farthest point is farther from the chord than the
        // farthest one of the grid by less than 5 %.
        region.sums = (1.0 + 1.05 * (low - 1.0), 1.0 + 1.05 * (high - 1.0));
        region
    }

    /// The height of the curve above the box's lower end.
    fn above(&self, s: f64) -> f64 {
        curve(self.left + s * self.width) - self.bottom
    }

    /// The area under the curve, by Simpson's rule.
    fn area(&self) -> f64 {
        let factor = |i| match i {
            0 | GRID => 1.0,
            i if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let sum: f64 = (0..=GRID).map(|i| factor(i) * self.above(grid(i))).sum();
        sum * self.width / f64::from(3 * GRID)
    }

    /// The abscissa of a uniform point under the curve.
    fn sample(&self, rng: &mut Rng) -> f64 {
        let (low, high) = self.sums;
        loop {
            let (mut s, mut t) = (unit(rng), unit(rng));
            if high == 1.0 && s + t > 1.0 {
                // Nothing of the region is above the chord: that half of the box is a copy.
                (s, t) = (1.0 - s, 1.0 - t);
            }
            let sum = s + t;
            if sum < low || (sum < high && t * self.height < self.above(s)) {
                return self.left + s * self.width;
            }
        }
    }
}

fn grid(i: i32) -> f64 {
    f64::from(i) / f64::from(GRID)
}

struct Tables {
    /// x_{j+1}·2⁻⁵³.
    widths: [f64; PARTS],
    /// x_1, where the tail begins.
    tail: f64,
    /// Right of rectangle j + 1 at index j, and last the cap on top of all. In the place of the
    /// first is the tail, which has no box.
    regions: [Region; REGIONS],
    /// By which a region is chosen.
    alias: [(u64, u16); PARTS],
}

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

impl Tables {
    fn new() -> Self {
        let mut widths = [0.0; PARTS];
        let mut regions = [Region::EMPTY; REGIONS];
        let mut areas = [0.0; PARTS];
        let (mut x, mut y) = (3.9, 0.0);
        for j in 0..LAYERS {
            let left = layer(x, y);
            widths[j] = left / (1u64 << 53) as f64;
            if j > 0 {
                regions[j] = Region::new(left, x, y, curve(left));
                areas[j] = regions[j].area();
            }
            (x, y) = (left, curve(left));
        }
        regions[LAYERS] = Region::new(0.0, x, y, 1.0);
        areas[LAYERS] = regions[LAYERS].area();
        areas[0] = 3.0 * AREA - areas.iter().sum::<f64>();
        let tail = widths[0] * (1u64 << 53) as f64;
        Tables { widths, tail, regions, alias: alias(&areas) }
    }

    /// The number of some random bits; `rng` for more where they are not enough.
    #[inline]
    fn number(&self, bits: u64, rng: &mut Rng) -> f64 {
        let layer = (bits & MASK) as usize;
        if layer < LAYERS { signed(bits) * self.widths[layer] } else { self.rest(bits, rng) }
    }

    /// A number from outside of the rectangles, with the sign that the bits say.
    #[cold]
    #[inline(never)]
    fn rest(&self, bits: u64, rng: &mut Rng) -> f64 {
        let choice = rng.next_u64();
        let (share, other) = self.alias[(choice & MASK) as usize];
        let region = if choice >> 11 < share { choice & MASK } else { u64::from(other) };
        let x = match region as usize {
            0 => self.beyond(rng),
            region => self.regions[region].sample(rng),
        };
        x.copysign(signed(bits))
    }

    /// A number beyond x_1 (Marsaglia, Technometrics 6, 1964, pages 101 and 102).
    fn beyond(&self, rng: &mut Rng) -> f64 {
        loop {
            // 1 − U lies in (0, 1].
            let excess = -ln(1.0 - unit(rng)) / self.tail;
            if -2.0 * ln(1.0 - unit(rng)) >= excess * excess {
                return self.tail + excess;
            }
        }
    }
}

/// The largest x with x (f(x) − y) = AREA, left of `x`: Newton's method, until it stands still.
fn layer(x: f64, y: f64) -> f64 {
    let mut x = x;
    for _ in 0..100 {
        let f = curve(x);
        let next = x - (x * (f - y) - AREA) / (f - y - x * x * f);
        if (next - x).abs() <= f64::EPSILON * x {
            return next;
        }
        x = next;
    }
    x
}

/// Walker's alias table (DOI 10.1145/355744.355749) by Vose's method: an index i uniform on the
/// parts and a number v uniform on 0..2⁵³ give i where v < share_i and other_i elsewhere, in
/// proportion to the weights.
fn alias(weights: &[f64; PARTS]) -> [(u64, u16); PARTS] {
    let total: f64 = weights.iter().sum();
    let mut shares = weights.map(|w| w * PARTS as f64 / total);
    let mut table = std::array::from_fn(|i| (1 << 53, i as u16));
    // The indices of weight 0 are the last ones, and so taken before rounding can leave any over.
    let (mut small, mut large): (Vec<_>, Vec<_>) = (0..PARTS).partition(|i| shares[*i] < 1.0);
    while let (Some(under), Some(over)) = (small.pop(), large.last().copied()) {
        table[under] = ((shares[under] * (1u64 << 53) as f64) as u64, over as u16);
        shares[over] -= 1.0 - shares[under];
        if shares[over] < 1.0 {
            large.pop();
            small.push(over);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oracle(name: &str) -> Vec<f64> {
        let text = include_str!("../../tests/oracles/normals.json");
        let values: serde_json::Value = serde_json::from_str(text).unwrap();
        values[name].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    }

    /// Right ends of the rectangles, and areas of the regions, against 40 digits.
    #[test]
    fn rectangles_and_regions() {
        let (ends, areas) = (oracle("x"), oracle("area"));
        assert_eq!((ends.len(), areas.len()), (LAYERS, REGIONS));
        for (j, expected) in ends.iter().enumerate() {
            let found = TABLES.widths[j] * (1u64 << 53) as f64;
            assert!((found / expected - 1.0).abs() < 1e-12, "x_{}: {found} {expected}", j + 1);
        }
        assert!(TABLES.widths[LAYERS..].iter().all(|w| *w == 0.0));
        for (j, expected) in areas.iter().enumerate().skip(1) {
            let found = TABLES.regions[j].area() / AREA;
            assert!((found / expected - 1.0).abs() < 1e-6, "region {j}: {found} {expected}");
        }
        // What the alias table makes of the areas.
        let mut chances = [0.0; PARTS];
        for (i, (share, other)) in TABLES.alias.iter().enumerate() {
            let share = *share as f64 / (1u64 << 53) as f64;
            chances[i] += share / PARTS as f64;
            chances[usize::from(*other)] += (1.0 - share) / PARTS as f64;
        }
        for (j, expected) in areas.iter().enumerate() {
            assert!((chances[j] * 3.0 / expected - 1.0).abs() < 1e-6, "{j}: {}", chances[j]);
        }
        assert_eq!(chances[REGIONS..], [0.0; PARTS - REGIONS]);
    }

    /// The quick decisions are right everywhere on a fine grid.
    #[test]
    fn the_curve_stays_between_its_bounds() {
        for (j, region) in TABLES.regions.iter().enumerate().skip(1) {
            let (low, high) = region.sums;
            assert!(high - low < 0.5, "region {j}: a bound is useless");
            for i in 1..1000 {
                let s = f64::from(i) / 1000.0;
                let sum = s + region.above(s) / region.height;
                assert!(low <= sum && sum <= high, "region {j} at {s}: {low} {sum} {high}");
            }
        }
    }

    /// Kolmogorov and Smirnov for the numbers outside of the rectangles alone, which the test of all
    /// numbers could hardly see; false-alarm rate 1e-4.
    #[test]
    fn the_rest_has_the_density_that_is_left() {
        let mut rng = Rng::seed_from_u64(11);
        let n = 2_000_000;
        let mut found: Vec<f64> =
            (0..n).map(|_| TABLES.rest(rng.next_u64(), &mut rng).abs()).collect();
        found.sort_by(f64::total_cmp);
        let half = 1.253_314_137_315_500_3;
        let ends = oracle("x");
        let mut wider = LAYERS;
        let mut worst = 0.0f64;
        for (i, x) in found.iter().enumerate() {
            while wider > 0 && ends[wider - 1] < *x {
                wider -= 1;
            }
            let top = if wider == 0 { 0.0 } else { (-0.5 * ends[wider - 1].powi(2)).exp() };
            let rectangles = (LAYERS - wider) as f64 * AREA + x * top;
            let all = half * statrs::function::erf::erf(x / std::f64::consts::SQRT_2);
            let share = (all - rectangles) / (3.0 * AREA);
            let (below, upto) = (i as f64 / n as f64, (i + 1) as f64 / n as f64);
            worst = worst.max((share - below).abs()).max((share - upto).abs());
        }
        let scaled = worst * (n as f64).sqrt();
        assert!(scaled < 2.225, "√n D = {scaled}");
    }
}
