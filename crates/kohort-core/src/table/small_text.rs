//! Small text files, which are read whole.

use crate::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads a small text file whole: policies, hierarchies, certificates.
pub fn read_text(path: &Path, limit: u64) -> Result<String> {
    let name = path.display();
    let file = File::open(path).map_err(|e| Error::io(path, &e))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|e| Error::io(path, &e))?;
    if bytes.len() as u64 > limit {
        return Err(Error::yours(format!(
            "{name}: the file is larger than {limit} bytes, the maximum for a file of \
             this kind."
        )));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::yours(format!("{name}: not valid UTF-8. Save the file as UTF-8, as most editors can.")))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
}
