//! What losses and weights count as at most on rows held out.

use gdro::interval::{GroupEstimates, Settings};

use super::numbers::{counted, percent, risk, setting};

/// Both caps and the rows that they cut, in words.
pub fn caps(settings: &Settings, groups: &[GroupEstimates]) -> String {
    let clipped: usize = groups.iter().map(|g| g.clipped).sum();
    let mut text = format!(
        "losses count as at most {}, which cuts {}",
        risk(settings.cap),
        counted(clipped as u64, "row")
    );
    if let Some(cap) = settings.weight_cap {
        let (rows, share) = capped_weights(groups);
        let rows = counted(rows as u64, "row");
        text += &format!(
            ", and weights as at most {}, which cuts {rows} ({})",
            setting(cap),
            percent(share)
        );
    }
    text
}

/// The number of rows whose weight is capped, and their share.
pub fn capped_weights(groups: &[GroupEstimates]) -> (usize, f64) {
    let rows: usize = groups.iter().map(|g| g.rows).sum();
    let capped: usize = groups.iter().map(|g| g.capped_weights).sum();
    (capped, capped as f64 / rows.max(1) as f64)
}
