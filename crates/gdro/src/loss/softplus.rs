//! ln(1 + e^{−z}) and its slope.

use crate::math::{exp, exp_down, ln};

/// (ln(1 + e^{−z}), 1/(1 + e^{z})), with relative errors below 2⁻⁵⁰; both are 0 for z > 708, where
/// they are less than 1e-307. NaN for NaN.
///
/// For |z| ≤ 40 both by their Taylor sums around the multiple of 1/16 next to z, side by side: the
/// same operations in the same order everywhere, and no function waits for another.
#[inline]
pub(crate) fn softplus_neg(z: f64) -> (f64, f64) {
    let shifted = z + ROUND;
    let piece = shifted.to_bits().wrapping_sub((ROUND - RANGE).to_bits());
    match PIECES.get(piece as usize) {
        Some(piece) => sums(piece, z - (shifted - ROUND)),
        None => outside(z),
    }
}

/// The Taylor sums of a piece at the distance r from its middle.
#[inline]
fn sums(piece: &Piece, r: f64) -> (f64, f64) {
    let (r2, r4) = (r * r, (r * r) * (r * r));
    // The first four terms and the others side by side.
    let sum = |c: &[[f64; 2]; 4]| {
        let half = |at: usize| (c[0][at] + r * c[1][at]) + r2 * (c[2][at] + r * c[3][at]);
        half(0) + r4 * half(1)
    };
    (sum(&piece.value), sum(&piece.tail))
}

/// max(−z, 0) + ln(1 + e) and its slope with e = e^{−|z|}, which is so small that ln(1 + e) = e.
#[cold]
fn outside(z: f64) -> (f64, f64) {
    let e = exp_down(-z.abs());
    // The second sum is 1, or NaN.
    if z >= 0.0 { (e, e) } else { (e - z, 1.0 + e) }
}

/// 1.5·2⁴⁸: added and taken away again, it rounds to a multiple of 1/16, whose number then is in
/// the low bits.
const ROUND: f64 = 422_212_465_065_984.0;

/// The pieces cover −40 to 40.
const RANGE: f64 = 40.0;

/// Coefficients of the Taylor sums of both functions, whose singularities are at distances of at
/// least π: for |r| ≤ 1/32 the remainders are below 2⁻⁵² of them. The k-th stands beside the k + 4-th.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Piece {
    value: [[f64; 2]; 4],
    tail: [[f64; 2]; 4],
}

static PIECES: [Piece; 1281] = {
    let mut pieces = [Piece { value: [[0.0; 2]; 4], tail: [[0.0; 2]; 4] }; 1281];
    let mut at = 0;
    while at < pieces.len() {
        pieces[at] = piece(at as f64 / 16.0 - RANGE);
        at += 1;
    }
    pieces
};

/// The piece around z. With f' = −s and s' = s² − s, the coefficients of s follow from one another,
/// and those of f from them.
const fn piece(z: f64) -> Piece {
    let (mut f, mut s) = ([0.0; 8], [0.0; 8]);
    (f[0], s[0]) = around(z);
    let mut k = 0;
    while k < 7 {
        let (mut square, mut j) = (0.0, 0);
        while j <= k {
            square += s[j] * s[k - j];
            j += 1;
        }
        let next = (k + 1) as f64;
        f[k + 1] = -s[k] / next;
        s[k + 1] = (square - s[k]) / next;
        k += 1;
    }
    Piece { value: halves(&f), tail: halves(&s) }
}

const fn halves(c: &[f64; 8]) -> [[f64; 2]; 4] {
    [[c[0], c[4]], [c[1], c[5]], [c[2], c[6]], [c[3], c[7]]]
}

/// Both functions at a multiple of 1/16.
const fn around(z: f64) -> (f64, f64) {
    let size = if z < 0.0 { -z } else { z };
    let e = exp(-size);
    let log = ln_1p(e);
    if z < 0.0 { (size + log, 1.0 / (1.0 + e)) } else { (log, e / (1.0 + e)) }
}

/// ln(1 + e) for e = 0 and 1e-300 ≤ e ≤ 1, with a relative error below 2⁻⁵⁰, as slow as it likes.
const fn ln_1p(e: f64) -> f64 {
    let whole = 1.0 + e;
    if whole > std::f64::consts::SQRT_2 {
        // And the derivative times what the sum has lost.
        return ln(whole) + (e - (whole - 1.0)) / whole;
    }
    // 2 artanh(t), by its Taylor sum from the last term that counts.
    let t = e / (2.0 + e);
    let (mut rest, mut odd) = (0.0, 23);
    while odd > 1 {
        rest = (rest + 1.0 / odd as f64) * (t * t);
        odd -= 2;
    }
    2.0 * t + 2.0 * t * rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_arguments() {
        let nan = softplus_neg(f64::NAN);
        assert!(nan.0.is_nan() && nan.1.is_nan());
        assert_eq!(softplus_neg(f64::INFINITY), (0.0, 0.0));
        assert_eq!(softplus_neg(f64::NEG_INFINITY), (f64::INFINITY, 1.0));
        assert_eq!(softplus_neg(0.0), (std::f64::consts::LN_2, 0.5));
        // The ends of the pieces, and numbers whose pieces would have wild numbers.
        for z in [40.0, 40.03125, 40.0313, 41.0, 1e5, 2f64.powi(47), 2f64.powi(49), 1e300] {
            for z in [z, -z] {
                let (found, expected) = (softplus_neg(z), outside(z));
                let holds = |a: f64, b: f64| (a - b).abs() <= 2f64.powi(-50) * b;
                assert!(holds(found.0, expected.0) && holds(found.1, expected.1), "{z}");
            }
        }
    }

    #[test]
    fn logarithms_for_the_table_are_good() {
        for i in 0..=1_000_000 {
            for x in [f64::from(i) * 1e-6, f64::from(i) * 1e-9, f64::from(i) * 1e-300] {
                let (found, expected) = (ln_1p(x), x.ln_1p());
                let error = (found - expected).abs();
                assert!(error <= 3.0 * f64::EPSILON * expected, "ln(1 + {x}): {found} {expected}");
            }
        }
        assert_eq!(ln_1p(0.0), 0.0);
        assert_eq!(ln_1p(1.0), std::f64::consts::LN_2);
        assert!(ln_1p(f64::NAN).is_nan());
    }

    /// The standard library's functions are good to a unit in the last place.
    #[test]
    fn the_errors_are_as_stated() {
        for i in -800_000..=800_000 {
            let z = f64::from(i) * 1e-3 * if i % 2 == 0 { 1.0 } else { 0.05 };
            let (value, tail) = softplus_neg(z);
            let e = (-z.abs()).exp();
            let expected = (-z).max(0.0) + e.ln_1p();
            let slope = if z >= 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) };
            let (bound, least) = (2f64.powi(-50), 1e-307);
            let holds = |found: f64, expected: f64| (found - expected).abs() <= bound * expected;
            assert!(holds(value, expected) || z > 708.0 && expected < least, "{z}: {value}");
            assert!(holds(tail, slope) || z > 708.0 && slope < least, "{z}: {tail}");
        }
    }
}
