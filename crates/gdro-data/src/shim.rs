use std::path::PathBuf;
use crate::{DataOptions, Encoding, Result, Table};
/// Shim.
pub struct Reader(Option<Table>, usize);
impl Reader {
    /// Shim.
    pub fn open(p: &[PathBuf], o: &DataOptions, e: Option<&Encoding>) -> Result<Self> {
        let t = match e { None => crate::read(p, o)?, Some(e) => crate::read_for(p, o, e)? };
        Ok(Reader(Some(t), 0))
    }
    /// Shim.
    pub fn next_block(&mut self, rows: usize) -> Result<Option<Table>> {
        let Some(t) = &self.0 else { return Ok(None) };
        let (a, b) = (self.1, (self.1 + rows).min(t.rows()));
        if a == b { return Ok(None) }
        self.1 = b;
        let mut u = t.clone();
        for c in &mut u.columns {
            if let Some(n) = &mut c.numbers { *n = n[a..b].to_vec(); }
            if let Some(n) = &mut c.texts { n.codes = n.codes[a..b].to_vec(); }
        }
        u.lines = u.lines[a..b].to_vec();
        u.files = vec![(u.files[0].0.clone(), b - a)];
        Ok(Some(u))
    }
}
