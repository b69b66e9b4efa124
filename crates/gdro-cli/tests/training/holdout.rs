//! What rows held out say of rows in general.

use crate::common::{Folder, number};

/// 200 groups of 5 rows, two of five of which are positive on average: a model without a use for its
/// features predicts the other label, and its accuracy on held-out rows, one of each group, is that
/// of the table up to chance. Over 20 seeds it is a mean of 4000 draws, of which six standard
/// deviations are exceeded with probability 2e-9.
#[test]
fn the_smallest_groups_are_judged_without_bias() {
    // No row has a use for x. Labels by a generator of its own, in the order of the rows.
    let mut state = 7u64;
    let mut labels = Vec::new();
    let mut text = "x,g,y\n".to_owned();
    for row in 0..1000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let positive = (state >> 33) % 5 < 2;
        labels.push(positive);
        text += &format!("{},g{},{}\n", row * 37 % 23, row / 5, u8::from(positive));
    }
    let share = |group: &[bool]| group.iter().filter(|y| !**y).count() as f64 / group.len() as f64;
    let truth = share(&labels);
    assert!((truth - 0.6).abs() < 0.05, "{truth}");
    let variance: f64 = labels.chunks(5).map(share).map(|p| p * (1.0 - p)).sum();

    let folder = Folder::with(text);
    let seeds = 20;
    let mut right = 0.0;
    for seed in 0..seeds {
        let found = folder.summary(&format!(
            "t.csv --target y --groups g --group-features drop --objective average --l2 1000 --seed {seed}"
        ));
        assert_eq!(found["warnings"][0], "the model predicts one class for every row");
        let groups = found["groups"].as_array().unwrap();
        for group in groups {
            assert_eq!((number(&group["n_train"]), number(&group["n_test"])), (4.0, 1.0));
            right += number(&group["test_accuracy"]);
        }
    }
    let (n, deviation) = (200.0 * f64::from(seeds), (f64::from(seeds) * variance).sqrt());
    assert!((right - n * truth).abs() <= 6.0 * deviation, "{} is not {truth}", right / n);
}
