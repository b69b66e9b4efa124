//! What a problem file says.

use std::path::{Path, PathBuf};

use gdro_data::DataOptions;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::coins::Example;
use super::synthetic::{Reliable, Sphere};
use super::table::Rows;
use super::{Instance, Optimum};
use crate::error::{Error, Result, read_toml};

/// A problem as its file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Description {
    /// Example 1 of the paper.
    #[serde(rename = "example-1", rename_all = "kebab-case")]
    Example1 {
        /// Budgets n_i, for algorithms that need them.
        budgets: Option<Vec<u64>>,
    },
    /// Noisy linear classifiers around one direction; each seed draws them anew.
    #[serde(rename_all = "kebab-case")]
    Synthetic {
        /// Number of features d.
        features: usize,
        /// Distance of the classifiers from that direction.
        radius: f64,
        /// Groups and their probabilities of a true label.
        groups: Vec<Reliable>,
        /// Radius of the ball of models.
        ball: f64,
        /// Budgets n_i, for algorithms that need them.
        budgets: Option<Vec<u64>>,
    },
    /// A table whose rows are scaled to length 1.
    #[serde(rename_all = "kebab-case")]
    Table {
        /// The files, as seen from the folder of the problem's file.
        tables: Vec<PathBuf>,
        /// Radius of the ball of models.
        ball: f64,
        /// Rows of each group that are held out to estimate its risk; the others are then visited
        /// once. Without it the rows are the distribution, drawn with replacement.
        held_out: Option<u64>,
        /// How the table is read.
        options: Box<DataOptions>,
    },
}

/// A problem whose data are read.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    /// What its file says.
    pub description: Description,
    /// A hash of the contents of its tables.
    pub fingerprint: String,
    rows: Option<Rows>,
}

impl Problem {
    /// Reads the problem `name` of a folder of experiments, with its tables.
    pub fn read(folder: &Path, name: &str) -> Result<Self> {
        let folder = folder.join("problems");
        let path = folder.join(format!("{name}.toml"));
        let description: Description = read_toml(&path)?;
        let (mut fingerprint, mut rows) = (String::new(), None);
        if let Description::Table { tables, ball, held_out, options } = &description {
            let files: Vec<PathBuf> = tables.iter().map(|table| folder.join(table)).collect();
            let mut hash = Sha256::new();
            for file in &files {
                let bytes = std::fs::read(file)
                    .map_err(|source| Error::Read { path: file.clone(), source })?;
                hash.update(&bytes);
            }
            fingerprint = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
            rows = Some(Rows::read(&files, options, *ball, *held_out)?);
        }
        let problem = Problem { description, fingerprint, rows };
        // A first draw shows what is out of range.
        problem.instance(1).map_err(|e| Error::content(&path, e.to_string()))?;
        Ok(problem)
    }

    /// The draw of a seed.
    pub fn instance(&self, seed: u64) -> gdro::Result<Box<dyn Instance + '_>> {
        Ok(match &self.description {
            Description::Example1 { budgets } => Box::new(Example { budgets: budgets.clone() }),
            Description::Synthetic { features, radius, groups, ball, budgets } => {
                let budgets = budgets.as_deref();
                Box::new(Sphere::new(*features, *radius, groups, *ball, budgets, seed)?)
            }
            Description::Table { .. } => {
                let rows = self.rows.as_ref().expect("a table that was read");
                Box::new(rows.split(seed)?)
            }
        })
    }

    /// Whether the draw depends on the seed.
    pub fn varies(&self) -> bool {
        match &self.description {
            Description::Example1 { .. } => false,
            Description::Synthetic { .. } => true,
            Description::Table { held_out, .. } => held_out.is_some(),
        }
    }

    /// The optimum of the draw of a seed.
    pub fn optimum(&self, seed: u64, k: f64) -> gdro::Result<Optimum> {
        self.instance(seed)?.optimum(k)
    }

    /// Number of groups m.
    pub fn groups(&self) -> usize {
        match &self.description {
            Description::Example1 { .. } => 16,
            Description::Synthetic { groups, .. } => groups.iter().map(|g| g.count).sum(),
            Description::Table { .. } => self.rows.as_ref().map_or(0, Rows::groups),
        }
    }

    /// The budgets n_i that fix numbers of rounds.
    pub fn budgets(&self) -> Option<Vec<u64>> {
        match &self.description {
            Description::Example1 { budgets } | Description::Synthetic { budgets, .. } => {
                budgets.clone()
            }
            Description::Table { .. } => self.rows.as_ref().and_then(Rows::budgets),
        }
    }

    /// Whether losses and gradients are bounded as the theorems assume, with the constants of
    /// [`Instance::constants`].
    pub fn is_bounded(&self) -> bool {
        !matches!(self.description, Description::Synthetic { .. })
    }

    /// About what a look costs, in coordinates, without and with a gap.
    pub fn look_cost(&self) -> (u64, u64) {
        match &self.description {
            Description::Example1 { .. } => (100, 100),
            Description::Synthetic { features, groups, .. } => {
                let m: usize = groups.iter().map(|g| g.count).sum();
                (2 * (features * m) as u64, 2_000_000)
            }
            Description::Table { .. } => (1_000_000, 20_000_000),
        }
    }

    /// About what a sample costs, in coordinates.
    pub fn cost(&self) -> u64 {
        match &self.description {
            Description::Example1 { .. } => 20,
            Description::Synthetic { features, .. } => *features as u64 + 20,
            Description::Table { .. } => 60,
        }
    }
}
