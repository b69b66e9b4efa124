//! A checkpoint as a file: safetensors, so that other programs can look into it.
//!
//! The metadata hold the record of the run and its inputs as JSON, and the CRC-32 of all the rest; every
//! stage is a tensor of bytes, as [`super::encode`] makes them.

use std::collections::BTreeMap;
use std::path::Path;

use flate2::Crc;
use serde::{Deserialize, Serialize};

use super::inputs::Input;
use super::record::Record;
use crate::failure::{Failure, Result};

/// What the file says that it is.
const FORMAT: &str = "gdro-checkpoint-1";

/// What a checkpoint file holds.
pub struct Content {
    /// Which run it is.
    pub record: Record,
    /// What the run reads.
    pub inputs: Vec<Input>,
    /// The stages by name.
    pub stages: BTreeMap<String, Vec<u8>>,
}

/// The header of the file.
#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(rename = "__metadata__")]
    metadata: BTreeMap<String, String>,
    #[serde(flatten)]
    tensors: BTreeMap<String, Tensor>,
}

#[derive(Serialize, Deserialize)]
struct Tensor {
    dtype: String,
    shape: [usize; 1],
    data_offsets: [usize; 2],
}

/// What is wrong with a file, in words.
type Damage = String;

impl Header {
    /// The CRC-32 of the header without it and of the data.
    fn checksum(&self, data: &[u8]) -> std::result::Result<String, Damage> {
        let metadata: BTreeMap<&String, &String> =
            self.metadata.iter().filter(|(key, _)| *key != "crc32").collect();
        let mut crc = Crc::new();
        for part in [json(&metadata)?, json(&self.tensors)?] {
            crc.update(part.as_bytes());
        }
        crc.update(data);
        Ok(format!("{:08x}", crc.sum()))
    }
}

fn json(value: &impl Serialize) -> std::result::Result<String, Damage> {
    serde_json::to_string(value).map_err(|e| e.to_string())
}

/// The bytes of a file.
///
/// # Errors
/// For a record that is no JSON, such as one with a number that is not finite.
pub fn write(
    record: &Record,
    inputs: &[Input],
    stages: &BTreeMap<String, Vec<u8>>,
) -> std::result::Result<Vec<u8>, Damage> {
    let mut data = Vec::with_capacity(stages.values().map(Vec::len).sum());
    let mut tensors = BTreeMap::new();
    for (name, bytes) in stages {
        let from = data.len();
        data.extend_from_slice(bytes);
        let tensor =
            Tensor { dtype: "U8".into(), shape: [bytes.len()], data_offsets: [from, data.len()] };
        tensors.insert(name.clone(), tensor);
    }
    let metadata =
        [("format", FORMAT.to_owned()), ("inputs", json(&inputs)?), ("record", json(record)?)];
    let metadata = metadata.map(|(key, value)| (key.to_owned(), value)).into();
    let mut header = Header { metadata, tensors };
    let checksum = header.checksum(&data)?;
    header.metadata.insert("crc32".into(), checksum);
    let mut text = json(&header)?;
    text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(8) - text.len()));
    let mut file = Vec::with_capacity(8 + text.len() + data.len());
    file.extend_from_slice(&(text.len() as u64).to_le_bytes());
    file.extend_from_slice(text.as_bytes());
    file.append(&mut data);
    Ok(file)
}

/// Reads a file.
///
/// # Errors
/// For one that cannot be read, is no checkpoint, or is damaged.
pub fn read(path: &Path) -> Result<Content> {
    let name = path.display();
    let bytes = std::fs::read(path)
        .map_err(|e| Failure::input(format!("cannot read the checkpoint {name}: {e}")))?;
    parse(&bytes).map_err(|what| {
        Failure::input(format!("{name}: {what}: remove it, and start the run from its beginning"))
    })
}

fn parse(bytes: &[u8]) -> std::result::Result<Content, Damage> {
    let no_checkpoint = || "not a checkpoint of gdro".to_owned();
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(no_checkpoint)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| no_checkpoint())?;
    let (text, data) = rest.split_at_checked(length).ok_or_else(no_checkpoint)?;
    let header: Header = serde_json::from_slice(text).map_err(|_| no_checkpoint())?;
    let entry = |key: &str| header.metadata.get(key).map_or("", String::as_str);
    match entry("format") {
        FORMAT => {}
        other if other.starts_with("gdro-checkpoint-") => {
            return Err(format!("a checkpoint of another version of gdro ({other}, not {FORMAT})"));
        }
        _ => return Err(no_checkpoint()),
    }
    let (found, expected) = (header.checksum(data)?, entry("crc32"));
    if found != expected {
        return Err(format!("the checkpoint is damaged: its checksum is {found}, not {expected}"));
    }
    let damaged = |e: serde_json::Error| format!("the checkpoint is damaged: {e}");
    let record = serde_json::from_str(entry("record")).map_err(damaged)?;
    let inputs = serde_json::from_str(entry("inputs")).map_err(damaged)?;
    let mut stages = BTreeMap::new();
    for (name, tensor) in &header.tensors {
        let [from, until] = tensor.data_offsets;
        let bytes = data.get(from..until);
        let bytes = bytes.ok_or_else(|| format!("the checkpoint is damaged: stage {name}"))?;
        stages.insert(name.clone(), bytes.to_vec());
    }
    Ok(Content { record, inputs, stages })
}
