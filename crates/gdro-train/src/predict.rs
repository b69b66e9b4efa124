//! The predictions of a saved model.

use std::path::PathBuf;

use gdro::loss::AnyLoss;
use gdro_data::{DataOptions, Encoded, Table, Target};

use crate::failure::{Failure, Result};
use crate::model::Model;
use crate::prepared::loss_of;
use crate::scores::{class_of, each_score, logistic};

/// Predictions as CSV, and what a user should see.
#[derive(Debug)]
pub struct Predicted {
    /// A header, and a line for each row in the order of the rows.
    pub text: String,
    /// What a user should know of how the files were read.
    pub notes: Vec<String>,
    /// Rows that were not predicted, and what training never saw.
    pub doubts: Vec<String>,
}

/// The predictions for the files of a table. Names are [`gdro_data::escaped`]; where the file is for a
/// `spreadsheet`, those that it would run as formulas begin with an apostrophe.
///
/// # Errors
/// What is wrong with the table.
pub fn predict(
    model: &Model,
    tables: &[PathBuf],
    options: &DataOptions,
    spreadsheet: bool,
) -> Result<Predicted> {
    let table = gdro_data::read_for(tables, options, &model.encoding)?;
    let rows = model.encoding.complete_rows(&table)?;
    let filled = filled(model, &table, &rows)?;
    let encoded = model.encoding.encode(&table, &rows)?;
    let unknown = unknown(&encoded);
    let loss = loss_of(Some(model.loss), &model.target).map_err(|e| Failure::library(e, &[]))?;

    let mut header = vec!["prediction".to_owned()];
    match &model.target {
        Target::Binary { .. } if loss.is_probabilistic() => header.push("probability".into()),
        Target::Binary { .. } => header.push("score".into()),
        Target::Multiclass { classes, .. } => {
            header.extend(classes.iter().map(|c| format!("probability of {c}")));
        }
        Target::Regression { .. } => {}
    }
    let name = |name: &str| match (gdro_data::escaped(name), spreadsheet) {
        (name, true) if is_formula(&name) => format!("'{name}"),
        (name, _) => name,
    };
    header.iter_mut().for_each(|title| *title = name(title));
    let labels: Vec<String> = match &model.target {
        Target::Binary { negative, positive, .. } => vec![name(negative), name(positive)],
        Target::Multiclass { classes, .. } => classes.iter().map(|class| name(class)).collect(),
        Target::Regression { .. } => Vec::new(),
    };
    let width = header.len();
    let mut lines = vec![vec![String::new(); width]; table.rows()];
    let every = (0..rows.len() as u32).collect();
    let targets = vec![if width == 1 { 0.0 } else { 1.0 }; rows.len()];
    if !rows.is_empty() {
        let matrix = std::sync::Arc::new(encoded.matrix);
        let data = gdro::Dataset::new(matrix, targets, None, &[every])
            .map_err(|e| Failure::library(e, &[]))?;
        each_score(&loss, &data, &model.w(), |at, s| {
            lines[rows[at] as usize] = cells(&model.target, &labels, &loss, s);
        });
    }
    let text = csv_text(&header, &lines)?;
    let mut doubts = filled;
    doubts.extend(unknown);
    if rows.len() < table.rows() {
        let missing = table.rows() - rows.len();
        // Complete rows are in order: the first that is absent is where they fall behind.
        let first = rows.iter().enumerate().take_while(|(at, row)| *at == **row as usize).count();
        let first = table.position(first);
        doubts.push(format!(
            "rows that miss a feature and are not predicted: {missing}, the first at {first}"
        ));
    }
    Ok(Predicted { text, notes: table.notes().to_vec(), doubts })
}

/// What to say of numbers that are missing and stand at their means, column by column.
pub(crate) fn filled(model: &Model, table: &Table, rows: &[u32]) -> Result<Vec<String>> {
    let found = model.encoding.filled(table, rows)?;
    let say = |(column, count): (&str, usize)| {
        format!(
            "column `{column}`: rows with a missing number, for which its mean in training stands: {count}"
        )
    };
    Ok(found.into_iter().map(say).collect())
}

/// What to say of texts and features by index that training never saw.
pub(crate) fn unknown(encoded: &Encoded) -> Vec<String> {
    let texts = encoded.unseen.iter().map(|(column, count)| {
        format!("column `{column}`: rows with a text that training never saw: {count}")
    });
    let beyond = (encoded.beyond > 0)
        .then(|| format!("rows with features that training never saw: {}", encoded.beyond));
    texts.chain(beyond).collect()
}

/// Whether a spreadsheet would take a text for a formula. A number is none.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) && text.parse::<f64>().is_err()
}

/// The cells of a row with these scores; `labels` are those of the target.
fn cells(target: &Target, labels: &[String], loss: &AnyLoss, s: &[f64]) -> Vec<String> {
    match target {
        Target::Binary { .. } => {
            let second = if loss.is_probabilistic() { logistic(s[0]) } else { s[0] };
            vec![labels[usize::from(class_of(s) == 1)].clone(), second.to_string()]
        }
        Target::Multiclass { .. } => {
            let top = s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = s.iter().map(|v| (v - top).exp()).sum();
            let shares = s.iter().map(|v| ((v - top).exp() / total).to_string());
            std::iter::once(labels[class_of(s)].clone()).chain(shares).collect()
        }
        Target::Regression { .. } => vec![s[0].to_string()],
    }
}

/// Lines as CSV.
fn csv_text(header: &[String], lines: &[Vec<String>]) -> Result<String> {
    let fail = |e: String| Failure::Machine(format!("cannot write the predictions: {e}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).map_err(|e| fail(e.to_string()))?;
    for line in lines {
        writer.write_record(line).map_err(|e| fail(e.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|e| fail(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| fail(e.to_string()))
}
