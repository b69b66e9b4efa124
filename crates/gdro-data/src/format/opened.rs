//! Which files a table is made of, and what format each is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Result};
use crate::options::{DataOptions, Format};

/// How messages call the standard input.
const STDIN: &str = "standard input";

/// Bytes that tell a format.
const MAGIC: usize = 6;

/// A text to be read from its start to its end.
pub(super) struct Text {
    pub input: Box<dyn BufRead + Send>,
    /// The file, as the caller named it.
    pub file: String,
    /// How it is compressed.
    pub packed: Option<&'static str>,
}

impl Text {
    /// Opens a text that may be compressed.
    pub fn open(path: &Path) -> Result<Self> {
        Opened::new(path)?.unpack()
    }
}

/// A file or the standard input, of which the first bytes are known.
pub(super) struct Opened {
    /// The file, when it is one in which one can go back and forth.
    #[cfg(feature = "arrow")]
    path: Option<PathBuf>,
    /// The file, as messages call it.
    pub name: String,
    head: Vec<u8>,
    rest: Box<dyn Read + Send>,
}

/// The files that paths and patterns such as `part-*.csv` stand for: those of a pattern sorted by name.
/// A path of an existing file is no pattern.
///
/// # Errors
/// A pattern that is none, or that no file matches; standard input (`-`) twice.
pub fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let text = path.to_string_lossy();
        if !text.contains(['*', '?', '[']) || path.exists() {
            files.push(path.clone());
            continue;
        }
        let bad = |why: String| Error::Pattern { pattern: text.to_string(), why };
        let found = glob::glob(&text).map_err(|e| bad(e.msg.to_owned()))?;
        let before = files.len();
        for file in found {
            files.push(file.map_err(|e| bad(e.to_string()))?);
        }
        if files.len() == before {
            return Err(bad("no file matches it".into()));
        }
        files[before..].sort();
    }
    if files.iter().filter(|f| is_stdin(f)).count() > 1 {
        return Err(Error::Pattern { pattern: "-".into(), why: "it can be read only once".into() });
    }
    Ok(files)
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Opened {
    pub fn new(path: &Path) -> Result<Self> {
        let stdin = is_stdin(path);
        let name = if stdin { STDIN.to_owned() } else { path.display().to_string() };
        let open = |why| Error::Open { file: name.clone(), why };
        let mut rest: Box<dyn Read + Send> = if stdin {
            Box::new(io::stdin())
        } else {
            if path.metadata().map_err(open)?.is_dir() {
                return Err(open(io::Error::other("it is a directory, expected a file")));
            }
            Box::new(File::open(path).map_err(open)?)
        };
        let mut head = Vec::new();
        (&mut rest).take(MAGIC as u64).read_to_end(&mut head).map_err(open)?;
        Ok(Opened {
            #[cfg(feature = "arrow")]
            path: (!stdin && path.is_file()).then(|| path.to_owned()),
            name,
            head,
            rest,
        })
    }

    /// How the content is compressed.
    fn packed(&self) -> Option<&'static str> {
        match self.head[..] {
            [0x1f, 0x8b, ..] => Some("gzip"),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
            _ => None,
        }
    }

    /// The format: as the options say, else by the first bytes, else by the name.
    pub fn format(&self, options: &DataOptions) -> Result<Format> {
        let magic = match &self.head[..] {
            [b'P', b'A', b'R', b'1', ..] => Some(Format::Parquet),
            b"ARROW1" | [0xff, 0xff, 0xff, 0xff, ..] => Some(Format::Arrow),
            _ => None,
        };
        let named = Format::of_name(&self.name);
        let format = options.format.or(magic).or(named).unwrap_or(Format::Csv);
        let columns = |f| matches!(f, Format::Parquet | Format::Arrow);
        match magic {
            Some(found) if found != format => Err(Error::Format {
                file: self.name.clone(),
                found: found.words(),
                expected: format.words(),
            }),
            None if columns(format) && !self.head.is_empty() => {
                let found = match self.packed() {
                    Some("gzip") => "compressed by gzip",
                    Some(_) => "compressed by zstd",
                    None => "something else, by its first bytes",
                };
                let (file, expected) = (self.name.clone(), format.words());
                Err(Error::Format { file, found, expected })
            }
            _ => Ok(format),
        }
    }

    /// The content as a text.
    pub fn unpack(self) -> Result<Text> {
        const BUFFER: usize = 1 << 16;
        let packed = self.packed();
        let file = self.name;
        let plain = BufReader::with_capacity(BUFFER, Cursor::new(self.head).chain(self.rest));
        let input: Box<dyn BufRead + Send> = match packed {
            None => Box::new(plain),
            Some("gzip") => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(plain))),
            Some(_) => {
                let decoder = zstd::stream::read::Decoder::with_buffer(plain);
                let decoder = decoder.map_err(|why| Error::Open { file: file.clone(), why })?;
                Box::new(BufReader::with_capacity(BUFFER, decoder))
            }
        };
        Ok(Text { input, file, packed })
    }

    /// The content as a file in which one can go back and forth: the standard input or a pipe is
    /// put into a temporary file, which is gone with its last reader.
    #[cfg(feature = "arrow")]
    pub fn whole(self) -> Result<(String, File)> {
        let file = self.name;
        let open = |why| Error::Open { file: file.clone(), why };
        let opened = match self.path {
            Some(path) => File::open(path),
            None => tempfile::tempfile().and_then(|mut spool| {
                io::copy(&mut Cursor::new(self.head).chain(self.rest), &mut spool)?;
                Ok(spool)
            }),
        };
        Ok((file.clone(), opened.map_err(open)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_follow_the_first_bytes_then_the_name() {
        let of = |name: &str, head: &[u8], given: Option<Format>| {
            let opened = Opened {
                #[cfg(feature = "arrow")]
                path: None,
                name: name.into(),
                head: head.to_vec(),
                rest: Box::new(io::empty()),
            };
            let options = DataOptions { format: given, ..DataOptions::default() };
            opened.format(&options).map_err(|e| e.to_string())
        };
        for (name, head, expected) in [
            ("a.csv", &b"a,b"[..], Format::Csv),
            ("a", b"1 2:3", Format::Csv),
            ("a.TSV.gz", b"\x1f\x8b", Format::Tsv),
            ("a.tsv.zst", b"\x28\xb5\x2f\xfd", Format::Tsv),
            ("a.svm", b"1 2:3", Format::Svmlight),
            ("a.t.libsvm.gz", b"\x1f\x8b", Format::Svmlight),
            ("a.svmlight", b"", Format::Svmlight),
            ("a.csv", b"PAR1\x15\x04", Format::Parquet),
            ("a", b"ARROW1", Format::Arrow),
            ("a", b"\xff\xff\xff\xff\x10\x00", Format::Arrow),
            ("a.parquet", b"", Format::Parquet),
        ] {
            assert_eq!(of(name, head, None), Ok(expected), "{name}");
        }
        assert_eq!(of("a9a", b"1 2:3", Some(Format::Svmlight)), Ok(Format::Svmlight));
        assert_eq!(of("a.tsv", b"a,b", Some(Format::Csv)), Ok(Format::Csv));
        let found = of("a.parquet", b"a,b,c,", None).unwrap_err();
        assert!(found.contains("expected Parquet"), "{found}");
        assert!(of("a.csv", b"PAR1..", Some(Format::Csv)).is_err());
        assert!(of("a.parquet.gz", b"\x1f\x8b", None).unwrap_err().contains("gzip"));
    }

    #[test]
    fn patterns_are_expanded_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", "c.txt", "d[1].csv"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let expand = |name: &str| {
            let found = expand(&[folder.path().join(name)])?;
            let name = |f: &PathBuf| f.file_name().unwrap().to_string_lossy().into_owned();
            Ok::<_, Error>(found.iter().map(name).collect::<Vec<_>>())
        };
        assert_eq!(expand("?.csv").unwrap(), ["a.csv", "b.csv"]);
        assert_eq!(expand("d[1].csv").unwrap(), ["d[1].csv"]);
        assert_eq!(expand("none.csv").unwrap(), ["none.csv"]);
        assert!(expand("*.parquet").unwrap_err().to_string().contains("no file matches"));
        assert!(expand("[").unwrap_err().to_string().contains("["));
        assert!(super::expand(&["-".into(), "-".into()]).is_err());
    }
}
