//! Elementary functions in plain arithmetic.
//!
//! Those of the standard library come from the machine's mathematical library and differ in the
//! last digit from one to the next. These use additions, multiplications and divisions in a fixed
//! order and nothing else, so that they give the same bits everywhere.

use std::f64::consts::LOG2_E;

use crate::hint::cold_path;

/// ln 2 in two parts; the first has so few digits that its product with an exponent is exact.
const LN2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3DEA_39EF_3579_3C76);

/// 1.5·2⁵²: added and taken away again, it rounds to an integer, which then is in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// 2ᵏ for −1022 ≤ k ≤ 1023.
#[inline]
const fn power_of_two(k: i64) -> f64 {
    f64::from_bits(((k + 1023) as u64) << 52)
}

/// eˣ with a relative error below 2⁻⁵² (an absolute one of the least number where the result is
/// subnormal); 0 far below, infinite far above, NaN for NaN.
///
/// x = k ln 2 + r with |r| ≤ (ln 2)/2, and the Taylor sum of e^r up to r¹³, whose remainder is
/// below 2⁻⁵⁷.
#[inline]
pub(crate) const fn exp(x: f64) -> f64 {
    let x = x.clamp(-746.0, 710.0);
    let shifted = x * LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let (r2, r4) = (r * r, (r * r) * (r * r));
    let low = (1.0 / 6.0 + r * (1.0 / 24.0)) + r2 * (1.0 / 120.0 + r * (1.0 / 720.0));
    let middle =
        (1.0 / 5040.0 + r * (1.0 / 40_320.0)) + r2 * (1.0 / 362_880.0 + r * (1.0 / 3_628_800.0));
    let high = (1.0 / 39_916_800.0 + r * (1.0 / 479_001_600.0)) + r2 * (1.0 / 6_227_020_800.0);
    let rest = low + r4 * (middle + r4 * high);
    let value = 1.0 + (r + (r2 * 0.5 + (r2 * r) * rest));
    // In two factors, because 2ᵏ alone may not be a number where the result still is one.
    let k = shifted.to_bits() as i64 - ROUND.to_bits() as i64;
    value * power_of_two(k / 2) * power_of_two(k - k / 2)
}

/// ln x for a positive number that is neither subnormal nor infinite, with a relative error below
/// 2⁻⁵¹.
///
/// x = 2ᵏ m with √½ ≤ m < √2; ln m = 2 artanh s with s = (m − 1)/(m + 1), by its Taylor sum up to
/// s²¹.
pub(crate) const fn ln(x: f64) -> f64 {
    const SQRT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    let offset = x.to_bits().wrapping_sub(SQRT_HALF) as i64;
    let k = offset >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub((k << 52) as u64));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let (mut sum, mut odd) = (0.0, 21);
    while odd > 0 {
        sum = sum * z + 1.0 / odd as f64;
        odd -= 2;
    }
    let k = k as f64;
    k * LN2_HIGH + (2.0 * s * sum + k * LN2_LOW)
}

/// Parts of an octave in [`exp_inside`].
const STEPS: usize = 64;

/// 2^{j/64}.
static POWERS: [f64; STEPS] = {
    let mut powers = [1.0; STEPS];
    let mut j = 0;
    while j < STEPS {
        // By the Taylor sum of e^r from its last term, with |r| < 0.35 as j is halved around 1/2.
        let whole = if j >= STEPS / 2 { 1.0 } else { 0.0 };
        let r = (j as f64 / STEPS as f64 - whole) * std::f64::consts::LN_2;
        let (mut sum, mut n) = (1.0, 16);
        while n > 0 {
            sum = 1.0 + sum * r / n as f64;
            n -= 1;
        }
        powers[j] = sum * (1.0 + whole);
        j += 1;
    }
    powers
};

/// e^{x + rest} for −708 ≤ x ≤ 708 and a rest below a unit in the last place of x, with a relative
/// error below 2⁻⁵¹; NaN for NaN.
///
/// x + rest = (k + j/64) ln 2 + r with |r| ≤ (ln 2)/128, and the Taylor sum of e^r up to r⁵.
#[inline]
fn exp_inside(x: f64, rest: f64) -> f64 {
    const LOG2: f64 = LOG2_E * STEPS as f64;
    const HIGH: f64 = LN2_HIGH / STEPS as f64;
    const LOW: f64 = LN2_LOW / STEPS as f64;
    let shifted = x * LOG2 + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * HIGH) + (rest - n * LOW);
    let r2 = r * r;
    let tail = r + r2 * ((0.5 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0)));
    let bits = shifted.to_bits();
    let power = POWERS[(bits & (STEPS as u64 - 1)) as usize];
    // The exponent k is above the bits of j.
    let scale = f64::from_bits((bits / STEPS as u64).wrapping_add(1023) << 52);
    (power + power * tail) * scale
}

