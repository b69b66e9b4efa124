//! The same table in every format.
#![allow(dead_code, reason = "each test binary uses some of these")]

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use flate2::{Compression, write::GzEncoder};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as Codec, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// Rows of a row group or record batch: small, so that files have several.
const ROWS: usize = 7;

pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 3).unwrap()
}

/// The cells of a CSV text with the types that a program would store them in, where it would write
/// the same text again; `None` for what is no table.
pub fn typed(text: &str) -> Option<RecordBatch> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let names: Vec<String> = reader.headers().ok()?.iter().map(str::to_owned).collect();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().ok()?;
    let columns = names.iter().enumerate().map(|(at, name)| {
        let cells: Vec<Option<&str>> =
            rows.iter().map(|r| Some(&r[at]).filter(|c| !c.is_empty())).collect();
        (name.as_str(), array(&cells), true)
    });
    RecordBatch::try_from_iter_with_nullable(columns).ok()
}

fn array(cells: &[Option<&str>]) -> ArrayRef {
    let all = |holds: &dyn Fn(&str) -> bool| {
        cells.iter().any(Option::is_some) && cells.iter().flatten().all(|c| holds(c))
    };
    let whole = |c: &str| c.parse::<i64>().ok();
    let number = |c: &str| c.parse::<f64>().ok();
    let truth = |c: &str| c.parse::<bool>().ok();
    if all(&|c| whole(c).is_some_and(|v| v.to_string() == c)) {
        Arc::new(cells.iter().map(|c| c.and_then(whole)).collect::<Int64Array>())
    } else if all(&|c| number(c).is_some_and(|v| format!("{v:?}") == c)) {
        Arc::new(cells.iter().map(|c| c.and_then(number)).collect::<Float64Array>())
    } else if all(&|c| truth(c).is_some()) {
        Arc::new(cells.iter().map(|c| c.and_then(truth)).collect::<BooleanArray>())
    } else {
        Arc::new(cells.iter().copied().collect::<StringArray>())
    }
}

/// Rows as a Parquet file.
pub fn parquet(rows: &RecordBatch) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(Codec::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROWS))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    writer.into_inner().unwrap()
}

fn parts(rows: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let count = rows.num_rows();
    (0..count).step_by(ROWS).map(move |at| rows.slice(at, ROWS.min(count - at)))
}

/// Rows as an Arrow IPC file.
pub fn arrow_file(rows: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &rows.schema()).unwrap();
    parts(rows).for_each(|part| writer.write(&part).unwrap());
    writer.into_inner().unwrap()
}

/// Rows as an Arrow IPC stream.
pub fn arrow_stream(rows: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &rows.schema()).unwrap();
    parts(rows).for_each(|part| writer.write(&part).unwrap());
    writer.into_inner().unwrap()
}

/// Rows as the content of a file of each format with typed columns, by its ending.
pub fn of_rows(rows: &RecordBatch) -> [(&'static str, Vec<u8>); 3] {
    [("parquet", parquet(rows)), ("arrow", arrow_file(rows)), ("arrows", arrow_stream(rows))]
}

/// A CSV text as the content of a file of each format, by its ending.
pub fn every_format(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let mut all = vec![
        ("csv", text.into()),
        ("csv.gz", gzip(text.as_bytes())),
        ("csv.zst", zstd(text.as_bytes())),
    ];
    all.extend(of_rows(&typed(text).unwrap()));
    all
}
