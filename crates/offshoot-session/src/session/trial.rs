//! A session to try entries in: what is appended to it is in memory alone.

use std::io;
use std::path::Path;

use super::{Backing, Options, Session};
use crate::compose::NewEntry;
use crate::error::{Error, Result};
use crate::medium::{Medium, MediumState, MemoryMedium};

impl Session {
    /// The session as it would be with more entries below the leaf. Nothing is written.
    ///
    /// # Errors
    /// Those of [`Session::append_all`] and [`Session::snapshot`].
    pub fn with(&self, entries: &[NewEntry]) -> Result<Self> {
        let backing: Box<dyn Medium> = match &self.backing {
            Backing::File(medium) | Backing::Memory(medium) => Box::new(AddedTo {
                base: medium.apart().map_err(Error::io("open once more", medium.path()))?,
                length: self.loaded.end.length,
                added: MemoryMedium::default(),
            }),
            Backing::Unborn(_) => Box::new(MemoryMedium::default()),
        };
        let options = Options { dialect: self.dialect(), blobs: self.options.blobs.clone(), ..Options::default() };
        let mut trial = Self::new(Backing::Memory(backing), self.header.clone(), self.loaded.clone(), options);
        trial.leaf = self.leaf;
        trial.append_all(entries)?;
        Ok(trial)
    }
}

/// The bytes of a medium, and more after them in memory.
struct AddedTo {
    base: Box<dyn Medium>,
    length: u64,
    added: MemoryMedium,
}

impl Medium for AddedTo {
    fn path(&self) -> &Path {
        self.base.path()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.length + self.added.len()?)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(left) = self.length.checked_sub(offset).filter(|left| *left > 0) else {
            return self.added.read_at(offset - self.length, buffer);
        };
        let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.base.read_at(offset, &mut buffer[..wanted])
    }

    fn lock(&mut self) -> io::Result<MediumState> {
        Ok(MediumState { is_current: true, length: self.len()? })
    }

    fn unlock(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.added.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.added.truncate(length.saturating_sub(self.length))
    }
}

#[cfg(test)]
mod tests {
    use super::super::NewSession;
    use super::*;
    use crate::compose::NewCompaction;
    use crate::entry::Source as _;
    use crate::header::Dialect;
    use crate::json::Json;

    fn said(text: &str) -> NewEntry {
        let message = format!(r#"{{"role":"user","content":"{text}","timestamp":1}}"#);
        NewEntry::message(Json::parse(&message).unwrap()).unwrap()
    }

    /// What a model gets, without times: both sessions append at their own.
    fn context(session: &Session) -> String {
        let message = |message: crate::error::Result<crate::context::Message>| {
            let json = message.unwrap().json;
            let members = Json::parse(&json).unwrap().members().filter(|(name, _)| name != "timestamp");
            members.map(|(name, value)| format!("{name}={} ", value.text())).collect::<String>()
        };
        session.context().unwrap().messages(session).map(message).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_context_is_that_after_the_append_and_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let new = NewSession { cwd: "/work", ..NewSession::default() };
        let on_disk = Session::create(&new, Options::default(), |_, _| path.clone()).unwrap();
        for mut session in [on_disk, Session::in_memory(&new, Options::default()).unwrap()] {
            assert!(context(&session.with(&[said("unborn")]).unwrap()).contains("unborn"));
            let first = session.append(&said("a")).unwrap();
            let second = session.append(&said("b")).unwrap();
            let compaction =
                NewCompaction { summary: "so far", first_kept: Some(second.as_str()), ..NewCompaction::default() };
            let content = Json::parse(r#""of an extension""#).unwrap();
            let edit = Json::parse(r#"{"content":"c"}"#).unwrap();
            let more = [
                NewEntry::custom_message("x", content, true, None).unwrap(),
                NewEntry::context_edit(second.as_str(), None, edit).unwrap(),
                NewEntry::compaction(&compaction, Dialect::Pi),
            ];
            let before = std::fs::read(&path).unwrap_or_default();
            for count in 0..=more.len() {
                let trial = session.with(&more[..count]).unwrap();
                assert_eq!((trial.tree().len(), session.tree().len()), (2 + count, 2));
            }
            assert!(session.with(&[NewEntry::label("nope", Some("x"))]).is_err());
            assert_eq!(std::fs::read(&path).unwrap_or_default(), before);
            let tried = context(&session.with(&more).unwrap());
            session.append_all(&more).unwrap();
            assert_eq!(tried, context(&session));
            assert!(tried.contains("so far") && !tried.contains(first.as_str()), "{tried}");
        }
    }
}
