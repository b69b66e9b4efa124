//! Rows of the shape of the Adult table.

use std::sync::Arc;

use gdro::sampling::{Rng, below, fill_normal, unit};
use gdro::{Dataset, Matrix};
use rand::SeedableRng;

/// Rows of each group: race by sex.
pub const SIZES: [usize; 6] = [27_020, 11_883, 2_144, 2_084, 1_363, 728];

/// Numbers, and levels of the categorical columns: 6 + 98 features, and a constant.
const NUMBERS: usize = 6;
const LEVELS: [usize; 8] = [7, 16, 7, 14, 6, 5, 2, 41];

/// 45,222 rows with 15 of 105 features, labels −1 and +1, in an order that mixes the groups.
pub fn rows(seed: u64) -> Dataset {
    let mut rng = Rng::seed_from_u64(seed);
    let total: usize = SIZES.iter().sum();
    let (mut starts, mut indices, mut values, mut targets) = (vec![0], vec![], vec![], vec![]);
    for _ in 0..total {
        let mut numbers = [0.0; NUMBERS];
        fill_normal(&mut numbers, &mut rng);
        indices.extend(0..NUMBERS as u32);
        values.extend(numbers);
        let mut first = NUMBERS;
        for levels in LEVELS {
            // Low levels are common and high ones rare.
            let level = (unit(&mut rng).powi(3) * levels as f64) as usize;
            indices.push((first + level) as u32);
            values.push(1.0);
            first += levels;
        }
        indices.push(first as u32);
        values.push(1.0);
        starts.push(values.len());
        let score = numbers[0] + 0.5 * numbers[1] - 1.0;
        targets.push(if unit(&mut rng) < 1.0 / (1.0 + (-score).exp()) { 1.0 } else { -1.0 });
    }
    let features = NUMBERS + LEVELS.iter().sum::<usize>() + 1;
    let matrix = Matrix::sparse(features, starts, indices, values).expect("rows in order");
    let mut order: Vec<u32> = (0..total as u32).collect();
    (1..total).rev().for_each(|i| order.swap(i, below(&mut rng, i + 1)));
    let mut rest = &order[..];
    let groups = SIZES.map(|size| {
        let (group, others) = rest.split_at(size);
        rest = others;
        let mut group = group.to_vec();
        group.sort_unstable();
        group
    });
    Dataset::new(Arc::new(matrix), targets, None, &groups).expect("no empty group")
}
