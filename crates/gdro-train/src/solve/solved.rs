//! The reference solver as a stage of the work.

use gdro::exact::{Keep, Keeper, Stand};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::checkpoint::Checkpoint;
use crate::failure::Result;

/// Keeps where the solver stands in a stage.
struct Solving<'a> {
    checkpoint: &'a Checkpoint,
    stage: &'a str,
}

impl Keep for Solving<'_> {
    fn is_due(&self) -> bool {
        self.checkpoint.is_due()
    }

    fn keep(&mut self, stand: &Stand) {
        self.checkpoint.put(self.stage, stand);
    }
}

/// What the reference solver finds in a stage: what is kept of it, or else what `solve` gives, which goes
/// on from the iteration that was kept.
///
/// # Errors
/// Those of `solve`, and when what is kept is no such thing.
pub fn solved<T: Serialize + DeserializeOwned>(
    checkpoint: &Checkpoint,
    stage: &str,
    solve: impl FnOnce(&mut Keeper<'_>) -> Result<T>,
) -> Result<T> {
    checkpoint.stage(stage, || {
        let so_far = format!("{stage}/so far");
        let stand = checkpoint.get(&so_far)?;
        let mut solving = Solving { checkpoint, stage: &so_far };
        solve(&mut Keeper::new(stand, &mut solving))
    })
}
