//! Systematic sampling: k of m items with given marginals from one random number.

use super::{Rng, unit};

/// Draws k different items of m: those at the places u, u + 1, …, u + k − 1 for one u uniform on
/// [0, 1), when the items lie side by side on [0, k) and item i takes p_i ≤ 1 of it. Item i is
/// among them with probability p_i (Madow, Ann. Math. Statist. 20, 1949, DOI
/// 10.1214/aoms/1177729988).
///
/// `locate` is given the k places, in increasing order, and writes the items that lie there; it may
/// use the places as memory. Replaces the content of `chosen` by the items in increasing order, and
/// that of `places` by anything. Where rounding makes one item lie at two places, another one that
/// is free takes the second place. At most m items for k > m.
pub fn systematic(
    k: usize,
    m: usize,
    rng: &mut Rng,
    chosen: &mut Vec<usize>,
    places: &mut Vec<f64>,
    locate: impl FnOnce(&mut [f64], &mut [usize]),
) {
    let k = k.min(m);
    let first = unit(rng);
    places.clear();
    places.extend((0..k).map(|place| first + place as f64));
    chosen.clear();
    chosen.resize(k, 0);
    locate(places, chosen);
    for at in 1..k {
        if chosen[at] > chosen[at - 1] {
            continue;
        }
        chosen[at] = chosen[at - 1] + 1;
        if chosen[at] == m {
            // The last item of all is taken: one that is free further down.
            chosen[at] = m - 1;
            let mut below = at;
            while below > 0 && chosen[below - 1] >= chosen[below] {
                chosen[below - 1] = chosen[below] - 1;
                below -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// Items of these lengths side by side, by a walk.
    fn walk(p: &[f64], places: &[f64], items: &mut [usize]) {
        for (place, item) in places.iter().zip(items) {
            let mut end = 0.0;
            let within = |p: &f64| {
                end += p;
                end > *place
            };
            *item = p.iter().position(within).unwrap_or(p.len() - 1);
        }
    }

    /// Frequencies are the marginals: each is a binomial share of 10⁵ draws, six standard
    /// deviations are exceeded with probability 2e-9 by one.
    #[test]
    fn marginals_are_kept() {
        let p = [1.0, 0.0, 0.6, 0.05, 0.35, 0.5, 0.45, 0.05];
        let (k, draws) = (3, 100_000);
        let mut rng = Rng::seed_from_u64(8);
        let (mut chosen, mut places, mut counts) = (Vec::new(), Vec::new(), [0f64; 8]);
        for _ in 0..draws {
            systematic(k, 8, &mut rng, &mut chosen, &mut places, |at, out| walk(&p, at, out));
            assert!(chosen.len() == k && chosen.windows(2).all(|pair| pair[0] < pair[1]));
            chosen.iter().for_each(|i| counts[*i] += 1.0);
        }
        for (count, p) in counts.iter().zip(p) {
            let (mean, variance) = (p * f64::from(draws), p * (1.0 - p) * f64::from(draws));
            assert!((count - mean).abs() <= 6.0 * variance.sqrt(), "{counts:?}");
        }
    }

    /// Whatever items are found, those that are returned differ and increase.
    #[test]
    fn an_item_at_two_places_makes_room() {
        let mut rng = Rng::seed_from_u64(1);
        for (found, expected) in [
            ([2, 2, 4], [2, 3, 4]),
            ([2, 4, 4], [2, 3, 4]),
            ([4, 4, 4], [2, 3, 4]),
            ([0, 0, 0], [0, 1, 2]),
            ([1, 3, 3], [1, 3, 4]),
        ] {
            let mut chosen = Vec::new();
            let locate = |_: &mut [f64], out: &mut [usize]| out.copy_from_slice(&found);
            systematic(3, 5, &mut rng, &mut chosen, &mut Vec::new(), locate);
            assert_eq!(chosen, expected, "{found:?}");
        }
    }
}
