//! Exact confidence intervals for a share.

use super::{Interval, check_level};
use crate::error::{Result, require};
use statrs::function::beta::beta_reg;

/// The two-sided interval of Clopper and Pearson (DOI 10.1093/biomet/26.4.404) for the probability
/// p of success, from `successes` among `trials` independent trials: it contains p with probability
/// at least 1 − alpha, for every p and every number of trials.
///
/// With k successes among n, α/2 on each side, and the quantiles of the Beta distribution:
///
/// low = Beta⁻¹(α/2; k, n − k + 1), 0 if k = 0;
/// high = Beta⁻¹(1 − α/2; k + 1, n − k), 1 if k = n.
///
/// For k = n, low is (α/2)^{1/n}; otherwise bisection on the regularised incomplete beta function.
/// Five right of five at 95 %: [0.478, 1]. Without trials: [0, 1].
///
/// Precision, for α ≤ ½ and up to 10⁸ trials: 1e-9 of low and of 1 − high, and 1e-6 of the standard
/// deviation. For α near 1 and more than 10⁵ trials the ends lie outside the exact ones by up to 3
/// % of it.
///
/// # Errors
/// [`crate::Error::Parameter`] if alpha is outside (0, 1) or successes exceed trials.
pub fn clopper_pearson(successes: u64, trials: u64, alpha: f64) -> Result<Interval> {
    check_level("alpha", alpha)?;
    require(successes <= trials, "successes", successes, "at most the number of trials")?;
    let high = if successes == 0 && trials > 0 {
        -((0.5 * alpha).ln() / trials as f64).exp_m1()
    } else {
        1.0 - lower(trials - successes, trials, 0.5 * alpha)
    };
    Ok(Interval::new(lower(successes, trials, 0.5 * alpha), high))
}

/// The p at which k or more successes among n have probability `tail`, rounded down.
fn lower(k: u64, n: u64, tail: f64) -> f64 {
    if k == 0 {
        return 0.0;
    }
    if k == n {
        return (tail.ln() / n as f64).exp();
    }
    let (a, b) = (k as f64, (n - k) as f64 + 1.0);
    // Below k/n even at tail = ½.
    let (mut below, mut above) = (0.0, a / n as f64);
    loop {
        let middle = 0.5 * (below + above);
        if middle <= below || middle >= above || above - below < 1e-14 * below {
            return below;
        }
        if beta_reg(a, b, middle) <= tail {
            below = middle;
        } else {
            above = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn five_of_five() {
        let all = clopper_pearson(5, 5, 0.05).unwrap();
        assert!((all.low - 0.4781762498950185).abs() < 1e-14 && all.high == 1.0);
        let none = clopper_pearson(0, 5, 0.05).unwrap();
        assert!((none.high - (1.0 - 0.4781762498950185)).abs() < 1e-14 && none.low == 0.0);
    }

    #[test]
    fn large_levels_with_many_trials_err_outwards() {
        // scipy.stats.beta.ppf(0.45, k, n - k + 1)
        let (exact, deviation) = (0.49993666934270015, 0.0005);
        let found = clopper_pearson(500_000, 1_000_000, 0.9).unwrap();
        assert!(found.low <= exact && found.low > exact - 0.03 * deviation, "{found:?}");
        let exact = 1.0 - exact;
        assert!(found.high >= exact && found.high < exact + 0.03 * deviation, "{found:?}");
    }

    #[test]
    fn ends_and_errors() {
        assert_eq!(clopper_pearson(0, 0, 0.05).unwrap(), Interval::new(0.0, 1.0));
        assert!(matches!(clopper_pearson(6, 5, 0.05), Err(Error::Parameter { .. })));
        for alpha in [0.0, 1.0, f64::NAN] {
            assert!(matches!(clopper_pearson(1, 5, alpha), Err(Error::Parameter { .. })));
        }
    }

    #[test]
    fn the_ends_are_where_the_binomial_tails_are() {
        // Tails summed term by term; those of failures as successes of 1 − p.
        let tail = |n: u64, p: f64, from: u64| -> f64 {
            let mut term = (1.0 - p).powi(n as i32);
            let mut sum = 0.0;
            for k in 0..=n {
                if k >= from {
                    sum += term;
                }
                term *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
            }
            sum
        };
        for n in [1, 2, 7, 30, 100] {
            for k in 0..=n {
                let interval = clopper_pearson(k, n, 0.1).unwrap();
                if k > 0 && k < n {
                    assert!((tail(n, interval.low, k) - 0.05).abs() < 1e-10, "{k} of {n}");
                    assert!(
                        (tail(n, 1.0 - interval.high, n - k) - 0.05).abs() < 1e-10,
                        "{k} of {n}"
                    );
                }
                assert!(interval.contains(k as f64 / n as f64));
            }
        }
    }
}
