//! A file that several threads read at once.

use std::fs::File;
use std::io::{self, BufReader, Error, ErrorKind, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

/// A file without a place of its own in it: every read says where.
#[derive(Clone)]
pub(super) struct Input {
    file: Arc<File>,
    length: u64,
}

impl Input {
    pub fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Input { file: Arc::new(file), length })
    }

    /// The file from a place on.
    pub fn from(&self, at: u64) -> At {
        At { input: self.clone(), at }
    }

    /// Bytes, which must lie inside the file: a length that a damaged file claims is checked
    /// before memory is taken for it.
    pub fn bytes(&self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        let inside = start.checked_add(length as u64).is_some_and(|end| end <= self.length);
        if !inside {
            let why = format!("bytes {start} to {start} + {length} of {}", self.length);
            return Err(Error::new(ErrorKind::UnexpectedEof, why));
        }
        let mut bytes = vec![0; length];
        self.from(start).read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// A place in a file.
pub(super) struct At {
    input: Input,
    at: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.input.file, buffer, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&*self.input.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Length for Input {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Input {
    type T = BufReader<At>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.from(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        Ok(Bytes::from(self.bytes(start, length)?))
    }
}
