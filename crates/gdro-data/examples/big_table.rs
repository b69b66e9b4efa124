//! A Parquet table of any length, and how long the bare decoder takes for it: what `gdro fit
//! --stream` is measured against (see `docs/benchmarks.md`).
//!
//! ```text
//! big_table write FILE ROWS [snappy|zstd]    18 numbers, a group and a label per row
//! big_table decode FILE [THREADS]            row groups shared out among threads
//! ```

use std::error::Error;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};

/// Rows that are written at a time, and rows of a row group.
const STRETCH: usize = 1 << 17;

const NUMBERS: usize = 18;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["write", file, rows] => write(file, rows.parse()?, Compression::SNAPPY),
        ["write", file, rows, "snappy"] => write(file, rows.parse()?, Compression::SNAPPY),
        ["write", file, rows, "zstd"] => {
            write(file, rows.parse()?, Compression::ZSTD(Default::default()))
        }
        ["decode", file] => decode(file, 1),
        ["decode", file, threads] => decode(file, threads.parse()?),
        _ => Err("expected write FILE ROWS [snappy|zstd], or decode FILE [THREADS]".into()),
    }
}

/// Four groups of 50, 30, 15 and 5 %, each with slopes of its own; numbers with four decimals.
fn write(file: &str, rows: usize, compression: Compression) -> Result<(), Box<dyn Error>> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(STRETCH))
        .build();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut writer: Option<ArrowWriter<File>> = None;
    let mut left = rows;
    while left > 0 {
        let count = left.min(STRETCH);
        left -= count;
        let group = |u: f64| usize::from(u > 0.5) + usize::from(u > 0.8) + usize::from(u > 0.95);
        let groups: Vec<usize> = (0..count).map(|_| group(rng.random())).collect();
        let mut scores = vec![0.0; count];
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        for j in 0..NUMBERS {
            // A sum of four uniform numbers, scaled to variance 1.
            let mut number =
                || (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>() * 3f64.sqrt();
            let x: Vec<f64> = (0..count).map(|_| (number() * 1e4).round() / 1e4).collect();
            for ((score, x), g) in scores.iter_mut().zip(&x).zip(&groups) {
                let shared = ((j * 7 + 3) % 11) as f64 / 11.0 - 0.5;
                let own = ((j * 5 + g * 13) % 7) as f64 / 7.0 - 0.5;
                *score += x * (shared + 0.8 * own);
            }
            columns.push((format!("x{j}"), Arc::new(Float64Array::from(x))));
        }
        let names = groups.iter().map(|g| Some(["a", "b", "c", "d"][*g]));
        columns.push(("g".into(), Arc::new(names.collect::<StringArray>())));
        let label = |s: &f64| i64::from(rng.random::<f64>() < 1.0 / (1.0 + (-s).exp()));
        let labels: Vec<i64> = scores.iter().map(label).collect();
        columns.push(("y".into(), Arc::new(Int64Array::from(labels))));
        let batch = RecordBatch::try_from_iter(columns)?;
        if writer.is_none() {
            let properties = Some(properties.clone());
            writer = Some(ArrowWriter::try_new(File::create(file)?, batch.schema(), properties)?);
        }
        if let Some(writer) = &mut writer {
            writer.write(&batch)?;
        }
    }
    if let Some(writer) = writer {
        writer.close()?;
    }
    Ok(())
}

/// Decodes all columns and forgets them.
fn decode(file: &str, threads: usize) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let metadata = ArrowReaderMetadata::load(&File::open(file)?, Default::default())?;
    let groups = metadata.metadata().num_row_groups();
    let next = AtomicUsize::new(0);
    let work = || -> Result<usize, Box<dyn Error + Send + Sync>> {
        let mut rows = 0;
        loop {
            let group = next.fetch_add(1, Ordering::Relaxed);
            if group >= groups {
                return Ok(rows);
            }
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(
                File::open(file)?,
                metadata.clone(),
            );
            for batch in reader.with_row_groups(vec![group]).with_batch_size(1 << 14).build()? {
                rows += batch?.num_rows();
            }
        }
    };
    let rows: usize = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let done = running.into_iter().map(|t| t.join().expect("a decoder").expect("a table"));
        done.sum()
    });
    let seconds = start.elapsed().as_secs_f64();
    println!("{rows} rows in {seconds:.2} s: {:.3e} rows a second", rows as f64 / seconds);
    Ok(())
}
