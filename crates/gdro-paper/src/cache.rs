//! Finished runs, kept by the hash of all that decides them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

/// A folder of results.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
}

/// What a file of the cache holds: the key guards against anything else under its name.
#[derive(serde::Deserialize, Serialize)]
struct Entry<T> {
    key: String,
    result: T,
}

impl Cache {
    pub fn new(folder: &Path) -> Self {
        Cache { folder: folder.to_owned() }
    }

    /// Makes the folder: where it cannot be made, that is known before any run.
    pub fn make(&self) -> Result<()> {
        fs::create_dir_all(&self.folder)
            .map_err(|source| Error::Write { path: self.folder.clone(), source })
    }

    fn path(&self, key: &str) -> PathBuf {
        let hash: String =
            Sha256::digest(key.as_bytes()).iter().take(16).map(|b| format!("{b:02x}")).collect();
        self.folder.join(&hash[..2]).join(format!("{hash}.json"))
    }

    /// The result under a key; `None` when there is none, or none that can be read.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let text = fs::read_to_string(self.path(key)).ok()?;
        let entry: Entry<T> = serde_json::from_str(&text).ok()?;
        (entry.key == key).then_some(entry.result)
    }

    /// Whether there is a file under a key.
    pub fn has(&self, key: &str) -> bool {
        self.path(key).exists()
    }

    /// Keeps a result: its file appears when it is complete.
    pub fn put<T: Serialize>(&self, key: &str, result: &T) -> Result<()> {
        let path = self.path(key);
        let entry = Entry { key: key.to_owned(), result };
        let text = serde_json::to_string(&entry).expect("numbers and names");
        write(&path, text.as_bytes())
    }
}

/// Writes a file whose folders are made when they are missing; it appears when it is complete.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let thread = rayon::current_thread_index().map_or(0, |i| i + 1);
    let temporary = folder.join(format!(".{name}.{}.{thread}.tmp", std::process::id()));
    let written = fs::create_dir_all(folder).and_then(|()| {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(bytes)?;
        fs::rename(&temporary, path)
    });
    written.map_err(|e| {
        let _ = fs::remove_file(&temporary);
        failed(e)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_under_their_key_alone() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        assert_eq!(cache.get::<f64>("a"), None);
        cache.put("a", &0.1).unwrap();
        assert_eq!(cache.get::<f64>("a"), Some(0.1));
        assert_eq!(cache.get::<f64>("b"), None);
        // A file that was cut off is no result, nor is one of another key.
        fs::write(cache.path("a"), "{\"key\":\"a\",\"res").unwrap();
        assert_eq!(cache.get::<f64>("a"), None);
        fs::write(cache.path("a"), "{\"key\":\"b\",\"result\":1.0}").unwrap();
        assert_eq!(cache.get::<f64>("a"), None);
    }
}