/// eˣ for x ≤ 0 with a relative error below 2⁻⁵¹; 0 below −708, where it is less than 1e-307; NaN
/// for NaN.
#[inline]
pub(crate) fn exp_down(x: f64) -> f64 {
    let value = exp_inside(if x < -708.0 { -708.0 } else { x }, 0.0);
    if x < -708.0 { 0.0 } else { value }
}

/// eˣ as [`exp`], but faster, with a relative error below 2⁻⁵¹.
#[inline]
pub(crate) fn quick_exp(x: f64) -> f64 {
    quick_exp_of_sum(x, 0.0)
}

/// e^{x + rest} where `rest` is below a unit in the last place of x; beyond 708 without it.
#[inline]
pub(crate) fn quick_exp_of_sum(x: f64, rest: f64) -> f64 {
    if x.abs() <= 708.0 {
        return exp_inside(x, rest);
    }
    cold_path();
    exp(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the standard library, whose error is below one unit in the last place itself.
    #[test]
    fn the_errors_are_as_stated() {
        let unit = f64::EPSILON;
        for i in -700_000..=700_000 {
            let x = f64::from(i) * 1e-3 + 1e-4;
            let (found, expected) = (exp(x), x.exp());
            assert!((found - expected).abs() <= 1.5 * unit * expected, "e^{x}: {found} {expected}");
        }
        for i in 1..=2_000_000 {
            for x in [f64::from(i) * 1e-6, f64::from(i) * 1e-300, 1.0 / f64::from(i)] {
                let (found, expected) = (ln(x), x.ln());
                let error = (found - expected).abs();
                assert!(error <= 2.5 * unit * expected.abs(), "ln {x}: {found} {expected}");
            }
        }
    }

    #[test]
    fn the_fast_exponential_is_as_good_as_stated() {
        for i in 0..=2_000_000 {
            for x in [f64::from(i) * -3.54e-4, f64::from(i) * -1e-6, f64::from(i) * -1e-12] {
                let check = |found: f64, expected: f64| {
                    let error = (found - expected).abs();
                    assert!(error <= 2.0 * f64::EPSILON * expected, "e^±{x}: {found}");
                };
                check(exp_down(x), x.exp());
                check(quick_exp(x), x.exp());
                check(quick_exp(-x), (-x).exp());
                // The derivative times half a unit in the last place.
                let rest = x * f64::EPSILON / 2.0;
                check(quick_exp_of_sum(x, rest), x.exp() + x.exp() * rest);
            }
        }
        assert_eq!((exp_down(0.0), exp_down(-0.0)), (1.0, 1.0));
        assert_eq!((exp_down(-708.1), exp_down(f64::NEG_INFINITY)), (0.0, 0.0));
        assert!(exp_down(f64::NAN).is_nan() && quick_exp(f64::NAN).is_nan());
        for x in [-740.0, -708.5, 709.0, 1000.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(quick_exp(x), exp(x));
        }
    }

    #[test]
    fn extreme_arguments() {
        assert_eq!((exp(0.0), exp(-0.0), ln(1.0)), (1.0, 1.0, 0.0));
        assert_eq!((exp(-1e300), exp(-746.0), exp(f64::NEG_INFINITY)), (0.0, 0.0, 0.0));
        assert_eq!((exp(710.0), exp(f64::INFINITY)), (f64::INFINITY, f64::INFINITY));
        assert!(exp(f64::NAN).is_nan());
        assert!((exp(709.7) / 709.7f64.exp() - 1.0).abs() < 1e-15);
        // Subnormal results.
        for x in [-709.0f64, -720.0, -740.0, -744.0] {
            assert!((exp(x) - x.exp()).abs() <= 5e-324, "{x}");
        }
        assert!((ln(f64::MAX) - f64::MAX.ln()).abs() < 1e-12);
        assert!((ln(f64::MIN_POSITIVE) - f64::MIN_POSITIVE.ln()).abs() < 1e-12);
    }
}
