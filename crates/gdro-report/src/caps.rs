//! What losses and weights count as at most on rows held out, and which groups say too little there.

use gdro::interval::{GroupEstimates, HELD_OUT_ROWS, Settings, TRAINING_ROWS};
use gdro_train::clusters::HeavyCluster;
use gdro_train::verdict::Verdict;

use super::numbers::{count, counted, percent, risk, setting};

/// Both caps and the rows that they cut, in words.
pub fn caps(settings: &Settings, groups: &[GroupEstimates]) -> String {
    let clipped: usize = groups.iter().map(|g| g.clipped).sum();
    let mut text = format!(
        "losses count as at most {}, which cuts {} under this model",
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

/// What to say first where the cap on losses cuts so many rows of a group that the risks that intervals
/// are for say little of the risks as they are.
pub fn warning(settings: &Settings, groups: &[GroupEstimates]) -> Option<String> {
    let share = largest_share(groups)?;
    let largest = groups.iter().filter_map(|g| g.risk).fold(0.0, f64::max);
    Some(format!(
        "the model loses more than {}, the cap on losses in points and intervals, on up to {} of the \
         rows of a group: without the cap its largest risk is {}",
        risk(settings.cap),
        percent(share),
        risk(largest)
    ))
}

/// The largest share of the rows of any group that the cap on losses cuts, where it is worth a word.
pub fn largest_share(groups: &[GroupEstimates]) -> Option<f64> {
    groups.iter().filter_map(GroupEstimates::clipped_share).reduce(f64::max)
}

/// The number of rows whose weight is capped, and their share.
pub fn capped_weights(groups: &[GroupEstimates]) -> (usize, f64) {
    let rows: usize = groups.iter().map(|g| g.rows).sum();
    let capped: usize = groups.iter().map(|g| g.capped_weights).sum();
    (capped, capped as f64 / rows.max(1) as f64)
}

/// Most names in a list.
const NAMES: usize = 8;

/// Names in a sentence, the first ones of many.
pub fn names(all: &[&str]) -> String {
    let few: Vec<String> = all.iter().take(NAMES).map(|name| format!("`{name}`")).collect();
    let more = all.len().saturating_sub(NAMES);
    let more = if more > 0 { format!(" and {} more", count(more as u64)) } else { String::new() };
    few.join(", ") + &more
}

/// The groups that are too small for the verdict.
pub fn too_small(verdict: &Verdict) -> Option<String> {
    let names_of: Vec<&str> = verdict.left_out.iter().map(String::as_str).collect();
    (!names_of.is_empty()).then(|| {
        format!(
            "{} too small for the verdict on the largest risk, with fewer than {TRAINING_ROWS} training \
             rows or {HELD_OUT_ROWS} rows held out: {}",
            match names_of.len() {
                1 => "1 group is".to_owned(),
                n => format!("{} groups are", count(n as u64)),
            },
            names(&names_of)
        )
    })
}

/// The groups whose risk is not estimable: any of them could be the worst.
pub fn not_estimable(all: &[&str], groups: &[GroupEstimates]) -> Option<String> {
    let open = all.iter().zip(groups).filter(|(_, group)| !group.clipped_risk.estimable);
    let open: Vec<&str> = open.map(|(name, _)| *name).collect();
    (!open.is_empty()).then(|| {
        format!(
            "{} could have the largest risk, since theirs is not estimable: {}",
            counted(open.len() as u64, "group"),
            names(&open)
        )
    })
}
