//! How fast blocks come out of a Parquet file, against the bare decoder. Run by hand:
//! `cargo test -p gdro-data --features arrow --test tables speed -- --ignored --nocapture`.
#![cfg(feature = "arrow")]

use std::fs::File;
use std::slice::from_ref;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use gdro_data::{DataOptions, Reader};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Rows of a block and of a batch.
const ROWS: usize = 8192;

#[test]
#[ignore = "takes a minute and a third of a gigabyte of disk"]
fn blocks_come_nearly_as_fast_as_batches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / 9e15
    };
    let mut writer: Option<ArrowWriter<File>> = None;
    for _ in 0..20 {
        let column = |at: usize, random: &mut dyn FnMut() -> f64| -> (String, ArrayRef) {
            if at == 19 {
                let texts = (0..100_000).map(|_| ["a", "b", "c"][(random() * 3.0) as usize % 3]);
                return ("g".into(), Arc::new(texts.map(Some).collect::<StringArray>()));
            }
            let numbers: Vec<f64> = (0..100_000).map(|_| random()).collect();
            (format!("x{at}"), Arc::new(Float64Array::from(numbers)))
        };
        let columns: Vec<_> = (0..20).map(|at| column(at, &mut random)).collect();
        let rows = RecordBatch::try_from_iter(columns).unwrap();
        let writer = writer.get_or_insert_with(|| {
            ArrowWriter::try_new(File::create(&path).unwrap(), rows.schema(), None).unwrap()
        });
        writer.write(&rows).unwrap();
    }
    writer.unwrap().close().unwrap();
    for _ in 0..3 {
        let start = Instant::now();
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        let batches = builder.with_batch_size(ROWS).build().unwrap();
        let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
        let bare = start.elapsed();
        for threads in 0..3 {
            let start = Instant::now();
            let reader = Reader::open(from_ref(&path), &DataOptions::default(), None).unwrap();
            let mut reader = reader.decode_ahead(threads);
            let mut found = 0;
            while let Some(block) = reader.next_block(ROWS).unwrap() {
                found += block.rows();
            }
            assert_eq!(found, rows);
            let share = bare.as_secs_f64() / start.elapsed().as_secs_f64();
            eprintln!("{threads} threads: {share:.2} of the bare decoder ({bare:?})");
        }
        let start = Instant::now();
        let table = gdro_data::read(from_ref(&path), &DataOptions::default()).unwrap();
        assert_eq!(table.rows(), rows);
        eprintln!("whole: {:.2}", bare.as_secs_f64() / start.elapsed().as_secs_f64());
    }
}
