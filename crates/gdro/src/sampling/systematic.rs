//! Systematic sampling: k of m items with given marginals from one random number.

use super::{Rng, unit};

/// Draws k different items of m: those at the places u, u + 1, …, u + k − 1 for one u uniform on
/// [0, 1), when the items lie side by side on [0, k) and item i takes p_i ≤ 1 of it. `at` says which
/// item lies at a place. Item i is among them with probability p_i (Madow, Ann. Math. Statist. 20,
/// 1949, DOI 10.1214/aoms/1177729988).
///
/// Replaces the content of `chosen` by the items in increasing order. Where rounding makes one item
/// lie at two places, another one that is free takes the second place. At most m for k > m.
pub fn systematic(
    k: usize,
    m: usize,
    rng: &mut Rng,
    chosen: &mut Vec<usize>,
    at: impl Fn(f64) -> usize,
) {
    chosen.clear();
    let first = unit(rng);
    for place in 0..k {
        let item = at(first + place as f64);
        match chosen.last() {
            Some(last) if item <= *last && last + 1 < m => chosen.push(last + 1),
            Some(last) if item <= *last => {
                // The last item of all is taken: the last one that is free.
                if let Some(free) = (0..m).rev().find(|i| chosen.binary_search(i).is_err()) {
                    chosen.insert(chosen.partition_point(|i| *i < free), free);
                }
            }
            _ => chosen.push(item),
        }
    }
}
