//! The spill files: entries that wait outside their sessions.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use offshoot_session::json::Json;
use offshoot_session::medium::{open_regular, read_regular};

/// A spill file.
#[derive(Debug)]
pub struct Spill {
    /// Its path.
    pub path: PathBuf,
    /// The session's file, as it says.
    pub file: String,
    /// The id of the session.
    pub session_id: String,
    /// How many entries wait in it.
    pub entries: usize,
}

impl Spill {
    /// The lines of the entries.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn lines(&self) -> io::Result<Vec<String>> {
        let bytes = read_regular(&self.path, u64::MAX)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let whole = text.split_inclusive('\n').skip(1).filter_map(|line| line.strip_suffix('\n'));
        Ok(whole.map(str::to_owned).collect())
    }
}

/// Every spill file of a folder, sorted by path, and what could not be read.
#[must_use]
pub fn spills(folder: &Path) -> (Vec<Spill>, Vec<String>) {
    let (mut spills, mut unread) = (Vec::new(), Vec::new());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return (spills, unread),
        Err(error) => return (spills, vec![format!("could not read folder {}: {error}", folder.display())]),
    };
    for entry in entries {
        match entry.map(|entry| entry.path()).and_then(|path| read(&path)) {
            Ok(Some(spill)) => spills.push(spill),
            Ok(None) => {}
            Err(error) => unread.push(format!("could not read a file in {}: {error}", folder.display())),
        }
    }
    spills.sort_by(|a, b| a.path.cmp(&b.path));
    (spills, unread)
}

/// `None` if the file is not a spill file, or has no entries. A torn last line was never acknowledged.
fn read(path: &Path) -> io::Result<Option<Spill>> {
    let mut lines = BufReader::new(open_regular(path)?);
    let mut head = Vec::new();
    lines.read_until(b'\n', &mut head)?;
    let text = String::from_utf8_lossy(&head);
    let said = Json::parse(&text).ok().and_then(|head| Some((head.str("file")?, head.str("sessionId")?)));
    let Some((file, session_id)) = said else { return Ok(None) };
    let mut entries = 0;
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        entries += usize::from(line.ends_with(b"\n"));
        line.clear();
    }
    let (file, session_id) = (file.into_owned(), session_id.into_owned());
    Ok(Some(Spill { path: path.to_path_buf(), file, session_id, entries }).filter(|spill| spill.entries > 0))
}
