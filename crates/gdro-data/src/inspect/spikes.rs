//! Numbers that may stand for something else: one value at an end, far from all others.

use crate::features::moments;
use crate::words::{count, number};

/// Fewest different values besides it: fewer are codes.
const OTHERS: usize = 10;

/// Its least distance from the mean of the others, in their standard deviations.
const FROM_MEAN: f64 = 3.5;

/// Its least distance from the nearest other, in the same unit.
const GAP: f64 = 1.0;

/// What to say of a column of numbers of which several rows hold a value far below or above all others.
pub(crate) fn spike(name: &str, numbers: &[f64]) -> Option<String> {
    let mut present: Vec<f64> = numbers.iter().map(|v| v + 0.0).filter(|v| !v.is_nan()).collect();
    present.sort_by(f64::total_cmp);
    let (first, last) = (*present.first()?, *present.last()?);
    let below = present.partition_point(|v| *v <= first);
    let above = present.partition_point(|v| *v < last);
    let ends = [
        (first, below, &present[below..], present.get(below)),
        (last, present.len() - above, &present[..above], present[..above].last()),
    ];
    ends.into_iter().find_map(|(value, rows, others, nearest)| {
        let nearest = *nearest?;
        let distinct = 1 + others.windows(2).filter(|pair| pair[0] < pair[1]).count();
        let (mean, deviation) = moments(others, None)?;
        let far = (value - mean).abs() >= FROM_MEAN * deviation
            && (value - nearest).abs() >= GAP * deviation;
        (rows > 1 && distinct >= OTHERS && far).then(|| {
            let side = if value < nearest { "at least" } else { "at most" };
            format!(
                "`{name}` holds {value} in {}, and {side} {nearest} in the other {}: if it means \
                 missing, give `na` the entry `{name}={value}`",
                count(rows, "row"),
                number(others.len())
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_far_from_the_others() {
        // Cholesterol: 0 where nobody measured it.
        let measured = (0..200).map(|i| 150.0 + f64::from(i * 37 % 101) * 2.0);
        let zeros: Vec<f64> = measured.clone().chain([0.0; 40]).collect();
        assert_eq!(
            spike("chol", &zeros).unwrap(),
            "`chol` holds 0 in 40 rows, and at least 150 in the other 200: if it means missing, \
             give `na` the entry `chol=0`"
        );
        let nines: Vec<f64> = measured.clone().map(|v| v / 10.0).chain([999.0; 2]).collect();
        let found = spike("age", &nines).unwrap();
        assert!(found.starts_with("`age` holds 999 in 2 rows, and at most 35"), "{found}");
        // A single odd row, counts with many zeros, codes, and no number at all.
        let one: Vec<f64> = measured.chain([0.0]).collect();
        assert_eq!(spike("chol", &one), None);
        let counts: Vec<f64> = (0..300).map(|i| f64::from((i % 20_i32 - 10).max(0))).collect();
        assert_eq!(spike("n", &counts), None);
        let codes: Vec<f64> = (0..300).map(|i| [0.0, 1.0, 9.0][i % 3]).collect();
        assert_eq!(spike("code", &codes), None);
        assert_eq!(spike("none", &[f64::NAN]), None);
    }
}
