//! What losses and weights count as at most on rows held out.

use gdro::interval::{GroupEstimates, Settings};
use gdro_train::clusters::HeavyCluster;

use super::numbers::{counted, percent, risk, setting};

/// Both caps and the rows that they cut, in words.
pub fn caps(settings: &Settings, groups: &[GroupEstimates]) -> String {
    let clipped: usize = groups.iter().map(|g| g.clipped).sum();
    let mut text = format!(
        "losses count as at most {}, which cuts {}",
        risk(settings.cap),
        counted(clipped as u64, "row")
    );
    // Of clusters the total weights are capped.
    let by_row = |g: &GroupEstimates| g.rows > 0 && g.clipped_risk.clusters.is_none();
    if let Some(cap) = settings.weight_cap.filter(|_| groups.iter().any(by_row)) {
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

/// What the unit of intervals is where rows are in clusters, in words, the heavier ones by name.
pub fn clusters(
    settings: &Settings,
    groups: &[GroupEstimates],
    column: Option<&str>,
    heavy: &[HeavyCluster],
) -> Option<String> {
    const NAMED: usize = 5;
    let (cap, column) = settings.cluster_cap.zip(column)?;
    if !groups.iter().any(|g| g.clipped_risk.clusters.is_some()) {
        return None;
    }
    let most = match settings.weight_cap {
        Some(_) => format!("a total weight of {}", setting(cap)),
        None if cap == 1.0 => "1 row".into(),
        None => format!("{} rows", setting(cap)),
    };
    let mut text = format!(
        "the unit of intervals is a cluster, the rows of a `{column}` in a group, which counts as at most \
         {most}"
    );
    if !heavy.is_empty() {
        let named = heavy
            .iter()
            .take(NAMED)
            .map(|h| format!("`{}` ({} of group `{}`)", h.cluster, percent(h.share), h.group));
        let mut named: Vec<String> = named.collect();
        if heavy.len() > NAMED {
            named.push(format!("… {} in all", heavy.len()));
        }
        let verb = if heavy.len() == 1 { "is" } else { "are" };
        text += &format!("; heavier {verb} {}", named.join(", "));
    }
    let rows = groups.iter().filter(|g| g.rows > 0 && g.clipped_risk.clusters.is_none()).count();
    if rows > 0 {
        text +=
            &format!("; in {} with a single cluster it is a row", counted(rows as u64, "group"));
    }
    Some(text + "; the AUC of clusters has no interval, which would be one of independent rows")
}

/// The number of rows whose weight is capped, and their share.
pub fn capped_weights(groups: &[GroupEstimates]) -> (usize, f64) {
    let rows: usize = groups.iter().map(|g| g.rows).sum();
    let capped: usize = groups.iter().map(|g| g.capped_weights).sum();
    (capped, capped as f64 / rows.max(1) as f64)
}
