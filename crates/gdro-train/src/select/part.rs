//! Rows to train on, and rows to judge by.

use std::sync::Arc;

use gdro::Dataset;
use gdro::loss::AnyLoss;
use gdro_data::{Clusters, Prepared};

use crate::clusters::{Draws, with_one};
use crate::failure::{Failure, Result};
use crate::job::Job;
use crate::prepared::{TrainRows, loss_of};

/// A part of the training rows to train on, and the rest to judge by.
pub struct Part {
    /// To train on.
    pub rows: TrainRows,
    /// The loss.
    pub loss: AnyLoss,
    /// To judge by.
    pub test: Dataset,
    /// The rows of `test` in each group of the whole.
    pub members: Vec<Vec<u32>>,
    /// Which of them are drawn together.
    pub draws: Draws,
}

/// A part's rows that judge, and the models that they judge.
pub struct Trained {
    /// The rows.
    pub part: Part,
    /// For each value, the strongest first, the models of all members.
    pub models: Vec<Vec<Vec<f64>>>,
}

impl Part {
    /// A prepared table whose rows that are held out judge.
    ///
    /// # Errors
    /// For a loss that does not take the targets.
    ///
    /// # Panics
    /// When no rows are held out.
    pub fn of(job: &Job, part: &Prepared) -> Result<Self> {
        let rows = TrainRows::from(part);
        let loss = loss_of(job.training.loss, &part.target)
            .map_err(|e| Failure::library(e, &rows.names))?;
        let test = part.test.clone().expect("a part has validation rows");
        let of_group =
            |group: &gdro_data::Group| group.test.map_or(Vec::new(), |i| test.members(i).to_vec());
        let members: Vec<Vec<u32>> = part.groups.iter().map(of_group).collect();
        let lists: Vec<&[u32]> = members.iter().map(Vec::as_slice).collect();
        let draws =
            Draws::new(part.test_clusters.as_ref().map(Clusters::codes), &lists, with_one(part));
        Ok(Part { rows, loss, draws, test, members })
    }

    /// Rows in memory of which some judge. Every group has another row.
    ///
    /// # Errors
    /// Those of [`Dataset::new`].
    pub fn of_rows(rows: &TrainRows, loss: AnyLoss, judges: &[bool]) -> gdro::Result<Self> {
        let data = &rows.data;
        let mut place = vec![0u32; judges.len()];
        let side = |wanted: bool| -> Vec<u32> {
            (0..judges.len() as u32).filter(|row| judges[*row as usize] == wanted).collect()
        };
        let sides = [side(false), side(true)];
        for side in &sides {
            (0..).zip(side).for_each(|(new, row)| place[*row as usize] = new);
        }
        let members = |wanted: bool| -> Vec<Vec<u32>> {
            let of_group = |group| {
                let all = data.members(group).iter();
                let inside = all.filter(|row| judges[**row as usize] == wanted);
                inside.map(|row| place[*row as usize]).collect()
            };
            (0..data.groups()).map(of_group).collect()
        };
        let pick = |side: &[u32], groups: &[Vec<u32>]| {
            let of =
                |value: &dyn Fn(usize) -> f64| side.iter().map(|r| value(*r as usize)).collect();
            Dataset::new(
                Arc::new(data.matrix().select(side)),
                of(&|row| data.targets()[row]),
                data.is_weighted().then(|| of(&|row| data.weight(row))),
                groups,
            )
        };
        let (train, judged) = (members(false), members(true));
        let codes = |side: &[u32]| -> Option<Vec<u32>> {
            let clusters = rows.clusters.as_ref()?;
            Some(side.iter().map(|row| clusters[*row as usize]).collect())
        };
        let is_one = |group: usize| {
            let mut rest = rows
                .clusters
                .iter()
                .flat_map(|codes| data.members(group).iter().map(|row| codes[*row as usize]));
            rest.next().is_some_and(|first| rest.all(|code| code == first))
        };
        let lists: Vec<&[u32]> = judged.iter().map(Vec::as_slice).collect();
        let draws = Draws::new(codes(&sides[1]).as_deref(), &lists, is_one);
        // Groups without a row for judging are no groups of a data set.
        let present: Vec<Vec<u32>> = judged.iter().filter(|m| !m.is_empty()).cloned().collect();
        Ok(Part {
            rows: TrainRows {
                data: pick(&sides[0], &train)?,
                names: rows.names.clone(),
                families: rows.families.clone(),
                clusters: codes(&sides[0]),
            },
            loss,
            test: pick(&sides[1], &present)?,
            draws,
            members: judged,
        })
    }
}
