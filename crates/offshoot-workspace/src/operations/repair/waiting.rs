//! Entries that wait outside their sessions: finds, lists and discards them.

use std::io::{self, Write};
use std::path::Path;

use offshoot_session::json::{Json, Object};
use offshoot_session::session::{discard_spill, spill_file};
use offshoot_session::text::{counted, one_line};
use offshoot_session::transcript::Item;

use crate::failure::{Failure, Result};
use crate::lookup::{Access, is_path};
use crate::place::Place;
use crate::spills::{Spill, spills};
use crate::transcript::first_words;
use crate::words::{Line, Note, Role, Words};

/// Without a session, so many entries of each are listed.
const SHOWN: usize = 5;

/// Entries that wait, and how many of each session are shown.
#[derive(Debug)]
pub struct WaitingEntries {
    files: Vec<(Spill, Vec<String>)>,
    most: usize,
}

/// The spill files of a session, or all of them.
pub(super) fn spills_of(place: &Place, named: Option<&str>) -> Result<Vec<Spill>> {
    let Some(folder) = place.spill() else { return Ok(Vec::new()) };
    let (mut all, unread) = spills(folder);
    unread.into_iter().for_each(|unread| place.tell(Note::Warning(unread)));
    let Some(named) = named else { return Ok(all) };
    let file = if is_path(named) { Ok(place.session_path(named)) } else { place.file(named, Access::Write) };
    let spill = file.as_ref().ok().map(|file| spill_file(folder, file));
    all.retain(|one| Some(&one.path) == spill.as_ref() || one.path == Path::new(named) || one.session_id == named);
    match (all.is_empty(), file) {
        (true, Err(failure)) => Err(failure),
        _ => Ok(all),
    }
}

pub(super) fn discard(spills: &[Spill]) -> Result<()> {
    Ok(spills.iter().try_for_each(|spill| discard_spill(&spill.path))?)
}

/// Says what was discarded.
pub(super) fn discarded(spill: &Spill) -> Line {
    let count = counted(spill.entries, "entry", "entries");
    Line::of(Role::Bold, one_line(&spill.file, 4096)).and(Role::Plain, format!(": {count} discarded"))
}

impl WaitingEntries {
    /// Those of a session, or of all.
    pub(super) fn of(place: &Place, named: Option<&str>) -> Result<Self> {
        let read = |spill: Spill| {
            let lines = spill.lines();
            let lines = lines.map_err(|error| Failure::io(format!("read {}", spill.path.display()), &error))?;
            Ok((spill, lines))
        };
        let files = spills_of(place, named)?.into_iter().map(read).collect::<Result<_>>()?;
        Ok(Self { files, most: if named.is_some() { usize::MAX } else { SHOWN } })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(super) fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let json = |(spill, lines): &(Spill, Vec<String>)| {
            let object = Object::new().str("file", &spill.file).str("sessionId", &spill.session_id);
            let object = object.str("spill", &spill.path.to_string_lossy());
            object.raw("entries", format!("[{}]", lines.join(","))).finish()
        };
        let objects: Vec<String> = self.files.iter().map(json).collect();
        write!(out, "[{}]", objects.join(",\n"))
    }

    pub(super) fn words(&self, words: &mut Words) {
        words.is_long = true;
        for (spill, lines) in &self.files {
            let file = Line::of(Role::Bold, one_line(&spill.file, 4096));
            words.line(file.and(Role::Plain, format!(": {}", counted(lines.len(), "entry", "entries"))));
            lines.iter().take(self.most).for_each(|line| words.line(entry(line)));
            if lines.len() > self.most {
                words.line(Line::from("  ").and(Role::Dim, format!("and {} more", lines.len() - self.most)));
            }
        }
    }
}

/// A waiting entry in a line.
fn entry(line: &str) -> Line {
    let entry = Json::parse(line).ok();
    let part = |name: &str| entry.and_then(|entry| entry.str(name)).map(|part| one_line(&part, 40));
    let (id, kind) = (part("id").unwrap_or_default(), part("type").unwrap_or_else(|| "damaged".to_owned()));
    let words = Item::of_line(line).map(|item| first_words(&item, 100)).unwrap_or_default();
    Line::from("  ").and(Role::Id, id).and(Role::Plain, format!("  {kind}  {words}"))
}
